"""Classic metrics of generated text: an answer against references, by words, vectors or likelihoods; and its length."""

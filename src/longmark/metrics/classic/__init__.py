"""Classic metrics of generated text: an answer against references, by words, vectors or likelihoods; and its length.

Where nothing else is said, the greatest value of several references counts. `citations=ignore` leaves the markers of
citations ([1], text.citations) out of all texts. `tokenizer` divides texts into words: `unicode` or `zh`
suit Chinese, `unicode` or `ja-mecab` Japanese. A text is unscored (`undefined`) if its tokenizer loses, cuts or does not
divide more than 5 % of its words (Chinese under `13a` or `space`; under `rouge` also German, French and other languages
with letters beside a-z), where the packages give a score of what is left. So is an answer whose reference has no words.
Characters that are not seen, such as soft hyphens, are left out before.
"""

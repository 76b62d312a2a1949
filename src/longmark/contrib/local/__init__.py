"""Models on this machine: the embedded models and the built-in claim checker, GGUF files, transformers and
sentence-transformers. Each is named by a scheme of its own (`embedded`, `gguf:`, `hf:`, `st:`)."""

# llama.cpp sorts the whole vocabulary anyway; a hundred candidates keep a reply small
TOP_LOGPROBS = 100

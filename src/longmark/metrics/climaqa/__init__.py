"""ClimaQA's metrics: right options and terms, the similarity of a term in its phrase, and factual accuracy."""

"""What makes examples: questions of a domain and their variants, answers from an index, known defects, pairs, published
data sets, benchmarks out of books with a validator of their items, and trained adapters.

It trains on, and cuts texts for, models of `longmark.contrib.local`.
"""

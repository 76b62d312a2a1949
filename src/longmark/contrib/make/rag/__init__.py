"""Retrieval-augmented answers: documents -> passages -> index -> retrieval -> an answer, as examples to be scored.

    documents   files of a folder, or records of a JSON Lines file, as texts; what cannot be read gets a line
    chunk       a text in overlapping passages
    index       a folder: passages, BM25, vectors; saved completely or not at all, verified when it is loaded
    retrieve    the best k passages of a question: BM25, dense, or both by reciprocal rank
    generate    the answer of a model to one question with its passages
    answer      a file of questions, variants among them, into a file of examples

Needs the extra `rag`; searching very many vectors approximately needs `faiss`.
"""

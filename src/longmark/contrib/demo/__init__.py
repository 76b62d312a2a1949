"""`longmark demo`: four systems, 60 long answers with known defects, and what each metric makes of them, in a minute.

The answers, their labels and the replies of the embedded judge and of the built-in claim checker are in `data/`
(`bench/demo_corpus.py`, `bench/demo_record.py`, `bench/demo_checks.py`). A label says which defect was put into an
answer, and where; no person rated it. The replies are ordinary call caches, whose keys hold the texts, the prompts and the
SHA-256 of the models.

`--full` runs SCORE's study of `longmark.contrib.papers` on answers that `longmark.contrib.make` makes.
Its models are those of `longmark.contrib.local`.
"""

"""The one reader of scores: run folders, files of rows, and rows made elsewhere.

files.py         the rows and examples of one source, and why a line cannot be read
manifest.py      the manifest of a run folder
index.py         rows on disk, so that a large run needs no more memory than a small one (the report)
paired.py        `Scores`: one matrix per metric, questions x systems (compare, metrics-study)
answers.py       `AnswerScores`: one column per metric, by answer (metaeval)
completeness.py  which rows of a run are missing
"""

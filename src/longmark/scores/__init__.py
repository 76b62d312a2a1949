"""The one reader of scores and labels: run folders, files of rows, rows made elsewhere, and what raters gave.

files.py         the rows and examples of one source, the last row of a key alone, and why a line cannot be read
manifest.py      the manifest of a run folder
observations.py  `Observations`: scores with their keys, in a table on disk, so that memory does not grow with a run
labels.py        `Labels`: what raters gave, in the same table
paired.py        `Scores`: one matrix per metric, questions x systems (compare, metrics-study)
answers.py       `AnswerScores`: one column per metric, by answer (metaeval)
readings.py      who is best on the answers that all scored, and with the worst score for unscored ones
clusters.py      what rows belong to together
graphs.py        the graphs of statements in rows, as files for other programs
"""

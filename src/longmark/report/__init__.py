"""From rows to what a person reads: the summary table, the report of runs, and the pages of studies.

`summary` counts and averages, `table` prints, `html` and `document` write pages from `templates/`.
"""

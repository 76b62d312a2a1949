"""From rows to what a person looks at: the summary table and the one-file HTML report.

`summary` counts and averages, `table` prints, `html` writes the page.
"""

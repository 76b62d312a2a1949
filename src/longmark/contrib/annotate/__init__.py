"""Human labels: a study in one YAML file, its items, who labels what, and the labels in files.

Reads files of `longmark.contrib.make`: items of benchmarks, and pairs.
"""

"""Whole experiments of the papers: stages that run, and the tables and figures made of them.

They are made with `longmark.contrib.make`: questions, variants, answers from an index, benchmarks, validators.
"""

"""Assertions about scores: what is asked of runs, in words, and whether it holds (`longmark check`).

In reading order: grammar.py (texts and what they say), result.py (whether one is met, with its figures), same.py (a run
against an earlier one), plan.py (what would decide an assertion), check.py (several of them, as one family).

What an answer states is a claim (`text.claims`). What somebody states about scores is an assertion. An assertion that
sets the exit code of a run is called a gate (`report.gates`).
"""

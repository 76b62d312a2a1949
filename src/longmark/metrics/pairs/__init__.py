"""Pairwise judges: which of two answers to one question is better, or neither (CALF).

A score is 1 (a is better), 0 (a tie) or -1 (b is better). These metrics run on pairs only (docs/pairs.md).
"""

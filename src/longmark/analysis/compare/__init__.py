"""Scores of several runs or systems side by side: which is better, by how much, with what certainty."""

from longmark.analysis.compare.comparison import Comparison, compare
from longmark.analysis.compare.page import document

__all__ = ["Comparison", "compare", "document"]

"""Scores of several runs or systems side by side: which is better, by how much, with what certainty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longmark.analysis.compare.comparison import Comparison as Comparison
    from longmark.analysis.compare.comparison import compare as compare
    from longmark.analysis.compare.page import document as document

_LAZY = {"compare": "comparison", "Comparison": "comparison", "document": "page"}

__all__ = ["Comparison", "compare", "document"]


def __getattr__(name: str) -> Any:
    """Loads the public names when they are first used: they need NumPy and SciPy."""
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(f"longmark.analysis.compare.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'longmark.analysis.compare' has no attribute {name!r}")

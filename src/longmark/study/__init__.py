"""Whole experiments of the papers: several runs, and the tables made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longmark.study.metrics.document import document as metrics_document
    from longmark.study.metrics.results import MetricsStudy as MetricsStudy
    from longmark.study.metrics.study import metrics_study as metrics_study

_LAZY = {
    "MetricsStudy": ("results", "MetricsStudy"),
    "metrics_study": ("study", "metrics_study"),
    "metrics_document": ("document", "document"),
}

__all__ = ["MetricsStudy", "metrics_document", "metrics_study"]


def __getattr__(name: str) -> Any:
    """Loads the public names when they are first used: they need NumPy and SciPy."""
    if name in _LAZY:
        import importlib

        module, its = _LAZY[name]
        return getattr(importlib.import_module(f"longmark.study.metrics.{module}"), its)
    raise AttributeError(f"module 'longmark.study' has no attribute {name!r}")

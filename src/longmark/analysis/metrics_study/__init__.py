"""How metrics behave on several systems: discriminative power, ties, correlations, costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longmark.analysis.metrics_study.page import document as document
    from longmark.analysis.metrics_study.study import MetricsStudy as MetricsStudy
    from longmark.analysis.metrics_study.study import metrics_study as metrics_study

_LAZY = {"MetricsStudy": "study", "metrics_study": "study", "document": "page"}

__all__ = ["MetricsStudy", "document", "metrics_study"]


def __getattr__(name: str) -> Any:
    """Loads the public names when they are first used: they need NumPy and SciPy."""
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(f"longmark.analysis.metrics_study.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'longmark.analysis.metrics_study' has no attribute {name!r}")

"""longmark scores long answers and validates metrics against human ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from longmark.analysis.compare import compare as compare
    from longmark.analysis.metaeval import metaeval as metaeval
    from longmark.analysis.metrics_study import metrics_study as metrics_study
    from longmark.api import check as check
    from longmark.api import run as run
    from longmark.records import Example as Example
    from longmark.records import Row as Row

_LAZY = {
    "run": "longmark.api",
    "check": "longmark.api",
    "compare": "longmark.analysis.compare",
    "metaeval": "longmark.analysis.metaeval",
    "metrics_study": "longmark.analysis.metrics_study",
    "Example": "longmark.records",
    "Row": "longmark.records",
}

__all__ = ["Example", "Row", "__version__", "check", "compare", "metaeval", "metrics_study", "run"]


def __getattr__(name: str) -> Any:
    """Loads the public names when they are first used, so that `import longmark` stays cheap."""
    if name in _LAZY:
        import importlib

        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'longmark' has no attribute {name!r}")

"""What the sources of longmark's own metrics say of them: names and docstrings.

They are read and not imported. A list of names would import some sixty modules; and a table has the title of a metric
whose rows it shows also where the extra that the metric's module needs is not installed.
"""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path

_METRICS = Path(__file__).with_name("metrics")
_END_OF_TITLE = re.compile(r": | \(")  # in a docstring


@cache
def names() -> tuple[str, ...]:
    """The names of longmark's metrics, sorted."""
    modules = (path.relative_to(_METRICS).with_suffix("") for path in _METRICS.rglob("*.py"))
    public = [
        ".".join(module.parts)
        for module in modules
        if len(module.parts) > 1 and not module.name.startswith("_")
    ]
    # A family whose scores come from one computation is one metric, in the `__init__.py` of its folder.
    families = [
        path.parent.name
        for path in _METRICS.glob("*/__init__.py")
        if "\nMETRIC = " in path.read_text(encoding="utf-8")
    ]
    return tuple(sorted([*public, *families]))


@cache
def docstring(name: str) -> str:
    """The docstring of a metric's module."""
    source = _METRICS.joinpath(*name.split("."))
    source = source / "__init__.py" if source.is_dir() else source.with_suffix(".py")
    return inspect.cleandoc(ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or "")


def title_of(score: str) -> str:
    """The published name of a score without parameters, such as ROUGE-L: what the docstring of its metric begins with;
    of one of several scores with its part: `Specificity: location`. A metric that is not longmark's has its name."""
    metric = next((name for name in names() if f"{score}.".startswith(f"{name}.")), None)
    if metric is None:
        return score
    title = _END_OF_TITLE.split(docstring(metric), 1)[0]
    parts = score[len(metric) + 1 :].replace("_", " ").split(".")
    return ": ".join(filter(None, [title, *parts]))

"""What the sources of longmark's own metrics say of them: names and docstrings.

They are read and not imported. A list of names would import some sixty modules; and a table has the title of a metric
whose rows it shows also where the extra that the metric's module needs is not installed.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
from functools import cache
from pathlib import Path

_METRICS = Path(__file__).with_name("metrics")
_END_OF_TITLE = re.compile(r": | \(")  # in a docstring


@cache
def names() -> tuple[str, ...]:
    """The names of longmark's metrics, sorted."""
    metrics: list[str] = []
    # scandir: pathlib takes ten times as long, and every run begins with these names
    for family in os.scandir(_METRICS):
        if not family.is_dir():
            continue
        modules = {entry.name for entry in os.scandir(family) if entry.name.endswith(".py")}
        metrics += [
            f"{family.name}.{module.removesuffix('.py')}"
            for module in modules
            if not module.startswith("_")
        ]
        # A family whose scores come from one computation is one metric, in the `__init__.py` of its folder.
        if "__init__.py" in modules:
            source = Path(family.path, "__init__.py").read_bytes()
            metrics += [family.name] * (b"\nMETRIC = " in source)
    return tuple(sorted(metrics))


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

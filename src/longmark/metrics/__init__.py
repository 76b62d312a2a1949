"""The metrics, one module each; a folder is a family. There is no list of them to keep: the modules are the list.

A name on the command line selects all that stands under it: `ccrs` a family, `score.readability` a metric with two
values, `score.readability.grade_level` one of them.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from longmark.errors import UnknownName
from longmark.metric import Metric, Value
from longmark.prompts import Prompt

if TYPE_CHECKING:
    from longmark.domain import Domain


@dataclass(frozen=True)
class Selected:
    """A metric that was asked for. values: the full names wanted, in the order of the declaration."""

    name: str
    metric: Metric
    values: dict[str, Value]

    def due(self, *, is_variant: bool, kind: str | None) -> list[str]:
        """The values that are for an example: an original, or a variant of a kind."""
        if is_variant != self.metric.variants:
            return []
        if not is_variant:
            return list(self.values)
        return [value for value in self.values if self.metric.applies(value[len(self.name) + 1 :], kind)]


@cache
def names() -> tuple[str, ...]:
    """The names of all metrics, sorted. No metric is imported for it."""
    root = Path(__file__).parent
    modules = (path.relative_to(root).with_suffix("") for path in root.rglob("*.py"))
    return tuple(sorted(".".join(m.parts) for m in modules if len(m.parts) > 1 and m.name != "__init__"))


def load(name: str) -> Metric:
    """The declaration of a metric. UnknownName where there is no such metric."""
    if name not in names():
        raise UnknownName("metric", name, names(), "See: longmark metrics")
    metric = importlib.import_module(f"longmark.metrics.{name}").METRIC
    assert isinstance(metric, Metric)
    return metric


def docstring(name: str) -> str:
    """The docstring of a metric's module, read without importing it."""
    source = Path(__file__).parent.joinpath(*name.split(".")).with_suffix(".py")
    return inspect.cleandoc(ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or "")


def select(wanted: Sequence[str], domain: Domain | None = None) -> list[Selected]:
    """What the names select, each metric once, in the order asked for. UnknownName for a name that selects nothing.

    domain: whose dimensions have values; None: the built-in one.
    """
    found: dict[str, dict[str, Value]] = {}
    for name in wanted:
        hits = list(_under(name, domain))
        if not hits:
            raise UnknownName("metric", name, _all_names(domain), "See: longmark metrics")
        for metric, value in hits:
            found.setdefault(metric, {})[value] = load(metric).published(metric, domain)[value]
    return [
        Selected(name, load(name), {v: d for v, d in load(name).published(name, domain).items() if v in values})
        for name, values in found.items()
    ]


def all_prompts() -> list[Prompt]:
    """The prompts of all metrics, each once."""
    return list({prompt.id: prompt for name in names() for prompt in load(name).prompts}.values())


def _under(name: str, domain: Domain | None) -> Iterator[tuple[str, str]]:
    """(metric, value) for all that stands under a name."""
    for metric in names():
        if metric == name or metric.startswith(f"{name}."):
            yield from ((metric, value) for value in load(metric).published(metric, domain))
        elif name.startswith(f"{metric}.") and name in load(metric).published(metric, domain):
            yield metric, name


def _all_names(domain: Domain | None) -> list[str]:
    """Everything that can be asked for: families, metrics and their values."""
    families = {name.rsplit(".", 1)[0] for name in names()}
    values = {value for name in names() for value in load(name).published(name, domain)}
    return sorted(families | set(names()) | values)

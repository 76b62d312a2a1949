"""A view: the evidence of one metric as plain data for the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from longmark.metric_sources import names
from longmark.records import Row
from longmark.records.evidence import Evidence
from longmark.scores.manifest import MetricFacts

Results = Mapping[str, Row]
Block = tuple[Any, ...]
_E = TypeVar("_E", bound=Evidence)


class OtherForm(Exception):
    """The evidence of a row is not of the form that its view reads: of an older run, damaged, or another metric's.
    Raised where evidence is read and nowhere else, so that a mistake in a view is never taken for it."""


def read_as(form: type[_E], row: Row) -> _E:
    """The evidence of a row, as its view reads it. OtherForm."""
    evidence = form.of(row.evidence)
    if evidence is None:
        raise OtherForm(f"no {form.__name__}")
    return evidence


@dataclass(slots=True)
class View:
    """title, count: its head; covers: metrics whose evidence it shows; blocks: what it shows, each a name and data of
    the template's macro `block`."""

    title: str
    count: str
    covers: list[str]
    blocks: list[Block]


@dataclass(slots=True)
class ViewCell:
    """A cell of a view's table. kind: `words` (a text), `verdict` (a key of VERDICTS), `signed` (a number with its bar)
    or `line`; note: small, behind the value; badge: a mark of the row; more: folded below the value."""

    kind: str
    value: Any
    note: str = ""
    badges: Sequence[str] = ()
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ViewRows:
    """The rows of an answer that share a view: of one metric, with its parameters, by one judge. metric: its own name;
    suffix: its parameters and the judge, as they end its scores' names; rows: by the part of the score's name; facts:
    what the manifest says of each."""

    metric: str
    suffix: str
    rows: Mapping[str, Row]
    facts: Mapping[str, MetricFacts] = field(default_factory=dict)

    @property
    def ours(self) -> bool:
        """It is one of longmark's metrics, so it is known what its evidence means."""
        return self.metric in names()

    def rows_with(self, key: str) -> list[Row]:
        """The rows whose evidence has this key, one or more. OtherForm where none has it."""
        rows = [row for row in self.rows.values() if key in row.evidence]
        if not rows:
            raise OtherForm(f"no {key}")
        return rows

    @property
    def evidence(self) -> Iterator[dict[str, Any]]:
        return (row.evidence for row in self.rows.values())

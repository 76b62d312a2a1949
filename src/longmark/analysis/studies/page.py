"""The page of a study, declared: sections that are made from its results, or say why they are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Generic, TypeVar

from longmark.report.document import Section
from longmark.report.figures import Figure
from longmark.report.tables import Column, Table

Results = TypeVar("Results")


@dataclass(frozen=True)
class Part(Generic[Results]):
    """A section of the page. says, note: its text, or a function of the results that gives it; tables, figures, links:
    functions of the results; absent: why it is left out of these results, in a sentence ("": it is not)."""

    title: str
    says: str | Callable[[Results], str]
    tables: Callable[[Results], Iterable[Table]] = lambda _results: ()
    figures: Callable[[Results], Sequence[Figure]] = lambda _results: ()
    note: str | Callable[[Results], str] = ""
    links: Callable[[Results], Sequence[tuple[str, str]]] = lambda _results: ()
    absent: Callable[[Results], str] = lambda _results: ""


def sections(parts: Iterable[Part[Results]], results: Results, stages: Mapping[str, Any]) -> tuple[Section, ...]:
    """The sections that have tables with rows, or links; the cost of the stages last."""

    def text(given: str | Callable[[Results], str]) -> str:
        return given(results) if callable(given) else given

    made = []
    for part in parts:
        if not part.absent(results):
            found, links = [table for table in part.tables(results) if table.rows], part.links(results)
            if found or links:
                figures = part.figures(results)
                made.append(Section(part.title, text(part.says), found, figures, text(part.note), links=links))
    return (*made, Section("Stages", "What every stage took, over all sessions.", [stage_table(stages)]))


def notices(parts: Iterable[Part[Results]], results: Results, stages: Mapping[str, Any]) -> Iterator[str]:
    """What was left out of the stages, and the sentence of each section that is left out."""
    for name, known in stages.items():
        if known.get("left_out"):
            yield f"{name}: {len(known['left_out'])} left out, the first: {known['left_out'][0]}"
        for note in known.get("notes", ()):
            yield f"{name}: {note}."
        if not known.get("finished"):
            yield f"{name} is not finished; the same command continues it."
    for part in parts:
        if why := part.absent(results):
            yield why


def stage_table(stages: Mapping[str, Any]) -> Table:
    """Seconds, calls and tokens of every stage."""
    columns = (
        Column("Stage", itemgetter("name")),
        Column("Seconds", itemgetter("seconds"), 1),
        Column("Lines", lambda stage: stage.get("lines")),
        Column("Calls", itemgetter("calls")),
        Column("From the cache", itemgetter("from_cache"), key="from_cache"),
        Column("Prompt tokens", itemgetter("prompt_tokens")),
        Column("Completion tokens", itemgetter("completion_tokens")),
        Column("US dollars", itemgetter("usd"), 4, key="usd"),
    )
    return Table("stages", "Stages", columns, [{"name": name, **known} for name, known in stages.items()])

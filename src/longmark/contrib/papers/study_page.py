"""The page of a study: its sections over results, notices, and the table of its stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from longmark.report.document import Section, folded_after
from longmark.report.figures import Figure
from longmark.report.tables import Column, Table

if TYPE_CHECKING:
    from longmark.analysis.grid import Grid

SUMMED = ("calls", "from_cache", "prompt_tokens", "completion_tokens")
Results = TypeVar("Results")


@dataclass(frozen=True)
class PageSection(Generic[Results]):
    """A section of the page. says, note: its text (says: or a function of the results); tables, figures, links:
    functions of the results; absent: why it is left out for these results, in a sentence ("": it is not)."""

    title: str
    says: str | Callable[[Results], str]
    tables: Callable[[Results], Iterable[Table | Grid[Any]]] = lambda _results: ()
    figures: Callable[[Results], Sequence[Figure]] = lambda _results: ()
    note: str = ""
    links: Callable[[Results], Sequence[tuple[str, str]]] = lambda _results: ()
    absent: Callable[[Results], str] = lambda _results: ""


def sections(
    parts: Iterable[PageSection[Results]], results: Results, stages: Mapping[str, Any]
) -> tuple[Section, ...]:
    """The sections that have tables with rows, or links, folded but for the first two; the cost of the stages last, if
    there are any."""
    page_sections = list[Section]()
    for part in parts:
        if not part.absent(results):
            part_tables = [
                table if isinstance(table, Table) else table.table()
                for table in part.tables(results)
                if table.rows
            ]
            links = part.links(results)
            if part_tables or links:
                text = part.says if isinstance(part.says, str) else part.says(results)
                page_sections.append(
                    Section(
                        part.title,
                        text,
                        part_tables,
                        part.figures(results),
                        part.note,
                        links=links,
                        brief=not page_sections,
                    )
                )
    if stages:
        page_sections.append(
            Section(
                "Stages",
                "The cost of every stage, over all sessions.",
                [stage_table(stages)],
                brief=1,
            )
        )
    return folded_after(page_sections)


def notices(
    parts: Iterable[PageSection[Results]], results: Results, stages: Mapping[str, Any]
) -> Iterator[str]:
    """What was left out of the stages, and why sections are left out."""
    for name, state in stages.items():
        if state.get("left_out"):
            yield f"{name}: {len(state['left_out'])} omitted, the first: {state['left_out'][0]}"
        for note in state.get("notes", ()):
            yield f"{name}: {note}."
        if not state.get("finished"):
            yield f"{name} is not finished. Repeat the same command to resume."
    yield from filter(None, (part.absent(results) for part in parts))


def stage_table(stages: Mapping[str, Any]) -> Table:
    """Seconds, calls and tokens of every stage."""
    columns = (
        Column("stage", itemgetter("name")),
        Column("seconds", itemgetter("seconds"), 1),
        Column("lines", lambda stage: stage.get("lines")),
        *(Column(name.replace("_", " "), itemgetter(name), key=name) for name in SUMMED),
        Column("US dollars", itemgetter("usd"), 4, key="usd"),
    )
    return Table(
        "stages", "Stages", columns, [{"name": name, **state} for name, state in stages.items()]
    )

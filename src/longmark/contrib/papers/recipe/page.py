"""The page of a recipe: its sections, with their tables and figures, from sources that were read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from longmark.analysis.grid import Grid
from longmark.contrib.papers.recipe.checks import load, misplaced_total, unknown, unknown_fields
from longmark.contrib.papers.recipe.schema import (
    RECIPES,
    FigureOf,
    Mistake,
    Recipe,
    SectionOf,
    Vocabulary,
    fields_in,
)
from longmark.contrib.papers.recipe.source import RecipeSource, meets
from longmark.contrib.papers.recipe.tables import GridTable
from longmark.contrib.papers.study import PageSection, notices, sections
from longmark.report.document import Section
from longmark.report.figures import Figure
from longmark.report.tables import Column, Table


@dataclass(frozen=True)
class Pages:
    """The sections of a recipe over sources. sources: name -> source; one that is not there was not given, and what is
    made of it is left out."""

    recipe: Recipe
    sources: Mapping[str, RecipeSource]

    def check(self) -> None:
        """BadInput, with the line of each mistake, if a table names a field or a measure that its source lacks: of some
        sources these are known once they are read."""
        wrong: list[Mistake] = []
        for place, table in self.recipe.tables():
            source = self.sources.get(table.source or "")
            if source is None:
                continue
            wrong += unknown_fields(table, place, source.names)
            wrong += misplaced_total(table, place, source.heads)
            for number, column in enumerate(table.columns):
                if column.value not in source.measures:
                    measure_names = list(source.measures)
                    hint = f"The measures are {', '.join(measure_names)}."
                    message = unknown("measure", column.value, measure_names, hint)
                    wrong.append(((*place, "columns", number, "value"), message))
        self.recipe.check(wrong)
        self.recipe.check([*self._same_names(), *self._unknown_columns()])

    def _same_names(self) -> Iterator[Mistake]:
        for place, table in self.recipe.tables():
            source = self.sources.get(table.source or "")
            names = GridTable(table, source).same_names() if source is not None else []
            if names:
                message = (
                    f"two columns would be called {', '.join(names)}; give one a name of its own"
                )
                yield (*place, "columns"), message

    def _unknown_columns(self) -> Iterator[Mistake]:
        for number, section in enumerate(self.recipe.parts.sections):
            for position, figure in enumerate(section.figures):
                grid = self.grids.get(figure.forest or "")
                names = [column.name for column in grid.columns] if grid is not None else []
                is_needed = bool(figure.column) and not figure.optional
                if grid is not None and is_needed and figure.column not in names:
                    hint = f"The columns with estimates are {', '.join(names)}."
                    message = unknown("column", figure.column, names, hint)
                    yield ("sections", number, "figures", position, "column"), message

    @cached_property
    def parts(self) -> tuple[PageSection[None], ...]:
        """The sections, as `study.sections` takes them, but for those that a source makes."""
        return tuple(
            self._part(section) for section in self.recipe.parts.sections if section.made is None
        )

    def sections(
        self,
        stages: Mapping[str, Any],
    ) -> list[Section]:
        """The sections of the page; one that a source makes stands behind the one before it. stages: their states."""
        made_sections: dict[str, list[Section]] = {}
        title = ""
        for section in self.recipe.parts.sections:
            if section.made is None:
                title = section.title or ""
            elif make := self.made("sections", section.made):
                made_sections.setdefault(title, []).append(replace(make(), folded=True))
        page_sections = []
        for page_section in sections(self.parts, None, stages):
            page_sections += [page_section, *made_sections.get(page_section.title, [])]
        return page_sections

    def notices(
        self,
        stages: Mapping[str, Any],
    ) -> list[str]:
        """What the sources and the stages have to say, and why sections are left out."""
        of_sources = (notice for source in self.sources.values() for notice in source.notices)
        return [
            *dict.fromkeys(of_sources),
            *self._met_by_nothing(),
            *notices(self.parts, None, stages),
        ]

    def _met_by_nothing(self) -> Iterator[str]:
        """Why a table is empty: a value in its conditions that nothing has."""
        for _place, table in self.recipe.tables():
            source = self.sources.get(table.source or "")
            if source is None or self.grids[table.name or ""].rows:
                continue
            for name, condition in table.where.items():
                # metrics and systems may be absent: a recipe has tables for all that a study can compare
                values = source.values(name) if name in source.fields else []
                if values and not any(meets(value, condition) for value in (*values, "")):
                    yield (
                        f"Table {table.name} is empty: no {name} is {' or '.join(condition.among or ())}. The values are "
                        f"{', '.join(values[:20])}."
                    )

    @cached_property
    def grids(self) -> dict[str, Grid[Any]]:
        """Each table by its name; its figures are drawn from the same grid."""
        tables = (table for _, table in self.recipe.tables() if table.name)
        return {
            table.name: GridTable(
                table, self.sources[table.source], self.text("", table.made_note)
            ).grid()
            for table in tables
            if table.name and table.source and table.source in self.sources
        }

    def made(
        self,
        kind: str,
        name: str,
    ) -> Callable[[], Any] | None:
        """What a source makes itself: SOURCE.NAME; None where the source was not given."""
        source, _, part = name.partition(".")
        if source not in self.sources:
            return None
        makers: Mapping[str, Callable[[], Any]] = getattr(self.sources[source], kind)
        return makers[part]

    def text(
        self,
        text: str | None,
        made_text: str | None,
    ) -> str:
        make = self.made("texts", made_text) if made_text else None
        return make() if make else text or ""

    def _part(self, section: SectionOf) -> PageSection[None]:
        return PageSection(
            title=section.title or "",
            says=lambda _results: self.text(section.text, section.made_text),
            tables=lambda _results: list(self._tables(section)),
            figures=lambda _results: list(self._figures(section)),
            note=section.note,
            links=lambda _results: self._links(section),
            absent=lambda _results: self._absent(section),
        )

    def _tables(self, section: SectionOf) -> Iterator[Table | Grid[Any]]:
        for table in section.tables:
            if table.made is None:
                if table.name in self.grids:
                    yield self.grids[table.name]
            elif make := self.made("tables", table.made):
                yield from make()

    def _figures(self, section: SectionOf) -> Iterator[Figure]:
        for figure in section.figures:
            if figure.made is not None:
                if make := self.made("figures", figure.made):
                    yield from make()
            elif (grid := self.grids.get(figure.forest or "")) is not None and (
                grid.rows and grid.columns
            ):
                yield from self._forests(figure, grid)

    def _forests(
        self,
        figure: FigureOf,
        grid: Grid[Any],
    ) -> Iterator[Figure]:
        """The estimates of a column, or of every one."""
        drawn = replace(grid, label=_lane(grid, figure.lane)) if figure.lane else grid
        names = [column.name for column in grid.columns]
        columns = names if figure.every else [figure.column or names[0]]
        for column in columns:
            if column in names or not figure.optional:
                yield drawn.forest(figure.label.replace("{}", column), column, self._lines(figure))

    def _lines(self, figure: FigureOf) -> tuple[float, ...] | None:
        values = []
        for line in figure.reference:
            if isinstance(line, str):
                make = self.made("references", line)
                value = make() if make else None
                values += [] if value is None else [value]
            else:
                values.append(line)
        return tuple(values) or None

    def _links(self, section: SectionOf) -> Sequence[tuple[str, str]]:
        make = self.made("links", section.links) if section.links else None
        return make() if make else ()

    def _absent(self, section: SectionOf) -> str:
        """Why a section is left out; "" where it is not."""
        for name, fields in section.needs.items():
            source = self.sources.get(name)
            if source is None or not any(source.values(field) for field in fields):
                return section.absent or f"{section.title}: left out, nothing to show."
        if section.absent and not section.needs:
            return "" if any(table.rows for table in self._tables(section)) else section.absent
        return ""


def _lane(grid: Grid[Any], lane: str) -> Callable[[Any], str]:
    """The text beside the lane of a row: `lane`, with the values of the row for {FIELD}."""
    names = {head.field: head for head in grid.heads if isinstance(head, Column)}

    def label(row: Any) -> str:
        text = lane
        for name in fields_in(lane):
            get = names[Column(name).field].get
            assert callable(get)
            text = text.replace(f"{{{name}}}", str(get(row)))
        return text

    return label


def pages_of(
    name: str, vocabulary: Mapping[str, Vocabulary], sources: Mapping[str, RecipeSource]
) -> Pages:
    """The sections of a recipe that comes with longmark. sources: by their reader; what has none was not given."""
    recipe = load(RECIPES / f"{name}.yaml", vocabulary)
    return Pages(
        recipe,
        {
            source: sources[declared.reader]
            for source, declared in recipe.parts.sources.items()
            if declared.reader in sources
        },
    )

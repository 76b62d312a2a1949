"""The tables of a recipe as grids: a row for each combination of the values of some fields, columns of measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import fmean
from typing import Any

from longmark.analysis.grid import Grid
from longmark.contrib.papers.recipe.schema import ColumnOf, Condition, TableOf
from longmark.contrib.papers.recipe.source import NUMBER, YES, YES_OR_NO, Member, RecipeSource
from longmark.report.tables import Best, Cell, Column
from longmark.stats.results import Estimate

Key = tuple[str | None, ...]
"""A row: the value of each of its fields; None: of all values (`total`)."""
Conditions = Mapping[str, Condition]

MANY = 4
"""Columns of `each` that have room for intervals; of more, pages and terminals show the values only."""


def only(name: str, value: str) -> Conditions:
    """The condition that a field has this value."""
    return {name: Condition(among=(value,))}


@dataclass(frozen=True)
class GridColumn:
    """A column of a grid: one of the recipe's, or of those that `each` stands for. where: its conditions; over: the
    field whose groups are averaged."""

    of: ColumnOf
    name: str
    key: str
    where: tuple[Conditions, ...]
    over: str | None = None


@dataclass
class GridTable:
    """A table of a recipe over a source. source_note: what the source says of the data (`made_note`)."""

    table: TableOf
    source: RecipeSource
    source_note: str = ""
    _items: dict[tuple[Any, ...], list[int]] = field(default_factory=dict)

    def grid(self) -> Grid[Key]:
        """The grid. It has no rows if a field has fewer values than the table needs, or no item counts."""
        table = self.table
        columns = [grid_column for column in table.columns for grid_column in self._columns(column)]
        rows = list(self._rows()) if self._is_made() else []
        columns = [
            column
            for column in columns
            if not column.of.optional
            or any(_value(self.cell(row, column)) is not None for row in rows)
        ]
        estimates = [column for column in columns if self._kind(column) == "estimate"]
        beside = [column for column in columns if self._kind(column) != "estimate"]
        by_name = {column.name: column for column in columns}
        many = any(
            sum(grid_column.of is column for grid_column in columns) > MANY
            for column in table.columns
            if column.each and column.show is None
        )
        return Grid(
            name=table.name or "",
            title=table.title or "",
            heads=[self._head(position, name) for position, name in enumerate(table.rows)],
            rows=rows,
            columns=[self._column(column, many) for column in estimates],
            cell=lambda row, name: _estimate(self.cell(row, by_name[name])),
            note=" ".join(
                filter(None, (table.note, self.source_note, table.note_of_many if many else ""))
            ),
            unit=table.unit,
            best=self._best(rows, estimates) if table.bold else {},
            beside=[self._beside(column) for column in beside],
        )

    def same_names(self) -> list[str]:
        """The headings that several columns have, those of the rows among them: with these data, as the values of
        `each` are headings too."""
        columns = [
            grid_column for column in self.table.columns for grid_column in self._columns(column)
        ]
        heads = [self.table.headings.get(name, name) for name in self.table.rows]
        headings = [*heads, *(column.name for column in columns)]
        keys = [*self.table.rows, *(column.key or column.name for column in columns)]
        return [
            name for name, count in Counter(headings).items() | Counter(keys).items() if count > 1
        ]

    def cell(
        self,
        row: Key,
        column: GridColumn,
    ) -> Cell:
        """What stands in a row and a column."""
        conditions = (self.table.where, *self._conditions(row), *column.where)
        measure = self.source.measures[column.of.value].of
        if column.over is None:
            return measure(self.source.chosen_members(*conditions), self._chosen(conditions))
        values = [
            _value(measure(self.source.chosen_members(*conditions), places))
            for places in self._groups(column.over, conditions)
        ]
        known_values = [value for value in values if value is not None]
        mean = fmean(known_values) if known_values and len(known_values) == len(values) else None
        return Estimate(mean, None, None, len(values))

    def _is_made(self) -> bool:
        for name, least in self.table.needs.items():
            if len(self.source.values(name)) < least:
                return False
        return not self.source.items or bool(self._chosen((self.table.where,)))

    def _rows(self) -> Iterator[Key]:
        table = self.table
        source = self.source
        heads = [name for name in table.rows if name in source.heads]
        combinations = {
            tuple(member[list(source.heads).index(name)] for name in heads): None
            for member in source.chosen_members(table.where)
        }
        item_fields = [name for name in table.rows if name not in source.heads]
        values = [self._row_values(name, name == table.rows[-1]) for name in item_fields]
        for of_members in combinations:
            for of_items in product(*values):
                value_of_field: dict[str, str | None] = dict(zip(heads, of_members, strict=True))
                value_of_field |= dict(zip(item_fields, of_items, strict=True))
                yield tuple(value_of_field[name] for name in table.rows)

    def _row_values(
        self,
        name: str,
        is_last: bool,
    ) -> list[str | None]:
        places = self._chosen((self.table.where,))
        values: list[str | None] = [*self.source.values(name, places=places)]
        if not (is_last and self.table.total):
            return values
        return [None, *values] if self.table.total_first else [*values, None]

    def _conditions(self, row: Key) -> list[Conditions]:
        value_of_field = zip(self.table.rows, row, strict=True)
        return [only(name, value) for name, value in value_of_field if value is not None]

    def _chosen(self, conditions: Sequence[Conditions]) -> list[int]:
        """The places of the items that meet the conditions, kept: many cells share them."""
        key = tuple(
            (name, condition.among, condition.other_than)
            for conditions_given in conditions
            for name, condition in conditions_given.items()
            if name in self.source.fields
        )
        if key not in self._items:
            self._items[key] = self.source.chosen_items(*conditions)
        return self._items[key]

    def _groups(
        self,
        name: str,
        conditions: Sequence[Conditions],
    ) -> list[list[int]]:
        """The items of each value of a field that the table has; all of them where it has none."""
        values = self.source.values(name, places=self._chosen((self.table.where,)))
        if not values:
            return [self._chosen(conditions)]
        return [self._chosen((*conditions, only(name, value))) for value in values]

    def _columns(self, column: ColumnOf) -> Iterator[GridColumn]:
        if not column.each:
            yield GridColumn(column, column.name, column.key or "", (column.where,), column.over)
            return
        places = self._chosen((self.table.where, column.where))
        fields = [
            self.source.values(name, {**self.table.where, **column.where}, places)
            for name in column.each
        ]
        if any(len(values) < column.at_least for values in fields) and all(fields):
            return
        for values in product(*fields):
            conditions = [
                only(name, value) for name, value in zip(column.each, values, strict=True)
            ]
            column_conditions = (column.where, *conditions)
            if self.source.items and not self._chosen((self.table.where, *column_conditions)):
                continue
            yield self._each(column, " ".join(values), column_conditions)

    def _each(
        self,
        column: ColumnOf,
        value: str,
        conditions: tuple[Conditions, ...],
    ) -> GridColumn:
        name = (column.name or "{}").replace("{}", value)
        return GridColumn(column, name, (column.key or "").replace("{}", value), conditions)

    def _kind(self, column: GridColumn) -> str:
        return self.source.measures[column.of.value].kind

    def _head(
        self,
        position: int,
        name: str,
    ) -> Column:
        kind = self.source.heads.get(name, "")

        def shown(row: Key) -> Cell:
            value = row[position]
            if value is None:
                return self.table.total or ""
            if kind == NUMBER and value:
                return int(value)
            if kind == YES_OR_NO:
                return value == YES
            return value or None if name in self.source.heads else value

        heading = self.table.headings.get(name, "")
        is_metric = kind == "metric"
        return Column(
            heading or name,
            shown,
            kind="metric" if is_metric else "",
            key=Column(name).field if heading else "",
        )

    def _places(self, column: GridColumn) -> int | None:
        own_decimals = column.of.places
        return (
            self.source.measures[column.of.value].decimals if own_decimals is None else own_decimals
        )

    def _column(
        self,
        column: GridColumn,
        many: bool,
    ) -> Column:
        is_many = bool(many and column.of.each) and column.of.show is None
        narrow = column.of.show == "value" or column.over or is_many
        return Column(
            column.name,
            places=self._places(column),
            kind="value" if narrow else "",
            key=column.key,
            spare=column.of.spare,
        )

    def _beside(self, column: GridColumn) -> Column:
        kind = self._kind(column)
        return Column(
            column.name,
            self._reader(column),
            self._places(column) if kind == "number" else None,
            "p" if kind == "p" else "",
            column.key,
            column.of.spare,
        )

    def _reader(self, column: GridColumn) -> Callable[[Key], Cell]:
        return lambda row: self.cell(row, column)

    def _best(
        self,
        rows: Sequence[Key],
        columns: Sequence[GridColumn],
    ) -> dict[str, set[Key]]:
        """The row that is the best in each column; of rows that are a member each."""
        best_rows: dict[str, set[Key]] = {}
        for column in columns:
            members: dict[Member, Key] = {}
            for row in rows:
                chosen = self.source.chosen_members(
                    self.table.where, *self._conditions(row), *column.where
                )
                if len(chosen) == 1:
                    members[chosen[0]] = row
            conditions = (self.table.where, *column.where)
            parts = (
                [self._chosen(conditions)]
                if column.over is None
                else self._groups(column.over, conditions)
            )
            best = self.source.best(column.of.value, list(members), parts)
            if best is not None:
                best_rows[column.name] = {members[best]}
        return best_rows


def _estimate(cell: Cell) -> Estimate | None:
    cell = cell.cell if isinstance(cell, Best) else cell
    return cell if isinstance(cell, Estimate) else None


def _value(cell: Cell) -> float | None:
    cell = cell.cell if isinstance(cell, Best) else cell
    if isinstance(cell, Estimate):
        return cell.value
    return cell if isinstance(cell, float) else None

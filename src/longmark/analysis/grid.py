"""Grids: estimates by rows and columns, the form of every result of a study.

A cell is an estimate (value, interval, method, n, missing, reason), made by a function of its row and its column when
it is first read. A grid gives its table in every form (`report/tables.py`), its forest plots and its heat map: a study
says only what is estimated. Two things compared are a row, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from longmark.report.charts import ForestRow, forest, heat_map
from longmark.report.figures import Figure
from longmark.report.format import metric_titles, p_value
from longmark.report.shown import PartShown
from longmark.report.tables import Best, Cell, Column, Table
from longmark.scores.observations import Observations
from longmark.stats.results import Estimate

if TYPE_CHECKING:
    from longmark.stats.means import Bounds

ROUNDING = 1e-12
"""Differences this close to 0 leave two things in the order given."""

Row = TypeVar("Row")
Cells = Callable[[Any, str], Estimate | None]


@dataclass(frozen=True, slots=True, repr=False)
class Grid(PartShown, Generic[Row]):
    """Estimates by rows and columns.

    name, title, note, unit   of its table (`Table`): unit is what the first estimate of a row counts
    heads    the columns that name a row, each with its getter on the row; for rows that are tuples of texts their names
             are enough, for rows that are texts the one name
    rows     what the rows are about, hashable where there is a cell; columns: what is estimated: name, decimals, key
    cell     the estimate of a row (first argument) in a column (its name), None where there is none; asked once; where
             it is not given, the getters of the columns give the estimates
    best     the rows that are in bold in a column
    beside   further columns of a row, behind the estimates
    label    of a row in figures; by default its texts, with metrics in words, with `joint` between them
    """

    name: str
    title: str
    heads: Sequence[Column | str]
    rows: Sequence[Row]
    columns: Sequence[Column]
    cell: Cells | None = None
    note: str = ""
    unit: str = "n"
    best: Mapping[str, Collection[Row]] = field(default_factory=dict)
    beside: Sequence[Column] = ()
    label: Callable[[Row], str] | None = None
    joint: str = ", "
    _made: dict[tuple[Row, str], Estimate | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __getitem__(self, place: tuple[Row, str]) -> Estimate | None:
        """The estimate of a row in a column."""
        if self.cell is None:
            column = next(column for column in self.columns if column.name == place[1])
            return _read(column)(place[0])  # type: ignore[no-any-return]
        if place not in self._made:
            self._made[place] = self.cell(*place)
        return self._made[place]

    def table(self) -> Table:
        """A row for each row. Figures of files are unrounded, each estimate with its interval, n, missing and so on."""

        def shown(row: Row, column: Column) -> Cell:
            estimate = self[row, column.name]
            return (
                Best(estimate)
                if estimate is not None and row in self.best.get(column.name, ())
                else estimate
            )

        def cells(column: Column) -> Column:
            return replace(
                column, get=lambda row: shown(row, column), kind=column.kind or "estimate"
            )

        named_heads = [replace(head, get=get) for head, get in map(_getter, self.heads, count())]
        beside = [replace(column, get=_read(column)) for column in self.beside]
        columns = (*named_heads, *map(cells, self.columns), *beside)
        return Table(self.name, self.title, columns, self.rows, self.note, self.unit)

    def forest(
        self,
        label: str,
        column: str = "",
        reference: float | tuple[float, ...] | None = None,
        *,
        note: Callable[[Row], str] | None = None,
    ) -> Figure:
        """The estimates of a column (by default the first) with their intervals, a lane for each row that has one.
        reference: a line across, or several; note: of a lane, by default n."""
        name = column or self.columns[0].name
        lanes = [(row, estimate) for row in self.rows if (estimate := self[row, name]) is not None]
        titles = self._labels([row for row, _ in lanes])
        return forest(
            [
                ForestRow(
                    title,
                    estimate.value,
                    estimate.low,
                    estimate.high,
                    note(row) if note else _counted(estimate),
                )
                for title, (row, estimate) in zip(titles, lanes, strict=True)
            ],
            label,
            reference,
        )

    def heat_map(self, label: str, low: float, high: float, places: int = 2) -> Figure:
        """The values of all cells, in shades between low and high."""
        values = [
            [
                estimate.value if (estimate := self[row, column.name]) else None
                for column in self.columns
            ]
            for row in self.rows
        ]
        heads = [column.words or column.name for column in self.columns]
        return heat_map(self._labels(self.rows), heads, values, label, (low, high), places)

    def _labels(self, rows: Sequence[Row]) -> list[str]:
        if self.label is not None:
            return [self.label(row) for row in rows]
        texts = []
        for head, get in map(_getter, self.heads, count()):
            row_names = [str(get(row) or "") for row in rows]
            titles = metric_titles(row_names) if head.kind == "metric" else {}
            texts.append([titles.get(text, text) for text in row_names])
        return [self.joint.join(filter(None, line)) for line in zip(*texts, strict=True)]


def mean_of(
    scores: Observations,
    level: float = 0.95,
    bounds: Bounds = (None, None),
    *,
    null: float | None = None,
    **keys: str,
) -> Estimate:
    """The mean score of the observations with these keys (`Observations.select`), with its interval over their
    clusters (`stats.means`, also for `null`); missing: unscored ones."""
    from longmark.stats.means import mean_estimate

    observed = [(observation.score, observation.cluster) for observation in scores.select(**keys)]
    scored = [(score, cluster) for score, cluster in observed if score is not None]
    estimate = mean_estimate(
        [score for score, _ in scored], [cluster for _, cluster in scored], bounds, level, null=null
    )
    return replace(estimate, missing=len(observed) - len(scored))


# Two things compared --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Compared:
    """Two things, compared within others (a model, a score; none: over all). result: an Estimate with `p`, of first -
    second; adjusted: its p over all that were compared together, by `method` (of `stats.multiplicity`)."""

    first: str
    second: str
    result: Any
    adjusted: float | None = None
    within: tuple[str, ...] = ()
    method: str = "holm"


def compared(
    names: Iterable[str], test: Callable[[str, str], Any], alpha: float
) -> tuple[Compared, ...]:
    """Every pair of names, the greater one first, adjusted together by Holm. test: gives the difference of two."""
    compared_pairs = []
    for first, second in combinations(names, 2):
        result = test(first, second)
        if result.value is not None and result.value < -ROUNDING:
            first, second = second, first
            result = test(first, second)
        compared_pairs.append(Compared(first, second, result))
    return adjusted(compared_pairs, alpha)


def adjusted(pairs: Sequence[Compared], alpha: float, method: str = "holm") -> tuple[Compared, ...]:
    """The same pairs, with p adjusted over all of them."""
    from longmark.stats.multiplicity import adjust  # needs NumPy, which the page of a demo does not

    ps = adjust([pair.result.p for pair in pairs], method, alpha).adjusted
    return tuple(
        replace(pair, adjusted=p, method=method) for pair, p in zip(pairs, ps, strict=True)
    )


def pairs_grid(
    name: str,
    title: str,
    pairs: Sequence[Compared],
    note: str,
    heads: Sequence[Column],
    alpha: float = 0.05,
) -> Grid[Compared]:
    """Differences with p, adjusted p and whether this is at most alpha. heads: of `first`, `second`, and of `within`
    where there is one."""
    adjusted_by = "Benjamini-Hochberg" if any(pair.method != "holm" for pair in pairs) else "Holm"
    return Grid(
        name,
        title,
        heads,
        pairs,
        (Column("difference", places=3),),
        lambda row, _column: row.result,
        note,
        beside=(
            Column("p", "result.p", kind="p"),
            Column(f"p ({adjusted_by})", "adjusted", kind="p", key="p_adjusted"),
            Column(
                "significant", lambda row: None if row.adjusted is None else row.adjusted <= alpha
            ),
        ),
        joint=" − ",
    )


def p_note(pair: Compared) -> str:
    """The note of a pair's lane: its adjusted p, or why it was not tested."""
    return pair.result.reason or "" if pair.adjusted is None else p_value(pair.adjusted)


def _read(column: Column) -> Callable[[Any], Any]:
    """The getter of a column on a row."""
    return column.get if callable(column.get) else attrgetter(str(column.get or column.field))


def _getter(column: Column | str, place: int) -> tuple[Column, Callable[[Any], Any]]:
    """A head with the function that gives its text of a row: its own, or the row's text at its place, or attribute."""
    head = Column(column) if isinstance(column, str) else column
    if callable(head.get):
        return head, head.get

    def get(row: Any) -> Any:
        if isinstance(row, str):
            return row
        return row[place] if type(row) is tuple else _read(head)(row)

    return head, get


def _counted(estimate: Estimate) -> str:
    """`n = 38 of 40`; why there is no interval."""
    total = f" of {estimate.n + estimate.missing:,}" if estimate.missing else ""
    return (
        estimate.reason
        if estimate.reason and estimate.value is None
        else f"n = {estimate.n:,}{total}"
    )

"""The summary of one or several sources, and its table.

A mean is over the scored rows and always comes with their number; a missing score is never a number. Its 95 % CI is
by Hall's t (`stats.means`), clipped to the metric's bounds; the rows of a question are one cluster. Scores that are all
at one of two bounds, one for each question, have Wilson's, equal scores of a metric with bounds that of
`equal_interval`. There is none for fewer than two clusters, nor for equal scores without bounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from longmark.records.metric_name import without_slice
from longmark.report import tables
from longmark.report.format import NONE, decimals, fixed, share
from longmark.report.tables import Column, Table, one_line
from longmark.scores.clusters import QUESTION
from longmark.scores.manifest import (
    Manifest,
    MetricFacts,
    read_manifest,
    without_descriptive,
)
from longmark.scores.observations import Extremes, Limit, Observations, Unscored
from longmark.stats.gate import BoundedScores
from longmark.stats.means import HALL, WILSON, mean_of_groups
from longmark.stats.results import Estimate

_SMALL = 10  # answers; a slice of fewer is remarked on


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric and system. n: rows, `scored` of them with a score; interval: CI of the mean, by `method`, or None for
    a `reason`; least, greatest: extreme scores; unscored: why rows have no score; clusters: how many the scores
    belong to, None if each is one; effective: as many of one size; choices: of pairs, the shares of a, tie and
    b; bounded: the scores of a bounded metric; counts: limit -> the scores beyond it; level: of the interval; filled:
    `bounded` with unscored rows as the least and as the greatest score, each in its cluster, None where all have one."""

    metric: str
    system: str
    n: int
    scored: int
    mean: float | None
    interval: tuple[float, float] | None
    least: float | None = None
    greatest: float | None = None
    unscored: tuple[Unscored, ...] = ()
    method: str = ""
    reason: str = ""
    clusters: int | None = None
    effective: float | None = None
    choices: tuple[float, float, float] | None = None
    bounded: BoundedScores | None = field(default=None, repr=False, compare=False)
    counts: Mapping[Limit, Extremes] = field(default_factory=dict, compare=False)
    level: float = 0.95
    filled: tuple[BoundedScores, BoundedScores] | None = field(
        default=None, repr=False, compare=False
    )


@dataclass(frozen=True, slots=True)
class Summary:
    """All cells, metrics in the order of the runs' manifests, systems in order of appearance. cluster: the field that
    the rows of a cluster share; notices: what the readers left out; signatures: a line for each way that each score was
    made in (`Signature.line`), as far as the rows say; slices: metrics that are over a part of the answers."""

    cells: tuple[Cell, ...]
    facts: dict[str, MetricFacts]
    systems: tuple[str, ...]
    cluster: str = QUESTION
    notices: tuple[str, ...] = ()
    signatures: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(cell.metric for cell in self.cells))

    @property
    def wholes(self) -> tuple[str, ...]:
        """The metrics over all answers, without those of slices."""
        return tuple(name for name in self.metrics if name not in self.slices)

    @property
    def pairs(self) -> bool:
        """The scores are choices between two answers."""
        return any(cell.choices for cell in self.cells)

    @property
    def directed(self) -> bool:
        """It is known of a metric whether higher or lower is better."""
        return any(facts.higher_is_better is not None for facts in self.facts.values())

    @property
    def interval_name(self) -> str:
        """The head of the column of CIs, which names the method and, where a cluster has several rows, the clusters.
        Cells by another method name theirs (`interval_in_words`)."""
        over = f" over {self.clusters}" if any(cell.clusters for cell in self.cells) else ""
        return interval_name(f"{self.interval_method}{over}" if self.interval_method else "")

    @property
    def interval_method(self) -> str:
        """The method of the column of CIs: the first of Hall's and Wilson's that a cell is by, else none."""
        methods = {cell.method for cell in self.cells}
        return next((method for method in (HALL, WILSON) if method in methods), "")

    @property
    def other_methods(self) -> bool:
        """Whether a cell has an interval by another method than the column's."""
        return any(cell.method not in ("", self.interval_method) for cell in self.cells)

    @property
    def clusters(self) -> str:
        """What a cluster is called."""
        return "questions" if self.cluster == QUESTION else f"clusters ({one_line(self.cluster)})"

    def of(self, metric: str) -> list[Cell]:
        return [cell for cell in self.cells if cell.metric == metric]

    def decimals(self, metric: str) -> int:
        seen = [
            end
            for cell in self.of(metric)
            for end in (cell.least, cell.greatest)
            if end is not None
        ]
        return decimals(self.facts[metric], min(seen, default=None), max(seen, default=None))


def summarise(
    runs: Sequence[Path],
    cluster: str = QUESTION,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    by: Sequence[str] = (),
    limits: Collection[Limit] = (),
    level: float = 0.95,
) -> Summary:
    """The summary of run folders, read once. cluster: the field of the examples that the answers of a cluster share;
    bounds: of metrics whose runs declare none; by: fields that cut the answers into slices; limits: beyond which scores
    are counted (`gates.limits_of`); level: of the intervals. UserError where one of them is no run folder, or where no
    example has the field."""
    manifests = [read_manifest(run) for run in runs]
    with Observations(cluster, bounds, by) as index:
        index.read(runs)
        return summary_of(index, manifests, limits, level)


def summary_of(
    index: Observations,
    manifests: Iterable[Manifest],
    limits: Collection[Limit] = (),
    level: float = 0.95,
) -> Summary:
    manifests = list(manifests)
    facts = without_descriptive(index.facts(manifests))
    names = index.metrics
    systems = index.systems()
    pairs = bool(manifests) and all(manifest.of_pairs for manifest in manifests)
    if pairs:  # a choice for b is no worse than one for a
        facts = {name: replace(fact, higher_is_better=None) for name, fact in facts.items()}
    counts = index.counts()
    means: dict[tuple[int, int], Estimate] = {}
    bounded: dict[tuple[int, int], BoundedScores | None] = {}
    for key, groups in index.grouped():
        fact = facts[names[key[0]]]
        scores = bounded[key] = _bounded(fact)
        means[key] = mean_of_groups(
            groups if scores is None else _counted(groups, scores), (fact.lo, fact.hi), level
        )
    unscored = index.unscored()
    beyond = {limit: index.beyond(limit) for limit in limits}
    cells = []
    for name in facts:
        for system, label in enumerate(systems):
            if (key := (names.index(name), system)) not in counts:
                continue
            mean = means.get(key) or mean_of_groups(())
            rows, scored, least, greatest = counts[key]
            cell = Cell(
                name,
                label,
                rows,
                scored,
                mean.value,
                mean.ends,
                least,
                greatest,
                unscored.get(key, ()),
            )
            cell = replace(cell, method=mean.method, reason=mean.reason or "")
            cell = replace(cell, clusters=mean.clusters, effective=mean.effective)
            if pairs:
                count = Counter(index.ascending(key[0], system))
                shares = (
                    count[1.0] / max(scored, 1),
                    count[0.0] / max(scored, 1),
                    count[-1.0] / max(scored, 1),
                )
                cell = replace(cell, choices=shares)
            of_limits = {limit: extremes.get(key, Extremes()) for limit, extremes in beyond.items()}
            cell = replace(cell, bounded=bounded.get(key), counts=of_limits, level=level)
            if cell.bounded is not None and scored < rows:
                cell = replace(cell, filled=_filled(index, key, cell.bounded))
            cells.append(cell)
    lines = (
        signature.line(name)
        for name in names
        for signature in index.signatures(name)
        if signature.version
    )
    signatures = tuple(dict.fromkeys(lines))
    notices = (*index.notices, *_small(cells, index.slices))
    return Summary(
        tuple(cells), facts, tuple(systems), index.cluster, notices, signatures, tuple(index.slices)
    )


def _small(cells: Iterable[Cell], slices: Collection[str]) -> Iterator[str]:
    """Which slices have few answers."""
    few: dict[str, int] = {}
    for cell in cells:
        if cell.metric in slices and cell.n < _SMALL:
            part = without_slice(cell.metric)[1]
            few[part] = min(few.get(part, cell.n), cell.n)
    if few:
        parts = ", ".join(f"{one_line(part)} ({n})" for part, n in islice(few.items(), 10))
        remainder = f" and {len(few) - 10} more" if len(few) > 10 else ""
        yield f"Few answers of a system in: {parts}{remainder}. Their means say little."


def _counted(groups: Iterable[Sequence[float]], scores: BoundedScores) -> Iterator[Sequence[float]]:
    for group in groups:
        scores.add(*group)
        yield group


def _filled(
    index: Observations, key: tuple[int, int], bounded: BoundedScores
) -> tuple[BoundedScores, BoundedScores]:
    """The scores of a metric and system with unscored rows as the least and as the greatest score. A question whose
    answers all lack a score is one that went wrong, not several."""
    lowest = BoundedScores(bounded.lo, bounded.hi)
    highest = BoundedScores(bounded.lo, bounded.hi)
    for rows in index.clusters_of(*key):
        for filled, extreme in ((lowest, bounded.lo), (highest, bounded.hi)):
            filled.add(*(extreme if score is None else score for score in rows))
    return lowest, highest


def _bounded(facts: MetricFacts) -> BoundedScores | None:
    return (
        None
        if facts.lo is None or facts.hi is None or not facts.bounded
        else BoundedScores(facts.lo, facts.hi)
    )


def interval_name(method: str) -> str:
    return f"95 % CI ({method})" if method else "95 % CI"


def score_table(summary: Summary) -> Table:
    """The table for people, one line for each metric and system."""
    clustered = any(cell.clusters for cell in summary.cells)
    means = (
        Column("mean", lambda cell: fixed(cell.mean, summary.decimals(cell.metric)), kind="number"),
        Column(summary.interval_name, partial(interval_in_words, summary), kind="number"),
    )
    choices = [
        Column(head, partial(_share, place), kind="number")
        for place, head in enumerate(("a better", "tie", "b better"))
    ]
    columns = (
        Column("metric"),
        Column("system"),
        *(choices if summary.pairs else means),
        Column("scored / total", lambda cell: f"{cell.scored} / {cell.n}", kind="number"),
        *(
            [Column(summary.clusters, lambda cell: cell.clusters or cell.scored, kind="number")]
            if clustered
            else ()
        ),
        Column("why unscored", lambda cell: reasons_in_words(cell.unscored)),
    )
    return Table("scores", "Scores", columns, summary.cells)


def _share(place: int, cell: Cell) -> str:
    return share(cell.choices[place], 1) if cell.choices and cell.scored else NONE


def as_csv(summary: Summary) -> str:
    return tables.as_csv(figures(summary))


def figures(summary: Summary) -> Table:
    """The unrounded figures, one line for each metric and system; an empty field is a figure that does not exist.
    `ci_method` says how the CI was made, `clusters` over how many clusters."""
    columns = (
        *map(Column, ("metric", "system", "mean")),
        Column("ci_lower", lambda cell: cell.interval and cell.interval[0]),
        Column("ci_upper", lambda cell: cell.interval and cell.interval[1]),
        Column("scored"),
        Column("total", "n"),
        Column("least"),
        Column("greatest"),
        Column("unscored", lambda cell: reasons_in_words(cell.unscored)),
        Column("ci_method", "method"),
        Column("clusters", lambda cell: cell.clusters or cell.scored),
    )
    return Table("scores", "Scores", columns, summary.cells)


def interval_in_words(summary: Summary, cell: Cell) -> str:
    """`[0.412, 0.688]`, with its method where that is not the column's (` (Wilson)`), or a dash."""
    if cell.interval is None:
        return NONE
    low, high = (fixed(end, summary.decimals(cell.metric)) for end in cell.interval)
    method = "" if cell.method in ("", summary.interval_method) else f" ({cell.method})"
    return f"[{low}, {high}]{method}"


def reasons_in_words(unscored: Iterable[Unscored]) -> str:
    """`2 unparsable (no number in the reply); 5 model_error (mostly: …)`: each status with its most frequent reason."""
    return "; ".join(
        f"{why.count} {why.status} ({how_many(why)}{': ' if why.several else ''}{one_line(why.reason).rstrip('.')})"
        for why in unscored
    )


def how_many(why: Unscored) -> str:
    """Nothing where all rows give the reason, else `mostly` where more than half do, else `among others`."""
    if not why.several:
        return ""
    return "mostly" if 2 * why.giving > why.count else "among others"

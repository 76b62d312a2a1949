"""The summary of one or several sources, its table, and the test of `--fail-under`.

A mean is over the scored rows and always comes with their number; a missing score is never a number. Its 95 % CI is
by Hall's t (`stats.means`), clipped to the metric's bounds; the rows of a question are one cluster. Equal scores of a
metric with bounds have that of `equal_interval`. There is none for fewer than two clusters, nor for equal scores
without bounds.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path

from longmark.errors import UnknownName, UserError
from longmark.records.metric_name import in_slice, under, without_slice
from longmark.report import tables
from longmark.report.format import NONE, decimals, fixed, share
from longmark.report.tables import Column, Table, one_line
from longmark.scores.clusters import QUESTION
from longmark.scores.manifest import Manifest, MetricFacts, read_manifest
from longmark.scores.observations import Observations, Unscored
from longmark.stats.gate import TAIL, BoundedScores
from longmark.stats.means import ALL_EQUAL, HALL, Bounds, few_clusters, mean_of_groups
from longmark.stats.results import Estimate

MAX_UNSCORED = 0.05
MET, NOT_MET, UNDECIDED, UNSCORED = "met", "not met", "undecided", "unscored"
OK = "ok"  # of a comparison
_SMALL = 10  # answers; a slice of fewer is remarked on


@dataclass(frozen=True, slots=True)
class Cell:
    """One metric and system. n: rows, `scored` of them with a score; interval: CI of the mean, by `method`, or None for
    a `reason`; least, greatest: extreme scores; unscored: why rows have no score; clusters: how many the scores
    belong to, None if each is one; effective: as many of one size; choices: of pairs, the shares of a, tie and
    b; bounded: the scores of a bounded metric."""

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
        """The head of the column of CIs, which names the method and, where a cluster has several rows, the clusters."""
        over = f" over {self.clusters}" if any(cell.clusters for cell in self.cells) else ""
        return interval_name(f"{HALL}{over}" if any(cell.method == HALL for cell in self.cells) else "")

    @property
    def clusters(self) -> str:
        """What a cluster is called."""
        return "questions" if self.cluster == QUESTION else f"clusters ({one_line(self.cluster)})"

    def of(self, metric: str) -> list[Cell]:
        return [cell for cell in self.cells if cell.metric == metric]

    def decimals(self, metric: str) -> int:
        seen = [end for cell in self.of(metric) for end in (cell.least, cell.greatest) if end is not None]
        return decimals(self.facts[metric], min(seen, default=None), max(seen, default=None))


def summarise(
    runs: Sequence[Path],
    cluster: str = QUESTION,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    by: Sequence[str] = (),
) -> Summary:
    """The summary of run folders, read once. cluster: the field of the examples that the answers of a cluster share;
    bounds: of metrics whose runs declare none; by: fields that cut the answers into slices. UserError where one of them
    is no run folder, or where no example has the field."""
    manifests = [read_manifest(run) for run in runs]
    with Observations(cluster, bounds, by) as index:
        index.read(runs)
        return summary_of(index, manifests)


def summary_of(index: Observations, manifests: Iterable[Manifest]) -> Summary:
    manifests = list(manifests)
    facts, names, systems = index.facts(manifests), index.metrics, index.systems()
    pairs = bool(manifests) and all(manifest.of_pairs for manifest in manifests)
    if pairs:  # a choice for b is no worse than one for a
        facts = {name: replace(fact, higher_is_better=None) for name, fact in facts.items()}
    counts = index.counts()
    means: dict[tuple[int, int], Estimate] = {}
    bounded: dict[tuple[int, int], BoundedScores | None] = {}
    for key, groups in index.grouped():
        fact = facts[names[key[0]]]
        scores = bounded[key] = _bounded(fact)
        means[key] = mean_of_groups(groups if scores is None else _counted(groups, scores), (fact.lo, fact.hi))
    unscored = index.unscored()
    cells = []
    for name in facts:
        for system, label in enumerate(systems):
            if (key := (names.index(name), system)) not in counts:
                continue
            mean = means.get(key) or mean_of_groups(())
            rows, scored, least, greatest = counts[key]
            cell = Cell(name, label, rows, scored, mean.value, mean.ends, least, greatest, unscored.get(key, ()))
            cell = replace(cell, method=mean.method, reason=mean.reason or "")
            cell = replace(cell, clusters=mean.clusters, effective=mean.effective)
            if pairs:
                count = Counter(index.ascending(key[0], system))
                of = (count[1.0] / max(scored, 1), count[0.0] / max(scored, 1), count[-1.0] / max(scored, 1))
                cell = replace(cell, choices=of)
            cells.append(replace(cell, bounded=bounded.get(key)))
    lines = (one.line(name) for name in names for one in index.signatures(name) if one.version)
    signatures = tuple(dict.fromkeys(lines))
    notices = (*index.notices, *_small(cells, index.slices))
    return Summary(tuple(cells), facts, tuple(systems), index.cluster, notices, signatures, tuple(index.slices))


def _small(cells: Iterable[Cell], slices: Collection[str]) -> Iterator[str]:
    """Which slices have few answers."""
    few: dict[str, int] = {}
    for cell in cells:
        if cell.metric in slices and cell.n < _SMALL:
            part = without_slice(cell.metric)[1]
            few[part] = min(few.get(part, cell.n), cell.n)
    if few:
        shown = ", ".join(f"{one_line(part)} ({n})" for part, n in islice(few.items(), 10))
        more = f" and {len(few) - 10} more" if len(few) > 10 else ""
        yield f"Few answers of a system in: {shown}{more}. Their means say little."


def _counted(groups: Iterable[Sequence[float]], scores: BoundedScores) -> Iterator[Sequence[float]]:
    for group in groups:
        scores.add(*group)
        yield group


def _bounded(facts: MetricFacts) -> BoundedScores | None:
    return None if facts.lo is None or facts.hi is None or not facts.bounded else BoundedScores(facts.lo, facts.hi)


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
        *(Column("metric"), Column("system")),
        *(choices if summary.pairs else means),
        Column("scored / total", lambda cell: f"{cell.scored} / {cell.n}", kind="number"),
        *([Column(summary.clusters, lambda cell: cell.clusters or cell.scored, kind="number")] if clustered else ()),
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
        *(Column("scored"), Column("total", "n"), Column("least"), Column("greatest")),
        Column("unscored", lambda cell: reasons_in_words(cell.unscored)),
        *(Column("ci_method", "method"), Column("clusters", lambda cell: cell.clusters or cell.scored)),
    )
    return Table("scores", "Scores", columns, summary.cells)


def interval_in_words(summary: Summary, cell: Cell) -> str:
    """`[0.412, 0.688]`, with its method where that is not the column's (` (all equal)`), or a dash."""
    if cell.interval is None:
        return NONE
    low, high = (fixed(end, summary.decimals(cell.metric)) for end in cell.interval)
    return f"[{low}, {high}]{' (all equal)' if cell.method == ALL_EQUAL else ''}"


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


@dataclass(frozen=True, slots=True)
class Condition:
    """One `--fail-under`: a metric (or a family), maybe of a slice, `>=` or `<=`, a number, the scores that it selects,
    and a system (None: each of them)."""

    metric: str
    sign: str
    limit: float
    scores: tuple[str, ...]
    system: str | None = None

    def __str__(self) -> str:
        of = "" if self.system is None else f"[{one_line(self.system)}]"
        return f"{self.metric}{of}{self.sign}{self.limit:g}"

    def selects(self, metric: str) -> bool:
        return metric in self.scores


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether a condition holds for a metric and system (`""`: all or none). rule: what was tested; result: `met`,
    `not met`, `undecided` or `unscored` (too many rows are), of a comparison as in `analysis.compare.gate`; line: for
    people."""

    metric: str
    system: str
    rule: str
    result: str
    line: str

    @property
    def met(self) -> bool:
        return self.result in (MET, OK)


_CONDITION = re.compile(r"\s*([^\s\[<>]+)\s*(?:\[(.+)\])?\s*(>=|<=)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*")


def parse_conditions(
    expressions: Iterable[str], known: Iterable[str], bounds: Mapping[str, Bounds] | None = None
) -> list[Condition]:
    """The conditions of `--fail-under`, checked against the names of the scores that the run will have.

    bounds: of the scores, where they are known. UserError where a condition is malformed or its limit lies outside the
    bounds of every metric that it names; UnknownName where it names no metric.
    """
    names, found = list(known), []
    slices = dict.fromkeys(part for name in names if (part := without_slice(name)[1]))
    for expression in expressions:
        match = _CONDITION.fullmatch(expression)
        if not match:
            raise UserError(
                f"--fail-under {expression!r}: expected METRIC>=NUMBER or METRIC<=NUMBER, "
                "as in 'ccrs.question_relevance>=0.8' (in quotes, because > redirects); METRIC[SYSTEM]>=NUMBER for one "
                "system, METRIC[FIELD=VALUE]>=NUMBER for one slice of --by FIELD"
            )
        part, system = _selector(match[2], slices)
        metric = in_slice(match[1], part)
        selected = under(metric, names)
        if not selected:
            raise UnknownName("metric in --fail-under", metric, names)
        condition = Condition(metric, match[3], float(match[4]), tuple(selected), system)
        if not math.isfinite(condition.limit):
            raise UserError(f"--fail-under {expression!r}: the limit is too large for a number")
        ranges = [(bounds or {}).get(name, (None, None)) for name in selected]
        if all(_outside(condition.limit, *one) for one in ranges):
            shown = " to ".join("any number" if end is None else f"{end:g}" for end in ranges[0])
            raise UserError(f"--fail-under {expression!r}: scores of {selected[0]} are from {shown}")
        found.append(condition)
    return found


def _selector(text: str | None, slices: Collection[str]) -> tuple[str, str | None]:
    """The slice and the system in `SYSTEM`, `FIELD=VALUE`, `system=SYSTEM` or several of these, as in
    `careful][lang=de`. UnknownName for a slice that does not exist."""
    part, system = "", None
    for one in text.split("][") if text else ():
        field, equals, value = one.partition("=")
        if one in slices:
            part = one
        elif equals and field == "system":
            system = value
        elif equals:
            shown = ", ".join(islice(slices, 10)) + (", …" if len(slices) > 10 else "")
            hint = f"The slices are {shown}." if slices else f"Cut the answers with --by {field}."
            raise UnknownName("slice in --fail-under", one, slices, f"{hint} A system is [system={one}].")
        else:
            system = one
    return part, system


def refuse_unknown_systems(conditions: Iterable[Condition], systems: Iterable[str]) -> None:
    """UnknownName for a condition on a system that does not exist."""
    known = list(dict.fromkeys(systems))
    for one in conditions:
        if one.system is not None and one.system not in known:
            hint = f"The systems are {', '.join(known[:10])}{', …' if len(known) > 10 else ''}."
            raise UnknownName("system in --fail-under", one.system, known, hint)


def _outside(limit: float, lo: float | None, hi: float | None) -> bool:
    return (lo is not None and limit < lo) or (hi is not None and limit > hi)


def _no_rows(condition: Condition, summary: Summary) -> str:
    """Why a condition selects no cell, and the systems that it could name."""
    systems = dict.fromkeys(one_line(cell.system) for cell in summary.cells if condition.selects(cell.metric))
    if condition.system is None or not systems:
        return "the run has no rows of this metric"
    shown = ", ".join([*islice(systems, 10)]) + (", …" if len(systems) > 10 else "")
    return f"no rows of the system {one_line(condition.system)}; the systems are {shown}"


def fail_under(conditions: Iterable[Condition], summary: Summary, max_unscored: float = MAX_UNSCORED) -> list[Checked]:
    """The outcome for each condition, metric and system.

    `>=` holds where the lower bound on the mean (`stats.gate`: one-sided, 97.5 %) reaches the limit, `<=` where the
    upper bound does not pass it. For a metric without two bounds the end of the 95 % CI is used.
    A condition fails where there is no such end (fewer than two scores, or equal ones), where a score lies outside
    the metric's bounds, where there are fewer than five effective clusters, where more than the share `max_unscored`
    of the rows are unscored, or where it would fail with unscored answers at the metric's bound (or the extreme
    score) on the side of the condition.
    """
    checks = []
    for condition in conditions:
        cells = [
            cell for cell in summary.cells if condition.selects(cell.metric) and condition.system in (None, cell.system)
        ]
        if not cells:
            why = f"not met: {condition}: {_no_rows(condition, summary)}"
            checks.append(Checked(condition.metric, condition.system or "", str(condition), NOT_MET, why))
        for cell in cells:
            result, why = _tested(condition, cell, max_unscored, summary)
            rule = f"{cell.metric}{condition.sign}{condition.limit:g} for {one_line(cell.system)}"
            line = f"{MET if result == MET else NOT_MET}: {rule}: {why}"
            checks.append(Checked(cell.metric, cell.system, rule, result, line))
    return checks


def _tested(condition: Condition, cell: Cell, max_unscored: float, summary: Summary) -> tuple[str, str]:
    unscored = cell.n - cell.scored
    if unscored > max_unscored * cell.n:
        most = ", ".join(f"{why.count} {why.status}" for why in cell.unscored)
        return UNSCORED, (
            f"{unscored} of {cell.n} rows ({share(unscored, cell.n)}) are unscored ({most}), "
            f"more than the {share(max_unscored, 1)} that --max-unscored allows"
        )
    above, scores, more = condition.sign == ">=", cell.bounded, ""
    over = f" over {cell.clusters} {summary.clusters}" if cell.clusters else ""
    if not cell.scored:
        return NOT_MET, "no row is scored"
    if cell.effective is not None and (few := few_clusters(cell.effective)):
        return UNDECIDED, f"undecided: {few} ({cell.clusters} {summary.clusters})"
    if scores is None:
        if cell.interval is None:
            return NOT_MET, f"no CI: {cell.reason}"
        end = cell.interval[0 if above else 1]
        name = f"end of the {interval_name(f'{cell.method}{over}')} (the metric has no bounds)"
    elif scores.outside:
        facts = summary.facts[cell.metric]
        return NOT_MET, (
            f"{scores.outside} of {cell.scored} scores lie outside the metric's bounds, {facts.lo:g} to {facts.hi:g} "
            f"(they are from {cell.least:g} to {cell.greatest:g}): the metric or its declared bounds must be corrected"
        )
    else:
        end = scores.lower() if above else scores.upper()
        name = f"bound ({100 * (1 - TAIL):g} %, Gaffke{over})"
        more = _too_few(condition, scores, summary.clusters)
    places = summary.decimals(cell.metric)

    def holds(end: float) -> bool:
        return end >= condition.limit if above else end <= condition.limit

    result, shown = MET if holds(end) else NOT_MET, partial(_outwards, places=places + 1, down=above)
    if unscored and result == MET:
        worst, counted = _with_unscored(cell, end, above)
        if not holds(counted):
            result, more = UNDECIDED, f"; undecided: with unscored answers as {worst:g} it is {shown(counted)}{more}"
    return result, (
        f"the {'lower' if above else 'upper'} {name} is {shown(end)} "
        f"(mean {fixed(cell.mean, places)}, {cell.scored} of {cell.n} scored){more}"
    )


def _with_unscored(cell: Cell, end: float, above: bool) -> tuple[float, float]:
    """What an unscored answer counts as where it is the worst for the condition, and the bound then, each such answer a
    cluster of its own. Without bounds it is the worst score, and the end moves as the mean does."""
    unscored = cell.n - cell.scored
    if cell.bounded is None:
        worst = (cell.least if above else cell.greatest) or 0.0
        return worst, (cell.scored * end + unscored * worst) / cell.n
    scores = deepcopy(cell.bounded)
    worst = scores.lo if above else scores.hi
    for _ in range(unscored):
        scores.add(worst)
    return worst, scores.lower() if above else scores.upper()


def _too_few(condition: Condition, scores: BoundedScores, clusters: str) -> str:
    """What to say where the limit could not be reached by this many scores even if all were perfect."""
    above = condition.sign == ">="
    needed = scores.needed(condition.limit, above=above)
    perfect = f"even if all are {scores.hi if above else scores.lo:.2f}"
    if needed is None:
        return f"; no number of scores can show {condition.limit:g}, {perfect}"
    if needed > scores.clusters:
        one = f"score{'s' * (scores.n != 1)}"
        these = f"{scores.clusters} {one if scores.clusters == scores.n else clusters}"
        return f"; {these} cannot show {condition.limit:g} {perfect}: at least {needed:,} are needed"
    return ""


def _outwards(end: float, places: int, down: bool) -> str:
    """An end rounded away from the mean, so that it never looks as if it reached a limit that it does not."""
    step = 10.0**-places
    near = round(end, places)
    off = near > end + step / 1e6 if down else near < end - step / 1e6
    return fixed(near + (-step if down else step) * off, places)

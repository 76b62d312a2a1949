"""The sections on how scores are spread: bounds, ties, statistics, distributions (CCRS, 4.1.1 and C.1 to C.4)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from longmark.analysis.metrics_study.results import MetricProperties, MetricsStudy, On, SystemScores, on_systems
from longmark.analysis.metrics_study.words import better, percent, value
from longmark.report.charts import Curve, Panel, curves, histograms
from longmark.report.document import Section
from longmark.report.format import counted, listed
from longmark.report.lanes import Box, box_plots
from longmark.report.tables import Column, Table
from longmark.scores.index import Unscored
from longmark.stats.describe import Ties

_SYSTEM = (Column("metric", "metric.metric"), Column("system", "of.system"))


def bounds(study: MetricsStudy) -> Section:
    """How many scores lie at the ends of a metric's scale (CCRS, tables 5, 6 and 17)."""
    bounded = [on for on in on_systems(study) if on.of.bounds is not None]
    unbounded = {on.metric.metric: None for on in on_systems(study) if on.of.bounds is None}

    def end(name: str, which: str) -> tuple[Column, ...]:
        def known(field: str) -> Callable[[On], Any]:
            return lambda on: getattr(on.of.bounds, field) if math.isfinite(getattr(on.of.bounds, which)) else None

        return (
            Column(f"{name} bound", known(which)),
            Column("at it", known(f"at_{which}"), key=f"at_{name}"),
            Column("share", known(f"share_{which}"), 3, key=f"share_at_{name}"),
        )

    columns = (
        *(*_SYSTEM, Column("n", "of.bounds.n"), *end("lower", "low"), *end("upper", "high")),
        Column("outside", "of.bounds.outside"),
    )
    table = Table(
        "bounds",
        "Scores at the bounds",
        columns,
        bounded,
        "n: scores; share: of n. A score within 1e-9 of a bound is at it. Where lower is better, the lower bound is "
        "the best score.",
    )
    heads = [column.field for column in columns]
    at_low, at_high = (
        [(row[at], f"{row[0]}, {row[1]}") for row in table.rows if row[at] is not None]
        for at in (heads.index("share_at_lower"), heads.index("share_at_upper"))
    )
    none = f"{listed(list(unbounded))} {'has' if len(unbounded) == 1 else 'have'} no bounds." if unbounded else ""
    says = " ".join(filter(None, (_most_at("upper", at_high), _most_at("lower", at_low), none)))
    return Section("Bounds", says or "There is no score.", (table,))


def _most_at(end: str, shares: Sequence[tuple[Any, str]]) -> str:
    if not shares:
        return ""
    share, where = max(shares, key=lambda found: found[0])
    if share == 0:
        return f"No score lies at a metric's {end} bound."
    return f"Most scores at the {end} bound: {where} ({percent(share)})."


def ties(study: MetricsStudy) -> Section:
    """How often two random responses have the same score (CCRS, table 13 and 18)."""
    items = [
        _Ties(one.metric, name, found)
        for one in study.metrics
        for name, found in [
            *((scores.system, scores.ties) for scores in one.systems),
            *([("between systems", one.ties_between)] if len(study.systems) > 1 else []),
        ]
    ]
    within = [
        (on.of.ties.probability, f"{on.metric.metric}, {on.of.system}")
        for on in on_systems(study)
        if on.of.ties.probability is not None
    ]
    table = Table(
        "ties",
        "Tie probabilities",
        (
            *(Column("metric"), Column("system"), Column("probability", "ties.probability", 3)),
            *(Column("equal pairs", "ties.equal"), Column("pairs", "ties.pairs"), Column("n", "ties.n")),
            Column("reason", "ties.reason"),
        ),
        items,
        "Within a system: two of its responses, drawn without replacement. Between systems: a response of one and a "
        "response of another, to any questions. Scores are equal if nine decimals are.",
    )
    if not within:
        return Section("Ties", "No system has two scores on a metric.", (table,))
    (most, where), (least, there) = max(within), min(within)
    says = (
        f"The probability that two random responses of a system have the same score is from {least:.3f} ({there}) to "
        f"{most:.3f} ({where})."
        if most > least
        else f"The probability that two random responses of a system have the same score is {most:.3f} on every metric "
        "and in every system."
    )
    return Section("Ties", says, (table,))


class _Ties(NamedTuple):
    metric: str
    system: str
    ties: Ties


def population(study: MetricsStudy) -> Section:
    """Central tendency, variability and shape (CCRS, tables 14, 15, 16 and 19)."""
    names = {"kurtosis": "excess kurtosis", "minimum": "min", "maximum": "max", "iqr": "IQR"}

    def table(name: str, title: str, statistics: str, note: str, reason: str = "all") -> Table:
        columns = [
            Column(names.get(one, one.replace("_", " ")), f"of.described.{one}", 4 if one == "variance" else 3)
            for one in statistics.split()
        ]
        why = Column("reason", lambda on: _why(on, reason))
        n = Column("n", "of.described.n")
        return Table(name, title, (*_SYSTEM, n, *columns, why), on_systems(study), note)

    def _why(on: On, reason: str) -> str | None:
        reasons = dict(on.of.described.reasons)
        return reasons.get(reason, reasons.get("all"))

    tables = (
        table(
            "central_tendency",
            "Central tendency",
            "mean geometric_mean median midhinge",
            "The geometric mean is 0 where a score is 0; the midhinge is the mean of the quartiles.",
            "geometric_mean",
        ),
        table(
            "variability",
            "Variability",
            "variance minimum maximum range iqr",
            "Variance with divisor n; quartiles are interpolated linearly.",
        ),
        table(
            "shape",
            "Shape",
            "skewness kurtosis",
            "Both are population statistics (biased); a normal distribution has 0 in both.",
            "skewness",
        ),
    )
    skewness = [
        (on.of.described.skewness, f"{on.metric.metric}, {on.of.system}")
        for on in on_systems(study)
        if on.of.described.skewness is not None
    ]
    if not skewness:
        says = "No system has three different scores on a metric, so no distribution has a shape."
    else:
        (least, there), (most, where) = min(skewness), max(skewness)
        says = f"Skewness is from {least:.2f} ({there}) to {most:.2f} ({where})." if most > least else (
            f"Skewness is {most:.2f} ({where})."
        )  # fmt: skip
        says += " Below 0 the tail of low scores is longer, above 0 that of high scores."
    return Section("Population statistics", says, tables)


def question_means(study: MetricsStudy) -> Section:
    """The mean over systems, question by question (CCRS, figure 2)."""
    said: dict[str, str] = {}
    scales: dict[tuple[float, ...], list[MetricProperties]] = {}
    for one in study.metrics:
        if one.question_means.n:
            scales.setdefault(one.question_means.edges, []).append(one)
            middle = [value(one, one.question_means.quantile(at)) for at in (0.25, 0.75)]
            said[one.metric] = f"{one.metric} {middle[0]} to {middle[1]}"
    shares = {
        "minimum": ("min", 0.0),
        "p10": ("10 %", 0.1),
        "p25": ("25 %", 0.25),
        "median": ("median", 0.5),
        "p75": ("75 %", 0.75),
        "p90": ("90 %", 0.9),
        "maximum": ("max", 1.0),
    }

    def quantile(share: float) -> Callable[[MetricProperties], float | None]:
        return lambda one: one.question_means.quantile(share)

    tables = (
        Table(
            "question_means",
            "Means over systems, per question",
            (
                *(Column("metric"), Column("systems", "question_means.systems")),
                *(Column("questions", "question_means.n"), Column("left out", "question_means.left_out")),
                *(Column(name, quantile(share), 3, key=key) for key, (name, share) in shares.items()),
            ),
            study.metrics,
            "Left out: questions with a missing system."
            if not study.as_published
            else "Means are over the systems with a score, as published.",
        ),
        Table(
            "question_means_bins",
            "Questions in each bin",
            (Column("metric", "name"), Column("from", "low"), Column("to", "high"), Column("questions", "n")),
            [
                one_bin
                for one in study.metrics
                for one_bin in _bins(one.metric, one.question_means.edges, one.question_means.counts)
            ],
        ),
    )
    figures = []
    for some in scales.values():
        middles = f"The middle half of them: {'; '.join(said[one.metric] for one in some)}." if len(scales) > 1 else ""
        panels = [Panel(one.metric, one.question_means.edges, one.question_means.counts) for one in some]
        lines = [Curve(one.metric, one.question_means.quantiles) for one in some]
        figures.append(histograms(panels, "Questions by their mean", says=middles))
        figures.append(curves(lines, "Means over systems, sorted", "share of the questions", "mean over systems"))
    many = len(study.systems) > 1
    means_of = "The mean over systems" if many else "The score"
    says = (
        f"{means_of} of the middle half of the questions: {'; '.join(said.values())}."
        if said
        else "No question has a score of every system on a metric."
    )
    return Section("Means over systems", says, tables, figures)


class _Bin(NamedTuple):
    name: str
    low: float
    high: float
    n: int


def _bins(name: str, edges: Sequence[float], counts: Sequence[int]) -> Iterator[_Bin]:
    for i, count in enumerate(counts):
        yield _Bin(name, edges[i], edges[i + 1], count)


def distributions(study: MetricsStudy) -> Iterator[Section]:
    """A section for each metric: box plots sorted by median, and a histogram for each system (CCRS, figures 5-10)."""
    taken: set[str] = set()
    for one in study.metrics:
        stem = re.sub(r"[^\w.-]+", "-", one.metric)[:60]
        stem = stem if stem not in taken else f"{stem}-{len(taken)}"
        taken.add(stem)
        yield _distribution(one, stem)


def by_median(one: MetricProperties) -> list[SystemScores]:
    """The systems sorted by their median, best first (highest first where no end is better); those without last."""
    sign = 1 if one.facts.higher_is_better is False else -1
    return sorted(one.systems, key=lambda s: (s.described.median is None, sign * (s.described.median or 0.0)))


def _distribution(one: MetricProperties, stem: str) -> Section:
    order = by_median(one)
    columns = (
        *(Column("system"), Column("n", "described.n"), Column("min", "described.minimum", one.places)),
        *(Column("Q1", "q1", one.places), Column("median", "described.median", one.places)),
        *(Column("Q3", "q3", one.places), Column("max", "described.maximum", one.places)),
        Column("mean", "described.mean", one.places),
    )
    boxes = Table(f"box_{stem}", f"Quartiles of {one.metric}", columns, order)
    bins = Table(
        f"histogram_{stem}",
        f"Scores of {one.metric} in each bin",
        (Column("system", "name"), Column("from", "low"), Column("to", "high"), Column("scores", "n")),
        [each for scores in order for each in _bins(scores.system, one.edges, scores.counts)],
        "A bin includes its lower edge and excludes its upper edge; the last includes both.",
    )
    tables = (boxes, bins)
    if not one.n:
        return Section(f"Distribution: {one.metric}", "No scores.", tables)
    drawn = [scores for scores in order if scores.described.n]
    shown = [Box(*row) for row in boxes.rows]  # type: ignore[arg-type]
    figures = (
        box_plots(shown, f"{one.metric}, sorted by median", one.facts.lo, one.facts.hi),
        histograms([Panel(scores.system, one.edges, scores.counts) for scores in drawn], f"{one.metric} by system"),
    )
    return Section(f"Distribution: {one.metric}", _medians(one, drawn), tables, figures)


def _medians(one: MetricProperties, order: Sequence[SystemScores]) -> str:
    first, last = order[0], order[-1]
    middle = f"the middle half of its scores lies from {value(one, first.q1)} to {value(one, first.q3)}"
    n = f"{one.n:,} scores"
    if len(order) == 1:
        return f"The median of {first.system} is {value(one, first.described.median)}; {middle} ({n})."
    top, bottom = first.described.median, last.described.median
    if top == bottom:
        return f"All systems have the same median, {value(one, top)} ({n})."
    way = {"higher": "best (highest)", "lower": "best (lowest)", "neither": "highest"}[better(one)]
    same = [scores.system for scores in order if scores.described.median == top]
    have = "has" if len(same) == 1 else "have"
    low = [scores.system for scores in order if scores.described.median == bottom]
    end = f"that of {listed(low)} is {value(one, bottom)} ({n})."
    return f"{listed(same)} {have} the {way} median, {value(one, top)}; {end}"


class _Gap(NamedTuple):
    on: On
    gap: Unscored


def gaps(study: MetricsStudy) -> Section | None:
    """Why rows are unscored; None where all are scored."""
    items = [_Gap(on, gap) for on in on_systems(study) for gap in on.of.gaps]
    if not items:
        return None
    columns = (
        *(Column("metric", "on.metric.metric"), Column("system", "on.of.system"), Column("rows", "on.of.rows")),
        *(Column("status", "gap.status"), Column("unscored", "gap.count")),
        Column("most frequent reason", "gap.reason"),
    )
    unscored = sum(item.gap.count for item in items)
    total = sum(one.rows for one in study.metrics)
    says = f"{unscored:,} of {counted(total, 'row')} ({percent(unscored / total)}) are unscored and excluded below."
    return Section("Unscored rows", says, (Table("missing", "Unscored rows", columns, items),))

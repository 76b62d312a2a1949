"""The sections on how scores are spread: bounds, ties, statistics, distributions (CCRS, 4.1.1 and C.1 to C.4)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from longmark.report.charts import Curve, Panel, curves, histograms
from longmark.report.document import Section
from longmark.report.lanes import Box, box_plots
from longmark.report.words import counted, listed
from longmark.study.metrics.results import MetricProperties, MetricsStudy, SystemScores
from longmark.study.metrics.words import better, percent, value
from longmark.tables import Cell, Column, Table

_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)


def bounds(study: MetricsStudy) -> Section:
    """How many scores lie at the ends of a metric's scale (CCRS, tables 5, 6 and 17)."""
    rows: list[tuple[Cell, ...]] = []
    at_low: list[tuple[float, str]] = []
    at_high: list[tuple[float, str]] = []
    unbounded: dict[str, None] = {}
    for one, scores in _cells(study):
        found = scores.bounds
        if found is None:
            unbounded[one.metric] = None
            continue
        low = (found.low, found.at_low, found.share_low) if math.isfinite(found.low) else (None,) * 3
        high = (found.high, found.at_high, found.share_high) if math.isfinite(found.high) else (None,) * 3
        rows.append((one.metric, scores.system, found.n, *low, *high, found.outside))
        for (_, _, share), places in ((low, at_low), (high, at_high)):
            if share is not None:
                places.append((share, f"{one.metric}, {scores.system}"))
    table = Table(
        "bounds",
        "Scores at the bounds",
        (
            *(Column("metric"), Column("system"), Column("n")),
            *(Column("lower bound"), Column("at it", key="at_lower"), Column("share", 3, key="share_at_lower")),
            *(Column("upper bound"), Column("at it", key="at_upper"), Column("share", 3, key="share_at_upper")),
            Column("outside"),
        ),
        tuple(rows),
        "n: scores; share: of n. A score within 1e-9 of a bound lies on it. Where lower is better, the lower bound is "
        "the best score.",
    )
    none = f"{listed(list(unbounded))} {'has' if len(unbounded) == 1 else 'have'} no bounds." if unbounded else ""
    says = " ".join(filter(None, (_most_at("upper", at_high), _most_at("lower", at_low), none)))
    return Section("Bounds", says or "There is no score.", (table,))


def _most_at(end: str, shares: Sequence[tuple[float, str]]) -> str:
    if not shares:
        return ""
    share, where = max(shares, key=lambda found: found[0])
    if share == 0:
        return f"No score lies at a metric's {end} bound."
    return f"The {end} bound is met most by {where}: {percent(share)} of the scores."


def ties(study: MetricsStudy) -> Section:
    """How often two random responses have the same score (CCRS, table 13 and 18)."""
    rows: list[tuple[Cell, ...]] = []
    within: list[tuple[float, str]] = []
    for one in study.metrics:
        for scores in one.systems:
            found = scores.ties
            rows.append((one.metric, scores.system, found.probability, found.equal, found.pairs, found.n, found.reason))
            if found.probability is not None:
                within.append((found.probability, f"{one.metric}, {scores.system}"))
        found = one.ties_between
        if len(study.systems) > 1:
            name = "between systems"
            rows.append((one.metric, name, found.probability, found.equal, found.pairs, found.n, found.reason))
    table = Table(
        "ties",
        "Tie probabilities",
        (
            *(Column("metric"), Column("system"), Column("probability", 3)),
            *(Column("equal pairs"), Column("pairs"), Column("n"), Column("why none")),
        ),
        tuple(rows),
        "Within a system: two of its responses, drawn without replacement. Between systems: a response of one and a "
        "response of another, whatever their questions. Scores are equal where nine decimals are.",
    )
    if not within:
        return Section("Ties", "No system has two scores on a metric.", (table,))
    (most, where), (least, there) = max(within), min(within)
    says = (
        f"Two random responses of a system have the same score with a probability from {least:.3f} ({there}) to "
        f"{most:.3f} ({where})."
        if most > least
        else f"Two random responses of a system have the same score with a probability of {most:.3f}, on every metric "
        "and in every system."
    )
    return Section("Ties", says, (table,))


def population(study: MetricsStudy) -> Section:
    """Central tendency, variability and shape (CCRS, tables 14, 15, 16 and 19)."""
    head = (Column("metric"), Column("system"), Column("n"))
    centre, variability, shape = [], [], []
    skewness: list[tuple[float, str]] = []
    for one, scores in _cells(study):
        it = scores.described
        start = (one.metric, scores.system, it.n)
        why = dict(it.reasons)
        centre.append(
            (*start, it.mean, it.geometric_mean, it.median, it.midhinge, why.get("geometric_mean", why.get("all")))
        )
        variability.append((*start, it.variance, it.minimum, it.maximum, it.range, it.iqr, why.get("all")))
        shape.append((*start, it.skewness, it.kurtosis, why.get("skewness", why.get("all"))))
        if it.skewness is not None:
            skewness.append((it.skewness, f"{one.metric}, {scores.system}"))
    none = Column("why none")
    tables = (
        Table(
            "central_tendency",
            "Central tendency",
            (*head, *(Column(name, 3) for name in ("mean", "geometric mean", "median", "midhinge")), none),
            tuple(centre),
            "The geometric mean is 0 where a score is 0; the midhinge is the mean of the quartiles.",
        ),
        Table(
            "variability",
            "Variability",
            (*head, Column("variance", 4), *(Column(name, 3) for name in ("min", "max", "range", "IQR")), none),
            tuple(variability),
            "Variance with divisor n; quartiles are interpolated linearly.",
        ),
        Table(
            "shape",
            "Shape",
            (*head, Column("skewness", 3), Column("excess kurtosis", 3), none),
            tuple(shape),
            "Both are biased (of the population); a normal distribution has 0 in both.",
        ),
    )
    if not skewness:
        says = "No system has three different scores on a metric, so no distribution has a shape."
    else:
        (least, there), (most, where) = min(skewness), max(skewness)
        says = f"Skewness is from {least:.2f} ({there}) to {most:.2f} ({where})." if most > least else (
            f"Skewness is {most:.2f} ({where})."
        )  # fmt: skip
        says += " Below 0 the longer tail is that of the low scores, above 0 that of the high ones."
    return Section("Population statistics", says, tables)


def question_means(study: MetricsStudy) -> Section:
    """The mean over systems, question by question (CCRS, figure 2)."""
    rows: list[tuple[Cell, ...]] = []
    bins: list[tuple[Cell, ...]] = []
    said: dict[str, str] = {}
    scales: dict[tuple[float, ...], list[MetricProperties]] = {}
    for one in study.metrics:
        means = one.question_means
        rows.append((one.metric, means.systems, means.n, means.left_out, *(means.quantile(at) for at in _SHARES)))
        for i, count in enumerate(means.counts):
            bins.append((one.metric, means.edges[i], means.edges[i + 1], count))
        if means.n:
            scales.setdefault(means.edges, []).append(one)
            middle = [value(one, means.quantile(at)) for at in (0.25, 0.75)]
            said[one.metric] = f"{one.metric} {middle[0]} to {middle[1]}"
    names = ("min", "10 %", "25 %", "median", "75 %", "90 %", "max")
    keys = ("minimum", "p10", "p25", "median", "p75", "p90", "maximum")
    tables = (
        Table(
            "question_means",
            "Means over systems, question by question",
            (
                *(Column("metric"), Column("systems"), Column("questions"), Column("left out")),
                *(Column(name, 3, key=key) for name, key in zip(names, keys, strict=True)),
            ),
            tuple(rows),
            "Left out: questions in which a system lacks."
            if not study.as_published
            else "Means are over the systems that are there, as published.",
        ),
        Table(
            "question_means_bins",
            "Questions in each bin",
            (Column("metric"), Column("from"), Column("to"), Column("questions")),
            tuple(bins),
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
    boxes, bins = [], []
    for scores in order:
        it = scores.described
        boxes.append((scores.system, it.n, it.minimum, scores.q1, it.median, scores.q3, it.maximum, it.mean))
        for i, count in enumerate(scores.counts):
            bins.append((scores.system, one.edges[i], one.edges[i + 1], count))
    tables = (
        Table(
            f"box_{stem}",
            f"Quartiles of {one.metric}",
            (
                *(Column("system"), Column("n")),
                *(Column(name, one.places) for name in ("min", "Q1", "median", "Q3", "max", "mean")),
            ),
            tuple(boxes),
        ),
        Table(
            f"histogram_{stem}",
            f"Scores of {one.metric} in each bin",
            (Column("system"), Column("from"), Column("to"), Column("scores")),
            tuple(bins),
            "A bin holds its lower edge and not its upper one; the last holds both.",
        ),
    )
    if not one.n:
        return Section(f"Distribution: {one.metric}", "No score is there.", tables)
    drawn = [scores for scores in order if scores.described.n]
    figures = (
        box_plots([Box(*row) for row in boxes], f"{one.metric}, sorted by median", one.facts.lo, one.facts.hi),
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


def _cells(study: MetricsStudy) -> Iterator[tuple[MetricProperties, SystemScores]]:
    for one in study.metrics:
        for scores in one.systems:
            yield one, scores


def gaps(study: MetricsStudy) -> Section | None:
    """Why scores are missing; None where none is."""
    rows = tuple(
        (one.metric, scores.system, scores.rows, gap.status, gap.count, gap.reason)
        for one, scores in _cells(study)
        for gap in scores.gaps
    )
    if not rows:
        return None
    columns = ("metric", "system", "rows", "status", "without a value", "most frequent reason")
    table = Table("missing", "Rows without a value", tuple(map(Column, columns)), rows)
    lost = sum(row[4] for row in rows)
    whole = sum(one.rows for one in study.metrics)
    says = f"{lost:,} of {counted(whole, 'row')} ({percent(lost / whole)}) have no value; they are in no figure below."
    return Section("Missing values", says, (table,))

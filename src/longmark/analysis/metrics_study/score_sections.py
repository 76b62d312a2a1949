"""The sections on the scores of a metrics study: bounds, ties, statistics, means over systems, distributions."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from longmark.analysis.metrics_study.study import MetricProperties, MetricsStudy, SystemScores
from longmark.report.charts import Box, Curve, HistogramPanel, box_plots, curves, histograms
from longmark.report.document import Section
from longmark.report.format import LOWER, metric_titles
from longmark.report.tables import Column, Table

SYSTEM = (Column("metric", "metric", kind="metric"), Column("system", "system"))


def bounds(study: MetricsStudy) -> Section:
    """CCRS, tables 5, 6 and 17."""

    def end(name: str, which: str) -> tuple[Column, ...]:
        def known(field: str) -> Callable[[SystemScores], Any]:
            return lambda system_scores: (
                getattr(system_scores.bounds, field)
                if math.isfinite(getattr(system_scores.bounds, which))
                else None
            )

        return (
            Column(f"{name} bound", known(which)),
            Column("at it", known(f"at_{which}"), key=f"at_{name}"),
            Column("share", known(f"share_{which}"), 3, key=f"share_at_{name}"),
        )

    columns = (
        *SYSTEM,
        Column("n", "bounds.n"),
        *end("lower", "low"),
        *end("upper", "high"),
        Column("outside", "bounds.outside"),
    )
    items = [score for score in study.scores if score.bounds is not None]
    note = "n: scores; share: of n. A score within 1e-9 of a bound is at it. Metrics without bounds are omitted."
    text = "Scores at the ends of the scale. A metric with most scores at its best end cannot rank good answers."
    return Section("Bounds", text, (Table("bounds", "Scores at the bounds", columns, items, note),))


def ties(study: MetricsStudy) -> Section:
    """CCRS, tables 13 and 18."""
    rows = []
    for metric in study.metrics:
        ties = [(scores.system, scores.ties) for scores in metric.systems]
        ties += [("between systems", metric.ties_between)] if len(study.systems) > 1 else []
        rows += [
            (metric.metric, name, t.probability, t.equal, t.pairs, t.n, t.reason)
            for name, t in ties
        ]
    columns = (
        Column("metric", kind="metric"),
        Column("system"),
        Column("probability", places=3),
        *map(Column, ("equal pairs", "pairs", "n", "reason")),
    )
    note = (
        "Within a system: two of its responses, drawn without replacement. Between systems: a response of one and a "
        "response of another, to any questions. Scores are equal if nine decimals are."
    )
    says = "The probability that two random responses have the same score."
    return Section("Ties", says, (Table("ties", "Tie probabilities", columns, rows, note),))


def population(study: MetricsStudy) -> Section:
    """CCRS, tables 14, 15, 16 and 19."""
    heads = {"kurtosis": "excess kurtosis", "minimum": "min", "maximum": "max", "iqr": "IQR"}

    def table(title: str, statistics: str, note: str, why: str = "all") -> Table:
        columns = [
            Column(
                heads.get(statistic, statistic.replace("_", " ")),
                f"described.{statistic}",
                4 if statistic == "variance" else 3,
            )
            for statistic in statistics.split()
        ]
        reason = Column(
            "reason",
            lambda row: next(
                (r for name, r in row.described.reasons if name in (why, "all")), None
            ),
        )
        all_columns = (*SYSTEM, Column("n", "described.n"), *columns, reason)
        return Table(title.lower().replace(" ", "_"), title, all_columns, study.scores, note)

    tables = (
        table(
            "Central tendency",
            "mean geometric_mean median midhinge",
            "The geometric mean is 0 if a score is 0; the midhinge is the mean of the quartiles.",
            "geometric_mean",
        ),
        table(
            "Variability",
            "variance minimum maximum range iqr",
            "Variance with divisor n; quartiles are interpolated linearly.",
        ),
        table(
            "Shape",
            "skewness kurtosis",
            "Both are population statistics (biased); a normal distribution has 0 in both. Negative skewness: the tail "
            "of low scores is longer.",
            "skewness",
        ),
    )
    return Section("Population statistics", "Statistics of the scores of each system.", tables)


def _bins(
    name: str, edges: Sequence[float], counts: Sequence[int]
) -> Iterator[tuple[str, float, float, int]]:
    for i, count in enumerate(counts):
        yield name, edges[i], edges[i + 1], count


def _bin_columns(first: str, last: str) -> tuple[Column, ...]:
    return (
        Column(first, kind="metric" if first == "metric" else ""),
        *map(Column, ("from", "to", last)),
    )


def question_means(study: MetricsStudy) -> Section:
    """The mean over systems, question by question (CCRS, figure 2)."""
    scales: dict[tuple[float, ...], list[MetricProperties]] = {}
    for metric in study.metrics:
        if metric.question_means.n:
            scales.setdefault(metric.question_means.edges, []).append(metric)

    def quantile(name: str, share: float, key: str = "") -> Column:
        return Column(name, lambda row: row.question_means.quantile(share), 3, key=key)

    columns = (
        Column("metric", kind="metric"),
        Column("systems", "question_means.systems"),
        Column("questions", "question_means.n"),
        Column("excluded", "question_means.left_out", key="left_out"),
        quantile("min", 0.0, "minimum"),
        quantile("10 %", 0.1, "p10"),
        quantile("25 %", 0.25, "p25"),
        quantile("median", 0.5),
        quantile("75 %", 0.75, "p75"),
        quantile("90 %", 0.9, "p90"),
        quantile("max", 1.0, "maximum"),
    )
    note = "excluded: questions without a score of some system."
    if study.options.as_published:
        note = "Means are over the systems with a score, as published."
    bins = [
        bin
        for metric in study.metrics
        for bin in _bins(metric.metric, metric.question_means.edges, metric.question_means.counts)
    ]
    figures = []
    words = metric_titles(metric.metric for metric in study.metrics)
    for same_scale in scales.values():
        panels = [
            HistogramPanel(
                words[metric.metric], metric.question_means.edges, metric.question_means.counts
            )
            for metric in same_scale
        ]
        lines = [
            Curve(words[metric.metric], metric.question_means.quantiles) for metric in same_scale
        ]
        figures.append(histograms(panels, "Questions by their mean"))
        figures.append(
            curves(
                lines, "Means over systems, sorted", "share of the questions", "mean over systems"
            )
        )
    return Section(
        "Means over systems",
        "The mean score of each question over all systems: how questions differ in difficulty.",
        (
            Table(
                "question_means", "Means over systems, per question", columns, study.metrics, note
            ),
            Table(
                "question_means_bins",
                "Questions in each bin",
                _bin_columns("metric", "questions"),
                bins,
            ),
        ),
        figures,
    )


def distributions(study: MetricsStudy) -> Iterator[Section]:
    """A section per metric: box plots sorted by median, and a histogram per system (CCRS, figures 5-10)."""
    stems = set[str]()
    words = metric_titles(metric.metric for metric in study.metrics)
    for one in study.metrics:
        stem = re.sub(r"[^\w.-]+", "-", one.metric)[:60]
        stem = stem if stem not in stems else f"{stem}-{len(stems)}"
        stems.add(stem)
        yield _distribution(one, words[one.metric], stem)


def _distribution(metric: MetricProperties, words: str, stem: str) -> Section:
    sign = 1 if metric.direction == LOWER else -1

    def by_median(scores: SystemScores) -> tuple[bool, float]:
        return scores.described.median is None, sign * (scores.described.median or 0.0)

    order = sorted(metric.systems, key=by_median)
    statistics = {
        "min": "minimum",
        "Q1": "q1",
        "median": "median",
        "Q3": "q3",
        "max": "maximum",
        "mean": "mean",
    }
    columns = (
        Column("system"),
        Column("n", "described.n"),
        *(Column(name, f"described.{field}", metric.places) for name, field in statistics.items()),
    )
    boxes = Table(f"box_{stem}", f"Quartiles: {words}", columns, order)
    bins = Table(
        f"histogram_{stem}",
        f"Scores in each bin: {words}",
        _bin_columns("system", "scores"),
        [bin for scores in order for bin in _bins(scores.system, metric.edges, scores.counts)],
        "A bin includes its lower edge and excludes its upper edge; the last includes both.",
    )
    figures = (
        box_plots(
            [Box(*row) for row in boxes.rows],
            f"{words}, sorted by median",
            metric.facts.lo,
            metric.facts.hi,
        ),
        histograms(
            [
                HistogramPanel(scores.system, metric.edges, scores.counts)
                for scores in order
                if scores.described.n
            ],
            f"{words} by system",
        ),
    )
    text = f"Systems sorted by median, {'highest' if metric.facts.higher_is_better is None else 'best'} first."
    return Section(
        f"Distribution: {words}",
        text if metric.n else "No scores.",
        (boxes, bins),
        figures if metric.n else (),
    )

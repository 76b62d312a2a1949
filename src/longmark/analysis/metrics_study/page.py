"""A study of metrics as a page: one line per metric, discriminative power, correlations; everything else is folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from longmark.analysis.compare.hypotheses import hypotheses_section
from longmark.analysis.grid import Grid
from longmark.analysis.metrics_study.score_sections import (
    SYSTEM,
    bounds,
    distributions,
    population,
    question_means,
    ties,
)
from longmark.analysis.metrics_study.study import MetricProperties, MetricsStudy
from longmark.report.charts import Curve, curves
from longmark.report.document import Document, Section
from longmark.report.figures import Figure
from longmark.report.format import counted, listed, metric_titles
from longmark.report.tables import Column, Range, Table
from longmark.scores.clusters import QUESTION
from longmark.stats.correlation import KINDS, MeanCorrelation
from longmark.stats.results import Estimate

NAMES = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall's tau-b"}
_KINDS = {words: kind for kind, words in NAMES.items()}


def tested_by(study: MetricsStudy) -> str:
    field = study.options.cluster
    return "randomised Tukey HSD" if field == QUESTION else f"max-T over clusters ({field})"


def _correction(study: MetricsStudy) -> str:
    return f"{tested_by(study)}, over the pairs of each metric; none over metrics"


def document(study: MetricsStudy) -> Document:
    tests = {metric.metric: metric.test for metric in study.metrics if metric.test is not None}
    clusters = None if study.options.cluster == QUESTION else study.options.cluster
    hypotheses = hypotheses_section(
        study.hypotheses,
        tests,
        study.options.draws,
        study.options.alpha,
        clusters,
        readings=not study.options.as_published,
    )
    return Document(
        kind="metrics study",
        title=f"Metrics study: {counted(len(study.metrics), 'metric')} on {counted(len(study.systems), 'system')}",
        lede="Properties of the metrics: distributions, ties, correlations, discriminative power, cost.",
        sections=(
            _summary(study),
            *hypotheses,
            _discriminative(study),
            _correlations(study),
            *(
                replace(section, folded=True)
                for section in (
                    *_unscored(study),
                    bounds(study),
                    ties(study),
                    population(study),
                    question_means(study),
                    *distributions(study),
                    _asl(study),
                    _costs(study),
                )
            ),
        ),
        notices=study.notices,
        settings={
            "Runs": list(study.runs),
            "By": study.by,
            "Alpha": study.options.alpha,
            "Confidence level": study.options.level,
            "Permutations": study.options.draws,
            "Seed": study.options.seed,
            "Correction": _correction(study),
            "As published": study.options.as_published,
        },
        signatures=study.signatures,
    )


def _summary(study: MetricsStudy) -> Section:
    """One line per metric, and the means of all systems."""

    def at(end: str) -> Callable[[MetricProperties], Range | None]:
        def shares(metric: MetricProperties) -> Range | None:
            bounded = (metric.facts.lo if end == "low" else metric.facts.hi) is not None
            return _range(
                [getattr(s.bounds, f"share_{end}") for s in metric.systems if s.bounds and bounded]
            )

        return shares

    columns = (
        Column("metric", kind="metric"),
        Column("direction", spare=3),
        Column("scores", "n", spare=2),
        Column("mean", places=3),
        Column("share at lower bound", at("low"), 3, "extremes", "at_lower_bound", 1),
        Column("share at upper bound", at("high"), 3, "extremes", "at_upper_bound", 1),
        Column(
            "tie probability",
            lambda row: _range([s.ties.probability for s in row.systems]),
            3,
            "extremes",
            "ties",
        ),
        Column("closest metric", lambda row: _closest(study, row)[0], kind="metric", spare=5),
        Column("r", lambda row: _closest(study, row)[1], 3, spare=4),
        Column("discriminative power", "power.share", 3, key="power"),
        Column("calls per row", lambda row: row.usage.calls / row.rows if row.rows else None, 2),
        Column("no power because", "power.reason", key="power_reason"),
    )
    note = (
        "mean: of the systems' means. Shares at bounds, tie probability: lowest to highest system. closest "
        "metric, r: strongest Pearson correlation, mean over systems. discriminative power: share of "
        f"the pairs of systems with p < {study.options.alpha:g} ({tested_by(study)})."
    )
    return Section(
        "Summary",
        f"{counted(len(study.metrics), 'metric')} on {counted(study.questions, 'question')} and "
        f"{counted(len(study.systems), 'system')}: {listed(study.systems, 8)}.",
        (Table("metrics", "Summary of the metrics", columns, study.metrics, note),),
        brief=1,
    )


def _range(shares: Sequence[float | None]) -> Range | None:
    known_shares = [share for share in shares if share is not None]
    return Range(min(known_shares), max(known_shares)) if known_shares else None


def _closest(study: MetricsStudy, metric: MetricProperties) -> tuple[str | None, float | None]:
    """The metric with the strongest Pearson correlation with this one, and that correlation."""
    correlations = [
        (abs(r.value), pair.second if pair.first == metric.metric else pair.first, r.value)
        for pair in study.pairs
        if metric.metric in (pair.first, pair.second)
        and (r := pair.by_kind["pearson"]).value is not None
    ]
    _, name, value = max(
        correlations, key=lambda candidate: candidate[0], default=(None, None, None)
    )
    return name, value


def _unscored(study: MetricsStudy) -> tuple[Section, ...]:
    """Why rows are unscored; no section if all are scored."""
    rows = [
        (score.metric, score.system, score.rows, why.status, why.count, why.reason)
        for score in study.scores
        for why in score.unscored
    ]
    heads = ("system", "rows", "status", "unscored", "most frequent reason")
    columns = (Column("metric", kind="metric"), *map(Column, heads))
    total = sum(metric.rows for metric in study.metrics)
    says = f"{sum(row[4] for row in rows):,} of {counted(total, 'row')} are unscored and excluded below."
    return (
        (Section("Unscored rows", says, (Table("missing", "Unscored rows", columns, rows),)),)
        if rows
        else ()
    )


# Correlations (CCRS, 4.1.2 and C.2) ----------------------------------------------------------------------------------


def _correlations(study: MetricsStudy) -> Section:
    title = "Correlations between metrics"
    if not study.pairs:
        return Section(title, "One metric: no correlations.")
    pairs = {(pair.first, pair.second): pair.by_kind for pair in study.pairs}
    heads = (
        Column("metric", lambda row: row[0], key="first", kind="metric"),
        Column("and", lambda row: row[1], key="second", kind="metric"),
    )
    columns = [Column(NAMES[kind], places=3, key=kind) for kind in KINDS]
    means = Grid(
        "correlations",
        "Means over systems",
        heads,
        list(pairs),
        columns,
        lambda row, kind: _mean(pairs[row][_KINDS[kind]]),
        unit="questions",
        beside=(Column("systems", lambda row: _used(pairs[row].values()), kind="extremes"),),
    )
    by_system = Grid(
        "correlations_by_system",
        "Correlations in each system",
        (*heads, Column("system", lambda row: row[2])),
        [(*key, system) for key, kinds in pairs.items() for system in kinds[KINDS[0]].by_system],
        [replace(column, places=2) for column in columns],  # three are too wide for a paper
        lambda row, kind: pairs[row[:2]][_KINDS[kind]].by_system[row[2]],
        unit="questions",
    )
    return Section(
        title,
        "Means over systems by Fisher's z, with intervals by jackknife over questions.",
        (means.table(), by_system.table()),
        [_heat(study, kind) for kind in KINDS],
        "systems: number in the mean. Scores are not reversed: where lower is better in only one metric of a pair, "
        "agreement is a negative correlation.",
    )


def _used(means: Iterable[MeanCorrelation]) -> Range:
    """The number of systems in the means of a pair: the fewest and the most of the kinds."""
    counts = [len(mean.by_system) - len(mean.left_out) for mean in means]
    return Range(min(counts), max(counts))


def _mean(mean: MeanCorrelation) -> Estimate:
    """The mean; why there is none, or no interval, in the systems' own words if they share a reason."""
    used = {
        r.reason
        for name, r in mean.by_system.items()
        if mean.value is None or name not in mean.left_out
    }
    shared_reasons = {reason for reason in used if reason is not None}
    return (
        replace(mean, reason=shared_reasons.pop())
        if len(shared_reasons) == 1 and mean.low is None and mean.reason
        else mean
    )


def _heat(study: MetricsStudy, kind: str) -> Figure:
    names = {
        words: name
        for name, words in metric_titles(metric.metric for metric in study.metrics).items()
    }
    correlations = {
        frozenset((pair.first, pair.second)): pair.by_kind[kind] for pair in study.pairs
    }

    def cell(first: str, second: str) -> Estimate:
        itself = Estimate(1.0, None, None, study.questions)
        return itself if first == second else correlations[frozenset((names[first], names[second]))]

    grid = Grid(
        kind, NAMES[kind], ("metric",), list(names), [Column(words) for words in names], cell
    )
    return grid.heat_map(f"{NAMES[kind]}, mean over systems", -1.0, 1.0, 3)


# Discriminative power (CCRS, 4.1.3, 4.2 and E) and cost (4.1.4) -------------------------------------------------------


def _discriminative(study: MetricsStudy) -> Section:
    """The share of pairs that differ significantly (CCRS, tables 2 and 3), and every pair (tables 20-24)."""
    columns = (
        Column("metric", kind="metric"),
        Column("significant pairs", "power.significant"),
        Column("pairs", "power.pairs"),
        Column("share", "power.share", 3),
        Column("not tested", "power.untested"),
        Column(
            "questions" if study.options.cluster == QUESTION else "clusters",
            lambda row: row.test and row.test.n,
        ),
        Column(
            "with a missing system" if study.options.as_published else "excluded",
            lambda row: row.test and row.test.missing,
            key="left_out",
        ),
        Column("reason"),
    )
    heads = (
        Column("metric", kind="metric"),
        Column("first"),
        Column("second"),
        Column("difference", places=4),
    )
    pairs = (*heads, Column("p", kind="p"), Column("significant"), Column("reason"))
    alpha = study.options.alpha
    items = [
        (
            metric.metric,
            pair.a,
            pair.b,
            pair.difference,
            pair.p,
            None if pair.p is None else pair.p < alpha,
            pair.reason,
        )
        for metric in study.metrics
        for pair in (metric.test.pairs if metric.test else ())
    ]
    note = f"p < {study.options.alpha:g}. Correction: {_correction(study)}. {_draws(study)}"
    difference = "difference: mean of the first minus mean of the second, in the metric's units."
    return Section(
        "Discriminative power",
        f"The share of the pairs of systems that differ significantly (alpha {study.options.alpha:g}, "
        f"{tested_by(study)}).",
        (
            Table("discriminative_power", "Discriminative power", columns, study.metrics, note),
            Table("pairs_of_systems", "Pairs of systems", pairs, items, difference),
        ),
        note="Discriminative power does not show that the metric ranks the systems correctly.",
    )


def _draws(study: MetricsStudy) -> str:
    if len(study.systems) < 2:
        return ""
    rule = "(count + 1) / (permutations + 1) where tables are drawn"
    exclusion = ""
    if study.options.as_published:
        rule = "count / permutations"
        exclusion = " Questions with a missing system are kept, as published."
    return (
        f"p is {rule}; {study.options.draws:,} permutations, seed {study.options.seed}, small tables enumerated."
        f"{exclusion}"
    )


def _asl(study: MetricsStudy) -> Section:
    """The p-values of all pairs, from the largest to the smallest (CCRS, figure 3b)."""
    tested = [metric for metric in study.metrics if metric.power.curve]
    rows = [
        (metric.metric, rank, p, p < study.options.alpha)
        for metric in tested
        for rank, p in enumerate(metric.power.curve, start=1)
    ]
    columns = (
        Column("metric", kind="metric"),
        Column("rank"),
        Column("p", kind="p"),
        Column("significant"),
    )
    table = Table(
        "asl",
        "Achieved significance levels",
        columns,
        rows,
        "rank: 1 is the largest p of the metric.",
    )
    if not tested:
        return Section("ASL curves", "No pair of systems was tested.", (table,))
    words = metric_titles(metric.metric for metric in study.metrics)
    lines = [
        Curve(
            words[metric.metric],
            [(float(rank), p) for rank, p in enumerate(metric.power.curve, start=1)],
        )
        for metric in tested
    ]
    figure = curves(
        lines, "Achieved significance level by pair", "pairs of systems, sorted by p", "p", study.options.alpha
    )  # fmt: skip
    text = (
        "The p-values of all pairs of systems, sorted; those below the dashed line are significant."
    )
    return Section("ASL curves", text, (table,), (figure,))


def _costs(study: MetricsStudy) -> Section:
    """Totals and per row, by metric, and by metric and system."""

    def per_row(field: str) -> Callable[[Any], float | None]:
        def get(costed: Any) -> float | None:
            total = getattr(costed.usage, field)
            return None if total is None or not costed.rows else total / costed.rows

        return get

    figures = {"calls": 2, "prompt tokens": 1, "completion tokens": 1, "USD": 6}
    fields = {name: name.lower().replace(" ", "_") for name in figures}
    costs = (
        Column("rows", "rows"),
        *(
            Column(name, f"usage.{field}", 4 if name == "USD" else None)
            for name, field in fields.items()
        ),
        *(
            Column(f"{name} per row", per_row(fields[name]), places)
            for name, places in figures.items()
        ),
    )
    time = (
        Column("run"),
        Column("metrics", lambda row: ", ".join(row.metrics)),
        Column("rows"),
        Column("requests"),
        Column("from cache", "from_cache"),
        Column("seconds", places=1),
        Column("seconds per row", lambda row: row.seconds / row.rows if row.rows else None, 3),
    )
    tables = (
        Table("time", "Time of the runs", time, study.times),
        Table("costs", "Cost by metric", (Column("metric", kind="metric"), *costs), study.metrics),
        Table("costs_by_system", "Cost by metric and system", (*SYSTEM, *costs), study.scores),
    )
    note = (
        "A call that several metrics share counts for the row that made it first. USD is empty if a price is unknown. "
        "Time is wall-clock time over all sessions of a run. It depends on the endpoint, --concurrency and cached "
        "replies. To compare families of metrics, give each a run of its own without cached replies."
    )
    text = "Calls, tokens and dollars when the calls were first paid for, also if replies came from the cache."
    return Section("Cost", text, tables, note=note)

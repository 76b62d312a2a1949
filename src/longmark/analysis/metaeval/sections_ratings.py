"""The sections of a label that people rated answers on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from longmark.analysis.metaeval.correlate import Correlations
from longmark.analysis.metaeval.orient import LOWER
from longmark.analysis.metaeval.parts import (
    InGroup,
    PairOfMetrics,
    columns_named,
    differences_figure,
    fewest,
    groups_figure,
    significant_pairs,
)
from longmark.analysis.metaeval.result import RatingLabel
from longmark.analysis.metaeval.sections_classes import binary_sections, class_section
from longmark.analysis.metaeval.words import Naming, between, figure, questions, reasons, shared
from longmark.report import charts, lanes
from longmark.report.document import Section
from longmark.report.format import counted
from longmark.report.tables import Column
from longmark.stats.results import Estimate

_FEW = 30
_SCATTERS = 3


def rating_sections(part: RatingLabel, naming: Naming) -> Iterator[Section]:
    """Correlation, levels, yes or no, classes, differences, groups, prediction-powered means."""
    if part.correlations:
        yield _correlation(part, naming)
    if part.grouping:
        yield _levels(part, naming)
    if part.aucs:
        yield from binary_sections(part, naming)
    if part.classes:
        yield class_section(part, naming)
    if part.differences:
        yield _differences(part, naming)
    if part.groups:
        yield _groups(part, naming)
    if part.powered:
        yield _powered(part, naming)


def _asked(r: Estimate) -> int:
    return questions(r.clusters, r.n)


def _correlation(part: RatingLabel, naming: Naming) -> Section:
    how = "jackknife over questions" if part.clustered else "delete-one jackknife"

    def of(kind: str) -> Callable[[Correlations], Estimate]:
        return lambda each: each.by_kind[kind.lower()]

    table = naming.table(
        "correlation",
        "Correlation with the mean human rating",
        (
            *(Column("metric"), Column("direction"), Column("n", lambda each: each.by_kind["spearman"].n)),
            Column("questions", lambda each: _asked(each.by_kind["spearman"])),
            Column("missing", lambda each: each.by_kind["spearman"].missing),
            *(column for kind in ("Pearson", "Spearman", "Kendall") for column in naming.estimate(kind, of(kind))),
            Column("reason", lambda each: each.by_kind["spearman"].reason),
        ),
        part.correlations,
        "Above 0: the metric agrees with people. The sign is reversed where lower is better, and kept where no "
        f"direction is declared. Kendall is tau-b. Intervals by {how} on Fisher's scale. missing: rated "
        "answers without a score.",
    )
    forest = lanes.forest(
        [_forest_row(each.metric, each.by_kind["spearman"]) for each in part.correlations],
        f"Spearman's rho with the mean human {part.label}",
        0.0,
    )
    ranked = sorted(
        (each for each in part.correlations if each.by_kind["spearman"].value is not None),
        key=lambda each: -(each.by_kind["spearman"].value or 0.0),
    )
    scatters = [
        charts.scatter(
            part.points[each.metric],
            f"{each.metric} and human ratings",
            f"mean human {part.label}",
            f"{each.metric} ({LOWER})" if each.direction == LOWER else each.metric,
        )
        for each in ranked[:_SCATTERS]
        if part.points.get(each.metric)
    ]
    return naming.section(
        "Correlation with human ratings", _correlation_says(part, ranked), (table,), (forest, *scatters)
    )


def _forest_row(name: str, r: Estimate) -> lanes.ForestRow:
    return lanes.ForestRow(name, r.value, r.low, r.high, r.reason if r.value is None and r.reason else f"n = {r.n}")


def _correlation_says(part: RatingLabel, ranked: list[Correlations]) -> str:
    without = reasons((each.metric, each.by_kind["spearman"].reason) for each in part.correlations)
    if not ranked:
        return f"No metric has a correlation with human {part.label}.{without}"
    best = ranked[0].by_kind["spearman"]
    asked = _asked(best)
    of = "" if best.clusters is None else f" answers to {counted(asked, 'question')}"
    found = f"{ranked[0].metric}, {between(best.value, best.low, best.high)}, n = {best.n:,}{of}"
    if best.value is not None and best.value > 0:
        says = f"Highest Spearman correlation: {found}."
    else:
        says = f"No metric has a positive Spearman correlation; the highest: {found}."
    says += shared(best.value, ((each.metric, each.by_kind["spearman"].value) for each in ranked[1:]))
    above = sum((each.by_kind["spearman"].low or -1.0) > 0 for each in ranked)
    below = [each.metric for each in ranked if (each.by_kind["spearman"].high or 1.0) < 0]
    says += f" Interval above 0: {above} of {counted(len(part.correlations), 'metric')}."
    if below:
        says += f" Interval below 0: {', '.join(below[:4])}."
    if asked < _FEW and best.low is not None and best.high is not None:
        few = counted(asked, "answer" if best.clusters is None else "question")
        says += f" With {few} the interval is {figure(best.high - best.low)} wide."
    return says + without


def _levels(part: RatingLabel, naming: Naming) -> Section:
    table = naming.table(
        "levels",
        "Spearman's rho within questions and over systems",
        (
            *(Column("metric"), *naming.estimate("within questions", "within"), Column("questions")),
            Column("constant", "no_value"),
            *(*naming.estimate("over systems", "systems"), Column("systems", "systems.n")),
            Column("reason", lambda g: g.systems.reason if g.systems.low is None else None),
        ),
        part.grouping,
        "within questions: mean over questions of rho between the systems' answers; BCa interval over questions. "
        "constant: questions with equal scores or equal ratings of all answers. over systems: between system means.",
    )
    best = max(part.grouping, key=lambda g: g.within.value if g.within.value is not None else -2.0)
    says = "Over all answers a metric can correlate through the questions; within a question only the answers differ."
    if best.within.value is not None:
        found = between(best.within.value, best.within.low, best.within.high)
        none = "" if best.within.value > 0 else "no metric correlates positively; "
        says += f" Within questions: {none}highest {best.metric}, {found}, {counted(best.questions, 'question')}."
    few = part.grouping[0].systems.n
    if few < 10:
        says += f" {counted(few, 'system')}: too few for a precise correlation over systems."
    return naming.section("Within questions and over systems", says, (table,))


def _differences(part: RatingLabel, naming: Naming) -> Section:
    table = naming.table(
        "differences",
        "Differences between correlations",
        (
            *(Column("first metric", "first"), Column("second metric", "second")),
            *(
                Column("rho (first)", "result.first", 3, key="first"),
                Column("rho (second)", "result.second", 3, key="second"),
            ),
            *naming.estimate("difference", "result"),
            *(Column("p", "result.p", kind="p"), Column("p (Holm)", "adjusted", kind="p")),
            *(Column("n", "result.n"), Column("questions", lambda d: questions(d.result.clusters, d.result.n))),
            Column("reason", "result.reason"),
        ),
        part.differences,
        f"Spearman's rho on the same answers (dependent); jackknife{' over questions' if part.clustered else ''}, "
        "Student's t; Holm over all pairs of metrics."
        + ("" if all(d.result.kind == "spearman" for d in part.differences) else " Pearson for large samples."),
    )
    pairs = [
        PairOfMetrics(d.first, d.second, d.result.value, d.result.low, d.result.high, d.adjusted, d.result.reason)
        for d in part.differences
    ]
    figures = (differences_figure(pairs, "Difference of Spearman's rho"),)
    says = significant_pairs(pairs, naming.alpha, "correlation")
    return naming.section("Differences between metrics", says, (table,), figures)


def _groups(part: RatingLabel, naming: Naming) -> Section:
    columns = (
        *(Column("column"), Column("group"), Column("metric"), Column("n", "correlation.n")),
        Column("questions", lambda g: _asked(g.correlation)),
        *(*naming.estimate("rho", "correlation"), Column("reason", "correlation.reason")),
    )
    found = [InGroup(g.column, g.group, g.metric, g.correlation.value, g.correlation.n) for g in part.groups]
    by = columns_named(found)
    says = f"Correlation among the answers of each {by}. {fewest(found, 'answer')}"
    drawn = groups_figure(found, "Spearman's rho with human ratings, by group", -1.0)
    table = naming.table("groups", "Spearman's rho by group", columns, part.groups)
    return naming.section(f"By {by}", says, (table,), (drawn,))


def _powered(part: RatingLabel, naming: Naming) -> Section:
    clustered = any(p.mean.clusters is not None for p in part.powered)
    table = naming.table(
        "powered",
        "Prediction-powered mean human rating",
        (
            *(Column("metric"), Column("system"), Column("rated", "mean.labelled")),
            Column("questions", lambda p: questions(p.mean.clusters, p.mean.labelled)),
            Column("unrated", "mean.unlabelled"),
            *naming.estimate("ratings only", "mean.human"),
            *naming.estimate("ratings and metric", "mean", "powered"),
            Column("metric only", "mean.judge", 3),
            Column("equivalent ratings", "mean.worth", 0, key="worth"),
            Column("reason", "mean.reason"),
        ),
        part.powered,
        "Prediction-powered inference, tuned weight, Student's t. equivalent ratings: the number of ratings that alone "
        "would give as narrow an interval."
        + (" Intervals are over questions where a question has several answers." if clustered else ""),
    )
    first = part.powered[0].mean
    says = (
        "The mean human rating of all answers, from few ratings and many scores. Unbiased whatever the metric's bias, "
        "if the rated answers are a random sample."
    )
    if first.value is not None:
        says += (
            f" With {part.powered[0].metric}: {between(first.value, first.low, first.high)} over "
            f"{first.labelled + first.unlabelled:,} answers; metric only: {figure(first.judge)}."
        )
    return naming.section("Mean human rating of all answers", says, (table,))

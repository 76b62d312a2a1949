"""The sections of a label that people rated answers on."""

from __future__ import annotations

from collections.abc import Iterator

from longmark.metaeval.correlate import Correlations
from longmark.metaeval.orient import LOWER
from longmark.metaeval.parts import (
    InGroup,
    PairOfMetrics,
    columns_named,
    differences_figure,
    fewest,
    groups_figure,
    told_apart,
)
from longmark.metaeval.result import RatingLabel
from longmark.metaeval.sections_binary import binary_sections
from longmark.metaeval.sections_classes import class_section
from longmark.metaeval.words import between, ends, figure, level_name, questions, reasons, shared, span
from longmark.report import charts, lanes
from longmark.report.document import Section
from longmark.report.words import counted
from longmark.stats.results import Estimate
from longmark.tables import Column, Table

_FEW = 30
_SCATTERS = 3


def rating_sections(part: RatingLabel, heading: str, prefix: str, alpha: float) -> Iterator[Section]:
    """Correlation, yes or no, classes, the differences, the groups, questions and systems, the means for all."""
    if part.correlations:
        yield _correlation(part, heading, prefix, alpha)
    if part.grouping:
        yield _grouping(part, heading, prefix, alpha)
    if part.aucs:
        yield from binary_sections(part, heading, prefix, alpha)
    if part.classes:
        yield class_section(part, heading, prefix, alpha)
    if part.differences:
        yield _differences(part, heading, prefix, alpha)
    if part.groups:
        yield _groups(part, heading, prefix, alpha)
    if part.powered:
        yield _powered(part, heading, prefix, alpha)


def _correlation(part: RatingLabel, heading: str, prefix: str, alpha: float) -> Section:
    interval = level_name(alpha)
    kinds = ("Pearson", "Spearman", "Kendall")
    columns = [Column("metric"), Column("taken", key="direction"), Column("n"), Column("questions"), Column("missing")]
    for kind in kinds:
        columns += [Column(kind, 3), Column(interval, 3, "range", kind.lower())]
    columns.append(Column("why none", key="reason"))
    rows = []
    for each in part.correlations:
        spearman = each.by_kind["spearman"]
        cells = [
            cell for kind in kinds for r in [each.by_kind[kind.lower()]] for cell in (r.value, ends(r.low, r.high))
        ]
        asked = questions(spearman.clusters, spearman.n)
        rows.append((each.metric, each.direction, spearman.n, asked, spearman.missing, *cells, spearman.reason))
    table = Table(
        f"{prefix}correlation",
        "Correlation with people's mean",
        tuple(columns),
        tuple(rows),
        note="Above 0: the metric agrees with people. Turned where lower is better; as it is where that is not "
        f"declared. Kendall is tau-b. Intervals by {_jackknife(part)} on Fisher's scale. Missing: rated answers "
        "without a value.",
    )
    forest = lanes.forest(
        [_forest_row(each.metric, each.by_kind["spearman"]) for each in part.correlations],
        f"Spearman's rho with people's {part.label}",
        0.0,
    )
    ranked = _ranked(part.correlations)
    scatters = [
        charts.scatter(
            part.points[each.metric],
            f"{each.metric} and people",
            f"people's mean of {part.label}",
            f"{each.metric} ({LOWER})" if each.direction == LOWER else each.metric,
        )
        for each in ranked[:_SCATTERS]
        if part.points.get(each.metric)
    ]
    return Section(f"{heading}Correlation with people", _correlation_says(part, ranked), (table,), (forest, *scatters))


def _jackknife(part: RatingLabel) -> str:
    if part.clustered:
        return "a jackknife that leaves out whole questions, for answers to one question hang together,"
    return "delete-one jackknife"


def _forest_row(name: str, r: Estimate) -> lanes.ForestRow:
    return lanes.ForestRow(name, r.value, r.low, r.high, r.reason if r.value is None and r.reason else f"n = {r.n}")


def _ranked(found: tuple[Correlations, ...]) -> list[Correlations]:
    with_value = [each for each in found if each.by_kind["spearman"].value is not None]
    return sorted(with_value, key=lambda each: -(each.by_kind["spearman"].value or 0.0))


def _correlation_says(part: RatingLabel, ranked: list[Correlations]) -> str:
    without = reasons((each.metric, each.by_kind["spearman"].reason) for each in part.correlations)
    if not ranked:
        return f"No metric has a correlation with people's {part.label}.{without}"
    best = ranked[0].by_kind["spearman"]
    asked = questions(best.clusters, best.n)
    of = "" if best.clusters is None else f" answers to {counted(asked, 'question')}"
    found = f"{ranked[0].metric}, {between(best.value, best.low, best.high)}, n = {best.n:,}{of}"
    if best.value is not None and best.value > 0:
        says = f"Closest to people by Spearman's rho: {found}."
    else:
        against = ", which runs against them" if best.value else ""
        says = f"No metric goes with people by Spearman's rho; the highest: {found}{against}."
    says += shared(best.value, ((each.metric, each.by_kind["spearman"].value) for each in ranked[1:]))
    above = sum((each.by_kind["spearman"].low or -1.0) > 0 for each in ranked)
    below = [each.metric for each in ranked if (each.by_kind["spearman"].high or 1.0) < 0]
    says += f" Intervals wholly above 0: {above} of {counted(len(part.correlations), 'metric')}."
    if below:
        says += f" Against people: {', '.join(below[:4])}."
    if asked < _FEW and best.low is not None and best.high is not None:
        few = counted(asked, "answer" if best.clusters is None else "question")
        says += f" {few} are few: the interval is {figure(best.high - best.low)} wide."
    return says + without


def _grouping(part: RatingLabel, heading: str, prefix: str, alpha: float) -> Section:
    interval = level_name(alpha)
    table = Table(
        f"{prefix}levels",
        "Spearman's rho within questions and over systems",
        (
            Column("metric"),
            Column("within questions", 3),
            Column(interval, 3, "range", "within_questions"),
            Column("questions"),
            Column("without"),
            Column("over systems", 3),
            Column(interval, 3, "range", "over_systems"),
            Column("systems"),
            Column("why none", key="reason"),
        ),
        tuple(
            (
                g.metric,
                g.within.value,
                span(g.within),
                g.questions,
                g.no_value,
                g.systems.value,
                ends(g.systems.low, g.systems.high),
                g.systems.n,
                g.systems.reason if g.systems.low is None else None,
            )
            for g in part.grouping
        ),
        note="Within questions: the mean over questions of the rho of the systems' answers, with a BCa interval over "
        "questions; without: questions on which the metric or people give all answers one value. Over systems: of the "
        "systems' means.",
    )
    best = max(part.grouping, key=lambda g: g.within.value if g.within.value is not None else -2.0)
    says = "Over all answers a metric may follow the questions; within a question only the answers differ."
    if best.within.value is not None:
        found = between(best.within.value, best.within.low, best.within.high)
        closest = (
            f"{best.metric} is closest"
            if best.within.value > 0
            else f"no metric goes with people; {best.metric} is highest"
        )
        says += f" There {closest}, {found}, over {counted(best.questions, 'question')}."
    few = part.grouping[0].systems.n
    if few < 10:
        says += f" {counted(few, 'system')} are few for a correlation over systems."
    return Section(f"{heading}Within questions, and over systems", says, (table,))


def _differences(part: RatingLabel, heading: str, prefix: str, alpha: float) -> Section:
    interval = level_name(alpha)
    table = Table(
        f"{prefix}differences",
        "Differences between metrics in their correlation with people",
        (
            Column("closer"),
            Column("less close"),
            Column("rho of the one", 3, key="first"),
            Column("rho of the other", 3, key="second"),
            Column("difference", 3),
            Column(interval, 3, "range", "difference"),
            Column("p", kind="p"),
            Column("p, Holm", kind="p", key="adjusted"),
            Column("n"),
            Column("questions"),
            Column("why none", key="reason"),
        ),
        tuple(
            (
                d.first,
                d.second,
                d.result.first,
                d.result.second,
                d.result.value,
                ends(d.result.low, d.result.high),
                d.result.p,
                d.adjusted,
                d.result.n,
                questions(d.result.clusters, d.result.n),
                d.result.reason,
            )
            for d in part.differences
        ),
        note="Spearman's rho on the same answers, so dependent; jackknife"
        + (" over questions" if part.clustered else "")
        + ", Student's t; Holm over all pairs of metrics."
        + ("" if all(d.result.kind == "spearman" for d in part.differences) else " Pearson where values are too many."),
    )
    pairs = [
        PairOfMetrics(d.first, d.second, d.result.value, d.result.low, d.result.high, d.adjusted, d.result.reason)
        for d in part.differences
    ]
    return Section(
        f"{heading}Which metric follows people more closely",
        told_apart(pairs, alpha, "correlation"),
        (table,),
        (differences_figure(pairs, "Difference of Spearman's rho"),),
    )


def _groups(part: RatingLabel, heading: str, prefix: str, alpha: float) -> Section:
    table = Table(
        f"{prefix}groups",
        "Spearman's rho by group",
        (
            Column("column"),
            Column("group"),
            Column("metric"),
            Column("n"),
            Column("questions"),
            Column("rho", 3),
            Column(level_name(alpha), 3, "range", "rho"),
            Column("why none", key="reason"),
        ),
        tuple(
            (
                g.column,
                g.group,
                g.metric,
                g.correlation.n,
                questions(g.correlation.clusters, g.correlation.n),
                g.correlation.value,
                ends(g.correlation.low, g.correlation.high),
                g.correlation.reason,
            )
            for g in part.groups
        ),
    )
    found = [InGroup(g.column, g.group, g.metric, g.correlation.value, g.correlation.n) for g in part.groups]
    columns = columns_named(found)
    says = f"The same correlation among the answers of each {columns}. {fewest(found, 'answer')}"
    drawn = groups_figure(found, "Spearman's rho with people, by group", -1.0)
    return Section(f"{heading}By {columns}", says, (table,), (drawn,))


def _powered(part: RatingLabel, heading: str, prefix: str, alpha: float) -> Section:
    interval = level_name(alpha)
    table = Table(
        f"{prefix}powered",
        "The mean that people would give all answers",
        (
            Column("metric"),
            Column("system"),
            Column("rated"),
            Column("questions"),
            Column("only marked"),
            Column("people alone", 3),
            Column(interval, 3, "range", "people_alone"),
            Column("people and metric", 3, key="powered"),
            Column(interval, 3, "range", "powered"),
            Column("metric alone", 3),
            Column("worth ratings", 0, key="worth"),
            Column("why none", key="reason"),
        ),
        tuple(
            (
                p.metric,
                p.system,
                p.mean.labelled,
                questions(p.mean.clusters, p.mean.labelled),
                p.mean.unlabelled,
                p.mean.human.value if p.mean.human else None,
                ends(p.mean.human.low, p.mean.human.high) if p.mean.human else None,
                p.mean.value,
                ends(p.mean.low, p.mean.high),
                p.mean.judge,
                p.mean.worth,
                p.mean.reason,
            )
            for p in part.powered
        ),
        note="Prediction-powered inference, tuned weight, Student's t. Worth: how many ratings alone would give as "
        "narrow an interval." + _between_questions(part),
    )
    first = part.powered[0].mean
    says = (
        "Few ratings corrected by many marks: right on average, whatever the metric's bias, if the rated answers were "
        "drawn at random from all."
    )
    if first.value is not None:
        says += (
            f" By {part.powered[0].metric}, people would give all {first.labelled + first.unlabelled:,} answers "
            f"{between(first.value, first.low, first.high)} on average; the metric alone says {figure(first.judge)}."
        )
    return Section(f"{heading}The mean over all answers", says, (table,))


def _between_questions(part: RatingLabel) -> str:
    if all(p.mean.clusters is None for p in part.powered):
        return ""
    return (
        " Where a question has several answers the intervals are by the spread between questions. Questions: those of "
        "the rated answers."
    )

"""The sections of one label: its tables and figures, for ratings and for choices between two answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from types import SimpleNamespace as Line
from typing import Any

from longmark.analysis.grid import Compared
from longmark.analysis.metaeval.choices import ChoiceLabel
from longmark.analysis.metaeval.ratings import RatedMetric, RatingLabel
from longmark.analysis.metaeval.results import GroupResult
from longmark.report import charts
from longmark.report.charts import ForestRow, forest
from longmark.report.document import Section
from longmark.report.figures import Figure
from longmark.report.format import LOWER, counted, metric_titles, p_value
from longmark.report.tables import Column, Table, interval_columns
from longmark.stats.results import Estimate

_PAIRS_DRAWN, _SCATTERS, _DIAGRAMS, _MAPS = 40, 3, 6, 4
_RATERS_SHOWN = 51
_NOT_EQUAL = "A difference that is not significant does not show that two metrics are equal."


Interval = Callable[..., tuple[Column, Column]]
"""(name, attribute path, key) -> the columns of an estimate and its interval."""


def intervals(level: float) -> Interval:
    """Columns of estimates with intervals at this level."""
    return lambda name, get, key="": interval_columns(name, get, 3, f"{100 * level:g} % CI", key)


def differences(
    name: str, title: str, found: Sequence[Compared], note: str, ci: Interval, columns: Sequence[Column] = ()
) -> tuple[Table, Figure]:
    """Pairs of metrics. columns: of what is compared."""
    columns = (
        *(Column("first metric", "first", kind="metric"), Column("second metric", "second", kind="metric"), *columns),
        *(*ci("difference", "result"), Column("p", "result.p", kind="p"), Column("p (Holm)", "adjusted", kind="p")),
        *(Column("n", "result.n"), questions_of("result"), Column("reason", "result.reason")),
    )
    rows, words = [], metric_titles(name for one in found for name in (one.first, one.second))
    for one in found[:_PAIRS_DRAWN]:
        its, p = one.result, one.adjusted
        test = its.reason or "" if p is None else p_value(p)
        rows.append(ForestRow(f"{words[one.first]} − {words[one.second]}", its.value, its.low, its.high, test))
    return Table(name, title, columns, found, note), forest(rows, title, 0.0)


def by_group(groups: Sequence[GroupResult], what: str, columns: Sequence[Column], low: float) -> Section:
    """A metric's estimate by group, with a heat map from `low` to 1."""
    by = " and ".join(dict.fromkeys(one.column for one in groups))
    heads = list(dict.fromkeys((one.column, one.group) for one in groups))
    metrics = metric_titles(one.metric for one in groups)
    value = {(one.column, one.group, one.metric): one.estimate.value for one in groups}
    cells = [[value[(*head, metric)] for head in heads] for metric in metrics]
    title = f"{what} by group"
    figure = charts.heat_map(list(metrics.values()), [group for _, group in heads], cells, title, low, 1.0, 2)
    table = Table(
        "groups", title, (Column("column"), Column("group"), Column("metric", kind="metric"), *columns), groups
    )
    return Section(f"By {by}", f"{what} in each group.", (table,), (figure,))


def questions_of(path: str) -> Column:
    """How many questions the items of an estimate belong to."""
    of = attrgetter(path)
    return Column("questions", lambda item: of(item).n if of(item).clusters is None else of(item).clusters)


def lane(name: str, estimate: Estimate) -> ForestRow:
    """An estimate as a line of a figure; with the reason if it has no interval."""
    return ForestRow(name, estimate.value, estimate.low, estimate.high, estimate.reason or f"n = {estimate.n:,}")


# Ratings -------------------------------------------------------------------------------------------------------------


def rating_sections(part: RatingLabel, ci: Interval) -> Iterator[Section]:
    """Correlation, levels, yes or no, classes, differences, groups, prediction-powered means."""
    if part.scale.numeric:
        yield _correlation(part, ci)
    if part.metrics[0].within is not None:
        yield _levels(part, ci)
    if part.metrics[0].auc is not None:
        yield _auc(part, ci)
        yield _calibration(part, ci)
    if part.scale.classes:
        yield _classes(part, ci)
    if part.differences:
        how = "jackknife over questions" if part.clustered else "jackknife"
        pearson = any(one.result.kind != "spearman" for one in part.differences)
        columns: tuple[Column, ...] = (
            Column("rho (first)", "result.first", 3, key="first"),
            Column("rho (second)", "result.second", 3, key="second"),
        )
        note = f"Spearman's rho on the same answers; {how}, Student's t; Holm over all pairs of metrics."
        note += " Pearson for large samples." if pearson else ""
        title = "Differences between correlations"
        table, figure = differences("differences", title, part.differences, note, ci, columns)
        yield Section("Differences between metrics", _NOT_EQUAL, (table,), (figure,))
    if part.groups:
        rho = ci("rho", "estimate")
        columns = (Column("n", "estimate.n"), questions_of("estimate"), *rho, Column("reason", "estimate.reason"))
        yield by_group(part.groups, "Spearman's rho", columns, -1.0)
    if part.powered:
        yield _powered(part, ci)


def _correlation(part: RatingLabel, ci: Interval) -> Section:
    how = "jackknife over questions" if part.clustered else "delete-one jackknife"
    table = Table(
        "correlation",
        "Correlation with the mean human rating",
        (
            *(
                Column("metric", kind="metric"),
                Column("direction"),
                Column("n", "spearman.n"),
                questions_of("spearman"),
            ),
            Column("missing", "spearman.missing"),
            *(one for name in ("Pearson", "Spearman", "Kendall") for one in ci(name, name.lower())),
            Column("reason", "spearman.reason"),
        ),
        part.metrics,
        "Above 0: the metric agrees with the raters (reversed where lower is better). Kendall: tau-b. "
        f"Intervals: {how}, Fisher's scale. missing: rated answers without a score.",
    )
    words = metric_titles(each.metric for each in part.metrics)
    rhos = [lane(words[each.metric], each.spearman) for each in part.metrics if each.spearman is not None]
    known = [each for each in part.metrics if each.spearman is not None and each.spearman.value is not None]
    scatters = [
        charts.scatter(
            each.points,
            f"{words[each.metric]} and human ratings",
            f"mean human rating: {part.label}",
            words[each.metric] + (f" ({LOWER})" if each.direction == LOWER else ""),
        )
        for each in sorted(known, key=_rho, reverse=True)[:_SCATTERS]
        if each.points
    ]
    figures = (forest(rhos, f"Spearman's rho with the mean human rating: {part.label}", 0.0), *scatters)
    return Section("Correlation with human ratings", "Over all rated answers.", (table,), figures)


def _rho(each: RatedMetric) -> float:
    return (each.spearman.value if each.spearman else None) or 0.0


def _levels(part: RatingLabel, ci: Interval) -> Section:
    table = Table(
        "levels",
        "Spearman's rho within questions and over systems",
        (
            *(Column("metric", kind="metric"), *ci("within questions", "within"), Column("questions", "within.n")),
            Column("constant", "within.missing"),
            *(*ci("over systems", "systems"), Column("systems", "systems.n")),
            Column("reason", lambda each: each.systems.reason if each.systems.low is None else None),
        ),
        part.metrics,
        "within questions: mean over questions of rho between the systems' answers; Hall's t over questions. "
        "constant: questions with equal scores or equal ratings of all answers. over systems: between system means.",
    )
    says = (
        "A metric that scores easy questions higher correlates over all answers, even if it cannot rank the answers to "
        "one question. Within a question, only the answers differ."
    )
    return Section("Within questions and over systems", says, (table,))


def _auc(part: RatingLabel, ci: Interval) -> Section:
    how, test = ("Obuchowski's interval over questions", "Obuchowski's test over questions")
    if not part.clustered:
        how, test = "DeLong's interval", "DeLong's test"
    tables = [
        Table(
            "auc",
            "Area under the ROC curve",
            (
                *(Column("metric", kind="metric"), *ci("AUC", "auc"), Column("yes", "auc.yes"), Column("no", "auc.no")),
                *(questions_of("auc"), Column("missing", "auc.missing"), Column("reason", "auc.reason")),
            ),
            part.metrics,
            "The probability that the metric ranks an answer labelled yes above one labelled no; 0.5 is chance. "
            f"{how} on the logit scale. The label is the majority of the raters.",
        )
    ]
    words = metric_titles(each.metric for each in part.metrics)
    rows = [lane(words[each.metric], each.auc) for each in part.metrics if each.auc is not None]
    figures = [forest(rows, f"Area under the ROC curve for {part.label}", 0.5)]
    if part.auc_differences:
        note = f"{test} on the same answers; Holm over all pairs of metrics."
        table, figure = differences("auc_differences", "Differences in AUC", part.auc_differences, note, ci)
        tables.append(table)
        figures.append(figure)
    return Section("Discrimination of yes and no", "Whether a metric ranks yes above no.", tables, figures)


def _calibration(part: RatingLabel, ci: Interval) -> Section:
    results = [Line(metric=each.metric, of=each.calibration) for each in part.metrics]
    tables = [
        Table(
            "calibration",
            "Calibration",
            (
                *(Column("metric", kind="metric"), Column("expected calibration error", "of.error", 3, key="ece")),
                *(Column("Brier", "of.brier", 3), Column("n", "of.n"), Column("missing", "of.missing")),
                Column("reason", "of.reason"),
            ),
            results,
            "Ten bins of equal width; expected calibration error: mean distance between a bin's mean score and its "
            "share of yes, weighted by answers. Brier: mean squared distance of score and label. If lower is better, "
            "the score is 1 - the metric.",
        )
    ]
    known = sorted((one for one in results if one.of.error is not None), key=lambda one: one.of.error)
    if known:
        wider = ", wider where answers to one question are dependent" if part.clustered else ""
        columns = (
            *(
                Column("metric", kind="metric"),
                Column("from", "bin.low", 1, key="low"),
                Column("to", "bin.high", 1, key="high"),
            ),
            *(Column("n", "bin.yes.n"), Column("questions", "bin.questions"), Column("mean score", "bin.mean", 3)),
            *ci("share of yes", "bin.yes", "share"),
        )
        bins = [Line(metric=one.metric, bin=each) for one in results for each in one.of.bins]
        note = "A bin includes its lower edge and excludes its upper edge; the last includes both. Wilson's intervals"
        tables.append(Table("calibration_bins", "Share of yes by score", columns, bins, f"{note}{wider}."))
    words = metric_titles(each.metric for each in part.metrics)
    diagrams = [
        charts.reliability(
            [charts.Bin(b.low, b.high, b.yes.n, b.mean, b.yes.value, b.yes.low, b.yes.high) for b in one.of.bins],
            f"{words[one.metric]}: share of yes against score",
            says=f"Expected calibration error {one.of.error:.2f}, {counted(one.of.n, 'answer')}.",
        )
        for one in known[:_DIAGRAMS]
    ]
    says = (
        "Whether a score can be read as a probability of yes. Read it with the AUC: a constant score can be "
        "calibrated, and a metric that ranks well can be miscalibrated."
    )
    return Section("Calibration", says, tables, diagrams)


def _classes(part: RatingLabel, ci: Interval) -> Section:
    names = part.scale.names()
    how = "this class or a higher one above one of a lower" if part.scale.number else "this class above one of another"
    results = [(each.metric, each.classes) for each in part.metrics if each.classes is not None]
    columns: tuple[Column, ...] = (
        *(
            Column("metric", kind="metric"),
            Column("class", lambda one: names[one.name]),
            Column("n"),
            Column("missing"),
        ),
        *(*ci("mean", "mean"), Column("error", places=3), Column("AUC", "auc", 3)),
    )
    note = (
        f"mean: in the metric's own units, interval by Hall's t{' over questions' if part.clustered else ''}. error: "
        f"mean distance from the class's number. AUC: probability that the metric ranks an answer of {how} class."
    )
    every = [one for _, of in results for one in of.classes]
    tables = [Table("classes", "Scores by human class", columns, every, note)]
    maps = []
    scaled = [Line(metric=metric, of=of) for metric, of in results if of.error is not None]
    if scaled:
        columns = (
            *(Column("metric", kind="metric"), Column("n", "of.n"), Column("mean error", "of.error", 3)),
            Column("nearest class is right", "of.right", 3, key="right"),
        )
        tables.append(Table("errors", "Error over all answers", columns, scaled))
        columns = (
            *(Column("metric", kind="metric"), Column("human class", lambda one: names[one.name], key="class")),
            *(_nearest(name, place) for place, name in enumerate(names.values())),
        )
        note = "Answers of the class in the row whose score is nearest to the class in the column."
        of_scaled = [one for line in scaled for one in line.of.classes]
        tables.append(Table("confusion", "Nearest class by human class", columns, of_scaled, note))
    words = metric_titles(metric for metric, _ in results)
    for one in scaled[:_MAPS]:
        counts = [each.nearest for each in one.of.classes]
        shares = [[count / sum(row) if sum(row) else None for count in row] for row in counts]
        label = f"{words[one.metric]}: share of the human class (row) by nearest class (column)"
        right = f"Nearest to the human class in {100 * one.of.right:.0f} % of {counted(one.of.n, 'answer')}."
        maps.append(charts.heat_map(list(names.values()), list(names.values()), shares, label, 0.0, 1.0, 2, says=right))
    says = "The human class of an answer is the majority of its raters."
    reasons = dict.fromkeys(of.reason for _, of in results if of.reason)
    if not scaled:
        says += f" No error: {'; '.join(reasons)}."
    return Section("Error by class", says, tables, maps)


def _nearest(name: str, place: int) -> Column:
    return Column(name, lambda one: one.nearest[place], key=f"nearest_{place}")


def _powered(part: RatingLabel, ci: Interval) -> Section:
    def asked(one: Any) -> int:
        return int(one.mean.labelled if one.mean.clusters is None else one.mean.clusters)

    clustered = any(one.mean.clusters is not None for one in part.powered)
    table = Table(
        "powered",
        "Prediction-powered mean human rating",
        (
            *(
                Column("metric", kind="metric"),
                Column("system"),
                Column("rated", "mean.labelled"),
                Column("questions", asked),
            ),
            *(Column("unrated", "mean.unlabelled"), *ci("ratings only", "mean.human")),
            *ci("ratings and metric", "mean", "powered"),
            Column("metric only", "mean.judge", 3),
            Column("equivalent ratings", "mean.worth", 0, key="worth"),
            Column("reason", "mean.reason"),
        ),
        part.powered,
        "Prediction-powered inference, tuned weight, Student's t. equivalent ratings: the number of ratings that alone "
        "would give as narrow an interval."
        + (" Intervals are over questions where a question has several answers." if clustered else ""),
    )
    says = (
        "The mean human rating of all answers, from few ratings and many scores. Unbiased whatever the metric's bias, "
        "if the rated answers are a random sample."
    )
    return Section("Mean human rating of all answers", says, (table,))


# Choices -------------------------------------------------------------------------------------------------------------


def choice_sections(part: ChoiceLabel, ci: Interval) -> Iterator[Section]:
    """Accuracy, differences, groups, agreement of metrics, position bias."""
    yield _accuracy(part, ci)
    if part.graded:
        yield _graded(part, ci)
    if part.strengths:
        yield _strengths(part, ci)
    if part.differences:
        columns: tuple[Column, ...] = (
            Column("only first right", "result.only_first", key="only_first"),
            Column("only second right", "result.only_second", key="only_second"),
        )
        note = (
            "Over the pairs on which both metrics have a choice. Paired sign-flip test (max-T), as in `compare`. The "
            "interval is this test inverted, so it agrees with p. p (Holm), over all pairs of metrics, decides: it "
            "can be above alpha although the interval excludes 0."
        )
        title = "Differences in accuracy"
        table, figure = differences("differences", title, part.differences, note, ci, columns)
        yield Section(title, _NOT_EQUAL, (table,), (figure,))
    if part.groups:
        columns = (
            *(*ci("accuracy", "estimate"), Column("n", "estimate.n")),
            *ci("without human ties", "without_ties", "without_ties"),
            Column("n", "without_ties.n", key="n_without_ties"),
        )
        yield by_group(part.groups, "Accuracy", columns, 0.0)
    if part.same:
        yield _same(part, ci)
    table = Table(
        "position",
        "Position bias of the raters",
        (
            *(Column("rater"), *ci("chose the first", "first", "first")),
            *(Column("choices", "first.n", key="n"), Column("shown both ways", "same.n")),
            *ci("same choice", "same", "same"),
        ),
        part.positions[:_RATERS_SHOWN],
        "Choices without ties; a is the answer shown first. Wilson's intervals, wider where choices on one question "
        "are dependent. same choice: of the pairs that a rater saw in both orders.",
    )
    says = "How often raters chose the answer shown first: 0.5 without bias, if the order of the answers was random."
    yield Section("Position bias", says, (table,))


def _accuracy(part: ChoiceLabel, ci: Interval) -> Section:
    methods = ", ".join(dict.fromkeys(one.accuracy.method for one in part.metrics))
    table = Table(
        "accuracy",
        "Accuracy on human choices",
        (
            *(Column("metric", kind="metric"), Column("direction"), *ci("accuracy", "accuracy")),
            *(Column("n", "accuracy.n"), *ci("without human ties", "without_ties", "without_ties")),
            Column("n", "without_ties.n", key="n_without_ties"),
            Column("both decide", "decided.value", 3, key="decided"),
            *(Column("ties", "ties.value", 3), Column("prefers a", "first.value", 3, key="first"), Column("missing")),
        ),
        part.metrics,
        f"Scores are rounded to {part.places} decimals; equal scores are a tie; the lower score wins where lower is "
        "better. without human ties: pairs on which the raters chose a or b; a tie of the metric is wrong. both "
        "decide: pairs on which the metric is not tied either. "
        "Chance is 1/3 with three choices, 1/2 with two. missing: pairs with an unscored answer. "
        f"Intervals: {methods}.",
    )
    words = metric_titles(one.metric for one in part.metrics)
    rows = [lane(words[one.metric], one.accuracy) for one in part.metrics]
    figure = forest(rows, f"Accuracy on a, b or tie ({part.label})", round(1 / 3, 3))
    says = "How often a metric makes the choice of the majority of the raters."
    return Section("Accuracy on human choices", says, (table,), (figure,))


def _graded(part: ChoiceLabel, ci: Interval) -> Section:
    def table(name: str, title: str, first: Column, items: Sequence[Any], note: str) -> Table:
        how = (first, Column("figure"), *ci("Pearson", "pearson"), *ci("Spearman", "spearman"))
        more = (Column("n", "pearson.n"), questions_of("pearson"), Column("missing", "pearson.missing"))
        return Table(name, title, (*how, *more, Column("reason", "pearson.reason")), items, note)

    note = (
        "all labels: every label beside its pair's difference of scores (b - a). mean of raters: of the raters' "
        "correlations. raters' mean: each pair's mean label. Above 0: the metric agrees. Intervals: jackknife over "
        "questions."
    )
    tables = [table("graded", "Graded preferences against metrics", Column("metric", kind="metric"), part.graded, note)]
    if part.graded_raters:
        note = (
            "plain: the labels of the first against those of the second. symmetrised: each two labels in both orders."
        )
        raters = table(
            "graded_raters", "Raters against each other", Column("raters", "metric"), part.graded_raters, note
        )
        tables.append(raters)
    says = "Correlation of graded preferences with the difference of a metric's scores, in four ways."
    return Section("Correlation with graded preferences", says, tables)


def _strengths(part: ChoiceLabel, ci: Interval) -> Section:
    title = "Strengths of the systems"
    lines = [Line(by=by, of=one) for by, its in part.strengths for one in its]
    columns = (
        *(
            Column("chosen by", "by", key="chosen_by", kind="metric"),
            Column("rank", "of.rank"),
            Column("system", "of.system"),
        ),
        *ci("log strength", "of.log_strength", "log_strength"),
        *(Column("won", "of.won"), Column("comparisons", "of.n"), Column("questions", "of.log_strength.clusters")),
        Column("reason", "of.log_strength.reason"),
    )
    note = (
        "Bradley-Terry model. The difference of two log strengths is the logarithm of the odds that the first is "
        "chosen; their mean is 0. won: a tie is half a win for each. Intervals: percentile bootstrap over questions."
    )
    raters = part.strengths[0][1]
    rows = [lane(one.system, one.log_strength) for one in raters if one.log_strength.value is not None]
    says = "The systems in the order that follows from the choices of the raters, and from those of each metric."
    figures = (forest(rows, "Log strength by the raters' choices", 0.0),) if rows else ()
    return Section(title, says, (Table("strengths", title, columns, lines, note),), figures)


def _same(part: ChoiceLabel, ci: Interval) -> Section:
    says = "How often two metrics, or a metric and a baseline, choose the same answer."
    figure = same_choices(part.same, "Share of pairs with the same choice")
    return Section("Agreement between metrics", says, (same_choices_table(part.same, ci),), (figure,))


def same_choices_table(found: Sequence[Compared], ci: Interval, more: Sequence[Column] = ()) -> Table:
    """How often two metrics make the same choice."""
    columns = (
        *(Column("metric", "first", kind="metric"), Column("other", "second", kind="metric")),
        *(*ci("same choice", "result", "share"), Column("n", "result.n"), *more),
    )
    return Table("same_choice", "How often two metrics make the same choice", columns, found)


def same_choices(found: Sequence[Compared], label: str) -> Figure:
    """The same as a heat map."""
    names = list(dict.fromkeys(name for one in found for name in (one.first, one.second)))
    value = {frozenset((one.first, one.second)): one.result.value for one in found}
    cells = [[1.0 if a == b else value.get(frozenset((a, b))) for b in names] for a in names]
    words = list(metric_titles(names).values())
    return charts.heat_map(words, words, cells, label, 0.0, 1.0, 2)

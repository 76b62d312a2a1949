"""The sections of one label: its grids and figures, for ratings and for choices between two answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from longmark.analysis.grid import Compared, Grid, p_note, pairs_grid
from longmark.analysis.metaeval.ratings import RatedMetric, RatingLabel
from longmark.analysis.metaeval.results import GroupResult
from longmark.report import charts
from longmark.report.document import Section
from longmark.report.figures import Figure
from longmark.report.format import LOWER, counted, metric_titles
from longmark.report.tables import Column, Table
from longmark.scores.answer_parts import plural

METRIC = Column("metric", kind="metric")
_PAIR = (
    Column("first metric", "first", kind="metric"),
    Column("second metric", "second", kind="metric"),
)
_PAIRS_DRAWN = 40
_SCATTERS = 3
_DIAGRAMS = 6
MAPS = 4
RATERS_SHOWN = 51
NOT_EQUAL = "A difference that is not significant does not show that two metrics are equal."


def estimates(*names: str, prefix: str = "", key: str = "") -> tuple[Column, ...]:
    """Columns of estimates. names: `HEAD` or `HEAD=ATTRIBUTE`, the attribute by default the head in small letters."""
    columns = []
    for name in names:
        head, _, path = name.partition("=")
        columns.append(
            Column(
                head,
                f"{prefix}{path or head.lower()}",
                3,
                "estimate",
                key or path.rpartition(".")[2],
            )
        )
    return tuple(columns)


def differences(
    name: str,
    title: str,
    compared: Sequence[Compared],
    note: str,
    alpha: float,
    beside: Sequence[Column] = (),
) -> tuple[Table, Figure]:
    """Pairs of metrics. beside: further columns of what is compared."""
    grid = pairs_grid(name, title, compared, note, _PAIR, alpha)
    drawn = replace(grid, rows=compared[:_PAIRS_DRAWN])
    return replace(grid, beside=(*grid.beside, *beside)).table(), drawn.forest(
        title, reference=0.0, note=p_note
    )


def by_group(
    groups: Sequence[GroupResult], measure: str, columns: Sequence[Column], low: float
) -> Section:
    """A metric's estimates by group, with a heat map of the first from `low` to 1."""
    grouped_by = " and ".join(dict.fromkeys(group.column for group in groups))
    title = f"{measure} by group"
    table = Grid(
        "groups", title, (Column("column"), Column("group"), METRIC), groups, columns
    ).table()
    value = {(group.metric, (group.column, group.group)): group.estimate for group in groups}
    heads = {
        group: (column, group)
        for column, group in dict.fromkeys((group.column, group.group) for group in groups)
    }
    drawn: Grid[str] = Grid(
        "groups",
        title,
        (METRIC,),
        list(dict.fromkeys(group.metric for group in groups)),
        list(map(Column, heads)),
        lambda metric, group: value[metric, heads[group]],
    )
    return Section(
        f"By {grouped_by}",
        f"{measure} in each group.",
        (table,),
        (drawn.heat_map(title, low, 1.0),),
    )


# Ratings -------------------------------------------------------------------------------------------------------------


def rating_sections(part: RatingLabel, alpha: float) -> Iterator[Section]:
    """Correlation, levels, yes or no, classes, differences, groups, prediction-powered means."""
    if part.scale.numeric:
        yield _correlation(part)
    if part.metrics[0].within is not None:
        yield _levels(part)
    if part.metrics[0].auc is not None:
        yield _auc(part, alpha)
        yield _calibration(part)
    if part.scale.classes:
        yield _classes(part)
    if part.differences:
        interval = f"jackknife over {part.clusters}" if part.clustered else "jackknife"
        pearson = any(difference.result.kind != "spearman" for difference in part.differences)
        note = f"Spearman's rho on the same answers; {interval}, Student's t; Holm over all pairs of metrics."
        note += " Pearson for large samples." if pearson else ""
        rhos = [
            Column(f"rho ({name})", f"result.{name}", 3, key=name) for name in ("first", "second")
        ]
        title = "Differences between correlations"
        table, figure = differences("differences", title, part.differences, note, alpha, rhos)
        yield Section("Differences between metrics", NOT_EQUAL, (table,), (figure,))
    if part.groups:
        yield by_group(part.groups, "Spearman's rho", estimates("rho=estimate", key="rho"), -1.0)
    if part.powered:
        yield _powered(part)


def _correlation(part: RatingLabel) -> Section:
    interval = f"jackknife over {part.clusters}" if part.clustered else "delete-one jackknife"
    words = metric_titles(metric.metric for metric in part.metrics)
    grid = Grid(
        "correlation",
        "Correlation with the mean human rating",
        (METRIC, Column("direction")),
        part.metrics,
        estimates("Spearman", "Pearson", "Kendall"),
        label=lambda metric: words[metric.metric],
        note="Above 0: the metric agrees with the raters (reversed where lower is better). Kendall: tau-b. "
        f"Intervals by {interval}, Fisher's scale.",
        unit=plural(part.unit),
    )
    rated = [
        metric
        for metric in part.metrics
        if metric.spearman is not None and metric.spearman.value is not None
    ]
    scatters = [
        charts.scatter(
            metric.points,
            f"{words[metric.metric]} and human ratings",
            f"mean human rating: {part.label}",
            words[metric.metric] + (f" ({LOWER})" if metric.direction == LOWER else ""),
        )
        for metric in sorted(rated, key=_rho, reverse=True)[:_SCATTERS]
        if metric.points
    ]
    drawn = grid.forest(f"Spearman's rho with the mean human rating: {part.label}", "Spearman", 0.0)
    return Section(
        "Correlation with human ratings",
        f"Over all rated {plural(part.unit)}.",
        (grid.table(),),
        (drawn, *scatters),
    )


def _rho(metric: RatedMetric) -> float:
    return (metric.spearman.value if metric.spearman else None) or 0.0


def _levels(part: RatingLabel) -> Section:
    grid = Grid(
        "levels",
        "Agreement within questions and over systems",
        (METRIC,),
        part.metrics,
        estimates(
            "within questions=within",
            "over systems=systems",
            "pairs of answers=pairs",
            "pairs of systems=soft",
        ),
        note="within questions: mean over questions of rho between the systems' answers; Hall's t over questions; "
        "questions with equal scores or equal ratings of all answers are missing. over systems: of system means. "
        "pairs of answers: to a question, in the raters' order or tied as they are, ties of the metric calibrated. "
        "pairs of systems: soft pairwise accuracy.",
        unit="questions",
    )
    says = (
        "A metric that scores easy questions higher correlates over all answers, even if it cannot rank the answers to "
        "one question. Within a question, only the answers differ."
    )
    return Section("Within questions and over systems", says, (grid.table(),))


def _auc(part: RatingLabel, alpha: float) -> Section:
    interval = f"Obuchowski's interval over {part.clusters}"
    test = f"Obuchowski's test over {part.clusters}"
    if not part.clustered:
        interval = "DeLong's interval"
        test = "DeLong's test"
    grid = Grid(
        "auc",
        "Area under the ROC curve",
        (METRIC,),
        part.metrics,
        estimates("AUC"),
        note="The probability that the metric ranks an answer labelled yes above one labelled no; 0.5 is chance. "
        f"{interval} on the logit scale. The label is the majority of the raters.",
        beside=(Column("yes", "auc.yes"), Column("no", "auc.no")),
    )
    tables = [grid.table()]
    figures = [grid.forest(f"Area under the ROC curve for {part.label}", reference=0.5)]
    if part.auc_differences:
        note = f"{test} on the same answers; Holm over all pairs of metrics."
        table, figure = differences(
            "auc_differences", "Differences in AUC", part.auc_differences, note, alpha
        )
        tables.append(table)
        figures.append(figure)
    return Section(
        "Discrimination of yes and no", "Whether a metric ranks yes above no.", tables, figures
    )


def _calibration(part: RatingLabel) -> Section:
    results = [
        (metric.metric, calibration)
        for metric in part.metrics
        if (calibration := metric.calibration) is not None
    ]
    columns: tuple[Column, ...] = (
        METRIC,
        Column("expected calibration error", places=3, key="ece"),
        Column("Brier", places=3),
        *map(Column, ("n", "missing", "reason")),
    )
    lines = [
        (
            metric,
            calibration.error,
            calibration.brier,
            calibration.n,
            calibration.missing,
            calibration.reason,
        )
        for metric, calibration in results
    ]
    note = (
        "Ten bins of equal width; expected calibration error: mean distance between a bin's mean score and its "
        "share of yes, weighted by answers. Brier: mean squared distance of score and label. If lower is better, "
        "the score is 1 - the metric."
    )
    tables = [Table("calibration", "Calibration", columns, lines, note)]
    measured = sorted(
        (result for result in results if result[1].error is not None),
        key=lambda result: result[1].error or 0.0,
    )
    if measured:
        wider = ", wider where answers to one question are dependent" if part.clustered else ""
        bins = Grid(
            "calibration_bins",
            "Share of yes by score",
            (
                Column("metric", lambda row: row[0], kind="metric"),
                *(
                    Column(name, lambda row, at=attribute: getattr(row[1], at), 1, key=attribute)  # type: ignore[misc]
                    for name, attribute in _EDGES
                ),
            ),
            [(metric, bin) for metric, calibration in results for bin in calibration.bins],
            (Column("share of yes", lambda row: row[1].yes, 3, key="share"),),
            note=f"A bin includes its lower edge and excludes its upper edge; the last includes both. Wilson's "
            f"intervals{wider}.",
            beside=(Column("mean score", lambda row: row[1].mean, 3),),
        )
        tables.append(bins.table())
    words = metric_titles(metric.metric for metric in part.metrics)
    diagrams = [
        charts.reliability(
            [
                charts.Bin(b.low, b.high, b.yes.n, b.mean, b.yes.value, b.yes.low, b.yes.high)
                for b in calibration.bins
            ],
            f"{words[metric]}: share of yes against score",
            says=f"Expected calibration error {calibration.error:.2f}, {counted(calibration.n, 'answer')}.",
        )
        for metric, calibration in measured[:_DIAGRAMS]
    ]
    text = (
        "Whether a score can be read as a probability of yes. Read it with the AUC: a constant score can be "
        "calibrated, and a metric that ranks well can be miscalibrated."
    )
    return Section("Calibration", text, tables, diagrams)


_EDGES = (("from", "low"), ("to", "high"))


def _classes(part: RatingLabel) -> Section:
    names = part.scale.names()
    compared = (
        "this class or a higher one above one of a lower"
        if part.scale.number
        else "this class above one of another"
    )
    results = {
        metric.metric: metric.classes for metric in part.metrics if metric.classes is not None
    }
    human = Column("class", lambda row: names[row.name])
    all_classes = Grid(
        "classes",
        "Scores by human class",
        (METRIC, human),
        [class_ for result in results.values() for class_ in result.classes],
        estimates("mean"),
        note="mean: in the metric's own units, interval by Hall's t"
        f"{f' over {part.clusters}' if part.clustered else ' (Wilson, if all scores are at one of two bounds)'}. "
        "error: mean distance from the class's number. AUC: probability that the metric ranks an answer of "
        f"{compared} class.",
        beside=(Column("missing"), Column("error", places=3), Column("AUC", "auc", 3)),
    )
    tables = [all_classes.table()]
    maps = []
    scaled = {metric: result for metric, result in results.items() if result.error is not None}
    if scaled:
        columns: tuple[Column, ...] = (
            METRIC,
            Column("n"),
            Column("mean error", places=3),
            Column("nearest class is right", places=3),
        )
        lines = [
            (metric, result.n, result.error, result.right) for metric, result in scaled.items()
        ]
        tables.append(Table("errors", f"Error over all {plural(part.unit)}", columns, lines))
        of_class = [
            Column(name, lambda row, i=i: row.nearest[i], key=f"nearest_{i}")  # type: ignore[misc]
            for i, name in enumerate(names.values())
        ]
        nearest = [class_ for result in scaled.values() for class_ in result.classes]
        note = "Answers of the class in the row whose score is nearest to the class in the column."
        tables.append(
            Table(
                "confusion",
                "Nearest class by human class",
                (METRIC, human, *of_class),
                nearest,
                note,
            )
        )
    words = metric_titles(results)
    for metric, result in list(scaled.items())[:MAPS]:
        counts = [class_.nearest for class_ in result.classes]
        shares = [[count / sum(row) if sum(row) else None for count in row] for row in counts]
        label = f"{words[metric]}: share of the human class (row) by nearest class (column)"
        right = f"Nearest to the human class in {100 * (result.right or 0.0):.0f} % of {counted(result.n, 'answer')}."
        drawn = charts.heat_map(
            list(names.values()), list(names.values()), shares, label, (0.0, 1.0), 2
        )
        maps.append(replace(drawn, says=right))
    text = "The human class of an answer is the majority of its raters."
    reasons = dict.fromkeys(result.reason for result in results.values() if result.reason)
    if not scaled:
        text += f" No error: {'; '.join(reasons)}."
    return Section("Error by class", text, tables, maps)


def _powered(part: RatingLabel) -> Section:
    clustered = any(estimate.mean.clusters is not None for estimate in part.powered)
    grid = Grid(
        "powered",
        "Prediction-powered mean human rating",
        (METRIC, Column("system")),
        part.powered,
        (
            *estimates("ratings and metric=mean", key="powered"),
            *estimates("ratings only=mean.human", key="human"),
        ),
        note="Prediction-powered inference, tuned weight, Student's t. equivalent ratings: the number of ratings that "
        "alone would give as narrow an interval."
        + (
            " Intervals are over questions where a question has several answers."
            if clustered
            else ""
        ),
        unit="",
        beside=(
            Column("rated", "mean.labelled"),
            Column("unrated", "mean.unlabelled"),
            Column(
                "questions",
                lambda row: row.mean.labelled if row.mean.clusters is None else row.mean.clusters,
            ),
            Column("metric only", "mean.judge", 3),
            Column("equivalent ratings", "mean.worth", 0, key="worth"),
        ),
    )
    text = (
        "The mean human rating of all answers, from few ratings and many scores. Unbiased whatever the metric's bias, "
        "if the rated answers are a random sample."
    )
    return Section("Mean human rating of all answers", text, (grid.table(),))


# Choices -------------------------------------------------------------------------------------------------------------

"""A meta-evaluation as a page: a summary, then for each label what was joined, its results, agreement among raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from longmark.analysis.grid import Grid
from longmark.analysis.metaeval import Metaeval
from longmark.analysis.metaeval.agreement import FEWEST_RATERS, RATER, Ceiling, RaterAgreement
from longmark.analysis.metaeval.choice_sample import BASELINE, ChoiceMetric
from longmark.analysis.metaeval.choice_sections import choice_sections
from longmark.analysis.metaeval.choices import ChoiceLabel
from longmark.analysis.metaeval.label_sections import METRIC, estimates, rating_sections
from longmark.analysis.metaeval.ranking import (
    adjusted_ps,
    below_ceiling,
    beside_baselines,
    best_beside_ceiling,
    ceiling_value,
    ranking,
    ranking_figure,
    ranking_in_words,
    too_few,
)
from longmark.analysis.metaeval.ratings import RatedMetric, RatingLabel
from longmark.report.document import Document, Section, folded_after
from longmark.report.figures import Figure
from longmark.report.format import counted, fixed, listed, metric_titles
from longmark.report.tables import Column, Table
from longmark.scores.answer_parts import CRITERION, plural
from longmark.scores.label_scales import shown_classes
from longmark.stats.agreement import GWET_AC1
from longmark.stats.results import Estimate

_RATERS_SHOWN = 50
_CLASSES = 5  # named in the hint of --order


def document(metaeval: Metaeval) -> Document:
    part = metaeval.labels[0]
    options = metaeval.options
    return Document(
        kind="meta-evaluation",
        title=f"Metrics against human {_given(part)}",
        lede=f"{counted(len(metaeval.metrics), 'metric')}, {counted(len(metaeval.labels), 'label')}, "
        f"{metaeval.joined:,} {_done(part)} {_counted_as(metaeval.joined, part)}; "
        f"scores from {', '.join(metaeval.sources)}; "
        f"human {_given(part)} from {metaeval.human}",
        sections=sections(metaeval),
        notices=metaeval.notices,
        settings={
            "rows": list(metaeval.sources),
            "human": metaeval.human,
            "metrics": dict(metaeval.metrics),
            "groups": list(metaeval.by),
            "order of categories": {
                name: ", ".join(words) for name, words in options.order.items()
            },
            "scores rounded to": options.round,
            "alpha": options.alpha,
            "seed": options.seed,
        },
        signatures=metaeval.signatures,
    )


def sections(metaeval: Metaeval) -> tuple[Section, ...]:
    """A summary, then the sections of each label; with several labels, titles and tables start with the label."""
    alpha = metaeval.options.alpha
    summaries = list[Table]()
    beside_tables = list[Table]()
    summaries_in_words = list[str]()
    figures = list[Figure]()
    label_sections = list[Section]()
    prefixes: list[str] = []
    for part in metaeval.labels:
        own_sections = [_joined(part)]
        if part.join.joined:
            own_sections += (
                rating_sections(part, alpha)
                if isinstance(part, RatingLabel)
                else choice_sections(part, alpha)
            )
        own_sections.append(raters(part.agreement, _what(part)))
        summary = _summary(part, alpha)
        heading = ""
        prefix = ""
        if len(metaeval.labels) > 1:
            heading = f"{part.label}: "
            prefix = _prefix(part.label, prefixes)
            prefixes.append(prefix)
        summaries.append(
            replace(summary, name=f"{prefix}summary", title=f"{heading}{summary.title}")
        )
        if beside := beside_baselines(part, alpha):
            beside_tables.append(
                replace(beside, name=f"{prefix}{beside.name}", title=f"{heading}{beside.title}")
            )
        summaries_in_words.append(f"{heading}{_in_words(part, alpha)}")
        if figure := ranking_figure(part, alpha):
            figures.append(figure)
        for section in own_sections:
            tables = [replace(table, name=f"{prefix}{table.name}") for table in section.tables]
            label_sections.append(
                replace(section, title=f"{heading}{section.title}", tables=tables)
            )
    return folded_after(
        [
            Section(
                "Summary",
                "" if len(summaries_in_words) > 1 else " ".join(summaries_in_words),
                [*summaries, *beside_tables],
                figures,
                brief=len(summaries),
                points=summaries_in_words if len(summaries_in_words) > 1 else (),
            ),
            *label_sections,
        ],
        3,
    )


def _prefix(label: str, taken: Sequence[str]) -> str:
    """A name for a label's files, no two alike."""
    plain = "_".join(
        "".join(c if c.isascii() and c.isalnum() else " " for c in label.casefold()).split()
    )[:40]
    names = (
        f"{plain or 'label'}_",
        *(f"{plain or 'label'}_{number}_" for number in range(2, len(taken) + 3)),
    )
    return next(name for name in names if name not in taken)


# Summary ------------------------------------------------------------------------------------------------------------


def _correlates(
    r: Estimate, adjusted: float | None, alpha: float, name: str, agreement: RaterAgreement
) -> str:
    """Whether the metric correlates, and whether it agrees less than a rater: its interval is below the ceiling's."""
    if r.value is None:
        return f"no correlation: {r.reason}"
    if few := too_few(r, "answer"):
        return few
    if adjusted is None:
        return f"no conclusion: {r.reason}"
    if adjusted > alpha:
        return "no significant correlation"
    return f"correlates {'' if r.value > 0 else 'negatively '}with human ratings{_below(name, agreement)}"


def _below(name: str, agreement: RaterAgreement) -> str:
    """That a metric agrees less than a rater, if its interval is below the ceiling's; both are on the same ratings."""
    return "; below the human ceiling" if below_ceiling(name, agreement) else ""


def _above(metric: ChoiceMetric, alpha: float, agreement: RaterAgreement) -> str:
    """Whether the metric is more often right than each baseline, and whether it agrees less than a rater."""
    if metric.direction == BASELINE:
        return BASELINE
    if metric.accuracy.value is None:
        return f"no accuracy: {metric.accuracy.reason}"
    if few := too_few(metric.accuracy, "pair"):
        return few
    above = (
        metric.beside is not None
        and (metric.beside.value or 0.0) > 0
        and metric.adjusted is not None
    )
    verdict = (
        "above the baselines"
        if above and (metric.adjusted or 0.0) <= alpha
        else "not above the baselines"
    )
    return verdict + _below(metric.metric, agreement)


def _summary(part: RatingLabel | ChoiceLabel, alpha: float) -> Table:
    """A line for each metric: its agreement with people, and what follows from it."""
    note = ""
    conclusions: dict[str, tuple[Estimate, float | None, str]] = {}
    baseline: tuple[Column, ...] = ()
    if isinstance(part, RatingLabel):
        ellipsis = ", …" if len(part.scale.classes) > _CLASSES else ""
        classes = f"{shown_classes(part.scale.classes[:_CLASSES])}{ellipsis}"
        unordered = (
            f"the classes ({classes}) have no order, so there is no AUC either; give it with "
            f"--order {part.label}=LOWEST,…,HIGHEST"
        )
        rhos = [
            metric.spearman or Estimate(None, None, None, metric.scored, reason=unordered)
            for metric in part.metrics
        ]
        adjusted = adjusted_ps(part, alpha)
        for one, rho, p in zip(part.metrics, rhos, adjusted, strict=True):
            conclusions[one.metric] = rho, p, _correlates(rho, p, alpha, one.metric, part.agreement)
        columns = [Column("Spearman", lambda row: conclusions[row.metric][0], 3)]
        columns += estimates("AUC") if any(metric.auc for metric in part.metrics) else ()
    else:
        for metric in part.metrics:
            conclusions[metric.metric] = (
                metric.accuracy,
                metric.adjusted,
                _above(metric, alpha, part.agreement),
            )
        columns = [*estimates("accuracy", "minus baseline=beside")]
        baseline = (Column("baseline", "baseline", spare=1),)
        note = (
            "minus baseline: the accuracy less that of `baseline`, the one that the metric is least above; the baselines "
            "are the rows whose conclusion is `baseline`."
        )
    grid = Grid(
        "summary",
        f"Metrics against human {_given(part)}",
        (
            METRIC,
            Column("direction", lambda row: None if row.direction == BASELINE else row.direction),
        ),
        _highest_first(part, alpha),
        columns,
        note=note,
        unit=plural(_what(part)),
        beside=(
            *baseline,
            Column("p (Holm)", lambda row: conclusions[row.metric][1], kind="p"),
            Column("unscored", lambda row: sum(row.unscored.values()), spare=1),
            Column("conclusion", lambda row: conclusions[row.metric][2]),
        ),
    )
    return grid.table()


def _highest_first(
    part: RatingLabel | ChoiceLabel, alpha: float
) -> list[RatedMetric | ChoiceMetric]:
    """The metrics in the order of the ranking; those that are not in it as they come, at the end."""
    places = {metric.name: place for place, metric in enumerate(ranking(part, alpha))}
    return sorted(part.metrics, key=lambda metric: places.get(metric.metric, len(places)))


def _disagree(rater: Ceiling | None) -> bool:
    """Whether the raters' ratings do not correlate, by the interval of the ceiling."""
    rho = None if rater is None else rater.spearman
    return rho is not None and rho.low is not None and rho.low <= 0


def _in_words(part: RatingLabel | ChoiceLabel, alpha: float) -> str:
    """Which metric agrees best, the number of items, and the human ceiling."""
    rater = next((ceiling for ceiling in part.agreement.ceilings if ceiling.name == RATER), None)
    rater_value = ceiling_value(rater)
    answer = ranking_in_words(part, alpha, comparing=not _disagree(rater))
    if _disagree(rater):
        answer = (
            "The raters are not shown to agree, so these ratings validate no metric: read with the raters some answers "
            f"on which they differ, and sharpen the guidelines. {answer}"
        ).rstrip()
    text = f"{answer} " if answer else ""
    text += f"{part.join.joined:,} {_counted_as(part.join.joined, part)} with human {_given(part)} and rows."
    if isinstance(part, ChoiceLabel) and part.undecided:
        text += f" Excluded: {counted(part.undecided, 'pair')} without a majority."
    if rater is None or rater_value is None or rater_value.value is None:
        reason = part.agreement.reason or (rater_value and rater_value.reason)
        return f"{text} No human ceiling: {reason or f'no {_what(part)} with rows has ratings that can be compared'}."
    measure = "Spearman" if rater.spearman else "share of choices"
    if rater_value.low is None:
        return (
            f"{text} Human ceiling (leave one rater out): {measure} {fixed(rater_value.value, 2)}, no interval: "
            f"{rater_value.reason}."
        )
    interval = (
        f"{fixed(rater_value.value, 2)} [{fixed(rater_value.low, 2)}, {fixed(rater_value.high, 2)}]"
    )
    text += f" Human ceiling (leave one rater out): {measure} {interval}, over {rater.over}."
    if _disagree(rater):
        return text
    text += best_beside_ceiling(part, alpha)
    titles = metric_titles(ceiling.name for ceiling in part.agreement.ceilings)
    above = [
        titles[ceiling.name]
        for ceiling in part.agreement.ceilings
        if ceiling.name != RATER and ceiling.above_a_rater
    ]
    if not above:
        return text
    return (
        f"{text} Above it: {listed(above, 5)}. This does not mean better than a person: the ceiling is that of single "
        f"raters, who are noisy, beside the {'mean' if rater.spearman else 'majority'} of the others."
    )


# Human labels -------------------------------------------------------------------------------------------------------


def _what(part: RatingLabel | ChoiceLabel) -> str:
    """What people labelled."""
    return part.unit if isinstance(part, RatingLabel) else "pair"


def _counted_as(count: int, part: RatingLabel | ChoiceLabel) -> str:
    """`sentence` of one, `sentences` of several."""
    return _what(part) if count == 1 else plural(_what(part))


def _given(part: RatingLabel | ChoiceLabel) -> str:
    """What people gave."""
    return "ratings" if isinstance(part, RatingLabel) else "choices"


def _done(part: RatingLabel | ChoiceLabel) -> str:
    return "rated" if isinstance(part, RatingLabel) else "compared"


def _joined(part: RatingLabel | ChoiceLabel) -> Section:
    """How many items have both labels and scores, and why others have not."""
    join = part.join
    items = plural(_what(part))
    labelled = _done(part).capitalize()
    note = ""
    counts = [
        Column(f"{items} in the human file", "join.in_human", key="in_human"),
        Column("with rows", "join.joined", key="joined"),
        Column("without a majority", "undecided", key="undecided"),
        Column("answers in the rows only", "join.only_in_rows", key="only_in_rows"),
    ]
    if isinstance(part, ChoiceLabel):
        chosen = part.human
        counts += [
            Column(f"choice: {x}", lambda _, x=x: chosen.get(x, 0), key=x)  # type: ignore[misc]
            for x in ("a", "b", "tie")
        ]
        note = "scored and unscored count all pairs with rows; n and missing below only those with a majority."
    columns = (
        Column("metric", kind="metric"),
        Column("scored"),
        Column("unscored", lambda metric: sum(metric.unscored.values())),
        Column("reason", lambda metric: _counts(metric.unscored) or None),
    )
    metrics = [metric for metric in part.metrics if metric.direction != BASELINE]
    tables = [
        Table("counts", items.capitalize(), tuple(counts), [part]),
        Table("join", f"{labelled} {items} with a score of each metric", columns, metrics),
    ]
    if join.unmatched:
        first = Column("first of them", lambda row: ", ".join(row.names), key="first")
        lost = (Column("reason"), Column(items, "count"), first)
        tables.append(Table("unmatched", f"{labelled} {items} without rows", lost, join.unmatched))
    return Section(
        "Joined data",
        f"Which {items} have human {_given(part)} and scores, and why others do not.",
        tables,
        note=note,
    )


def _counts(unscored: Mapping[str, int]) -> str:
    """`12 unparsable, 3 no row`."""
    return ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in unscored.items())


def _rater_on_these(ceiling: Ceiling) -> float | None:
    """What a rater has on the ratings of the line: Spearman's rho, or the share of choices."""
    return ceiling.rater_agrees if ceiling.rater_spearman is None else ceiling.rater_spearman


def _ac1_counts(agreement: RaterAgreement, unit: str) -> str:
    """Which categories and which items Gwet's AC1 counts."""
    ac1 = next(
        (
            coefficient
            for coefficient in agreement.coefficients
            if coefficient.coefficient == GWET_AC1
        ),
        None,
    )
    if ac1 is None:
        return ""
    names = [str(name) for name in ac1.categories]
    ellipsis = ", …" if len(names) > _CLASSES else ""
    counts = f"Gwet's AC1 counts the {counted(len(names), 'category', 'categories')}"
    shares = (
        f" Its chance agreement is from all {agreement.items:,} {plural(unit)}, also those with one rating."
        if agreement.items > agreement.rated_twice
        else ""
    )
    if agreement.declared:
        return f"{counts} of the scale ({shown_classes(names[:_CLASSES])}{ellipsis}).{shares} "
    way = "in a column label_scale" if unit == "pair" else "by --order"
    return (
        f"{counts} that occur ({shown_classes(names[:_CLASSES])}{ellipsis}); if raters could choose others, name all "
        f"{way}.{shares} "
    )


def raters(agreement: RaterAgreement, unit: str) -> Section:
    """Agreement, the human ceiling, and each rater. unit: was rated, `answer` or `pair`."""
    n_raters = len(agreement.by_rater)
    by_rater = Table(
        "raters",
        "Raters",
        (
            Column("rater", "name"),
            Column("ratings"),
            Column("mean", places=3),
            Column("with others"),
            Column("agreement with majority", "agrees", 3, key="agrees"),
        ),
        agreement.by_rater[:_RATERS_SHOWN],
        "agreement with majority: share of a rater's ratings equal to the majority of the others. Ratings without a "
        "majority of the others are excluded."
        + (
            f" The {_RATERS_SHOWN} of {n_raters:,} raters with the most ratings."
            if n_raters > _RATERS_SHOWN
            else ""
        ),
    )
    title = "Agreement among raters"
    if agreement.reason:
        text = f"No agreement: {agreement.reason}. Without a human ceiling, a low correlation can be due to the rater."
        return Section(title, text, (by_rater,))
    items = plural(unit)
    clusters = "clusters" if unit == CRITERION else "questions"
    units = clusters if agreement.clustered else items
    sample = (
        f", a sample of {agreement.sampled:,}" if agreement.sampled < agreement.rated_twice else ""
    )
    coefficients = Grid(
        "agreement",
        "Coefficients of agreement",
        (Column("coefficient", "title"),),
        agreement.coefficients,
        [Column("value", lambda a: a, 3)],
        note=f"Over the {agreement.rated_twice:,} {items} with two or more ratings{sample}. Percentage: share of "
        f"agreeing pairs of raters. The others correct for chance; 1 is perfect agreement. "
        f"{_ac1_counts(agreement, unit)}Intervals resample {units}.",
        unit=items,
    )
    measures = [
        name
        for name in ("Pearson", "Spearman", "agrees")
        if any(getattr(c, name.lower()) for c in agreement.ceilings)
    ]
    ceiling = Grid(
        "ceiling",
        "Human ceiling (leave one rater out)",
        (Column("rater or metric", "name", key="name", kind="metric"),),
        agreement.ceilings,
        estimates(*measures),
        note=f"Each rating is compared with the mean (agrees: the majority) of the other raters on that {unit}, and so "
        "is the metric. Intervals over items and raters are about another rater of the same kind; over items only "
        f"(fewer than {FEWEST_RATERS:g} effective raters, or all agree), about these raters. Items are {units}.",
        unit="",
        beside=(
            Column("ratings"),
            Column(items, "items", key="items"),
            *(
                [Column("a rater on these", _rater_on_these, 3, key="rater")]
                if len({ceiling.ratings for ceiling in agreement.ceilings}) > 1
                else []
            ),
            Column("intervals over", "over", key="over"),
        ),
    )
    text = "How well raters agree with each other, and how well metrics agree with raters."
    note = (
        f"Coefficients and raters: over all {items} with ratings, with or without rows. Ceiling: the line of "
        f"a rater is over {items} with rows, scored or not; a metric's line is over those of them that it scored."
    )
    tables = (coefficients.table(), *([ceiling.table()] if agreement.ceilings else []), by_rater)
    return Section(title, text, tables, note=note)

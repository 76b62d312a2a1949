"""People against people, and people against evaluators: SCORE's tables 5, 11 and 12 and the figures of section 5.2.

    annotators       items that several people labelled: those on which all say the same, percentage of agreeing pairs,
                     Fleiss's kappa
    by row           every person's label of every item against the evaluator's label of that answer, exact match
    scales           Spearman's correlation: of people with each other, of people with an evaluator's relevance
                     (masked), of people with a proxy's context utilization (absolute)
    mismatches       rows that differ from the evaluator: how many of them on items on which people differ too

The paper does not define an evaluator's label of an answer: here it is the majority of its claims' votes that are not
n/a, `no` where they are as many, `n/a` where there is none. Two people of an item have no order, so the correlation of
people with each other takes every pair both ways round.

Answers to one question share it, whoever gave them: intervals count and resample questions (`estimates`; correlations
leave them out in turn). Fleiss's kappa has one, by BCa, from 15 questions on. Simulated (2 or 3 raters, a true kappa of
0.25, 0.64 or 0.9, labels of 60, 30 and 10 %), of nominal 2.5 % its upper end lay below the true kappa in 0 to 34 % of
samples of 5 answers, 2 to 9 % of 12, 1 to 8 % of 15; with labels of 85, 10 and 5 % in 2 to 40 % of 15, 1 to 25 % of 25.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

from longmark.report.summary import BCA, FEWEST_BCA
from longmark.report.words import counted
from longmark.stats.agreement import fleiss_kappa
from longmark.stats.correlation import Correlation, correlation
from longmark.study.score.estimates import LACKS, METHOD, Estimate, Settings, by_question, in_words, of_values
from longmark.study.score.found import Found
from longmark.study.score.jury import agreeing
from longmark.study.score.labels import RELEVANCE, UTILIZATION, Item, Labels
from longmark.study.score.marks import ABSOLUTE, MASKED, SPECIFICITY, Mark
from longmark.study.score.sensitivity import why_not
from longmark.tables import Cell, Column, Range, Table

PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class Kappa:
    """Fleiss's kappa. why: there is none, or no interval, or it rests on fewer items."""

    value: float | None
    interval: Range
    why: str | None

    @property
    def by(self) -> str | None:
        """The interval's method; None where there is no interval."""
        return None if self.interval.low is None else BCA


@dataclass(frozen=True, slots=True)
class OfDimension:
    """People among themselves on one dimension. agree: of the items with several labels, those where all are equal;
    percentage: the mean share of an item's pairs of labels that are equal."""

    dimension: str
    agree: int
    items: int
    percentage: Estimate
    kappa: Kappa


@dataclass(frozen=True, slots=True)
class ByRow:
    """People against one evaluator on one dimension. rows: labels of people that an evaluator's label stands against;
    missing: others. mismatches: rows that differ; contested: those of them on items on which people differ, base: all
    rows on such items, shared: rows on items with several labels, and mismatches among these."""

    dimension: str
    evaluator: str
    agree: int
    rows: int
    missing: int
    agreement: Estimate
    mismatches: int
    contested: int
    base: int
    shared: int


@dataclass(frozen=True, slots=True)
class OfScale:
    """Spearman's correlation on one scale. other: `people`, an evaluator or a proxy; missing: people's labels of
    answers that the other gave no value."""

    scale: str
    other: str
    rho: Correlation
    items: int
    missing: int


def answer_label(votes: Mapping[str, int]) -> str:
    """The label of an answer on a dimension, from how its claims were voted."""
    if not votes.get("yes", 0) and not votes.get("no", 0):
        return "n/a"
    return "yes" if votes.get("yes", 0) > votes.get("no", 0) else "no"


def among_people(labels: Labels, dimensions: Sequence[str], settings: Settings) -> list[OfDimension]:
    """People among themselves, on each dimension that several labelled."""
    found = []
    for dimension in dimensions:
        by_item = labels.marks.get(dimension, {})
        several = {item: list(by.values()) for item, by in by_item.items() if len(by) > 1}
        if not several:
            continue
        questions = [item.question for item in several]
        agree = sum(len(set(its)) == 1 for its in several.values())
        percentage = of_values(list(map(agreeing, several.values())), questions, settings, (0.0, 1.0))
        kappa = _kappa(list(several.values()), questions, settings)
        found.append(OfDimension(dimension, agree, len(several), percentage, kappa))
    return found


def _kappa(items: Sequence[Sequence[str]], questions: Sequence[str], settings: Settings) -> Kappa:
    """Of the items with as many labels as any has."""
    most = max(map(len, items))
    ratings = [[*its, *[None] * (most - len(its))] for its in items]
    made = fleiss_kappa(
        ratings, clusters=questions, level=settings.level, resamples=settings.resamples, seed=settings.seed
    )
    left_out = counted(made.left_out, "answer")
    fewer = f"kappa leaves out {left_out} with fewer than {most} labels" if made.left_out else ""
    asked = made.interval.clusters or 0
    if made.value is None:
        return Kappa(None, Range(None, None), in_words(fewer, f"no kappa: {made.interval.reason}"))
    if asked < FEWEST_BCA:
        why = (
            f"no interval of kappa: it needs {FEWEST_BCA} questions, and there {'is' if asked == 1 else 'are'} {asked}"
        )
        return Kappa(made.value, Range(None, None), in_words(fewer, why))
    reason = made.interval.reason and f"no interval of kappa: {by_question(made.interval.reason)}"
    return Kappa(made.value, Range(made.interval.low, made.interval.high), in_words(fewer, reason))


def by_row(labels: Labels, found: Found, settings: Settings) -> list[ByRow]:
    """People against each evaluator, on each dimension."""
    made = []
    for dimension, evaluator in product(found.weights, found.evaluators):
        by_item = labels.marks.get(dimension)
        automatic = dict(_automatic(found, evaluator, dimension))
        if not by_item or not automatic:
            continue
        rows = [(item, label) for item, by in by_item.items() for label in by.values()]
        known = [(item, label, automatic[item]) for item, label in rows if item in automatic]
        same = [label == auto for _, label, auto in known]
        several = {item: len(set(by.values())) > 1 for item, by in by_item.items() if len(by) > 1}
        shared = [item for (item, *_), equal in zip(known, same, strict=True) if not equal and item in several]
        made.append(
            ByRow(
                dimension,
                evaluator,
                agree=sum(same),
                rows=len(known),
                missing=len(rows) - len(known),
                agreement=of_values(
                    [float(one) for one in same], [item.question for item, *_ in known], settings, (0.0, 1.0)
                ),
                mismatches=len(same) - sum(same),
                contested=sum(several[item] for item in shared),
                base=sum(several.get(item, False) for item, *_ in known),
                shared=len(shared),
            )
        )
    return made


def _automatic(found: Found, evaluator: str, dimension: str) -> Iterator[tuple[Item, str]]:
    """The evaluator's label of each answer; none where its judge gave no reply."""
    for generator in found.generators:
        for mark in found.judged.get((generator, evaluator), {}).get(f"{SPECIFICITY}.{dimension}", []):
            if mark.status in ("ok", "undefined"):
                yield Item(generator, mark.example, mark.question), answer_label(mark.votes)


def on_scales(labels: Labels, found: Found, settings: Settings) -> list[OfScale]:
    """Spearman's correlations on the two scales."""
    made = []
    for scale, metric, others in (
        (RELEVANCE, MASKED, [(name, found.judged) for name in found.evaluators]),
        (UTILIZATION, ABSOLUTE, [(name, found.proxied) for name in found.proxies]),
    ):
        by_item = labels.scores.get(scale)
        if not by_item:
            continue
        pairs = [(item, one, other) for item, by in by_item.items() for one, other in permutations(by.values(), 2)]
        made.append(_spearman(scale, PEOPLE, pairs, 0, settings))
        for name, marks in others:
            values: dict[Item, float | None] = {}
            for generator in found.generators:
                its: Sequence[Mark] = marks.get((generator, name), {}).get(metric, [])
                values |= {Item(generator, mark.example, mark.question): mark.value for mark in its}
            if not values:
                continue
            rows = [
                (item, label, value)
                for item, by in by_item.items()
                for label in by.values()
                if (value := values.get(item)) is not None
            ]
            missing = sum(map(len, by_item.values())) - len(rows)
            made.append(_spearman(scale, name, rows, missing, settings))
    return made


def _spearman(
    scale: str, other: str, rows: Sequence[tuple[Item, float, float]], missing: int, settings: Settings
) -> OfScale:
    x, y = [x for _, x, _ in rows], [y for *_, y in rows]
    questions = [item.question for item, *_ in rows]
    rho = correlation(x, y, "spearman", clusters=questions, level=settings.level)
    return OfScale(scale, other, rho, len({item for item, *_ in rows}), missing)


# Tables -------------------------------------------------------------------------------------------------------------


def table_5(among: Sequence[OfDimension], rows: Sequence[ByRow], evaluators: Sequence[str]) -> Table:
    """Agreement in percent: of annotators, and of annotators with each evaluator."""
    own = {one.dimension: one.percentage.mean for one in among}
    against = {(one.dimension, one.evaluator): one.agreement.mean for one in rows}
    names = list(dict.fromkeys((*own, *(one.dimension for one in rows))))
    columns = (
        Column("Dimension"),
        Column("Annotators", 1, key="annotators"),
        *(Column(f"Annotators and {name}", 1, key=f"annotators_and_{name}") for name in evaluators),
        LACKS,
    )
    cells = []
    for name in names:
        figures = [own.get(name), *(against.get((name, evaluator)) for evaluator in evaluators)]
        unjudged = [one for one, figure in zip(evaluators, figures[1:], strict=True) if figure is None]
        lacks = in_words(
            "no answer was labelled by two people" if figures[0] is None else "",
            *(f"{one} judged no answer that was labelled" for one in unjudged),
        )
        cells.append((name, *map(_percent, figures), lacks))
    return Table("table5", "Agreement in percent (SCORE's table 5)", columns, tuple(cells))


def table_11(among: Sequence[OfDimension], settings: Settings) -> Table:
    """People among themselves."""
    cells = tuple(
        (
            one.dimension,
            one.agree,
            one.items - one.agree,
            _percent(one.percentage.mean),
            Range(_percent(one.percentage.low), _percent(one.percentage.high)),
            one.percentage.by,
            one.kappa.value,
            one.kappa.interval,
            one.kappa.by,
            one.items,
            in_words(one.percentage.lacks, one.kappa.why),
        )
        for one in among
    )
    columns = (
        Column("Dimension"),
        Column("Agree"),
        Column("Disagree"),
        Column("Agree, %", 1, key="percent"),
        Column(settings.interval_name, 1, "range", key="percent_interval"),
        METHOD,
        Column("Fleiss's kappa", 3, key="kappa"),
        Column(settings.interval_name, 3, "range", key="kappa_interval"),
        Column("by", key="kappa_interval_by"),
        Column("Items"),
        LACKS,
    )
    return Table("table11", "Agreement of annotators (SCORE's table 11)", columns, cells)


def table_12(rows: Sequence[ByRow], settings: Settings) -> Table:
    """People against each evaluator, by row."""
    cells = tuple(
        (
            one.dimension,
            one.evaluator,
            one.agree,
            one.rows - one.agree,
            _percent(one.agreement.mean),
            Range(_percent(one.agreement.low), _percent(one.agreement.high)),
            one.agreement.by,
            one.rows,
            one.rows + one.missing,
            _lacks(one),
        )
        for one in rows
    )
    columns = (
        Column("Dimension"),
        Column("Evaluator"),
        Column("Agree"),
        Column("Disagree"),
        Column("Agree, %", 1, key="percent"),
        Column(settings.interval_name, 1, "range", key="interval"),
        METHOD,
        Column("n"),
        Column("of"),
        LACKS,
    )
    return Table("table12", "Annotators and evaluators (SCORE's table 12)", columns, cells)


def _lacks(one: ByRow) -> str | None:
    missing = f"{counted(one.missing, 'label')} of answers that the evaluator did not judge" if one.missing else ""
    return in_words(missing, one.agreement.lacks)


def mismatch_table(rows: Sequence[ByRow]) -> Table:
    """Whether evaluators differ from people where people differ from each other."""
    cells = tuple(
        (
            one.dimension,
            one.evaluator,
            one.mismatches,
            one.shared,
            one.contested,
            one.contested / one.shared if one.shared else None,
            one.base / one.rows if one.rows else None,
            _no_share(one),
        )
        for one in rows
    )
    columns = (
        Column("Dimension"),
        Column("Evaluator"),
        Column("Mismatches"),
        Column("on items with several labels", key="on_shared_items"),
        Column("on items where people differ", key="contested"),
        Column("Share", 3),
        Column("Share of all rows", 3, key="base"),
        LACKS,
    )
    return Table("mismatches", "Mismatches on items where people differ", columns, cells)


def _no_share(one: ByRow) -> str | None:
    if one.shared:
        return None
    return "no share: no mismatch on an item with several labels" if one.rows else "no labelled answer was judged"


def scale_table(scales: Sequence[OfScale], settings: Settings) -> Table:
    """Spearman's correlations of section 5.2."""
    cells: list[tuple[Cell, ...]] = [
        (one.scale, one.other, one.rho.value, Range(one.rho.low, one.rho.high), one.rho.n, one.items, _no_rho(one))
        for one in scales
    ]
    columns = (
        Column("Scale"),
        Column("People and", key="other"),
        Column("Spearman rho", 3, key="spearman"),
        Column(settings.interval_name, 3, "range", key="interval"),
        Column("Pairs"),
        Column("Items"),
        LACKS,
    )
    return Table("scales", "Rank correlation on the scales", columns, tuple(cells))


def _no_rho(one: OfScale) -> str | None:
    missing = f"{counted(one.missing, 'label')} of answers without a value" if one.missing else ""
    return in_words(missing, by_question(why_not(one.rho)))


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value

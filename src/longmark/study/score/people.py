"""People against people, and people against evaluators: SCORE's tables 5, 11 and 12 and the figures of section 5.2.

    annotators       items that several people labelled: those on which all say the same, percentage of agreeing pairs,
                     Fleiss's kappa
    by row           every person's label of every item against the evaluator's label of that answer, exact match
    scales           Spearman's correlation: of people with each other, of people with an evaluator's relevance
                     (masked), of people with a proxy's context utilization (absolute)
    mismatches       rows that differ from the evaluator: how many of them on items on which people differ too

The paper does not define an evaluator's label of an answer: here it is the majority of its claims' votes that are not
n/a, `no` where they are as many, `n/a` where there is none. Two people of an item have no order, so the correlation of
people with each other takes every pair both ways round. Intervals resample items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from scipy import stats as scipy_stats

from longmark.stats.agreement import Agreement, fleiss_kappa, percent_agreement
from longmark.stats.bootstrap import bootstrap
from longmark.stats.results import Interval
from longmark.stats.samples import Floats
from longmark.study.score.estimates import LACKS, METHOD, Estimate, Settings, in_words, of_values
from longmark.study.score.found import Found
from longmark.study.score.labels import RELEVANCE, UTILIZATION, Item, Labels
from longmark.study.score.marks import ABSOLUTE, MASKED, SPECIFICITY, Mark
from longmark.tables import Cell, Column, Range, Table

PEOPLE = "people"
_SPEARMAN_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class OfDimension:
    """People among themselves on one dimension. agree: of the items with several labels, those where all are equal."""

    dimension: str
    agree: int
    items: int
    percentage: Agreement
    kappa: Agreement


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
    """Spearman's correlation on one scale. other: `people`, an evaluator or a proxy."""

    scale: str
    other: str
    rho: Interval
    items: int


def answer_label(votes: Mapping[str, int]) -> str:
    """The label of an answer on a dimension, from how its claims were voted."""
    if not votes.get("yes", 0) and not votes.get("no", 0):
        return "n/a"
    return "yes" if votes.get("yes", 0) > votes.get("no", 0) else "no"


def among_people(labels: Labels, dimensions: Sequence[str], settings: Settings) -> list[OfDimension]:
    """People among themselves, on each dimension that several labelled."""
    found = []
    for dimension in dimensions:
        several = [list(by.values()) for by in labels.marks.get(dimension, {}).values() if len(by) > 1]
        if not several:
            continue
        most = max(map(len, several))
        ratings = [[*its, *[None] * (most - len(its))] for its in several]
        agree = sum(len(set(its)) == 1 for its in several)
        how = {"level": settings.level, "seed": settings.seed}
        percentage = percent_agreement(ratings, **how)  # type: ignore[arg-type]
        kappa = fleiss_kappa(ratings, **how)  # type: ignore[arg-type]
        found.append(OfDimension(dimension, agree, len(several), percentage, kappa))
    return found


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
                    [float(one) for one in same], [_name(item) for item, *_ in known], settings, (0.0, 1.0)
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
                yield Item(generator, mark.example), answer_label(mark.votes)


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
        made.append(_spearman(scale, PEOPLE, pairs, settings))
        for name, marks in others:
            values: dict[Item, float | None] = {}
            for generator in found.generators:
                its: Sequence[Mark] = marks.get((generator, name), {}).get(metric, [])
                values |= {Item(generator, mark.example): mark.value for mark in its}
            if not values:
                continue
            rows = [
                (item, label, value)
                for item, by in by_item.items()
                for label in by.values()
                if (value := values.get(item)) is not None
            ]
            made.append(_spearman(scale, name, rows, settings))
    return made


def _spearman(scale: str, other: str, rows: Sequence[tuple[Item, float, float]], settings: Settings) -> OfScale:
    clusters = [_name(item) for item, *_ in rows]
    rho = bootstrap(
        [[x for _, x, _ in rows], [y for *_, y in rows]],
        _rho,
        clusters=clusters,
        level=settings.level,
        resamples=min(settings.resamples, _SPEARMAN_RESAMPLES),
        seed=settings.seed,
    )
    return OfScale(scale, other, rho, len(set(clusters)))


def _rho(x: Floats, y: Floats) -> Floats:
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.asarray(np.nan)
    return np.asarray(np.corrcoef(scipy_stats.rankdata(x), scipy_stats.rankdata(y))[0, 1])


def _name(item: Item) -> str:
    return f"{item.generator}\0{item.example}"


# Tables -------------------------------------------------------------------------------------------------------------


def table_5(among: Sequence[OfDimension], rows: Sequence[ByRow], evaluators: Sequence[str]) -> Table:
    """Agreement in percent: of annotators, and of annotators with each evaluator."""
    own = {one.dimension: one.percentage.value for one in among}
    against = {(one.dimension, one.evaluator): one.agreement.mean for one in rows}
    names = list(dict.fromkeys((*own, *(one.dimension for one in rows))))
    columns = (
        Column("Dimension"),
        Column("Annotators", 1, key="annotators"),
        *(Column(f"Annotators and {name}", 1, key=f"annotators_and_{name}") for name in evaluators),
    )
    cells = tuple(
        (name, _percent(own.get(name)), *(_percent(against.get((name, e))) for e in evaluators)) for name in names
    )
    return Table("table5", "Table 5: agreement in percent", columns, cells)


def table_11(among: Sequence[OfDimension], settings: Settings) -> Table:
    """People among themselves."""
    cells = tuple(
        (
            one.dimension,
            one.agree,
            one.items - one.agree,
            _percent(one.percentage.value),
            Range(_percent(one.percentage.interval.low), _percent(one.percentage.interval.high)),
            one.kappa.value,
            Range(one.kappa.interval.low, one.kappa.interval.high),
            one.items,
        )
        for one in among
    )
    columns = (
        Column("Dimension"),
        Column("Agree"),
        Column("Disagree"),
        Column("Agree, %", 1, key="percent"),
        Column(settings.interval_name, 1, "range", key="percent_interval"),
        Column("Fleiss's kappa", 3, key="kappa"),
        Column(settings.interval_name, 3, "range", key="kappa_interval"),
        Column("Items"),
    )
    return Table("table11", "Table 11: agreement of annotators", columns, cells)


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
    return Table("table12", "Table 12: annotators and evaluators", columns, cells)


def _lacks(one: ByRow) -> str | None:
    missing = f"{one.missing:,} of answers that the evaluator did not judge" if one.missing else ""
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
    )
    return Table("mismatches", "Mismatches on items where people differ", columns, cells)


def scale_table(scales: Sequence[OfScale], settings: Settings) -> Table:
    """Spearman's correlations of section 5.2."""
    cells: list[tuple[Cell, ...]] = [
        (one.scale, one.other, one.rho.estimate, Range(one.rho.low, one.rho.high), one.rho.n, one.items)
        for one in scales
    ]
    columns = (
        Column("Scale"),
        Column("People and", key="other"),
        Column("Spearman rho", 3, key="spearman"),
        Column(settings.interval_name, 3, "range", key="interval"),
        Column("Pairs"),
        Column("Items"),
    )
    return Table("scales", "Rank correlation on the scales", columns, tuple(cells))


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value

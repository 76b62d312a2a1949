"""People against people, and people against evaluators: SCORE's tables 5, 11 and 12 and the figures of section 5.2.

    annotators       items that several people labelled: those on which all agree, percentage of agreeing pairs,
                     Fleiss's kappa
    by label         every person's label of every item against the evaluator's label of that answer, exact match
    scales           Spearman's correlation: of people with each other, of people with an evaluator's relevance
                     (masked), of people with a proxy's context utilization (absolute)
    mismatches       labels that differ from the evaluator's: how many of them on items on which people differ too

The paper does not define an evaluator's label of an answer: here it is the majority of its claims' votes that are not
n/a, `no` where they are as many, `n/a` where there is none. Two people of an item have no order, so the correlation of
people with each other takes every pair in both orders.

Answers to one question share it, whoever gave them: intervals count and resample questions (`results`; correlations
leave them out in turn). Fleiss's kappa has one, by BCa, from 15 questions on. Simulated (2 or 3 raters, a true kappa of
0.25, 0.64 or 0.9, labels of 60, 30 and 10 %), of nominal 2.5 % its upper end lay below the true kappa in 0 to 34 % of
samples of 5 answers, 2 to 9 % of 12, 1 to 8 % of 15; with labels of 85, 10 and 5 % in 2 to 40 % of 15, 1 to 25 % of 25.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import permutations, product
from typing import Any

from longmark.analysis.studies.score.labels import RELEVANCE, UTILIZATION, Item, Labels
from longmark.analysis.studies.score.results import (
    ABSOLUTE,
    MASKED,
    SHARE,
    SPECIFICITY,
    Intervals,
    Mean,
    Results,
    Scores,
    in_words,
    mean_of,
)
from longmark.analysis.studies.score.tables import agreeing, mean_columns
from longmark.analysis.studies.score.utilization import correlated, why_not
from longmark.report.format import counted
from longmark.report.tables import Column, Range, Table
from longmark.stats.agreement import fleiss_kappa
from longmark.stats.bootstrap import BCA, FEWEST_BCA
from longmark.stats.correlation import correlation
from longmark.stats.results import Estimate

PEOPLE = "people"


@dataclass(frozen=True, slots=True)
class AmongPeople:
    """People among themselves on one dimension. agree: of the items with several labels, those where all are equal;
    mean: the share of an item's pairs of labels that are equal; no_kappa: why Fleiss's kappa, or its interval, is
    missing or rests on fewer items."""

    dimension: str
    agree: int
    items: int
    mean: Mean
    kappa: float | None
    kappa_interval: Range
    no_kappa: str | None

    @property
    def missing(self) -> str | None:
        return in_words(self.mean.missing, self.no_kappa)


@dataclass(frozen=True, slots=True)
class ByLabel:
    """People against one evaluator on one dimension. labels: those of people that can be compared with an evaluator's;
    unjudged: others; mean: the share that agrees. mismatches: labels that differ; shared: those of them on items with
    several labels, contested: on items on which people differ; base: all labels on such items."""

    dimension: str
    evaluator: str
    mean: Mean
    labels: int
    unjudged: int
    agree: int
    mismatches: int
    shared: int
    contested: int
    base: int

    @property
    def missing(self) -> str | None:
        unjudged = f"{counted(self.unjudged, 'label')} of answers that the evaluator did not judge"
        return in_words(unjudged if self.unjudged else "", self.mean.missing)

    @property
    def no_share(self) -> str | None:
        """Why there is no share of contested mismatches."""
        if self.shared:
            return None
        return (
            "no share: no mismatch on an item with several labels" if self.labels else "no labelled answer was judged"
        )


@dataclass(frozen=True, slots=True)
class OnScale:
    """Spearman's correlation on one scale. other: `people`, an evaluator or a proxy; unscored: people's labels of
    answers that the other did not score."""

    scale: str
    other: str
    rho: Estimate
    items: int
    unscored: int

    @property
    def missing(self) -> str | None:
        unscored = f"{counted(self.unscored, 'label')} of answers without a score" if self.unscored else ""
        return in_words(unscored, by_question(why_not(self.rho)))


def by_question(reason: str) -> str:
    """A reason of `stats` on the page of a study, whose clusters are questions and which has no other method."""
    plain = reason.replace("clusters", "questions").replace("row or cluster", "question").replace("cluster", "question")
    return plain.removesuffix("; method='percentile' gives an interval")


def answer_label(votes: Mapping[str, int]) -> str:
    """The label of an answer on a dimension, from how its claims were voted."""
    if not votes.get("yes", 0) and not votes.get("no", 0):
        return "n/a"
    return "yes" if votes.get("yes", 0) > votes.get("no", 0) else "no"


def among_people(labels: Labels, dimensions: Sequence[str], intervals: Intervals) -> list[AmongPeople]:
    """People among themselves, on each dimension that several labelled."""
    found = []
    for dimension in dimensions:
        by_item = labels.categories.get(dimension, {})
        several = {item: list(by_rater.values()) for item, by_rater in by_item.items() if len(by_rater) > 1}
        if several:
            given, questions = list(several.values()), [item.question for item in several]
            agree = sum(len(set(one)) == 1 for one in given)
            mean = mean_of([agreeing(one) for one in given], questions, intervals, SHARE)
            found.append(AmongPeople(dimension, agree, len(given), mean, *_kappa(given, questions, intervals)))
    return found


def _kappa(
    items: Sequence[Sequence[str]], questions: Sequence[str], intervals: Intervals
) -> tuple[float | None, Range, str | None]:
    """Fleiss's kappa of the items with as many labels as any has; its interval; what is missing."""
    most = max(map(len, items))
    how: dict[str, Any] = asdict(intervals)
    made = fleiss_kappa([[*given, *[None] * (most - len(given))] for given in items], clusters=questions, **how)
    fewer = f"kappa leaves out {counted(made.missing, 'answer')} with fewer than {most} labels" if made.missing else ""
    count = made.clusters or 0
    none = Range(None, None)
    if made.value is None:
        return None, none, in_words(fewer, f"no kappa: {made.reason}")
    if count < FEWEST_BCA:
        few = f"it needs {FEWEST_BCA} questions, and there {'is' if count == 1 else 'are'} {count}"
        return made.value, none, in_words(fewer, f"no interval of kappa: {few}")
    reason = made.reason and f"no interval of kappa: {by_question(made.reason)}"
    return made.value, Range(made.low, made.high), in_words(fewer, reason)


def by_label(labels: Labels, results: Results) -> list[ByLabel]:
    """People against each evaluator, on each dimension."""
    made = []
    for dimension, evaluator in product(results.weights, results.evaluators):
        by_item = labels.categories.get(dimension)
        automatic = _automatic(results, evaluator, dimension)
        if not by_item or not automatic:
            continue
        given = [(item, label) for item, by_rater in by_item.items() for label in by_rater.values()]
        known = [(item, label == automatic[item]) for item, label in given if item in automatic]
        agree = sum(same for _, same in known)
        differ = {item: len(set(by_rater.values())) > 1 for item, by_rater in by_item.items() if len(by_rater) > 1}
        shared = [differ[item] for item, same in known if not same and item in differ]
        questions = [item.question for item, _ in known]
        mean = mean_of([float(same) for _, same in known], questions, results.intervals, SHARE)
        base = sum(differ.get(item, False) for item, _ in known)
        counts = (len(known), len(given) - len(known), agree, len(known) - agree, len(shared), sum(shared), base)
        made.append(ByLabel(dimension, evaluator, mean, *counts))
    return made


def _automatic(results: Results, evaluator: str, dimension: str) -> dict[Item, str]:
    """The evaluator's label of each answer; none where its judge gave no reply."""
    return {
        Item(generator, one.example, one.question): answer_label(one.votes)
        for generator in results.generators
        for one in results.judged.get((generator, evaluator), {}).get(f"{SPECIFICITY}.{dimension}", [])
        if one.status in ("ok", "undefined")
    }


def on_scales(labels: Labels, results: Results) -> list[OnScale]:
    """Spearman's correlations on the two scales."""
    made = []
    for scale, metric, names, runs in (
        (RELEVANCE, MASKED, results.evaluators, results.judged),
        (UTILIZATION, ABSOLUTE, results.proxies, results.proxied),
    ):
        by_item = labels.ratings.get(scale)
        if not by_item:
            continue
        given = [(item, label) for item, by_rater in by_item.items() for label in by_rater.values()]
        pairs = [(item, *pair) for item, by_rater in by_item.items() for pair in permutations(by_rater.values(), 2)]
        made.append(_on_scale(scale, PEOPLE, pairs, 0, results.intervals))
        for name in names:
            scores = _scores_by_item(results.generators, name, runs, metric)
            if scores:
                rows = [(item, label, score) for item, label in given if (score := scores.get(item)) is not None]
                made.append(_on_scale(scale, name, rows, len(given) - len(rows), results.intervals))
    return made


def _scores_by_item(
    generators: Sequence[str], name: str, runs: Mapping[tuple[str, str], Scores], metric: str
) -> dict[Item, float | None]:
    return {
        Item(generator, one.example, one.question): one.score
        for generator in generators
        for one in runs.get((generator, name), {}).get(metric, [])
    }


def _on_scale(
    scale: str, other: str, rows: Sequence[tuple[Item, float, float]], unscored: int, intervals: Intervals
) -> OnScale:
    x, y, questions = [x for _, x, _ in rows], [y for *_, y in rows], [item.question for item, *_ in rows]
    rho = correlation(x, y, "spearman", clusters=questions, level=intervals.level)
    return OnScale(scale, other, rho, len({item for item, *_ in rows}), unscored)


# Tables -------------------------------------------------------------------------------------------------------------


def tables(results: Results) -> list[Table]:
    """Tables 5, 11 and 12."""
    assert results.labels is not None
    among = among_people(results.labels, tuple(results.weights), results.intervals)
    rows = by_label(results.labels, results)
    return [table_5(among, rows, results.evaluators), table_11(among, results), table_12(rows, results)]


def table_5(among: Sequence[AmongPeople], rows: Sequence[ByLabel], every: Sequence[str]) -> Table:
    """Agreement in percent: of annotators, and of annotators with each evaluator that judged a labelled answer."""
    own = {one.dimension: _percent(one.mean.value) for one in among}
    against = {(one.dimension, one.evaluator): _percent(one.mean.value) for one in rows}
    evaluators = [name for name in every if any(one.evaluator == name for one in rows)]

    def agreed(evaluator: str, dimension: str) -> float | None:
        return against.get((dimension, evaluator))

    def missing(dimension: str) -> str | None:
        unjudged = [name for name in evaluators if agreed(name, dimension) is None]
        alone = "no answer was labelled by two people" if own.get(dimension) is None else ""
        return in_words(alone, *(f"{name} judged no answer that was labelled" for name in unjudged))

    columns = (
        Column("Dimension", str),
        Column("Annotators", own.get, 1),
        *(Column(f"Annotators and {e}", partial(agreed, e), 1, key=f"annotators_and_{e}") for e in evaluators),
        Column("Missing", missing),
    )
    names = list(dict.fromkeys((*own, *(one.dimension for one in rows))))
    return Table("table5", "Agreement in percent (SCORE's table 5)", columns, names)


def table_11(among: Sequence[AmongPeople], results: Results) -> Table:
    """People among themselves."""
    columns = (
        Column("Dimension"),
        Column("Agree"),
        Column("Disagree", lambda row: row.items - row.agree),
        *mean_columns(results, "Agree, %", 1, "percent", "percent_interval", 100),
        Column("Fleiss's kappa", "kappa", 3, key="kappa"),
        Column(results.intervals.name, "kappa_interval", 3, "range", "kappa_interval"),
        Column("CI method", _kappa_method, None, "method", "kappa_interval_method"),
        Column("Items"),
        Column("Missing"),
    )
    return Table("table11", "Agreement of annotators (SCORE's table 11)", columns, among)


def _kappa_method(row: AmongPeople) -> str | None:
    return None if row.kappa_interval.low is None else BCA


def table_12(rows: Sequence[ByLabel], results: Results) -> Table:
    """People against each evaluator, by label."""
    columns = (
        Column("Dimension"),
        Column("Evaluator"),
        Column("Agree"),
        Column("Disagree", "mismatches"),
        *mean_columns(results, "Agree, %", 1, "percent", scale=100),
        Column("Labels compared", "labels", key="compared"),
        Column("Total", lambda row: row.labels + row.unjudged),
        Column("Missing"),
    )
    return Table("table12", "Annotators and evaluators (SCORE's table 12)", columns, rows)


def mismatch_table(rows: Sequence[ByLabel]) -> Table:
    """Whether evaluators differ from people where people differ from each other."""
    columns = (
        Column("Dimension"),
        Column("Evaluator"),
        Column("Mismatches"),
        Column("On items with several labels", "shared", key="on_shared_items"),
        Column("On items where people differ", "contested", key="contested"),
        Column("Share", lambda row: row.contested / row.shared if row.shared else None, 3),
        Column("Share of all labels", lambda row: row.base / row.labels if row.labels else None, 3, key="base"),
        Column("Missing", "no_share"),
    )
    return Table("mismatches", "Mismatches on items where people differ", columns, rows)


def scale_table(rows: Sequence[OnScale], results: Results) -> Table:
    """Spearman's correlations of section 5.2."""
    columns = (
        Column("Scale"),
        Column("People and", "other", key="other"),
        *correlated("Spearman rho", "spearman", lambda row: row.rho, results, key="interval"),
        Column("Pairs", "rho.n"),
        Column("Items"),
        Column("Missing"),
    )
    return Table("scales", "Rank correlation on the scales", columns, rows)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share

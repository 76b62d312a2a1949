"""Human labels of answers: SCORE's tables 5, 11 and 12 and the tables of section 5.2.

    among       items that several raters labelled: those on which all agree, percentage of agreeing pairs, kappa
    by label    every person's label of every item against the evaluator's label of that answer, exact match
    mismatches  labels that differ from the evaluator's: how many of them on items on which raters differ too
    scales      Spearman's correlation: of raters with each other, of raters with an evaluator's relevance (masked), of
                raters with a proxy's context utilization (absolute)

The file has a line for each item, rater and dimension (columns: see docs/score-study.md).

The paper does not define an evaluator's label of an answer: here it is the majority of its claims' votes that are not
n/a, `no` for a tie, `n/a` if there is none. Two raters of an item have no order, so the correlation of raters with each
other takes every pair in both orders.

Answers to one question share it, whoever gave them: intervals count and resample questions (`results`; correlations
leave them out in turn). Fleiss's kappa has one, by BCa, from 15 questions on: below, its upper end lay below the true
kappa in up to 34 % of simulated samples of 5 answers, and 9 % of 12, where 2.5 % is nominal (docs/score-study.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import permutations, product
from typing import Any

from longmark.analysis.metaeval.agreement import agreeing, padded
from longmark.contrib.papers.score.labels import (
    RELEVANCE,
    SCALES,
    UTILIZATION,
    DimensionLabels,
    GeneratedAnswer,
)
from longmark.contrib.papers.score.results import (
    ABSOLUTE,
    MASKED,
    SHARE,
    SPECIFICITY,
    AnswerScore,
    Intervals,
    Mean,
    ScoreResults,
    Scores,
    in_words,
    mean_of,
)
from longmark.contrib.papers.score.utilization import why_not
from longmark.records import Row
from longmark.records.evidence import DimensionScore, Labelled, RaterLabels, VoteLabel
from longmark.records.metric_name import base_of
from longmark.report.format import counted
from longmark.report.tables import Column, Table
from longmark.stats.agreement import fleiss_kappa
from longmark.stats.bootstrap import FEWEST_BCA
from longmark.stats.correlation import correlation
from longmark.stats.results import Estimate

PEOPLE = "raters"
_ON_SCALE = {MASKED: RELEVANCE, ABSOLUTE: UTILIZATION}


# Agreement ----------------------------------------------------------------------------------------------------------


def answer_label(votes: Mapping[VoteLabel, int]) -> VoteLabel:
    """The label of an answer on a dimension, from the votes on its claims."""
    if not votes.get("yes", 0) and not votes.get("no", 0):
        return "n/a"
    return "yes" if votes.get("yes", 0) > votes.get("no", 0) else "no"


@dataclass(frozen=True, slots=True)
class Among:
    """Raters among themselves on a dimension that several labelled. agree: items on which all labels are equal; share:
    of an item's pairs of labels, those that are equal; kappa: Fleiss's."""

    agree: int
    disagree: int
    share: Mean
    kappa: Estimate


def among(
    labels: DimensionLabels, dimensions: Iterable[str], intervals: Intervals
) -> dict[str, Among]:
    """Dimension -> raters among themselves."""
    among_people = {}
    for dimension in dimensions:
        by_item = labels.by_dimension.get(dimension, {})
        several = {
            item: list(by_rater.values()) for item, by_rater in by_item.items() if len(by_rater) > 1
        }
        if several:
            item_labels = list(several.values())
            questions = [item.question for item in several]
            agree = sum(len(set(labels_of_item)) == 1 for labels_of_item in item_labels)
            mean = mean_of(
                [agreeing(labels_of_item) for labels_of_item in item_labels],
                questions,
                intervals,
                SHARE,
            )
            among_people[dimension] = Among(
                agree, len(item_labels) - agree, mean, _kappa(item_labels, questions, intervals)
            )
    return among_people


def _kappa(
    items: Sequence[Sequence[str]], questions: Sequence[str], intervals: Intervals
) -> Estimate:
    """Fleiss's kappa of the items with as many labels as any has; its reason says what is missing."""
    interval_options: dict[str, Any] = asdict(intervals)
    kappa = fleiss_kappa(padded(items), clusters=questions, **interval_options)
    most_labels = max(map(len, items))
    count = kappa.clusters or 0
    fewer = (
        f"kappa excludes {counted(kappa.missing, 'answer')} with fewer than {most_labels} labels"
        if kappa.missing
        else ""
    )
    if kappa.value is None:
        return replace(kappa, reason=in_words(fewer, f"no kappa: {kappa.reason}"))
    reason = by_question(kappa.reason or "")
    if count < FEWEST_BCA:
        kappa = replace(kappa, low=None, high=None)
        reason = (
            f"it needs {FEWEST_BCA} questions, and there {'is' if count == 1 else 'are'} {count}"
        )
    return replace(kappa, reason=in_words(fewer, reason and f"no interval of kappa: {reason}"))


def by_question(reason: str) -> str:
    """A reason of `stats` for a study, whose clusters are questions."""
    return (
        reason.replace("clusters", "questions")
        .replace("row or cluster", "question")
        .replace("cluster", "question")
    )


@dataclass(frozen=True, slots=True)
class AgainstJudge:
    """Raters against an evaluator on a dimension. share: of the labels that agree (missing: those of answers that the
    evaluator did not judge); mismatches: labels that differ; shared: those of them on items with several labels,
    contested: on items on which raters differ; base: all labels on such items."""

    share: Mean
    mismatches: int
    shared: int
    contested: int
    base: int

    @property
    def agree(self) -> int:
        return self.share.n - self.mismatches


def by_label(labels: DimensionLabels, results: ScoreResults) -> dict[tuple[str, str], AgainstJudge]:
    """Dimension and evaluator -> raters against it."""
    against_judges = {}
    for dimension, evaluator in product(results.weights, results.evaluators):
        people_labels = labels.given(dimension)
        judged = _by_item(results, results.judged, evaluator, f"{SPECIFICITY}.{dimension}")
        judge_labels = {
            item: answer_label(answer.votes)
            for item, answer in judged.items()
            if answer.votes is not None
            and answer.row.status in ("ok", "undefined")  # else its judge gave no reply
        }
        if not people_labels or not judge_labels:
            continue
        compared = [
            (item, label == judge_labels[item])
            for item, label in people_labels
            if item in judge_labels
        ]
        every = labels.by_dimension[dimension].items()
        differ = {
            item: len(set(by_rater.values())) > 1 for item, by_rater in every if len(by_rater) > 1
        }
        shared = [differ[item] for item, is_same in compared if not is_same and item in differ]
        questions = [item.question for item, _ in compared]
        mean = mean_of(
            [float(is_same) for _, is_same in compared], questions, results.intervals, SHARE
        )
        unjudged = len(people_labels) - len(compared)
        why = (
            f"{counted(unjudged, 'label')} of answers that the evaluator did not judge"
            if unjudged
            else ""
        )
        against_judges[dimension, evaluator] = AgainstJudge(
            replace(mean, missing=unjudged, reason=in_words(why, mean.reason if compared else "")),
            mismatches=sum(not is_same for _, is_same in compared),
            shared=len(shared),
            contested=sum(shared),
            base=sum(differ.get(item, False) for item, _ in compared),
        )
    return against_judges


def _by_item(
    results: ScoreResults, runs: Mapping[tuple[str, str], Scores], name: str, metric: str
) -> dict[GeneratedAnswer, AnswerScore]:
    """The rows of an evaluator or a proxy, by answer."""
    return {
        GeneratedAnswer(generator, answer.example, answer.question): answer
        for generator in results.generators
        for answer in runs.get((generator, name), {}).get(metric, [])
    }


def on_scales(labels: DimensionLabels, results: ScoreResults) -> dict[tuple[str, str], Estimate]:
    """Scale and `raters`, an evaluator or a proxy -> Spearman's correlation of raters' ratings with its."""
    correlations = {}
    of_scale = (
        (RELEVANCE, MASKED, results.evaluators, results.judged),
        (UTILIZATION, ABSOLUTE, results.proxies, results.proxied),
    )
    for scale, metric, names, runs in of_scale:
        if ratings := labels.given(scale):
            items = labels.by_dimension[scale].items()
            pairs = [
                (item, *pair)
                for item, by_rater in items
                for pair in permutations(by_rater.values(), 2)
            ]
            correlations[scale, PEOPLE] = _rho(pairs, 0, results.intervals)
            for name in names:
                if scored := _by_item(results, runs, name, metric):
                    rated_and_scored = [
                        (item, label, scored[item].score)
                        for item, label in ratings
                        if item in scored
                    ]
                    rows = [
                        (item, label, score)
                        for item, label, score in rated_and_scored
                        if score is not None
                    ]
                    correlations[scale, name] = _rho(
                        rows, len(ratings) - len(rows), results.intervals
                    )
    return correlations


def _rho(
    rows: Sequence[tuple[GeneratedAnswer, float, float]], unscored: int, intervals: Intervals
) -> Estimate:
    x = [x for _, x, _ in rows]
    y = [y for *_, y in rows]
    questions = [item.question for item, *_ in rows]
    rho = correlation(x, y, "spearman", clusters=questions, level=intervals.level)
    why = f"{counted(unscored, 'label')} of answers without a score" if unscored else ""
    return replace(rho, missing=unscored, reason=in_words(why, by_question(why_not(rho))))


def beside(labels: DimensionLabels, generator: str, row: Row) -> Row:
    """The row with human labels of its answer and dimension in its evidence, beside the evaluator's label of it."""
    dimension = _ON_SCALE.get(
        base_of(row.metric), base_of(row.metric).removeprefix(f"{SPECIFICITY}.")
    )
    item = GeneratedAnswer(generator, row.example_id, row.question_id)
    raters_labels = labels.by_dimension.get(dimension, {}).get(item)
    if raters_labels is None:
        return row
    judged = None if dimension in SCALES else DimensionScore.of(row.evidence)
    evaluator = {"evaluator": answer_label(judged.votes)} if judged else {}
    added = Labelled(
        people=RaterLabels(dimension=dimension, labels=dict(raters_labels), **evaluator)
    )
    return replace(row, evidence={**row.evidence, **added.evidence()})


# Tables -------------------------------------------------------------------------------------------------------------


def table_5(
    among_people: Mapping[str, Among],
    judged: Mapping[tuple[str, str], AgainstJudge],
    every: Sequence[str],
) -> Table:
    """Agreement in percent: of annotators, and of annotators with each evaluator that judged a labelled answer."""
    evaluators = [name for name in every if any(judge == name for _, judge in judged)]
    shares = {(name, PEOPLE): agreement.share for name, agreement in among_people.items()} | {
        key: comparison.share for key, comparison in judged.items()
    }
    percent = {
        key: None if mean.value is None else 100 * mean.value for key, mean in shares.items()
    }

    def missing(dimension: str) -> str | None:
        unjudged = [name for name in evaluators if percent.get((dimension, name)) is None]
        alone = (
            "no answer has labels of two raters" if percent.get((dimension, PEOPLE)) is None else ""
        )
        return in_words(alone, *(f"{name} judged no labelled answer" for name in unjudged))

    columns = (
        Column("dimension"),
        Column("raters", places=1, key="annotators"),
        *(Column(f"raters and {e}", places=1, key=f"annotators_and_{e}") for e in evaluators),
        Column("reason"),
    )
    names = dict.fromkeys([*among_people, *(dimension for dimension, _ in judged)])
    lines = [
        (name, *(percent.get((name, who)) for who in (PEOPLE, *evaluators)), missing(name))
        for name in names
    ]
    return Table("table5", "Agreement in percent (SCORE's table 5)", columns, lines)


def mismatch_table(judged: Mapping[tuple[str, str], AgainstJudge]) -> Table:
    """Whether evaluators differ from raters where raters differ from each other."""

    def line(key: tuple[str, str], comparison: AgainstJudge) -> tuple[Any, ...]:
        why = (
            "no share: no mismatch on an item with several labels"
            if comparison.share.n
            else "no labelled answer was judged"
        )
        share = comparison.contested / comparison.shared if comparison.shared else None
        base = comparison.base / comparison.share.n if comparison.share.n else None
        return (
            *key,
            comparison.mismatches,
            comparison.shared,
            comparison.contested,
            share,
            base,
            None if comparison.shared else why,
        )

    columns = (
        *map(Column, ("dimension", "evaluator", "mismatches")),
        Column("on items with several labels", key="on_shared_items"),
        Column("on items where raters differ", key="contested"),
        Column("share", places=3),
        Column("share of all labels", places=3, key="base"),
        Column("reason"),
    )
    lines = [line(*entry) for entry in judged.items()]
    return Table("mismatches", "Mismatches on items where raters differ", columns, lines)

"""Metrics against human choices between two answers: accuracy on a, b or tie, with and without human ties.

A metric prefers the answer with the better score; scores that are equal after rounding are a tie. The human choice is
the one that most raters made (a pair on which two lead is left out, and counted). A rater who chose on a pair more than
once, as in both orders, has one vote: a tie if the choices differ.

Of three systems or more, the raters' choices and each metric's are turned into Bradley-Terry strengths.

Beside the metrics stand baselines (`baselines`). Chance is 1/3 with three choices, 1/2 with two. Intervals are
Wilson's, or Hall's t over questions if questions have several pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan

import numpy as np

from longmark.analysis.grid import Compared, compared
from longmark.analysis.metaeval.agreement import RatedItems, RaterAgreement, Vote, agreement
from longmark.analysis.metaeval.baselines import (
    FREQUENT,
    NEEDS,
    PairSides,
    baseline_choices,
    baseline_of,
    model_side,
)
from longmark.analysis.metaeval.choice_sample import BASELINE, TIE, ChoiceMetric, ChoiceSample, Made
from longmark.analysis.metaeval.graded import GradedResult, graded
from longmark.analysis.metaeval.labels import Join, RatedAnswer
from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.analysis.metaeval.results import (
    GroupResult,
    clusters_of,
    directions,
    groups_of,
    oriented,
    unscored,
)
from longmark.analysis.metaeval.tie_bands import TieBand, split, tie_band, with_band
from longmark.records.pair import plurality
from longmark.scores.answers import AnswerScores
from longmark.scores.labels import Labels
from longmark.stats.bradley_terry import Strength, bradley_terry
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats

RATERS = "raters"
_FEWEST_SYSTEMS = 3


@dataclass(frozen=True, slots=True)
class Position:
    """Raters and the order of the two answers. first: the share of decisions for the answer shown first (.5 without
    bias, if the order was random); same: of the pairs that a rater saw in both orders, those with one choice in all."""

    rater: str
    first: Estimate
    same: Estimate


@dataclass(frozen=True, slots=True)
class ChoiceLabel:
    """All results on one label on which people chose between two answers.

    human: a, b, tie -> pairs; undecided: pairs without a majority; same: how often two metrics make the same choice;
    places: decimals that scores are rounded to. graded, graded_raters: of graded preferences, else empty;
    strengths: (`RATERS` or a metric, its systems), empty for fewer than three systems. bands: of each metric and
    baseline, empty without a development split."""

    label: str
    join: Join
    human: Mapping[str, int]
    undecided: int
    agreement: RaterAgreement
    metrics: tuple[ChoiceMetric, ...]
    groups: tuple[GroupResult, ...]
    differences: tuple[Compared, ...]
    same: tuple[Compared, ...]
    positions: tuple[Position, ...]
    places: int
    graded: tuple[GradedResult, ...] = ()
    graded_raters: tuple[GradedResult, ...] = ()
    strengths: tuple[tuple[str, tuple[Strength, ...]], ...] = ()
    bands: tuple[TieBand, ...] = ()


def choice_label(
    label: str,
    items: Sequence[RatedAnswer],
    join: Join,
    human: Labels,
    scores: AnswerScores,
    options: MetaevalOptions,
) -> ChoiceLabel:
    """The results of a label. items: its pairs, with and without rows."""
    pairs = [item for item in items if item.places]
    declared = human.scales.get(label)
    gold = [plurality(vote.name for vote in votes_of(pair)) for pair in pairs]
    counts = Counter(choice for choice in gold if choice is not None)
    chosen: dict[str, Made] = {
        name: _chosen(scores, name, pairs, options.round) for name in scores.metrics
    }
    baselines = baseline_choices(options.baselines, [_sides(scores, pair) for pair in pairs], gold)
    all_choices: dict[str, Made] = chosen | baselines
    # the most frequent choice is known only from the choices themselves: no metric is tested against it alone
    chosen |= {
        title: choices for title, choices in baselines.items() if baseline_of(title) != FREQUENT
    }
    words_of = directions(scores.metrics)
    sample = ChoiceSample(gold, [pair.question for pair in pairs], options)
    metrics = []
    for name, choices in all_choices.items():
        facts = scores.metrics.get(name)
        missing = (
            unscored(scores, name, [pair.places for pair in pairs]) if facts is not None else {}
        )
        direction_words = BASELINE if facts is None else words_of[name]
        metrics.append(sample.metric(name, direction_words, missing, choices))
    right = {name: sample.right(choices) for name, choices in chosen.items()}
    score_differences = {name: _differences(scores, name, pairs) for name in scores.metrics}
    of_metrics, of_raters = graded(pairs, score_differences, options.level)
    return ChoiceLabel(
        label=label,
        join=join,
        human=dict(counts),
        undecided=gold.count(None),
        agreement=_agreement(items, pairs, chosen, options, declared.classes if declared else ()),
        metrics=tuple(sample.beside(metrics, options.alpha)),
        groups=tuple(_groups(sample, pairs, human.by, chosen)),
        differences=compared(
            right,
            lambda first, second: sample.difference(right[first], right[second]),
            options.alpha,
        ),
        same=tuple(
            Compared(a, b, sample.same(chosen[a], chosen[b])) for a, b in combinations(chosen, 2)
        ),
        positions=tuple(_positions(pairs, options.level)),
        places=options.round,
        graded=of_metrics,
        graded_raters=of_raters,
        bands=tuple(_bands(sample, all_choices, score_differences, options)),
        strengths=tuple(
            _strengths(scores, pairs, {name: chosen[name] for name in scores.metrics}, options)
        ),
    )


def absent_baselines(names: Sequence[str], labels: Sequence[object]) -> list[str]:
    """Notices of the baselines that were asked for and stand in no table of a label. labels: their results."""
    of_choices = [label for label in labels if isinstance(label, ChoiceLabel)]
    if not of_choices:
        return [
            "Baselines are of choices. Those of ratings are metrics: score classic.length in the run."
        ]
    notices = []
    for label in of_choices:
        present = {baseline_of(metric.metric) for metric in label.metrics}
        notices += [
            f"{label.label}: the baseline {name} is left out: {NEEDS[name]}."
            for name in names
            if name not in present
        ]
    return notices


def votes_of(pair: RatedAnswer) -> list[Vote]:
    """One vote of each rater."""
    choices_of: dict[str, set[str]] = {}
    for rater, choice, _ in pair.choices:
        choices_of.setdefault(rater, set()).add(choice)
    return [
        Vote(rater, choices.pop() if len(choices) == 1 else TIE, None)
        for rater, choices in choices_of.items()
    ]


def _agreement(
    items: Sequence[RatedAnswer],
    pairs: Sequence[RatedAnswer],
    chosen: Mapping[str, Made],
    options: MetaevalOptions,
    declared: Sequence[str],
) -> RaterAgreement:
    rows = {id(pair): row for row, pair in enumerate(pairs)}
    of_items = {
        name: [choices[rows[id(item)]] if id(item) in rows else None for item in items]
        for name, choices in chosen.items()
    }
    questions = clusters_of([item.question for item in items])
    with_rows = [bool(item.places) for item in items]
    rated = RatedItems(
        [votes_of(item) for item in items], questions, rows=with_rows, declared=declared
    )
    return agreement(rated, {}, of_items, options)


def _sides(scores: AnswerScores, pair: RatedAnswer) -> PairSides:
    a, b = (scores.answers[place] for place in pair.places)
    return PairSides((a.length, b.length), (a.words, b.words), model_side(a.system, b.system))


def _chosen(
    scores: AnswerScores, metric: str, pairs: Sequence[RatedAnswer], places: int
) -> list[str | None]:
    column = scores.scores[metric]
    sign = -1 if scores.metrics[metric].higher_is_better is False else 1
    score_pairs = [[float(column[place]) for place in pair.places] for pair in pairs]
    return [
        None if isnan(a + b) else with_band(sign * round(a, places), sign * round(b, places), 0)
        for a, b in score_pairs
    ]


def _strengths(
    scores: AnswerScores,
    pairs: Sequence[RatedAnswer],
    chosen: Mapping[str, Made],
    options: MetaevalOptions,
) -> Iterator[tuple[str, tuple[Strength, ...]]]:
    """Of the raters, whose choices count one each, and of the metrics."""
    systems = [tuple(scores.answers[place].system for place in pair.places) for pair in pairs]
    if len({name for pair in systems for name in pair}) < _FEWEST_SYSTEMS:
        return
    choices_by_name = {RATERS: [[vote.name for vote in votes_of(pair)] for pair in pairs]}
    choices_by_name |= {
        name: [[choice] if choice else [] for choice in choices] for name, choices in chosen.items()
    }
    for name, choices in choices_by_name.items():
        comparisons = [
            ((a, b, choice), pair.question)
            for pair, (a, b), pair_choices in zip(pairs, systems, choices, strict=True)
            for choice in pair_choices
            if a != b
        ]
        questions = [question for _, question in comparisons]
        yield (
            name,
            bradley_terry(
                [comparison for comparison, _ in comparisons],
                clusters=questions,
                level=options.level,
            ),
        )


def _bands(
    sample: ChoiceSample,
    choices: Mapping[str, Made],
    apart: Mapping[str, Floats],
    options: MetaevalOptions,
) -> Iterator[TieBand]:
    """Of each metric and baseline on a development split and on the rest; nothing without a split. apart: of metrics,
    b - a of each pair."""
    questions = split(sample.questions, options.development, options.seed)
    tuning = [place for place, name in enumerate(sample.questions) if name in questions]
    for name, made in choices.items() if tuning else ():
        differences: list[float | None] = [None] * len(made)
        if name in apart:
            differences = [
                None if isnan(difference) else -difference for difference in apart[name].tolist()
            ]
        yield tie_band(name, sample, made, differences, tuning)


def _differences(scores: AnswerScores, metric: str, pairs: Sequence[RatedAnswer]) -> Floats:
    """b - a in each pair, oriented so that above 0 the metric prefers b; NaN where one is unscored."""
    column = oriented(scores.scores[metric], scores.metrics[metric])
    places = np.array([pair.places for pair in pairs], dtype=np.int64).reshape(-1, 2)
    return np.asarray(column[places[:, 1]] - column[places[:, 0]])


def _groups(
    sample: ChoiceSample,
    pairs: Sequence[RatedAnswer],
    columns: Sequence[str],
    chosen: Mapping[str, Made],
) -> Iterator[GroupResult]:
    for column, group, rows in groups_of([pair.groups for pair in pairs], columns):
        subsample = sample.of(rows)
        for name, choices in chosen.items():
            right = subsample.right([choices[row] for row in rows])
            yield GroupResult(
                column,
                group,
                name,
                subsample.rate(right),
                subsample.rate(subsample.without_ties(right)),
            )


def _positions(pairs: Sequence[RatedAnswer], level: float) -> Iterator[Position]:
    """All raters together, and each of several, those with the most choices first."""
    first: dict[str, list[tuple[bool, str]]] = {}  # of each rater, with the question
    same_choices: dict[str, list[tuple[bool, str]]] = {}
    for pair in pairs:
        orders_of: dict[str, set[bool]] = {}
        choices_of: dict[str, set[str]] = {}
        for rater, choice, swapped in pair.choices:
            first_choices = first.setdefault(rater, [])
            orders_of.setdefault(rater, set()).add(swapped)
            choices_of.setdefault(rater, set()).add(choice)
            if choice != TIE:
                first_choices.append((choice == ("b" if swapped else "a"), pair.question))
        for rater, choices in choices_of.items():
            same_of_rater = same_choices.setdefault(rater, [])
            # a file can name one pair in two ways (systems, ids): several choices can be of one order
            if len(orders_of[rater]) == 2:
                same_of_rater.append((len(choices) == 1, pair.question))
    raters = sorted(first, key=lambda rater: (-len(first[rater]), rater))

    def share_of(shares: Mapping[str, list[tuple[bool, str]]], names: Sequence[str]) -> Estimate:
        shares_of_raters = [share for rater in names for share in shares[rater]]
        return clustered_share(
            [counted for counted, _ in shares_of_raters],
            [question for _, question in shares_of_raters],
            level,
        )

    yield Position("all raters", share_of(first, raters), share_of(same_choices, raters))
    for rater in raters if len(raters) > 1 else ():
        yield Position(rater, share_of(first, [rater]), share_of(same_choices, [rater]))

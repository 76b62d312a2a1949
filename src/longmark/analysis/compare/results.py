"""The results of a comparison: each metric with its systems, its pairs, and the questions that separate the systems.

A pair's difference and effects are over the questions with a score of both, a system's mean is over all of its own.
`ComparisonSettings.complete` leaves out the questions without a score of some system. The deciding p is that of `tests`;
the randomised Tukey HSD of the CCRS paper stands beside it, where each question is a cluster of its own. Intervals:

    mean         Hall's t, clipped to the bounds (`stats.means`)
    difference   the interval that inverts the deciding test (`stats.max_t.inverted`)
    others       of `estimates`
"""

from __future__ import annotations

import math
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from longmark.analysis.compare.estimates import TIE, of_d_z, of_mean, of_share
from longmark.analysis.compare.tests import (
    ComparedScores,
    ComparisonSettings,
    PairDifference,
    PairTests,
    Tested,
)
from longmark.report.format import MOST_DECIMALS, decimals, direction, metric_titles
from longmark.scores.manifest import MetricFacts
from longmark.scores.observations import Unscored
from longmark.scores.paired import Scores
from longmark.stats.max_t import inverted
from longmark.stats.means import ALL_EQUAL, Bounds
from longmark.stats.results import Estimate, TukeyTest
from longmark.stats.samples import Floats

_QUESTIONS = 10  # shown for each metric
PRIMARY = "primary"
EXPLORATORY = "exploratory"
DESCRIPTIVE = "descriptive"


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One system on one metric.

    mean            over all of its rows with a score, as in the table of a run
    rows, unscored  its rows (over judges: its answers), and why some of them have no score, by judge
    silent, asked   answers without a score or a row, of those that there should be
    missing         questions without a score of it, of those with a score of any system
    best, worst     the ranks that it may have: 1 + the systems that are significantly better, and the number of systems
                    less those that are significantly worse; None if neither direction of the metric is better
    groups          letters; systems that share one do not differ significantly
    """

    metric: str
    system: str
    mean: Estimate
    rows: int
    unscored: tuple[Unscored, ...]
    silent: int
    asked: int
    missing: int
    best: int | None
    worst: int | None
    groups: str

    @property
    def rank(self) -> str | None:
        """`2`, or `1-3` if it is not certain."""
        if self.best is None:
            return None
        return str(self.best) if self.best == self.worst else f"{self.best}-{self.worst}"


@dataclass(frozen=True, slots=True)
class PairResult:
    """Two systems on one metric, over the questions with a score of both.

    common             over these questions; counted: unscored answers with the worst score, None if both are the same
    d_z                mean difference / standard deviation of the differences
    share              (won + ties / 2) / n, from the view of the first
    won, ties, lost    questions; won: the first has the better score, or the higher one if neither direction is better
    p_tukey            of the randomised Tukey HSD over the pairs of this metric, on the questions that all systems
                       have; None with clusters, of which it knows nothing
    p_unscored         of the test whether one has more unscored answers, adjusted as `p`; None if neither has any
    """

    metric: str
    first: str
    second: str
    common: PairDifference
    counted: PairDifference | None
    d_z: Estimate
    share: Estimate
    won: int
    ties: int
    lost: int
    p_tukey: float | None
    p_unscored: float | None

    @property
    def names(self) -> tuple[str, str]:
        return self.first, self.second

    @property
    def difference(self) -> PairDifference:
        """First - second over the questions with a score of both."""
        return self.common

    @property
    def p(self) -> float | None:
        """The p that decides, adjusted for all pairs of all metrics."""
        return self.common.p

    @property
    def few(self) -> str | None:
        """Why no difference, however large, could have been significant; None if one is, or could have been."""
        return None if self.common.better else self.common.undetectable

    @property
    def better(self) -> str | None:
        """The system that is significantly better (higher, if no direction is better) in both readings, or None."""
        return None if self.undecided else self.common.better

    @property
    def undecided(self) -> str | None:
        """Why nothing is decided although there is a test: the readings disagree."""
        if self.counted is None or self.counted.better == self.common.better:
            return None
        return (
            f"undecided: on the common questions {self.common.in_words()}; with unscored answers as the worst score "
            f"{self.counted.in_words()}"
        )

    @property
    def significant(self) -> bool:
        """One of the two is significantly better."""
        return self.better is not None


@dataclass(frozen=True, slots=True)
class QuestionApart:
    """A question with a wide range of scores on a metric. scores: system -> score."""

    metric: str
    question_id: str
    text: str | None
    spread: float
    highest: str
    lowest: str
    scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class MetricResult:
    """All systems on one metric.

    systems       those with a score, the best first (the highest if neither direction is better)
    absent        systems without any score, with the reason
    pairs         every pair in the order in which the systems are given, whichever is better, so that a difference has
                  the same sign on every metric; against a base the other system comes first
    groups        of systems that do not differ significantly, each as large as possible; empty if nothing was tested
    questions     with a score of any system (with `complete`, of every one)
    reason        why no pair has a test, or a remark on all of them
    undetectable  why no difference of any pair, however large, can be significant; None if one can
    worst         the score that unscored answers count as in the second reading; None if there is no such reading
    apart         the questions on which the systems differ most; as_far: how many more differ as much as the last
    role          `primary` if its tests decide; `exploratory` if primary metrics were named and this is none;
                  `descriptive` if neither direction is better, beside metrics that have one. The tests of those that
                  decide nothing are a family of their own
    """

    metric: str
    facts: MetricFacts
    places: int
    systems: tuple[SystemResult, ...]
    absent: tuple[tuple[str, tuple[Unscored, ...]], ...]
    pairs: tuple[PairResult, ...]
    groups: tuple[tuple[str, ...], ...]
    questions: int
    tukey: TukeyTest
    reason: str | None
    undetectable: str | None
    worst: float | None
    apart: tuple[QuestionApart, ...]
    as_far: int
    role: str = PRIMARY

    @property
    def exploratory(self) -> bool:
        """Whether its tests decide nothing."""
        return self.role != PRIMARY

    @property
    def way(self) -> str:
        """What a system is whose scores are ahead, or above where neither direction is better."""
        if self.facts.descriptive:
            return self.facts.descriptive
        if self.facts.higher_is_better is None:
            return "higher"
        return "better"

    @property
    def direction(self) -> str:
        """As `format.direction`."""
        return direction(self.facts)

    @property
    def n(self) -> int:
        """The questions that a pair is compared on; of several pairs the fewest."""
        return min(pair.common.n for pair in self.pairs)

    def system(self, name: str) -> SystemResult | None:
        """The system of this name; None if it has no score."""
        return next((system for system in self.systems if system.system == name), None)


def result_titles(results: Sequence[MetricResult]) -> dict[str, str]:
    """The metrics in words, for figures: an exploratory one says that it is."""
    titles = metric_titles(result.metric for result in results)
    return {
        result.metric: f"{titles[result.metric]} ({EXPLORATORY})"
        if result.role == EXPLORATORY
        else titles[result.metric]
        for result in results
    }


def metric_result(
    scores: Scores,
    tested: Tested,
    systems: Sequence[int],
    pair_tests: PairTests,
    settings: ComparisonSettings,
) -> MetricResult:
    """All of a metric. systems: as for `tests_of`; pair_tests: the tests of its pairs."""
    facts = scores.facts[tested.metric]
    names = tested.names
    tests = pair_tests.common
    pairs = _pairs(tested, pair_tests, facts, settings)
    differ = [
        (a, b) if pair.better == names[a] else (b, a)
        for pair, (a, b) in zip(pairs, tested.pairs, strict=True)
        if pair.better
    ]
    ran = (
        any(test.p is not None for test in tests) and settings.baseline is None
    )  # a group needs the tests of all its pairs
    alike = groups(len(names), differ) if ran else ()
    apart_questions, as_far = _apart(scores, tested)
    reasons = {test.reason for test in tests}
    return MetricResult(
        metric=tested.metric,
        facts=facts,
        places=_places(facts, tested.table, pairs),
        systems=_systems(scores, tested, differ, alike, settings),
        absent=tuple(
            (name, scores.unscored(tested.metric, name))
            for name in (scores.systems[place] for place in systems)
            if name not in names
        ),
        pairs=pairs,
        groups=tuple(tuple(names[i] for i in group) for group in alike),
        questions=len(tested.table),
        tukey=tested.tukey,
        reason=reasons.pop() if len(reasons) == 1 else None,
        undetectable=None if differ else _undetectable(tests),
        worst=tested.worst if tested.counted else None,
        apart=apart_questions,
        as_far=as_far,
    )


def _undetectable(tests: Sequence[PairDifference]) -> str | None:
    """Why no pair can be significant: the reason of the one with the most questions, if every tested one has one."""
    ran = [test for test in tests if test.p is not None and test.reason is None]
    return (
        max(ran, key=lambda test: test.n).undetectable
        if ran and all(test.undetectable for test in ran)
        else None
    )


def _systems(
    scores: Scores,
    tested: Tested,
    differ: Sequence[tuple[int, int]],
    alike: Sequence[Sequence[int]],
    settings: ComparisonSettings,
) -> tuple[SystemResult, ...]:
    """differ: the pairs that differ significantly, the better first; alike: the groups of those that do not."""
    metric = tested.metric
    facts = scores.facts[metric]
    count = len(tested.names)
    ranked = facts.higher_is_better is not None and bool(alike)
    of_groups = letters(count, alike)
    unscored_cells = np.isnan(tested.table)
    results = []
    for i, name in enumerate(tested.names):
        values, places = scores.rows_scored(metric, name)
        compared = np.isin(places, tested.common.questions)
        silent, n_asked = scores.unanswered(metric, name)
        values = values[compared]
        clusters = scores.clusters[places[compared]]
        results.append(
            SystemResult(
                metric=metric,
                system=name,
                mean=of_mean(
                    values, clusters, (facts.lo, facts.hi), tested.largest, settings.level
                ),
                rows=scores.rows(metric, name),
                unscored=scores.unscored(metric, name),
                silent=silent,
                asked=n_asked,
                missing=int(unscored_cells[:, i].sum()),
                best=1 + sum(b == i for _, b in differ) if ranked else None,
                worst=count - sum(a == i for a, _ in differ) if ranked else None,
                groups=of_groups[i],
            )
        )
    return tuple(results)


def _pairs(
    tested: Tested, tests: PairTests, facts: MetricFacts, settings: ComparisonSettings
) -> tuple[PairResult, ...]:
    clustered = tested.common.clusters is not None
    pairs = []
    for k, (a, b) in enumerate(tested.pairs):
        differences, clusters = tested.common.differences(a, b)
        ahead = tested.sign * differences
        missing = len(tested.table) - len(differences)
        counted = tested.counted
        if counted is not None and (counted.heard is None or counted.heard[:, [a, b]].all()):
            counted = None  # all answers of these two are scored
        pairs.append(
            PairResult(
                metric=tested.metric,
                first=tested.names[a],
                second=tested.names[b],
                common=_difference(tested, tested.common, (a, b), tests.common[k], facts, settings),
                counted=None
                if counted is None
                else _difference(tested, counted, (a, b), tests.counted[k], facts, settings),
                d_z=of_d_z(differences, clusters, tested.largest, settings.level, missing),
                share=of_share(ahead, clusters, settings.level, missing),
                won=int((ahead > TIE).sum()),
                ties=int((np.abs(ahead) <= TIE).sum()),
                lost=int((ahead < -TIE).sum()),
                p_tukey=None
                if clustered
                else tested.tukey.pair(tested.names[a], tested.names[b]).p,
                p_unscored=tests.unscored[k],
            )
        )
    return tuple(pairs)


def _difference(
    tested: Tested,
    reading: ComparedScores,
    pair: tuple[int, int],
    test: PairDifference,
    facts: MetricFacts,
    settings: ComparisonSettings,
) -> PairDifference:
    """The test with its difference, interval and result."""
    differences, clusters = reading.differences(*pair)
    bounds = difference_bounds(facts)
    mean = of_mean(
        differences, clusters, bounds, tested.largest, settings.level, len(reading.table) - test.n
    )
    if mean.method != ALL_EQUAL:
        mean = inverted(mean, test.ends, bounds, 1 - settings.alpha)
    better = None
    if test.p is not None and test.p <= settings.alpha:
        better = tested.names[pair[int(tested.sign * differences.mean() < 0)]]
    return replace(
        test,
        **{
            name: getattr(mean, name)
            for name in ("value", "low", "high", "level", "method", "missing", "clusters")
        },
        effective=mean.effective,
        reason=test.reason
        if test.p is None
        else "; ".join(filter(None, (test.reason, mean.reason))) or None,
        better=better,
    )


def difference_bounds(facts: MetricFacts) -> Bounds:
    """The least and the greatest difference of two scores."""
    return (
        (None, None)
        if facts.lo is None or facts.hi is None
        else (facts.lo - facts.hi, facts.hi - facts.lo)
    )


def _places(facts: MetricFacts, table: Floats, pairs: Sequence[PairResult]) -> int:
    """Decimals that show the scores, and separate the means that differ significantly."""
    least = min(
        (abs(pair.difference.value or 1.0) for pair in pairs if pair.significant), default=1.0
    )
    needed = math.ceil(-math.log10(least) - 1e-9)
    return max(
        decimals(facts, float(np.nanmin(table)), float(np.nanmax(table))),
        min(needed, MOST_DECIMALS),
    )


def _apart(scores: Scores, tested: Tested) -> tuple[tuple[QuestionApart, ...], int]:
    """The questions with the widest range of scores, widest first; and how many more have one as wide as the last."""
    spread = np.nanmax(tested.table, axis=1) - np.nanmin(tested.table, axis=1)
    widest = [int(i) for i in np.argsort(-spread, kind="stable")[:_QUESTIONS] if spread[i] > TIE]
    questions_apart = tuple(
        QuestionApart(
            metric=tested.metric,
            question_id=scores.questions[tested.common.questions[i]],
            text=None,
            spread=float(spread[i]),
            highest=tested.names[int(np.nanargmax(tested.table[i]))],
            lowest=tested.names[int(np.nanargmin(tested.table[i]))],
            scores={
                name: None if np.isnan(score) else float(score)
                for name, score in zip(tested.names, tested.table[i], strict=True)
            },
        )
        for i in widest
    )
    if not widest:
        return (), 0
    as_far = int((spread >= spread[widest[-1]] - TIE).sum())
    return questions_apart, as_far - len(widest)


def groups(count: int, differ: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """The groups of the systems 0 … count - 1, in the order of their first members. differ: pairs that differ.

    Differing is not transitive: A may be like B, and B like C, while A and C differ. B is then in two groups (A, B and
    B, C). The groups are the largest sets without a pair that differs, found by inserting one pair after the other and
    absorbing what another group contains (Piepho 2004).
    """
    group_sets = [frozenset(range(count))] if count else []
    for a, b in differ:
        split = [
            part
            for group in group_sets
            for part in ((group - {a}, group - {b}) if {a, b} <= group else (group,))
        ]
        group_sets = [
            group
            for i, group in enumerate(split)
            if not any(
                group < larger or (group == larger and i > j) for j, larger in enumerate(split)
            )
        ]
    return tuple(sorted(tuple(sorted(group)) for group in group_sets))


def letters(count: int, groups_given: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """For each system the letters of its groups: a, b, … z, A, … Z, then with a number (a2, …)."""
    size = len(string.ascii_letters)
    names = [
        string.ascii_letters[i % size] + (str(i // size + 1) if i >= size else "")
        for i in range(len(groups_given))
    ]
    return tuple(
        "".join(name for name, group in zip(names, groups_given, strict=True) if i in group)
        for i in range(count)
    )

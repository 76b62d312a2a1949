"""One metric over all systems: means, pairwise differences, tests, groups, and the questions that separate the systems.

A pair's test, difference and effects are over the questions with a score of both, a system's mean is over all of its
own. `Settings.complete` leaves out the questions without a score of some system. The deciding p is that of `family`;
the randomised Tukey HSD of the CCRS paper stands beside it, where each question is a cluster of its own.

Where a system of a pair has unscored answers, the pair is read twice: on the common questions, and on the questions
with a score of either, an unscored answer with the worst score (the metric's bound, else the worst score of any
system). A system is better only if it is in both readings. A metric without a better direction has no worst score, and
so only the first reading.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longmark.analysis.compare import effects
from longmark.analysis.compare.groups import groups, highest_first, letters
from longmark.report.format import MOST_DECIMALS, decimals, direction
from longmark.scores.clusters import QUESTION
from longmark.scores.manifest import MetricFacts
from longmark.scores.observations import Unscored
from longmark.scores.paired import Scores
from longmark.stats.max_t import inverted
from longmark.stats.means import ALL_EQUAL, Bounds
from longmark.stats.permutation import rounding
from longmark.stats.results import Estimate, TukeyTest
from longmark.stats.samples import Floats, Ints
from longmark.stats.tukey import tukey

_QUESTIONS = 10  # shown for each metric


@dataclass(frozen=True, slots=True)
class SystemOnMetric:
    """One system on one metric.

    mean            over all of its rows with a score, as in the table of a run
    rows, unscored  its rows (over judges: its answers), and why some of them have no score, by judge
    silent, asked   answers without a score or a row, of those that there should be
    missing         questions without a score of it, of those with a score of any system
    repeated        questions with several scores, of which the mean counts
    best, worst     the ranks that it may have: 1 + the systems that are significantly better, and the number of systems
                    less those that are significantly worse; None if neither direction of the metric is better
    groups          letters; systems that share one do not differ significantly
    """

    system: str
    mean: Estimate
    rows: int
    unscored: tuple[Unscored, ...]
    silent: int
    asked: int
    missing: int
    repeated: int
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
class PairTest:
    """The test of a pair on a metric, over the n questions with a score of both.

    p_unadjusted   two-sided, of this pair on this metric alone
    p              adjusted for all pairs of all metrics: the p that decides
    detectable     the true difference that the test detects with power .8; None if no difference can be significant, or
                   no sample shows a spread
    reason         why there is no p, or a remark on it
    undetectable   why no difference, however large, can be significant; None if one can
    ends           of the interval that inverts the test, simultaneous over all comparisons at the level 1 - alpha: it
                   excludes 0 exactly if p is at most alpha; None if there is none, or p is None
    effective      how many clusters of one size would do as well (`stats.clusters`)
    remark         what a reader of p must know
    """

    n: int
    p_unadjusted: float | None
    p: float | None
    detectable: float | None
    reason: str | None
    undetectable: str | None
    ends: tuple[float, float] | None = None
    effective: float | None = None
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class PairReading:
    """A pair in one reading. difference: first - second, in the metric's units; better: the system that is
    significantly better (higher, if neither direction is better), or None."""

    difference: Estimate
    test: PairTest
    better: str | None

    def in_words(self) -> str:
        """What it says of the pair."""
        return "no significant difference" if self.better is None else f"{self.better} is better"


@dataclass(frozen=True, slots=True)
class PairOnMetric:
    """Two systems on one metric, over the questions with a score of both.

    common             over these questions; counted: unscored answers with the worst score, None if both are the same
    d_z                mean difference / standard deviation of the differences
    share              (won + ties / 2) / n, from the view of the first
    won, ties, lost    questions; won: the first has the better score, or the higher one if neither direction is better
    p_tukey            of the randomised Tukey HSD over the pairs of this metric, on the questions that all systems
                       have; None with clusters, of which it knows nothing
    p_unscored         of the test whether one has more unscored answers, adjusted as `p`; None if neither has any
    """

    first: str
    second: str
    common: PairReading
    counted: PairReading | None
    d_z: Estimate
    share: Estimate
    won: int
    ties: int
    lost: int
    p_tukey: float | None
    p_unscored: float | None

    @property
    def names(self) -> tuple[str, str]:
        """Both systems."""
        return self.first, self.second

    @property
    def few(self) -> str | None:
        """Why no difference, however large, could have been significant; None if one is, or could have been."""
        return None if self.common.better else self.test.undetectable

    @property
    def difference(self) -> Estimate:
        """First - second over the questions with a score of both."""
        return self.common.difference

    @property
    def test(self) -> PairTest:
        """The test over these questions."""
        return self.common.test

    @property
    def p(self) -> float | None:
        """The p that decides, adjusted for all pairs of all metrics."""
        return self.test.p

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
    """A question with a wide range of scores. scores: in the order of the metric's systems."""

    question_id: str
    text: str | None
    spread: float
    highest: str
    lowest: str
    scores: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """All systems on one metric.

    systems       those with a score, the best first (the highest if neither direction is better)
    absent        systems without any score, with the reason
    pairs         every pair, the first before the second in the order of `systems`; if two systems are compared, in the
                  order given
    groups        of systems that do not differ significantly, each as large as possible; empty if nothing was tested
    questions     with a score of any system (with `complete`, of every one)
    reason        why no pair has a test, or a remark on all of them
    undetectable  why no difference of any pair, however large, can be significant; None if one can
    worst         the score that unscored answers count as in the second reading; None if there is no such reading
    apart         the questions on which the systems differ most; as_far: how many more differ as much as the last
    """

    metric: str
    facts: MetricFacts
    places: int
    systems: tuple[SystemOnMetric, ...]
    absent: tuple[tuple[str, tuple[Unscored, ...]], ...]
    pairs: tuple[PairOnMetric, ...]
    groups: tuple[tuple[str, ...], ...]
    questions: int
    tukey: TukeyTest
    reason: str | None
    undetectable: str | None
    worst: float | None
    apart: tuple[QuestionApart, ...]
    as_far: int

    @property
    def direction(self) -> str:
        """As `format.direction`."""
        return direction(self.facts)

    @property
    def n(self) -> int:
        """The questions that a pair is compared on; of several pairs the fewest."""
        return min(pair.test.n for pair in self.pairs)


@dataclass(frozen=True, slots=True)
class Settings:
    """level: of intervals; alpha: of tests; permutations: to draw; complete: compare the questions with a
    score of every system only; baseline: compare only the pairs with the system at this place; None: all pairs."""

    level: float
    alpha: float
    permutations: int
    seed: int
    complete: bool
    baseline: int | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """The scores of a metric's systems in one reading. questions: places of those compared; table: questions x systems,
    NaN for no score; clusters: of the questions, None: each is one; heard: in the reading that counts unscored answers,
    which scores are real: a pair counts a question if one of its two is."""

    questions: tuple[int, ...]
    table: Floats
    clusters: Ints | None
    heard: NDArray[np.bool_] | None = None

    def column(self, a: int, b: int) -> Floats:
        """The differences of two systems, NaN for a question that the pair does not count."""
        found = self.table[:, a] - self.table[:, b]
        return found if self.heard is None else np.where(self.heard[:, a] | self.heard[:, b], found, np.nan)

    def differences(self, a: int, b: int) -> tuple[Floats, Ints | None]:
        """Of two systems on the questions that count, and the clusters of these."""
        found = self.column(a, b)
        there = ~np.isnan(found)
        return found[there], None if self.clusters is None else self.clusters[there]


@dataclass(frozen=True, slots=True)
class Tested:
    """A metric in both readings, and its Tukey test, which does not depend on the other metrics.

    names: of the systems with scores, the best first; common: the scores as they are; counted: unscored answers with
    the score `worst`, None where all are scored or neither direction is better; pairs: places in `names`, in the order
    of `MetricComparison.pairs`. The test has the systems in the order of the scores, as in `metrics_study`: a seed
    gives the same p in both. places: of the systems in the scores.
    """

    metric: str
    sign: int
    names: tuple[str, ...]
    places: tuple[int, ...]
    common: Reading
    counted: Reading | None
    worst: float | None
    pairs: tuple[tuple[int, int], ...]
    tukey: TukeyTest

    @property
    def table(self) -> Floats:
        """The scores as they are, questions x systems."""
        return self.common.table

    @property
    def largest(self) -> float:
        """The largest score in size, which decides what is rounding."""
        return float(np.nanmax(np.abs(self.table), initial=0.0))


def tests_of(scores: Scores, metric: str, systems: Sequence[int], how: Settings) -> Tested:
    """One metric over the systems at these places (two or more, in the order given) that have a score."""
    sign = -1 if scores.facts[metric].higher_is_better is False else 1
    matrix = scores.matrix(metric)
    present = [place for place in sorted(systems) if not np.isnan(matrix[:, place]).all()]
    table = matrix[:, present]
    test = tukey(table, [scores.systems[place] for place in present], permutations=how.permutations, seed=how.seed)
    there = ~np.isnan(table)
    kept = np.asarray(there.all(axis=1) if how.complete else there.any(axis=1))
    means = _means(scores, metric, present, np.logical_or(kept, not kept.any()))
    noise = max(test.zero, rounding(0.0, float(np.nanmax(np.abs(table)))))
    order = highest_first({i: sign * mean for i, mean in enumerate(means)}, noise)
    best_first = [present[i] for i in order]
    given = systems if len(systems) == 2 else best_first
    pairs = [(best_first.index(a), best_first.index(b)) for a, b in itertools.combinations(given, 2)]
    clusters = None if scores.cluster == QUESTION else scores.clusters
    worst, counted = _worst(scores, metric), None
    heard, asked = there[:, order], np.asarray(there.any(axis=1))
    if worst is not None:
        table2 = scores.matrix(metric, worst)[:, best_first]
        table2 = np.where(np.isnan(table2), worst, table2)
        if (table2[asked] != matrix[asked][:, best_first]).any():  # a NaN differs from everything
            counted = _reading(asked, table2, clusters, heard[asked])
    return Tested(
        metric=metric,
        sign=sign,
        names=tuple(scores.systems[place] for place in best_first),
        places=tuple(best_first),
        common=_reading(kept, table[:, order], clusters),
        counted=counted,
        worst=worst,
        pairs=tuple(
            pair for pair in pairs if how.baseline is None or how.baseline in (best_first[pair[0]], best_first[pair[1]])
        ),
        tukey=test,
    )


def _reading(
    kept: NDArray[np.bool_], table: Floats, clusters: Ints | None, heard: NDArray[np.bool_] | None = None
) -> Reading:
    places = tuple(np.flatnonzero(kept).tolist())
    return Reading(places, table[kept], None if clusters is None else clusters[kept], heard)


def _worst(scores: Scores, metric: str) -> float | None:
    """The metric's bound on its worse side, or the worst score of any system; None if neither side is worse."""
    facts, matrix = scores.facts[metric], scores.matrix(metric)
    if facts.higher_is_better is None:
        return None
    if facts.higher_is_better:
        return min(float(np.nanmin(matrix)), math.inf if facts.lo is None else facts.lo)
    return max(float(np.nanmax(matrix)), -math.inf if facts.hi is None else facts.hi)


def _means(scores: Scores, metric: str, systems: Sequence[int], kept: NDArray[np.bool_]) -> Iterator[float]:
    """The mean over the rows of each system, on the questions that are kept."""
    for place in systems:
        values, questions = scores.rows_scored(metric, scores.systems[place])
        yield float(values[kept[questions]].mean())


@dataclass(frozen=True, slots=True)
class PairTests:
    """The tests of a metric's pairs, in their order: in each reading, and of the shares of unscored answers."""

    common: tuple[PairTest, ...]
    counted: tuple[PairTest, ...]
    unscored: tuple[float | None, ...]


def described(
    scores: Scores, tested: Tested, systems: Sequence[int], made: PairTests, how: Settings
) -> MetricComparison:
    """All of a metric. systems: as for `tests_of`; made: the tests of its pairs."""
    facts, names, tests = scores.facts[tested.metric], tested.names, made.common
    pairs = _pairs(tested, made, facts, how)
    differ = [
        (a, b) if pair.better == names[a] else (b, a)
        for pair, (a, b) in zip(pairs, tested.pairs, strict=True)
        if pair.better
    ]
    ran = any(test.p is not None for test in tests) and how.baseline is None  # a group needs the tests of all its pairs
    together = groups(len(names), differ) if ran else ()
    apart, as_far = _apart(scores, tested)
    reasons = {test.reason for test in tests}
    return MetricComparison(
        metric=tested.metric,
        facts=facts,
        places=_places(facts, tested.table, pairs),
        systems=_systems(scores, tested, differ, together, how),
        absent=tuple(
            (name, scores.unscored(tested.metric, name))
            for name in (scores.systems[place] for place in systems)
            if name not in names
        ),
        pairs=pairs,
        groups=tuple(tuple(names[i] for i in group) for group in together),
        questions=len(tested.table),
        tukey=tested.tukey,
        reason=reasons.pop() if len(reasons) == 1 else None,
        undetectable=None if differ else _undetectable(tests),
        worst=tested.worst if tested.counted else None,
        apart=apart,
        as_far=as_far,
    )


def _undetectable(tests: Sequence[PairTest]) -> str | None:
    """Why no pair can be significant: the reason of the one with the most questions, if every tested one has one."""
    ran = [test for test in tests if test.p is not None and test.reason is None]
    return max(ran, key=lambda test: test.n).undetectable if ran and all(test.undetectable for test in ran) else None


def _systems(
    scores: Scores,
    tested: Tested,
    differ: Sequence[tuple[int, int]],
    together: Sequence[Sequence[int]],
    how: Settings,
) -> tuple[SystemOnMetric, ...]:
    """differ: the pairs that differ significantly, the better first; together: the groups of those that do not."""
    metric, facts, count = tested.metric, scores.facts[tested.metric], len(tested.names)
    ranked = facts.higher_is_better is not None and bool(together)
    marks = letters(count, together)
    gone = np.isnan(tested.table)
    found = []
    for i, name in enumerate(tested.names):
        values, places = scores.rows_scored(metric, name)
        compared = np.isin(places, tested.common.questions)
        silent, asked = scores.unanswered(metric, name)
        values, clusters = values[compared], scores.clusters[places[compared]]
        found.append(
            SystemOnMetric(
                system=name,
                mean=effects.of_mean(values, clusters, (facts.lo, facts.hi), tested.largest, how.level),
                rows=scores.rows(metric, name),
                unscored=scores.unscored(metric, name),
                silent=silent,
                asked=asked,
                missing=int(gone[:, i].sum()),
                repeated=scores.repeated.get((metric, name), 0),
                best=1 + sum(b == i for _, b in differ) if ranked else None,
                worst=count - sum(a == i for a, _ in differ) if ranked else None,
                groups=marks[i],
            )
        )
    return tuple(found)


def _pairs(tested: Tested, tests: PairTests, facts: MetricFacts, how: Settings) -> tuple[PairOnMetric, ...]:
    clustered = tested.common.clusters is not None
    pairs = []
    for k, (a, b) in enumerate(tested.pairs):
        apart, clusters = tested.common.differences(a, b)
        ahead, missing = tested.sign * apart, len(tested.table) - len(apart)
        counted = tested.counted
        if counted is not None and (counted.heard is None or counted.heard[:, [a, b]].all()):
            counted = None  # all answers of these two are scored
        pairs.append(
            PairOnMetric(
                first=tested.names[a],
                second=tested.names[b],
                common=_read(tested, tested.common, (a, b), tests.common[k], facts, how),
                counted=None if counted is None else _read(tested, counted, (a, b), tests.counted[k], facts, how),
                d_z=effects.of_d_z(apart, clusters, tested.largest, how.level, missing),
                share=effects.of_share(ahead, clusters, how.level, missing),
                won=int((ahead > effects.TIE).sum()),
                ties=int((np.abs(ahead) <= effects.TIE).sum()),
                lost=int((ahead < -effects.TIE).sum()),
                p_tukey=None if clustered else tested.tukey.pair(tested.names[a], tested.names[b]).p,
                p_unscored=tests.unscored[k],
            )
        )
    return tuple(pairs)


def _read(
    tested: Tested, reading: Reading, pair: tuple[int, int], test: PairTest, facts: MetricFacts, how: Settings
) -> PairReading:
    differences, clusters = reading.differences(*pair)
    missing = len(reading.table) - test.n
    bounds = difference_bounds(facts)
    estimate = effects.of_mean(differences, clusters, bounds, tested.largest, how.level, missing)
    if estimate.method != ALL_EQUAL:
        estimate = inverted(estimate, test.ends, bounds, 1 - how.alpha)
    better = None
    if test.p is not None and test.p <= how.alpha:
        better = tested.names[pair[int(tested.sign * differences.mean() < 0)]]
    return PairReading(estimate, test, better)


def difference_bounds(facts: MetricFacts) -> Bounds:
    """The least and the greatest difference of two scores."""
    return (None, None) if facts.lo is None or facts.hi is None else (facts.lo - facts.hi, facts.hi - facts.lo)


def _places(facts: MetricFacts, table: Floats, pairs: Sequence[PairOnMetric]) -> int:
    """Decimals that show the scores, and separate the means that differ significantly."""
    least = min((abs(pair.difference.value or 1.0) for pair in pairs if pair.significant), default=1.0)
    needed = math.ceil(-math.log10(least) - 1e-9)
    return max(decimals(facts, float(np.nanmin(table)), float(np.nanmax(table))), min(needed, MOST_DECIMALS))


def _apart(scores: Scores, tested: Tested) -> tuple[tuple[QuestionApart, ...], int]:
    """The questions with the widest range of scores, widest first; and how many more have one as wide as the last."""
    spread = np.nanmax(tested.table, axis=1) - np.nanmin(tested.table, axis=1)
    widest = [int(i) for i in np.argsort(-spread, kind="stable")[:_QUESTIONS] if spread[i] > effects.TIE]
    found = tuple(
        QuestionApart(
            question_id=scores.questions[tested.common.questions[i]],
            text=None,
            spread=float(spread[i]),
            highest=tested.names[int(np.nanargmax(tested.table[i]))],
            lowest=tested.names[int(np.nanargmin(tested.table[i]))],
            scores=tuple(None if np.isnan(score) else float(score) for score in tested.table[i]),
        )
        for i in widest
    )
    return found, int((spread >= spread[widest[-1]] - effects.TIE).sum()) - len(widest) if widest else 0

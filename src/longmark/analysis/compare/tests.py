"""The tests that decide: every pair of systems on every metric, adjusted together (`stats.max_t`).

A pair is tested on the questions with a score of both. All pairs and metrics are one family: the signs of a question's
(or a cluster's) differences are flipped for all of them together, and the largest statistic decides.

Where a system of a pair has unscored answers, the pair is read twice: on the common questions, and on the questions
with a score of either, an unscored answer with the worst score (the metric's bound, else the worst score of any
system). A system is better only if it is in both readings. A metric without a better direction has no worst score, and
so only the first reading.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longmark.analysis.compare.checks import FEWEST_TESTED
from longmark.progress import counted
from longmark.scores.clusters import QUESTION
from longmark.scores.paired import Scores
from longmark.stats.max_t import ALL_ZERO, FEWEST, MaxT, max_t
from longmark.stats.permutation import rounding
from longmark.stats.power import standard_errors_apart
from longmark.stats.results import Difference, TukeyTest
from longmark.stats.samples import Floats, Ints
from longmark.stats.tukey import least_p, tukey

_POWER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class PairDifference(Difference):
    """First - second of a pair in one reading, in the metric's units, over the n questions that the reading counts.

    low, high      the interval that inverts the test, simultaneous over all comparisons at the level 1 - alpha: it
                   excludes 0 exactly if p is at most alpha; without one, that of the mean, extended to hold 0
    p              adjusted for all pairs of all metrics: the p that decides
    p_unadjusted   two-sided, of this pair on this metric alone
    detectable     the true difference that the test detects with power .8; None if no difference can be significant, or
                   no sample shows a spread
    undetectable   why no difference, however large, can be significant; None if one can
    better         the system that is significantly better (higher, if neither direction is better), or None
    reason         why there is no p or no interval; remark: what a reader of p must know
    """

    p_unadjusted: float | None = None
    detectable: float | None = None
    undetectable: str | None = None
    better: str | None = None

    def in_words(self, word: str = "better") -> str:
        """What it says of the pair. word: `higher` if neither direction is better."""
        return "no significant difference" if self.better is None else f"{self.better} is {word}"


@dataclass(frozen=True, slots=True)
class ComparisonSettings:
    """How a comparison is made.

    alpha, level   of the tests (adjusted for all comparisons), and of each other interval by itself
    permutations   sign patterns, or tables, to draw for a test
    complete       only the questions with a score of every system are compared; else each pair on its own questions
    baseline       only the pairs with the system at this place are compared; None: all pairs
    """

    level: float
    alpha: float
    permutations: int
    seed: int
    complete: bool
    baseline: int | None = None


@dataclass(frozen=True, slots=True)
class ComparedScores:
    """The scores of a metric's systems in one reading. questions: places of those compared; table: questions x systems,
    NaN for no score; clusters: of the questions, None: each is one; heard: in the reading that counts unscored answers,
    which scores are real: a pair counts a question if one of its two is."""

    questions: Ints
    table: Floats
    clusters: Ints | None
    heard: NDArray[np.bool_] | None = None

    def column(self, a: int, b: int) -> Floats:
        """The differences of two systems, NaN for a question that the pair does not count."""
        differences = self.table[:, a] - self.table[:, b]
        return (
            differences
            if self.heard is None
            else np.where(self.heard[:, a] | self.heard[:, b], differences, np.nan)
        )

    def differences(self, a: int, b: int) -> tuple[Floats, Ints | None]:
        """Of two systems on the questions that count, and the clusters of these."""
        differences = self.column(a, b)
        present = ~np.isnan(differences)
        return differences[present], None if self.clusters is None else self.clusters[present]


@dataclass(frozen=True, slots=True)
class Tested:
    """A metric in both readings, and its Tukey test, which does not depend on the other metrics.

    names: of the systems with scores, the best first; common: the scores as they are; counted: unscored answers with
    the score `worst`, None where all are scored or neither direction is better; pairs: places in `names`, in the order
    of `MetricResult.pairs`. The test has the systems in the order of the scores, as in `metrics_study`: a seed
    gives the same p in both. places: of the systems in the scores.
    """

    metric: str
    sign: int
    names: tuple[str, ...]
    places: tuple[int, ...]
    common: ComparedScores
    counted: ComparedScores | None
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


def tests_of(
    scores: Scores, metric: str, systems: Sequence[int], settings: ComparisonSettings
) -> Tested:
    """One metric over the systems at these places (two or more, in the order given) that have a score."""
    sign = -1 if scores.facts[metric].higher_is_better is False else 1
    matrix = scores.matrix(metric)
    present = [place for place in sorted(systems) if not np.isnan(matrix[:, place]).all()]
    table = matrix[:, present]
    test = tukey(
        table,
        [scores.systems[place] for place in present],
        permutations=settings.permutations,
        seed=settings.seed,
    )
    present_scores = ~np.isnan(table)
    counted_questions = np.asarray(
        present_scores.all(axis=1) if settings.complete else present_scores.any(axis=1)
    )
    means = _means(
        scores, metric, present, np.logical_or(counted_questions, not counted_questions.any())
    )
    noise = max(test.zero, rounding(0.0, float(np.nanmax(np.abs(table)))))
    order = highest_first({i: sign * mean for i, mean in enumerate(means)}, noise)
    best_first = [present[i] for i in order]
    in_order = [place for place in systems if place in present]
    pairs = [
        (best_first.index(a), best_first.index(b))
        for a, b in _pairs_of(in_order, settings.baseline)
    ]
    clusters = None if scores.cluster == QUESTION else scores.clusters
    worst = _worst(scores, metric)
    counted = None
    heard = present_scores[:, order]
    any_score = np.asarray(present_scores.any(axis=1))
    if worst is not None:
        table2 = scores.matrix(metric, worst)[:, best_first]
        table2 = np.where(np.isnan(table2), worst, table2)
        if (
            table2[any_score] != matrix[any_score][:, best_first]
        ).any():  # a NaN differs from everything
            counted = _reading(any_score, table2, clusters, heard[any_score])
    return Tested(
        metric=metric,
        sign=sign,
        names=tuple(scores.systems[place] for place in best_first),
        places=tuple(best_first),
        common=_reading(counted_questions, table[:, order], clusters),
        counted=counted,
        worst=worst,
        pairs=tuple(pairs),
        tukey=test,
    )


def _pairs_of(systems: Sequence[int], baseline: int | None) -> list[tuple[int, int]]:
    """All pairs in this order, or each other system with the baseline: a change is new - base."""
    if baseline is None:
        return list(itertools.combinations(systems, 2))
    return [(system, baseline) for system in systems if system != baseline and baseline in systems]


def _reading(
    counted_questions: NDArray[np.bool_],
    table: Floats,
    clusters: Ints | None,
    heard: NDArray[np.bool_] | None = None,
) -> ComparedScores:
    return ComparedScores(
        np.flatnonzero(counted_questions),
        table[counted_questions],
        None if clusters is None else clusters[counted_questions],
        heard,
    )


def _worst(scores: Scores, metric: str) -> float | None:
    """The metric's bound on its worse side, or the worst score of any system; None if neither side is worse."""
    facts = scores.facts[metric]
    matrix = scores.matrix(metric)
    if facts.higher_is_better is None:
        return None
    if facts.higher_is_better:
        return min(float(np.nanmin(matrix)), math.inf if facts.lo is None else facts.lo)
    return max(float(np.nanmax(matrix)), -math.inf if facts.hi is None else facts.hi)


def _means(
    scores: Scores, metric: str, systems: Sequence[int], counted_questions: NDArray[np.bool_]
) -> Iterator[float]:
    """The mean over the rows of each system, on the questions that are kept."""
    for place in systems:
        values, questions = scores.rows_scored(metric, scores.systems[place])
        yield float(values[counted_questions[questions]].mean())


@dataclass(frozen=True, slots=True)
class PairTests:
    """The tests of a metric's pairs, in their order: in each reading, and of the shares of unscored answers."""

    common: tuple[PairDifference, ...]
    counted: tuple[PairDifference, ...]
    unscored: tuple[float | None, ...]


def highest_first(means: Mapping[int, float], noise: float) -> list[int]:
    """The places by their means. Means that differ by at most `noise` are equal and keep the order given, so that
    rounding ranks nobody."""
    step = 0
    steps = dict[int, int]()
    before = None
    for place in sorted(means, key=lambda place: -means[place]):
        step += before is not None and before - means[place] > noise
        steps[place], before = step, means[place]
    return sorted(means, key=lambda place: steps[place])


def family(
    tested: Sequence[Tested], scores: Scores, settings: ComparisonSettings
) -> dict[str, PairTests]:
    """Metric -> the tests of its pairs. scores: of the questions, in which `ComparedScores.questions` are places.

    The readings are two families with the same pairs: a difference must be significant in both, so the probability of
    any false positive is that of one. The test of more unscored answers is a third."""
    common = _joint(
        _columns(tested, scores, [of_metric.common for of_metric in tested]), scores, settings
    )
    counted = common
    unscored = None
    if any(of_metric.counted for of_metric in tested):
        counted = _joint(
            _columns(
                tested, scores, [of_metric.counted or of_metric.common for of_metric in tested]
            ),
            scores,
            settings,
        )
    if (silence := _silence(tested, scores)).any():
        unscored = _joint(silence, scores, settings)
    tests_by_metric = {}
    start = 0
    for of_metric in tested:
        places = range(start, start + len(of_metric.pairs))
        tests_by_metric[of_metric.metric] = PairTests(
            tuple(_test(common, i, settings) for i in places),
            tuple(_test(counted, i, settings) for i in places),
            tuple(None if unscored is None else unscored.adjusted[i] for i in places),
        )
        start += len(of_metric.pairs)
    return tests_by_metric


def _joint(columns: Floats, scores: Scores, settings: ComparisonSettings) -> MaxT:
    clusters = None if scores.cluster == QUESTION else scores.clusters.tolist()
    return max_t(
        columns,
        clusters=clusters,
        permutations=settings.permutations,
        alpha=settings.alpha,
        seed=settings.seed,
    )


def _columns(
    tested: Sequence[Tested], scores: Scores, readings: Sequence[ComparedScores]
) -> Floats:
    """The differences of each pair on each metric: questions x comparisons."""
    columns = np.full(
        (len(scores.questions), sum(len(of_metric.pairs) for of_metric in tested)), np.nan
    )
    start = 0
    for of_metric, reading in zip(tested, readings, strict=True):
        for a, b in of_metric.pairs:
            differences = reading.column(a, b)
            widest = float(np.nanmax(np.abs(differences), initial=0.0))
            differences[np.abs(differences) <= rounding(widest, of_metric.largest)] = 0.0
            columns[reading.questions, start] = differences
            start += 1
    return columns


def _silence(tested: Sequence[Tested], scores: Scores) -> Floats:
    """The differences of the shares of unscored answers, as `_columns`."""
    differences = []
    for of_metric in tested:
        shares = scores.shares_unscored(of_metric.metric)[:, list(of_metric.places)]
        differences += [shares[:, a] - shares[:, b] for a, b in of_metric.pairs]
    return np.column_stack(differences)


def _test(joint: MaxT, i: int, settings: ComparisonSettings) -> PairDifference:
    """The test of a pair, still without the difference."""
    n = joint.n[i]
    clusters = joint.clusters[i]
    p = joint.adjusted[i]
    if clusters < FEWEST:
        count = str(n)
        if clusters != n:
            count = f"{counted(n, 'question')} in {counted(clusters, 'cluster')}"
        why = f"the test needs at least {FEWEST} common {'questions' if clusters == n else 'clusters'}; found {count}"
        return PairDifference(None, None, None, n, reason=why)
    if p is None and joint.reasons[i] != ALL_ZERO:
        return PairDifference(None, None, None, n, reason=joint.reasons[i])
    permutations = sys.maxsize if joint.exact else settings.permutations
    none = undetectable(2, clusters, permutations, 1.0, settings.alpha)
    if p is None:
        why = "both systems have the same score on every question"
        return PairDifference(
            None, None, None, n, reason=why, p=1.0, p_unadjusted=1.0, undetectable=none
        )
    return PairDifference(
        None,
        joint.low[i],
        joint.high[i],
        n,
        remark=joint.remarks[i],
        p=p,
        p_unadjusted=joint.p[i],
        detectable=None if none else detectable(joint, i),
        undetectable=none,
    )


def detectable(joint: MaxT, i: int) -> float | None:
    """The true difference of a pair that its test detects with power .8, in units of the metric: se d, where the
    noncentral t with d.f. = clusters - 1 and noncentrality d exceeds the critical value with a probability of .8.

    The critical value is that of the first step: the 1 - alpha quantile of the largest |T| of the family. None if it is
    not finite or no sample shows a spread.
    """
    error = joint.standard_error[i]
    critical = joint.critical
    if not error or critical is None or not math.isfinite(critical):
        return None
    difference = error * standard_errors_apart(joint.clusters[i], critical, _POWER)
    return difference if math.isfinite(difference) else None


def undetectable(
    systems: int, questions: int, permutations: int, factor: float, alpha: float
) -> str | None:
    """Why no difference, however large, can be significant: the smallest possible p, times the factor, is above alpha.

    None if one can be, or if nothing was tested.
    """
    if questions < FEWEST_TESTED or least_p(systems, questions, permutations) * factor <= alpha:
        return None
    draws = math.ceil(factor / alpha - 1e-9) - 1
    # (k (k - 1))^(1 - n) factor <= alpha, solved for n
    needed = max(
        FEWEST_TESTED,
        1 + math.ceil(math.log(factor / alpha) / math.log(systems * (systems - 1)) - 1e-9),
    )
    none = "no difference, however large, can be significant with so few"
    if needed <= questions:
        return f"{none} draws ({permutations:,}); at least {draws:,} are needed (--draws)"
    and_draws = (
        f" and --draws {draws:,}" if least_p(systems, needed, permutations) * factor > alpha else ""
    )
    return f"{none} questions ({questions:,}); at least {needed:,}{and_draws} are needed"


def undetectable_in(
    test: TukeyTest, permutations: int, factor: float, alpha: float, *, pairwise: bool = False
) -> str | None:
    """`undetectable` of a Tukey test. permutations: drawn for it; pairwise: as for `unsupportable`."""
    systems = 2 if pairwise else sum(mean is not None for mean in test.means)
    draws = permutations if test.plus_one else sys.maxsize  # count / permutations can be 0
    return undetectable(systems, test.n, draws, factor, alpha)

"""The tests that decide: every pair of systems on every metric, adjusted together (`stats.max_t`).

A pair is tested on the questions with a score of both. All pairs and metrics are one family: the signs of a question's
(or a cluster's) differences are flipped for all of them together, and the largest statistic decides.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longmark.analysis.compare.metric import PairTest, PairTests, Reading, Settings, Tested
from longmark.analysis.compare.power import undetectable
from longmark.scores.clusters import QUESTION
from longmark.scores.paired import Scores
from longmark.stats.max_t import ALL_ZERO, FEWEST, MaxT, max_t
from longmark.stats.permutation import rounding
from longmark.stats.power import standard_errors_apart
from longmark.stats.samples import Floats

_POWER = 0.8


@dataclass(frozen=True, slots=True)
class Family:
    """pairs: metric -> the tests of its pairs, in the order of `Tested.pairs`; joint: all of them, on common
    questions."""

    pairs: dict[str, PairTests]
    joint: MaxT

    @property
    def comparisons(self) -> int:
        """The pairs and metrics that were tested."""
        return sum(test.p is not None for tests in self.pairs.values() for test in tests.common)


def family(tested: Sequence[Tested], scores: Scores, how: Settings) -> Family:
    """The tests of all pairs on all metrics. scores: of the questions, in which `Reading.questions` are places.

    The readings are two families with the same pairs: a difference must be significant in both, so the probability of
    any false positive is that of one. The test of more unscored answers is a third."""
    joint = _joint(_columns(tested, scores, [one.common for one in tested]), scores, how)
    counted, unscored = joint, None
    if any(one.counted for one in tested):
        counted = _joint(_columns(tested, scores, [one.counted or one.common for one in tested]), scores, how)
    if (silence := _silence(tested, scores)).any():
        unscored = _joint(silence, scores, how)
    found, start = {}, 0
    for one in tested:
        places = range(start, start + len(one.pairs))
        found[one.metric] = PairTests(
            tuple(_test(joint, i, how) for i in places),
            tuple(_test(counted, i, how) for i in places),
            tuple(None if unscored is None else unscored.adjusted[i] for i in places),
        )
        start += len(one.pairs)
    return Family(found, joint)


def _joint(columns: Floats, scores: Scores, how: Settings) -> MaxT:
    clusters = None if scores.cluster == QUESTION else scores.clusters.tolist()
    return max_t(columns, clusters=clusters, permutations=how.permutations, alpha=how.alpha, seed=how.seed)


def _columns(tested: Sequence[Tested], scores: Scores, readings: Sequence[Reading]) -> Floats:
    """The differences of each pair on each metric: questions x comparisons."""
    columns = np.full((len(scores.questions), sum(len(one.pairs) for one in tested)), np.nan)
    start = 0
    for one, reading in zip(tested, readings, strict=True):
        for a, b in one.pairs:
            differences = reading.column(a, b)
            widest = float(np.nanmax(np.abs(differences), initial=0.0))
            differences[np.abs(differences) <= rounding(widest, one.largest)] = 0.0
            columns[list(reading.questions), start] = differences
            start += 1
    return columns


def _silence(tested: Sequence[Tested], scores: Scores) -> Floats:
    """The differences of the shares of unscored answers, as `_columns`."""
    found = []
    for one in tested:
        shares = scores.shares_unscored(one.metric)[:, list(one.places)]
        found += [shares[:, a] - shares[:, b] for a, b in one.pairs]
    return np.column_stack(found)


def _test(joint: MaxT, i: int, how: Settings) -> PairTest:
    n, clusters, p = joint.n[i], joint.clusters[i], joint.adjusted[i]
    if clusters < FEWEST:
        found = f"{n}{'' if clusters == n else f' questions in {clusters} clusters'}"
        why = f"the test needs at least {FEWEST} common {'questions' if clusters == n else 'clusters'}; found {found}"
        return PairTest(n, None, None, None, why, None)
    if p is None and joint.reasons[i] != ALL_ZERO:
        return PairTest(n, None, None, None, joint.reasons[i], None, effective=joint.effective[i])
    permutations = sys.maxsize if joint.exact else how.permutations
    none = undetectable(2, clusters, permutations, 1.0, how.alpha)
    if p is None:
        return PairTest(n, 1.0, 1.0, None, "both systems have the same score on every question", none)
    low, high = joint.low[i], joint.high[i]
    return PairTest(
        *(n, joint.p[i], p, None if none else detectable(joint, i), None, none),
        ends=None if low is None or high is None else (low, high),
        effective=joint.effective[i],
        remark=joint.remarks[i],
    )


def detectable(joint: MaxT, i: int) -> float | None:
    """The true difference of a pair that its test detects with power .8, in units of the metric: se d, where the
    noncentral t with d.f. = clusters - 1 and noncentrality d exceeds the critical value with a probability of .8.

    The critical value is that of the first step: the 1 - alpha quantile of the largest |T| of the family. None if it is
    not finite or no sample shows a spread.
    """
    error, critical = joint.standard_error[i], joint.critical
    if not error or critical is None or not math.isfinite(critical):
        return None
    found = error * standard_errors_apart(joint.clusters[i], critical, _POWER)
    return found if math.isfinite(found) else None

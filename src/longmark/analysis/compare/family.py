"""The tests that decide: every pair of systems on every metric, adjusted together (`stats.max_t`).

A pair is tested on the questions with a score of both. All pairs and metrics are one family: the signs of a question's
(or a cluster's) differences are flipped for all of them together, and the largest statistic decides, step by step
(Westfall and Young).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longmark.analysis.compare.metric import PairTest, Settings, Tested
from longmark.analysis.compare.power import undetectable
from longmark.scores.clusters import QUESTION
from longmark.scores.paired import Scores
from longmark.stats.max_t import ALL_ZERO, FEWEST, MaxT, max_t
from longmark.stats.permutation import rounding
from longmark.stats.power import standard_errors_apart

_POWER = 0.8


@dataclass(frozen=True, slots=True)
class Family:
    """pairs: metric -> the tests of its pairs, in the order of `Tested.pairs`; joint: all of them."""

    pairs: dict[str, tuple[PairTest, ...]]
    joint: MaxT

    @property
    def comparisons(self) -> int:
        """The pairs and metrics that were tested."""
        return sum(test.p is not None for column in self.pairs.values() for test in column)


def family(tested: Sequence[Tested], scores: Scores, how: Settings) -> Family:
    """The tests of all pairs on all metrics. scores: of the questions, in which `Tested.questions` are places."""
    columns = np.full((len(scores.questions), sum(len(one.pairs) for one in tested)), np.nan)
    start = 0
    for one in tested:
        for a, b in one.pairs:
            differences = one.table[:, a] - one.table[:, b]
            widest = float(np.nanmax(np.abs(differences), initial=0.0))
            differences[np.abs(differences) <= rounding(widest, one.largest)] = 0.0
            columns[list(one.questions), start] = differences
            start += 1
    clusters = None if scores.cluster == QUESTION else scores.clusters.tolist()
    joint = max_t(columns, clusters=clusters, permutations=how.permutations, alpha=how.alpha, seed=how.seed)
    tests = [_test(joint, i, how) for i in range(start)]
    found, start = {}, 0
    for one in tested:
        found[one.metric] = tuple(tests[start : start + len(one.pairs)])
        start += len(one.pairs)
    return Family(found, joint)


def _test(joint: MaxT, i: int, how: Settings) -> PairTest:
    n, clusters, p = joint.n[i], joint.clusters[i], joint.adjusted[i]
    if clusters < FEWEST:
        found = f"{n}{'' if clusters == n else f' in {clusters} clusters'}"
        why = f"the test needs at least {FEWEST} common {'questions' if clusters == n else 'clusters'}; found {found}"
        return PairTest(n, None, None, None, why, None)
    if p is None and joint.reasons[i] != ALL_ZERO:
        return PairTest(n, None, None, None, joint.reasons[i], None)
    if p is None:
        return PairTest(n, 1.0, 1.0, None, "both systems have the same score on every question", None)
    permutations = sys.maxsize if joint.exact else how.permutations
    none = undetectable(2, clusters, permutations, 1.0, how.alpha)
    return PairTest(n, joint.p[i], p, None if none else detectable(joint, i), None, none)


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

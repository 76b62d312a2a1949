"""What a test can find with so many questions: the true difference it finds four times in five, or nothing at all."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
from scipy.stats import studentized_range

from longmark.stats.hypotheses import ALL, ANY
from longmark.stats.results import TWO_SIDED, HypothesisResult, TukeyTest
from longmark.stats.samples import Floats
from longmark.stats.tukey import least_p

_WANTED = 0.8  # the power that a detectable difference is found with
_FEWEST = 3
FEWEST_NORMAL = 8
"""Questions from which `detectable` holds: of 500 simulated samples with that difference 79 to 82 % found it, for two
to five systems, also where others lie far apart; with six questions 67 %."""


def detectable(table: Floats, pairs: Sequence[tuple[int, int]], alpha: float) -> list[float | None]:
    """For each pair the true difference that the test would find with power .8, by normal theory:

        r √(w / (n - r² / (k - 1))) + z s / √n     r = q / √2, z = Φ⁻¹(.8)

    q: quantile of the studentised range of k systems at alpha; w: variance of a difference of two systems when a
    question's values are shuffled, with the pair's own means set equal and those of the others left where they are:
    systems that lie far apart widen what chance does. r² / (k - 1) is what the difference itself adds. s: standard
    deviation of the pair's differences. table: complete, questions x systems (n x k); alpha: what is left for the
    metric. None where the values are all alike, or the questions so few that normal theory has no answer.
    """
    n, systems = table.shape
    if n < _FEWEST:
        return [None] * len(pairs)
    reach = float(studentized_range.ppf(1 - alpha, systems, np.inf)) / math.sqrt(2)
    left, power = n - reach**2 / (systems - 1), NormalDist().inv_cdf(_WANTED)
    shuffled = 2 * float(((table - table.mean(axis=1, keepdims=True)) ** 2).sum()) / (n * (systems - 1))
    none = (1e-12 * float(np.abs(table).max())) ** 2
    found: list[float | None] = []
    for a, b in pairs:
        apart = table[:, a] - table[:, b]
        spread, width = float(apart.var(ddof=1)), shuffled - float(apart.mean()) ** 2 / (systems - 1)
        if left <= 0 or max(spread, width) <= none:
            found.append(None)
        else:
            found.append(reach * math.sqrt(max(width, 0.0) / left) + power * math.sqrt(spread / n))
    return found


def factors(p: Mapping[str, Sequence[float | None]], alpha: float) -> dict[str, int]:
    """For each metric what the correction multiplies its least p by: the tested metrics, itself among them, without
    those of which every pair is found. p: of the pairs of each metric, corrected."""
    waiting = {
        metric
        for metric, column in p.items()
        if any(one is not None for one in column) and not all(one is not None and one <= alpha for one in column)
    }
    return {metric: len(waiting | {metric}) for metric in p}


def beyond_reach(
    systems: int, questions: int, permutations: int, factor: float, alpha: float, option: str = "--draws"
) -> str | None:
    """Why no difference, however large, could be found: the least p that there is, times the factor, is above alpha.
    None where one could be, or where nothing was tested. option: that sets the permutations."""
    if questions < _FEWEST or least_p(systems, questions, permutations) * factor <= alpha:
        return None
    draws = math.ceil(factor / alpha - 1e-9) - 1
    # (k (k - 1))^(1 - n) factor <= alpha, solved for n
    enough = max(_FEWEST, 1 + math.ceil(math.log(factor / alpha) / math.log(systems * (systems - 1)) - 1e-9))
    none = "no difference, however large, could be found with so few"
    if enough <= questions:
        return f"{none} draws ({permutations:,}); at least {draws:,} are needed ({option})"
    more = f" and {option} {draws:,}" if least_p(systems, enough, permutations) * factor > alpha else ""
    return f"{none} questions ({questions:,}); at least {enough:,}{more} are needed"


def claims_beyond_reach(
    hypotheses: Sequence[HypothesisResult],
    tests: Mapping[str, TukeyTest],
    permutations: int,
    alpha: float,
    option: str = "--draws",
) -> list[str | None]:
    """For each hypothesis why no differences, however large, could have supported it; None where some could, or where
    it was not tested. tests: metric -> its test; permutations: tables drawn for one; option: that sets them.

    Taken as if each of its pairs could have the least p that there is; for several pairs at once it may be larger.
    """
    waiting = sum(one.p is not None and not one.supported for one in hypotheses)
    return [
        None
        if one.p is None or one.supported
        else _claim_beyond_reach(one, tests, permutations, waiting, alpha, option)
        for one in hypotheses
    ]


def _claim_beyond_reach(
    one: HypothesisResult, tests: Mapping[str, TukeyTest], permutations: int, waiting: int, alpha: float, option: str
) -> str | None:
    """waiting: the hypotheses that Holm multiplies its p by."""
    found = dict[str, tuple[float, int, int, int]]()
    for part in one.comparisons:
        test = tests[part.metric]
        systems = sum(mean is not None for mean in test.means)
        draws = permutations if test.plus_one else sys.maxsize  # count / permutations can be 0
        found[part.metric] = (least_p(systems, test.n, draws), systems, test.n, draws)
    metric = (max if one.combine == ALL else min)(found, key=lambda name: found[name][0])
    _, systems, questions, draws = found[metric]
    sides = 1.0 if one.direction == TWO_SIDED else 0.5
    factor = waiting * sides * (len(found) if one.combine == ANY else 1)
    why = beyond_reach(systems, questions, draws, factor, alpha, option)
    return why and f"{metric}: {why}"

"""What a test can detect with so many questions: the difference detectable at 80 % power, or none at all."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
from scipy.stats import studentized_range

from longmark.analysis.compare.checks import FEWEST_TESTED
from longmark.stats.hypotheses import ALL, ANY
from longmark.stats.results import TWO_SIDED, HypothesisResult, TukeyTest
from longmark.stats.samples import Floats
from longmark.stats.tukey import least_p

_POWER = 0.8
FEWEST_NORMAL = 8
"""Questions from which `detectable` holds: in 79 to 82 % of 500 simulated samples with that difference the test found
it, for two to five systems, also where others are far apart; with six questions in 67 %."""


def detectable(table: Floats, pairs: Sequence[tuple[int, int]], alpha: float) -> list[float | None]:
    """For each pair the true difference that the test detects with power .8, by normal theory:

        r √(w / (n - r² / (k - 1))) + z s / √n     r = q / √2, z = Φ⁻¹(.8)

    q: quantile of the studentised range of k systems at alpha; w: variance of a difference of two systems if a
    question's scores are shuffled, with the pair's own means set equal and those of the others as they are: systems
    that are far apart widen the null distribution. r² / (k - 1) is what the difference itself adds. s: standard
    deviation of the pair's differences. table: complete, questions x systems (n x k); alpha: that of the metric. None
    if all scores are equal, or the questions are too few for normal theory.
    """
    n, systems = table.shape
    if n < FEWEST_TESTED:
        return [None] * len(pairs)
    r = float(studentized_range.ppf(1 - alpha, systems, np.inf)) / math.sqrt(2)
    left, z = n - r**2 / (systems - 1), NormalDist().inv_cdf(_POWER)
    shuffled = 2 * float(((table - table.mean(axis=1, keepdims=True)) ** 2).sum()) / (n * (systems - 1))
    rounding = (1e-12 * float(np.abs(table).max())) ** 2
    found: list[float | None] = []
    for a, b in pairs:
        differences = table[:, a] - table[:, b]
        variance, width = float(differences.var(ddof=1)), shuffled - float(differences.mean()) ** 2 / (systems - 1)
        none = left <= 0 or max(variance, width) <= rounding
        found.append(None if none else r * math.sqrt(max(width, 0.0) / left) + z * math.sqrt(variance / n))
    return found


def undetectable(
    systems: int, questions: int, permutations: int, factor: float, alpha: float, option: str = "--draws"
) -> str | None:
    """Why no difference, however large, can be significant: the smallest possible p, times the factor, is above alpha.

    None if one can be, or if nothing was tested. option: that sets the permutations.
    """
    if questions < FEWEST_TESTED or least_p(systems, questions, permutations) * factor <= alpha:
        return None
    draws = math.ceil(factor / alpha - 1e-9) - 1
    # (k (k - 1))^(1 - n) factor <= alpha, solved for n
    enough = max(FEWEST_TESTED, 1 + math.ceil(math.log(factor / alpha) / math.log(systems * (systems - 1)) - 1e-9))
    none = "no difference, however large, can be significant with so few"
    if enough <= questions:
        return f"{none} draws ({permutations:,}); at least {draws:,} are needed ({option})"
    more = f" and {option} {draws:,}" if least_p(systems, enough, permutations) * factor > alpha else ""
    return f"{none} questions ({questions:,}); at least {enough:,}{more} are needed"


def undetectable_in(test: TukeyTest, permutations: int, factor: float, alpha: float, option: str) -> str | None:
    """`undetectable` of a Tukey test. permutations: drawn for it."""
    systems = sum(mean is not None for mean in test.means)
    draws = permutations if test.plus_one else sys.maxsize  # count / permutations can be 0
    return undetectable(systems, test.n, draws, factor, alpha, option)


def unsupportable(
    hypotheses: Sequence[HypothesisResult],
    tests: Mapping[str, TukeyTest],
    permutations: int,
    alpha: float,
    option: str = "--draws",
) -> list[str | None]:
    """For each hypothesis why no differences, however large, could have supported it; None if some could, or if it was
    not tested. tests: metric -> its test. It is assumed that each pair could have the smallest possible p; for several
    pairs at once it may be larger."""
    waiting = sum(one.p is not None and not one.supported for one in hypotheses)  # what Holm multiplies by
    found: list[str | None] = []
    for one in hypotheses:
        if one.p is None or one.supported:
            found.append(None)
            continue
        least: dict[str, float] = {}
        for part in one.comparisons:
            test = tests[part.metric]
            systems = sum(mean is not None for mean in test.means)
            least[part.metric] = least_p(systems, test.n, permutations if test.plus_one else sys.maxsize)
        metric = (max if one.combine == ALL else min)(least, key=lambda name: least[name])
        sides = 1.0 if one.direction == TWO_SIDED else 0.5
        factor = waiting * sides * (len(least) if one.combine == ANY else 1)
        why = undetectable_in(tests[metric], permutations, factor, alpha, option)
        found.append(why and f"{metric}: {why}")
    return found


def factors(p: Mapping[str, Sequence[float | None]], alpha: float) -> dict[str, int]:
    """For each metric what the correction multiplies its smallest p by: the number of tested metrics, itself among
    them, without those of which every pair is significant. p: of the pairs of each metric, adjusted."""
    waiting = {
        metric
        for metric, column in p.items()
        if any(one is not None for one in column) and not all(one is not None and one <= alpha for one in column)
    }
    return {metric: len(waiting | {metric}) for metric in p}

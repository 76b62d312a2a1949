"""Where a test has too few questions or draws to find any difference, however large."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence

from longmark.analysis.compare.checks import FEWEST_TESTED
from longmark.stats.hypotheses import ALL, ANY
from longmark.stats.results import TWO_SIDED, HypothesisResult, TukeyTest
from longmark.stats.tukey import least_p


def undetectable(systems: int, questions: int, permutations: int, factor: float, alpha: float) -> str | None:
    """Why no difference, however large, can be significant: the smallest possible p, times the factor, is above alpha.

    None if one can be, or if nothing was tested.
    """
    if questions < FEWEST_TESTED or least_p(systems, questions, permutations) * factor <= alpha:
        return None
    draws = math.ceil(factor / alpha - 1e-9) - 1
    # (k (k - 1))^(1 - n) factor <= alpha, solved for n
    enough = max(FEWEST_TESTED, 1 + math.ceil(math.log(factor / alpha) / math.log(systems * (systems - 1)) - 1e-9))
    none = "no difference, however large, can be significant with so few"
    if enough <= questions:
        return f"{none} draws ({permutations:,}); at least {draws:,} are needed (--draws)"
    more = f" and --draws {draws:,}" if least_p(systems, enough, permutations) * factor > alpha else ""
    return f"{none} questions ({questions:,}); at least {enough:,}{more} are needed"


def undetectable_in(
    test: TukeyTest, permutations: int, factor: float, alpha: float, *, pairwise: bool = False
) -> str | None:
    """`undetectable` of a Tukey test. permutations: drawn for it; pairwise: as for `unsupportable`."""
    systems = 2 if pairwise else sum(mean is not None for mean in test.means)
    draws = permutations if test.plus_one else sys.maxsize  # count / permutations can be 0
    return undetectable(systems, test.n, draws, factor, alpha)


def unsupportable(
    hypotheses: Sequence[HypothesisResult],
    tests: Mapping[str, TukeyTest],
    permutations: int,
    alpha: float,
    *,
    pairwise: bool = False,
) -> list[str | None]:
    """For each hypothesis why no differences, however large, could have supported it; None if some could, or if it was
    not tested. tests: metric -> its test; pairwise: by sign flips of pairs, whose least p is that of two systems. It is
    assumed that each pair could have the smallest possible p; for several pairs at once it may be larger."""
    waiting = sum(one.p is not None and not one.supported for one in hypotheses)  # what Holm multiplies by
    found: list[str | None] = []
    for one in hypotheses:
        if one.p is None or one.supported:
            found.append(None)
            continue
        least: dict[str, float] = {}
        for part in one.comparisons:
            test = tests[part.metric]
            systems = 2 if pairwise else sum(mean is not None for mean in test.means)
            least[part.metric] = least_p(systems, test.n, permutations if test.plus_one else sys.maxsize)
        metric = (max if one.combine == ALL else min)(least, key=lambda name: least[name])
        sides = 1.0 if one.direction == TWO_SIDED else 0.5
        factor = waiting * sides * (len(least) if one.combine == ANY else 1)
        why = undetectable_in(tests[metric], permutations, factor, alpha, pairwise=pairwise)
        found.append(why and f"{metric}: {why}")
    return found

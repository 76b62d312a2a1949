"""What a test can find with so many questions: the true difference it finds four times in five, or nothing at all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

import numpy as np
from scipy.stats import studentized_range

from longmark.compare import resample
from longmark.stats.samples import Floats
from longmark.stats.tukey import least_p

_WANTED = 0.8  # the power that a detectable difference is found with
_FEWEST = 3


def detectable(table: Floats, pairs: Sequence[tuple[int, int]], alpha: float) -> list[float | None]:
    """For each pair the true difference that the test would find with power .8, by normal theory:

        (q / √2) s0 / √n + z s / √n     q: quantile of the studentised range at alpha; z = Φ⁻¹(.8)

    s0: standard deviation of a difference with the means set equal, pooled over the pairs; s: the pair's own. With two
    systems q / √2 is the normal quantile of a two-sided test. table: complete, questions x systems; alpha: that is left
    for the metric. Below 15 questions it promises too much.
    """
    n, systems = table.shape
    if n < _FEWEST:
        return [None] * len(pairs)
    reach = float(studentized_range.ppf(1 - alpha, systems, np.inf)) / math.sqrt(2)
    pooled, power = resample.pooled_spread(table), NormalDist().inv_cdf(_WANTED)
    scale = float(np.abs(table).max())
    found: list[float | None] = []
    for a, b in pairs:
        own = float((table[:, a] - table[:, b]).std(ddof=1))
        known = max(own, pooled) > 1e-12 * scale
        found.append((reach * pooled + power * own) / math.sqrt(n) if known else None)
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


def beyond_reach(systems: int, questions: int, permutations: int, factor: int, alpha: float) -> str | None:
    """Why no difference, however large, could be found: the least p that there is, times the factor, is above alpha.
    None where one could be, or where nothing was tested."""
    if questions < _FEWEST or least_p(systems, questions, permutations) * factor <= alpha:
        return None
    draws = math.ceil(factor / alpha - 1e-9) - 1
    # (k (k - 1))^(1 - n) factor <= alpha, solved for n
    enough = max(_FEWEST, 1 + math.ceil(math.log(factor / alpha) / math.log(systems * (systems - 1)) - 1e-9))
    none = "no difference, however large, could be found with so few"
    if enough <= questions:
        return f"{none} draws ({permutations:,}); at least {draws:,} are needed (--draws)"
    more = f" and --draws {draws:,}" if least_p(systems, enough, permutations) * factor > alpha else ""
    return f"{none} questions ({questions:,}); at least {enough:,}{more} are needed"

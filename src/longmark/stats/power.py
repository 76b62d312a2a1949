"""How many questions it takes to show a difference: the paired t test with a pilot's spread, by the noncentral t.

`variance_per_question` has an interval; `detectable` and `questions_needed` follow from it. `inflation` says how many
more questions the pilot's skewness and ties cost than normal differences would.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import chdtri, nctdtrinc, ndtri, stdtrit

from longmark.errors import UserError
from longmark.stats.clusters import effective, leverages
from longmark.stats.means import few_clusters
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Values, cluster_numbers, complete_rows
from longmark.stats.student import t_quantile

_FEWEST = 3
_FEWEST_FOR_INTERVAL = 8
_RUNS = 400
_ROUNDS = 3
_CLOSE = 0.02
_MOST_CLUSTERS = 2_000
_MOST_INFLATION = 4.0
MOST = 10**9
"""Questions beyond which no number is given."""
_LEAST_ALPHA = 1e-12
"""Below it 1 - alpha / 2 has too few digits left for a critical value."""
_FAR = 500.0
"""Critical values beyond it leave the normal part of a noncentral t without weight; its series would take up to minutes
there, and lose digits."""
JACKKNIFE_LOG = "jackknife of the logarithm"


def variance_per_question(
    differences: Values, *, clusters: Sequence[Hashable] | None = None, level: float = 0.95
) -> Estimate:
    """What one question adds to the variance of a mean difference: n times the squared standard error of the mean.

    differences: of two systems, one a question, None where a score is missing; clusters: for each question, what it
    belongs to (the value then holds for clusters of the pilot's sizes, by their leverages: `stats.clusters`). Without
    clusters it is the variance of the differences, divisor n - 1. The interval is the delete-one jackknife's of the
    logarithm, around the mean of the pseudo-values, Student's t (Miller 1974, "The jackknife - a review", Biometrika
    61): the usual one by chi-squared holds for normal differences only, and covers .70 to .86 where they are
    heavy-tailed. No value for fewer than 3 clusters, fewer than 5 effective ones or equal differences, no interval for
    fewer than 8.
    """
    (d,), keep = complete_rows(differences)
    numbers, count = cluster_numbers(range(len(keep)) if clusters is None else clusters, keep)
    empty = Estimate(None, None, None, len(d), level, JACKKNIFE_LOG, None, len(keep) - len(d))
    empty = empty if clusters is None else replace(empty, clusters=count)
    if count < _FEWEST:
        return replace(
            empty, reason=f"a pilot needs at least {_FEWEST} {_units(clusters)}; found {count}"
        )
    centred = d - d.mean()
    sums = np.bincount(numbers, centred)
    sizes = np.bincount(numbers).astype(np.float64)
    lever = np.array(leverages(sizes.tolist()))
    empty = empty if clusters is None else replace(empty, effective=effective(sizes.tolist()))
    if empty.effective is not None and (why := few_clusters(empty.effective)):
        return replace(empty, reason=why)
    parts = np.array(
        [(lever * sums) ** 2, lever**2 * sums * sizes, (lever * sizes) ** 2, sums, sizes]
    )

    def variance(total: Floats, groups: int) -> Floats:
        squares, products, square_sizes, sum_, n = total
        mean = sum_ / n
        return np.asarray(
            groups / (groups - 1) * (squares - 2 * mean * products + mean**2 * square_sizes) / n
        )

    total = parts.sum(axis=1, keepdims=True)
    value = float(variance(total, count)[0])
    if value <= (1e-12 * float(np.abs(d).max(initial=0.0))) ** 2:
        return replace(
            empty, reason="all differences of the pilot are equal, so their spread is unknown"
        )
    if count < _FEWEST_FOR_INTERVAL:
        return replace(
            empty,
            value=value,
            reason=f"an interval needs at least {_FEWEST_FOR_INTERVAL} {_units(clusters)}",
        )
    left_out = variance(total - parts, count - 1)
    if left_out.min() <= 1e-9 * value:
        return replace(
            empty, value=value, reason="only one of the differences is unlike the others"
        )
    pseudo = count * math.log(value) - (count - 1) * np.log(left_out)
    half = t_quantile(level, count - 1) * float(pseudo.std(ddof=1)) / math.sqrt(count)
    low, high = (math.exp(float(pseudo.mean()) + end) for end in (-half, half))
    return replace(empty, value=value, low=min(low, value), high=max(high, value))


def _units(clusters: object) -> str:
    return "questions" if clusters is None else "clusters"


def standard_errors_apart(clusters: float, critical: float, wanted: float = 0.8) -> float:
    """The true difference, in standard errors of the mean, that a t test of so many questions (or clusters) finds with
    the probability `wanted`: the noncentrality with which |t| exceeds the critical value so often.

    Noncentral t is (Z + d) / sqrt(χ² / df). Where the critical value c is above 500, d is as large, Z is left out, and d
    is c sqrt(q / df), with q the quantile of χ² at the power: 2 in 100,000 from the exact one at c = 500, and nearer
    beyond.
    """
    df = clusters - 1
    if critical > _FAR:
        return critical * math.sqrt(float(chdtri(df, 1 - wanted)) / df)
    return float(nctdtrinc(df, 1 - wanted, critical))


def detectable(
    variance: float, n: float, *, per_cluster: float = 1.0, alpha: float = 0.05, wanted: float = 0.8
) -> float:
    """The true difference that n questions show with the power wanted. variance: of `variance_per_question`;
    per_cluster: questions in a cluster. UserError for an alpha below 1e-12 and for a power or an alpha that is no
    probability."""
    if not _LEAST_ALPHA <= alpha < 1:
        raise UserError(
            f"alpha: expected a probability of {_LEAST_ALPHA:g} or more, below 1; found {alpha:g}. The critical value "
            "of so small an error cannot be computed: ask for a lower confidence, or compare fewer things at once"
        )
    if not 0 < wanted < 1:
        raise UserError(f"power: expected a probability above 0 and below 1; found {wanted:g}")
    clusters = n / per_cluster
    critical = float(stdtrit(clusters - 1, 1 - alpha / 2))
    return math.sqrt(variance / n) * standard_errors_apart(clusters, critical, wanted)


def questions_needed(
    variance: float,
    difference: float,
    *,
    per_cluster: float = 1.0,
    alpha: float = 0.05,
    wanted: float = 0.8,
    fewest: int = _FEWEST,
) -> int | None:
    """The fewest questions with which a difference is detectable; None beyond a billion. The inverse of `detectable`.
    fewest: questions (or clusters) that the test needs in any case."""
    low = high = math.ceil(fewest * per_cluster)

    def shows(n: int) -> bool:
        return detectable(variance, n, per_cluster=per_cluster, alpha=alpha, wanted=wanted) <= abs(
            difference
        )

    while not shows(high):
        low = high
        high = 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high


def inflation(
    differences: Values,
    n: int,
    difference: float,
    *,
    clusters: Sequence[Hashable] | None = None,
    alpha: float = 0.05,
    wanted: float = 0.8,
    seed: int = 0,
) -> float:
    """How many times as many questions as n, which would do for normal differences, it takes to find the difference.

    By simulation: questions (or clusters) are drawn from the pilot's, with weights that give them this mean
    (exponential tilting, which keeps ties and skewness), in the direction in which it is harder to find; the test is
    Hall's t, as in `stats.max_t`. At least 1: a pilot is too small to promise that fewer do. 1 for more than 2,000
    clusters, where skewness matters little, and for a difference beyond the pilot's.
    """
    (d,), keep = complete_rows(differences)
    numbers, count = cluster_numbers(range(len(keep)) if clusters is None else clusters, keep)
    sums: Floats = np.bincount(numbers, d).astype(np.float64)
    sizes: Floats = np.bincount(numbers).astype(np.float64)
    questions_per_cluster = len(d) / count
    size = effective(sizes.tolist()) / count
    weights = [
        _tilted(sums / sizes, sizes, sums.sum() / len(d), sign * difference) for sign in (1, -1)
    ]
    n_needed = float(n)
    random = np.random.default_rng(seed)
    for _ in range(_ROUNDS):
        drawn = round(n_needed / questions_per_cluster)
        if not _FEWEST <= drawn <= _MOST_CLUSTERS or any(weight is None for weight in weights):
            break
        critical = t_quantile(1 - alpha, max(1.0, drawn * size - 1))
        power = min(
            _power(random, sums, sizes, drawn, critical, weight)
            for weight in weights
            if weight is not None
        )
        if abs(power - wanted) <= _CLOSE:
            break
        tail_quantile = float(ndtri(1 - alpha / 2))
        n_needed *= (
            (tail_quantile + ndtri(wanted)) / (tail_quantile + ndtri(min(0.999, max(alpha, power))))
        ) ** 2
    return float(min(max(n_needed / n, 1.0), _MOST_INFLATION))


def _tilted(means: Floats, sizes: Floats, centre: float, target: float) -> Floats | None:
    """Chances of clusters that give a mean over questions as wanted; None if it is not within the means."""
    if not means.min() < target < means.max():
        return None
    spread = float(means.std())
    low = -50.0
    high = 50.0

    def chances(tilt: float) -> Floats:
        logs = tilt * (means - centre) / spread
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    for _ in range(50):
        middle = (low + high) / 2
        weights = chances(middle) * sizes
        low, high = (middle, high) if weights @ means / weights.sum() < target else (low, middle)
    return chances((low + high) / 2)


def _power(
    random: np.random.Generator,
    sums: Floats,
    sizes: Floats,
    count: int,
    critical: float,
    weights: Floats,
) -> float:
    """The share of samples of so many clusters whose |T| reaches the critical value."""
    index = random.choice(len(sums), (_RUNS, count), p=weights)
    s = sums[index]
    n = sizes[index]
    total = n.sum(axis=1)
    mean = s.sum(axis=1) / total
    u = (s - n * mean[:, None]) * (count - 1) / (count * (1 - n / total[:, None]))
    squares = (u * u).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = mean * total / np.sqrt(count / (count - 1) * squares)
        a = (u**3).sum(axis=1) / squares**1.5
        moved = np.abs(t + a * t * t / 3 + a * a * t**3 / 27 + a / 6)
    equal = squares <= 1e-12 * np.maximum((s * s).sum(axis=1), 1e-300)
    return float(np.where(equal, mean != 0, moved > critical).mean())

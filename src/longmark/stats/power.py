"""How many questions it takes to show a difference: by the noncentral t, or by resampling a pilot's paired rows.

The first (`variance_per_question`, `detectable`, `questions_needed`) needs the spread alone and has an interval.
The second (`power`, `sample_size`) runs the test that will be used, on resampled differences.

The pilot's differences are centred, widened by sqrt(n / (n - 1)) so that their variance is the unbiased one, and
shifted to the difference that one wants to be able to show; rows are drawn with replacement, and the test that will be
used is run on each draw. Power is the share of draws with p <= alpha. The shift is the same for every question, and may
carry scores past a metric's bounds. The normal approximation is given as a check:

    power = Φ(sqrt(n) |d| / s - z) + Φ(-sqrt(n) |d| / s - z)      z = Φ⁻¹(1 - alpha / 2)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from scipy.special import nctdtrinc, stdtrit

from longmark.errors import UserError
from longmark.stats.permutation import sign_flip_p
from longmark.stats.proportion import share
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Seed, Values, check_count, cluster_numbers, complete_rows, generator
from longmark.stats.student import t_quantile

PairedTest = Callable[[Floats, Floats, np.random.Generator], float]
"""Two columns of equal length and a generator, to a p-value."""

_PATTERNS = 1_000  # of signs, drawn for each simulated test
SIGN_FLIP = f"paired sign flip, {_PATTERNS:,} drawn patterns"

_FEWEST, _FEWEST_FOR_INTERVAL = 3, 8
MOST = 10**9
"""Questions beyond which no number is given."""
JACKKNIFE_LOG = "jackknife of the logarithm"
_RESOLUTION = 0.02  # how closely a number of questions is searched, relative


@dataclass(frozen=True, slots=True)
class Power:
    """power: the share of simulations that found the difference, with Wilson's interval; None with a reason.

    normal: by the normal approximation. spread: the standard deviation of the pilot's differences (divisor n - 1).
    pilot: its pairs; missing: those without a value.
    """

    n: int
    difference: float
    alpha: float
    spread: float | None
    pilot: int
    missing: int
    simulations: int
    test: str
    seed: int | None
    power: Estimate | None = None
    normal: float | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class SampleSize:
    """n: the questions that reach the wanted power, within 2 %; None with a reason.

    normal: by the normal approximation. tried: the powers on the way, by n.
    """

    n: int | None
    normal: int | None
    wanted: float
    tried: tuple[Power, ...]
    reason: str | None = None


def power(
    first: Values,
    second: Values,
    difference: float,
    *,
    n: int | None = None,
    alpha: float = 0.05,
    test: PairedTest | None = None,
    simulations: int = 1000,
    level: float = 0.95,
    seed: Seed = 0,
) -> Power:
    """The power to show a mean difference with n questions (default: as many as the pilot has pairs).

    test: the test that will be used; None: the two-sided paired permutation test with 1,000 drawn patterns of signs.
    UserError for an alpha outside (0, 1), a difference that is not finite, n below 3 or no simulations.
    """
    if not 0 < alpha < 1:
        raise UserError(f"alpha must be between 0 and 1, for example 0.05; found {alpha}")
    if not math.isfinite(difference):
        raise UserError(f"the difference to show must be a number, not {difference}")
    if n is not None and n < _FEWEST:
        raise UserError(f"a paired test needs at least {_FEWEST} questions, not {n}")
    check_count(simulations, "simulations")
    (a, b), keep = complete_rows(first, second)
    pilot, d = len(a), a - b
    size = pilot if n is None else n
    random, number = generator(seed)
    spread = float(d.std(ddof=1)) if pilot > 1 else None
    empty = Power(
        n=size,
        difference=difference,
        alpha=alpha,
        spread=spread,
        pilot=pilot,
        missing=int((~keep).sum()),
        simulations=simulations,
        test=SIGN_FLIP if test is None else getattr(test, "__name__", type(test).__name__),
        seed=number,
    )
    if pilot < _FEWEST or spread is None:
        return replace(empty, reason=f"a pilot needs at least {_FEWEST} pairs; found {pilot}")
    if spread <= 1e-12 * max(np.abs(a).max(), np.abs(b).max()):
        return replace(empty, reason="all differences of the pilot are equal, so their spread is unknown")
    shifted = (d - d.mean()) * math.sqrt(pilot / (pilot - 1)) + difference
    p = []
    for _ in range(simulations):
        drawn = random.integers(0, pilot, size)
        p.append(
            sign_flip_p(shifted[drawn], _PATTERNS, random)
            if test is None
            else test(b[drawn] + shifted[drawn], b[drawn], random)
        )
    found = share(sum(one <= alpha for one in p), simulations, level)
    z, shift = NormalDist().inv_cdf(1 - alpha / 2), math.sqrt(size) * abs(difference) / spread
    normal = NormalDist().cdf(shift - z) + NormalDist().cdf(-shift - z)
    return replace(empty, power=found, normal=normal)


def sample_size(
    first: Values,
    second: Values,
    difference: float,
    *,
    wanted: float = 0.8,
    alpha: float = 0.05,
    test: PairedTest | None = None,
    simulations: int = 1000,
    largest: int = 100_000,
    seed: int = 0,
) -> SampleSize:
    """The smallest number of questions whose simulated power reaches `wanted`, searched from the normal formula's.

    largest: give up beyond so many questions. UserError as for `power`, and for a wanted power that is not
    between alpha and 1.
    """
    if not alpha < wanted < 1:
        raise UserError(f"the wanted power must be between alpha ({alpha}) and 1, for example 0.8; found {wanted}")
    tried: dict[int, Power] = {}

    def reaches(n: int) -> bool:
        if n not in tried:
            tried[n] = power(first, second, difference, n=n, alpha=alpha, test=test, simulations=simulations, seed=seed)
        found = tried[n].power
        return found is not None and found.value is not None and found.value >= wanted

    def result(n: int | None, normal: int | None, reason: str | None = None) -> SampleSize:
        return SampleSize(n, normal, wanted, tuple(tried[k] for k in sorted(tried)), reason)

    at_once = reaches(_FEWEST)
    spread, reason = tried[_FEWEST].spread, tried[_FEWEST].reason
    if reason is not None or spread is None:
        return result(None, None, reason)
    if difference == 0:
        return result(None, None, "no number of questions shows a difference of 0")
    quantiles = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(wanted)
    exact = (quantiles * spread / difference) ** 2
    normal = math.ceil(exact) if math.isfinite(exact) else None
    if normal is None or normal > largest:
        return result(None, normal, f"it takes more than {largest:,} questions by the normal formula")
    if at_once:
        return result(_FEWEST, normal)
    low, high = _FEWEST, max(normal, _FEWEST)  # low does not reach the power
    while not reaches(high):
        if high >= largest:
            return result(None, normal, f"{largest:,} questions do not reach the wanted power")
        low, high = high, min(largest, math.ceil(high * 1.25) + 1)
    while high - low > max(1, _RESOLUTION * high):
        middle = max((low + high) // 2, math.floor(high * 0.8))  # the normal formula's is near
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return result(high, normal)


# Planning from the spread alone --------------------------------------------------------------------------------------


def variance_per_question(
    differences: Values, *, clusters: Sequence[Hashable] | None = None, level: float = 0.95
) -> Estimate:
    """What one question adds to the variance of a mean difference: n times the squared standard error of the mean.

    differences: of two systems, one a question, None where a score is missing; clusters: for each question, what it
    belongs to (the value then holds for clusters of the pilot's mean size). Without clusters it is the variance of the
    differences, divisor n - 1. The interval is the delete-one jackknife's of the logarithm, around the mean of the
    pseudo-values, Student's t (Miller 1974, "The jackknife - a review", Biometrika 61): the usual one by chi-squared
    holds for normal differences only, and covers .70 to .86 where they are heavy-tailed. No value for fewer than 3
    clusters or equal differences, no interval for fewer than 8.
    """
    (d,), keep = complete_rows(differences)
    numbers, count = cluster_numbers(range(len(keep)) if clusters is None else clusters, keep)
    empty = Estimate(None, None, None, len(d), level, JACKKNIFE_LOG, None, len(keep) - len(d))
    empty = empty if clusters is None else replace(empty, clusters=count)
    if count < _FEWEST:
        return replace(empty, reason=f"a pilot needs at least {_FEWEST} {_units(clusters)}; found {count}")
    centred = d - d.mean()
    sums, sizes = np.bincount(numbers, centred), np.bincount(numbers).astype(np.float64)
    parts = np.array([sums * sums, sums * sizes, sizes * sizes, sums, sizes])

    def variance(total: Floats, groups: int) -> Floats:
        squares, products, square_sizes, sum_, n = total
        mean = sum_ / n
        return np.asarray(groups / (groups - 1) * (squares - 2 * mean * products + mean**2 * square_sizes) / n)

    total = parts.sum(axis=1, keepdims=True)
    value = float(variance(total, count)[0])
    if value <= (1e-12 * float(np.abs(d).max(initial=0.0))) ** 2:
        return replace(empty, reason="all differences of the pilot are equal, so their spread is unknown")
    if count < _FEWEST_FOR_INTERVAL:
        return replace(
            empty, value=value, reason=f"an interval needs at least {_FEWEST_FOR_INTERVAL} {_units(clusters)}"
        )
    left_out = variance(total - parts, count - 1)
    if left_out.min() <= 1e-9 * value:
        return replace(empty, value=value, reason="only one of the differences is unlike the others")
    pseudo = count * math.log(value) - (count - 1) * np.log(left_out)
    half = t_quantile(level, count - 1) * float(pseudo.std(ddof=1)) / math.sqrt(count)
    low, high = (math.exp(float(pseudo.mean()) + end) for end in (-half, half))
    return replace(empty, value=value, low=min(low, value), high=max(high, value))


def _units(clusters: object) -> str:
    return "questions" if clusters is None else "clusters"


def standard_errors_apart(clusters: float, critical: float, wanted: float = 0.8) -> float:
    """The true difference, in standard errors of the mean, that a t test of so many questions (or clusters) finds with
    the probability `wanted`: the noncentrality with which |t| exceeds the critical value so often."""
    return float(nctdtrinc(clusters - 1, 1 - wanted, critical))


def detectable(
    variance: float, n: float, *, per_cluster: float = 1.0, alpha: float = 0.05, wanted: float = 0.8
) -> float:
    """The true difference that n questions show with the power wanted. variance: of `variance_per_question`;
    per_cluster: questions in a cluster."""
    clusters = n / per_cluster
    critical = float(stdtrit(clusters - 1, 1 - alpha / 2))
    return math.sqrt(variance / n) * standard_errors_apart(clusters, critical, wanted)


def questions_needed(
    variance: float, difference: float, *, per_cluster: float = 1.0, alpha: float = 0.05, wanted: float = 0.8
) -> int | None:
    """The fewest questions with which a difference is detectable; None beyond a billion. The inverse of `detectable`.
    At least three questions (or clusters) are needed."""
    low, high = math.ceil(_FEWEST * per_cluster), math.ceil(_FEWEST * per_cluster)

    def shows(n: int) -> bool:
        return detectable(variance, n, per_cluster=per_cluster, alpha=alpha, wanted=wanted) <= abs(difference)

    while not shows(high):
        low, high = high, 2 * high
        if high > MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high

"""The results of the statistics: frozen, with the settings they were made with, and without NumPy.

A number that is not defined is None, and `reason` says why; it is never NaN. `missing` counts the rows that were left
out because a value is missing. `seed` is None if a generator was given.
"""

from __future__ import annotations

from dataclasses import dataclass

from longmark.errors import UnknownName, UserError

TWO_SIDED = "two-sided"
GREATER = "greater"
LESS = "less"
DIRECTIONS = (TWO_SIDED, GREATER, LESS)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its confidence interval, `low` to `high`.

    value      None if there is none; low, high: None if there is no interval. `reason` says why
    n          values, pairs or items used; missing: those left out because a value is missing
    level      of the interval, in (0, 1); method: how the interval was made
    clusters   how many the values belong to; None: each value counts by itself
    effective  how many clusters of one size would do as well (`stats.clusters`); below 5 nothing is decided
    remark     what a reader of the interval must know
    resamples  drawn, with this seed (None: a generator was given); undefined: resamples without a value, left out
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    level: float = 0.95
    method: str = ""
    reason: str | None = None
    missing: int = 0
    clusters: int | None = None
    resamples: int = 0
    seed: int | None = None
    undefined: int = 0
    effective: float | None = None
    remark: str | None = None

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends of the interval; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference(Estimate):
    """A difference of two, first - second, with the two-sided p of a test that it is 0."""

    p: float | None = None


def check_level(level: float) -> None:
    """UserError for a confidence level outside (0, 1)."""
    if not 0 < level < 1:
        raise UserError(f"a confidence level is between 0 and 1, for example 0.95; found {level}")


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """A paired permutation test of the mean difference a - b.

    n             pairs used
    clusters      how many clusters had their signs flipped together; None: each pair by itself
    permutations  sign patterns examined; exact: whether these are all
    plus_one      p = (count + 1) / (permutations + 1); otherwise count / permutations, as it always is where exact
    """

    difference: float | None
    p: float | None
    n: int
    alternative: str
    permutations: int
    exact: bool
    plus_one: bool
    seed: int | None
    missing: int = 0
    clusters: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class PairOfSystems:
    """Two systems in a Tukey test: mean of a minus mean of b, and its two-sided p over the whole family of pairs."""

    a: str
    b: str
    difference: float | None
    p: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class TukeyTest:
    """A randomised Tukey HSD test over every pair of systems.

    means         of each system, over the rows used
    pairs         every pair, in the order of the systems
    n             rows used
    missing       rows without a score of some system: left out, or with keep_incomplete used with the scores they have
    zero          differences up to this size count as none (rounding)
    permutations, exact, plus_one   as in PermutationTest
    """

    systems: tuple[str, ...]
    means: tuple[float | None, ...]
    pairs: tuple[PairOfSystems, ...]
    n: int
    missing: int
    permutations: int
    exact: bool
    plus_one: bool
    keep_incomplete: bool
    seed: int | None
    zero: float = 0.0
    reason: str | None = None

    def pair(self, a: str, b: str) -> PairOfSystems:
        """The pair in this order, whichever order it was tested in. UnknownName for a system that was not tested."""
        for name in (a, b):
            if name not in self.systems:
                raise UnknownName(
                    "system", name, self.systems, f"The systems are {', '.join(self.systems)}."
                )
        for pair in self.pairs:
            if (pair.a, pair.b) == (a, b):
                return pair
            if (pair.a, pair.b) == (b, a):
                turned = None if pair.difference is None else -pair.difference
                return PairOfSystems(a, b, turned, pair.p, pair.reason)
        raise ValueError(f"a pair needs two systems, not {a} twice")

    def p_value(self, a: str, b: str, direction: str = TWO_SIDED) -> float | None:
        """p of the pair in a direction: `greater` expects a above b, `less` below.

        One-sided: p/2 if the difference has the expected sign, 1 - p/2 if it has the other, 0.5 if it is zero.
        """
        pair = self.pair(a, b)
        if pair.p is None or pair.difference is None or direction == TWO_SIDED:
            return pair.p
        if abs(pair.difference) <= self.zero:
            return 0.5
        as_expected = (pair.difference > 0) == (direction == GREATER)
        return pair.p / 2 if as_expected else 1 - pair.p / 2


@dataclass(frozen=True, slots=True)
class TestedPair:
    """One comparison within a hypothesis, with its p in the hypothesis's direction."""

    metric: str
    a: str
    b: str
    difference: float | None
    p: float | None


@dataclass(frozen=True, slots=True)
class HypothesisResult:
    """The result of a hypothesis: its combined p, that p after Holm over all hypotheses, and the comparisons."""

    name: str
    combine: str
    direction: str
    p: float | None
    adjusted: float | None
    supported: bool
    alpha: float
    comparisons: tuple[TestedPair, ...]
    reason: str | None = None

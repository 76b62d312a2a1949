"""How much error a claim may spend: over all claims that could be made from the same labels, and over all looks at
them.

A claim is "A is better than B on a metric". Whoever sees several pairs, both directions, several metrics, and the same
labels again after more of them came in, can choose the claim that holds at the moment. So that the chance of any false
claim is at most `CLAIM_ERROR` in all, each claim at each look gets a part of it (Bonferroni's inequality, which needs
no independence).

    claims  all ordered pairs of systems times metrics; or those that were planned before the first label
    looks   planned, L: each gets 1 / L
            not planned, the k-th draw of labels: 1 / (k (k + 1)), so 1/2, 1/6, 1/12 ...; all of them add up to 1
            not known how many: as many as there are answers, one after each label

A studentised mean that is looked at after each value from the m-th to the N-th is above z at any of them with
probability

    φ(z) ((z - 1/z) / 2  log(N / m) + min(1, 2 log(N / m)) / z) + 1 - Φ(z)

about: half of Miller and Siegmund's (1982) for a maximally selected statistic ("Maximally selected chi square
statistics", Biometrics 38, equation 2), of which the constant term grows with log(N / m) until it has its limit. N is
the number of answers of a system, since there cannot be more labels; m is 50, below which no certificate is granted (10
where there are fewer labels). At α = .025 z is 2.5 for N / m = 2, 2.8 for 8: 1.3 to 1.4 times the fixed interval.
Deviation: the quantile is turned into the probability of a normal one, and that into Student's, so that few labels are
covered as elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from longmark.errors import UserError

CLAIM_ERROR = 0.025
"""The chance, at most, that any false claim is made from the same labels."""
FROM = 50
FROM_FEW = 10
"""Labels at which an unknown number of looks begins: those of a certificate, and those of any correction."""
_STEPS = 60
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Looks:
    """How often labels are looked at. number: which look this is, 1 for the first; None: not known; planned: how many
    there will be; None: not planned."""

    number: int | None = None
    planned: int | None = None

    def __post_init__(self) -> None:
        if self.planned is not None and self.planned < 1:
            raise UserError(f"a plan has one look or more; found {self.planned}")
        if self.number is not None and self.planned is not None and self.number > self.planned:
            planned = "1 look was" if self.planned == 1 else f"{self.planned} looks were"
            raise UserError(
                f"{planned} planned, and this would be look {self.number}: nothing can be claimed from it. "
                "Plan a new study with labels of its own (a draw without --earlier)"
            )

    def error(self, claims: int, labelled: int, answers: int, total: float = CLAIM_ERROR) -> float:
        """The one-sided error of one of so many claims at this look. labelled: answers of a system with a label, of how
        many."""
        error_of_claim = total / max(1, claims)
        if self.planned is not None:
            return error_of_claim / self.planned
        if self.number is not None:
            return error_of_claim / (self.number * (self.number + 1))
        begun = FROM if labelled >= FROM else FROM_FEW
        return 1 - _NORMAL.cdf(maximal_quantile(error_of_claim, max(1.0, answers / begun)))

    def in_words(self) -> str:
        """How often they are, as a part of a sentence."""
        if self.planned is None:
            number = self.number
            return (
                "any number of looks"
                if number is None
                else f"any number of draws, of which this is number {number}"
            )
        looks = "one look" if self.planned == 1 else f"{self.planned} looks"
        return (
            looks
            if self.number is None
            else f"{looks} planned, of which this is number {self.number}"
        )


UNKNOWN_LOOKS = Looks()


def maximal_quantile(alpha: float, ratio: float) -> float:
    """z: what a studentised mean exceeds with probability alpha (one-sided) at any number of values from m to ratio m.
    UserError for an alpha outside (0, 1/2)."""
    if not 0 < alpha < 0.5:
        raise UserError(f"an error is between 0 and .5; found {alpha}")
    time = math.log(ratio)
    low = 0.0
    high = 20.0
    for _ in range(_STEPS):
        z = (low + high) / 2
        ever = (
            _NORMAL.pdf(z) * (max(0.0, z - 1 / z) / 2 * time + min(1.0, 2 * time) / z)
            + 1
            - _NORMAL.cdf(z)
        )
        low, high = (z, high) if ever > alpha else (low, z)
    return high

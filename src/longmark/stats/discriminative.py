"""How well a metric discriminates between systems: ASL curve and discriminative power (Sakai 2006; CCRS 4.1.3).

Both are made from the p-values of all pairs of systems. The curve is these p-values from the largest to the smallest:
the nearer to the axes, the better the metric discriminates. The power is the share of pairs with p < alpha. Neither
shows that the metric ranks the systems correctly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from longmark.stats.multiplicity import NONE, adjust


@dataclass(frozen=True, slots=True)
class DiscriminativePower:
    """The share of tested pairs with (adjusted) p < alpha; None, with a reason, if no pair was tested. curve: the
    unadjusted p-values from the largest to the smallest."""

    share: float | None
    significant: int
    pairs: int
    untested: int
    alpha: float
    correction: str
    curve: tuple[float, ...]
    reason: str | None = None


def discriminative_power(
    p_values: Sequence[float | None], alpha: float = 0.05, correction: str = NONE
) -> DiscriminativePower:
    """The share of pairs with p < alpha after a correction (a name of `multiplicity.METHODS`).

    p-values of a Tukey test hold over all pairs as they are; those of separate tests of each pair need a correction.
    """
    adjusted = adjust(p_values, correction, alpha)
    curve = tuple(sorted((p for p in adjusted.p if p is not None), reverse=True))
    significant = sum(p is not None and p < alpha for p in adjusted.adjusted)
    tested = len(curve)
    share, reason = (
        (significant / tested, None) if tested else (None, "no pair of systems was tested")
    )
    return DiscriminativePower(
        share, significant, tested, len(p_values) - tested, alpha, correction, curve, reason
    )

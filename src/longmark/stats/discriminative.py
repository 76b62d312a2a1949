"""How well a metric tells systems apart: its ASL curve and its discriminative power (Sakai 2006; CCRS 4.1.3).

Both are read off the p-values of all pairs of systems. The curve is these p-values from the largest to the smallest:
the nearer it runs to the axes, the better the metric discriminates. The power is the share of pairs with p < alpha.
That a metric tells systems apart does not say that it tells them apart rightly.
"""

from __future__ import annotations

from collections.abc import Sequence

from longmark.stats.multiplicity import NONE, adjust
from longmark.stats.results import AslCurve, DiscriminativePower


def asl_curve(p_values: Sequence[float | None]) -> AslCurve:
    """The p-values in falling order; pairs without one are left out and counted."""
    tested = [p for p in adjust(p_values, NONE).p if p is not None]
    return AslCurve(p=tuple(sorted(tested, reverse=True)), untested=len(p_values) - len(tested))


def discriminative_power(
    p_values: Sequence[float | None], alpha: float = 0.05, correction: str = NONE
) -> DiscriminativePower:
    """The share of pairs with p < alpha after a correction (a name of `multiplicity.METHODS`).

    p-values of a Tukey test hold over all pairs as they are; those of separate tests of each pair need a correction.
    """
    adjusted = [p for p in adjust(p_values, correction, alpha).adjusted if p is not None]
    significant = sum(p < alpha for p in adjusted)
    return DiscriminativePower(
        share=significant / len(adjusted) if adjusted else None,
        significant=significant,
        pairs=len(adjusted),
        untested=len(p_values) - len(adjusted),
        alpha=alpha,
        correction=correction,
        reason=None if adjusted else "no pair of systems was tested",
    )

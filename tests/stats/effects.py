"""How large a paired difference is: a slower way to the effects of `compare.resample`, to check them.

    difference   mean of d = first - second                              units of the metric
    d_z          mean of d / standard deviation of d (divisor n - 1)     standard deviations of the differences
    share        (won + ties / 2) / n                                    [0, 1], .5 where neither wins

Each has a BCa interval over questions, or over clusters of them. Positive d_z and a share above .5 favour the first
system where higher is better.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from tests.stats.resampled_mean import bootstrap_mean

from longmark.errors import UserError
from longmark.stats.bootstrap import BCA, Formula, bootstrap_of_sums
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Seed, Values, cluster_numbers, complete_rows

_ROUNDING = 1e-12  # relative: a spread this small is none


@dataclass(frozen=True, slots=True)
class Effects:
    """The three effects with their intervals; won, lost and ties are questions, from the view of the first system."""

    difference: Estimate
    d_z: Estimate
    share: Estimate
    won: int
    lost: int
    ties: int
    n: int
    missing: int
    tie: float
    higher_is_better: bool


def effects(
    first: Values,
    second: Values,
    *,
    clusters: Sequence[Hashable] | None = None,
    tie: float = 1e-9,
    higher_is_better: bool = True,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: Seed = 0,
) -> Effects:
    """first - second over the questions that both answered.

    tie: differences up to this size are ties. higher_is_better says who wins a question; difference and d_z keep the
    metric's own direction. Raises UserError for a negative tie and for columns of unequal length.
    """
    if not tie >= 0:
        raise UserError(f"differences up to `tie` in size are ties: it is 0 or more, not {tie}")
    (a, b), keep = complete_rows(first, second)
    d = a - b
    ahead = d if higher_is_better else -d
    points = (ahead > tie) + 0.5 * (np.abs(ahead) <= tie)

    def mean(of_rows: Floats) -> Estimate:
        column = np.full(len(keep), np.nan)
        column[keep] = of_rows
        return bootstrap_mean(column, clusters=clusters, level=level, resamples=resamples, seed=seed)

    scale = max((float(np.abs(x).max()) for x in (a, b) if len(x)), default=0.0)
    features, formula = _sums(d), _d_z(float(d.mean()) if len(d) else 0.0, scale)
    missing = int((~keep).sum())
    empty = Estimate(None, None, None, len(d), level, BCA, missing=missing, resamples=resamples)
    d_z = bootstrap_of_sums(
        features, formula, empty, seed, None if clusters is None else cluster_numbers(clusters, keep)[0]
    )
    return Effects(
        difference=mean(d),
        d_z=d_z,
        share=mean(points),
        won=int((ahead > tie).sum()),
        lost=int((ahead < -tie).sum()),
        ties=int((np.abs(ahead) <= tie).sum()),
        n=len(d),
        missing=missing,
        tie=tie,
        higher_is_better=higher_is_better,
    )


def _sums(d: Floats) -> Floats:
    """What d_z needs of each difference: that it is one, its distance from the mean, the square of that distance."""
    away = d - d.mean() if len(d) else d
    return np.stack([np.ones(len(d)), away, away * away], axis=1)


def _d_z(centre: float, scale: float) -> Formula:
    """d_z from sums of `_sums`. NaN where there are fewer than two differences, or all are equal."""

    def formula(sums: Floats) -> Floats:
        n, away, squares = sums.T
        about = squares - away * away / n
        spread = np.where(about > np.maximum(_ROUNDING * squares, n * (_ROUNDING * scale) ** 2), about, np.nan)
        return np.asarray((centre + away / n) / np.sqrt(spread / (n - 1)))

    return formula

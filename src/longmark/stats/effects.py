"""How large a paired difference is: in the metric's units, in standard deviations, and as a share of questions won.

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

from longmark.errors import UserError
from longmark.stats.bootstrap import Statistic, bootstrap
from longmark.stats.results import Interval
from longmark.stats.samples import Floats, Seed, Values, complete_rows


@dataclass(frozen=True, slots=True)
class Effects:
    """The three effects with their intervals; won, lost and ties are questions, from the view of the first system."""

    difference: Interval
    d_z: Interval
    share: Interval
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
    sign = 1 if higher_is_better else -1

    def points(x: Floats, y: Floats) -> Floats:
        ahead = sign * (x - y)
        return np.asarray(((ahead > tie) + 0.5 * (np.abs(ahead) <= tie)).mean(axis=-1))

    def interval(statistic: Statistic) -> Interval:
        return bootstrap([first, second], statistic, clusters=clusters, level=level, resamples=resamples, seed=seed)

    ahead = sign * (a - b)
    return Effects(
        difference=interval(_difference),
        d_z=interval(_d_z),
        share=interval(points),
        won=int((ahead > tie).sum()),
        lost=int((ahead < -tie).sum()),
        ties=int((np.abs(ahead) <= tie).sum()),
        n=len(a),
        missing=int((~keep).sum()),
        tie=tie,
        higher_is_better=higher_is_better,
    )


def _difference(x: Floats, y: Floats) -> Floats:
    return np.asarray((x - y).mean(axis=-1))


def _d_z(x: Floats, y: Floats) -> Floats:
    """NaN where there are fewer than two differences, or all are equal."""
    d = x - y
    if d.shape[-1] < 2:
        return np.full(d.shape[:-1], np.nan)
    mean, spread = d.mean(axis=-1), d.std(axis=-1, ddof=1)
    scale = np.maximum(np.abs(x).max(axis=-1), np.abs(y).max(axis=-1))
    return np.asarray(mean / np.where(spread > 1e-12 * scale, spread, np.nan))

"""Metrics turned so that more is better, and told whether they are on a label's scale. Units: the metric's own."""

from __future__ import annotations

import numpy as np

from longmark.scores.manifest import MetricFacts
from longmark.stats.samples import Floats

HIGHER, LOWER, NOT_SAID = "higher is better", "lower is better", "not declared"


def direction(facts: MetricFacts) -> str:
    """Which end is better. Where lower is, figures are of minus the values; where it is not declared, of the values."""
    return {True: HIGHER, False: LOWER, None: NOT_SAID}[facts.higher_is_better]


def turned(values: Floats, facts: MetricFacts) -> Floats:
    """The values, times -1 where lower is better."""
    return -values if facts.higher_is_better is False else values


def on_scale(values: Floats, facts: MetricFacts, low: float, high: float) -> Floats | None:
    """The values where they are on the scale of a label that was seen from `low` to `high`, else None.

    They are where the metric's bounds hold the label's values and are at most twice as far apart, or, without bounds,
    where both lie between 0 and 1. A metric of which less is better is reflected within its bounds.
    """
    seen = values[~np.isnan(values)]
    if not len(seen):
        return None
    if facts.bounded:
        lo, hi = facts.lo or 0.0, facts.hi or 0.0
        if not (lo <= low and high <= hi and 2 * (high - low) >= hi - lo):
            return None
    else:
        lo, hi = 0.0, 1.0
        if not (low >= 0 and high <= 1 and seen.min() >= 0 and seen.max() <= 1):
            return None
    return lo + hi - values if facts.higher_is_better is False else values

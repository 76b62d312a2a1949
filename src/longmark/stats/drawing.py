"""A sample with unequal, known probabilities: how likely each unit is to be drawn, and the draw.

Every unit has a part of the chance that is alike for all, so that no weight (1 / probability) becomes huge. The rest
goes by its size. Sources: systematic sampling with probabilities proportional to size, in random order (Madow 1949;
Särndal, Swensson and Wretman 1992, section 3.6); sizes by how far labels are expected from the scores (Zrnic and Candès
2024, "Active statistical inference").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from longmark.stats.calibration import calibrated
from longmark.stats.labelled_scores import LabelledScores
from longmark.stats.samples import Floats, Ints, Seed, generator

FEWEST_SIZED = 20
"""Labelled questions below which residuals say nothing of the others."""
_GROUPS = 3
_PRIOR = 20.0  # a group's mean square counts as so many questions of the mean over all


def residual_sizes(table: LabelledScores, places: Ints) -> Floats | None:
    """Of each question how far the labels of a difference between these systems (of one: of its mean) are expected from
    the calibrated scores: the root mean square over labelled questions with a like mean score (three groups, each
    shrunk to all). None with fewer than 20 questions of which every system is labelled."""
    fitted = calibrated(table)
    scores, residuals = fitted.scores[:, places], (table.labels - fitted.scores)[:, places]
    full = ~np.isnan(residuals).any(axis=1)
    if full.sum() < FEWEST_SIZED:
        return None
    deviations = residuals[full] - residuals[full].mean(axis=0)
    squares = deviations.var(axis=1, ddof=1) if len(places) > 1 else deviations[:, 0] ** 2
    is_scored = ~np.isnan(scores)
    levels = np.where(is_scored, scores, 0.0).sum(axis=1) / np.maximum(is_scored.sum(axis=1), 1)
    groups = np.digitize(levels, np.quantile(levels[full], np.arange(1, _GROUPS) / _GROUPS))
    sums = np.bincount(groups[full], squares, _GROUPS)
    counts = np.bincount(groups[full], minlength=_GROUPS)
    return np.asarray(np.sqrt((sums + _PRIOR * squares.mean()) / (counts + _PRIOR))[groups])


def probabilities(sizes: Floats, n: int, among: NDArray[np.bool_], floor: float = 0.5) -> Floats:
    """Of each unit, above 0 and at most 1: those of the units that are drawn `among` add up to n (to their number, if
    that is less). Others have what they would have. floor: the part of the chance that is alike for all, in (0, 1]."""
    mean = sizes[among].mean() if among.any() else 0.0
    scaled = floor + (1 - floor) * sizes / mean if mean > 0 else np.ones_like(sizes)
    certain = np.zeros_like(among)
    while (drawn := among & ~certain).any():
        factor = max(0.0, (n - (among & certain).sum()) / scaled[drawn].sum())
        if not (above := drawn & (factor * scaled >= 1)).any():
            return np.asarray(np.where(certain, 1.0, np.minimum(1.0, factor * scaled)))
        certain |= above
    return np.ones_like(sizes)


def systematic(chances: Floats, seed: Seed) -> NDArray[np.bool_]:
    """Which units are drawn, each with its probability; as many as these add up to, which is a whole number."""
    random = generator(seed)[0]
    order = random.permutation(len(chances))
    passed = np.floor(np.round(np.cumsum(chances[order]), 9) + random.random())
    drawn = np.zeros(len(chances), dtype=bool)
    drawn[order] = np.diff(passed, prepend=0.0) > 0
    return drawn

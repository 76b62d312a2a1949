"""A judge's scores on the labels' scale, by isotonic regression of labels on scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from longmark.stats.labelled_scores import LabelledScores
from longmark.stats.samples import Floats, Seed, generator

_FOLDS = 5


def calibrated(table: LabelledScores, seed: Seed = 0) -> LabelledScores:
    """The table with its scores on the labels' scale: one isotonic regression of labels on scores for all systems,
    cross-fitted over five folds of whole clusters. A labelled answer's score is of the regression without its fold,
    that of another one the mean of the five, so no label calibrates its own correction. (Isotonic regression: Barlow
    et al. 1972; the pool of adjacent violators.) As it is with labels of fewer than ten clusters."""
    both, numbers = table.both, table.numbers
    clusters = np.unique(numbers[both.any(axis=1)])
    if len(clusters) < 2 * _FOLDS:
        return table
    order = generator(seed)[0].permutation(clusters)
    fold = np.full(int(numbers.max()) + 1, -1)
    fold[order] = np.arange(len(order)) % _FOLDS
    of, weights = fold[numbers][:, None], table.weight()
    each = []
    for k in range(_FOLDS):
        rest = both & (of != k)
        each.append(isotonic(table.scores[rest], table.labels[rest], weights[rest])(table.scores))
    found = np.mean(each, axis=0)
    for k in range(_FOLDS):
        found = np.where(both & (of == k), each[k], found)
    raw = table.scores if table.raw is None else table.raw
    return replace(table, scores=np.where(np.isnan(table.scores), np.nan, found), raw=raw)


def isotonic(x: Floats, y: Floats, weights: Floats) -> Callable[[Floats], Floats]:
    """The non-decreasing function nearest to y, by least squares: linear between the values of x, constant beyond."""
    points, place = np.unique(x, return_inverse=True)
    mass = np.bincount(place, weights)
    means = np.bincount(place, weights * y) / mass
    blocks: list[tuple[float, float, int]] = []  # mean, mass, points
    for mean, own in zip(means.tolist(), mass.tolist(), strict=True):
        count = 1
        while blocks and blocks[-1][0] >= mean:
            before, size, points_before = blocks.pop()
            mean, own, count = (
                (before * size + mean * own) / (size + own),
                size + own,
                count + points_before,
            )
        blocks.append((mean, own, count))
    fitted = np.repeat([mean for mean, _, _ in blocks], [count for _, _, count in blocks])
    return lambda values: np.interp(values, points, fitted)

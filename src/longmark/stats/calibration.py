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
    usable = table.both
    numbers = table.numbers
    clusters = np.unique(numbers[usable.any(axis=1)])
    if len(clusters) < 2 * _FOLDS:
        return table

    order = generator(seed)[0].permutation(clusters)
    fold_of_cluster = np.full(int(numbers.max()) + 1, -1)
    fold_of_cluster[order] = np.arange(len(order)) % _FOLDS
    fold_of_question = fold_of_cluster[numbers][:, None]

    weights = table.weight()
    scores_of_folds = []
    for fold in range(_FOLDS):
        training = usable & (fold_of_question != fold)
        regression = isotonic(
            table.scores[training],
            table.labels[training],
            weights[training],
        )
        scores_of_folds.append(regression(table.scores))

    scores = np.mean(scores_of_folds, axis=0)
    for fold, scores_without in enumerate(scores_of_folds):
        scores = np.where(usable & (fold_of_question == fold), scores_without, scores)
    return replace(
        table,
        scores=np.where(np.isnan(table.scores), np.nan, scores),
        raw=table.scores if table.raw is None else table.raw,
    )


def isotonic(x: Floats, y: Floats, weights: Floats) -> Callable[[Floats], Floats]:
    """The non-decreasing function nearest to y, by least squares: linear between the values of x, constant beyond."""
    points, place = np.unique(x, return_inverse=True)
    masses = np.bincount(place, weights)
    means = np.bincount(place, weights * y) / masses
    blocks: list[tuple[float, float, int]] = []  # mean, mass, points
    for point_mean, point_mass in zip(means.tolist(), masses.tolist(), strict=True):
        mean = point_mean
        mass = point_mass
        points_in_block = 1
        while blocks and blocks[-1][0] >= mean:  # a violator is pooled with the block before it
            mean_before, mass_before, points_before = blocks.pop()
            mean = (mean_before * mass_before + mean * mass) / (mass_before + mass)
            mass = mass_before + mass
            points_in_block += points_before
        blocks.append((mean, mass, points_in_block))
    fitted = np.repeat([mean for mean, _, _ in blocks], [count for _, _, count in blocks])
    return lambda values: np.interp(values, points, fitted)

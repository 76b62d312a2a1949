"""AUC, average precision and calibration, with intervals that resample whole groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmark.stats.bootstrap import PERCENTILE, interval
from longmark.stats.results import Estimate

Array = NDArray[Any]
Weighted = Callable[
    [Array, Array, Array], Array
]  # scores (n), labels (n), weights (m, n) -> values (m)
RESAMPLES, SEED, BINS = 2000, 0, 10
_AT_ONCE = 100


def auc(scores: Array, labels: Array, weights: Array) -> Array:
    """The chance that a row labelled 1 scores above one labelled 0, ties by half; NaN where a label is missing."""
    ones, zeros = _levels(scores, labels, weights)
    below = np.cumsum(zeros, axis=1) - zeros / 2
    with np.errstate(invalid="ignore"):
        return np.asarray((ones * below).sum(axis=1) / (ones.sum(axis=1) * zeros.sum(axis=1)))


def average_precision(scores: Array, labels: Array, weights: Array) -> Array:
    """Of finding the rows labelled 0 from the lowest score on: the sum over score levels of precision times the rise
    of recall. A level of equal scores is taken as a whole."""
    ones, zeros = _levels(scores, labels, weights)
    found = np.cumsum(zeros, axis=1)
    with np.errstate(invalid="ignore"):
        precision = found / np.maximum(found + np.cumsum(ones, axis=1), 1e-12)
        return np.asarray((precision * zeros).sum(axis=1) / zeros.sum(axis=1))


def brier(probabilities: Array, labels: Array, weights: Array) -> Array:
    """The mean of (probability - label)²."""
    with np.errstate(invalid="ignore"):
        return np.asarray(weights @ (probabilities - labels) ** 2 / weights.sum(axis=1))


def _levels(scores: Array, labels: Array, weights: Array) -> tuple[Array, Array]:
    """The weights of the rows labelled 1 and 0 at each distinct score, from the lowest on."""
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(scores[order]) > 0])
    ones = np.add.reduceat(weights[:, order] * labels[order], starts, axis=1)
    return ones, np.add.reduceat(weights[:, order], starts, axis=1) - ones


def estimate(
    figure: Weighted,
    scores: Array,
    labels: Array,
    groups: Sequence[str],
    other: Array | None = None,
) -> Estimate:
    """A figure with its interval; with `other` the difference to the figure of these scores, on the same resamples."""
    names, cluster = np.unique(np.array(groups), return_inverse=True)

    def value(weights: Array) -> Array:
        own = figure(scores, labels, weights)
        return own if other is None else own - figure(other, labels, weights)

    random = np.random.default_rng(SEED)
    found = []
    for _ in range(RESAMPLES // _AT_ONCE):
        drawn = random.multinomial(len(names), np.full(len(names), 1 / len(names)), _AT_ONCE)
        found.append(value(drawn[:, cluster].astype(np.float64)))
    empty = Estimate(
        None,
        None,
        None,
        len(scores),
        0.95,
        PERCENTILE,
        clusters=len(names),
        resamples=RESAMPLES,
        seed=SEED,
    )
    return interval(
        empty, float(value(np.ones((1, len(scores))))[0]), np.concatenate(found), np.empty(0)
    )


@dataclass(frozen=True)
class ProbabilityBin:
    """Rows of like probability: how many, their mean probability and the share that is supported."""

    n: int
    probability: float
    share: float


def reliability(probabilities: Array, labels: Array) -> list[ProbabilityBin]:
    """Bins of equal count, from the lowest probability on."""
    order = np.argsort(probabilities, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    return [
        ProbabilityBin(len(part), float(probabilities[part].mean()), float(labels[part].mean()))
        for part in parts
    ]


def calibration_error(bins: Sequence[ProbabilityBin]) -> float:
    """The mean distance of probability and share, weighted by count: the expected calibration error."""
    total = sum(one.n for one in bins)
    return sum(one.n * abs(one.probability - one.share) for one in bins) / total


def with_interval(estimate: Estimate, sign: str = "") -> str:
    """The value with its interval, or why there is none. sign: "+" writes the sign of every number."""
    if estimate.value is None:
        return estimate.reason or ""
    ends = (
        ""
        if estimate.ends is None
        else f" [{estimate.ends[0]:{sign}.3f}, {estimate.ends[1]:{sign}.3f}]"
    )
    return f"{estimate.value:{sign}.3f}{ends}"

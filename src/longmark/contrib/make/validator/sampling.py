"""Which items to label next: those of which the validator is least certain, and which differ from each other.

    value of an item = (1 - |2 p - 1|) (1 - its greatest cosine with an item that is listed or labelled already)

Items are listed one after the other, the most valuable first. Each listed item lowers the value of similar ones, so
near duplicates are not listed together. This order is ours. ClimaQA's active sampling (section 4.4; in its authors'
code the filter before the annotation) is `passed`: confident items are dropped at random before experts see them, and
the others keep their order.
"""

from __future__ import annotations

import numpy as np

from longmark.contrib.make.validator.features import Inputs
from longmark.metrics.climaqa.factual_accuracy import smoothed
from longmark.stats.samples import Floats

DROPPED = 0.5  # share of the confident items


def choose(
    confidences: Floats, pool: Inputs, n: int, labelled: Inputs | None = None
) -> list[tuple[int, float]]:
    """(place in the pool, value) of the n items to label, the most valuable first."""
    unit = _question(pool)
    near = np.zeros(len(pool))
    if labelled is not None and len(labelled):
        near = np.maximum(near, (unit @ _question(labelled).T).max(axis=1))
    unsure = 1 - np.abs(2 * confidences - 1)
    chosen: list[tuple[int, float]] = []
    left = np.ones(len(pool), dtype=np.bool_)
    while left.any() and len(chosen) < n:
        value = np.where(
            left, unsure * (1 - near) + 1e-9 * unsure, -1.0
        )  # among duplicates, the less sure one first
        best = int(value.argmax())
        chosen.append((best, float(value[best])))
        left[best] = False
        near = np.clip(np.maximum(near, unit @ unit[best]), 0.0, 1.0)
    return chosen


def passed(confidences: Floats, n: int, above: float, seed: int) -> list[tuple[int, float]]:
    """(place, value) of the first n items after half of the confident ones were dropped at random, in their order; the
    values descend from 1. above: the confidence of the likelier class, smoothed at T = 5 (the paper's is .85)."""
    dropped = np.random.default_rng(seed).random(len(confidences)) < DROPPED
    sure = np.array(
        [max(smoothed(p), 1 - smoothed(p)) > above for p in confidences.tolist()], dtype=bool
    )
    first_kept = np.flatnonzero(~(sure & dropped))[:n].tolist()
    return [(place, 1 - rank / len(first_kept)) for rank, place in enumerate(first_kept)]


def _question(inputs: Inputs) -> Floats:
    return inputs.vectors[:, : inputs.vectors.shape[1] // 2]

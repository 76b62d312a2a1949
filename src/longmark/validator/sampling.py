"""Which items to label next: those of which the validator is least certain, and which differ from each other.

    value of an item = (1 - |2 p - 1|) (1 - its greatest cosine with an item that is listed or labelled already)

Items are listed one after the other, the most valuable first. Each listed item lowers the value of similar ones, so
near duplicates are not listed together (uncertainty sampling as in ClimaQA, section 4.4; the second factor is ours).
"""

from __future__ import annotations

import numpy as np

from longmark.stats.samples import Floats
from longmark.validator.features import Inputs


def choose(confidences: Floats, pool: Inputs, n: int, labelled: Inputs | None = None) -> list[tuple[int, float]]:
    """(place in the pool, value) of the n items to label, the most valuable first."""
    unit = _question(pool)
    near = np.zeros(len(pool))
    if labelled is not None and len(labelled):
        near = np.maximum(near, (unit @ _question(labelled).T).max(axis=1))
    unsure = 1 - np.abs(2 * confidences - 1)
    chosen: list[tuple[int, float]] = []
    left = np.ones(len(pool), dtype=np.bool_)
    while left.any() and len(chosen) < n:
        value = np.where(left, unsure * (1 - near) + 1e-9 * unsure, -1.0)  # among duplicates, the less sure one first
        best = int(value.argmax())
        chosen.append((best, float(value[best])))
        left[best] = False
        near = np.clip(np.maximum(near, unit @ unit[best]), 0.0, 1.0)
    return chosen


def _question(inputs: Inputs) -> Floats:
    """The vectors of question and answer."""
    return inputs.vectors[:, : inputs.vectors.shape[1] // 2]

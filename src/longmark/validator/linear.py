"""A calibrated linear model: logistic regression on vectors and numbers, and Platt's calibration (Platt 1999).

    log-odds of valid = intercept + w · vectors + v · (numbers - their means)

Both classes have the same weight, so .5 means neutral evidence at any share of valid labels. The strength of the
regularisation is the one with the least out-of-fold log-loss. The calibration is fitted to the same predictions: no
item is predicted by a model that saw its family. All of this is stored as one list of coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longmark.errors import UserError, library
from longmark.stats.samples import Floats, Ints
from longmark.validator.features import NUMBERS, Inputs

STRENGTHS = (0.01, 0.1, 1.0, 10.0)  # scikit-learn's C
FOLDS = 5
FEWEST = 10  # labels of each class
_VECTORS = 4.0  # by which vectors are stretched: their parts are small beside standardised numbers


@dataclass(frozen=True)
class Linear:
    """weights: of the vectors; numbers: name -> (weight, mean); strength: of the regularisation."""

    weights: Floats
    numbers: dict[str, tuple[float, float]]
    intercept: float
    strength: float

    def log_odds(self, inputs: Inputs) -> Floats:
        """Of valid, for each item."""
        order = [inputs.names.index(name) for name in self.numbers]
        values = np.array(list(self.numbers.values())).reshape(-1, 2)
        away = np.nan_to_num(inputs.numbers[:, order] - values[:, 1])
        found: Floats = self.intercept + inputs.vectors @ self.weights + away @ values[:, 0]
        return found

    def to_json(self) -> dict[str, Any]:
        return {"weights": self.weights.tolist(), "numbers": self.numbers, "intercept": self.intercept,
                "strength": self.strength}  # fmt: skip

    @classmethod
    def from_json(cls, data: Any, names: Sequence[str] = NUMBERS) -> Linear:
        """names: of the numbers that there are. KeyError, TypeError or ValueError for what `to_json` did not write."""
        numbers = {name: (float(weight), float(mean)) for name, (weight, mean) in data["numbers"].items()}
        if unknown := numbers.keys() - set(names):
            raise ValueError(f"unknown features {', '.join(sorted(unknown))}")
        made = cls(np.array(data["weights"], np.float64), numbers, float(data["intercept"]), float(data["strength"]))
        if made.weights.ndim != 1 or not all(map(math.isfinite, [*made.weights, made.intercept])):
            raise ValueError("the coefficients are not a list of finite numbers")
        return made


def check_labels(valid: Sequence[bool], families: Sequence[str], form: str) -> None:
    """UserError unless there are enough labels of each class, in enough families."""
    for name, wanted in (("valid", True), ("invalid", False)):
        own = [family for label, family in zip(valid, families, strict=True) if label is wanted]
        if len(own) < FEWEST or len(set(own)) < FOLDS:
            raise UserError(
                f"{form}: a validator needs at least {FEWEST} {name} items from {FOLDS} different seed passages; found "
                f"{len(own)} from {len(set(own))}. Label more items, or train only the other form (--form)"
            )


def folds(valid: Sequence[bool], families: Sequence[str], count: int, seed: int) -> Ints:
    """The fold of each item. A family is in one fold; families with the rarer class are dealt first, so that each fold
    has its share of them."""
    rarer = 2 * sum(valid) < len(valid)
    with_rarer = {family for label, family in zip(valid, families, strict=True) if label is rarer}
    names = sorted(set(families))
    order = [names[i] for i in np.random.default_rng(seed).permutation(len(names))]
    order.sort(key=lambda family: family not in with_rarer)
    place = {family: i % count for i, family in enumerate(order)}
    return np.array([place[family] for family in families], dtype=np.int64)


def fit(
    inputs: Inputs,
    valid: Sequence[bool],
    families: Sequence[str],
    *,
    seed: int = 0,
    strengths: Sequence[float] = STRENGTHS,
) -> tuple[Linear, Floats]:
    """The model of all items, and the calibrated log-odds of each from models that did not see its family."""
    y, fold = np.array(valid, dtype=np.int64), folds(valid, families, FOLDS, seed)
    best: tuple[float, float, Floats] | None = None
    for strength in strengths:
        out = np.empty(len(y))
        for k in range(FOLDS):
            if (fold == k).any():
                out[fold == k] = uncalibrated(inputs[fold != k], y[fold != k], strength).log_odds(inputs[fold == k])
        loss = _log_loss(*_platt(out, y), out, y)
        if best is None or loss < best[0]:
            best = loss, strength, out
    assert best is not None
    _, strength, out = best
    slope, shift = _platt(out, y)
    raw = uncalibrated(inputs, y, strength)
    numbers = {name: (slope * weight, mean) for name, (weight, mean) in raw.numbers.items()}
    calibrated = Linear(slope * raw.weights, numbers, slope * raw.intercept + shift, strength)
    return calibrated, slope * out + shift


def uncalibrated(inputs: Inputs, y: Any, strength: float) -> Linear:
    """A model without calibration. Numbers that no item has, or that are all equal, are left out."""
    known = ~np.isnan(inputs.numbers)
    counts = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, inputs.numbers, 0.0).sum(axis=0) / counts
    away = np.where(known, inputs.numbers - means, 0.0)
    spread = np.sqrt((away**2).sum(axis=0) / counts)
    used = np.flatnonzero(spread > 1e-9)
    x = np.hstack([_VECTORS * inputs.vectors, away[:, used] / spread[used]])
    weights, intercept = _logistic(x, y, strength)
    width = inputs.vectors.shape[1]
    numbers = {inputs.names[j]: (float(weights[width + i] / spread[j]), float(means[j])) for i, j in enumerate(used)}
    return Linear(_VECTORS * weights[:width], numbers, intercept, strength)


def _logistic(x: Floats, y: Any, strength: float) -> tuple[Floats, float]:
    """Weights and intercept of scikit-learn's logistic regression with balanced classes."""
    sklearn = library("sklearn.linear_model", "a validator", "train")
    limits = library("threadpoolctl", "a validator", "train").threadpool_limits
    model = sklearn.LogisticRegression(C=strength, class_weight="balanced", max_iter=500)
    with limits(1):  # threads cost more than they save on matrices of this size
        model.fit(x, y)
    return model.coef_[0], float(model.intercept_[0])


def _platt(log_odds: Floats, y: Ints) -> tuple[float, float]:
    """Slope and shift of the calibration; no slope below 0: a model worse than chance then says nothing."""
    weights, shift = _logistic(log_odds.reshape(-1, 1), y, 1e3)
    return (float(weights[0]), shift) if weights[0] > 0 else (0.0, 0.0)


def _log_loss(slope: float, shift: float, log_odds: Floats, y: Ints) -> float:
    """Mean of both classes, each weighing the same."""
    losses = np.logaddexp(0, np.where(y == 1, -1, 1) * (slope * log_odds + shift))
    return float(losses[y == 1].mean() + losses[y == 0].mean()) / 2

"""A calibrated linear model: logistic regression on vectors and numbers, and Platt's calibration (Platt 1999).

    log-odds of valid = intercept + w · vectors + v · (numbers - their means)

Both classes have the same weight, or the larger class is reduced to the size of the smaller one by a draw, so .5 means
neutral evidence at any share of valid labels. No item is predicted by a
model that saw its family, and none is calibrated with its own fold. All of this is stored as one list of coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import ConfigDict, Field

from longmark.contrib.make.validator.features import Inputs
from longmark.errors import UserError, library
from longmark.stats.samples import Floats, Ints

STRENGTH = 0.1  # scikit-learn's C
FOLDS = 5
FEWEST = 10  # labels of each class
_VECTORS = 4.0  # by which vectors are stretched: their parts are small beside standardised numbers

Coefficient = Annotated[float, Field(ge=-1e12, le=1e12)]


@dataclass(frozen=True)
class Linear:
    """weights: of the vectors; numbers: name -> (weight, mean), 0 for one that no item has."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    weights: tuple[Coefficient, ...]
    numbers: dict[str, tuple[Coefficient, Coefficient]]
    intercept: Coefficient

    def log_odds(self, inputs: Inputs) -> Floats:
        """Of valid, for each item."""
        if len(inputs) and inputs.vectors.shape[1] != len(self.weights):
            width = inputs.vectors.shape[1]
            n_weights = len(self.weights)
            raise UserError(
                f"the validator has {n_weights} weights for vectors of {width} numbers; train it again"
            )
        weights, means = np.array([*self.numbers.values()]).reshape(-1, 2).T
        deviations = np.nan_to_num(inputs.numbers - means)
        log_odds_found: Floats = (
            self.intercept + inputs.vectors @ np.array(self.weights) + deviations @ weights
        )
        return log_odds_found

    def calibrated(self, slope: float, shift: float) -> Linear:
        """The model whose log-odds are slope times these, plus shift."""
        numbers = {name: (slope * weight, mean) for name, (weight, mean) in self.numbers.items()}
        weights = tuple(slope * weight for weight in self.weights)
        return replace(
            self, weights=weights, numbers=numbers, intercept=slope * self.intercept + shift
        )


def too_few(valid: Sequence[bool], families: Sequence[str]) -> str | None:
    """Why a model cannot be trained: too few labels of a class, or from too few families. None if it can."""
    for name, is_wanted in (("valid", True), ("invalid", False)):
        class_families = [
            family for label, family in zip(valid, families, strict=True) if label is is_wanted
        ]
        if len(class_families) < FEWEST or len(set(class_families)) < FOLDS:
            return (
                f"a validator needs at least {FEWEST} {name} items from {FOLDS} different seed passages; found "
                f"{len(class_families)} from {len(set(class_families))}"
            )
    return None


def folds(valid: Sequence[bool], families: Sequence[str], seed: int) -> Ints:
    """The fold of each item. A family is in one fold; families with the rarer class are dealt first, so that each fold
    has its share of them."""
    rarer = 2 * sum(valid) < len(valid)
    with_rarer = {family for label, family in zip(valid, families, strict=True) if label is rarer}
    names = sorted(set(families))
    order = [names[i] for i in np.random.default_rng(seed).permutation(len(names))]
    order.sort(key=lambda family: family not in with_rarer)
    place = {family: i % FOLDS for i, family in enumerate(order)}
    return np.array([place[family] for family in families], dtype=np.int64)


def fit(
    inputs: Inputs, y: Ints, fold: Ints, undersample: int | None = None
) -> tuple[Linear, Floats]:
    """The model of all items, and the calibrated log-odds of each from models that did not see its fold.

    undersample: the seed of the draw that balances the classes; None: by weights."""
    out = out_of_folds(inputs, y, fold, undersample)
    calibrated = np.empty(len(y))
    for k in set(fold.tolist()):
        slope, shift = _platt(out[fold != k], y[fold != k])
        calibrated[fold == k] = slope * out[fold == k] + shift
    return uncalibrated(inputs, y, undersample).calibrated(*_platt(out, y)), calibrated


def out_of_folds(inputs: Inputs, y: Ints, fold: Ints, undersample: int | None = None) -> Floats:
    """The log-odds of each item from a model of the other folds, without calibration."""
    out = np.empty(len(y))
    for k in set(fold.tolist()):
        out[fold == k] = uncalibrated(inputs[fold != k], y[fold != k], undersample).log_odds(
            inputs[fold == k]
        )
    return out


def probability(log_odds: Floats) -> Floats:
    """1 / (1 + exp(-log-odds)), never exactly 0 or 1."""
    probabilities: Floats = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
    return probabilities


def uncalibrated(inputs: Inputs, y: Any, undersample: int | None = None) -> Linear:
    """A model without calibration. Numbers that no item has, or that are all equal, get no weight."""
    if undersample is not None:
        drawn_places = _undersampled(y, undersample)
        inputs = inputs[drawn_places]
        y = y[drawn_places]
    known_numbers = ~np.isnan(inputs.numbers)
    counts = np.maximum(known_numbers.sum(axis=0), 1)
    means = np.where(known_numbers, inputs.numbers, 0.0).sum(axis=0) / counts
    deviations = np.where(known_numbers, inputs.numbers - means, 0.0)
    spread = np.sqrt((deviations**2).sum(axis=0) / counts)
    scale = np.where(spread > 1e-9, spread, np.inf)
    weights, intercept = _logistic(np.hstack([_VECTORS * inputs.vectors, deviations / scale]), y)
    width = inputs.vectors.shape[1]
    numbers = zip((weights[width:] / scale).tolist(), means.tolist(), strict=True)
    scaled_weights = tuple((_VECTORS * weights[:width]).tolist())
    return Linear(scaled_weights, dict(zip(inputs.names, numbers, strict=True)), intercept)


def _undersampled(y: Ints, seed: int) -> list[int]:
    """Places, ascending: all of the smaller class, and as many of the larger one, drawn (ClimaQA, appendix A.5)."""
    places = [np.flatnonzero(y == label) for label in (0, 1)]
    size = min(map(len, places))
    rng = np.random.default_rng(seed)
    return sorted(
        int(i) for class_places in places for i in rng.choice(class_places, size, replace=False)
    )


def _logistic(x: Floats, y: Any, strength: float = STRENGTH) -> tuple[Floats, float]:
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

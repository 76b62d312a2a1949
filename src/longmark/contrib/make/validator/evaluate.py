"""The quality of a validator: precision on held-out items (ClimaQA, figure 8), and learning curves.

Precision is the share of items that the experts call valid among those that a way keeps: `none` keeps all, `zero-shot`
what a judge calls VALID, `validator` what the trained model does. A split is a fold: its items are the test side, and
the model has seen no family of theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from longmark.analysis.metaeval.binary import auc
from longmark.contrib.make.validator import linear
from longmark.contrib.make.validator.features import Inputs
from longmark.contrib.make.validator.sampling import choose
from longmark.errors import UserError
from longmark.records.files import read_object
from longmark.records.values import in_one_line
from longmark.stats.means import mean_estimate
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate
from longmark.stats.samples import Ints

CURVES = "curves.json"
ACTIVE, RANDOM = ORDERS = ("active", "random")
START = 12
SIZES = 8  # labels that a curve begins with, and points of a curve
FEWEST_SEEDS = 5  # of an interval over seeds
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of valid items among the n of a split that a way keeps. valid_kept, valid: how many of the valid items
    it keeps; test: the items of the split."""

    form: str
    split: int
    way: str
    precision: float | None
    low: float | None
    high: float | None
    n: int
    test: int
    valid_kept: int
    valid: int

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.precision, self.low, self.high, self.n, LEVEL)


@dataclass(frozen=True)
class FoldedItems:
    """The labelled items of a form, with the fold of each. undersample: as `linear.fit` takes it."""

    form: str
    inputs: Inputs
    y: Ints
    families: Sequence[str]
    fold: Ints
    undersample: int | None = None


def precision(data: FoldedItems, kept_by_way: Mapping[str, Any], splits: int) -> list[Precision]:
    """Of the first splits. kept_by_way: way -> for each item whether it is kept."""
    precisions = []
    for split in range(splits):
        in_split = data.fold == split
        families = [
            family for family, is_held in zip(data.families, in_split, strict=True) if is_held
        ]
        y = data.y[in_split].astype(np.float64)
        for way, keep in kept_by_way.items():
            kept_items = keep[in_split]
            share = clustered_share(np.where(kept_items, y, np.nan), families, LEVEL)
            counts = (share.n, len(y), int((y * kept_items).sum()), int(y.sum()))
            precisions.append(
                Precision(data.form, split, way, share.value, share.low, share.high, *counts)
            )
    return precisions


def means(precisions: Sequence[Precision]) -> dict[str, float]:
    """Way -> mean precision over the splits where it kept something."""
    by_way: dict[str, list[float]] = {}
    for precision in precisions:
        if precision.precision is not None:
            by_way.setdefault(precision.way, []).append(precision.precision)
    return {way: sum(values) / len(values) for way, values in by_way.items()}


def read_precision(folder: Path) -> list[Precision]:
    """The precision of a validator, from its folder or its `curves.json`. UserError if it cannot be read."""
    path = folder / CURVES if folder.is_dir() else folder
    remedy = "train the validator again with longmark validator train"
    try:
        return TypeAdapter(list[Precision]).validate_python(
            read_object(path, remedy).get("precision")
        )
    except ValidationError as error:
        raise UserError(f"{path} is damaged (precision: {in_one_line(error)}); {remedy}") from None


@dataclass(frozen=True)
class Curves:
    """points: as in curves.json; gain: the mean difference of both curves, active minus random."""

    points: list[dict[str, Any]]
    gain: Estimate


def curves(data: FoldedItems, seeds: range) -> Curves:
    """AUC on held-out families by the number of labels, for items in active and in random order: the mean over seeds,
    each with another split and start, with its interval. A point without both classes on the test side has no AUC."""
    held_by_seed = {
        seed: linear.folds((data.y == 1).tolist(), data.families, seed) == 0 for seed in seeds
    }
    fewest = min(int((~held_items).sum()) for held_items in held_by_seed.values())
    sizes = np.unique(np.linspace(min(START, fewest), fewest, SIZES).astype(int)).tolist()
    scores = {
        order: np.array([_curve(data, held_by_seed[seed], sizes, order, seed) for seed in seeds])
        for order in ORDERS
    }
    points = []
    for order, values_by_seed in scores.items():
        for size, values in zip(sizes, values_by_seed.T, strict=True):
            known_values = values[~np.isnan(values)].tolist()
            mean = _over_seeds(known_values, (0.0, 1.0))
            points.append({"form": data.form, "order": order, "labels": size, "auc": mean.value, "low": mean.low,
                           "high": mean.high, "seeds": len(known_values)})  # fmt: skip
    differences = (scores[ACTIVE] - scores[RANDOM]).mean(axis=1)
    return Curves(points, _over_seeds(differences[~np.isnan(differences)].tolist(), (-1.0, 1.0)))


def _over_seeds(values: Sequence[float], bounds: tuple[float, float]) -> Estimate:
    """The mean; below `FEWEST_SEEDS` without its interval, which would be as wide as the bounds."""
    mean = mean_estimate(values, bounds=bounds, level=LEVEL)
    if len(values) >= FEWEST_SEEDS or mean.low is None:
        return mean
    return replace(
        mean, low=None, high=None, reason=f"an interval needs {FEWEST_SEEDS} seeds (--curves)"
    )


def _curve(
    data: FoldedItems, held_items: Any, sizes: Sequence[int], order: str, seed: int
) -> list[float]:
    """AUC at each size. The first items are drawn, both classes among them, and are the same for both orders."""
    pool = np.random.default_rng(seed).permutation(np.flatnonzero(~held_items)).tolist()
    first = [next(i for i in pool if data.y[i] == label) for label in (1, 0)]
    labelled = [*first, *(i for i in pool if i not in first)][: sizes[0]]
    values = []
    for n_more in [*np.diff(sizes).tolist(), 0]:
        model = linear.uncalibrated(data.inputs[labelled], data.y[labelled], data.undersample)
        value = auc(
            model.log_odds(data.inputs[held_items]), data.y[held_items].astype(np.float64), LEVEL
        ).value
        values.append(np.nan if value is None else value)
        seen = set(labelled)
        unlabelled = [i for i in pool if i not in seen]
        if order == ACTIVE:
            p = linear.probability(model.log_odds(data.inputs[unlabelled]))
            unlabelled = [
                unlabelled[place]
                for place, _ in choose(p, data.inputs[unlabelled], n_more, data.inputs[labelled])
            ]
        labelled = [*labelled, *unlabelled[:n_more]]
    return values

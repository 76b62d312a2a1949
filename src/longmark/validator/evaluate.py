"""The quality of a validator: precision on held-out items (ClimaQA, figure 8), and learning curves.

Precision is the share of items that the experts call valid among those that a way keeps: `none` keeps all, `zero-shot`
what a judge calls VALID, `validator` what the trained model does. Families are never on both sides of a split.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from longmark.analysis.metaeval.binary import auc
from longmark.stats.means import mean_estimate
from longmark.stats.proportion import clustered_share
from longmark.stats.samples import Floats, Ints
from longmark.validator import linear
from longmark.validator.features import Inputs
from longmark.validator.folder import probability
from longmark.validator.sampling import choose

ORDERS = ("active", "random")
START, SIZES = 12, 8  # labels that a curve begins with, and points of a curve


@dataclass(frozen=True)
class Data:
    """The labelled items of a form. judged: probability of VALID by a judge, None where it gave none."""

    form: str
    inputs: Inputs
    valid: Sequence[bool]
    families: Sequence[str]
    judged: Sequence[float | None] = ()
    strength: float = 0.1
    seed: int = 0

    @property
    def y(self) -> Floats:
        return np.array(self.valid, dtype=np.float64)


@dataclass
class Precision:
    """rows: as in curves.json; skipped: splits whose training side is too small."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    skipped: int = 0


def precision(data: Data, splits: int, test: float, threshold: float) -> Precision:
    """Of each way on each split. test: the share of the items that is held out, about."""
    found, count = Precision(), max(2, round(1 / test))
    for split in range(splits):
        held = linear.folds(data.valid, data.families, count, data.seed + split) == 0
        if not _learnable(data, ~held):
            found.skipped += 1
            continue
        model, _ = linear.fit(data.inputs[~held], data.y[~held] > 0, _of(data.families, ~held), seed=data.seed,
                              strengths=(data.strength,))  # fmt: skip
        kept: dict[str, Floats] = {"none": np.ones(int(held.sum()))}
        if data.judged:
            judged = np.array([np.nan if p is None else p for p in data.judged])[held]
            kept["zero-shot"] = (judged >= threshold).astype(float)
        kept["validator"] = (probability(model.log_odds(data.inputs[held])) >= threshold).astype(float)
        y, families = data.y[held], _of(data.families, held)
        for way, keep in kept.items():
            share = clustered_share(np.where(keep > 0, y, np.nan), families)
            found.rows.append(
                {"form": data.form, "split": split, "way": way, "precision": share.value, "n": share.n,
                 "low": share.low, "high": share.high, "test": int(held.sum()),
                 "valid_kept": int((y * keep).sum()), "valid": int(y.sum())}
            )  # fmt: skip
    return found


def summary(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Way -> mean precision over the splits where it kept something."""
    by_way: dict[str, list[float]] = {}
    for row in rows:
        if row["precision"] is not None:
            by_way.setdefault(row["way"], []).append(row["precision"])
    return {way: sum(values) / len(values) for way, values in by_way.items()}


def curves(data: Data, seeds: int, test: float) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """AUC on held-out families by the number of labels, for items in active and in random order: the mean over seeds,
    each with another split and start, with Student's interval. And the gain: the mean difference of both curves."""
    draws = range(data.seed, data.seed + seeds)
    held = {seed: linear.folds(data.valid, data.families, max(2, round(1 / test)), seed) == 0 for seed in draws}
    fewest = min(int((~one).sum()) for one in held.values())
    sizes = np.unique(np.linspace(min(START, fewest), fewest, SIZES).astype(int)).tolist()
    scores: dict[tuple[str, int], list[float]] = {}
    gains = []
    for seed in draws:
        pool, areas = np.flatnonzero(~held[seed]), dict[str, list[float]]()
        for order in ORDERS:
            known = _start(data, pool, sizes[0], seed)
            for size in sizes:
                known = _more(data, pool, known, size, order, seed)
                if (value := _auc(data, known, held[seed])) is not None:
                    scores.setdefault((order, size), []).append(value)
                    areas.setdefault(order, []).append(value)
        if areas:
            active, at_random = (float(np.mean(areas[order])) for order in ORDERS)
            gains.append(active - at_random)
    made = []
    for (order, size), values in scores.items():
        mean = mean_estimate(values, bounds=(0.0, 1.0))
        made.append({"form": data.form, "order": order, "labels": size, "auc": mean.value, "low": mean.low,
                     "high": mean.high, "seeds": len(values)})  # fmt: skip
    gain = mean_estimate(gains, bounds=(-1.0, 1.0)) if gains else None
    found = (gain.value, gain.low, gain.high) if gain else (None, None, None)
    return made, {"form": data.form, **dict(zip(("gain", "low", "high"), found, strict=True)), "seeds": len(gains)}


def _start(data: Data, pool: Ints, size: int, seed: int) -> list[int]:
    """Drawn items, both classes among them."""
    drawn = pool[np.random.default_rng(seed).permutation(len(pool))].tolist()
    first = [next(i for i in drawn if data.valid[i] is label) for label in (True, False)]
    return [*first, *(i for i in drawn if i not in first)][:size]


def _more(data: Data, pool: Ints, known: list[int], size: int, order: str, seed: int) -> list[int]:
    """The known items and more of the pool, up to a number."""
    rest = np.setdiff1d(pool, known)
    if not (wanted := size - len(known)):
        return known
    if order == "random":
        return [*known, *np.random.default_rng((seed, size)).permutation(rest)[:wanted].tolist()]
    model = linear.uncalibrated(data.inputs[known], data.y[known] > 0, data.strength)
    p = probability(model.log_odds(data.inputs[rest]))
    return [*known, *(int(rest[place]) for place, _ in choose(p, data.inputs[rest], wanted, data.inputs[known]))]


def _auc(data: Data, known: list[int], held: Any) -> float | None:
    model = linear.uncalibrated(data.inputs[known], data.y[known] > 0, data.strength)
    return auc(model.log_odds(data.inputs[held]), data.y[held], 0.95).value


def _of(values: Sequence[Any], rows: Any) -> list[Any]:
    return [value for value, wanted in zip(values, rows, strict=True) if wanted]


def _learnable(data: Data, rows: Any) -> bool:
    """Whether both classes are in enough families of these rows."""
    return all(
        len({f for f, label, kept in zip(data.families, data.valid, rows, strict=True) if kept and label is wanted}) > 1
        for wanted in (True, False)
    )

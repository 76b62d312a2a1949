"""Trains a validator, and measures it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from longmark.analysis.metaeval.binary import Auc, auc
from longmark.contrib.make.left_out import LeftOut
from longmark.contrib.make.validator import cloze, evaluate, linear
from longmark.contrib.make.validator.features import inputs_of
from longmark.contrib.make.validator.folder import Validator, ValidatorEmbedder
from longmark.contrib.make.validator.labels import ValidityLabels, is_valid
from longmark.contrib.make.validator.linear import Linear, probability
from longmark.contrib.make.validator.prompts import zero_shot
from longmark.errors import UserError
from longmark.metrics.climaqa.factual_accuracy import smoothed
from longmark.models.handles import Models
from longmark.records.benchmark import Form, Item

FORMS: tuple[Form, ...] = ("mcq", "freeform")
WEIGHTS, UNDERSAMPLE = BALANCES = ("weights", "undersample")


@dataclass(frozen=True)
class TrainingPlan:
    """What is trained and measured. balance: how valid and invalid items count the same, by weights, or by a draw from
    the larger class as in ClimaQA; splits: of the precision; curves: seeds of the learning curves."""

    cloze: bool = False
    threshold: float = 0.5
    balance: str = WEIGHTS
    splits: int = linear.FOLDS
    curves: int = 5
    seed: int = 0
    at_once: int = 16

    @property
    def undersample(self) -> int | None:
        """The seed of the draw; None: classes are balanced by weights."""
        return self.seed if self.balance == UNDERSAMPLE else None


@dataclass(frozen=True)
class TrainedForm:
    """A form's model. auc: out of folds, of models of four fifths of the labels; trained: id -> probability out of
    folds; left_out: items that the judge gave no verdict on."""

    model: Linear
    valid: int
    invalid: int
    auc: Auc
    trained: dict[str, float | None]
    precision: list[evaluate.Precision]
    curves: evaluate.Curves
    left_out: list[LeftOut]


@dataclass(frozen=True)
class Trained:
    """refused: form -> why it has no model."""

    validator: Validator
    forms: dict[str, TrainedForm] = field(default_factory=dict)
    picked: cloze.Picked | None = None
    refused: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        gains = [(form, result.curves.gain) for form, result in self.forms.items()]
        return {
            "curves": [point for form in self.forms.values() for point in form.curves.points],
            "gains": [
                {"form": form, "gain": g.value, "low": g.low, "high": g.high, "seeds": g.n}
                for form, g in gains
            ],
            "precision": [asdict(row) for form in self.forms.values() for row in form.precision],
        }


async def train(
    labels: ValidityLabels, benchmark: Sequence[Item], models: Models, plan: TrainingPlan
) -> Trained:
    """One model for each form that has enough labels, and one of terms. UserError if there is none."""
    able, refused = trainable(labels, plan)
    forms: dict[str, TrainedForm] = {
        f: await _form(labels, able[f], models, plan) for f in FORMS if f in able
    }
    trained = {name: p for form in forms.values() for name, p in form.trained.items()}
    terms = None
    picked = None
    if items := able.get("cloze"):
        counts = cloze.counts_of([*benchmark, *labels.items])
        word_candidates = await cloze.candidates_of(items, counts, models)
        terms, picked = cloze.train(
            [item.answer or "" for item in items], labels.family(items), word_candidates, plan.seed
        )
        trained |= dict.fromkeys(item.id for item in items)
    settings = {"balance": plan.balance, "seed": plan.seed}
    models_by_form = {form: result.model for form, result in forms.items()}
    return Trained(
        Validator(
            ValidatorEmbedder.of(models), models_by_form, terms, plan.threshold, trained, settings
        ),
        forms,
        picked,
        refused,
    )


def trainable(
    labels: ValidityLabels, plan: TrainingPlan
) -> tuple[dict[str, list[Item]], dict[str, str]]:
    """The labelled items of each form that has enough, and why the others have not. UserError if none has."""
    items_by_form: dict[str, list[Item]] = {
        form: items for form in FORMS if (items := labels.of(form))
    }
    why = {
        form: linear.too_few(list(map(is_valid, items)), labels.family(items))
        for form, items in items_by_form.items()
    }
    if plan.cloze:
        items_by_form["cloze"] = list(filter(is_valid, labels.of("cloze")))
        why["cloze"] = cloze.too_few(labels.family(items_by_form["cloze"]))
    refused = {form: reason for form, reason in why.items() if reason is not None}
    if not items_by_form:
        raise UserError(
            f"no item of the forms {', '.join(FORMS)} has a label; train on items that experts have labelled"
        )
    if len(refused) == len(items_by_form):
        reasons = "; ".join(f"{form}: {reason}" for form, reason in refused.items())
        raise UserError(f"{reasons}. Label more items")
    return {form: items for form, items in items_by_form.items() if form not in refused}, refused


def sides(labels: ValidityLabels, plan: TrainingPlan) -> dict[str, tuple[list[Item], list[Item]]]:
    """Form -> the labelled items outside of the first split, and those of it: files for fine-tuning."""
    sides_by_form: dict[str, tuple[list[Item], list[Item]]] = {}
    for form, items in trainable(labels, plan)[0].items():
        fold = linear.folds(list(map(is_valid, items)), labels.family(items), plan.seed).tolist()
        pairs = list(zip(items, fold, strict=True))
        sides_by_form[form] = (
            [item for item, fold_number in pairs if fold_number],
            [item for item, fold_number in pairs if not fold_number],
        )
    return sides_by_form


async def _form(
    labels: ValidityLabels, items: Sequence[Item], models: Models, plan: TrainingPlan
) -> TrainedForm:
    valid = list(map(is_valid, items))
    families = labels.family(items)
    y = np.array(valid, dtype=np.int64)
    # items made from one passage stay on one side: they are valid or invalid together
    fold = linear.folds(valid, families, plan.seed)
    inputs = await inputs_of(items, models)
    model, log_odds = linear.fit(inputs, y, fold, plan.undersample)
    # out of folds: an item's own label had no part in its probability
    p = probability(log_odds)
    kept_by_way = {"none": np.ones(len(y), dtype=bool)}
    left_out = list[LeftOut]()
    if models.backends.judges:
        # a judge is paid for, so it is asked about the measured splits only
        place = np.flatnonzero(fold < plan.splits).tolist()
        judged, left_out = await zero_shot([items[i] for i in place], models, plan.at_once)
        kept_by_way["zero-shot"] = np.zeros(len(y), dtype=bool)
        kept_by_way["zero-shot"][place] = [
            p_by_judge is not None and smoothed(p_by_judge) >= plan.threshold
            for p_by_judge in judged
        ]
    kept_by_way["validator"] = p >= plan.threshold
    data = evaluate.FoldedItems(items[0].form, inputs, y, families, fold, plan.undersample)
    return TrainedForm(
        model=model,
        valid=sum(valid),
        invalid=len(valid) - sum(valid),
        auc=auc(log_odds, y.astype(np.float64), evaluate.LEVEL, families),
        trained=dict(zip((item.id for item in items), p.tolist(), strict=True)),
        precision=evaluate.precision(data, kept_by_way, plan.splits),
        curves=evaluate.curves(data, range(plan.seed, plan.seed + plan.curves)),
        left_out=left_out,
    )

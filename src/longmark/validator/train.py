"""Trains a validator, measures it, and uses it: confidences, the next items to label, the share of valid items."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from longmark.analysis.metaeval.binary import Auc, auc
from longmark.datasets import LeftOut
from longmark.datasets.benchmark.cloze import blank
from longmark.errors import UserError
from longmark.metrics.climaqa.factual_accuracy import smoothed
from longmark.models.handles import Models
from longmark.records.benchmark import Form, Item
from longmark.stats.ppi import PpiMean, ppi_mean
from longmark.stats.samples import Floats
from longmark.validator import cloze, evaluate, linear
from longmark.validator.features import Inputs, inputs_of
from longmark.validator.folder import Encoder, Validator, open_to, probability
from longmark.validator.labels import Case, Labels, by_validator, families
from longmark.validator.prompts import zero_shot
from longmark.validator.sampling import choose

FORMS: tuple[Form, ...] = ("mcq", "freeform")


@dataclass(frozen=True)
class Plan:
    """What is trained and measured. drop_above, drop: items of a greater confidence, smoothed at T, are left out of the
    training with this probability; splits, test: of the precision; curves: seeds of the learning curves."""

    forms: tuple[Form, ...] = FORMS
    cloze: bool = False
    threshold: float = 0.5
    smoothing: float = 5.0  # ClimaQA, section 3.2.1
    drop_above: float = 0.85  # ClimaQA, section 4.4
    drop: float = 0.5
    splits: int = 5
    test: float = 0.2
    curves: int = 5
    seed: int = 0
    at_once: int = 16


@dataclass(frozen=True)
class Result:
    """How a form was trained. auc: out of folds; dropped: confident items that the training left out; skipped: splits
    whose training side is too small."""

    valid: int
    invalid: int
    auc: Auc
    dropped: int
    precision: dict[str, Any]
    skipped: int


@dataclass
class Trained:
    validator: Validator
    forms: dict[str, Result] = field(default_factory=dict)
    picked: cloze.Picked | None = None
    precision: list[dict[str, Any]] = field(default_factory=list)
    curves: list[dict[str, Any]] = field(default_factory=list)
    gains: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """What `curves.json` holds."""
        return {"curves": self.curves, "gains": self.gains, "precision": self.precision}


async def train(labels: Labels, benchmark: Sequence[Item], models: Models, plan: Plan) -> Trained:
    """One model for each form that has labels, and one of terms. UserError for too few labels."""
    settings = {"drop_above": plan.drop_above, "drop": plan.drop, "seed": plan.seed}
    trained = Trained(Validator(Encoder.of(models), {}, None, plan.threshold, plan.smoothing, settings=settings))
    for form in (form for form in plan.forms if labels.of(form)):
        cases = labels.of(form)
        linear.check_labels([case.valid for case in cases], [case.family for case in cases], form)
        await _form(form, cases, models, plan, trained)
    if plan.cloze:
        await _cloze(trained, labels, benchmark, models, plan)
    if not trained.forms and trained.picked is None:
        raise UserError(f"no item of the forms {', '.join(plan.forms)} has a label; train on items with a verdict")
    return trained


async def _form(form: Form, cases: Sequence[Case], models: Models, plan: Plan, trained: Trained) -> None:
    """Trains and measures the model of a form; adds it to what is trained."""
    items, valid, own = [c.item for c in cases], [c.valid for c in cases], [c.family for c in cases]
    inputs = await inputs_of(items, models)
    model, out = linear.fit(inputs, valid, own, seed=plan.seed)
    keep = _kept(out, valid, own, plan)
    if len(keep) < len(items):
        model, _ = linear.fit(inputs[keep], [valid[i] for i in keep], [own[i] for i in keep], seed=plan.seed)
    judged: list[float | None] = []
    if models.backends.judges:
        judged, left_out = await zero_shot(items, models, plan.smoothing, plan.at_once)
        trained.left_out += left_out
    data = evaluate.Data(form, inputs, valid, own, judged, model.strength, plan.seed)
    found = evaluate.precision(data, plan.splits, plan.test, plan.threshold)
    trained.precision += found.rows
    points, gain = evaluate.curves(data, plan.curves, plan.test)
    trained.curves += points
    trained.gains.append(gain)
    counts, area = (sum(valid), len(valid) - sum(valid)), auc(out, data.y, 0.95, own)
    trained.forms[form] = Result(*counts, area, len(items) - len(keep), evaluate.summary(found.rows), found.skipped)
    before = trained.validator
    trained.validator = replace(
        before,
        models={**before.models, form: model},
        share={**before.share, form: counts[0] / len(cases)},
        trained={**before.trained, **{item.id: float(p) for item, p in zip(items, probability(out), strict=True)}},
    )


def _kept(out: Floats, valid: Sequence[bool], own: Sequence[str], plan: Plan) -> list[int]:
    """The items that are trained on: those of a high confidence, out of folds, are dropped at random; all are kept if
    too few would be left."""
    draw, kept = random.Random(plan.seed), list[int]()
    for i, p in enumerate(probability(out)):
        sure = max(smoothed(float(p), plan.smoothing), 1 - smoothed(float(p), plan.smoothing)) > plan.drop_above
        if not (sure and draw.random() < plan.drop):
            kept.append(i)
    try:
        linear.check_labels([valid[i] for i in kept], [own[i] for i in kept], "")
    except UserError:
        return list(range(len(valid)))
    return kept


async def _cloze(trained: Trained, labels: Labels, benchmark: Sequence[Item], models: Models, plan: Plan) -> None:
    cases = [case for case in labels.of("cloze") if case.term]
    counts = cloze.counts_of([*benchmark, *(case.item for case in labels.cases)])
    words = await cloze.words_of([case.item for case in cases], counts, models)
    model, trained.picked = cloze.train(cases, words, plan.seed)
    known = {**trained.validator.trained, **dict.fromkeys(case.item.id for case in cases)}
    trained.validator = replace(trained.validator, cloze=model, trained=known)


def sides(labels: Labels, plan: Plan) -> tuple[dict[str, list[Case]], dict[str, list[Case]]]:
    """The labelled items of each form for files of hosted fine-tuning: a training and a test side."""
    by_form: dict[str, list[Case]] = {form: labels.of(form) for form in plan.forms}
    if plan.cloze:
        by_form["cloze"] = [case for case in labels.of("cloze") if case.term]
    train, test = dict[str, list[Case]](), dict[str, list[Case]]()
    for form, cases in by_form.items():
        if cases:
            valid, own = [case.valid for case in cases], [case.family for case in cases]
            fold = linear.folds(valid, own, max(2, round(1 / plan.test)), plan.seed).tolist()
            train[form] = [case for case, place in zip(cases, fold, strict=True) if place]
            test[form] = [case for case, place in zip(cases, fold, strict=True) if not place]
    return train, test


# Use ------------------------------------------------------------------------------------------------------------------


async def confidences(validator: Validator, items: Sequence[Item], models: Models) -> tuple[dict[str, float], Inputs]:
    """Id -> probability of valid, of the items whose form has a model; and what the models saw, in the same order."""
    validator.check(models)
    chosen = [item for item in items if item.form in validator.models]
    inputs = await inputs_of(chosen, models)
    found: dict[str, float] = {}
    for form in validator.models:
        rows = [i for i, item in enumerate(chosen) if item.form == form]
        values = validator.confidences(form, inputs[rows]) if rows else ()
        found |= {chosen[i].id: float(p) for i, p in zip(rows, values, strict=True)}
    return {item.id: found[item.id] for item in chosen}, inputs


async def judged(
    validator: Validator, items: Sequence[Item], models: Models, at_once: int
) -> tuple[dict[str, float], list[LeftOut]]:
    """As `confidences`, by the judge, whose probability is not smoothed here; and the items without a verdict."""
    chosen = [item for item in items if item.form in FORMS]
    found, left_out = await zero_shot(chosen, models, 1.0, at_once)
    validator.check(models)
    return {item.id: p for item, p in zip(chosen, found, strict=True) if p is not None}, left_out


async def with_terms(validator: Validator, items: Sequence[Item], models: Models) -> list[Item]:
    """The items; cloze items that nobody checked with the term that the validator picks."""
    wanted = [item for item in items if item.form == "cloze" and item.statement and open_to(item)]
    if validator.cloze is None or not wanted:
        return list(items)
    words = await cloze.words_of(wanted, cloze.counts_of(items), models)
    made = {}
    for item, own in zip(wanted, words, strict=True):
        if picked := cloze.pick(validator.cloze, own):
            new = blank(item, picked[0])
            found = {"term": picked[0], "share": round(picked[1], 6)}
            made[item.id] = new.model_copy(update={"tier": "silver", "meta": {**new.meta, "validator": found}})
    return [made.get(item.id, item) for item in items]


async def next_items(
    validator: Validator, items: Sequence[Item], labelled: Sequence[Item], models: Models, n: int
) -> list[tuple[Item, float]]:
    """The n items to label, with their value. labelled: items that have a label already, or were trained on: nothing
    like them is named first."""
    known = validator.trained.keys() | {item.id for item in labelled}
    forms = validator.models.keys()
    pool = [item for item in items if item.form in forms and open_to(item) and item.id not in known]
    seen = [item for item in items if item.form in forms and item.id in known]
    p, inputs = await confidences(validator, [*pool, *seen], models)
    order = choose(np.array([p[item.id] for item in pool]), inputs[: len(pool)], n, inputs[len(pool) :])
    return [(pool[place], value) for place, value in order]


def share_valid(
    p: Mapping[str, float], items: Sequence[Item], labels: Labels, validator: Validator
) -> dict[str, PpiMean]:
    """Form -> the share of valid items among those that no audit dropped and no validator called invalid. For an item
    that the validator learned from, the prediction is that of the models that did not see it (cross-prediction: Zrnic &
    Candès 2024)."""
    verdicts = {case.item.id: float(case.valid) for case in labels.cases}
    made = {}
    for form in validator.models:
        own = [item for item in items if item.form == form and item.id in p and _counts(item)]
        if own:
            trained = [validator.trained.get(item.id) if item.id in verdicts else None for item in own]
            scores = [p[item.id] if before is None else before for item, before in zip(own, trained, strict=True)]
            made[form] = ppi_mean([verdicts.get(item.id) for item in own], scores, clusters=families(own))
    return made


def _counts(item: Item) -> bool:
    return item.status != "dropped" and not (item.status == "invalid" and by_validator(item))

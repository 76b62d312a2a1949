"""Uses a validator: confidences, the status of items, the next items to label, the share of valid items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import orjson

from longmark.contrib.make.benchmark import ITEMS, MANIFEST
from longmark.contrib.make.benchmark.cloze import blank
from longmark.contrib.make.left_out import LeftOut
from longmark.contrib.make.validator import cloze
from longmark.contrib.make.validator.features import Inputs, inputs_of
from longmark.contrib.make.validator.folder import Validator
from longmark.contrib.make.validator.labels import ValidityLabels, by_validator, families, is_valid
from longmark.contrib.make.validator.prompts import zero_shot
from longmark.contrib.make.validator.sampling import choose, passed
from longmark.contrib.make.validator.train import FORMS
from longmark.metrics.climaqa.factual_accuracy import smoothed
from longmark.models.handles import Models
from longmark.records.benchmark import Item, write_items
from longmark.records.files import read_object
from longmark.records.write import write_object
from longmark.stats.ppi import PpiMean, ppi_mean
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate
from longmark.writing import folder as make_folder


def open_to(item: Item) -> bool:
    """Whether a validator may decide about an item: nobody has checked it, and no audit dropped it."""
    return item.status in ("draft", "audited") or (
        by_validator(item) and item.status in ("valid", "invalid")
    )


async def confidences(
    validator: Validator, items: Sequence[Item], models: Models
) -> tuple[dict[str, float], Inputs]:
    """Id -> probability of valid, of the items whose form has a model; and what the models saw, in the same order."""
    validator.check(models)
    chosen = [item for item in items if item.form in validator.models]
    inputs = await inputs_of(chosen, models)
    by_id: dict[str, float] = {}
    for form in validator.models:
        rows = [i for i, item in enumerate(chosen) if item.form == form]
        values = validator.confidences(form, inputs[rows]) if rows else ()
        by_id |= {chosen[i].id: float(p) for i, p in zip(rows, values, strict=True)}
    return {item.id: by_id[item.id] for item in chosen}, inputs


async def judged(
    items: Sequence[Item], models: Models, at_once: int
) -> tuple[dict[str, float], list[LeftOut]]:
    """As `confidences`, by the judge; and the items without a verdict."""
    chosen = [item for item in items if item.form in FORMS]
    probabilities, left_out = await zero_shot(chosen, models, at_once)
    return {
        item.id: p for item, p in zip(chosen, probabilities, strict=True) if p is not None
    }, left_out


def applied(
    items: Sequence[Item], confidences: Mapping[str, float], threshold: float
) -> list[Item]:
    """The items; those with a confidence are valid or invalid silver items. Items that people checked stay gold, and
    dropped items stay dropped: neither has a confidence here."""
    return [
        _applied(item, confidences[item.id], threshold) if item.id in confidences else item
        for item in items
    ]


def _applied(item: Item, p: float, threshold: float) -> Item:
    valid = p >= threshold
    why = () if valid else (f"validator: probability {p:.2f} is below {threshold:g}",)
    reasons = (*(reason for reason in item.reasons if not reason.startswith("validator:")), *why)
    decision = {"probability": round(p, 6), "confidence": round(smoothed(p), 6)}
    changed = {"status": "valid" if valid else "invalid", "reasons": reasons, "tier": "silver"}
    return item.model_copy(update={**changed, "meta": {**item.meta, "validator": decision}})


async def refused(validator: Validator, item: Item, models: Models) -> Item:
    """The item; an invalid silver item where the validator has a model of its form and calls it invalid."""
    p, _ = await confidences(validator, [item], models)
    (marked,) = applied([item], p, validator.threshold)
    return marked if marked.status == "invalid" else item


async def with_terms(validator: Validator, items: Sequence[Item], models: Models) -> list[Item]:
    """The items; cloze items that nobody checked with the term that the validator picks."""
    open_items = [
        item for item in items if item.form == "cloze" and item.statement and open_to(item)
    ]
    if validator.cloze is None or not open_items:
        return list(items)
    validator.check(models)
    candidates = await cloze.candidates_of(open_items, cloze.counts_of(items), models)
    with_term = {}
    for item, picked in zip(
        open_items, candidates.best(validator.cloze.log_odds(candidates.inputs)), strict=True
    ):
        if picked:
            new = blank(item, picked[0])
            choice = {"term": picked[0], "share": round(picked[1], 6)}
            with_term[item.id] = new.model_copy(
                update={"tier": "silver", "meta": {**new.meta, "validator": choice}}
            )
    return [with_term.get(item.id, item) for item in items]


def precision(
    items: Sequence[Item], labels: ValidityLabels, validator: Validator
) -> Iterator[tuple[str, Estimate, Estimate]]:
    """Form, the share of valid items among the labelled ones that a validator kept, and among all labelled ones that it
    decided about. Items that it learned from are left out."""
    valid = {item.id: is_valid(item) for item in labels.items if item.id not in validator.trained}
    for form in FORMS:
        decided = [
            item
            for item in items
            if item.form == form and item.id in valid and "validator" in item.meta
        ]
        if decided:
            usable = [item for item in decided if item.usable]
            shares = [
                clustered_share(
                    [float(valid[item.id]) for item in item_group], families(item_group)
                )
                for item_group in (usable, decided)
            ]
            yield form, shares[0], shares[1]


def write_applied(
    items: Sequence[Item], benchmark: Path, out: Path, validator: Validator | None = None
) -> None:
    """A file of items where `out` has a suffix; else a folder with `items.jsonl` and the benchmark's manifest, which
    says what the validator was."""
    if out.suffix:
        write_items(items, out)
        return
    make_folder(out)
    write_items(items, out / ITEMS)
    manifest = benchmark / MANIFEST
    before = (
        read_object(manifest, "name a file of items")
        if benchmark.is_dir() and manifest.is_file()
        else {}
    )
    if validator is not None:
        description = {
            "threshold": validator.threshold,
            "encoder": validator.encoder.name,
            "labels": len(validator.trained),
        }
        before = {**before, "validator": description}
    if before:
        write_object(out / MANIFEST, before)


@dataclass(frozen=True)
class Priority:
    """A line of the file of priorities that the queue of `longmark annotate` reads: the highest first."""

    item: str
    priority: float
    form: str

    def to_json(self) -> bytes:
        return orjson.dumps(asdict(self))


async def next_items(
    validator: Validator,
    items: Sequence[Item],
    labelled: Sequence[Item],
    models: Models,
    n: int,
    *,
    drop_above: float | None = None,
    seed: int = 0,
) -> list[Priority]:
    """The n items to label, the most valuable first. labelled: items that have a label already; nothing like them, or
    like those that were trained on, is named first. drop_above: as in ClimaQA, the items in their order after half of
    those of a greater confidence were dropped (`sampling.passed`)."""
    known_ids = validator.trained.keys() | {item.id for item in labelled}
    forms = validator.models.keys()
    pool = [
        item for item in items if item.form in forms and open_to(item) and item.id not in known_ids
    ]
    seen = [item for item in items if item.form in forms and item.id in known_ids]
    p, inputs = await confidences(validator, [*pool, *seen], models)
    own_probabilities = np.array([p[item.id] for item in pool])
    if drop_above is not None:
        order = passed(own_probabilities, n, drop_above, seed)
    else:
        order = choose(own_probabilities, inputs[: len(pool)], n, inputs[len(pool) :])
    return [Priority(pool[place].id, round(value, 9), pool[place].form) for place, value in order]


def share_valid(
    p: Mapping[str, float], items: Sequence[Item], labels: ValidityLabels, validator: Validator
) -> dict[str, PpiMean]:
    """Form -> the share of valid items among those that no audit dropped and no validator called invalid. For an item
    that the validator learned from, the prediction is that of the models that did not see it (cross-prediction: Zrnic &
    Candès 2024)."""
    validities = {item.id: float(is_valid(item)) for item in labels.items}
    shares_by_form = {}
    for form in validator.models:
        form_items = [
            item for item in items if item.form == form and item.id in p and _counts(item)
        ]
        if form_items:
            trained = [
                validator.trained.get(item.id) if item.id in validities else None
                for item in form_items
            ]
            scores = [
                p[item.id] if before is None else before
                for item, before in zip(form_items, trained, strict=True)
            ]
            shares_by_form[form] = ppi_mean(
                [validities.get(item.id) for item in form_items],
                scores,
                clusters=families(form_items),
            )
    return shares_by_form


def _counts(item: Item) -> bool:
    return item.status != "dropped" and not (item.status == "invalid" and by_validator(item))

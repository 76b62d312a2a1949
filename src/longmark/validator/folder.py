"""A validator's folder: `validator.json`, without pickle, with coefficients, settings and encoder; and `curves.json`.

Another encoder is an error: the coefficients do not apply to the vectors of another model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from longmark.datasets.benchmark import ITEMS, MANIFEST
from longmark.errors import UserError
from longmark.metrics.climaqa.factual_accuracy import smoothed
from longmark.models.handles import Models
from longmark.records.benchmark import Item, write_items
from longmark.records.files import read_object
from longmark.records.write import replacing
from longmark.stats.samples import Floats
from longmark.validator.cloze import WORD_NUMBERS
from longmark.validator.features import Inputs
from longmark.validator.labels import by_validator
from longmark.validator.linear import Linear

FORMAT = 1
FILE, CURVES = "validator.json", "curves.json"


@dataclass(frozen=True)
class Encoder:
    """The embedder whose vectors a validator reads. identity: of its endpoint and model, or of its file."""

    name: str
    identity: str

    @classmethod
    def of(cls, models: Models) -> Encoder:
        embedder = models.backends.embedder
        assert embedder is not None
        return cls(embedder.name, embedder.identity)


@dataclass(frozen=True)
class Validator:
    """models: form -> linear model of items; cloze: linear model of words (`validator.cloze`). share: form -> share of
    valid items among the labels; trained: id of each item that it learned from -> the probability of valid by models
    that did not see its family (None: a cloze item); smoothing: T of the confidences."""

    encoder: Encoder
    models: dict[str, Linear]
    cloze: Linear | None = None
    threshold: float = 0.5
    smoothing: float = 5.0  # ClimaQA, section 3.2.1
    share: dict[str, float] = field(default_factory=dict)
    trained: dict[str, float | None] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def confidences(self, form: str, inputs: Inputs) -> Floats:
        """The probability of valid, for each item, where both classes are equally frequent."""
        return probability(self.models[form].log_odds(inputs))

    def found(self, p: float) -> dict[str, Any]:
        """What `meta.validator` of an item says: the probability, and the confidence smoothed at T."""
        return {"probability": round(p, 6), "confidence": round(smoothed(p, self.smoothing), 6)}

    def check(self, models: Models) -> None:
        """UserError if the embedder is another one."""
        given = Encoder.of(models)
        if given != self.encoder:
            names = (self.encoder.name, given.name)
            if names[0] == names[1]:  # other weights under the same name
                names = (f"{names[0]} ({self.encoder.identity})", f"{names[1]} ({given.identity})")
            raise UserError(
                f"this validator was trained with {names[0]}, not {names[1]}; use the same embedder, or train "
                f"again with --embedder {given.name}"
            )


def probability(log_odds: Floats) -> Floats:
    """1 / (1 + exp(-log-odds)), never exactly 0 or 1."""
    found: Floats = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
    return found


def save(validator: Validator, folder: Path) -> None:
    data = {
        "format": FORMAT,
        "encoder": {"name": validator.encoder.name, "identity": validator.encoder.identity},
        "threshold": validator.threshold,
        "smoothing": validator.smoothing,
        "share": validator.share,
        "models": {form: model.to_json() for form, model in validator.models.items()},
        "cloze": validator.cloze and validator.cloze.to_json(),
        "trained": validator.trained,
        "settings": validator.settings,
    }
    write_json(folder / FILE, data)


def write_json(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_SERIALIZE_NUMPY) + b"\n")


def load(folder: Path) -> Validator:
    """UserError for a folder without a validator, of another format, or damaged."""
    path = folder / FILE
    if not path.is_file():
        raise UserError(f"{folder} has no {FILE}; name a folder that `longmark validator train` wrote")
    remedy = "train it again"
    data = read_object(path, remedy)
    if data.get("format") != FORMAT:
        raise UserError(f"{path} has the format {data.get('format')}, and this version reads {FORMAT}; {remedy}")
    try:
        return Validator(
            Encoder(str(data["encoder"]["name"]), str(data["encoder"]["identity"])),
            {form: Linear.from_json(model) for form, model in data["models"].items()},
            None if data["cloze"] is None else Linear.from_json(data["cloze"], WORD_NUMBERS),
            float(data["threshold"]),
            float(data["smoothing"]),
            {form: float(share) for form, share in data["share"].items()},
            {item: None if p is None else float(p) for item, p in data["trained"].items()},
            dict(data["settings"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path} is damaged ({error!r}); {remedy}") from None


def applied(validator: Validator, items: Sequence[Item], confidences: dict[str, float], threshold: float) -> list[Item]:
    """The items; those with a confidence are valid or invalid silver items. Items that people checked stay gold, and
    dropped items stay dropped: neither has a confidence here."""
    made = []
    for item in items:
        if (p := confidences.get(item.id)) is None:
            made.append(item)
            continue
        valid = p >= threshold
        why = () if valid else (f"validator: probability {p:.2f} is below {threshold:g}",)
        reasons = (*(one for one in item.reasons if not one.startswith("validator:")), *why)
        changed = {"status": "valid" if valid else "invalid", "reasons": reasons, "tier": "silver"}
        made.append(item.model_copy(update={**changed, "meta": {**item.meta, "validator": validator.found(p)}}))
    return made


def write_applied(items: Sequence[Item], benchmark: Path, out: Path, validator: Validator | None = None) -> None:
    """A file of items where `out` has a suffix; else a folder with `items.jsonl` and the benchmark's manifest, which
    says what the validator was."""
    if out.suffix:
        write_items(items, out)
        return
    out.mkdir(parents=True, exist_ok=True)
    write_items(items, out / ITEMS)
    manifest = benchmark / MANIFEST
    before = read_object(manifest, "name a file of items") if benchmark.is_dir() and manifest.is_file() else {}
    if validator is not None:
        made = {"threshold": validator.threshold, "encoder": validator.encoder.name, "labels": len(validator.trained)}
        before = {**before, "validator": made}
    if before:
        write_json(out / MANIFEST, before)


def open_to(item: Item) -> bool:
    """Whether a validator may decide about an item: nobody has checked it, and no audit dropped it."""
    return item.status in ("draft", "audited") or (by_validator(item) and item.status in ("valid", "invalid"))

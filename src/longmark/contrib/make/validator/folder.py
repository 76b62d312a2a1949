"""A validator's folder: `validator.json`, without pickle, with coefficients, settings and encoder; and `curves.json`.

Another encoder is an error: the coefficients do not apply to the vectors of another model. What is read is checked
strictly, since the folder may be another's: types, ranges, and that all coefficients are there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import orjson
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from longmark.contrib.make.validator.cloze import WORD_NUMBERS
from longmark.contrib.make.validator.features import NUMBERS, Inputs
from longmark.contrib.make.validator.linear import Linear, probability
from longmark.errors import UserError
from longmark.models.handles import Models
from longmark.models.trust import wrote
from longmark.records.files import read_object
from longmark.records.values import in_one_line
from longmark.records.write import write_object
from longmark.stats.samples import Floats
from longmark.writing import folder as make_folder

FILE = "validator.json"
Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class ValidatorEmbedder:
    """The embedder whose vectors a validator reads. identity: of its endpoint and model, or of its file."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    name: str
    identity: str

    @classmethod
    def of(cls, models: Models) -> ValidatorEmbedder:
        embedder = models.backends.embedder
        assert embedder is not None
        return cls(embedder.name, embedder.identity)


@dataclass(frozen=True)
class Validator:
    """models: form -> linear model of items; cloze: linear model of words (`validator.cloze`). trained: id of each item
    that it learned from -> the probability of valid by models that did not see its family (None: a cloze item)."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    encoder: ValidatorEmbedder
    models: dict[str, Linear]
    cloze: Linear | None = None
    threshold: Share = 0.5
    trained: dict[str, Share | None] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    format: Literal[1] = 1

    def confidences(self, form: str, inputs: Inputs) -> Floats:
        """The probability of valid, for each item, where both classes are equally frequent."""
        return probability(self.models[form].log_odds(inputs))

    def check(self, models: Models) -> None:
        """UserError if the embedder is another one."""
        encoder = ValidatorEmbedder.of(models)
        if encoder != self.encoder:
            names = (self.encoder.name, encoder.name)
            if names[0] == names[1]:  # other weights under the same name
                names = (
                    f"{names[0]} ({self.encoder.identity})",
                    f"{names[1]} ({encoder.identity})",
                )
            raise UserError(
                f"this validator was trained with {names[0]}, not {names[1]}; use the same embedder, or train "
                f"again with --embedder {encoder.name}"
            )


def save(validator: Validator, folder: Path) -> None:
    make_folder(folder)
    write_object(folder / FILE, TypeAdapter(Validator).dump_python(validator))
    wrote(folder / FILE, validator.encoder.name)


def load(folder: Path) -> Validator:
    """UserError for a folder without a validator, of another format, or damaged."""
    path = folder / FILE
    if not path.is_file():
        raise UserError(
            f"{folder} has no {FILE}; name a folder that `longmark validator train` wrote"
        )
    try:
        stored = orjson.dumps(read_object(path, "train it again"))
        validator = TypeAdapter(Validator).validate_json(stored, strict=True)
    except ValidationError as error:
        raise UserError(f"{path} is damaged ({in_one_line(error)}); train it again") from None
    names = [(model, NUMBERS) for model in validator.models.values()] + [
        (validator.cloze, WORD_NUMBERS)
    ]
    if any(
        model is not None and tuple(model.numbers) != names_of_version
        for model, names_of_version in names
    ):
        raise UserError(f"{path} has the features of another version; train it again")
    widths = {
        len(model.weights) for model in validator.models.values()
    }  # of two vectors, see `features`; cloze has one
    widths |= {2 * len(validator.cloze.weights)} if validator.cloze is not None else set()
    if len(widths) > 1 or any(width % 2 or not width for width in widths):
        raise UserError(
            f"{path} is damaged (its models have {sorted(widths)} weights); train it again"
        )
    return validator

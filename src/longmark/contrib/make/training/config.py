"""The YAML file of a training: model, data, hyper-parameters.

    model: hf:meta-llama/Llama-3.1-8B-Instruct    # hf: a folder, a hub name or a GGUF file; or embedded:small
    paper: llama-3.1-8b                           # ClimaQA's hyper-parameters for this model (paper.yaml)
    train: [books/held-out]                       # pretrain: documents; finetune: a benchmark
    validation: [books/source]
    out: adapters/pretrained                      # the folder of the adapter

Every key below replaces the paper's value, or ours where the paper states none. Paths are relative to the working
folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from longmark.domain import Text
from longmark.records import yaml_file
from longmark.records.benchmark import Form

PAPER = Path(__file__).with_name("paper.yaml")

Count = Annotated[int, Field(strict=True, ge=1)]
Number = Annotated[float, BeforeValidator(lambda value: _number(value)), Field(allow_inf_nan=False)]
Paths = Annotated[
    tuple[Path, ...], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
]


def _number(value: Any) -> Any:
    """A number; YAML 1.1 takes `5e-5` for text."""
    if isinstance(value, bool):
        raise ValueError("expected a number, found a truth value")
    return value


class AdapterSettings(BaseModel):
    """Settings of one adapter.

    paper       the model whose hyper-parameters are taken from the paper
    rank, alpha, dropout    of LoRA, on every linear layer but the last
    epochs, learning_rate   alpha, rank and these two are the paper's (Llama 3.1 8B, fine-tuning) by default
    steps       maximum number of optimizer steps (None: those of the epochs)
    batch, accumulate       sequences in one pass, and passes in one optimizer step
    length      maximum number of tokens of a sequence
    warmup      share of the steps in which the learning rate rises; then it falls along a cosine to 0
    save_every  steps between two checkpoints
    precision   of the base model: auto is bfloat16 on a GPU and float32 elsewhere
    save_memory computes activations again instead of keeping them
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: Text
    out: Path
    paper: Literal["llama-3.1-8b", "mistral-7b-v0.3"] | None = None
    rank: Count = 16
    alpha: Count = 16
    dropout: Annotated[Number, Field(ge=0, lt=1)] = 0.0
    epochs: Annotated[Number, Field(gt=0)] = 3
    learning_rate: Annotated[Number, Field(gt=0, lt=1)] = 5e-5
    steps: Count | None = None
    batch: Count = 1
    accumulate: Count = 16
    length: Annotated[Count, Field(ge=8)] = 2048
    warmup: Annotated[Number, Field(ge=0, lt=1)] = 0.03
    save_every: Count = 50
    seed: Annotated[int, Field(strict=True, ge=0)] = 0
    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    save_memory: Annotated[bool, Field(strict=True)] = False


class Pretrain(AdapterSettings):
    """train, validation: documents, as `longmark rag index` reads them. A book in both is an error."""

    train: Annotated[Paths, Field(min_length=1)]
    validation: Paths = ()


class Finetune(AdapterSettings):
    """train, validation: benchmarks (folders or files of items). keep_out: benchmarks that will test the model; their
    items, and what shares a question or a parent with them, are not trained on."""

    train: Path
    validation: Path | None = None
    keep_out: Paths = ()
    forms: Annotated[tuple[Form, ...], Field(min_length=1)] = ("mcq", "freeform", "cloze")


Kind = TypeVar("Kind", bound=AdapterSettings)


def load(path: Path, kind: type[Kind]) -> Kind:
    """The settings of a file. UserError if it cannot be read; BadInput with a line for each mistake."""
    source = yaml_file.load(path, "CONFIG")
    content = source.table("a table with model, train, out, …")
    tables = yaml.safe_load(PAPER.read_text(encoding="utf-8"))
    return source.checked(
        kind, {**tables[kind.__name__.lower()].get(str(content.get("paper")), {}), **content}
    )

"""A LoRA adapter of a causal language model: loading, training with checkpoints, and the output folder.

OUT/adapter_config.json, adapter_model.safetensors    the adapter, as peft writes it
OUT/longmark.json       base model, settings, data, losses, versions
OUT/log.jsonl           loss, learning rate and validation loss by step
OUT/checkpoints/        during training; the same command continues from the last one
"""

from __future__ import annotations

import io
import os
import sys
import time
import warnings
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any

import orjson

from longmark.contrib.local.adapter import CONFIG, MANIFEST, WEIGHTS
from longmark.contrib.local.catalogue import model_path
from longmark.contrib.local.transformers_lm import TransformersLM
from longmark.contrib.make.training.config import AdapterSettings
from longmark.contrib.make.training.data import TrainingData
from longmark.errors import MissingExtra, UserError
from longmark.progress import duration, shown
from longmark.workspace import Workspace
from longmark.writing import check_ours, check_within, remove, remove_folder, replacing

LOG = "log.jsonl"
CHECKPOINTS = "checkpoints"
_LIBRARIES = ("torch", "transformers", "peft")


@dataclass(frozen=True, slots=True)
class Base:
    """The base model of a training: loaded without gradients, in the precision of the settings."""

    model: Any
    tokenizer: Any
    name: str
    identity: str


def named(model: str) -> TransformersLM:
    """The model `hf:NAME` or `embedded:NAME`, not loaded. UserError for another name; MissingExtra without peft."""
    if any(find_spec(library) is None for library in _LIBRARIES):
        raise MissingExtra("`longmark train`", "finetune")
    prefix, _, path_or_name = model.partition(":")
    if prefix not in ("hf", "embedded") or not path_or_name:
        raise UserError(
            f"model: {model}: expected hf:NAME (a folder, a hub name or a GGUF file) or embedded:NAME"
        )
    base_model = TransformersLM(
        str(model_path(path_or_name)) if prefix == "embedded" else path_or_name
    )
    if "+lora:" in base_model.identity:
        raise UserError(f"model: {model} has an adapter already; name only its base model")
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    if base_model.identity != base_model.name:  # it is on this machine
        os.environ["HF_HUB_OFFLINE"] = "1"
    return base_model


def loaded(settings: AdapterSettings) -> Base:
    """The base model. RequestRefused if it cannot be loaded, UserError if it reads fewer tokens than `length`."""
    source = named(settings.model)
    import torch

    half = settings.precision == "bfloat16" or (
        settings.precision == "auto" and torch.cuda.is_available()
    )
    model, tokenizer = source.pretrained(torch.bfloat16 if half else torch.float32)
    if not all(parameter.is_floating_point() for parameter in model.parameters()):
        raise UserError(
            f"model: the weights of {source.name} stay quantized; use the unquantized model"
        )
    model.is_quantized = (
        False  # transformers has unpacked a GGUF file, and still refuses to train it
    )
    window = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    if window is not None and settings.length > window:
        raise UserError(
            f"length: {settings.length:,} is above the {window:,} tokens that {source.name} reads; reduce it"
        )
    if tokenizer.eos_token_id is None:
        raise UserError(
            f"model: {source.name} has no end token, so it cannot learn to stop; use another model"
        )
    return Base(model, tokenizer, source.name, source.identity)


@dataclass
class Training:
    """One adapter. task: pretrain or finetune; validation: its loss is measured before the first step and
    after each epoch, as the mean over sequences of the loss per token."""

    task: str
    base: Base
    settings: AdapterSettings
    train: TrainingData
    validation: TrainingData | None = None

    @property
    def steps(self) -> int:
        steps_per_epoch = ceil(
            len(self.train.sequences) / (self.settings.batch * self.settings.accumulate)
        )
        all_steps = ceil(steps_per_epoch * self.settings.epochs)
        return min(all_steps, self.settings.steps or all_steps)

    def fixed(self) -> dict[str, Any]:
        """What determines the result; two trainings of which all this is equal are the same."""
        data = {
            "train": self.train.facts,
            **({"validation": self.validation.facts} if self.validation else {}),
        }
        return {
            "input": {
                "task": self.task,
                "base": {"name": self.base.name, "identity": self.base.identity},
                **data,
            },
            "settings": self.settings.model_dump(mode="json", exclude={"out"}),
        }

    def run(self, *, quiet: bool = False) -> dict[str, Any]:
        """Trains, or continues from the last checkpoint; returns the manifest with `result`. A finished folder with the
        same settings and data does not change. SettingsChanged for a folder with others."""
        with Workspace(self.settings.out, MANIFEST, "training") as space:
            space.fix(self.fixed())
            if "result" not in space.manifest:
                self._make(space, quiet)
            return space.manifest

    def _make(self, space: Workspace, quiet: bool) -> None:
        out = space.path
        check_ours(*(out / name for name in (CONFIG, WEIGHTS, LOG, "README.md")))
        check_within(out, out / CHECKPOINTS)
        space.write()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of the libraries, about each other
            warnings.filterwarnings(
                "ignore", "Could not find a config file"
            )  # a GGUF file has none
            history, seconds = self._train(out, quiet)
        result = {"steps": self.steps, "seconds": round(seconds, 1), **_losses(history)}
        with replacing(out / LOG) as file:
            file.writelines(orjson.dumps(line) + b"\n" for line in history)
        space.manifest |= {
            "result": result,
            "versions": {name: version(name) for name in _LIBRARIES},
        }
        space.write()
        remove_folder(out / CHECKPOINTS)

    def _train(self, out: Path, quiet: bool) -> tuple[list[dict[str, Any]], float]:
        import torch
        import transformers
        from peft import LoraConfig, get_peft_model
        from transformers.trainer_utils import get_last_checkpoint

        chosen = self.settings
        began = time.monotonic()
        transformers.set_seed(chosen.seed)
        lora = LoraConfig(
            r=chosen.rank, lora_alpha=chosen.alpha, lora_dropout=chosen.dropout, target_modules="all-linear",
            task_type="CAUSAL_LM",
        )  # fmt: skip
        model = get_peft_model(self.base.model, lora)
        if chosen.save_memory:
            model.enable_input_require_grads()
        checkpoints = out / CHECKPOINTS
        last = get_last_checkpoint(str(checkpoints)) if checkpoints.is_dir() else None
        arguments = transformers.TrainingArguments(
            output_dir=str(checkpoints), max_steps=self.steps,
            per_device_train_batch_size=chosen.batch, per_device_eval_batch_size=1,
            gradient_accumulation_steps=chosen.accumulate,
            learning_rate=chosen.learning_rate, lr_scheduler_type="cosine",
            warmup_steps=ceil(chosen.warmup * self.steps),
            bf16=next(model.parameters()).dtype is torch.bfloat16, use_cpu=not torch.cuda.is_available(),
            eval_strategy="epoch" if self.validation else "no", eval_on_start=self.validation is not None and not last,
            save_steps=chosen.save_every, save_total_limit=1, logging_steps=1, seed=chosen.seed, report_to="none",
            disable_tqdm=True, remove_unused_columns=False, label_names=["labels"],
            **({"gradient_checkpointing": True} if chosen.save_memory else {}),
        )  # fmt: skip
        tokenizer = self.base.tokenizer
        tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
        tokenizer.padding_side = "right"
        trainer = transformers.Trainer(
            model=model,
            args=arguments,
            data_collator=transformers.DataCollatorForSeq2Seq(
                tokenizer
            ),  # labels are filled up with IGNORED
            train_dataset=self.train.sequences,
            eval_dataset=self.validation.sequences if self.validation else None,
        )
        trainer.remove_callback(transformers.PrinterCallback)

        def state() -> tuple[int, int, str]:
            step = trainer.state.global_step
            losses = _losses(trainer.state.log_history)
            line = f"step {step:,} of {self.steps:,}" + (
                f" · loss {losses['last_loss']:.3f}" if "last_loss" in losses else ""
            )
            return step, self.steps, f"{line} · {duration(time.monotonic() - began)}"

        with shown(state, io.StringIO() if quiet else sys.stderr) as tell:
            trainer.add_callback(_teller(tell))
            trainer.train(resume_from_checkpoint=last)
        model.save_pretrained(str(out), save_embedding_layers=False)
        remove(out / "README.md")  # a form for a hub, without content
        return list(trainer.state.log_history), time.monotonic() - began


def _teller(tell: Any) -> Any:
    from transformers import TrainerCallback

    class Teller(TrainerCallback):  # type: ignore[misc]
        def on_log(self, *_state: Any, **_more: Any) -> None:
            tell()

    return Teller()


def _losses(history: list[dict[str, Any]]) -> dict[str, float]:
    """Mean loss of the first and of the last quarter of the steps; first and last loss of the validation set."""
    losses = dict[str, float]()
    for name, logged_name, share in (
        ("loss", "loss", 4),
        ("validation_loss", "eval_loss", 1 << 30),
    ):
        values = [float(line[logged_name]) for line in history if logged_name in line]
        n = max(1, len(values) // share)
        losses |= (
            {f"first_{name}": fmean(values[:n]), f"last_{name}": fmean(values[-n:])}
            if values
            else {}
        )
    return losses

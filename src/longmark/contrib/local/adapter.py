"""LoRA adapters of peft on `hf:` models: which base model a folder belongs to, and the model with it.

`longmark train` writes a manifest, `longmark.json`, beside the adapter: the base model's name and identity, the data
the settings. An adapter trained elsewhere has none; there, the base model named in `adapter_config.json` counts: the
whole name, or the same folder.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from longmark import errors
from longmark.contrib.local.sentence import load_by
from longmark.home import sha256
from longmark.places import expanded

MANIFEST = "longmark.json"
CONFIG = "adapter_config.json"
WEIGHTS = "adapter_model.safetensors"


@dataclass(frozen=True, slots=True)
class Adapter:
    """identity: a hash of weights and configuration."""

    folder: Path
    identity: str


def opened(folder: Path, name: str, identity: str) -> Adapter:
    """The adapter in a folder, for a base model. Loads nothing.

    name, identity: of the base model (`TransformersLM`). UserError if the folder has no adapter, or one of another base
    model; MissingExtra if peft is not installed.
    """
    its_name, its_identity = _base(folder)
    if its_identity not in (None, identity):
        raise errors.UserError(
            f"the adapter {folder} was trained on {its_name} ({_short(its_identity)}), not on {name} "
            f"({_short(identity)}); name its base model, or an adapter of this one"
        )
    if its_identity is None and not _same(its_name, name.removeprefix("hf:")):
        raise errors.UserError(
            f"the adapter {folder} was trained on {its_name} by its {CONFIG}, not on {name}; name that model, or, if "
            f"this is it, write its name into base_model_name_or_path of {CONFIG}"
        )
    if importlib.util.find_spec("peft") is None:
        raise errors.MissingExtra(f"the adapter {folder}", "finetune")
    return Adapter(folder, f"lora:sha256:{sha256(folder / WEIGHTS)}:{sha256(folder / CONFIG)[:16]}")


def _same(given_base: str, base_name: str) -> bool:
    """Whether two names are of one model: equal, or of one folder."""
    first_folder, second_folder = (expanded(name) for name in (given_base, base_name))
    return given_base == base_name or (
        first_folder.exists() and second_folder.exists() and first_folder.samefile(second_folder)
    )


def _base(folder: Path) -> tuple[str, str | None]:
    """Name and identity of an adapter's base model; no identity without a manifest. UserError if it is no adapter."""
    for file in (CONFIG, WEIGHTS):
        if not (folder / file).is_file():
            raise errors.UserError(
                f"{folder} is no adapter: it has no {file}; name the folder that longmark train wrote"
            )
    file, is_ours = (MANIFEST, True) if (folder / MANIFEST).is_file() else (CONFIG, False)
    try:
        manifest = orjson.loads((folder / file).read_bytes())
        base = manifest["fixed"]["input"]["base"] if is_ours else {}
        return (base["name"], str(base["identity"])) if is_ours else (
            str(manifest["base_model_name_or_path"]), None)  # fmt: skip
    except (ValueError, KeyError, TypeError):
        raise errors.UserError(
            f"{folder / file} names no base model; train the adapter again"
        ) from None


def applied(model: Any, adapter: Adapter) -> Any:
    """A loaded transformers model with an adapter, ready to answer. RequestRefused if the weights do not fit."""
    from peft import PeftModel

    remedy = "an adapter that was trained on this model"
    return load_by(
        "peft",
        str(adapter.folder),
        remedy,
        lambda: PeftModel.from_pretrained(model, adapter.folder).eval(),
    )


def _short(identity: str) -> str:
    head, _, last = identity.rpartition(":")
    return f"{head}:{last[:12]}" if len(last) == 64 else identity

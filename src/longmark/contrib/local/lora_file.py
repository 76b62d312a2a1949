"""A LoRA adapter in llama.cpp's format, for libraries that read peft's.

    python -m longmark.contrib.local.lora_file FOLDER [BASE]

writes the adapter of the built-in claim checker as a folder of peft, as `vllm serve --enable-lora` reads it. BASE: the
model that it is served with, as the folder is to name it. It needs the extra `finetune`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark import errors
from longmark.contrib.local.adapter import CONFIG, WEIGHTS
from longmark.contrib.local.checker_form import adapter_path
from longmark.writing import folder as make_folder
from longmark.writing import replacing

BASE = "Qwen/Qwen2.5-Coder-1.5B-Instruct"  # what the built-in adapter was trained on
_MODULES = {  # llama.cpp's name of a matrix -> transformers'
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


@dataclass(frozen=True)
class LoraFile:
    """matrices: peft's name -> a matrix of float32; rank: of all of them; alpha: what they add counts alpha / rank."""

    matrices: dict[str, Any]
    rank: int
    alpha: float

    @classmethod
    def read(cls, path: Path) -> LoraFile:
        """ValueError, KeyError for a file that is no such adapter, or one of another kind of model."""
        from gguf import GGUFReader

        reader = GGUFReader(path)
        matrices = {}
        ranks = set()
        for tensor in reader.tensors:
            _, layer, name, _, half = tensor.name.split(".")  # blk.3.attn_q.weight.lora_a
            matrix = tensor.data.astype("float32")
            ranks.add(min(matrix.shape))
            place = f"base_model.model.model.layers.{layer}.{_MODULES[name]}"
            matrices[f"{place}.lora_{half[-1].upper()}.weight"] = matrix
        (rank,) = ranks
        return cls(matrices, int(rank), float(reader.fields["adapter.lora.alpha"].contents()))

    @property
    def targets(self) -> list[str]:
        """The last part of the names of the modules that it changes."""
        return sorted({name.split(".")[-3] for name in self.matrices})

    def write(self, folder: Path, base: str) -> None:
        """Writes it as a folder of peft, for a base model of that name."""
        from safetensors.numpy import save

        config = {
            "base_model_name_or_path": base,
            "bias": "none",
            "inference_mode": True,
            "lora_alpha": self.alpha,
            "lora_dropout": 0.0,
            "peft_type": "LORA",
            "r": self.rank,
            "target_modules": self.targets,
            "task_type": "CAUSAL_LM",
        }
        make_folder(folder)
        for name, content in (
            (WEIGHTS, save(self.matrices)),
            (CONFIG, json.dumps(config, indent=2).encode()),
        ):
            with replacing(folder / name) as file:
                file.write(content)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m longmark.contrib.local.lora_file",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("base", nargs="?", default=BASE, help="the name of the base model")
    options = parser.parse_args(arguments)
    try:
        if any(importlib.util.find_spec(name) is None for name in ("gguf", "safetensors")):
            raise errors.MissingExtra("the adapter as a folder of peft", "finetune")
        LoraFile.read(adapter_path()).write(options.folder, options.base)
    except errors.LongmarkError as error:
        parser.exit(1, f"longmark: {error}\n")
    print(f"{options.folder}: the claim checker's adapter (CC BY-SA 4.0) for {options.base}")


if __name__ == "__main__":
    main()

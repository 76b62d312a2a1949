"""A causal language model that learns to say VALID or INVALID (ClimaQA, appendix A.5.2), by a LoRA adapter.

The confidence is p of VALID by the log-probabilities of the first tokens of both words after the prompt, smoothed at T:
p = sigmoid(l_valid - l_invalid), p^(1/T) / (p^(1/T) + (1 - p)^(1/T)), T = 5, as for factual accuracy.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.metrics.climaqa.factual_accuracy import smoothed
from longmark.models.adapter import applied, opened
from longmark.models.protocols import Message
from longmark.models.transformers_lm import chat_ids
from longmark.training.adapt import Base, Training, loaded
from longmark.training.config import Settings
from longmark.training.data import Data, answered, digest, encoded

VALID, INVALID = LABELS = ("VALID", "INVALID")


def fit(cases: Sequence[tuple[str, bool]], settings: Settings, *, quiet: bool = False) -> dict[str, Any]:
    """Trains a classifier on prompts and whether each is valid; returns the manifest of the folder `settings.out`.

    UserError for one class alone, or where every prompt is longer than `settings.length`; longer ones are left out.
    """
    if len({valid for _, valid in cases}) < 2:
        raise UserError("a classifier needs valid and invalid items; label more of them")
    base = loaded(settings)
    _first_tokens(base.tokenizer, base.name)
    data, used = Data(), Counter[str]()
    for prompt, valid in cases:
        label = LABELS[not valid]
        made = answered(base.tokenizer, [Message("user", prompt)], label, base.name)
        if len(made["input_ids"]) <= settings.length:
            data.sequences.append(made)
            used[label] += 1
    if not data.sequences:
        raise UserError(f"every prompt is longer than {settings.length:,} tokens; raise length")
    too_long = len(cases) - len(data.sequences)
    data.facts = {"cases": dict(used), "too_long": too_long, "sha256": digest(data.sequences)}
    return Training("classify", base, settings, data).run(quiet=quiet)


class Classifier:
    """A trained classifier, or the base model itself (folder None: zero-shot)."""

    def __init__(self, settings: Settings, folder: Path | None = None) -> None:
        self._base: Base = loaded(settings)
        self._length = settings.length
        model = self._base.model
        if folder is not None:
            model = applied(model, opened(folder, self._base.name, self._base.identity))
        import torch

        self._model = model.eval().to("cuda" if torch.cuda.is_available() else "cpu")
        self._first = _first_tokens(self._base.tokenizer, self._base.name)

    def confidences(self, prompts: Sequence[str], t: float = 5.0) -> list[float | None]:
        """p of VALID for each prompt, smoothed; None for a prompt that is longer than the settings' `length`."""
        import torch

        found = list[float | None]()
        with torch.inference_mode():
            for prompt in prompts:
                ids = chat_ids(self._base.tokenizer, [Message("user", prompt)], self._base.name)
                if len(ids) > self._length:
                    found.append(None)
                    continue
                logits = self._model(input_ids=torch.tensor([ids], device=self._model.device)).logits[0, -1]
                valid, invalid = (float(logits[token]) for token in self._first)
                found.append(smoothed(1 / (1 + math.exp(min(invalid - valid, 700.0))), t))
        return found


def _first_tokens(tokenizer: Any, name: str) -> tuple[int, int]:
    """The first token of each label. UserError if they are one: its probability could not tell them apart."""
    valid, invalid = (encoded(tokenizer, label)[0] for label in LABELS)
    if valid == invalid:
        raise UserError(f"model: for {name}, {VALID} and {INVALID} begin with the same token; use another model")
    return valid, invalid

"""The claim checker on `transformers`: `--checker hf:NAME --prompt checker`, on a GPU where there is one.

`hf:NAME` (a folder, hub name or GGUF file of Qwen2.5-Coder-1.5B-Instruct) gets the adapter that is part of longmark,
through peft; `hf:NAME+FOLDER` the adapter in that folder. bfloat16 on a GPU, float32 on a processor. Questions that
wait together are read in batches of like length, padded on the left. `python -m bench.checker_rate` says how many
claims a second that is, beside what the card could do.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark import errors
from longmark.contrib.local.batch_room import is_out_of_memory, no_memory, release, room_on
from longmark.contrib.local.lora_file import LoraFile
from longmark.contrib.local.sentence import load_by
from longmark.contrib.local.transformers_lm import TransformersLM
from longmark.home import sha256
from longmark.models.protocols import Tokens

GPU_TOKENS = 16_384  # of the first batch on a GPU, padding included
MOST_GPU_TOKENS = 131_072
CPU_TOKENS = 2_048


@dataclass(frozen=True, slots=True)
class _Question:
    """A prompt, the tokens of both answers, and where the log-odds are awaited."""

    prompt: list[int]
    yes: list[int]
    no: list[int]
    reply: asyncio.Future[float]


class TransformersClaims(TransformersLM):
    """A `TokenModel` (`claim_checker`). brings_adapter: whether the name has an adapter of the user's."""

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.brings_adapter = self._adapter is not None
        self._lora: Path | None = None
        self._waiting: list[_Question] = []
        self._reading: asyncio.Task[None] | None = None

    def use_adapter(self, path: Path) -> None:
        """Loads a LoRA adapter in llama.cpp's format with the model. MissingExtra without peft and gguf."""
        if any(importlib.util.find_spec(name) is None for name in ("peft", "gguf")):
            raise errors.MissingExtra(f"the claim checker's adapter on {self.name}", "finetune")
        self._lora = path

    async def token_ids(self, text: str, *, control: bool = False) -> list[tuple[int, str]]:
        """The tokens of a text; the pieces are left out."""
        if not text:
            return []
        ids = await asyncio.to_thread(self._token_ids, text, control)
        return [(token, "") for token in ids]

    async def log_odds(
        self,
        prompt: Sequence[int],
        yes: Sequence[int],
        no: Sequence[int],
        *,
        adapter: bool = False,
        shared: Hashable = None,
    ) -> tuple[float, Tokens]:
        """log P(yes) - log P(no) of the token after a prompt. The adapter always counts, and nothing is shared."""
        question = _Question(
            list(prompt), list(yes), list(no), asyncio.get_running_loop().create_future()
        )
        self._waiting.append(question)
        if self._reading is None or self._reading.done():
            self._reading = asyncio.ensure_future(self._read_waiting())
        return await question.reply, Tokens(len(prompt), 0, 1)

    async def close(self) -> None:
        if self._reading is not None and not self._reading.done():
            self._reading.cancel()
            with suppress(asyncio.CancelledError, RuntimeError):  # a task of a loop that has ended
                await self._reading
        self._reading = None
        await super().close()

    async def _read_waiting(self) -> None:
        """Reads until nobody waits; those that came meanwhile are the next batches."""
        while True:
            await asyncio.sleep(0)  # the others of the same turn come first
            waiting = [question for question in self._waiting if not question.reply.done()]
            self._waiting.clear()
            if not waiting:
                return
            for batch in _batches(waiting, await asyncio.to_thread(self._room)):
                await self._answer(batch)

    async def _answer(self, batch: Sequence[_Question]) -> None:
        """Replies to the questions of a batch, in halves where the device's memory does not hold all of it."""
        refusal: Exception
        try:
            odds = await asyncio.to_thread(self._log_odds, batch)
        except Exception as error:
            refusal = no_memory(self.name) if is_out_of_memory(error) else error
            in_halves = is_out_of_memory(error) and len(batch) > 1
        else:
            for question, value in zip(batch, odds, strict=True):
                if not question.reply.done():
                    question.reply.set_result(value)
            return
        if in_halves:
            await asyncio.to_thread(self._make_room)
            middle = len(batch) // 2
            await self._answer(batch[:middle])
            await self._answer(batch[middle:])
            return
        for question in batch:
            if not question.reply.done():
                question.reply.set_exception(refusal)

    # In a thread -----------------------------------------------------------------------------------------------------

    def _load(self) -> tuple[Any, Any]:
        import torch

        on_gpu = torch.cuda.is_available()
        model, tokenizer = self.pretrained(torch.bfloat16 if on_gpu else torch.float32)
        model = model.eval().to("cuda" if on_gpu else "cpu")
        if self._adapter is not None:
            from longmark.contrib.local.adapter import applied

            return applied(model, self._adapter), tokenizer
        return with_lora(model, self._lora) if self._lora is not None else model, tokenizer

    def _token_ids(self, text: str, control: bool) -> list[int]:
        with self._lock:
            _, tokenizer = self._model()
            return list(
                tokenizer.encode(text, add_special_tokens=False, split_special_tokens=not control)
            )

    def _room(self) -> int:
        """Tokens of a batch."""
        with self._lock:
            if self._batch_room is None:
                model, _ = self._model()
                self._batch_room = room_on(
                    model.device.type, cpu=CPU_TOKENS, gpu=GPU_TOKENS, limit=MOST_GPU_TOKENS
                )
            return self._batch_room.size

    def _make_room(self) -> None:
        with self._lock:
            if self._batch_room is not None:
                self._batch_room.halve()
            release()

    def _log_odds(self, batch: Sequence[_Question]) -> list[float]:
        import torch

        with self._lock, torch.inference_mode():
            model, _ = self._model()
            width = max(len(question.prompt) for question in batch)
            ids = torch.zeros((len(batch), width), dtype=torch.long)
            mask = torch.zeros_like(ids)
            for row, question in enumerate(batch):
                ids[row, width - len(question.prompt) :] = torch.tensor(question.prompt)
                mask[row, width - len(question.prompt) :] = 1
            ids = ids.to(model.device)
            mask = mask.to(model.device)
            places = (mask.cumsum(dim=1) - 1).clamp(min=0)
            output = model(
                input_ids=ids,
                attention_mask=mask,
                position_ids=places,
                logits_to_keep=1,
                use_cache=False,
            )
            logits = output.logits[:, -1].float()
            if self._batch_room is not None:
                self._batch_room.held(len(batch) * width)
            return [
                float(
                    logits[row, question.yes].logsumexp(0) - logits[row, question.no].logsumexp(0)
                )
                for row, question in enumerate(batch)
            ]


def _batches(questions: Sequence[_Question], room: int) -> list[list[_Question]]:
    """Questions of like length together, of at most `room` tokens with the padding, and at least one question."""
    batches: list[list[_Question]] = []
    for question in sorted(questions, key=lambda question: -len(question.prompt)):
        if batches and (len(batches[-1]) + 1) * len(batches[-1][0].prompt) <= room:
            batches[-1].append(question)
        else:
            batches.append([question])
    return batches


def with_lora(model: Any, path: Path) -> Any:
    """A loaded model with an adapter in llama.cpp's format. RequestRefused where the adapter is not of this model."""
    remedy = (
        "the model that the adapter was trained on, Qwen2.5-Coder-1.5B-Instruct, or hf:NAME+FOLDER"
    )
    return load_by(
        "peft",
        f"the adapter {path.name} (sha256 {sha256(path)[:12]})",
        remedy,
        lambda: _applied(model, path),
    )


def _applied(model: Any, path: Path) -> Any:
    import torch
    from peft import LoraConfig, get_peft_model
    from peft.utils import set_peft_model_state_dict

    lora = LoraFile.read(path)
    config = LoraConfig(
        r=lora.rank, lora_alpha=lora.alpha, target_modules=lora.targets, lora_dropout=0.0
    )
    adapted = get_peft_model(model, config)
    expected = {key.replace(".default.", ".") for key in adapted.state_dict() if ".lora_" in key}
    if unlike := expected ^ lora.matrices.keys():
        raise ValueError(
            f"{len(unlike)} of its matrices are not those of the model, for example {min(unlike)}"
        )
    matrices = {name: torch.tensor(matrix) for name, matrix in lora.matrices.items()}
    set_peft_model_state_dict(adapted, matrices)
    return adapted.eval()

"""Batches where the memory of a device ends: halves of them, no lost run. Models are tiny and made here."""

from __future__ import annotations

import asyncio
import inspect
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.local.test_transformers_claims import by_hand, probabilities, qwen_in
from tests.contrib.local.test_transformers_lm import asked, model_in, needs_transformers, requests

from longmark.contrib.local import sentence
from longmark.contrib.local.batch_room import BatchRoom, is_out_of_memory, read_within, room_on
from longmark.contrib.local.sentence import SentenceTransformerEmbedder
from longmark.contrib.local.transformers_claims import TransformersClaims
from longmark.contrib.local.transformers_lm import TransformersLM
from longmark.errors import RequestRefused

CUDA = "CUDA out of memory. Tried to allocate 2.00 GiB."


def holding(most: int, asked_sizes: list[int]) -> Any:
    """A reader whose memory ends above `most`."""

    def read(size: int) -> int:
        asked_sizes.append(size)
        if size > most:
            raise RuntimeError(CUDA)
        return size

    return read


def test_a_batch_is_halved_until_it_fits_and_later_ones_begin_with_that_size() -> None:
    sizes: list[int] = []
    room = BatchRoom(64, 256)
    assert read_within(room, "m", holding(20, sizes)) == 16
    assert sizes == [64, 32, 16]
    assert read_within(room, "m", holding(20, sizes)) == 16
    assert sizes == [64, 32, 16, 16]


def test_a_room_doubles_after_batches_of_more_than_half_of_it_only_and_not_beyond_what_did_not_fit() -> (
    None
):
    room = BatchRoom(16, 128)
    room.held(8)
    assert room.size == 16
    room.held(9)
    assert room.size == 32
    room.held(400)
    assert room.size == 64
    assert room.halve()
    room.held(400)
    assert room.size == 32  # 64 did not fit
    assert (room_on("cpu", cpu=8, gpu=32, limit=64), room_on("cuda", cpu=8, gpu=32, limit=64)) == (
        BatchRoom(8, 8),
        BatchRoom(32, 64),
    )
    fixed = room_on("cpu", cpu=8, gpu=32, limit=64)
    fixed.held(1000)
    assert fixed.size == 8


def test_what_does_not_fit_by_itself_is_refused_with_the_remedy() -> None:
    with pytest.raises(RequestRefused, match=r"does not hold hf:big and one text: shorten"):
        read_within(BatchRoom(4, 4), "hf:big", holding(0, []))


def test_other_errors_are_no_end_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(_size: int) -> int:
        raise RuntimeError("mat1 and mat2 shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="shapes"):
        read_within(BatchRoom(4, 4), "m", read)

    class OutOfMemoryError(RuntimeError):
        pass

    monkeypatch.setitem(
        sys.modules, "torch", types.SimpleNamespace(OutOfMemoryError=OutOfMemoryError)
    )
    cases = {
        OutOfMemoryError("any words"): True,
        MemoryError(): True,
        RuntimeError(CUDA): True,
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"): True,
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling"): True,
        ValueError(CUDA): False,
        RuntimeError("CUDA error: device-side assert triggered"): False,
    }
    assert {str(error): is_out_of_memory(error) for error in cases} == {
        str(error): expected for error, expected in cases.items()
    }


class _SmallMemory:
    """A sentence-transformers model whose memory holds 5 texts at once; a vector is the length of its text."""

    device = types.SimpleNamespace(type="cuda")
    max_seq_length = None
    tokenizer = types.SimpleNamespace(encode=lambda text, **_: text.split())

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def encode(self, texts: list[str], batch_size: int, **_: Any) -> list[list[float]]:
        self.sizes.append(batch_size)
        if min(batch_size, len(texts)) > 5:
            raise RuntimeError(CUDA)
        return [[float(len(text))] for text in texts]


def test_an_embedder_reads_all_texts_in_smaller_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: object())
    embedder = SentenceTransformerEmbedder("some/model")
    model = _SmallMemory()
    monkeypatch.setattr(embedder, "_load", lambda: model)
    texts = ["x" * number for number in range(1, 41)]
    reply = asyncio.run(embedder.embed(texts))
    assert [vector[0] for vector in reply.vectors] == [float(number) for number in range(1, 41)]
    assert model.sizes == [2 * sentence._BATCH, 16, 8, 4]
    asyncio.run(embedder.embed(texts))
    assert model.sizes[4:] == [4]


def limited(model: Any, most: int, seen: list[int]) -> None:
    """A model of transformers whose forward pass holds `most` tokens."""
    import torch

    forward = model.forward

    def small_memory(*values: Any, **named: Any) -> Any:
        tokens = named["input_ids"].numel()
        seen.append(tokens)
        if tokens > most:
            raise torch.OutOfMemoryError(CUDA)
        return forward(*values, **named)

    # The signature stays: it says what the model takes.
    small_memory.__signature__ = inspect.signature(forward)  # type: ignore[attr-defined]
    model.forward = small_memory


@needs_transformers
def test_likelihoods_are_the_same_in_smaller_passes(tmp_path: Path) -> None:
    folder = str(model_in(tmp_path))
    whole = asked(TransformersLM(folder), requests())
    small = TransformersLM(folder)
    loaded, _ = small._model()
    small.close = _stay  # type: ignore[method-assign]
    seen: list[int] = []
    limited(loaded, 40, seen)
    halved = asked(small, requests())
    assert max(seen) > 40
    for reply, other in zip(whole, halved, strict=True):
        assert reply.logprobs == pytest.approx(other.logprobs, abs=1e-5)
        assert reply.tokens == other.tokens
    seen.clear()
    asked(small, requests())
    assert max(seen) <= 40  # what was learned stays
    limited(loaded, 0, [])
    with pytest.raises(RequestRefused, match="does not hold"):
        asked(small, requests()[:1])


@needs_transformers
def test_claims_are_answered_in_halves_of_a_batch_and_one_that_is_too_large_is_refused(
    tmp_path: Path,
) -> None:
    base = qwen_in(tmp_path)
    model = TransformersClaims(str(base))
    loaded, _ = model._model()
    model.close = _stay  # type: ignore[method-assign]
    seen: list[int] = []
    limited(loaded, 350, seen)  # one prompt of the three has about 150 tokens
    assert probabilities(model) == pytest.approx(by_hand(base), abs=1e-4)
    assert max(seen) > 350
    limited(loaded, 10, [])
    with pytest.raises(RequestRefused, match="does not hold"):
        probabilities(model)


async def _stay() -> None:
    """The model stays loaded."""

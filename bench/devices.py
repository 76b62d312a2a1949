"""Local models on the device of this machine: how fast, how much at once, what bfloat16 moves, two models together.

`python -m bench.devices [--lm hf:NAME] [--embedder st:NAME] [--reranker st:NAME] [--encoder hf:NAME] [--texts 500]
[--teraflops N]`

Each model reads the passages, questions and answers of the demo, in turn, until there are `--texts`:

    lm          the likelihood of an answer after its passages, as `score.context_utilization` asks for it
    embedder    a vector of each text
    reranker    each passage with its question
    encoder     the vectors of a text's tokens, as `classic.bertscore` compares them

Printed for each: the device; tokens a second, after a first part that does not count, with tokenisation and without
loading; the floor, tokens x 2 x parameters / the card's rate in bfloat16 (`bench.checker_rate`), and what share of the
measured time it is; the size of a batch that was found by use; the most memory. Then the same texts in bfloat16: the
greatest and the mean difference of what a metric reads (mean log-probability of a token; cosine of a question and a
passage; raw score; F1 of BERTScore with the first answer). Last, where two models were named: both at once, beside one
after the other. Without a GPU all of it runs on the processor, in float32 and bfloat16, and has no floor. Texts
that are too long for a model are left out and counted.
`bench.checker_rate` does the same for the claim checker.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

import numpy as np
from bench.checker_rate import card

from longmark.contrib.demo.recorded import ANSWERS
from longmark.contrib.local.encoders import TransformerEncoder
from longmark.contrib.local.sentence import (
    CrossEncoderReranker,
    SentenceTransformerEmbedder,
)
from longmark.contrib.local.transformers_lm import TransformersLM
from longmark.errors import TooLong
from longmark.metrics.classic._encoders import Vectors
from longmark.metrics.classic.bertscore import match
from longmark.models.protocols import LikelihoodRequest
from longmark.records.read import Reading

WARM_SHARE = 0.1  # of the texts, before the clock starts


@dataclass(frozen=True)
class DemoText:
    """An answer with its question and one of its passages."""

    question: str
    passage: str
    answer: str


@dataclass
class DeviceFigures:
    """What one role's model gave. values: one a text, as a metric would read it."""

    role: str
    seconds: float
    tokens: int
    parameters: int
    batch: int | None
    values: list[float] = field(default_factory=list)


Reader = Callable[[Any, Sequence[DemoText]], Awaitable[tuple[list[float], int]]]
"""A model and texts -> a value for each text, and the tokens that were read."""


def demo_texts(count: int) -> list[DemoText]:
    texts = [
        DemoText(example.question or "", context.text, example.answer or "")
        for example in Reading(ANSWERS).singles()
        for context in example.contexts
    ]
    return list(islice(cycle(texts), count))


async def likelihoods(model: TransformersLM, texts: Sequence[DemoText]) -> tuple[list[float], int]:
    values = []
    tokens = 0
    for text in texts:
        prompt = f"{text.passage}\n\nQuestion: {text.question}\nAnswer: "
        try:
            reply = await model.likelihood(LikelihoodRequest(prompt, text.answer))
        except TooLong:
            continue
        values.append(float(np.mean(reply.logprobs)))
        tokens += reply.tokens.prompt if reply.tokens is not None else 0
    return values, tokens


async def cosines(
    model: SentenceTransformerEmbedder, texts: Sequence[DemoText]
) -> tuple[list[float], int]:
    reply = await model.embed([part for text in texts for part in (text.question, text.passage)])
    vectors = np.array(reply.vectors)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    values = (vectors[::2] * vectors[1::2]).sum(axis=1)
    return values.tolist(), reply.tokens.prompt if reply.tokens is not None else 0


async def rankings(
    model: CrossEncoderReranker, texts: Sequence[DemoText]
) -> tuple[list[float], int]:
    values: list[float] = []
    tokens = 0
    by_question: dict[str, list[str]] = {}
    for text in texts:
        by_question.setdefault(text.question, []).append(text.passage)
    for question, passages in by_question.items():
        reply = await model.rerank(question, passages)
        values += reply.scores
        tokens += reply.tokens.prompt if reply.tokens is not None else 0
    return values, tokens


async def overlaps(model: TransformerEncoder, texts: Sequence[DemoText]) -> tuple[list[float], int]:
    def encoded(text: str) -> Any:
        vectors, content = model.encode(text, -1)
        return Vectors(vectors, content, pieces=1)

    vectors = []
    tokens = 0
    for text in texts:
        try:
            vectors.append(encoded(text.answer))
        except TooLong:
            continue
        tokens += model.count(text.answer)
    return [match(some, vectors[0]).f1 for some in vectors], tokens


ROLES: dict[str, tuple[Callable[[str], Any], Reader]] = {
    "lm": (lambda name: TransformersLM(name.removeprefix("hf:")), likelihoods),
    "embedder": (lambda name: SentenceTransformerEmbedder(name.removeprefix("st:")), cosines),
    "reranker": (lambda name: CrossEncoderReranker(name.removeprefix("st:")), rankings),
    "encoder": (lambda name: TransformerEncoder(name.removeprefix("hf:"), name), overlaps),
}


def loaded_module(model: Any) -> Any:
    """The torch module of an adapter, which some keep with its tokenizer."""
    loaded = model._model()
    return loaded[0] if isinstance(loaded, tuple) else loaded


async def measured(role: str, model: Any, texts: Sequence[DemoText]) -> DeviceFigures:
    _, read = ROLES[role]
    await read(model, texts[: max(1, int(len(texts) * WARM_SHARE))])
    began = time.perf_counter()
    values, tokens = await read(model, texts)
    seconds = time.perf_counter() - began
    module = loaded_module(model)
    parameters = sum(weights.numel() for weights in module.parameters())
    room = model._batch_room
    return DeviceFigures(role, seconds, tokens, parameters, room.size if room else None, values)


def peak_gb() -> float | None:
    """The most memory that torch has held on the GPU since the last call, in GB; None without one."""
    import torch

    if not torch.cuda.is_available():
        return None
    peak = torch.cuda.max_memory_allocated() / 1e9
    torch.cuda.reset_peak_memory_stats()
    return float(peak)


async def in_bfloat16(role: str, name: str, texts: Sequence[DemoText]) -> list[float]:
    """The values of the same model with its weights in bfloat16."""
    import torch

    opened, read = ROLES[role]
    model = opened(name)
    loaded_module(model).to(torch.bfloat16)
    try:
        values, _ = await read(model, texts)
    finally:
        model._unload()
    return values


async def both_seconds(names: Sequence[tuple[str, str]], texts: Sequence[DemoText]) -> list[float]:
    """Seconds of two models one after the other, and at once; both are loaded in either case."""
    models = [(role, ROLES[role][0](name)) for role, name in names]
    readers = [(ROLES[role][1], model) for role, model in models]
    for read, model in readers:
        await read(model, texts[:4])
    began = time.perf_counter()
    for read, model in readers:
        await read(model, texts)
    middle = time.perf_counter()
    # An encoder works in the calling thread, so each reader gets a thread and a loop of its own.
    await asyncio.gather(
        *(asyncio.to_thread(asyncio.run, _values(read, model, texts)) for read, model in readers)
    )
    seconds = [middle - began, time.perf_counter() - middle]
    for _, model in models:
        model._unload()
    return seconds


async def _values(read: Reader, model: Any, texts: Sequence[DemoText]) -> list[float]:
    return (await read(model, texts))[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.devices",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for role in ROLES:
        parser.add_argument(f"--{role}")
    parser.add_argument("--texts", type=int, default=500)
    parser.add_argument("--teraflops", type=float)
    options = parser.parse_args()
    names = [(role, getattr(options, role)) for role in ROLES if getattr(options, role)]
    if not names:
        parser.error("name a model, such as --lm hf:FOLDER")
    texts = demo_texts(options.texts)
    device, card_rate = card()
    rate = options.teraflops or card_rate
    print(f"{device}, {len(texts)} texts")
    print("| model | tokens | tokens a second | floor, share | batch | GB | bfloat16: max, mean |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for role, name in names:
        peak_gb()
        model = ROLES[role][0](name)
        result = asyncio.run(measured(role, model, texts))
        peak = peak_gb()
        model._unload()
        if not result.values:
            print(f"{role} {name}: each text is too long for it")
            continue
        moved = np.abs(np.array(result.values) - asyncio.run(in_bfloat16(role, name, texts)))
        floor = result.tokens * 2 * result.parameters / (rate * 1e12) if rate else None
        cells = [
            f"{role} {name}",
            f"{result.tokens:,}",
            f"{result.tokens / result.seconds:,.0f}",
            f"{floor / result.seconds:.1%}" if floor else "-",
            f"{result.batch}" if result.batch else "1 text",
            f"{peak:.1f}" if peak else "-",
            f"{moved.max():.3f}, {moved.mean():.4f}",
        ]
        print("| " + " | ".join(cells) + " |")
        if len(result.values) < len(texts):
            print(f"{role} {name}: {len(texts) - len(result.values)} texts are too long for it")
    if len(names) > 1:
        apart, together = asyncio.run(both_seconds(names[:2], texts))
        print(f"{names[0][0]} and {names[1][0]}: {apart:.1f} s apart, {together:.1f} s at once")


if __name__ == "__main__":
    main()

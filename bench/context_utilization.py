"""Leaving out one claim at a time: tokens evaluated and time, against whole passes and against the bound.

    python bench/context_utilization.py [llama] [hf] [--claims 2 5 10 20] [--model NAME]

The model is the embedded one of this name (`small`), under llama.cpp and, where transformers is installed, in float32.
For each number of claims: head, claim and answer in tokens; what was evaluated by plan and by n + 1 whole passes, the
bound of `models.leave_one_out`; seconds of the clock and of the processor (both models run in this process: the latter
is what to compare where other programs want the cores); and how far apart the confidences f are, and their deltas.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.models.test_leave_one_out import bound

from longmark.contrib.local import catalogue, llama
from longmark.metrics.score.context_utilization import PROXY
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.leave_one_out import order
from longmark.models.protocols import LanguageModel, LikelihoodReply, LikelihoodRequest, Tokens

QUESTION = "How did the towns along the Arrow prepare for floods?"
TOWNS = (
    "Ashby",
    "Birchwood",
    "Coleford",
    "Dunmore",
    "Elmstead",
    "Foxley",
    "Garton",
    "Hadley",
    "Ilkby",
    "Jarrow",
)
WORKS = ("raised its levee by {} feet", "moved {} pumps to higher ground")
ANSWER = (
    "Most towns along the Arrow raised their levees by a few feet. Ashby began it, and Birchwood and Coleford followed "
    "within two years. Some moved their pumps to higher ground as well."
)


@dataclass(frozen=True)
class Seconds:
    """Of the clock, and of the processor."""

    wall: float
    cpu: float

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: Seconds) -> Seconds:
        return Seconds(self.wall - other.wall, self.cpu - other.cpu)


def now() -> Seconds:
    return Seconds(time.perf_counter(), time.process_time())


def claims(count: int) -> list[str]:
    """Invented facts of equal form, no two alike."""
    return [f"{TOWNS[i % 10]} {WORKS[i // 10].format(i + 2)} in {1990 + i}." for i in range(count)]


def requests(count: int) -> list[LikelihoodRequest]:
    head, _, _ = PROXY.text.partition("$facts")
    lines = [f"- {claim}\n" for claim in claims(count)]
    sets = ["".join(line for i, line in enumerate(lines) if i != left) for left in order(count)]
    return [
        LikelihoodRequest(head.replace("$question", QUESTION) + kept, ANSWER, chat=True)
        for kept in sets
    ]


def evaluated(replies: Sequence[LikelihoodReply]) -> int:
    counts = [reply.tokens or Tokens() for reply in replies]
    return sum(one.prompt - one.cached_prompt for one in counts)


async def planned(
    model: LanguageModel, asked: list[LikelihoodRequest]
) -> tuple[list[LikelihoodReply], Seconds]:
    """As the metric asks: all of them through the client, with an empty call cache."""
    with tempfile.TemporaryDirectory() as folder:
        cache = CallCache(Path(folder) / "calls.sqlite")
        start = now()
        replies = await Client(cache).likelihoods(model, asked, UsageLog())
        seconds = now() - start
        cache.close()
    return replies, seconds


async def whole(
    model: Any, asked: list[LikelihoodRequest]
) -> tuple[list[LikelihoodReply], Seconds]:
    """One by one; llama.cpp is made to forget each prompt before the next one, which is not timed."""
    replies, seconds = [], Seconds(0.0, 0.0)
    for request in asked:
        if isinstance(model, llama.LlamaCpp):
            await model.likelihood(LikelihoodRequest("0", "0"))
        start = now()
        replies.append(await model.likelihood(request))
        seconds += now() - start
    return replies, seconds


async def sizes(model: Any, count: int) -> tuple[int, list[int], int]:
    """Tokens of the head, of each claim, and of the answer with what the template puts before it. Exact where tokens
    do not reach from one line into the next."""
    head = requests(0)[0]
    lines = [f"- {claim}\n" for claim in claims(count)]
    after_head = (
        await model.likelihood(LikelihoodRequest(head.prompt, "x", chat=True))
    ).tokens.prompt
    if isinstance(model, llama.LlamaCpp):
        length = [len(await model._tokenize(line)) for line in lines]
        tail = len((await model._template(("user",)))[-1])
        answer = len(await model._tokenize(ANSWER))
    else:
        _, tokenizer = model._load()
        length = [len(tokenizer.encode(line, add_special_tokens=False)) for line in lines]
        mark = tokenizer.apply_chat_template(
            [{"role": "user", "content": "MARK"}], tokenize=False, add_generation_prompt=True
        )
        tail = len(tokenizer.encode(mark.partition("MARK")[2], add_special_tokens=False))
        answer = len(tokenizer.encode(ANSWER, add_special_tokens=False))
    return after_head - tail, length, tail + answer


def confidences(replies: Sequence[LikelihoodReply]) -> list[float]:
    return [math.exp(math.fsum(reply.logprobs) / len(reply.logprobs)) for reply in replies]


async def measure(name: str, model: Any, counts: Sequence[int]) -> None:
    await model.likelihood(LikelihoodRequest("0", "0"))  # load
    print(f"\n{name}: {model.name}")
    print(
        "  n    P  L (mean)   A |  bound  planned   whole | s planned  s whole "
        "| cpu planned  whole  ratio | f rel.  delta abs."
    )
    for count in counts:
        head, length, answer = await sizes(model, count)
        asked = requests(count)
        await model.likelihood(LikelihoodRequest("0", "0"))
        alone, slow = await whole(model, asked)
        await model.likelihood(LikelihoodRequest("0", "0"))
        plan, fast = await planned(model, asked)
        f, g = confidences(plan), confidences(alone)
        apart = max(abs(a / b - 1) for a, b in zip(f, g, strict=True))
        deltas = max(abs((f[0] - a) - (g[0] - b)) for a, b in zip(f, g, strict=True))
        print(
            f"{count:3} {head:4} {sum(length) / count:9.1f} {answer:3} | {bound(head, length, answer):6,} "
            f"{evaluated(plan):8,} {evaluated(alone):7,} | {fast.wall:9.1f} {slow.wall:8.1f} | "
            f"{fast.cpu:11.1f} {slow.cpu:6.1f} {fast.cpu / slow.cpu:6.2f} | "
            f"{apart:.1e}  {deltas:.1e}",
            flush=True,
        )
    await model.close()


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("backends", nargs="*", default=["llama", "hf"], help="llama, hf")
    parser.add_argument("--claims", nargs="+", type=int, default=[2, 5, 10, 20])
    parser.add_argument("--model", default="small")
    arguments = parser.parse_args()
    if "llama" in arguments.backends:
        llama._CACHE_MIB = 0  # no memory of other prompts: the plan must do without, and whole passes must be whole
        await measure("llama.cpp", llama.LlamaCpp.embedded(arguments.model), arguments.claims)
    if "hf" in arguments.backends:
        if importlib.util.find_spec("transformers") is None:
            print("\ntransformers is not installed")
            return
        from longmark.contrib.local.transformers_lm import TransformersLM

        await measure(
            "transformers",
            TransformersLM(str(catalogue.model_path(arguments.model))),
            arguments.claims,
        )


if __name__ == "__main__":
    asyncio.run(main())

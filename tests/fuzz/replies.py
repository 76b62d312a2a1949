"""Fuzzers of what endpoints send: each case is a run of a metric whose model sends odd replies, and a run after it.

Whatever comes, a run ends, in rows or in an error of ours; what is stored of it holds no number that is none and no
key; and what it gave a value to is not asked for again.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.fuzz.engine import Fuzzer
from tests.fuzz.files import RECORDS
from tests.fuzz.mutate import SECRET
from tests.fuzz.wire import Loop, OddWire, Scene

from longmark.engine import manifest, session
from longmark.engine.run import make_settings, open_cache
from longmark.engine.settings import RunOptions, SessionOptions
from longmark.errors import LongmarkError
from longmark.models.budget import Budget
from longmark.models.http import Endpoint
from longmark.models.http_models import HttpChat, HttpEmbedder, HttpLanguageModel, HttpReranker
from longmark.models.keys import VENDORS, Key
from longmark.models.registry import Registry
from longmark.records import Row

LONGEST = 3600.0  # seconds by the loop's clock: six attempts of two minutes, and what may be waited between them
PRICED = "gpt-4o-mini"  # a model that has a price, so that what a reply says of tokens is counted in dollars
EXAMPLES = [
    {**RECORDS[0], "id": str(n), "question": f"{n}?", "answer": f"{n}:\n\n1. One.\n2. Two."}
    for n in range(4)
]
VARIANTS = [
    {**one, "variant_of": "q0", "variant": "paraphrase", "base_answer": "It is a dam."}
    for one in EXAMPLES
]

KINDS = (HttpChat, HttpEmbedder, HttpReranker, HttpLanguageModel)

_to_json = Row.to_json
_environment = cache(manifest.environment)  # it takes longer than all the rest of a small run


def _checked(row: Row) -> bytes:
    """In the place of `Row.to_json`, which writes null for what is no number."""
    for value in _numbers(asdict(row)):
        assert math.isfinite(value), f"{value} in a row of {row.metric}"
    return _to_json(row)


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item)
    elif isinstance(value, float):
        yield value


def _fuzzer(
    name: str, share: int, path: str, metrics: tuple[str, ...], examples: list[dict[str, Any]]
) -> Fuzzer:
    def one(rng: random.Random, folder: Path) -> None:
        scene = Scene(rng, path)
        try:
            with (
                patch.object(manifest, "environment", _environment),
                patch.object(Row, "to_json", lambda row: _checked(row)),
                asyncio.Runner(loop_factory=Loop) as runner,
            ):
                runner.run(_case(rng, folder, scene, rng.choice(metrics), examples))
        finally:
            (folder / "sent.http").write_bytes(b"\n".join(scene.sent))

    return Fuzzer(name, share, one, LongmarkError)


async def _case(
    rng: random.Random, folder: Path, scene: Scene, metric: str, examples: list[dict[str, Any]]
) -> None:
    loop = asyncio.get_running_loop()
    wrong: list[Any] = []
    loop.set_exception_handler(
        lambda _loop, context: wrong.append(context.get("exception") or context["message"])
    )
    listener = await loop.create_server(lambda: OddWire(scene), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    scoring, concurrency = rng.choice(("text", "expected")), rng.choice((1, 4))
    budget = rng.choice(
        (Budget(), Budget(), Budget(max_tokens=9000), Budget(max_usd=0.01), Budget(max_calls=9))
    )

    async def rows_of(name: str, given: list[dict[str, Any]], budget: Budget) -> list[Row]:
        calls = open_cache(folder / "calls.sqlite")
        endpoint = Endpoint(url, Key(SECRET, "FUZZ"), known=calls.known, remember=calls.remember)
        models: list[Any] = [
            kind(endpoint, PRICED, "m")
            for kind in (HttpChat, HttpEmbedder, HttpReranker, HttpLanguageModel)
        ]
        endpoint.base_url = VENDORS[
            "openai"
        ].url  # its addresses are made; from here on this decides what a call costs
        try:
            chosen = RunOptions(
                judges=models[:1],
                embedder=models[1],
                reranker=models[2],
                lm=models[3],
                scoring=scoring,
                domain="hazards",
            )
            settings = make_settings([metric], Registry(calls), chosen)
            options = SessionOptions(
                budget=budget, quiet=True, concurrency=concurrency, check_profiles=False
            )
            result = await session.execute(given, settings, folder / name, calls, options, budget)
            return list(result.rows())
        finally:
            calls.close()
            await endpoint.close()

    began = loop.time()
    rows = await rows_of("first", examples, budget)
    assert loop.time() - began < LONGEST, "the run stood still"
    assert budget.tokens >= 0
    assert budget.usd >= 0
    assert SECRET.encode() not in b"".join(
        path.read_bytes() for path in folder.rglob("*") if path.is_file()
    )
    valued = [
        one
        for one in examples
        if all(row.status == "ok" for row in rows if row.example_id == one["id"])
    ]
    if valued:
        asked = scene.asked
        again = await rows_of("second", valued, Budget())
        assert scene.asked == asked, "asked again for what is in the cache"
        values = {(row.example_id, row.metric): row.score for row in rows}
        assert all(values[row.example_id, row.metric] == row.score for row in again)
    listener.close()
    for problem in wrong:
        raise problem if isinstance(problem, Exception) else RuntimeError(problem)


_JUDGED = ("ccrs.question_relevance", "ccrs.question_relevance", "score.specificity")
REPLIES = [
    _fuzzer("chat", 400, "/v1/chat/completions", _JUDGED, EXAMPLES),
    _fuzzer("embeddings", 180, "/v1/embeddings", ("score.robustness",), VARIANTS),
    _fuzzer("rerank", 180, "/v1/rerank", ("score.segment_attribution",), EXAMPLES),
    _fuzzer("likelihood", 140, "/v1/completions", ("score.context_utilization",), EXAMPLES),
    _fuzzer("tokenize", 50, "/tokenize", ("score.context_utilization",), EXAMPLES),
]

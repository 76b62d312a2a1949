"""The whole way on the embedded models: the demo's passages about ice, one question of the domain."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.contrib.make.rag.make import models

from longmark.contrib import demo
from longmark.contrib.local import catalogue
from longmark.contrib.make.rag import index
from longmark.contrib.make.rag.answer import Answering, answer
from longmark.contrib.make.rag.generate import Generation
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.models.registry import Registry
from longmark.records import Example


@pytest.mark.embedded
@pytest.mark.slow
def test_a_question_is_answered_from_the_passages_on_its_hazard(tmp_path: Path):
    pytest.importorskip("bm25s")
    for name in ("embedder", "small"):
        if not catalogue.is_installed(name):
            pytest.skip(f"not installed: longmark models install {name}")
    registry = Registry()
    given = models(
        tmp_path,
        generator=registry.open("generator", "embedded:small"),
        embedder=registry.open("embedder", "embedded"),
    )
    base = Path(demo.__file__).parent / "corpus" / "ice-storm.jsonl"
    built = asyncio.run(index.build(base, tmp_path / "idx", models=given))
    assert (built.passages, built.cut) == (5, 0)
    retriever = Retriever(index.load(tmp_path / "idx"), given)
    assert retriever.method == "dense"
    question = Example(
        question="How do trees make outages of power lines worse?", profile={"hazard": "ice storm"}
    )

    async def ask():
        try:
            return await answer(
                [question], given, retriever, Answering(2, Generation(max_tokens=40))
            )
        finally:
            await given.generator.model.close()

    (one,) = asyncio.run(ask()).examples
    assert one.answer
    assert one.contexts[0].id in ("demo/ice-storm/1", "demo/ice-storm/2")
    assert all(-1 <= score <= 1 for score in one.meta["rag"]["scores"])

"""Which of the paraphrases that were not made are worth asking for once more."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from longmark.contrib.make.vary import vary
from longmark.domain import load
from longmark.errors import ModelError, RequestRefused, ServerFault, TooLong
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat
from longmark.models.handles import Backends, Models
from longmark.prompts import PromptBook
from longmark.records import Example


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (ServerFault("down", 500), True),
        (RequestRefused("no such model", 404), True),
        (TooLong("long", 400), False),
    ],
)
def test_a_question_that_is_too_long_for_the_model_is_not_worth_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: ModelError, again: bool
):
    monkeypatch.setattr("longmark.models.sending.wait_before", lambda attempt, after, rng: 0.0)
    cache = CallCache(tmp_path / "calls.sqlite")
    models = Models(
        Backends(generator=FakeChat(lambda _request: error)),
        Client(cache),
        UsageLog(),
        PromptBook(),
    )
    example = Example(id="1", question="What does a drought do?")
    try:
        varied = asyncio.run(vary([example], models, load(), variants=["paraphrase"]))
    finally:
        cache.close()
    assert [left.again for left in varied.left_out] == [again]

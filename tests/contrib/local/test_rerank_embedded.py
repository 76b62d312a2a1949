"""A judge as a reranker: the log-odds of its first word, on replies that are known and on the small model."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest
from tests.there import there

from longmark.contrib.local import catalogue
from longmark.contrib.local.rerank_embedded import LogOddsReranker
from longmark.errors import RequestRefused, UserError
from longmark.models.fake import FakeChat
from longmark.models.protocols import ChatReply, ChatRequest, TokenLogprobs, Tokens
from longmark.models.registry import Registry


def reply(**probabilities: float) -> ChatReply:
    top = tuple((token.replace("_", " "), math.log(p)) for token, p in probabilities.items())
    return ChatReply(top[0][0], logprobs=(TokenLogprobs(*top[0], top),), tokens=Tokens(100, 60, 1))


def test_worked_by_hand() -> None:
    # case and space are folded: yes = .5 + .1 = .6, no = .3: ln(.6 / .3) = ln 2 = .6931
    judge = FakeChat([reply(yes=0.5, _no=0.3, Yes=0.1, maybe=0.05)])
    found = asyncio.run(LogOddsReranker(judge).rerank("why?", ["because"]))
    assert found.scores == pytest.approx((0.6931,), abs=1e-4)
    assert found.tokens == Tokens(100, 60, 1)


def test_one_call_a_document_the_query_first() -> None:
    def answer(request: ChatRequest) -> ChatReply:
        return (
            reply(yes=0.8, no=0.1)
            if "river" in request.messages[1].content
            else reply(no=0.8, yes=0.1)
        )

    judge = FakeChat(answer)
    found = asyncio.run(
        LogOddsReranker(judge).rerank("floods?", ["the river", "the score", "a river"])
    )
    # ln(.8 / .1) = 2.0794
    assert found.scores == pytest.approx((2.0794, -2.0794, 2.0794), abs=1e-4)
    assert there(found.tokens).prompt == 300
    shown = judge.requests[1].messages[1].content
    assert shown.index("floods?") < shown.index("the score") < shown.index("yes or no")
    assert all(request.max_tokens == 1 and request.logprobs > 0 for request in judge.requests)


def test_a_word_that_is_not_among_the_candidates_is_as_unlikely_as_the_last_of_them() -> None:
    found = asyncio.run(
        LogOddsReranker(FakeChat([reply(yes=0.9, Sure=0.02, Of=0.01)])).rerank("q", ["d"])
    )
    assert found.scores == pytest.approx((math.log(0.9 / 0.01),))


@pytest.mark.parametrize("bad", [reply(Well=0.7, yes=0.2, no=0.1), ChatReply("yes")])
def test_a_reply_that_is_no_verdict_is_an_error_and_no_score(bad: ChatReply) -> None:
    with pytest.raises(RequestRefused, match="neither yes nor no"):
        asyncio.run(LogOddsReranker(FakeChat([bad])).rerank("q", ["d"]))


def test_it_says_what_it_is_and_no_documents_take_no_call() -> None:
    judge = FakeChat(name="tiny")
    model = LogOddsReranker(judge)
    assert model.name == "tiny (log-odds of relevant)"
    assert model.identity.startswith("log-odds:")
    assert model.identity.endswith(judge.identity)
    assert asyncio.run(model.rerank("q", [])).scores == ()
    asyncio.run(model.close())
    assert judge.closed


needs_small = pytest.mark.skipif(
    not catalogue.is_installed("small"), reason="longmark models install small"
)


@pytest.mark.embedded
@needs_small
def test_it_shares_the_model_with_the_judge_of_that_name() -> None:
    registry = Registry()
    judge, reranker = (
        registry.open("judge", "embedded:small"),
        registry.open("reranker", "embedded:small"),
    )
    assert reranker._judge is judge
    assert reranker.name == "embedded:small (log-odds of relevant)"


def test_names_of_models_that_cannot_play_a_role(tmp_path: Path) -> None:
    for role, name, said in (
        ("judge", "st:some/model", "st:NAME can be embedder, reranker, checker, not judge"),
        ("embedder", "hf:some/model", "hf:NAME.* can be .*, not embedder"),
        ("lm", "hf:", "expected hf:NAME"),
        ("reranker", "st:", "expected st:NAME"),
        ("reranker", f"gguf:{tmp_path}/none.gguf", "the file does not exist"),
    ):
        with pytest.raises(UserError, match=said):
            Registry().open(role, name)

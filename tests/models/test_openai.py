"""OpenAI's models that cache only what a request marks, and what they charge for it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from tests.models.test_prefixes import behind, calls, marked_beginnings, request
from tests.wire import serve

from longmark.models.budget import Budget, for_endpoint
from longmark.models.call_kinds import CHATS
from longmark.models.client import Client
from longmark.models.http import Endpoint
from longmark.models.openai import OpenAIChat, caches_marks
from longmark.models.protocols import ChatReply, Tokens
from longmark.models.registry import Registry
from longmark.prompts import fence

MARK = "prompt_cache_breakpoint"


@dataclass
class MarkCaching:
    """A server with the rules of GPT-5.6: what explicit marks end is taken in, and served from then on. A request that
    does not say that its marks count is taken in as a whole. refuses: it knows no marks."""

    refuses: bool = False
    stored: set[str] = field(default_factory=set)

    def answer(self, _number: int, _path: str, body: Any) -> tuple[int, bytes, str]:
        if self.refuses and "prompt_cache_options" in body:
            error = {"message": "Unknown parameter: 'prompt_cache_options'.", "code": None}
            return 400, orjson.dumps({"error": error}), ""
        content = body["messages"][-1]["content"]
        blocks = content if isinstance(content, list) else [{"text": content}]
        prompt = "".join(block["text"] for block in blocks)
        ends = marked_beginnings(blocks, MARK)
        if body.get("prompt_cache_options") != {"mode": "explicit"}:
            ends.append(prompt)
        served = max((len(text) for text in ends if text in self.stored), default=0)
        stored = max([0, *map(len, ends)]) - served
        self.stored.update(ends)
        details = {"cached_tokens": served, "cache_write_tokens": stored}
        usage = {
            "prompt_tokens": len(prompt),
            "completion_tokens": 2,
            "total_tokens": len(prompt) + 2,
            "prompt_tokens_details": details,
        }
        choice = {"message": {"content": "7"}, "finish_reason": "stop"}
        return 200, orjson.dumps({"choices": [choice], "usage": usage}), ""


def asked(model_name: str, rules: MarkCaching, *requests: Any) -> tuple[list[Any], list[ChatReply]]:
    async def ask(client: Client) -> list[ChatReply]:
        model = OpenAIChat(Endpoint(server.base_url), model_name, model_name)
        try:
            return await asyncio.gather(*calls(client, model, *requests))
        finally:
            await model.close()

    with serve(answer=rules.answer, latency=0.02) as server:
        replies = behind(ask)
    return [body for _, _, body in server.requests], replies


def test_what_calls_share_is_marked_taken_in_once_and_served_to_the_others():
    other = fence("answer", "It broke at night.")
    requests = [*(request(f"task {n}") for n in range(3)), request("task 3", answer=other)]
    bodies, replies = asked("gpt-5.6-luna", MarkCaching(), *requests)
    for body in bodies:
        text = "".join(block["text"] for block in body["messages"][-1]["content"])
        assert text in [one.messages[-1].content for one in requests]
    assert {body["prompt_cache_key"] for body in bodies} == {bodies[0]["prompt_cache_key"]}
    leader, *followers = [reply.tokens for reply in replies]
    assert leader is not None
    assert leader.stored_prompt > 5000
    assert leader.cached_prompt == 0
    for tokens in followers:
        assert tokens is not None
        assert tokens.cached_prompt > 5000
        assert tokens.stored_prompt == 0


def test_a_call_that_shares_nothing_has_nothing_taken_into_the_cache():
    ((body,), (reply,)) = asked("gpt-6-sol", MarkCaching(), request("alone"))
    assert body["messages"][-1]["content"] == request("alone").messages[-1].content
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert "prompt_cache_key" not in body
    assert reply.tokens == Tokens(len(request("alone").messages[-1].content), 0, 2)


@pytest.mark.parametrize(
    ("model", "marks"),
    [
        ("gpt-5.6-luna", True),
        ("gpt-6.1-sol", True),
        ("gpt-10", True),
        ("ft:gpt-5.6-luna:us", True),
        ("gpt-5.4-mini", False),
        ("gpt-5-2025-08-07", False),
        ("gpt-4.1", False),
        ("gpt-oss-20b", False),
        ("o3", False),
    ],
)
def test_models_from_gpt_5_6_on_cache_what_is_marked(model: str, marks: bool):
    assert caches_marks(model) == marks


def test_a_model_that_refuses_marks_is_asked_without_them_from_then_on():
    bodies, replies = asked(
        "gpt-5.6-luna", MarkCaching(refuses=True), *(request(f"task {n}") for n in range(3))
    )
    assert ["prompt_cache_options" in body for body in bodies] == [True, False, False, False]
    assert [reply.text for reply in replies] == ["7", "7", "7"]


def test_only_chat_at_openais_own_endpoint_is_told_what_to_cache():
    registry = Registry(sends=False)
    judge = registry.open("judge", "openai:gpt-5.6-luna")
    assert isinstance(judge, OpenAIChat)
    assert judge.identity == "gpt-5.6-luna@https://api.openai.com/v1"
    elsewhere = ("gpt-5.6-luna@https://openai.example/v1", "gpt-5.6-luna@http://localhost:1/v1")
    for other in (
        *(registry.open("judge", name) for name in elsewhere),
        registry.open("embedder", "openai:text-embedding-3-small"),
    ):
        assert not isinstance(other, OpenAIChat)


def test_a_budget_sets_aside_the_quarter_that_taking_into_the_cache_costs():
    model = OpenAIChat(Endpoint("https://api.openai.com/v1"), "gpt-5.6-luna", "gpt-5.6-luna")
    price = for_endpoint("gpt-5.6-luna", "https://api.openai.com/v1")
    held = Budget(max_usd=1).asked(CHATS.most(model, [request("1")]), price)
    prompt = held.tokens - held.most.completion
    fresh = price(Tokens(prompt, 0, held.most.completion))
    assert fresh is not None
    assert held.usd > fresh
    assert held.usd == price(Tokens(prompt, 0, held.most.completion, prompt))

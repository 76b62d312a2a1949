"""What is known of models by name."""

from __future__ import annotations

from typing import Any

import pytest

from longmark.models.knowledge import Knowledge, known, thinking_budget

SAMPLED, GREEDY = ("temperature", "top_p"), ("temperature of 0",)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            "o1 o3-mini o4-mini-2025-04-16 openai/o3 gpt-5 gpt-5-mini openai/gpt-5.2",
            Knowledge(True, False, SAMPLED, True),
        ),
        ("gpt-5-chat-latest", Knowledge(completion=True)),
        ("gpt-4o gpt-4.1-mini llama3 marco-o1 phi-4 mistral-large foo-o4-mini m", Knowledge()),
        ("gpt-oss-20b openai/gpt-oss:120b", Knowledge(True)),
        ("deepseek-reasoner", Knowledge(True, False, SAMPLED)),
        (
            "deepseek-ai/DeepSeek-R1 DeepSeek-R1-Distill-Qwen-7B deepseek-r1:14b",
            Knowledge(True, True, GREEDY),
        ),
        ("deepseek-chat deepseek-v3", Knowledge()),
        (
            "Qwen/Qwen3-8B qwen3:4b QwQ-32B Qwen3-30B-A3B-Thinking-2507",
            Knowledge(True, True, GREEDY),
        ),
        ("Qwen3-30B-A3B-Instruct-2507 qwen3-coder qwen3-embedding-8b Qwen2.5-7B", Knowledge()),
        ("claude-sonnet-4-5 anthropic/claude-3.7-sonnet", Knowledge()),
        ("anthropic/claude-3.7-sonnet:thinking", Knowledge(True, False, SAMPLED)),
        ("gemini-2.5-pro google/gemini-2.5-flash", Knowledge(True)),
        ("gemini-3-pro-preview", Knowledge(True, False, GREEDY)),
        ("gemini-2.0-flash gemini-1.5-pro", Knowledge()),
        (
            "grok-4 grok-3-mini grok-4-fast-reasoning kimi-k2-thinking glm-4.6 magistral-small",
            Knowledge(True),
        ),
        ("grok-4-fast-non-reasoning grok-3 kimi-k2-instruct foo-non-thinking", Knowledge()),
        ("phi-4-reasoning", Knowledge(True, True)),
    ],
)
def test_a_name_tells_whether_a_model_thinks_and_what_it_does_not_take(
    names: str, expected: Knowledge
) -> None:
    assert {name: known(name) for name in names.split()} == dict.fromkeys(names.split(), expected)


@pytest.mark.parametrize(
    ("body", "thinks"),
    [
        ({"chat_template_kwargs": {"enable_thinking": False}}, False),
        ({"extra_body": {"enable_thinking": False}}, False),
        ({"reasoning_effort": "none"}, False),
        ({"reasoning_effort": "low"}, True),
        ({"thinking": {"type": "disabled"}}, False),
        ({"reasoning": {"max_tokens": 0}}, False),
        ({"top_k": 20}, True),  # says nothing about thinking
        ({"thinking": "yes", "reasoning": 5, "chat_template_kwargs": None}, True),
    ],
)
def test_the_members_that_the_user_adds_turn_thinking_off(
    body: dict[str, Any], thinks: bool
) -> None:
    assert known("qwen3-8b", body) == (Knowledge(True, True, GREEDY) if thinks else Knowledge())


@pytest.mark.parametrize(
    ("budget", "expected", "least"),
    [(0, Knowledge(), 0), (-1, Knowledge(True), 0), (64, Knowledge(True), 64)],
)
def test_geminis_own_form_of_a_budget(budget: int, expected: Knowledge, least: int) -> None:
    body = {"generationConfig": {"thinkingConfig": {"thinkingBudget": budget}}}
    assert (known("gemini-2.5-flash", body), thinking_budget(body)) == (expected, least)


def test_a_claude_that_is_asked_to_think_takes_no_temperature() -> None:
    asked = {"thinking": {"type": "enabled", "budget_tokens": 2048}}
    assert known("claude-sonnet-4-5", asked) == Knowledge(True, False, SAMPLED)
    assert (thinking_budget(asked), thinking_budget({"thinking": True}), thinking_budget({})) == (
        2048,
        0,
        0,
    )
    assert known("other", {"reasoning": {"effort": "high"}}) == Knowledge(True)

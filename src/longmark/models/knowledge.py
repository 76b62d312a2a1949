"""What is known about chat models by name: whether they think before they answer, and which parameters they reject.

With this small table, the first request to a known model has the right form and a sufficient token limit. Anything else
is learnt from the first replies (`http_chat`). The user's configuration takes precedence.

Thinking is off if the members of the request say so (`chat_template_kwargs: {enable_thinking: false}`,
`reasoning_effort: none`, `thinking: {type: disabled}`, a budget of 0 tokens), and on if they ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_TYPES = {"enabled": True, "adaptive": True, "disabled": False}  # of Anthropic's `thinking`
ROOMS = (7_600, 32_000)
"""Tokens added to a reply's limit for thinking: at first, and if that was too little. Many endpoints allow replies of
at most 8,192 or 32,768 tokens, and the answer needs some of them. OpenAI advises reserving 25,000 at first."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """thinks: it writes thinking before its answer, within the same limit; inside: its chat template may open the
    thinking, so that a reply shows only the closing tag; without: what is not sent, `temperature`, `top_p` or
    `temperature of 0` (any other one is); completion: the limit is called `max_completion_tokens`."""

    thinks: bool = False
    inside: bool = False
    without: tuple[str, ...] = ()
    completion: bool = False


_SAMPLED = ("temperature", "top_p")
_GREEDY = ("temperature of 0",)

# (pattern in the name, what is known). The first that is found counts; names are in lower case.
_TABLE: tuple[tuple[str, Knowledge], ...] = (
    # OpenAI, guide "Reasoning models": no temperature, no top_p, `max_completion_tokens` in place of `max_tokens`
    (r"gpt-5[^/]*-chat", Knowledge(completion=True)),
    (
        r"(?:^|[/.:])(?:o[134](?:-|$)|gpt-5)",
        Knowledge(thinks=True, without=_SAMPLED, completion=True),
    ),
    (r"gpt-oss", Knowledge(thinks=True)),  # model card: it thinks at every reasoning effort
    # DeepSeek: its API ignores the temperature; README of R1: 0.6, because a low one leads to endless repetition
    (r"deepseek-reasoner", Knowledge(thinks=True, without=_SAMPLED)),
    (r"deepseek-r1|r1-distill", Knowledge(thinks=True, inside=True, without=_GREEDY)),
    # Qwen, model cards of QwQ and Qwen3: no greedy decoding while it thinks. Instruct and Coder do not think.
    (r"qwen3.*(?:instruct|coder|embedding|reranker)", Knowledge()),
    (r"qwq|qwen3", Knowledge(thinks=True, inside=True, without=_GREEDY)),
    (r"claude.*:thinking", Knowledge(thinks=True, without=_SAMPLED)),  # names of OpenRouter
    (r"claude", Knowledge()),
    # Google, guide "Gemini thinking": tokens of thinking count towards the limit; Gemini 3 at its own temperature
    (r"gemini-2\.5", Knowledge(thinks=True)),
    (r"gemini-(?:[3-9]|flash-latest|pro-latest)", Knowledge(thinks=True, without=_GREEDY)),
    (
        r"magistral|kimi-k2-thinking|kimi-thinking|minimax-m[12]|glm-4\.[5-9]|glm-[5-9]",
        Knowledge(thinks=True),
    ),
    (r"grok-(?:3-mini|4)(?!.*non-reasoning)", Knowledge(thinks=True)),
    (r"(?<!non)[-:](?:thinking|reasoning|reasoner)\b", Knowledge(thinks=True, inside=True)),
)


def known(model: str, body: Mapping[str, Any] | None = None) -> Knowledge:
    """What is known about a model. model: its name at the endpoint, with or without the vendor before a slash; body:
    the members that the user adds to its requests."""
    name = model.lower()
    knowledge = next((entry for pattern, entry in _TABLE if re.search(pattern, name)), Knowledge())
    thinking = _thinking(body or {})
    if thinking is False:
        return Knowledge(completion=knowledge.completion)
    if (
        thinking and not knowledge.thinks
    ):  # Claude, for one, takes no other temperature than its own while it thinks
        return Knowledge(
            True,
            knowledge.inside,
            _SAMPLED if "claude" in name else knowledge.without,
            knowledge.completion,
        )
    return knowledge


def thinking_budget(body: Mapping[str, Any]) -> int:
    """The number of thinking tokens that members of a request ask for; 0 if they name no number. The limit of a reply
    must be larger (Anthropic)."""
    tables = [
        part for name in ("thinking", "reasoning") if isinstance(part := body.get(name), Mapping)
    ]
    names = ("budget_tokens", "max_tokens", "thinkingBudget")
    budgets = [
        budget
        for table in (*tables, _gemini(body))
        for name in names
        if type(budget := table.get(name)) is int
    ]
    return max([0, *budgets])


def _gemini(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Gemini's own form: `generationConfig: {thinkingConfig: …}`."""
    config = body.get("generationConfig")
    table = config.get("thinkingConfig") if isinstance(config, Mapping) else None
    return table if isinstance(table, Mapping) else {}


def _thinking(body: Mapping[str, Any]) -> bool | None:
    """Whether members of a request ask for thinking; None if they do not say."""
    template, thinking, reasoning, extra = (
        part if isinstance(part := body.get(name), Mapping) else {}
        for name in ("chat_template_kwargs", "thinking", "reasoning", "extra_body")
    )
    switches = [
        template.get("enable_thinking"),
        template.get("thinking"),
        body.get("enable_thinking"),
    ]
    switches += [reasoning.get("enabled"), body.get("think"), _TYPES.get(str(thinking.get("type")))]
    for effort in (body.get("reasoning_effort"), reasoning.get("effort")):
        switches.append(None if not isinstance(effort, str) else effort != "none")
    for budget in (reasoning.get("max_tokens"), thinking.get("budget_tokens")):
        switches.append(budget > 0 if isinstance(budget, int) else None)
    if isinstance(budget := _gemini(body).get("thinkingBudget"), int):
        switches.append(budget != 0)  # -1: as much as the model sees fit
    told = next((switch for switch in switches if isinstance(switch, bool)), None)
    return _thinking(extra) if told is None and extra else told

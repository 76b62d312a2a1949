"""What the declaration of Amazon Bedrock's evaluations of RAG needs beside JMESPath: the turns of a conversation.

A line is `{"conversationTurns": [{"prompt", "referenceResponses", "output": {"text", "retrievedPassages":
{"retrievalResults": [{"content": {"text"}}]}}}]}`; in a report, `prompt` and `referenceResponses` stand in `inputRecord`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def bedrock_exchanges(turns: Any) -> list[dict[str, Any]]:
    """The question of each turn, its answer (None where none was recorded), its passages and its right answers."""
    return (
        [_exchange(turn) for turn in turns if isinstance(turn, Mapping)]
        if isinstance(turns, list)
        else []
    )


def bedrock_turns(turns: Any) -> list[dict[str, Any]] | None:
    """The turns of a conversation; None of a single question, which needs none."""
    exchanges = bedrock_exchanges(turns)
    if len(exchanges) < 2:
        return None
    messages: list[dict[str, Any]] = []
    for exchange in exchanges:
        if exchange["question"] is not None:
            messages.append({"role": "user", "content": exchange["question"]})
        if exchange["answer"] is not None:
            beside = {name: exchange[name] for name in ("contexts", "references") if exchange[name]}
            messages.append({"role": "assistant", "content": exchange["answer"], **beside})
    return messages


def _exchange(turn: Mapping[str, Any]) -> dict[str, Any]:
    asked_with = {**_object(turn.get("inputRecord")), **turn}
    output = _object(turn.get("output"))
    passages = _object(output.get("retrievedPassages")).get("retrievalResults")
    right_answers = asked_with.get("referenceResponses")
    return {
        "question": _text(asked_with.get("prompt")),
        "answer": output.get("text"),
        "contexts": passages,
        "references": [
            text
            for right_answer in (right_answers if isinstance(right_answers, list) else [])
            if (text := _text(right_answer)) is not None
        ],
    }


def _text(prompt: Any) -> str | None:
    """The text of a prompt or of a right answer: its parts, one after the other."""
    parts = _object(prompt).get("content")
    texts = [
        part["text"]
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, Mapping) and isinstance(part.get("text"), str)
    ]
    return "\n".join(texts) if texts else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}

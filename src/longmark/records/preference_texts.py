"""What declarations of preferences need beside JMESPath: the last answers of two conversations, and what was asked.

The sides of a battle (Arena, MT-Bench) are asked the same, and each goes on from its own answers.

The answers of a preference follow the same turns (UltraFeedback, HH-RLHF, the formats of TRL). A conversation is a list of
messages, or a text as HH-RLHF has it, in which each turn begins with `Human:` or `Assistant:` after a blank line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from longmark.records import messages

_TURN = re.compile(r"(?:^|\n\n)(Human|Assistant):")
_SIDES = {"model_a": "a", "model_b": "b"}
_SPEAKERS = {"human": "user", "assistant": "assistant"}
_SHOWN_AS = {"user": "Human", "assistant": "Assistant", "system": "System", "tool": "Tool"}
_KINDS = (
    (messages.ASKS, "user"),
    (messages.ANSWERS, "assistant"),
    (messages.INSTRUCTS, "system"),
    (messages.TOOLS, "tool"),
)

Said = tuple[str, str]
"""Role and text of a turn."""


def is_dialogue(value: Any) -> bool:
    """Whether a value is a conversation: a list of messages, or a text that begins with a turn of HH-RLHF."""
    return bool(_dialogue(value))


def preference(prompt_and_answers: Any) -> dict[str, str] | None:
    """The last answers of two conversations and the turns before them, as `question`, `chosen` and `rejected`; None where
    these turns differ, or where one does not end with an answer. The question is the user's turn where nothing else was
    said, else all turns, each with its speaker. Of a prompt beside them the turns that they lack are taken."""
    prompt, *answers = prompt_and_answers
    chosen, rejected = map(_dialogue, answers)
    if not chosen or not rejected or chosen[:-1] != rejected[:-1]:
        return None
    if (chosen[-1][0], rejected[-1][0]) != ("assistant", "assistant"):
        return None
    turns_before = chosen[:-1] or _dialogue(prompt)
    if not turns_before and isinstance(prompt, str):
        turns_before = [("user", prompt)]
    if not turns_before:
        return None
    return {
        "question": _question(turns_before),
        "chosen": chosen[-1][1],
        "rejected": rejected[-1][1],
    }


def _question(turns: Sequence[Said]) -> str:
    if [role for role, _ in turns] == ["user"]:
        return turns[0][1]
    return "\n\n".join(f"{_SHOWN_AS[role]}: {text}" for role, text in turns)


def _dialogue(value: Any) -> list[Said]:
    """The turns of a conversation; [] for anything else."""
    value = messages.parsed(value)
    if isinstance(value, str):
        return _of_text(value)
    if not isinstance(value, list) or not all(map(messages.role_of, value)):
        return []
    turns = []
    for message in value:
        text = messages.message_text(message)
        role = next(kind for roles, kind in _KINDS if messages.role_of(message) in roles)
        turns.append((role, text))
    return turns


def _of_text(text: str) -> list[Said]:
    """The turns of a text of HH-RLHF: speakers in turn, from the first character on."""
    starts = list(_TURN.finditer(text))
    if len(starts) < 2 or starts[0].start() != 0 or starts[0][1] != "Human":
        return []
    ends = [start.start() for start in starts[1:]] + [len(text)]
    return [
        (_SPEAKERS[start[1].casefold()], text[start.end() : end].strip())
        for start, end in zip(starts, ends, strict=True)
    ]


def battle(conversations: Any) -> dict[str, Any] | None:
    """The last replies of two conversations as `a` and `b`, and their last `question`; of several turns also the messages
    before the replies, `turns` and `b_turns`. None where a side does not end with a text, or the questions differ."""
    sides = [_sides_end(messages.parsed(conversation)) for conversation in conversations]
    if None in sides:
        return None
    (before_a, asked_a, a), (before_b, asked_b, b) = filter(None, sides)
    if asked_a[-1:] != asked_b[-1:]:
        return None
    exchange = {"question": asked_a[-1], "a": a, "b": b}
    if len(before_a) == len(before_b) == 1:
        return exchange
    return {**exchange, "turns": before_a, "b_turns": before_b if before_b != before_a else None}


def _sides_end(conversation: Any) -> tuple[list[Any], list[str], str] | None:
    """The messages before the last, the user's texts, and the last as a text; None where that is not the assistant's."""
    if not isinstance(conversation, list) or not all(map(messages.role_of, conversation)):
        return None
    before = conversation[:-1]
    questions = [
        messages.message_text(message)
        for message in before
        if messages.role_of(message) in messages.ASKS
    ]
    # An earlier reply is no answer to the last question, where that one was answered with nothing.
    answer = messages.message_text(conversation[-1]) if conversation else ""
    is_answered = answer or messages.is_empty_answer(conversation)
    if (
        not questions
        or not is_answered
        or messages.role_of(conversation[-1]) not in messages.ANSWERS
    ):
        return None
    return before, questions, answer


def table_battle(cells: Any) -> dict[str, Any] | None:
    """As `battle`, of lists of texts: those of the user, of a and of b."""
    questions, *replies = map(messages.parsed, cells)
    if not isinstance(questions, list) or not all(isinstance(texts, list) for texts in replies):
        return None
    if any(len(texts) != len(questions) for texts in replies):
        return None
    if not all(isinstance(text, str) for texts in (questions, *replies) for text in texts):
        return None
    return battle(
        [
            [
                {"role": role, "content": text}
                for exchange in zip(questions, texts, strict=True)
                for role, text in zip(("user", "assistant"), exchange, strict=True)
            ]
            for texts in replies
        ]
    )


def battle_choice(record: Any) -> list[dict[str, Any]]:
    """The choice of a battle of the arena, which is between two whole conversations."""
    if not isinstance(record, Mapping):
        return []
    choice = _winner(record)
    rater = record.get("judge") or record.get("judge_hash") or record.get("evaluation_session_id")
    return [{"rater": rater, "choice": choice}] if choice else []


def _winner(record: Mapping[str, Any]) -> str:
    if isinstance(record.get("winner"), str):
        winner = record["winner"]
        is_tie = winner.startswith("tie") or winner == "both_bad"
        return "tie" if is_tie else _SIDES.get(winner, "")
    columns = {"winner_model_a": "a", "winner_model_b": "b", "winner_tie": "tie"}
    won = [side for column, side in columns.items() if str(record.get(column)) in ("1", "1.0")]
    return won[0] if len(won) == 1 else ""

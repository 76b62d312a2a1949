"""Conversations: turns out of messages as tools write them, and which part of them is scored (`--turns`).

An answer is a turn of the assistant, but not one that calls a tool and is followed by another before the user speaks
again. Its question is the user's turn before it. `last`: the last answer is scored, and what stands before it is the
context of its question. `each`: every answer is an example of its own, `ID#turn`, and the question_id is the
conversation's, so that its answers are one cluster. `all`: the conversation is one answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import orjson

from longmark.errors import UserError
from longmark.options import named
from longmark.records import messages
from longmark.records.carried import CARRIED
from longmark.records.example import Example, question_hash
from longmark.records.notation import NotRead
from longmark.records.pair import Answered
from longmark.records.replies import last_cited_reply
from longmark.records.turn import Context, Role, Turn, contexts_of, references_of
from longmark.records.values import Problem, found, missing, name, text

MODES = ("last", "each", "all")
LARGEST = 1 << 28  # characters of turns, over all examples that `each` makes of one conversation

_ROLES: tuple[tuple[frozenset[str], Role], ...] = (
    (messages.ASKS, "user"),
    (messages.ANSWERS, "assistant"),
    (messages.INSTRUCTS, "system"),
    (messages.TOOLS, "tool"),
)
_TEXTS = frozenset(("text", "input_text", "output_text"))
_CALLS = frozenset(("tool_call", "tool_use", "function_call"))
_RESULTS = frozenset(
    ("tool_call_response", "tool_result", "function_response", "function_call_output")
)
_CONTENT = ("content", "parts", "contents", "text", "value", "output")
_PASSAGES = ("contexts", "context", "retrieved_contexts", "retrieval_context", "retrievalContext")
_REFERENCES = ("references", "reference")
_OF_LAST = (*CARRIED, "graph")  # what a record says of its last answer
_OF_A_TURN = 50  # bytes of a turn beside its texts, about
_CALL_ONLY = "The turn calls a tool and has no text."


def check_mode(turns: str) -> None:
    """UserError for what is no mode."""
    if turns not in MODES:
        raise UserError(f"{named('turns', turns)}: expected {', '.join(MODES[:-1])} or {MODES[-1]}")


# Turns ----------------------------------------------------------------------------------------------------------------
def turns_of(raw: Any, ignored: Counter[str]) -> tuple[Turn, ...]:
    """The turns in a list of messages, or in an object that has one; what of them is not read is counted. Raises
    Problem, with the place, for a message without a role, of another role, or with a content that is no text."""
    if not (messages_read := messages.conversation(raw)) and messages.parsed(raw) not in ([], {}):
        expected = (
            "expected messages, each with a role (user, assistant, system or tool) and a text"
        )
        raise Problem(f"turns: {expected}, found {found(raw)}")
    last_answer = max(
        (
            place
            for place, message in enumerate(messages_read)
            if messages.role_of(message) in messages.ANSWERS
        ),
        default=-1,
    )
    if (reply := last_cited_reply(messages_read)) is not None:
        messages_read[last_answer] = _with_text(messages_read[last_answer], reply.text)
    turns = (
        _turn(f"turns[{place}]", message, ignored) for place, message in enumerate(messages_read)
    )
    return tuple(turn for turn in turns if turn is not None)


def _with_text(message: Mapping[str, Any], cited_text: str) -> dict[str, Any]:
    """A message with one text in place of all its own."""
    content = message.get("content") or message.get("parts")
    other_parts = [
        part
        for part in (content if isinstance(content, list) else ())
        if isinstance(part, dict) and part.get("type", "text") not in _TEXTS
    ]
    return {**message, "content": [{"type": "text", "text": cited_text}, *other_parts]}


def _turn(place: str, message: Any, ignored: Counter[str]) -> Turn | None:
    """The turn that a message is; None for an item of another kind in the list of an API, which is counted."""
    if not isinstance(message, dict):
        raise Problem(f"{place}: expected an object with a role and a text, found {found(message)}")
    kind = message.get("type")
    role = next((role for names, role in _ROLES if messages.role_of(message) in names), None)
    if (
        role is None and isinstance(kind, str) and kind in _CALLS | _RESULTS
    ):  # of OpenAI's Responses
        role = "assistant" if kind in _CALLS else "tool"
    if role is None:
        role_said = next(
            (message[key] for key in ("role", "from") if not missing(message.get(key))), None
        )
        if role_said is None and isinstance(kind, str):
            ignored["items that are no messages"] += 1
            return None
        reason = "has no role" if role_said is None else f"the role {found(role_said)} is not known"
        raise Problem(f"{place}: {reason}; expected user, assistant, system or tool")
    content = next((message[key] for key in _CONTENT if message.get(key)), "")
    texts, calls, results = _pieces(place, content, ignored)
    raw_calls = [message] if isinstance(kind, str) and kind in _CALLS else []
    for key in ("tool_calls", "calls", "toolsCalled"):
        raw_calls += listed if isinstance(listed := message.get(key), list) else []
    calls += [_call(raw_call) for raw_call in raw_calls]
    if role == "user" and results and not texts:  # Anthropic's form of what a tool returned
        role = "tool"
    fields: dict[str, Any] = {"role": role, "text": text(place, "\n".join(texts + results))}
    fields |= {"calls": tuple(text(f"{place}.calls", call) for call in calls)} if calls else {}
    if isinstance(message.get("name"), str) and kind not in _CALLS:
        fields["name"] = name(place, message["name"])
    if (
        passages := next((message[key] for key in _PASSAGES if message.get(key)), None)
    ) is not None:
        try:
            retrieved = messages.passages(passages)
        except NotRead as error:
            raise Problem(f"{place}.contexts: {error}") from None
        fields["contexts"] = contexts_of(retrieved, f"{place}.contexts")
    if (right := next((message[key] for key in _REFERENCES if message.get(key)), None)) is not None:
        fields["references"] = references_of(right, f"{place}.references")
    return Turn(**fields)


def _pieces(
    place: str, content: Any, ignored: Counter[str]
) -> tuple[list[str], list[str], list[str]]:
    """The texts, the calls of tools and what tools returned, in the content of a message."""
    if isinstance(content, str):
        return [content], [], []
    if not isinstance(content, list | dict):
        raise Problem(f"{place}: expected text or a list of parts, found {found(content)}")
    texts = list[str]()
    calls = list[str]()
    results = list[str]()
    for part in content if isinstance(content, list) else [content]:
        part = (
            part.get("message_content", part) if isinstance(part, dict) else part
        )  # OpenInference
        kind = part.get("type", "text") if isinstance(part, dict) else "text"
        text_said = part if isinstance(part, str) else None
        if text_said is None and isinstance(part, dict) and kind in _TEXTS:
            text_said = next(
                (part[key] for key in ("text", "content") if isinstance(part.get(key), str)), None
            )
        if text_said is not None:
            texts.append(text_said)
        elif isinstance(part, dict) and isinstance(kind, str) and kind in _CALLS:
            calls.append(_call(part))
        elif isinstance(part, dict) and isinstance(kind, str) and kind in _RESULTS:
            results.append(
                _plain(
                    next(
                        (part[key] for key in ("response", "result", *_CONTENT) if part.get(key)),
                        "",
                    )
                )
            )
        elif isinstance(content, dict):  # what a tool returned, as an object
            results.append(_plain(content))
        else:
            ignored["parts of messages that are no text"] += 1
    return [piece for piece in texts if piece], calls, [result for result in results if result]


def _call(call: Any) -> str:
    """A call of a tool as `name(arguments)`, with what the tool returned where the call says it."""
    if not isinstance(call, dict):
        return _plain(call)
    call = call["tool_call"] if isinstance(call.get("tool_call"), dict) else call  # OpenInference
    inner = call["function"] if isinstance(call.get("function"), dict) else call
    label = next(
        (value for key in ("name", "function", "tool") if isinstance(value := inner.get(key), str)),
        "tool",
    )
    values = next(
        (inner[key] for key in ("arguments", "args", "input", "inputParameters") if inner.get(key)),
        "",
    )
    returned = f" -> {_plain(call['output'])}" if call.get("output") else ""
    return f"{label}({_plain(values)}){returned}"


def _plain(value: Any) -> str:
    if (
        isinstance(value, list)
        and value
        and all(isinstance(part, dict) and "text" in part for part in value)
    ):
        return "\n".join(str(part["text"]) for part in value)
    return (
        value
        if isinstance(value, str)
        else orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    )


def answers(turns: Sequence[Turn]) -> list[int]:
    """The places of the turns that are answers."""
    places = list[int]()
    followed = False
    for place in range(len(turns) - 1, -1, -1):
        if turns[place].role == "assistant":
            if not (turns[place].calls and followed):
                places.append(place)
            followed = True
        elif turns[place].role == "user":
            followed = False
    return places[::-1]


# The fields of an example ---------------------------------------------------------------------------------------------
def completed(fields: dict[str, Any], pair: bool) -> dict[str, Any]:
    """The fields of a record with turns: question, answer, passages and references are those of its last answer. A
    question and an answer that the record has beside the turns follow them, unless they are in them. pair: the answers
    are the pair's, and the turns end with the question."""
    turns = list(fields["turns"])
    if fields.get("turn_of"):
        return fields
    users = [turn.text for turn in turns if turn.role == "user"]
    question = fields.get("question")
    answer = fields.get("answer")
    places = answers(turns)
    ends = bool(places) and answer is not None and turns[places[-1]].text.strip() == answer.strip()
    waits = bool(turns) and (turns[-1].role != "assistant" or bool(turns[-1].calls))
    if (
        question is not None
        and not ends
        and not (users and users[-1] == question and (waits or answer is None))
    ):
        turns.append(Turn(role="user", text=question))
    if answer is not None and not ends:
        turns.append(Turn(role="assistant", text=answer))
    with_turns = {**fields, "turns": tuple(turns)}
    users = [turn.text for turn in turns if turn.role == "user"]
    if pair:
        return with_turns | ({"question": users[-1]} if question is None and users else {})
    if len(users) > 1:
        with_turns.setdefault("question_id", question_hash("\n\n".join(users)))
    if question is not None and answer is None and turns[-1].role == "user":
        return with_turns
    read = reading_at(turns, answers(turns)[-1:], fields.get("meta", {}))
    return {**read, **with_turns, **({"meta": read["meta"]} if "meta" in read else {})}


def asking(turns: Sequence[Turn], question: str) -> tuple[Turn, ...]:
    """The turns before an answer, with the question at their end unless it is the last that was asked in them."""
    last_asked = next((turn.text for turn in reversed(turns) if turn.role == "user"), None)
    return tuple(turns) if last_asked == question else (*turns, Turn(role="user", text=question))


def reading_at(
    turns: Sequence[Turn], places: Sequence[int], meta: Mapping[str, Any]
) -> dict[str, Any]:
    """What is read at an answer's place: question, answer, passages and references of its exchange; where there is no
    answer, `meta` with the reason. places: the place, or none."""
    place = places[0] if places else len(turns)
    question_at = max(
        (i for i, turn in enumerate(turns[:place]) if turn.role == "user"), default=None
    )
    fields: dict[str, Any] = {} if question_at is None else {"question": turns[question_at].text}
    exchange = turns[question_at or 0 : place + 1]
    if passages := tuple(dict.fromkeys(context for turn in exchange for context in turn.contexts)):
        fields["contexts"] = passages
    if right := tuple(
        dict.fromkeys(reference for turn in exchange for reference in turn.references)
    ):
        fields["references"] = right
    if places and (turns[place].text or not turns[place].calls):
        return fields | {"answer": turns[place].text}
    return fields | {
        "meta": {**meta, "no_answer": _CALL_ONLY if places else "No turn is the assistant's."}
    }


# What is scored -------------------------------------------------------------------------------------------------------
def scored(example: Answered, mode: str, ignored: Counter[str]) -> Iterator[Answered]:
    """The examples that a mode makes of a record. Raises Problem for a conversation whose examples would be too large
    together."""
    turns = example.turns
    if not turns or example.turn_of or not isinstance(example, Example):
        yield example
        return
    if mode == "all":
        yield _whole(example)
        return
    ends = answers(turns)
    if not ends or (
        example.answer is None and turns[-1].role == "user" and turns[-1].text == example.question
    ):
        ends.append(len(turns) - 1)
    ignored["turns after the last answer"] += len(turns) - 1 - ends[-1]
    if mode == "last":
        yield example.model_copy(update={"turns": turns[: ends[-1] + 1]})
        return
    sizes = list(
        accumulate(len(turn.text) + sum(map(len, turn.calls)) + _OF_A_TURN for turn in turns)
    )
    if (total := sum(sizes[end] for end in ends)) > LARGEST:
        raise Problem(
            f"turns: an example for each of {len(ends):,} answers, with the turns before it, would come to "
            f"{total >> 20:,} MiB; use {named('turns', 'last')} or all"
        )
    for end in ends:
        update: dict[str, Any] = {
            "id": f"{example.id}#{end + 1}",
            "turn_of": example.id,
            "turns": turns[: end + 1],
        }
        if end != ends[-1]:
            meta = {key: value for key, value in example.meta.items() if key != "no_answer"}
            update |= {
                "question": None,
                "answer": None,
                "contexts": (),
                "references": (),
                "meta": meta,
            }
            update |= dict.fromkeys(_OF_LAST) | reading_at(turns, [end], meta)
        yield example.model_copy(update=update)


def _whole(example: Example) -> Example:
    """A conversation as one answer: all texts of the assistant, with all passages."""
    texts_of = {
        role: [turn.text for turn in example.turns if turn.role == role]
        for role in ("user", "assistant")
    }
    passages: tuple[Context, ...] = tuple(
        context for turn in example.turns for context in turn.contexts
    )
    update = {
        "turn_of": example.id,
        "question": "\n\n".join(filter(None, texts_of["user"])) or None,
        "answer": "\n\n".join(filter(None, texts_of["assistant"]))
        if texts_of["assistant"]
        else None,
        "contexts": tuple(dict.fromkeys((*passages, *example.contexts))),
    }
    return example.model_copy(update=update)

"""The texts of conversations as tools write them: what was asked, what was answered, which passages were retrieved.

A message has a role (`role` or `type`) and a content: a text, or parts of which the texts count. The forms are those of
the APIs of OpenAI, Anthropic and Gemini, of LangChain, and of OpenTelemetry's GenAI conventions.
"""

from __future__ import annotations

from typing import Any

from longmark.records.files import parse_json
from longmark.records.notation import NotRead, spelled
from longmark.records.turn import AROUND_TEXT

ASKS = frozenset(("user", "human"))
ANSWERS = frozenset(("assistant", "ai", "model", "aimessage", "gpt"))
INSTRUCTS = frozenset(("system", "developer"))
TOOLS = frozenset(("tool", "function"))
_ROLES = ASKS | ANSWERS | INSTRUCTS | TOOLS

# Keys of an object that hold what was asked or answered, the likeliest first.
_QUESTION = (
    "question",
    "query",
    "user_input",
    "user_question",
    "input",
    "inputs",
    "prompt",
    "text",
    "content",
    "value",
)
_ANSWER = (
    "answer",
    "output",
    "outputs",
    "response",
    "completion",
    "result",
    "text",
    "content",
    "generation",
    "value",
)
_PASSAGES = (
    "documents",
    "contexts",
    "context",
    "retrieved_contexts",
    "passages",
    "chunks",
    "nodes",
    "results",
    "matches",
    "hits",
    "points",
    "source_documents",
    "output",
)
_PASSAGE = (
    "page_content",
    "pageContent",
    "content",
    "text",
    "passage",
    "body",
    "chunk",
    "snippet",
    "value",
)
_BESIDE = (
    "contexts",
    "context",
    "documents",
    "passages",
    "retrieved_contexts",
    "retrieval_context",
    "source_documents",
)
TEXTLESS = "retrieved objects without a text"
FAILED_RETRIEVERS = "retrievers that failed"
_AROUND = ("messages", "choices", "message", "parts")
_LISTS = ("messages", "choices", "message", "turns", "conversation", "conversations")
_TEXTS = ("text", "input_text", "output_text")  # types of the parts of a message that are texts
TEXTS_OF_FAILED = "texts of calls that failed"
_DEEPEST = 8  # objects inside each other that are looked into


JSON_BEGINS = ("{", "[", '"')


def parsed(value: Any) -> Any:
    """The value of a text that is a JSON object, list or text; anything else as it is."""
    if isinstance(value, str) and value.startswith(JSON_BEGINS):
        try:
            return parse_json(value)
        except ValueError:
            return value
    return value


def _called(value: Any) -> Any:
    """What a function was called with, of `{"args": […], "kwargs": {…}}` (the decorators of Langfuse): its one
    argument, or those with names; a value without such a form as it is."""
    value = parsed(value)
    if isinstance(value, dict) and value.keys() == {"args", "kwargs"}:
        args = value["args"]
        keywords = value["kwargs"]
        if isinstance(args, list) and len(args) == 1 and not keywords:
            return parsed(args[0])
        if isinstance(keywords, dict) and keywords and not args:
            return keywords
    return value


def question(value: Any) -> Any:
    """The text that was asked: a text, the last user message, or what an object has under a usual key. None where
    there is none; an object that does not show which of its parts it is comes back as it is. Of a text that is JSON
    the messages are read, and any other JSON is the question itself."""
    request = _said_in(value)
    return _said(request if isinstance(request, str) else _called(request), ASKS, _QUESTION, 0)


def answer(value: Any) -> Any:
    """The text that was answered: a text, the last assistant message with a text, or as for `question`. A text that is
    JSON without messages is the answer itself: that is what was scored."""
    answer_text = _said(_said_in(value), ANSWERS, _ANSWER, 0)
    return value if isinstance(value, str) and isinstance(answer_text, list | dict) else answer_text


def right_answers(value: Any) -> Any:
    """The right answers in what was expected: of a list of texts or numbers each one, of an object what it has under a
    usual key, else as for `answer`."""
    for _ in range(_DEEPEST):
        if not isinstance(value, dict) or role_of(value) or any(key in value for key in _AROUND):
            break
        usual = [key for key in _ANSWER if value.get(key) is not None]
        if not usual and len(value) != 1:
            break
        value = value[(usual or list(value))[0]]
    if isinstance(value, list) and all(
        isinstance(item, str | int | float | type(None)) for item in value
    ):
        return [item for item in value if item is not None]
    return answer(value)


def _said_in(value: Any) -> Any:
    """A value; of a text that is JSON with messages, or with what a function was called with, these."""
    opened = parsed(value)
    if not isinstance(value, str) or isinstance(opened, str):
        return value
    called = isinstance(opened, dict) and opened.keys() == {"args", "kwargs"}
    return opened if called or _messages(opened, 0) else value


def is_empty_answer(value: Any) -> bool:
    """Whether what was recorded is an answer without a text: `""`, an object that has it where an answer stands, or a
    last message of the assistant without a text and without a call of a tool."""
    value = parsed(value)
    if value in (None, [], {}):
        return False
    if turns := _messages(value, 0):
        last = turns[-1]
        return role_of(last) in ANSWERS and not (_text(last) or _is_call(last))
    return bool(answer(value) == "")


def _is_call(message: dict[str, Any]) -> bool:
    """Whether a message calls a tool, or has parts that are no texts."""
    if any("call" in str(key).casefold() and message[key] for key in message):
        return True
    if "call" in str(message.get("finish_reason") or message.get("stop_reason") or ""):
        return True
    content = message.get("content") or message.get("parts") or message.get("contents")
    return isinstance(content, list) and any(
        isinstance(part, dict) and part.get("type", "text") not in _TEXTS for part in content
    )


def further_choices(value: Any) -> int:
    """How many replies to one request there are beside the first, in the reply of an API."""
    value = parsed(value)
    choices = value.get("choices") if isinstance(value, dict) else None
    return max(0, len(choices) - 1) if isinstance(choices, list) else 0


def replies_to_one_request(value: Any) -> list[Any]:
    """The messages in a list in which each is a reply of its own (`n` in the APIs): all are the assistant's, and each
    ends for a reason of its own or calls no tool. [] for any other value, such as the steps of an agent."""
    value = parsed(value)
    if not (isinstance(value, list) and len(value) > 1):
        return []
    if not all(role_of(message) in ANSWERS for message in value):
        return []
    end_apart = all(message.get("finish_reason") for message in value)
    return value if end_apart or not any(map(_is_call, value)) else []


def passages(value: Any) -> list[Any]:
    """The passages in what a retriever returned: texts, or objects with `text` and `id`. notation.NotRead for a text
    that is a list in another notation and cannot be read."""
    return [passage for passage in _retrieved(value, 0) if passage is not None]


def passages_beside(value: Any) -> Any:
    """What an object with an answer has of passages beside it; None for anything else."""
    if not isinstance(value, dict) or not any(key in value for key in _ANSWER):
        return None
    return next((value[key] for key in _BESIDE if value.get(key)), None)


def textless_passages(value: Any) -> int:
    """How many objects in what a retriever returned have no text that is known, such as ids alone."""
    try:
        return sum(passage is None for passage in _retrieved(value, 0))
    except NotRead:
        return 0  # the reader of the field refuses it


def _retrieved(value: Any, depth: int) -> list[Any]:
    """The passages in a value; None in place of an object without a text."""
    opened = parsed(value)
    if not depth and isinstance(printed := spelled(opened), list):
        opened = printed
    if depth > _DEEPEST:
        return []
    if isinstance(opened, list):
        retrieved = [passage for item in opened for passage in _retrieved(item, depth + 1)]
    elif isinstance(opened, dict) and opened:
        around = (key for key in _PASSAGES if isinstance(parsed(opened.get(key)), list | dict))
        key = next(around, None)
        passage = None if key and not depth else _passage(opened)
        retrieved = [passage] if passage or key is None else _retrieved(opened[key], depth + 1)
    else:
        return [opened] if isinstance(opened, str) and opened else []
    if depth and isinstance(value, str) and opened and not any(retrieved):
        return [value]  # a passage that is JSON
    return retrieved


def conversation(*values: Any) -> list[Any]:
    """The messages in values, one value after the other, and what stands among them; [] if they have none. Of an input
    and an output that repeats it, the output."""
    turns: list[Any] = []
    for value in values:
        messages = _messages(value, 0)
        repeats = bool(turns) and list(map(_said_by, messages[: len(turns)])) == list(
            map(_said_by, turns)
        )
        turns = messages if repeats else turns + messages
    return turns


def _said_by(message: Any) -> tuple[str, str]:
    return (role_of(message), _text(message)) if isinstance(message, dict) else ("", str(message))


def _messages(value: Any, depth: int) -> list[Any]:
    value = _called(value)
    if depth > _DEEPEST or not isinstance(value, list | dict):
        return []
    if isinstance(value, list):
        if any(
            isinstance(message, dict)
            and (role_of(message) or "role" in message or "from" in message)
            for message in value
        ):
            return [item for item in value if item is not None]
        return [message for item in value for message in _messages(item, depth + 1)]
    if role_of(value):
        return [value]
    key = next(
        (key for key in _LISTS if value.get(key) is not None),
        next(iter(value), "") if len(value) == 1 else "",
    )
    inner = value[key] if key else None
    if key == "choices" and isinstance(inner, list):
        inner = inner[:1]  # of several replies to one request the first
    return _messages(inner, depth + 1)


def _said(value: Any, roles: frozenset[str], keys: tuple[str, ...], depth: int) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if depth == _DEEPEST or not isinstance(value, list | dict):
        return value
    if isinstance(value, list):
        if value and all(
            isinstance(item, list) for item in value
        ):  # LangChain: lists of messages in a list
            return _said(value[-1], roles, keys, depth + 1)
        if any(role_of(item) for item in value):
            return next(
                (
                    text
                    for message in reversed(value)
                    if role_of(message) in roles and (text := _text(message))
                ),
                None,
            )
        if len(value) == 1 and isinstance(inner := parsed(value[0]), list):
            return _said(inner, roles, keys, depth + 1)  # messages as a text, in a list of one
        return _parts(value) or (
            _said(value[0], roles, keys, depth + 1) if len(value) == 1 else value or None
        )
    if role_of(value):
        if role_of(value) not in roles:
            return None
        return _text(value) or (None if _is_call(value) else "")
    for key in _AROUND:
        if value.get(key) is not None:
            part = value[key]
            if key == "choices" and isinstance(part, list):
                part = part[:1]  # of several replies to one request the first
            return _said(part, roles, keys, depth + 1)
    usual = [key for key in keys if value.get(key) is not None] or (
        list(value) if len(value) == 1 else []
    )
    return _said(value[usual[0]], roles, keys, depth + 1) if usual else value or None


def role_of(message: Any) -> str:
    """The role of a message; "" for anything else."""
    if not isinstance(message, dict):
        return ""
    role = next(
        (
            str(message[key]).casefold()
            for key in ("role", "type", "from")
            if isinstance(message.get(key), str)
        ),
        "",
    )
    return role if role in _ROLES else ""


def message_text(message: Any) -> str:
    """The text of a message; "" for one without a text."""
    return _text(message) if isinstance(message, dict) else ""


def _text(message: dict[str, Any]) -> str:
    content = next(
        (
            message[key]
            for key in ("content", "parts", "contents", "text", "value")
            if message.get(key)
        ),
        None,
    )
    return content if isinstance(content, str) else _parts(content)


def _parts(content: Any) -> str:
    """The texts of the parts of a message, one after the other."""
    parts = content if isinstance(content, list) else [content]
    texts = []
    for part in parts:
        part = (
            part.get("message_content", part) if isinstance(part, dict) else part
        )  # OpenInference
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and part.get("type", "text") in _TEXTS:
            texts.append(
                next(
                    (part[key] for key in ("text", "content") if isinstance(part.get(key), str)), ""
                )
            )
    return "\n".join(text for text in texts if text)


def _passage(value: dict[str, Any]) -> Any:
    """The passage that an object is, from itself or from a part of it; None without a text."""
    around = (*AROUND_TEXT, *_PASSAGE)
    parts = [value[key] for key in around if isinstance(value.get(key), dict)]
    for part in (value, *parts):
        text = next(
            (part[key] for key in _PASSAGE if isinstance(part.get(key), str) and part[key]), None
        )
        if text is None:
            continue
        ids = (
            holder[key]
            for holder in (part, value)
            for key in ("id", "doc_id", "chunk_id")
            if isinstance(holder.get(key), str | int)
        )
        name = next(ids, None)
        return {"text": text} | ({} if name is None else {"id": str(name)})
    return None

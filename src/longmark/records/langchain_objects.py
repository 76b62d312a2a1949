"""What LangChain writes of its objects in a trace: messages and documents as `{"lc": 1, "type": "constructor", "kwargs":
…}`, and the replies of a model as lists of generations."""

from __future__ import annotations

from typing import Any

_DEEPEST = 20  # objects inside each other that are looked into
_OF_MESSAGES = "Message"
_OF_PIECES = "MessageChunk"


def plain_objects(value: Any) -> Any:
    """A value in which each object of LangChain is its own fields, and a model's replies are the first one."""
    return _plain(value, 0)


def _plain(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return value
    if isinstance(value, list):
        return [_plain(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    fields = value.get("kwargs")
    if value.get("lc") and value.get("type") == "constructor" and isinstance(fields, dict):
        return _plain({**_role_of(value.get("id")), **fields}, depth + 1)
    if generation := _first_generation(value.get("generations")):
        return _plain(generation, depth + 1)
    return {key: _plain(part, depth + 1) for key, part in value.items()}


def _role_of(path: Any) -> dict[str, str]:
    """The role of a message by the name of its class, such as `HumanMessage`; nothing for other classes."""
    name = path[-1] if isinstance(path, list) and path else ""
    if not isinstance(name, str):
        return {}
    for end in (_OF_PIECES, _OF_MESSAGES):
        if name.endswith(end) and name != end:
            return {"type": name.removesuffix(end).casefold()}
    return {}


def _first_generation(generations: Any) -> Any:
    """The message of the first reply, else the reply; None where there is none."""
    for _ in range(2):  # a list of replies for each prompt
        if isinstance(generations, list) and generations:
            generations = generations[0]
    if not isinstance(generations, dict):
        return None
    return generations.get("message") or generations

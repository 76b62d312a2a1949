"""The functions that paths have beside JMESPath's own, for the shapes of other tools' files (`paths` registers them):
variables without their data, short names of systems, references, questions with their choices."""

from __future__ import annotations

import hashlib
import json
from string import ascii_uppercase
from typing import Any

from longmark.records.notation import listed

_LONGEST_NAME = 60  # characters of a text that is part of a system's name
_BEGINNING = 40  # characters of a longer one, before the digits that tell it from others
_DIGITS = 8
_REFERENCE = "weave:///"
_DATA = frozenset(
    [
        "contexts",
        "context",
        "documents",
        "passages",
        "reference",
        "references",
        "expected",
        "expected_output",
        "ground_truth",
    ]
)
"""Variables of a test that hold its passages or its right answers."""


def dotted(record: Any) -> Any:
    """The columns of a table by the parts of their names: `inputs.question` is `question` of `inputs`. Empty cells are
    left out, and a list as Python prints it is read; of texts it is one only where passages or right answers stand, since
    an answer may be such a text."""
    if not isinstance(record, dict):
        return record
    groups: dict[str, dict[str, Any]] = {}
    for column, cell in record.items():
        group, dot, name = str(column).partition(".")
        if not dot or cell is None:
            continue
        opened = listed(cell)
        if group != "reference" and name.casefold() not in _DATA and _are_texts(opened):
            opened = cell
        groups.setdefault(group, {})[name] = opened
    return groups


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str | None) for item in value)


def without_data(variables: Any) -> Any:
    """The variables of a test without those that hold passages or right answers, or name a file."""
    if not isinstance(variables, dict):
        return variables
    return {
        name: value
        for name, value in variables.items()
        if name.casefold() not in _DATA and not _is_file(value)
    }


def without_files(value: Any) -> Any:
    """A text, or the items of a list, less those that name a file (promptfoo: `file://notes.txt`); None where nothing is
    left."""
    if isinstance(value, list):
        return [item for item in value if not _is_file(item)] or None
    return None if _is_file(value) else value


def files_among(value: Any) -> list[Any]:
    """What of a text, or of the items of a list, names a file."""
    return [item for item in (value if isinstance(value, list) else [value]) if _is_file(item)]


def _is_file(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("file://") and "\n" not in value


def distinct(values: Any) -> list[Any]:
    """The values of a list, each once; [] for what is no list."""
    different: list[Any] = []
    for value in values if isinstance(values, list) else ():
        if value not in different:
            different.append(value)
    return different


def digest(value: Any) -> str:
    """A short hash of a value, in whatever order its keys stand."""
    as_json = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(as_json.encode()).hexdigest()[: 2 * _DIGITS]


def short(value: Any) -> str:
    """A text on one line as part of a name; of a long one the beginning, and digits that tell it from others."""
    line = " ".join(value.split()) if isinstance(value, str) else ""
    if len(line) <= _LONGEST_NAME:
        return line
    return f"{line[:_BEGINNING]}… {hashlib.sha256(line.encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]}"


def resolved(value: Any) -> Any:
    """A value without Weave's references to objects that are stored elsewhere, at any depth: of an object or a list what
    is none, None for a reference and for an object or a list that has nothing else."""
    if isinstance(value, str):
        return None if value.startswith(_REFERENCE) else value
    if isinstance(value, list):
        items = [item for item in map(resolved, value) if item is not None]
        # an empty list is a result: a search that found nothing
        return items if items or not value else None
    if isinstance(value, dict):
        parts = {name: resolved(part) for name, part in value.items()}
        return {name: part for name, part in parts.items() if part is not None} or None
    return value


def reference_name(value: Any) -> Any:
    """The name and the version of the object that a reference of Weave names (`ask:4b67d0ffd141`); a name as it is."""
    return value.rpartition("/")[2] if isinstance(value, str) else None


def with_choices(question_and_choices: Any) -> Any:
    """A question with the choices of an answer beneath it, each behind its letter, as Inspect asks it; without choices
    the question as it is."""
    question, choices = question_and_choices
    if not (isinstance(question, str) and isinstance(choices, list) and choices):
        return question
    letters = (*ascii_uppercase, *map(str, range(1, len(choices))))
    lines = [f"{letter}) {choice}" for letter, choice in zip(letters, choices, strict=False)]
    return "\n".join([question, *lines])


def instructed(instruction_and_input: Any) -> str | None:
    """An instruction, with the text that it is about beneath it (the data of Alpaca); None without an instruction, or
    with an input that is no text."""
    instruction, about = instruction_and_input
    if not (isinstance(instruction, str) and instruction):
        return None
    if about is not None and not isinstance(about, str):
        return None
    return f"{instruction}\n\n{about}" if about else instruction


def joined(pieces: Any) -> Any:
    """The text that came in pieces, without anything between them; what is no list of texts as it is."""
    if isinstance(pieces, list) and all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    return pieces

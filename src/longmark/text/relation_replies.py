"""Reads what a judge replies of several statements: labels, labelled premises, and numbers of passages.

A reply names each statement by its number, so that a label that is left out does not move the others. The reply is
unreadable as a whole where a number is missing, has two labels or belongs to no statement, or a label was not offered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any

from pydantic import ConfigDict, RootModel

from longmark.judge import Reader, Unreadable, structure
from longmark.reply_schema import object_schema

_LABELLED = re.compile(r"\s*\[?(\d{1,9})\]?(?:[.:)]\s*|\s+)([A-Za-z_]+)\s*")
_STRINGS = {
    "type": "array",
    "items": {"type": "string"},
}


class _Replied(RootModel[dict[str, Any]]):
    model_config = ConfigDict(strict=True)


class _PremiseLists(RootModel[dict[str, list[str]]]):
    model_config = ConfigDict(strict=True)


class _Numbers(RootModel[dict[str, list[int]]]):
    model_config = ConfigDict(strict=True)


@lru_cache
def labels_reader(count: int, labels: tuple[str, ...]) -> Reader[list[str]]:
    """Reads one of the labels for each number from 1 to count, `{"1": LABEL}`; case does not matter. Unreadable unless
    there is exactly one for each."""
    numbers = [str(n) for n in range(1, count + 1)]
    one_label = {
        "type": "string",
        "enum": list(labels),
    }
    schema = object_schema(dict.fromkeys(numbers, one_label))

    def complete(reply: _Replied) -> list[str]:
        return _by_number(count, labels, reply.root)

    return structure(
        _Replied,
        64 + 16 * count,
        schema,
    ).then(complete)


@lru_cache
def listed_labels(count: int, labels: tuple[str, ...]) -> Reader[list[str]]:
    """As `labels_reader`, of a list, `{"labels": ["1 LABEL"]}`, whose schema takes as few tokens for 25 statements as
    for one. It says how many there are: small models count on, else. The form of `labels_reader` is read, too: a prompt
    of the user's own may ask for it."""

    def complete(reply: _Replied) -> list[str]:
        replied = reply.root
        if list(replied) != ["labels"]:
            return _by_number(count, labels, replied)
        entries = replied["labels"]
        if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
            raise Unreadable("labels: it should be a list of strings")
        return _by_number(count, labels, _labels_by_number("", entries, labels))

    as_many = {
        **_STRINGS,
        "minItems": count,
        "maxItems": count,
    }
    return structure(
        _Replied,
        64 + 16 * count,
        object_schema({"labels": as_many}),
    ).then(complete)


@lru_cache
def labelled_premises(
    count: int, premises: int, labels: tuple[str, ...]
) -> Reader[list[dict[int, str]]]:
    """Reads a list of labelled premises (`{"1": ["2 LABEL"]}`) for each number from 1 to count: the label by the number
    of the premise, which counts from 0. Unreadable unless there is exactly one list for each, only of numbers from 1 to
    `premises`, each with one label."""
    numbers = [str(n) for n in range(1, count + 1)]

    def labels_of(number: str, entries: Sequence[str]) -> dict[int, str]:
        by_premise = _labels_by_number(f"{number}: ", entries, labels)
        _within(number, "premise", map(int, by_premise), premises)
        return {int(premise) - 1: label for premise, label in by_premise.items()}

    def complete(reply: _PremiseLists) -> list[dict[int, str]]:
        _one_for_each("list", count, reply.root)
        return [labels_of(number, reply.root[number]) for number in numbers]

    max_tokens = 64 + count * (16 + 6 * premises)
    schema = object_schema(dict.fromkeys(numbers, _STRINGS))
    return structure(
        _PremiseLists,
        max_tokens,
        schema,
    ).then(complete)


@lru_cache
def passage_numbers(count: int, passages: int) -> Reader[list[frozenset[int]]]:
    """Reads a list of numbers of passages for each number from 1 to count; the numbers that it gives count from 0.
    Unreadable unless there is exactly one list for each, and only of numbers from 1 to `passages`."""
    numbers = [str(n) for n in range(1, count + 1)]
    listed = {
        "type": "array",
        "items": {"type": "integer"},
    }

    def complete(reply: _Numbers) -> list[frozenset[int]]:
        _one_for_each("list", count, reply.root)
        for number in numbers:
            _within(number, "passage", reply.root[number], passages)
        return [frozenset(passage - 1 for passage in reply.root[number]) for number in numbers]

    max_tokens = 64 + count * (16 + 4 * passages)
    schema = object_schema(dict.fromkeys(numbers, listed))
    return structure(
        _Numbers,
        max_tokens,
        schema,
    ).then(complete)


def _by_number(count: int, labels: Sequence[str], replied: dict[str, Any]) -> list[str]:
    """The label of each number from 1 to count."""
    by_word = {_folded(label): label for label in labels}
    _one_for_each("label", count, replied)
    in_order = []
    for number in range(1, count + 1):
        label = replied[str(number)]
        if not isinstance(label, str) or _folded(label) not in by_word:
            raise Unreadable(f"{number}: {label!r} is not one of {', '.join(labels)}")
        in_order.append(by_word[_folded(label)])
    return in_order


def _labels_by_number(place: str, entries: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """Number -> label, of entries such as "2 entails"; place: where they stand, for a message."""
    by_word = {_folded(label): label for label in labels}
    label_of: dict[str, str] = {}
    for entry in entries:
        match = _LABELLED.fullmatch(entry)
        label = by_word.get(_folded(match[2])) if match else None
        if match is None or label is None:
            raise Unreadable(
                f'{place}{entry[:40]!r} is no number and label, as in "2 {labels[0]}"; the labels are {", ".join(labels)}'
            )
        number = str(int(match[1]))
        if label_of.setdefault(number, label) != label:
            raise Unreadable(f"{place}{number} has two labels, {label_of[number]} and {label}")
    return label_of


def _one_for_each(noun: str, count: int, replied: Collection[str]) -> None:
    """Unreadable where a number from 1 to count is missing, or something else is there."""
    numbers = [str(n) for n in range(1, count + 1)]
    missing = [number for number in numbers if number not in replied]
    extra = [key for key in replied if key not in numbers]
    if missing or extra:
        mistake = (
            f"no {noun} for {', '.join(missing[:5])}"
            if missing
            else f"{extra[0]!r} is no number of a statement"
        )
        raise Unreadable(f"it needs one {noun} for each number from 1 to {count}: {mistake}")


def _within(number: str, noun: str, places: Iterable[int], greatest: int) -> None:
    for place in places:
        if not 1 <= place <= greatest:
            raise Unreadable(f"{number}: {place} is no {noun}; their numbers are 1 to {greatest}")


def _folded(label: str) -> str:
    return label.strip().casefold()

"""Columns that no field reads, by how their values recur: one that could be the id of an answer or of a question, and one
that could be the system that answered. For a message; nothing is read by it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longmark.options import named
from longmark.records.example import Example
from longmark.records.pair import Answered

_ID_WORDS = frozenset(
    (
        "id",
        "ids",
        "no",
        "nr",
        "num",
        "number",
        "key",
        "code",
        "ticket",
        "case",
        "item",
        "qid",
        "uid",
        "uuid",
        "guid",
        "index",
        "idx",
    )
)
"""Words of a name that say that the column numbers something."""
_SYSTEM_WORDS = frozenset(
    (
        "system",
        "model",
        "pipeline",
        "version",
        "build",
        "variant",
        "release",
        "generator",
        "llm",
        "checkpoint",
        "deployment",
    )
)
_BOUNDARY = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 80  # characters of an id or of the name of a system
_MOST_SYSTEMS = 50
MOST_EXAMPLES = 10_000
"""Examples that are looked at; the rest of a file is as its beginning."""


def is_system(column: str) -> bool:
    """Whether a column is named like one that says what answered."""
    words = _words(column)
    return bool(words & _SYSTEM_WORDS) and not words & _ID_WORDS


def _words(column: str) -> set[str]:
    return {word.lower() for word in _BOUNDARY.split(column) if word}


class RecurringColumns:
    """Add each example that was read, then ask for the proposals."""

    def __init__(self) -> None:
        self._examples = 0
        self._value_of_question: dict[str, dict[str, str]] = {}
        self._question_of_value: dict[str, dict[str, str]] = {}
        self._no_ids = set[str]()
        self._unique: dict[str, set[str] | None] = {}
        self._systems: dict[str, Counter[str]] = {}
        self._systems_of_question: dict[tuple[str, str], set[str]] = {}
        self._named = {"id": False, "question_id": False, "system": False}

    def add(self, example: Answered) -> None:
        self._examples += 1
        if self._examples > MOST_EXAMPLES or not isinstance(example, Example):
            return
        for field in self._named:
            self._named[field] = self._named[field] or field in example.model_fields_set
        for column, value in example.meta.items():
            if isinstance(value, bool) or not isinstance(value, str | int):
                self._no_ids.add(column)
                self._unique[column] = None
                continue
            words = _words(column)
            text = str(value).strip()
            if is_system(column) and 0 < len(text) <= _LONGEST:
                self._systems.setdefault(column, Counter())[text] += 1
                answered = (column, example.question_id)
                self._systems_of_question.setdefault(answered, set()).add(text)
            if words & _ID_WORDS:
                self._add_unique(column, text)
            if words & _ID_WORDS and example.question and column not in self._no_ids:
                self._add_id(column, text, example.question)

    def _add_unique(self, column: str, value: str) -> None:
        values = self._unique.setdefault(column, set())
        if values is None:
            return
        if not value or len(value) > _LONGEST or value in values:
            self._unique[column] = None
        else:
            values.add(value)

    def _add_id(self, column: str, value: str, question: str) -> None:
        values = self._value_of_question.setdefault(column, {})
        questions = self._question_of_value.setdefault(column, {})
        same = values.setdefault(question, value) == value
        if not same or questions.setdefault(value, question) != question or len(value) > _LONGEST:
            self._no_ids.add(column)
            del self._value_of_question[column]
            del self._question_of_value[column]

    @property
    def proposed(self) -> dict[str, str]:
        """Field -> column. id: every example has a value of its own; question_id: each of its values has one question
        and each question one value, and some occur more than once; system: a few values, each of several examples, or
        all of them of one question."""
        columns = dict[str, str]()
        examples = min(self._examples, MOST_EXAMPLES)
        unique = [
            column
            for column, values in self._unique.items()
            if values is not None and 1 < len(values) == examples
        ]
        if unique and not self._named["id"]:
            columns["id"] = unique[0]
        ids = [
            column
            for column, values in self._question_of_value.items()
            if 1 < len(values) < self._examples
        ]
        if ids and not self._named["question_id"]:
            columns["question_id"] = ids[0]
        compared = {
            column
            for (column, _), values in self._systems_of_question.items()
            if len(values) == len(self._systems[column])
        }
        systems = [
            column
            for column, counts in self._systems.items()
            if 1 < len(counts) <= _MOST_SYSTEMS and (column in compared or min(counts.values()) > 1)
        ]
        if systems and not self._named["system"]:
            columns["system"] = systems[0]
        return columns

    def merged_systems(self) -> str:
        """That the answers of several values of a column are one system, with the option that tells them apart; ""
        where an example names its system, or no column could."""
        column = self.proposed.get("system")
        if column is None:
            return ""
        option = named("mapping", {"system": column})
        return (
            f"The answers of {len(self._systems[column]):,} values of {column} are one system. To tell them apart: "
            f"{option}"
        )


def recurring(examples: Iterable[Answered]) -> dict[str, str]:
    """The proposals of examples that are read for them alone."""
    columns = RecurringColumns()
    for example in examples:
        columns.add(example)
    return columns.proposed


def repeated_by_systems(records: Sequence[Mapping[str, Any]], system: str) -> str:
    """The column of names that occur several times, once for each system at most: what all systems answered. "" where
    there is none, or no column `system`."""
    if not records or not all(record.get(system) not in (None, "") for record in records):
        return ""
    for column in records[0]:
        names = [record.get(column) for record in records]
        if column != system and all(_is_name(name, column) for name in names):
            answers = {(str(record[system]), str(record[column])) for record in records}
            if len(answers) == len(records) > len({*map(str, names)}):
                return column
    return ""


def _is_name(value: Any, column: str) -> bool:
    """Whether a value could be a name: one word that is no number, unless its column is named like ids."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return False
    text = str(value)
    is_number = text.replace(".", "", 1).removeprefix("-").isdigit()
    is_word = 0 < len(text) <= _LONGEST and not any(map(str.isspace, text))
    return is_word and (not is_number or bool(_words(column) & _ID_WORDS))

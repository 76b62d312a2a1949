"""What a reply of a rehearsal holds: a value that the request's JSON schema allows, about the texts that its prompt shows.

The figures are in the docstring of `engine.rehearsal`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from typing import Any

from longmark.text.sentences import sentences

_SHOWN = re.compile(r"(?s)<([\w ]+ [0-9a-f]{8})>\n(.*?)\n</\1>")  # as `prompts.fence` writes it
_NUMBERED = re.compile(r"(?m)^(\d+)\. (.+)$")
_PASSAGE = re.compile(r"(?ms)^\[\d+\] (.*?)(?=\n\n\[\d+\] |\Z)")  # as `judge.numbered` writes it
_LETTERED = re.compile(
    r"(?ms)^(\d+)\. .*?^Pairs: (.*?)$"
)  # a question, its answers, the pairs of them to compare
_REASON = "The answer states what the passages state, and adds a figure that none of them has."
_OF_ITEM = frozenset({"from", "source", "index", "number", "id", "question"})
"""Keys of a number that says which item of a list an object is about."""


class ReplyVariant(IntEnum):
    """Variants of one reply, in the order in which they are tried."""

    LIKELIEST = 0
    LEAST_NUMBERS = 1
    EMPTY_LISTS = 2  # and least numbers


class ShownTexts:
    """The texts that a prompt shows. statements: that a list has of a sentence, 1 or 2, or a fraction of 1.
    lists_statements: whether `count_statements` had to assume that number."""

    def __init__(self, prompt: str, statements: float) -> None:
        self._statements = statements
        self.lists_statements = False
        self.texts = [text for _, text in _SHOWN.findall(prompt)] or [prompt]
        self.prose = [text for text in self.texts if not _NUMBERED.match(text)]
        self.longest = max(self.prose or self.texts, key=len)

    @cached_property
    def numbered(self) -> dict[str, str]:
        """Number -> text, of the last text that is a list of numbered lines."""
        for text in reversed(self.texts):
            lines = _NUMBERED.findall(text)
            if lines and len(lines) == len(text.splitlines()):
                return dict(lines)
        return {}

    @cached_property
    def listed(self) -> list[str]:
        """What a list about the texts holds."""
        if self.numbered:
            return list(self.numbered.values())
        one_a_sentence = [sentence.strip() for sentence in sentences(self.longest)]
        if self._statements < 1:
            return one_a_sentence[:: round(1 / self._statements)]
        if self._statements > 1:
            return [half for sentence in one_a_sentence for half in _halves(sentence)]
        return one_a_sentence

    def count_statements(self) -> int:
        """How many statements a list about the texts has; where nothing is numbered, that is an assumption."""
        self.lists_statements |= not self.numbered
        return len(self.listed)

    @cached_property
    def passages(self) -> list[str]:
        """The numbered passages that are shown as one text."""
        return _PASSAGE.findall(self.longest)

    @cached_property
    def pairs(self) -> list[str]:
        """The pairs of lettered answers to compare, each behind the number of its question."""
        return [
            f"{number} {letters}"
            for number, pairs in _LETTERED.findall(self.texts[-1])
            for letters in pairs.split(", ")
        ]

    def contains(self, statement: str) -> bool:
        """Whether a text other than a list contains the statement."""
        return bool(statement) and any(statement in text for text in self.prose)


class StandInValue:
    """A value that a JSON schema allows."""

    def __init__(self, schema: Mapping[str, Any], texts: ShownTexts, variant: ReplyVariant) -> None:
        self._definitions = schema.get("$defs", {})
        self._texts = texts
        self._variant = variant

    def value(self, part: Mapping[str, Any], key: str = "", item: str = "", place: int = 1) -> Any:
        """The value of a part of the schema. key: of the object that holds it; item, place: the statement that it is
        about, and the number of the element of a list that it is in."""
        if "$ref" in part:
            part = self._definitions[part["$ref"].rpartition("/")[2]]
        for alternative in (*part.get("anyOf", ()), *part.get("oneOf", ())):
            if alternative.get("type") != "null":
                return self.value(alternative, key, item, place)
        if "const" in part:
            return part["const"]
        item = self._texts.numbered.get(key, item)
        if "enum" in part:
            return self._label(part["enum"], item)
        match part.get("type"):
            case "object":
                return {
                    name: self.value(property_, name, item, place)
                    for name, property_ in part.get("properties", {}).items()
                }
            case "array":
                return self._list(part, key, item)
            case "integer" | "number":
                return self._number(part, key, place)
            case "boolean":
                return True
            case "string":
                text = self._text(key, item).ljust(part.get("minLength", 0), ".")
                return text[: part.get("maxLength")]
        return None

    def _label(self, labels: Sequence[Any], item: str) -> Any:
        if self._variant:
            return labels[0]
        if "entails" in labels and item and self._texts.contains(item):
            return "entails"
        return next((label for label in ("neutral", "fact") if label in labels), labels[0])

    def _number(self, part: Mapping[str, Any], key: str, place: int) -> Any:
        low, high = _bounds(part)
        if key in _OF_ITEM:
            return place
        if self._variant:
            return low
        number = int(key) if key.isdigit() else place
        grade = 2 if number % 4 == 0 else 4
        return max(low, min(high - 1, grade))

    def _list(self, part: Mapping[str, Any], key: str, item: str) -> list[Any]:
        if "prefixItems" in part:  # a tuple
            return [self.value(element, item=item) for element in part["prefixItems"]]
        items = part.get("items", {})
        own_form = self._list_of_own_form(items, key, item)
        if own_form is not None:
            return own_form
        length = 0
        if self._variant != ReplyVariant.EMPTY_LISTS:
            length = self._likely_length(items, key, item)
        least = part.get("minItems", 0)
        greatest = part.get("maxItems", len(self._texts.listed) + 1)
        length = max(least, min(greatest, length))
        if key.isdigit():
            # the key is the number of the text that all elements are about; it says nothing of what they are
            return [self.value(items, "", item, place) for place in range(1, length + 1)]
        statements = self._texts.listed or [item]
        return [
            self.value(items, key, statements[n % len(statements)], n + 1) for n in range(length)
        ]

    def _likely_length(self, items: Mapping[str, Any], key: str, item: str) -> int:
        """How many elements a list has whose form is not longmark's own."""
        holds_numbers = items.get("type") == "integer"
        if key.isdigit() and holds_numbers:  # the passages that entail a statement
            return int(self._texts.contains(item))
        if key.isdigit():  # what a text says of a question
            return 1
        if key == "quotes" or holds_numbers:
            return 1
        return self._texts.count_statements()

    def _list_of_own_form(self, items: Mapping[str, Any], key: str, item: str) -> list[Any] | None:
        """A list of longmark's own, whose key says more than its schema does; None for another list."""
        holds_texts = items.get("type") == "string"
        if key == "labels" and self._texts.pairs:
            return self._labels_of_pairs()
        if key == "labels" and holds_texts and self._texts.numbered:
            return self._labels_of_statements()
        if key.isdigit() and holds_texts and self._texts.passages:
            return self._labels_of_premises(item)
        if key == "answers" and "passages" in items.get("properties", {}):
            return self._answers_of_passages()
        return None

    def _labels_of_pairs(self) -> list[Any]:
        """A label of each pair of answers, as `metrics.comprehensiveness._comparisons` asks for it."""
        return [f"{pair} neutral" for pair in self._texts.pairs]

    def _labels_of_statements(self) -> list[Any]:
        """A label of each numbered statement, as `text.relation_replies` asks for it."""
        return [
            f"{number} {self._label(('entails', 'neutral'), statement)}"
            for number, statement in self._texts.numbered.items()
        ]

    def _labels_of_premises(self, statement: str) -> list[Any]:
        """The numbered passages that entail a statement, as `text.relation_replies.labelled_premises` asks for them."""
        return [
            f"{place} entails"
            for place, premise in enumerate(self._texts.passages, 1)
            if statement and statement in premise
        ]

    def _answers_of_passages(self) -> list[Any]:
        """The answers of numbered passages to numbered questions, equal ones together, as
        `metrics.comprehensiveness._questions` asks for them."""
        answers: list[Any] = []
        for number, question in self._texts.numbered.items():
            passages_of: dict[str, list[int]] = {}
            for place, passage in enumerate(self._texts.passages, 1):
                if _answers(passage, question):
                    passages_of.setdefault(_answer_of(passage), []).append(place)
            answers += [
                {"question": int(number), "answer": answer, "passages": places, "confidence": 4}
                for answer, places in (passages_of or {"unknown": []}).items()
            ]
        return answers

    def _text(self, key: str, item: str) -> str:
        if key in ("reason", "reasoning", "explanation"):
            return _REASON
        if key == "answer":
            if self._texts.numbered and not _answers(self._texts.longest, item):
                return "unknown"
            return _answer_of(self._texts.longest)
        return item or key or "yes"


def _answers(text: str, question: str) -> bool:
    """Whether a text answers a question."""
    text_and_question = f"{text}\0{question}".encode("utf-8", "replace")
    by_chance = hashlib.blake2b(text_and_question, digest_size=1).digest()[0] % 2 == 0
    return by_chance or question in text


def _bounds(part: Mapping[str, Any]) -> tuple[float, float]:
    """The least and the greatest number of a schema; a scale from 1 to 5 where it has none."""
    high = part.get("maximum")
    if high is None:
        high = part.get("exclusiveMaximum", 5)
    low = part.get("minimum")
    if low is None:
        low = part.get("exclusiveMinimum", min(1, high))
    step = 1
    if part["type"] == "number":
        step = min(1, (high - low) / 4)
    if "exclusiveMinimum" in part:
        low += step
    if "exclusiveMaximum" in part:
        high -= step
    return low, high


def _halves(sentence: str) -> list[str]:
    """The words of a sentence as two statements; a single word is one."""
    words = sentence.split()
    middle = len(words) // 2
    return [" ".join(half) for half in (words[:middle], words[middle:]) if half]


def _answer_of(text: str) -> str:
    """What a text answers: without figures, as two quantities can be compared without a call."""
    return " ".join(word for word in text.split() if word.isalpha())[-40:]

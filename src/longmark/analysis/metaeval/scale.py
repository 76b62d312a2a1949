"""What kind of question a label is, from what people said: yes or no, a scale, or categories; and people's verdict.

    binary      numbers 0 and 1, yes and no, true and false, or two categories in a given order: 0 and 1
    numeric     numbers
    ordered     categories in a given order, from 0 to 1 in equal steps
    categories  texts without an order: they have no mean

Several people's verdict on an answer is the mean of their numbers and the value that most of them gave (none where two
values lead).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from longmark.errors import BadInput, UserError
from longmark.records.labels import Label, first_few

BINARY, NUMERIC, ORDERED, CATEGORIES = "binary", "numeric", "ordered", "categories"

_BINARY_WORDS = ({"no": 0.0, "yes": 1.0}, {"false": 0.0, "true": 1.0})
MOST_CLASSES = 12
"""Numbers of more different values than this are no classes."""


@dataclass(frozen=True, slots=True)
class Scale:
    """classes: the values in order, () where they are too many; number: of each value, empty for categories."""

    kind: str
    classes: tuple[str, ...]
    number: Mapping[str, float]
    low: float | None
    high: float | None

    @property
    def numeric(self) -> bool:
        return self.kind != CATEGORIES


def scale_of(said: Sequence[Label], order: Sequence[str] = (), name: str = "human") -> Scale:
    """The scale of a label's ratings. order: categories from lowest to highest, where they have one.

    BadInput where numbers and texts are mixed, or a value is not in the order.
    """
    words = {text_of(rating.value) for rating in said}
    if order:
        return _ordered(said, order, name)
    texts = [rating for rating in said if isinstance(rating.value, str)]
    folded = {word.casefold() for word in words}
    for meaning in _BINARY_WORDS:
        if folded <= meaning.keys():
            return Scale(BINARY, tuple(meaning), {word: meaning[word.casefold()] for word in (*words, *meaning)}, 0, 1)
    if not texts:
        number = {text_of(rating.value): float(rating.value) for rating in said}
        if set(number.values()) <= {0.0, 1.0}:
            return Scale(BINARY, ("0", "1"), {"0": 0.0, "1": 1.0}, 0, 1)
        ends = min(number.values()), max(number.values())
        classes = tuple(sorted(number, key=number.__getitem__)) if len(number) <= MOST_CLASSES else ()
        return Scale(NUMERIC, classes, number, *ends)
    if len(texts) < len(said):
        lines = [
            f"{name}:{rating.line}: {rating.label}: {rating.value!r} is no number, as {len(said) - len(texts):,} other "
            f"ratings are; leave the cell empty where a rating lacks, or give the order: "
            f"--order {rating.label}=LOWEST,…,HIGHEST"
            for rating in texts[:20]
        ]
        raise BadInput(lines, len(texts))
    if len(words) > 50:
        raise UserError(
            f"{name}: {said[0].label} holds {len(words):,} different texts ({first_few(sorted(words), 3)}), which are "
            "no categories; name the column with the ratings with --map value=COLUMN"
        )
    return Scale(CATEGORIES, tuple(sorted(words)), {}, None, None)


def _ordered(said: Sequence[Label], order: Sequence[str], name: str) -> Scale:
    if len(order) < 2 or len({word.casefold() for word in order}) < len(order):
        raise UserError(f"--order {said[0].label}: give two categories or more, each once, lowest first")
    places = {word.casefold(): place / (len(order) - 1) for place, word in enumerate(order)}
    strange = [rating for rating in said if text_of(rating.value).casefold() not in places]
    if strange:
        lines = [
            f"{name}:{rating.line}: {rating.label}: {text_of(rating.value)!r} is not in the order {', '.join(order)}"
            for rating in strange[:20]
        ]
        raise BadInput(lines, len(strange))
    number = {text_of(rating.value): places[text_of(rating.value).casefold()] for rating in said}
    number |= {word: places[word.casefold()] for word in order}
    return Scale(BINARY if len(order) == 2 else ORDERED, tuple(order), number, 0, 1)


def text_of(value: float | str) -> str:
    """A value as the name of its class: 4.0 is `4`."""
    if isinstance(value, str):
        return value
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def shown(scale: Scale) -> dict[str, str]:
    """The classes as a reader sees them: numbers with two decimals at most, or with as many as keep them apart."""
    if scale.kind != NUMERIC:
        return {name: name for name in scale.classes}
    for places in range(2, 16):
        short = {name: text_of(round(scale.number[name], places)) for name in scale.classes}
        gone = any(text == "0" and scale.number[name] for name, text in short.items())
        if len(set(short.values())) == len(short) and not gone:
            return short
    return {name: name for name in scale.classes}


def mean_of(said: Iterable[Label], scale: Scale) -> float | None:
    """The mean of people's numbers; None for categories."""
    if not scale.numeric:
        return None
    numbers = [scale.number[text_of(rating.value)] for rating in said]
    return sum(numbers) / len(numbers)


def class_of(value: float | str, scale: Scale) -> str:
    """The class that a value belongs to, in the spelling of `classes`."""
    text = text_of(value)
    if text in scale.classes or not scale.number:
        return text
    if not scale.classes:
        return text
    number = scale.number[text]
    return next(name for name in scale.classes if scale.number[name] == number)


def majority(votes: Iterable[str]) -> str | None:
    """The value that was given most often; None where two lead, or there is none."""
    ranked = Counter(votes).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]

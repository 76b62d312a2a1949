"""Human labels: what kind of values they are, and which scored answers they belong to.

    binary      numbers 0 and 1, yes and no, true and false, or two categories in a given order: 0 and 1
    numeric     numbers
    ordered     categories in a given order, from 0 to 1 in equal steps
    categories  texts without an order: they have no mean

The scale is the one that `--order` gives, else the one that the file declares (`scores.label_scales`), else that of the
values that occur.

The human label of an answer is the mean of its raters' numbers, and the class that most of them gave (none if two
classes lead). The join guesses nothing: an id that belongs to several answers is left out, like one that belongs to
none, and counted with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from longmark.errors import BadInput, UserError
from longmark.options import named
from longmark.records.files import BadLines, at
from longmark.records.same import comparable
from longmark.scores.answer_texts import (
    A_SHA256,
    ANSWER_SHA256,
    B_SHA256,
    OTHER_TEXT,
    labels_of_other_answers,
)
from longmark.scores.answers import AnswerScores, Named
from longmark.scores.label_scales import NUMBER, DeclaredScale, declared_classes, shown_classes
from longmark.scores.labels import Labels, first_few
from longmark.scores.observations import Observation

BINARY = "binary"
NUMERIC = "numeric"
ORDERED = "ordered"
CATEGORIES = "categories"
NO_ANSWER = "no such answer in the rows"
SEVERAL = "the id belongs to answers of several systems; add a column `system`"

_BINARY_WORDS = ({"no": 0.0, "yes": 1.0}, {"false": 0.0, "true": 1.0})
_SWAPPED = {"a": "b", "b": "a", "tie": "tie"}
_MOST_CLASSES = 12  # different numbers; more are not classes
_MOST_CATEGORIES = 50
_LISTED = 20  # wrong values in an error


# Scales -------------------------------------------------------------------------------------------------------------


class Rating(NamedTuple):
    """What a rater gave an answer, and in which line. There is one for each label: it holds no more than is used."""

    label: str
    rater: str
    value: float | str
    line: int


@dataclass(frozen=True, slots=True)
class LabelScale:
    """classes: the values in order, () if there are too many; number: of each value, empty for categories; low, high:
    its ends. declared: all classes that a rater could choose, by `--order` or the file, () where only the values that
    occur are known: low and high are then the least and the greatest of these."""

    kind: str
    classes: tuple[str, ...]
    number: Mapping[str, float]
    low: float | None
    high: float | None
    declared: tuple[str, ...] = ()

    @property
    def numeric(self) -> bool:
        return self.kind != CATEGORIES

    def class_of(self, value: float | str) -> str:
        """The class of a value, spelled as in `classes`."""
        text = text_of(value)
        if self.declared and not self.number:
            return next(
                (name for name in self.classes if comparable(name) == comparable(text)), text
            )
        if text in self.classes or not self.number or not self.classes:
            return text
        return next(name for name in self.classes if self.number[name] == self.number[text])

    def mean_of(self, ratings: Sequence[Rating]) -> float | None:
        """The mean of the ratings' numbers; None for categories."""
        numbers = [self.number[text_of(rating.value)] for rating in ratings] if self.numeric else []
        return sum(numbers) / len(numbers) if numbers else None

    def names(self) -> dict[str, str]:
        """class -> its name on a page: numbers with two decimals, or with as many as distinguish them."""
        for places in range(2, 16) if self.kind == NUMERIC else ():
            short = {name: text_of(round(self.number[name], places)) for name in self.classes}
            is_zero = any(text == "0" and self.number[name] for name, text in short.items())
            if len(set(short.values())) == len(short) and not is_zero:
                return short
        return {name: name for name in self.classes}


def scale_of(
    ratings: Sequence[Rating],
    order: Sequence[str] = (),
    file: str = "human",
    declared: DeclaredScale | None = None,
    *,
    keep_numbers: bool = False,
) -> LabelScale:
    """The scale of a label's ratings. order: categories from lowest to highest; declared: what the file says of the
    scale, where no order is given. keep_numbers: an order of rising numbers only names all of them, and they are not
    put between 0 and 1.

    BadInput if numbers and texts are mixed, or a value is not in the order or on the declared scale.
    """
    if order and not (keep_numbers and _rise(order)):
        return _ordered(ratings, order, file, f"the order {shown_classes(order)}")
    if order:
        scale = DeclaredScale(tuple(order), ordered=True)
        return _declared(ratings, (), scale, file, f"in the order {shown_classes(order)}")
    words = {text_of(rating.value) for rating in ratings}
    if declared is not None:
        return _declared(
            ratings,
            words,
            declared,
            file,
            f"on the scale {declared.written()} that the file declares",
        )
    for meaning in _BINARY_WORDS:
        if {comparable(word) for word in words} <= meaning.keys():
            return _binary_words(words, meaning)
    texts = [rating for rating in ratings if isinstance(rating.value, str)]
    label = ratings[0].label
    if not texts:
        return _of_numbers(_numbers(ratings))
    if len(texts) < len(ratings):
        other_count = len(ratings) - len(texts)
        mend = "leave the cell empty if a rating is missing, or give the order: "
        mend += named("order", {label: ["LOWEST", "…", "HIGHEST"]})
        _refuse(texts, f"is not a number, but {other_count:,} other ratings are; {mend}", file)
    if len(words) > _MOST_CATEGORIES:
        raise UserError(
            f"{file}: {label} has {len(words):,} different texts ({first_few(sorted(words), 3)}), too many for "
            f"categories; name the column with the ratings with {named('mapping', {'value': 'COLUMN'})}"
        )
    return LabelScale(CATEGORIES, tuple(sorted(words)), {}, None, None)


def _binary_words(words: Collection[str], meaning: Mapping[str, float]) -> LabelScale:
    number = {word: meaning[comparable(word)] for word in (*words, *meaning)}
    return LabelScale(BINARY, tuple(meaning), number, 0, 1, declared=tuple(meaning))


def _numbers(ratings: Sequence[Rating]) -> dict[str, float]:
    return {text_of(rating.value): float(rating.value) for rating in ratings}


def _of_numbers(
    occurring: Mapping[str, float], declared: Mapping[str, float] | None = None
) -> LabelScale:
    """The scale of the numbers that occur. declared: all that could be given, where that is known."""
    number = declared or occurring
    if set(number.values()) <= {0.0, 1.0}:
        return LabelScale(BINARY, ("0", "1"), {"0": 0.0, "1": 1.0}, 0, 1, declared=("0", "1"))
    few = next((values for values in (number, occurring) if len(values) <= _MOST_CLASSES), {})
    classes, every = (
        tuple(sorted(values, key=values.__getitem__)) for values in (few, declared or {})
    )
    return LabelScale(NUMERIC, classes, number, min(number.values()), max(number.values()), every)


def _rise(order: Sequence[str]) -> bool:
    """Whether these are two numbers or more, each above the one before."""
    if len(order) < 2 or not all(NUMBER.fullmatch(name) for name in order):
        return False
    numbers = list(map(float, order))
    return all(low < high for low, high in pairwise(numbers))


def _declared(
    ratings: Sequence[Rating],
    words: Collection[str],
    declared: DeclaredScale,
    file: str,
    described: str,
) -> LabelScale:
    """The scale that a file declares. Numbers keep their values, in any order; other classes are in an order, or not,
    as the file says. described: what the scale is called in a message."""
    classes = declared_classes(declared)
    known_classes = {comparable(_class_name(name)) for name in classes}
    if unknown := [
        rating for rating in ratings if comparable(text_of(rating.value)) not in known_classes
    ]:
        _refuse(unknown, f"is not {described}", file)
    for meaning in _BINARY_WORDS:
        if known_classes <= meaning.keys():
            return _binary_words(words, meaning)
    if all(NUMBER.fullmatch(name) for name in classes):
        return _of_numbers(_numbers(ratings), {_class_name(name): float(name) for name in classes})
    if declared.ordered:
        return _ordered(ratings, classes, file, "")
    return LabelScale(CATEGORIES, tuple(classes), {}, None, None, declared=tuple(classes))


def _class_name(text: str) -> str:
    """A class as its ratings are called: `4.0` is `4`."""
    return text_of(float(text)) if NUMBER.fullmatch(text) else text


def _ordered(
    ratings: Sequence[Rating], order: Sequence[str], file: str, described: str
) -> LabelScale:
    """described: what the order is called in a message."""
    order = list(map(_class_name, order))
    number = {comparable(word): place / max(1, len(order) - 1) for place, word in enumerate(order)}
    if len(order) < 2 or len(number) < len(order):
        raise UserError(
            f"{named('order')} of {ratings[0].label}: give two categories or more, each once, lowest first"
        )
    unknown = [rating for rating in ratings if comparable(text_of(rating.value)) not in number]
    if unknown:
        _refuse(unknown, f"is not in {described}", file)
    words = (*(text_of(rating.value) for rating in ratings), *order)
    kind = BINARY if len(order) == 2 else ORDERED
    return LabelScale(
        kind,
        tuple(order),
        {word: number[comparable(word)] for word in words},
        0,
        1,
        declared=tuple(order),
    )


def _refuse(ratings: Sequence[Rating], reason: str, file: str) -> None:
    """A line for each value that cannot be used, with its place in the file, or with how many there are."""
    of_value: dict[str, list[Rating]] = {}
    for rating in ratings:
        of_value.setdefault(text_of(rating.value), []).append(rating)
    lines = []
    for value, same_value in list(of_value.items())[:_LISTED]:
        lines_given = first_few((rating.line for rating in same_value), 3)
        times = f" ({len(same_value):,} labels, lines {lines_given})" if len(same_value) > 1 else ""
        lines.append(
            f"{file}:{same_value[0].line}: {same_value[0].label}: {value!r} {reason}{times}"
        )
    raise BadInput(lines, len(of_value))


def text_of(value: float | str) -> str:
    """A value as the name of its class: 4.0 is `4`."""
    if isinstance(value, str):
        return value
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


# Join ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RatedAnswer:
    """An answer with its ratings on one label, or two answers to one question with the choices between them.

    places: in `AnswerScores.answers`, of the answer, or of a and b; () without a row, with the reason. choices: (rater,
    choice, swapped): a choice is of this item's a or b; swapped: b was shown first. grades: (rater, grade), above 0 for
    this item's b.
    """

    name: str
    question: str
    places: tuple[int, ...]
    reason: str | None
    groups: tuple[str | None, ...]
    ratings: tuple[Rating, ...] = ()
    choices: tuple[tuple[str, str, bool], ...] = ()
    grades: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A reason why answers (or pairs) of the human file have no row; names: the first of them."""

    reason: str
    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """How many answers (or pairs) of the human file have a row; only_in_rows: answers without a human label."""

    in_human: int
    joined: int
    unmatched: tuple[Unmatched, ...]
    only_in_rows: int


Place = tuple[tuple[int, ...], str | None]
"""Places in `AnswerScores.answers`; or (), and the reason."""


def named_by(human: Labels) -> Named:
    """Whether a label can belong to an answer."""
    ids: set[str] = set()
    of_systems: set[tuple[str, str | None]] = set()
    for line in human.select():
        if human.choices:
            for side in (line.given["a"], line.given["b"]):
                ids.add(side)
                of_systems |= {(line.question_id, side), (line.question_id, None)}
        else:
            ids.add(line.example_id)
    return lambda id, question, system: id in ids or (question, system) in of_systems


def join(human: Labels, scores: AnswerScores, label: str) -> tuple[list[RatedAnswer], Join]:
    """The items of a label. Two answers that were shown in both orders, or named in two ways, are one pair.

    BadInput if lines of one item differ in a column to break down by.
    """
    wrong = BadLines()
    items = (_choices if human.choices else _ratings)(human, scores, label, wrong)
    wrong.check()
    names: dict[str, list[str]] = {}
    for item in items:
        if item.reason is not None:
            names.setdefault(item.reason, []).append(item.name)
    ranked = sorted(names.items(), key=lambda entry: -len(entry[1]))
    joined = {item.places for item in items if item.places}
    used = {place for places in joined for place in places}
    unmatched = tuple(
        Unmatched(reason, len(item_names), tuple(item_names[:5])) for reason, item_names in ranked
    )
    return items, Join(len(items), len(joined), unmatched, len(scores.questions) - len(used))


def _ratings(human: Labels, scores: AnswerScores, label: str, wrong: BadLines) -> list[RatedAnswer]:
    items: dict[tuple[str, str, bool], RatedAnswer] = {}
    raters: dict[str, str] = {}
    for observation in human.select(metric=label):
        places, reason = _rated(scores, observation)
        key = (observation.example_id, observation.system, reason == OTHER_TEXT)
        groups = _groups(human, observation)
        rating = Rating(
            label,
            raters.setdefault(observation.rater, observation.rater),
            observation.value,
            observation.line,
        )
        if item := items.get(key):
            _check_groups(human, observation, item.groups, item.ratings[0].line, wrong)
            items[key] = replace(item, ratings=(*item.ratings, rating))
            continue
        name = (
            f"{observation.example_id} ({observation.system})"
            if observation.system
            else observation.example_id
        )
        question = name
        if places:
            answer = scores.answers[places[0]]
            name = name if observation.system else answer.example_id
            question = answer.question_id  # one text, held once
        items[key] = RatedAnswer(name, question, places, reason, groups, (rating,))
    return list(items.values())


def _choices(human: Labels, scores: AnswerScores, label: str, wrong: BadLines) -> list[RatedAnswer]:
    lines_of: dict[tuple[Hashable, ...], list[tuple[Observation, Place]]] = {}
    for observation in human.select(metric=label):
        place = _pair(scores, observation)
        lines = lines_of.setdefault(tuple(sorted(place[0])) or (observation.example_id,), [])
        lines.append((observation, place))
        _check_groups(human, observation, _groups(human, lines[0][0]), lines[0][0].line, wrong)
    return [_choice(human, scores, lines) for lines in lines_of.values()]


def _choice(
    human: Labels, scores: AnswerScores, lines: Sequence[tuple[Observation, Place]]
) -> RatedAnswer:
    """The item of lines that belong together; the first one defines which answer is a."""
    first, (places, reason) = lines[0]
    question = scores.answers[places[0]].question_id if places else None
    name = name_of(first)
    choices = []
    grades = []
    for observation, (own_places, _) in lines:
        swapped = own_places != places if own_places else observation.given["a"] != first.given["a"]
        choice = observation.label or ""
        choices.append((observation.rater, _SWAPPED[choice] if swapped else choice, swapped))
        if observation.score is not None:
            grades.append((observation.rater, -observation.score if swapped else observation.score))
    about_item = (
        name,
        question or first.question_id or name,
        places,
        reason,
        _groups(human, first),
    )
    return RatedAnswer(*about_item, (), tuple(choices), tuple(grades))


def name_of(choice: Observation) -> str:
    name = f"{choice.given['a']} / {choice.given['b']}"
    return f"{choice.question_id}: {name}" if choice.question_id else name


def _rated(scores: AnswerScores, rating: Observation) -> Place:
    candidates = scores.by_id.get(rating.example_id, ())
    if rating.system:
        of_system = tuple(
            place for place in candidates if scores.answers[place].system == rating.system
        )
        if candidates and not of_system:
            return (), "the id belongs to an answer of another system"
        candidates = of_system
    if _is_other_text(scores, rating, candidates, ANSWER_SHA256):
        return (), OTHER_TEXT
    return (
        (candidates, None) if len(candidates) == 1 else ((), SEVERAL if candidates else NO_ANSWER)
    )


def _is_other_text(
    scores: AnswerScores, label: Observation, places: Collection[int], column: str
) -> bool:
    """Whether a label is of another text than the answers at these places."""
    digests = [digest for place in places if (digest := scores.answers[place].digest) is not None]
    return bool(labels_of_other_answers([label], lambda _: digests, column))


def _pair(scores: AnswerScores, choice: Observation) -> Place:
    (first, why_a), (second, why_b) = (
        _side(scores, choice.question_id or None, choice.given[side]) for side in ("a", "b")
    )
    if not first or not second:
        return (), why_a or why_b
    if first == second:
        return (), "a and b are the same answer"
    if scores.answers[first[0]].question_id != scores.answers[second[0]].question_id:
        return (), "a and b are answers to different questions"
    for places, column in ((first, A_SHA256), (second, B_SHA256)):
        if _is_other_text(scores, choice, places, column):
            return (), OTHER_TEXT
    return first + second, None


def _side(scores: AnswerScores, question: str | None, name: str) -> Place:
    """The answer of a name: that of this system to the question, or the one with this id."""
    candidates = scores.by_system.get((question, name), ()) if question is not None else ()
    if len(candidates) > 1:
        return (
            (),
            "the system has several answers to the question; name answers by their example_id",
        )
    if not candidates:
        candidates = scores.by_id.get(name, ())
        of_question = tuple(
            place
            for place in candidates
            if question is None or scores.answers[place].question_id == question
        )
        if candidates and not of_question:
            return (), "the example_id belongs to another question"
        candidates = of_question
    if len(candidates) == 1:
        return candidates, None
    return (), "the example_id belongs to answers of several systems" if candidates else NO_ANSWER


def _groups(human: Labels, observation: Observation) -> tuple[str | None, ...]:
    return tuple(observation.given[column] for column in human.by)


def _check_groups(
    human: Labels,
    observation: Observation,
    groups: Sequence[str | None],
    line: int,
    wrong: BadLines,
) -> None:
    """Notes where a line is not of the groups of the first line on the same answers."""
    for column, first, own_group in zip(human.by, groups, _groups(human, observation), strict=True):
        if own_group != first:
            message = (
                f"{column}: is {own_group!r}, but {first!r} for the same answers in line {line}"
            )
            wrong.add(at(human.name, observation.line, message))

"""People's ratings and choices brought to the answers that metrics marked, and what could not be brought, with reasons.

Nothing is guessed: an id that stands for several answers is left out, as one that stands for none is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from longmark.errors import BadInput, UserError
from longmark.records.labels import Choice, Label, Labels, first_few
from longmark.scores.answers import AnswerScores

NO_ANSWER = "no such answer in the rows"
SEVERAL = "the id stands for answers of several systems; add a column `system`"


@dataclass(frozen=True, slots=True)
class Rated:
    """An answer with its ratings on one label. place: in `AnswerScores.answers`; None for an
    answer without a row (why: the reason)."""

    name: str
    place: int | None
    why: str | None
    said: tuple[Label, ...]
    groups: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to one question with the choices between them on one label.

    a, b: places in `AnswerScores.answers`. said: (rater, choice, turned); a choice is of this a or b, whatever was
    shown first; turned: b was shown first.
    """

    name: str
    question_id: str
    a: int | None
    b: int | None
    why: str | None
    said: tuple[tuple[str, str, bool], ...]
    groups: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A reason why what people said of some answers (or pairs) found no row; names: the first of them."""

    reason: str
    count: int
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """How many answers (or pairs) of the human file on a label have a row, and how many of the rows' are not in it."""

    label: str
    in_human: int
    joined: int
    unmatched: tuple[Unmatched, ...]
    only_in_rows: int


def join_ratings(human: Labels, marks: AnswerScores, label: str) -> tuple[list[Rated], Join]:
    """The rated answers of a label. BadInput where lines of one answer differ in a column to break down by."""
    by_answer: dict[tuple[str, str | None], list[Label]] = {}
    for rating in human.ratings:
        if rating.label == label:
            by_answer.setdefault((rating.example_id, rating.system), []).append(rating)
    rated = []
    for (name, system), said in by_answer.items():
        place, why = _place(marks, name, system)
        shown = name if system is None else f"{name} ({system})"
        rated.append(Rated(shown, place, why, tuple(said), said[0].groups))
    _check_groups(human, by_answer.values())
    joined = {each.place for each in rated if each.place is not None}
    unmatched = _unmatched((each.why, each.name) for each in rated)
    return rated, Join(label, len(rated), len(joined), unmatched, len(marks.answers) - len(joined))


def _place(marks: AnswerScores, name: str, system: str | None) -> tuple[int | None, str | None]:
    found = marks.by_id.get(name, ())
    if system is not None:
        with_system = tuple(place for place in found if marks.answers[place].system == system)
        if found and not with_system:
            return None, "the id is there, but of another system"
        found = with_system
    if len(found) == 1:
        return found[0], None
    return None, SEVERAL if found else NO_ANSWER


def join_choices(human: Labels, marks: AnswerScores, label: str) -> tuple[list[Pair], Join]:
    """The pairs of a label; two answers that were shown in both orders, or named in two ways, are one pair."""
    by_pair: dict[tuple[Hashable, ...], list[tuple[Choice, _Sides]]] = {}
    for choice in human.choices:
        if choice.label == label:
            sides = _sides(marks, choice)
            first, second = sides.a, sides.b
            key: tuple[Hashable, ...] = (choice.question_id, *sorted((choice.a, choice.b)))
            if first is not None and second is not None:
                key = (min(first, second), max(first, second))
            by_pair.setdefault(key, []).append((choice, sides))
    pairs = [_pair(said) for said in by_pair.values()]
    _check_groups(human, [[choice for choice, _ in said] for said in by_pair.values()])
    joined = {place for pair in pairs if pair.why is None for place in (pair.a, pair.b)}
    unmatched = _unmatched((pair.why, pair.name) for pair in pairs)
    found = sum(pair.why is None for pair in pairs)
    return pairs, Join(label, len(pairs), found, unmatched, len(marks.answers) - len(joined))


@dataclass(frozen=True, slots=True)
class _Sides:
    """The answers of one choice; both None, with the reason, where one of them cannot be had."""

    a: int | None
    b: int | None
    question: str | None
    why: str | None = None


def _sides(marks: AnswerScores, choice: Choice) -> _Sides:
    question = choice.question_id
    first, why_a = _side(marks, question, choice.a)
    second, why_b = _side(marks, question, choice.b)
    if first is None or second is None:
        return _Sides(None, None, question, why_a or why_b)
    if first == second:
        return _Sides(None, None, question, "a and b are the same answer")
    mine, theirs = marks.answers[first].question_id, marks.answers[second].question_id
    if mine != theirs:
        return _Sides(None, None, question, "a and b are answers to different questions")
    return _Sides(first, second, mine)


def _pair(said: Sequence[tuple[Choice, _Sides]]) -> Pair:
    """The first choice says which answer is a."""
    choice, sides = said[0]
    name = f"{choice.a} / {choice.b}"
    if choice.question_id is not None:
        name = f"{choice.question_id}: {name}"
    votes = []
    for one, its in said:
        turned = its.a != sides.a if its.a is not None else one.a != choice.a
        votes.append((one.rater, _TURNED[one.choice] if turned else one.choice, turned))
    return Pair(name, sides.question or name, sides.a, sides.b, sides.why, tuple(votes), choice.groups)


_TURNED = {"a": "b", "b": "a", "tie": "tie"}


def _side(marks: AnswerScores, question: str | None, name: str) -> tuple[int | None, str | None]:
    """The answer that a name stands for: of this system to the question, or with this id."""
    found = marks.by_system.get((question, name), ()) if question is not None else ()
    if len(found) > 1:
        return None, "the system has several answers to the question; name answers by their example_id"
    if not found:
        found = marks.by_id.get(name, ())
        same = tuple(place for place in found if question is None or marks.answers[place].question_id == question)
        if found and not same:
            return None, "the example_id belongs to another question"
        found = same
    if len(found) == 1:
        return found[0], None
    return None, "the example_id stands for answers of several systems" if found else NO_ANSWER


def _unmatched(reasons: Iterable[tuple[str | None, str]]) -> tuple[Unmatched, ...]:
    names: dict[str, list[str]] = {}
    counts: Counter[str] = Counter()
    for why, name in reasons:
        if why is not None:
            counts[why] += 1
            names.setdefault(why, [])
            if len(names[why]) < 5:
                names[why].append(name)
    return tuple(Unmatched(why, count, tuple(names[why])) for why, count in counts.most_common())


def _check_groups(human: Labels, together: Iterable[Sequence[Label | Choice]]) -> None:
    bad = [
        f"{human.name}:{other.line}: {column}: is {mine!r}, but {first!r} for the same answers in line {said[0].line}"
        for said in together
        for other in said[1:]
        for column, mine, first in zip(human.by, other.groups, said[0].groups, strict=True)
        if mine != first
    ]
    if bad:
        raise BadInput(bad[:20], len(bad))


def check_any(joins: Sequence[Join], human: Labels, marks: AnswerScores) -> None:
    """UserError where nothing at all was joined, with ids of both sides."""
    if any(join.joined for join in joins):
        return
    if human.choices:
        theirs = [f"{one.question_id}: {one.a} / {one.b}" for one in human.choices]
        ours = [f"{one.question_id}: {one.system} ({one.example_id})" for one in marks.answers]
        mend = "question_id with a and b as systems, or a and b as example_ids, must be those of the rows"
    else:
        theirs = [one.example_id for one in human.ratings]
        ours = [one.example_id for one in marks.answers]
        mend = "name the column that holds the rows' ids with --map example_id=COLUMN"
    reasons = "; ".join(f"{each.count:,}: {each.reason}" for join in joins for each in join.unmatched)
    raise UserError(
        f"nothing in {human.name} belongs to an answer of {', '.join(marks.sources)} ({reasons}). "
        f"The file has {first_few(dict.fromkeys(theirs), 3)}; the rows have {first_few(ours, 3)}. {mend}"
    )

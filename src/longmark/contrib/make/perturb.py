"""Perturbations of a question: other values in some slots of its profile, and in the question, without a model.

A changed slot gets another value that fits the rest of the new profile: a new location is one of the (new) hazard.
Where a slot stays that depends on the changed one (`hazard` alone keeps the location), a value that fits it is
preferred; if there is none, the new pair is not in the tables, as such a variant requires.
No slot gets the value that another one of the same profile has: two that share a pool stay two different things.
A slot that every template of the domain names must be named in the question; one that only some name (a profession) is
changed in the profile alone if the question does not name it. English articles follow the new value.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from longmark.domain import Domain, Slot, Variant
from longmark.errors import LongmarkError
from longmark.records import Example
from longmark.records.same import comparable


class NotMade(LongmarkError):
    """There is no such variant of this question; the message is the reason."""


def perturbed(
    example: Example, variant: Variant, domain: Domain, seed: int
) -> tuple[str, dict[str, Any]]:
    """Question and profile with other values in the slots of a variant; seed and question_id decide which."""
    question = example.question or ""
    old = example.profile
    if old is None:
        raise NotMade("the line has no profile to change")
    digest = hashlib.sha256(
        f"{seed}\0{example.question_id}\0{variant.name}".encode("utf-8", "surrogatepass")
    ).digest()
    draw = random.Random(int.from_bytes(digest, "big")).random
    staying = {
        slot.name: value
        for slot, value in named(question, old, domain)
        if slot.name not in variant.change
    }
    staying_spans = [
        match.span()
        for name, value in staying.items()
        for match in domain.slot(name).pattern(value).finditer(question)
    ]
    new = dict(old)
    exchanges: list[_Exchange] = []
    values_taken = {
        comparable(_value(old, slot)) for slot in domain.slots if slot.name not in variant.change
    }
    for slot in (slot for slot in domain.slots if slot.name in variant.change):
        value = _value(old, slot)
        if not value:
            odd = old.get(slot.name)
            no_text = odd is not None and not isinstance(odd, str)
            raise NotMade(
                f"the {slot.name} of its profile is no text"
                if no_text
                else f"its profile has no {slot.name}"
            )
        other_values = [
            choice for choice in slot.choices(new) if comparable(choice) != comparable(value)
        ]
        choices = _choices(
            slot,
            [
                other_value
                for other_value in other_values
                if comparable(other_value) not in values_taken
            ],
            old,
            variant,
            domain,
        )
        if not choices:
            on = f" for the {slot.given} {new.get(slot.given)}" if slot.given else ""
            but = " than what another slot of its profile has" if other_values else ""
            raise NotMade(f"the domain has no other {slot.name}{on}{but}")
        new[slot.name] = choices[int(draw() * len(choices))]
        values_taken.add(comparable(new[slot.name]))
        exchanged = [
            _Exchange(
                match.start(), match.end(), value, _like(match[0], slot, value, new[slot.name])
            )
            for match in slot.pattern(value).finditer(question)
            if not any(
                start <= match.start() and match.end() <= end for start, end in staying_spans
            )
        ]
        if not exchanged and slot.name in domain.named_by_all:
            raise NotMade(f"the question does not name the {slot.name} of its profile ({value})")
        exchanges += exchanged
    return _exchanged(question, exchanges), new


def named(question: str, profile: dict[str, Any], domain: Domain) -> Iterator[tuple[Slot, str]]:
    """The slots of a profile that the question names, with their values; of those that templates name."""
    for slot in domain.slots:
        value = _value(profile, slot)
        if slot.name in domain.named_by_some and value and slot.pattern(value).search(question):
            yield slot, value


def _value(profile: dict[str, Any], slot: Slot) -> str:
    value = profile.get(slot.name)
    return value.strip() if isinstance(value, str) else ""


def _choices(
    slot: Slot, choices: list[str], old: dict[str, Any], variant: Variant, domain: Domain
) -> list[str]:
    """The values that fit the unchanged slots that depend on this one; all if none does."""
    depending = [
        other_slot
        for other_slot in domain.slots
        if other_slot.given == slot.name and other_slot.name not in variant.change
    ]
    fitting = [
        value
        for value in choices
        if all(
            old.get(other_slot.name) in other_slot.choices({slot.name: value})
            for other_slot in depending
        )
    ]
    return fitting or choices


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A new text for question[start:end], which holds the value `old`."""

    start: int
    end: int
    old: str
    text: str


def _exchanged(question: str, exchanges: Sequence[_Exchange]) -> str:
    """The question with the new texts in place; of two that overlap, the longer one that begins first."""
    parts: list[str] = []
    end = 0
    for exchange in sorted(exchanges, key=lambda exchange: (exchange.start, -exchange.end)):
        if exchange.start < end:
            continue
        parts += [
            _with_article(question[end : exchange.start], exchange.old, exchange.text),
            exchange.text,
        ]
        end = exchange.end
    return "".join((*parts, question[end:]))


def _like(matched: str, slot: Slot, old: str, new: str) -> str:
    """The new value in the form in which the old one was found."""
    plural = len(" ".join(matched.split())) > len(old)
    text = slot.surfaces(new)[-1] if plural else new
    return text[0].upper() + text[1:] if matched[0].isupper() and old[0].islower() else text


def _with_article(before: str, old: str, new: str) -> str:
    """The text before a value; its last word, if it is the old value's article, becomes the new one's."""
    head = before.rstrip()
    space = before[len(before.rstrip()) :]
    head_words, _, last = head.rpartition(" ")
    if not space or last.casefold() not in ("a", "an") or last.casefold() != _article(old):
        return before
    article = _article(new)
    article = article.capitalize() if last[0].isupper() else article
    return f"{head_words} {article}{space}" if head_words else f"{article}{space}"


def _article(text: str) -> str:
    """`a` or `an`, by the first letter; an abbreviation in capitals is spelt out."""
    first = text.split()[0]
    spelt = first.isupper() and len(first) > 1
    return "an" if first[0].casefold() in ("aefhilmnorsx" if spelt else "aeiou") else "a"

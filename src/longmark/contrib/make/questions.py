"""Questions of a domain, without answers: profiles drawn from its tables, put into its templates (SCORE, section 2).

The slots of a profile are drawn in the domain's order (for hazards: hazard, a location of that hazard, then the rest),
then a template of the pool that the profile's concern names. Among the values that fit what is drawn already, one that
was used least is taken, by chance among several. So under every value of the slot that it depends on, a slot's values
come equally often, give or take one: hazards, sectors, concerns and time spans among all questions, the locations of a
hazard, the professions of a sector. No question occurs twice; if a draw would repeat one, the last choice is changed
first, so that the balance is lost only when few questions are left.

The same seed gives the same questions on every platform and Python version: only `random.Random.random()` is used,
whose sequence Python guarantees.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product

from longmark.domain import Domain, Slot, fill, load, places
from longmark.errors import UserError
from longmark.records import Example
from longmark.records.example import question_hash


def hazards(n: int, seed: int = 0, domain: Domain | None = None) -> Iterator[Example]:
    """n different questions of a domain (None: hazards), each an Example with a question and its profile.

    UserError, before the first one, where n is less than 1 or more than there are.
    """
    domain = domain or load()
    if n < 1:
        raise UserError(f"--n {n}: expected a whole number from 1")
    if n > (total := how_many(domain)):
        raise UserError(
            f"--n {n}: the domain {domain.name} has {total:,} different questions; request at most this number"
        )
    return _questions(n, _Draw(domain, seed))


def how_many(domain: Domain) -> int:
    """How many different questions a domain has."""
    counted: dict[tuple[frozenset[str], str], int] = {}
    total = 0
    for value, templates in domain.templates.items():
        for template in templates:
            key = frozenset(places(template)), value
            if key not in counted:
                counted[key] = _fillings(domain, *key)
            total += counted[key]
    return total


def _fillings(domain: Domain, slots_named: frozenset[str], pool: str) -> int:
    """How many different fillings a template of this value's pool has that names these slots."""
    count = 1
    for root in (slot for slot in domain.slots if slot.given is None):
        count *= len(_below(domain, root, {}, slots_named, pool))
    return count


def _below(
    domain: Domain, slot: Slot, filled: Mapping[str, str], slots_named: frozenset[str], pool: str
) -> set[frozenset[tuple[str, str]]]:
    """The different values that a slot and those that depend on it can give the named slots."""
    fillings: set[frozenset[tuple[str, str]]] = set()
    children = [slot_below for slot_below in domain.slots if slot_below.given == slot.name]
    for value in slot.choices(filled):
        if slot.name == domain.template_slot and value != pool:
            continue
        own_filling = frozenset({(slot.name, value)} if slot.name in slots_named else ())
        parts = [_below(domain, child, {slot.name: value}, slots_named, pool) for child in children]
        fillings.update(own_filling.union(*ways) for ways in product(*parts))
    return fillings


def _questions(n: int, draw: _Draw) -> Iterator[Example]:
    for _ in range(n):
        profile: dict[str, str] = {}
        question = draw.question(profile)
        if question is None:
            raise UserError(
                "two templates of the domain make the same questions; there are no others left"
            )
        yield Example(question=question, profile=profile)


class _Draw:
    """Draws questions of a domain, none of them twice."""

    def __init__(self, domain: Domain, seed: int) -> None:
        self._domain = domain
        self._random = random.Random(seed).random
        self._used: defaultdict[tuple[str, str], int] = defaultdict(
            int
        )  # (slot and what it depends on, value)
        self._seen: set[str] = set()
        self._spent: set[tuple[str, ...]] = (
            set()
        )  # beginnings of profiles that have no question left

    def question(self, profile: dict[str, str]) -> str | None:
        """The next question; `profile` is filled with its profile. None if nothing is left under what it has."""
        begun = tuple(profile.values())
        if begun in self._spent:
            return None
        depth = len(profile)
        question = (
            self._template(profile)
            if depth == len(self._domain.slots)
            else self._slot(profile, depth)
        )
        if question is None:
            self._spent.add(begun)
        return question

    def _slot(self, profile: dict[str, str], depth: int) -> str | None:
        slot = self._domain.slots[depth]
        among = f"{slot.name}\0{profile[slot.given]}" if slot.given else slot.name
        for value in self._least_used(among, slot.choices(profile)):
            profile[slot.name] = value
            question = self.question(profile)
            if question is not None:
                self._used[among, value] += 1
                return question
            del profile[slot.name]
        return None

    def _template(self, profile: dict[str, str]) -> str | None:
        pool = profile[self._domain.template_slot]
        pool_key = f"\0{pool}"
        for template in self._least_used(pool_key, self._domain.templates[pool]):
            question = fill(template, profile)
            hash_of_question = question_hash(question)
            if hash_of_question not in self._seen:
                self._seen.add(hash_of_question)
                self._used[pool_key, template] += 1
                return question
        return None

    def _least_used(self, among: str, values: tuple[str, ...]) -> list[str]:
        return sorted(values, key=lambda value: (self._used[among, value], self._random()))

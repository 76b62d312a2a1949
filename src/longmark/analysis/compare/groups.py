"""The order of systems by their means, and the groups of those that do not differ significantly."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence


def highest_first(means: Mapping[int, float], noise: float) -> list[int]:
    """The places by their means. Means that differ by at most `noise` are equal and keep the order given, so that
    rounding ranks nobody."""
    step, steps = 0, dict[int, int]()
    before = None
    for place in sorted(means, key=lambda place: -means[place]):
        step += before is not None and before - means[place] > noise
        steps[place], before = step, means[place]
    return sorted(means, key=lambda place: steps[place])


def groups(count: int, differ: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """The groups of the systems 0 … count - 1, in the order of their first members. differ: pairs that differ.

    Differing is not transitive: A may be like B, and B like C, while A and C differ. B is then in two groups (A, B and
    B, C). The groups are the largest sets without a pair that differs, found by inserting one pair after the other and
    absorbing what another group contains (Piepho 2004).
    """
    found = [frozenset(range(count))] if count else []
    for a, b in differ:
        split = [part for group in found for part in ((group - {a}, group - {b}) if {a, b} <= group else (group,))]
        found = [
            group
            for i, group in enumerate(split)
            if not any(group < other or (group == other and i > j) for j, other in enumerate(split))
        ]
    return tuple(sorted(tuple(sorted(group)) for group in found))


def letters(count: int, of: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """For each system the letters of its groups: a, b, … z, A, … Z, then with a number (a2, …)."""
    size = len(string.ascii_letters)
    names = [string.ascii_letters[i % size] + (str(i // size + 1) if i >= size else "") for i in range(len(of))]
    return tuple("".join(name for name, group in zip(names, of, strict=True) if i in group) for i in range(count))

"""How to read many sequences of tokens that begin alike, each beginning once.

Leaving out one of n claims at a time makes n + 1 prompts: a head of P tokens, all claims but one (L tokens each, say),
and the answer of A tokens. Read apart they are (n + 1)(P + A) + n²L tokens. With what they share read once, they are

    P + nL + L n(n-1)/2 + (n+1)A

tokens: head and claims once, then for each claim that is left out those behind it, and the answer after every set.
With fixed positions no exact plan reads fewer, since a token's state depends on all tokens before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Branch:
    """A sequence: its number, and how many of its first tokens are the spine's."""

    sequence: int
    shared: int


@dataclass(frozen=True, slots=True)
class ReadingOrder:
    """spine: tokens to read first. branches: what to read after a part of it, from the longest part to the shortest, so
    that a cache that can only be cut at its end serves too. evaluated: tokens read in all."""

    spine: tuple[int, ...]
    branches: tuple[Branch, ...]
    evaluated: int


def order(claims: int) -> list[int | None]:
    """In which order to leave out claims (None: none of them), so that a cache of one sequence serves best: the whole
    first, then from the last claim to the first."""
    return [None, *reversed(range(claims))]


def plan(sequences: Sequence[Sequence[int]], fresh: Sequence[int]) -> ReadingOrder:
    """How to read the sequences. fresh: how many of each one's last tokens must be read for itself, since what the
    model says after them is wanted; at least 1.

    The spine is the beginning of the sequence with which all others share most, as far as one of them shares it.
    """
    if not sequences:
        return ReadingOrder((), (), 0)
    if any(not 1 <= last <= len(sequence) for sequence, last in zip(sequences, fresh, strict=True)):
        raise ValueError("each sequence needs a token, and `fresh` lies between 1 and its length")
    limits = [len(sequence) - last for sequence, last in zip(sequences, fresh, strict=True)]
    total = sum(map(len, sequences))
    plans: list[tuple[int, tuple[int, ...], list[int]]] = []
    for number, candidate in enumerate(sequences):
        shared = [
            min(limit, _common(candidate, sequence))
            for limit, sequence in zip(limits, sequences, strict=True)
        ]
        length = max((*shared[:number], *shared[number + 1 :]), default=0)
        shared[number] = min(shared[number], length)
        plans.append((total + length - sum(shared), tuple(candidate[:length]), shared))
    evaluated, spine, shared = min(plans, key=lambda candidate: candidate[0])
    branches = sorted(
        (Branch(i, part) for i, part in enumerate(shared)), key=lambda b: (-b.shared, b.sequence)
    )
    return ReadingOrder(spine, tuple(branches), evaluated)


def _common(first: Sequence[int], second: Sequence[int]) -> int:
    """How many tokens two sequences have in common at their beginning."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))

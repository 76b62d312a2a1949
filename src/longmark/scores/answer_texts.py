"""Whether a label is of the answer that was scored: the hash of the answer's text stands beside the label.

A label names an answer by its id, and another run can have another answer with the same id. `longmark annotate export`
and `longmark label next` therefore write a column `answer_sha256` (of a choice `a_sha256` and `b_sha256`): the first 16
hexadecimal digits of the SHA-256 of the text in UTF-8, without white space at its ends, with `\\n` as the end of its
lines. Labels without the column are joined by their ids alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable

from longmark.records.values import Problem, found
from longmark.scores.observations import Observation

ANSWER_SHA256 = "answer_sha256"
A_SHA256 = "a_sha256"
B_SHA256 = "b_sha256"
OTHER_TEXT = "the text of the answer is not the one that was labelled"
"""Why a label belongs to no answer."""

_DIGITS = 16
_HEXADECIMAL = frozenset("0123456789abcdef")

Digests = Callable[[Observation], Collection[str]]
"""The digests of the answers that a label would be joined to; none where their texts are not known."""


def answer_sha256(text: str) -> str:
    """The digest of an answer's text, 16 hexadecimal digits."""
    plain = text.replace("\r\n", "\n").strip()
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def read_digest(column: str, value: str | None) -> str | None:
    """A cell with a digest; more digits of the same hash are accepted. Raises Problem for anything else."""
    if value is None:
        return None
    digits = value.strip().casefold()
    if len(digits) < _DIGITS or not _HEXADECIMAL.issuperset(digits):
        raise Problem(
            f"{column}: expected the first {_DIGITS} hexadecimal digits of a SHA-256, found {found(value)}"
        )
    return digits[:_DIGITS]


def labels_of_other_answers(
    labels: Iterable[Observation], digests_of: Digests, column: str = ANSWER_SHA256
) -> list[Observation]:
    """The labels that were given to other texts than the answers that they would be joined to.

    digests_of: of each label, the digests of the texts of those answers (`Answer.digest`); an empty collection where no
    text is known. column: which hash of the label is meant: of a choice, `a_sha256` or `b_sha256`. A label without a
    hash, or beside an answer without a text, is never among them.
    """
    differing = []
    for label in labels:
        digest = label.given.get(column)
        if digest is not None and (digests := digests_of(label)) and digest not in digests:
            differing.append(label)
    return differing

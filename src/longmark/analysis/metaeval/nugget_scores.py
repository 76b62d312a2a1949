"""What metrics say of the nuggets of a question, as scores beside people's labels of them.

    METRIC.held   how far the answer holds the nugget: 1 whole (`support`), 1/2 in part, 0 not

The evidence of the metric `nuggets` has the nuggets with their assignments (`ExpectedClaim.held`). A labelled nugget is
the one with the same text; case and spaces do not count. Range [0, 1], higher is better. Unscored: a nugget that the
metric does not have (`undefined`); an answer that the metric did not score (its status). No model is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from longmark.records import Row
from longmark.records.evidence import Support
from longmark.records.expected import NOT_SUPPORT, PARTIAL, SUPPORT
from longmark.records.same import comparable
from longmark.scores.answer_parts import AnswerPart

HELD = {SUPPORT: 1.0, PARTIAL: 0.5, NOT_SUPPORT: 0.0}
_NO_NUGGET = "the metric has no nugget with this text"


@dataclass(frozen=True, slots=True)
class NuggetReading:
    """What the rows of one metric say of the nuggets of an answer. held: assignment by the nugget's text; failure: status
    and reason where no row has one."""

    held: Mapping[str, str]
    failure: tuple[str, str] | None

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self:
        held: dict[str, str] = {}
        for row in rows:
            held |= _held_in(row)
        unscored = next((row for row in rows if row.status != "ok"), None)
        failure = None
        if not held and unscored is not None:
            failure = (unscored.status, unscored.reason or _NO_NUGGET)
        return cls(held, failure)

    def scores(self, part: AnswerPart) -> dict[str, float | tuple[str, str]]:
        """The score of a nugget, or why there is none."""
        if self.failure is not None:
            return {"held": self.failure}
        assignment = self.held.get(comparable(part.nugget))
        if assignment is None:
            return {"held": ("undefined", _NO_NUGGET)}
        return {"held": HELD[assignment]}


def says_of_nuggets(rows: Iterable[Row]) -> bool:
    """Whether a row has nuggets with their assignments."""
    return any(_held_in(row) for row in rows)


def _held_in(row: Row) -> dict[str, str]:
    support = Support.of(row.evidence)
    if support is None:
        return {}
    return {
        comparable(fact.claim): fact.held for fact in support.reference_claims if fact.held in HELD
    }

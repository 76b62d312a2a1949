"""An observation, and what a table of observations says of them (`scores.observations`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from longmark.records import Signature, Usage


@dataclass(frozen=True, slots=True)
class Observation:
    """A score, or None with a status and a reason; or a label. run: the place of its source; system: the source's name
    where the row has none (not `named`); judge: the names of the models that decided, "" if the row names none.

    Of a label: rater; metric: its name; score: the number, or the grade of a choice; label: the text, or the choice;
    line: in its file; given: other columns. example_id: what was labelled, in a choice both answers.
    """

    run: int
    example_id: str
    question_id: str
    cluster: str
    system: str
    named: bool
    judge: str
    metric: str
    score: float | None
    status: str = "ok"
    reason: str | None = None
    rater: str = ""
    label: str | None = None
    line: int = 0
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> float | str:
        """What the rater gave. ValueError for an unscored observation, which has no value."""
        if self.label is not None:
            return self.label
        if self.score is None:
            raise ValueError(f"{self.metric} of {self.example_id} is unscored ({self.status})")
        return self.score


@dataclass(frozen=True, slots=True)
class Spent:
    """What the rows of one metric and system cost when they were first paid for."""

    metric: str
    system: str
    usage: Usage


Limit = tuple[str, float]
"""`<`, `<=`, `>` or `>=` and a number: the scores beyond it. A score that differs from it by rounding equals it."""


@dataclass(frozen=True, slots=True)
class Extremes:
    """The scores beyond a limit: how many, and the examples of the most extreme ones with their scores."""

    count: int = 0
    extreme: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Unscored:
    """Rows without a score that share a status: how many, the most frequent reason, and how many give that reason."""

    status: str
    count: int
    reason: str
    giving: int

    @property
    def several(self) -> bool:
        """The rows give different reasons."""
        return self.giving < self.count


class CellCounts(NamedTuple):
    """Of a metric and a system: rows, scored rows, least and greatest score."""

    rows: int
    scored: int
    least: float | None
    greatest: float | None


class NumberedQuestion(NamedTuple):
    """A question with the number of its cluster, and the least and the greatest cluster of its examples: the same, if
    it is in one."""

    question_id: str
    cluster: int
    least: str
    greatest: str


class ScoreRow(NamedTuple):
    """A score by numbers: of the metric, the system and the question (None: it has no number)."""

    metric: int
    system: int
    question: int | None
    question_id: str
    score: float | None
    status: str


class QuestionMean(NamedTuple):
    """The mean score of a system's answers to a question."""

    question_id: str
    cluster: str
    system: int
    mean: float | None
    scored: int
    rows: int


class CellUsage(NamedTuple):
    metric: int
    system: int
    usage: Usage


class ExamplePlace(NamedTuple):
    """An example by the number of its run and of its system."""

    run: int
    example_id: str
    question_id: str
    system: int


def judge_of(signature: Signature) -> str:
    """The judges of a row, and a checker that is another model; "" if it names none."""
    judges = signature.models.get("judge", [])
    checkers = [
        name for name in signature.models.get("checker", ()) if name not in (*judges, "judge")
    ]
    return ", ".join([*judges, *(f"checker {name}" for name in checkers)])


def merged(unscored: Sequence[Unscored]) -> tuple[Unscored, ...]:
    """Each status once, the most frequent first, with its most frequent reason."""
    by_status: dict[str, Unscored] = {}
    for reason in sorted(unscored, key=lambda reason: -reason.giving):
        before = by_status.get(reason.status)
        by_status[reason.status] = (
            replace(before, count=before.count + reason.count) if before else reason
        )
    return tuple(sorted(by_status.values(), key=lambda reason: -reason.count))

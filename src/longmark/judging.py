"""How a judge is asked for a score: one value, from the command line to the metric and into the manifest."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from longmark.errors import UnknownName, UserError
from longmark.options import named, option

SCORINGS = ("text", "expected")
_MOST_SAMPLES = 1_000  # a greater number is a typing error


@dataclass(frozen=True)
class Judging:  # UserError for values that do not fit
    """how judges are asked"""

    scoring: str | None = option(
        None,
        "how a judge's score is read: from its text, or as expected by token probabilities (default: text; expected "
        "if every judge is an embedded model)",
        "text|expected",
        common=True,
    )
    temperature: float = option(
        0.0,
        "temperature of the calls that give a judge's score; sampled if above 0 (default: 0)",
        "T",
    )
    samples: int = option(
        1, "a score is the mean of N replies of each judge (default: {default})", "N"
    )
    reasons: bool | None = option(
        None,
        "judges give a reason before the score (default: yes for text scoring, if every judge is at an endpoint)",
    )
    seed: int = option(0, "seed of all sampling (default: {default})", "N", kind="any whole number")

    def __post_init__(self) -> None:
        if self.scoring not in (*SCORINGS, None):
            raise UnknownName(
                f"value of {named('scoring')}",
                self.scoring,
                SCORINGS,
                f"It is one of {', '.join(SCORINGS)}.",
            )
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise UserError(f"{named('seed', self.seed)}: expected a whole number")
        if isinstance(self.temperature, bool) or not 0 <= self.temperature <= 2:
            raise UserError(
                f"{named('temperature', self.temperature)}: expected a number from 0 to 2"
            )
        if not isinstance(self.samples, int) or not 1 <= self.samples <= _MOST_SAMPLES:
            raise UserError(
                f"{named('samples', self.samples)}: expected a whole number from 1 to {_MOST_SAMPLES:,}"
            )
        if self.samples > 1 and not self.temperature:
            raise UserError(
                f"{named('samples', self.samples)}: at temperature 0 a judge gives the same reply again; add "
                f"{named('temperature', 0.7)}"
            )
        if self.temperature and self.scoring == "expected":
            raise UserError(
                f"{named('temperature')} is for {named('scoring', 'text')}: probabilities are read, not sampled"
            )
        if self.reasons not in (True, False, None):
            raise UserError(f"{named('reasons', self.reasons)}: expected True, False or None")

    @classmethod
    def of(cls, given: Any) -> Self:
        """The value of what has these names among others: a mapping, arguments, or options."""
        settings = given if isinstance(given, Mapping) else vars(given)
        return cls(
            **{
                field.name: settings[field.name]
                for field in dataclasses.fields(Judging)
                if field.name in settings
            }
        )

    @property
    def by_text(self) -> bool:
        """The score is read from what the judge writes."""
        return self.scoring != "expected"

    def for_judges(self, judges: Sequence[object]) -> Self:
        """With the scoring that serves these judges best, where none is named and what is named allows it.

        A model may say so of itself (`usual_scoring`): the embedded judge agrees better with people by its probabilities
        (design/judge-wordings.md). All other judges are read by their text, the papers' way."""
        named_here = self.scoring is not None
        sampled = bool(self.temperature)
        with_reasons = self.reasons is True
        scoring = self.scoring or "text"
        if reads_probabilities(judges) and not (named_here or sampled or with_reasons):
            scoring = "expected"
        return replace(
            self,
            scoring=scoring,
        )

    @property
    def numbers(self) -> range:
        """The numbers of a judge's samples; another seed has others."""
        first = self.seed * self.samples if self.temperature else 0
        return range(first, first + self.samples)


def reads_probabilities(judges: Sequence[object]) -> bool:
    """Whether every judge is one whose scores are read by its probabilities where nobody says otherwise."""
    return {getattr(judge, "usual_scoring", "text") for judge in judges} == {"expected"}

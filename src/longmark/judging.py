"""How a judge is asked for a score: one value, from the command line to the metric and into the manifest."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from longmark.errors import UnknownName, UserError

SCORINGS = ("text", "expected")
_MOST_SAMPLES = 1_000  # a greater number is a typing error


@dataclass(frozen=True)
class Judging:
    """How a judge's score is asked for. UserError for values that do not fit.

    scoring      how it is read: `text` (what the judge writes) or `expected` (the probabilities of one token)
    temperature  of the calls that give it; samples: how many replies of each judge it is the mean of
    reasons      whether judges give reasons; None: as the metric says, else with `text`, if all are at endpoints
    seed         of everything that samples
    """

    scoring: str = "text"
    temperature: float = 0.0
    samples: int = 1
    reasons: bool | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.scoring not in SCORINGS:
            raise UnknownName("scoring", self.scoring, SCORINGS, f"It is one of {', '.join(SCORINGS)}.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise UserError(f"seed: expected a whole number, found {self.seed!r}")
        if isinstance(self.temperature, bool) or not 0 <= self.temperature <= 2:
            raise UserError(f"temperature: expected a number from 0 to 2, found {self.temperature!r}")
        if not isinstance(self.samples, int) or not 1 <= self.samples <= _MOST_SAMPLES:
            raise UserError(f"samples: expected a whole number from 1 to {_MOST_SAMPLES:,}, found {self.samples!r}")
        if self.samples > 1 and not self.temperature:
            raise UserError("--samples: at temperature 0 a judge gives the same reply again; add --temperature 0.7")
        if self.temperature and self.scoring == "expected":
            raise UserError("--temperature is for --scoring text: probabilities are read, not sampled")
        if self.reasons not in (True, False, None):
            raise UserError(f"reasons: expected True, False or None, found {self.reasons!r}")

    @classmethod
    def of(cls, given: Any) -> Self:
        """The value of what has these names among others: a mapping, arguments, or options."""
        known = given if isinstance(given, Mapping) else vars(given)
        return cls(**{one.name: known[one.name] for one in dataclasses.fields(Judging) if one.name in known})

    @property
    def by_text(self) -> bool:
        """The score is read from what the judge writes."""
        return self.scoring == "text"

    @property
    def numbers(self) -> range:
        """The numbers of a judge's samples; another seed has others."""
        first = self.seed * self.samples if self.temperature else 0
        return range(first, first + self.samples)

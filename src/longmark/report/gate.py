"""A gate: an assertion about the scores of a run, as it is tested."""

from __future__ import annotations

import math
from dataclasses import dataclass

from longmark.assertions.grammar import (
    AT_LEAST,
    AT_MOST,
    EVERY,
    MEAN,
    OPPOSITE,
    ScoreAssertion,
)
from longmark.records.metric_name import in_slice, without_slice
from longmark.report.tables import one_line
from longmark.scores.observations import Limit
from longmark.stats.gate import TAIL, BoundedScores
from longmark.stats.means import Bounds

MAX_UNSCORED = 0.05
"""The share of unscored rows up to which a gate on a mean can be met."""
OPTION = "--fail-under"
"""Where gates are named, for errors."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate. kind: what is tested, a figure of the grammar (AT_LEAST is AT_MOST of the opposite); metric: a score or a
    family with its slice, "" for every score (of `part`); limit: the number; most: of `at most`, in percent; scores:
    what it selects (`gates_of`); system: None: each; least: of `at least`, as it was written, in percent; confidence:
    of a bound on the mean, in percent, None: 97.5."""

    kind: str
    metric: str
    part: str
    system: str | None
    sign: str
    limit: float
    most: float = 0.0
    scores: tuple[str, ...] = ()
    least: float = 0.0
    confidence: float | None = None

    def __str__(self) -> str:
        return self.rule(self.metric or in_slice("", self.part), self.system)

    def rule(self, metric: str, system: str | None = None) -> str:
        """The gate in the grammar, for one metric and system."""
        whole, part = without_slice(metric)
        selectors = tuple(filter(None, (part, None if system is None else one_line(system))))
        return str(
            ScoreAssertion(
                AT_LEAST if self.least else self.kind,
                whole,
                OPPOSITE[self.sign] if self.least else self.sign,
                self.limit,
                self.least or self.most,
                selectors,
                self.confidence,
            )
        )

    @property
    def above(self) -> bool:
        """High scores are good."""
        return (self.sign[0] == ">") is not (self.kind == AT_MOST)

    @property
    def tail(self) -> float:
        """The probability, at most, that the bound lies on the wrong side of the mean."""
        return TAIL if self.confidence is None else 1 - self.confidence / 100

    @property
    def bad(self) -> Limit | None:
        """The scores that a gate on single answers counts, None of one on the mean."""
        if self.kind == AT_MOST:
            return self.sign, self.limit
        return (OPPOSITE[self.sign], self.limit) if self.kind == EVERY else None

    def selects(self, metric: str) -> bool:
        return metric in self.scores

    def needed(self, bounds: Bounds) -> int | None:
        """The answers (or clusters) from which on it can pass, if all are perfect; None where no number is enough."""
        if self.kind != MEAN:
            return 1
        lo, hi = bounds
        if lo is None or hi is None or not lo < hi:
            return 2  # an interval of equal scores needs bounds
        if not lo <= self.limit <= hi:
            return 1 if (self.limit < lo) is self.above else None
        count = BoundedScores(lo, hi).needed(self.limit, above=self.above, tail=self.tail)
        return None if count is None else max(1, count)

    def allowed(self, answers: int) -> int:
        """How many of so many answers may be bad, of a gate on single ones."""
        return math.floor(self.most * answers / 100 + 1e-9)

    def remark(self, needed: int | None, what: str = "answers") -> str:
        """`needed` in words."""
        if needed is None:
            return "no number of answers can show it"
        allowed = math.ceil(100 / self.most - 1e-9) if self.most else 0
        if self.kind == AT_MOST:
            return f"{allowed:,} answers allow one" if allowed else "none is allowed"
        count = what.removesuffix("s") if needed == 1 else what
        return f"needs at least {needed:,} {count}"

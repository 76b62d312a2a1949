"""Whether an assertion about scores is met: one type for gates, comparisons, canaries and `longmark check`."""

from __future__ import annotations

from dataclasses import dataclass

from longmark.stats.results import Estimate

MET, NOT_MET, UNDECIDED = "met", "not met", "undecided"
UNSCORED, NOT_TESTED, WORSE, OK = "unscored", "not tested", "worse", "ok"
_OUTCOMES = {
    MET: MET,
    OK: MET,
    NOT_MET: NOT_MET,
    WORSE: NOT_MET,
    UNDECIDED: UNDECIDED,
    UNSCORED: UNDECIDED,
    NOT_TESTED: UNDECIDED,
}
"""What each result says of the assertion."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether an assertion holds for a metric and system (`""`: all or none).

    rule       the assertion as it was tested
    result     `met`, `not met`, `undecided` or `unscored` (too many rows are); of a comparison as in
               `analysis.compare.gate`
    line       for people
    needed     the answers (or clusters) from which on it can pass, None: no number, or not known
    short      there are fewer, so that it could not pass whatever their scores
    outcome    `met`, `not met` or `undecided`: not met is shown to be false, which a gate that is `not met` is not always
    estimate   what was held against the limit, with its interval; None if there is none
    scored, rows   how many of the answers have a score
    reason     why the outcome is what it is, "" where the figures say it
    more       about how many more questions (or clusters) would decide it, if the estimate is the truth; None: no such
               number
    decides    what would decide it, in words, "" where it is decided
    """

    metric: str
    system: str
    rule: str
    result: str
    line: str
    needed: int | None = None
    short: bool = False
    outcome: str = ""
    estimate: Estimate | None = None
    scored: int | None = None
    rows: int | None = None
    reason: str = ""
    more: int | None = None
    decides: str = ""

    def __post_init__(self) -> None:
        if not self.outcome:
            object.__setattr__(self, "outcome", _OUTCOMES[self.result])

    @property
    def met(self) -> bool:
        return self.result in (MET, OK)

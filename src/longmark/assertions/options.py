"""How assertions are checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from longmark.errors import UserError
from longmark.report.gates import MAX_UNSCORED
from longmark.scores.clusters import QUESTION

_BY = re.compile(r"^--by (\S+):")
WHERE = "assertion"
"""Where a text stands, for errors."""


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """How assertions are checked.

    by             what A and B of a comparison are: `run` or `system`; None: whichever has both names
    cluster        the field of the examples that the answers of a cluster share
    bounds         least and greatest score of metrics whose runs declare none
    higher, lower  metrics of which higher, or lower, scores are better, if no run declares it
    max_unscored   the largest share of unscored answers with which a mean can be met
    allow_different_judges   compare scores that were made in different ways
    seed           of the tests of comparisons
    canonical      the name of a score as rows have it (`metrics.canonical`)
    """

    by: str | None = None
    cluster: str = QUESTION
    bounds: Mapping[str, tuple[float, float]] | None = None
    higher: Sequence[str] = ()
    lower: Sequence[str] = ()
    max_unscored: float = MAX_UNSCORED
    allow_different_judges: bool = False
    seed: int = 0
    canonical: Callable[[str], str] = str

    def __post_init__(self) -> None:
        if self.by not in (None, "run", "system"):
            raise UserError(f"by: expected run or system, found {self.by}")
        if not 0 <= self.max_unscored <= 1:
            raise UserError(
                f"max_unscored: expected a share from 0 to 1, found {self.max_unscored}"
            )


@contextmanager
def slices_named() -> Iterator[None]:
    """Errors about the field of a slice name the assertion, where readers of scores name the option --by."""
    try:
        yield
    except UserError as error:
        if not _BY.match(str(error)):
            raise
        raise UserError(_BY.sub(r"assertion `… for \1=VALUE`:", str(error))) from None

"""How assertions are checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from longmark.errors import UserError
from longmark.options import described, named
from longmark.options.analyses import CheckGroups, QuestionCluster

_SLICES = re.compile(r"^(?:--by |slices=)'?([^\s']+)'?:")
WHERE = "assertion"
"""Where a text stands, for errors."""


@described
@dataclass(frozen=True, kw_only=True)
class CheckOptions(QuestionCluster, CheckGroups):
    """How assertions are checked. canonical: the name of a score as rows have it (`metrics.canonical`). UserError for a
    value out of range."""

    canonical: Callable[[str], str] = str

    def __post_init__(self) -> None:
        if self.by not in (None, "run", "system"):
            raise UserError(f"{named('by', self.by)}: expected run or system")
        if not 0 <= self.max_unscored <= 1:
            raise UserError(
                f"{named('max_unscored', self.max_unscored)}: expected a share from 0 to 1"
            )


@contextmanager
def slices_named() -> Iterator[None]:
    """Errors about the field of a slice name the assertion, where readers of scores name the option --by."""
    try:
        yield
    except UserError as error:
        if not _SLICES.match(str(error)):
            raise
        raise UserError(_SLICES.sub(r"assertion `… for \1=VALUE`:", str(error))) from None

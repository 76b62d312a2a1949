"""The parameters of the citation scores; `longmark.metrics.citations` says what they do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from longmark.metric import paper
from longmark.text.entailment import BATCH

_LARGEST_BATCH = 200  # a greater number is a typing error


@dataclass(frozen=True)
class CitationsParams:
    batch: int = BATCH
    plan: Literal["joint", "each"] = paper("joint", "each")
    missing: Literal["unscored", "left_out"] = "unscored"
    parentheses: bool = False
    limit: int | None = paper(None, 3)
    reading: Literal["all", "alce"] = paper("all", "alce")
    empty: Literal["undefined", "zero"] = paper("undefined", "zero")
    support: Literal["whole", "graded"] = "whole"
    elsewhere: bool = False
    unit: Literal["sentences", "claims"] = paper("sentences", "sentences")

    def __post_init__(self) -> None:
        if self.elsewhere and self.support == "graded":
            raise ValueError(
                "elsewhere=true asks whether another source supports a whole sentence; leave out support=graded"
            )
        if self.unit == "claims" and self.reading == "alce":
            raise ValueError(
                "reading=alce reads sentences as ALCE's code does; leave out unit=claims"
            )
        if not 1 <= self.batch <= _LARGEST_BATCH:
            raise ValueError(
                f"batch must be a number of sentences from 1 to {_LARGEST_BATCH}, not {self.batch}"
            )
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"limit must be a number of citations from 1 on, not {self.limit}")

    @property
    def asks_jointly(self) -> bool:
        """Whether a judge is asked about several sets of sources in a call."""
        return self.plan == "joint" and self.batch > 1

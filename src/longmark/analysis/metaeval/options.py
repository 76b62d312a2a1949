"""How scores are compared with labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from longmark.errors import UserError
from longmark.scores.files import names_given


@dataclass(frozen=True, slots=True, kw_only=True)
class MetaevalOptions:
    """How scores are compared with labels. UserError for a number out of range.

    metrics   only these, or families of them; labels: only these
    mapping   our field -> column of the human file; by: columns to break results down by
    raters    columns of the human file with the labels of one rater each
    order     label -> its categories from lowest to highest
    lower     metrics of which lower is better, if no run declares it
    round     decimals of a metric's scores when two answers are compared
    development   of choices: the share of questions on which tie bands are chosen, to be tested on the others
    alpha     of tests; intervals are at 1 - alpha
    seed      of all resampling
    """

    metrics: Sequence[str] = ()
    labels: Sequence[str] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)
    by: Sequence[str] = ()
    raters: Sequence[str] = ()
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lower: Sequence[str] = ()
    round: int = 2
    development: float = 0.0
    alpha: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("metrics", "labels", "by", "raters", "lower"):  # one text stands for a list
            object.__setattr__(self, name, names_given(getattr(self, name)))
        if not 0 < self.alpha < 1:
            raise UserError(
                f"alpha: expected a number between 0 and 1, such as 0.05; found {self.alpha}"
            )
        if not 0 <= self.development < 1:
            raise UserError(
                f"development: expected a share of the questions, 0 or below 1, found {self.development:g}"
            )
        if not 0 <= self.round <= 12:
            raise UserError(f"round: expected 0 to 12 decimals, found {self.round}")

    @property
    def level(self) -> float:
        return 1 - self.alpha

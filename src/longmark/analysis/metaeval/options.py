"""How scores are compared with labels."""

from __future__ import annotations

from dataclasses import dataclass

from longmark.errors import UnknownName, UserError
from longmark.options import described, named
from longmark.options.analyses import BASELINES, MetaevalGroups
from longmark.scores.files import names_given


@described
@dataclass(frozen=True, kw_only=True)
class MetaevalOptions(MetaevalGroups):
    """How scores are compared with labels. alpha is of tests; intervals are at 1 - alpha. UserError for a number out of
    range."""

    def __post_init__(self) -> None:
        # one text stands for a list
        for name in (
            "metrics",
            "labels",
            "by",
            "raters",
            "label_columns",
            "scores",
            "lower",
            "baselines",
        ):
            object.__setattr__(self, name, names_given(getattr(self, name)))
        for name in self.baselines:
            if name not in BASELINES:
                hint = f"The baselines are {', '.join(BASELINES)}."
                option = named("baselines", group=MetaevalGroups)
                raise UnknownName(f"baseline in {option}", name, BASELINES, hint)
        if not 0 < self.alpha < 1:
            raise UserError(
                f"{named('alpha', self.alpha)}: expected a number between 0 and 1, such as 0.05"
            )
        if not 0 <= self.development < 1:
            raise UserError(
                f"{named('development', self.development)}: expected a share of the questions, 0 or more and below 1"
            )
        if not 0 <= self.round <= 12:
            raise UserError(f"{named('round', self.round)}: expected 0 to 12 decimals")

    @property
    def level(self) -> float:
        return 1 - self.alpha

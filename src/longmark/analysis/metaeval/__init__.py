"""Validates metrics: compares their scores with what people said of the same answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.errors import UnknownName, UserError

if TYPE_CHECKING:
    from longmark.analysis.metaeval.evaluate import Metaeval
    from longmark.scores.answers import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How scores are compared with labels. UserError for a number out of range.

    metrics   only these, or families of them; labels: only these
    mapping   our field -> column of the human file; by: columns to break results down by
    order     label -> its categories from lowest to highest
    lower     metrics of which lower is better, if no run declares it
    round     decimals of a metric's scores when two answers are compared
    alpha     of tests; intervals are at 1 - alpha
    seed      of all resampling
    """

    metrics: Sequence[str] = ()
    labels: Sequence[str] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)
    by: Sequence[str] = ()
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lower: Sequence[str] = ()
    round: int = 2
    alpha: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UserError(f"alpha: expected a number between 0 and 1, such as 0.05; found {self.alpha}")
        if not 0 <= self.round <= 12:
            raise UserError(f"round: expected 0 to 12 decimals, found {self.round}")

    @property
    def level(self) -> float:
        """Of intervals."""
        return 1 - self.alpha


def metaeval(
    rows: Source | Sequence[Source], human: str | Path | Iterable[Mapping[str, Any]], **options: Any
) -> Metaeval:
    """Compares metrics with human ratings or choices. Needs the extra `stats`.

    rows      a run's folder, a file of rows, Rows, or several of these
    human     a file of ratings (`example_id, label, value, rater`) or of choices (`question_id, a, b, choice, rater`),
              or such records
    options   see `Options`: metrics, labels, mapping, by, order, lower, round, alpha, seed

    UserError and its subclasses if a side cannot be read, or nothing can be joined; UnknownName for an unknown option.
    """
    from longmark.analysis.metaeval.evaluate import evaluate

    known = [one.name for one in fields(Options)]
    for name in options:
        if name not in known:
            raise UnknownName("option of metaeval", name, known, f"The options are {', '.join(known)}.")
    return evaluate(rows, human, Options(**options))

"""Marks the markers: rows of metrics held against what people said of the same answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longmark.analysis.metaeval.result import Metaeval
    from longmark.scores.answers import Source


def metaeval(
    rows: Source | Sequence[Source],
    human: str | Path | Iterable[Mapping[str, Any]],
    *,
    metrics: Sequence[str] = (),
    labels: Sequence[str] = (),
    mapping: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    order: Mapping[str, Sequence[str]] | None = None,
    lower: Sequence[str] = (),
    round: int = 2,
    alpha: float = 0.05,
    seed: int = 0,
) -> Metaeval:
    """Holds metrics against people. Needs the extra `stats`.

    rows      a run's folder, a file of rows, Rows, or several of these
    human     a file of ratings (`example_id, label, value, rater`) or of choices (`question_id, a, b, choice, rater`),
              or such records
    metrics   only these, or families of them; labels: only these
    mapping   our column -> the file's; by: columns to break the figures down by
    order     label -> its categories from lowest to highest
    lower     metrics of which less is better, where their run does not say so
    round     decimals of a metric's values when two answers are compared
    alpha     of tests; intervals are at 1 - alpha

    Raises UserError and its kin where a side cannot be read or nothing can be joined.
    """
    from longmark.analysis.metaeval.whole import whole

    return whole(
        rows,
        human,
        metrics=metrics,
        labels=labels,
        mapping=mapping or {},
        by=by,
        order=order or {},
        lower=lower,
        round_to=round,
        alpha=alpha,
        seed=seed,
    )

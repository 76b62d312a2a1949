"""Scores of all answers and human labels of some, in one table of questions by systems.

Corrected means and differences (`stats.corrected`), calibration (`stats.calibration`) and draws (`stats.drawing`) read
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from longmark.errors import UserError
from longmark.stats.samples import Floats, Ints

Mask = NDArray[np.bool_]

ROUNDING = 1e-12
"""Below it a figure is 0 but for the rounding of floating-point numbers."""


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """Scores of all answers and labels of some, all of shape (questions, systems).

    scores, labels   NaN for none
    weights          1 / probability of having been chosen, above 0; None: all equal within a stratum
    strata           of each question a number from 0; None: one
    clusters         of each question a number from 0; None: each question is one
    rater_labels     for each rater their labels, NaN for none; empty: nobody knows who labelled
    unscored         of each cell the share of its answers without a score: 1 if it has none, NaN if nothing was asked;
                     None: a cell without a score has no answer
    lost             of each system how many answers are missing besides; None: none
    bounds           least and greatest label of the scale; None: not known, and those seen are taken
    raw              the scores before calibration; None: these
    these_raters     the estimate is of the mean of these raters; False: they stand for people like them
    """

    scores: Floats
    labels: Floats
    weights: Floats | None = None
    strata: Ints | None = None
    clusters: Ints | None = None
    rater_labels: Sequence[Floats] = ()
    unscored: Floats | None = None
    lost: Sequence[float] | None = None
    bounds: tuple[float, float] | None = None
    raw: Floats | None = None
    these_raters: bool = False

    @property
    def both(self) -> Mask:
        """The cells with a score and a label."""
        scored = ~np.isnan(self.scores)
        labelled = ~np.isnan(self.labels)
        cells: Mask = scored & labelled
        return cells

    @property
    def numbers(self) -> Ints:
        return np.arange(len(self.scores)) if self.clusters is None else self.clusters

    def weight(self) -> Floats:
        return np.ones_like(self.scores) if self.weights is None else self.weights

    @property
    def known_ends(self) -> tuple[float, float] | None:
        """The ends of the scale: those given, or 0 and 1 if every label is one of these."""
        if self.bounds is not None:
            return self.bounds
        return (0.0, 1.0) if np.isin(self.labels[~np.isnan(self.labels)], (0, 1)).all() else None

    def ends(self) -> tuple[float, float]:
        """The ends of the scale, or the least and the greatest label seen."""
        return self.known_ends or (float(np.nanmin(self.labels)), float(np.nanmax(self.labels)))


def check_shapes(table: LabelledScores, weight: float | None) -> None:
    """UserError for tables of another shape than the scores', for weights of labelled answers that are not above 0, and
    for a weight of the judge (λ) out of range."""
    shape = table.scores.shape
    tables = [
        ("labels", table.labels),
        ("weights", table.weights),
        ("unscored", table.unscored),
    ]
    tables += [("rater_labels", labels) for labels in table.rater_labels]
    for name, values in tables:
        if values is not None and values.shape != shape:
            raise UserError(
                f"{name}: expected the shape {shape} of the scores, found {values.shape}"
            )
    if table.weights is not None and not (table.weights[~np.isnan(table.labels)] > 0).all():
        raise UserError("weights: expected numbers above 0 for labelled answers")
    if weight is not None and not 0 <= weight <= 1:
        raise UserError(f"the judge's weight is between 0 and 1; found {weight}")

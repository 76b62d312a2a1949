"""How far the labels of two systems differ because other raters gave them.

A strict rater cancels in a difference of systems if the rater gave the same share of the labels of both. Where experts
labelled one system and a crowd the other, their strictness is in the difference, and the raters' variance about each
other (`stats.raters`) counts it only as far as who labelled which system was chance. So it is estimated:

    label of rater r for answer a = quality of a + s_r + noise          least squares over answers with several labels
    shift = sum over raters of c_r s_r      c_r: the rater's share of the first system's labels less that of the second's

Raters are compared through answers that both labelled, or through others in between. What lies between groups without
such answers cannot be known: `apart` is the share of the labels by which such groups labelled the systems unequally.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from longmark.stats.samples import Floats


@dataclass(frozen=True, slots=True)
class SeverityShift:
    """square: of the shift, with the variance of its estimate; apart: see above, 0 to 1; group_squares: the sum of
    squares of what c_r are in sum over the raters of each group."""

    square: float
    apart: float
    group_squares: float


def severity_shift(labels: Floats, contrast: Floats) -> SeverityShift:
    """labels: of shape (raters, answers), NaN for none; contrast: c_r of each rater, 0 in sum."""
    if not contrast.any():
        return SeverityShift(0.0, 0.0, 0.0)
    present = ~np.isnan(labels)
    several = present.sum(axis=0) > 1
    values = labels[:, several]
    rated = present[:, several]
    shares = rated / np.maximum(rated.sum(axis=0), 1)
    links = rated.astype(np.float64) @ rated.T
    groups, group_of_rater = connected_components(links > 0, directed=False)
    unknown_in_all = int(rated.sum()) - values.shape[1] - (len(labels) - groups)
    if unknown_in_all <= 0:
        # as many unknowns as labels: nothing shows how far they can be trusted
        groups = len(labels)
        group_of_rater = np.arange(groups)
    sums = np.bincount(group_of_rater, contrast, groups)
    apart = float(np.abs(sums).sum() / 2)
    group_squares = float(sums @ sums)
    if unknown_in_all <= 0:
        return SeverityShift(0.0, apart, group_squares)

    deviations = _centred(np.where(rated, values, 0.0), rated)
    laplacian = np.diag(rated.sum(axis=1).astype(np.float64)) - shares @ rated.T
    inverse = np.linalg.pinv(laplacian, hermitian=True)
    severity = inverse @ deviations.sum(axis=1)
    residuals = deviations - _centred(np.where(rated, severity[:, None], 0.0), rated)
    noise = float((residuals**2).sum()) / unknown_in_all
    shift = float(contrast @ severity)
    return SeverityShift(
        shift**2 + noise * float(contrast @ inverse @ contrast), apart, group_squares
    )


def _centred(values: Floats, rated: NDArray[np.bool_]) -> Floats:
    """Each answer's values less their mean, 0 where a rater has none."""
    means = values.sum(axis=0) / rated.sum(axis=0)
    return np.where(rated, values - means, 0.0)

"""Whether a system could do without labels of its own: would those of the other systems correct it as well?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from longmark.errors import UserError
from longmark.stats.calibration import calibrated, isotonic
from longmark.stats.clusters import FEWEST_EFFECTIVE, degrees_of_freedom
from longmark.stats.labelled_sample import FEWEST_LABELS
from longmark.stats.labelled_scores import LabelledScores
from longmark.stats.means import few_clusters
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Ints, Seed
from longmark.stats.student import STUDENT, t_quantile

PASS = "pass"
FAIL = "fail"
INCONCLUSIVE = "inconclusive"
NOT_CHECKED = "not checked"
_LEVEL = 0.9
"""Two one-sided tests of 5 % each, as for an equivalence (Schuirmann 1987)."""


@dataclass(frozen=True, slots=True)
class Transport:
    """Whether the labels of the other systems would correct this one.

    residual: mean of label - score, calibrated on the others' labels, less that of the others, with a 90 % interval;
    margin: in the labels' units; verdict: `pass`, the interval is inside the margin; `fail`, it is outside;
    `inconclusive`, it holds an end; `not checked`: too few labels of the system or of the others.
    """

    residual: Estimate
    margin: float
    verdict: str


def transport(table: LabelledScores, place: int, margin: float, seed: Seed = 0) -> Transport:
    """For a system with labels of its own, whether it could do without. UserError for a margin not above 0."""
    if not margin > 0:
        raise UserError(f"a margin is above 0; found {margin}")
    labelled = table.both
    other_places = np.array(
        [system for system in range(table.scores.shape[1]) if system != place],
        dtype=np.int64,
    )
    labelled_others = labelled[:, other_places]
    unknown = Estimate(None, None, None, int(labelled[:, place].sum()), _LEVEL)
    if unknown.n < FEWEST_LABELS or labelled_others.sum() < FEWEST_LABELS:
        whose = "the system" if unknown.n < FEWEST_LABELS else "the others"
        reason = f"fewer than {FEWEST_LABELS} labels of {whose}"
        return Transport(replace(unknown, reason=reason), margin, NOT_CHECKED)

    residuals = _residuals(table, place, other_places, seed)
    weights = np.where(
        np.hstack([labelled[:, [place]], labelled_others]),
        table.weight()[:, [place, *other_places]],
        0.0,
    )
    own_mean, own_influences = _mean(residuals[:, [0]], weights[:, [0]])
    other_mean, other_influences = _mean(residuals[:, 1:], weights[:, 1:])
    value = own_mean - other_mean
    sums = np.bincount(table.numbers, own_influences - other_influences)
    sizes = np.bincount(table.numbers, weights[:, 0])
    df = degrees_of_freedom(sizes[sizes > 0].tolist())
    if df + 1 < FEWEST_EFFECTIVE:
        few = replace(unknown, value=value, reason=few_clusters(df + 1))
        return Transport(few, margin, NOT_CHECKED)

    half = t_quantile(_LEVEL, df) * math.sqrt((df + 1) / df * float(sums @ sums))
    residual = Estimate(value, value - half, value + half, unknown.n, _LEVEL, STUDENT)
    return Transport(residual, margin, _verdict(value - half, value + half, margin))


def _residuals(table: LabelledScores, place: int, other_places: Ints, seed: Seed) -> Floats:
    """Label less calibrated score, of shape (questions, systems), this system first. It is calibrated by all labels of
    the others, these by each other's."""
    labelled = table.both[:, other_places]
    others = replace(
        table,
        scores=table.scores[:, other_places],
        labels=table.labels[:, other_places],
        weights=None if table.weights is None else table.weights[:, other_places],
    )
    regression = isotonic(
        others.scores[labelled],
        others.labels[labelled],
        others.weight()[labelled],
    )
    residuals = table.labels[:, [place]] - regression(table.scores[:, [place]])
    return np.hstack([residuals, others.labels - calibrated(others, seed).scores])


def _mean(residuals: Floats, weights: Floats) -> tuple[float, Floats]:
    """The weighted mean of residuals, and what each question adds to it."""
    shares = weights / weights.sum()
    mean = float((shares * np.nan_to_num(residuals)).sum())
    return mean, (shares * np.nan_to_num(residuals - mean)).sum(axis=1)


def _verdict(low: float, high: float, margin: float) -> str:
    if -margin < low and high < margin:
        return PASS
    if high < -margin or low > margin:
        return FAIL
    return INCONCLUSIVE

"""Whether a system could do without labels of its own: would those of the other systems correct it as well?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from longmark.errors import UserError
from longmark.stats.calibration import calibrated, isotonic
from longmark.stats.clusters import FEWEST_EFFECTIVE, degrees_of_freedom
from longmark.stats.labelled_sample import FEWEST
from longmark.stats.labelled_scores import LabelledScores
from longmark.stats.means import few_clusters
from longmark.stats.results import Estimate
from longmark.stats.samples import Seed
from longmark.stats.student import STUDENT, t_quantile

PASS, FAIL, INCONCLUSIVE, NOT_CHECKED = "pass", "fail", "inconclusive", "not checked"


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
    both, level = table.both, 0.9
    others = np.array([one for one in range(table.scores.shape[1]) if one != place], dtype=np.int64)
    theirs = both[:, others]
    none = Estimate(None, None, None, int(both[:, place].sum()), level)
    if none.n < FEWEST or theirs.sum() < FEWEST:
        few = "the system" if none.n < FEWEST else "the others"
        return Transport(
            replace(none, reason=f"fewer than {FEWEST} labels of {few}"), margin, NOT_CHECKED
        )
    weights = table.weight()
    fit = isotonic(
        table.scores[:, others][theirs], table.labels[:, others][theirs], weights[:, others][theirs]
    )
    own = table.labels[:, [place]] - fit(table.scores[:, [place]])
    rest = replace(
        table,
        scores=table.scores[:, others],
        labels=table.labels[:, others],
        weights=None if table.weights is None else table.weights[:, others],
    )
    residuals = np.hstack([own, rest.labels - calibrated(rest, seed).scores])
    weighted = np.where(np.hstack([both[:, [place]], theirs]), weights[:, [place, *others]], 0.0)
    adds, value = np.zeros(len(own)), 0.0
    for columns, sign in (([0], 1.0), (list(range(1, residuals.shape[1])), -1.0)):
        share = weighted[:, columns] / weighted[:, columns].sum()
        mean = float((share * np.nan_to_num(residuals[:, columns])).sum())
        value += sign * mean
        adds += sign * (share * np.nan_to_num(residuals[:, columns] - mean)).sum(axis=1)
    sums = np.bincount(table.numbers, adds)
    sizes = np.bincount(table.numbers, weighted[:, 0])
    df = degrees_of_freedom(sizes[sizes > 0].tolist())
    if df + 1 < FEWEST_EFFECTIVE:
        return Transport(
            replace(none, value=value, reason=few_clusters(df + 1)), margin, NOT_CHECKED
        )
    half = t_quantile(level, df) * math.sqrt((df + 1) / df * float(sums @ sums))
    low, high = value - half, value + half
    inside, outside = -margin < low and high < margin, high < -margin or low > margin
    verdict = PASS if inside else FAIL if outside else INCONCLUSIVE
    return Transport(Estimate(value, low, high, none.n, level, STUDENT), margin, verdict)

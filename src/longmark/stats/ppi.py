"""A mean from a few human labels and many judge marks: prediction-powered inference.

    mean = λ mean(judge on the unlabelled) + mean(human - λ judge on the labelled)

The second term takes out the judge's bias, whatever it is, so the mean estimates that of the human labels had all items
been labelled, *provided the labelled items are a random sample of all*. The better the judge follows the people, the
narrower the interval. λ (Angelopoulos, Duchi & Zrnic 2023, PPI++) weighs the judge by how well it does, from 0 (human
labels alone) to 1 (Angelopoulos et al. 2023). For a difference between two systems give the differences. Units: the
labels'.

Deviation: the interval takes Student's t with (labelled - 1) degrees of freedom and variances with divisor n - 1, since
labels are few; `method="normal"` gives the published one (normal quantile, divisor n).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from longmark.errors import UnknownName, UserError
from longmark.stats.proportion import check_level
from longmark.stats.samples import Values, as_floats
from longmark.stats.student import MeanInterval, t_quantile

Method = Literal["t", "normal"]
METHODS = ("t", "normal")

_FEWEST = 3


@dataclass(frozen=True, slots=True)
class PpiMean:
    """The prediction-powered mean and its interval, beside what people and judge say alone.

    weight: λ, and whether it was tuned. human: the mean of the labels alone with its interval, by the same method;
    judge: the mean of all the judge's marks, without an interval since its bias is not known. worth: how many labels
    alone would give as narrow an interval. missing: items that the judge did not mark, and items with no value at all.
    """

    value: float | None
    low: float | None
    high: float | None
    error: float | None
    weight: float | None
    tuned: bool
    human: MeanInterval | None
    judge: float | None
    labelled: int
    unlabelled: int
    worth: float | None
    missing: int
    level: float
    method: str
    reason: str | None = None


def ppi_mean(
    human: Values,
    judge: Values,
    *,
    weight: float | None = None,
    level: float = 0.95,
    method: Method = "t",
) -> PpiMean:
    """human: a label for each item, None where nobody labelled it; judge: a mark for each item.

    weight: λ; without one it is tuned to the narrowest interval. No value with fewer than 3 labelled items. Raises
    UserError for columns of unequal length and for a level, method or weight out of range.
    """
    check_level(level)
    if method not in METHODS:
        raise UnknownName("interval", method, METHODS, f"There are {' and '.join(METHODS)}.")
    if weight is not None and not 0 <= weight <= 1:
        raise UserError(f"the judge's weight lies between 0 and 1; found {weight}")
    labels, marks = as_floats(human, "human"), as_floats(judge, "judge")
    if len(labels) != len(marks):
        raise UserError(f"human and judge are matched by position: {len(labels)} labels and {len(marks)} marks")
    marked = ~np.isnan(marks)
    missing = int((~marked).sum())
    both = marked & ~np.isnan(labels)
    y, f, others = labels[both], marks[both], marks[marked & ~both]
    n, rest = len(y), len(others)
    average = float(marks[marked].mean()) if marked.any() else None

    def result(
        value: float | None,
        error: float | None,
        used: float | None,
        alone: MeanInterval | None,
        worth: float | None,
        reason: str | None = None,
    ) -> PpiMean:
        half = None if error is None else _quantile(level, n, method) * error
        return PpiMean(
            value=value,
            low=None if value is None or half is None else value - half,
            high=None if value is None or half is None else value + half,
            error=error,
            weight=used,
            tuned=weight is None,
            human=alone,
            judge=average,
            labelled=n,
            unlabelled=rest,
            worth=worth,
            missing=missing,
            level=level,
            method=method,
            reason=reason,
        )

    if n < _FEWEST:
        return result(None, None, None, None, None, f"at least {_FEWEST} items with a label and a mark; there are {n}")
    ddof = 1 if method == "t" else 0
    own = float(y.var(ddof=ddof)) / n
    half = _quantile(level, n, method) * math.sqrt(own)
    mean = float(y.mean())
    alone = MeanInterval(mean, mean - half, mean + half, n, level, "Student's t" if method == "t" else "normal")
    used = (_tuned(y, f, others) if weight is None else weight) if rest else 0.0
    value = float((y - used * f).mean() + (used * others.mean() if rest else 0.0))
    spread = float((y - used * f).var(ddof=ddof)) / n
    if rest > 1:
        spread += used * used * float(others.var(ddof=ddof)) / rest
    error = math.sqrt(spread)
    if error <= 1e-12 * max(1.0, float(np.abs(y).max())):
        why = "no labels differ from the marks but by a constant, and the marks do not vary: no spread to tell from"
        return result(value, None, used, alone, None, why)
    return result(value, error, used, alone, n * own / spread)


def _tuned(y: np.ndarray, f: np.ndarray, others: np.ndarray) -> float:
    """λ with the least variance, clipped to [0, 1]; 0 where the judge gives all items one mark."""
    variance = float(np.concatenate([f, others]).var(ddof=1))
    if variance <= 1e-24 * max(1.0, float(np.abs(others).max()) ** 2):
        return 0.0
    covariance = float(((y - y.mean()) * (f - f.mean())).mean())
    return min(1.0, max(0.0, covariance / ((1 + len(y) / len(others)) * variance)))


def _quantile(level: float, n: int, method: str) -> float:
    return t_quantile(level, n - 1) if method == "t" else NormalDist().inv_cdf((1 + level) / 2)

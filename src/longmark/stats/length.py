"""A difference of two systems at equal lengths of their answers.

    d_i = a + b tanh((l_i1 - l_i2) / s) + error      i: a question; l: the lengths of both answers; s: the standard
                                                     deviation of l_1 - l_2

a is the difference that is left if both answers to a question are equally long. The regressor is that of
length-controlled AlpacaEval (Dubois, Galambosi, Liang and Hashimoto 2024); the estimate is another one. Theirs is
logistic, has the difficulty of each instruction, and is weighted towards records with gamed lengths; ours is linear,
for scores, by least squares. docs/compare.md says how far the two are apart. Where the first answer is longer on nearly
all questions, or on hardly any, a lies at the edge of the data or outside, and the estimate says so.

The interval is cluster-robust (Liang and Zeger 1986, with G / (G - 1) (n - 1) / (n - 2)), with Student's t of G - 2
degrees of freedom. The model's own error is not in it. a takes away what length does to the judge and what longer
answers are truly better by: only labels tell the two apart.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from longmark.stats.means import few_clusters
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Ints
from longmark.stats.student import STUDENT, t_quantile

FEWEST = 10
"""Questions below which no length is controlled."""
EDGE = 0.1
"""The share of questions on one side of equal lengths below which the difference there is extrapolated."""


def length_controlled(
    differences: Floats, lengths: Floats, clusters: Ints, level: float = 0.95
) -> Estimate:
    """a, with its interval. differences, lengths: of the first system less the second, of shape (questions,), without
    NaN; clusters: of each question a number. No value for fewer than 10 questions or where lengths do not vary."""
    n = len(differences)
    (_, numbers) = np.unique(clusters, return_inverse=True)
    groups = int(numbers.max(initial=-1)) + 1
    empty = Estimate(None, None, None, n, level)
    if n < FEWEST:
        return replace(empty, reason=f"at least {FEWEST} questions; found {n}")
    spread = float(lengths.std(ddof=1))
    if spread <= 1e-12 * max(1.0, float(np.abs(lengths).max())):
        return replace(empty, reason="both answers differ in length by the same on every question")
    design = np.column_stack([np.ones(n), np.tanh(lengths / spread)])
    bread = np.linalg.inv(design.T @ design)
    fitted = bread @ design.T @ differences
    estimate = replace(empty, value=float(fitted[0]), clusters=groups)
    if (few := few_clusters(groups)) is not None:
        return replace(estimate, reason=few)
    adds = design * (differences - design @ fitted)[:, None]
    sums = np.column_stack([np.bincount(numbers, add) for add in adds.T])
    variance = (bread @ (sums.T @ sums) @ bread)[0, 0] * groups / (groups - 1) * (n - 1) / (n - 2)
    if variance <= (1e-12 * float(np.abs(differences).max())) ** 2:
        return replace(
            estimate,
            reason="length accounts for all of the differences, so their variance is unknown",
        )
    half = t_quantile(level, groups - 2) * math.sqrt(variance)
    ends = float(fitted[0]) - half, float(fitted[0]) + half
    return replace(
        estimate, low=ends[0], high=ends[1], method=STUDENT, remark=extrapolated(lengths)
    )


def extrapolated(lengths: Floats) -> str | None:
    """What a reader must know where few answers of the first system are as long, or as short, as the second's."""
    n = len(lengths)
    as_long = int((lengths >= 0).sum())
    as_short = int((lengths <= 0).sum())
    if min(as_long, as_short) >= EDGE * n:
        return None
    few, comparison = min((as_long, "long"), (as_short, "short"))
    return f"extrapolated: the first system's answer is at least as {comparison} on only {few:,} of {n:,} questions"

"""Clusters of unequal size: how much each moves a mean over values, and how many clusters of one size they amount to.

    leverage   (1 - 1/G) / (1 - n_c / n)                 n_c values of n in cluster c, of G clusters
    CR3        se² = G / (G - 1) sum_c (leverage_c u_c)² / n²,  u_c = s_c - n_c mean
    d.f.       (tr Q)² / tr(Q²), Q: se² as a quadratic form of cluster sums with variances n_c²
    effective  d.f. + 1

se² is the delete-one-cluster jackknife's variance, (G - 1) / G sum (mean without c - mean)² (CR3 of Bell and McCaffrey
2002, "Bias reduction in standard errors for linear regression with multi-stage samples", Survey Methodology 28). The
degrees of freedom are theirs, Satterthwaite's, under the working model that the values of a cluster are one value (an
intraclass correlation of 1): of the working models of Imbens and Kolesár (2016, Rev. Econ. Stat. 98) the one with the
fewest. Both need the sizes only. For clusters of one size the leverage is 1, and d.f. = G - 1. Plain Python.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

FEWEST_EFFECTIVE = 5.0
"""Effective clusters below which nothing is decided: intervals are then wide, and tests of skewed scores do not hold
their level (docs/coverage.md has the figures)."""


def leverages(sizes: Sequence[float]) -> list[float]:
    """Of each cluster; 1 for clusters of one size. sizes: of two clusters or more, each above 0."""
    number = len(sizes)
    n = math.fsum(sizes)
    return [n * (number - 1) / (number * (n - size)) for size in sizes]


def degrees_of_freedom(sizes: Sequence[float]) -> float:
    """Of the standard error of a mean over clusters of these sizes: 1 (one cluster outweighs all others) to G - 1."""
    number = len(sizes)
    n = math.fsum(sizes)
    if min(sizes) == max(sizes):
        return number - 1.0
    # Q's matrix is D (I - s 1') S S (I - 1 s') D: s the shares, S and D diagonal, of s and of 1 / (1 - s)
    cells = [(size / n, size / (n - size), count) for size, count in Counter(sizes).items()]
    total = math.fsum(count * s * s for s, _, count in cells)
    pp, pq, qq = (math.fsum(count * p * p * s**k for s, p, count in cells) for k in range(3))
    p4, p4s = (math.fsum(count * p**4 * s**k for s, p, count in cells) for k in range(2))
    trace = pp - 2 * pq + pp * total
    squares = (
        p4
        - 4 * p4s
        + 2 * total * p4
        + 2 * (pp * qq + pq * pq)
        - 4 * total * pq * pp
        + (pp * total) ** 2
    )
    return min(max(trace * trace / squares, 1.0), number - 1.0)


def effective(sizes: Sequence[float]) -> float:
    """How many clusters of one size would know as much of their mean's variance."""
    return degrees_of_freedom(sizes) + 1

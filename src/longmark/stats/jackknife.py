"""The jackknife of a correlation: what each pair, or each cluster of pairs, adds to its standard error.

    error² = (n - 1) / n Σ (mean of r(-i) - r(-i))²          pairs left out one at a time
    error² = (G - 1) / G Σ (mean of r(-g) - r(-g))²          Pearson: G clusters left out one at a time
    error² = G / (G - 1) Σ over clusters (Σ of its pairs)²   ranks: what the pairs of a cluster add, summed

Clusters of one pair each give what the pairs give. The sum over a cluster stands for leaving it out: all leave-one-outs
of ranks take n log n, all leave-cluster-outs G times as long.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from longmark.stats.samples import Floats, Ints

Codes = NDArray[np.intp]

_FEW_LEVELS = 128  # of a column, up to which a step for each is the fastest


def deviations(a: Floats, b: Floats, kind: str, clusters: Ints | None = None) -> Floats:
    """What each pair adds, or each cluster: the norm of the whole is r's standard error. NaN: undefined.

    clusters: for each pair the number of its cluster, from 0 on and none left out; at least two of them.
    """
    n = len(a)
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "pearson":
            left_out = _pearson_without_one(scaled(a), scaled(b), clusters)
            return _leaps(left_out)
        each = _leaps(_ranks_without_one(a, b, kind))
    if clusters is None:
        return each
    sums = np.bincount(clusters, each)
    return np.asarray(math.sqrt((n - 1) / n * len(sums) / (len(sums) - 1)) * sums)


def _leaps(left_out: Floats) -> Floats:
    return np.asarray(math.sqrt((len(left_out) - 1) / len(left_out)) * (left_out.mean() - left_out))


def scaled(a: Floats) -> Floats:
    """Centred, with range 1: squares of very small or large scores neither vanish nor overflow."""
    scaled = a / np.abs(a).max()
    scaled -= scaled.mean()
    return np.asarray(scaled / np.ptp(scaled))


def _pearson_without_one(a: Floats, b: Floats, clusters: Ints | None) -> Floats:
    """From the sums that are left. Columns are centred. NaN: one is left flat."""
    n = len(a)
    parts = [np.ones(n), a, b, a * a, b * b, a * b]
    out = parts if clusters is None else [np.bincount(clusters, part) for part in parts]
    rest, left_a, left_b, aa, bb, ab = (part.sum() - sums for part, sums in zip(parts, out, strict=True))

    def spread(squares: Floats, left: Floats, total: float) -> Floats:
        found = squares - left * left / rest
        return np.where(found > 1e-12 * total, found, np.nan)

    return np.asarray(
        (ab - left_a * left_b / rest) / np.sqrt(spread(aa, left_a, parts[3].sum()) * spread(bb, left_b, parts[4].sum()))
    )


def _ranks_without_one(a: Floats, b: Floats, kind: str) -> Floats:
    """Spearman's rho or Kendall's tau-b without each pair in turn, exact with ties.

    Both follow from the signs s_ij = sign(a_i - a_j) and t_ij = sign(b_i - b_j). tau-b needs their products and how
    many are not 0; rho the products of the row sums u_i, v_i (twice the centred midranks), from which leaving m out
    takes s_im and t_im.
    """
    _, x, x_counts = np.unique(a, return_inverse=True, return_counts=True)
    _, y, y_counts = np.unique(b, return_inverse=True, return_counts=True)
    n = len(a)
    agree = _sign_products(x, y)  # sum over j of s_ij t_ij
    untied_x, untied_y = n - x_counts[x], n - y_counts[y]
    if kind == "kendall":
        pairs_x, pairs_y = untied_x.sum() - 2 * untied_x, untied_y.sum() - 2 * untied_y
        return np.asarray((agree.sum() - 2 * agree) / np.sqrt(pairs_x * pairs_y.astype(float)))
    u, v = _signs(x, np.ones(n)), _signs(y, np.ones(n))
    # The sum over i of u_i t_im is minus that of t_mi u_i, which is what _signs gives.
    products = (u * v).sum() - u * v + _signs(y, u) + _signs(x, v) + agree
    squares_u = (u * u).sum() - u * u + 2 * _signs(x, u) + untied_x
    squares_v = (v * v).sum() - v * v + 2 * _signs(y, v) + untied_y
    return np.asarray(products / np.sqrt(squares_u * squares_v))


def _signs(codes: Codes, weights: Floats) -> Floats:
    """For each i the sum over j of sign(code_i - code_j) weight_j."""
    by_code = np.bincount(codes, weights)
    sums = np.cumsum(by_code)
    return np.asarray((2 * sums - by_code - sums[-1])[codes])


def _sign_products(x: Codes, y: Codes) -> Floats:
    """For each i the sum over j of sign(x_i - x_j) sign(y_i - y_j); the same for y and x."""
    few, many = (x, y) if x.max() <= y.max() else (y, x)
    return _by_level(few, many) if few.max() < _FEW_LEVELS else _by_rank(few, many)


def _by_level(x: Codes, y: Codes) -> Floats:
    """One pass over the levels of x, with a weight for each level of y: + for a pair that lies below in x, - above."""
    order = np.argsort(x, kind="stable")
    levels = int(y.max()) + 1
    weights = -np.bincount(y, minlength=levels)
    out = np.empty(len(x))
    for members in np.split(order, np.flatnonzero(np.diff(x[order])) + 1):
        here = np.bincount(y[members], minlength=levels)
        weights += here
        sums = np.cumsum(weights)
        out[members] = (2 * sums - weights - sums[-1])[y[members]]
        weights += here
    return out


def _by_rank(x: Codes, y: Codes) -> Floats:
    """By counting, for every i, the pairs that lie below it in both: n log n however many levels there are.

    With < and <= for each column there are four such counts; those of pairs that lie above follow from them.
    """
    (below_x, upto_x), (below_y, upto_y) = _ranks(x), _ranks(y)
    in_y = y[np.argsort(x, kind="stable")]
    first = np.concatenate([below_x, below_x, upto_x, upto_x])
    both = _count_below(in_y, first, np.concatenate([y, y + 1, y, y + 1])).reshape(4, -1)
    concordant = both[0] + len(x) - upto_x - upto_y + both[3]
    discordant = below_x - both[1] + below_y - both[2]
    return np.asarray((concordant - discordant).astype(float))


def _ranks(codes: Codes) -> tuple[Codes, Codes]:
    """For each code, how many are below it and how many are at most as high."""
    counts = np.bincount(codes)
    upto = np.cumsum(counts)[codes]
    return upto - counts[codes], upto


def _count_below(values: Codes, first: Codes, limit: Codes) -> Codes:
    """For each query, how many of the `first` so many values are below its limit: bit by bit from the highest, values
    sorted stably by the bits seen, each query following its limit's bits through them."""
    found, start, end = np.zeros_like(first), np.zeros_like(first), first
    for bit in reversed(range(int(limit.max()).bit_length())):
        is_one = (values >> bit) & 1
        zeros = np.concatenate([[0], np.cumsum(1 - is_one)])
        zeros_start, zeros_end = zeros[start], zeros[end]
        goes_right = ((limit >> bit) & 1).astype(bool)
        found += np.where(goes_right, zeros_end - zeros_start, 0)
        start = np.where(goes_right, zeros[-1] + start - zeros_start, zeros_start)
        end = np.where(goes_right, zeros[-1] + end - zeros_end, zeros_end)
        values = np.concatenate([values[is_one == 0], values[is_one == 1]])
    return found

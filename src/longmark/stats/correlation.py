"""Correlation of two columns of scores: Pearson, Spearman, Kendall's tau-b, with intervals; their mean over systems.

Range [-1, 1]. Spearman is Pearson's correlation of midranks; tau-b corrects for ties. Intervals are made on Fisher's
scale, z = atanh(r), and taken back:

    z ± t sqrt(V) / (1 - r²)     V: the delete-one jackknife's variance of r; t: Student's, n - 1 degrees
    p: of Student's t for z (1 - r²) / sqrt(V), so that the interval excludes 0 where p < 1 - level

The textbook formulas for V hold for normal scores without ties. Scores of judges are skewed, heaped at a bound and full
of ties. The jackknife also gives the interval of a mean over systems that answered the same questions, and of the
difference between two metrics on the same ratings, where the parts depend on each other.

Pairs that belong together (answers to one question) have one cluster: clusters are left out, not pairs, and t has the
degrees of freedom of `stats.clusters`. The jackknife's standard error:

    error² = (n - 1) / n Σ (mean of r(-i) - r(-i))²          pairs left out one at a time
    error² = (G - 1) / G Σ (mean of r(-g) - r(-g))²          Pearson: G clusters left out one at a time
    error² = G / (G - 1) Σ over clusters (l Σ of its pairs)² ranks: what a cluster's pairs add, times its leverage l

The sum over a cluster approximates leaving it out: leaving out one pair at a time takes n log n for ranks, leaving out
clusters G times as long. With clusters of one pair each both are equal.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats
from scipy.special import stdtr

from longmark.errors import UnknownName, UserError
from longmark.stats.clusters import degrees_of_freedom, leverages
from longmark.stats.means import few_clusters
from longmark.stats.results import Estimate, check_level
from longmark.stats.samples import Floats, Ints, Values, as_floats, cluster_numbers, complete_rows
from longmark.stats.student import t_quantile

Kind = Literal["pearson", "spearman", "kendall"]
KINDS = ("pearson", "spearman", "kendall")
JACKKNIFE = "jackknife"

Codes = NDArray[np.intp]
E = TypeVar("E", bound=Estimate)

_FEWEST = 3
_PERFECT = 1 - 1e-12
_NO_Z = "a perfect correlation has no finite z, so no interval"
_FEWEST_FOR_INTERVAL = 5
_NO_SPREAD = 1e-12
"""The standard error below which there is nothing but rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation(Estimate):
    """p: two-sided, of no correlation; None where there is no interval."""

    p: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanCorrelation(Estimate):
    """The mean over systems through Fisher's z, and each system's own correlation.

    left_out: systems that have no finite z (no value, or a correlation of exactly 1 or -1 beside others that are not).
    clusters: how many the questions belong to; None: each question counted by itself.
    """

    by_system: Mapping[str, Estimate]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationDifference(Estimate):
    """correlation(first, target) - correlation(second, target) on the n items that have all three values.

    p: two-sided, of no difference, from Student's t of the jackknife.
    """

    kind: str
    first: float | None = None
    second: float | None = None
    p: float | None = None


def correlation(
    x: Values,
    y: Values,
    kind: Kind = "pearson",
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> Correlation:
    """The correlation of the pairs that have both values. clusters: for each pair, what it belongs to.

    No value for fewer than 3 pairs or where a column has one value only; no interval where |r| = 1, for fewer than
    5 pairs or clusters, or where r is the same without any one of them. Raises UserError for columns of unequal length
    and for a kind or level that does not exist.
    """
    _check(kind, level)
    return _with_parts(x, y, kind, level, _numbered(clusters, len(x)))[0]


def coefficient(x: Values, y: Values, kind: Kind = "pearson") -> float | None:
    """The value of `correlation` by itself."""
    (a, b), _ = complete_rows(x, y)
    return None if _no_value(a, b) else _value(a, b, kind)


def _numbered(clusters: Sequence[Hashable] | None, rows: int) -> Ints | None:
    return None if clusters is None else cluster_numbers(clusters, np.ones(rows, dtype=np.bool_))[0]


def _with_parts(
    x: Values, y: Values, kind: str, level: float, clusters: Ints | None
) -> tuple[Correlation, Floats | None]:
    """The correlation, and what each pair or cluster adds to the jackknife (0 where it has no value)."""
    (a, b), keep = complete_rows(x, y)
    units = np.arange(len(keep)) if clusters is None else clusters
    used, cluster_numbers = np.unique(units[keep], return_inverse=True)
    count = None if clusters is None else len(used)
    empty = Correlation(
        None, None, None, len(a), level, JACKKNIFE, _no_value(a, b), len(keep) - len(a), count
    )
    if empty.reason:
        return empty, None
    r = _value(a, b, kind)
    empty = replace(empty, value=r)
    if abs(r) >= _PERFECT:
        return replace(empty, reason=_NO_Z), None
    if why := _too_few(len(a), count, "pairs"):
        return replace(empty, reason=why), None
    parts = np.zeros(int(units.max()) + 1)
    parts[used] = _deviations(a, b, kind, None if count is None else cluster_numbers)
    error = float(np.linalg.norm(parts))
    if not math.isfinite(error):
        return replace(empty, reason=_left_flat(count, "pairs")), None
    if error <= _NO_SPREAD:
        return replace(empty, reason=_same_without(count, "pair")), None
    # few clusters, or unequal ones, know less of the variance than as many pairs would
    df = _df(len(a), None if count is None else cluster_numbers)
    z = math.atanh(r)
    # the error of atanh(r), by its derivative 1 / (1 - r²)
    of_z = error / (1 - r * r)
    half = t_quantile(level, df) * of_z
    p = 2 * float(stdtr(df, -abs(z) / of_z))
    return replace(_sized(empty, df), low=math.tanh(z - half), high=math.tanh(z + half), p=p), parts


def _df(n: int, clusters: Ints | None) -> float:
    """Degrees of freedom. clusters: the number of each pair's, none left out."""
    return n - 1.0 if clusters is None else degrees_of_freedom(np.bincount(clusters).tolist())


def _sized(empty: E, df: float) -> E:
    """With the effective number of clusters, if there are clusters."""
    return (
        empty
        if empty.clusters is None
        else replace(empty, effective=df + 1, remark=few_clusters(df + 1))
    )


def _too_few(rows: int, clusters: int | None, units: str) -> str | None:
    if rows < _FEWEST_FOR_INTERVAL:
        return f"an interval needs at least {_FEWEST_FOR_INTERVAL} {units}"
    if clusters is not None and clusters < _FEWEST_FOR_INTERVAL:
        return f"an interval needs at least {_FEWEST_FOR_INTERVAL} clusters; the {units} belong to {clusters}"
    return None


def _left_flat(clusters: int | None, units: str) -> str:
    return f"without one of its {units if clusters is None else 'clusters'} a column has one value only"


def _same_without(clusters: int | None, units: str) -> str:
    """Why there is no interval where leaving out changes nothing: the variance of the jackknife is 0 there."""
    return f"the value is the same without any one {units if clusters is None else 'cluster'}, so its variance is unknown"


def mean_correlation(
    x: Mapping[str, Values],
    y: Mapping[str, Values],
    kind: Kind = "pearson",
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    through_z: bool = True,
) -> MeanCorrelation:
    """tanh of the mean of atanh(r) over systems, each counting once; the plain mean of r without `through_z`.

    x, y: two metrics' scores by system; position i is question i in every system, None if missing. The interval
    leaves out a question in all systems at once, since systems that answer the same questions vary together; with
    clusters (for each question, what it belongs to) a cluster of questions.
    """
    _check(kind, level)
    if set(x) != set(y):
        raise UserError(f"both metrics need the same systems; found {sorted(x)} and {sorted(y)}")
    columns = {name: (as_floats(x[name]), as_floats(y[name])) for name in x}
    lengths = {len(column) for pair in columns.values() for column in pair}
    if len(lengths) > 1:
        raise UserError(
            f"systems are matched by position of the question; found columns of {sorted(lengths)} rows"
        )
    rows = lengths.pop() if lengths else 0
    numbers = _numbered(clusters, rows)
    correlations = {
        name: _with_parts(a, b, kind, level, numbers) for name, (a, b) in columns.items()
    }
    by_system = {name: r for name, (r, _) in correlations.items()}
    values = {name: r.value for name, r in by_system.items() if r.value is not None}

    used = [name for name, r in values.items() if abs(r) < _PERFECT]
    empty = MeanCorrelation(
        None,
        None,
        None,
        rows,
        level,
        JACKKNIFE,
        clusters=None if numbers is None else len(set(numbers.tolist())),
        by_system=by_system,
        left_out=tuple(name for name in by_system if name not in used),
    )
    if not values:
        return replace(empty, reason="no system has a correlation")
    if not used:
        # every system has r = 1 or -1, whose atanh is infinite: the mean is defined only if all have the same sign
        signs = {math.copysign(1.0, r) for r in values.values()}
        if len(signs) > 1:
            return replace(empty, reason="systems correlate perfectly in opposite directions")
        left_out = tuple(name for name in by_system if name not in values)
        return replace(empty, value=signs.pop(), left_out=left_out, reason=_NO_Z)
    z = math.fsum(math.atanh(values[name]) for name in used) / len(used)
    if not through_z:
        used = list(values)
        empty = replace(empty, left_out=())
        z = math.atanh(math.fsum(values.values()) / len(values))
    if any(by_system[name].low is None for name in used):
        return replace(empty, value=math.tanh(z), reason="a system has no interval of its own")
    parts = np.zeros(rows if numbers is None else int(numbers.max()) + 1)
    for name in used:
        # a question is left out in all systems at once: what it adds to each is summed before it is squared
        own_parts = correlations[name][1]
        assert own_parts is not None  # every estimate with an interval has these
        parts += own_parts / (1 - (values[name] if through_z else math.tanh(z)) ** 2) / len(used)
    error = float(np.linalg.norm(parts))
    if error <= _NO_SPREAD:
        return replace(empty, value=math.tanh(z), reason=_same_without(empty.clusters, "question"))
    # the system with the fewest units knows its variance least, and its share of the mean is that of any other
    units = min(by_system[name].effective or by_system[name].n for name in used)
    half = t_quantile(level, units - 1) * error
    return replace(
        _sized(empty, units - 1),
        value=math.tanh(z),
        low=math.tanh(z - half),
        high=math.tanh(z + half),
    )


def correlation_difference(
    first: Values,
    second: Values,
    target: Values,
    kind: Kind = "pearson",
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> CorrelationDifference:
    """Which of two metrics follows the target more closely: both are taken on the same items, so they are dependent.

    clusters: for each item, what it belongs to.
    """
    _check(kind, level)
    (a, b, t), keep = complete_rows(first, second, target)
    numbers, count = (None, None) if clusters is None else cluster_numbers(clusters, keep)
    n = len(t)
    why = _no_value(a, t) or _no_value(b, t)
    empty = CorrelationDifference(
        None, None, None, n, level, JACKKNIFE, why, len(keep) - n, count, kind=kind
    )
    if why:
        return empty
    r = _value(a, t, kind)
    s = _value(b, t, kind)
    empty = replace(empty, value=r - s, first=r, second=s, reason=_too_few(n, count, "items"))
    if empty.reason:
        return empty
    error = float(
        np.linalg.norm(_deviations(a, t, kind, numbers) - _deviations(b, t, kind, numbers))
    )
    if not math.isfinite(error):
        return replace(empty, reason=_left_flat(count, "items"))
    if error <= _NO_SPREAD:
        return replace(empty, reason="the two metrics follow the target alike in every item")
    df = _df(n, numbers)
    half = t_quantile(level, df) * error
    p = 2 * float(stdtr(df, -abs(r - s) / error))
    return replace(_sized(empty, df), low=r - s - half, high=r - s + half, p=p)


def _check(kind: str, level: float) -> None:
    if kind not in KINDS:
        raise UnknownName("correlation", kind, KINDS, f"There are {', '.join(KINDS)}.")
    check_level(level)


def _no_value(a: Floats, b: Floats) -> str | None:
    if len(a) < _FEWEST:
        return f"a correlation needs at least {_FEWEST} pairs; found {len(a)}"
    if any(np.ptp(column) <= 1e-12 * np.abs(column).max() for column in (a, b)):
        return "all values of a column are equal"
    return None


def _value(a: Floats, b: Floats, kind: str) -> float:
    if kind == "pearson":
        a = _scaled(a)
        b = _scaled(b)
    measure = {
        "pearson": scipy_stats.pearsonr,
        "spearman": scipy_stats.spearmanr,
        "kendall": scipy_stats.kendalltau,
    }
    # rounding can put a perfect correlation above 1, where atanh has no value
    return min(1.0, max(-1.0, float(measure[kind](a, b).statistic)))


# What each pair adds to the standard error --------------------------------------------------------------------------


def _deviations(a: Floats, b: Floats, kind: str, clusters: Ints | None = None) -> Floats:
    """What each pair adds, or each cluster: the norm of the whole is r's standard error. NaN: undefined.

    clusters: for each pair the number of its cluster, from 0 on and none left out; at least two of them.
    """
    n = len(a)
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == "pearson":
            left_out = _pearson_without_one(_scaled(a), _scaled(b), clusters)
            return _leaps(left_out)
        deviations = _leaps(_ranks_without_one(a, b, kind))
    if clusters is None:
        return deviations
    # leaving out a cluster is, to first order, leaving out each of its pairs
    sums = np.bincount(clusters, deviations) * np.array(leverages(np.bincount(clusters).tolist()))
    return np.asarray(math.sqrt((n - 1) / n * len(sums) / (len(sums) - 1)) * sums)


def _leaps(left_out: Floats) -> Floats:
    return np.asarray(math.sqrt((len(left_out) - 1) / len(left_out)) * (left_out.mean() - left_out))


def _scaled(a: Floats) -> Floats:
    """Centred, with range 1: squares of very small or large scores neither vanish nor overflow."""
    centred = a / np.abs(a).max()
    centred -= centred.mean()
    return np.asarray(centred / np.ptp(centred))


def _pearson_without_one(a: Floats, b: Floats, clusters: Ints | None) -> Floats:
    """From the sums that are left. Columns are centred. NaN: one is left flat."""
    n = len(a)
    parts = [np.ones(n), a, b, a * a, b * b, a * b]
    removed = parts if clusters is None else [np.bincount(clusters, part) for part in parts]
    remaining, left_a, left_b, aa, bb, ab = (
        part.sum() - sums for part, sums in zip(parts, removed, strict=True)
    )

    def spread(squares: Floats, left: Floats, total: float) -> Floats:
        # what is left of a constant column is rounding, not spread
        squares_left = squares - left * left / remaining
        return np.where(squares_left > 1e-12 * total, squares_left, np.nan)

    return np.asarray(
        (ab - left_a * left_b / remaining)
        / np.sqrt(spread(aa, left_a, parts[3].sum()) * spread(bb, left_b, parts[4].sum()))
    )


def _ranks_without_one(a: Floats, b: Floats, kind: str) -> Floats:
    """Spearman's rho or Kendall's tau-b without each pair in turn, exact with ties.

    Both follow from the signs s_ij = sign(a_i - a_j) and t_ij = sign(b_i - b_j). tau-b needs their products and how
    many are not 0; rho the products of the row sums u_i, v_i (twice the centred midranks), from which leaving m out
    takes s_im and t_im. Equal pairs have equal results, so each different pair is computed once, with its count.
    """
    _, x, x_counts = np.unique(a, return_inverse=True, return_counts=True)
    _, y, y_counts = np.unique(b, return_inverse=True, return_counts=True)
    n = len(a)
    _, at, equal, count = np.unique(
        x * len(y_counts) + y, return_index=True, return_inverse=True, return_counts=True
    )
    agree = _sign_products(x, y, at)  # sum over j of s_ij t_ij
    x = x[at]
    y = y[at]
    count = count.astype(float)
    untied_x = n - x_counts[x]
    untied_y = n - y_counts[y]
    if kind == "kendall":
        pairs_x, pairs_y = (count @ untied - 2 * untied for untied in (untied_x, untied_y))
        return np.asarray((count @ agree - 2 * agree) / np.sqrt(pairs_x * pairs_y))[equal]
    u = _signs(x, count)
    v = _signs(y, count)
    # The sum over i of u_i t_im is minus that of t_mi u_i, which is what _signs gives.
    products = count @ (u * v) - u * v + _signs(y, count * u) + _signs(x, count * v) + agree
    squares_u = count @ (u * u) - u * u + 2 * _signs(x, count * u) + untied_x
    squares_v = count @ (v * v) - v * v + 2 * _signs(y, count * v) + untied_y
    return np.asarray(products / np.sqrt(squares_u * squares_v))[equal]


def _signs(codes: Codes, weights: Floats) -> Floats:
    """For each i the sum over j of sign(code_i - code_j) weight_j."""
    by_code = np.bincount(codes, weights)
    sums = np.cumsum(by_code)
    return np.asarray((2 * sums - by_code - sums[-1])[codes])


def _sign_products(x: Codes, y: Codes, places: Codes) -> Floats:
    """For each i of `places` the sum over j of sign(x_i - x_j) sign(y_i - y_j), by counting the pairs that lie below it in
    both: n log n however many levels there are.

    With < and <= for each column there are four such counts; those of pairs that lie above follow from them.
    """
    (below_x, upto_x), (below_y, upto_y) = (
        [rank[places] for rank in _ranks(codes)] for codes in (x, y)
    )
    in_y = y[np.argsort(x, kind="stable")]
    n = len(x)
    y = y[places]
    first = np.concatenate([below_x, below_x, upto_x, upto_x])
    counts = _count_below(in_y, first, np.concatenate([y, y + 1, y, y + 1])).reshape(4, -1)
    concordant = counts[0] + n - upto_x - upto_y + counts[3]
    discordant = below_x - counts[1] + below_y - counts[2]
    return np.asarray((concordant - discordant).astype(float))


def _ranks(codes: Codes) -> tuple[Codes, Codes]:
    """For each code, how many are below it and how many are at most as high."""
    counts = np.bincount(codes)
    upto = np.cumsum(counts)[codes]
    return upto - counts[codes], upto


def _count_below(values: Codes, first: Codes, limit: Codes) -> Codes:
    """For each query, how many of the `first` so many values are below its limit: bit by bit from the highest, values
    sorted stably by the bits seen, each query following its limit's bits through them."""
    counts = np.zeros_like(first)
    start = np.zeros_like(first)
    end = first
    for bit in reversed(range(int(limit.max()).bit_length())):
        is_one = (values >> bit) & 1
        zeros = np.concatenate([[0], np.cumsum(1 - is_one)])
        zeros_start = zeros[start]
        zeros_end = zeros[end]
        goes_right = ((limit >> bit) & 1).astype(bool)
        counts += np.where(goes_right, zeros_end - zeros_start, 0)
        start = np.where(goes_right, zeros[-1] + start - zeros_start, zeros_start)
        end = np.where(goes_right, zeros[-1] + end - zeros_end, zeros_end)
        values = np.concatenate([values[is_one == 0], values[is_one == 1]])
    return counts

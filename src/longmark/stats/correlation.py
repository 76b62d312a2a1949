"""Correlation of two columns of scores: Pearson, Spearman, Kendall's tau-b, with intervals; their mean over systems.

Range [-1, 1]. Spearman is Pearson's correlation of midranks; tau-b corrects for ties. Intervals are made on Fisher's
scale, z = atanh(r), and taken back:

    jackknife   z ± t sqrt(V) / (1 - r²)     V: the delete-one jackknife's variance of r; t: Student's, n - 1 degrees
    fisher      z ± z' s      s² = 1 / (n - 3) Pearson; (1 + r²/2) / (n - 3) Spearman (Bonett & Wright 2000);
                              .437 / (n - 4) Kendall (Fieller, Hartley & Pearson 1957)

The second holds for normal scores without ties. Scores of judges are skewed, heaped at a bound and full of ties, so the
first is the default; it also gives the interval of a mean over systems that answered the same questions, and of the
difference between two metrics marked against the same people, where the parts depend on each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from longmark.errors import UnknownName, UserError
from longmark.stats.proportion import check_level
from longmark.stats.samples import Floats, Values, as_floats, complete_rows
from longmark.stats.student import t_quantile

Kind = Literal["pearson", "spearman", "kendall"]
Method = Literal["jackknife", "fisher"]
KINDS = ("pearson", "spearman", "kendall")
METHODS = ("jackknife", "fisher")

Codes = NDArray[np.intp]

_FEWEST = 3
_PERFECT = 1 - 1e-12
_FEW_LEVELS = 128  # of a column, up to which a step for each is the fastest


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation of n pairs; missing: pairs that lack a value. reason: why there is no value, or no interval."""

    kind: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    missing: int
    level: float
    method: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MeanCorrelation:
    """The mean over systems through Fisher's z, and each system's own correlation.

    left_out: systems that have no finite z (no value, or a correlation of exactly 1 or -1 beside others that are not).
    """

    kind: str
    value: float | None
    low: float | None
    high: float | None
    by_system: Mapping[str, Correlation]
    left_out: tuple[str, ...]
    level: float
    method: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class CorrelationDifference:
    """correlation(first, target) - correlation(second, target) on the n items that have all three values.

    p: two-sided, of no difference, from Student's t of the jackknife.
    """

    kind: str
    first: float | None
    second: float | None
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    missing: int
    level: float
    method: str = "jackknife"
    reason: str | None = None


def correlation(
    x: Values, y: Values, kind: Kind = "pearson", *, level: float = 0.95, method: Method = "jackknife"
) -> Correlation:
    """The correlation of the pairs that have both values.

    No value for fewer than 3 pairs or where a column has one value only; no interval where |r| = 1, or for too few
    pairs. Raises UserError for columns of unequal length and for a kind, method or level that does not exist.
    """
    _check(kind, method, level)
    return _with_parts(x, y, kind, level, method)[0]


def _with_parts(x: Values, y: Values, kind: str, level: float, method: str) -> tuple[Correlation, Floats | None]:
    """The correlation, and what each pair adds to the jackknife (0 where a value lacks), if that was needed."""
    (a, b), keep = complete_rows(x, y)
    missing = int((~keep).sum())

    def result(value: float | None, low: float | None, high: float | None, reason: str | None) -> Correlation:
        return Correlation(kind, value, low, high, len(a), missing, level, method, reason)

    if why := _no_value(a, b):
        return result(None, None, None, why), None
    r = _value(a, b, kind)
    if abs(r) >= _PERFECT:
        return result(r, None, None, "a perfect correlation has no finite z, so no interval"), None
    if len(a) <= 4:
        return result(r, None, None, "an interval needs at least 5 pairs"), None
    parts = None
    if method == "fisher":
        half = NormalDist().inv_cdf((1 + level) / 2) * _normal_error(r, len(a), kind)
    else:
        parts = np.zeros(len(keep))
        parts[keep] = _deviations(a, b, kind)
        error = float(np.linalg.norm(parts))
        if not math.isfinite(error):
            return result(r, None, None, "without one of its pairs a column has one value only"), None
        half = t_quantile(level, len(a) - 1) * error / (1 - r * r)
    z = math.atanh(r)
    return result(r, math.tanh(z - half), math.tanh(z + half), None), parts


def mean_correlation(
    x: Mapping[str, Values],
    y: Mapping[str, Values],
    kind: Kind = "pearson",
    *,
    level: float = 0.95,
) -> MeanCorrelation:
    """tanh of the mean of atanh(r) over systems, each counting once.

    x, y: two metrics' scores by system; position i is question i in every system, None where it lacks. The interval
    leaves out a question in all systems at once, since systems that answer the same questions vary together.
    """
    _check(kind, "jackknife", level)
    if set(x) != set(y):
        raise UserError(f"both metrics need the same systems; found {sorted(x)} and {sorted(y)}")
    columns = {name: (as_floats(x[name]), as_floats(y[name])) for name in x}
    lengths = {len(column) for both in columns.values() for column in both}
    if len(lengths) > 1:
        raise UserError(f"systems are matched by position of the question; found columns of {sorted(lengths)} rows")
    found = {name: _with_parts(a, b, kind, level, "jackknife") for name, (a, b) in columns.items()}
    by_system = {name: r for name, (r, _) in found.items()}
    values = {name: r.value for name, r in by_system.items() if r.value is not None}

    def result(
        value: float | None, ends: tuple[float, float] | None, used: list[str], reason: str | None
    ) -> MeanCorrelation:
        low, high = ends or (None, None)
        left_out = tuple(name for name in by_system if name not in used)
        return MeanCorrelation(kind, value, low, high, by_system, left_out, level, "jackknife", reason)

    if not values:
        return result(None, None, [], "no system has a correlation")
    for sign in (1, -1):
        if all(sign * r >= _PERFECT for r in values.values()):
            return result(float(sign), None, list(values), "a perfect correlation has no finite z, so no interval")
    used = [name for name, r in values.items() if abs(r) < _PERFECT]
    if not used:
        return result(None, None, [], "systems correlate perfectly in opposite directions")
    z = math.fsum(math.atanh(values[name]) for name in used) / len(used)
    if any(by_system[name].low is None for name in used):
        return result(math.tanh(z), None, used, "a system has no interval of its own")
    parts = np.zeros(lengths.pop())
    for name in used:
        own = found[name][1]
        assert own is not None  # whoever has an interval has these
        parts += own / (1 - values[name] ** 2) / len(used)
    half = t_quantile(level, min(by_system[name].n for name in used) - 1) * float(np.linalg.norm(parts))
    return result(math.tanh(z), (math.tanh(z - half), math.tanh(z + half)), used, None)


def correlation_difference(
    first: Values, second: Values, target: Values, kind: Kind = "pearson", *, level: float = 0.95
) -> CorrelationDifference:
    """Which of two metrics follows the target more closely: both are taken on the same items, so they are dependent."""
    _check(kind, "jackknife", level)
    (a, b, t), keep = complete_rows(first, second, target)
    missing = int((~keep).sum())
    why = _no_value(a, t) or _no_value(b, t)
    if why:
        return CorrelationDifference(
            kind, None, None, None, None, None, None, len(t), missing, level, reason=why
        )  # fmt: skip
    r, s = _value(a, t, kind), _value(b, t, kind)
    error = float(np.linalg.norm(_deviations(a, t, kind) - _deviations(b, t, kind)))
    low = high = p = reason = None
    if len(t) <= 4:
        reason = "an interval needs at least 5 items"
    elif not math.isfinite(error):
        reason = "without one of its items a column has one value only"
    elif error < 1e-12:
        reason = "the two metrics follow the target alike in every item"
    else:
        half = t_quantile(level, len(t) - 1) * error
        low, high = r - s - half, r - s + half
        p = float(2 * scipy_stats.t.sf(abs(r - s) / error, len(t) - 1))
    return CorrelationDifference(kind, r, s, r - s, low, high, p, len(t), missing, level, reason=reason)


def _check(kind: str, method: str, level: float) -> None:
    if kind not in KINDS:
        raise UnknownName("correlation", kind, KINDS, f"There are {', '.join(KINDS)}.")
    if method not in METHODS:
        raise UnknownName("interval", method, METHODS, f"There are {' and '.join(METHODS)}.")
    check_level(level)


def _no_value(a: Floats, b: Floats) -> str | None:
    if len(a) < _FEWEST:
        return f"a correlation needs at least {_FEWEST} pairs; there are {len(a)}"
    if any(np.ptp(column) <= 1e-12 * np.abs(column).max() for column in (a, b)):
        return "all values of a column are equal"
    return None


def _value(a: Floats, b: Floats, kind: str) -> float:
    match kind:
        case "pearson":
            r = scipy_stats.pearsonr(_scaled(a), _scaled(b)).statistic
        case "spearman":
            r = scipy_stats.spearmanr(a, b).statistic
        case _:
            r = scipy_stats.kendalltau(a, b).statistic
    return min(1.0, max(-1.0, float(r)))


def _scaled(a: Floats) -> Floats:
    """Centred, with range 1: squares of very small or large scores neither vanish nor overflow."""
    scaled = a / np.abs(a).max()
    scaled -= scaled.mean()
    return np.asarray(scaled / np.ptp(scaled))


def _normal_error(r: float, n: int, kind: str) -> float:
    match kind:
        case "pearson":
            return math.sqrt(1 / (n - 3))
        case "spearman":
            return math.sqrt((1 + r * r / 2) / (n - 3))
        case _:
            return math.sqrt(0.437 / (n - 4))


def _deviations(a: Floats, b: Floats, kind: str) -> Floats:
    """For each pair what it adds to the jackknife: the norm of the whole is r's standard error. NaN: undefined."""
    n = len(a)
    with np.errstate(divide="ignore", invalid="ignore"):
        pearson = kind == "pearson"
        left_out = _pearson_without_one(_scaled(a), _scaled(b)) if pearson else _ranks_without_one(a, b, kind)
        return np.asarray(math.sqrt((n - 1) / n) * (left_out.mean() - left_out))


def _pearson_without_one(a: Floats, b: Floats) -> Floats:
    """Centred columns: leaving i out lowers a sum of products by a_i b_i n / (n - 1). NaN: a column is left flat."""
    grown = len(a) / (len(a) - 1)

    def spread(column: Floats) -> Floats:
        total = (column * column).sum()
        rest = total - grown * column * column
        return np.where(rest > 1e-12 * total, rest, np.nan)

    return np.asarray(((a * b).sum() - grown * a * b) / np.sqrt(spread(a) * spread(b)))


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

"""Randomised Tukey HSD: which of many systems differ, with p-values that hold over all pairs together (CCRS 4.1.3).

Under the null hypothesis the systems are exchangeable within each question: every row of scores is put in a random
order, over all systems. A pair's p is the share of such tables in which the largest mean of a system lies at least as
far above the smallest one as the pair's means lie apart; values within rounding (1e-9 of the widest row) count as
reached.

The orders of a row are few (6 systems: 720), so they are all written out once, and a drawn table takes one entry from
each list. Short rows are listed several at a time (3 systems: 4 rows, 6^4 entries); from 8 systems on the lists would
be too long, and rows are shuffled one by one. Small tables are enumerated instead of drawn.

Deviations from the paper's listing, each an option: p is (count + 1) / (permutations + 1) where tables are drawn
(`plus_one=False`: count / permutations); a row without a score of some system is left out and counted
(`keep_incomplete=True`: its scores are shuffled among the systems that have one, and means are over all scores).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmark.errors import UserError
from longmark.stats.permutation import rounding
from longmark.stats.results import PairOfSystems, TukeyTest
from longmark.stats.samples import Floats, Seed, check_count, generator

_FEWEST = 3
_LONGEST = 5040  # entries of a list: all orders of 7 systems
_LISTED = 1500  # several short rows share a list up to this length: it stays in the processor's first cache
_EXACT = 2**18  # tables up to which all of them are looked at
_CHUNK = 10_000  # tables that are drawn at once


def tukey(
    scores: Sequence[Sequence[float | None]] | NDArray[Any],
    systems: Sequence[str],
    *,
    permutations: int = 10_000,
    seed: Seed = 0,
    plus_one: bool = True,
    keep_incomplete: bool = False,
) -> TukeyTest:
    """Tests every pair of systems. scores: a row for each question, a column for each system; None or NaN is missing.

    The pairs of a system without any score have no p; the others are tested without it. UserError if the shape does not
    fit the systems, a name is given twice or a score is infinite.
    """
    table = _checked(scores, systems)
    check_count(permutations, "permutations")
    random, number = generator(seed)
    present_scores = ~np.isnan(table)
    present = np.asarray(present_scores.any(axis=0))
    complete = present_scores[:, present].all(axis=1) & (present.sum() > 1)
    if not keep_incomplete:
        table = table[complete]
        present_scores = present_scores[complete]
    used = (
        present_scores.sum(axis=1) >= 2
    )  # a score that is alone in its row moves nowhere, but is in its system's mean
    n = int(used.sum())
    counts = present_scores.sum(axis=0)
    means = [
        float(column[~np.isnan(column)].mean()) if n_scores else None
        for column, n_scores in zip(table.T, counts, strict=True)
    ]
    spreads = np.nanmax(table[used], axis=1) - np.nanmin(table[used], axis=1) if n else np.zeros(0)
    widest_row = float(spreads.max(initial=0.0))
    zero = rounding(widest_row, float(np.nanmax(np.abs(table), initial=0.0)))
    p: dict[tuple[int, int], float] = {}
    reason = None
    exact = False
    looked_at = 0
    if present.sum() < 2:
        scored_systems = [
            name for name, has_score in zip(systems, present, strict=True) if has_score
        ]
        reason = (
            f"only {scored_systems[0]} has a score" if scored_systems else "no system has a score"
        )
    elif n < _FEWEST:
        whose = "two systems or more" if keep_incomplete else "every system"
        reason = f"the test needs at least {_FEWEST} questions with scores of {whose}; found {n}"
    else:
        if widest_row <= zero:
            reason = "on every question all systems have the same score, so every order gives the same means"
        centred = np.where(present_scores, table - float(np.nanmean(table)), np.nan)
        sums, exact = _sums(centred, zero, permutations, random)
        looked_at = len(sums)
        shuffled = sums[:, present] / counts[present]
        widest = np.sort(np.ptp(shuffled, axis=1))
        for i, j in itertools.combinations(range(len(systems)), 2):
            a = means[i]
            b = means[j]
            if a is not None and b is not None:
                reached = looked_at - int(np.searchsorted(widest, abs(a - b) - zero, side="left"))
                p[i, j] = (
                    reached / looked_at
                    if exact or not plus_one
                    else (reached + 1) / (looked_at + 1)
                )
    return TukeyTest(
        systems=tuple(systems),
        means=tuple(means),
        pairs=tuple(_pairs(systems, means, p, reason)),
        n=n,
        missing=int((~complete).sum()),
        permutations=looked_at,
        exact=exact,
        plus_one=plus_one,
        keep_incomplete=keep_incomplete,
        seed=number,
        zero=zero,
        reason=reason,
    )


def least_p(systems: int, questions: int, permutations: int = 10_000) -> float:
    """The least p that the test can give, where one system is above and one below all others on every question.

    With k systems k (k - 1) of the (k (k - 1))^n orders of the two outermost reach as far: p = (k (k - 1))^(1 - n), for
    two systems 2^(1 - n); where tables are drawn, not below 1 / (permutations + 1). 1 if there is no test.
    """
    if questions < _FEWEST or systems < 2:
        return 1.0
    least = float(systems * (systems - 1)) ** (1 - questions)
    exact = questions * math.lgamma(systems + 1) <= math.log(_EXACT) + 1e-9
    return least if exact else max(least, 1 / (permutations + 1))


def _checked(
    scores: Sequence[Sequence[float | None]] | NDArray[Any], systems: Sequence[str]
) -> Floats:
    if not isinstance(scores, np.ndarray) and len({len(row) for row in scores}) > 1:
        raise UserError(
            "scores: every row needs a column for each system; give None for a missing score"
        )
    table = np.asarray(scores, dtype=np.float64)
    table = table if table.size else table.reshape(-1, len(systems))
    if table.ndim != 2 or table.shape[1] != len(systems):
        raise UserError(
            f"scores: expected a column for each of {len(systems)} systems, found the shape {table.shape}"
        )
    if len(systems) < 2:
        raise UserError("a comparison needs at least two systems")
    if twice := sorted({name for name in systems if list(systems).count(name) > 1}):
        raise UserError(f"each system needs a name of its own; given twice: {', '.join(twice)}")
    if np.isinf(table).any():
        raise UserError(
            "scores: only finite numbers can be compared; give None for a missing score"
        )
    return table


def _pairs(
    systems: Sequence[str],
    means: Sequence[float | None],
    p: dict[tuple[int, int], float],
    reason: str | None,
) -> Iterator[PairOfSystems]:
    for i, j in itertools.combinations(range(len(systems)), 2):
        a = means[i]
        b = means[j]
        missing = [name for name, mean in ((systems[i], a), (systems[j], b)) if mean is None]
        yield PairOfSystems(
            a=systems[i],
            b=systems[j],
            difference=a - b if a is not None and b is not None else None,
            p=p.get((i, j)),
            reason=f"no score of {' and '.join(missing)}" if missing and not reason else reason,
        )


def _sums(
    table: Floats, zero: float, permutations: int, random: np.random.Generator
) -> tuple[Floats, bool]:
    """The sums of each system's scores in shuffled tables (tables x systems), and whether these are all there are.

    Rows are shuffled among the systems that have a value; the columns of those are the same before and after.
    """
    present_scores = ~np.isnan(table)
    fixed = np.zeros(table.shape[1])
    parts: list[tuple[NDArray[np.intp], Floats]] = []
    for pattern in np.unique(present_scores, axis=0):
        columns = np.flatnonzero(pattern)
        rows = table[(present_scores == pattern).all(axis=1)][:, columns]
        moving = (
            np.ptp(rows, axis=1) > zero if len(columns) > 1 else np.zeros(len(rows), dtype=bool)
        )
        fixed[columns] += rows[~moving].sum(axis=0)
        if moving.any():
            parts.append((columns, rows[moving]))
    tables = math.prod(math.factorial(len(columns)) ** len(rows) for columns, rows in parts)
    if tables <= _EXACT:
        sums = fixed[None, :]
        for columns, rows in parts:
            for row in rows:
                orders = np.zeros((math.factorial(len(columns)), table.shape[1]))
                orders[:, columns] = row[_orders(len(columns))]
                sums = (sums[:, None, :] + orders[None, :, :]).reshape(-1, table.shape[1])
        return sums, True
    sums = np.tile(fixed, (permutations, 1))
    for columns, rows in parts:
        draw = _add_listed if math.factorial(len(columns)) <= _LONGEST else _add_shuffled
        drawn = np.zeros((permutations, len(columns)))
        draw(drawn, rows, random)
        sums[:, columns] += drawn
    return sums, False


def _orders(k: int) -> NDArray[np.intp]:
    """Every order of k things: k! x k."""
    return np.array(list(itertools.permutations(range(k))), dtype=np.intp)


def _add_listed(sums: Floats, rows: Floats, random: np.random.Generator) -> None:
    """Adds a random order of each row to the sums, taken from the list of its orders."""
    orders = _orders(rows.shape[1])
    together = max(1, int(math.log(_LISTED, len(orders))))  # rows that share a list
    entries = np.empty((min(_CHUNK, len(sums)), rows.shape[1]))
    for first in range(0, len(rows), together):
        listed = np.zeros((1, rows.shape[1]))
        for row in rows[first : first + together]:
            listed = (listed[:, None, :] + row[orders][None, :, :]).reshape(-1, rows.shape[1])
        for start in range(0, len(sums), _CHUNK):
            part = sums[start : start + _CHUNK]
            drawn = random.integers(0, len(listed), len(part), dtype=np.uint16)
            listed.take(drawn, axis=0, out=entries[: len(part)], mode="clip")
            part += entries[: len(part)]


def _add_shuffled(sums: Floats, rows: Floats, random: np.random.Generator) -> None:
    """Adds a random order of each row to the sums, each shuffled by itself: for many systems."""
    for start in range(0, len(sums), _CHUNK):
        part = sums[start : start + _CHUNK]
        shuffled = np.empty_like(part)
        for row in rows:
            shuffled[:] = row
            random.permuted(shuffled, axis=1, out=shuffled)
            part += shuffled

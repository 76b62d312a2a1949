"""Bradley-Terry strengths of several systems from choices between two of them at a time.

The odds that one system is chosen over another are the ratio of their strengths (Bradley and Terry 1952, Biometrika
39); a tie is half a choice for each. Strengths are natural logarithms with mean 0 over the systems: the difference of
two is the logarithm of the odds. evalica finds the maximum likelihood (Newman 2023, JMLR 24).

Intervals are percentiles of the strengths in resampled clusters (choices on one question belong together), expanded for
few of them: the tails are those of the normal distribution beyond sqrt(G / (G - 1)) t, t the quantile of Student's t
with G - 1 degrees of freedom (Hesterberg 2015, "What teachers should know about the bootstrap", Am. Statistician 69).

Where no maximum exists there is no strength but a reason: systems that were never compared with the others, directly or
through a third, or that won (or lost) every comparison with the others, so that their strength has no limit (Ford
1957).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtr

from longmark.errors import UserError
from longmark.stats.results import Estimate, check_level
from longmark.stats.samples import Floats, check_count, cluster_numbers
from longmark.stats.student import t_quantile

FIRST, SECOND, TIE = "a", "b", "tie"
RESAMPLES = 500
_FEWEST = 10  # clusters that an interval needs
_UNDEFINED = 0.01  # share of resamples without strengths, up to which there is an interval
_TOLERANCE, _ITERATIONS = 1e-8, 100_000


@dataclass(frozen=True, slots=True)
class Strength:
    """A system. log_strength: natural logarithm, None with a reason; rank: 1 is the strongest, equals share one;
    won: comparisons won, a tie counts half; n: all its comparisons."""

    system: str
    log_strength: Estimate
    rank: int | None
    won: float
    n: int


def bradley_terry(
    comparisons: Sequence[tuple[str, str, str]],
    *,
    clusters: Sequence[Hashable] | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[Strength, ...]:
    """The strengths of the systems, the strongest first; without strengths by the share won.

    comparisons: (first, second, choice): two systems, and `a` for the first, `b` or `tie`; clusters: for each, what it
    belongs to. UserError for a system compared with itself, or for another choice.
    """
    check_level(level)
    check_count(resamples, "resamples")
    for first, second, choice in comparisons:
        if first == second or choice not in (FIRST, SECOND, TIE):
            raise UserError(f"expected two systems and a, b or tie; found {first}, {second} and {choice}")
    systems = sorted({name for one in comparisons for name in one[:2]})
    n = len(comparisons)
    groups, count = cluster_numbers(range(n) if clusters is None else clusters, np.ones(n, dtype=np.bool_))
    cells = sorted(set(comparisons))
    place = {cell: i for i, cell in enumerate(cells)}
    table = np.zeros((count, len(cells)))
    np.add.at(table, (groups, np.array([place[one] for one in comparisons], dtype=np.int64)), 1.0)
    wins = _wins(systems, cells, table.sum(axis=0))
    over = "comparisons" if clusters is None else "questions"
    empty = Estimate(
        *(None, None, None, n, level, f"percentile bootstrap over {over}"),
        clusters=None if clusters is None else count,
        resamples=resamples,
        seed=seed,
    )
    estimates = [replace(empty, reason=reason) for reason in _reasons(systems, wins)]
    if systems and estimates[0].reason is None:
        estimates = _estimates(systems, cells, table, empty)
    won, total = wins.sum(axis=1), (wins + wins.T).sum(axis=1)

    def strongest(i: int) -> tuple[float, float, str]:
        return -(estimates[i].value or 0.0), -won[i] / total[i], systems[i]

    order = sorted(range(len(systems)), key=strongest)
    return tuple(
        Strength(systems[i], estimates[i], _rank(estimates[i].value, estimates), float(won[i]), int(total[i]))
        for i in order
    )


def _rank(strength: float | None, estimates: Sequence[Estimate]) -> int | None:
    if strength is None:
        return None
    return 1 + sum(one.value is not None and one.value > strength + 100 * _TOLERANCE for one in estimates)


def _wins(systems: Sequence[str], cells: Sequence[tuple[str, str, str]], weights: Floats) -> Floats:
    """Wins of the row's system over the column's; a tie is half a win for each."""
    place = {name: i for i, name in enumerate(systems)}
    wins = np.zeros((len(systems), len(systems)))
    for (first, second, choice), weight in zip(cells, weights, strict=True):
        share = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}[choice]
        wins[place[first], place[second]] += share * weight
        wins[place[second], place[first]] += (1 - share) * weight
    return wins


def _reasons(systems: Sequence[str], wins: Floats) -> list[str | None]:
    """For each system why there are no strengths: None if the maximum of the likelihood exists."""
    parts, _ = connected_components(wins > 0, directed=False)
    if parts > 1:
        return ["the systems are in groups that were never compared with each other"] * len(systems)
    groups, _ = connected_components(wins > 0, connection="strong")
    if groups == 1:
        return [None] * len(systems)
    always = [f"{name} won" for name, lost in zip(systems, wins.T, strict=True) if not lost.any()]
    never = [f"{name} lost" for name, won in zip(systems, wins, strict=True) if not won.any()]
    which = f"{' and '.join((*always, *never)) or 'some systems won'} every comparison"
    return [f"{which}{'' if always or never else ' with the others'}, so the strengths have no limit"] * len(systems)


def _estimates(
    systems: Sequence[str], cells: Sequence[tuple[str, str, str]], table: Floats, empty: Estimate
) -> list[Estimate]:
    """With intervals. table: clusters x cells, how often each was made."""
    values = _fit(systems, cells, table.sum(axis=0))
    if values is None:
        return [replace(empty, reason="the strengths do not converge")] * len(systems)
    count = len(table)
    if count < _FEWEST:
        what = "comparisons" if empty.clusters is None else "questions"
        reason = f"an interval needs at least {_FEWEST} {what}; found {count}"
        return [replace(empty, value=float(value), reason=reason) for value in values]
    random = np.random.default_rng(empty.seed)
    drawn = random.multinomial(count, np.full(count, 1 / count), empty.resamples) @ table
    defined = [weights for weights in drawn if _reasons(systems, _wins(systems, cells, weights))[0] is None]
    made = [fit for weights in defined if (fit := _fit(systems, cells, weights)) is not None]
    empty = replace(empty, undefined=empty.resamples - len(made))
    if empty.undefined > _UNDEFINED * empty.resamples:
        reason = f"in {empty.undefined:,} of {empty.resamples:,} resamples a system won or lost every comparison"
        return [replace(empty, value=float(value), reason=reason) for value in values]
    tail = float(ndtr(-math.sqrt(count / (count - 1)) * t_quantile(empty.level, count - 1)))
    low, high = np.quantile(np.array(made), [tail, 1 - tail], axis=0)
    return [
        replace(empty, value=float(value), low=float(lo), high=float(hi))
        for value, lo, hi in zip(values, low, high, strict=True)
    ]


def _fit(systems: Sequence[str], cells: Sequence[tuple[str, str, str]], weights: Floats) -> Floats | None:
    """The logarithms of the strengths, with mean 0; None without convergence."""
    import evalica

    winners = {FIRST: evalica.Winner.X, SECOND: evalica.Winner.Y, TIE: evalica.Winner.Draw}
    there = [(cell, weight) for cell, weight in zip(cells, weights.tolist(), strict=True) if weight]
    found = evalica.bradley_terry(
        [cell[0] for cell, _ in there],
        [cell[1] for cell, _ in there],
        [winners[cell[2]] for cell, _ in there],
        weights=[weight for _, weight in there],
        tie_weight=0.5,
        tolerance=_TOLERANCE,
        limit=_ITERATIONS,
    )
    if found.iterations >= _ITERATIONS:
        return None
    logs = np.log([found.scores[name] for name in systems])
    return np.asarray(logs - logs.mean())

"""Bradley-Terry strengths of several systems from choices between two of them at a time.

The odds that one system is chosen over another are the ratio of their strengths (Bradley and Terry 1952, Biometrika
39); a tie is half a choice for each. Strengths are natural logarithms with mean 0 over the systems: the difference of
two is the logarithm of the odds. evalica finds the maximum likelihood (Newman 2023, JMLR 24).

Intervals are θ ± t se: se is the jackknife's, which leaves out a cluster c at a time (choices on one question belong
together) by one step of Newton's method from all of them,

    θ(-c) = θ - (H - H_c)⁻¹ g_c        se² = (G - 1) / G Σ (θ(-c) - their mean)²

with c's gradient g_c of the log-likelihood and its share H_c of the information H. It is CR3 of `stats.clusters`, whose
degrees of freedom t has, over the clusters in which the system was compared. docs/coverage.md has the coverage.

Where no maximum exists there is no strength but a reason: systems that were never compared with the others, directly or
through a third, or that won (or lost) every comparison with the others, so that their strength has no limit (Ford
1957).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import connected_components

from longmark.errors import UserError
from longmark.stats.clusters import effective
from longmark.stats.means import few_clusters
from longmark.stats.results import Estimate, check_level
from longmark.stats.samples import Floats, cluster_numbers
from longmark.stats.student import t_quantile

FIRST = "a"
SECOND = "b"
TIE = "tie"
_SHARES = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}
_FEWEST = 10  # clusters that an interval needs
_TOLERANCE = 1e-8
_ITERATIONS = 100_000


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
) -> tuple[Strength, ...]:
    """The strengths of the systems, the strongest first; without strengths by the share won.

    comparisons: (first, second, choice): two systems, and `a` for the first, `b` or `tie`; clusters: for each, what it
    belongs to. UserError for a system compared with itself, or for another choice.
    """
    check_level(level)
    for first, second, choice in comparisons:
        if first == second or choice not in _SHARES:
            raise UserError(
                f"expected two systems and a, b or tie; found {first}, {second} and {choice}"
            )
    systems = sorted({name for comparison in comparisons for name in comparison[:2]})
    n = len(comparisons)
    groups, count = cluster_numbers(
        range(n) if clusters is None else clusters, np.ones(n, dtype=np.bool_)
    )
    cells = sorted(set(comparisons))
    place = {cell: i for i, cell in enumerate(cells)}
    table = np.zeros((count, len(cells)))
    np.add.at(
        table,
        (groups, np.array([place[comparison] for comparison in comparisons], dtype=np.int64)),
        1.0,
    )
    wins = _wins(systems, cells, table.sum(axis=0))
    units = "comparisons" if clusters is None else "questions"
    empty = Estimate(
        None,
        None,
        None,
        n,
        level,
        f"jackknife over {units}",
        clusters=None if clusters is None else count,
    )
    estimates = [replace(empty, reason=reason) for reason in _reasons(systems, wins)]
    if systems and estimates[0].reason is None:
        estimates = _estimates(systems, cells, table, empty)
    won = wins.sum(axis=1)
    total = (wins + wins.T).sum(axis=1)

    def strongest(i: int) -> tuple[float, float, str]:
        return -(estimates[i].value or 0.0), -won[i] / total[i], systems[i]

    order = sorted(range(len(systems)), key=strongest)
    return tuple(
        Strength(
            systems[i],
            estimates[i],
            _rank(estimates[i].value, estimates),
            float(won[i]),
            int(total[i]),
        )
        for i in order
    )


def _rank(strength: float | None, estimates: Sequence[Estimate]) -> int | None:
    if strength is None:
        return None
    return 1 + sum(
        estimate.value is not None and estimate.value > strength + 100 * _TOLERANCE
        for estimate in estimates
    )


def _wins(systems: Sequence[str], cells: Sequence[tuple[str, str, str]], weights: Floats) -> Floats:
    """Wins of the row's system over the column's; a tie is half a win for each."""
    place = {name: i for i, name in enumerate(systems)}
    wins = np.zeros((len(systems), len(systems)))
    for (first, second, choice), weight in zip(cells, weights, strict=True):
        share = _SHARES[choice]
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
    return [
        f"{which}{'' if always or never else ' with the others'}, so the strengths have no limit"
    ] * len(systems)


def _estimates(
    systems: Sequence[str], cells: Sequence[tuple[str, str, str]], table: Floats, empty: Estimate
) -> list[Estimate]:
    """With intervals. table: clusters x cells, how often each was made."""
    values = _fit(systems, cells, table.sum(axis=0))
    if values is None:
        return [replace(empty, reason="the strengths do not converge")] * len(systems)
    count = len(table)
    unit = "comparison" if empty.clusters is None else "question"
    strengths = [replace(empty, value=float(value)) for value in values]
    if count < _FEWEST:
        return [
            replace(strength, reason=f"an interval needs at least {_FEWEST} {unit}s; found {count}")
            for strength in strengths
        ]
    total = table.sum(axis=0)
    kinds, times = np.unique(table, axis=0, return_counts=True)
    if any(_reasons(systems, _wins(systems, cells, total - kind))[0] for kind in kinds):
        return [
            replace(strength, reason=f"without one {unit} a system won or lost every comparison")
            for strength in strengths
        ]
    sides_of_cells = np.array(
        [[(name == cell[0]) - float(name == cell[1]) for name in systems] for cell in cells]
    )
    expected = 1 / (1 + np.exp(-sides_of_cells @ values))
    gradients = (kinds * ([_SHARES[cell[2]] for cell in cells] - expected)) @ sides_of_cells
    weights = expected * (1 - expected)
    information = np.stack(
        [(sides_of_cells.T * (weights * (total - kind))) @ sides_of_cells for kind in kinds]
    )
    steps = np.linalg.solve(information + 1 / len(systems), gradients[..., None])[..., 0]
    errors = np.sqrt((count - 1) / count * (times @ (steps - times @ steps / count) ** 2))
    for i, (strength, error) in enumerate(zip(strengths, errors.tolist(), strict=True)):
        if error <= _TOLERANCE:
            why = f"the strength is the same without any one {unit}, so its variance is unknown"
            strengths[i] = replace(strength, reason=why)
            continue
        sizes = (table @ (sides_of_cells[:, i] != 0))[:, None]
        size = effective(sizes[sizes > 0].tolist())
        half = t_quantile(empty.level, size - 1) * error
        low, high = (float(values[i]) + side * half for side in (-1, 1))
        strengths[i] = replace(
            strength, low=low, high=high, effective=size, remark=few_clusters(size)
        )
    return strengths


def _fit(
    systems: Sequence[str], cells: Sequence[tuple[str, str, str]], weights: Floats
) -> Floats | None:
    """The logarithms of the strengths, with mean 0; None without convergence."""
    import evalica

    winners = {FIRST: evalica.Winner.X, SECOND: evalica.Winner.Y, TIE: evalica.Winner.Draw}
    made_cells = [
        (cell, weight) for cell, weight in zip(cells, weights.tolist(), strict=True) if weight
    ]
    fitted = evalica.bradley_terry(
        [cell[0] for cell, _ in made_cells],
        [cell[1] for cell, _ in made_cells],
        [winners[cell[2]] for cell, _ in made_cells],
        weights=[weight for _, weight in made_cells],
        tie_weight=0.5,
        tolerance=_TOLERANCE,
        limit=_ITERATIONS,
    )
    if fitted.iterations >= _ITERATIONS:
        return None
    logs = np.log([fitted.scores[name] for name in systems])
    return np.asarray(logs - logs.mean())

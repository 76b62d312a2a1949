"""What intervals and tests do that a user is given: the tables in design/coverage.md, by the functions of the verbs.

`python -m bench.coverage [means] [pairs] [families] [binary] [--runs 2000] [--only TEXT]`

Observations come in clusters (documents, questions) of four layouts: none (each counts by itself), equal (4 each),
1/2/4/16 (sizes in turn), one big (half of all observations in one cluster, 2 in each other). The observations of a
cluster correlate by .5 (of normal scores, which are then given the shape). Figures are shares of runs; their Monte
Carlo error is sqrt(p (1 - p) / runs): .005 for .95 of 2,000 runs.

    means      share of nominal 95 % intervals of a mean that hold it (`stats.means`, as in `run`, `report`, `compare`)
    pairs      two systems of equal means: share of runs with p <= .05 (`stats.max_t`, as in `compare`); with the first
               better by half a standard deviation: share of runs whose interval holds that
    families   six systems of equal means, 15 pairs: share of runs with some significant pair, by max-T, Tukey HSD and
               Holm; and the share of the five true differences that max-T finds where one system is better
    binary     exactly, without simulation: scores of 0 or 1, coverage and mean width beside Wilson's interval

A cell in brackets has fewer than 5 effective clusters: nothing is decided there.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from longmark.stats.clusters import FEWEST_EFFECTIVE, effective
from longmark.stats.max_t import max_t
from longmark.stats.means import mean_estimate, wilson
from longmark.stats.multiplicity import adjust
from longmark.stats.permutation import paired_permutation
from longmark.stats.tukey import tukey

Floats = NDArray[np.float64]
FIFTHS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
NUMBERS = (10, 20, 50, 100, 300)
LAYOUTS = ("none", "equal", "1/2/4/16", "one big")
CORRELATION, BETTER = 0.5, 0.5


@dataclass(frozen=True)
class Population:
    """A distribution: its quantile function, its mean and standard deviation, and the bounds of its values."""

    at: Callable[[Floats], Floats]
    mean: float
    deviation: float
    bounds: tuple[float | None, float | None] = (0.0, 1.0)

    def draw(self, chance: np.random.Generator, size: tuple[int, ...]) -> Floats:
        return self.at(chance.random(size))

    @property
    def bounded(self) -> bool:
        return self.bounds[0] is not None


def beta(a: float, b: float) -> Population:
    one = stats.beta(a, b)
    return Population(one.ppf, float(one.mean()), float(one.std()))


def some(
    values: Sequence[float],
    weights: Sequence[float],
    bounds: tuple[float | None, float | None] = (0, 1),
) -> Population:
    """Values with their chances."""
    points, chances = np.array(values, dtype=float), np.array(weights) / sum(weights)
    edges, mean = np.cumsum(chances)[:-1], float(points @ chances)
    return Population(
        lambda u: points[np.searchsorted(edges, u)],
        mean,
        float(np.sqrt(points**2 @ chances - mean**2)),
        bounds,
    )


def free(one: stats.rv_continuous) -> Population:
    return Population(one.ppf, float(one.mean()), float(one.std()), (None, None))


SHAPES = {
    "uniform": beta(1, 1),
    "bell": beta(6, 4),
    "U": beta(0.5, 0.5),
    "ceiling": beta(12, 1),
    "floor": beta(1, 12),
    "six values": some(FIFTHS, (5, 15, 25, 30, 15, 10)),
    "six values, ceiling": some(
        FIFTHS, (3.5, 1, 1.5, 2, 4, 88)
    ),  # as CCRS's question relevance: mean .92
    "90 % at 1, 4 % at 0": some((0, 0.5, 1), (4, 6, 90)),
    "0 or 1, half": some((0, 1), (1, 1)),
    "0 or 1, 90 %": some((0, 1), (1, 9)),
    "0 or 1, 98 %": some((0, 1), (2, 98)),
    "normal": free(stats.norm(60, 15)),
    "exponential": free(stats.expon()),
    "lognormal": free(stats.lognorm(0.8)),
}
DIFFERENCES = {
    "normal": free(stats.norm()),
    "heavy tails (t, 3 d.f.)": free(stats.t(3)),
    "60 % ties": some((-1, -0.5, 0, 0.5, 1), (1, 1, 6, 1, 1), (-1, 1)),
    "90 % ties": some((-1, 0, 1), (1, 18, 1), (-1, 1)),
    "skewed, ties": some((-0.5, 0, 0.25), (1, 7, 2), (-1, 1)),
    "exponential": free(stats.expon(-1)),
    "lognormal": free(stats.lognorm(0.8, -float(np.exp(0.32)))),
    "one jump in 20": Population(
        lambda u: np.where(u < 0.95, stats.norm.ppf(u / 0.95) * 0.05, 1.0) - 0.05,
        0.0,
        0.2233,
        (None, None),
    ),
}


def sizes(layout: str, number: int) -> list[int]:
    return {
        "none": [1] * number,
        "equal": [4] * number,
        "1/2/4/16": [(1, 2, 4, 16)[i % 4] for i in range(number)],
        "one big": [2 * (number - 1), *[2] * (number - 1)],
    }[layout]


def uniform(
    chance: np.random.Generator, clusters: NDArray[np.int64], shape: tuple[int, ...]
) -> Floats:
    """Uniform numbers, the last axis observations, that correlate by .5 within a cluster (Gaussian copula)."""
    shared = chance.normal(size=(*shape, int(clusters.max()) + 1))[..., clusters]
    return np.asarray(
        stats.norm.cdf(
            CORRELATION**0.5 * shared
            + (1 - CORRELATION) ** 0.5 * chance.normal(size=(*shape, len(clusters)))
        )
    )


def drawn(
    chance: np.random.Generator, shape: Population, layout: str, number: int, runs: int
) -> tuple[Floats, list[int] | None]:
    """Runs x observations, and the cluster of each observation."""
    clusters = np.repeat(np.arange(number), sizes(layout, number))
    if layout == "none":
        return shape.draw(chance, (runs, number)), None
    return np.asarray(shape.at(uniform(chance, clusters, (runs,)))), clusters.tolist()


def figure(share: float, layout: str, number: int) -> str:
    text = f"{share:.3f}".removeprefix("0")
    few = layout != "none" and effective(sizes(layout, number)) < FEWEST_EFFECTIVE
    return f"({text})" if few else text


def table(
    first: str, columns: Sequence[str], rows: Sequence[str], cell: Callable[[str, str], str]
) -> None:
    print(
        f"| {first} |", " | ".join(columns), "|\n| --- |", " | ".join("---" for _ in columns), "|"
    )
    for row in rows:
        print(f"| {row} |", " | ".join(cell(row, column) for column in columns), "|", flush=True)
    print(flush=True)


def means(runs: int, only: str) -> None:
    def cell(name: str, layout: str) -> str:
        found = []
        for number in NUMBERS:
            shape = SHAPES[name]
            chance = np.random.default_rng([number, LAYOUTS.index(layout)])
            values, clusters = drawn(chance, shape, layout, number, runs)
            held = defined = 0
            for one in values.tolist():
                made = mean_estimate(one, clusters, shape.bounds)
                if made.low is not None and made.high is not None:
                    defined += 1
                    held += made.low - 1e-12 <= shape.mean <= made.high + 1e-12
            found.append(figure(held / defined, layout, number))
        return " ".join(found)

    print(f"Coverage of the mean with {', '.join(map(str, NUMBERS))} clusters; {runs:,} runs\n")
    table("scores", LAYOUTS, [name for name in SHAPES if only in name], cell)


def pairs(runs: int, only: str) -> None:
    def cell(name: str, column: str) -> str:
        layout, what = column.rsplit(", ", 1)
        found = []
        for number in NUMBERS[:-1]:
            shape, gain = DIFFERENCES[name], 0.0 if what == "error" else BETTER
            chance = np.random.default_rng([number, LAYOUTS.index(layout)])
            values, clusters = drawn(chance, shape, layout, number, runs)
            seen = defined = 0
            gain *= shape.deviation
            for i, one in enumerate(values - shape.mean + gain):
                one[np.abs(one) < 1e-9] = 0.0
                made = max_t(one[:, None], clusters=clusters, permutations=999, seed=i)
                if what == "error":
                    seen += (made.adjusted[0] or 1.0) <= 0.05
                    defined += 1
                elif made.low[0] is not None and made.high[0] is not None:
                    seen += made.low[0] <= gain <= made.high[0]
                    defined += 1
            found.append(figure(seen / defined, layout, number) if defined else "none")
        return " ".join(found)

    columns = [f"{layout}, {what}" for layout in LAYOUTS for what in ("error", "coverage")]
    print(f"Two systems, with {', '.join(map(str, NUMBERS[:-1]))} clusters; {runs:,} runs\n")
    table("differences", columns, [name for name in DIFFERENCES if only in name], cell)


MIXES = {
    "equal spreads": ((1,) * 6, "normal"),
    "2 noisy of 6": ((1, 1, 1, 1, 4, 4), "normal"),
    "one noisy": ((1, 1, 1, 1, 1, 6), "normal"),
    "six values": ((1,) * 6, "six values"),
    "heavy tails": ((1,) * 6, "heavy"),
    "2 noisy, skewed": ((1, 1, 1, 1, 4, 4), "skewed"),
}
SYSTEMS = list(combinations(range(6), 2))


def scores(
    chance: np.random.Generator, mix: str, layout: str, number: int, gain: float
) -> tuple[Floats, list[int]]:
    """Observations x six systems, and the cluster of each observation; the first system is better by `gain`."""
    spreads, kind = MIXES[mix]
    clusters = np.repeat(np.arange(number), sizes(layout, number))
    u = uniform(chance, clusters, (7,)) if layout != "none" else chance.random((7, number))
    own, shared = u[:6], stats.norm.ppf(u[6])
    at = {"skewed": lambda v: stats.expon.ppf(v) - 1, "heavy": lambda v: stats.t(3).ppf(v)}.get(
        kind, stats.norm.ppf
    )
    made = shared + at(own) * np.array(spreads)[:, None]
    if kind == "six values":
        made = np.clip(np.round((0.7 + 0.25 * made) * 5) / 5, 0, 1)
        gain *= 0.25
    made[0] += gain
    return made.T, clusters.tolist()


def families(runs: int, only: str) -> None:
    def cell(mix: str, column: str) -> str:
        what, _, layout = column.partition(", ")
        found = []
        for number in NUMBERS[:-1]:
            seen = 0.0
            for run in range(runs):
                chance = np.random.default_rng([run, number])
                made, clusters = scores(
                    chance, mix, layout or "none", number, BETTER if what == "power" else 0.0
                )
                differences = np.stack([made[:, a] - made[:, b] for a, b in SYSTEMS], axis=1)
                p: Sequence[float | None]
                if what == "Tukey":
                    tested = tukey(made, "012345", permutations=999, seed=run)
                    p = [tested.pair(str(a), str(b)).p for a, b in SYSTEMS]
                elif what == "Holm":
                    none = np.zeros(number)
                    p = [
                        paired_permutation(d, none, permutations=999, seed=run).p
                        for d in differences.T
                    ]
                    p = adjust(p).adjusted
                else:
                    p = max_t(
                        differences,
                        clusters=clusters if layout else None,
                        permutations=999,
                        seed=run,
                    ).adjusted
                significant = [one is not None and one <= 0.05 for one in p]
                seen += sum(significant[:5]) / 5 if what == "power" else any(significant)
            found.append(figure(seen / runs, layout or "none", number))
        return " ".join(found)

    columns = ("max-T", "max-T, equal", "max-T, 1/2/4/16", "Tukey", "Holm", "power")
    print(f"Six systems, with {', '.join(map(str, NUMBERS[:-1]))} clusters; {runs:,} runs\n")
    table("systems", columns, [name for name in MIXES if only in name], cell)


def binary(_runs: int, _only: str) -> None:
    def cell(share: str, number: str) -> str:
        p, n = float(share), int(number)
        rows = []
        for good in range(n + 1):
            ends = mean_estimate([1.0] * good + [0.0] * (n - good), bounds=(0, 1)).ends or (
                0.0,
                1.0,
            )
            rows.append(
                (
                    stats.binom.pmf(good, n, p),
                    ends,
                    wilson(good / n, n, NormalDist().inv_cdf(0.975)),
                )
            )
        held = [sum(w * (e[i][0] <= p <= e[i][1]) for w, *e in rows) for i in (0, 1)]
        wide = [sum(w * (e[i][1] - e[i][0]) for w, *e in rows) for i in (0, 1)]
        return f"{held[0]:.3f} ({held[1]:.3f}), {wide[0] / wide[1]:.2f}"

    print("0 or 1: coverage (Wilson's), mean width beside Wilson's\n")
    table(
        "share of 1",
        [str(n) for n in (5, 10, 20, 50, 100, 300)],
        ["0.5", "0.8", "0.9", "0.95", "0.98"],
        cell,
    )


PARTS: dict[str, Callable[[int, str], None]] = {
    "means": means,
    "pairs": pairs,
    "families": families,
    "binary": binary,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", metavar="means|pairs|families|binary", help="all, if none is named"
    )
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--only", default="", help="rows with this text in their names")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    for name in given.parts or PARTS:
        PARTS[name](given.runs, given.only)


if __name__ == "__main__":
    main()

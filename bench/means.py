"""Which of seven intervals of a mean keeps its level, by simulation: the table in design/statistics.md.

`python -m bench.means [--runs 4000] [--resamples 1000] [--sizes 20,50] [--sides]`

For each shape and each n, samples are drawn, each method makes its nominal 95 % interval of each. Printed: the share of
intervals that hold the true mean, with --sides the shares that lie wholly above and wholly below it, and the mean width
relative to Student's t. Bounded shapes are scores in [0, 1]; intervals of these are clipped to
the bounds, and a sample of equal values has the interval of `stats.means.equal_interval` under every method but
betting, which needs no exception.

The methods, each as a function of the sample's mean x, standard deviation s, skewness g and n; t: Student's quantile:

    t         x ± t s / sqrt n
    johnson   the same about x + g s / (6 n): Johnson (1978), "Modified t tests and confidence intervals for
              asymmetrical populations", JASA 73
    hall      x - s / sqrt n * G⁻¹(±t), G the cubic transformation of Hall (1992), "On the removal of skewness by
              transformation", JRSS B 54, equation for g = g1
    abc       DiCiccio and Efron (1992): for a mean x + s_n w / (1 - a w)², w = a + z, a = g / (6 sqrt n)
    abc-t     the same with t in place of z and s in place of s_n
    bca       Efron (1987), as SciPy has it
    betting   one-sided bounds at 97.5 % from both sides, by a mixture of bets (Waudby-Smith and Ramdas 2024, JRSS B 86)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

import numpy as np
from bench.coverage import SHAPES, Population
from numpy.typing import NDArray
from scipy import stats

from longmark.stats.gate import TAIL
from longmark.stats.means import equal_interval

Floats = NDArray[np.float64]
LEVEL = 0.95
FRACTIONS = (
    *((c / 10, 0.5 / 9) for c in range(1, 10)),
    (1.0, 0.5),
)  # of the capital at stake, and their weights
SIZES = (5, 10, 20, 30, 50, 100, 300)


def student(x: Floats) -> tuple[Floats, Floats]:
    n = x.shape[1]
    half = stats.t.ppf((1 + LEVEL) / 2, n - 1) * x.std(1, ddof=1) / np.sqrt(n)
    return x.mean(1) - half, x.mean(1) + half


def skewness(x: Floats) -> Floats:
    away = x - x.mean(1, keepdims=True)
    return np.asarray(np.nan_to_num((away**3).mean(1) / (away**2).mean(1) ** 1.5))


def johnson(x: Floats) -> tuple[Floats, Floats]:
    low, high = student(x)
    shift = skewness(x) * x.std(1, ddof=1) / (6 * x.shape[1])
    return low + shift, high + shift


def hall(x: Floats) -> tuple[Floats, Floats]:
    n = x.shape[1]
    g, t = skewness(x), stats.t.ppf((1 + LEVEL) / 2, n - 1)
    g = np.where(np.abs(g) < 1e-6, 1e-6, g)
    scale, root = x.std(1, ddof=1) / np.sqrt(n), np.sqrt(n)

    def back(at: float) -> Floats:
        return np.asarray(3 * root / g * (np.cbrt(1 + g / root * (at - g / (6 * root))) - 1))

    return x.mean(1) - scale * back(t), x.mean(1) - scale * back(-t)


def abc(x: Floats, small: bool = False) -> tuple[Floats, Floats]:
    n = x.shape[1]
    a = skewness(x) / (6 * np.sqrt(n))
    z = stats.t.ppf((1 + LEVEL) / 2, n - 1) if small else stats.norm.ppf((1 + LEVEL) / 2)
    scale = x.std(1, ddof=int(small)) / np.sqrt(n)

    def end(at: float) -> Floats:
        w = a + at
        return np.asarray(x.mean(1) + scale * w / (1 - a * w) ** 2)

    return end(-z), end(z)


def bca(x: Floats, resamples: int, chance: np.random.Generator) -> tuple[Floats, Floats]:
    n = x.shape[1]
    low, high = np.empty(len(x)), np.empty(len(x))
    tails = stats.norm.ppf([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    counts = chance.multinomial(n, np.full(n, 1 / n), resamples) / n
    a = skewness(x) / (6 * np.sqrt(n))
    for i, sample in enumerate(x):
        means = np.sort(counts @ sample)
        share = ((means < sample.mean()).mean() + (means <= sample.mean()).mean()) / 2
        z0 = stats.norm.ppf(np.clip(share, 0.5 / resamples, 1 - 0.5 / resamples))
        at = stats.norm.cdf(z0 + (z0 + tails) / (1 - a[i] * (z0 + tails)))
        low[i], high[i] = np.quantile(means, at)
    return low, high


def bet(x: Floats) -> Floats:
    """The lower bounds by betting: the least m where the capital stays below 40."""
    below, above = np.zeros(len(x)), np.ones(len(x))
    for _ in range(22):
        m = (below + above) / 2
        logs = np.full((len(FRACTIONS), len(x)), -np.inf)
        for k, (fraction, weight) in enumerate(FRACTIONS):
            with np.errstate(divide="ignore"):
                logs[k] = np.log(weight) + np.log(1 - fraction + fraction * x / m[:, None]).sum(1)
        won = np.logaddexp.reduce(logs, axis=0) >= -np.log(TAIL)
        below, above = np.where(won, m, below), np.where(won, above, m)
    return below


def betting(x: Floats) -> tuple[Floats, Floats]:
    return bet(x), 1 - bet(1 - x)


METHODS = ("t", "johnson", "hall", "abc", "abc-t", "bca", "betting")


def intervals(
    method: str, x: Floats, bounded: bool, resamples: int, chance: np.random.Generator
) -> tuple[Floats, Floats]:
    """The ends of the interval of each sample (a row of x), as a user would be given them."""
    made: dict[str, Callable[[], tuple[Floats, Floats]]] = {
        "t": lambda: student(x),
        "johnson": lambda: johnson(x),
        "hall": lambda: hall(x),
        "abc": lambda: abc(x),
        "abc-t": lambda: abc(x, small=True),
        "bca": lambda: bca(x, resamples, chance),
        "betting": lambda: betting(x),
    }
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = made[method]()
    if bounded and method != "betting":
        low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
        for i in np.flatnonzero(np.ptp(x, axis=1) == 0):
            low[i], high[i] = equal_interval(x[i, 0], x.shape[1], 0, 1, LEVEL)
    return low, high


def measured(
    shape: Population, n: int, methods: Sequence[str], runs: int, resamples: int
) -> dict[str, tuple[float, float, float, float]]:
    """Method -> coverage, share above the mean, share below it, mean width."""
    chance = np.random.default_rng([n, runs])
    x = shape.draw(chance, (runs, n))
    found: dict[str, tuple[float, float, float, float]] = {}
    for method in methods:
        if method == "betting" and not shape.bounded:
            continue
        low, high = intervals(method, x, shape.bounded, resamples, chance)
        above, below = (
            float((low > shape.mean + 1e-12).mean()),
            float((high < shape.mean - 1e-12).mean()),
        )
        found[method] = (1 - above - below, above, below, float((high - low).mean()))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--shapes", default=";".join(SHAPES))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument(
        "--sides", action="store_true", help="also the shares above and below the mean"
    )
    given = parser.parse_args()
    methods, sizes = given.methods.split(","), [int(n) for n in given.sizes.split(",")]
    print("| shape | n |", " | ".join(methods), "| width beside t |")
    print("| --- | ---: |", " | ".join("---:" for _ in methods), "| --- |")
    for name in given.shapes.split(";"):
        for n in sizes:
            found = measured(SHAPES[name], n, methods, given.runs, given.resamples)
            cells = []
            for method in methods:
                if method not in found:
                    cells.append("–")
                    continue
                held, above, below, _ = found[method]
                cells.append(f"{held:.3f}" + (f" ({above:.3f} {below:.3f})" if given.sides else ""))
            base = found[methods[0]][3]
            widths = ", ".join(f"{m} {found[m][3] / base:.2f}" for m in methods[1:] if m in found)
            print(f"| {name} | {n} |", " | ".join(cells), f"| {widths} |", flush=True)


if __name__ == "__main__":
    main()

"""How often the first sentence of `compare` on two systems names the wrong one.

`python -m bench.verdict [--runs 1000] [--metrics 1,16] [--n 20,50,100,200] [--shape normal|steps]`

Samples of n differences new - old. On the first metric the true mean is an effect in standard deviations of a
difference (Cohen's d_z), to the better side; on every other metric it is 0. The sentence follows from the p that
`compare` adjusts over all metrics (`stats.max_t`), as in `analysis.compare.verdict`: shown (p at most .05), else
probable (the smallest p at most `PROBABLE`), else neither. It is wrong where it names the worse system, or any system
on a metric without a true difference. shape: `normal`, or differences of scores in steps of .25 that are mostly equal
(`steps`: 0 in seven of ten). Figures are shares of runs; their Monte Carlo error is sqrt(p (1 - p) / runs).
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from longmark.analysis.compare.verdict import PROBABLE
from longmark.stats.max_t import max_t
from longmark.stats.samples import Floats

EFFECTS = (0.0, 0.05, 0.1, 0.2, 0.3)
ALPHA = 0.05
_STEPS = np.array([-0.5, -0.25, 0.0, 0.25, 0.5])
_SHARES = np.array([0.05, 0.1, 0.7, 0.1, 0.05])


def differences(chance: np.random.Generator, n: int, metrics: int, shape: str) -> Floats:
    """Of mean 0 and standard deviation 1: n questions x metrics."""
    if shape == "normal":
        return chance.normal(0, 1, (n, metrics))
    spread = float(np.sqrt(_SHARES @ _STEPS**2))
    return np.asarray(chance.choice(_STEPS, (n, metrics), p=_SHARES) / spread)


def sentence(table: Floats, effect: float, seed: int) -> str:
    """What the sentence of a sample is, and whether it is right: `shown wrong`, `probable right`, ..., `neither`."""
    adjusted = max_t(table, permutations=999, seed=seed).adjusted
    p_values = [1.0 if p is None else p for p in adjusted]
    means = table.mean(axis=0)
    decided = [i for i, p in enumerate(p_values) if p <= ALPHA]
    named = decided
    form = "shown"
    if not decided:
        best = p_values.index(min(p_values))
        named = [best] if p_values[best] <= PROBABLE else []
        form = "probable"
    if not named:
        return "neither"
    right = all(i == 0 and effect > 0 and means[i] > 0 for i in named)
    return f"{form} {'right' if right else 'wrong'}"


def simulated(runs: int, n: int, metrics: int, effect: float, shape: str) -> Counter[str]:
    chance = np.random.default_rng((n, metrics, round(100 * effect)))
    counts = Counter[str]()
    for seed in range(runs):
        table = differences(chance, n, metrics, shape)
        if shape == "normal":
            table[:, 0] += effect
        else:
            # a share of the questions gets a step more: the mean moves by the effect, and the differences stay steps
            step = 0.25 / float(np.sqrt(_SHARES @ _STEPS**2))
            table[:, 0] += step * (chance.random(n) < effect / step)
        counts[sentence(table, effect, seed)] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--metrics", default="1,16")
    parser.add_argument("--n", default="20,50,100,200")
    parser.add_argument("--shape", choices=("normal", "steps"), default="normal")
    arguments = parser.parse_args()
    print("metrics  n  d_z  shown: right wrong  probable: right wrong  wrong of probable")
    for metrics in map(int, arguments.metrics.split(",")):
        for n in map(int, arguments.n.split(",")):
            for effect in EFFECTS:
                counts = simulated(arguments.runs, n, metrics, effect, arguments.shape)
                probable = counts["probable right"] + counts["probable wrong"]
                shares = [
                    f"{counts[outcome] / arguments.runs:.3f}"
                    for outcome in (
                        "shown right",
                        "shown wrong",
                        "probable right",
                        "probable wrong",
                    )
                ]
                wrong = f"{counts['probable wrong'] / probable:.2f}" if probable else ""
                print(metrics, n, effect, *shares, wrong, flush=True)


if __name__ == "__main__":
    main()

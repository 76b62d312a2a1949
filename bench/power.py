"""Whether the interval on the number of questions holds what it says: the table in docs/power.md.

`python -m bench.power [--pilots 2000] [--simulations 400]`

For each shape of differences, the true number of questions follows from the true spread (`stats.power.questions_needed`
for an effect of a quarter of the standard deviation). Pilots of each size are drawn; printed are the answers of the
pilots (5 % and 95 % quantiles), the share of 95 % intervals that hold the truth, with clusters of four questions too,
and the power of the paired sign-flip test at the true number by simulation.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from longmark.stats.permutation import paired_permutation
from longmark.stats.power import questions_needed, variance_per_question

Floats = NDArray[np.float64]
Drawn = Callable[[np.random.Generator, int], Floats]
SIZES = (30, 60, 150)
EFFECT = 0.25

SHAPES: dict[str, Drawn] = {
    "normal": lambda random, n: random.normal(size=n),
    "six values": lambda random, n: np.round(5 * (random.beta(3, 2, n) - random.beta(3, 2, n))) / 5,
    "near a ceiling": lambda random, n: random.beta(6, 0.6, n) - random.beta(5, 0.6, n),
    "equal in 80 %": lambda random, n: random.choice([-1.0, 0.0, 1.0], n, p=[0.1, 0.8, 0.1]),
    "heavy tails (t, 5 d.f.)": lambda random, n: random.standard_t(5, n),
}


def clustered(random: np.random.Generator, n: int) -> Floats:
    """Normal differences in clusters of four, half of the variance between clusters."""
    return np.repeat(random.normal(size=n // 4), 4) + random.normal(size=n // 4 * 4)


def truth(drawn: Drawn) -> tuple[float, int, float]:
    """The variance per question, the questions needed and the effect."""
    differences = drawn(np.random.default_rng(0), 2_000_000)
    if drawn is clustered:
        variance, effect = float(differences.reshape(-1, 4).mean(axis=1).var()) * 4, EFFECT * float(differences.std())
    else:
        variance = float(differences.var())
        effect = EFFECT * variance**0.5
    return variance, questions_needed(variance, effect, per_cluster=4 if drawn is clustered else 1) or 0, effect


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pilots", type=int, default=2_000)
    parser.add_argument("--simulations", type=int, default=400)
    how = parser.parse_args()
    print("| differences | needed | power | pilot | estimates (90 % of pilots) | coverage |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, drawn in {**SHAPES, "clusters of four": clustered}.items():
        random = np.random.default_rng(1)
        variance, needed, effect = truth(drawn)
        found = "–"
        if drawn is not clustered:
            middle = float(drawn(random, 1_000_000).mean())
            moved = (drawn(random, needed) - middle + effect for _ in range(how.simulations))
            tests = [paired_permutation(one, np.zeros(needed), permutations=999, seed=random) for one in moved]
            found = f"{np.mean([one.p is not None and one.p <= 0.05 for one in tests]):.3f}"
        for size in SIZES[1:] if drawn is clustered else SIZES:
            answers, held = list[float](), 0
            clusters = np.repeat(np.arange(size // 4), 4).tolist() if drawn is clustered else None
            for _ in range(how.pilots):
                sample = drawn(random, size)
                of = variance_per_question(sample, clusters=clusters)
                held += of.low is not None and of.high is not None and of.low <= variance <= of.high
                per_cluster = 4 if clusters else 1
                answers.append(questions_needed(of.value or 0.0, effect, per_cluster=per_cluster) or np.nan)
            low, high = np.quantile(answers, [0.05, 0.95])
            print(f"| {name} | {needed} | {found} | {size} | {low:.0f} to {high:.0f} | {held / how.pilots:.3f} |")


if __name__ == "__main__":
    main()

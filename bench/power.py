"""How many of the plans of `longmark power` reach the power that they promise: the table in docs/power.md.

`python -m bench.power [--pilots 200] [--assurance .8,.5]`

For each shape of differences, pilots of each size are drawn and planned (`analysis.power.comparison`) for a true
difference of a quarter of the standard deviation, in the direction in which it is harder to find. The true power at
each planned number of questions comes from a curve of 4,000 samples at each of 25 numbers, tested by Hall's t as in
`stats.max_t`. Printed: the median of the plans, the share whose true power is at least .8, and at least .7.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from longmark.analysis.power import Options, comparison
from longmark.stats.student import t_quantile

Floats = NDArray[np.float64]
Drawn = Callable[[np.random.Generator, tuple[int, int]], Floats]
SIZES, EFFECT, WANTED = (10, 20, 30, 60, 150), 0.25, 0.8
NUMBERS = np.unique(np.geomspace(20, 1500, 25).astype(int))

SHAPES: dict[str, Drawn] = {
    "normal": lambda random, size: random.normal(size=size),
    "six values": lambda random, size: np.round(5 * (random.beta(3, 2, size) - random.beta(3, 2, size))) / 5,
    "equal in 80 %": lambda random, size: random.choice([-1.0, 0.0, 1.0], size, p=[0.1, 0.8, 0.1]),
    "heavy tails (t, 5 d.f.)": lambda random, size: random.standard_t(5, size),
    "exponential": lambda random, size: random.exponential(1, size) - 1,
    "lognormal": lambda random, size: random.lognormal(0, 0.8, size) - np.exp(0.32),
}


def curve(random: np.random.Generator, drawn: Drawn, effect: float) -> Floats:
    """The power at each of `NUMBERS`."""
    powers = []
    for n in NUMBERS:
        d = drawn(random, (4_000, int(n))) + effect
        mean = d.mean(axis=1)
        u = d - mean[:, None]
        squares = (u * u).sum(axis=1)
        t, a = mean * n / np.sqrt(n / (n - 1) * squares), (u**3).sum(axis=1) / squares**1.5
        powers.append((np.abs(t + a * t * t / 3 + a * a * t**3 / 27 + a / 6) > t_quantile(0.95, n - 1)).mean())
    return np.array(powers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pilots", type=int, default=200)
    parser.add_argument("--assurance", default="0.8,0.5")
    given = parser.parse_args()
    assurances = [float(one) for one in given.assurance.split(",")]
    print("| differences | pilot |", " | ".join(f"assurance {one:g}: plan | >= .8 | >= .7" for one in assurances), "|")
    print("| --- | ---: |", " | ".join("---: | ---: | ---:" for _ in assurances), "|")
    for name, drawn in SHAPES.items():
        random = np.random.default_rng(1)
        sample = drawn(random, (1, 1_000_000))
        effect, middle = EFFECT * float(sample.std()), float(sample.mean())
        of = min((curve(random, drawn, sign * effect - middle) for sign in (1, -1)), key=lambda one: float(one.sum()))
        for size in SIZES:
            cells = []
            for assurance in assurances:
                how, plans = Options(effect=effect, assurance=assurance), list[float]()
                for _ in range(given.pilots):
                    made = comparison("m", 2, ("a", "b"), drawn(random, (1, size))[0], None, 0.05, how)
                    plans.append((made.needed and made.needed.value) or np.nan)
                known = [one for one in plans if not np.isnan(one)]
                reached = np.interp(known, NUMBERS, of)
                shares = " | ".join(f"{(reached >= least - 0.005).mean():.2f}" for least in (WANTED, 0.7))
                cells.append(f"{np.median(known):.0f} | {shares}")
            print(f"| {name} | {size} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()

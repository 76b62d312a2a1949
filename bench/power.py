"""How many of the plans of `longmark power` reach the power that they promise: the table in docs/power.md.

`python -m bench.power [--pilots 200] [--assurance .8,.5] [--only TEXT]`

For each shape of differences, pilots of each size are drawn and planned (`analysis.power.comparison`) for a true
difference of a quarter of the standard deviation, in the direction in which it is harder to find. The true power at
each planned number of questions comes from a curve of 4,000 samples at each of 25 numbers, tested by Hall's t as in
`stats.max_t`. Printed: the median of the plans, the share whose true power is at least .8, and at least .7.

Pilots in clusters have 4, or 1, 2, 4 and 16 differences in each in turn, which correlate by .5; sizes of pilots are
clusters, plans are questions, and the true difference is half of the standard deviation (1,000 samples).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from longmark.analysis.power import PowerOptions, comparison
from longmark.stats.clusters import effective, leverages
from longmark.stats.student import t_quantile

Floats = NDArray[np.float64]
Drawn = Callable[[np.random.Generator, tuple[int, int]], Floats]
SIZES, EFFECT, WANTED = (10, 20, 30, 60, 150), 0.25, 0.8
CLUSTERS = {"4 in each cluster": (4, 4, 4, 4), "1, 2, 4, 16 in a cluster": (1, 2, 4, 16)}
NUMBERS = np.unique(np.geomspace(20, 1500, 25).astype(int))

SHAPES: dict[str, Drawn] = {
    "normal": lambda random, size: random.normal(size=size),
    "six values": lambda random, size: (
        np.round(5 * (random.beta(3, 2, size) - random.beta(3, 2, size))) / 5
    ),
    "equal in 80 %": lambda random, size: random.choice([-1.0, 0.0, 1.0], size, p=[0.1, 0.8, 0.1]),
    "heavy tails (t, 5 d.f.)": lambda random, size: random.standard_t(5, size),
    "exponential": lambda random, size: random.exponential(1, size) - 1,
    "lognormal": lambda random, size: random.lognormal(0, 0.8, size) - np.exp(0.32),
}


def curve(random: np.random.Generator, drawn: Drawn, effect: float) -> Floats:
    """The power at each of `NUMBERS`."""
    return np.array(
        [
            significant(drawn(random, (4_000, n)) + effect, np.ones(n)).mean()
            for n in NUMBERS.tolist()
        ]
    )


def significant(sums: Floats, sizes: Floats) -> NDArray[np.bool_]:
    """Which samples (a row: the sums of clusters of these sizes) show a difference, by Hall's t."""
    count, n = len(sizes), sizes.sum()
    mean = sums.sum(axis=1) / n
    u = (sums - sizes * mean[:, None]) * leverages(sizes.tolist())
    squares = (u * u).sum(axis=1)
    t, a = mean * n / np.sqrt(count / (count - 1) * squares), (u**3).sum(axis=1) / squares**1.5
    critical = t_quantile(0.95, effective(sizes.tolist()) - 1)
    return np.asarray(np.abs(t + a * t * t / 3 + a * a * t**3 / 27 + a / 6) > critical)


def clustered(pilots: int, of: tuple[int, ...], assurances: list[float]) -> None:
    """The rows of normal differences in clusters of these sizes in turn."""
    random = np.random.default_rng(1)

    def sample(count: int, runs: int) -> tuple[Floats, NDArray[np.int64], Floats]:
        sizes = np.resize(of, count)
        number = np.repeat(np.arange(count), sizes)
        values = (
            random.normal(size=(runs, count))[:, number] + random.normal(size=(runs, len(number)))
        ) * 0.5**0.5
        return values, number, sizes.astype(np.float64)

    counts, powers = np.unique(np.geomspace(12, 400, 20).astype(int)), []
    for count in counts.tolist():
        values, _, sizes = sample(count, 1_000)
        starts = (np.cumsum(sizes) - sizes).astype(int)
        powers.append(significant(np.add.reduceat(values + 0.5, starts, axis=1), sizes).mean())
    for size in SIZES[1:4]:
        cells = []
        for assurance in assurances:
            how, plans = (
                PowerOptions(effect=0.5, assurance=assurance, cluster="document"),
                list[float](),
            )
            for _ in range(pilots):
                values, number, _ = sample(size, 1)
                made = comparison("m", ("a", "b"), values[0], number.tolist(), 0.05, how)
                plans.append((made.needed and made.needed.value) or np.nan)
            cells.append(cell(plans, counts * np.mean(of), np.array(powers)))
        name = next(name for name, one in CLUSTERS.items() if one == of)
        print(f"| normal, {name} | {size} |", " | ".join(cells), "|", flush=True)


def cell(plans: list[float], numbers: Floats, powers: Floats) -> str:
    """The median plan, and the shares of plans with a power of .8 and of .7."""
    known = [one for one in plans if not np.isnan(one)]
    reached = np.interp(known, numbers, powers)
    shares = " | ".join(f"{(reached >= least - 0.005).mean():.2f}" for least in (WANTED, 0.7))
    return f"{np.median(known):.0f} | {shares}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pilots", type=int, default=200)
    parser.add_argument("--assurance", default="0.8,0.5")
    parser.add_argument("--only", default="", help="rows with this text in their names")
    given = parser.parse_args()
    assurances = [float(one) for one in given.assurance.split(",")]
    print(
        "| differences | pilot |",
        " | ".join(f"assurance {one:g}: plan | >= .8 | >= .7" for one in assurances),
        "|",
    )
    print("| --- | ---: |", " | ".join("---: | ---: | ---:" for _ in assurances), "|")
    for name, of in CLUSTERS.items():
        if given.only in name:
            clustered(given.pilots, of, assurances)
    for name, drawn in SHAPES.items():
        if given.only not in name:
            continue
        random = np.random.default_rng(1)
        sample = drawn(random, (1, 1_000_000))
        effect, middle = EFFECT * float(sample.std()), float(sample.mean())
        powers = min(
            (curve(random, drawn, sign * effect - middle) for sign in (1, -1)),
            key=lambda one: float(one.sum()),
        )
        for size in SIZES:
            cells = []
            for assurance in assurances:
                how, plans = PowerOptions(effect=effect, assurance=assurance), list[float]()
                for _ in range(given.pilots):
                    made = comparison("m", ("a", "b"), drawn(random, (1, size))[0], None, 0.05, how)
                    plans.append((made.needed and made.needed.value) or np.nan)
                cells.append(cell(plans, NUMBERS, powers))
            print(f"| {name} | {size} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()

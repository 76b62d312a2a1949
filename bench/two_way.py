"""How often the interval of metaeval's human ceiling holds the value of another rater on another item.

`python -m bench.two_way [--runs 400] [--raters 3,5,8,12,20] [--items 100]`

A rating is item + rater's severity + rater's scale x item + noise, cut into five classes; raters and items are drawn
anew in each run. `all`: every rater rates every item; `3 of R`, `2 of R`: so many raters an item.
The truth is the value with new raters for each item, of 200,000 items. Shown: coverage of intervals over items only,
and over items and raters (nominal .95), the Monte Carlo error, and the mean width beside that of items only.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from longmark.analysis.metaeval import agreement as module
from longmark.analysis.metaeval.agreement import RatedItems, Vote, agreement
from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.stats.samples import Floats, Ints

SPREADS = {"raters alike": (0.0, 0.0), "severity": (0.5, 0.0), "severity and scale": (0.5, 0.3)}
NAMES = ("pearson", "spearman", "agrees")
Seed = np.random.Generator


def ratings(
    random: Seed, items: int, raters: int, each: int, spread: tuple[float, float]
) -> tuple[Floats, Ints]:
    """The ratings, shape (items, each), and who gave them."""
    worth = random.normal(size=(items, 1))
    severity, scale = random.normal(0, spread[0], raters), 1 + random.normal(0, spread[1], raters)
    who = np.argsort(random.random((items, raters)), axis=1)[:, :each]
    return severity[who] + scale[who] * worth + random.normal(0, 0.7, (items, each)), who


def fresh(random: Seed, items: int, each: int, spread: tuple[float, float]) -> Floats:
    """Ratings of which each is by a rater of its own."""
    severity, scale = (
        random.normal(0, spread[0], (items, each)),
        1 + random.normal(0, spread[1], (items, each)),
    )
    return severity + scale * random.normal(size=(items, 1)) + random.normal(0, 0.7, (items, each))


def classes(values: Floats) -> Floats:
    return np.clip(np.round(values) + 3, 1, 5)


def truth(given: Floats) -> tuple[float, float, float]:
    """Of a rater against the others: Pearson, Spearman, agreement with the majority."""
    beside, most = module._means(given), module._majorities(given)
    x, y = given.ravel(), beside.ravel()
    ranks = [module._midranks(column)(column) for column in (x, y)]
    there = ~np.isnan(most)
    return (
        float(np.corrcoef(x, y)[0, 1]),
        float(np.corrcoef(ranks[0], ranks[1])[0, 1]),
        float((given == most)[there].mean()),
    )


def rated(given: Floats, who: Ints) -> RatedItems:
    votes = [
        [Vote(f"r{rater}", f"{value:g}", float(value)) for value, rater in zip(*pair, strict=True)]
        for pair in zip(given, who, strict=True)
    ]
    return RatedItems(votes, numeric=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--raters", default="3,5,8,12,20")
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    module._coefficients = lambda *_: []
    module._RESAMPLES = 400
    print(
        f"{options.runs} runs of {options.items} items; Monte Carlo error at .95: {(0.0475 / options.runs) ** 0.5:.3f}"
    )
    for (name, spread), raters, design in product(
        SPREADS.items(), map(int, options.raters.split(",")), ("all", "3 of R", "2 of R")
    ):
        each = {"all": raters, "3 of R": 3, "2 of R": 2}[design]
        if each == raters and design != "all":
            continue
        is_true = truth(classes(fresh(random, 200_000, min(each, 8), spread)))
        if each > 8:  # the mean of the others depends on their number
            is_true = truth(classes(fresh(random, 50_000, each, spread)))
        held = np.zeros((2, 3))
        width = np.zeros((2, 3))
        count = np.zeros((2, 3))
        for _ in range(options.runs):
            given, who = ratings(random, options.items, raters, each, spread)
            data = rated(classes(given), who)
            for place, least in enumerate((np.inf, 0.0)):
                module.FEWEST_RATERS = least
                (found,) = agreement(data, {}, {}, MetaevalOptions()).ceilings
                for column, what in enumerate(NAMES):
                    one = getattr(found, what)
                    if one is not None and one.low is not None and one.high is not None:
                        count[place, column] += 1
                        held[place, column] += one.low <= is_true[column] <= one.high
                        width[place, column] += one.high - one.low
        share, mean = held / count, width / count
        cells = [
            f"{what} {share[0, k]:.3f} {share[1, k]:.3f} x{mean[1, k] / mean[0, k]:.2f}"
            for k, what in enumerate(NAMES)
        ]
        print(f"{name:20} {raters:3} raters, {design:7} " + "   ".join(cells), flush=True)


if __name__ == "__main__":
    main()

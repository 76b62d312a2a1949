"""What the resampling statistics cost beside their peers, in one run, and whether they keep what they promise.

`python -m bench.stats [costs] [levels] [gate] [--runs 3000]`

costs: CPU seconds, the best of three runs (slow peers run once), the ratio to ours, and the memory that ours needs:

    Tukey HSD            10,000 permutations of 4,719 x 6; `plain`: shuffled by argsort of random keys, in chunks of
                         tables; `listing`: row by row in Python, as the paper prints it, reckoned from 30 permutations
    paired permutation   10,000 sign patterns of n = 1,200; SciPy's `permutation_test`, vectorised
    BCa                  10,000 resamples of n = 1,200; SciPy's `bootstrap`, vectorised
    agreement            Fleiss's kappa and ordinal alpha, 2,000 resamples, three raters, five marks, at 6,274 items and
                         at twice as many; SciPy's `bootstrap` of Fleiss's kappa, vectorised, at 6,274

levels: how often, under the null hypothesis, each test and correction finds something at .05, beside the binomial
99.9 % interval for the runs made. gate: how far below the mean of the sample the bound of `--fail-under` lies,
beside Student's t and a bound by betting, and how often each is above the true mean (.025 at most).
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np
from bench.coverage import SHAPES
from bench.means import bet, student
from scipy import stats
from tests.stats.resampled_mean import bootstrap_mean

from longmark.stats import gate as bounds
from longmark.stats.agreement import fleiss_kappa, krippendorff_alpha
from longmark.stats.multiplicity import METHODS, NONE, adjust
from longmark.stats.permutation import paired_permutation
from longmark.stats.samples import Floats
from longmark.stats.tukey import tukey

ALPHA = 0.05
SCALE = {False: "", True: ", five marks"}


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """The least CPU time of some runs."""
    least = float("inf")
    for _ in range(times):
        began = time.process_time()
        work()
        least = min(least, time.process_time() - began)
    return least


def memory() -> float:
    """The greatest memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def line(name: str, ours: float, peers: dict[str, float]) -> None:
    shown = "   ".join(
        f"{peer} {spent:8.3f} s ({spent / ours:,.0f}x)" for peer, spent in peers.items()
    )
    print(f"{name:20} {ours:8.4f} s   {shown}")


def plain_tukey(table: np.ndarray, permutations: int, chunk: int = 50) -> np.ndarray:
    """The statistic of shuffled tables, vectorised without further thought."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(0, permutations, chunk):
        order = np.argsort(random.random((chunk, *table.shape)), axis=2)
        shuffled = np.take_along_axis(np.broadcast_to(table, order.shape), order, axis=2)
        found.append(np.ptp(shuffled.mean(axis=1), axis=1))
    return np.concatenate(found)


def listing_tukey(table: np.ndarray, permutations: int) -> np.ndarray:
    """The statistic of shuffled tables, one row at a time."""
    random = np.random.RandomState(0)
    found = []
    for _ in range(permutations):
        shuffled = np.full(table.shape, np.nan)
        for t, row in enumerate(table):
            there = ~np.isnan(row)
            if there.any():
                shuffled[t, there] = random.permutation(row[there])
        means = np.nanmean(shuffled, axis=0)
        found.append(np.nanmax(means) - np.nanmin(means))
    return np.array(found)


def costs(_runs: int) -> None:
    random = np.random.default_rng(0)
    table = np.clip(random.normal(0.7, 0.2, (4_719, 1)) + random.normal(0, 0.15, (4_719, 6)), 0, 1)
    a = random.random(1_200)
    b = a + random.normal(0.004, 0.1, 1_200)
    before = memory()
    ours = seconds(lambda: tukey(table, "ABCDEF"))
    paired_permutation(a, b)
    bootstrap_mean(a)
    needed = memory() - before
    peers = {
        "plain": seconds(lambda: plain_tukey(table, 10_000), 1),
        "listing": seconds(lambda: listing_tukey(table, 30), 1) * 10_000 / 30,
    }
    line("Tukey HSD", ours, peers)

    def theirs(batch: int) -> object:
        return stats.permutation_test(
            (a, b), lambda x, y, axis: np.mean(x - y, axis=axis), permutation_type="samples", n_resamples=10_000,
            vectorized=True, batch=batch,
        )  # fmt: skip

    ours = seconds(lambda: paired_permutation(a, b), 5)
    peers = {
        f"SciPy, batch {batch:,}": seconds(partial(theirs, batch), 1) for batch in (100, 1_000)
    }
    line("paired permutation", ours, peers)
    ours = seconds(lambda: bootstrap_mean(a))
    scipys = seconds(
        lambda: stats.bootstrap((a,), np.mean, n_resamples=10_000, vectorized=True, rng=0)
    )
    line("BCa", ours, {"SciPy": scipys})
    print(f"{'memory of all three':20} {needed:5.0f} MB")
    agreement(random)


def agreement(random: np.random.Generator) -> None:
    n = 6_274
    truth = random.integers(0, 5, (2 * n, 1))
    marks = np.where(random.random((2 * n, 3)) < 0.7, truth, random.integers(0, 5, (2 * n, 3)))
    chosen = (marks[:n, :, None] == np.arange(5)).sum(axis=1)

    def fleiss(agreeing: np.ndarray, *counts: np.ndarray, axis: int) -> np.ndarray:
        chance = sum((count.mean(axis) / 3) ** 2 for count in counts)
        return np.asarray((agreeing.mean(axis) - chance) / (1 - chance))

    columns = ((chosen * (chosen - 1)).sum(axis=1) / 6, *chosen.T)

    def scipys() -> object:
        return stats.bootstrap(
            columns, fleiss, paired=True, n_resamples=2_000, vectorized=True, batch=100, rng=0
        )

    before = memory()
    for name, coefficient in (
        ("Fleiss", fleiss_kappa),
        ("ordinal alpha", partial(krippendorff_alpha, scale="ordinal")),
    ):
        ours = seconds(partial(coefficient, marks[:n]))
        twice = seconds(partial(coefficient, marks))
        peers = {"SciPy": seconds(scipys, 1)} if name == "Fleiss" else {}
        line(name, ours, {"twice the items": twice, **peers})
    print(f"{'memory of these':20} {memory() - before:5.0f} MB")


def null_tables(
    random: np.random.Generator, runs: int, n: int, k: int, five: bool
) -> Iterator[np.ndarray]:
    """Systems that are alike, on questions that are not. five: on a scale of five marks, with many ties."""
    for _ in range(runs):
        table = random.random((n, 1)) + random.normal(0, 0.3, (n, k))
        yield np.round(np.clip(table, 0, 1) * 4) / 4 if five else table


def said(name: str, found: int, runs: int, share: float, at_most: bool = False) -> None:
    """at_most: the share is a bound, as where ties leave few values for p or where tests hang together."""
    low, high = stats.binom.interval(0.999, runs, share)
    verdict = "within" if (at_most or low <= found) and found <= high else "OUTSIDE"
    expected = f"at most {high / runs:.4f}" if at_most else f"{low / runs:.4f} to {high / runs:.4f}"
    print(f"{name:52} {found / runs:.4f}   {verdict} {expected} of {share:.3g}", flush=True)


def levels(runs: int) -> None:
    random = np.random.default_rng(1)
    print(f"{runs:,} runs each; under the null hypothesis the share with p <= {ALPHA}")
    for n, five in product((12, 60), (False, True)):
        found = 0
        for table in null_tables(random, runs, n, 2, five):
            p = paired_permutation(table[:, 0], table[:, 1], permutations=999, seed=random).p
            found += p is not None and p <= ALPHA
        said(f"paired permutation, n = {n}{SCALE[five]}", found, runs, ALPHA, at_most=five)
    for k, five in product((3, 6), (False, True)):
        any_pair = 0
        single = dict.fromkeys(METHODS, 0)
        for table in null_tables(random, runs, 30, k, five):
            pairs = tukey(table, "ABCDEF"[:k], permutations=999, seed=random).pairs
            any_pair += any(pair.p is not None and pair.p <= ALPHA for pair in pairs)
            each = [
                paired_permutation(table[:, i], table[:, j], permutations=999, seed=random).p
                for i in range(k)
                for j in range(i)
            ]
            for method in METHODS:
                single[method] += any(adjust(each, method).significant)
        said(f"Tukey HSD, {k} systems, any pair{SCALE[five]}", any_pair, runs, ALPHA, at_most=five)
        for method, found in single.items():
            name = f"  separate tests, {method}, any pair{SCALE[five]}"
            if method == NONE:
                print(f"{name:52} {found / runs:.4f}   (nothing is promised)")
            else:
                said(name, found, runs, ALPHA, at_most=True)


def gate(runs: int) -> None:
    print(
        f"{runs:,} samples: share of lower bounds above the mean; 20 samples: distance from the sample's mean"
    )
    shapes: dict[str, tuple[Callable[[np.random.Generator, tuple[int, int]], Floats], float]]
    shapes = {name: (shape.draw, shape.mean) for name, shape in SHAPES.items() if shape.bounded}
    for (name, (draw, mean)), n in product(shapes.items(), (20, 100)):
        x = draw(np.random.default_rng(n), (runs, n))
        terms = np.concatenate([x - mean, np.full((runs, 1), -mean)], axis=1)
        missed = [
            np.mean(
                np.concatenate(
                    [rare(part) for part in np.array_split(terms, max(1, runs * n // 100_000))]
                )
            )
        ]
        low = [student(x)[0], bet(x)]
        missed += [np.mean(one > mean + 1e-9) for one in low]
        few = x[:20]
        ours = [bounded(one).lower() for one in few.tolist()]
        gaps = [np.mean(few.mean(1) - one) for one in (ours, low[0][:20], low[1][:20])]
        parts = zip(("Gaffke", "t", "betting"), gaps, missed, strict=True)
        print(
            f"{name:20} {n:4}  "
            + "   ".join(f"{who} {gap:.3f} ({miss:.4f})" for who, gap, miss in parts),
            flush=True,
        )


def bounded(values: list[float]) -> bounds.BoundedScores:
    scores = bounds.BoundedScores(0, 1)
    for value in values:
        scores.add(value)
    return scores


def rare(terms: Floats) -> np.ndarray:
    """`stats.gate._is_rare` of many rows of terms at once: whether the lower bound is above the mean."""
    left = 1 / terms.min(axis=1)
    right, low = np.zeros(len(terms)), left
    for _ in range(30):
        z = (left + right) / 2
        up = (terms / (1 - terms * z[:, None])).sum(axis=1) - 1 / z > 0
        left, right = np.where(up, left, z), np.where(up, z, right)
    width = 1 / np.sqrt(((terms / (1 - terms * z[:, None])) ** 2).sum(axis=1) + 1 / z**2)
    total = np.zeros(len(terms))
    for u in np.arange(0, 12, 0.05):
        at = z + 1j * width * np.sinh(u)
        value = np.exp(-np.log(1 - terms * at[:, None]).sum(axis=1)) / -at * width * np.cosh(u)
        total += value.real * (0.5 if u == 0 else 1)
        if np.abs(value).max() < 1e-14:
            break
    return np.asarray((total * 0.05 / np.pi <= bounds.TAIL) & (terms.max(axis=1) > 0) & (low < 0))


PARTS: dict[str, Callable[[int], None]] = {"costs": costs, "levels": levels, "gate": gate}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", metavar="costs|levels|gate", help="all of them, if none is named"
    )
    parser.add_argument("--runs", type=int, default=3_000)
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    for name in given.parts or PARTS:
        PARTS[name](given.runs)


if __name__ == "__main__":
    main()

"""Do intervals of means and differences that labels correct hold (`stats.corrected`)? The tables in design/coverage.md.

`python -m bench.corrected [simulated] [replay] [--runs 1000]`

    simulated  400 questions, two systems, true means 0 and .3; a judge that correlates with the truth and favours the
               second system by .5. Share of nominal 95 % intervals that hold the truth, of the corrected mean of the
               first and of the difference; and what a label is worth beside labels alone (median ratio)
    replay     SummEval's expert means (100 documents, 16 systems; ../shared/data) with ROUGE-1 as the judge, each pair
               of systems: labels of n documents, the truth is the mean over all 100. Intervals are for documents in
               general, so they hold the mean of these 100 more often than their level: by the finite population
               correction, the half-width is sqrt(1 / (1 - n / 100)) of what these 100 need
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import NormalDist, fmean, median

import numpy as np

from longmark.metrics.classic._rouge import RougeParams, best, ngrams_in_common
from longmark.stats.corrected import LabelledScores, calibrated, corrected
from longmark.stats.results import Estimate

SUMMEVAL = Path(__file__).parents[2] / "shared" / "data" / "summeval" / "expert_means.jsonl"
LABELS = (20, 50, 100)
QUESTIONS = 400
FIRST, BOTH = {0: 1.0}, {1: 1.0, 0: -1.0}
CASES: dict[str, dict[str, object]] = {
    "a good judge (.8)": {},
    "a better judge (.95)": {"correlation": 0.95},
    "a weak judge (.3)": {"correlation": 0.3},
    "scores as they are": {"calibrate": False},
    "skewed scores as they are": {"skewed": True, "calibrate": False},
    "verdicts and labels of 0 and 1": {"binary": True},
    "the same questions labelled of both": {"together": True},
    "chosen by how far a score is from the middle": {"weighted": True},
}


def drawn(
    chance: np.random.Generator,
    n: int,
    correlation: float = 0.8,
    *,
    calibrate: bool = True,
    skewed: bool = False,
    binary: bool = False,
    together: bool = False,
    weighted: bool = False,
) -> LabelledScores:
    shape = (QUESTIONS, 2)
    truth = 0.6 * chance.normal(size=(QUESTIONS, 1)) + 0.8 * chance.normal(size=shape) + [0, 0.3]
    scores = (
        correlation * truth + math.sqrt(1 - correlation**2) * chance.normal(size=shape) + [0, 0.5]
    )
    if skewed:
        scores = np.exp(scores)
    if binary:
        truth, scores = (truth > 0.8).astype(float), (scores > 0.5).astype(float)
    weights = None
    if weighted:  # half of the chance is alike for all, half goes by the distance
        apart = np.abs(scores - np.median(scores))
        chances = np.clip(n / QUESTIONS * (0.5 + 0.5 * apart / apart.mean()), 0, 1)
        chosen, weights = chance.random(shape) < chances, 1 / chances
    else:
        order = chance.random((QUESTIONS, 1) if together else shape)
        chosen = np.broadcast_to(order.argsort(axis=0).argsort(axis=0) < n, shape)
    table = LabelledScores(scores, np.where(chosen, truth, np.nan), weights)
    return calibrated(table, int(chance.integers(2**31))) if calibrate else table


def simulated(runs: int) -> None:
    print(
        "| | labels | mean | difference | labels alone | worth |\n| --- | --- | --- | --- | --- | --- |"
    )
    for name, more in CASES.items():
        at = NormalDist().cdf
        truths = (1 - at(0.8), at(0.8) - at(0.5)) if more.get("binary") else (0.0, 0.3)
        for n in LABELS:
            chance = np.random.default_rng(1)
            tables = [drawn(chance, n, **more) for _ in range(runs)]  # type: ignore[arg-type]
            one, two = ([corrected(table, sides) for table in tables] for sides in (FIRST, BOTH))
            alone = [pair.people for pair in two if pair.people]
            shares = (share(one, truths[0]), share(two, truths[1]), share(alone, truths[1]))
            worth = median(pair.worth / pair.labelled for pair in two if pair.worth)
            print(
                f"| {name} | {n} | "
                + " | ".join(f"{held:.3f}".removeprefix("0") for held in shares)
                + f" | {worth:.2f} |",
                flush=True,
            )


def share(estimates: Sequence[Estimate], truth: float) -> float:
    """Of the intervals that hold the truth, among those that there are."""
    return fmean(
        one.low <= truth <= one.high
        for one in estimates
        if one.low is not None and one.high is not None
    )


def replay(runs: int) -> None:
    lines = [json.loads(line) for line in SUMMEVAL.read_text().splitlines()]
    systems = sorted(lines[0]["systems"])
    own = [[line["systems"][name] for name in systems] for line in lines]
    scores = np.array(
        [
            [rouge(cell["summary"], line["ref"]) for cell in row]
            for line, row in zip(lines, own, strict=True)
        ]
    )
    print(
        "| label | labels | with an interval | held | labels alone | worth |\n" + "| --- " * 6 + "|"
    )
    for label in ("relevance", "coherence", "consistency", "fluency"):
        truth = np.array([[cell[label] for cell in row] for row in own])
        for n in (20, 50):
            samples = max(1, runs // 120)
            found = list(replayed(scores, truth, n, samples))
            some = len(found) / (samples * math.comb(len(systems), 2))
            held, alone = (
                [low <= true <= high for low, high, true, _ in its]
                for its in zip(*found, strict=True)
            )
            worth = median(one[3] for one, _ in found)
            print(
                f"| {label} | {n} | {some:.3f} | {fmean(held):.3f} | {fmean(alone):.3f} | {worth:.2f} |",
                flush=True,
            )


def rouge(answer: str, reference: str) -> float:
    return best(partial(ngrams_in_common, 1), answer, [reference], RougeParams()).value or 0.0


Held = tuple[float, float, float, float]


def replayed(
    scores: np.ndarray, truth: np.ndarray, n: int, runs: int
) -> Iterator[tuple[Held, Held]]:
    """Ends, truth and worth of each pair of systems, corrected and by labels alone."""
    chance = np.random.default_rng(2)
    for _ in range(runs):
        chosen = chance.permutation(len(scores))[:n]
        labels = np.full_like(truth, np.nan)
        labels[chosen] = truth[chosen]
        table = calibrated(LabelledScores(scores, labels), int(chance.integers(2**31)))
        for a, b in combinations(range(scores.shape[1]), 2):
            found = corrected(table, {a: 1.0, b: -1.0})
            if found.ends and found.people and found.people.ends:
                true, worth = float((truth[:, a] - truth[:, b]).mean()), found.worth or 0.0
                yield (*found.ends, true, worth / found.labelled), (*found.people.ends, true, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("which", nargs="*", choices=["simulated", "replay", []])
    parser.add_argument("--runs", type=int, default=1000)
    given = parser.parse_args()
    for name in given.which or ("simulated", "replay"):
        {"simulated": simulated, "replay": replay}[name](given.runs)


if __name__ == "__main__":
    main()

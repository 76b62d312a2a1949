"""Does `longmark decide` keep its promise, and what does it save? The tables in docs/decide.md and design/decide.md.

`python -m bench.decide [--replays 2000] [--questions 1000]`, and `--clusters` for the second table

SummEval's expert means of relevance (1 to 5; 100 documents, 16 systems; ../shared/data): the differences of a pair of
systems are the population, of which each replay draws questions, so the true mean is known. Scenarios:

    null          the differences of a pair and their negatives: a mean of 0, no margin. Any decision is wrong
    equivalent    the same, with a margin of half a point
    small effect, large effect   two pairs, without a margin
    at the margin a pair whose true mean is the margin: `equivalent` is wrong, `better` is right

The looks are those of the command. Fixed n: a paired t test on all questions of the file; `planned`: on as many as have
a power of .8 for this very population, which nobody knows before. A call scores an answer and costs $.002.

With --clusters: differences of scores between 0 and 1 with a standard deviation of .25 and a mean of half of it, that
correlate by .5 within a cluster, in clusters laid out as in `bench.coverage`: the share of replays in which `decide`
finds the difference, and in which `compare` does on all of them. Then the same with a mean of 0, at any look: what is
found is false.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from bench.coverage import LAYOUTS, sizes, table, uniform
from scipy import stats

from longmark.contrib.decide.cli.decide import next_look
from longmark.stats.betting import confidence_sequence, log_capital, plug_in_bets
from longmark.stats.max_t import max_t

SUMMEVAL = Path(__file__).parents[2] / "shared" / "data" / "summeval" / "expert_means.jsonl"
ALPHA, WIDTH, USD = 0.05, 4.0, 0.002
Population = tuple[str, np.ndarray, float | None, str]


def populations() -> Iterator[Population]:
    """(name, differences, margin, the right result)."""
    lines = [json.loads(line)["systems"] for line in SUMMEVAL.read_text().splitlines()]
    systems = sorted(lines[0])
    columns = np.array([[line[name]["relevance"] for name in systems] for line in lines])
    pairs = [
        columns[:, a] - columns[:, b]
        for a in range(len(systems))
        for b in range(len(systems))
        if a != b
    ]
    apart = sorted((one for one in pairs if one.mean() > 0), key=lambda one: one.mean() / one.std())

    def nearest(effect: float) -> np.ndarray:
        return min(apart, key=lambda one: abs(one.mean() / one.std() - effect))

    both = np.concatenate([nearest(0.2), -nearest(0.2)])
    yield "null", both, None, "undecided"
    yield "equivalent", both, 0.5, "equivalent"
    yield "small effect (d = .2)", nearest(0.2), None, "better"
    yield "large effect (d = .8)", nearest(0.8), None, "better"
    yield "at the margin (d = .5)", nearest(0.5), float(nearest(0.5).mean()), "better"


def looks(questions: int) -> list[int]:
    found = [next_look(0, None)]
    while found[-1] < questions:
        found.append(min(questions, next_look(found[-1], None)))
    return found


def hit(values: np.ndarray, mean: float, side: int) -> int:
    """The question with which a mean is rejected because the true one is above (side 1) or below (-1); none: huge."""
    shares, m = (values + WIDTH) / (2 * WIDTH), (mean + WIDTH) / (2 * WIDTH)
    shares, m = (shares, m) if side > 0 else (1 - shares, 1 - m)
    ones = np.ones(len(shares))
    over = log_capital(shares, ones, plug_in_bets(shares, ones, ALPHA), m) >= math.log(2 / ALPHA)
    return int(over.argmax()) + 1 if over.any() else 10**9


def replay(values: np.ndarray, margin: float | None, at: list[int]) -> tuple[str, int]:
    """The result, and the questions that were scored."""
    better, worse = hit(values, 0, 1), hit(values, 0, -1)
    within = 10**9 if margin is None else max(hit(values, -margin, 1), hit(values, margin, -1))
    for n in at:
        for word, needed in (("equivalent", within), ("better", better), ("worse", worse)):
            if needed <= n:
                return word, n
    return "undecided", at[-1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--replays", type=int, default=2000)
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--clusters", action="store_true")
    given = parser.parse_args()
    if given.clusters:
        print_clusters(given.replays)
        return
    at, chance = looks(given.questions), np.random.default_rng(1)
    heads = (
        "",
        "right",
        "wrong",
        "truth left out",
        "questions, mean (median)",
        "a right decision",
        "fixed n",
        "planned",
    )
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for name, population, margin, right in populations():
        true = float(population.mean())
        made, out, significant = [], 0, 0
        for _ in range(given.replays):
            values = chance.choice(population, given.questions)
            made.append(replay(values, margin, at))
            out += min(hit(values, true, 1), hit(values, true, -1)) <= given.questions
            significant += fixed(values, margin, right)
        good = float(np.mean([result == right for result, _ in made]))
        bad = np.mean([result not in (right, "undecided") for result, _ in made])
        used, needed = [n for _, n in made], planned(population, margin, right)
        costs = (
            2 * float(np.mean(used)) / good if good else None,
            2 * given.questions * given.replays / significant if significant else None,
            2 * needed / 0.8 if needed else None,
        )
        shown = " | ".join(
            "" if calls is None else f"{calls:,.0f} calls, ${USD * calls:.2f}" for calls in costs
        )
        shares = f"{good:.3f} | {bad:.4f} | {out / given.replays:.4f}"
        print(
            f"| {name} | {shares} | {np.mean(used):.0f} ({np.median(used):.0f}) | {shown} |",
            flush=True,
        )


def print_clusters(replays: int) -> None:
    def cell(mean: float, number: str, layout: str) -> str:
        own, decided, found = np.array(sizes(layout, int(number))), 0, 0
        for seed in range(replays):
            chance = np.random.default_rng([int(number), seed])
            clusters = np.repeat(np.arange(len(own)), chance.permutation(own))
            values = np.clip(mean + 0.25 * stats.norm.ppf(uniform(chance, clusters, ())), -1, 1)
            sequence = confidence_sequence(
                values, (-1, 1), level=1 - ALPHA, units=clusters, largest=int(own.max())
            )
            decided += (
                sequence.ends is not None and not sequence.ends[0] <= 0 <= sequence.ends[1]
            )  # it only narrows
            p = max_t(
                values[:, None], clusters=clusters.tolist(), permutations=199, seed=seed
            ).adjusted[0]
            found += p is not None and p <= ALPHA
        return f"{decided / replays:.3f} / {found / replays:.3f}"

    for mean in (0.125, 0.0):
        print(f"decide / compare, a mean of {mean:g}\n")
        table("units", LAYOUTS[:3], ["20", "50", "100", "200", "400"], partial(cell, mean))


def fixed(values: np.ndarray, margin: float | None, right: str) -> bool:
    """Whether the t test on all questions (two one-sided ones for equivalence) is right."""
    error = values.std(ddof=1) / math.sqrt(len(values))
    if right == "equivalent":
        reach = stats.t.ppf(1 - ALPHA, len(values) - 1) * error
        return bool(abs(values.mean()) + reach < (margin or 0))
    found = abs(values.mean()) > stats.t.ppf(1 - ALPHA / 2, len(values) - 1) * error
    return bool(not found if right == "undecided" else found and values.mean() > 0)


def planned(population: np.ndarray, margin: float | None, right: str) -> float | None:
    """Questions for a power of .8 with the true mean and spread (normal quantiles)."""
    q = stats.norm.ppf
    if right == "undecided":
        return None
    effect, reach = (
        (margin, q(1 - ALPHA) + q(0.9))
        if right == "equivalent"
        else (population.mean(), q(1 - ALPHA / 2) + q(0.8))
    )
    return float((reach * population.std() / (effect or 1)) ** 2)


if __name__ == "__main__":
    main()

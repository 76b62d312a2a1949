"""How many labels `label next` needs beside answers drawn alike (`stats.drawing`). The table in docs/label.md.

`python -m bench.label_next [--runs 2000] [--labels 80]`

Replays: SummEval's experts (100 documents, 16 systems; ../shared/data) label relevance; the score is ROUGE-1, or their
own mean of coherence, as a judge that follows them. Each run takes two systems. Simulated: 400 questions and two
systems, labels that follow the scores everywhere alike, and labels that follow them in the lower half of the scores
only. Each arm labels as many answers and corrects the difference:

    answers    single answers, all alike (the usual random sample; what the others are held against)
    questions  whole questions, all alike: what `label next` draws first
    residuals  half of them so, half by how far labels are expected from the scores: what it draws next

ratio: mean squared error over that of `answers`, which is the ratio of labels for the same half-width, since the
variance goes with 1 / labels; 95 % interval by resampling runs. held: share of nominal 95 % intervals that hold the
truth (of finite replays more, see bench.corrected).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from statistics import fmean
from typing import Any

import numpy as np
from bench.corrected import SUMMEVAL, rouge
from numpy.typing import NDArray

from longmark.stats.corrected import LabelledScores, calibrated, corrected
from longmark.stats.drawing import probabilities, residual_sizes, systematic

Table = tuple[np.ndarray, np.ndarray]
"""Scores and labels of all answers, of two systems."""
PAIR = np.array([0, 1])


def summeval(
    score: Callable[[dict[str, Any], str], float],
) -> Callable[[np.random.Generator], Table]:
    lines = [json.loads(line) for line in SUMMEVAL.read_text().splitlines()]
    systems = sorted(lines[0]["systems"])
    cells = [[line["systems"][name] for name in systems] for line in lines]
    scores = np.array(
        [[score(cell, line["ref"]) for cell in row] for line, row in zip(lines, cells, strict=True)]
    )
    truth = np.array([[cell["relevance"] for cell in row] for row in cells])

    def drawn(chance: np.random.Generator) -> Table:
        two = chance.permutation(len(systems))[:2]
        return scores[:, two], truth[:, two]

    return drawn


def simulated(where: float) -> Callable[[np.random.Generator], Table]:
    """where: the share of the scores' range above which labels are far from them."""

    def drawn(chance: np.random.Generator) -> Table:
        scores = (chance.random((400, 1)) + chance.random((400, 2))) / 2
        noise = np.where(scores > where, 0.5, 0.05) * chance.normal(size=scores.shape)
        return scores, scores + noise + [0, 0.1]

    return drawn


def answers(
    scores: np.ndarray, truth: np.ndarray, n: int, chance: np.random.Generator
) -> LabelledScores:
    labels = np.full_like(truth, np.nan)
    chosen = chance.permutation(truth.size)[:n]
    labels.flat[chosen] = truth.flat[chosen]
    return LabelledScores(scores, labels)


def questions(
    scores: np.ndarray, truth: np.ndarray, n: int, chance: np.random.Generator
) -> LabelledScores:
    labels = np.full_like(truth, np.nan)
    chosen = chance.permutation(len(truth))[: n // 2]
    labels[chosen] = truth[chosen]
    return LabelledScores(scores, labels)


def residuals(
    scores: np.ndarray, truth: np.ndarray, n: int, chance: np.random.Generator
) -> LabelledScores:
    first = questions(scores, truth, n // 2, chance)
    among: NDArray[np.bool_] = np.isnan(first.labels[:, 0])  # whole questions
    sizes = residual_sizes(first, PAIR)
    now = probabilities(
        np.ones(len(truth)) if sizes is None else sizes, n // 2 - int((~among).sum()), among
    )
    new = np.zeros(len(truth), dtype=bool)
    new[among] = systematic(now[among], chance)
    before = float((~among).mean())
    weights = np.repeat(1 / (before + (1 - before) * now)[:, None], 2, axis=1)
    return LabelledScores(scores, np.where(new[:, None], truth, first.labels), weights)


ARMS = (answers, questions, residuals)
CASES: dict[str, Callable[[], Callable[[np.random.Generator], Table]]] = {
    "SummEval relevance, by coherence": lambda: summeval(lambda cell, _: cell["coherence"]),
    "SummEval relevance, by ROUGE-1": lambda: summeval(
        lambda cell, reference: rouge(cell["summary"], reference)
    ),
    "simulated, alike": lambda: simulated(1.0),
    "simulated, worse above the middle": lambda: simulated(0.5),
}


def errors(
    drawn: Callable[[np.random.Generator], Table], n: int, runs: int
) -> Iterator[list[tuple[float, bool]]]:
    """Of each arm the squared error, in units of the differences' variance, and whether the interval held."""
    chance = np.random.default_rng(3)
    for _ in range(runs):
        scores, truth = drawn(chance)
        apart = truth[:, 1] - truth[:, 0]
        found = []
        for arm in ARMS:
            table = calibrated(arm(scores, truth, n, chance), int(chance.integers(2**31)))
            made = corrected(table, {1: 1.0, 0: -1.0})
            if made.value is not None and made.ends is not None:
                held = made.ends[0] <= apart.mean() <= made.ends[1]
                found.append((float((made.value - apart.mean()) ** 2 / apart.var()), held))
        if len(found) == len(ARMS):
            yield found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--labels", type=int, default=80)
    given = parser.parse_args()
    print(
        "| | answers: held | questions: ratio | held | residuals: ratio | held |\n"
        + "| --- " * 6
        + "|"
    )
    for name, case in CASES.items():
        runs = list(errors(case(), given.labels, given.runs))
        squares = np.array([[one for one, _ in run] for run in runs])
        held = [fmean(run[place][1] for run in runs) for place in range(len(ARMS))]
        drawn = np.random.default_rng(0).integers(len(runs), size=(1000, len(runs)))
        resampled = squares[drawn].mean(axis=1)
        cells = [f"{held[0]:.3f}"[1:]]
        for place in (1, 2):
            low, high = np.quantile(resampled[:, place] / resampled[:, 0], (0.025, 0.975))
            ratio = squares[:, place].mean() / squares[:, 0].mean()
            cells += [f"{ratio:.2f} [{low:.2f}, {high:.2f}]", f"{held[place]:.3f}".lstrip("0")]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()

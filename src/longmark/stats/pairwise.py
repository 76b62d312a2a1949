"""How often a metric orders two things as people do: two answers to a question, two systems.

    pairs right   of two answers to a question, people say first, second or tie; a metric says tie if its scores differ
                  by at most ε. The share of pairs in which both say the same, by question, then the mean over questions
                  (Deutsch, Foster and Freitag 2023, "Ties Matter", EMNLP: pairwise accuracy with ties calibrated)
    soft          1 - |p of people - p of the metric|, the mean over all pairs of systems; p is how sure paired
                  permutations over the questions that both have are that the first is better (Thompson, Mathur,
                  Deutsch and Khayrallah 2024, "... via Soft Pairwise Accuracy", WMT). A metric need not be sure where
                  people are not, and must be where they are

Deviations: permutations that equal the observed mean count by half (`stats.permutation.share_below`), which cancels out
where neither has ties: a metric that scores every answer alike has p = 1/2, and the order of the systems does not
matter. ε is chosen by the other four fifths of the questions, so that it is not fitted to the pairs it is judged by;
`published` chooses it by all. Range [0, 1]; higher is better.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from longmark.stats.means import mean_estimate
from longmark.stats.permutation import share_below
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Seed, generator

_FOLDS = 5
_PERMUTATIONS = 1_000
_MOST = 500  # pairs of systems; of more, so many are drawn


def pairs_right(
    questions: Sequence[tuple[Floats, Floats]],
    *,
    level: float = 0.95,
    seed: Seed = 0,
    published: bool = False,
) -> Estimate:
    """questions: of each the people's and the metric's scores of its answers, NaN for none. Hall's interval over
    questions. No value where no question has two answers with both."""
    numbers = []
    gaps = []
    agreeing = []
    ties = []
    for number, (human, metric) in enumerate(questions):
        complete = ~(np.isnan(human) | np.isnan(metric))
        first, second = np.triu_indices(int(complete.sum()), 1)
        label_differences, score_differences = (
            scores[complete][first] - scores[complete][second] for scores in (human, metric)
        )
        numbers.append(np.full(len(first), number))
        gaps.append(np.abs(score_differences))
        agreeing.append(np.sign(label_differences) * np.sign(score_differences) > 0)
        ties.append(label_differences == 0)
    if not numbers or not sum(map(len, numbers)):
        return Estimate(
            None,
            None,
            None,
            0,
            level,
            reason="no question has two answers with a score and a label",
        )
    question_of, gap, agrees, tied = (
        np.concatenate(parts) for parts in (numbers, gaps, agreeing, ties)
    )
    # by question: pairs of one question are alike, and ε must not be chosen on what it is tested on
    fold = generator(seed)[0].permutation(len(questions))[question_of] % _FOLDS
    right = np.zeros(len(question_of))
    for k in range(1 if published else _FOLDS):
        in_fold = np.ones(len(question_of), dtype=bool) if published else fold == k
        # with one question there are no others to choose ε on
        calibrating = in_fold if published or in_fold.all() else ~in_fold
        epsilon = _calibrated(gap[calibrating], agrees[calibrating], tied[calibrating])
        right[in_fold] = np.where(gap[in_fold] > epsilon, agrees[in_fold], tied[in_fold])
    counts = np.bincount(question_of)
    shares = np.bincount(question_of, right)[counts > 0] / counts[counts > 0]
    return mean_estimate(shares.tolist(), bounds=(0, 1), level=level)


def _calibrated(gap: Floats, agrees: Floats, tied: Floats) -> float:
    """The ε with the most right pairs; below 0 if no pair is to be a tie, the smallest of equally good ones."""
    order = np.argsort(gap, kind="stable")
    # equal differences tie together or not at all
    ends = np.flatnonzero(np.append(np.diff(gap[order]) > 0, True))
    gained = np.cumsum(tied[order].astype(float) - agrees[order])[ends]
    best = int(np.argmax(gained))
    return float(gap[order][ends[best]]) if gained[best] > 0 else -1.0


def soft_pairwise(human: Floats, metric: Floats, *, level: float = 0.95, seed: int = 0) -> Estimate:
    """human, metric: scores of shape (questions, systems), NaN for none. n: pairs of systems. Without an interval: the
    pairs share systems and questions. No value for fewer than two systems with three questions in common."""
    agreements = []
    pairs = list(combinations(range(human.shape[1]), 2))
    if len(pairs) > _MOST:
        pairs = [pairs[i] for i in generator(seed)[0].choice(len(pairs), _MOST, replace=False)]
    for a, b in pairs:
        complete = ~np.isnan(human[:, [a, b]] + metric[:, [a, b]]).any(axis=1)
        people, scores = (
            share_below(
                table[complete, a], table[complete, b], permutations=_PERMUTATIONS, seed=seed
            )
            for table in (human, metric)
        )
        if people is not None and scores is not None:
            agreements.append(1 - abs(people - scores))
    if not agreements:
        return Estimate(
            None, None, None, 0, level, reason="no two systems have three questions in common"
        )
    return Estimate(float(np.mean(agreements)), None, None, len(agreements), level)

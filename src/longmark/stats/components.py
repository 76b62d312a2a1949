"""Where scores vary: questions, systems, judges, their interactions, and repeated samples.

A complete table of scores x[question, system, judge, sample] is a sum of effects,

    x = mean + Q + S + J + QS + QJ + SJ + QSJ + e

each drawn with a variance of its own; e is the noise between samples of one cell. For a set A of factors, MS_A is its
mean square and

    E[MS_A] = r sum over B ⊇ A of σ²_B prod over f not in B of n_f, + σ²_e      r: samples a cell, n_f: levels of f

(Cornfield and Tukey 1956; Searle, Casella and McCulloch 1992, "Variance components", chapter 4). The equations are
solved from the largest set down; a negative solution is reported as 0. With one sample, QSJ and e cannot be separated
and stand together as `noise`; a factor with one level has no component.

The difference between two systems' means over n_q questions, n_j judges and r samples has the variance

    2 (σ²_QS / n_q + σ²_SJ / n_j + σ²_QSJ / (n_q n_j) + σ²_e / (n_q n_j r))

after Miller (2024), "Adding error bars to evals", arXiv 2411.00640, sections 3 and 4, which has question and sampling
noise; the judge's terms are added in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from longmark.errors import UserError
from longmark.stats.samples import Floats

QUESTION = "question"
SYSTEM = "system"
JUDGE = "judge"
SAMPLE = "sample"
FACTORS = (QUESTION, SYSTEM, JUDGE)
NOISE = "noise"


@dataclass(frozen=True, slots=True)
class Components:
    """variance: name of a component -> its variance, in squared units of the score, at least 0. Names are `question`,
    `question x system` and so on, and `noise`. levels: factor -> number of levels, and `sample` -> samples a cell."""

    variance: Mapping[str, float]
    levels: Mapping[str, int]

    @property
    def shares(self) -> dict[str, float]:
        """Each component's share of their sum, in [0, 1]; all 0 where nothing varies."""
        total = math.fsum(self.variance.values())
        return {name: value / total if total else 0.0 for name, value in self.variance.items()}

    def standard_error(self, *, questions: int, judges: int, samples: int) -> float:
        """The expected standard error of the difference between two systems' means, in units of the score."""
        divisors = {
            f"{QUESTION} x {SYSTEM}": questions,
            f"{SYSTEM} x {JUDGE}": judges,
            f"{QUESTION} x {SYSTEM} x {JUDGE}": questions * judges,
            NOISE: questions * judges * (samples if self.levels[SAMPLE] > 1 else 1),
        }
        return math.sqrt(
            2 * math.fsum(self.variance.get(name, 0.0) / count for name, count in divisors.items())
        )


def variance_components(scores: Floats) -> Components:
    """The components of a complete table. scores: questions x systems x judges x samples.

    Raises UserError for a table of another shape, with missing scores, or with fewer than two questions or systems.
    """
    if scores.ndim != 4 or not np.isfinite(scores).all():
        raise UserError("expected a complete table of questions x systems x judges x samples")
    if scores.shape[0] < 2 or scores.shape[1] < 2:
        raise UserError(
            f"expected two or more questions and systems, found {scores.shape[0]} and {scores.shape[1]}"
        )
    samples = scores.shape[3]
    cells = scores.mean(axis=3)
    noise = (
        float(((scores - cells[..., None]) ** 2).sum() / (cells.size * (samples - 1)))
        if samples > 1
        else 0.0
    )
    sizes = dict(zip(FACTORS, cells.shape, strict=True))
    # a factor with one level has no variance that could be told from the mean
    used = [name for name in FACTORS if sizes[name] > 1]
    sets = [chosen for size in range(len(used), 0, -1) for chosen in combinations(used, size)]
    solved: dict[tuple[str, ...], float] = {}
    # from the largest interaction down: the mean square of a set holds the variance of all sets that contain it
    for chosen in sets:
        square = samples * _mean_square(cells, chosen, sizes)
        above = sum(
            variance * samples * math.prod(sizes[name] for name in used if name not in larger_set)
            for larger_set, variance in solved.items()
            if set(larger_set) > set(chosen)
        )
        solved[chosen] = (square - above - noise) / (
            samples * math.prod(sizes[n] for n in used if n not in chosen)
        )
    # a variance that is estimated below 0 is one that the table cannot tell from 0
    variances = {" x ".join(chosen): max(0.0, solved[chosen]) for chosen in reversed(sets)}
    if samples > 1:
        variances[NOISE] = noise
    else:
        # without samples, noise and the largest interaction are one
        variances[NOISE] = variances.pop(" x ".join(used))
    return Components(variances, {**sizes, SAMPLE: samples})


def _mean_square(cells: Floats, chosen: tuple[str, ...], sizes: Mapping[str, int]) -> float:
    """The mean square of a set of factors: of the effects that no smaller set explains."""
    effect = np.zeros([sizes[name] if name in chosen else 1 for name in FACTORS])
    for size in range(len(chosen) + 1):
        for subset in combinations(chosen, size):
            axes = tuple(axis for axis, name in enumerate(FACTORS) if name not in subset)
            effect = effect + (-1) ** (len(chosen) - size) * cells.mean(axis=axes, keepdims=True)
    freedom = math.prod(sizes[name] - 1 for name in chosen)
    return float((effect**2).sum() * cells.size / effect.size / freedom)

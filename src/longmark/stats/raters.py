"""What raters add to an estimate that is made of their labels (`stats.corrected`), and whether they contradict each
other.

Two readings of the same labels:

    people        the raters are a sample of those who could judge. What they add is their variance about each other, of
                  the systems' contrast, and the interval takes Student's t with raters less one degrees of freedom for
                  it. Two raters show little of how others differ, so the interval is wide
    these raters  the raters are fixed: the estimate is the mean of what these raters say of all answers, and how far
                  they differ is no error of it. What remains is that some labelled more of one system than of another

A mean of fixed raters can hide that they disagree. So it has no interval where they contradict each other: where one
rater's own difference is shown to be above 0 and another's below 0, each by an interval whose one-sided error is
`CONTRADICTION_ERROR` / raters. If no rater's true difference were on the other side of 0, one of the intervals would
have to miss, which happens with a probability of at most `CONTRADICTION_ERROR` in all (Bonferroni's inequality, which
needs no independence: the raters label the same answers). This is the range test of Piantadosi and Gail (1993,
Statistics in Medicine 12) for the qualitative interaction of Gail and Simon (1985, Biometrics 41).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Ints
from longmark.stats.severity import severity_shift

CONTRADICTION_ERROR = 0.05
"""The chance, at most, that raters who do not contradict each other are taken to."""
CONTRADICT = "the raters contradict each other"
FEWEST_SHARED = 10
"""Answers that raters share from which on equal labels of all of them are no chance."""
_BALANCED = 1e-9
_MORE_THAN_CHANCE = 4.0
"""Times the squares that are expected if each answer's rater is drawn by lot; five raters exceed it in .003."""


@dataclass(frozen=True, slots=True)
class RaterVariance:
    """effective: number of raters, None if nobody is known to have labelled; variance: what they add to that of the
    estimate, None if no two raters have two answers of each system in common; apart: of a difference, the share of the
    labels that are by raters of whom no answers show how strict they are beside the others'; by_chance: so large a
    share is no more than if each answer's rater had been drawn by lot."""

    effective: float | None
    variance: float | None
    apart: float = 0.0
    by_chance: bool = True


def rater_variance(
    rater_labels: Sequence[Floats],
    shares: Mapping[int, Floats],
    sides: Mapping[int, float],
    *,
    these: bool = False,
) -> RaterVariance:
    """What raters add to a sum over systems of a factor (`sides`) times the mean label. rater_labels: of each rater, of
    shape (questions, systems), NaN for none; shares: of each system what each of its labelled answers weighs; these:
    the estimate is of these raters alone.

        V = sum over raters of w' Ω w            w_s: the rater's share of system s's labels, with the side's sign
        Ω_st: half the mean over pairs of raters of D_s D_t; D_s: the mean difference of the two on answers of s that
              both labelled

    Ω holds a rater's severity, alike for all systems, which cancels in a difference, and a taste of their own for a
    system, which does not. The chance differences within answers are in Ω, too, and so are counted twice: a little too
    wide rather than too narrow. Raters who gave the same label to every answer that they share (`copies`) are one in
    the effective number. Of these raters alone w_s is how far the rater's share of system s's labels is from the
    rater's share of all systems' labels: 0 where each labelled as much of one system as of the other.
    """
    if not rater_labels:
        return RaterVariance(None, None)
    places = list(sides)
    labels = np.stack([rater[:, places] for rater in rater_labels])  # (raters, questions, sides)
    present = ~np.isnan(labels)
    signs = np.array([math.copysign(1.0, sides[place]) for place in places])
    weights = shares_of_raters(present, {k: shares[place] for k, place in enumerate(places)})
    of_person = np.bincount(_persons(labels), weights.sum(axis=1))
    effective = float(of_person.sum() ** 2 / (of_person @ of_person)) if of_person.any() else 0.0
    contrast = _contrast(weights, list(sides.values()))
    covariance = _covariance(labels)
    if these:
        weights = _apart_from_their_mean(weights)
        if np.abs(weights).max(initial=0.0) <= _BALANCED:
            return RaterVariance(effective, 0.0)
    if covariance is None:
        # raters cannot be compared on each of the systems: each is a group of their own
        shift = severity_shift(np.full((len(labels), 1), np.nan), contrast)
        variance = None
    else:
        shift = severity_shift(labels.reshape(len(labels), -1), contrast)
        signed = weights * signs
        variance = max(0.0, float(np.einsum("rs,st,rt->", signed, covariance, signed)))
        # of severity the variance has what lots would do
        of_lots = max(0.0, float(covariance[0, -1])) * float(contrast @ contrast)
        variance += max(0.0, shift.square - of_lots)
    drawn_by_lot = sum(
        float(answers @ answers) / max(_BALANCED, answers.sum()) ** 2 for answers in shares.values()
    )
    return RaterVariance(
        effective,
        variance,
        shift.apart,
        shift.group_squares <= _MORE_THAN_CHANCE * drawn_by_lot,
    )


def _contrast(weights: Floats, factors: Sequence[float]) -> Floats:
    """Of each rater the share of the first system's labels less that of the second's; 0 for what is no difference."""
    if len(factors) < 2 or abs(math.fsum(factors)) > _BALANCED:
        return np.zeros(len(weights))
    of_system = np.maximum(weights.sum(axis=0), _BALANCED)
    return np.asarray(weights / of_system @ np.array(factors), dtype=np.float64)


def shares_of_raters(present: NDArray[np.bool_], shares: Mapping[int, Floats]) -> Floats:
    """Of each rater and side the share of the labels' weight. present: of shape (raters, questions, sides)."""
    of_cell = np.stack([shares[k] for k in range(present.shape[2])], axis=1) / np.maximum(
        present.sum(axis=0), 1
    )
    return np.asarray(np.einsum("rqs,qs->rs", present, of_cell))


def copies(labels: Sequence[Floats]) -> list[tuple[list[int], int]]:
    """Raters who gave the same label to each of the answers that both labelled, ten of these or more: their places,
    and the fewest answers that two of them share. labels: those of each rater, NaN for none."""
    groups: list[tuple[list[int], int]] = []
    for rater, own_labels in enumerate(labels):
        for number, (places, count) in enumerate(groups):
            differences = own_labels - np.stack([labels[place] for place in places])
            common = (~np.isnan(differences)).sum(axis=tuple(range(1, differences.ndim)))
            if common.min() >= FEWEST_SHARED and not np.nan_to_num(differences).any():
                groups[number] = [*places, rater], min(count, int(common.min()))
                break
        else:
            groups.append(([rater], own_labels.size))
    return [group for group in groups if len(group[0]) > 1]


def _persons(labels: Floats) -> Ints:
    """Of each rater a number, alike for raters whose labels are the same."""
    persons = np.arange(len(labels))
    for places, _ in copies(list(labels)):
        persons[places] = places[0]
    return persons


def _apart_from_their_mean(weights: Floats) -> Floats:
    """How far each rater's share of a system's labels is from the rater's share of all systems' labels."""
    of_system = np.maximum(weights.sum(axis=0), _BALANCED)
    shares = weights / of_system
    return np.asarray((shares - shares.mean(axis=1, keepdims=True)) * of_system, dtype=np.float64)


def _covariance(labels: NDArray[np.float64]) -> Floats | None:
    """Ω; None where no two raters have two answers of each system in common."""
    sides = labels.shape[2]
    squares = np.zeros((sides, sides))
    counts = np.zeros((sides, sides))
    for first, second in combinations(range(len(labels)), 2):
        differences = labels[first] - labels[second]
        common = ~np.isnan(differences)
        enough_common = common.sum(axis=0) > 1
        means = np.array(
            [differences[common[:, k], k].mean() if enough_common[k] else 0.0 for k in range(sides)]
        )
        squares += np.outer(means, means)
        counts += np.outer(enough_common, enough_common)
    if not counts.diagonal().all():
        return None
    return np.asarray(squares / np.maximum(counts, 1) / 2, dtype=np.float64)


def level_of_a_rater(raters: int) -> float:
    """The level of each rater's own interval, by which `contradiction` is decided."""
    return 1 - 2 * CONTRADICTION_ERROR / max(1, raters)


def contradiction(of_raters: Sequence[Estimate]) -> str | None:
    """Who contradicts whom, from each rater's own difference with an interval of `level_of_a_rater`; None if nobody is
    shown to."""
    ends = [estimate.ends or (-math.inf, math.inf) for estimate in of_raters]
    above = max(range(len(ends)), key=lambda rater: ends[rater][0], default=None)
    below = min(range(len(ends)), key=lambda rater: ends[rater][1], default=None)
    if above is None or below is None or not (ends[above][0] > 0 > ends[below][1]):
        return None
    statement = " and ".join(
        f"{of_raters[rater].value:.2f} [{ends[rater][0]:.2f}, {ends[rater][1]:.2f}] for rater {rater + 1}"
        for rater in (above, below)
    )
    return f"{CONTRADICT}: the difference is {statement}. Their mean is nobody's judgement"

"""Which answers of a system an estimate is of, and whether those with a label are a random sample of them.

**Answers without a score** all have one constant score, the mean of the system's others, so that their labels decide.
With ten labels or more they are a stratum. If none of them is labelled, or too many or too few to be chosen by chance,
the interval holds whatever labels of the scale they would get.

Nothing can be corrected (`stats.corrected`) by labels of answers that differ from all by the range of their scores, or
by the mean, as a random sample would not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from longmark.stats.clusters import degrees_of_freedom
from longmark.stats.labelled_scores import ROUNDING, LabelledScores, Mask
from longmark.stats.samples import Floats, Ints
from longmark.stats.student import two_sided

FEWEST = 10
"""Labels of a system below which nothing is corrected, and of answers without a score to be a stratum."""
UNLIKELY = 0.001
"""A system is not corrected if so many of its scores lie outside the range of the labelled ones as a random sample
would leave there with a probability below this, or if the mean score of the labelled answers is as unlikely; nor is a
difference of two systems by that of their scores."""
_TOO_FAR = 4.0  # standard errors between the shares labelled of answers with and without a score


@dataclass(frozen=True, slots=True)
class SystemSample:
    """A system's answers: scores (answers without one have the mean), labels, weights; there: the answers that the
    estimate is of; chosen: those with a label; strata: of each answer; unknown: the share of all answers that are not
    there."""

    scores: Floats
    labels: Floats
    weights: Floats
    there: Mask
    chosen: Mask
    strata: Ints
    unknown: float


def system_sample(table: LabelledScores, place: int) -> SystemSample:
    scores, labels, weights = (
        table.scores[:, place],
        table.labels[:, place],
        table.weight()[:, place],
    )
    scored, labelled = ~np.isnan(scores), ~np.isnan(labels)
    strata = np.zeros(len(scores), dtype=np.int64) if table.strata is None else table.strata
    if table.unscored is None:
        return SystemSample(scores, labels, weights, scored, scored & labelled, strata, 0.0)
    shares = table.unscored[:, place]
    unscored = ~scored & (shares == 1)
    partly = float(np.nansum(np.where(scored, shares, 0.0)))
    lost = 0.0 if table.lost is None else float(table.lost[place])
    answers = float((~np.isnan(shares)).sum()) + lost
    unscored_labels, scored_labels = (
        int((unscored & labelled).sum()),
        int((scored & labelled).sum()),
    )
    stratum = unscored_labels >= FEWEST and scored_labels >= FEWEST
    counts = unscored_labels > 0 and (
        stratum or _by_chance(scored, unscored, labelled, table.weights, place)
    )
    there = scored | unscored if counts else scored
    unknown = (partly + lost + (0 if counts else int(unscored.sum()))) / answers if answers else 0.0
    if counts:
        scores = np.where(unscored, float(np.nanmean(scores)) if scored.any() else 0.0, scores)
        if stratum:
            strata = 2 * strata + unscored
    return SystemSample(scores, labels, weights, there, there & labelled, strata, unknown)


def _by_chance(
    scored: Mask, unscored: Mask, labelled: Mask, weights: Floats | None, place: int
) -> bool:
    """Whether answers without a score can have been chosen for labelling with the same chances as the others."""
    if weights is not None:
        chosen = weights[:, place][unscored & labelled]
        spread = math.sqrt(float((chosen * (chosen - 1)).clip(0).sum()) + 1)
        return abs(float(chosen.sum()) - float(unscored.sum())) <= _TOO_FAR * spread
    both = scored | unscored
    share = float(labelled[both].mean())
    error = math.sqrt(share * (1 - share) * (1 / unscored.sum() + 1 / max(1, scored.sum())))
    apart = abs(
        float(labelled[unscored].mean()) - float(labelled[scored].mean() if scored.any() else share)
    )
    return apart <= _TOO_FAR * error


def refusal(table: LabelledScores, sample: SystemSample, place: int) -> str | None:
    """Why a system cannot be corrected."""
    chosen = sample.chosen
    if chosen.sum() < FEWEST:
        return (
            f"needs at least {FEWEST} answers with a label and a score; found {int(chosen.sum())}"
        )
    if len(np.unique(table.numbers[chosen])) < 2:
        return "all answers with a label belong to one cluster"
    for stratum in np.unique(sample.strata[sample.there]) if table.strata is not None else ():
        if len(np.unique(table.numbers[chosen & (sample.strata == stratum)])) < 2:
            return (
                f"stratum {stratum} has answers, but fewer than two clusters of them have a label"
            )
    scores = (table.scores if table.raw is None else table.raw)[:, place]
    scored = ~np.isnan(scores)
    ours = scored & chosen
    if not ours.any():
        return None
    low, high = scores[ours].min(), scores[ours].max()
    outside = (scores[scored] < low) | (scores[scored] > high)
    clusters = table.numbers[scored], table.numbers[ours]
    if (
        _chance_of_leaving(outside, sample.weights[ours], clusters, table.weights is not None)
        < UNLIKELY
    ):
        return (
            f"{100 * outside.mean():.0f} % of the scores are outside the range of the labelled answers' ({low:.4g} to "
            f"{high:.4g}): the labelled answers are no random sample"
        )
    return None


def other_scores(
    table: LabelledScores, samples: Mapping[int, SystemSample], sides: Mapping[int, float]
) -> str | None:
    """Why the labelled answers are no random sample: the mean rank of their scores, or its difference between the
    systems, is too far from that of all answers, in standard errors of a sample with these probabilities (Hájek's mean,
    linearised). The variance is that of the sample or, where that is more, that of all ranks: a sample without the rare
    scores has too little."""
    scores = (table.scores if table.raw is None else table.raw)[:, list(sides)]
    scored = ~np.isnan(scores)
    ranks = np.full_like(scores, np.nan)
    ranks[scored] = rankdata(scores[scored]) / scored.sum()
    apart, at_least = 0.0, 0.0
    adds, shares = np.zeros(len(scores)), np.zeros(len(scores))
    for k, (place, factor) in enumerate(sides.items()):
        sample, own = samples[place], ranks[:, k]
        ours = scored[:, k] & sample.chosen
        if ours.sum() < FEWEST:
            return None
        for stratum in np.unique(sample.strata[ours]):
            members = scored[:, k] & (sample.strata == stratum)
            chosen = ours & members
            share = (
                sample.weights[chosen]
                / sample.weights[chosen].sum()
                * members.sum()
                / scored[:, k].sum()
            )
            mean = float(own[members].mean())
            apart += factor * float(share @ (own[chosen] - mean))
            adds[chosen] += factor * share * (own[chosen] - mean)
            shares[chosen] += share
            at_least += factor**2 * float(share @ share) * float(own[members].var())
    per_cluster = np.bincount(table.numbers, shares)
    df = degrees_of_freedom(per_cluster[per_cluster > 0].tolist())
    sums = np.bincount(table.numbers, adds)
    error = math.sqrt(max((df + 1) / df * float(sums @ sums), at_least)) if df > 0 else 0.0
    if error <= ROUNDING or two_sided(apart / error, df) >= UNLIKELY:
        return None
    return (
        f"the labelled answers have {_OTHERS[len(sides) > 1, apart > 0]} than all of them (by their ranks "
        f"{abs(apart) / error:.1f} standard errors): the labelled answers are no random sample"
    )


_OTHERS = {
    (False, True): "higher scores",
    (False, False): "lower scores",
    (True, True): "higher scores of the first system beside the second",
    (True, False): "lower scores of the first system beside the second",
}


def _chance_of_leaving(
    outside: Mask, weights: Floats, clusters: tuple[Ints, Ints], known: bool
) -> float:
    """The probability that a random sample leaves so many scores outside the range of its own. The share outside the
    range of n equal draws has the distribution Beta(2, n - 1). Where each was drawn with a known probability, the least
    of these bounds it: it is the chance that m draws were all left out, of which the sample chooses how many at which
    end. clusters: of all scores and of the labelled ones; since whole clusters may have been drawn, n is their
    effective number, and m that of those outside."""
    of_all, of_labelled = clusters
    if known:
        chance, count = 1 / float(weights.max()), len(np.unique(of_all[outside]))
        none: float = (
            (1 - chance) ** count * (1 + count * chance) if chance < 1 else float(count == 0)
        )
        return none
    sizes = np.unique(of_labelled, return_counts=True)[1]
    share, n = float(outside.mean()), degrees_of_freedom(sizes.tolist()) + 1
    rare: float = (1 - share) ** n + n * share * (1 - share) ** (n - 1)
    return rare

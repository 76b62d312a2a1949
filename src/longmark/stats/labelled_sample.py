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

FEWEST_LABELS = 10
"""Labels of a system below which nothing is corrected, and of answers without a score to be a stratum."""
UNLIKELY = 0.001
"""A system is not corrected if so many of its scores lie outside the range of the labelled ones as a random sample
would leave there with a probability below this, or if the mean score of the labelled answers is as unlikely; nor is a
difference of two systems by that of their scores."""
_TOO_FAR = 4.0  # standard errors between the shares labelled of answers with and without a score


@dataclass(frozen=True, slots=True)
class SystemSample:
    """A system's answers, one a question.

    scores, labels, weights   as in the table; answers without a score that are included have the mean of the others
    included                  the answers that the estimate is of
    chosen                    those of them with a label
    strata                    the number of each answer's stratum
    unknown                   the share of all answers that are not included
    """

    scores: Floats
    labels: Floats
    weights: Floats
    included: Mask
    chosen: Mask
    strata: Ints
    unknown: float


def system_sample(table: LabelledScores, place: int) -> SystemSample:
    scores = table.scores[:, place]
    labels = table.labels[:, place]
    weights = table.weight()[:, place]
    scored = ~np.isnan(scores)
    labelled = ~np.isnan(labels)
    strata = np.zeros(len(scores), dtype=np.int64) if table.strata is None else table.strata
    if table.unscored is None:
        return SystemSample(scores, labels, weights, scored, scored & labelled, strata, 0.0)

    unscored_shares = table.unscored[:, place]
    unscored = ~scored & (unscored_shares == 1)
    partly_unscored = float(np.nansum(np.where(scored, unscored_shares, 0.0)))
    lost = 0.0 if table.lost is None else float(table.lost[place])
    answers = float((~np.isnan(unscored_shares)).sum()) + lost

    unscored_labels = int((unscored & labelled).sum())
    scored_labels = int((scored & labelled).sum())
    own_stratum = unscored_labels >= FEWEST_LABELS and scored_labels >= FEWEST_LABELS
    counts = unscored_labels > 0 and (
        own_stratum or _by_chance(scored, unscored, labelled, table.weights, place)
    )
    included = scored | unscored if counts else scored
    left_out = partly_unscored + lost + (0 if counts else int(unscored.sum()))
    unknown = left_out / answers if answers else 0.0
    if counts:
        # a constant score: the labels of these answers alone decide
        mean = float(np.nanmean(scores)) if scored.any() else 0.0
        scores = np.where(unscored, mean, scores)
        if own_stratum:
            strata = 2 * strata + unscored
    return SystemSample(scores, labels, weights, included, included & labelled, strata, unknown)


def _by_chance(
    scored: Mask,
    unscored: Mask,
    labelled: Mask,
    weights: Floats | None,
    place: int,
) -> bool:
    """Whether answers without a score can have been chosen for labelling with the same chances as the others."""
    if weights is not None:
        chosen_weights = weights[:, place][unscored & labelled]
        variance = float((chosen_weights * (chosen_weights - 1)).clip(0).sum())
        spread = math.sqrt(variance + 1)
        return abs(float(chosen_weights.sum()) - float(unscored.sum())) <= _TOO_FAR * spread
    share = float(labelled[scored | unscored].mean())
    error = math.sqrt(share * (1 - share) * (1 / unscored.sum() + 1 / max(1, scored.sum())))
    share_of_unscored = float(labelled[unscored].mean())
    share_of_scored = float(labelled[scored].mean() if scored.any() else share)
    return abs(share_of_unscored - share_of_scored) <= _TOO_FAR * error


def refusal(table: LabelledScores, sample: SystemSample, place: int) -> str | None:
    """Why a system cannot be corrected."""
    chosen = sample.chosen
    if chosen.sum() < FEWEST_LABELS:
        return f"needs at least {FEWEST_LABELS} answers with a label and a score; found {int(chosen.sum())}"
    if len(np.unique(table.numbers[chosen])) < 2:
        return "all answers with a label belong to one cluster"
    if table.strata is not None:
        for stratum in np.unique(sample.strata[sample.included]):
            if len(np.unique(table.numbers[chosen & (sample.strata == stratum)])) < 2:
                return f"stratum {stratum} has answers, but fewer than two clusters of them have a label"
    return _range_refusal(table, sample, place)


def _range_refusal(table: LabelledScores, sample: SystemSample, place: int) -> str | None:
    """Why the range of the labelled answers' scores, before calibration, is not that of a random sample."""
    scores = (table.scores if table.raw is None else table.raw)[:, place]
    scored = ~np.isnan(scores)
    scored_sample = scored & sample.chosen
    if not scored_sample.any():
        return None
    low = scores[scored_sample].min()
    high = scores[scored_sample].max()
    outside = (scores[scored] < low) | (scores[scored] > high)
    chance = _chance_of_leaving(
        outside,
        sample.weights[scored_sample],
        (table.numbers[scored], table.numbers[scored_sample]),
        table.weights is not None,
    )
    if chance >= UNLIKELY:
        return None
    return (
        f"{100 * outside.mean():.0f} % of the scores are outside the range of the labelled answers' ({low:.4g} to "
        f"{high:.4g}): the labelled answers are no random sample"
    )


def other_scores(
    table: LabelledScores,
    samples: Mapping[int, SystemSample],
    sides: Mapping[int, float],
) -> str | None:
    """Why the labelled answers are no random sample: the mean rank of their scores, or its difference between the
    systems, is too far from that of all answers, in standard errors of a sample with these probabilities (Hájek's mean,
    linearised). The variance is that of the sample or, where that is more, that of all ranks: a sample without the rare
    scores has too little."""
    scores = (table.scores if table.raw is None else table.raw)[:, list(sides)]
    scored = ~np.isnan(scores)
    ranks = np.full_like(scores, np.nan)
    ranks[scored] = rankdata(scores[scored]) / scored.sum()
    distance = 0.0
    least_variance = 0.0
    influences = np.zeros(len(scores))
    shares = np.zeros(len(scores))
    for column, (place, factor) in enumerate(sides.items()):
        sample = samples[place]
        system_ranks = ranks[:, column]
        system_scored = scored[:, column]
        scored_sample = system_scored & sample.chosen
        if scored_sample.sum() < FEWEST_LABELS:
            return None
        for stratum in np.unique(sample.strata[scored_sample]):
            members = system_scored & (sample.strata == stratum)
            chosen = scored_sample & members
            share = (
                sample.weights[chosen]
                / sample.weights[chosen].sum()
                * members.sum()
                / system_scored.sum()
            )
            mean = float(system_ranks[members].mean())
            distance += factor * float(share @ (system_ranks[chosen] - mean))
            influences[chosen] += factor * share * (system_ranks[chosen] - mean)
            shares[chosen] += share
            rank_variance = float(system_ranks[members].var())
            least_variance += factor**2 * float(share @ share) * rank_variance
    share_of_cluster = np.bincount(table.numbers, shares)
    df = degrees_of_freedom(share_of_cluster[share_of_cluster > 0].tolist())
    sums = np.bincount(table.numbers, influences)
    error = 0.0
    if df > 0:
        error = math.sqrt(max((df + 1) / df * float(sums @ sums), least_variance))
    if error <= ROUNDING or two_sided(distance / error, df) >= UNLIKELY:
        return None
    return (
        f"the labelled answers have {_OTHER_SCORES[len(sides) > 1, distance > 0]} than all of them (by their ranks "
        f"{abs(distance) / error:.1f} standard errors): the labelled answers are no random sample"
    )


_OTHER_SCORES = {
    (False, True): "higher scores",
    (False, False): "lower scores",
    (True, True): "higher scores of the first system beside the second",
    (True, False): "lower scores of the first system beside the second",
}


def _chance_of_leaving(
    outside: Mask,
    weights: Floats,
    clusters: tuple[Ints, Ints],
    with_probabilities: bool,
) -> float:
    """The probability that a random sample leaves so many scores outside the range of its own. The share outside the
    range of n equal draws has the distribution Beta(2, n - 1). Where each was drawn with a known probability, the least
    of these bounds it: it is the chance that m draws were all left out, of which the sample chooses how many at which
    end. clusters: of all scores and of the labelled ones; since whole clusters may have been drawn, n is their
    effective number, and m that of those outside."""
    all_clusters, labelled_clusters = clusters
    if with_probabilities:
        chance = 1 / float(weights.max())
        count = len(np.unique(all_clusters[outside]))
        if chance >= 1:
            return float(count == 0)
        left_out: float = (1 - chance) ** count * (1 + count * chance)
        return left_out
    sizes = np.unique(labelled_clusters, return_counts=True)[1]
    share = float(outside.mean())
    n = degrees_of_freedom(sizes.tolist()) + 1
    outside_range: float = (1 - share) ** n + n * share * (1 - share) ** (n - 1)
    return outside_range

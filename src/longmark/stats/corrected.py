"""Means of systems and their differences from a judge's scores of all answers, corrected by human labels of some.

    m_i   = y_h + λ (g_i - g_h)          g_i: a score, calibrated or as it is; h: the stratum of answer i
    mean  = average of m_i over all answers
    y_h, g_h: the means of labels and of scores over the labelled answers of stratum h, weighted by w_i = 1 / (the
              probability that the answer was chosen for labelling)

With one stratum this is y + λ (mean g of all - mean g of the labelled): the labels' mean, moved by how much the chosen
answers differ from all. For every λ it estimates the mean of the labels had every answer been labelled, *provided the
labelled answers are a probability sample with these probabilities*. λ between 0 (labels alone) and 1 has the least
estimated variance of what is asked, so that of a difference is that of the difference. Sources: prediction-powered
inference (Angelopoulos et al. 2023) with power tuning (Angelopoulos, Duchi and Zrnic 2023, PPI++); cross-fitted
predictions (Zrnic and Candès 2024); weights and strata as in the survey literature (Särndal, Swensson and Wretman 1992,
chapter 6: the generalised difference estimator).

`stats.labelled_sample` says which answers the estimate is of, and whether those with a label are a random sample.
`stats.corrected_moments` has its variance and its interval, `stats.calibration` puts scores on the labels' scale.

Deviations: Hájek's weights (shares, not totals) instead of Horvitz and Thompson's; λ is clipped to [0, 1].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from longmark.stats.calibration import calibrated, isotonic
from longmark.stats.clusters import FEWEST_EFFECTIVE
from longmark.stats.corrected_moments import Moments, system_part
from longmark.stats.labelled_sample import (
    SystemSample,
    other_scores,
    refusal,
    system_sample,
)
from longmark.stats.labelled_scores import LabelledScores, check_shapes
from longmark.stats.means import few_clusters
from longmark.stats.raters import contradiction, level_of_a_rater
from longmark.stats.results import Estimate, check_level
from longmark.stats.transport import Transport, transport

__all__ = [
    "CorrectedEstimate",
    "LabelledScores",
    "Transport",
    "bias_of",
    "calibrated",
    "corrected",
    "isotonic",
    "raw_of",
    "transport",
]

FEWEST_COVERED = 50
"""Labels from which on the intervals kept their level in simulation (docs/coverage.md); below, a remark says so."""
FEWEST_RATERS = 5
"""Effective raters below which an interval is about these raters, not about people in general."""
MOST_APART = 0.1
"""The share of the labels of two systems that may be by different raters of whom nobody knows how strict they are."""
MOST_ALIKE = 2 / 3
"""The share of a system's labels that may be equal where the ends of the scale are not known: with more, what is rare
decides, and only the scale says how much it can matter."""
NOT_TOLD_APART = "strict raters cannot be told from bad answers"
NO_SCALE = "the ends of the labels' scale are not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedEstimate(Estimate):
    """A corrected mean, or difference, in the labels' units.

    raw: that of the scores alone, in their units; people: that of the labels alone, by the same method; weight: λ;
    labelled: answers with a label, n: answers that the estimate is of; worth: how many labels alone would give as
    narrow an interval; p: two-sided, that a difference is 0; bias: the same of score - label; raters: effective number
    of raters, None where nobody is known to have labelled; variance: of the estimate, with what raters add to it;
    rater_variance: this part, None if no two labelled the same answers; of_raters: of a difference of these raters
    only, each rater's own; error: the one-sided error of one of several simultaneous intervals, whose `level` is that
    of all; unknown: the greatest share of a system's answers with neither a score nor a label.
    """

    labelled: int = 0
    raw: float | None = None
    people: Estimate | None = None
    weight: float | None = None
    worth: float | None = None
    p: float | None = None
    bias: Estimate | None = None
    raters: float | None = None
    variance: float | None = None
    rater_variance: float | None = None
    unknown: float = 0.0
    error: float | None = None
    of_raters: tuple[Estimate, ...] = ()


def corrected(
    table: LabelledScores,
    sides: Mapping[int, float],
    *,
    weight: float | None = None,
    level: float = 0.95,
) -> CorrectedEstimate:
    """The sum over systems of a factor times the corrected mean. sides: place of a system -> its factor: {0: 1} for the
    mean of the first, {0: 1, 1: -1} for a difference. weight: λ; None: tuned. level: of the interval, each end of which
    is missed with probability (1 - level) / 2.

    No value with fewer than 10 labels of a system, or where the scores of the labelled ones, by their range or their
    mean, show that these are no random sample; no interval with labels of fewer than 5 effective clusters, where
    nothing is known of some answers and the scale of the labels has no known ends, and where neither labels nor scale
    show any spread; of these raters only, none of a difference about which they contradict each other
    (`stats.raters`). UserError for weights that are not above 0, a λ or a level out of range, and for shapes that
    differ.
    """
    check_level(level)
    check_shapes(table, weight)
    samples = {place: system_sample(table, place) for place in sides}
    labelled = sum(int(sample.chosen.sum()) for sample in samples.values())
    empty = CorrectedEstimate(
        value=None,
        low=None,
        high=None,
        n=sum(int(sample.included.sum()) for sample in samples.values()),
        level=level,
        labelled=labelled,
        raw=raw_of(table, sides),
        unknown=max(sample.unknown for sample in samples.values()),
    )
    if (reason := _not_corrected(table, samples, sides)) is not None:
        return replace(empty, reason=reason)

    parts = {
        place: system_part(table, samples[place], place, factor) for place, factor in sides.items()
    }
    moments = Moments.of(table, samples, parts, sides)
    used_weight = moments.best_weight() if weight is None else weight
    clusters = None if table.clusters is None else int((moments.shares > 0).sum())
    without_interval = replace(
        empty,
        value=moments.value(used_weight),
        weight=used_weight,
        clusters=clusters,
        effective=moments.df + 1 if clusters else None,
        raters=moments.raters,
        rater_variance=moments.rater_variance,
    )
    if table.these_raters and len(sides) > 1:
        without_interval = replace(
            without_interval,
            of_raters=_estimates_of_raters(table, sides, weight),
        )
    if (reason := _no_interval(table, samples, moments, without_interval)) is not None:
        return replace(without_interval, reason=reason)

    # λ that the labels themselves chose costs a degree of freedom
    df = moments.df - (1.0 if weight is None and used_weight else 0.0)
    interval = moments.interval(used_weight, df, level)
    if interval is None:
        return replace(without_interval, reason=_no_spread(samples))
    of_labels = moments.interval(0.0, moments.df, level)
    assert of_labels is not None
    variance = moments.variance(used_weight)
    return replace(
        without_interval,
        low=interval.low,
        high=interval.high,
        method=interval.method,
        people=Estimate(
            moments.value(0.0),
            of_labels.low,
            of_labels.high,
            labelled,
            level,
            of_labels.method,
        ),
        worth=labelled * moments.variance(0.0) / variance if variance > 0 else None,
        variance=variance,
        p=None if len(sides) == 1 else moments.p(used_weight, df, level),
        remark=_remark(samples),
    )


def _not_corrected(
    table: LabelledScores,
    samples: Mapping[int, SystemSample],
    sides: Mapping[int, float],
) -> str | None:
    """Why there is no estimate."""
    for place, sample in samples.items():
        if (reason := refusal(table, sample, place)) is not None:
            return reason
    return other_scores(table, samples, sides)


def _no_interval(
    table: LabelledScores,
    samples: Mapping[int, SystemSample],
    moments: Moments,
    estimate: CorrectedEstimate,
) -> str | None:
    """Why an estimate has no interval, before one is computed."""
    # only a difference of these raters has estimates of each of them
    if estimate.of_raters and (reason := contradiction(estimate.of_raters)) is not None:
        return reason
    if moments.df + 1 < FEWEST_EFFECTIVE:
        return few_clusters(moments.df + 1)
    if table.known_ends is None and (reason := _needs_scale(samples)) is not None:
        return reason
    return _not_told_apart(table, moments)


def _no_spread(samples: Mapping[int, SystemSample]) -> str:
    alike = all(np.ptp(sample.labels[sample.chosen]) == 0 for sample in samples.values())
    if not alike:
        return "labels and scores differ by a constant only, so they show no spread"
    of_each = "" if len(samples) == 1 else " of each system"
    return f"the labelled answers{of_each} all have the same label, so they show no spread"


def _estimates_of_raters(
    table: LabelledScores,
    sides: Mapping[int, float],
    weight: float | None,
) -> tuple[Estimate, ...]:
    """Each rater's own estimate, of the labels that count."""
    level = level_of_a_rater(len(table.rater_labels))
    labelled = ~np.isnan(table.labels)
    return tuple(
        corrected(
            replace(
                table,
                labels=np.where(labelled, labels, np.nan),
                rater_labels=(),
                these_raters=False,
            ),
            sides,
            weight=weight,
            level=level,
        )
        for labels in table.rater_labels
    )


def _needs_scale(samples: Mapping[int, SystemSample]) -> str | None:
    """Why an interval needs the ends of the labels' scale; None if it does not."""
    if any(sample.unknown for sample in samples.values()):
        return _unknown_in_words(samples, NO_SCALE)
    for sample in samples.values():
        values, counts = np.unique(sample.labels[sample.chosen], return_counts=True)
        if counts.max() > MOST_ALIKE * counts.sum():
            return f"{counts.max()} of {counts.sum()} labels are {values[counts.argmax()]:g}, and {NO_SCALE}"
    return None


def _remark(samples: Mapping[int, SystemSample]) -> str | None:
    """What a reader of the interval must know."""
    fewest = min(int(sample.chosen.sum()) for sample in samples.values())
    remarks = []
    if fewest < FEWEST_COVERED:
        remarks.append(
            f"{fewest} labels are few: below {FEWEST_COVERED} an interval of skewed labels can be too narrow"
        )
    if any(sample.unknown for sample in samples.values()):
        remarks.append(
            _unknown_in_words(samples, "the interval holds whatever labels they would get")
        )
    return "; ".join(remarks) or None


def _unknown_in_words(samples: Mapping[int, SystemSample], consequence: str) -> str:
    share = max(sample.unknown for sample in samples.values())
    return f"{100 * share:.2g} % of a system's answers have neither a score nor a label that counts: {consequence}"


def _not_told_apart(table: LabelledScores, moments: Moments) -> str | None:
    """Why strictness of raters cannot be told from the systems' quality; None if it can, or does not matter: where each
    rater labelled the same share of both systems it cancels, and where many raters stand for people, and who labelled
    what is as if by lot, it is chance."""
    if moments.raters is None or moments.apart <= MOST_APART:
        return None
    many = moments.raters >= FEWEST_RATERS and not table.these_raters
    if many and moments.apart_by_chance:
        return None
    return (
        f"{100 * moments.apart:.0f} % of the labels of the systems are by different raters, and no answers of each "
        f"system that these share show who is stricter: {NOT_TOLD_APART}"
    )


def bias_of(table: LabelledScores, sides: Mapping[int, float], **options: Any) -> CorrectedEstimate:
    """What the scores of all answers say less what their labels would say, estimated as `corrected` does, over answers
    with a score; scores in the labels' units. Above 0: the metric scores this system too high (of a difference: favours
    the first).

    Not for calibrated scores: a regression of labels on the scores of a noisy judge shrinks every difference, also a
    fair judge's, so that its scores would seem to favour the worse system.
    """
    apart = replace(
        table,
        labels=table.scores - table.labels,
        rater_labels=[table.scores - labels for labels in table.rater_labels],
        unscored=None,
        lost=None,
        bounds=None,
    )
    return corrected(apart, sides, **options)


def raw_of(table: LabelledScores, sides: Mapping[int, float]) -> float | None:
    """The same sum of the scores' own means, in the scores' units; None where a system has no score."""
    if any(np.isnan(table.scores[:, place]).all() for place in sides):
        return None
    return math.fsum(
        factor * float(np.nanmean(table.scores[:, place])) for place, factor in sides.items()
    )

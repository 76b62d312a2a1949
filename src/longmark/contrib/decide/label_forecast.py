"""How narrow the interval of a corrected difference becomes with more labels: `label next` says it beforehand."""

from __future__ import annotations

from math import sqrt

from longmark.contrib.decide.correction import CorrectedMetric, Correction
from longmark.stats.corrected import CorrectedEstimate
from longmark.stats.looks import Looks
from longmark.stats.student import t_quantile


def forecast(correction: Correction, n: int, looks: Looks) -> tuple[float, float] | None:
    """Half of the interval of a planned difference (else the first one; of one system: of its mean) now, as `compare
    --labels` shows it of the same files, and with n labels more, at the look that they make.

    In units of the present variance V(m) = c / m + rest: what labels cause shrinks with their number m, what the scores
    of all N answers leave uncertain does not. With all answers labelled it is that of labels alone, V(N) = worth / N.
    What raters who stand for others add does not shrink either, and the more of the variance it is, the more do few
    raters widen the interval (Satterthwaite).
    """
    estimate = _estimate_of(correction, correction.metrics[0])
    if estimate is None or estimate.ends is None or estimate.worth is None:
        return None
    half_now = (estimate.ends[1] - estimate.ends[0]) / 2
    labels_now = estimate.labelled
    if labels_now >= estimate.n:
        return half_now, half_now
    labels_then = min(estimate.n, labels_now + n)

    of_raters = estimate.rater_variance or 0.0
    of_answers_now = max(0.0, (estimate.variance or 1.0) - of_raters)
    of_answers_then = of_answers_now * _variance_left(estimate, of_answers_now, labels_then)

    error_now = error_then = (1 - correction.options.level) / 2
    systems = 1
    if estimate.error is not None:  # a difference, whose labels are of two systems
        systems = 2
        error_now = estimate.error
        error_then = looks.error(
            correction.family.claims, labels_then // 2, estimate.n // 2, error_then
        )
    rater_df = (estimate.raters or 2.0) - 1

    def quantile(error: float, of_answers: float, labels: int) -> float:
        df = _satterthwaite(of_answers, labels / systems - 1, of_raters, rater_df)
        return t_quantile(1 - 2 * error, df)

    quantile_now = quantile(error_now, of_answers_now, labels_now)
    quantile_then = quantile(error_then, of_answers_then, labels_then)
    shrunk = sqrt((of_answers_then + of_raters) / (of_answers_now + of_raters))
    return half_now, half_now * shrunk * quantile_then / quantile_now


def _estimate_of(correction: Correction, metric: CorrectedMetric) -> CorrectedEstimate | None:
    """The first estimate with an interval: of planned differences, of all differences, of means."""
    family = correction.family
    planned = [
        pair
        for (first, second), pair in metric.pairs.items()
        if family.may_claim(first, second, metric.metric)
        or family.may_claim(second, first, metric.metric)
    ]
    estimates = (*planned, *metric.pairs.values(), *metric.means.values())
    with_interval = (
        estimate for estimate in estimates if estimate.ends is not None and estimate.worth
    )
    return next(with_interval, None)


def _variance_left(estimate: CorrectedEstimate, of_answers: float, labels_then: int) -> float:
    """The part of the present variance of answers that more labels leave. of_answers: that variance."""
    labels_now = estimate.labelled
    worth = float(labels_now)
    if of_answers and estimate.worth is not None:
        # worth counts the raters' variance in; without it, the labels are worth more by this
        variance = estimate.variance or 1.0
        worth = (labels_now * of_answers + (estimate.worth - labels_now) * variance) / of_answers
    least = min(1.0, max(0.0, worth / estimate.n))
    of_labels = (1 - least) / (1 / labels_now - 1 / estimate.n)
    return max(least, 1 - of_labels * (1 / labels_now - 1 / labels_then))


def _satterthwaite(of_answers: float, df: float, of_raters: float, rater_df: float) -> float:
    """The degrees of freedom of the sum of two variances."""
    if not of_raters:
        return df
    df = max(1.0, df)
    rater_df = max(1.0, rater_df)
    together = (of_answers + of_raters) ** 2 / (of_answers**2 / df + of_raters**2 / rater_df)
    return max(together, min(df, rater_df))

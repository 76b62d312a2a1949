"""Whether a difference is smaller than a margin that matters: two one-sided tests, read off an interval.

The two tests at alpha (Schuirmann 1987, "A comparison of the two one-sided tests procedure …", J. Pharmacokinetics and
Biopharmaceutics 15) reject together exactly where the interval of the difference at the level 1 - 2 alpha lies within
± margin. Each decision follows from that interval, which is the one that is drawn:

    equivalent      it lies within ± margin
    better, worse   it does not reach below, or above, 0, and the p that decides (`family`) is at most alpha
    non-inferior    it lies above -margin: the first is not worse by the margin or more
    non-superior    it lies below +margin: the first is not better by the margin or more
    undecided       it reaches beyond both ends of the margin

With m pairs and metrics that have a margin, alpha is divided by m (Bonferroni): the level is 1 - 2 alpha / m.

Hall's interval (`stats.means`) rests on the spread of the differences, and counts no rare one that the sample missed.
So the interval is the wider of Hall's and one that counts them: n questions (effective clusters) have missed a share
s = 1 - alpha^(1/n) with a chance of alpha, which may lie at the metric's bounds. A margin of .05 between 0 and 1 thus
takes 59 questions at alpha .05, whatever they are like. Where half of the differences or more (means of clusters) are
alike, within a twentieth of the margin of their median, few unlike ones decide, and the interval is Gaffke's
(`stats.gate`), which counts both; for equal differences the two are the same. A metric without bounds has Hall's; if
fewer than 8 differences, and fewer than half, are unlike the most frequent one, it has none.

A significant difference of the margin or more is decided by p, and an interval that would reach beyond 0 ends there.

A pair with unscored answers gets its word in both readings (`metric`), and its conclusion is what both claim:
non-inferior for equivalent and better, undecided for better and worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from longmark.analysis.compare.estimates import groups_of, of_mean
from longmark.analysis.compare.results import MetricResult, difference_bounds
from longmark.analysis.compare.tests import PairDifference, Tested
from longmark.analysis.grid import Grid
from longmark.errors import UserError
from longmark.options import named
from longmark.records.metric_name import without_slice
from longmark.report.document import Section
from longmark.report.format import counted, metric_titles
from longmark.report.tables import Column
from longmark.scores.manifest import MetricFacts
from longmark.stats.gate import GAFFKE, BoundedScores
from longmark.stats.means import Bounds, equal_interval
from longmark.stats.permutation import rounding
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Ints

MARGIN = "Margin"
MISSED = "Hall's t, and what the sample can have missed"
_ALIKE = 20  # parts of the margin: differences less than one apart say nothing of their spread beside the margin
_UNLIKE = 8  # differences unlike the most frequent one from which their spread is known (docs/coverage.md)
EQUIVALENT = "equivalent"
UNDECIDED = "undecided"
_CLAIMS: dict[str, frozenset[str]] = {
    EQUIVALENT: frozenset(("not worse", "not better")),
    "better": frozenset(("not worse", "better")),
    "worse": frozenset(("not better", "worse")),
    "non-inferior": frozenset(("not worse",)),
    "non-superior": frozenset(("not better",)),
    UNDECIDED: frozenset(),
    "higher": frozenset(("higher",)),
    "lower": frozenset(("lower",)),
}
"""What each conclusion claims of the first system; two readings together claim what both do."""
_UNDIRECTED = {
    "better": "higher",
    "worse": "lower",
    "non-inferior": UNDECIDED,
    "non-superior": UNDECIDED,
}
Margins = float | Mapping[str, float]
"""In units of the score: one for all metrics, or by metric."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A pair on a metric against the margin. difference: first - second, with the interval that decides; counted: the
    same with unscored answers as the worst score, None where both are the same; conclusion: of the first, in a word:
    what both readings claim; words: by reading; reason: why it is undecided, or that p decided."""

    metric: str
    first: str
    second: str
    margin: float
    difference: Estimate
    counted: Estimate | None
    conclusion: str
    words: tuple[str, ...]
    reason: str | None = None


class MarginTooLarge(UserError):
    """A margin that no difference can exceed. exceeds: which, in words."""

    def __init__(self, exceeds: str, message: str) -> None:
        self.exceeds = exceeds
        super().__init__(message)


def parsed(texts: Sequence[str]) -> Margins | None:
    """The margins of the command line: `.02`, or `METRIC=.02` any number of times; UserError for others."""
    numbers: dict[str, float] = {}
    for text in texts:
        metric, _, number = text.rpartition("=")
        try:
            numbers[metric] = float(number)
        except ValueError:
            raise UserError(
                f"--margin {text}: expected a number or METRIC=NUMBER, for example 0.02"
            ) from None
    if "" in numbers and len(numbers) > 1:
        raise UserError("--margin: give one number for all metrics, or METRIC=NUMBER for each")
    return numbers.get("", numbers) or None


def by_metric(margins: Margins, metrics: Mapping[str, MetricFacts]) -> dict[str, float]:
    """The margin of each compared metric that has one. UserError for a metric not compared, a number not above 0, and a
    margin that no difference can exceed."""
    numbers = dict(margins) if isinstance(margins, Mapping) else dict.fromkeys(metrics, margins)
    wholes = {metric: without_slice(metric)[0] for metric in metrics}
    numbers |= {
        metric: numbers[whole]
        for metric, whole in wholes.items()
        if metric not in numbers and whole in numbers
    }
    for metric, margin in numbers.items():
        if metric not in metrics:
            raise UserError(
                f"{named('margin')}: {metric} is not compared; the metrics are {', '.join(metrics)}"
            )
        if (
            isinstance(margin, bool)
            or not isinstance(margin, int | float)
            or not 0 < margin < math.inf
        ):
            raise UserError(
                f"{named('margin', margin)}: expected a number above 0 in units of the score"
            )
        _, widest = difference_bounds(metrics[metric])
        if widest is not None and margin >= widest:
            exceeds = f"{margin:g} is not below the range of {metric} ({metrics[metric].lo:g} to {metrics[metric].hi:g})"
            raise MarginTooLarge(
                exceeds,
                f"{named('margin')}: {exceeds}, so any two systems would be equivalent; give {metric}=NUMBER, the largest "
                "difference that does not matter",
            )
    return {metric: float(margin) for metric, margin in numbers.items() if margin is not None}


def decisions(
    tested: Sequence[Tested],
    results: Sequence[MetricResult],
    margins: Mapping[str, float],
    alpha: float,
) -> tuple[Decision, ...]:
    level = 1 - 2 * alpha / max(
        1, sum(len(of_metric.pairs) for of_metric in tested if of_metric.metric in margins)
    )
    decisions_made = []
    for of_metric, metric in zip(tested, results, strict=True):
        margin = margins.get(of_metric.metric)
        directed = metric.facts.higher_is_better is not None
        for places, pair in zip(of_metric.pairs, metric.pairs, strict=True) if margin else ():
            readings = [
                (of_metric.common, pair.common),
                *(
                    [(of_metric.counted, pair.counted)]
                    if of_metric.counted and pair.counted
                    else []
                ),
            ]
            estimates = []
            words = []
            remarks = []
            for reading, result in readings:
                differences, clusters = reading.differences(*places)
                limits = Limits(
                    margin or 0.0, difference_bounds(metric.facts), level, of_metric.largest
                )
                estimate = margin_interval(
                    differences, clusters, limits, significant=result.better is not None
                )
                ahead = None if result.better is None else result.better == pair.first
                word, remark = _word(estimate, limits.margin, of_metric.sign, ahead, result)
                estimates.append(estimate)
                words.append(word if directed else _UNDIRECTED.get(word, word))
                remarks.append(remark)
            claims_of_all = frozenset.intersection(*(_CLAIMS[word] for word in words))
            conclusion = next(word for word, claims in _CLAIMS.items() if claims == claims_of_all)
            reason = remarks[0]
            if conclusion != words[0]:
                reason = f"{words[0]} on the common questions, {words[1]} with unscored answers as the worst score"
            counted = estimates[1] if len(estimates) > 1 else None
            decisions_made.append(
                Decision(
                    of_metric.metric,
                    *pair.names,
                    margin or 0.0,
                    estimates[0],
                    counted,
                    conclusion,
                    tuple(words),
                    reason,
                )
            )
    return tuple(decisions_made)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a difference is held against. bounds: of differences; level: of the interval; largest: the largest score in
    size, which decides what is rounding."""

    margin: float
    bounds: Bounds
    level: float
    largest: float = 1.0

    @property
    def tail(self) -> float:
        return (1 - self.level) / 2


def margin_interval(
    differences: Floats, clusters: Ints | None, limits: Limits, *, significant: bool = False
) -> Estimate:
    """The interval of a mean difference that is held against the margin. significant: it is significant; of the margin or
    more, the interval then ends at 0.

    Without ends, and with a reason, where the metric has no bounds and few differences are unlike the rest."""
    interval = _interval(differences, clusters, limits)
    if (
        not significant
        or interval.value is None
        or interval.low is None
        or interval.high is None
        or abs(interval.value) < limits.margin
    ):
        return interval
    return (
        replace(interval, low=max(interval.low, 0.0))
        if interval.value > 0
        else replace(interval, high=min(interval.high, 0.0))
    )


def _interval(differences: Floats, clusters: Ints | None, limits: Limits) -> Estimate:
    hall = of_mean(differences, clusters, limits.bounds, limits.largest, limits.level)
    if hall.value is None:
        return hall
    groups = [list(group) for group in groups_of(differences, clusters)]
    means = np.array([sum(group) / len(group) for group in groups])
    lo, hi = limits.bounds
    if lo is None or hi is None:
        unlike = _unlike_the_most_frequent(means, limits.largest)
        if unlike >= min(_UNLIKE, len(means) / 2):
            return hall
        reason = (
            f"{len(means) - unlike} of {len(means)} differences are equal, and the metric has no bounds to say what so "
            "few others can have missed: give --bounds METRIC=LOW:HIGH"
        )
        return replace(hall, low=None, high=None, method="", remark=None, reason=reason)
    if hall.low is None or hall.high is None:
        return hall
    alike = int((np.abs(means - np.median(means)) <= limits.margin / _ALIKE).sum())
    effective = hall.effective or len(means)
    if 2 * alike >= len(means):
        scores = BoundedScores(lo, hi)
        method = GAFFKE
        for group in groups:
            scores.add(*(min(max(value, lo), hi) for value in group))
        low = scores.lower(limits.tail)
        high = scores.upper(limits.tail)
    else:
        missed = equal_interval(min(max(hall.value, lo), hi), effective, lo, hi, limits.level)
        low = min(hall.low, missed[0])
        high = max(hall.high, missed[1])
        method = hall.method if (low, high) == hall.ends else MISSED
    needed = _needed(float(np.median(means)) if method == GAFFKE else 0.0, limits)
    too_few = None
    if needed is not None and needed > effective:
        have = counted(len(means), "question" if clusters is None else "cluster")
        have += "" if hall.effective is None else f" ({hall.effective:.1f} effective)"
        have += " is" if len(means) == 1 else " are"
        too_few = f"{have} too few: at least {needed} are needed to exclude that they missed {limits.margin:g}"
    return replace(hall, low=low, high=high, method=method, remark=None, reason=too_few)


def _unlike_the_most_frequent(means: Floats, largest: float) -> int:
    rounded = np.sort(means)
    steps = np.flatnonzero(np.diff(rounded) > rounding(0.0, largest))
    return len(means) - int(np.diff(np.concatenate([[-1], steps, [len(means) - 1]])).max())


def _needed(value: float, limits: Limits) -> int | None:
    """How many differences show that the mean is within ± margin, if all have this value; None where no number can."""
    lo, hi = limits.bounds
    if lo is None or hi is None or not -limits.margin < value < limits.margin:
        return None
    shares = [(limits.margin + value) / (value - lo)] * (value > lo) + [
        (limits.margin - value) / (hi - value)
    ] * (value < hi)
    share = min(shares)
    return math.floor(math.log(limits.tail) / math.log1p(-share)) + 1 if share < 1 else 1


def _word(
    difference: Estimate, margin: float, sign: int, ahead: bool | None, test: PairDifference
) -> tuple[str, str | None]:
    """The conclusion for the first, and a remark. ahead: it is significantly better (False: the second is)."""
    if difference.value is None or test.p is None:
        return UNDECIDED, test.reason or difference.reason
    low, high = sorted(sign * end for end in difference.ends or (-math.inf, math.inf))
    if -margin < low and high < margin:
        return EQUIVALENT, None
    unknown = difference.ends is None and abs(difference.value) >= margin
    if ahead is not None and (low >= 0 or high <= 0 or unknown):
        return "better" if ahead else "worse", "decided by p" if unknown or 0 in (
            low,
            high,
        ) else None
    word = "non-inferior" if low > -margin else "non-superior" if high < margin else UNDECIDED
    return word, (difference.reason or test.undetectable) if word == UNDECIDED else None


def margin_section(
    made_decisions: Sequence[Decision], alpha: float, places: int
) -> tuple[Section, ...]:
    """The decisions, and their intervals against the margin."""

    def grid(decisions: Sequence[Decision]) -> Grid[Decision]:
        return Grid(
            "margins",
            MARGIN,
            (
                Column("metric", "metric", kind="metric"),
                Column("first", "first"),
                Column("second", "second"),
            ),
            decisions,
            (
                Column("first - second", "difference", places, key="difference"),
                Column("unscored as worst", "counted", places, key="counted", spare=1),
            ),
            beside=(
                Column("margin", lambda row: f"{row.margin:g}"),
                Column("conclusion"),
                Column("remark", "reason"),
            ),
            label=lambda row: f"{row.first} - {row.second}",
        )

    level = f"{100 * made_decisions[0].difference.level:.4g} % CI"
    several = (
        f", divided by {counted(len(made_decisions), 'comparison')}"
        if len(made_decisions) > 1
        else ""
    )
    figures = []
    for metric, words in metric_titles(decision.metric for decision in made_decisions).items():
        of_metric = [decision for decision in made_decisions if decision.metric == metric]
        ends = (-of_metric[0].margin, of_metric[0].margin)
        figures.append(
            grid(of_metric).forest(
                f"{words}: margin {of_metric[0].margin:g}",
                reference=ends,
                note=lambda row: row.conclusion,
            )
        )
    return (
        Section(
            MARGIN,
            f"The {level} of first minus second against ± margin: two one-sided tests at alpha {alpha:g}{several}.",
            (grid(made_decisions).table(),),
            tuple(figures),
            "equivalent: the interval (1 - 2 alpha) lies within ± margin. better, worse: it reaches to 0 at most, and "
            "the adjusted p is at most alpha. non-inferior: not worse by the margin or more. non-superior: not better "
            "by the margin or more (both only where a direction is declared). undecided: none of these, or the "
            "readings with and without unscored answers disagree. The interval counts rare differences that so many "
            "questions can have missed.",
            brief=1,
        ),
    )

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

from longmark.analysis.compare.results import MetricResult, difference_bounds, groups_of, of_mean
from longmark.analysis.compare.tests import PairDifference, Tested
from longmark.analysis.grid import Grid
from longmark.errors import UserError
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


def parsed(texts: Sequence[str]) -> Margins | None:
    """The margins of the command line: `.02`, or `METRIC=.02` any number of times; UserError for others."""
    found: dict[str, float] = {}
    for text in texts:
        metric, _, number = text.rpartition("=")
        try:
            found[metric] = float(number)
        except ValueError:
            raise UserError(
                f"--margin {text}: expected a number or METRIC=NUMBER, for example 0.02"
            ) from None
    if "" in found and len(found) > 1:
        raise UserError("--margin: give one number for all metrics, or METRIC=NUMBER for each")
    return found.get("", found) or None


def by_metric(margins: Margins | None, metrics: Mapping[str, MetricFacts]) -> dict[str, float]:
    """The margin of each compared metric that has one. UserError for a metric not compared, a number not above 0, and a
    margin that no difference can exceed."""
    given = (
        dict(margins)
        if isinstance(margins, Mapping)
        else dict.fromkeys(metrics, margins)
        if margins
        else {}
    )
    wholes = {metric: without_slice(metric)[0] for metric in metrics}
    given |= {
        one: given[whole] for one, whole in wholes.items() if one not in given and whole in given
    }
    for metric, margin in given.items():
        if metric not in metrics:
            raise UserError(
                f"--margin: {metric} is not compared; the metrics are {', '.join(metrics)}"
            )
        if (
            isinstance(margin, bool)
            or not isinstance(margin, int | float)
            or not 0 < margin < math.inf
        ):
            raise UserError(
                f"--margin: expected a number above 0 in units of the score, found {margin!r}"
            )
        _, most = difference_bounds(metrics[metric])
        if most is not None and margin >= most:
            raise UserError(
                f"--margin: {margin:g} is not below the range of {metric} ({metrics[metric].lo:g} to "
                f"{metrics[metric].hi:g}), so any two systems would be equivalent; give {metric}=NUMBER, the largest "
                "difference that does not matter"
            )
    return {metric: float(margin) for metric, margin in given.items() if margin is not None}


def decisions(
    tested: Sequence[Tested],
    results: Sequence[MetricResult],
    margins: Mapping[str, float],
    alpha: float,
) -> tuple[Decision, ...]:
    level = 1 - 2 * alpha / max(1, sum(len(one.pairs) for one in tested if one.metric in margins))
    made = []
    for one, metric in zip(tested, results, strict=True):
        margin = margins.get(one.metric)
        directed = metric.facts.higher_is_better is not None
        for places, pair in zip(one.pairs, metric.pairs, strict=True) if margin else ():
            readings = [
                (one.common, pair.common),
                *([(one.counted, pair.counted)] if one.counted and pair.counted else []),
            ]
            estimates = []
            words = []
            remarks = []
            for reading, of in readings:
                differences, clusters = reading.differences(*places)
                how = Limits(margin or 0.0, difference_bounds(metric.facts), level, one.largest)
                estimate = margin_interval(differences, clusters, how, found=of.better is not None)
                ahead = None if of.better is None else of.better == pair.first
                word, remark = _word(estimate, how.margin, one.sign, ahead, of)
                estimates.append(estimate)
                words.append(word if directed else _UNDIRECTED.get(word, word))
                remarks.append(remark)
            both = frozenset.intersection(*(_CLAIMS[word] for word in words))
            conclusion = next(word for word, claims in _CLAIMS.items() if claims == both)
            reason = remarks[0]
            if conclusion != words[0]:
                reason = f"{words[0]} on the common questions, {words[1]} with unscored answers as the worst score"
            counted = estimates[1] if len(estimates) > 1 else None
            made.append(
                Decision(
                    one.metric,
                    *pair.names,
                    margin or 0.0,
                    estimates[0],
                    counted,
                    conclusion,
                    tuple(words),
                    reason,
                )
            )
    return tuple(made)


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
    differences: Floats, clusters: Ints | None, limits: Limits, *, found: bool = False
) -> Estimate:
    """The interval of a mean difference that is held against the margin. found: it is significant; of the margin or
    more, the interval then ends at 0.

    Without ends, and with a reason, where the metric has no bounds and few differences are unlike the rest."""
    made = _interval(differences, clusters, limits)
    if (
        not found
        or made.value is None
        or made.low is None
        or made.high is None
        or abs(made.value) < limits.margin
    ):
        return made
    return (
        replace(made, low=max(made.low, 0.0))
        if made.value > 0
        else replace(made, high=min(made.high, 0.0))
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
        have = f"{len(means)} {'questions' if clusters is None else 'clusters'}"
        have += "" if hall.effective is None else f" ({hall.effective:.1f} effective)"
        too_few = f"{have} are too few: at least {needed} are needed to exclude that they missed {limits.margin:g}"
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


def margin_section(made: Sequence[Decision], alpha: float, places: int) -> tuple[Section, ...]:
    """The decisions, and their intervals against the margin; no section if there are none."""
    if not made:
        return ()

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
                Column("margin", lambda one: f"{one.margin:g}"),
                *(Column("conclusion"), Column("remark", "reason")),
            ),
            label=lambda one: f"{one.first} - {one.second}",
        )

    level = f"{100 * made[0].difference.level:.4g} % CI"
    several = f", divided by {counted(len(made), 'comparison')}" if len(made) > 1 else ""
    figures = []
    for metric, words in metric_titles(one.metric for one in made).items():
        of = [one for one in made if one.metric == metric]
        ends = (-of[0].margin, of[0].margin)
        figures.append(
            grid(of).forest(
                f"{words}: margin {of[0].margin:g}", reference=ends, note=lambda one: one.conclusion
            )
        )
    return (
        Section(
            MARGIN,
            f"The {level} of first minus second against ± margin: two one-sided tests at alpha {alpha:g}{several}.",
            (grid(made).table(),),
            tuple(figures),
            "equivalent: the interval (1 - 2 alpha) lies within ± margin. better, worse: it reaches to 0 at most, and "
            "the adjusted p is at most alpha. non-inferior: not worse by the margin or more. non-superior: not better "
            "by the margin or more (both only where a direction is declared). undecided: none of these, or the "
            "readings with and without unscored answers disagree. The interval counts rare differences that so many "
            "questions can have missed.",
            brief=1,
        ),
    )

"""Whether a difference is smaller than a margin that matters: two one-sided tests, read off an interval.

The two tests at alpha (Schuirmann 1987, "A comparison of the two one-sided tests procedure …", J. Pharmacokinetics and
Biopharmaceutics 15) reject together exactly where the interval of the difference at the level 1 - 2 alpha lies within
± margin. Each decision is made by that interval alone, which is the one that is drawn:

    equivalent      it lies within ± margin
    better, worse   it lies above or below 0, and the p that decides (`family`) is at most alpha
    non-inferior    it lies above -margin: the first is not worse by the margin or more
    non-superior    it lies below +margin: the first is not better by the margin or more
    undecided       it reaches beyond both ends of the margin

With m pairs and metrics that have a margin, alpha is divided by m (Bonferroni): the level is 1 - 2 alpha / m.

Equal differences show no spread. Where the test could reject, they are decided by their value, with and without bounds:
equivalent within the margin, else better or worse by p. Their interval, from the metric's bounds, decides nothing: it
counts what so few questions can miss. A pair with unscored answers gets its word in both readings (`metric`), and its
conclusion is what both claim: non-inferior for equivalent and better, undecided for better and worse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longmark.analysis.compare.results import MetricResult, difference_bounds, of_mean
from longmark.analysis.compare.tests import PairDifference, Tested
from longmark.analysis.grid import Grid
from longmark.errors import UserError
from longmark.records.metric_name import without_slice
from longmark.report.document import Section
from longmark.report.format import counted, metric_titles
from longmark.report.tables import Column
from longmark.scores.manifest import MetricFacts
from longmark.stats.means import ALL_EQUAL
from longmark.stats.results import Estimate

MARGIN = "Margin"
EQUIVALENT, UNDECIDED = "equivalent", "undecided"
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
_UNDIRECTED = {"better": "higher", "worse": "lower", "non-inferior": UNDECIDED, "non-superior": UNDECIDED}
Margins = float | Mapping[str, float]
"""In units of the score: one for all metrics, or by metric."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A pair on a metric against the margin. difference: first - second, with the interval that decides; counted: the
    same with unscored answers as the worst score, None where both are the same; conclusion: of the first, in a word:
    what both readings claim; words: by reading; reason: why it is undecided, or how equal differences were decided."""

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
            raise UserError(f"--margin {text}: expected a number or METRIC=NUMBER, for example 0.02") from None
    if "" in found and len(found) > 1:
        raise UserError("--margin: give one number for all metrics, or METRIC=NUMBER for each")
    return found.get("", found) or None


def by_metric(margins: Margins | None, metrics: Mapping[str, MetricFacts]) -> dict[str, float]:
    """The margin of each compared metric that has one. UserError for a metric not compared, a number not above 0, and a
    margin that no difference can exceed."""
    given = dict(margins) if isinstance(margins, Mapping) else dict.fromkeys(metrics, margins) if margins else {}
    wholes = {metric: without_slice(metric)[0] for metric in metrics}
    given |= {one: given[whole] for one, whole in wholes.items() if one not in given and whole in given}
    for metric, margin in given.items():
        if metric not in metrics:
            raise UserError(f"--margin: {metric} is not compared; the metrics are {', '.join(metrics)}")
        if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 < margin < math.inf:
            raise UserError(f"--margin: expected a number above 0 in units of the score, found {margin!r}")
        _, most = difference_bounds(metrics[metric])
        if most is not None and margin >= most:
            raise UserError(
                f"--margin: {margin:g} is not below the range of {metric} ({metrics[metric].lo:g} to "
                f"{metrics[metric].hi:g}), so any two systems would be equivalent; give {metric}=NUMBER, the largest "
                "difference that does not matter"
            )
    return {metric: float(margin) for metric, margin in given.items() if margin is not None}


def decisions(
    tested: Sequence[Tested], results: Sequence[MetricResult], margins: Mapping[str, float], alpha: float
) -> tuple[Decision, ...]:
    level = 1 - 2 * alpha / max(1, sum(len(one.pairs) for one in tested if one.metric in margins))
    made = []
    for one, metric in zip(tested, results, strict=True):
        margin, directed = margins.get(one.metric), metric.facts.higher_is_better is not None
        for places, pair in zip(one.pairs, metric.pairs, strict=True) if margin else ():
            readings = [
                (one.common, pair.common),
                *([(one.counted, pair.counted)] if one.counted and pair.counted else []),
            ]
            estimates, words, remarks = [], [], []
            for reading, of in readings:
                bounds = difference_bounds(metric.facts)
                estimate = of_mean(*reading.differences(*places), bounds, one.largest, level)
                ahead = None if of.better is None else of.better == pair.first
                word, remark = _word(estimate, margin or 0.0, one.sign, ahead, of)
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
                    one.metric, *pair.names, margin or 0.0, estimates[0], counted, conclusion, tuple(words), reason
                )
            )
    return tuple(made)


def _word(
    difference: Estimate, margin: float, sign: int, ahead: bool | None, test: PairDifference
) -> tuple[str, str | None]:
    """The conclusion for the first, and a remark. ahead: it is significantly better (False: the second is)."""
    if difference.value is None or test.p is None:
        return UNDECIDED, test.reason or difference.reason
    low, high = sorted(sign * end for end in difference.ends or (-math.inf, math.inf))
    equal = difference.ends is None or difference.method == ALL_EQUAL
    if equal and test.undetectable:
        return UNDECIDED, test.undetectable
    if equal and abs(difference.value) < margin:
        return EQUIVALENT, "all differences are equal: decided by their value"
    if -margin < low and high < margin:
        return EQUIVALENT, None
    if ahead is not None and (equal or low > 0 or high < 0):
        return "better" if ahead else "worse", "all differences are equal: decided by p" if equal else None
    if equal:
        return UNDECIDED, difference.reason
    return "non-inferior" if low > -margin else "non-superior" if high < margin else UNDECIDED, None


def margin_section(made: Sequence[Decision], alpha: float, places: int) -> tuple[Section, ...]:
    """The decisions, and their intervals against the margin; no section if there are none."""
    if not made:
        return ()

    def grid(decisions: Sequence[Decision]) -> Grid[Decision]:
        return Grid(
            "margins",
            MARGIN,
            (Column("metric", "metric", kind="metric"), Column("first", "first"), Column("second", "second")),
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
            grid(of).forest(f"{words}: margin {of[0].margin:g}", reference=ends, note=lambda one: one.conclusion)
        )
    return (
        Section(
            MARGIN,
            f"The {level} of first minus second against ± margin: two one-sided tests at alpha {alpha:g}{several}.",
            (grid(made).table(),),
            tuple(figures),
            "equivalent: the interval (1 - 2 alpha) lies within ± margin. better, worse: it excludes 0, and the "
            "adjusted p is at most alpha. non-inferior: not worse by the margin or more. non-superior: not better by "
            "the margin or more (both only where a direction is declared). undecided: none of these, or the readings "
            "with and without unscored answers disagree.",
            brief=1,
        ),
    )

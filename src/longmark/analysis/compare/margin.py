"""Is a difference smaller than a margin that matters? Two one-sided tests, read off an interval.

The two tests at alpha (Schuirmann 1987, "A comparison of the two one-sided tests procedure …", J. Pharmacokinetics and
Biopharmaceutics 15) reject together exactly where the interval of the difference at the level 1 - 2 alpha lies within
± margin. Each decision is made by that interval alone, which is the one that is drawn:

    equivalent      it lies within ± margin
    better, worse   it lies above or below 0, and the p that decides (`family`) is at most alpha
    non-inferior    it lies above -margin: the first is not worse by the margin or more
    non-superior    it lies below +margin: the first is not better by the margin or more
    undecided       it reaches beyond both ends of the margin

With m pairs and metrics that have a margin, alpha is divided by m (Bonferroni): the level is 1 - 2 alpha / m.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from longmark.analysis.compare import effects
from longmark.analysis.compare.metric import MetricComparison, Tested, difference_bounds
from longmark.errors import UserError
from longmark.report.charts import ForestRow, forest
from longmark.report.document import Section
from longmark.report.format import counted, metric_titles
from longmark.report.tables import Column, Table, interval_columns, method_column
from longmark.stats.results import Estimate

MARGIN = "Margin"
EQUIVALENT, UNDECIDED = "equivalent", "undecided"
Margins = float | Mapping[str, float]
"""In units of the score: one for all metrics, or by metric."""


@dataclass(frozen=True, slots=True)
class Decision:
    """A pair on a metric against the margin. difference: first - second, with the interval that decides; conclusion: of
    the first, in a word; None without an interval."""

    metric: str
    first: str
    second: str
    margin: float
    difference: Estimate
    conclusion: str | None


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


def by_metric(margins: Margins | None, metrics: Sequence[str]) -> dict[str, float]:
    """The margin of each compared metric that has one. UserError for a metric not compared or a number not above 0."""
    given = dict(margins) if isinstance(margins, Mapping) else dict.fromkeys(metrics, margins) if margins else {}
    for metric, margin in given.items():
        if metric not in metrics:
            raise UserError(f"--margin: {metric} is not compared; the metrics are {', '.join(metrics)}")
        if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0 < margin < math.inf:
            raise UserError(f"--margin: expected a number above 0 in units of the score, found {margin!r}")
    return {metric: float(margin) for metric, margin in given.items() if margin is not None}


def decisions(
    tested: Sequence[Tested], found: Sequence[MetricComparison], margins: Mapping[str, float], alpha: float
) -> tuple[Decision, ...]:
    """Every pair on every metric with a margin."""
    level = 1 - 2 * alpha / max(1, sum(len(one.pairs) for one in tested if one.metric in margins))
    made = []
    for one, metric in zip(tested, found, strict=True):
        for (a, b), pair in zip(one.pairs, metric.pairs, strict=True) if one.metric in margins else ():
            margin, (values, clusters) = margins[one.metric], one.differences(a, b)
            estimate = effects.of_mean(values, clusters, difference_bounds(metric.facts), one.largest, level)
            word = _word(estimate, margin, one.sign, pair.better, pair.first)
            if metric.facts.higher_is_better is None:
                word = {"better": "higher", "worse": "lower", "non-inferior": UNDECIDED, "non-superior": UNDECIDED}.get(
                    word or "", word
                )
            made.append(Decision(one.metric, pair.first, pair.second, margin, estimate, word))
    return tuple(made)


def _word(difference: Estimate, margin: float, sign: int, better: str | None, first: str) -> str | None:
    if difference.ends is None:
        return None
    low, high = sorted(sign * end for end in difference.ends)
    if -margin < low and high < margin:
        return EQUIVALENT
    if better and (low > 0 or high < 0):
        return "better" if better == first else "worse"
    return "non-inferior" if low > -margin else "non-superior" if high < margin else UNDECIDED


def margin_section(made: Sequence[Decision], alpha: float, places: int) -> tuple[Section, ...]:
    """The decisions, and their intervals against the margin; no section if there are none."""
    if not made:
        return ()
    level = f"{100 * made[0].difference.level:.4g} % CI"
    columns = (
        *(Column("metric", kind="metric"), Column("first"), Column("second")),
        Column("margin", lambda one: f"{one.margin:g}"),
        *interval_columns("first - second", "difference", places, level, "difference", "interval"),
        method_column("difference", "interval_method"),
        Column("n", "difference.n"),
        Column("conclusion", lambda one: one.conclusion or one.difference.reason),
    )
    several = f", divided by {counted(len(made), 'comparison')}" if len(made) > 1 else ""
    figures = []
    for metric, words in metric_titles(one.metric for one in made).items():
        rows = [one for one in made if one.metric == metric]
        drawn = [
            ForestRow(f"{one.first} - {one.second}", of.value, of.low, of.high, one.conclusion or "")
            for one in rows
            if (of := one.difference)
        ]
        figures.append(forest(drawn, f"{words}: margin {rows[0].margin:g}", (-rows[0].margin, rows[0].margin)))
    return (
        Section(
            MARGIN,
            f"The {level} of first minus second against ± margin: two one-sided tests at alpha {alpha:g}{several}.",
            (Table("margins", MARGIN, columns, made),),
            tuple(figures),
            "equivalent: the interval (1 - 2 alpha) lies within ± margin. better, worse: it excludes 0, and the "
            "adjusted p is at most alpha. non-inferior: not worse by the margin or more. non-superior: not better by "
            "the margin or more (both only where a direction is declared). undecided: none of these.",
        ),
    )

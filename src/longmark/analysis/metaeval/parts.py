"""Parts that the sections on ratings and on choices share: metrics compared in pairs, and metrics by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longmark.report import charts, lanes
from longmark.report.figures import Figure
from longmark.report.format import counted, p_value

_DRAWN = 40  # pairs of metrics that a figure holds at the most


class PairOfMetrics(NamedTuple):
    """The first metric's figure less the second's, with its interval; p: after Holm, None where reason says why."""

    first: str
    second: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    reason: str | None


class InGroup(NamedTuple):
    """A metric's figure among the n answers (or pairs) of one group. column: which column the group is of."""

    column: str
    group: str
    metric: str
    value: float | None
    n: int


def differences_figure(pairs: Sequence[PairOfMetrics], label: str) -> Figure:
    """Each pair's difference with its interval, beside it p."""
    rows = [
        lanes.ForestRow(
            f"{pair.first} − {pair.second}",
            pair.difference,
            pair.low,
            pair.high,
            pair.reason or "" if pair.p is None else p_value(pair.p),
        )
        for pair in pairs[:_DRAWN]
    ]
    return lanes.forest(rows, label, 0.0)


def significant_pairs(pairs: Sequence[PairOfMetrics], alpha: float, what: str) -> str:
    """How many pairs of metrics differ, in words."""
    tested = sorted(((pair.p, pair) for pair in pairs if pair.p is not None), key=lambda one: one[0])
    if not tested:
        return f"No pair of metrics could be tested for {what}."
    apart = [pair for p, pair in tested if p <= alpha]
    if not apart:
        return (
            f"No significant difference in {what} between metrics (alpha {alpha:g}, Holm over "
            f"{counted(len(tested), 'pair')}). This does not show that they are equal."
        )
    return (
        f"{len(apart):,} of {counted(len(tested), 'pair')} of metrics differ significantly in {what} (alpha {alpha:g}, "
        f"Holm); smallest p: {apart[0].first} over {apart[0].second}."
    )


def groups_figure(found: Sequence[InGroup], label: str, low: float) -> Figure:
    """A heat map, metrics by groups, from `low` to 1."""
    groups = list(dict.fromkeys((one.column, one.group) for one in found))
    metrics = list(dict.fromkeys(one.metric for one in found))
    value = {(one.column, one.group, one.metric): one.value for one in found}
    cells = [[value[column, group, metric] for column, group in groups] for metric in metrics]
    return charts.heat_map(metrics, [group for _, group in groups], cells, label, low, 1.0, 2)


def columns_named(found: Sequence[InGroup]) -> str:
    """`subject`, or `subject and mode`."""
    return " and ".join(dict.fromkeys(one.column for one in found))


def fewest(found: Sequence[InGroup], what: str) -> str:
    """How small the smallest group is, for metrics that have a figure in any."""
    there = {one.metric for one in found if one.value is not None}
    if not there:
        return "No group has an estimate."
    least = min(one.n for one in found if one.metric in there)
    return f"The smallest group has {counted(least, what)}: read the intervals."

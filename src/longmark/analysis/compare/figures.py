"""The figures of a comparison: rankings with groups, differences with intervals, questions won."""

from __future__ import annotations

from collections.abc import Sequence

from longmark.analysis.compare.results import MetricComparison, PairOnMetric
from longmark.analysis.compare.words import direction, in_groups, most_won, significant_pairs
from longmark.report.figures import Figure
from longmark.report.format import p_value
from longmark.report.lanes import ForestRow, Ranked, Stack, forest, groups, stacked

MOST_PAIRS = 30
"""Pairs drawn for a metric; of more, those of the first system with each other one."""


def rankings(metrics: Sequence[MetricComparison]) -> tuple[Figure, ...]:
    """The systems of each metric, best first, with bars over those that do not differ significantly; where neither
    direction is better, their means without a ranking."""
    return tuple(_ranking(one) for one in metrics)


def _ranking(one: MetricComparison) -> Figure:
    if one.facts.higher_is_better is None:
        means = [ForestRow(s.system, s.common.value, s.common.low, s.common.high) for s in one.systems]
        label = f"{one.metric} (direction: {direction(one)})"
        return forest(means, label, reference=None, says=in_groups(one))
    ranked = [Ranked(s.system, s.common.value, s.common.low, s.common.high, s.rank or "") for s in one.systems]
    return groups(ranked, _bars(one), f"{one.metric} ({direction(one)} is better)", says=in_groups(one))


def differences(metrics: Sequence[MetricComparison]) -> tuple[Figure, ...]:
    """Each pair's difference with its interval; beside it the adjusted p."""
    return tuple(
        forest(
            [
                ForestRow(_label(p), p.difference.value, p.difference.low, p.difference.high, p_value(p.p))
                for p in _drawn(one)
            ],
            _titled(one),
            says=significant_pairs(one),
        )
        for one in metrics
    )


def wins(metrics: Sequence[MetricComparison]) -> tuple[Figure, ...]:
    """On how many questions the first of a pair wins, ties and loses; or is higher, equal and lower."""
    return tuple(
        stacked(
            [
                Stack(_label(p), tuple(zip(outcomes(one), (p.won, p.ties, p.lost), strict=True)))
                for p in _drawn(one)
                if p.won + p.ties + p.lost
            ],
            _titled(one),
            says=most_won(one),
        )
        for one in metrics
    )


def outcomes(one: MetricComparison) -> tuple[str, str, str]:
    """What the three parts are called, from the view of the first system."""
    return ("first higher", "equal", "first lower") if one.facts.higher_is_better is None else ("won", "tied", "lost")


def _bars(one: MetricComparison) -> list[tuple[int, int]]:
    """The runs of neighbours that a group holds: with one test for all pairs, the whole group."""
    place = {system.system: i for i, system in enumerate(one.systems)}
    bars = []
    for group in one.groups:
        members = sorted(place[name] for name in group)
        start = members[0]
        for i, member in enumerate(members):
            if i + 1 == len(members) or members[i + 1] != member + 1:
                if member > start:
                    bars.append((start, member))
                start = members[i + 1] if i + 1 < len(members) else member
    return bars


def _drawn(one: MetricComparison) -> Sequence[PairOnMetric]:
    if len(one.pairs) <= MOST_PAIRS:
        return one.pairs
    return [pair for pair in one.pairs if pair.first == one.systems[0].system]


def _titled(one: MetricComparison) -> str:
    return one.metric if len(one.pairs) <= MOST_PAIRS else f"{one.metric}: the first system against each other one"


def _label(pair: PairOnMetric) -> str:
    return f"{pair.first} - {pair.second}"

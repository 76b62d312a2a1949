"""p-values corrected for all pairs of all metrics: Tukey's over the pairs of a metric, Holm's over the metrics.

    p of the i-th smallest  ->  r_i p, at least that of the smaller ones, at most 1
    r_i: the metrics that have a p at least as large still to come, the i-th among them

Tukey's p already holds over the pairs of its metric, so only the metrics are left to be paid for; once every pair of a
metric is found, that metric leaves the count (the sequential rejection principle of Goeman and Solari, 2010, on Holm's
steps). With two systems a metric has one pair, and this is Holm's correction over the metrics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def corrected(p_values: Mapping[str, Sequence[float | None]]) -> dict[str, tuple[float | None, ...]]:
    """metric -> the corrected p of its pairs, in the order given; a pair without a p is not counted."""
    tested = [(p, metric, i) for metric, column in p_values.items() for i, p in enumerate(column) if p is not None]
    waiting = Counter(metric for _, metric, _ in tested)
    found: dict[str, list[float | None]] = {metric: [None] * len(column) for metric, column in p_values.items()}
    least = 0.0
    for p, metric, i in sorted(tested, key=lambda one: one[0]):
        least = max(least, min(1.0, p * len(waiting)))
        found[metric][i] = least
        waiting[metric] -= 1
        if not waiting[metric]:
            del waiting[metric]
    return {metric: tuple(column) for metric, column in found.items()}

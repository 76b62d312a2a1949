"""Numbers in the sentences of a study."""

from __future__ import annotations

from longmark.analysis.metrics_study.results import MetricProperties
from longmark.report.format import fixed


def percent(share: float) -> str:
    """A share, with one decimal of a percent; a few are never none, and nearly all never all."""
    if 0 < share < 0.0005:
        return "<0.1 %"
    if 0.9995 <= share < 1:
        return ">99.9 %"
    return f"{100 * share:.1f} %"


def value(of: MetricProperties, number: float | None) -> str:
    """A value of the metric, with its decimals."""
    return fixed(number, of.places)


def better(of: MetricProperties) -> str:
    """Which end of a metric is better."""
    return {True: "higher", False: "lower", None: "neither"}[of.facts.higher_is_better]

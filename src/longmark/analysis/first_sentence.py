"""The first sentence of a report, and of a run in the browser, on two systems: that of `longmark compare`, so that one
pair of systems has one verdict on every page.

`report.ahead` speaks where this has none: on one system, on three and more, and where the tests cannot be made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from longmark.errors import UserError
from longmark.report.summary import Summary
from longmark.scores.clusters import QUESTION

MOST_SCORES = 50_000
"""A report of more scores does not wait for the tests (4 s)."""
MOST_SCORES_OF_A_REPLY = 10_000
"""Nor does a page that somebody opens (1 s)."""


def first_sentence(
    runs: Sequence[Path],
    summary: Summary,
    *,
    cluster: str = QUESTION,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    primary: Sequence[str] = (),
    most_scores: int = MOST_SCORES,
) -> str:
    """What `longmark compare` says of the two systems of these runs, whose scores `summary` counts. "" where they have
    another number of systems or more than `most_scores`, choose between two answers, cannot be compared or
    decide nothing, or the extra `stats` is not installed. primary: metrics that decide."""
    n_scores = sum(cell.n for cell in summary.cells if cell.metric not in summary.slices)
    if len(summary.systems) != 2 or summary.pairs or n_scores > most_scores:
        return ""
    if find_spec("numpy") is None or find_spec("scipy") is None:
        return ""
    from longmark.analysis.compare.comparison import compare
    from longmark.analysis.compare.page import lead
    from longmark.analysis.compare.verdict import verdict
    from longmark.scores.paired import BY_EACH

    try:
        comparison = compare(
            list(runs), by=BY_EACH, cluster=cluster, bounds=dict(bounds or {}), primary=primary
        )
    except UserError:  # too few common questions, or scores made in different ways
        return ""
    return lead(comparison) if verdict(comparison) else ""

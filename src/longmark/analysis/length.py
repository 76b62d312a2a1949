"""`compare --length-control`: the differences of a comparison at equal lengths of the answers (`stats.length`)."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from longmark.analysis.compare import Comparison
from longmark.analysis.grid import Grid
from longmark.records.metric_name import without_slice
from longmark.report.document import Section
from longmark.report.format import listed
from longmark.report.tables import Column
from longmark.scores.files import paths_given
from longmark.scores.paired import read_scores
from longmark.scores.scored_answers import answers_of
from longmark.stats.length import length_controlled
from longmark.stats.results import Estimate

Row = tuple[str, str, str]


def section(comparison: Comparison) -> Section:
    """Each pair's difference as it is, at equal lengths, and how much longer the first system's answers are."""
    paths = paths_given(comparison.runs)
    scores = read_scores(paths, comparison.by, comparison.cluster, judges=bool(comparison.judges))
    totals = np.zeros((2, len(scores.questions), len(scores.systems)))
    for answer in answers_of(paths, scores):
        if answer.length is not None:
            totals[:, *answer.cell] += 1, answer.length
    lengths = np.where(totals[0] > 0, totals[1] / np.maximum(totals[0], 1), np.nan)
    by_row: dict[Row, tuple[float | None, Estimate, float | None]] = {}
    for metric in (
        metric.metric for metric in comparison.metrics if not without_slice(metric.metric)[1]
    ):
        matrix = scores.matrix(metric)
        for names in combinations(comparison.systems, 2):
            first, second = (scores.systems.index(name) for name in names)
            score_differences, longer = (
                table[:, first] - table[:, second] for table in (matrix, lengths)
            )
            with_both = ~np.isnan(score_differences) & ~np.isnan(longer)
            controlled = length_controlled(
                score_differences[with_both],
                longer[with_both],
                scores.clusters[with_both],
                comparison.settings.level,
            )
            raw, extra_length = (
                float(values[with_both].mean()) if with_both.any() else None
                for values in (score_differences, longer)
            )
            by_row[(metric, *names)] = raw, controlled, extra_length
    grid = Grid(
        "length",
        "Differences at equal lengths",
        (Column("metric", kind="metric"), "first", "second"),
        list(by_row),
        (Column("at equal lengths", lambda row: by_row[row][1], 3),),
        note="first - second. at equal lengths: what is left of the difference if both answers to a question are "
        "equally long. longer: how many characters the answers of the first system have more.",
        unit="questions",
        beside=(
            Column("difference", lambda row: by_row[row][0], 3, kind="number"),
            Column("longer", lambda row: by_row[row][2], 0, kind="number"),
        ),
    )
    undecided = [
        " and ".join(row[1:])
        for row, (raw, controlled, _) in by_row.items()
        if raw and controlled.ends is not None and controlled.ends[0] <= 0 <= controlled.ends[1]
    ]
    text = "How much of each difference is left at equal lengths of the answers."
    text += f" The interval holds 0 for {listed([*dict.fromkeys(undecided)])}." if undecided else ""
    beyond = [
        " and ".join(row[1:]) for row, (_, controlled, _) in by_row.items() if controlled.remark
    ]
    text += (
        f" Extrapolated for {listed([*dict.fromkeys(beyond)])}: nearly all answers of one are longer, so the figure "
        "rests on the form of the regression, which the interval does not count."
        if beyond
        else ""
    )
    note = "This removes what length does to the judge and what longer answers are better by; labels tell them apart."
    return Section("Length", text, (grid.table(),), note=note, brief=1)

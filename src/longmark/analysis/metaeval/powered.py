"""The mean that people would have given had they rated every answer: few ratings and many marks (`stats.ppi`).

For each metric on the label's scale, over all marked answers and for each system with a rating. It holds where the
rated answers are a random sample of the marked ones. Where a question has several answers, rated or not, their spread
is that between questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longmark.analysis.metaeval.orient import on_scale
from longmark.analysis.metaeval.questions import clusters_of
from longmark.scores.answers import AnswerScores
from longmark.stats.ppi import PpiMean, ppi_mean
from longmark.stats.samples import Floats

ALL = "all"


@dataclass(frozen=True, slots=True)
class Powered:
    """A prediction-powered mean of one metric. system: `all` for every answer together."""

    metric: str
    system: str
    mean: PpiMean


def powered(
    marks: AnswerScores, places: Sequence[int], people: Floats, low: float, high: float, level: float
) -> tuple[Powered, ...]:
    """people: their mean on the answers at `places`; low, high: the ends of the label's scale."""
    labels = np.full(len(marks.answers), np.nan)
    labels[list(places)] = people
    rated = ~np.isnan(labels)
    systems = np.array([answer.system for answer in marks.answers], dtype=object)
    questions = np.array([answer.question_id for answer in marks.answers], dtype=object)
    named = [system for system in marks.systems if (rated & (systems == system)).any()]
    groups = [(ALL, np.ones(len(labels), dtype=bool))]
    if len(marks.systems) > 1:
        groups += [(system, systems == system) for system in named]
    found = []
    for metric, facts in marks.metrics.items():
        values = on_scale(marks.column(metric), facts, low, high)
        if values is None:
            continue
        for name, here in groups:
            if (here & ~rated & ~np.isnan(values)).any() and (here & rated).any():
                clusters = clusters_of(questions[here].tolist())
                found.append(
                    Powered(metric, name, ppi_mean(labels[here], values[here], clusters=clusters, level=level))
                )
    return tuple(found)

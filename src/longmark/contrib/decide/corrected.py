"""Systems compared by a judge's scores that a few human labels correct (`stats.corrected`).

The labels' file is read (`label_file`), its labels are joined to the cells of the table of scores (`labelled_cells`),
the sample that they are is checked (`label_sample`), the claims that share the error are counted (`claim_family`), and
the means of the systems and their differences are corrected, here. The labelled answers must be a random sample.
Answers without a score count by their labels, or, without these, as whatever the scale allows. Differences are
simultaneous; a certificate is the same inference. Needs the extra `stats`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from longmark.analysis.compare import Comparison
from longmark.contrib.decide.claim_family import Family, claim_family, pair_error
from longmark.contrib.decide.corrected_section import section
from longmark.contrib.decide.correction import NOT_PLANNED, CorrectedMetric, Correction
from longmark.contrib.decide.correction_options import CorrectionOptions
from longmark.contrib.decide.label_file import GivenLabels, LabelFile, read_label_file
from longmark.contrib.decide.label_sample import (
    cell_weights,
    departures_from_draw,
    drawn_probabilities,
    sample_misfits,
    stated_probabilities,
)
from longmark.contrib.decide.labelled_cells import (
    AnswerCells,
    JoinedLabels,
    LabelledCells,
    cells_with_an_answer,
    joined_labels,
)
from longmark.contrib.decide.repeated_answers import repeated_questions
from longmark.errors import UnknownName, UserError, options_of
from longmark.records.metric_name import without_slice
from longmark.report.format import listed
from longmark.scores.draws import read_draw
from longmark.scores.files import paths_given
from longmark.scores.labels import FINAL, first_few
from longmark.scores.paired import Scores, read_scores
from longmark.scores.scored_answers import answers_of
from longmark.stats.corrected import (
    CorrectedEstimate,
    LabelledScores,
    bias_of,
    calibrated,
    corrected,
    raw_of,
    transport,
)

__all__ = ["correct", "correct_runs", "section"]


def correct(comparison: Comparison, labels: GivenLabels, **options: Any) -> Correction:
    """The means of the compared systems and their differences, corrected as by `correct_runs`: on the primary metrics,
    where some were named, else on all. Slices are not."""
    compared = comparison.metrics
    if comparison.primary:
        compared = tuple(comparison.deciding)
    metrics = [metric.metric for metric in compared if not without_slice(metric.metric)[1]]
    return correct_runs(
        comparison.runs,
        labels,
        by=comparison.by,
        cluster=comparison.cluster,
        judges=bool(comparison.judges),
        metrics=metrics,
        systems=comparison.systems,
        **options,
    )


def correct_runs(
    runs: str | Path | Sequence[str | Path], labels: GivenLabels, **options: Any
) -> Correction:
    """The means of the systems of runs and their differences, corrected by labels. options: the fields of
    `CorrectionOptions`.

    UserError for a file without a label that has numbers, with choices, with labels of none of the answers, or with an
    inclusion probability of some labels only; UnknownName for a label, a metric or a system that is not there.
    """
    chosen = options_of(CorrectionOptions, options, "correct")
    paths = paths_given(runs)
    scores = read_scores(paths, chosen.by, chosen.cluster, judges=chosen.judges)
    metrics = scores.named(chosen.metrics)
    places = _places(scores, chosen)
    label_file = read_label_file(labels, chosen)

    answers = list(answers_of(paths, scores))
    answer_cells = AnswerCells.of(answers)
    drawn = None if chosen.draw is None else read_draw(Path(chosen.draw))
    compared = {cell for metric in metrics for cell in cells_with_an_answer(scores, metric, places)}
    departures, changed = departures_from_draw(drawn or (), answers, compared)
    joined = joined_labels(label_file.counted, label_file.scale, answer_cells, changed)
    if not joined.values:
        raise UserError(_none_joined(label_file, joined))

    if drawn is None:
        probabilities = stated_probabilities(label_file.counted, label_file.name)
    else:
        probabilities = drawn_probabilities(drawn)
    cells = LabelledCells(
        scores,
        joined.values,
        cell_weights(probabilities, answer_cells),
        label_file.bounds,
        chosen.these_raters,
    )
    family = replace(
        claim_family(scores, chosen, drawn, joined.cells, answer_cells, label_file.claimable),
        misfits=sample_misfits(cells, metrics, places),
    )
    of_raters = joined_labels(label_file.by_raters, label_file.rater_scale, answer_cells, changed)
    chances = probabilities.values()
    repeated = repeated_questions(paths, scores, answers, places)
    repeats = (
        (f"{repeated.in_words()}, and count as if they were others.",) if repeated.too_many else ()
    )
    return Correction(
        file=label_file.name,
        label=label_file.label,
        scale=label_file.scale,
        metrics=tuple(_metric(cells, metric, places, chosen, family) for metric in metrics),
        joined=len(joined.cells),
        unjoined=joined.unjoined,
        raters=len(joined.values.keys() - {FINAL}) or 1,
        drawn=(min(chances), max(chances)) if chances else None,
        rated=of_raters.values,
        labelled=cells,
        family=family,
        options=chosen,
        departures=departures,
        declared=label_file.declared,
        notices=(*scores.notices, *label_file.notices, *repeats),
        unhashed=label_file.unhashed,
        empty=label_file.empty,
        replaced=label_file.replaced,
        alike=label_file.alike,
        repeated=repeated,
    )


def _places(scores: Scores, options: CorrectionOptions) -> list[int]:
    """The numbers of the compared systems."""
    for system in options.systems:
        if system not in scores.systems:
            raise UnknownName(
                scores.by, system, scores.systems, f"There are {listed(scores.systems)}."
            )
    return [scores.systems.index(system) for system in options.systems or scores.systems]


def _none_joined(label_file: LabelFile, joined: JoinedLabels) -> str:
    reasons = "; ".join(
        f"{reason} ({len(ids):,}: {first_few(ids, 3)})" for reason, ids in joined.unjoined.items()
    )
    return f"{label_file.name}: no label belongs to an answer of these systems: {reasons}"


# A metric -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _MetricTable:
    """A metric's scores and labels, as they are and as they are used: calibrated, where that is asked for."""

    raw: LabelledScores
    used: LabelledScores
    options: CorrectionOptions

    def estimate(self, sides: dict[int, float], level: float) -> CorrectedEstimate:
        """A mean or a difference (`stats.corrected.corrected`), with what the scores alone say and their bias."""
        options = self.options
        estimate = corrected(self.used, sides, weight=options.weight, level=level)
        bias = None
        # calibrated scores are shrunk towards the mean, so that also a fair judge's would seem to favour a system
        if not options.calibrate:
            bias = bias_of(self.used, sides, weight=options.weight, level=options.level)
        return replace(estimate, raw=raw_of(self.raw, sides), bias=bias)

    def difference(self, first: int, second: int, error: float) -> CorrectedEstimate:
        """The difference of two systems, with a simultaneous interval of this one-sided error and an adjusted p."""
        options = self.options
        level = (1 + options.level) / 2
        pair = self.estimate({first: 1.0, second: -1.0}, 1 - 2 * error)
        adjusted = None if pair.p is None else min(1.0, pair.p * (1 - options.level) / (2 * error))
        people = pair.people
        if people is not None:
            people = replace(people, level=level, method=_simultaneous(people.method))
        return replace(
            pair,
            p=adjusted,
            level=level,
            method=_simultaneous(pair.method) if pair.method else "",
            error=error,
            people=people,
        )


def _simultaneous(method: str) -> str:
    return f"{method}, simultaneous"


def _metric(
    cells: LabelledCells,
    metric: str,
    compared: Sequence[int],
    options: CorrectionOptions,
    family: Family,
) -> CorrectedMetric:
    systems = cells.scores.systems
    raw = cells.table(metric)
    used = calibrated(raw, options.seed) if options.calibrate else raw
    table = _MetricTable(raw, used, options)
    places = [place for place in compared if not np.isnan(raw.scores[:, place]).all()]
    means = {systems[place]: table.estimate({place: 1.0}, options.level) for place in places}
    pairs = {}
    for first, second in combinations(places, 2):
        pair = table.difference(
            first, second, pair_error(raw, (first, second), family, options.level)
        )
        names = (systems[first], systems[second])
        if not _may_be_claimed(family, names, metric):
            pair = replace(pair, remark="; ".join(filter(None, (pair.remark, NOT_PLANNED))))
        pairs[names] = pair
    transports = {}
    if options.margin is not None:
        transports = {
            systems[place]: transport(raw, place, options.margin, options.seed) for place in places
        }
    return CorrectedMetric(metric, means, pairs, transports)


def _may_be_claimed(family: Family, systems: tuple[str, str], metric: str) -> bool:
    """In one direction or the other."""
    first, second = systems
    return family.may_claim(first, second, metric) or family.may_claim(second, first, metric)

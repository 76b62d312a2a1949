"""The file of labels that correct scores: which of its labels counts, on which scale, and who gave it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.analysis.metaeval.labels import NUMERIC, LabelScale, Rating, scale_of
from longmark.contrib.decide.correction_options import CorrectionOptions
from longmark.errors import UnknownName, UserError
from longmark.report.format import listed
from longmark.scores.answer_parts import plural
from longmark.scores.answer_texts import ANSWER_SHA256
from longmark.scores.label_scales import DeclaredScale
from longmark.scores.labels import FINAL, ColumnOptions, Labels, decisive, order_for
from longmark.scores.observations import Observation

GivenLabels = str | Path | Iterable[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LabelFile:
    """The label that scores are corrected to.

    name, label    of the file; of the label in it
    counted        its labels that count: a final one alone, where an answer has it, else those of raters
    scale          their numbers, as `metaeval` has them; declared: as the file declares it, None if it does not
    by_raters      the labels of raters, also where a final label counts; rater_scale: their numbers
    claimable      how many labels of the file could have been chosen instead, with this one
    notices        what else of the file should be known
    empty          lines without a value; replaced: labels in whose place a later one of the same rater counts
    alike          names of raters that look the same
    """

    name: str
    label: str
    counted: list[Observation]
    scale: LabelScale
    by_raters: list[Observation]
    rater_scale: LabelScale
    declared: DeclaredScale | None
    claimable: int
    notices: tuple[str, ...]
    empty: int
    replaced: int
    alike: tuple[str, ...]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The ends of the scale; None where only the least and the greatest label seen are known."""
        if self.scale.kind == NUMERIC and not self.scale.declared:
            return None
        if self.scale.low is None or self.scale.high is None:
            return None
        return self.scale.low, self.scale.high

    @property
    def unhashed(self) -> int:
        """Labels without a hash of the labelled text."""
        return sum(not label.given.get(ANSWER_SHA256) for label in self.counted)


def read_label_file(labels: GivenLabels, options: CorrectionOptions) -> LabelFile:
    """UserError for choices between answers, for several labels of which none is chosen, and for one without numbers;
    UnknownName for a label that is not there."""
    columns = ColumnOptions(
        mapping=options.mapping,
        raters=options.raters,
        order=options.order,
        leave_out=options.leave_out,
        label_columns=options.label_columns,
    )
    with Labels(labels, options=columns) as reader:
        if reader.choices:
            raise UserError(
                f"{reader.name} has choices between answers; a mean is corrected by labels of single answers"
            )
        if reader.parts:
            raise UserError(
                f"{reader.name} has labels of {plural(reader.parts)}; a mean is corrected by labels of whole answers. "
                f"Compare metrics with them: longmark metaeval RUN {reader.name}"
            )
        label = _chosen_label(reader, options.label)
        counted = decisive(
            reader.select(metric=label),
            lambda observation: (observation.example_id, observation.system),
        )
        raters_label = label.removesuffix(f".{FINAL}")
        by_raters = _of_raters(reader, raters_label) if raters_label in reader.metrics else []
        claimable = _claimable_labels(reader, raters_label, options) + len(reader.unread)
        name = reader.name
        declared = reader.scales.get(label)
        notices = (*reader.notices, *_unread_in_words(reader))
        empty = reader.empty
        replaced = reader.replaced
        alike = tuple(reader.alike)

    def scale(observations: list[Observation]) -> LabelScale:
        order = order_for(options.order, label)
        return scale_of(_ratings(label, observations), order, name, declared, keep_numbers=True)

    counted_scale = scale(counted)
    rater_scale = scale(by_raters or counted)
    if not counted_scale.numeric:
        raise UserError(
            f"{name}: {label} has no numbers; give the order of its values: --order {label}=LOWEST,…,HIGHEST"
        )
    return LabelFile(
        name=name,
        label=label,
        counted=counted,
        scale=counted_scale,
        by_raters=by_raters,
        rater_scale=rater_scale,
        declared=declared,
        claimable=claimable,
        notices=notices,
        empty=empty,
        replaced=replaced,
        alike=alike,
    )


def _chosen_label(reader: Labels, chosen: str | None) -> str:
    names = list(reader.metrics)
    if chosen is None and len(names) == 1:
        return names[0]
    if chosen is None:
        raise UserError(
            f"{reader.name} has several labels: {listed(names)}. Choose one: --label NAME"
        )
    if chosen not in names:
        raise UnknownName("label", chosen, names, f"{reader.name} has {listed(names)}.")
    return chosen


def _of_raters(reader: Labels, label: str) -> list[Observation]:
    return [
        observation for observation in reader.select(metric=label) if observation.rater != FINAL
    ]


def _ratings(label: str, observations: Iterable[Observation]) -> list[Rating]:
    return [
        Rating(label, observation.rater, observation.value, observation.line)
        for observation in observations
    ]


def _unread_in_words(reader: Labels) -> Iterator[str]:
    if not reader.unread:
        return
    yield (
        f"Columns of {reader.name} that are named like labels and not read: {listed(list(reader.unread))}. A claim could "
        "rest on each, so that each shares the chance of a false claim; remove what is no label."
    )


def _claimable_labels(reader: Labels, chosen: str, options: CorrectionOptions) -> int:
    """How many labels of a file could have been chosen: `chosen`, and others that are no free text."""
    names = dict.fromkeys(metric.removesuffix(f".{FINAL}") for metric in reader.metrics)
    count = 1
    for name in names:
        ratings = [] if name == chosen else _ratings(name, _of_raters(reader, name))
        with suppress(UserError):  # of values that are on no scale
            order = order_for(options.order, name)
            count += bool(ratings and scale_of(ratings, order, reader.name))
    return count

"""Systems compared by a judge's scores that a few human labels correct (`stats.corrected`).

A system's cell of a question is the mean of its answers there, its label the mean of its raters' labels (a final label
alone, where there is one). A label is joined by `example_id`, and by `system` (or the run's name) where several systems
use one id; what cannot be joined is counted with the reason. The labelled answers must be a random sample: with equal
chances, with those of the column `inclusion_probability`, or with those of the file of a draw. Nothing here can see
whether they are. Answers without a score count by their labels, or, without these, as whatever the scale allows.

Differences are simultaneous: the chance that any interval shows a system above another that is not is (1 - level) / 2
in all, over both directions of all pairs on all metrics of the runs, and over all looks (`stats.looks`). A certificate
is the same inference. Needs the extra `stats`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmark.analysis.compare import Comparison
from longmark.analysis.grid import Grid
from longmark.analysis.metaeval.labels import (
    NO_ANSWER,
    NUMERIC,
    SEVERAL,
    LabelScale,
    Rating,
    scale_of,
    text_of,
)
from longmark.errors import UnknownName, UserError, options_of
from longmark.records.metric_name import without_slice
from longmark.report.document import Section
from longmark.report.format import counted, listed, metric_titles
from longmark.report.tables import Column
from longmark.scores.answer_texts import ANSWER_SHA256, OTHER_TEXT, labels_of_other_answers
from longmark.scores.clusters import QUESTION
from longmark.scores.draws import Departures, DrawnAnswer, draw_number, parsed_claim, read_draw
from longmark.scores.files import paths_given
from longmark.scores.label_scales import DeclaredScale
from longmark.scores.labels import (
    FINAL,
    PROBABILITY,
    ColumnOptions,
    Labels,
    decisive,
    first_few,
    order_for,
)
from longmark.scores.observations import Observation
from longmark.scores.paired import Scores, read_scores
from longmark.scores.scored_answers import Cell, ScoredAnswer, answers_of
from longmark.stats.corrected import (
    FEWEST_RATERS,
    NO_SCALE,
    NOT_TOLD_APART,
    CorrectedEstimate,
    LabelledScores,
    Transport,
    bias_of,
    calibrated,
    corrected,
    raw_of,
    transport,
)
from longmark.stats.labelled_sample import FEWEST_LABELS
from longmark.stats.looks import UNKNOWN_LOOKS, Looks
from longmark.stats.raters import CONTRADICT, copies

NOT_PLANNED = "not a planned claim"
"""The remark of a pair of which nothing can be claimed, since the first draw planned other claims."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionOptions:
    """What labels correct, and how.

    by, cluster, judges   as for `compare`; metrics, systems: names; all if none is given
    label      the label to correct to; None: the only one of the file. mapping, order: as for `metaeval`
    calibrate  scores are put on the labels' scale first, by one isotonic regression for all systems
    weight     λ; None: tuned, 1: as the paper on prediction-powered inference has it
    margin     in the labels' units: whether the other systems' labels would have corrected a system as well
    draw       the file of the draw that chose the labelled answers (`longmark label next`)
    looks      how often labels are looked at, the caller's word; None: as the draw says, else any number of times
    these_raters  the results are for the raters of the labels only; False: for people like them
    level      of a mean's interval. (1 - level) / 2 is the chance that any difference is shown the wrong way
    """

    by: str | None = None
    cluster: str = QUESTION
    judges: bool = False
    metrics: Sequence[str] = ()
    systems: Sequence[str] = ()
    label: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    calibrate: bool = True
    weight: float | None = None
    margin: float | None = None
    draw: str | Path | None = None
    looks: int | None = None
    these_raters: bool = False
    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True)
class CorrectedMetric:
    """A metric's systems, corrected. means: system -> its mean; pairs: (first, second) -> their difference, with a
    simultaneous interval and an adjusted p; transports: system -> whether it needs labels of its own."""

    metric: str
    means: Mapping[str, CorrectedEstimate]
    pairs: Mapping[tuple[str, str], CorrectedEstimate]
    transports: Mapping[str, Transport]


@dataclass(frozen=True, slots=True)
class Correction:
    """What `correct` found.

    joined, unjoined   labelled answers with a row; reason -> the ids of those without
    raters, drawn      how many raters; the least and the greatest inclusion probability, None where there is none
    rated, labelled    rater -> cell -> label of all raters, also where a final label counts; what was corrected by what
    family, departures which claims share the error; how the answers are not those that were drawn
    declared           the scale that the file declares, None if it does not
    notices            what else of runs and labels should be known
    unhashed           labels without a hash of the labelled text
    empty, replaced    lines without a value; labels in whose place a later one of the same rater counts
    alike              names of raters that look the same
    """

    file: str
    label: str
    scale: LabelScale
    metrics: tuple[CorrectedMetric, ...]
    joined: int
    unjoined: Mapping[str, tuple[str, ...]]
    raters: int
    drawn: tuple[float, float] | None
    rated: Mapping[str, Mapping[Cell, float]] = field(repr=False)
    labelled: LabelledCells = field(repr=False)
    family: Family
    options: CorrectionOptions
    departures: Departures = field(default_factory=Departures)
    declared: DeclaredScale | None = None
    notices: tuple[str, ...] = ()
    unhashed: int = 0
    empty: int = 0
    replaced: int = 0
    alike: tuple[str, ...] = ()

    @property
    def finals(self) -> int:
        """How many answers have a final label, which no rater gave alone."""
        return len(self.labelled.values.get(FINAL, ()))

    @property
    def copies(self) -> list[tuple[list[str], int]]:
        """Raters who gave the same labels to all answers that they share, and the fewest that two of them share."""
        names = list(self.labelled.values)
        shape = len(self.labelled.scores.questions), len(self.labelled.scores.systems)
        return [
            ([names[place] for place in places], count)
            for places, count in copies(
                [_labels_of(self.labelled.values[name], shape) for name in names]
            )
        ]

    @property
    def effective_raters(self) -> float | None:
        """The fewest effective raters of a difference (of one system: of its mean); None where that is not known, or
        where final labels count, of which nobody knows who decided them."""
        if self.finals:
            return None
        estimates = [pair for metric in self.metrics for pair in metric.pairs.values()]
        estimates += (
            [] if estimates else [mean for metric in self.metrics for mean in metric.means.values()]
        )
        known = [
            each.raters
            for each in estimates
            if each.raters is not None and each.rater_variance is not None
        ]
        return min(known) if known else None


@dataclass(frozen=True, slots=True)
class Family:
    """The claims that share one error. claims: how many; planned: those that were planned, empty if none were; labels:
    how many labels could have been claimed from; looks: how often the labels are looked at; undrawn: labelled answers
    that no draw chose; unlabelled: drawn answers without a label, which count as a further look until they have one
    (both by their ids); seeds: of the draws; misfits: system -> how many answers the labels stand for by
    their probabilities, and how many there are, where that cannot be chance."""

    claims: int
    planned: tuple[str, ...] = ()
    labels: int = 1
    looks: Looks = UNKNOWN_LOOKS
    undrawn: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    misfits: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    def may_claim(self, better: str, worse: str, metric: str) -> bool:
        return not self.planned or f"{better} better than {worse} on {metric}" in self.planned

    def in_words(self) -> str:
        """What the simultaneous level is over."""
        labels = "" if self.labels == 1 else f" by each of {self.labels:,} labels"
        every = f"both directions of all pairs of systems on all metrics{labels} ({self.claims:,} claims)"
        if self.planned:
            number = "" if self.labels == 1 else f" ({self.claims:,} claims)"
            every = f"{counted(len(self.planned), 'planned claim')}{labels}{number}"
        return f"{every} and {self.looks.in_words()}"


GivenLabels = str | Path | Iterable[Mapping[str, Any]]


def correct(comparison: Comparison, labels: GivenLabels, **options: Any) -> Correction:
    """The means of the compared systems and their differences, corrected as by `correct_runs`. Slices are not."""
    same = {"by": comparison.by, "cluster": comparison.cluster, "judges": bool(comparison.judges)}
    metrics = [one.metric for one in comparison.metrics if not without_slice(one.metric)[1]]
    return correct_runs(
        comparison.runs, labels, **same, metrics=metrics, systems=comparison.systems, **options
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
    for system in chosen.systems:
        if system not in scores.systems:
            raise UnknownName(
                scores.by, system, scores.systems, f"There are {listed(scores.systems)}."
            )
    with Labels(labels, options=ColumnOptions(mapping=chosen.mapping, order=chosen.order)) as human:
        if human.choices:
            raise UserError(
                f"{human.name} has choices between answers; a mean is corrected by labels of single answers"
            )
        name = _label_of(human, chosen.label)
        given = decisive(human.select(metric=name), lambda one: (one.example_id, one.system))
        own = name.removesuffix(
            f".{FINAL}"
        )  # of the raters, where `name` is that of the final labels
        of_raters = (
            [one for one in human.select(metric=own) if one.rater != FINAL]
            if own in human.metrics
            else []
        )
        file, declared = human.name, human.scales.get(name)
        notices, empty, replaced = list(human.notices), human.empty, human.replaced
        alike = tuple(human.alike)
        several = _claimable(human, own, chosen)
    scale, scale_of_raters = (
        scale_of(
            [Rating(name, label.rater, label.value, label.line) for label in labels_of_scale],
            order_for(chosen.order, name),
            file,
            declared,
            keep_numbers=True,
        )
        for labels_of_scale in (given, of_raters or given)
    )
    if not scale.numeric:
        raise UserError(
            f"{file}: {name} has no numbers; give the order of its values: --order {name}=LOWEST,…,HIGHEST"
        )
    places = [scores.systems.index(system) for system in chosen.systems or scores.systems]
    answers = list(answers_of(paths, scores))
    cells_of, digests = _cells(answers)
    drawn_answers = None if chosen.draw is None else read_draw(Path(chosen.draw))
    asked = {cell for metric in metrics for cell in asked_of(scores, metric, places)}
    departures, changed = _departures(drawn_answers or (), answers, asked)
    values, unjoined = _joined(given, scale, cells_of, digests, changed)
    if not values:
        raise UserError(
            f"{file}: no label belongs to an answer of these systems: "
            + "; ".join(
                f"{why} ({len(ids):,}: {first_few(ids, 3)})" for why, ids in unjoined.items()
            )
        )
    cells = sorted({cell for labels_of_rater in values.values() for cell in labels_of_rater})
    chances = _chances(given, file) if drawn_answers is None else _chances_drawn(drawn_answers)
    bounds = (
        (scale.low, scale.high)
        if _declared(scale) and scale.low is not None and scale.high is not None
        else None
    )
    tables = LabelledCells(scores, values, _weights(chances, cells_of), bounds, chosen.these_raters)
    family = _family(scores, chosen, drawn_answers, set(cells), cells_of, several)
    family = replace(family, misfits=_misfits(tables, metrics, places))
    return Correction(
        *(
            file,
            name,
            scale,
            tuple(_metric(tables, metric, places, chosen, family) for metric in metrics),
        ),
        *(len(cells), unjoined, len(values.keys() - {FINAL}) or 1),
        drawn=(min(chances.values()), max(chances.values())) if chances else None,
        rated=_joined(of_raters, scale_of_raters, cells_of, digests, changed)[0],
        labelled=tables,
        family=family,
        options=chosen,
        departures=departures,
        notices=(*scores.notices, *notices),
        declared=declared,
        unhashed=sum(not label.given.get(ANSWER_SHA256) for label in given),
        empty=empty,
        replaced=replaced,
        alike=alike,
    )


def _declared(scale: LabelScale) -> bool:
    """Whether the ends of the scale are known, and not only the least and the greatest label seen."""
    return scale.kind != NUMERIC or bool(scale.declared)


def _claimable(human: Labels, name: str, options: CorrectionOptions) -> int:
    """How many labels of a file could have been chosen: `name`, and others that are no free text."""
    count = 1
    for other in dict.fromkeys(metric.removesuffix(f".{FINAL}") for metric in human.metrics):
        given = (
            []
            if other == name
            else [one for one in human.select(metric=other) if one.rater != FINAL]
        )
        ratings = [Rating(other, one.rater, one.value, one.line) for one in given]
        with suppress(UserError):
            count += bool(
                ratings and scale_of(ratings, order_for(options.order, other), human.name)
            )
    return count


def _family(
    scores: Scores,
    options: CorrectionOptions,
    answers: Sequence[DrawnAnswer] | None,
    labelled: Collection[Cell],
    cells_of: Mapping[str, Mapping[Cell, set[str]]],
    labels: int,
) -> Family:
    """What the error is shared over. labels: how many could have been chosen. UserError for a planned claim that is
    about other systems or metrics."""
    systems = len(scores.systems)
    if answers is None:
        return Family(
            _claims(systems, scores) * labels, labels=labels, looks=Looks(planned=options.looks)
        )
    plan = answers[0].plan
    claims = [parsed_claim(text) for text in plan.claims]
    drawn = {
        cell
        for answer in answers
        if answer.drawn
        for cell, names in cells_of.get(answer.example_id, {}).items()
        if not answer.system or answer.system in names
    }
    known = {
        name for names_of in cells_of.values() for names in names_of.values() for name in names
    }
    left_out = (
        {answer.system for answer in answers} - known - {""}
    )  # whole systems: other runs of the same draw
    ids = _ids(cells_of)
    unlabelled = tuple(ids[cell] for cell in sorted(drawn - set(labelled)))
    looks = Looks() if unlabelled else Looks(draw_number(answers), plan.looks)
    if options.looks is not None:
        raise UserError("the number of looks is the draw's: omit --looks where --draw is given")
    planned = tuple(map(str, claims))
    return Family(
        (len(planned) or _claims(systems + len(left_out), scores)) * labels,
        planned,
        labels,
        looks,
        undrawn=tuple(ids[cell] for cell in sorted(set(labelled) - drawn)),
        unlabelled=unlabelled,
        seeds=plan.seeds,
    )


def _ids(cells_of: Mapping[str, Mapping[Cell, set[str]]]) -> dict[Cell, str]:
    """The first id of each cell's answers."""
    ids: dict[Cell, str] = {}
    for example_id, cells in cells_of.items():
        for cell in cells:
            ids.setdefault(cell, example_id)
    return ids


def _departures(
    drawn: Sequence[DrawnAnswer], answers: Sequence[ScoredAnswer], asked: Collection[Cell]
) -> tuple[Departures, set[tuple[str, Cell]]]:
    """How the answers are not those that were drawn, and those of another text now, each with its id and cell. A
    system that the draw does not have is no departure. asked: the cells of the
    compared systems that have an answer."""
    if not drawn:
        return Departures(), set()
    of_id: dict[str, list[ScoredAnswer]] = {}
    for answer in answers:
        of_id.setdefault(answer.example_id, []).append(answer)
    names = {name for answer in answers for name in answer.names}
    systems = {answer.system for answer in drawn}
    had_texts = {answer.system for answer in drawn if answer.digest is not None}
    have_texts = {name for answer in answers if answer.digest is not None for name in answer.names}
    changed, removed = list[ScoredAnswer](), list[str]()
    for before in drawn:
        now = [
            answer
            for answer in of_id.get(before.example_id, ())
            if before.system in ("", *answer.names)
        ]
        texts_known = before.system in had_texts and (
            before.system in have_texts or not before.system
        )
        if not now and before.system in ("", *names):
            removed.append(before.example_id)
        elif now and texts_known and all(answer.digest != before.digest for answer in now):
            changed += now
    known = {(answer.example_id, answer.system) for answer in drawn}
    added = [
        answer.example_id
        for answer in answers
        if answer.cell in asked
        and ("" in systems or systems & answer.names)
        and not any((answer.example_id, name) in known for name in ("", *answer.names))
    ]
    departures = Departures(
        tuple(dict.fromkeys(answer.example_id for answer in changed)),
        tuple(dict.fromkeys(added)),
        tuple(dict.fromkeys(removed)),
        texts_compared=bool(had_texts and have_texts),
    )
    return departures, {(answer.example_id, answer.cell) for answer in changed}


def _claims(systems: int, scores: Scores) -> int:
    return systems * (systems - 1) * len(scores.named(()))


_TOO_FAR = 4.0  # standard errors


def _misfits(
    tables: LabelledCells, metrics: Sequence[str], places: Sequence[int]
) -> dict[str, tuple[float, int]]:
    """Systems whose labelled answers cannot have been chosen with their probabilities: 1 / probability, summed over
    them, estimates how many answers there are (Horvitz and Thompson 1952), and is too far from that number."""
    misfits: dict[str, tuple[float, int]] = {}
    if not tables.weights:
        return misfits
    for metric in metrics:
        table = tables.table(metric)
        for place in places:
            there = [question for question, _ in asked_of(tables.scores, metric, [place])]
            weights = np.zeros(len(table.scores))
            weights[there] = np.where(np.isnan(table.labels), 0.0, table.weight())[there, place]
            of_clusters = np.bincount(table.numbers, weights)
            counts = np.bincount(table.numbers, weights > 0)
            spread = np.sqrt(float((of_clusters * (of_clusters - counts)).clip(0).sum()) + 1)
            if there and abs(float(weights.sum()) - len(there)) > _TOO_FAR * spread:
                misfits[tables.scores.systems[place]] = float(weights.sum()), len(there)
    return misfits


def _chances_drawn(answers: Sequence[DrawnAnswer]) -> dict[_Named, float]:
    """The inclusion probabilities of the answers of a draw."""
    return {(answer.example_id, answer.system): answer.probability for answer in answers}


_Named = tuple[str, str]
"""An example's id and its system, "" where the file names none."""


def _chances(given: Sequence[Observation], file: str) -> dict[_Named, float]:
    """The inclusion probabilities of answers; {} if the file has none. UserError if it has some."""
    found: dict[_Named, float] = {}
    without = [one for one in given if PROBABILITY in one.given and one.given[PROBABILITY] is None]
    if without:
        raise UserError(
            f"{file}:{without[0].line}: {PROBABILITY}: is empty ({counted(len(without), 'label')}). Answers that were "
            "chosen with unequal chances correct nothing without them: copy each answer's from the file of its draw "
            "(`longmark label next`), and leave out labels that no draw asked for. If every answer had the same "
            "chance, remove the column"
        )
    for one in given:
        if (
            PROBABILITY in one.given
            and found.setdefault(
                name := (one.example_id, one.system), chance := one.given[PROBABILITY]
            )
            != chance
        ):
            raise UserError(
                f"{file}:{one.line}: {PROBABILITY}: {name[0]} has {chance:g} here, {found[name]:g} before"
            )
    return found


def _weights(
    chances: Mapping[_Named, float], cells: Mapping[str, Mapping[Cell, set[str]]]
) -> dict[Cell, float]:
    """Of each cell 1 / the inclusion probability of its answer. UserError where its answers have different ones."""
    found: dict[Cell, float] = {}
    for (example, system), chance in chances.items():
        for cell, names in cells.get(example, {}).items():
            if (not system or system in names) and found.setdefault(cell, 1 / chance) != 1 / chance:
                raise UserError(
                    f"{example}: several answers of one system to its question have different values of {PROBABILITY}; "
                    "give them systems of their own"
                )
    return found


def _label_of(human: Labels, wanted: str | None) -> str:
    known = list(human.metrics)
    if wanted is None and len(known) == 1:
        return known[0]
    if wanted is None:
        raise UserError(
            f"{human.name} has several labels: {listed(known)}. Choose one: --label NAME"
        )
    if wanted not in known:
        raise UnknownName("label", wanted, known, f"{human.name} has {listed(known)}.")
    return wanted


_Digests = Mapping[tuple[str, Cell], set[str]]
"""Of an example's id and a cell the digests of its answers' texts, as far as they are known."""


def _cells(
    answers: Iterable[ScoredAnswer],
) -> tuple[dict[str, dict[Cell, set[str]]], dict[tuple[str, Cell], set[str]]]:
    """example_id -> the cells of its answers, each with the names that its system goes by; and the texts' digests."""
    names: dict[str, dict[Cell, set[str]]] = {}
    digests: dict[tuple[str, Cell], set[str]] = {}
    for answer in answers:
        names.setdefault(answer.example_id, {}).setdefault(answer.cell, set()).update(answer.names)
        if answer.digest is not None:
            digests.setdefault((answer.example_id, answer.cell), set()).add(answer.digest)
    return names, digests


def _texts(texts: set[str], _: Observation) -> set[str]:
    return texts


def _joined(
    given: Iterable[Observation],
    scale: LabelScale,
    cells: Mapping[str, Mapping[Cell, set[str]]],
    digests: _Digests,
    changed: Collection[tuple[str, Cell]],
) -> tuple[dict[str, dict[Cell, float]], dict[str, tuple[str, ...]]]:
    """rater -> cell -> the mean of their labels there; and why others have no cell, with the ids of their answers.
    changed: answers of another text than when they were drawn, which is what labels without a hash are of."""
    numbers: dict[str, dict[Cell, list[float]]] = {}
    without: dict[tuple[str, str], str] = {}
    for one in given:
        of = [
            cell
            for cell, names in cells.get(one.example_id, {}).items()
            if not one.system or one.system in names
        ]
        texts = digests.get((one.example_id, of[0]), set()) if len(of) == 1 else set()
        unhashed = not one.given.get(ANSWER_SHA256)
        is_changed = len(of) == 1 and unhashed and (one.example_id, of[0]) in changed
        if is_changed or labels_of_other_answers([one], partial(_texts, texts)):
            without[one.example_id, one.system] = OTHER_TEXT
        elif len(of) == 1:
            numbers.setdefault(one.rater, {}).setdefault(of[0], []).append(
                scale.number[text_of(one.value)]
            )
        else:
            without[one.example_id, one.system] = SEVERAL if of else NO_ANSWER
    means = {
        rater: {cell: sum(its) / len(its) for cell, its in own.items()}
        for rater, own in numbers.items()
    }
    reasons: dict[str, list[str]] = {}
    for (example_id, _), why in without.items():
        reasons.setdefault(why, []).append(example_id)
    return means, {why: tuple(ids) for why, ids in reasons.items()}


def _labels_of(values: Mapping[Cell, float], shape: tuple[int, ...]) -> NDArray[np.float64]:
    """A rater's labels, of shape (questions, systems), NaN for none."""
    labels = np.full(shape, np.nan)
    for cell, value in values.items():
        labels[cell] = value
    return labels


def asked_of(scores: Scores, metric: str, places: Sequence[int]) -> list[Cell]:
    """The cells of these systems that have an answer, with a score or without."""
    answered = ~np.isnan(scores.matrix(metric, unscored=0.0))
    return [
        (int(question), place)
        for place in places
        for question in np.flatnonzero(answered[:, place])
    ]


@dataclass(frozen=True, slots=True)
class LabelledCells:
    """What makes a metric's table: the scores, rater -> cell -> label, the cells' weights (none: all alike), the ends
    of the labels' scale (None: not known), and whether results are for these raters only."""

    scores: Scores
    values: Mapping[str, Mapping[Cell, float]]
    weights: Mapping[Cell, float]
    bounds: tuple[float, float] | None
    these_raters: bool = False

    def table(self, metric: str) -> LabelledScores:
        matrix = self.scores.matrix(metric)
        of_raters = [_labels_of(values, matrix.shape) for values in self.values.values()]
        given = ~np.isnan(of_raters)
        counts = given.sum(axis=0)
        labels = np.where(
            counts > 0, np.where(given, of_raters, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan
        )
        weights = np.ones_like(matrix) if self.weights else None
        for cell, weight in self.weights.items():
            if weights is not None:
                weights[cell] = weight
        unscored = self.scores.shares_unscored(metric)
        lost = [self._lost(metric, system, unscored) for system in self.scores.systems]
        clusters = None if self.scores.cluster == QUESTION else self.scores.clusters
        return LabelledScores(
            matrix,
            labels,
            weights,
            None,
            clusters,
            of_raters,
            unscored,
            lost,
            self.bounds,
            these_raters=self.these_raters,
        )

    def _lost(self, metric: str, system: str, unscored: NDArray[np.float64]) -> float:
        """How many answers of a system are missing of which no row tells the question."""
        without_score, _ = self.scores.unanswered(metric, system)
        scored, _ = self.scores.rows_scored(metric, system)
        has_row = ~np.isnan(
            self.scores.matrix(metric, unscored=0.0)[:, self.scores.systems.index(system)]
        )
        no_row = int((~np.isnan(unscored[:, 0]) & ~has_row).sum())
        return max(
            0.0, float(without_score - (self.scores.rows(metric, system) - len(scored)) - no_row)
        )


def _metric(
    tables: LabelledCells,
    metric: str,
    compared: Sequence[int],
    options: CorrectionOptions,
    family: Family,
) -> CorrectedMetric:
    scores, table = tables.scores, tables.table(metric)
    places = [place for place in compared if not np.isnan(table.scores[:, place]).all()]
    used = calibrated(table, options.seed) if options.calibrate else table

    def estimate(sides: dict[int, float], level: float) -> CorrectedEstimate:
        made = corrected(used, sides, weight=options.weight, level=level)
        # calibrated scores are shrunk towards the mean, so that also a fair judge's would seem to favour a system
        bias = (
            None
            if options.calibrate
            else bias_of(used, sides, weight=options.weight, level=options.level)
        )
        return replace(made, raw=raw_of(table, sides), bias=bias)

    means = {scores.systems[place]: estimate({place: 1.0}, options.level) for place in places}
    pairs = {}
    for first, second in combinations(places, 2):
        error = pair_error(table, (first, second), family, options.level)
        pair = estimate({first: 1.0, second: -1.0}, 1 - 2 * error)
        adjusted = None if pair.p is None else min(1.0, pair.p * (1 - options.level) / (2 * error))
        level = (1 + options.level) / 2
        method = f"{pair.method}, simultaneous" if pair.method else ""
        names = scores.systems[first], scores.systems[second]
        if not any(family.may_claim(*ordered, metric) for ordered in (names, names[::-1])):
            pair = replace(pair, remark="; ".join(filter(None, (pair.remark, NOT_PLANNED))))
        pair = replace(pair, p=adjusted, level=level, method=method, error=error)
        if pair.people is not None:
            pair = replace(
                pair,
                people=replace(
                    pair.people, level=level, method=f"{pair.people.method}, simultaneous"
                ),
            )
        pairs[names] = pair
    margin = options.margin
    checked = (
        {}
        if margin is None
        else {place: transport(table, place, margin, options.seed) for place in places}
    )
    transports = {scores.systems[place]: result for place, result in checked.items()}
    return CorrectedMetric(metric, means, pairs, transports)


def pair_error(
    table: LabelledScores, places: tuple[int, int], family: Family, level: float
) -> float:
    """The one-sided error of a difference of two systems: its part of (1 - level) / 2."""
    labelled = int((~np.isnan(table.labels[:, list(places)])).any(axis=1).sum())
    answers = (
        len(table.scores)
        if table.unscored is None
        else int((~np.isnan(table.unscored[:, 0])).sum())
    )
    return family.looks.error(family.claims, labelled, answers, (1 - level) / 2)


# As a page ------------------------------------------------------------------------------------------------------------

CORRECTED = "Corrected by labels"


def section(found: Correction) -> Section:
    """The corrected results as a section: what they say, the means, the differences, transport."""
    means: dict[tuple[str, ...], CorrectedEstimate] = {
        (one.metric, name): mean for one in found.metrics for name, mean in one.means.items()
    }
    pairs: dict[tuple[str, ...], CorrectedEstimate] = {
        (one.metric, *names): pair for one in found.metrics for names, pair in one.pairs.items()
    }
    checks = {
        (one.metric, name): its for one in found.metrics for name, its in one.transports.items()
    }
    metric = Column("metric", lambda row: row[0], kind="metric")
    system, first, second = (
        Column("system", _at(1)),
        Column("first", _at(1)),
        Column("second", _at(2)),
    )
    biased = not found.options.calibrate
    note = _MEANS.format(units_in_words(found)) + (_BIAS.format(_BIAS_OF[0]) if biased else "")
    grids = [
        _grid("corrected-means", "Corrected means", (metric, system), means, note, biased=biased)
    ]
    if pairs:
        alpha = 1 - found.options.level
        note = _DIFFERENCES.format(found.family.in_words(), alpha / 2, alpha)
        note += _BIAS.format(_BIAS_OF[1]) if biased else ""
        heads = (metric, first, second)
        grids.append(
            _grid(
                "corrected-differences", "Corrected differences", heads, pairs, note, biased=biased
            )
        )
    if checks:
        residual = Column("residual (90 % CI)", lambda row: checks[row].residual, 3, key="residual")
        grids.append(
            Grid(
                *(
                    "transport",
                    "Could a system do without labels of its own",
                    (metric, system),
                    list(checks),
                ),
                *((residual,), None, _TRANSPORT.format(found.options.margin)),
                unit="labels",
                beside=(Column("verdict", lambda row: checks[row].verdict),),
            )
        )
    return Section(
        CORRECTED, _says(found), tuple(one.table() for one in grids), note=_note(found), brief=2
    )


_MEANS = (
    "In the labels' units ({}). scores alone: their mean, in their own units. worth: how many labels alone would give "
    "as narrow an interval."
)
_DIFFERENCES = (
    "first - second, in the labels' units. The intervals are simultaneous, and p is adjusted, over {}: the chance that "
    "any of them shows a system above another that is not is at most {:.3g}. An interval leaves out 0 where p "
    "is at most {:.3g}."
)
_BIAS = " bias: of score - label, {}, as the scores are in the labels' units."
_BIAS_OF = ("above 0 the judge scores the system too high", "above 0 the judge favours the first")
_TRANSPORT = (
    "residual: mean of label - score, calibrated on the other systems' labels, less theirs. pass: its interval is "
    "inside ± {:g}, so that the others' labels would have corrected this system as well. fail: outside, since the "
    "judge treats it differently, or since it is better or worse than noisy scores can show."
)


def units_in_words(correction: Correction) -> str:
    """The label and its scale, as a part of a sentence."""
    scale = correction.scale
    if scale.low is None or scale.high is None:
        return correction.label
    seen = "" if correction.labelled.bounds is not None else ", as seen"
    return f"{correction.label}, {scale.low:g} to {scale.high:g}{seen}"


def _at(place: int) -> Callable[[Sequence[str]], str]:
    return lambda row: row[place]


def _grid(
    name: str,
    title: str,
    heads: Sequence[Column],
    of: Mapping[tuple[str, ...], CorrectedEstimate],
    note: str,
    *,
    biased: bool,
) -> Grid[tuple[str, ...]]:
    bias = (Column("bias", lambda row: of[row].bias, 3),) if biased else ()
    columns = (
        Column("corrected", lambda row: of[row], 3),
        *bias,
        Column("labels alone", lambda row: of[row].people, 3, spare=1),
    )
    beside = (
        Column("scores alone", lambda row: of[row].raw, 3, kind="number"),
        Column("labels", lambda row: of[row].labelled, kind="number"),
        Column("worth", lambda row: of[row].worth, 0, kind="number", spare=2),
        Column("weight of scores", lambda row: of[row].weight, 2, kind="number", spare=3),
    )
    p = (Column("p (adjusted)", lambda row: of[row].p, kind="p"),) if len(heads) > 2 else ()
    return Grid(
        name, title, heads, list(of), columns, None, note, unit="answers", beside=(*p, *beside)
    )


def shown(correction: Correction, metric: CorrectedMetric) -> list[tuple[str, str]]:
    """The pairs of which the labels show that the first is above the second, planned claims only where there is a plan
    and every drawn answer has a label."""
    pairs = []
    for (first, second), pair in metric.pairs.items():
        if pair.low is None or pair.high is None or pair.low <= 0 <= pair.high:
            continue
        above, below = (first, second) if pair.low > 0 else (second, first)
        if correction.family.may_claim(above, below, metric.metric):
            pairs.append((above, below))
    return pairs


def _says(found: Correction) -> str:
    """Who is better after the correction, and what it rests on."""
    says, titles = [], metric_titles(metric.metric for metric in found.metrics)
    for metric in (metric for metric in found.metrics if metric.pairs):
        above = [" above ".join(pair) for pair in shown(found, metric)]
        none = (
            "significant"
            if any(pair.p is not None for pair in metric.pairs.values())
            else "corrected"
        )
        planned = " planned" if found.family.planned else ""
        these = found.options.these_raters
        whose = (
            as_judged(found.raters, found.effective_raters, these_raters=these)
            if above or these
            else ""
        )
        says.append(
            f"{listed(above) if above else f'no {none}{planned} difference'} on {titles[metric.metric]}{whose}"
        )
    without = {
        name: why
        for metric in found.metrics
        for name, mean in metric.means.items()
        if (why := mean.reason)
    }
    without |= {
        f"{first} - {second}": why
        for metric in found.metrics
        for (first, second), pair in metric.pairs.items()
        if (why := pair.reason) and first not in without and second not in without
    }
    corrects = "They correct the scores of all answers."
    if without:
        corrects = f"No corrected interval of {'; '.join(f'{name} ({why})' for name, why in without.items())}."
        corrects += " " + remedy_of(found, without.values())
    rests = f"{counted(found.joined, 'labelled answer')} by {counted(found.raters, 'rater')}"
    words = "; ".join(says)
    words = words[0].upper() + words[1:] if words.startswith("no ") else words
    return f"{words}{'. ' if words else ''}Labels ({found.label}): {rests}. {corrects}"


def as_judged(raters: int, effective: float | None, *, these_raters: bool) -> str:
    """Behind a result: that it is about these raters only, where it is. these_raters: by choice."""
    if these_raters:
        return f" ({for_these_raters(raters)})"
    if effective is not None and effective >= FEWEST_RATERS:
        return ""
    return " (as this rater judges)" if raters == 1 else f" (as these {raters} raters judge)"


def remedy_of(correction: Correction, reasons: Collection[str]) -> str:
    """What to do where these reasons stand in the way of an interval."""
    given = list(reasons)
    if any(CONTRADICT in reason for reason in given):
        return (
            f"Let {FEWEST_RATERS} raters or more label the same answers, and ask about people like them, without "
            "--these-raters."
        )
    if any(NO_SCALE in reason for reason in given):
        label = correction.label
        return f"Name every value of the scale, lowest first: --order {label}=LOWEST,…,HIGHEST."
    if any(NOT_TOLD_APART in reason for reason in given):
        return f"Let two raters or more label the same answers, {FEWEST_LABELS} or more of each system."
    return "Draw answers to label by `longmark label next`."


def for_these_raters(raters: int) -> str:
    """Whom a result is for that takes its raters as fixed, as a part of a sentence."""
    whom = "this rater" if raters == 1 else f"these {raters} raters"
    return f"for {whom} only; other raters may judge otherwise"


def raters_in_words(correction: Correction) -> str:
    """Whether the intervals are about other raters, too, or about these only."""
    effective = correction.effective_raters
    same = "".join(
        f" {listed(names, len(names))} gave the same labels to all answers that they share ({count:,}), and count as "
        "one."
        for names, count in correction.copies
    )
    if correction.finals:
        are = "has" if correction.finals == 1 else "have"
        return (
            f"Of {counted(correction.joined, 'answer')} {correction.finals:,} {are} a final label, which counts alone: "
            f"the results are about those who decided it only.{same}"
        )
    if correction.raters < 2:
        return "There is one rater: the results are about this rater's labels only, and how people differ is not known."
    if correction.options.these_raters:
        return f"The results are {for_these_raters(correction.raters)}.{same}"
    if effective is None:
        return f"No two raters labelled the same answers of each system: the results are about these raters only.{same}"
    if effective < FEWEST_RATERS:
        needed = f"{FEWEST_RATERS} or more"
        if correction.raters >= FEWEST_RATERS:
            needed += " with shares of the labels that are alike"
        return (
            f"The results are about these {correction.raters} raters only: {needed} are needed for people in general. "
            f"How far the raters differ about the systems is in the intervals.{same}"
        )
    return (
        f"The {correction.raters} raters stand for others like them: how far they differ about the systems is in the "
        f"intervals.{same}"
    )


def misfits_in_words(family: Family) -> Iterator[str]:
    """How the probabilities of the labelled answers do not fit the number of answers."""
    for system, (estimate, answers_of_system) in family.misfits.items():
        if not family.unlabelled:
            yield (
                f"by their inclusion probabilities the labelled answers of {system} stand for about {estimate:,.0f} "
                f"answers, and there are {answers_of_system:,}: drawn answers have no label, or the probabilities are "
                "not theirs"
            )


def _note(found: Correction) -> str:
    how = (
        "calibrated by one isotonic regression for all systems"
        if found.options.calibrate
        else "as they are"
    )
    lost = "; ".join(
        f"{len(ids):,} ({why}: {first_few(ids, 3)})" for why, ids in found.unjoined.items()
    )
    chances = " to ".join(dict.fromkeys(f"{chance:.3g}" for chance in found.drawn or ()))
    sample = (
        f"a random sample of all{f', drawn with the probabilities {chances}' if chances else ''}"
    )
    notes = [
        f"Valid only if the labelled answers are {sample}. Scores: {how}. {raters_in_words(found)}"
    ]
    if any(metric.pairs for metric in found.metrics):
        error = (1 - found.options.level) / 2
        notes.append(
            f"The chance of any false difference is at most {error:.3g}, over {found.family.in_words()}."
        )
    if found.family.unlabelled:
        count = counted(len(found.family.unlabelled), "drawn answer has", "drawn answers have")
        ids = first_few(found.family.unlabelled, 3)
        notes.append(
            f"{count} no label yet ({ids}); until then the labels count as looked at any number of times."
        )
    if found.family.undrawn:
        count = counted(len(found.family.undrawn), "labelled answer was", "labelled answers were")
        ids = first_few(found.family.undrawn, 3)
        notes.append(f"{count} not drawn ({ids}): these labels are no random sample.")
    if found.departures:
        words = found.departures.in_words()
        notes.append(
            f"These are not the answers that were drawn: {words}. The sample is of others: draw and label anew."
        )
    notes += [f"{why[0].upper()}{why[1:]}." for why in misfits_in_words(found.family)]
    if lost:
        notes.append(f"Labels without an answer: {lost}.")
    return " ".join((*notes, *found.notices))

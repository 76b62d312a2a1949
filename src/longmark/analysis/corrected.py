"""Systems compared by a judge's scores that a few labels of people correct (`stats.corrected`).

A system's cell of a question is the mean of its answers there, its label the mean of its raters' labels (a final label
alone, where there is one). A label is joined by `example_id`, and by `system` (or the run's name) where several systems
use one id; what cannot be joined is counted with the reason. The labelled answers must be a random sample: with equal
chances, or with those of the column `inclusion_probability`. Nothing here can see whether they are. Needs the extra
`stats`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from longmark.analysis.compare import Comparison
from longmark.analysis.grid import Grid
from longmark.analysis.metaeval.labels import NO_ANSWER, SEVERAL, Rating, Scale, scale_of, text_of
from longmark.errors import UnknownName, UserError, options_of
from longmark.records.metric_name import without_slice
from longmark.report.document import Section
from longmark.report.format import counted, listed, metric_titles
from longmark.report.tables import Column
from longmark.scores.answers import read_answers
from longmark.scores.clusters import QUESTION
from longmark.scores.files import name_of, paths_given, shortest_names
from longmark.scores.labels import FINAL, PROBABILITY, ColumnOptions, Labels, decisive, order_for
from longmark.scores.observations import Observation
from longmark.scores.paired import BY_EACH, BY_RUN, Scores, read_scores
from longmark.stats.corrected import (
    CorrectedEstimate,
    LabelledScores,
    Transport,
    between_raters,
    bias_of,
    calibrated,
    corrected,
    raw_of,
    transport,
)
from longmark.stats.multiplicity import HOLM, adjust

Cell = tuple[int, int]
"""The places of a question and of a system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionOptions:
    """What labels correct, and how.

    by, cluster, judges   as for `compare`; metrics, systems: names; all if none is given
    label      the label to correct to; None: the only one of the file. mapping, order: as for `metaeval`
    calibrate  scores are put on the labels' scale first, by one isotonic regression for all systems
    weight     λ; None: tuned, 1: as the paper on prediction-powered inference has it
    margin     in the labels' units: whether the other systems' labels would have corrected a system as well
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
    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True)
class CorrectedMetric:
    """A metric's systems, corrected. means: system -> its mean; pairs: (first, second) -> their difference, with p
    adjusted by Holm over all pairs of all metrics; transports: system -> whether it needs labels of its own."""

    metric: str
    means: Mapping[str, CorrectedEstimate]
    pairs: Mapping[tuple[str, str], CorrectedEstimate]
    transports: Mapping[str, Transport]


@dataclass(frozen=True, slots=True)
class Correction:
    """What `correct` found. joined: labelled answers with a row; unjoined: reason -> answers without; raters: how many;
    rater_variance: between them, None where no two labelled the same answers; drawn: the least and the greatest
    inclusion probability, None where the labels have none; rated: rater -> cell -> label of all raters, also where a
    final label counts; labelled: what was corrected, and by what."""

    file: str
    label: str
    scale: Scale
    metrics: tuple[CorrectedMetric, ...]
    joined: int
    unjoined: Mapping[str, int]
    raters: int
    rater_variance: float | None
    drawn: tuple[float, float] | None
    rated: Mapping[str, Mapping[Cell, float]] = field(repr=False)
    labelled: Labelled = field(repr=False)
    options: CorrectionOptions


GivenLabels = str | Path | Iterable[Mapping[str, Any]]


def correct(comparison: Comparison, labels: GivenLabels, **options: Any) -> Correction:
    """The means of the compared systems and their differences, corrected as by `correct_runs`. Slices are not."""
    same = {"by": comparison.by, "cluster": comparison.cluster, "judges": bool(comparison.judges)}
    metrics = [one.metric for one in comparison.metrics if not without_slice(one.metric)[1]]
    return correct_runs(comparison.runs, labels, **same, metrics=metrics, systems=comparison.systems, **options)


def correct_runs(runs: str | Path | Sequence[str | Path], labels: GivenLabels, **options: Any) -> Correction:
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
            raise UnknownName(scores.by, system, scores.systems, f"There are {listed(scores.systems)}.")
    with Labels(labels, options=ColumnOptions(mapping=chosen.mapping, order=chosen.order)) as human:
        if human.choices:
            raise UserError(
                f"{human.name} has choices between answers; a mean is corrected by labels of single answers"
            )
        name = _label_of(human, chosen.label)
        given = decisive(human.select(metric=name), lambda one: (one.example_id, one.system))
        own = name.removesuffix(f".{FINAL}")  # of the raters, where `name` is that of the final labels
        of_raters = [one for one in human.select(metric=own) if one.rater != FINAL] if own in human.metrics else []
        file, declared = human.name, human.scales.get(name)
    scale, scale_of_raters = (
        scale_of(
            [Rating(name, one.rater, one.value, one.line) for one in its],
            order_for(chosen.order, name),
            file,
            declared,
        )
        for its in (given, of_raters or given)
    )
    if not scale.numeric:
        raise UserError(f"{file}: {name} has no numbers; give the order of its values: --order {name}=LOWEST,…,HIGHEST")
    chances, cells_of = _chances(given, file), _cells(paths, scores)
    values, unjoined = _joined(given, scale, cells_of)
    if not values:
        raise UserError(
            f"{file}: no label belongs to an answer of these systems: "
            + "; ".join(f"{why} ({count:,})" for why, count in unjoined.items())
        )
    cells = sorted({cell for its in values.values() for cell in its})
    variance = between_raters(values)
    places = [scores.systems.index(name) for name in chosen.systems or scores.systems]
    tables = Labelled(scores, values, _weights(chances, cells_of), variance or 0.0)
    found = [_metric(tables, metric, places, chosen) for metric in metrics]
    return Correction(
        *(file, name, scale, tuple(_adjusted(found, chosen.level)), len(cells), unjoined, len(values), variance),
        drawn=(min(chances.values()), max(chances.values())) if chances else None,
        rated=_joined(of_raters, scale_of_raters, cells_of)[0],
        labelled=tables,
        options=chosen,
    )


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
            and found.setdefault(name := (one.example_id, one.system), chance := one.given[PROBABILITY]) != chance
        ):
            raise UserError(f"{file}:{one.line}: {PROBABILITY}: {name[0]} has {chance:g} here, {found[name]:g} before")
    return found


def _weights(chances: Mapping[_Named, float], cells: Mapping[str, Mapping[Cell, set[str]]]) -> dict[Cell, float]:
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
        raise UserError(f"{human.name} has several labels: {listed(known)}. Choose one: --label NAME")
    if wanted not in known:
        raise UnknownName("label", wanted, known, f"{human.name} has {listed(known)}.")
    return wanted


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """An answer of a cell. system: its own name, or its run's; names: all that its system goes by; length, digest:
    characters and hash of its text (`scores.answer_texts`), None if the source has no texts."""

    example_id: str
    question_id: str
    cell: Cell
    system: str
    names: frozenset[str]
    length: int | None
    digest: str | None


def answers_of(paths: Sequence[Path], scores: Scores) -> Iterator[ScoredAnswer]:
    """The answers of runs whose system and question are among the scores'."""
    questions = {name: place for place, name in enumerate(scores.questions)}
    runs = shortest_names([manifest.folder for manifest in scores.manifests])
    for run, path in enumerate(paths):
        for answer in read_answers([path]).answers.values():
            own = answer.system or name_of(path)
            each = {BY_RUN: scores.systems[run], BY_EACH: own if own in scores.systems else f"{own} ({runs[run]})"}
            system = each.get(scores.by, own)
            if answer.question_id in questions and system in scores.systems:
                cell = questions[answer.question_id], scores.systems.index(system)
                names = frozenset((answer.system, own, system))
                yield ScoredAnswer(
                    answer.example_id, answer.question_id, cell, own, names, answer.length, answer.digest
                )


def _cells(paths: Sequence[Path], scores: Scores) -> dict[str, dict[Cell, set[str]]]:
    """example_id -> the cells of its answers, each with the names that its system goes by."""
    found: dict[str, dict[Cell, set[str]]] = {}
    for one in answers_of(paths, scores):
        found.setdefault(one.example_id, {}).setdefault(one.cell, set()).update(one.names)
    return found


def _joined(
    given: Iterable[Observation], scale: Scale, cells: Mapping[str, Mapping[Cell, set[str]]]
) -> tuple[dict[str, dict[Cell, float]], Counter[str]]:
    """rater -> cell -> the mean of their labels there; and why others have no cell, with how many answers."""
    numbers: dict[str, dict[Cell, list[float]]] = {}
    without: dict[tuple[str, str], str] = {}
    for one in given:
        of = [cell for cell, names in cells.get(one.example_id, {}).items() if not one.system or one.system in names]
        if len(of) == 1:
            numbers.setdefault(one.rater, {}).setdefault(of[0], []).append(scale.number[text_of(one.value)])
        else:
            without[one.example_id, one.system] = SEVERAL if of else NO_ANSWER
    means = {rater: {cell: sum(its) / len(its) for cell, its in own.items()} for rater, own in numbers.items()}
    return means, Counter(without.values())


@dataclass(frozen=True, slots=True)
class Labelled:
    """What makes a metric's table: the scores, rater -> cell -> label, the cells' weights (none: all alike)."""

    scores: Scores
    values: Mapping[str, Mapping[Cell, float]]
    weights: Mapping[Cell, float]
    variance: float

    def table(self, metric: str) -> LabelledScores:
        matrix = self.scores.matrix(metric)
        labels, raters = np.full_like(matrix, np.nan), [np.zeros_like(matrix) for _ in self.values]
        weights = np.ones_like(matrix) if self.weights else None
        for cell in {cell for its in self.values.values() for cell in its}:
            own = {place: its[cell] for place, its in enumerate(self.values.values()) if cell in its}
            labels[cell] = sum(own.values()) / len(own)
            for place in own:
                raters[place][cell] = 1 / len(own)
            if weights is not None:
                weights[cell] = self.weights[cell]
        clusters = None if self.scores.cluster == QUESTION else self.scores.clusters
        return LabelledScores(matrix, labels, weights, None, clusters, raters, self.variance)


def _metric(tables: Labelled, metric: str, compared: Sequence[int], options: CorrectionOptions) -> CorrectedMetric:
    scores, table = tables.scores, tables.table(metric)
    places = [place for place in compared if not np.isnan(table.scores[:, place]).all()]
    used = calibrated(table, options.seed) if options.calibrate else table

    def made_of(sides: dict[int, float]) -> CorrectedEstimate:
        how: Any = {"weight": options.weight, "level": options.level}
        return replace(corrected(used, sides, **how), raw=raw_of(table, sides), bias=bias_of(used, sides, **how))

    sides = [{place: 1.0} for place in places]
    pairs = [{first: 1.0, second: -1.0} for first, second in combinations(places, 2)]
    made = list(map(made_of, (*sides, *pairs)))
    names = [scores.systems[place] for place in places]
    checked = {} if options.margin is None else {p: transport(table, p, options.margin, options.seed) for p in places}
    return CorrectedMetric(
        metric,
        dict(zip(names, made, strict=False)),
        dict(zip(combinations(names, 2), made[len(names) :], strict=True)),
        {scores.systems[place]: one for place, one in checked.items()},
    )


def _adjusted(found: Sequence[CorrectedMetric], level: float) -> Iterator[CorrectedMetric]:
    """With p adjusted for all pairs of all metrics."""
    p = iter(adjust([pair.p for one in found for pair in one.pairs.values()], HOLM, 1 - level).adjusted)
    for one in found:
        yield replace(one, pairs={names: replace(pair, p=next(p)) for names, pair in one.pairs.items()})


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
    checks = {(one.metric, name): its for one in found.metrics for name, its in one.transports.items()}
    metric = Column("metric", lambda row: row[0], kind="metric")
    system, first, second = Column("system", _at(1)), Column("first", _at(1)), Column("second", _at(2))
    scale = "scores on the labels' scale" if found.options.calibrate else "scores as they are"
    grids = [
        _grid("corrected-means", "Corrected means", (metric, system), means, _MEANS.format(found.label, scale)),
    ]
    if pairs:
        heads = (metric, first, second)
        grids.append(_grid("corrected-differences", "Corrected differences", heads, pairs, _DIFFERENCES))
    if checks:
        residual = Column("residual (90 % CI)", lambda row: checks[row].residual, 3, key="residual")
        grids.append(
            Grid(
                *("transport", "Could a system do without labels of its own", (metric, system), list(checks)),
                *((residual,), None, _TRANSPORT.format(found.options.margin)),
                unit="labels",
                beside=(Column("verdict", lambda row: checks[row].verdict),),
            )
        )
    return Section(CORRECTED, _says(found), tuple(one.table() for one in grids), note=_note(found), brief=2)


_MEANS = (
    "In the labels' units ({}). scores alone: their mean, in their own units. bias: the mean of score - label, {}; "
    "above 0, the judge scores the system too high. worth: how many labels alone would give as narrow an interval."
)
_DIFFERENCES = (
    "first - second, in the labels' units. bias: above 0, the judge favours the first. p: of Student's t, adjusted by "
    "Holm over all pairs and metrics."
)
_TRANSPORT = (
    "residual: mean of label - score, calibrated on the other systems' labels, less theirs. pass: its interval is "
    "inside ± {:g}; fail: outside."
)


def _at(place: int) -> Callable[[Sequence[str]], str]:
    return lambda row: row[place]


def _grid(
    name: str, title: str, heads: Sequence[Column], of: Mapping[tuple[str, ...], CorrectedEstimate], note: str
) -> Grid[tuple[str, ...]]:
    columns = (
        Column("corrected", lambda row: of[row], 3),
        Column("bias", lambda row: of[row].bias, 3),
        Column("labels alone", lambda row: of[row].people, 3, spare=1),
    )
    beside = (
        Column("scores alone", lambda row: of[row].raw, 3, kind="number"),
        Column("labels", lambda row: of[row].labelled, kind="number"),
        Column("worth", lambda row: of[row].worth, 0, kind="number", spare=2),
        Column("weight of scores", lambda row: of[row].weight, 2, kind="number", spare=3),
    )
    p = (Column("p (adjusted)", lambda row: of[row].p, kind="p"),) if len(heads) > 2 else ()
    return Grid(name, title, heads, list(of), columns, None, note, unit="answers", beside=(*p, *beside))


def _says(found: Correction) -> str:
    """Who is better after the correction, and what it rests on."""
    says, titles = [], metric_titles(one.metric for one in found.metrics)
    for one in (one for one in found.metrics if one.pairs):
        apart = [
            " above ".join(names if (pair.value or 0) > 0 else names[::-1])
            for names, pair in one.pairs.items()
            if pair.p is not None and pair.p <= 1 - found.options.level
        ]
        none = "significant" if any(pair.p is not None for pair in one.pairs.values()) else "corrected"
        says.append(f"{listed(apart) if apart else f'no {none} difference'} on {titles[one.metric]}")
    without = {name: why for one in found.metrics for name, mean in one.means.items() if (why := mean.reason)}
    corrects = "They correct the scores of all answers."
    if without:
        corrects = f"No corrected interval of {'; '.join(f'{name} ({why})' for name, why in without.items())}."
        corrects += " Draw answers to label by `longmark label next`."
    rests = f"{counted(found.joined, 'labelled answer')} by {counted(found.raters, 'rater')}"
    words = "; ".join(says)
    words = words[0].upper() + words[1:] if words.startswith("no ") else words
    return f"{words}{'. ' if words else ''}Labels ({found.label}): {rests}. {corrects}"


def _note(found: Correction) -> str:
    how = "calibrated by one isotonic regression for all systems" if found.options.calibrate else "as they are"
    lost = "; ".join(f"{count:,} {why}" for why, count in found.unjoined.items())
    raters = (
        f"The variance between raters ({found.rater_variance:.3g}) is in the intervals."
        if found.rater_variance is not None
        else "No two raters labelled the same answers: how raters differ is not in the intervals."
    )
    chances = " to ".join(dict.fromkeys(f"{one:.3g}" for one in found.drawn or ()))
    sample = f"a random sample of all{f', drawn with the probabilities {chances}' if chances else ''}"
    return f"Valid only if the labelled answers are {sample}. Scores: {how}. {raters}" + (
        f" Labels without an answer: {lost}." if lost else ""
    )

"""Does a certificate mean what it says? The tables of design/coverage.md, "Certificates".

`python -m bench.certify [GROUP ...] [--runs 250] [--out FILE] [--quick]`

Each replicate plants systems of which none is better (equal means of what people would say of all answers, as they come
from a superpopulation of questions), writes a run, and does what a user does: draw answers (`label next`), write the
labels of the drawn ones, `compare --labels`, `certify`; again after each further draw, until a certificate is granted.
The claim is the one that looks best. The verbs run in process, and find scores, labels and draws in memory, so that it
does not take hours.

    false       share of replicates with a false certificate, at any look; at most .025 is promised
    shown       share in which `compare --labels` shows a difference of any two systems, at any look; at most .025
    refused     share in which certify names something else than the interval, at the last look, and what most often
    .3, .6      share granted if the claim is true: the claimed system is better by so many standard deviations of the
                quality of answers
    plain t     share in which a paired t test of the labels at the last look, one-sided at .025, without any of what
                certify counts, would show that

Groups: systems, metrics, looks, raters, these, shapes, failures, unscored, clusters, numbers, samples. A line of
figures is added to --out as soon as a cell is done, and cells that are there are not run again. The first replicate of
each cell is done a second time with everything written and read, and must be the same. Monte Carlo error: sqrt(p (1 -
p) / runs).
"""

from __future__ import annotations

import argparse
import atexit
import csv
import json
import math
import os
import shutil
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from tests.report.runs import CORRECTNESS, EASE, GRADE, RELEVANCE, manifest, row, write_run

from longmark.contrib.decide import certify as certifying
from longmark.contrib.decide import corrected as correcting
from longmark.contrib.decide import label_file
from longmark.contrib.decide import label_next as drawing
from longmark.records import Example
from longmark.scores.draws import DrawnAnswer
from longmark.scores.labels import PROBABILITY
from longmark.scores.observations import Observation
from longmark.scores.paired import Scores, _Column, read_scores
from longmark.scores.scored_answers import ScoredAnswer, answers_of
from longmark.stats.corrected import CorrectedEstimate, LabelledScores, corrected
from longmark.stats.corrected_moments import IntervalEnds, Moments
from longmark.stats.looks import CLAIM_ERROR

Floats = NDArray[np.float64]
LABEL, DOCUMENT = "quality", "document"
METRICS = (RELEVANCE, CORRECTNESS, EASE, GRADE)
METRIC = METRICS[0]
SCALE = {LABEL: ("1", "2", "3", "4", "5")}
PROMISED = CLAIM_ERROR
NAMES = "ABCDEFGH"
EFFECTS = (0.0, 0.3, 0.6)
POWER_RUNS = 0.4  # times those of false certificates


# What is planted ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Planted:
    """scores: shape (questions, systems), NaN for none; labels: shape (raters, questions, systems), NaN for
    what a rater would not label; documents: of each question; others: the scores of further metrics."""

    scores: Floats
    labels: Floats
    others: tuple[Floats, ...] = ()

    @property
    def by_metric(self) -> dict[str, Floats]:
        return dict(zip(METRICS, (self.scores, *self.others), strict=False))

    @property
    def documents(self) -> NDArray[np.int64]:
        return documents_of(len(self.scores))


Plant = Callable[[np.random.Generator, float], Planted]


def on_scale(values: Floats) -> Floats:
    return np.asarray(np.clip(np.round(values), 1, 5), dtype=np.float64)


def judged(chance: np.random.Generator, quality: Floats, correlation: float) -> Floats:
    """Scores between 0 and 1 that follow the quality and favour the first system."""
    noise = math.sqrt(1 / correlation**2 - 1) * chance.normal(size=quality.shape)
    noisy = quality + noise + 0.3 * (np.arange(quality.shape[1]) == 0)
    return np.asarray(np.round(stats.norm.cdf(noisy), 3), dtype=np.float64)


def usual(
    chance: np.random.Generator,
    effect: float,
    questions: int = 200,
    systems: int = 2,
    raters: int = 2,
    severity: float = 0.3,
    taste: float = 0.0,
    these: bool = True,
    shape: str = "bell",
    documents: bool = False,
    unscored: float = 0.0,
    worst: bool = False,
    both: bool = False,
    labelled: bool = True,
    shared: bool = True,
    correlation: float = 0.8,
    metrics: int = 1,
) -> Planted:
    """Labels 1 to 5 of a quality that is half the question's. severity, taste: standard deviations of what each rater
    adds to all labels, and to those of each system; these: the tastes of these raters add up to 0, so that the claim is
    false as these judge; unscored: share of answers without a score: the worst ones, of the first system or of both;
    labelled: whether these may be drawn; shared: each rater labels every drawn answer, else half of them; correlation:
    of scores with the quality; metrics: how many score it."""
    shape_of, numbers = (questions, systems), documents_of(questions)
    common = chance.normal(size=questions)[:, None] * 0.7
    if documents:
        common = chance.normal(size=(questions, 1))[numbers] * 0.7
        own = chance.normal(size=shape_of)[numbers]  # what a system does with a document
        quality = common + 0.5 * own + 0.5 * chance.normal(size=shape_of)
    else:
        quality = common + math.sqrt(0.51) * chance.normal(size=shape_of)
    quality[:, 0] += effect
    tastes: Floats = taste * chance.normal(size=(raters, 1, systems))
    if these:
        tastes = np.subtract(tastes, np.mean(tastes, axis=0), dtype=np.float64)
    strict = severity * chance.normal(size=(raters, 1, 1))
    noise = 0.4 * chance.normal(size=(raters, *shape_of))
    if shape == "bell":
        labels = on_scale(3 + quality + strict + tastes + noise)
    elif shape == "skewed":
        labels = on_scale(np.exp(0.8 * quality + 0.3 * (strict + tastes + noise)))
    else:  # lognormal, without ends
        exact: Floats = np.exp(0.8 * quality + 0.2 * (strict + tastes + noise))
        labels = np.asarray(np.round(exact, 2), dtype=np.float64)
    scores = judged(chance, quality, correlation)
    others = tuple(judged(chance, quality, correlation) for _ in range(metrics - 1))
    if unscored:
        order = quality if worst else chance.random(shape_of)
        silent = order <= np.quantile(order, unscored, axis=0)
        silent[:, 1:] &= both
        scores[silent] = np.nan
        if not labelled:
            labels[:, silent] = np.nan
    if not shared:
        labels[chance.random((raters, questions)) < 0.4] = np.nan
        none = np.isnan(labels).all(axis=0)
        labels[0][none] = on_scale(3 + quality)[none]
    return Planted(scores, labels, others)


def failing(
    chance: np.random.Generator,
    effect: float,
    failures: float,
    fours: float = 0.1,
    questions: int = 200,
) -> Planted:
    """The first system is good (5, at times 4) and fails in a share of its answers (1); the second is steady at the
    same mean; no score sees a failure. effect: how many points the second is worse."""
    first = np.where(
        chance.random(questions) < failures, 1.0, 5.0 - (chance.random(questions) < fours)
    )
    mean = (1 - failures) * (5 - fours) + failures - effect
    second = np.floor(mean) + (chance.random(questions) < mean - np.floor(mean))
    labels = np.stack([first, second], axis=1)
    score_first = 0.9 + 0.1 * chance.normal(size=questions)
    scores = np.stack(
        [score_first, 0.2 * second - 0.1 + 0.1 * chance.normal(size=questions)], axis=1
    )
    return Planted(np.clip(scores.round(2), 0, 1), np.stack([labels, labels]))


def right_or_wrong(
    chance: np.random.Generator, effect: float, right: float, questions: int = 200
) -> Planted:
    """Labels of 0 and 1, both systems right in the same share; the second is right in a third of the effect less."""
    labels = (chance.random((questions, 2)) < [right, right - effect / 3]).astype(float)
    scores = np.clip(0.3 + 0.4 * labels + 0.2 * chance.normal(size=labels.shape), 0, 1).round(2)
    return Planted(scores, np.stack([labels, labels]))


# What a user does -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlantedCell:
    """plant: the truth; looks: labelled answers of each system at each look; plan: "planned" looks, "drawn" without a
    plan, or one of `SAMPLES`, labels without a draw; scale: whether the ends are named; effects: which truths; runs:
    times the runs of the others; promised: whether no more than .025 is promised (not of other raters than these few,
    nor of a sample that is none); these_raters: the claim is for these raters only."""

    group: str
    name: str
    plant: Plant
    looks: tuple[int, ...] = (100,)
    plan: str = "planned"
    scale: bool = True
    cluster: str = "question_id"
    effects: tuple[float, ...] = EFFECTS
    runs: float = 1.0
    promised: bool = True
    these_raters: bool = False


@dataclass(frozen=True)
class GrantOutcome:
    granted: bool
    shown: bool
    missing: tuple[str, ...]
    plain: bool
    look: int | None = None


def replicate(
    cell: PlantedCell, effect: float, seed: Sequence[int], *, planting: bool = True
) -> GrantOutcome:
    """planting: scores are put into a run that this process has read, labels and draws stay in memory, and the means
    have no intervals, on which nothing rests; else all is written, read and computed, which takes five times as long.
    """
    chance = np.random.default_rng(seed)
    planted = cell.plant(chance, effect)
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        folder = Path(name)
        if not planting:
            return PlantedStudy(
                cell,
                planted,
                written(folder / "run", planted.by_metric, planted.documents),
                folder,
                chance,
            ).outcome()
        run = run_of(planted.scores.shape, len(planted.others) + 1, cell.cluster)
        study = PlantedStudy(cell, planted, run.folder, folder, chance, planting=True)
        with run.with_scores(planted.by_metric), study.in_memory():
            return study.outcome()


MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


def documents_of(questions: int) -> NDArray[np.int64]:
    """The document of each question: of 1, 2, 4 and 16 in turn."""
    sizes = np.resize([1, 2, 4, 16], questions)
    return np.repeat(np.arange(questions), sizes)[:questions]


def written(folder: Path, by_metric: Mapping[str, Floats], documents: NDArray[np.int64]) -> Path:
    """A run of these scores: question q<i>, answers <system>-<i>."""
    examples, rows = [], []
    questions, systems = by_metric[METRIC].shape
    for place in range(systems):
        for i in range(questions):
            name, about = (
                f"{NAMES[place]}-{i}",
                dict[str, Any](question_id=f"q{i}", system=NAMES[place]),
            )
            examples.append(
                Example(
                    id=name, question=f"Question {i}?", meta={DOCUMENT: f"d{documents[i]}"}, **about
                )
            )
            for metric, scores in by_metric.items():
                value = float(scores[i, place])
                rows.append(row(name, metric, None if math.isnan(value) else value, **about))
    return write_run(folder, examples, rows, manifest() | {"finished": True})


@dataclass(frozen=True)
class ReadRun:
    """A run as the verbs read it, into which other scores can be put."""

    folder: Path
    scores: Scores
    answers: tuple[ScoredAnswer, ...]

    @contextmanager
    def with_scores(self, by_metric: Mapping[str, Floats]) -> Iterator[None]:
        """Within it the verbs find these scores in the run."""
        columns = {}
        for (metric, planted), place in product(
            by_metric.items(), range(by_metric[METRIC].shape[1])
        ):
            column = columns[metric, NAMES[place]] = _Column(rows=len(planted))
            for number, question in enumerate(self.scores.questions):
                value = float(planted[int(question[1:]), place])
                if math.isnan(value):
                    column.silent.append(number)
                else:
                    column.questions.append(number)
                    column.values.append(value)
        scores = replace(self.scores, _columns=columns)
        with ExitStack() as stack:
            for module in (correcting, certifying, drawing):
                stack.enter_context(patch.object(module, "read_scores", lambda *_, **__: scores))
            for module in (correcting, drawing):
                stack.enter_context(
                    patch.object(module, "answers_of", lambda *_: iter(self.answers))
                )
            yield


def of_pairs(
    table: LabelledScores, sides: Mapping[int, float], **options: Any
) -> CorrectedEstimate:
    """`corrected`, without the interval of a mean."""
    if len(sides) > 1:
        return corrected(table, sides, **options)
    with patch.object(Moments, "interval", lambda *_: IntervalEnds(0.0, 0.0, "")):
        return corrected(table, sides, **options)


class PlantedLabels:
    """The labels of a study as `scores.labels.Labels` reads them from its file."""

    choices, name, metrics, scales = False, "labels.csv", (LABEL,), dict[str, Any]()
    notices, alike, empty, replaced = tuple[str, ...](), tuple[str, ...](), 0, 0
    parts, unread = "", ()  # labels of whole answers, all of them read

    def __init__(self, study: PlantedStudy, *_: object, **__: object) -> None:
        self.study = study

    def __enter__(self) -> PlantedLabels:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def select(self, metric: str) -> list[Observation]:
        return self.study.observations


@lru_cache
def run_of(shape: tuple[int, int], metrics: int, cluster: str) -> ReadRun:
    folder = Path(tempfile.mkdtemp(dir=MEMORY))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    written(folder, dict.fromkeys(METRICS[:metrics], np.full(shape, 0.5)), documents_of(shape[0]))
    scores = read_scores([folder], None, cluster)
    return ReadRun(folder, scores, tuple(answers_of([folder], scores)))


@dataclass
class PlantedStudy:
    cell: PlantedCell
    planted: Planted
    run: Path
    folder: Path
    chance: np.random.Generator
    planting: bool = False

    def __post_init__(self) -> None:
        questions, systems = self.planted.scores.shape
        self.systems, self.order = NAMES[:systems], self.chance.permutation(questions)
        self.labels = self.folder / "labels.csv"
        self.observations = list[Observation]()
        self.chances: Floats | None = None
        self.drawn_answers: tuple[DrawnAnswer, ...] = ()
        self.options: dict[str, Any] = {
            "order": SCALE if self.cell.scale else {},
            "cluster": self.cell.cluster,
        }

    @contextmanager
    def in_memory(self) -> Iterator[None]:
        """Within it the verbs find labels and draws without reading files."""
        with ExitStack() as stack:
            stack.enter_context(patch.object(label_file, "Labels", partial(PlantedLabels, self)))
            stack.enter_context(patch.object(correcting, "corrected", of_pairs))
            for module in (correcting, drawing):
                stack.enter_context(
                    patch.object(module, "read_draw", lambda _: list(self.drawn_answers))
                )
            yield

    def outcome(self) -> GrantOutcome:
        shown, missing = False, tuple[str, ...]()
        draw: Path | None = None
        labelled: NDArray[np.bool_] = np.zeros(self.planted.scores.shape, dtype=bool)
        for look, count in enumerate(self.cell.looks):
            if self.cell.plan in SAMPLES:
                labelled = SAMPLES[self.cell.plan](self, count)
            else:
                draw, labelled = self.drawn(
                    look, count - (self.cell.looks[look - 1] if look else 0), draw
                )
            self.write(labelled)
            better, worse, metric, seen = self.looked(draw)
            claim = f"{better} better than {worse} on {metric}"
            claimed = certifying.Claimed(
                claim=claim,
                runs=[str(self.run)],
                labels=str(self.labels),
                draw=None if draw is None else str(draw),
                equal_chances=draw is None and self.chances is None,
                mapping={},
                these_raters=self.cell.these_raters,
                **self.options,
            )
            certificate = certifying.certify(claimed)
            difference = certificate["difference"] or {}
            if len(self.systems) == 2 and "low" in difference and not self.planted.others:
                seen = not difference["low"] <= 0 <= difference["high"]
            shown |= seen
            missing = tuple(reason.partition(":")[0] for reason in certificate["missing"])
            if certificate["granted"]:
                return GrantOutcome(True, shown, (), self.plain(labelled, better, worse), look)
        return GrantOutcome(False, shown, missing, self.plain(labelled, better, worse))

    def first(self, count: int) -> NDArray[np.bool_]:
        """So many answers of each system that may be labelled, in random order of the questions."""
        labelled = np.zeros(self.planted.scores.shape, dtype=bool)
        labelled[self.order[:count]] = True
        return labelled & ~np.isnan(self.planted.labels).all(axis=0)

    def unequal(self, count: int) -> NDArray[np.bool_]:
        """About so many questions, each with a chance of its own, known: 25 times as high for some as for others."""
        sizes = 25 ** self.chance.random(len(self.order))
        self.chances = np.minimum(1.0, count * sizes / sizes.sum())
        labelled = np.zeros(self.planted.scores.shape, dtype=bool)
        labelled[self.chance.random(len(sizes)) < self.chances] = True
        return labelled

    def high(self, count: int) -> NDArray[np.bool_]:
        """So many answers of each system: those of the highest scores, which is no random sample."""
        places: NDArray[np.bool_] = (-self.planted.scores).argsort(axis=0).argsort(axis=0) < count
        return places

    def drawn(self, look: int, count: int, earlier: Path | None) -> tuple[Path, NDArray[np.bool_]]:
        planned = (
            {"looks": len(self.cell.looks)} if self.cell.plan == "planned" and not look else {}
        )
        options = {
            **self.options,
            **planned,
            "n": count * len(self.systems),
            "metrics": [METRIC],
            "seed": int(self.chance.integers(2**31)),
        }
        draw = drawing.label_next(
            [self.run], self.labels if look else None, earlier=earlier, **options
        )
        self.drawn_answers, file = draw.answers, self.folder / f"draw-{look}.jsonl"
        if self.planting:
            file.touch()
        else:
            drawing.write(draw, file)
        labelled = np.zeros(self.planted.scores.shape, dtype=bool)
        for answer in draw.answers:
            if answer.drawn:
                labelled[int(answer.question_id[1:]), self.systems.index(answer.system)] = True
        return file, labelled

    def write(self, labelled: NDArray[np.bool_]) -> None:
        self.observations = []
        for rater, labels in enumerate(self.planted.labels):
            for i, place in np.argwhere(labelled & ~np.isnan(labels)).tolist():
                name, value = f"{self.systems[place]}-{i}", float(labels[i, place])
                about = (0, name, "", "", self.systems[place], True, "", LABEL, value)
                given = {} if self.chances is None else {PROBABILITY: float(self.chances[i])}
                self.observations.append(Observation(*about, rater=f"r{rater}", given=given))
        with open(self.labels, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["example_id", "system", "label", "value", "rater", *self.columns])
            for label in () if self.planting else self.observations:
                more = [label.given[name] for name in self.columns]
                table.writerow(
                    [label.example_id, label.system, LABEL, f"{label.score:g}", label.rater, *more]
                )

    @property
    def columns(self) -> list[str]:
        return [] if self.chances is None else [PROBABILITY]

    def looked(self, draw: Path | None) -> tuple[str, str, str, bool]:
        """The claim that looks best after `compare --labels`, its metric, and whether that shows any difference."""
        if len(self.systems) == 2 and not self.planted.others:
            return "A", "B", METRIC, False
        correction = correcting.correct_runs([self.run], self.labels, draw=draw, **self.options)
        seen = any(correction.significant_pairs(metric) for metric in correction.metrics)
        if len(self.systems) == 2:
            lows = {found.metric: found.pairs["A", "B"].low for found in correction.metrics}
            reached = {metric: -9.0 if low is None else low for metric, low in lows.items()}
            return "A", "B", max(reached, key=reached.__getitem__), seen
        (metric,) = correction.metrics
        means = {
            name: -9.0 if mean.value is None else mean.value for name, mean in metric.means.items()
        }
        return max(means, key=means.__getitem__), min(means, key=means.__getitem__), METRIC, seen

    def plain(self, labelled: NDArray[np.bool_], better: str, worse: str) -> bool:
        """Whether a paired t test of the labels alone shows it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # answers without a label
            labels = np.nanmean(np.where(labelled, self.planted.labels, np.nan), axis=0)
        apart = labels[:, self.systems.index(better)] - labels[:, self.systems.index(worse)]
        apart = apart[~np.isnan(apart)]
        error = float(apart.std(ddof=1)) / math.sqrt(len(apart))
        return bool(apart.mean() > stats.t.ppf(1 - PROMISED, len(apart) - 1) * error)


SAMPLES: dict[str, Callable[[PlantedStudy, int], NDArray[np.bool_]]] = {
    "alone": PlantedStudy.first,
    "unequal": PlantedStudy.unequal,
    "high": PlantedStudy.high,
}
"""How answers are chosen without `label next`."""


# The cells ------------------------------------------------------------------------------------------------------------


def cells() -> Iterator[PlantedCell]:
    for systems in (2, 4, 8):
        name = f"{systems} systems, best against worst, 1 look planned"
        yield PlantedCell(
            "systems", name, partial(usual, systems=systems), (60,), runs=1 if systems < 8 else 0.65
        )
    yield PlantedCell(
        "systems",
        "4 systems, best against worst, labels alone",
        partial(usual, systems=4),
        (60,),
        "alone",
    )
    for metrics in (2, 4):
        name = f"{metrics} metrics of 2 systems, the best of them"
        yield PlantedCell("metrics", name, partial(usual, metrics=metrics), (60,))
    every = tuple(range(50, 275, 15))
    yield PlantedCell("looks", "1 look planned", partial(usual, questions=300), (100,))
    yield PlantedCell(
        "looks", "1 look at labels alone", partial(usual, questions=300), (100,), "alone"
    )
    yield PlantedCell("looks", "1 draw, no plan", partial(usual, questions=300), (100,), "drawn")
    yield PlantedCell(
        "looks",
        "3 looks planned, later ones by residuals",
        partial(usual, questions=300),
        (50, 75, 100),
    )
    yield PlantedCell("looks", "15 looks planned", partial(usual, questions=300), every, runs=0.65)
    yield PlantedCell(
        "looks", "15 draws, no plan", partial(usual, questions=300), every, "drawn", runs=0.65
    )
    yield PlantedCell(
        "looks",
        "15 looks at labels alone",
        partial(usual, questions=300),
        every,
        "alone",
        runs=0.65,
    )
    for correlation in (0.3, 0.8):
        plant = partial(usual, questions=300, correlation=correlation)
        name = f"2 draws planned, the second by residuals, scores of r {correlation:g}"
        yield PlantedCell("looks", name, plant, (50, 100))
    for raters in (2, 5):
        yield PlantedCell(
            "raters", f"{raters} raters, severity .6", partial(usual, raters=raters, severity=0.6)
        )
    for raters in (2, 3, 5, 10):
        plant = partial(usual, raters=raters, taste=0.2)
        yield PlantedCell("raters", f"{raters} raters, taste .2, these", plant)
        other = partial(plant, these=False)
        yield PlantedCell(
            "raters",
            f"{raters} raters, taste .2, others",
            other,
            effects=(0.0,),
            promised=raters >= 5,
        )
    for raters in (2, 5):
        plant = partial(usual, raters=raters, taste=0.6)
        yield PlantedCell("raters", f"{raters} raters, taste .6, these", plant)
        other = partial(plant, these=False)
        yield PlantedCell(
            "raters",
            f"{raters} raters, taste .6, others",
            other,
            effects=(0.0,),
            promised=raters >= 5,
        )
    yield PlantedCell(
        "raters", "3 raters, each labels 6 in 10", partial(usual, raters=3, shared=False)
    )
    for taste in (0.0, 0.2, 0.3, 0.6):
        for raters in (2, 3):
            plant = partial(usual, raters=raters, taste=taste)
            yield PlantedCell(
                "these", f"{raters} raters, taste {taste:g}", plant, these_raters=True
            )
    for taste in (0.0, 0.3):
        plant = partial(usual, raters=3, taste=taste, shared=False)
        yield PlantedCell(
            "these", f"3 raters, taste {taste:g}, each labels 6 in 10", plant, these_raters=True
        )
    for shape in ("skewed", "lognormal"):
        for count in (60, 150):
            plant = partial(usual, shape=shape)
            yield PlantedCell(
                "shapes", f"{shape}, {count} labels", plant, (count,), scale=shape == "skewed"
            )
    for failures in (0.02, 0.05, 0.1):
        for count in (50, 100, 200, 400):
            plant = partial(failing, failures=failures, questions=max(200, count))
            name = f"fails in {100 * failures:g} %, {count} labels"
            yield PlantedCell("failures", name, plant, (count,), effects=(0.0, 0.3))
    for failures, fours, count in (
        (0.02, 0.0, 100),
        (0.02, 0.1, 100),
        (0.05, 0.1, 50),
        (0.05, 0.1, 200),
    ):
        plant = partial(failing, failures=failures, fours=fours, questions=200)
        name = f"fails in {100 * failures:g} %, fours {fours:g}, {count} labels, scale not named"
        yield PlantedCell("failures", name, plant, (count,), scale=False, effects=(0.0,))
    for right, count in ((0.98, 60), (0.95, 60), (0.95, 150)):
        plant = partial(right_or_wrong, right=right)
        yield PlantedCell(
            "failures", f"right in {100 * right:g} %, {count} labels", plant, (count,), scale=False
        )
    for share in (0.1, 0.25):
        for worst in (False, True):
            who = "the worst" if worst else "random"
            plant = partial(usual, unscored=share, worst=worst)
            yield PlantedCell("unscored", f"{100 * share:g} % of A, {who}, labelled alike", plant)
            if worst:
                plant = partial(plant, labelled=False)
                yield PlantedCell(
                    "unscored", f"{100 * share:g} % of A, {who}, not labelled", plant, plan="alone"
                )
    yield PlantedCell(
        "unscored",
        "25 % of both, the worst, labelled alike",
        partial(usual, unscored=0.25, worst=True, both=True),
    )
    for count in (60, 150, 300):
        plant = partial(usual, documents=True, questions=400)
        yield PlantedCell(
            "clusters",
            f"documents of 1, 2, 4, 16; {count} labels",
            plant,
            (count,),
            cluster=DOCUMENT,
        )
    for count in (30, 50, 100, 200, 400):
        yield PlantedCell(
            "numbers", f"{count} labels", partial(usual, questions=max(200, count)), (count,)
        )
    yield PlantedCell("samples", "known chances of 1 to 25", usual, (100,), "unequal")
    yield PlantedCell(
        "samples", "the answers with high scores only", usual, (100,), "high", promised=False
    )


# The study ------------------------------------------------------------------------------------------------------------


def task(arguments: tuple[int, float, int]) -> GrantOutcome:
    place, effect, number = arguments
    return replicate(CELLS[place], effect, (place, EFFECTS.index(effect), number))


CELLS = list(cells())


def figures(place: int, runs: int, pool: ProcessPoolExecutor) -> dict[str, object]:
    cell = CELLS[place]
    found: dict[str, object] = {"group": cell.group, "name": cell.name, "promised": cell.promised}
    for effect in cell.effects:
        count = max(8, round(runs * cell.runs * (1 if not effect else POWER_RUNS)))
        outcomes = list(
            pool.map(task, [(place, effect, number) for number in range(count)], chunksize=4)
        )
        if not effect and replicate(cell, effect, (place, 0, 0), planting=False) != outcomes[0]:
            raise SystemExit(f"{cell.name}: what is planted is not what is read")
        found[f"runs {effect}"] = count
        found[f"granted {effect}"] = float(np.mean([outcome.granted for outcome in outcomes]))
        found[f"plain {effect}"] = float(np.mean([outcome.plain for outcome in outcomes]))
        if effect:
            continue
        found["shown"] = float(np.mean([outcome.shown for outcome in outcomes]))
        refused = [
            [why for why in outcome.missing if why != "A difference above 0"]
            for outcome in outcomes
        ]
        reasons = Counter(why for each in refused for why in each)
        found["refused"] = float(np.mean([bool(each) for each in refused]))
        found["why"] = reasons.most_common(1)[0][0] if reasons else ""
    return found


def line(found: dict[str, object]) -> str:
    def share(name: str) -> str:
        return f"{found[name]:.3f}".removeprefix("0") if name in found else ""

    runs, false = int(found["runs 0.0"]), float(found["granted 0.0"])  # type: ignore[call-overload, arg-type]
    most = PROMISED + 2 * math.sqrt(PROMISED * (1 - PROMISED) / runs)
    star = " **!**" if false > most and found["promised"] else ""
    why = f"{share('refused')} {found['why']}".strip()
    power = (
        f"{share(f'granted {effect}')} ({share(f'plain {effect}')})"
        if f"granted {effect}" in found
        else ""
        for effect in EFFECTS[1:]
    )
    cells_shown = [
        found["name"],
        runs,
        share("granted 0.0") + star,
        share("shown"),
        share("plain 0.0"),
        why,
        *power,
    ]
    return f"| {' | '.join(map(str, cells_shown))} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("groups", nargs="*")
    parser.add_argument("--runs", type=int, default=250)
    parser.add_argument(
        "--out", type=Path, default=Path(tempfile.gettempdir()) / "bench-certify.jsonl"
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--name", default="")
    given = parser.parse_args()
    runs = 40 if given.quick else given.runs
    done = (
        [json.loads(text) for text in given.out.read_text().splitlines()]
        if given.out.exists()
        else []
    )
    there = {(one["group"], one["name"]) for one in done}
    heads = ("", "runs", "false", "shown", "plain t", "refused", ".3 (plain t)", ".6 (plain t)")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for one in done:
        if not given.groups or one["group"] in given.groups:
            print(line(one))
    with ProcessPoolExecutor(2, initializer=os.nice, initargs=(5,)) as pool:
        for place, cell in enumerate(CELLS):
            wanted = (not given.groups or cell.group in given.groups) and given.name in cell.name
            if not wanted or (cell.group, cell.name) in there:
                continue
            began = time.time()
            found = figures(place, runs, pool) | {"seconds": round(time.time() - began, 1)}
            with open(given.out, "a") as file:
                file.write(json.dumps(found) + "\n")
            print(line(found), flush=True)


if __name__ == "__main__":
    main()

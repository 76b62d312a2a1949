"""`label next`: which answers people label next, and with which probability each was chosen.

Whole questions are drawn, with the answers of all compared systems, because what these have in common cancels in a
difference. Without earlier labels every question has the same chance. With labels of 20 questions or more, half of the
chance is alike for all, and half goes by how far labels are expected from the scores (`stats.drawing`). A later draw
gives each answer the probability that one of the draws chose it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from longmark.analysis.corrected import (
    CorrectedMetric,
    CorrectionOptions,
    GivenLabels,
    ScoredAnswer,
    answers_of,
    correct_runs,
)
from longmark.errors import UserError, options_of
from longmark.records.write import replacing
from longmark.report.format import counted, fixed, listed
from longmark.scores.draws import DrawnAnswer, read_draw
from longmark.scores.files import paths_given
from longmark.scores.paired import read_scores
from longmark.stats.drawing import probabilities, residual_sizes, systematic


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawOptions(CorrectionOptions):
    """n: answers to draw; floor: the part of the chance that is alike for all; earlier: the file of an earlier draw,
    which has its labels' probabilities."""

    n: int = 50
    floor: float = 0.5
    earlier: Path | None = None

    def __post_init__(self) -> None:
        if self.n < 1:
            raise UserError(f"label next: expected a number of answers of 1 or more, found {self.n}")
        if not 0 < self.floor <= 1:
            raise UserError(f"label next: the floor is above 0, at most 1; found {self.floor}")


@dataclass(frozen=True, slots=True)
class Draw:
    """answers: of every question with a score, each with the probability that it was drawn by now; new, questions, of:
    how many answers and questions this draw added, of how many questions; forecast: the half-width of a corrected
    difference (of one system: of its mean) now, and with the new labels; None without labels."""

    answers: tuple[DrawnAnswer, ...]
    new: int
    questions: int
    of: int
    by_labels: bool
    forecast: tuple[float, float] | None = None


def label_next(runs: str | Path | Sequence[str | Path], labels: GivenLabels | None = None, **options: Any) -> Draw:
    """Draws answers to label. labels: those that there are; options: the fields of `DrawOptions`.

    UserError if several metrics are there and none is chosen, if nothing is left to draw, if labels were drawn with
    unequal probabilities and the file of their draw is not given, or where that file is of other answers.
    """
    chosen = options_of(DrawOptions, options, "label next")
    paths = paths_given(runs)
    scores = read_scores(paths, chosen.by, chosen.cluster, judges=chosen.judges)
    metrics = scores.named(chosen.metrics)
    if len(metrics) != 1:
        raise UserError(f"label next draws for one metric; choose one with --metrics: {listed(metrics)}")
    places = np.array([scores.systems.index(name) for name in chosen.systems or scores.systems], dtype=np.int64)
    known = ~np.isnan(scores.matrix(metrics[0]))
    scored = known[:, places].any(axis=1)
    answers = [one for one in answers_of(paths, scores) if one.cell[1] in places and known[one.cell]]
    _refuse_alike(answers)
    had, before = np.zeros_like(known), np.zeros(len(known))  # drawn or labelled; with which probability
    sizes, forecast = None, None
    if labels is not None:
        same = {name: getattr(chosen, name) for name in CorrectionOptions.__slots__}
        found = correct_runs(paths, labels, **{**same, "metrics": metrics})
        if found.drawn and chosen.earlier is None:
            raise UserError("the labels were drawn with unequal probabilities: give the file of that draw by --earlier")
        table = found.labelled.table(metrics[0])
        had |= table.both
        before[:] = had[:, places].sum() / known[:, places].sum()
        sizes, forecast = residual_sizes(table, places), _forecast(found.metrics[0], chosen.n)
    if chosen.earlier is not None:
        for one, earlier in zip(answers, _earlier(answers, chosen.earlier), strict=True):
            before[one.cell[0]] = earlier.probability
            had[one.cell] |= earlier.drawn
    among: NDArray[np.bool_] = np.logical_and(scored, (known & ~had)[:, places].any(axis=1))
    each = max(1, round(len(answers) / max(1, int(scored.sum()))))
    count = min(max(1, chosen.n // each), int(among.sum()))
    if not count:
        raise UserError("every answer of these systems is labelled or drawn; there is nothing left to draw")
    now = probabilities(np.ones(len(known)) if sizes is None else sizes, count, among, chosen.floor)
    new = np.zeros_like(among)
    new[among] = systematic(now[among], chosen.seed)
    chances = before + (1 - before) * now
    drawn = tuple(
        DrawnAnswer(
            *(one.example_id, one.system, one.question_id),
            float(chances[one.cell[0]]),
            bool(had[one.cell] or new[one.cell[0]]),
            one.digest,
        )
        for one in answers
    )
    added = sum(bool(new[one.cell[0]] and not had[one.cell]) for one in answers)
    return Draw(drawn, added, count, int(scored.sum()), sizes is not None, forecast)


def _forecast(found: CorrectedMetric, n: int) -> tuple[float, float] | None:
    made = [one for one in (*found.pairs.values(), *found.means.values()) if one.low is not None]
    if not made or made[0].ends is None:
        return None
    half = (made[0].ends[1] - made[0].ends[0]) / 2
    return half, half * sqrt(made[0].labelled / (made[0].labelled + n))


def _earlier(answers: Sequence[ScoredAnswer], path: Path) -> Iterator[DrawnAnswer]:
    """Each answer as the earlier draw has it. UserError where it has not."""
    known = {(one.example_id, one.system): one for one in read_draw(path)}
    for one in answers:
        if (one.example_id, one.system) not in known:
            raise UserError(f"{path}: {one.example_id} ({one.system}) is missing; the draw was of other answers")
        if not known[one.example_id, one.system].is_of(one.digest):
            raise UserError(
                f"{path}: {one.example_id} ({one.system}) has another text now; the draw was of the answers of another "
                "run. Draw anew, without --earlier"
            )
        yield known[one.example_id, one.system]


def _refuse_alike(answers: Sequence[ScoredAnswer]) -> None:
    """UserError for two answers that a label could not tell apart."""
    seen: dict[tuple[str, str], ScoredAnswer] = {}
    for one in answers:
        if seen.setdefault((one.example_id, one.system), one).cell != one.cell:
            raise UserError(
                f"{one.example_id} ({one.system}) is an answer of two runs, and a label would not say of which: give "
                "the systems names (`system` of the examples)"
            )


def write(draw: Draw, path: Path) -> None:
    """Every answer with its probability, drawn or not, one JSON line each (`scores.draws`)."""
    with replacing(path) as file:
        file.writelines(orjson.dumps(one.record()) + b"\n" for one in draw.answers)


def in_words(draw: Draw) -> str:
    """How many answers were drawn, how, and what they are good for."""
    how = "more where labels are expected far from the scores" if draw.by_labels else "with equal chances"
    chances = [f"{end([one.probability for one in draw.answers]):.3g}" for end in (min, max)]
    text = (
        f"{counted(draw.new, 'answer')} drawn: {counted(draw.questions, 'question')} of {draw.of:,}, {how}. Inclusion "
        f"probabilities: {' to '.join(dict.fromkeys(chances))}."
    )
    if draw.forecast is None:
        return text
    now, then = (fixed(one, 3) for one in draw.forecast)
    return f"{text} The corrected interval is now ± {now}; with these labels about ± {then}."

"""`label next`: which answers people label next, and with which probability each was chosen.

Whole questions are drawn, with the answers of all compared systems, because what these have in common cancels in a
difference. Answers without a score are drawn as others are: their labels say what a failure is worth. Without earlier
labels every question has the same chance. With labels of 20 questions or more, half of the chance is alike for all, and
half goes by how far labels are expected from the scores (`stats.drawing`). A later draw gives each answer the
probability that one of the draws chose it.

The first draw fixes the plan: how many draws there will be (`looks`), and which claims (`claims`); the file keeps it,
and each further draw is one more look at the labels, which costs a part of the error (`stats.looks`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from longmark.contrib.decide.corrected import correct_runs
from longmark.contrib.decide.correction import Correction
from longmark.contrib.decide.correction_options import CorrectionOptions
from longmark.contrib.decide.label_file import GivenLabels
from longmark.contrib.decide.label_forecast import forecast
from longmark.errors import UnknownName, UserError, options_of
from longmark.report.format import counted, fixed, listed
from longmark.scores.draws import DrawnAnswer, DrawPlan, draw_number, parsed_claim, read_draw
from longmark.scores.files import paths_given
from longmark.scores.paired import Scores, read_scores
from longmark.scores.scored_answers import ScoredAnswer, answers_of
from longmark.stats.corrected import FEWEST_COVERED
from longmark.stats.drawing import probabilities, residual_sizes, systematic
from longmark.stats.looks import Looks
from longmark.stats.samples import Floats, Ints
from longmark.writing import replacing


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawOptions(CorrectionOptions):
    """n: answers to draw; floor: the part of the chance that is alike for all; earlier: the file of an earlier draw,
    which has its labels' probabilities and the plan; looks: how many draws there will be, in all; claims: what may be
    claimed, each "A better than B on METRIC"; both for the first draw only."""

    n: int = 50
    floor: float = 0.5
    earlier: Path | None = None
    claims: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.n < 1:
            raise UserError(
                f"label next: expected a number of answers of 1 or more, found {self.n}"
            )
        if not 0 <= self.seed < 2**63:
            raise UserError(
                f"label next: the seed is a whole number from 0 to {2**63 - 1}; found {self.seed}"
            )
        if not 0 < self.floor <= 1:
            raise UserError(f"label next: the floor is above 0, at most 1; found {self.floor}")
        if self.earlier is not None and (self.looks is not None or self.claims):
            raise UserError(
                "label next: the plan is that of the first draw; omit --looks and --claim with --earlier"
            )


@dataclass(frozen=True, slots=True)
class Draw:
    """answers: of every question, each with the probability that it was drawn by now; new, questions, all_questions:
    how many answers and questions this draw added, of how many questions; looks: which look at the labels this draw makes;
    labelled: the fewest answers of a system that will have been drawn; forecast: the half-width of a corrected
    difference (of one system: of its mean) now, and with the new labels; None without labels; notices: of the runs;
    these_raters: the forecast is for the raters of the labels only."""

    answers: tuple[DrawnAnswer, ...]
    new: int
    questions: int
    all_questions: int
    by_labels: bool
    looks: Looks
    labelled: int
    forecast: tuple[float, float] | None = None
    notices: tuple[str, ...] = ()
    these_raters: bool = False


def label_next(
    runs: str | Path | Sequence[str | Path], labels: GivenLabels | None = None, **options: Any
) -> Draw:
    """Draws answers to label. labels: those that there are; options: the fields of `DrawOptions`.

    UserError if several metrics are there and none is chosen, if nothing is left to draw, if labels were drawn and the
    file of their draw is not given, where that file is of other answers, or where a plan is made after the first label.
    """
    chosen = options_of(DrawOptions, options, "label next")
    paths = paths_given(runs)
    scores = read_scores(paths, chosen.by, chosen.cluster, judges=chosen.judges)
    metrics = scores.named(chosen.metrics)
    if len(metrics) != 1:
        raise UserError(
            f"label next draws for one metric; choose one with --metrics: {listed(metrics)}"
        )
    places = np.array(
        [scores.systems.index(name) for name in chosen.systems or scores.systems], dtype=np.int64
    )
    answered = ~np.isnan(scores.matrix(metrics[0], unscored=0.0))  # with a score or without
    answers = [
        answer
        for answer in answers_of(paths, scores)
        if answer.cell[1] in places and answered[answer.cell]
    ]
    planned_late = chosen.looks is not None or chosen.claims
    if labels is not None and chosen.earlier is None and planned_late:
        raise UserError(
            "a plan (--looks, --claim) is made before the first label, and there are labels: omit it, or draw anew "
            "without --labels"
        )
    plan = _planned(chosen, scores)
    _refuse_alike(answers)
    earlier_answers = [] if chosen.earlier is None else list(_earlier(answers, chosen.earlier))
    if earlier_answers:
        plan = earlier_answers[0].plan
    looks = Looks(_number_of(earlier_answers, labels), plan.looks)

    past = _Past(np.zeros_like(answered), np.zeros(len(answered)))
    sizes: Floats | None = None
    half_widths: tuple[float, float] | None = None
    if labels is not None:
        correction = _correction(paths, labels, metrics[0], chosen)
        table = correction.labelled.table(metrics[0])
        past.add_labels(~np.isnan(table.labels), places, answered)
        sizes = residual_sizes(table, places)
        half_widths = forecast(correction, chosen.n, looks)
    if earlier_answers:
        past.add_draw(answers, earlier_answers)

    questions = answered[:, places].any(axis=1)
    left: NDArray[np.bool_] = np.logical_and(
        questions, (answered & ~past.cells)[:, places].any(axis=1)
    )
    answers_a_question = max(1, round(len(answers) / max(1, int(questions.sum()))))
    count = min(max(1, chosen.n // answers_a_question), int(left.sum()))
    if not count:
        raise UserError(
            "every answer of these systems is labelled or drawn; there is nothing left to draw"
        )
    weights = np.ones(len(answered)) if sizes is None else sizes
    chances = probabilities(weights, count, left, chosen.floor)
    new_questions = np.zeros_like(left)
    new_questions[left] = systematic(chances[left], chosen.seed)
    if chosen.earlier is None or plan.seeds:
        plan = replace(plan, seeds=(*plan.seeds, chosen.seed))
    drawn = past.drawn_with(new_questions, chances, answers, looks.number, plan)
    new = [
        answer
        for answer in answers
        if new_questions[answer.cell[0]] and not past.cells[answer.cell]
    ]
    drawn_of_system = Counter({answer.system: 0 for answer in drawn})
    drawn_of_system.update(answer.system for answer in drawn if answer.drawn)
    return Draw(
        answers=drawn,
        new=len(new),
        questions=count,
        all_questions=int(questions.sum()),
        by_labels=sizes is not None,
        looks=looks,
        labelled=min(drawn_of_system.values()),
        forecast=half_widths,
        notices=scores.notices,
        these_raters=chosen.these_raters,
    )


def _number_of(earlier_answers: Sequence[DrawnAnswer], labels: GivenLabels | None) -> int | None:
    """Which draw this is; None where nobody knows how often labels were looked at: there are some without a draw."""
    if earlier_answers:
        last = draw_number(earlier_answers)
        return None if last is None else last + 1
    return 1 if labels is None else None


def _correction(
    paths: Sequence[Path], labels: GivenLabels, metric: str, options: DrawOptions
) -> Correction:
    """The scores corrected by the labels that there are. UserError for labels of a draw whose file is not given."""
    fields = {name: getattr(options, name) for name in CorrectionOptions.__slots__}
    fields |= {"metrics": [metric], "looks": None, "draw": options.earlier}
    correction = correct_runs(paths, labels, **fields)
    if correction.drawn and options.earlier is None:
        raise UserError(
            "the labels have inclusion probabilities, so a draw chose their answers: give its file by --earlier"
        )
    return correction


@dataclass(frozen=True, slots=True)
class _Past:
    """What was drawn or labelled before this draw. cells: of shape (questions, systems); probability: of each question;
    draws: (example id, system) -> the number of the draw that chose the answer."""

    cells: NDArray[np.bool_]
    probability: Floats
    draws: dict[tuple[str, str], int | None] = field(default_factory=dict)

    def add_labels(
        self, labelled: NDArray[np.bool_], places: Ints, answered: NDArray[np.bool_]
    ) -> None:
        """places: of the compared systems; answered: the cells with an answer."""
        self.cells[...] |= labelled
        # labels without a draw: each answer is taken to have had the same chance
        self.probability[:] = self.cells[:, places].sum() / answered[:, places].sum()

    def add_draw(
        self, answers: Sequence[ScoredAnswer], earlier_answers: Sequence[DrawnAnswer]
    ) -> None:
        """earlier_answers: the same answers as the earlier draw has them."""
        for answer, earlier in zip(answers, earlier_answers, strict=True):
            self.probability[answer.cell[0]] = earlier.probability
            self.cells[answer.cell] |= earlier.drawn
            self.draws[answer.example_id, answer.system] = earlier.draw

    def drawn_with(
        self,
        new_questions: NDArray[np.bool_],
        chances: Floats,
        answers: Sequence[ScoredAnswer],
        number: int | None,
        plan: DrawPlan,
    ) -> tuple[DrawnAnswer, ...]:
        """All answers, as they stand after this draw. chances: of each question in this draw; number: of the draw."""
        # that one of the draws chose it
        probability = self.probability + (1 - self.probability) * chances
        drawn = []
        for answer in answers:
            question = answer.cell[0]
            before = bool(self.cells[answer.cell])
            draw = self.draws.get((answer.example_id, answer.system))
            if new_questions[question] and not before:
                draw = number
            drawn.append(
                DrawnAnswer(
                    answer.example_id,
                    answer.system,
                    answer.question_id,
                    float(probability[question]),
                    before or bool(new_questions[question]),
                    answer.digest,
                    draw,
                    plan,
                )
            )
        return tuple(drawn)


def _planned(options: DrawOptions, scores: Scores) -> DrawPlan:
    """The plan of a first draw. UnknownName for a claim about a system or a metric that is not there."""
    claims = [parsed_claim(text) for text in options.claims]
    for claim in claims:
        for system in (claim.better, claim.worse):
            if system not in scores.systems:
                raise UnknownName(
                    "system", system, scores.systems, f"There are {listed(scores.systems)}."
                )
        if claim.metric not in scores.metrics:
            raise UnknownName(
                "metric", claim.metric, scores.metrics, f"The runs have {listed(scores.metrics)}."
            )
    Looks(None, options.looks)
    return DrawPlan(options.looks, tuple(map(str, claims)))


def _earlier(answers: Sequence[ScoredAnswer], path: Path) -> Iterator[DrawnAnswer]:
    """Each answer as the earlier draw has it. UserError where it has not."""
    drawn_answers = {(answer.example_id, answer.system): answer for answer in read_draw(path)}
    for answer in answers:
        drawn = drawn_answers.get((answer.example_id, answer.system))
        if drawn is None:
            raise UserError(
                f"{path}: {answer.example_id} ({answer.system}) is missing; the draw was of other answers"
            )
        if not drawn.is_of(answer.digest):
            raise UserError(
                f"{path}: {answer.example_id} ({answer.system}) has another text now; the draw was of the answers "
                "of another run. Draw anew, without --earlier"
            )
        yield drawn


def _refuse_alike(answers: Sequence[ScoredAnswer]) -> None:
    """UserError for two answers that a label could not tell apart."""
    seen: dict[tuple[str, str], ScoredAnswer] = {}
    for answer in answers:
        if seen.setdefault((answer.example_id, answer.system), answer).cell != answer.cell:
            raise UserError(
                f"{answer.example_id} ({answer.system}) is an answer of two runs, and a label would not say of which: give "
                "the systems names (`system` of the examples)"
            )


def write(draw: Draw, path: Path) -> None:
    """Every answer with its probability, drawn or not, one JSON line each (`scores.draws`)."""
    with replacing(path) as file:
        file.writelines(orjson.dumps(answer.record()) + b"\n" for answer in draw.answers)


def in_words(draw: Draw) -> str:
    """How many answers were drawn, how, and what they are good for."""
    probability = [answer.probability for answer in draw.answers]
    chances = list(dict.fromkeys(f"{end(probability):.3g}" for end in (min, max)))
    manner = (
        "more where labels are expected far from the scores"
        if draw.by_labels
        else "with equal chances"
    )
    text = (
        f"{counted(draw.new, 'answer')} drawn: {counted(draw.questions, 'question')} of {draw.all_questions:,}, {manner}. "
        f"Inclusion probabilities: {' to '.join(chances)}."
    )
    if draw.looks.number is None:
        text += " The labels or the earlier draw do not say how often they were looked at: a claim must hold at any "
        text += "number of looks."
    else:
        text += f" This is draw {draw.looks.number} of {draw.looks.planned or 'any number'}."
    if claims := draw.answers[0].plan.claims:
        text += f" Planned: {listed(claims)}. Nothing else can be certified from these labels."
    if draw.labelled < FEWEST_COVERED:
        systems = {answer.system for answer in draw.answers}
        text += (
            f" A certificate needs {FEWEST_COVERED} labelled answers of each system, "
            f"{FEWEST_COVERED * len(systems)} in all; {draw.labelled} of each are drawn by now."
        )
    if draw.forecast is not None:
        now, then = (fixed(half, 3) for half in draw.forecast)
        whose = " for these raters only" if draw.these_raters else ""
        text += f" The corrected interval{whose} is now ± {now}; with these labels, at their look, about ± {then}."
    return " ".join((text, *draw.notices))

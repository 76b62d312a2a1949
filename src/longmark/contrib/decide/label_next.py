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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from longmark.contrib.decide.corrected import correct_runs
from longmark.contrib.decide.correction import Correction
from longmark.contrib.decide.correction_options import CorrectionOptions
from longmark.contrib.decide.label_file import GivenLabels
from longmark.errors import UnknownName, UserError, options_of
from longmark.report.format import counted, fixed, listed
from longmark.scores.draws import DrawnAnswer, DrawPlan, draw_number, parsed_claim, read_draw
from longmark.scores.files import paths_given
from longmark.scores.paired import Scores, read_scores
from longmark.scores.scored_answers import ScoredAnswer, answers_of
from longmark.stats.corrected import FEWEST_COVERED
from longmark.stats.drawing import probabilities, residual_sizes, systematic
from longmark.stats.looks import Looks
from longmark.stats.student import t_quantile
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
    """answers: of every question, each with the probability that it was drawn by now; new, questions, of: how many
    answers and questions this draw added, of how many questions; looks: which look at the labels this draw makes;
    labelled: the fewest answers of a system that will have been drawn; forecast: the half-width of a corrected
    difference (of one system: of its mean) now, and with the new labels; None without labels; notices: of the runs;
    these_raters: the forecast is for the raters of the labels only."""

    answers: tuple[DrawnAnswer, ...]
    new: int
    questions: int
    of: int
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
    known = ~np.isnan(
        scores.matrix(metrics[0], unscored=0.0)
    )  # cells with an answer, scored or not
    scored = known[:, places].any(axis=1)
    answers = [
        one for one in answers_of(paths, scores) if one.cell[1] in places and known[one.cell]
    ]
    if (
        labels is not None
        and chosen.earlier is None
        and (chosen.looks is not None or chosen.claims)
    ):
        raise UserError(
            "a plan (--looks, --claim) is made before the first label, and there are labels: omit it, or draw anew "
            "without --labels"
        )
    plan = _planned(chosen, scores)
    number = (
        1 if labels is None else None
    )  # labels without a draw: nobody knows how often they were looked at
    _refuse_alike(answers)
    earlier_answers = [] if chosen.earlier is None else list(_earlier(answers, chosen.earlier))
    if earlier_answers:
        last = draw_number(earlier_answers)
        number, plan = None if last is None else last + 1, earlier_answers[0].plan
    looks = Looks(number, plan.looks)
    had, before = (
        np.zeros_like(known),
        np.zeros(len(known)),
    )  # drawn or labelled; with which probability
    by_draw: dict[tuple[str, str], int | None] = {}
    sizes, forecast = None, None
    if labels is not None:
        same = {name: getattr(chosen, name) for name in CorrectionOptions.__slots__}
        found = correct_runs(
            paths, labels, **{**same, "metrics": metrics, "looks": None, "draw": chosen.earlier}
        )
        if found.drawn and chosen.earlier is None:
            raise UserError(
                "the labels have inclusion probabilities, so a draw chose their answers: give its file by --earlier"
            )
        table = found.labelled.table(metrics[0])
        had |= ~np.isnan(table.labels)
        before[:] = had[:, places].sum() / known[:, places].sum()
        sizes, forecast = residual_sizes(table, places), _forecast(found, chosen.n, looks)
    if earlier_answers:
        for answer, earlier in zip(answers, earlier_answers, strict=True):
            before[answer.cell[0]] = earlier.probability
            had[answer.cell] |= earlier.drawn
            by_draw[answer.example_id, answer.system] = earlier.draw
    among: NDArray[np.bool_] = np.logical_and(scored, (known & ~had)[:, places].any(axis=1))
    each = max(1, round(len(answers) / max(1, int(scored.sum()))))
    count = min(max(1, chosen.n // each), int(among.sum()))
    if not count:
        raise UserError(
            "every answer of these systems is labelled or drawn; there is nothing left to draw"
        )
    now = probabilities(np.ones(len(known)) if sizes is None else sizes, count, among, chosen.floor)
    new = np.zeros_like(among)
    new[among] = systematic(now[among], chosen.seed)
    chances = before + (1 - before) * now
    plan = replace(
        plan, seeds=(*plan.seeds, chosen.seed) if chosen.earlier is None or plan.seeds else ()
    )
    drawn = tuple(
        DrawnAnswer(
            answer.example_id,
            answer.system,
            answer.question_id,
            float(chances[answer.cell[0]]),
            bool(had[answer.cell] or new[answer.cell[0]]),
            answer.digest,
            number
            if new[answer.cell[0]] and not had[answer.cell]
            else by_draw.get((answer.example_id, answer.system)),
            plan,
        )
        for answer in answers
    )
    added = sum(bool(new[answer.cell[0]] and not had[answer.cell]) for answer in answers)
    of_system = [
        sum(answer.drawn for answer in drawn if answer.system == name)
        for name in {a.system for a in drawn}
    ]
    return Draw(
        drawn,
        added,
        count,
        int(scored.sum()),
        sizes is not None,
        looks,
        min(of_system),
        forecast=forecast,
        notices=scores.notices,
        these_raters=chosen.these_raters,
    )


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


def _forecast(found: Correction, n: int, looks: Looks) -> tuple[float, float] | None:
    """Half of the interval of a planned difference (else the first one; of one system: of its mean) now, as `compare
    --labels` shows it of the same files, and with n labels more, at the look that they make.

    In units of the present variance V(m) = c / m + rest: what labels cause shrinks with their number m, what the scores
    of all N answers leave uncertain does not. With all answers labelled it is that of labels alone, V(N) = worth / N.
    What raters who stand for others add does not shrink either, and the more of the variance it is, the more do few
    raters widen the interval (Satterthwaite).
    """
    metric, family = found.metrics[0], found.family
    planned = [
        pair
        for (first, second), pair in metric.pairs.items()
        if family.may_claim(first, second, metric.metric)
        or family.may_claim(second, first, metric.metric)
    ]
    estimates = [*planned, *metric.pairs.values(), *metric.means.values()]
    estimate = next((each for each in estimates if each.ends is not None and each.worth), None)
    if estimate is None or estimate.ends is None or estimate.worth is None:
        return None
    half = (estimate.ends[1] - estimate.ends[0]) / 2
    labelled, answers = estimate.labelled, estimate.n
    if labelled >= answers:
        return half, half
    variance, of_raters = estimate.variance or 1.0, estimate.rater_variance or 0.0
    of_answers = max(0.0, variance - of_raters)
    worth = (
        (labelled * of_answers + (estimate.worth - labelled) * variance) / of_answers
        if of_answers
        else labelled
    )
    least = min(1.0, max(0.0, worth / answers))
    caused = (1 - least) / (1 / labelled - 1 / answers)
    in_all = min(answers, labelled + n)
    then = 1 - caused * (1 / labelled - 1 / in_all)
    of_answers_then = of_answers * max(least, then)
    errors, sides = ((1 - found.options.level) / 2, (1 - found.options.level) / 2), 1
    if estimate.error is not None:
        sides = 2
        errors = estimate.error, looks.error(family.claims, in_all // 2, answers // 2, errors[0])
    quantiles = [
        t_quantile(
            1 - 2 * error,
            _satterthwaite(own, count / sides - 1, of_raters, (estimate.raters or 2.0) - 1),
        )
        for error, own, count in zip(
            errors, (of_answers, of_answers_then), (labelled, in_all), strict=True
        )
    ]
    shrunk = sqrt((of_answers_then + of_raters) / (of_answers + of_raters))
    return half, half * shrunk * quantiles[1] / quantiles[0]


def _satterthwaite(of_answers: float, df: float, of_raters: float, rater_df: float) -> float:
    """The degrees of freedom of the sum of two variances."""
    if not of_raters:
        return df
    df, rater_df = max(1.0, df), max(1.0, rater_df)
    together = (of_answers + of_raters) ** 2 / (of_answers**2 / df + of_raters**2 / rater_df)
    return max(together, min(df, rater_df))


def _earlier(answers: Sequence[ScoredAnswer], path: Path) -> Iterator[DrawnAnswer]:
    """Each answer as the earlier draw has it. UserError where it has not."""
    known = {(one.example_id, one.system): one for one in read_draw(path)}
    for one in answers:
        if (one.example_id, one.system) not in known:
            raise UserError(
                f"{path}: {one.example_id} ({one.system}) is missing; the draw was of other answers"
            )
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
    chances = list(
        dict.fromkeys(
            f"{end([answer.probability for answer in draw.answers]):.3g}" for end in (min, max)
        )
    )
    how = (
        "more where labels are expected far from the scores"
        if draw.by_labels
        else "with equal chances"
    )
    text = (
        f"{counted(draw.new, 'answer')} drawn: {counted(draw.questions, 'question')} of {draw.of:,}, {how}. Inclusion "
        f"probabilities: {' to '.join(chances)}."
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

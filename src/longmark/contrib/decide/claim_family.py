"""Which claims can be made from the same labels: they share one chance of a false claim (`stats.looks`).

Differences are simultaneous: the chance that any interval shows a system above another that is not is (1 - level) / 2
in all, over both directions of all pairs on all metrics of the runs, and over all looks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from longmark.contrib.decide.correction_options import CorrectionOptions
from longmark.contrib.decide.labelled_cells import AnswerCells
from longmark.errors import UserError
from longmark.report.format import counted
from longmark.scores.draws import DrawnAnswer, draw_number, parsed_claim
from longmark.scores.paired import Scores
from longmark.scores.scored_answers import Cell
from longmark.stats.corrected import LabelledScores
from longmark.stats.looks import UNKNOWN_LOOKS, Looks


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
        if self.planned:
            number = "" if self.labels == 1 else f" ({self.claims:,} claims)"
            claims = f"{counted(len(self.planned), 'planned claim')}{labels}{number}"
        else:
            claims = f"both directions of all pairs of systems on all metrics{labels} ({self.claims:,} claims)"
        return f"{claims} and {self.looks.in_words()}"


def claim_family(
    scores: Scores,
    options: CorrectionOptions,
    drawn: Sequence[DrawnAnswer] | None,
    labelled: Collection[Cell],
    answers: AnswerCells,
    labels: int,
) -> Family:
    """drawn: all answers of the draw, None without one; labels: how many of the file could have been chosen. UserError
    for a planned claim that is about other systems or metrics, and for a number of looks beside the draw's."""
    systems = len(scores.systems)
    if drawn is None:
        looks = Looks(planned=options.looks)
        return Family(_number_of_claims(systems, scores) * labels, labels=labels, looks=looks)
    plan = drawn[0].plan
    planned = tuple(str(parsed_claim(text)) for text in plan.claims)
    drawn_cells = {
        cell
        for answer in drawn
        if answer.drawn
        for cell in answers.cells_of(answer.example_id, answer.system)
    }
    # whole systems of the draw can be in other runs, and the claims about them share the error
    absent = {answer.system for answer in drawn} - answers.system_names() - {""}
    ids = answers.first_ids()
    unlabelled = tuple(ids[cell] for cell in sorted(drawn_cells - set(labelled)))
    undrawn = tuple(ids[cell] for cell in sorted(set(labelled) - drawn_cells))
    looks = Looks() if unlabelled else Looks(draw_number(drawn), plan.looks)
    if options.looks is not None:
        raise UserError("the number of looks is the draw's: omit --looks where --draw is given")
    claims = len(planned) or _number_of_claims(systems + len(absent), scores)
    return Family(
        claims * labels,
        planned,
        labels,
        looks,
        undrawn=undrawn,
        unlabelled=unlabelled,
        seeds=plan.seeds,
    )


def _number_of_claims(systems: int, scores: Scores) -> int:
    """Both directions of all pairs of systems, on all metrics."""
    return systems * (systems - 1) * len(scores.named(()))


def pair_error(
    table: LabelledScores, places: tuple[int, int], family: Family, level: float
) -> float:
    """The one-sided error of a difference of two systems: its part of (1 - level) / 2."""
    labelled = (~np.isnan(table.labels[:, list(places)])).any(axis=1)
    answers = len(table.scores)
    if table.unscored is not None:
        answers = int((~np.isnan(table.unscored[:, 0])).sum())
    return family.looks.error(family.claims, int(labelled.sum()), answers, (1 - level) / 2)

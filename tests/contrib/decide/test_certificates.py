"""False certificates in replicates of what a user does, by the verbs (`bench.certify`, docs/coverage.md): no more of
them than promised. Each of these was granted far more often by one fixed interval."""

from __future__ import annotations

from functools import partial

import pytest
from bench.certify import PlantedCell, replicate, usual

EVERY_LOOK = tuple(range(50, 150, 7))
FALSE = [
    PlantedCell(
        "",
        "the best of 8 equal systems against the worst",
        partial(usual, systems=8, questions=80),
        (60,),
        runs=0.3,
    ),
    PlantedCell(
        "",
        "15 looks at labels that come in",
        partial(usual, questions=150),
        EVERY_LOOK,
        "alone",
        runs=0.7,
    ),
    PlantedCell(
        "",
        "3 raters who disagree about the systems, of others",
        partial(usual, raters=3, taste=0.6, these=False),
        runs=0.7,
    ),
    PlantedCell(
        "",
        "5 raters who disagree about the systems, of others",
        partial(usual, raters=5, taste=0.6, these=False),
        runs=0.7,
    ),
    PlantedCell(
        "",
        "the worst quarter has no score, and has labels",
        partial(usual, unscored=0.25, worst=True),
        runs=0.7,
    ),
    PlantedCell(
        "", "the best of 4 metrics", partial(usual, metrics=4, questions=100), (60,), runs=0.5
    ),
]


@pytest.mark.parametrize("cell", FALSE, ids=[cell.name for cell in FALSE])
def test_false_claims_are_certified_no_more_often_than_promised(cell: PlantedCell):
    outcomes = [replicate(cell, 0.0, (1, number)) for number in range(round(30 * cell.runs))]
    assert sum(outcome.granted for outcome in outcomes) <= 1
    assert sum(outcome.shown for outcome in outcomes) <= 2


@pytest.mark.parametrize(
    ("plan", "granted"),
    [("planned", 0.8), ("drawn", 0.7), ("alone", 0.5)],
    ids=["planned", "drawn", "labels alone"],
)
def test_true_claims_are_certified(plan: str, granted: float):
    cell = PlantedCell("", plan, partial(usual, taste=0.0), (100,), plan)
    outcomes = [replicate(cell, 0.6, (2, number)) for number in range(16)]
    assert sum(outcome.granted for outcome in outcomes) / 16 >= granted


def test_two_raters_of_like_taste_are_certified_for_themselves():
    cell = PlantedCell("", "these raters", partial(usual, taste=0.2), (100,), these_raters=True)
    true, false = (
        [replicate(cell, effect, (4, number)) for number in range(16)] for effect in (0.6, 0.0)
    )
    assert sum(outcome.granted for outcome in true) >= 13
    assert sum(outcome.granted for outcome in false) <= 1


def test_planted_runs_are_what_the_verbs_read():
    cell = PlantedCell("", "two looks", partial(usual, unscored=0.1), (50, 60))
    assert replicate(cell, 0.3, (3,)) == replicate(cell, 0.3, (3,), planting=False)

"""Scores are coloured and ordered by what an answer in its own words can get."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.runs import CORRECTNESS, RELEVANCE, manifest, row, write_run

from longmark.engine.pairs import as_pairs
from longmark.metrics import select
from longmark.report.worst import goodness, kind_of
from longmark.scores.manifest import MetricFacts, read_manifest
from longmark.scores.observations import Observations

FACTS = MetricFacts(lo=0, hi=1, higher_is_better=True)
CAPPED = replace(FACTS, reach=0.3)


@pytest.mark.parametrize(
    ("score", "kind"), [(0.05, "poor"), (0.15, "fair"), (0.25, "good"), (0.3, "good"), (1, "good")]
)
def test_the_colour_is_that_of_the_third_of_what_is_attainable(score: float, kind: str):
    assert kind_of(CAPPED, score) == kind
    assert goodness(CAPPED, 1.0) == 1, "an exact match is not beyond good"


def test_without_a_cap_the_upper_bound_is_attainable():
    assert (FACTS.attainable, CAPPED.attainable) == (1, 0.3)
    assert kind_of(FACTS, 0.3) == "poor"
    assert replace(CAPPED, lo=None).attainable == 1, "no range to be inside of"
    assert replace(CAPPED, reach=-1.0).attainable == 1


@pytest.mark.parametrize(
    ("name", "reach"),
    [
        (CORRECTNESS, 0.3),
        (f"{CORRECTNESS}@weight=0.5", 0.5),
        (f"{CORRECTNESS}@weight=0", None),
        (RELEVANCE, None),
    ],
)
def test_answer_correctness_says_what_the_judge_alone_can_give(name: str, reach: float | None):
    (chosen,) = select([name])
    said = chosen.metric.reach(chosen.params)
    assert said == (reach if reach is None else pytest.approx(reach))


def described() -> dict[str, object]:
    data = manifest()
    metrics = data["metrics"]
    return {**data, "metrics": {**metrics, CORRECTNESS: {**metrics[CORRECTNESS], "reach": 0.3}}}


def test_the_worst_answer_is_not_the_one_whose_metric_has_a_cap(tmp_path: Path):
    # own: as good as words can be on correctness, half of relevance: (.3 / .3 + .5) / 2 = .75, and .4 without the cap
    # wrong: (.03 / .3 + .8) / 2 = .45, and .415 without the cap
    scores = {"own": (0.3, 0.5), "wrong": (0.03, 0.8)}
    rows = [
        row(name, metric, score)
        for name, both in scores.items()
        for metric, score in zip((CORRECTNESS, RELEVANCE), both, strict=True)
    ]
    for data, order in ((described(), ["wrong", "own"]), (manifest(), ["own", "wrong"])):
        run = write_run(tmp_path / order[0], [], rows, data)
        with Observations() as index:
            index.read([run])
            index.rank(index.facts([read_manifest(run)]))
            assert [index.example(number)[1] for number in index.lowest()] == order


def test_a_choice_between_two_answers_has_no_cap():
    facts = {CORRECTNESS: {"bounds": [0, 1], "summary": "", "reach": 0.3}}
    assert "reach" not in as_pairs(facts, [])[CORRECTNESS]

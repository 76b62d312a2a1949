"""A CALF study of published pairs: what is known of them comes out."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contrib.papers.calf.test_calf_results import grids, shown
from tests.program import run

from longmark.analysis.metaeval.baselines import LONGER, LONGER_WORDS, MODEL, TITLES
from longmark.contrib.papers.calf.results import (
    CalfOptions,
    CalfResults,
)
from longmark.contrib.papers.calf.rows import read
from longmark.records.read import Reading

SHARED = Path(__file__).parents[5] / "shared" / "data"


def real(folder: Path, name: str, file: str) -> CalfResults:
    path = SHARED / file
    if not path.exists():
        pytest.skip(f"the published data are not here ({file})")
    assert (
        run(
            "dataset", name, str(path), "--out", str(folder / "pairs.jsonl"), home=folder / "home"
        ).code
        == 0
    )
    return CalfResults(read([], Reading(folder / "pairs.jsonl")), CalfOptions())


def test_the_verdicts_of_llmbar_give_the_published_figures_of_both_orders(tmp_path: Path):
    found = real(tmp_path, "llmbar", "llmbar/Natural_ChatGPT-0301_Vanilla_result.json")
    ((judge,),) = grids(found)["orders"].rows
    # Natural_ChatGPT-0301_Vanilla_statistics.json: correct_False, correct_True, correct_both, equal
    published = {
        "accuracy, a first": 0.84,
        "accuracy, b first": 0.84,
        "right in both": 0.73,
        "same choice": 0.78,
    }
    assert {name: shown(found.of_orders(judge)[name]) for name in published} == {
        name: (value, 100) for name, value in published.items()
    }


def test_the_longer_answer_of_lfqa_e_is_right_in_274_of_600_pairs(tmp_path: Path):
    found = real(tmp_path, "lfqa-e", "lfqa_e/zh_first600.json")
    groups = (range(600), found.modes["human/model"], found.modes["model/model"])
    right = [found.accuracy(TITLES[LONGER], rows) for rows in groups]
    assert [(round((one.value or 0) * one.n), one.n) for one in right] == [
        (274, 600),
        (179, 399),
        (95, 201),
    ]
    assert found.gold.count("tie") == 49
    assert right[0].clusters == 201  # questions with the same context
    assert TITLES[LONGER_WORDS] not in found.judges  # Chinese has no spaces


def test_the_baselines_of_haluquestqa_are_hard_to_beat(tmp_path: Path):
    found = real(tmp_path, "haluquestqa-pairs", "haluquestqa/half.jsonl")
    known = {one.metric: shown(one.accuracy) for one in found.metrics}
    assert known[TITLES[LONGER_WORDS]] == (0.614, 345)
    assert known[TITLES[LONGER]] == (0.812, 345)
    assert known[TITLES[MODEL]] == (0.826, 345)
    assert len(found.subjects) == 7

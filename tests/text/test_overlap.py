"""Word overlap as a checker."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.program import run

from longmark.text.entailment import Relation
from longmark.text.overlap import OverlapChecker, overlap


def relations(premise: str, *hypotheses: str) -> list[Relation]:
    return asyncio.run(OverlapChecker().relations(premise, hypotheses))


def test_overlap_is_the_share_of_content_words():
    assert overlap("The rain in Paris", ["Paris is dry."]) == 0.5
    assert overlap("of the", ["the of"]) == 1  # without content words all words count
    assert overlap("...", ["rain"]) is None


def test_more_shared_words_are_more_support_and_the_label_goes_by_a_half():
    whole, half, none = relations(
        "The dam broke in May.", "The dam broke in May", "The dam held in June", "Paris"
    )
    assert [one.label for one in (whole, none)] == ["entails", "neutral"]
    assert whole.entails is not None
    assert half.entails is not None
    assert none.entails is not None
    assert whole.entails > 0.5 > half.entails > none.entails > 0


def test_without_words_there_is_no_probability():
    assert (
        relations("", "rain")
        == relations("...", "rain")
        == relations("rain", "?")
        == [Relation("neutral")]
    )
    assert relations("rain") == []


@pytest.mark.parametrize(
    ("claim", "passage", "other"),
    [
        (
            "台风在九月登陆佛罗里达。",
            "报告说，台风在九月登陆佛罗里达州，造成洪水。",
            "地震摧毁了学校。",
        ),
        (
            "ハリケーンは九月に上陸した。",
            "報告によると、ハリケーンは九月にフロリダに上陸した。",
            "地震で学校が壊れた。",
        ),
        ("พายุขึ้นฝั่งในเดือนกันยายน", "รายงานว่าพายุขึ้นฝั่งในเดือนกันยายนที่ฟลอริดา", "แผ่นดินไหวทำลายโรงเรียน"),
    ],
)
def test_scripts_without_spaces_are_compared_by_pairs_of_characters(
    claim: str, passage: str, other: str
):
    assert [one.label for one in relations(passage, claim, other)] == ["entails", "neutral"]
    assert overlap("台风来了", ["台风走了"]) == 1 / 3  # 台风, 风来, 来了 against 台风, 风走, 走了


@pytest.mark.parametrize("metric", ["comprehensiveness.nli@relevance=1", "ragchecker.faithfulness"])
def test_a_run_by_an_earlier_word_overlap_is_told_from_one_by_todays(tmp_path: Path, metric: str):
    """Until version 3 a manifest named the checker alone; vowel signs cut words then, so that scores differ."""
    texts = {"id": "1", "question": "?", "answer": "Rain fell.", "claims": ["Rain fell."]}
    example = {
        **texts,
        "contexts": ["Rain fell in May."],
        "context_claims": [["Rain fell in May."]],
    }
    (tmp_path / "answers.jsonl").write_text(json.dumps(example))
    words = (
        "run",
        tmp_path / "answers.jsonl",
        "--metrics",
        metric,
        "--checker",
        "overlap",
        "--out",
        tmp_path / "run",
    )
    assert run(*words, home=tmp_path).code == 0
    row = json.loads((tmp_path / "run" / "rows.jsonl").read_text().splitlines()[0])
    assert row["signature"]["models"]["checker"] == ["overlap:3"]
    assert "1 of 1 row verified" in run("verify", tmp_path / "run", home=tmp_path).out
    for name in ("manifest.json", "rows.jsonl"):
        stored = (tmp_path / "run" / name).read_text()
        (tmp_path / "run" / name).write_text(stored.replace("overlap:3", "overlap"))
    resumed = run(*words, home=tmp_path)
    assert resumed.code == 2
    assert "--checker" in resumed.err
    checked = run("verify", tmp_path / "run", home=tmp_path)
    assert checked.code == 3
    assert "overlap:3" in checked.out

"""Published preferences become pairs; on the real files, with the counts of their publishers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.make.test_published import HALU, real
from tests.program import run, write_jsonl

from longmark.contrib.make.published import read
from longmark.errors import BadInput
from longmark.records import Pair

ZH: dict[str, Any] = {
    "id": "7", "question": "q", "context": " ", "reference": "r", "response_a": "x", "response_b": "y",
    "compare_type": "human_vs_model", "label": "same",
}  # fmt: skip
EN: dict[str, Any] = {
    "id": "7", "question": "q", "Concise_Reference": "r", "student_answer_b": "x", "model_answer_a": "y",
    "student_answer_b_vs_model_answer_a": "model_answer_a",
}  # fmt: skip


def _read(name: str, path: Path) -> list[Pair]:
    return [one for one in read(name, path) if isinstance(one, Pair)]


def test_lfqa_e_in_both_of_its_forms(tmp_path: Path) -> None:
    zh, en = _read("lfqa-e", write_jsonl(tmp_path / "both.jsonl", [ZH, EN]))
    assert (zh.id, zh.mode, zh.label, zh.references, zh.contexts, zh.a_system) == (
        "7", "human/model", "tie", ("r",), (), None,
    )  # fmt: skip
    assert (en.id, en.question_id) == ("7-student_answer_b_vs_model_answer_a", "7")
    assert (en.a, en.b, en.label, en.mode, en.a_system, en.b_system) == (
        "x",
        "y",
        "b",
        "human/model",
        "human",
        "model",
    )


def test_haluquestqa_has_the_experts_choice_and_the_subject(tmp_path: Path) -> None:
    record = {**HALU, "ans_preference": "Answer 2", "ans_preference_reason": "longer"}
    (pair,) = _read("haluquestqa-pairs", write_jsonl(tmp_path / "h.jsonl", [record]))
    assert (pair.labels, pair.label, pair.subject, pair.mode) == (
        {"expert": "b"},
        "b",
        "physics",
        "human/model",
    )
    assert pair.references == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"label": "response_c"},
            'label: expected response_a or response_b or same, found "response_c"',
        ),
        ({"compare_type": "human"}, "compare_type: expected human_vs_human or"),
        ({"response_b": ""}, "response_b: is empty"),
    ],
)
def test_records_of_another_form_are_named(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=f"f.jsonl:2: not a record of lfqa-e: {message}"):
        read("lfqa-e", write_jsonl(tmp_path / "f.jsonl", [ZH, {**ZH, **change, "id": "8"}]))


def test_the_real_files(tmp_path: Path) -> None:
    zh = _read("lfqa-e", real("lfqa_e", "zh_first600.json"))
    assert Counter(pair.mode for pair in zh) == {"human/model": 399, "model/model": 201}
    assert Counter(pair.label for pair in zh) == {"a": 300, "b": 251, "tie": 49}
    # length in characters of the texts as they stand: the longer one is what people chose in 274 pairs
    by_length = {
        pair.id: "a" if len(pair.a) > len(pair.b) else "b" if len(pair.b) > len(pair.a) else "tie"
        for pair in zh
    }
    right = Counter(pair.mode for pair in zh if by_length[pair.id] == pair.label)
    assert right == {"human/model": 179, "model/model": 95}
    en = _read("lfqa-e", real("lfqa_e", "en.json"))
    assert Counter(pair.mode for pair in en) == {
        "human/model": 8,
        "human/human": 2,
        "model/model": 2,
    }
    halu = _read("haluquestqa-pairs", real("haluquestqa", "half.jsonl"))
    assert (len(halu), {pair.mode for pair in halu}, len({pair.subject for pair in halu})) == (
        345,
        {"human/model"},
        7,
    )
    model = [pair for pair in halu if pair.label == ("a" if pair.a_system == "model" else "b")]
    assert len(model) == 285  # ans_preference_model_score is 1 in 285 records
    bar = _read("llmbar", real("llmbar", "Natural_ChatGPT-0301_Vanilla_result.json"))
    verdicts = [pair.meta["verdicts"]["published judge 1"] for pair in bar]
    winners = [
        next(one["choice"] for one in its if one["first"] == first)
        for its in verdicts
        for first in "ab"
    ]
    right_in = [[w == pair.label for w in winners[2 * n : 2 * n + 2]] for n, pair in enumerate(bar)]
    assert [sum(order) for order in zip(*right_in, strict=True)] == [84, 84]
    assert sum(map(all, right_in)) == 73
    assert sum(winners[n] == winners[n + 1] for n in range(0, len(winners), 2)) == 78


def test_the_verb_writes_pairs_that_are_read_back_alike(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "given.jsonl", [ZH, EN])
    for suffix in ("jsonl", "csv", "parquet"):
        done = run(
            "dataset",
            "lfqa-e",
            "given.jsonl",
            "--out",
            f"pairs.{suffix}",
            home=tmp_path / "home",
            cwd=tmp_path,
        )
        assert (done.code, done.out) == (0, f"2 pairs: pairs.{suffix}\n")
    from longmark.records.read import Reading

    first, *others = (
        [*Reading(tmp_path / f"pairs.{suffix}")] for suffix in ("jsonl", "csv", "parquet")
    )
    assert all(other == first for other in others)

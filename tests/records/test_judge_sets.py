"""What sets of judges and files of harnesses hold, beside what tests/records/test_published_sets.py holds of every set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longmark.errors import UserError
from longmark.records import Pair
from longmark.records.read import Reading
from longmark.records.set_answers import ares_labels, gold_choices, records_by_id, skill_scores
from longmark.scores.labels import Labels

FILES = Path(__file__).parent / "published_sets"


def test_the_preference_of_prometheus_is_the_side_of_its_letter() -> None:
    (pair,) = Reading(FILES / "prometheus-pairs.jsonl")
    assert isinstance(pair, Pair)
    assert (pair.a, pair.b, pair.label) == ("It is warm.", "It is less dense.", "b")


def test_a_response_of_biggen_bench_has_its_system_prompt_as_a_turn() -> None:
    first, second = Reading(FILES / "biggen-bench.json").singles()
    assert [turn.role for turn in first.turns] == ["system", "user", "assistant"]
    assert [turn.role for turn in second.turns] == ["user", "assistant"]
    assert first.question_id == "planning_0"


def test_each_label_of_ares_is_of_the_answer_that_a_run_of_the_same_file_has() -> None:
    first, second = Reading(FILES / "ares.tsv").singles()
    with Labels(FILES / "ares.tsv") as labels:
        found = {(label.example_id, label.metric): label.value for label in labels.select()}
    assert found == {
        (first.id, "Context_Relevance"): 1.0,
        (first.id, "Answer_Relevance"): 1.0,
        (first.id, "Answer_Faithfulness"): 1.0,
        (second.id, "Context_Relevance"): 0.0,
        (second.id, "Answer_Relevance"): 0.0,
    }


@pytest.mark.parametrize("name", ["giskard-testset.jsonl", "giskard-report.jsonl"])
def test_the_conversation_before_a_question_of_giskard_is_kept(name: str) -> None:
    first, second = Reading(FILES.parent / "tools" / name).singles()
    assert first.turns == ()
    roles = [turn.role for turn in second.turns]
    assert roles[:3] == ["user", "assistant", "user"]
    assert second.turns[2].text == second.question == "And Rome?"


def test_answers_of_giskard_without_their_questions_are_refused_with_what_writes_both() -> None:
    answers = [{"message": "In Africa.", "documents": ["The Nile is in Africa."]}]
    with pytest.raises(UserError, match=r"write both with report\.to_pandas\(\)"):
        list(Reading(answers))


@pytest.mark.parametrize(
    ("doc", "right"),
    [
        ({"choices": ["a", "b"], "gold_index": 1}, ["b"]),
        ({"choices": ["a", "b"], "gold_index": [0, 1]}, ["a", "b"]),
        ({"choices": [["a", "A"], "b"], "gold_index": [0]}, ["a", "A"]),
        ({"choices": ["a"], "gold_index": 3}, None),
        ({"choices": ["a"], "gold_index": True}, None),
        ({"choices": [], "gold_index": []}, None),
        ({"choices": "a"}, None),
        (None, None),
    ],
)
def test_the_right_answers_of_lighteval_are_its_gold_choices(doc: Any, right: Any) -> None:
    assert gold_choices(doc) == right


def test_values_of_other_kinds_are_no_records_and_no_labels() -> None:
    assert records_by_id({"a": {"id": "b", "response": "x"}}) is None
    assert records_by_id({}) is None
    assert records_by_id([]) is None
    assert skill_scores({"x": "N/A", "y": True, "z": 2}) == [{"name": "z", "value": 2}]
    assert skill_scores(None) == []
    assert ares_labels({"A_Label": "[[Maybe]]", "B_Label": 1, "C": 1}) == [
        {"name": "B", "value": 1}
    ]
    assert ares_labels(None) == []

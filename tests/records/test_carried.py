"""Claims and labels that an example carries: our fields, RAGChecker's, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longmark.errors import BadInput
from longmark.records import Context, Example
from longmark.records.read import Reading
from longmark.records.write import write_examples

CHECKED: dict[str, Any] = {
    "query_id": "q",
    "query": "Which river is the longest?",
    "response": "The Nile, in Africa.",
    "gt_answer": "The Nile.",
    "retrieved_context": [
        {"doc_id": "d1", "text": "The Nile is in Africa."},
        {"doc_id": "d2", "text": "Rain."},
    ],
    "response_claims": [["Nile", "is", "the longest river"], "The Nile is in Africa."],
    "gt_answer_claims": [],
    "answer2response": ["Entailment", "Neutral"],
    "response2answer": [],
    "retrieved2response": [["Neutral", "Contradiction"], ["Entailment", "Neutral"]],
    "retrieved2answer": [],
}


def only(record: dict[str, Any]) -> Example:
    (example,) = Reading([record]).singles()
    return example


def why_bad(**changed: Any) -> str:
    with pytest.raises(BadInput) as error:
        only({**CHECKED, **changed})
    return str(error.value)


def test_a_record_of_ragchecker_has_its_claims_and_labels():
    example = only(CHECKED)
    assert example.claims == ("Nile is the longest river", "The Nile is in Africa.")
    assert example.claims_by_reference == ("entails", "neutral")
    assert example.claims_by_contexts == (("neutral", "contradicts"), ("entails", "neutral"))
    assert example.meta == {}


def test_an_empty_list_of_claims_is_not_a_missing_one():
    assert only(CHECKED).reference_claims == ()
    without = {key: value for key, value in CHECKED.items() if key not in ("gt_answer_claims",)}
    without |= {"response2answer": None, "retrieved2answer": None}
    assert only(without).reference_claims is None


def test_ours_are_read_under_their_own_names():
    given = {
        "answer": "It rains.",
        "contexts": ["Rain.", "Sun."],
        "claims": ["It rains."],
        "claims_by_contexts": [["entails", "NEUTRAL"]],
        "context_claims": [["Rain."], []],
        "graph": {"nodes": []},
    }
    example = only(given)
    assert example.claims_by_contexts == (("entails", "neutral"),)
    assert example.context_claims == (("Rain.",), ())
    assert example.graph == {"nodes": []}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"response_claims": "The Nile"}, 'claims: expected a list of claims, found "The Nile"'),
        ({"response_claims": {"a": 1}}, "claims: expected a list of claims, found an object"),
        ({"response_claims": [1, "b"]}, "claims[0]: expected text, found 1"),
        ({"response_claims": [" ", "b"]}, "claims[0]: is empty"),
        ({"response_claims": [["a", "b"], "c"]}, "claims[0]: expected text, found a list"),
        (
            {"answer2response": ["Entailment", "maybe"]},
            "claims_by_reference[1]: expected entails, contradicts or neut",
        ),
        (
            {"answer2response": ["Entailment"]},
            "claims_by_reference: expected 2 (one for each of the claims), found 1",
        ),
        (
            {"retrieved2response": [["Neutral"], ["Neutral", "Neutral"]]},
            "claims_by_contexts[0]: expected 2 (one for each passage that is not empty), found 1",
        ),
        (
            {"retrieved2response": ["Neutral", "Neutral"]},
            "claims_by_contexts[0]: expected a list of labels",
        ),
        ({"gt_answer_claims": None}, "reference_claims_by_answer: needs reference_claims"),
        (
            {"gt_answer": ["The Nile.", "Nile"]},
            "reference_claims: belong to one reference, found 2",
        ),
        (
            {"context_claims": [["a"]]},
            "context_claims: expected 2 (a list for each passage), found 1",
        ),
    ],
)
def test_wrong_ones_are_bad_records_with_the_reason(changed: dict[str, Any], reason: str):
    assert reason in why_bad(**changed)


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_every_format_keeps_them(tmp_path: Path, suffix: str):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    examples = [
        only({**CHECKED, "context_claims": [['a "quoted", claim'], []], "graph": {"nodes": [1]}}),
        Example(id="plain", answer="no claims", contexts=(Context(text="t"),)),
    ]
    write_examples(examples, tmp_path / f"e{suffix}")
    assert list(Reading(tmp_path / f"e{suffix}")) == examples


def test_an_example_hashes_as_before_where_it_carries_nothing():
    assert Example(answer="a").content_hash() == Example(answer="a", claims=None).content_hash()
    assert Example(answer="a", claims=()).content_hash() != Example(answer="a").content_hash()

"""Published sets in the layout of their repositories. The files in tests/records/published_sets follow the sources that
the declarations cite; what they hold is written out here by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.records.set_files import ANSWERS, CHOICES, LABELS, PAIRS

from longmark.errors import BadInput, UserError
from longmark.records import Pair
from longmark.records.read import Reading
from longmark.records.set_answers import asqa_records, best_answer, completions
from longmark.scores.labels import Labels

FILES = Path(__file__).parent / "published_sets"


@pytest.mark.parametrize("name", ANSWERS)
def test_the_answers_of_a_published_set_are_read_as_it_has_them(name: str) -> None:
    shape, answers, not_read = ANSWERS[name]
    reading = Reading(FILES / name)
    examples = [
        (
            example.id,
            example.question,
            example.answer,
            example.system,
            len(example.contexts),
            example.references,
        )
        for example in reading.singles()
    ]
    assert examples == answers
    assert reading.notice == f"Read as {shape}. Not read: {not_read}."


@pytest.mark.parametrize("name", PAIRS)
def test_the_pairs_of_a_published_set_name_it_and_what_is_not_read(name: str) -> None:
    shape, not_read = PAIRS[name]
    reading = Reading(FILES / name)
    assert all(isinstance(pair, Pair) for pair in reading)
    assert reading.notice == f"Read as {shape}. Not read: {not_read}."


def test_the_better_answer_of_reward_bench_keeps_its_model_on_either_side() -> None:
    for pair in Reading(FILES / "reward-bench.jsonl"):
        assert isinstance(pair, Pair)
        better = pair.label or ""
        assert pair.text(better) in ("It is less dense.", "Rivers bring salt.")  # type: ignore[arg-type]
        assert (pair.a_system, pair.b_system)[better == "b"] == "gpt-4"
        assert pair.category in ("alpacaeval-easy", "llmbar")


def test_each_judge_of_mt_bench_has_a_pair_of_its_own_and_all_of_them_one_question() -> None:
    pairs = [pair for pair in Reading(FILES / "mt-bench-judgments.jsonl") if isinstance(pair, Pair)]
    assert [(pair.a, pair.b, pair.label, pair.meta["judge"]) for pair in pairs] == [
        ("A1", "B1", "b", "author_2"),
        ("A1", "B1", "b", "expert_1"),
        ("A2", "B2", "a", "author_2"),
        ("A1", "B1", "tie", "author_3"),
    ]
    assert {pair.question for pair in pairs} == {"Write.", "Again."}
    assert {pair.question_id for pair in pairs} == {"81"}


@pytest.mark.parametrize("name", LABELS)
def test_the_labels_of_a_published_set_are_read(name: str) -> None:
    tool, expected, not_read = LABELS[name]
    with Labels(FILES / name) as labels:
        rows = [(label.example_id, label.rater, label.value) for label in labels.select()]
        assert sorted(rows) == sorted(expected)
        assert labels.notices == [f"{FILES / name}: read as {tool}. Not read: {not_read}."]


@pytest.mark.parametrize("name", ["reward-bench-2.jsonl", "aggrefact.jsonl"])
def test_the_labels_of_a_set_belong_to_the_answers_that_a_run_of_the_same_file_has(
    name: str,
) -> None:
    answers = {example.id: example.meta["label"] for example in Reading(FILES / name).singles()}
    with Labels(FILES / name) as labels:
        assert {label.example_id: label.value for label in labels.select()} == answers


@pytest.mark.parametrize("name", CHOICES)
def test_the_choices_of_a_published_set_are_read_with_what_was_shown_first(name: str) -> None:
    tool, expected, not_read = CHOICES[name]
    with Labels(FILES / name) as labels:
        rows = [
            (label.question_id, label.given["a"], label.given["b"], label.rater, label.label)
            for label in labels.select()
        ]
        assert labels.choices
        assert sorted(rows) == sorted(expected)
        assert labels.notices == [f"{FILES / name}: read as {tool}. Not read: {not_read}."]


def test_a_document_that_is_not_asqa_s_is_none() -> None:
    assert asqa_records({"dev": {"1": {"question": "x"}}}) is None
    assert asqa_records({"dev": [{"ambiguous_question": "x"}]}) is None
    assert asqa_records({}) is None
    assert asqa_records([]) is None


def test_odd_values_of_a_set_are_no_answers() -> None:
    assert completions({"chosen": "a text", "rejected": None}) == []
    assert best_answer({"text": ["a", "b"], "score": [1]}) == "a"
    assert best_answer({"text": ["a", "b"], "score": [None, 0]}) == "b"
    assert best_answer({"text": "a"}) is None


def test_a_completion_that_is_no_text_is_refused_with_its_field() -> None:
    record = json.loads((FILES / "reward-bench-2.jsonl").read_text("utf-8").splitlines()[0])
    record["rejected"] = [5]
    with pytest.raises(BadInput, match=r"answer: expected text, found 5"):
        list(Reading([record]))


def test_a_line_that_is_no_judgment_is_named_with_what_it_should_be(tmp_path: Path) -> None:
    path = tmp_path / "some.qrels"
    path.write_text("q1 0 d1 3\nq1 0 d2\n\nq1 0 d3 1.5\n")
    with pytest.raises(BadInput) as error:
        Labels(path)
    lines = [line for line in str(error.value).splitlines() if "no judgment of TREC" in line]
    assert [line.split(":")[1] for line in lines] == ["2", "4"]
    assert "expected four columns: TOPIC ITERATION DOCUMENT RELEVANCE" in lines[0]


def test_a_text_that_is_no_table_of_judgments_is_no_file_of_records(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("q1 0 d1 3\nThe second line is prose.\n")
    with pytest.raises(UserError, match="the suffix must be one of"):
        Labels(path)
    (tmp_path / "none.qrels").write_text("")
    with pytest.raises(UserError, match="the suffix must be one of"):
        Labels(tmp_path / "none.qrels")


def test_a_line_that_is_no_topic_is_named_with_what_it_should_be(tmp_path: Path) -> None:
    path = tmp_path / "topics.tsv"
    topics = "".join(f"{number}\tWhy {number}?\n" for number in range(1, 31))
    path.write_bytes((topics + "31 without a tab\n").encode() + b"32\tW\xe4rum?\n\n33\tWhy?\r\n")
    reading = Reading(path, skip_bad=True)
    examples = list(reading.singles())
    assert [example.id for example in examples] == [*map(str, range(1, 31)), "33"]
    assert examples[-1].question == "Why?"
    assert [line.split(":")[1] for line in reading.bad_lines] == ["31", "32"]
    assert "expected two columns with a tab between: ID, TEXT" in reading.bad_lines[0]


def test_a_table_of_two_columns_with_names_is_read_by_its_names(tmp_path: Path) -> None:
    path = tmp_path / "answers.tsv"
    path.write_text("question\tanswer\nWhy is 1 odd?\tIt is.\n")
    (example,) = Reading(path).singles()
    assert (example.question, example.answer) == ("Why is 1 odd?", "It is.")


@pytest.mark.parametrize("suffix", [".txt", ".run", ".trec", ".tsv"])
def test_a_run_of_retrieval_is_refused_since_it_has_no_answers(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bm25{suffix}"
    path.write_text("2024-1 Q0 msmarco_v2.1_doc_1#0 1 12.5 bm25\n2024-1 Q0 d2 2 -1e-3 bm25\n")
    with pytest.raises(UserError, match="is a run of retrieval: it has the ranks of passages"):
        Reading(path)


def test_passages_of_topics_have_the_ids_of_their_judgments() -> None:
    record = {"qid": "2024-1", "docid": "msmarco_v2.1_doc_1#0", "question": "Why?", "answer": "So."}
    (example,) = Reading([record], mapping={"id": "qid,docid"}).singles()
    with Labels(FILES / "umbrela.txt") as labels:
        assert example.id in {label.example_id for label in labels.select()}

"""Questions in a file of their own, joined to answers by id."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.program import in_process

import longmark
from longmark.errors import UserError
from longmark.records import Pair
from longmark.records.read import Reading

SETS = Path(__file__).parent / "published_sets"
QUESTIONS: list[dict[str, Any]] = [
    {"id": "q1", "question": "Why is ice light?", "references": ["It is less dense."]},
    {
        "question_id": "q2",
        "question": "Why is the sea salt?",
        "nuggets": [{"text": "Rivers carry salt."}],
        "contexts": ["The sea is salt."],
    },
]


def written(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return written(tmp_path / "questions.jsonl", QUESTIONS)


def test_an_answer_gets_what_its_question_has_but_no_passages(questions: Path) -> None:
    answers = [
        {"id": "a", "question_id": "q1", "answer": "It floats.", "references": ["Its own."]},
        {"id": "q2", "answer": "Rivers."},
    ]
    first, second = Reading(answers, questions=questions).singles()
    assert (first.question_id, first.question) == ("q1", "Why is ice light?")
    assert first.references == ("Its own.",)
    assert (second.question_id, second.question) == ("q2", "Why is the sea salt?")
    assert [nugget.text for nugget in second.nuggets or ()] == ["Rivers carry salt."]
    assert second.contexts == ()


def test_answers_without_a_question_in_the_file_are_counted_and_named(questions: Path) -> None:
    answers = [
        {"id": "a", "question_id": "q1", "answer": "It floats."},
        {"id": "b", "question_id": "q3", "answer": "It sinks."},
        {"id": "c", "question_id": "q1", "question": "Why does ice float?", "answer": "It does."},
    ]
    reading = Reading(answers, questions=questions)
    for _ in range(2):  # a file is read several times: nothing is counted twice
        assert [example.question for example in reading.singles()] == [
            "Why is ice light?",
            None,
            "Why does ice float?",
        ]
        assert reading.notices == (
            f"Answers with a question in {questions}: 2. Answers without one (of q3, for example): 1. "
            "Answers with a question of their own, which they keep: 1.",
        )


def test_a_file_whose_ids_no_answer_has_is_refused_with_ids_of_both(questions: Path) -> None:
    with pytest.raises(UserError, match=r"Ids of questions: q1, q2; of answers: 17\."):
        list(Reading([{"id": "17", "answer": "So."}], questions=questions))


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"question": "Why?"}], "the questions have no ids that answers could name"),
        (
            [
                {"id": "a", "question_id": "q", "question": "Why?"},
                {"id": "b", "question_id": "q", "question": "How?"},
            ],
            "two questions have the id q",
        ),
    ],
)
def test_questions_that_no_id_tells_apart_are_refused(
    tmp_path: Path, records: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        Reading(
            [{"id": "q", "answer": "So."}], questions=written(tmp_path / "other.jsonl", records)
        )


def test_pairs_get_their_question(questions: Path) -> None:
    record = {"id": "p", "question_id": "q1", "a": "It floats.", "b": "It sinks."}
    (pair,) = Reading([record], questions=questions)
    assert isinstance(pair, Pair)
    assert (pair.question, pair.references) == ("Why is ice light?", ("It is less dense.",))


def test_a_run_of_trec_gets_the_narratives_of_its_topics(tmp_path: Path) -> None:
    record = {
        "metadata": {"run_id": "baseline", "narrative_id": 14, "team_id": "a"},
        "references": ["msmarco_v2.1_doc_0#4"],
        "answer": [{"text": "Water freezes.", "citations": [0]}],
    }
    runs = written(tmp_path / "run.jsonl", [record])
    (example,) = Reading(runs, questions=SETS / "trec-narratives.jsonl").singles()
    assert example.question == "I am a student. How does ice form?"
    assert example.system == "baseline"


def test_predictions_of_helm_get_the_questions_of_its_instances() -> None:
    tools = SETS.parent / "tools"
    examples = Reading(
        tools / "helm-predictions.json", questions=tools / "helm-instances.json"
    ).singles()
    assert [
        (example.id, example.question, example.answer, example.references) for example in examples
    ] == [
        ("id1-0", "Where is the Nile?", "In Africa.", ("In Africa.",)),
        ("id1-1", "Where is the Nile?", "", ("In Africa.",)),
    ]


def test_both_turns_of_mt_bench_are_read_from_its_two_files() -> None:
    reading = Reading(
        SETS / "mt-bench-answers.jsonl",
        questions=SETS / "mt-bench-questions.jsonl",
        turns="each",
    )
    examples = [
        (example.id, example.question, example.answer, example.references)
        for example in reading.singles()
    ]
    assert examples == [
        ("81-vicuna#2", "Write.", "P1", ()),
        ("81-vicuna#4", "Again.", "P2", ()),
        ("101-vicuna#2", "Who is first?", "", ("You are second.",)),
        ("101-vicuna#4", "Why?", "P4", ("So.",)),
    ]
    assert reading.notice == "Read as MT-Bench answers. Not read: nothing."


def test_without_turns_the_first_turn_of_mt_bench_is_scored_and_the_second_one_counted() -> None:
    reading = Reading(SETS / "mt-bench-answers.jsonl", questions=SETS / "mt-bench-questions.jsonl")
    assert [example.answer for example in reading.singles()] == ["P1", ""]
    assert reading.notice == "Read as MT-Bench answers. Not read: 2 second turns."


def test_the_command_of_look_scores_the_file_with_the_questions_that_it_was_shown_with(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    questions: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "answers.jsonl", [{"id": "q1", "answer": "It is less dense."}])
    assert in_process(["look", "answers.jsonl", "--questions", "questions.jsonl"]) == 0
    shown = capsys.readouterr().out
    command = next(line for line in shown.splitlines() if "longmark run" in line)
    assert "--questions questions.jsonl" in command
    result = longmark.run("answers.jsonl", "classic.bleu", out="scored", questions=questions)
    assert [row.score for row in result.rows()] == [1.0]


def test_a_response_of_ragtruth_gets_what_it_was_made_from() -> None:
    reading = Reading(SETS / "ragtruth-responses.jsonl", questions=SETS / "ragtruth-sources.jsonl")
    first, _, third, fourth = reading.singles()
    assert first.question == "Why is ice light?"
    assert [passage.text for passage in first.contexts] == ["passage 1:Ice is less dense.\n\n"]
    assert [passage.text for passage in third.contexts] == ["Ice floats on water."]
    assert [passage.text for passage in fourth.contexts] == ['{"name":"Ice","categories":"Bars"}']


def test_passages_that_an_answer_has_are_kept_beside_those_of_its_question() -> None:
    answers = [{"id": "a", "question_id": "15596", "answer": "x", "contexts": ["its own"]}]
    (example,) = Reading(answers, questions=SETS / "ragtruth-sources.jsonl").singles()
    assert [passage.text for passage in example.contexts] == ["its own"]

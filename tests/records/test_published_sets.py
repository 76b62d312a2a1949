"""Published sets in the layout of their repositories. The files in tests/records/published_sets follow the sources that
the declarations cite; what they hold is written out here by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import BadInput, UserError
from longmark.records import Pair
from longmark.records.read import Reading
from longmark.records.set_answers import asqa_records, best_answer, completions
from longmark.scores.labels import Labels

FILES = Path(__file__).parent / "published_sets"

ICE = "Why is ice light?"
WINS = ("A won in 2020.", "In 2020, A.")
# file -> the set, its answers as (id, question, answer, system, passages, references), and what is not read
ANSWERS: dict[str, tuple[str, list[tuple[Any, ...]], str]] = {
    "reward-bench-2.jsonl": (
        "RewardBench 2",
        [
            ("7-1", "Why is ice light?", "It is less dense.", None, 0, ()),
            ("7-2", "Why is ice light?", "It is warm.", None, 0, ()),
            ("7-3", "Why is ice light?", "It is wet.", None, 0, ()),
            ("7-4", "Why is ice light?", "It is old.", None, 0, ()),
            ("ties:1:0-1", "Name a color of the rainbow", "red", None, 0, ()),
            ("ties:1:0-2", "Name a color of the rainbow", "blue", None, 0, ()),
            ("ties:1:0-3", "Name a color of the rainbow", "pink", None, 0, ()),
            ("ties:1:0-4", "Name a color of the rainbow", "brown", None, 0, ()),
        ],
        "nothing",
    ),
    "mt-bench-questions.jsonl": (
        "MT-Bench questions",
        [
            ("81", "Write.", None, None, 0, ()),
            ("101", "Who is first?", None, None, 0, ("You are second.",)),
        ],
        "2 second turns",
    ),
    "mt-bench-answers.jsonl": (
        "MT-Bench answers",
        [
            ("81-vicuna", None, "P1", "vicuna", 0, ()),
            ("101-vicuna", None, "", "vicuna", 0, ()),
        ],
        "2 second turns",
    ),
    "aggrefact.jsonl": (
        "LLM-AggreFact",
        [
            ("c40428df31feca9e", None, "The Nile is African.", None, 1, ()),
            ("ad5a7589287c45c0", None, "The Nile is Asian.", None, 1, ()),
        ],
        "nothing",
    ),
    "asqa.json": (
        "ASQA",
        [
            ("5", "Who lost?", None, None, 0, WINS),
            ("-6", "Who won?", None, None, 0, WINS),
        ],
        "4 short answers",
    ),
    "asqa.jsonl": (
        "ASQA",
        [
            ("-6", "Who won?", None, None, 0, WINS),
            ("5", "Who lost?", "B did.", None, 0, WINS),
        ],
        "4 short answers",
    ),
    "beir-queries.jsonl": (
        "BEIR queries",
        [
            ("q1", "Why is ice light?", None, None, 0, ()),
            ("7", "Why is the sea salt?", None, None, 0, ()),
        ],
        "nothing",
    ),
    "eli5.jsonl": (
        "ELI5",
        [
            (
                *("1", "Why is the sky blue?\n\nI ask at noon.", None, None, 0),
                ("Light scatters.",),
            ),
            ("2", "Why is ice light?", None, None, 0, ()),
        ],
        "2 answers with fewer points",
    ),
    "trec-topics.txt": (
        "topics of TREC",
        [
            ("2024-1", "what is vicarious trauma?", None, None, 0, ()),
            ("2024-7", 'how was the "Colosseum" built', None, None, 0, ()),
        ],
        "nothing",
    ),
    "trec-narratives.jsonl": (
        "topics of TREC",
        [
            ("14", "I am a student. How does ice form?", None, None, 0, ()),
            ("15", "Why is the sea salt?", None, None, 0, ()),
        ],
        "nothing",
    ),
    "trec-requests.jsonl": (
        "report requests of TREC",
        [
            ("1", "Ice\n\nI am a student.\n\nHow does ice form?", None, None, 0, ()),
            ("2", "Sea\n\nWhy is it salt?", None, None, 0, ()),
        ],
        "nothing",
    ),
    "trec-nuggets.jsonl": (
        "lists of nuggets",
        [("2024-1", "what is vicarious trauma?", None, None, 0, ())],
        "nothing",
    ),
    "ragtruth-responses.jsonl": (
        "responses of RAGTruth",
        [
            ("0", None, "Ice is warm.", "gpt-4-0613", 0, ()),
            ("1", None, "It is less", "llama-2-7b-chat", 0, ()),
            ("2", None, "Ice floats.", "gpt-4-0613", 0, ()),
            ("3", None, "A bar.", "gpt-4-0613", 0, ()),
        ],
        "nothing",
    ),
    "ragtruth-sources.jsonl": (
        "sources of RAGTruth",
        [
            ("15596", "Why is ice light?", None, None, 0, ()),
            ("15597", "Summarize the news: Ice floats on water.", None, None, 0, ()),
            ("15598", "Write an overview: {'name': 'Ice'}", None, None, 0, ()),
        ],
        "nothing",
    ),
    "prometheus-feedback.jsonl": (
        "feedback of Prometheus",
        [
            ("29eb8025d3467b86", ICE, "It is less dense.", None, 0, ("It is less dense.",)),
            ("363006e59c5b2a67", ICE, "It is warm.", None, 0, ("It is less dense.",)),
        ],
        "2 what the judge said",
    ),
    "biggen-bench.json": (
        "responses of BiGGen-Bench",
        [
            ("planning_0-gpt2", ICE, "It is warm.", "gpt2", 0, ("It is less dense.",)),
            (
                "planning_1-gpt2",
                "Why is the sea salt?",
                "Rivers bring salt.",
                "gpt2",
                0,
                ("Rivers.",),
            ),
        ],
        "2 scores of judges",
    ),
    "flask-reviews.jsonl": (
        "reviews of FLASK",
        [
            ("1", ICE, "It is warm.", None, 0, ("It is less dense.",)),
            ("2", "Why?", "", None, 0, ("So.",)),
        ],
        "2 scores of skills",
    ),
    "flask-questions.jsonl": (
        "questions of FLASK",
        [("1", ICE, None, None, 0, ("It is less dense.",))],
        "nothing",
    ),
    "ares.tsv": (
        "examples of ARES",
        [
            ("1e20e93445bdfcb9", "why is ice light", "less dense", None, 1, ()),
            ("22e7fa7a339ac763", "why is the sea salt", "rivers", None, 1, ()),
        ],
        "nothing",
    ),
    "alpaca-outputs.json": (
        "outputs of AlpacaEval",
        [
            ("1246b19c8e23ac14", "Why is ice light?", "It is less dense.", "mine", 0, ()),
            ("490a35ca96b2a76e", "Summarize.\n\nIce is light.", "Light.", "mine", 0, ()),
        ],
        "nothing",
    ),
}
SEVERAL_TURNS = "1 conversations of several turns, which a pair cannot hold"
PAIRS = {
    "reward-bench.jsonl": ("RewardBench", "nothing"),
    "arena-battles.jsonl": (
        "battles of the arena",
        f"1 battles without both texts, {SEVERAL_TURNS}",
    ),
    "arena-battles-140k.jsonl": ("battles of the arena", "nothing"),
    "arena-table.csv": (
        "battles of the arena, a table",
        f"1 battles without both texts, {SEVERAL_TURNS}",
    ),
    "alpaca-annotations.json": ("annotations of AlpacaEval", "nothing"),
    "prometheus-pairs.jsonl": ("preferences of Prometheus", "1 what the judge said"),
    "ultrafeedback.jsonl": (
        "preferences of conversations",
        "1 conversations that differ before the last answer",
    ),
    "hh-rlhf.jsonl": (
        "preferences of conversations",
        "1 conversations that differ before the last answer",
    ),
    "mt-bench-judgments.jsonl": (
        "MT-Bench judgments",
        "1 second turns, whose first answers differ",
    ),
}
BEIR_CORPUS = "BEIR's corpus, which has passages and no questions: index it with `longmark rag index FILE --map id=_id`"
SETS = {BEIR_CORPUS, *(name for name, *_ in (*ANSWERS.values(), *PAIRS.values()))}

# file -> the set, what it holds as (answer, rater, value), and what of it is no label
LABELS: dict[str, tuple[str, list[tuple[Any, ...]], str]] = {
    "reward-bench-2.jsonl": (
        "RewardBench 2",
        [
            *((f"7-{number}", "people", float(number == 1)) for number in range(1, 5)),
            *((f"ties:1:0-{number}", "people", float(number < 3)) for number in range(1, 5)),
        ],
        "nothing",
    ),
    "aggrefact.jsonl": (
        "LLM-AggreFact",
        [
            (ANSWERS["aggrefact.jsonl"][1][0][0], "people", 1.0),
            (ANSWERS["aggrefact.jsonl"][1][1][0], "people", 0.0),
        ],
        "nothing",
    ),
    "ragtruth-responses.jsonl": (
        "responses of RAGTruth",
        [
            ("0", "people", 0.0),
            ("1", "people", 1.0),
            ("2", "people", 1.0),
            ("3", "people", 1.0),
        ],
        "1 hallucinated spans",
    ),
    "prometheus-feedback.jsonl": (
        "feedback of Prometheus",
        [("29eb8025d3467b86", "people", 5.0), ("363006e59c5b2a67", "people", 1.0)],
        "nothing",
    ),
    "biggen-bench.json": (
        "responses of BiGGen-Bench",
        [
            ("planning_0-gpt2", "prometheus-7b-v2.0", 1.0),
            ("planning_1-gpt2", "prometheus-7b-v2.0", 5.0),
        ],
        "nothing",
    ),
    "flask-reviews.jsonl": (
        "reviews of FLASK",
        [("1", "people", 1.0)],
        "1 records without a label",
    ),
    "ares.tsv": (
        "examples of ARES",
        [
            *[("1e20e93445bdfcb9", "people", 1.0)] * 3,
            *[("22e7fa7a339ac763", "people", 0.0)] * 2,
        ],
        "nothing",
    ),
    "umbrela.txt": (
        "relevance judgments of TREC",
        [
            ("2024-1/msmarco_v2.1_doc_1#0", "people", 3.0),
            ("2024-1/msmarco_v2.1_doc_2#0", "people", 0.0),
            ("2024-7/msmarco_v2.1_doc_1#0", "people", 1.0),
        ],
        "nothing",
    ),
    "beir-qrels.tsv": (
        "relevance judgments of BEIR",
        [("7/d1", "people", 2.0), ("q1/d1", "people", 1.0), ("q1/d2", "people", 0.0)],
        "nothing",
    ),
    "mt-bench-ratings.jsonl": (
        "MT-Bench ratings",
        [
            ("81-vicuna", "gpt-4/single-v1", 8.0),
            ("81-vicuna#2", "gpt-4/single-v1", 8.0),
            ("81-vicuna#4", "gpt-4/single-v1", 3.0),
            ("102-vicuna", "gpt-4/single-v1", 0.5),
            ("102-vicuna#2", "gpt-4/single-v1", 0.5),
        ],
        "1 judgments without a rating, 1 records without a label",
    ),
}
# file -> the set, what it holds as (question, a, b, rater, choice), and what of it is no label
CHOICES: dict[str, tuple[str, list[tuple[Any, ...]], str]] = {
    "arena-battles.jsonl": (
        "battles of the arena",
        [
            ("58210e39", "alpaca", "gpt", "arena_user_1", "b"),
            ("7a1c0d22", "gpt", "vicuna", "arena_user_2", "tie"),
            ("9b3e4f56", "gpt", "vicuna", "arena_user_2", "a"),
        ],
        f"{SEVERAL_TURNS}, 1 records without a label",
    ),
    "arena-battles-140k.jsonl": (
        "battles of the arena",
        [("c4b9", "alpaca", "gpt", "s1", "tie")],
        "nothing",
    ),
    "arena-table.csv": (
        "battles of the arena, a table",
        [
            ("30192", "gpt", "koala", "people", "a"),
            ("65089", "koala", "gpt", "people", "tie"),
            ("65090", "koala", "gpt", "people", "b"),
        ],
        f"{SEVERAL_TURNS}, 1 records without a label",
    ),
    "mt-bench-games.jsonl": (
        "MT-Bench choices",
        [
            ("81", "alpaca", "gpt", "gpt-4/pair-v2", "b"),
            ("81", "gpt", "alpaca", "gpt-4/pair-v2", "tie"),
            ("82", "gpt", "alpaca", "gpt-4/pair-v2", "a"),
        ],
        "1 games without a choice, 1 judgments of second turns, 1 records without a label",
    ),
    "mt-bench-judgments.jsonl": (
        "MT-Bench judgments",
        [
            ("81", "alpaca", "gpt", "author_2", "b"),
            ("81", "alpaca", "gpt", "author_3", "tie"),
            ("81", "alpaca", "gpt", "expert_1", "b"),
        ],
        "1 judgments of second turns, 1 records without a label",
    ),
}


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
        ("A1", "B1", "tie", "author_3"),
    ]
    assert {pair.question for pair in pairs} == {"Write."}
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

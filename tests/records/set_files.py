"""What the files in tests/records/published_sets hold, written out by hand."""

from __future__ import annotations

from typing import Any

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
    "summeval.jsonl": (
        "summaries of SummEval",
        [("dm-1-M11", None, "Ice is light .", "M11", 1, ("Ice floats.", "Ice is light."))],
        "3 ratings",
    ),
    "summeval-rows.jsonl": (
        "summaries of SummEval, a text a row",
        [
            ("cnn-1-1", None, "Ice is light.", None, 1, ("Ice floats.",)),
            ("cnn-1-2", None, "Ice is old.", None, 1, ("Ice floats.",)),
        ],
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
NO_BATTLE = "1 battles without two answers to one question"
PAIRS = {
    "reward-bench.jsonl": ("RewardBench", "nothing"),
    "arena-battles.jsonl": (
        "battles of the arena",
        NO_BATTLE,
    ),
    "arena-battles-140k.jsonl": ("battles of the arena", "nothing"),
    "arena-table.csv": (
        "battles of the arena, a table",
        NO_BATTLE,
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
        "nothing",
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
    "summeval.jsonl": (
        "summaries of SummEval",
        [
            *(("dm-1-M11", "expert 1", value) for value in (2.0, 5.0, 4.0, 3.0)),
            *(("dm-1-M11", "expert 2", value) for value in (1.0, 5.0, 4.0, 3.0)),
        ],
        "1 ratings of the crowd",
    ),
    "summeval-rows.jsonl": (
        "summaries of SummEval, a text a row",
        [
            *(("cnn-1-1", "experts", value) for value in (4.0, 5.0, 5.0, 3.5)),
            *(("cnn-1-2", "experts", value) for value in (2.0, 1.0, 5.0, 1.0)),
        ],
        "nothing",
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


def _of_first_turn(
    a: str, b: str, rater: str, choice: str, question: str = "81"
) -> list[tuple[str, str, str, str, str]]:
    """A choice between the answers to a question, and between the turns that they are with `--turns each`."""
    turns = (f"{question}-{a}#2", f"{question}-{b}#2")
    return [(question, a, b, rater, choice), (question, *turns, rater, choice)]


# file -> the set, what it holds as (question, a, b, rater, choice), and what of it is no label
CHOICES: dict[str, tuple[str, list[tuple[Any, ...]], str]] = {
    "arena-battles.jsonl": (
        "battles of the arena",
        [
            ("58210e39", "alpaca", "gpt", "arena_user_1", "b"),
            ("7a1c0d22", "gpt", "vicuna", "arena_user_2", "tie"),
            ("9b3e4f55", "gpt", "vicuna", "arena_user_2", "a"),
            ("9b3e4f56", "gpt", "vicuna", "arena_user_2", "a"),
        ],
        "nothing",
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
            ("53567", "koala", "gpt", "people", "b"),
            ("65089", "koala", "gpt", "people", "tie"),
            ("65090", "koala", "gpt", "people", "b"),
        ],
        "nothing",
    ),
    "mt-bench-games.jsonl": (
        "MT-Bench choices",
        [
            *_of_first_turn("alpaca", "gpt", "gpt-4/pair-v2", "b"),
            *_of_first_turn("gpt", "alpaca", "gpt-4/pair-v2", "tie"),
            ("81", "81-alpaca#4", "81-gpt#4", "gpt-4/pair-v2", "a"),
            ("81", "81-gpt#4", "81-alpaca#4", "gpt-4/pair-v2", "b"),
            *_of_first_turn("gpt", "alpaca", "gpt-4/pair-v2", "a", "82"),
        ],
        "1 games without a choice",
    ),
    "mt-bench-judgments.jsonl": (
        "MT-Bench judgments",
        [
            *_of_first_turn("alpaca", "gpt", "author_2", "b"),
            *_of_first_turn("alpaca", "gpt", "author_3", "tie"),
            *_of_first_turn("alpaca", "gpt", "expert_1", "b"),
            ("81", "81-alpaca#4", "81-gpt#4", "author_2", "a"),
        ],
        "nothing",
    ),
}

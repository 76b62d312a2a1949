"""Evaluates three questions without a model: a test set, an agent's answers and results by hand. Writes the test set, the
report's table and its folder's answers."""

import os

os.environ["GSK_DISABLE_ANALYTICS"] = "true"

from giskard.rag import QATestset
from giskard.rag.base import AgentAnswer
from giskard.rag.report import RAGReport
from giskard.rag.testset import QuestionSample

CAPITAL = "Rome is the capital of Italy."
RIVER = "The Tiber flows through Rome."
SAMPLES = [
    QuestionSample(
        "q1",
        "What is the capital of Italy?",
        "Rome",
        CAPITAL,
        [],
        {"question_type": "simple", "seed_document_id": 0, "topic": "cities"},
    ),
    QuestionSample(
        "q2",
        "Which river flows through Rome?",
        "Tiber",
        RIVER,
        [],
        {"question_type": "simple", "seed_document_id": 1, "topic": "rivers"},
    ),
    QuestionSample(
        "q3",
        "And which sea is it near?",
        "The Tyrrhenian Sea",
        RIVER,
        [
            {"role": "user", "content": "Where is Rome?"},
            {"role": "assistant", "content": "In Italy."},
        ],
        {"question_type": "conversational", "seed_document_id": 1, "topic": "seas"},
    ),
]
ANSWERS = [
    AgentAnswer("Rome", documents=[CAPITAL]),
    AgentAnswer("", documents=[]),
    AgentAnswer("The Adriatic"),
]
RESULTS = {
    "q1": {"correctness": True, "correctness_reason": None},
    "q2": {"correctness": False, "correctness_reason": "It is empty."},
    "q3": {"correctness": False, "correctness_reason": "It is the Tyrrhenian Sea."},
}

testset = QATestset(SAMPLES)
testset.save("testset.jsonl")
report = RAGReport(testset, ANSWERS, RESULTS)
report.to_pandas().reset_index().to_json("report.jsonl", orient="records", lines=True)
report.to_pandas().to_csv("report.csv")

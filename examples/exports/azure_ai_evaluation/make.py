"""Evaluates a file of answers, and the answers of a target, with Azure's SDK and an evaluator that asks no model."""

import json
import shutil
from pathlib import Path

from azure.ai.evaluation import F1ScoreEvaluator, evaluate

CAPITAL = "What is the capital of Italy?"
PASSAGE = "Rome is the capital of Italy."
QUESTIONS = (
    (CAPITAL, "Rome", PASSAGE, "Rome"),
    ("Which river flows through Rome?", "", "", "The Tiber"),
    ("Which sea is it near?", None, "", "The Tyrrhenian Sea"),
)


def target(query):
    return {"response": "Rome" if query == CAPITAL else "", "context": PASSAGE}


def write(records):
    path = Path("data.jsonl")
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


if __name__ == "__main__":  # it evaluates in processes of its own
    answers = write(
        {"query": query, "response": response, "context": context, "ground_truth": right}
        for query, response, context, right in QUESTIONS
    )
    f1 = F1ScoreEvaluator()
    evaluate(data=answers, evaluators={"f1": f1}, output_path="answers.json")
    questions = write({"query": query, "ground_truth": right} for query, _, _, right in QUESTIONS)
    columns = {"response": "${target.response}", "ground_truth": "${data.ground_truth}"}
    evaluate(
        data=questions,
        target=target,
        evaluators={"f1": f1},
        evaluator_config={"f1": {"column_mapping": columns}},
        output_path="target.json",
    )
    Path("data.jsonl").unlink()
    shutil.rmtree("__pycache__", ignore_errors=True)

"""Evaluates an application that asks no model with MLflow: an answer, an empty answer, a question on which it fails."""

import os
from pathlib import Path

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"

import mlflow
from mlflow.genai.scorers import scorer

QUESTIONS = (
    ("What is the capital of Italy?", "Rome"),
    ("Which river flows through Rome?", "The Tiber"),
    ("Which sea is it near?", "The Tyrrhenian Sea"),
)


@scorer
def exact(outputs, expectations):
    return outputs == expectations["expected_response"]


@mlflow.trace
def answer(question):
    if "sea" in question:
        raise ValueError("the tool was not there")
    return "Rome" if "capital" in question else ""


mlflow.set_tracking_uri("sqlite:///made.db")
mlflow.set_experiment("cities")
rows = [
    {"inputs": {"question": question}, "expectations": {"expected_response": right}}
    for question, right in QUESTIONS
]
table = mlflow.genai.evaluate(data=rows, predict_fn=answer, scorers=[exact]).result_df
table.to_json("evaluated.jsonl", orient="records", lines=True, default_handler=str)
table.to_csv("evaluated.csv", index=False)
Path("made.db").unlink()

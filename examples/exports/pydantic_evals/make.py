"""Evaluates a function on three cases, each twice, one of which fails, and writes the reports."""

from pathlib import Path

from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected
from pydantic_evals.reporting import EvaluationReportAdapter

CASES = [
    Case(
        name="capital",
        inputs="What is the capital of Italy?",
        expected_output="Rome",
        metadata={"contexts": ["Rome is the capital of Italy.", "Milan is in Italy."]},
    ),
    Case(
        name="river",
        inputs={"question": "Which river flows through Rome?"},
        expected_output={"answer": "Tiber"},
    ),
    Case(name="sea", inputs="Which sea is it near?", expected_output="The Tyrrhenian Sea"),
]
DATASET = Dataset(name="cities", cases=CASES, evaluators=[EqualsExpected()])


def task(inputs):
    if isinstance(inputs, dict):
        return {"answer": "Tevere", "sources": ["map"]}
    if "sea" in inputs:
        raise ValueError("the tool was not there")
    return "Rome"


for name, repeat in (("report", 1), ("repeated", 2)):
    report = DATASET.evaluate_sync(task, name="baseline", repeat=repeat, progress=False)
    Path(f"{name}.json").write_bytes(EvaluationReportAdapter.dump_json(report, indent=1))

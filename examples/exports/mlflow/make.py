"""Traces four calls without a server, with retrieved passages, an expectation and a score; writes the traces."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"
os.environ["MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"] = "false"
os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # the skinny package has no database

import mlflow
from mlflow.entities import SpanType

mlflow.set_tracking_uri("file:made")
mlflow.set_experiment("cities")
PASSAGES = ["Rome is the capital of Italy.", "Milan is in Italy."]


@mlflow.trace(span_type=SpanType.RETRIEVER)
def retrieve(question):
    return [{"page_content": text, "metadata": {}} for text in PASSAGES if "capital" in question]


@mlflow.trace
def answer(question):
    retrieve(question)
    if "sea" in question:
        raise ValueError("the tool was not there")
    if "lake" in question:
        return ""
    return "Rome" if "capital" in question else "Tevere"


for question in (
    "What is the capital of Italy?",
    "Which river flows through Rome?",
    "Which sea is it near?",
    "Which lake is it near?",
):
    with suppress(ValueError):
        answer(question)
    trace = mlflow.get_last_active_trace_id()
    if "capital" in question:
        mlflow.log_expectation(trace_id=trace, name="expected_response", value="Rome")
        mlflow.log_feedback(trace_id=trace, name="correct", value=True)
traces = mlflow.search_traces(return_type="list")
Path("traces.jsonl").write_text("".join(trace.to_json() + "\n" for trace in traces))
shutil.rmtree("made")

"""Sends two traces to a Phoenix server of this machine, the second with an error, and writes what its client gets."""

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from phoenix.client import Client

PORT = 6117
ADDRESS = f"http://127.0.0.1:{PORT}"
CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"
PASSAGES = ("Rome is the capital of Italy.", "Milan is in Italy.")


def send():
    provider = TracerProvider(resource=Resource({"openinference.project.name": "cities"}))
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(f"{ADDRESS}/v1/traces")))
    tracer = provider.get_tracer("cities")

    def span(kind, question):
        attributes = {"openinference.span.kind": kind, "input.value": question}
        return tracer.start_as_current_span(kind.lower(), attributes=attributes)

    with span("CHAIN", CAPITAL) as chain:
        with span("RETRIEVER", CAPITAL) as retriever:
            for number, passage in enumerate(PASSAGES):
                retriever.set_attribute(f"retrieval.documents.{number}.document.content", passage)
                retriever.set_attribute(f"retrieval.documents.{number}.document.id", f"d{number}")
        with span("RERANKER", CAPITAL) as reranker:
            reranker.set_attribute("reranker.output_documents.0.document.content", PASSAGES[0])
        with span("LLM", CAPITAL) as model:
            model.set_attribute("llm.model_name", "mock-1")
            model.set_attribute("llm.input_messages.0.message.role", "user")
            model.set_attribute("llm.input_messages.0.message.content", CAPITAL)
            model.set_attribute("llm.output_messages.0.message.role", "assistant")
            model.set_attribute("llm.output_messages.0.message.content", "Rome")
            model.set_attribute("output.value", "Rome")
        chain.set_attribute("output.value", "Rome")
    with suppress(ValueError), span("CHAIN", RIVER):
        raise ValueError("the tool was not there")
    provider.shutdown()


def write(client):
    table = client.spans.get_spans_dataframe(project_identifier="cities")
    table = table.drop(
        columns=["events"]
    )  # they hold the trace of the error, with folders of this machine
    table.to_parquet("spans.parquet")
    table.to_csv("spans.csv")
    spans = client.spans.get_spans(project_identifier="cities")
    for span in spans:
        span.pop("events", None)
    Path("spans.json").write_text(json.dumps(spans, indent=1, default=str) + "\n")


def experiment(client):
    """Three questions two times, of which the last one fails, as Phoenix's API gives them."""
    right_answers = {
        CAPITAL: "Rome",
        RIVER: "Tiber",
        "Which sea is it near?": "The Tyrrhenian Sea",
    }
    dataset = client.datasets.create_dataset(
        name="cities",
        inputs=[{"question": question} for question in right_answers],
        outputs=[{"answer": answer} for answer in right_answers.values()],
    )

    def task(input):
        if "sea" in input["question"]:
            raise ValueError("the tool was not there")
        capital = input["question"] == CAPITAL
        return {"answer": "Rome" if capital else "", "contexts": list(PASSAGES) if capital else []}

    def exact(output, expected):
        return float(output.get("answer") == expected["answer"])

    ran = client.experiments.run_experiment(
        dataset=dataset,
        task=task,
        evaluators={"exact": exact},
        experiment_name="first",
        repetitions=2,
        retries=0,
    )
    for form in ("json", "csv"):
        answer = urlopen(f"{ADDRESS}/v1/experiments/{ran['experiment_id']}/{form}")
        Path(f"experiment.{form}").write_bytes(answer.read())


with tempfile.TemporaryDirectory() as folder:
    settings = {
        "PHOENIX_WORKING_DIR": folder,
        "PHOENIX_PORT": str(PORT),
        "PHOENIX_GRPC_PORT": str(PORT + 1),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    program = Path(sys.executable).with_name("phoenix")
    server = subprocess.Popen([program, "serve"], env=os.environ | settings)
    try:
        for _ in range(240):
            with suppress(OSError):
                urlopen(f"{ADDRESS}/healthz").close()
                break
            time.sleep(0.5)
        send()
        time.sleep(5)  # Phoenix stores spans in batches
        write(Client(base_url=ADDRESS))
        experiment(Client(base_url=ADDRESS))
    finally:
        server.terminate()
        server.wait()

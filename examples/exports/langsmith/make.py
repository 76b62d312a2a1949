"""Evaluates three questions without a server, of which the last one fails. Writes the table of results."""

import os
from datetime import UTC, datetime
from uuid import UUID

os.environ["LANGSMITH_TRACING"] = "false"

from langsmith import Client, evaluate
from langsmith.schemas import Example

PASSAGES = ["Rome is the capital of Italy.", "Milan is in Italy."]
CASES = {
    "What is the capital of Italy?": "Rome",
    "Which river flows through Rome?": "Tiber",
    "Which sea is it near?": "The Tyrrhenian Sea",
}
EXAMPLES = [
    Example(
        id=UUID(int=number),
        dataset_id=UUID(int=9),
        inputs={"question": question},
        outputs={"answer": answer},
        created_at=datetime(2026, 11, 28, tzinfo=UTC),
    )
    for number, (question, answer) in enumerate(CASES.items(), 1)
]


def ask(inputs):
    if "sea" in inputs["question"]:
        raise ValueError("the tool was not there")
    capital = "capital" in inputs["question"]
    return {"answer": "Rome" if capital else "", "contexts": PASSAGES if capital else []}


def exact(outputs, reference_outputs):
    return outputs.get("answer") == reference_outputs["answer"]


client = Client(api_key="none", api_url="http://127.0.0.1:9")
results = evaluate(
    ask, data=EXAMPLES, evaluators=[exact], upload_results=False, client=client, max_concurrency=0
)
table = results.to_pandas()
table["error"] = table["error"].str.split("\n").str[0]  # the rest names folders of this machine
table.to_csv("results.csv", index=False)
table.astype({"id": str, "example_id": str}).to_json("results.jsonl", orient="records", lines=True)

"""Evaluates three questions without a server, of which the last one fails, and keeps the results."""

import json
from pathlib import Path

from braintrust import Eval

PASSAGES = ["Rome is the capital of Italy.", "Milan is in Italy."]
CASES = [
    {
        "input": {"question": "What is the capital of Italy?"},
        "expected": "Rome",
        "metadata": {"contexts": PASSAGES},
    },
    {"input": "Which river flows through Rome?", "expected": "Tiber"},
    {"input": "Which sea is it near?", "expected": "The Tyrrhenian Sea"},
]


def ask(question):
    if question == "Which sea is it near?":
        raise ValueError("the tool was not there")
    return "" if isinstance(question, str) else {"answer": "Rome"}


def exact(input, output, expected):
    return float(output == expected)


result = Eval("cities", data=CASES, task=ask, scores=[exact], no_send_logs=True)
for case in result.results:
    case.exc_info = None  # it names folders of this machine
lines = [json.dumps(case.as_dict(), default=str) + "\n" for case in result.results]
Path("results.jsonl").write_text("".join(lines))

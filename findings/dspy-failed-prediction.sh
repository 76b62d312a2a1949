#!/usr/bin/env bash
# dspy 3.4.1, Evaluate(save_as_json=...): examples and predictions that both have a field `answer`. A row of a prediction
# has `example_answer` (the right one) and `pred_answer`. A row of a prediction that failed has neither: the right answer
# stands under `answer`, as if it had been given, beside the failure score and without a mark of the failure.
# An expert would guess that all rows of a file have the same columns, with an empty `pred_answer` for a failure.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check dspy==3.4.1
cd "$folder"
DSPY_CACHEDIR="$folder/cache" "$folder/venv/bin/python" - <<'PYTHON'
import json
from importlib.metadata import version
from pathlib import Path

import dspy
from dspy.evaluate import Evaluate


class Program(dspy.Module):
    def forward(self, question):
        if "sea" in question:
            raise ValueError("no tool")
        return dspy.Prediction(answer="Milan")


def exact(example, prediction, trace=None):
    return float(example.answer == prediction.answer)


examples = [
    dspy.Example(question=question, answer=answer).with_inputs("question")
    for question, answer in (("Which capital?", "Rome"), ("Which sea?", "Tyrrhenian"))
]
Evaluate(devset=examples, metric=exact, num_threads=1, max_errors=9, save_as_json="r.json")(
    Program()
)
answered, failed = json.loads(Path("r.json").read_text())
print("dspy", version("dspy"), "answered:", answered, "failed:", failed)
assert answered == {
    "question": "Which capital?", "example_answer": "Rome", "pred_answer": "Milan", "exact": 0.0,
}, answered
assert failed == {"question": "Which sea?", "answer": "Tyrrhenian", "exact": 0.0}, failed
PYTHON

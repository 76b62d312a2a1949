#!/usr/bin/env bash
# opencompass 0.5.4, the reading of a judge's reply behind GenericLLMEvaluator (datasets/generic.py): A is correct, B incorrect.
# The first capital A or B anywhere counts: "Answer: B" is A, correct, and "Based on the target, A" is B. "INCORRECT" is neither. A reply
# with neither letter counts in the denominator of the accuracy.
# An expert would guess that the letter is read as a word of its own: B, A.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps opencompass==0.5.4
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import ast
import re
from importlib.metadata import distribution, version

# The functions of the file, unchanged; its registry and log, which they do not use here, would bring torch.
path = distribution("opencompass").locate_file("opencompass/datasets/generic.py")
tree = ast.parse(path.read_text())
functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
for function in functions:
    function.decorator_list = []
names = {"re": re}
exec(compile(ast.Module(functions, []), str(path), "exec"), names)

read = names["_generic_llmjudge_postprocess"]
replies = ["Answer: B", "Based on the target, A", "B", "INCORRECT", "The verdict is unclear."]
letters = [read(reply) for reply in replies]
results = names["get_final_results"](letters, ["x"] * len(replies), replies)
print("opencompass", version("opencompass"), letters, "accuracy", results["accuracy"])
assert letters == ["A", "B", "B", "unknown", "unknown"], letters
assert results["accuracy"] == 20.0, results
PYTHON

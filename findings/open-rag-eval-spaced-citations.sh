#!/usr/bin/env bash
# open-rag-eval 0.3.0, RAGResultsLoader: an answer's citations in a file of results.
# [1][2], [1, 2] and [1], [2] after a text are two citations of it. With a space between them, [1] [2], the second is lost:
# it belongs to no part of the answer.
# An expert would guess two citations for all four.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps open-rag-eval==0.3.0
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pandas==2.3.3 numpy==1.26.4
cd "$folder"
"$folder/venv/bin/python" - <<'PYTHON'
import csv
from importlib.metadata import version

from open_rag_eval.rag_results_loader import RAGResultsLoader

forms = ["[1][2]", "[1, 2]", "[1], [2]", "[1] [2]"]
with open("answers.csv", "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["query_id", "query", "passage_id", "passage", "generated_answer"])
    for number, form in enumerate(forms):
        answer = f"Whales are mammals {form} and breathe air [3]."
        for passage in ("[1]", "[2]", "[3]"):
            writer.writerow([number, "q", passage, "text", answer])
cited = {}
for form, loaded in zip(forms, RAGResultsLoader("answers.csv").load()):
    parts = loaded.rag_results[0].generation_result.generated_answer
    cited[form] = [(part.text, part.citations) for part in parts]
print("open-rag-eval", version("open-rag-eval"), {form: parts[0] for form, parts in cited.items()})
both = [("Whales are mammals", ["[1]", "[2]"]), ("and breathe air", ["[3]"])]
assert all(cited[form] == both for form in forms[:3]), cited
assert cited["[1] [2]"] == [("Whales are mammals", ["[1]"]), ("and breathe air", ["[3]"])], cited
PYTHON

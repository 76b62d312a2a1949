#!/usr/bin/env bash
# opik 2.2.122, `opik export … experiment --format csv`: an experiment of one item, whose row of the data set has a question
# and whose task gave an answer. Its JSON has both, as dataset_item_data and evaluation_task_output. Its CSV has columns
# item_input and item_output, which are empty for every item: the writer asks for names that an item does not have.
# An expert would guess that both formats have the question and the answer.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check opik==2.2.122
cd "$folder"
OPIK_TRACK_DISABLE=true "$folder/venv/bin/python" - <<'PYTHON'
import csv
import json
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace

from opik.api_objects.experiment.experiment_item import ExperimentItemContent
from opik.cli.exports import utils

item = ExperimentItemContent.from_compare_dict(
    {
        "id": "item-1",
        "dataset_item_id": "row-1",
        "trace_id": "trace-1",
        "output": {"output": "Rome"},
        "feedback_scores": [],
    },
    dataset_item_data={"input": "What is the capital of Italy?"},
)
experiment = SimpleNamespace(
    id="experiment-1", name="e", dataset_name="d", get_experiment_data=lambda: None
)
data = utils.create_experiment_data_structure(experiment, [item])
utils.write_json_data(data, Path("e.json"))
utils.write_csv_data(data, Path("e.csv"), utils.experiment_to_csv_rows)
(written,) = json.loads(Path("e.json").read_text())["items"]
(row,) = csv.DictReader(Path("e.csv").open())
texts = Path("e.csv").read_text()
print("opik", version("opik"), "item_input, item_output of the CSV:", row["item_input"], row["item_output"])
assert written["dataset_item_data"] == {"input": "What is the capital of Italy?"}, written
assert written["evaluation_task_output"] == {"output": "Rome"}, written
assert (row["item_input"], row["item_output"]) == ("", ""), row
assert "capital" not in texts and "Rome" not in texts, texts
PYTHON

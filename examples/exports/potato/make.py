"""Labels of two people in Potato's own states (values are texts, as a browser sends them), and its exports of these."""

import json
import shutil
from pathlib import Path

import yaml
from potato.export.cli import build_export_context
from potato.export.registry import export_registry
from potato.item_state_management import Label, SpanAnnotation
from potato.phase import UserPhase
from potato.user_state_management import InMemoryUserState

ITEMS = {"a1": "Rome is the capital of Italy.", "a2": "It is in Spain."}
SCHEMES = [
    {
        "annotation_type": "likert",
        "name": "quality",
        "description": "q",
        "size": 5,
        "min_label": "bad",
        "max_label": "good",
    },
    {"annotation_type": "radio", "name": "verdict", "description": "v", "labels": ["good", "bad"]},
    {
        "annotation_type": "multiselect",
        "name": "faults",
        "description": "f",
        "labels": ["long", "vague"],
    },
    {"annotation_type": "text", "name": "why", "description": "w"},
    {"annotation_type": "span", "name": "wrong", "description": "s", "labels": ["claim"]},
]
LABELS = {
    "ann": {
        "a1": [
            ("quality", "4", "4"),
            ("verdict", "good", "good"),
            ("why", "text_box", "It is right."),
        ],
        "a2": [("quality", "1", "1"), ("faults", "long", "long"), ("faults", "vague", "vague")],
    },
    "bob": {"a1": [("quality", "5", "5")], "a2": []},
}
PROJECT = Path("project")
STATES = PROJECT / "annotation_output"

PROJECT.mkdir()
(PROJECT / "items.jsonl").write_text(
    "".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in ITEMS.items())
)
(PROJECT / "config.yaml").write_text(
    yaml.safe_dump(
        {
            "task_dir": ".",
            "output_annotation_dir": "annotation_output",
            "data_files": ["items.jsonl"],
            "item_properties": {"id_key": "id", "text_key": "text"},
            "annotation_schemes": SCHEMES,
        }
    )
)
for user, labels_of in LABELS.items():
    state = InMemoryUserState(user)
    state.advance_to_phase(UserPhase.ANNOTATION, "annotation")
    for item, labels in labels_of.items():
        for schema, name, value in labels:
            state.add_label_annotation(item, Label(schema, name), value)
    if user == "ann":
        state.add_span_annotation("a2", SpanAnnotation("wrong", "claim", "claim", 9, 14), "claim")
    state.save(str(STATES / user))
    shutil.copy(STATES / user / "user_state.json", f"state-{user}.json")
context = build_export_context(str(PROJECT / "config.yaml"))
for kind in ("jsonl", "csv"):
    export_registry.export(kind, context, str(PROJECT / kind))
for kind in ("jsonl", "csv"):
    shutil.copy(PROJECT / kind / f"annotations.{kind}", f"annotations.{kind}")
shutil.rmtree(PROJECT)

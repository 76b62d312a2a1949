"""Files of other tools: each is known by its shape, read as it was meant, and what is not read is counted.

The fixtures in tests/records/tools follow the sources that the shapes name (`Shape.source`).
"""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import BadInput, UserError
from longmark.records import Example
from longmark.records.containers import SHAPES
from longmark.records.read import Reading

TOOLS = Path(__file__).parent / "tools"
NILE = ("Where is the Nile?", "In Africa.", ("The Nile is in Africa.",), ("In Africa.",))
BARE, FOUND, TOLD = (*NILE[:2], (), ()), (*NILE[:3], ()), (*NILE[:2], (), NILE[3])

# file -> the shape, the first example, how many there are, its system, what is not read
READ: dict[str, tuple[str, tuple[Any, ...], int, str | None, dict[str, int]]] = {
    "langfuse.json": ("Langfuse traces", TOLD, 2, None, {"system prompts": 1, "scores in Langfuse": 1}),
    "langfuse.jsonl": ("Langfuse traces", TOLD, 2, None, {"system prompts": 1, "scores in Langfuse": 1}),
    "langfuse.csv": ("Langfuse traces", TOLD, 2, None, {"system prompts": 1, "scores in Langfuse": 1}),
    "langfuse-observations.jsonl": (
        *("Langfuse observations", FOUND, 1, "gpt-4o"),
        {"system prompts": 1, "tool calls": 1, "other spans": 1},
    ),
    "otlp-genai.json": (
        *("OpenTelemetry traces (OTLP)", FOUND, 1, "gpt-4"),
        {"system prompts": 1, "tool calls": 2, "tool results": 1, "other spans": 2},
    ),
    "otlp-openinference.jsonl": (
        *("OpenTelemetry traces (OTLP)", FOUND, 1, "gpt-4o"),
        {"system prompts": 1, "other spans": 1},
    ),
    "phoenix.json": (
        *("spans of Phoenix or of OpenTelemetry's SDK", FOUND, 1, "gpt-4o"),
        {"system prompts": 1, "other spans": 1},
    ),
    "phoenix-table.jsonl": ("a table of Phoenix's spans", FOUND, 1, "gpt-4o", {"other spans": 1}),
    "mlflow.json": ("MLflow traces", FOUND, 1, None, {"system prompts": 1, "other spans": 1}),
    "mlflow-table.jsonl": ("a table of MLflow's traces", FOUND, 1, None, {"system prompts": 1, "other spans": 1}),
    "promptfoo.json": ("promptfoo results", NILE, 2, "openai:gpt-5", {"scores of assertions": 2}),
    "deepeval.json": (
        *("DeepEval test run", NILE, 1, None),
        {"tool calls": 1, "scores of DeepEval's metrics": 1},
    ),
    "deepeval-turns.json": ("DeepEval test run of conversations", NILE, 1, None, {"earlier turns": 2}),
    "inspect.json": (
        *("Inspect log", NILE, 2, "mockllm/model"),
        {"system prompts": 1, "scores of Inspect's scorers": 2},
    ),
    "lm-eval.jsonl": (
        *("lm-evaluation-harness samples", TOLD, 2, None),
        {"repeats of an answer": 1, "log-likelihoods without a text": 1},
    ),
    "ragas-turns.jsonl": (
        *("Ragas conversations", TOLD, 1, None),
        {"tool calls": 1, "tool results": 1, "earlier turns": 2},
    ),
    "chat.jsonl": ("chat messages", BARE, 1, None, {"system prompts": 1}),
}


def content(example: Example) -> tuple[Any, ...]:
    return example.question, example.answer, tuple(one.text for one in example.contexts), example.references


@pytest.mark.parametrize("name", READ)
def test_a_file_of_a_tool_is_read_by_its_shape(name: str) -> None:
    shape, first, count, system, ignored = READ[name]
    reading = Reading(TOOLS / name)
    examples = list(reading.singles())
    assert reading.shape is not None
    assert reading.shape.name == shape
    assert (content(examples[0]), len(examples), examples[0].system) == (first, count, system)
    assert dict(+reading.ignored) == ignored
    assert all(f"{number:,} {what}" in reading.notice for what, number in ignored.items())


def test_every_shape_has_a_fixture_and_every_fixture_is_read() -> None:
    assert {shape.name for shape in SHAPES} == {name for name, *_ in READ.values()}
    assert {path.name for path in TOOLS.iterdir()} == set(READ)


def test_a_shape_is_known_in_records_of_python_too() -> None:
    records = json.loads((TOOLS / "langfuse.json").read_text("utf-8"))
    assert content(next(iter(Reading(records).singles()))) == TOLD

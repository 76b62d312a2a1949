"""What `export --to` writes, read by the tool that it is for: each by the model or the reader of its own package.

None of these packages is needed by longmark or by its other tests. `sh tests/scores/received.sh` installs their pinned
releases in a virtual environment and runs this file there; elsewhere a test without its package is skipped. datasets is in
tests/scores/test_dataset_export.py.
"""

from __future__ import annotations

import asyncio
import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from longmark.records import Context, Example, Row, Signature, Usage
from longmark.records.write import write_examples, write_rows
from longmark.scores.exchange import write_scores

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
METRICS = ("classic.length.words", "ccrs.x")


def row(example: str, metric: str, score: float | None) -> Row:
    evidence: dict[str, Any] = {"judges": [{"model": "m", "reason": "It is short.\n<b>&"}]}
    status = "ok" if score is not None else "refused"
    reason = None if score is not None else "The judge declined to answer."
    signature = Signature("1")
    return Row(example, example, "ask", metric, score, status, reason, evidence, signature, Usage())


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two epochs of a sample of Inspect that are also spans, one unscored by the second metric."""
    folder = tmp_path / "run"
    folder.mkdir()
    rows = [
        row("capital-1", METRICS[0], 2.0),
        row("capital-1", METRICS[1], 0.75),
        row("capital-2", METRICS[0], 0.0),
        row("capital-2", METRICS[1], None),
        row(TRACE, METRICS[1], 1e-7),
    ]
    write_rows(rows, folder / "rows.jsonl")
    examples = [
        Example(id=f"capital-{epoch}", question="Where?", answer="Rome, \U0001f600", meta=meta)
        for epoch, meta in ((1, {"epoch": 1}), (2, {"epoch": 2}))
    ]
    of_trace = {"span_id": SPAN, "response_id": "chatcmpl-1"}
    context = Context(text="Rome is in Italy.", id="d1")
    trace = Example(id=TRACE, answer="", contexts=(context,), meta=of_trace)
    write_examples([*examples, trace], folder / "examples.jsonl")
    return folder


def test_inspect_applies_the_scores_of_each_sample_and_epoch(run: Path, tmp_path: Path) -> None:
    scorer = pytest.importorskip("inspect_ai.scorer")
    file = tmp_path / "scores.jsonl"
    write_scores(run, "inspect", file)
    score = scorer.precomputed_scores(str(file), on_missing="error")

    def scored(sample: str, epoch: int) -> Any:
        return asyncio.run(score(SimpleNamespace(sample_id=sample, epoch=epoch), None))

    first = scored("capital", 1)
    second = scored("capital", 2)
    assert first.value == {METRICS[0]: 2.0, METRICS[1]: 0.75}
    assert second.value[METRICS[0]] == 0.0
    assert math.isnan(second.value[METRICS[1]])
    assert "It is short." in first.explanation
    with pytest.raises(ValueError, match="No score record"):
        scored("capital", 3)


def test_langfuse_takes_each_score_as_a_request(run: Path, tmp_path: Path) -> None:
    scores = pytest.importorskip("langfuse.api.scores")
    read = pytest.importorskip("langfuse.api.core.pydantic_utilities").parse_obj_as
    file = tmp_path / "scores.jsonl"
    written, _ = write_scores(run, "langfuse", file)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    requests = [read(scores.CreateScoreRequest, line) for line in lines]
    assert written == 4
    assert [request.model_extra for request in requests] == [{}] * 4, "fields that it does not know"
    assert [(request.trace_id, request.name, request.value) for request in requests] == [
        ("capital-1", METRICS[0], 2.0),
        ("capital-1", METRICS[1], 0.75),
        ("capital-2", METRICS[0], 0.0),
        (TRACE, METRICS[1], 1e-7),
    ]
    assert {request.data_type.value for request in requests} == {"NUMERIC"}


def test_opentelemetry_parses_each_line_as_logs(run: Path, tmp_path: Path) -> None:
    logs = pytest.importorskip("opentelemetry.proto.logs.v1.logs_pb2")
    parse = pytest.importorskip("google.protobuf.json_format").Parse
    file = tmp_path / "logs.jsonl"
    write_scores(run, "otel", file)
    records = []
    for line in file.read_text("utf-8").splitlines():
        data = _with_bytes_as_base64(json.loads(line))
        message = parse(json.dumps(data), logs.LogsData(), ignore_unknown_fields=False)
        records += message.resource_logs[0].scope_logs[0].log_records
    assert [record.event_name for record in records] == ["gen_ai.evaluation.result"] * 5
    attributes = [{pair.key: pair.value for pair in record.attributes} for record in records]
    assert attributes[1]["gen_ai.evaluation.score.value"].double_value == 0.75
    assert attributes[3]["error.type"].string_value == "refused"
    assert records[4].trace_id.hex() == TRACE
    assert records[4].span_id.hex() == SPAN


def _with_bytes_as_base64(data: Any) -> Any:
    """OTLP's JSON has ids in hexadecimal digits, where the JSON of protobuf has Base64 (opentelemetry-proto, README)."""
    from base64 import b64encode

    record = data["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0]
    for name in ("traceId", "spanId"):
        if name in record:
            record[name] = b64encode(bytes.fromhex(record[name])).decode()
    return data


def test_label_studio_accepts_the_tasks_and_their_predictions(run: Path, tmp_path: Path) -> None:
    interface = pytest.importorskip("label_studio_sdk.label_interface").LabelInterface
    file = tmp_path / "tasks.json"
    write_scores(run, "label-studio", file)
    controls = "".join(
        f'<Number name="{name.replace(".", "_")}" toName="text"/>' for name in METRICS
    )
    config = interface(f'<View><Text name="text" value="$text"/>{controls}</View>')
    tasks = json.loads(file.read_text("utf-8"))
    assert len(tasks) == 3
    for task in tasks:
        (prediction,) = task.pop("predictions")  # validate_task calls the next one without it
        assert config.validate_task(task)
        assert config.validate_prediction(prediction, return_errors=True) == []

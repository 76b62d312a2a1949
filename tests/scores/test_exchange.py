"""Scores for other tools: Langfuse's score bodies, OpenTelemetry's evaluation events."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from longmark.cli import main
from longmark.errors import UnknownName, UserError
from longmark.records import Example, Row, Signature, Usage
from longmark.records.write import write_examples, write_rows
from longmark.scores.exchange import write_scores

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def row(example: str, score: float | None, **evidence: Any) -> Row:
    status, reason = (
        ("ok", None) if score is not None else ("refused", "The judge declined to answer.")
    )
    return Row(
        example, example, "ask", "ccrs.x", score, status, reason, evidence, Signature("1"), Usage()
    )


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two traces; the second one is unscored."""
    folder = tmp_path / "run"
    folder.mkdir()
    write_rows(
        [row(TRACE, 0.75, judges=[{"model": "m", "reason": "It is short."}]), row("other", None)],
        folder / "rows.jsonl",
    )
    meta = {"span_id": SPAN, "response_id": "chatcmpl-1"}
    write_examples(
        [Example(id=TRACE, answer="a", meta=meta), Example(id="other", answer="b")],
        folder / "examples.jsonl",
    )
    return folder


def written(run: Path, target: str) -> list[dict[str, Any]]:
    write_scores(run, target, run / "out.jsonl")
    return [json.loads(line) for line in (run / "out.jsonl").read_text("utf-8").splitlines()]


def test_a_score_is_the_body_of_langfuses_request(run: Path) -> None:
    (one,) = written(run, "langfuse")
    assert one.keys() == {"id", "traceId", "name", "value", "dataType", "metadata", "comment"}
    assert (one["traceId"], one["name"], one["value"]) == (TRACE, "ccrs.x", 0.75)
    assert (one["dataType"], one["comment"]) == ("NUMERIC", "It is short.")
    assert one["metadata"]["system"] == "ask"
    assert one == written(run, "langfuse")[0], "sent again, it replaces itself"


def test_a_score_is_an_evaluation_event_of_its_trace(run: Path) -> None:
    records = [
        one["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0] for one in written(run, "otel")
    ]
    assert {record["eventName"] for record in records} == {"gen_ai.evaluation.result"}
    said = [
        {one["key"]: next(iter(one["value"].values())) for one in record["attributes"]}
        for record in records
    ]
    assert (records[0]["traceId"], records[0]["spanId"]) == (TRACE, SPAN)
    assert said[0] == {
        "gen_ai.evaluation.name": "ccrs.x",
        "gen_ai.evaluation.score.value": 0.75,
        "gen_ai.evaluation.explanation": "It is short.",
        "gen_ai.response.id": "chatcmpl-1",
        "longmark.example_id": TRACE,
        "longmark.system": "ask",
    }
    assert "traceId" not in records[1]
    assert (said[1]["error.type"], "gen_ai.evaluation.score.value" in said[1]) == ("refused", False)
    assert all(isinstance(record["timeUnixNano"], str) for record in records)


def test_a_file_of_rows_is_written_too_and_mistakes_are_named(run: Path, tmp_path: Path) -> None:
    assert write_scores(run / "rows.jsonl", "langfuse", tmp_path / "a.jsonl") == (1, 1)
    with pytest.raises(UnknownName, match="Did you mean langfuse"):
        write_scores(run, "langfus", tmp_path / "b.jsonl")
    with pytest.raises(UserError, match="does not exist"):
        write_scores(tmp_path / "none", "otel", tmp_path / "b.jsonl")
    assert not (tmp_path / "b.jsonl").exists()


def test_the_command_says_what_it_left_out(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(run), "--to", "langfuse", "--out", str(run / "s.jsonl")]) == 0
    assert (
        "1 row for langfuse; 1 unscored row left out). Nothing was sent." in capsys.readouterr().out
    )
    assert main(["export", str(run), "--to", "langfuse"]) == 2
    assert "--to and --out belong together" in capsys.readouterr().err


def test_inspect_gets_a_value_of_all_metrics_for_each_sample_and_epoch(tmp_path: Path) -> None:
    """inspect_ai 0.3.285 read such a file: of capital's epochs, 1.0 and NaN, it takes 1.0; null would have counted 0."""
    folder = tmp_path / "run"
    folder.mkdir()
    rows = [row("capital-1", 0.5, judges=[{"model": "m", "reason": "Short."}]), row("capital-2", 1)]
    other = [replace(scored, metric="ccrs.y") for scored in (row("capital-1", 1.0),)]
    write_rows([*rows, *other], folder / "rows.jsonl")
    write_examples(
        [Example(id=f"capital-{epoch}", answer="a", meta={"epoch": epoch}) for epoch in (1, 2)],
        folder / "examples.jsonl",
    )
    first, second = written(folder, "inspect")
    assert (first["id"], first["epoch"]) == ("capital", 1)
    assert first["value"] == {"ccrs.x": 0.5, "ccrs.y": 1.0}
    assert first["explanation"] == "ccrs.x: Short."
    assert (second["id"], second["epoch"], second["value"]["ccrs.x"]) == ("capital", 2, 1)
    assert math.isnan(second["value"]["ccrs.y"])


def test_a_sample_that_is_not_inspects_has_no_epoch_and_an_unscored_one_is_nan(run: Path) -> None:
    scored, unscored = written(run, "inspect")
    assert (scored["id"], scored["value"], "epoch" in scored) == (TRACE, {"ccrs.x": 0.75}, False)
    assert math.isnan(unscored["value"]["ccrs.x"])
    assert unscored["metadata"]["unscored"] == {"ccrs.x": "refused: The judge declined to answer."}
    assert "unscored" not in scored["metadata"]


def test_label_studio_gets_tasks_with_the_scores_as_predictions(run: Path, tmp_path: Path) -> None:
    """label-studio-sdk 2.1.2 (LabelInterface.validate_task, validate_prediction) accepts such tasks for a configuration
    with a Text `text` and a Number named as the metric, with `_` for its dots."""
    file = tmp_path / "tasks.json"
    assert write_scores(run, "label-studio", file) == (1, 1)
    scored, unscored = json.loads(file.read_text("utf-8"))
    assert scored["data"] == {
        "example_id": TRACE,
        "system": "ask",
        "question": "",
        "text": "a",
        "passages": [],
    }
    (result,) = scored["predictions"][0]["result"]
    assert (result["from_name"], result["to_name"], result["type"]) == ("ccrs_x", "text", "number")
    assert result["value"] == {"number": 0.75}
    assert unscored["predictions"][0]["result"] == []
    with pytest.raises(UserError, match="name the run's folder"):
        write_scores(run / "rows.jsonl", "label-studio", tmp_path / "none.json")

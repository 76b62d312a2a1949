"""The scores of a run as other tools take them, in a file; nothing is sent.

`langfuse`: one score a line, the body of a POST to /api/public/scores (langfuse 5.0.4, CreateScoreRequest).
`otel`: one log record a line in the JSON of OTLP, as a collector's file receiver reads it: the event
`gen_ai.evaluation.result` (GenAI semantic conventions 1.38, docs/gen-ai/gen-ai-events.md).
`inspect`: one sample and epoch a line, as `inspect_ai.scorer.precomputed_scores` reads them (inspect_ai 0.3.285,
scorer/_precomputed.py). Its value has every metric of the run; an unscored one is NaN, which Inspect leaves out of its
means (it takes null for 0, and refuses samples with different metrics); why is in `metadata.unscored`.
`label-studio`: tasks with the scores as predictions, a JSON list (labelstud.io/guide/predictions, label-studio-sdk 2.1.2):
`data` has the answer as `text`, its question, passages, `example_id` and `system`; an unscored metric has no result.
`datasets`: a folder with a Parquet file, an answer a row (`dataset_export`).

A score belongs to the trace that its example was read from: the example's id, of a turn (`ID#turn`) the
conversation's. OpenTelemetry's event has the session that the trace was part of.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from longmark import __version__
from longmark.errors import UnknownName, UserError
from longmark.records import Answered, Example, Row
from longmark.scores.dataset_export import write_dataset
from longmark.scores.files import examples_of, name_of, some_rows_of, source_of, system_of
from longmark.writing import replacing

_SESSIONS = ("session_id", "sessionId", "gen_ai.conversation.id", "conversation_id")
_TRACE = re.compile("[0-9a-f]{32}")
_DATASETS = "datasets"  # its target is a folder
_SPAN = re.compile("[0-9a-f]{16}")


def write_scores(run: Path, target: str, file: Path) -> tuple[int, int]:
    """Writes the scores of a run folder, or of a file of rows. Returns how many were written, and how many rows without
    a score were left out. An existing file is replaced; of `datasets` it is a folder. UserError if there are no rows;
    UnknownName for a target that does not exist."""
    targets = (*TARGETS, *_OF_ANSWERS, _DATASETS)
    if target not in targets:
        raise UnknownName(
            "target of --to", target, targets, f"The targets are {', '.join(targets)}."
        )
    source = source_of(run)
    if target == _DATASETS:
        rows = _ScoredRows(some_rows_of(source))
        write_dataset(source, rows.by_example, rows.metrics, file)
        return rows.scored + rows.unscored, 0
    if target in _OF_ANSWERS:
        return _write_answers(source, file, _OF_ANSWERS[target])
    fields_of = dict(filter(None, map(_kept, examples_of(source)))) if source.is_dir() else {}
    count = left_out = 0
    with replacing(file) as out:
        for row in some_rows_of(source):
            entry = TARGETS[target](
                row,
                source,
                fields_of.get(row.example_id, {}),
            )
            count = count + (entry is not None)
            left_out = left_out + (entry is None)
            if entry is not None:
                out.write(orjson.dumps(entry) + b"\n")
    return count, left_out


def _write_answers(
    source: Path, file: Path, lines_of: Callable[[Path, _ScoredRows], Iterator[str]]
) -> tuple[int, int]:
    """Writes a target that takes all scores of an answer together."""
    rows = _ScoredRows(some_rows_of(source))
    with replacing(file) as out:
        for line in lines_of(source, rows):
            out.write(line.encode())
    return rows.scored, rows.unscored


class _ScoredRows:
    """The rows of a run by example, in the order of the first of each. metrics: of all rows."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.by_example: dict[str, dict[str, Row]] = {}
        self.scored = self.unscored = 0
        metrics: dict[str, None] = {}
        for row in rows:
            self.by_example.setdefault(row.example_id, {})[row.metric] = row
            metrics.setdefault(row.metric)
            self.scored += row.score is not None
            self.unscored += row.score is None
        self.metrics = tuple(metrics)


def _inspect(source: Path, rows: _ScoredRows) -> Iterator[str]:
    epochs = {
        example.id: example.meta["epoch"]
        for example in (examples_of(source) if source.is_dir() else ())
        if isinstance(example.meta.get("epoch"), int)
    }
    for example_id, row_of in rows.by_example.items():
        epoch = epochs.get(example_id)
        scores = {name: row.score for name, row in row_of.items()}
        record: dict[str, Any] = {
            "id": example_id if epoch is None else example_id.removesuffix(f"-{epoch}"),
            "epoch": epoch,
            "value": {name: _or_nan(scores.get(name)) for name in rows.metrics},
            "metadata": {name: row.signature.line(name) for name, row in row_of.items()},
        }
        if epoch is None:
            del record["epoch"]
        if reasons := _reasons(row_of):
            record["explanation"] = reasons
        unscored = {
            name: f"{row.status}: {row.reason}" for name, row in row_of.items() if row.score is None
        }
        if unscored:
            record["metadata"]["unscored"] = unscored
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _or_nan(score: float | None) -> float:
    return float("nan") if score is None else score


def _label_studio(source: Path, rows: _ScoredRows) -> Iterator[str]:
    if not source.is_dir():
        raise UserError(f"{source} is a file of rows; name the run's folder, which has the answers")
    first = True
    for example in examples_of(source):
        row_of = rows.by_example.get(example.id, {})
        if isinstance(example, Example) and example.answer is not None and row_of:
            yield "[\n" if first else ",\n"
            yield json.dumps(_task(example, row_of, source), ensure_ascii=False)
            first = False
    yield "[]\n" if first else "\n]\n"


def _task(example: Example, row_of: Mapping[str, Row], source: Path) -> dict[str, Any]:
    results = [
        {
            "id": hashlib.sha256(f"{example.id}\0{name}".encode()).hexdigest()[:10],
            "from_name": name.replace(".", "_"),
            "to_name": "text",
            "type": "number",
            "value": {"number": row.score},
        }
        for name, row in row_of.items()
        if row.score is not None
    ]
    row = next(iter(row_of.values()))
    return {
        "data": {
            "example_id": example.id,
            "system": system_of(row, source),
            "question": example.question or "",
            "text": example.answer,
            "passages": [context.text for context in example.contexts],
        },
        "predictions": [{"model_version": f"longmark {__version__}", "result": results}],
    }


def _reasons(row_of: Mapping[str, Row]) -> str:
    """The judges' reasons for an answer's scores, each after its metric."""
    return "\n".join(
        f"{name}: {reason}" for name, row in row_of.items() if (reason := _reason(row))
    )


def _kept(example: Answered) -> tuple[str, Mapping[str, Any]] | None:
    """What an export needs of an example beside its rows: the id of its trace, its span, its conversation."""
    names = ("span_id", "response_id", *_SESSIONS)
    fields = {name: example.meta[name] for name in names if isinstance(example.meta.get(name), str)}
    fields |= {"trace": example.turn_of} if example.turn_of else {}
    return (example.id, fields) if fields else None


def _session(meta: Mapping[str, Any]) -> str | None:
    return next((meta[name] for name in _SESSIONS if name in meta), None)


def _langfuse(row: Row, source: Path, meta: Mapping[str, Any]) -> dict[str, Any] | None:
    if row.score is None:
        return None
    name = "\0".join((name_of(source), row.system, row.example_id, row.metric))
    entry = {
        "id": hashlib.sha256(name.encode()).hexdigest()[
            :32
        ],  # so that a score that is sent again replaces itself
        "traceId": meta.get("trace", row.example_id),
        "name": row.metric,
        "value": row.score,
        "dataType": "NUMERIC",
        "metadata": {
            "system": system_of(row, source),
            "signature": row.signature.line(row.metric),
        },
    }
    entry["metadata"] |= (
        {"turn": row.example_id.rpartition("#")[2]}
        if meta.get("trace") not in (None, row.example_id)
        else {}
    )
    return entry | ({"comment": reason} if (reason := _reason(row)) else {})


def _otel(row: Row, source: Path, meta: Mapping[str, Any]) -> dict[str, Any]:
    attributes: dict[str, Any] = {"gen_ai.evaluation.name": row.metric}
    if row.score is None:
        attributes |= {"error.type": row.status, "gen_ai.evaluation.explanation": row.reason}
    else:
        attributes["gen_ai.evaluation.score.value"] = float(row.score)
        attributes |= {"gen_ai.evaluation.explanation": reason} if (reason := _reason(row)) else {}
    attributes |= (
        {"gen_ai.response.id": meta["response_id"]}
        if isinstance(meta.get("response_id"), str)
        else {}
    )
    attributes |= {"gen_ai.conversation.id": session} if (session := _session(meta)) else {}
    attributes |= {
        "longmark.example_id": row.example_id,
        "longmark.system": system_of(row, source),
    }
    moment = str((source / "rows.jsonl" if source.is_dir() else source).stat().st_mtime_ns)
    record: dict[str, Any] = {
        "timeUnixNano": moment,
        "observedTimeUnixNano": moment,
        "eventName": "gen_ai.evaluation.result",
        "attributes": [
            {
                "key": key,
                "value": _value(value),
            }
            for key, value in attributes.items()
        ],
    }
    if _TRACE.fullmatch(trace := meta.get("trace", row.example_id)):
        span = str(meta.get("span_id", ""))
        record |= {"traceId": trace} | ({"spanId": span} if _SPAN.fullmatch(span) else {})
    scope = {
        "scope": {"name": "longmark", "version": __version__},
        "logRecords": [record],
    }
    service = {"key": "service.name", "value": {"stringValue": "longmark"}}
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": [service]},
                "scopeLogs": [scope],
            }
        ]
    }


TARGETS: dict[str, Callable[[Row, Path, Mapping[str, Any]], dict[str, Any] | None]] = {
    "langfuse": _langfuse,
    "otel": _otel,
}
"""Name of a tool -> what it takes of a row; None: nothing."""

_OF_ANSWERS: dict[str, Callable[[Path, _ScoredRows], Iterator[str]]] = {
    "inspect": _inspect,
    "label-studio": _label_studio,
}
"""Name of a tool -> the text of its file, from all scores of each answer."""


def _value(value: Any) -> dict[str, Any]:
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}


def _reason(row: Row) -> str:
    """Why the judge gave the score, if it said so."""
    judges = row.evidence.get("judges")
    parts = (
        [judge.get("reason") for judge in judges if isinstance(judge, dict)]
        if isinstance(judges, list)
        else []
    )
    return "\n".join(part for part in parts if isinstance(part, str))

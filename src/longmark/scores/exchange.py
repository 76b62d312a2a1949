"""The scores of a run as other tools take them, in a file of JSON Lines; nothing is sent.

`langfuse`: one score a line, the body of a POST to /api/public/scores (langfuse 5.0.4, CreateScoreRequest).
`otel`: one log record a line in the JSON of OTLP, as a collector's file receiver reads it: the event
`gen_ai.evaluation.result` (GenAI semantic conventions 1.38, docs/gen-ai/gen-ai-events.md).

A score belongs to the trace that its example was read from: the example's id, of a turn (`ID#turn`) the
conversation's. OpenTelemetry's event has the session that the trace was part of.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from longmark import __version__
from longmark.errors import UnknownName
from longmark.records import Answered, Row
from longmark.scores.files import examples_of, name_of, some_rows_of, source_of, system_of
from longmark.writing import replacing

_SESSIONS = ("session_id", "sessionId", "gen_ai.conversation.id", "conversation_id")
_TRACE = re.compile("[0-9a-f]{32}")
_SPAN = re.compile("[0-9a-f]{16}")


def write_scores(run: Path, target: str, file: Path) -> tuple[int, int]:
    """Writes the scores of a run folder, or of a file of rows. Returns how many were written, and how many rows without
    a score were left out. An existing file is replaced. UserError if there are no rows; UnknownName for a target that
    does not exist."""
    if target not in TARGETS:
        raise UnknownName(
            "target of --to", target, TARGETS, f"The targets are {', '.join(TARGETS)}."
        )
    source = source_of(run)
    fields_of = dict(filter(None, map(_kept, examples_of(source)))) if source.is_dir() else {}
    count = left_out = 0
    with replacing(file) as out:
        for row in some_rows_of(source):
            entry = TARGETS[target](row, source, fields_of.get(row.example_id, {}))
            count = count + (entry is not None)
            left_out = left_out + (entry is None)
            if entry is not None:
                out.write(orjson.dumps(entry) + b"\n")
    return count, left_out


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
        "metadata": {"system": system_of(row, source), "signature": row.signature.line(row.metric)},
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
    attributes |= {"longmark.example_id": row.example_id, "longmark.system": system_of(row, source)}
    moment = str((source / "rows.jsonl" if source.is_dir() else source).stat().st_mtime_ns)
    record: dict[str, Any] = {
        "timeUnixNano": moment,
        "observedTimeUnixNano": moment,
        "eventName": "gen_ai.evaluation.result",
        "attributes": [{"key": key, "value": _value(value)} for key, value in attributes.items()],
    }
    if _TRACE.fullmatch(trace := meta.get("trace", row.example_id)):
        span = str(meta.get("span_id", ""))
        record |= {"traceId": trace} | ({"spanId": span} if _SPAN.fullmatch(span) else {})
    scope = {"scope": {"name": "longmark", "version": __version__}, "logRecords": [record]}
    service = {"key": "service.name", "value": {"stringValue": "longmark"}}
    return {"resourceLogs": [{"resource": {"attributes": [service]}, "scopeLogs": [scope]}]}


TARGETS: dict[str, Callable[[Row, Path, Mapping[str, Any]], dict[str, Any] | None]] = {
    "langfuse": _langfuse,
    "otel": _otel,
}
"""Name of a tool -> what it takes of a row; None: nothing."""


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

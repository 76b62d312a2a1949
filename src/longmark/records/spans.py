"""The spans of a trace as one record: which of them are the question, the answer and the passages.

A trace gives one answer: that of the outermost span that has both a question and an answer, and of several the last. An
empty text is an answer, unless the call failed or called a tool. What a call said that failed, or a call inside one that
failed, is no answer.
Its passages are what all retrievers of the trace returned. Spans of one trace may stand anywhere in a file; they are
sorted in a temporary file, so that memory stays flat.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from typing import Any

import orjson

from longmark.records import messages, notation, paths
from longmark.records.shapes import Shape, SpanShape
from longmark.records.sources import UnreadableRecord

_RETRIEVERS = frozenset(("RETRIEVER", "RETRIEVAL", "RERANKER"))
_TOOLS = frozenset(("TOOL", "EXECUTE_TOOL"))
_DAMAGED = (TypeError, ValueError, LookupError, AttributeError, RecursionError, OverflowError)
"""What a record raises that only looks like one of a tool's: its values have other types, or are nested too deep."""
_LISTS_IN_CELLS = ("messages", "documents")
"""The ends of columns of a table of spans that hold lists of objects, which CSV has as Python prints them."""
_HIDDEN = "__REDACTED__"  # what OpenInference writes for a text that was not to be recorded
_LONGEST_PLACE = 6  # digits of a key that is a place in a list
_UNRESOLVED = "questions that are references (query the calls with expand_columns inputs.example)"
_NO_ANSWER = _RETRIEVERS | _TOOLS | {"EMBEDDING", "EMBEDDINGS", "EVALUATOR", "GUARDRAIL", "EVENT"}


def assembled(
    records: Iterable[tuple[int, Any]], shape: Shape, ignored: Counter[str]
) -> Iterator[tuple[int, Any]]:
    """(place, record of a trace) of records with spans, in the order in which the traces begin; what is no object comes
    as it is. A trace without an answer is counted."""
    assert shape.spans is not None
    with closing(sqlite3.connect("", isolation_level=None)) as db:
        db.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA cache_size = -4096; BEGIN;"
            "CREATE TABLE traces (trace TEXT PRIMARY KEY, first INTEGER) WITHOUT ROWID;"
            "CREATE TABLE spans (n INTEGER PRIMARY KEY, trace TEXT, span BLOB)"
        )
        for place, record in records:
            if not isinstance(record, dict):
                yield place, record
                continue
            try:
                spans = [(span["trace"], _line(span)) for span in spans_of(record, shape.spans)]
            except _DAMAGED as error:
                yield (
                    place,
                    UnreadableRecord(f"cannot be read as {shape.name} ({_in_words(error)})"),
                )
                continue
            for trace, line in spans:
                if not trace:
                    ignored["spans without a trace"] += 1
                    continue
                db.execute("INSERT OR IGNORE INTO traces VALUES (?, ?)", (trace, place))
                db.execute("INSERT INTO spans (trace, span) VALUES (?, ?)", (trace, line))
        rows = db.execute(
            "SELECT first, trace, span FROM spans JOIN traces USING (trace) ORDER BY first, trace, n"
        )
        for (place, _), group in groupby(rows, key=itemgetter(0, 1)):
            try:
                traces = list(traces_of([orjson.loads(span) for _, _, span in group], ignored))
            except _DAMAGED as error:
                yield (
                    place,
                    UnreadableRecord(f"cannot be read as {shape.name} ({_in_words(error)})"),
                )
                continue
            if not traces:
                ignored["traces without a question and an answer"] += 1
            for assembled_trace in traces:
                yield place, assembled_trace


def _line(span: dict[str, Any]) -> bytes:
    span["trace"].encode()
    return orjson.dumps(span, default=str, option=orjson.OPT_NON_STR_KEYS)


def _in_words(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    message = " ".join(str(error).split())[:200]
    if "surrogates" in message:
        return "it contains half a character, a lone surrogate; remove it"
    return f"{type(error).__name__}: {message}"


def spans_of(record: dict[str, Any], form: SpanShape) -> Iterator[dict[str, Any]]:
    """The spans of a record, each with what `Spans` names."""
    cells = {column: _cell(str(column), cell) for column, cell in record.items()}
    record = nested(cells, inside=False)
    spans = paths.reader(record)(form.spans) if form.spans else [record]
    for span in spans if isinstance(spans, list) else ():
        if not isinstance(span, dict):
            continue
        at = paths.reader(
            {**span, "attributes": nested(_attributes(span.get("attributes"))), "of": record}
        )
        kind = str(at(form.kind) or "").upper()
        output = None if kind in _RETRIEVERS else at(form.output)
        replies = messages.replies_to_one_request(at(form.choices)) if form.choices else []
        if replies and replies == messages.parsed(output):
            output = replies[:1]
        else:
            replies = []
        failed = bool(form.failed and at(form.failed))
        retrieved = at(form.documents) if kind in _RETRIEVERS and not failed else None
        is_empty = messages.is_empty_answer(output) and not failed
        yield {
            "trace": _hex(at(form.trace)),
            "id": _hex(at(form.id)),
            "parent": _hex(at(form.parent)),
            "start": str(at(form.start) or "").rjust(20, "0"),
            "kind": kind,
            "name": at(form.name),
            "input": at(form.input),
            "output": "" if is_empty else output,
            "empty": is_empty,
            "failed": failed,
            "further": len(replies[1:]),
            "documents": messages.passages(retrieved),
            "beside": messages.passages(messages.passages_beside(messages.parsed(output))),
            "textless": messages.textless_passages(retrieved),
            "model": at(form.model),
            "instructions": bool(form.instructions and at(form.instructions)),
            "response": at(form.response) if form.response else None,
            "session": at(form.session) if form.session else None,
            "references": at(form.references) if form.references else None,
            "begins": bool(form.begins and at(form.begins)),
            "unresolved": bool(form.unresolved and at(form.unresolved)),
            "unread": {
                kind: len(listed)
                for kind, path in (
                    ("scores of the tool", form.scores),
                    ("expectations that are no answers", form.expectations),
                )
                if path and isinstance(listed := at(path), list)
            },
        }


def _cell(column: str, cell: Any) -> Any:
    """The value of a column. ValueError for a list that cannot be read."""
    if not (isinstance(cell, str) and cell.startswith("[{'") and column.endswith(_LISTS_IN_CELLS)):
        return cell
    if not isinstance(values := notation.listed(cell), list):
        raise ValueError(
            f"{column} is no list of Python or JSON; write the table as Parquet, or with to_json"
        )
    return values


def traces_of(
    spans: Sequence[Mapping[str, Any]], ignored: Counter[str]
) -> Iterator[dict[str, Any]]:
    """The records of a trace: one for each span that begins an answer, of a trace without such spans one for all; none
    if no span has a question and an answer."""
    parents = {span["id"]: span["parent"] for span in spans}
    beginnings = {span["id"]: span for span in spans if span["begins"]}
    if not beginnings:
        answer = trace_of(spans, ignored)
        yield from [answer] if answer else []
        return
    beneath: dict[str, list[Mapping[str, Any]]] = {name: [] for name in beginnings}
    for span in spans:
        beginning = _nearest(span["id"], beginnings, parents)
        if beginning is None:
            ignored["other spans"] += 1
        else:
            beneath[beginning].append(span)
    for name, span in sorted(beginnings.items(), key=lambda named_span: named_span[1]["start"]):
        answer = trace_of(beneath[name], ignored, span)
        yield from [answer] if answer else []


def _nearest(span: str, beginnings: Mapping[str, Any], parents: Mapping[str, str]) -> str | None:
    """The id of the innermost of these spans that a span is or is beneath; a circle of parents ends."""
    for _ in range(len(parents) + 1):
        if span in beginnings:
            return span
        span = parents.get(span, "")
        if not span:
            return None
    return None


def trace_of(
    spans: Sequence[Mapping[str, Any]],
    ignored: Counter[str],
    beginning: Mapping[str, Any] | None = None,
) -> dict[str, Any] | None:
    """The record of a trace; None if no span has a question and an answer. beginning: the span that is the answer, also
    where it gave none."""
    parents = {span["id"]: span["parent"] for span in spans}
    failures = {span["id"]: span for span in spans if span["failed"]}
    ordered = sorted(spans, key=itemgetter("start"))
    answers = [span for span in ordered if span["kind"] not in _NO_ANSWER and _is_answer(span)]
    if beginning is not None:
        chosen = beginning
        ignored[_UNRESOLVED] += chosen["unresolved"]
    elif answers:
        depths = [_depth(span["id"], parents) for span in answers]
        outermost = [
            span for span, depth in zip(answers, depths, strict=True) if depth == min(depths)
        ]
        succeeded = [span for span in outermost if _nearest(span["id"], failures, parents) is None]
        chosen = (succeeded or outermost)[-1]
    else:
        return None
    last = next((span for span in reversed(answers) if not span["failed"]), chosen)
    if _nearest(chosen["id"], failures, parents) is not None:
        ignored[messages.TEXTS_OF_FAILED] += bool(messages.answer(chosen["output"]))
        chosen = {**chosen, "output": None}
        last = chosen
    retrieved = [
        document
        for span in ordered
        if span["kind"] in _RETRIEVERS
        for document in span["documents"]
    ]
    retrieved = retrieved or chosen["beside"]
    tools, retrievers = (
        sum(span["kind"] in kinds for span in spans) for kinds in (_TOOLS, _RETRIEVERS)
    )
    ignored[messages.TEXTLESS] += sum(span["textless"] for span in spans)
    ignored[messages.FAILED_RETRIEVERS] += sum(
        span["failed"] and span["kind"] in _RETRIEVERS for span in spans
    )
    conversation, inner = ([end["input"], end["output"]] for end in (chosen, last))
    turns = messages.conversation(*conversation)
    if len(turns) < len(own_turns := messages.conversation(*inner)) and _same(conversation, inner):
        conversation = inner
        turns = own_turns  # a model's span has the tools and the system prompt that its caller's has not
    called = not any(messages.role_of(turn) in messages.TOOLS for turn in turns) and tools
    ignored.update({"other spans": len(spans) - 1 - tools - retrievers, "tool calls": called})
    ignored["system prompts"] += last["instructions"]
    choices = chosen["further"] + messages.further_choices(chosen["output"])
    ignored["further choices of a reply"] += choices
    ignored.update(chosen["unread"])
    model = chosen["model"] or last["model"]
    return {
        "trace_id": chosen["trace"],
        "span_id": chosen["id"],
        "name": chosen["name"],
        "input": chosen["input"],
        "output": chosen["output"],
        "conversation": conversation,
        "documents": [
            document
            for place, document in enumerate(retrieved)
            if not _repeats(document, retrieved[:place])
        ],
        "model": model if isinstance(model, str) else None,
        "references": chosen["references"] or None,
        "response_id": chosen["response"] or last["response"],
        "session_id": next((span["session"] for span in ordered if span["session"]), None),
    }


def _repeats(document: Any, earlier: Sequence[Any]) -> bool:
    """Whether a passage stands among earlier ones. What a reranker returns may have lost the ids."""
    if document in earlier:
        return True
    if isinstance(document, dict) and document.get("id") is not None:
        return False
    return _text_of(document) in map(_text_of, earlier)


def _text_of(document: Any) -> Any:
    return document.get("text") if isinstance(document, dict) else document


def _same(outer: list[Any], inner: list[Any]) -> bool:
    """Whether two spans' inputs and outputs have the same question and the same answer."""
    questions, answered = (
        {str(read(span[i])).strip() for span in (outer, inner)}
        for i, read in enumerate((_question, _answer))
    )
    return len(questions) == len(answered) == 1


def _question(value: Any) -> Any:
    return messages.question(messages.parsed(value))


def _answer(value: Any) -> Any:
    """The answer in an output. Conventions of traces write an object as a text that is JSON."""
    return messages.answer(messages.parsed(value))


def _is_answer(span: Mapping[str, Any]) -> bool:
    answer = _answer(span["output"])
    return bool(_question(span["input"]) and (answer or span["empty"]) and answer != _HIDDEN)


def _depth(span: str, parents: Mapping[str, str]) -> int:
    """How many spans of the trace are around a span; a circle of parents ends."""
    depth = 0
    while (span := parents.get(span, "")) in parents and depth < len(parents):
        depth += 1
    return depth


def _hex(value: Any) -> str:
    return str(value or "").removeprefix("0x")


def _attributes(raw: Any) -> dict[str, Any]:
    """Attributes as an object, also those of OTLP: a list of keys and values."""
    raw = messages.parsed(raw)
    if isinstance(raw, list):
        pairs = [
            item for item in raw if isinstance(item, dict) and isinstance(item.get("key"), str)
        ]
        return {pair["key"]: _value(pair.get("value")) for pair in pairs}
    return raw if isinstance(raw, dict) else {}


def _value(raw: Any) -> Any:
    """The value of an attribute in OTLP's JSON."""
    if not isinstance(raw, dict) or len(raw) != 1:
        return None
    ((kind, value),) = raw.items()
    if kind == "arrayValue":
        values = value.get("values") if isinstance(value, dict) else None
        return [_value(value) for value in values] if isinstance(values, list) else None
    if kind == "kvlistValue":
        return _attributes(value.get("values")) if isinstance(value, dict) else None
    return value


def nested(flat: Mapping[str, Any], inside: bool = True) -> dict[str, Any]:
    """An object whose keys with dots are objects in each other, and lists where all keys are numbers: the role is
    `llm.input_messages[0].message.role`. A key that does not fit among the others stays. inside: in its parts too."""
    tree: dict[str, Any] = {}
    for key, value in flat.items():
        *around, last = key.split(".", 12)
        place: Any = tree
        for part in around:
            place = place.setdefault(part, {}) if isinstance(place, dict) else None
        value = _nested(value) if inside else value
        if isinstance(place, dict) and last not in place:
            place[last] = value
        else:
            tree.setdefault(key, value)
    return {key: _listed(value) for key, value in tree.items()}


def _nested(value: Any) -> Any:
    if isinstance(value, list):
        return [_nested(item) for item in value]
    return nested(value) if isinstance(value, dict) else value


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    value = {key: _listed(item) for key, item in value.items()}
    numbers = all(
        isinstance(key, str) and key.isdecimal() and len(key) <= _LONGEST_PLACE for key in value
    )
    return [value[key] for key in sorted(value, key=int)] if value and numbers else value

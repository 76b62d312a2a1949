"""From a raw record (a dict, whatever tool wrote it) to an `Example`, or to all that is wrong with it.

Names are compared without case, with `-` and spaces as `_`, and `userInput` is `user_input`. A mapping `our field ->
column` goes before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import orjson
from pydantic import ValidationError

from longmark.errors import UnknownName, UserError
from longmark.records.example import Context, Example
from longmark.records.json_data import NotJson, compact, flaw, parse_json
from longmark.records.values import Problem, as_list_cell, found, label, missing, text

NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "example_id", "query_id"),
    "question_id": ("question_id",),
    "question": ("question", "query", "user_input", "input"),
    "answer": ("answer", "response", "actual_output"),
    "contexts": ("contexts", "context", "retrieved_contexts", "retrieved_context", "retrieval_context"),
    "references": (
        "references",
        "reference",
        "ground_truth",
        "ground_truths",
        "gt_answer",
        "expected_output",
    ),
    "system": ("system",),
    "variant_of": ("variant_of",),
    "variant": ("variant",),
    "base_answer": ("base_answer",),
    "profile": ("profile",),
    "task": ("task",),
    "level": ("level",),
    "options": ("options",),
    "meta": ("meta",),
}
"""Each field and the columns that are understood as it. Ragas, DeepEval and RAGChecker use these names."""

_FIELD_OF = {name: field for field, names in NAMES.items() for name in names}
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # where camelCase begins a word
_ALIASES = {"reference": "references", "context": "contexts"}
_MARKED = frozenset({"question", "answer", "contexts", "references"})
_LABELS = frozenset({"id", "question_id", "system", "variant_of", "variant", "task", "level"})
_TEXTS = frozenset({"question", "answer", "base_answer"})

_PASSAGE_TEXT = ("text", "content", "page_content")
_PASSAGE_ID = ("id", "doc_id", "chunk_id")


class BadRecord(Exception):
    """A record that is no example; `str` of it is one line with every problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))


class Columns:
    """How the columns of one file are read.

    mapping: our field -> column. cells: the values are cells of a CSV file, where an empty one is a missing value, `""`
    an empty text, and a list is written as JSON. `never_seen` tells which mapped columns no record had so far.
    """

    def __init__(self, mapping: Mapping[str, str] | None = None, cells: bool = False) -> None:
        self._column_of: dict[str, str] = {}
        for name, column in (mapping or {}).items():
            field = _ALIASES.get(name, name)
            if field not in NAMES:
                raise UnknownName("field", name, NAMES, f"The fields are {', '.join(NAMES)}.")
            if field in self._column_of:
                raise UserError(f"--map names {field} twice; give it one column")
            self._column_of[field] = column
        self._mapped = frozenset(self._column_of.values())
        self._cells = cells
        self.never_seen = set(self._mapped)

    def example(self, record: Any) -> Example:
        """The Example of a record. Raises BadRecord."""
        if not isinstance(record, dict):
            raise BadRecord([f"expected an object with named fields, found {found(record)}"])
        if self.never_seen:
            self.never_seen.difference_update(record)
        problems: list[str] = []
        fields: dict[str, Any] = {}
        source: dict[str, str] = {}
        rest: dict[str, Any] = {}
        for field, column, raw in self._assigned(record, rest):
            source.setdefault(field, column)
            try:
                value = self._value(field, raw)
            except Problem as problem:
                problems.append(str(problem))
                continue
            if value is None or value == ():
                continue
            if field in fields and fields[field] != value:
                problems.append(
                    f"{field}: the columns {source[field]} and {column} both hold it and differ; "
                    f"choose one with --map {field}=COLUMN"
                )
            else:
                fields[field] = value
                source[field] = column
        if not problems and not _MARKED & source.keys():
            problems.append(_nothing_known(record))
        try:
            if rest:
                fields["meta"] = _with_rest(fields.get("meta", {}), rest)
            _check_json(fields)
        except Problem as problem:
            problems.append(str(problem))
        if problems:
            raise BadRecord(problems)
        return _made(fields)

    def _assigned(self, record: dict[str, Any], rest: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
        """(field, column, value) of every column that is a field; the others go into `rest` where they have a value."""
        for field, column in self._column_of.items():
            if column in record:
                yield field, column, record[column]
        retrieval = any(_known_name(column) == "retrieval_context" for column in record)
        for column, raw in record.items():
            if column in self._mapped:
                continue
            name = _known_name(column)
            known = field_of(column)
            if known is None or known in self._column_of or (retrieval and name == "context"):
                if not (missing(raw) or (self._cells and raw == "")):
                    rest[column] = raw
            else:
                yield known, column, raw

    def _value(self, field: str, raw: Any) -> Any:
        if missing(raw) or (self._cells and raw == ""):
            return None
        if self._cells and raw == '""':
            raw = ""
        if field in _TEXTS:
            return text(field, raw)
        if field in _LABELS:
            return label(field, raw)
        if field == "contexts":
            return _contexts(as_list_cell(field, raw) if self._cells else raw)
        if field == "references":
            return _references(as_list_cell(field, raw) if self._cells else raw)
        return _json_object(field, raw)


def field_of(column: str) -> str | None:
    """The field that a column is understood as, by its name alone."""
    name = _known_name(column)
    return None if name is None else _FIELD_OF[name]


@lru_cache(maxsize=4096)
def _known_name(column: str) -> str | None:
    """The name out of NAMES that a column's name stands for."""
    words = column.strip().replace(" ", "_").replace("-", "_")
    return next((name for name in (words.lower(), _HUMP.sub("_", words).lower()) if name in _FIELD_OF), None)


def _made(fields: dict[str, Any]) -> Example:
    try:
        return Example(**fields)
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise BadRecord(problems) from None


def _contexts(raw: Any) -> tuple[Context, ...]:
    if isinstance(raw, dict):
        raw = [raw]
    if isinstance(raw, str):
        value = text("contexts", raw)
        return (Context(text=value),) if value.strip() else ()
    if not isinstance(raw, list):
        raise Problem(f"contexts: expected text or a list, found {found(raw)}")
    passages = (_context(f"contexts[{index}]", item) for index, item in enumerate(raw) if not missing(item))
    return tuple(passage for passage in passages if passage.text.strip())


def _context(where: str, raw: Any) -> Context:
    if isinstance(raw, str):
        return Context(text=text(where, raw))
    if not isinstance(raw, dict):
        raise Problem(f"{where}: expected text or an object with id and text, found {found(raw)}")
    body = next((raw[key] for key in _PASSAGE_TEXT if not missing(raw.get(key))), None)
    if body is None:
        raise Problem(f"{where}: an object needs its passage under {', '.join(_PASSAGE_TEXT)}")
    name = next((raw[key] for key in _PASSAGE_ID if not missing(raw.get(key))), None)
    return Context(text=text(where, body), id=None if name is None else label(f"{where}.id", name))


def _references(raw: Any) -> tuple[str, ...]:
    if isinstance(raw, str):
        raw = [raw]
    if not isinstance(raw, list):
        raise Problem(f"references: expected text or a list of texts, found {found(raw)}")
    texts = (text(f"references[{index}]", item) for index, item in enumerate(raw) if not missing(item))
    return tuple(reference for reference in texts if reference.strip())


def _json_object(field: str, raw: Any) -> Any:
    """profile, options, meta: an object (options: or a list), given as such or as JSON text."""
    value = raw
    if isinstance(raw, str):
        try:
            value = parse_json(raw)
        except NotJson:
            value = raw
        except ValueError as error:
            raise Problem(f"{field}: {error}") from None
    if isinstance(value, dict) or (field == "options" and isinstance(value, list)):
        return value
    raise Problem(f"{field}: expected an object{' or a list' if field == 'options' else ''}, found {found(raw)}")


def _with_rest(meta: dict[str, Any], rest: dict[str, Any]) -> dict[str, Any]:
    twice = [name for name in rest if name in meta and meta[name] != rest[name]]
    if twice:
        raise Problem(f"meta: {', '.join(twice)} is also a column of its own, and differs")
    return {**meta, **rest}


def _check_json(fields: dict[str, Any]) -> None:
    """Raises Problem where the free parts of a record could not be written as JSON again."""
    for field in ("profile", "options", "meta"):
        if field in fields and compact(fields[field]) is None:
            if (why := flaw(fields[field])) is not None:
                raise Problem(f"{field}: {why}")
            try:
                orjson.dumps(fields[field])
            except orjson.JSONEncodeError as error:
                raise Problem(f"{field}: cannot be kept as JSON ({error})") from None


def _nothing_known(record: dict[str, Any]) -> str:
    if not record:
        return "the record is empty"
    names = [str(name) for name in record]
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return f"no column that longmark knows (found {shown}); name them with --map question=COLUMN"

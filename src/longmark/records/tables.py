"""Rows and examples as the flat records of a CSV or Parquet file, and rows back again.

What has parts (evidence, signature, usage; contexts, references, profile, options, meta) is one column of JSON. In CSV
an empty cell is a missing value and `""` (two quotation marks) an empty text. In Parquet contexts and references are
lists. Examples are read back by `records.columns`, which knows these forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

import orjson

from longmark.records.example import Example
from longmark.records.json_data import parse_json
from longmark.records.row import Row
from longmark.records.values import found, text

ROW_COLUMNS = (
    "example_id",
    "question_id",
    "system",
    "metric",
    "score",
    "status",
    "reason",
    "evidence",
    "signature",
    "usage",
)
EXAMPLE_COLUMNS = tuple(Example.model_fields)

_ROW_JSON = ("evidence", "signature", "usage")
_EXAMPLE_JSON = ("profile", "options", "meta")
_EXAMPLE_LISTS = ("contexts", "references")


def flat_row(row: Row) -> dict[str, Any]:
    """The record of a row: text, numbers, None."""
    record: dict[str, Any] = {name: getattr(row, name) for name in ROW_COLUMNS}
    record["evidence"] = _json(row.evidence)
    record["signature"] = _json(asdict(row.signature))
    record["usage"] = _json(asdict(row.usage))
    return record


def row_of(record: dict[str, Any]) -> Row:
    """The Row of a flat record. ValueError where it is none."""
    data = dict(record)
    for name in _ROW_JSON:
        if name in data:
            data[name] = _parsed(name, data[name]) if data[name] else {}
    return Row.from_dict(data)


def _parsed(name: str, cell: Any) -> Any:
    if not isinstance(cell, str):
        raise ValueError(f"{name}: expected JSON text, found {found(cell)}")
    try:
        return parse_json(cell)
    except ValueError as error:
        raise ValueError(f"{name} {error}") from None


def flat_example(example: Example) -> dict[str, Any]:
    """The record of an example: text, None, a list of {id, text} for contexts, a list of texts for references."""
    record = {name: getattr(example, name) for name in EXAMPLE_COLUMNS}
    record["contexts"] = [{"id": context.id, "text": context.text} for context in example.contexts]
    record["references"] = list(example.references)
    for name in _EXAMPLE_JSON:
        record[name] = None if record[name] is None else _json(record[name])
    return record


def to_cells(record: dict[str, Any]) -> list[Any]:
    """The cells of one line of CSV."""
    return [_cell(value) for value in record.values()]


def from_cells(record: dict[str, str]) -> dict[str, Any]:
    """The flat row that `to_cells` wrote. ValueError if its score is not a number."""
    data: dict[str, Any] = {name: None if cell == "" else _unquoted(text(name, cell)) for name, cell in record.items()}
    for name in ("score", "value"):
        if data.get(name) is not None:
            data[name] = float(data[name])
    for name in ("example_id", "question_id", "system", "metric", "status"):
        if name in data:
            data[name] = data[name] or ""
    return data


def in_batches(
    records: Iterable[dict[str, Any]], most: int = 1024, weight: int = 1 << 24
) -> Iterator[list[dict[str, Any]]]:
    """Lists of at most `most` records, shorter where their texts come to `weight` characters."""
    batch: list[dict[str, Any]] = []
    size = 0
    for record in records:
        batch.append(record)
        size += sum(_weight(value) for value in record.values())
        if len(batch) >= most or size >= weight:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def row_schema() -> Any:
    """The Parquet schema of rows."""
    import pyarrow

    return pyarrow.schema([(name, pyarrow.float64() if name == "score" else pyarrow.string()) for name in ROW_COLUMNS])


def example_schema() -> Any:
    """The Parquet schema of examples."""
    import pyarrow

    passage = pyarrow.struct([("id", pyarrow.string()), ("text", pyarrow.string())])
    lists = {"contexts": pyarrow.list_(passage), "references": pyarrow.list_(pyarrow.string())}
    return pyarrow.schema([(name, lists.get(name, pyarrow.string())) for name in EXAMPLE_COLUMNS])


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, list):
        return _json(value) if value else ""
    return '""' if value == "" else value


def _unquoted(cell: str) -> str:
    return "" if cell == '""' else cell


def _weight(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, list):
        return sum(len(item) if isinstance(item, str) else len(item["text"]) for item in value)
    return 8

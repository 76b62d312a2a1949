"""Rows and examples into files, and rows out of them again: JSON Lines, CSV, TSV, Parquet, by the suffix.

Everything streams, and a file appears whole or not at all: it is written beside its place, flushed to the disk, and
moved there. Cells of a CSV file are written as they are: one that begins with = + - @ is a formula to a spreadsheet
(import it as text), and an apostrophe before it would be a change of the data.
"""

from __future__ import annotations

import csv
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from longmark.errors import MissingExtra, UserError
from longmark.records import sources, tables
from longmark.records.example import Example
from longmark.records.json_data import NotJson
from longmark.records.row import Row
from longmark.records.values import Problem

WRITTEN = {".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
"""Suffix -> format, of the files that can be written."""


def write_rows(rows: Iterable[Row], path: str | Path) -> int:
    """Writes rows; returns how many. An existing file is replaced once the last one is written."""
    return _write(rows, Path(path), tables.flat_row, tables.ROW_COLUMNS, tables.row_schema)


def write_examples(examples: Iterable[Example], path: str | Path) -> int:
    """Writes examples; returns how many. An existing file is replaced once the last one is written."""
    return _write(examples, Path(path), tables.flat_example, tables.EXAMPLE_COLUMNS, tables.example_schema)


def read_rows(path: str | Path, unfinished: Callable[[int], None] | None = None) -> Iterator[Row]:
    """The rows of a file in its order.

    unfinished: called with the number of the last line of a JSON Lines file if that line was cut off, which is then
    left out; without it such a line is an error. Raises UserError, with the line, for anything that is not a row.
    """
    path = Path(path)
    if path.is_file() and path.stat().st_size == 0:
        return iter(())
    kind = sources.kind_of(path)
    if kind == "json":
        raise UserError(f"{path}: rows are kept as one of {', '.join(WRITTEN)}")
    return _jsonl_rows(path, unfinished) if kind == "jsonl" else _table_rows(path, kind)


def _jsonl_rows(path: Path, unfinished: Callable[[int], None] | None) -> Iterator[Row]:
    for number, line in sources.lines(path):
        try:
            yield Row.from_json(line)
        except NotJson as error:
            if unfinished is None or line.endswith(b"\n"):
                raise UserError(f"{path}:{number}: not a row: {error}") from None
            unfinished(number)
        except ValueError as error:
            raise UserError(f"{path}:{number}: {error}") from None


def _table_rows(path: Path, kind: str) -> Iterator[Row]:
    for number, record in sources.records(path, kind):
        if isinstance(record, sources.Unreadable):
            raise UserError(f"{path}:{number}: {record.message}")
        try:
            yield tables.row_of(record if kind == "parquet" else tables.from_cells(record))
        except (ValueError, Problem) as error:
            raise UserError(f"{path}:{number}: not a row: {error}") from None


def _write(
    items: Iterable[Any],
    path: Path,
    flat: Callable[[Any], dict[str, Any]],
    columns: tuple[str, ...],
    schema: Callable[[], Any],
) -> int:
    kind = WRITTEN.get(path.suffix.lower())
    if kind is None:
        raise UserError(f"{path}: the suffix tells the format, one of {', '.join(WRITTEN)}")
    written = 0

    def counted() -> Iterator[Any]:
        nonlocal written
        for item in items:
            written += 1
            yield item

    with replacing(path) as file:
        if kind == "jsonl":
            for item in counted():
                file.write(item.to_json() + b"\n")
        elif kind == "parquet":
            _write_parquet(file, map(flat, counted()), schema)
        else:
            _write_csv(file, map(flat, counted()), columns, "\t" if kind == "tsv" else ",")
    return written


def _write_csv(file: IO[bytes], records: Iterable[dict[str, Any]], columns: tuple[str, ...], delimiter: str) -> None:
    writer = csv.writer(_Encoded(file), delimiter=delimiter)
    writer.writerow(columns)
    for record in records:
        writer.writerow(tables.to_cells(record))


class _Encoded:
    """What csv.writer needs: a place for text, here a binary file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(text.encode())


def _write_parquet(file: IO[bytes], records: Iterable[dict[str, Any]], schema: Callable[[], Any]) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("writing Parquet", "parquet") from None
    made = schema()
    with pyarrow.parquet.ParquetWriter(file, made, compression="zstd") as writer:
        for batch in tables.in_batches(records):
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=made))


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A new file to write, which takes the place of `path` when the block ends well and vanishes when it does not.

    UserError where the system cannot write it, in the block too (a full disk).
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise UserError(f"{path} cannot be written: {error.strerror or error}") from error
        raise

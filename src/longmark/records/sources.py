"""The raw records of a file of any format, with the place of each.

JSON Lines, CSV, TSV and Parquet stream; a .json document is read at once.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from longmark.errors import UserError, library
from longmark.options import named
from longmark.records import containers, trec
from longmark.records.arrow_records import BATCH, of_batches, of_files
from longmark.records.csv_records import csv_records
from longmark.records.encodings import encoding_note
from longmark.records.example import Question
from longmark.records.files import (
    at,
    check,
    check_regular,
    check_texts,
    lines,
    opened,
    parse_json,
)
from longmark.records.raw_record import Records, check_names
from longmark.records.raw_record import UnreadableRecord as UnreadableRecord
from longmark.records.table_titles import from_the_names

KINDS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
"""Suffix -> format."""

_MORE = {
    ".xlsx": "xlsx",
    ".eval": "inspect",
    ".arrow": "arrow",
}  # formats of records that are no documents
_OF_PAGES = frozenset((".html", ".htm", ".yaml", ".yml", ".xml", ".md", ".txt"))
"""Suffixes of reports, which tools write beside files that can be read."""

_HEAD = 1 << 14  # bytes in which a report says whose it is
_PROMPTFOO = re.compile(rb"^evalId:|<evalId>|promptfoo", re.MULTILINE)

TEXT = frozenset(("jsonl", "json", "csv", "tsv"))
"""Formats of text, which have an encoding."""

CELLS = frozenset(("csv", "tsv", "xlsx"))
"""Formats whose values are cells: texts, of which the empty one is a missing value."""


def kind_of(path: Path) -> str:
    """The format of a file by its suffix, or `folder` for one of Hugging Face. UserError if there is no such file, it
    is empty or has another suffix, or the folder has no data."""
    if path.is_dir():
        return "folder" if containers.data_files(path) else ""
    check_regular(path)
    if path.suffix.lower() in trec.SUFFIXES and (kind_by_lines := trec.kind_of(path)):
        return kind_by_lines
    kinds = KINDS | _MORE
    kind = kinds.get(path.suffix.lower())
    if kind is None:
        _refuse_promptfoo(path)
        unpack = (
            "unpack it first"
            if path.suffix.lower() in (".gz", ".zip", ".xz", ".zst", ".bz2")
            else "export the answers as .json, .jsonl or .csv, or convert it"
            if path.suffix.lower() in _OF_PAGES
            else "convert it"
        )
        raise UserError(
            f"{path}: the suffix must be one of {', '.join(kinds)}; {unpack}, or rename it"
        )
    if path.stat().st_size == 0:
        raise UserError(f"{path} is empty")
    return kind


def _refuse_promptfoo(path: Path) -> None:
    """UserError for results that promptfoo wrote as YAML, XML or HTML: what a page shows is no longer what was said."""
    with opened(path) as file:
        start = file.read(_HEAD)
    if path.suffix.lower() in _OF_PAGES and _PROMPTFOO.search(start):
        raise UserError(
            f"{path} has results of promptfoo in a form that is not read. Write them as JSON: `promptfoo export eval ID "
            "--output results.json` (`promptfoo list evals` has the ids)"
        )


def records(path: Path, kind: str, encoding: str = "") -> Records:
    """Every record of a file. encoding: of a text file, "": UTF-8. UserError if the file as a whole cannot be read."""
    return _bounded(_records(path, kind, encoding))


def _bounded(unbounded: Records) -> Records:
    """The records, with an Unreadable in place of one whose texts hold too many values (`files.check_texts`)."""
    for place, record in unbounded:
        if type(record) is dict:
            try:
                check_texts(record)
            except ValueError as error:
                yield place, UnreadableRecord(str(error))
                continue
        yield place, record


def _records(path: Path, kind: str, encoding: str) -> Records:
    try:
        if kind in _OTHERS:
            yield from _OTHERS[kind](path)
            return
        if not encoding:
            _refuse_utf_16(path)
        if kind == "jsonl":
            yield from _jsonl(path, encoding)
        elif kind == "json":
            yield from _json(path, encoding)
        else:
            yield from csv_records(path, "\t" if kind == "tsv" else ",", encoding)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error


def _refuse_utf_16(path: Path) -> None:
    """UserError for UTF-16: by its byte order mark, or by the NUL bytes that are half of its Latin letters."""
    with opened(path) as file:
        start = file.read(4096)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UserError(f"{path} is UTF-16; save it as UTF-8, or add {named('encoding', 'utf-16')}")
    if b"\x00" in start[:4] or start.count(b"\x00") * 8 > len(start):
        option = named("encoding")
        raise UserError(
            f"{path} contains many NUL bytes and looks like UTF-16; save it as UTF-8, or add {option}"
        )


# JSON -----------------------------------------------------------------------------------------------------------------
def _jsonl(path: Path, encoding: str) -> Records:
    for number, raw in lines(path, encoding):
        line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        if not line.strip():
            continue
        try:
            yield number, parse_json(line)
        except ValueError as error:
            if line.strip() in (b"[", b"{"):
                raise UserError(
                    f"{path} is one JSON document, not one record per line; rename it to .json"
                ) from None
            yield number, UnreadableRecord(str(error))


def _json(path: Path, encoding: str) -> Records:
    try:
        for number, record in enumerate(containers.of_json(path, encoding or "utf-8-sig"), 1):
            try:
                check(record)
            except ValueError as error:
                record = UnreadableRecord(str(error))
            yield number, record
    except UnicodeDecodeError:
        raise UserError(encoding_note(path) or f"{path} is not written in {encoding}") from None
    except ValueError as error:
        first = [line for _, line in islice(lines(path, encoding), 3) if line.strip()][:2]
        if len(first) == 2 and all(_is_object(line) for line in first):
            raise UserError(f"{path} has one record per line; rename it to .jsonl") from None
        raise UserError(f"{path} {error}") from None


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(parse_json(line), dict)
    except ValueError:
        return False


# CSV ------------------------------------------------------------------------------------------------------------------


def _sheet(path: Path) -> Records:
    names: list[str] = []
    for line, cells in from_the_names(containers.of_sheet(path)):
        unreadable = next(
            ((at, cell) for at, cell in enumerate(cells) if isinstance(cell, dict)), None
        )
        if unreadable is not None:
            place, why = unreadable
            name = names[place] if place < len(names) else f"column {place + 1}"
            if not names:
                raise UserError(at(path, line, f"the name of {name} {why['unreadable']}"))
            yield line, UnreadableRecord(f"{name}: {why['unreadable']}")
        elif not names:
            names = (
                [cell.strip() or f"column_{number}" for number, cell in enumerate(cells, 1)]
                if any(cells)
                else []
            )
            check_names(path, names)
        elif any(cells):
            yield line, dict(zip(names, cells, strict=False))


# Parquet --------------------------------------------------------------------------------------------------------------
def _parquet(path: Path) -> Records:
    return of_files([path], "parquet", path)


def _arrow(path: Path) -> Records:
    """A file of Arrow, of either form."""
    return of_files([path], "arrow", path)


def _folder(path: Path) -> Records:
    files = containers.data_files(path)
    return of_files(files, files[0].suffix[1:], path)


def _qrels(path: Path) -> Records:
    for line, judgment in trec.judgments(path):
        yield line, UnreadableRecord(judgment) if isinstance(judgment, str) else judgment


def _topics(path: Path) -> Records:
    for line, topic in trec.topics(path):
        yield line, UnreadableRecord(topic) if isinstance(topic, str) else topic


_OTHERS: dict[str, Callable[[Path], Records]] = {
    "parquet": _parquet,
    "arrow": _arrow,
    "folder": _folder,
    "xlsx": _sheet,
    "inspect": lambda path: enumerate(containers.of_inspect(path), 1),
    "qrels": _qrels,
    "topics": _topics,
}


def is_frame(examples: Any) -> bool:
    """Whether something is a table of Arrow, pandas or polars (it has Arrow's interface for tables)."""
    return hasattr(examples, "__arrow_c_stream__")


def are_columns(table: Mapping[str, Any]) -> bool:
    """Whether a mapping is a table by columns, not a set of lists of records."""
    return all(
        isinstance(column, list | tuple)
        and not any(isinstance(cell, Mapping | Question) for cell in column)
        for column in table.values()
    )


def of_frame(frame: Any) -> Records:
    """The rows of a DataFrame (pandas, polars) or a pyarrow table; NaN and NA of pandas are missing values.

    MissingExtra without pyarrow; UserError for a column of several types.
    """
    pyarrow = library("pyarrow", "reading a DataFrame", "parquet")
    try:
        pandas = type(frame).__module__.startswith("pandas.")
        table = (
            pyarrow.Table.from_pandas(frame, preserve_index=False)
            if pandas
            else pyarrow.table(frame)
        )
    except (pyarrow.ArrowException, ValueError, TypeError) as error:
        raise UserError(f"the DataFrame cannot be read: {' '.join(str(error).split())}") from None
    check_names("the DataFrame", table.column_names)
    return _bounded(of_batches(table.column_names, table.to_batches(max_chunksize=BATCH)))


def of_dataset(dataset: Any) -> Records:
    """The rows of a `datasets.Dataset`, or of one that streams."""
    tables = dataset.with_format("arrow").iter(BATCH)
    return enumerate((record for table in tables for _, record in of_frame(table)), 1)

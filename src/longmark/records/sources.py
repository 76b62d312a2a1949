"""The raw records of a file, whatever its format, with the place of each."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.records import files, parquet
from longmark.records.columns import field_of
from longmark.records.json_data import LARGEST, check, parse_document, parse_json

KINDS = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
"""Suffix -> format."""

_HINT = re.compile(r'"?sep=([,;:|\t])"?', re.IGNORECASE)  # the first line of a CSV file that Excel takes for no data
LONGEST_CELL = 1 << 26  # characters of a CSV cell; Python's own limit is 131,072
LONGEST_LINE = 1 << 26  # bytes of a record of a JSON Lines file


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that could not be taken apart; message: why, on one line."""

    message: str


Records = Iterator[tuple[int, Any]]
"""(line or number, record or Unreadable)"""


def kind_of(path: Path) -> str:
    """The format of a file by its suffix. Raises UserError where there is none to read."""
    try:
        return _kind_of(path)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error


def _kind_of(path: Path) -> str:
    if path.is_dir():
        raise UserError(f"{path} is a folder; name the file with the records")
    if not path.exists():
        raise UserError(f"there is no file {path}")
    if not path.is_file():
        raise UserError(f"{path} is a pipe or a device, which cannot be read twice; save the records in a file first")
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        unpack = "unpack it first" if path.suffix.lower() in (".gz", ".zip", ".xz", ".zst", ".bz2") else "convert it"
        raise UserError(f"{path}: the suffix tells the format, one of {', '.join(KINDS)}; {unpack}, or rename it")
    if path.stat().st_size == 0:
        raise UserError(f"{path} is empty")
    return kind


def records(path: Path, kind: str) -> Records:
    """Every record of a file. Raises UserError where the file as a whole cannot be read."""
    try:
        if kind != "parquet":
            _check_encoding(path)
        if kind == "jsonl":
            yield from _jsonl(path)
        elif kind == "json":
            yield from _json(path)
        elif kind == "parquet":
            yield from _parquet(path)
        else:
            yield from _csv(path, "\t" if kind == "tsv" else ",")
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line with its end) of a regular file. UserError where it cannot be read or a line has no end."""
    with files.opened(path) as file:
        for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), b""), 1):
            if len(line) > LONGEST_LINE:
                raise UserError(f"{path}:{number}: is longer than the {LONGEST_LINE >> 20} MiB that a line may have")
            yield number, line


def _jsonl(path: Path) -> Records:
    for number, raw in lines(path):
        line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
        if not line.strip():
            continue
        try:
            yield number, parse_json(line)
        except ValueError as error:
            if line.strip() in (b"[", b"{"):
                raise UserError(f"{path} is one JSON document, not one record a line; name it .json") from None
            yield number, Unreadable(str(error))


def _json(path: Path) -> Records:
    raw = files.content(path, LARGEST).removeprefix(codecs.BOM_UTF8)
    try:
        document = parse_document(raw)
        if not isinstance(document, dict | list):
            check(document)
    except ValueError as error:
        lines = [line for line in raw.split(b"\n", 3)[:2] if line.strip()]
        if len(lines) == 2 and all(_is_object(line) for line in lines):
            raise UserError(f"{path} holds one record a line; name it .jsonl") from None
        raise UserError(f"{path} {error}") from None
    del raw
    if isinstance(document, dict):
        if not isinstance(document.get("results"), list):
            names = ", ".join(list(document)[:8])
            raise UserError(f"{path}: expected a list of records, or an object with one under `results`; found {names}")
        document = document["results"]
    if not isinstance(document, list):
        raise UserError(f"{path}: expected a list of records")
    for number, record in enumerate(document, 1):
        try:
            check(record)
        except ValueError as error:
            record = Unreadable(str(error))
        yield number, record


def _csv(path: Path, usual: str) -> Records:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        first = file.readline()
        hint = _HINT.fullmatch(first.rstrip("\r\n"))
        if hint is None:
            file.seek(0)
        before = 1 if hint is None else 2  # the number of the line that names the columns
        try:
            delimiter = _delimiter(path, first, usual) if hint is None else hint[1]
            rows = csv.reader(file, delimiter=delimiter, strict=True)
            names = _header(path, next(rows, []))
        except csv.Error as error:
            raise UserError(f"{path}:{before}: the names of the columns cannot be read: {error}") from None
        while True:
            line = rows.line_num + before
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield line, Unreadable(f"is not CSV: {error}; quotes inside a quoted cell are doubled")
                continue
            if not cells:
                continue
            if len(cells) != len(names):
                yield line, Unreadable(_miscounted(len(cells), len(names), delimiter))
                continue
            yield line, dict(zip(names, cells, strict=True))


def _delimiter(path: Path, line: str, usual: str) -> str:
    """What separates the columns that a line names: it gives the most names we know, and then the most names.

    One that leaves quotes where none may be comes last. Raises UserError where two are equally good.
    """

    def names_of(mark: str) -> tuple[bool, int, int]:
        names = next(csv.reader([line], delimiter=mark), [])
        return _is_csv(line, mark), sum(field_of(name) is not None for name in names), len(names)

    counts = {mark: names_of(mark) for mark in (",", ";", "\t")}
    most = max(counts.values())
    best = [mark for mark, count in counts.items() if count == most]
    if len(best) == 1:
        return best[0]
    if most[-1] > 1:
        raise UserError(
            f"{path}: the first line has {' and '.join(map(_name, best))} between the names of the columns; "
            f"use one of them, and quote names that hold the other"
        )
    return usual


def _is_csv(line: str, delimiter: str) -> bool:
    try:
        next(csv.reader([line], delimiter=delimiter, strict=True), None)
    except csv.Error:
        return False
    return True


def _miscounted(cells: int, names: int, delimiter: str) -> str:
    counts = f"{cells} cell{'' if cells == 1 else 's'} for {names} column{'' if names == 1 else 's'}"
    if cells > names:
        return f"{counts}; quote cells that hold {_name(delimiter)}"
    return f"{counts}; they are separated by {_name(delimiter)}, as the names in the first line are"


def _header(path: Path, cells: list[str]) -> list[str]:
    names = [name.strip() or f"column_{number}" for number, name in enumerate(cells, 1)]
    if not any(cell.strip() for cell in cells):
        raise UserError(f"{path}: the first line must name the columns")
    check_names(path, names)
    return names


def check_names(path: Path, names: list[str]) -> None:
    """UserError where two columns have one name: a record could keep only one of them."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise UserError(f"{path}: the column {', '.join(twice[:8])} is there twice; rename one")


def _name(delimiter: str) -> str:
    return {",": "commas", ";": "semicolons", "\t": "tabs", ":": "colons", "|": "bars"}[delimiter]


def _parquet(path: Path) -> Records:
    for number, record in enumerate(parquet.records(path, partial(check_names, path)), 1):
        yield number, Unreadable(str(record)) if isinstance(record, ValueError) else record


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(parse_json(line), dict)
    except ValueError:
        return False


def _check_encoding(path: Path) -> None:
    """Raises UserError for UTF-16: by its byte order mark, or by the NUL bytes that are half of its Latin letters."""
    with path.open("rb") as file:
        start = file.read(4096)
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UserError(f"{path} is UTF-16; save it as UTF-8")
    if b"\x00" in start[:4] or start.count(b"\x00") * 8 > len(start):
        raise UserError(f"{path} is full of NUL bytes and looks like UTF-16; save it as UTF-8")

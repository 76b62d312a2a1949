"""Files with a form of their own around their records: JSON documents, spreadsheets, Inspect logs, folders of data."""

from __future__ import annotations

import codecs
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from longmark.errors import UserError, library
from longmark.records import (
    evaluators,
    judge_sets,
    platforms,
    preference_sets,
    published_sets,
    reply_shapes,
    shapes,
    sheets,
    tools,
    traces,
)
from longmark.records.columns import field_of
from longmark.records.files import (
    LARGEST,
    LONGEST_LINE,
    MOST_AT_ONCE,
    MOST_VALUES,
    NotJson,
    check,
    check_values,
    content,
    element,
    opened,
    parse_document,
    parse_json,
    unpacked_limit,
)
from longmark.records.shapes import Shape

SHAPES = (
    *tools.SHAPES,
    *platforms.SHAPES,
    *evaluators.SHAPES,
    *published_sets.SHAPES,
    *preference_sets.SHAPES,
    *judge_sets.SHAPES,
    *traces.SHAPES,
    *reply_shapes.SHAPES,
)
_SHAPES_OF_SPANS = tuple(shape for shape in SHAPES if shape.spans)
_OF_RECORDS = frozenset((".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".xlsx"))
_READ = 1 << 18
_READ_MORE = 1 << 22  # characters of an array that are read at first, and at most at a time
_SPACES = re.compile(r"[ \t\r\n]*")
_DAMAGED = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError)
_ZSTANDARD = (
    93  # the method of compression in a ZIP file, which Python's zipfile does not know before 3.14
)


def shape_of(record: Any) -> shapes.Shape | None:
    """The first shape that fits a record; None for any other."""
    return (
        next((shape for shape in SHAPES if shape.fits(record)), None)
        if isinstance(record, dict)
        else None
    )


def shape_in_family(shape: Shape, record: Mapping[str, Any]) -> Shape:
    """The shape of a record in a file whose first record has this shape."""
    if not shape.family or shape.fits(record):
        return shape
    relatives = (kin for kin in SHAPES if kin.family == shape.family and kin.fits(record))
    return next(relatives, shape)


def other_form(shape: Shape, record: Mapping[str, Any]) -> str:
    """What a record in a file of this shape is, where it is none of it: of another tool, or with columns by our names, such
    as a file has that was put together from two; "" where it is as the others."""
    if shape.spans or shape.fits(record):
        return ""
    shape_of_record = shape_of(record)
    if shape_of_record is not None:
        return f"records of another file ({shape_of_record.name})"
    has_keys = any(key in record for key in shape.keys)
    return "records in another form" if _has_names(record) and not has_keys else ""


def form_beside_spans(shape: Shape | None, record: Mapping[str, Any]) -> str:
    """What a record is that stands beside spans and is none, or is a span beside records that are read by their columns
    (shape is None); "" where it is as the others."""
    if shape is None:
        spans = next((form for form in _SHAPES_OF_SPANS if form.fits(record)), None)
        return f"records of another file ({spans.name})" if spans and not _has_names(record) else ""
    # `context` is a key of a span and the name of a column of passages
    keys = [key for key in shape.keys if field_of(key) is None]
    is_span = shape.fits(record) or any(key in record for key in keys)
    return "records in another form" if not is_span and _has_names(record) else ""


def _has_names(record: Mapping[str, Any]) -> bool:
    """Whether a record has a question and an answer in columns by our names."""
    return {"question", "answer"} <= {field_of(str(column)) for column in record}


# JSON -----------------------------------------------------------------------------------------------------------------
def of_json(path: Path, encoding: str) -> Iterator[Any]:
    """The records of a document: the elements of an array, which are read one after the other, or what an object has
    under `results`, where a tool has it, or as its only list of objects. UserError or ValueError for anything else."""
    with opened(path) as file, io.TextIOWrapper(file, encoding=encoding) as text:
        head = " "
        while head and not head.strip():
            head = text.read(_READ)
        if head.lstrip()[:1] == "[":
            yield from _elements(head.lstrip()[1:], text)
            return
    document = parse_document(_as_utf8(content(path, LARGEST), encoding))
    if not isinstance(document, dict):
        check(document)
        raise UserError(f"{path}: expected a list of records")
    yield from _of_document(path, document)


def _as_utf8(raw: bytes, encoding: str) -> bytes:
    """A document in UTF-8, without a byte order mark; a large one that is so already is not copied twice."""
    if encoding == "utf-8-sig":
        return raw.removeprefix(codecs.BOM_UTF8)
    return raw.decode(encoding).encode()


def _elements(buffer: str, text: io.TextIOBase) -> Iterator[Any]:
    """The elements of an array whose bracket was read."""
    at = 0
    size = _READ
    ended = False
    first = True
    while True:
        at = _after_spaces(buffer, at)
        mark = buffer[at : at + 1]
        if mark == "]":
            if (buffer[at + 1 :] + text.read(_READ)).strip():
                raise NotJson("is not JSON: there is text after the end of the list")
            return
        if mark and not first and mark != ",":
            raise NotJson("is not JSON: a comma is missing between two records")
        start = at if first else _after_spaces(buffer, at + 1)
        if start < len(buffer) and (decoded := element(buffer, start, ended)) is not None:
            value, at = decoded
            yield value
            size = _READ
            first = False
        elif ended:
            raise NotJson("is not JSON: the list does not end")
        elif len(buffer) - at > LONGEST_LINE:
            raise NotJson(f"has a record that is longer than the limit of {LONGEST_LINE >> 20} MiB")
        else:
            if (
                len(buffer) - at > 2 * MOST_VALUES
            ):  # all of it is of one record, which has not ended
                check_values(buffer[at:], MOST_VALUES)
            further = text.read(size)
            buffer = buffer[at:] + further
            at = 0
            size = min(size * 2, _READ_MORE)
            ended = not further


def _after_spaces(text: str, at: int) -> int:
    spaces = _SPACES.match(text, at)
    return spaces.end() if spaces else at


def _of_document(path: Path, document: dict[str, Any]) -> list[Any]:
    if isinstance(document.get("results"), list):
        return list(document["results"])
    for container in tools.CONTAINERS:
        if (records := container.open(document)) is not None:
            return records
    if shape_of(document) is not None:
        return [document]
    lists = {name: value for name, value in document.items() if isinstance(value, list) and value}
    of_records = [
        name for name, value in lists.items() if all(isinstance(item, dict) for item in value)
    ]
    if len(of_records) == 1:
        return list(lists[of_records[0]])
    names = ", ".join(list(document)[:8])
    raise UserError(
        f"{path}: expected a list of records, or an object with one under `results`; found {names}"
        + _how_to_write(lists, of_records)
    )


def _how_to_write(lists: dict[str, list[Any]], of_records: list[str]) -> str:
    """What to do with an object whose records are not where they are looked for."""
    if of_records:
        return f". There are several lists of records: {', '.join(of_records)}; write the one that is meant to a file"
    if len(lists) > 1 and len(set(map(len, lists.values()))) == 1:
        return (
            ". These are columns; write records: with pandas, "
            'pandas.DataFrame(columns).to_json("answers.jsonl", orient="records", lines=True)'
        )
    return ""


# Other files ----------------------------------------------------------------------------------------------------------
def of_sheet(path: Path) -> Iterator[tuple[int, list[Any]]]:
    """(row, cells) of the first sheet of an .xlsx file with a table, as `sheets.rows_of` reads them."""
    _check_size(path)
    yield from sheets.rows_of(path)


def of_inspect(path: Path) -> Iterator[Any]:
    """The samples of an Inspect log (.eval), each with the log's own data under `log`."""
    try:
        with opened(path) as file, zipfile.ZipFile(file) as log:
            names = [entry for entry in log.infolist() if entry.filename.startswith("samples/")]
            header = next(
                (entry for entry in log.infolist() if entry.filename == "header.json"), None
            )
            start = next(
                (entry for entry in log.infolist() if entry.filename == "_journal/start.json"),
                header,
            )
            described = header or start
            head = _member(log, file, described) if described else {}
            for name in names:
                sample = _member(log, file, name)
                yield (
                    {**sample, "log": {"eval": head.get("eval")}}
                    if isinstance(sample, dict)
                    else sample
                )
    except (
        *_DAMAGED,
        struct.error,
        ValueError,
        AttributeError,
        LookupError,
        RuntimeError,
        EOFError,
        OSError,
    ) as error:
        raise UserError(
            f"{path} cannot be read as an Inspect log: {' '.join(str(error).split())}"
        ) from None


def _member(log: zipfile.ZipFile, file: BinaryIO, info: zipfile.ZipInfo) -> Any:
    """The JSON value of a part of an archive. ValueError where it unpacks to more than its size allows, whatever the
    archive says of it, or has more values."""
    limit = unpacked_limit(info.compress_size)
    if info.compress_type == _ZSTANDARD:
        pyarrow = library("pyarrow", "reading this Inspect log (Zstandard)", "parquet")
        file.seek(
            info.header_offset + 26
        )  # the lengths of the name and of more data end the header of 30 bytes
        file.seek(sum(struct.unpack("<HH", file.read(4))), io.SEEK_CUR)
        packed = io.BytesIO(file.read(min(info.compress_size, LARGEST)))
        raw = bytes(pyarrow.CompressedInputStream(packed, "zstd").read(limit + 1))
    else:
        with log.open(info) as part:
            raw = part.read(limit + 1)
    if len(raw) > limit:
        raise ValueError(
            f"{info.filename} unpacks from {info.compress_size:,} bytes to more than the limit of {limit >> 20:,} MiB; "
            "save the log as JSON (inspect log convert --to json)"
        )
    return parse_json(raw, limit=min(MOST_AT_ONCE, max(MOST_VALUES, info.compress_size)))


def _check_size(path: Path) -> None:
    """UserError for a ZIP file that is none, or that unpacks to more than the limit by what it says. (That need not be
    true: the sheet's reader is bounded by itself.)"""
    limit = unpacked_limit(path.stat().st_size)
    try:
        with opened(path) as file, zipfile.ZipFile(file) as packed:
            size = sum(part.file_size for part in packed.infolist())
    except (*_DAMAGED, ValueError, NotImplementedError):
        raise UserError(
            f"{path} is damaged, or no file of its suffix: it is not a ZIP file"
        ) from None
    if size > limit:
        raise UserError(
            f"{path} unpacks to more than the limit of {limit >> 20:,} MiB; make it smaller, or save it as CSV"
        )


def data_files(folder: Path) -> list[Path]:
    """The Parquet or Arrow files of a folder of Hugging Face, in their order. UserError for any other folder."""
    if (folder / "dataset_dict.json").exists():
        splits = sorted(path.name for path in folder.iterdir() if path.is_dir())
        raise UserError(
            f"{folder} has several splits; name one: {', '.join(str(folder / split) for split in splits[:8])}"
        )
    for suffix in (".arrow", ".parquet"):
        if files := sorted(path for path in folder.rglob(f"*{suffix}") if path.is_file()):
            return files
    file_names = sorted(
        path.name for path in folder.iterdir() if path.suffix.lower() in _OF_RECORDS
    )
    if len(file_names) > 1 and "rows.jsonl" not in file_names:
        names = ", ".join(file_names[:8]) + (", …" if len(file_names) > 8 else "")
        raise UserError(
            f"{folder} is a folder of {len(file_names):,} files, and one is read at a time: {names}. If each has the "
            "answers of one system, score each into a run of its own, whose name is then the system's, and compare the runs"
        )
    raise UserError(f"{folder} is a folder without .arrow or .parquet files; name a file")

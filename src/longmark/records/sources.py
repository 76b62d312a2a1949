"""The raw records of a file of any format, with the place of each.

JSON Lines, CSV, TSV and Parquet stream; a .json document is read at once. Parquet values are as JSON would hold them:
dates, times, durations and decimals as text, bytes as UTF-8.
"""

from __future__ import annotations

import codecs
import csv
import datetime
import decimal
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

from longmark.errors import UnknownName, UserError, library
from longmark.options import named
from longmark.records import arrow_files, containers
from longmark.records.answer_tables import own_names
from longmark.records.columns import field_of
from longmark.records.files import (
    LONGEST_LINE,
    MOST_VALUES,
    at,
    check,
    check_regular,
    check_texts,
    lines,
    opened,
    parse_json,
)

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

TEXT = frozenset(("jsonl", "json", "csv", "tsv"))
"""Formats of text, which have an encoding."""

CELLS = frozenset(("csv", "tsv", "xlsx"))
"""Formats whose values are cells: texts, of which the empty one is a missing value."""

LONGEST_CELL = (
    1 << 26
)  # characters of a CSV cell (Python's own limit is 131,072), bytes of a Parquet value

MOST_COLUMNS = 100_000
"""Columns that the first line of a table names."""

_USUAL = (
    "cp1252",
    "cp1250",
    "cp1251",
    "cp1253",
    "shift_jis",
    "gb18030",
    "euc_kr",
    "big5",
)  # encodings, the usual first
_BATCH = 128  # records of a table that are made at a time: with a megabyte of contexts each, still little memory
_HINT = re.compile(
    r'"?sep=([,;:|\t])"?', re.IGNORECASE
)  # the first line of a CSV file that Excel takes for no data
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", ":": "colons", "|": "bars"}


@dataclass(frozen=True, slots=True)
class UnreadableRecord:
    """A record that cannot be read; message: why, on one line."""

    message: str


Records = Iterator[tuple[int, Any]]
"""(line or number, record or Unreadable). A line in JSON Lines, CSV and TSV; a number in JSON and Parquet."""


def kind_of(path: Path) -> str:
    """The format of a file by its suffix, or `folder` for one of Hugging Face. UserError if there is no such file, it
    is empty or has another suffix, or the folder has no data."""
    if path.is_dir():
        return "folder" if containers.data_files(path) else ""
    check_regular(path)
    kinds = KINDS | _MORE
    kind = kinds.get(path.suffix.lower())
    if kind is None:
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
            _check_encoding(path)
        if kind == "jsonl":
            yield from _jsonl(path, encoding)
        elif kind == "json":
            yield from _json(path, encoding)
        else:
            yield from _csv(path, "\t" if kind == "tsv" else ",", encoding)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error


def _check_encoding(path: Path) -> None:
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


def check_encoding(name: str) -> None:
    """UserError if Python has no text encoding of this name."""
    try:
        if not codecs.lookup(name)._is_text_encoding:
            raise LookupError
    except LookupError:
        usual = (*_USUAL, "utf-16")
        raise UnknownName("encoding", name, usual, f"Usual ones are {', '.join(usual)}.") from None


def encoding_note(path: Path) -> str:
    """What a text file that is not UTF-8 seems to be written in, and what to do; "" for one that is UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    sample = b""
    with opened(path) as file:
        try:
            while part := file.read(1 << 20):
                sample = part
                decoder.decode(part)
        except UnicodeDecodeError as error:
            from charset_normalizer import from_bytes

            around = sample[max(0, error.start - (1 << 15)) : error.start + (1 << 15)]
            fits = [
                name
                for guess in from_bytes(around, cp_isolation=list(_USUAL))
                for name in guess.could_be_from_charset
            ]
            guess, *alternatives = (
                sorted(dict.fromkeys(fits), key=lambda name: name != _USUAL[0]) or _USUAL[:1]
            )
            looks = f"{guess} or {alternatives[0]}" if alternatives else guess
            option = named("encoding", guess)
            return f"{path} is not UTF-8; it looks like {looks}: add {option}, or save the file as UTF-8"
    return ""


def _check_names(path: Path | str, names: list[str]) -> None:
    """UserError if two columns have one name: a record could keep only one of them."""
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise UserError(f"{path}: the column {', '.join(twice[:8])} appears twice; rename one")


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
def _csv(path: Path, usual: str, encoding: str) -> Records:
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CELL))
    with path.open(encoding=encoding or "utf-8-sig", errors="surrogateescape", newline="") as file:
        first = file.readline(LONGEST_LINE + 1)
        if len(first) > LONGEST_LINE or max(map(first.count, _SEPARATORS)) > MOST_COLUMNS:
            limits = f"{MOST_COLUMNS:,} at most, in {LONGEST_LINE >> 20} MiB"
            raise UserError(f"{path}: the first line must name the columns, {limits}")
        hint = _HINT.fullmatch(first.rstrip("\r\n"))
        if hint is None:
            file.seek(0)
        before = 1 if hint is None else 2  # the number of the line that names the columns
        try:
            delimiter = _delimiter(path, first, usual) if hint is None else hint[1]
            lines_read = _CsvLines(path, file)
            rows = csv.reader(lines_read, delimiter=delimiter, strict=True)
            cells = next(rows, [])
        except csv.Error as error:
            raise UserError(
                at(path, before, f"the names of the columns cannot be read: {error}")
            ) from None
        if not any(cell.strip() for cell in cells):
            raise UserError(f"{path}: the first line must name the columns")
        names = own_names(
            [cell.strip() or f"column_{number}" for number, cell in enumerate(cells, 1)]
        )
        copies = _copies(names)
        while True:
            line = rows.line_num + before
            lines_read.size = 0
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield (
                    line,
                    UnreadableRecord(
                        f"is not CSV: {error}; quotes inside a quoted cell are doubled"
                    ),
                )
                continue
            if len(cells) == len(names):
                if any(cells[first] != cells[later] for first, later in copies):
                    _check_names(path, names)
                yield line, dict(zip(names, cells, strict=True))
            elif cells:
                yield (
                    line,
                    UnreadableRecord(_miscounted(len(cells), len(names), _SEPARATORS[delimiter])),
                )


def _copies(names: list[str]) -> list[tuple[int, int]]:
    """The places of columns with one name, the first and a later one. pandas writes an index that has the name of a
    column, as that of Phoenix's spans, a second time; such a column is read once as long as its cells are the same."""
    first: dict[str, int] = {}
    return [
        (first[name], place)
        for place, name in enumerate(names)
        if first.setdefault(name, place) != place
    ]


class _CsvLines:
    """The lines of a CSV file, for a reader that takes one or several for a record. size: characters of the record so
    far, set to 0 before each. UserError for a record that is too long, before it is read."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self.size = 0
        self._path = path
        self._file = file

    def __iter__(self) -> Iterator[str]:
        for number, line in enumerate(iter(partial(self._file.readline, LONGEST_LINE + 1), ""), 1):
            self.size += len(line)
            if self.size > LONGEST_LINE:
                limit = f"the limit of {LONGEST_LINE >> 20} MiB"
                raise UserError(
                    at(self._path, number, f"a record is longer than {limit}; is a quote missing?")
                )
            if len(line) > MOST_VALUES and sum(map(line.count, _SEPARATORS)) > MOST_VALUES:
                raise UserError(
                    at(self._path, number, f"has more than the limit of {MOST_VALUES:,} cells")
                )
            yield line


def _delimiter(path: Path, line: str, usual: str) -> str:
    """What separates the columns that a line names: it gives the most names we know, and then the most names.

    One that leaves quotes where none may be comes last. UserError if two are equally good.
    """

    def quality(mark: str) -> tuple[bool, int, int]:
        names = next(csv.reader([line], delimiter=mark), [])
        try:
            proper = next(csv.reader([line], delimiter=mark, strict=True), None) is not None
        except csv.Error:
            proper = False
        return proper, sum(field_of(name) is not None for name in names), len(names)

    counts = {mark: quality(mark) for mark in ",;\t"}
    greatest = max(counts.values())
    best = [mark for mark, count in counts.items() if count == greatest]
    if len(best) == 1:
        return best[0]
    if greatest[-1] > 1:
        raise UserError(
            f"{path}: the first line has {' and '.join(_SEPARATORS[mark] for mark in best)} between the names of the "
            "columns; use one of them, and quote names that hold the other"
        )
    return usual


def _miscounted(cells: int, names: int, separators: str) -> str:
    counts = (
        f"{cells} cell{'' if cells == 1 else 's'} for {names} column{'' if names == 1 else 's'}"
    )
    if cells > names:
        return f"{counts}; quote cells that hold {separators}"
    return f"{counts}; they are separated by {separators}, like the names in the first line"


def _sheet(path: Path) -> Records:
    names: list[str] = []
    for line, cells in containers.of_sheet(path):
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
            _check_names(path, names)
        elif any(cells):
            yield line, dict(zip(names, cells, strict=False))


# Parquet --------------------------------------------------------------------------------------------------------------
def _parquet(path: Path) -> Records:
    """A column is converted at once if Python has all of its values, and value by value if it has not (nanoseconds,
    dates before the year 1 or after 9999, bad UTF-8). So nothing depends on pandas, which pyarrow would ask for."""
    return _of_files([path], "parquet", path)


def _arrow(path: Path) -> Records:
    """A file of Arrow, of either form."""
    return _of_files([path], "arrow", path)


def _folder(path: Path) -> Records:
    files = containers.data_files(path)
    return _of_files(files, files[0].suffix[1:], path)


def _of_files(files: Sequence[Path], kind: str, path: Path) -> Records:
    """The records of files of one kind. path: of the file or their folder, for messages."""
    pyarrow = library("pyarrow", f"reading {kind.capitalize()}", "parquet")
    problem = f"{path} cannot be read as {kind.capitalize()}"
    number = 0
    try:
        for schema, batch in arrow_files.batches_of(files, kind, LONGEST_CELL, problem):
            if batch is None:
                names = schema.names
                _check_names(path, names)
                continue
            pieces = (batch.slice(place, _BATCH) for place in range(0, batch.num_rows, _BATCH))
            for _, record in _of_batches(names, pieces):
                number += 1
                yield number, record
    except (
        pyarrow.ArrowException,
        ValueError,
        RecursionError,
    ) as error:  # names that are not UTF-8, deep nesting
        raise UserError(f"{problem}: {' '.join(str(error).split())}") from None


_OTHERS: dict[str, Callable[[Path], Records]] = {
    "parquet": _parquet,
    "arrow": _arrow,
    "folder": _folder,
    "xlsx": _sheet,
    "inspect": lambda path: enumerate(containers.of_inspect(path), 1),
}


def is_frame(examples: Any) -> bool:
    """Whether something is a table of Arrow, pandas or polars (it has Arrow's interface for tables)."""
    return hasattr(examples, "__arrow_c_stream__")


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
    _check_names("the DataFrame", table.column_names)
    return _bounded(_of_batches(table.column_names, table.to_batches(max_chunksize=_BATCH)))


def of_dataset(dataset: Any) -> Records:
    """The rows of a `datasets.Dataset`, or of one that streams."""
    tables = dataset.with_format("arrow").iter(_BATCH)
    return enumerate((record for table in tables for _, record in of_frame(table)), 1)


def _of_batches(names: Sequence[str], batches: Iterable[Any]) -> Records:
    number = 0
    for batch in batches:
        columns = [_column(name, batch.column(place)) for place, name in enumerate(names)]
        for cells in zip(*columns, strict=True):
            number += 1
            wrong = next((cell for cell in cells if isinstance(cell, UnreadableRecord)), None)
            yield number, wrong or dict(zip(names, cells, strict=True))


def _column(name: str, column: Any) -> list[Any]:
    """The values of a column; in place of one that cannot be read, an Unreadable with the reason. JSON that a column's
    type says is JSON (Arrow's `arrow.json`, which `datasets` writes for mixed columns) is read."""
    values = _values(name, column)
    if not _has_json(column.type):
        return values
    for place, value in enumerate(values):
        if not isinstance(value, UnreadableRecord):
            try:
                values[place] = _from_json(value, column.type)
            except ValueError as error:
                values[place] = UnreadableRecord(f"{name}: {error}")
    return values


def _is_json(kind: Any) -> bool:
    return getattr(kind, "extension_name", "") == "arrow.json"


def _has_json(kind: Any) -> bool:
    return _is_json(kind) or any(
        _has_json(kind.field(place).type) for place in range(kind.num_fields)
    )


def _from_json(value: Any, kind: Any) -> Any:
    """A value with its JSON texts read, wherever its type has them."""
    if value is None or not _has_json(kind):
        return value
    if _is_json(kind):
        return parse_json(value) if isinstance(value, str) else value
    if isinstance(value, dict):
        kinds = {kind.field(place).name: kind.field(place).type for place in range(kind.num_fields)}
        return {key: _from_json(part, kinds[key]) for key, part in value.items()}
    if isinstance(value, list):
        return [_from_json(part, kind.field(0).type) for part in value]
    return value


def _values(name: str, column: Any) -> list[Any]:
    if column.nbytes <= LONGEST_CELL and not _has_nanoseconds(column.type):
        try:
            return [_plain(value) for value in column.to_pylist()]
        except (ValueError, OverflowError):  # some value is beyond Python's types
            pass
    values: list[Any] = []
    for place, scalar in enumerate(column):
        try:
            if column.slice(place, 1).nbytes > LONGEST_CELL:
                raise ValueError(
                    f"is larger than the limit of {LONGEST_CELL >> 20} MiB for a value"
                )
            values.append(_plain(_value(scalar)))
        except (ValueError, OverflowError) as error:
            values.append(
                UnreadableRecord(
                    f"{name}: cannot be read as {scalar.type} ({' '.join(str(error).split())})"
                )
            )
    return values


def _has_nanoseconds(kind: Any) -> bool:
    parts = (kind.field(place).type for place in range(kind.num_fields))
    return getattr(kind, "unit", None) == "ns" or any(_has_nanoseconds(part) for part in parts)


def _value(scalar: Any) -> Any:
    """The value of a scalar of Arrow, its parts first."""
    from pyarrow import types

    kind = scalar.type
    if not scalar.is_valid:
        return None
    if types.is_struct(kind):
        names = [kind.field(place).name for place in range(kind.num_fields)]
        if len(set(names)) < len(names):
            raise ValueError("two fields have one name; rename one")
        return {name: _value(scalar[place]) for place, name in enumerate(names)}
    if types.is_map(kind):
        return [[_value(item[0]), _value(item[1])] for item in scalar.values]
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return [_value(item) for item in scalar.values]
    if types.is_dictionary(kind):
        return _value(scalar.value)
    if types.is_string(kind) or types.is_large_string(kind):
        return scalar.as_buffer().to_pybytes()
    return _moment(scalar) if types.is_temporal(kind) else scalar.as_py()


def _moment(scalar: Any) -> str:
    """A date, time or duration as text; if Python has no such date, as the number of units that Arrow holds."""
    import pyarrow
    from pyarrow import types

    kind = scalar.type
    nanoseconds = 0
    moment = scalar
    if getattr(kind, "unit", "") == "ns":
        nanoseconds = scalar.value % 1000
        make = (
            pyarrow.time64
            if types.is_time(kind)
            else pyarrow.duration
            if types.is_duration(kind)
            else None
        )
        coarse = make("us") if make else pyarrow.timestamp("us", kind.tz)
        moment = pyarrow.scalar(scalar.value // 1000, pyarrow.int64()).cast(coarse)
    try:
        moment_shown = moment.as_py()
    except (ValueError, OverflowError):
        return f"{scalar.value} ({kind})"
    if not nanoseconds:
        return str(_plain(moment_shown))
    if types.is_duration(kind):
        return f"{moment_shown}{'' if moment_shown.microseconds else '.000000'}{nanoseconds:03d}"
    text: str = moment_shown.isoformat(timespec="microseconds")
    end = text.index(".") + 7
    return f"{text[:end]}{nanoseconds:03d}{text[end:]}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (datetime.timedelta, decimal.Decimal)):
        return str(value)
    if isinstance(value, float) and math.isinf(value):
        raise ValueError("an infinite number")
    return value

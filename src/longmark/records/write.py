"""Rows and examples into files, and rows out of them again: JSON Lines, CSV, TSV, Parquet, by the suffix.

Everything streams, and a file appears complete or not at all: it is written beside its place, flushed to the disk, and
moved there. In CSV and Parquet what has parts (evidence, signature, usage; profile, options, meta, graph; claims and
their labels) is one column of JSON. Contexts and references are lists in Parquet and JSON in CSV, where an empty cell
is a missing value and `""` (two quotation marks) an empty text. Cells are written as they are: one that begins with
= + - @ is a formula to a spreadsheet (import it as text), and an apostrophe before it would change the data. Tables for
people are another matter: `spreadsheet`.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import shlex
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import fields
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from typing import IO, Any

import orjson

from longmark import writing
from longmark.errors import UserError, library
from longmark.records import proposals, sources
from longmark.records.carried import CARRIED
from longmark.records.columns import columns_shown, field_of
from longmark.records.example import Example
from longmark.records.files import NotJson, at, lines, own_json, parse_json
from longmark.records.pair import Answered, Pair
from longmark.records.row import Row
from longmark.records.values import Problem, folded, found, missing, name, text

WRITTEN = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
"""Suffix -> format, of the files that can be written."""

ROW_COLUMNS = tuple(field.name for field in fields(Row))
_NEEDED = frozenset(("example_id", "metric", "score"))
_FORMULA = tuple("=+-@")  # first characters that begin a formula in a spreadsheet
_OWN_COLUMNS = frozenset(ROW_COLUMNS)
EXAMPLE_COLUMNS = Example.columns()
PAIR_COLUMNS = Pair.columns()

_ROW_JSON = ("evidence", "signature", "usage", "automatic", "versions")
_TURNS = ("turns", "b_turns")
_EXAMPLE_JSON = (
    "profile",
    "options",
    "graph",
    "meta",
    "labels",
    "expansion_checks",
    *_TURNS,
    *CARRIED,
)
_NAMES = ("example_id", "question_id", "system", "metric", "status")


def format_of(path: Path, option: str = "") -> str:
    """The format to write by a file's suffix. UserError for another suffix, MissingExtra for Parquet without its
    library. option: that named the file."""
    kind = WRITTEN.get(path.suffix.lower())
    if kind is None:
        raise UserError(f"{option}{path}: the suffix must be one of {', '.join(WRITTEN)}")
    if kind == "parquet":
        library("pyarrow", "writing Parquet", "parquet")
    return kind


def write_rows(rows: Iterable[Row], path: str | Path) -> int:
    """Writes rows; returns their count. An existing file is replaced once the last one is written."""
    return write_records(rows, Path(path), _flat_row, ROW_COLUMNS)


def write_examples(examples: Iterable[Answered], path: str | Path) -> int:
    """Writes examples, or pairs; returns their count. An existing file is replaced once the last one is written."""
    every = iter(examples)
    first = list(islice(every, 1))
    columns = PAIR_COLUMNS if first and isinstance(first[0], Pair) else EXAMPLE_COLUMNS
    return write_records(chain(first, every), Path(path), partial(_flat_example, columns), columns)


def read_rows(path: str | Path, unfinished: Callable[[int], None] | None = None) -> Iterator[Row]:
    """The rows of a file; see `placed_rows`."""
    return (row for _, row in placed_rows(path, unfinished))


def placed_rows(
    path: str | Path, unfinished: Callable[[int], None] | None = None, system: str = ""
) -> Iterator[tuple[int, Row]]:
    """The rows of a file in its order, each with its line or number; where an example, system and metric have several,
    only the last.

    A run that was stopped while it retried leaves such rows. Rows made elsewhere have no order: two scores in rows
    without a signature are an error, since answers of two systems can be meant. Columns that are not a row's are
    ignored, and names and ids are read as in files of labels and examples. system: of rows that name none. unfinished:
    for the rows of a run folder; called with the number of the last line if that line is cut off, which is then left
    out. Without it such a line is an error. Raises UserError, with the line, for anything that is not a row.
    """
    path = Path(path)
    if path.is_file() and path.stat().st_size == 0:
        return iter(())
    kind = sources.kind_of(path)
    if kind == "json":
        raise UserError(f"{path}: the suffix for rows must be one of {', '.join(WRITTEN)}")
    return _last(path, kind, unfinished, system)


def _last(
    path: Path, kind: str, unfinished: Callable[[int], None] | None, system: str
) -> Iterator[tuple[int, Row]]:
    with closing(sqlite3.connect("", isolation_level=None)) as db:
        db.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA cache_size = -4096; CREATE TABLE replaced (place INTEGER PRIMARY KEY);"
            "CREATE TABLE last (key TEXT PRIMARY KEY, place INTEGER, foreign_score) WITHOUT ROWID; BEGIN"
        )
        for place, record in lines(path) if kind == "jsonl" else sources.records(path, kind):
            if (outline := _outline(record)) is None:
                continue  # `_rows` says what is wrong with it
            example, own_system, metric, foreign_score = outline
            new = (repr((example, own_system or system, metric)), place, foreign_score)
            if not db.execute("INSERT OR IGNORE INTO last VALUES (?, ?, ?)", new).rowcount:
                first, before = db.execute(
                    "SELECT place, foreign_score FROM last WHERE key = ?", new[:1]
                ).fetchone()
                if unfinished is None and before and foreign_score:
                    which = f'{metric} of "{example}"'
                    which += f" of {own_system}" if own_system else ""
                    which += f" already has a row in line {first}"
                    raise UserError(
                        at(
                            path,
                            place,
                            f"{which}; keep one of them, or give each answer an example_id of its own",
                        )
                    )
                db.execute("INSERT INTO replaced VALUES (?)", (first,))
                db.execute("REPLACE INTO last VALUES (?, ?, ?)", new)
        db.execute("DROP TABLE last")
        places = iter(db.execute("SELECT place FROM replaced ORDER BY place"))
        replaced = next(places, (0,))[0]
        for place, row in _rows(path, kind, unfinished):
            if place == replaced:
                replaced = next(places, (0,))[0]
            else:
                yield place, row


def _outline(record: Any) -> tuple[str, str | None, str, bool] | None:
    """The example, system and metric of a row, and whether it has a score that no run signed; None if it is none."""
    try:
        if isinstance(record, bytes):
            record = own_json(record)
        if not isinstance(record, dict):
            return None
        if not record.keys() <= _OWN_COLUMNS:
            record = _known(record)
        example, metric = (name(field, record[field]) for field in ("example_id", "metric"))
        system = name("system", record.get("system") or "")
        score = record.get("score")
        signature = record.get("signature") or {}
        signature = own_json(signature) if isinstance(signature, str) else signature
        signed = isinstance(signature, dict) and bool(signature.get("version"))
    except (ValueError, KeyError, Problem):
        return None
    scored = not missing(score) and str(score).strip().casefold() not in ("", "nan")
    return example or "", system, metric or "", scored and not signed


def _rows(
    path: Path, kind: str, unfinished: Callable[[int], None] | None
) -> Iterator[tuple[int, Row]]:
    raw: Iterator[tuple[int, Any]] = lines(path) if kind == "jsonl" else sources.records(path, kind)
    for number, record in raw:
        try:
            if kind == "jsonl":
                yield number, Row.from_dict(_known(parse_json(record, strict=True)))
            elif isinstance(record, sources.UnreadableRecord):
                raise ValueError(record.message)
            else:
                yield (
                    number,
                    _row_of(_known(record) if kind == "parquet" else _from_cells(_known(record))),
                )
        except (ValueError, Problem) as error:
            check_is_row(path, record)
            if unfinished is None or not isinstance(error, NotJson) or record.endswith(b"\n"):
                raise UserError(at(path, number, str(error))) from None
            unfinished(number)


def check_is_row(path: Path, record: Any) -> None:
    """UserError for a record that has no column of a row, as that of a file of answers."""
    try:
        columns = parse_json(record) if isinstance(record, bytes) else record
    except ValueError:
        return
    if not isinstance(columns, dict) or {folded(str(column)) for column in columns} & _NEEDED:
        return
    fields = {*map(field_of, map(str, columns)), *proposals.proposed([columns])}
    remedy = "Write a line for each answer and metric (Rows made elsewhere in docs/records.md)"
    if fields & {"question", "answer"}:
        numbers = [column for column, cell in columns.items() if _is_number(cell)]
        if numbers:
            remedy = f"Columns of numbers ({columns_shown(numbers)}) are not read as scores: w{remedy[1:]}"
        look = f"It holds answers. To score them, see: longmark look {shlex.quote(str(path))}"
        remedy = f"{look}. {remedy}" if numbers else look
    raise UserError(
        f"{path} has no scores: a row has the columns {', '.join(sorted(_NEEDED))}, and the columns of this file are "
        f"{columns_shown(columns)}. {remedy}"
    )


def _is_number(cell: Any) -> bool:
    try:
        return not isinstance(cell, bool) and math.isfinite(float(cell))
    except (TypeError, ValueError, OverflowError):
        return False


def _known(record: Any) -> Any:
    """The record with the columns of a row only, under our names; ids as text, and no empty ones."""
    if not isinstance(record, dict):
        return record
    data: dict[str, Any] = {}
    for column, value in record.items():
        field = folded(str(column))
        if field in data:
            raise Problem(f"{field}: two columns have this name; remove or rename one")
        if field in ROW_COLUMNS:
            data[field] = None if missing(value) else value
    for field in _NAMES:
        if (cell := data.pop(field, None)) is not None and (text_of := name(field, cell)):
            data[field] = text_of
    return data


def _row_of(data: dict[str, Any]) -> Row:
    for field in _ROW_JSON:
        if field not in data:
            continue
        if not isinstance(cell := data[field] or "{}", str):
            raise ValueError(f"{field}: expected JSON text, found {found(cell)}")
        try:
            data[field] = parse_json(cell, strict=True)
        except ValueError as error:
            raise ValueError(f"{field}: {error}") from None
    return Row.from_dict(data)


def _from_cells(cells: dict[str, str]) -> dict[str, Any]:
    """The flat record of a line of CSV. Problem if its score is not a number."""
    data: dict[str, Any] = {}
    for field, cell in cells.items():
        value = "" if cell == '""' else text(field, cell)
        data[field] = _number(field, value) if field == "score" else value if cell else None
    return data


def _number(field: str, cell: str) -> float | None:
    with suppress(ValueError):
        value = float(cell.strip().replace("_", "?") or "nan")
        return None if missing(value) else value
    raise Problem(f"{field}: expected a number, found {found(cell)}")


def _flat_row(row: Row) -> dict[str, Any]:
    """text, numbers, None."""
    record = {name: getattr(row, name) for name in ROW_COLUMNS}
    return record | {name: _json(record[name]) for name in _ROW_JSON}


def _flat_example(columns: Sequence[str], example: Answered) -> dict[str, Any]:
    """text, None, a list of {id, text} for contexts, a list of texts for references."""
    record = {name: getattr(example, name) for name in columns}
    record["contexts"] = [{"id": context.id, "text": context.text} for context in example.contexts]
    record["references"] = list(example.references)
    for column in set(_TURNS) & record.keys():
        turns = record[column]
        record[column] = [turn.model_dump(exclude_defaults=True) for turn in turns] or None
    return record | {
        name: _json(record[name]) for name in _EXAMPLE_JSON if record.get(name) is not None
    }


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def write_records(
    items: Iterable[Any],
    path: Path,
    flat: Callable[[Any], dict[str, Any]],
    columns: tuple[str, ...],
) -> int:
    """Writes items in the format of the file's suffix; returns their count. flat: an item as columns."""
    kind = format_of(path)
    tally = count()
    counted = (item for item, _ in zip(items, tally, strict=False))
    with writing.replacing(path) as file:
        if kind == "jsonl":
            for item in counted:
                file.write(item.to_json() + b"\n")
        elif kind == "parquet":
            _write_parquet(file, map(flat, counted), columns)
        else:
            writer = csv.writer(
                codecs.getwriter("utf-8")(file), delimiter="\t" if kind == "tsv" else ","
            )
            writer.writerow(columns)
            writer.writerows([_cell(value) for value in flat(item).values()] for item in counted)
    return next(tally)


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return _json(value) if value else ""
    return "" if value is None else '""' if value == "" else value


def spreadsheet(rows: Iterable[Sequence[Any]]) -> str:
    """CSV for people, who open it in a spreadsheet: a text that would be a formula there begins with an apostrophe, and
    control characters are spaces. A reader of such a file undoes the apostrophe (`of_spreadsheet`)."""
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows([_inert(value) for value in row] for row in rows)
    return out.getvalue()


def _inert(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    plain = "".join(char if char.isprintable() or char in "\n\t" else " " for char in value)
    return f"'{plain}" if plain.lstrip().startswith(_FORMULA) else plain


def of_spreadsheet(cell: Any) -> Any:
    """A cell as it was before `spreadsheet` wrote it."""
    if isinstance(cell, str) and cell.startswith("'") and cell[1:].lstrip().startswith(_FORMULA):
        return cell[1:]
    return cell


def _write_parquet(
    file: IO[bytes], records: Iterable[dict[str, Any]], columns: tuple[str, ...]
) -> None:
    import pyarrow
    from pyarrow import parquet

    string = pyarrow.string()
    kinds = {
        "score": pyarrow.float64(),
        "contexts": pyarrow.list_(pyarrow.struct([("id", string), ("text", string)])),
        "references": pyarrow.list_(string),
    }
    schema = pyarrow.schema([(name, kinds.get(name, string)) for name in columns])
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in _in_batches(records):
            writer.write_batch(pyarrow.RecordBatch.from_pylist(batch, schema=schema))


def _in_batches(
    records: Iterable[dict[str, Any]], longest: int = 1024, weight: int = 1 << 24
) -> Iterator[list[dict[str, Any]]]:
    """Lists of at most `most` records, shorter if their texts come to `weight` characters."""
    batch: list[dict[str, Any]] = []
    size = 0
    for record in records:
        batch.append(record)
        size += sum(_weight(value) for value in record.values())
        if len(batch) >= longest or size >= weight:
            yield batch
            batch = []
            size = 0
    if batch:
        yield batch


def _weight(value: Any) -> int:
    if isinstance(value, dict):
        return _weight(value["text"])
    return (
        sum(map(_weight, value))
        if isinstance(value, list)
        else len(value)
        if isinstance(value, str)
        else 8
    )


def write_object(path: Path, content: Any) -> None:
    """Writes a JSON object that people read too, indented. `records.files.read_object` reads it."""
    with writing.replacing(path) as file:
        file.write(orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A new file to write, which takes the place of `path` when the block ends well and vanishes when it does not.
    private: only its owner reads it.

    UserError if the system cannot write it, in the block too (a full disk). This is the published name of
    `longmark.writing.replacing`.
    """
    with writing.replacing(path, private=private) as file:
        yield file

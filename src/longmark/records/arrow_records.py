"""The records of Arrow's tables: Parquet and Arrow files, DataFrames and data sets of `datasets`.

Values are as JSON would hold them: dates, times, durations and decimals as text, bytes as UTF-8. A column is converted at
once if Python has all of its values, and value by value if it has not (nanoseconds, dates before the year 1 or after 9999,
bad UTF-8). So nothing depends on pandas, which pyarrow would ask for.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from longmark.errors import UserError, library
from longmark.records import arrow_files
from longmark.records.files import (
    parse_json,
)
from longmark.records.raw_record import LONGEST_CELL, Records, UnreadableRecord, check_names

BATCH = 128  # records of a table that are made at a time: with a megabyte of contexts each, still little memory


def of_files(files: Sequence[Path], kind: str, path: Path) -> Records:
    """The records of files of one kind. path: of the file or their folder, for messages."""
    pyarrow = library("pyarrow", f"reading {kind.capitalize()}", "parquet")
    problem = f"{path} cannot be read as {kind.capitalize()}"
    number = 0
    try:
        for schema, batch in arrow_files.batches_of(files, kind, LONGEST_CELL, problem):
            if batch is None:
                names = schema.names
                check_names(path, names)
                continue
            pieces = (batch.slice(place, BATCH) for place in range(0, batch.num_rows, BATCH))
            for _, record in of_batches(names, pieces):
                number += 1
                yield number, record
    except (
        pyarrow.ArrowException,
        ValueError,
        RecursionError,
    ) as error:  # names that are not UTF-8, deep nesting
        raise UserError(f"{problem}: {' '.join(str(error).split())}") from None


def of_batches(names: Sequence[str], batches: Iterable[Any]) -> Records:
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

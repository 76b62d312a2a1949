"""The records of a Parquet file, as JSON would hold them: dates, times, durations and decimals as text, bytes as UTF-8.

A column is converted at once where Python has all of its values, and value by value where it has not (nanoseconds,
dates before the year 1 or after 9999, bad UTF-8). So nothing depends on pandas, which pyarrow would ask for those.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from longmark.errors import MissingExtra, UserError

_BATCH = 128  # records: with a megabyte of contexts each, still little memory


def records(path: Path, check_names: Callable[[list[str]], None]) -> Iterator[dict[str, Any] | ValueError]:
    """Every record, or why it cannot be read. check_names: raises where the names of the columns are not fit.

    UserError where the file as a whole cannot be read.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("reading Parquet", "parquet") from None
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            check_names(file.schema_arrow.names)
            for batch in file.iter_batches(batch_size=_BATCH, use_threads=False):
                columns = [_values(name, batch.column(i)) for i, name in enumerate(batch.schema.names)]
                for cells in zip(*columns, strict=True):
                    wrong = next((cell for cell in cells if isinstance(cell, ValueError)), None)
                    yield wrong or dict(zip(batch.schema.names, cells, strict=True))
    except (pyarrow.ArrowException, ValueError, RecursionError) as error:  # names that are not UTF-8, deep nesting
        raise UserError(f"{path} cannot be read as Parquet: {' '.join(str(error).split())}") from None


def _values(name: str, column: Any) -> list[Any]:
    """The values of a column; in place of one that cannot be had, the reason."""
    if not _has_nanoseconds(column.type):
        try:
            return [_plain(value) for value in column.to_pylist()]
        except (ValueError, OverflowError):  # some value is beyond Python's types
            pass
    found: list[Any] = []
    for scalar in column:
        try:
            found.append(_plain(_value(scalar)))
        except (ValueError, OverflowError) as error:
            found.append(ValueError(f"{name}: cannot be read as {scalar.type} ({' '.join(str(error).split())})"))
    return found


def _has_nanoseconds(kind: Any) -> bool:
    return getattr(kind, "unit", None) == "ns" or any(
        _has_nanoseconds(kind.field(i).type) for i in range(kind.num_fields)
    )


def _value(scalar: Any) -> Any:
    """What a value of Arrow says, its parts first."""
    from pyarrow import types

    kind = scalar.type
    if not scalar.is_valid:
        return None
    if types.is_struct(kind):
        if len({kind.field(i).name for i in range(kind.num_fields)}) < kind.num_fields:
            raise ValueError("two fields have one name; rename one")
        return {kind.field(i).name: _value(scalar[i]) for i in range(kind.num_fields)}
    if types.is_map(kind):
        return [[_value(item[0]), _value(item[1])] for item in scalar.values]
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return [_value(item) for item in scalar.values]
    if types.is_dictionary(kind):
        return _value(scalar.value)
    if types.is_string(kind) or types.is_large_string(kind):
        return scalar.as_buffer().to_pybytes()
    if types.is_temporal(kind):
        return _moment(scalar)
    return scalar.as_py()


def _moment(scalar: Any) -> str:
    """A date, time or duration as text; where Python has no such date, as the number of units that Arrow holds."""
    import pyarrow
    from pyarrow import types

    kind = scalar.type
    whole, rest = (scalar, 0) if getattr(kind, "unit", "") != "ns" else (None, scalar.value % 1000)
    if whole is None:
        make = pyarrow.time64 if types.is_time(kind) else pyarrow.duration if types.is_duration(kind) else None
        coarse = make("us") if make else pyarrow.timestamp("us", kind.tz)
        whole = pyarrow.scalar(scalar.value // 1000, pyarrow.int64()).cast(coarse)
    try:
        shown = whole.as_py()
    except (ValueError, OverflowError):
        return f"{scalar.value} ({kind})"
    if not rest:
        return str(_plain(shown))
    if types.is_duration(kind):
        return f"{shown}{'' if shown.microseconds else '.000000'}{rest:03d}"
    text: str = shown.isoformat(timespec="microseconds")
    end = text.index(".") + 7
    return f"{text[:end]}{rest:03d}{text[end:]}"


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

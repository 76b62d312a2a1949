"""Parquet files whose columns have types that no writer of answers would choose."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longmark.errors import UserError
from longmark.records import arrow_files, arrow_reader

_FAR = (
    0,
    1,
    -1,
    10**9 + 1,
    2**31,
    2**62,
    -(2**62),
    2**63 - 1,
)  # as times: real nanoseconds, and years beyond 9999
_NOT_UTF8 = pa.StringArray.from_buffers(
    2, pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0"), pa.py_buffer(b"\xff\xfeok")
)
_NESTED: Any = pa.array([["a"], None])
for _ in range(30):
    _NESTED = pa.ListArray.from_arrays([0, 1, 2], _NESTED)

TIMES = [
    *(
        pa.timestamp(unit, zone)
        for unit in ("s", "ms", "us", "ns")
        for zone in (None, "UTC", "+14:00", "Europe/Nowhere")
    ),
    *(pa.duration(unit) for unit in ("s", "ms", "us", "ns")),
    *(pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.date32(), pa.date64()),
]
VALUES: list[tuple[Any, list[Any]]] = [
    (pa.decimal128(38, 10), [Decimal("1.5"), Decimal("-12345678901234567890.0000000001")]),
    (pa.decimal256(76, 0), [Decimal("9" * 70), Decimal(0)]),
    (pa.uint64(), [2**64 - 1, 0]),
    (pa.int64(), [-(2**63), 7]),
    (pa.float64(), [float("nan"), float("inf")]),
    (pa.float16(), [1.5, -1.0]),
    (pa.float32(), [3.4e38, 0.1]),
    (pa.bool_(), [True, False]),
    (pa.null(), [None, None]),
    (pa.binary(), [b"\xff\x00", b"text"]),
    (pa.binary(4), [b"\xff\xff\xff\xff", b"abcd"]),
    (pa.large_string(), ["a" * 10_000, ""]),
    (pa.string(), ["\x00\x1b[2J", "\u2028"]),
    (pa.dictionary(pa.int8(), pa.string()), ["a", "b"]),
    (pa.list_(pa.string()), [["a", None], []]),
    (pa.list_(pa.float64(), 2), [[1.0, float("nan")], [2.0, 3.0]]),
    (pa.list_(pa.list_(pa.struct([("text", pa.binary())]))), [[[{"text": b"\xff"}]], None]),
    (
        pa.struct([("text", pa.string()), ("id", pa.int64())]),
        [{"text": "a", "id": 1}, {"text": None, "id": 2**53 + 1}],
    ),
    (pa.struct([("at", pa.timestamp("ns")), ("a\x1b[m", pa.duration("ns"))]), [{"at": 1}, None]),
    (pa.map_(pa.string(), pa.int64()), [[("a", 1), ("a", 2)], []]),
    (pa.map_(pa.binary(), pa.timestamp("ns")), [[(b"\xff", 1)], None]),
]


def column(rng: random.Random) -> Any:
    """An array of two values."""
    draw = rng.randrange(10)
    if draw == 0:
        return rng.choice(
            (
                _NOT_UTF8,
                _NESTED,
                pa.StructArray.from_arrays([pa.array([1, 2])] * 2, names=["text", "text"]),
            )
        )
    if draw < 4:
        kind = rng.choice(TIMES)
        stored = pa.int32() if kind.bit_width == 32 else pa.int64()
        most = 2 ** (kind.bit_width - 1) - 1
        return pa.array([max(-most, min(most, rng.choice(_FAR))) for _ in range(2)], stored).view(
            kind
        )
    kind, values = rng.choice(VALUES)
    return pa.array(values, kind)


def file(rng: random.Random, names: list[str]) -> bytes:
    """A valid file of two records: texts under these names, some of them odd columns instead, some names twice."""
    columns = [pa.array([f"{name} 1", f"{name} 2"]) for name in names]
    for _ in range(rng.choice((1, 1, 2, 4))):
        columns[rng.randrange(len(columns))] = column(rng)
    if rng.random() < 0.3:
        names = [
            *names,
            rng.choice((names[0], names[0].upper(), "", "\x1b[2J", "a" * 3000, "meta")),
        ]
        columns.append(column(rng))
    out = io.BytesIO()
    try:
        pq.write_table(
            pa.Table.from_arrays(columns, names),
            out,
            compression=rng.choice(("none", "snappy", "zstd")),
        )
    except pa.ArrowException:  # a type that the format does not have
        return file(rng, names[: len(set(names))])
    return out.getvalue()


def batches_of(
    paths: Sequence[Path], kind: str, longest: int, problem: str
) -> Iterator[tuple[Any, Any]]:
    """As `records.arrow_files.batches_of`, in this process."""
    try:
        for path in paths:
            schema, batches = arrow_reader.table_of(
                str(path), kind, arrow_files.limits(longest), limited=False
            )
            yield schema, None
            for batch in batches:
                yield schema, batch
    except Exception as error:
        raise UserError(f"{problem}: {error}") from None

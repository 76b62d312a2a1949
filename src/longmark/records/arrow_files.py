"""Parquet and Arrow files, read in a process of their own (`records.arrow_reader`): their schemas and batches."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from longmark.errors import library
from longmark.records import arrow_reader, reader_process
from longmark.records.files import MOST_VALUES

BATCH = 4096
USUAL_BATCH = 1 << 24  # records, and bytes, that are read at a time
LARGEST_BATCH = 1 << 28
"""Bytes of a record, and so of the records that are read at a time."""
ANY_RECORDS = 1_000_000
RECORDS_PER_BYTE = 64
"""Records that any file may have, and for each byte of a larger one. A file whose records differ needs more bits."""


def limits(longest: int) -> arrow_reader.ReadLimits:
    """longest: bytes of a value."""
    return arrow_reader.ReadLimits(
        batch=BATCH,
        usual=USUAL_BATCH,
        value=longest,
        values=MOST_VALUES,
        size=max(LARGEST_BATCH, longest),
        records=ANY_RECORDS,
        per_byte=RECORDS_PER_BYTE,
        memory=reader_process.MOST_BYTES,
        seconds=reader_process.MOST_SECONDS,
    )


def batches_of(
    paths: Sequence[Path], kind: str, longest: int, problem: str
) -> Iterator[tuple[Any, Any]]:
    """(schema, batch) of files, one after the other, and (schema, None) at the beginning of each. kind: parquet or
    arrow; longest: bytes of a value; problem: begins the message of the UserError for files that cannot be read."""
    ipc = library("pyarrow.ipc", f"reading {kind.capitalize()}", "parquet")
    about = {
        "kind": kind,
        "files": [str(path.absolute()) for path in paths],
        "limits": asdict(limits(longest)),
    }
    with reader_process.reading(arrow_reader.__file__, [json.dumps(about)], problem) as output:
        for _ in paths:
            stream = ipc.open_stream(output)
            yield stream.schema, None
            for batch in stream:
                yield stream.schema, batch

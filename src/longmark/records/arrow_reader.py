"""Run as a program: reads Parquet and Arrow files within limits, and writes what they hold as streams of Arrow.

`python arrow_reader.py '{"kind": "parquet", "files": [...], ...}'` writes a stream for each file. A few bytes can stand
for a column of a billion values, for a list of as many in one record, or for one long text in each record. So batches
are small, the values and bytes of each are counted before it is written, and the process has a limit of memory. The
exit code is 3 for a file that cannot be read; the reason is on the error output. It imports nothing of longmark, since
starting it must be quick (`records.arrow_files` starts it).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

REFUSED = 3
_FEW = 128  # records that are read at a time where nothing limits the memory


@dataclass(frozen=True)
class ReadLimits:
    """batch: records; usual: bytes of a batch; value: bytes of a value; values, size: of a batch, and so of a record;
    records: that any file may have; per_byte: records for each byte of a larger file; memory: bytes of the process;
    seconds: of CPU time without a batch."""

    batch: int
    usual: int
    value: int
    values: int
    size: int
    records: int
    per_byte: int
    memory: int
    seconds: int


class RefusedFile(ValueError):
    """A file that is not read; the message says why."""


def main(words: str) -> int:
    request = json.loads(words)
    limits = ReadLimits(**request["limits"])
    import pyarrow

    limited = _limit_memory(limits.memory)
    _more_time(limits.seconds)
    try:
        for path in request["files"]:
            schema, batches = table_of(path, request["kind"], limits, limited=limited)
            with pyarrow.ipc.new_stream(sys.stdout.buffer, schema) as stream:
                for batch in batches:
                    stream.write_batch(batch)
                    _more_time(limits.seconds)
            sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    except (MemoryError, pyarrow.ArrowMemoryError):
        print(
            f"it needs more than {limits.memory >> 20:,} MiB of memory; write it with fewer values",
            file=sys.stderr,
        )
        return REFUSED
    except Exception as error:
        print(" ".join(str(error).split()) or type(error).__name__, file=sys.stderr)
        return REFUSED
    return 0


def _limit_memory(allowed: int) -> bool:
    """Whether the process has a limit of memory from now on."""
    try:
        import resource

        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + allowed, used + allowed))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):  # another system than Linux
        return False
    return True


def _more_time(seconds: int) -> None:
    """The process ends after so many seconds of work from now on."""
    try:
        import resource
    except ImportError:  # Windows
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds, hard))


def table_of(
    path: str, kind: str, limits: ReadLimits, *, limited: bool
) -> tuple[Any, Iterator[Any]]:
    """The schema of a file, and its records in batches within the limits. limited: the process has a limit of memory.
    Refused, or an error of pyarrow."""
    schema, batches = _parquet(path, limits, limited) if kind == "parquet" else _arrow(path)
    return schema, _bounded(batches, os.path.getsize(path), limits)


def _parquet(path: str, limits: ReadLimits, limited: bool) -> tuple[Any, Iterator[Any]]:
    from pyarrow import parquet

    file = parquet.ParquetFile(path, buffer_size=1 << 22)
    metadata = file.metadata
    _check_count(metadata.num_rows, os.path.getsize(path), limits)
    careful, usual = batch_sizes(metadata, limits)
    return file.schema_arrow, _read(path, file, usual if limited else careful, careful)


def _read(path: str, file: Any, usual: int, careful: int) -> Iterator[Any]:
    """The batches of a file; where a usual one needs too much memory, the rest in careful ones."""
    import pyarrow
    from pyarrow import parquet

    passed = 0
    try:
        for batch in file.iter_batches(batch_size=usual, use_threads=False):
            yield batch
            passed += batch.num_rows
        return
    except (MemoryError, pyarrow.ArrowMemoryError):
        if usual <= careful:
            raise
    file.close()
    file = parquet.ParquetFile(path, buffer_size=1 << 22)
    for batch in file.iter_batches(batch_size=careful, use_threads=False):
        yield batch.slice(min(passed, batch.num_rows))
        passed -= min(passed, batch.num_rows)


def _arrow(path: str) -> tuple[Any, Iterator[Any]]:
    import pyarrow
    from pyarrow import ipc

    source = pyarrow.memory_map(path)
    try:
        stream = ipc.open_stream(source)
        return stream.schema, iter(stream)
    except pyarrow.ArrowInvalid:
        stored = ipc.open_file(source)
        return stored.schema, (
            stored.get_batch(number) for number in range(stored.num_record_batches)
        )


def batch_sizes(metadata: Any, limits: ReadLimits) -> tuple[int, int]:
    """Records to unpack at a time: so few that they take four times `size` bytes at most, since a value is usually no
    larger than its chunk; and so many that they take `usual` bytes on average. Refused if the values of a chunk are
    larger than `value` on average."""
    largest = 1
    average = 1
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        together = 0
        for chunk in (group.column(place) for place in range(group.num_columns)):
            size = chunk.total_uncompressed_size
            if size > limits.value * max(group.num_rows, 1):
                limit = f"more than the limit of {limits.value >> 20} MiB for a value"
                message = f"unpacks to {size >> 20:,} MiB in {group.num_rows:,} records, {limit}"
                raise RefusedFile(f"the column {chunk.path_in_schema} {message}")
            largest = max(largest, size)
            together += size
        average = max(average, together // max(group.num_rows, 1))
    careful = max(1, min(_FEW, 4 * limits.size // largest))
    return careful, max(careful, min(limits.batch, limits.usual // average))


def _check_count(count: int, size: int, limits: ReadLimits) -> None:
    """Refused for a file with so many records in so few bytes that most must be the same."""
    if count > max(limits.records, limits.per_byte * size):
        raise RefusedFile(
            f"has {count:,} or more records in {size:,} bytes, so most of them are the same; remove these"
        )


def _bounded(batches: Iterator[Any], size: int, limits: ReadLimits) -> Iterator[Any]:
    number = 0
    fitting = limits.batch
    for batch in batches:
        _check_count(number + batch.num_rows, size, limits)
        place = 0
        while place < batch.num_rows:
            count = min(limits.batch, 2 * fitting, batch.num_rows - place)
            while True:
                piece = batch.slice(place, count)
                weights = [
                    weight(piece.column(column), limits.values)
                    for column in range(piece.num_columns)
                ]
                values, used = (sum(part) for part in zip((0, 0), *weights, strict=True))
                if values <= limits.values and used <= limits.size:
                    break
                if count == 1:
                    raise RefusedFile(
                        f"the record {number + place + 1:,} has {values:,} values or more in {used:,} bytes; the "
                        f"limits are {limits.values:,} values and {limits.size >> 20:,} MiB; leave out what is not "
                        "scored"
                    )
                count = max(1, count // 2)
                fitting = count
            yield piece
            fitting = max(fitting, count)
            place += count
        number += batch.num_rows


def weight(array: Any, limit: int) -> tuple[int, int]:
    """(values, bytes) that an array comes to in Python, or more; what it repeats counts each time. An array of more
    values than `most` need not be counted to its end."""
    from pyarrow import compute, types

    kind = array.type
    count = len(array)
    if count > limit or types.is_null(kind):
        return count, 0
    if hasattr(array, "storage"):  # an extension type
        return weight(array.storage, limit)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        inner = array.dictionary if types.is_dictionary(kind) else array.values
        return _repeated(inner, count, limit)
    if types.is_struct(kind):
        return _sum(
            (count, 0), *(weight(array.field(place), limit) for place in range(kind.num_fields))
        )
    if types.is_fixed_size_list(kind):
        if (inside := count * kind.list_size) > limit:
            return inside, 0
        return _sum((count, 0), weight(array.flatten(), limit))
    if types.is_union(kind):
        return _sum(
            (count, 0), *(weight(array.field(place), limit) for place in range(kind.num_fields))
        )
    if types.is_map(kind):
        offsets = array.offsets
        first = offsets[0].as_py()
        last = offsets[-1].as_py()
        parts = (array.keys.slice(first, last - first), array.items.slice(first, last - first))
        return _sum((count, 0), *(weight(part, limit) for part in parts))
    if types.is_nested(kind):  # lists of the other kinds
        inside = compute.sum(array.value_lengths()).as_py() or 0
        return (inside, 0) if inside > limit else _sum((count, 0), weight(array.flatten(), limit))
    if types.is_fixed_size_binary(kind):
        return count, count * kind.byte_width
    if kind in _views():  # several may be of the same bytes
        return count, compute.sum(compute.binary_length(array.cast("large_binary"))).as_py() or 0
    return count, array.nbytes


def _views() -> tuple[Any, ...]:
    import pyarrow

    return pyarrow.string_view(), pyarrow.binary_view()


def _repeated(values: Any, count: int, limit: int) -> tuple[int, int]:
    """The weight of so many values if each were the heaviest of these."""
    from pyarrow import compute, types

    if not len(values):
        return count, 0
    kind = values.type
    if types.is_nested(kind):
        inside, used = weight(values, limit)
        return count * inside, count * used
    if (
        types.is_string(kind)
        or types.is_binary(kind)
        or types.is_large_string(kind)
        or types.is_large_binary(kind)
    ):
        return count, count * (compute.max(compute.binary_length(values)).as_py() or 0)
    inside, used = weight(values, limit)
    return count, count * (used // max(inside, 1))


def _sum(*weights: tuple[int, int]) -> tuple[int, int]:
    return sum(entry[0] for entry in weights), sum(entry[1] for entry in weights)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))

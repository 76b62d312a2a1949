"""An input in parts, for several machines: `longmark split`.

A question is in the part that the hash of its question_id names, a variant in that of its original. So the parts of an
input that grows keep their examples. Each part carries its share of the budget and of the concurrency, in proportion to
its examples: the shares of all parts come to the whole at most. The rates of longmark.yaml are shared when a part runs.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from longmark import writing
from longmark.errors import UserError
from longmark.records.example import question_hash
from longmark.records.parts import HEAD, SUFFIX, Part
from longmark.records.read import ExampleSource, Reading
from longmark.records.write import write_object
from longmark.workspace import replaced

SPLIT_FILE = "split.json"
_OF_BAD = ("id", "question_id", "question", "system")  # what a run notes of a bad record


def part_number(question: str, parts: int) -> int:
    """The part of a question, from 1 to parts."""
    return (
        1
        + int(hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()[:16], 16)
        % parts
    )


def split(
    examples: ExampleSource,
    parts: int,
    out: Path,
    limits: Mapping[str, float | None] | None = None,
    **reading: Any,
) -> list[Part]:
    """Writes an input in parts into the folder `out`, as `1.part`, `2.part`, …; the folder of an earlier split is
    replaced. A part may have no examples. limits: what sessions of all runs together may use, by names of `LIMITS`;
    reading: options of `Reading` (mapping, encoding, limit, skip_bad).

    UserError if the input cannot be read or is a part itself, the folder holds other files, or a limit is too small to
    be divided; BadInput for bad records (without `skip_bad`).
    """
    with replaced(out, SPLIT_FILE, (f"*{SUFFIX}",)) as new, ExitStack() as opened:
        files = list[BinaryIO]()
        try:
            files += (
                opened.enter_context(writing.fresh(new / f"{n}{SUFFIX}"))
                for n in range(1, parts + 1)
            )
        except OSError as error:
            if error.errno != errno.EMFILE:
                raise
            reason = f"a process may open {len(files):,} more files here; use fewer parts, or raise `ulimit -n`"
            raise UserError(f"--parts {parts}: {reason}") from None
        counts = [0] * parts
        every = hashlib.sha256()
        for file in files:
            file.seek(HEAD)

        def write(question: str, line: bytes) -> int:
            every.update(line)
            files[(number := part_number(question, parts)) - 1].write(line)
            return number

        def skipped(line: int, fields: Mapping[str, Any], why: str) -> None:
            label = fields.get("question_id") or (
                fields.get("question") and question_hash(fields["question"])
            )
            noted = {name: fields.get(name) for name in _OF_BAD} if fields else {}
            note = orjson.dumps({"line": line, "bad": why, "fields": noted}, default=str)
            write(str(label or f"line {line}"), note + b"\n")

        read = Reading(examples, **reading, on_bad=skipped)
        if read.part:
            raise UserError(
                f"{read.name} is {read.part} already; split the whole input into more parts"
            )
        for example in read:
            line = b'{"line":%d,"example":%s}\n' % (read.line, example.to_json())
            counts[write(example.variant_of or example.question_id, line) - 1] += 1
        shares = {
            name: _shares(name, whole, counts)
            for name, whole in (limits or {}).items()
            if whole is not None
        }
        new_parts = []
        for n, (file, count) in enumerate(zip(files, counts, strict=True)):
            of_part = {name: share[n] for name, share in shares.items()}
            place = (
                parts,
                every.hexdigest()[:16],
                read.name,
                reading.get("limit"),
                read.pairs,
                read.good,
                read.bad,
            )
            new_parts.append(Part(n + 1, *place, count, **of_part, turns=read.turns))
            file.seek(0)
            file.write(new_parts[-1].header())
        write_object(new / SPLIT_FILE, {"parts": [asdict(part) for part in new_parts]})
    return new_parts


def _shares(name: str, whole: float, counts: Sequence[int]) -> list[Any]:
    """A limit divided in proportion to the examples of the parts. UserError where one with examples would get none."""
    unit = 10**6 if name == "max_usd" else 1  # dollars in millionths
    try:
        shares = divided(int(whole * unit), counts)
    except ValueError:
        option = f"--{name.replace('_', '-')} {whole:g}"
        raise UserError(
            f"{option}: too small for the parts with examples; use fewer parts or a larger limit"
        ) from None
    return [share / unit for share in shares] if unit > 1 else shares


def divided(total: int, weights: Sequence[int]) -> list[int]:
    """A total in shares proportional to weights, rounded down but at least 1 for a weight above 0: they come to the
    total at most. ValueError where it is smaller than the number of such weights."""
    spare = total - sum(weight > 0 for weight in weights)
    if spare < 0:
        raise ValueError(f"{total} cannot be divided into {total - spare} shares")
    return [spare * weight // max(sum(weights), 1) + (weight > 0) for weight in weights]

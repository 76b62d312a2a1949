"""An input in parts, for several machines: `longmark split`, and what the run of a part does besides.

A question is in the part that the hash of its question_id names, a variant in that of its original. So the parts of an
input that grows keep their examples. Each part carries its share of the budget and of the concurrency, in proportion to
its examples: the shares of all parts come to the whole at most. The rates of longmark.yaml are shared when a part runs.

The run folder of a part has `part.jsonl`: where each example stands in the whole input, and which calls each row counts
in its usage. `engine.merge` needs both.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

import orjson

from longmark.engine.folder import written
from longmark.engine.settings import SessionOptions
from longmark.errors import UserError
from longmark.models.client import Booked
from longmark.records import Answered, Row
from longmark.records.example import question_hash
from longmark.records.files import lines
from longmark.records.parts import SUFFIX, BadLine, Part, bad_line_of, line_of
from longmark.records.read import ExampleSource, Reading
from longmark.records.write import write_object
from longmark.workspace import Workspace, replaced

SPLIT_FILE = "split.json"
NOTES_FILE = "part.jsonl"
LIMITS = ("max_calls", "max_tokens", "max_usd")
_OF_BAD = ("id", "question_id", "question", "system")  # what a run notes of a bad record
_MICRO = 10**6  # dollars are divided in millionths


@dataclass(frozen=True)
class Limits:
    """What all runs of the parts together may use in a session each: see `SessionOptions`."""

    max_calls: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    concurrency: int | None = None


def part_number(question: str, parts: int) -> int:
    """The part of a question, from 1 to parts."""
    digest = hashlib.sha256(question.encode("utf-8", "surrogatepass")).digest()
    return 1 + int.from_bytes(digest[:8]) % parts


def split(
    given: ExampleSource,
    parts: int,
    out: Path,
    *,
    whole: Limits | None = None,
    mapping: Mapping[str, str] | None = None,
    limit: int | None = None,
    skip_bad: bool = False,
) -> list[Part]:
    """Writes an input in parts into the folder `out`, as `1.part`, `2.part`, …; the folder of an earlier
    split is replaced. A part may have no examples.

    UserError if the input cannot be read or is a part itself, the folder holds other files, or a limit is too small to
    be divided; BadInput for bad records (without `skip_bad`).
    """
    with replaced(out, SPLIT_FILE) as new, ExitStack() as opened:
        files = [opened.enter_context(open(new / f"{n}{SUFFIX}", "wb")) for n in range(1, parts + 1)]
        counts, split_hash = [0] * parts, hashlib.sha256(b"%d" % parts)
        for file in files:
            file.write(_blank())

        def write(question: str, line: bytes) -> int:
            split_hash.update(line)
            number = part_number(question, parts)
            files[number - 1].write(line)
            return number

        def skipped(line: int, fields: Mapping[str, Any], why: str) -> None:
            kept = {name: fields.get(name) for name in _OF_BAD} if fields else {}
            its = fields.get("question_id") or (fields.get("question") and question_hash(fields["question"]))
            write(str(its or f"line {line}"), bad_line_of(line, BadLine(why, kept)))

        read = Reading(given, mapping=mapping, limit=limit, skip_bad=skip_bad, on_bad=skipped)
        if read.part:
            raise UserError(f"{read.name} is {read.part} already; split the whole input into more parts")
        for example in read:
            counts[write(example.variant_of or example.question_id, line_of(read.line, example)) - 1] += 1
        shares = _shares(whole or Limits(), counts)
        made = [
            Part(
                n, parts, split_hash.hexdigest()[:16], read.name, limit, read.pairs, read.good, read.bad, count, **share
            )
            for n, (count, share) in enumerate(zip(counts, shares, strict=True), 1)
        ]
        for file, part in zip(files, made, strict=True):
            file.seek(0)
            file.write(part.header())
        write_object(new / SPLIT_FILE, {"parts": [asdict(part) for part in made]})
    return made


def _blank() -> bytes:
    return Part(1, 1, "", "", None, None, 0, 0, 0).header()


def _shares(whole: Limits, counts: Sequence[int]) -> list[dict[str, Any]]:
    """What each part gets, in proportion to its examples. UserError where a part with examples would get nothing."""
    found: list[dict[str, Any]] = [{} for _ in counts]
    busy = sum(count > 0 for count in counts)
    for name, limit in asdict(whole).items():
        if limit is None:
            continue
        unit = _MICRO if name == "max_usd" else 1
        units = int(limit * unit)
        if units < busy:
            option = f"--{name.replace('_', '-')} {limit:g}"
            raise UserError(f"{option}: too small for {busy} parts with examples; use fewer parts or a larger limit")
        for part, share in zip(found, divided(units, counts), strict=True):
            part[name] = share / unit if name == "max_usd" else share
    return found


def divided(total: int, weights: Sequence[int]) -> list[int]:
    """A total in shares that are proportional to weights, at least 1 for a weight above 0, and that come to it at most
    (exactly, where a weight is above 0). ValueError where the total is smaller than the number of such weights."""
    busy = sum(weight > 0 for weight in weights)
    if total < busy:
        raise ValueError(f"{total} cannot be divided into {busy} shares")
    rest, all_ = total - busy, max(sum(weights), 1)
    shares = [rest * weight // all_ + (weight > 0) for weight in weights]
    left = total - sum(shares) if busy else 0
    for i in sorted(range(len(weights)), key=lambda i: -(rest * weights[i] % all_))[:left]:
        shares[i] += 1
    return shares


# The run of a part ---------------------------------------------------------------------------------------------------


def limited(options: SessionOptions, part: Part) -> SessionOptions:
    """The options of a session of a part's run: no more than its share."""
    options = replace(options, concurrency=min(options.concurrency, part.concurrency or options.concurrency))
    for name in LIMITS:
        limits = [limit for limit in (getattr(options.budget, name), getattr(part, name)) if limit is not None]
        setattr(options.budget, name, min(limits, default=None))
    return options


def same_part(space: Workspace, part: Part | None) -> None:
    """SettingsChanged where a folder of one part is given another part, or the whole: its rows would be dropped."""
    before = space.manifest.get("part")
    was, now = (str(Part.of_object(before)) if before else "no part"), str(part or "no part")
    space.refuse([f"  EXAMPLES: was {was}, now {now}"] if space.begun and was != now else [])


class PartNotes:
    """Writes the notes of a part's run: `place` for every example in a session's reading, then `begin`, then `calls`
    before a row. Of several lines for a row the last counts."""

    def __init__(self, folder: Path, part: Part) -> None:
        self._folder, self._path, self._new = folder, folder / NOTES_FILE, folder / f".{NOTES_FILE}.new"
        with written(folder):
            self._file: IO[bytes] = open(self._new, "wb")  # noqa: SIM115 - `close` closes it
        self._write([part.split])

    def places(self, read: Reading) -> Iterator[Answered]:
        """The examples, each with its place noted."""
        for example in read:
            self._write([example.id, read.line])
            yield example

    def begin(self) -> None:
        """Takes over what earlier sessions noted of their rows, and puts the file in its place."""
        if self._path.exists():
            for note in notes(self._path):
                if len(note) == 3:
                    self._write(note)
        with written(self._folder):
            self._file.flush()
            os.replace(self._new, self._path)

    def calls(self, row: Row, booked: Iterable[Booked]) -> None:
        """Notes the calls that a row counts. It stands on the disk before the row does."""
        self._write([row.example_id, row.metric, [(key.hex(), *usage) for key, *usage in booked]])
        with written(self._folder):
            self._file.flush()

    def _write(self, note: Any) -> None:
        with written(self._folder):
            self._file.write(orjson.dumps(note) + b"\n")

    def close(self) -> None:
        self._file.close()
        self._new.unlink(missing_ok=True)


def notes(path: Path) -> Iterator[list[Any]]:
    """The notes of a file: first `[split]`, then `[id, line]` of an example, `[id, metric, calls]` of a row. An
    unfinished last line is left out. UserError for a file that cannot be read or is damaged."""
    for number, line in lines(path):
        try:
            note = orjson.loads(line)
            if not isinstance(note, list) or not 1 <= len(note) <= 3:
                raise ValueError("it is no note")
            yield note
        except ValueError as error:
            if line.endswith(b"\n"):
                raise UserError(f"{path}:{number}: is damaged ({error}); repeat the command of this run") from None

"""An input in parts, for several machines: `longmark split`, and what the run of a part does besides.

A question is in the part that the hash of its question_id names, a variant in that of its original. So the parts of an
input that grows keep their examples. Each part carries its share of the budget and of the concurrency, in proportion to
its examples: the shares of all parts come to the whole at most. The rates of longmark.yaml are shared when a part runs.

The run folder of a part has `part.jsonl`: where each example stands in the whole input, and which calls each row counts
in its usage. `engine.merge` needs both.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from longmark import writing
from longmark.engine.folder import written
from longmark.engine.settings import SessionOptions
from longmark.errors import UserError
from longmark.models.client import Booked
from longmark.options import named
from longmark.records import Answered, Row
from longmark.records.example import question_hash
from longmark.records.files import at, lines, own_json
from longmark.records.parts import HEAD, SUFFIX, Part
from longmark.records.read import ExampleSource, Reading
from longmark.records.write import write_object
from longmark.workspace import Workspace, replaced

SPLIT_FILE = "split.json"
NOTES_FILE = "part.jsonl"
BUDGETS = ("max_calls", "max_tokens", "max_usd")
LIMITS = (*BUDGETS, "concurrency")
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


# The run of a part ---------------------------------------------------------------------------------------------------


def limited(options: SessionOptions, part: Part) -> SessionOptions:
    """The options of a session of a part's run: no more than its share."""
    shares = [name for name in BUDGETS if getattr(part, name) is not None]
    if options.budget_group is not None and shares:
        share = named(shares[0])
        raise UserError(
            f"{named('budget_group')}: the part has a share of {share} of its own; split without {share} and give "
            "each run the limit that all share"
        )
    options = replace(
        options,
        concurrency=min(options.concurrency, part.concurrency or options.concurrency),
        budget=options.budget.unspent(),
    )
    for name in BUDGETS:
        limits = [
            limit
            for limit in (getattr(options.budget, name), getattr(part, name))
            if limit is not None
        ]
        setattr(options.budget, name, min(limits, default=None))
    return options


def same_part(space: Workspace, part: Part | None) -> None:
    """SettingsChanged where a folder of one part is given another part, or the whole: its rows would be dropped."""
    before = space.manifest.get("part")
    was = str(Part(**before)) if before else "no part"
    now = str(part or "no part")
    space.refuse([f"  EXAMPLES: was {was}, now {now}"] if space.begun and was != now else [])


@dataclass(frozen=True, slots=True)
class SplitNote:
    """The first line of `part.jsonl`: the split that the part is of."""

    split: str

    def fields(self) -> list[Any]:
        return [self.split]


@dataclass(frozen=True, slots=True)
class PlaceNote:
    """Where an example stands in the whole input."""

    example_id: str
    line: int

    def fields(self) -> list[Any]:
        return [self.example_id, self.line]


@dataclass(frozen=True, slots=True)
class CallsNote:
    """The calls that a row counts in its usage, each as its key (hex digits) and what was paid for it, as `Booked`
    has it."""

    example_id: str
    metric: str
    calls: Sequence[Sequence[Any]]

    def fields(self) -> list[Any]:
        return [self.example_id, self.metric, self.calls]


Note = SplitNote | PlaceNote | CallsNote
_NOTES: dict[int, type[Note]] = {
    1: SplitNote,
    2: PlaceNote,
    3: CallsNote,
}  # by their fields in the file


class PartNotes:
    """Writes `part.jsonl` in a part's run: a `SplitNote`, a `PlaceNote` of each example while `places` reads them, and
    a `CallsNote` before each row that counts calls; of several the last holds. `begin` puts it in place."""

    def __init__(self, folder: Path, part: Part) -> None:
        self._folder = folder
        self._path = folder / NOTES_FILE
        self._new = folder / f".{NOTES_FILE}.new"
        writing.check_ours(self._path)
        self._file = writing.fresh(self._new)
        self._write(SplitNote(part.split))

    def places(self, read: Reading) -> Iterator[Answered]:
        for example in read:
            self._write(PlaceNote(example.id, read.line))
            yield example

    def begin(self) -> None:
        """Takes over what earlier sessions noted of their rows."""
        for note in notes(self._path) if self._path.exists() else ():
            if isinstance(note, CallsNote):
                self._write(note)
        self._file.flush()
        writing.move(self._new, self._path)

    def calls(self, row: Row, booked: Iterable[Booked]) -> None:
        """It is on the disk before the row is. UserError where it cannot be written."""
        calls = [(key.hex(), *usage) for key, *usage in booked]
        with written(self._folder):
            self._write(CallsNote(row.example_id, row.metric, calls))
            self._file.flush()

    def _write(self, note: Note) -> None:
        self._file.write(orjson.dumps(note.fields()) + b"\n")

    def close(self) -> None:
        self._file.close()
        writing.remove(self._new)


def notes(path: Path) -> Iterator[Note]:
    """The notes of a file without an unfinished last line. UserError where it cannot be read or is damaged."""
    for number, line in lines(path):
        try:
            fields = own_json(line)
            if not 1 <= len(fields) <= 3 or not isinstance(fields, list):
                raise ValueError("it is no note")
            yield _NOTES[len(fields)](*fields)
        except (ValueError, TypeError) as error:
            if line.endswith(b"\n"):
                raise UserError(
                    at(path, number, f"is damaged ({error}); repeat the command of this run")
                ) from None

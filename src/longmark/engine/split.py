"""What the run of a part of an input does besides. (`longmark split` makes parts; `longmark merge` needs these notes.)

The run folder of a part has `part.jsonl`: where each example stands in the whole input, and which calls each row counts
in its usage. A merge needs both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from longmark import writing
from longmark.engine.folder import written
from longmark.engine.settings import SessionOptions
from longmark.errors import UserError
from longmark.models.client import Booked
from longmark.options import named
from longmark.records import Answered, Row
from longmark.records.files import at, lines, own_json
from longmark.records.parts import Part
from longmark.records.read import Reading
from longmark.workspace import Workspace

NOTES_FILE = "part.jsonl"
BUDGETS = ("max_calls", "max_tokens", "max_usd")
LIMITS = (*BUDGETS, "concurrency")


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

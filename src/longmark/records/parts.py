"""A part of an input, as `longmark split` writes it: what one of several machines scores of a file.

The first line says which part it is and what its run may spend; each other line is an example, or what is wrong with a
bad record, with its line (or number) in the whole input. `records.read.Reading` reads it as any other input.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import orjson

from longmark.errors import UserError
from longmark.records.files import at, lines, opened
from longmark.records.pair import Answered, own_example_of

SUFFIX = ".part"
_WIDTH = 4096  # bytes of the first line, which is written last: the counts are known only then
_FORM = 1  # of the file


@dataclass(frozen=True)
class Part:
    """part: its number, from 1; of: how many there are; split: the same for all parts of one split, a hash of their
    records; source: the name of the whole input; limit: of its examples; pairs: its records are pairs, None: there are
    none; read, skipped: examples and bad records of the whole input; examples: of this part.

    max_calls, max_tokens, max_usd, concurrency: what a session of the part's run may use at most; None: as the run
    says.
    """

    part: int
    of: int
    split: str
    source: str
    limit: int | None
    pairs: bool | None
    read: int
    skipped: int
    examples: int
    max_calls: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    concurrency: int | None = None

    def __str__(self) -> str:
        return f"part {self.part} of {self.of}"

    @property
    def share(self) -> float:
        """Its share of all examples, rounded down: that of the rates of longmark.yaml."""
        return self.examples * 10**9 // self.read / 1e9 if self.read else 0.0

    def header(self) -> bytes:
        """The first line of the file. UserError where the input's name is too long for it."""
        line = orjson.dumps({"longmark_part": _FORM, **asdict(self)})
        if len(line) >= _WIDTH:
            raise UserError(f"the name of the input is too long: {self.source[:80]}…; use a shorter path")
        return line.ljust(_WIDTH - 1) + b"\n"

    @classmethod
    def of_object(cls, found: Any) -> Part:
        """The part that a header or a manifest describes. ValueError for anything else."""
        names = {field.name for field in fields(cls)}
        try:
            made = cls(**{name: value for name, value in found.items() if name in names})
            fits = 1 <= made.part <= made.of and 0 <= made.examples <= made.read and isinstance(made.split, str)
        except (AttributeError, TypeError) as error:
            raise ValueError(f"not the description of a part: {error}") from None
        if not fits:
            raise ValueError("not the description of a part")
        return made


@dataclass(frozen=True, slots=True)
class BadLine:
    """A bad record of the whole input. fields: those that could be read."""

    message: str
    fields: dict[str, Any]


def part_of(given: Any) -> Part | None:
    """The part that a file is, by its suffix; None for any other input. UserError for a damaged part."""
    if not isinstance(given, str | Path) or Path(given).suffix.lower() != SUFFIX:
        return None
    with opened(Path(given)) as file:
        line = file.read(_WIDTH)
    try:
        found = orjson.loads(line)
        if found["longmark_part"] != _FORM:
            raise ValueError("it was made by another version of longmark")
        return Part.of_object(found)
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{given} is not a part as `longmark split` writes it ({error}); split the input again"
        ) from None


def line_of(line: int, example: Answered) -> bytes:
    """An example as a line of a part."""
    return b'{"line":%d,"example":%s}\n' % (line, example.to_json())


def bad_line_of(line: int, bad: BadLine) -> bytes:
    """A bad record as a line of a part."""
    return orjson.dumps({"line": line, "bad": bad.message, "fields": bad.fields}, default=str) + b"\n"


def records(path: Path) -> Iterator[tuple[int, Answered | BadLine]]:
    """(line in the whole input, the example or the bad record) of a part. UserError for a damaged line."""
    for number, raw in lines(path):
        if number == 1:
            continue
        try:
            found = orjson.loads(raw)
            if "bad" in found:
                yield int(found["line"]), BadLine(str(found["bad"]), found["fields"])
            else:
                yield int(found["line"]), own_example_of(raw[raw.index(b'"example":') + len(b'"example":') : -2])
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(at(path, number, f"is damaged ({error}); split the input again")) from None

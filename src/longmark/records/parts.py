"""A part of an input, as `longmark split` writes it: what one of several machines scores of a file.

The first line says which part it is and what its run may use; each other line is an example, or what is wrong with a
bad record, with its line (or number) in the whole input. `records.read.Reading` reads it as any other input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter

from longmark.errors import UserError
from longmark.records.files import at, lines, opened, own_json
from longmark.records.kept import KeptFile
from longmark.records.pair import Answered, own_example_of

SUFFIX = ".part"
HEAD = 1 << 15  # bytes of the first line, which is written last: the counts are known only then


@dataclass(frozen=True)
class Part:
    """part: its number, from 1; of: how many there are; split: a hash of all records, the same for all parts; source:
    the name of the whole input; limit: of its examples; pairs: its records are pairs, None: there are none; read,
    skipped: examples and bad records of the whole input; examples: of this part; turns: what is scored of
    conversations; the others: what a session of its run may use at most, None: as the run says."""

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
    turns: str = "last"

    def __str__(self) -> str:
        return f"part {self.part} of {self.of}"

    @property
    def share(self) -> float:
        """Its share of all examples, rounded down: that of the rates of longmark.yaml."""
        return self.examples * 10**9 // self.read / 1e9 if self.read else 0.0

    def header(self) -> bytes:
        """The first line of the file."""
        return orjson.dumps(asdict(self)).ljust(HEAD - 1) + b"\n"

    @staticmethod
    def of_json(text: bytes) -> Part:
        """The part that a header or a manifest describes. ValueError for anything else."""
        return TypeAdapter(Part).validate_json(text, strict=True)


def part_of(source: Any) -> Part | None:
    """The part that a file is, by its suffix; None for any other input. UserError for a damaged part."""
    source = source.path if isinstance(source, KeptFile) else source
    if not isinstance(source, str | Path) or Path(source).suffix.lower() != SUFFIX:
        return None
    with opened(Path(source)) as file:
        try:
            return Part.of_json(file.read(HEAD))
        except ValueError:
            raise UserError(
                f"{source} is not a part as `longmark split` writes it; split the input again"
            ) from None


def merged_in_part(manifest: Mapping[str, Any]) -> bool:
    """`longmark merge --incomplete` made the run of this manifest, and no session of its own has worked there since."""
    sessions = manifest.get("sessions")
    last = sessions[-1] if isinstance(sessions, list) and sessions else {"part": None}
    return (
        bool(manifest.get("merged"))
        and not manifest.get("finished")
        and isinstance(last, dict)
        and "part" in last
    )


def records(path: Path) -> Iterator[tuple[int, Answered | dict[str, Any]]]:
    """(line in the whole input, the example or the bad record) of a part. UserError for a damaged line."""
    for number, raw in lines(path):
        try:
            if number > 1:
                entry = own_json(raw)
                yield (
                    entry["line"],
                    entry if "bad" in entry else own_example_of(orjson.dumps(entry["example"])),
                )
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(
                at(path, number, f"is damaged ({error}); split the input again")
            ) from None

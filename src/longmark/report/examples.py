"""The examples of a run, as its folder holds them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from longmark.records import Example
from longmark.records.sources import lines


def examples_of(folder: Path) -> Iterator[Example]:
    """The examples of a run folder in their order. None where it has no examples.jsonl. A line that cannot be read (a
    process may have been killed while writing it) is skipped, since scores can be reported without it. UserError where
    the file cannot be read."""
    path = folder / "examples.jsonl"
    if not path.is_file():
        return
    for _, line in lines(path):
        try:
            yield Example.from_json(line)
        except ValidationError:
            continue

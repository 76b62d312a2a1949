"""Benchmarks from books (ClimaQA, section 4): seeds, writing, audits, figures, export, answers of models under test.

A benchmark is a folder: `items.jsonl` (every item, including dropped ones), `manifest.json`, `figures.json`, and
`index/`, an index of the books' chunks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from longmark.contrib.make.benchmark.topic import Topic
from longmark.errors import UserError
from longmark.judge import numbered
from longmark.records.benchmark import Item, Passage, read_items

FORMAT = 1
ITEMS = "items.jsonl"
MANIFEST = "manifest.json"
FIGURES = "figures.json"
INDEX = "index"
DATA = "data"  # in a folder of `benchmark export`


@dataclass(frozen=True)
class BenchmarkPlan:
    """What is generated.

    n             usable items of each form and level
    k, threshold  passages beside the seed, at most, and the cosine that they need
    temperature   of what is written
    """

    topic: Topic
    n: int = 10
    k: int = 3
    threshold: float = 0.6
    temperature: float = 0.7
    seed: int = 0


def items_of(path: str | Path) -> list[Item]:
    """The items of a benchmark's folder, of a folder that was exported, or of a file. UserError and BadInput as
    `read_items`."""
    path = Path(path)
    if not path.is_dir():
        return read_items(path)
    files = [path / ITEMS] if (path / ITEMS).is_file() else sorted((path / DATA).glob("*/*.*"))
    if not files:
        commands = "`longmark benchmark generate` or `export`"
        raise UserError(f"{path} has no {ITEMS}; name a folder of {commands}, or a file of items")
    return [item for file in files for item in read_items(file)]


def context_of(passages: Iterable[Passage]) -> str:
    """Passages as every prompt shows them, under the input `context`. They come first: calls on one seed begin with
    the same bytes, so that a prefix cache serves them."""
    return numbered(passage.text for passage in passages)

"""One file that a tool wrote, and what it holds by hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "examples/exports"


@dataclass(frozen=True)
class Export:
    """A file of a tool.

    holds     of answers (id, system, question, answer, passages, references), of labels (answer, rater, label, value)
    not_read  what the notice counts
    mapping   `--map` that the file needs
    has_ids   whether the tool names its answers
    turns     of each conversation its messages as (role, text)
    refused   the end of the error for a file without answers
    """

    tool: str
    file: str
    says: str
    holds: tuple[tuple[Any, ...], ...]
    not_read: str
    of_labels: bool = False
    mapping: tuple[tuple[str, str], ...] = ()
    has_ids: bool = True
    turns: tuple[tuple[tuple[str, str], ...], ...] = ()
    refused: str = ""

    @property
    def path(self) -> Path:
        return FOLDER / self.file

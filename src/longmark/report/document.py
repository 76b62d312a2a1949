"""The page of a study-like verb: sections with a sentence, a figure and its tables, in one file that opens offline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmark.tables import Table


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page. title: its heading; says: what it shows, in a sentence or two, plain text; figure: of
    `longmark.report.plots` (several may be joined), the only text that goes into the page as it is; note: how to read
    it, plain text."""

    title: str
    says: str
    tables: Sequence[Table] = ()
    figure: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A page. kind: what it is, as `comparison`; title, lede: its heading and the line below it; notices: what a reader
    must know before believing it; settings: how it was made, name -> a JSON value. All plain text."""

    kind: str
    title: str
    lede: str
    sections: Sequence[Section]
    notices: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


def write_document(document: Document, path: Path) -> None:
    """Writes the page, whole or not at all. UserError as `longmark.report.html.write_report` has it."""
    raise NotImplementedError

"""A document printed, and written as tables and one page."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from longmark.errors import UserError
from longmark.report.document import Document, Section, check_out, publish
from longmark.report.tables import Column, Table

SMALL = Table("small", "Small", (Column("a"), Column("b", places=1)), (("x", 1.25),))
LONG = Table("long", "Long", (Column("a"),), tuple((i,) for i in range(100)))
DOCUMENT = Document(
    "study",
    "A study",
    "Two tables.",
    (Section("One", "It says so.", (SMALL, LONG), note="Made here."),),
    ("Take care.",),
)


def printed(out: Path | None) -> str:
    file = io.StringIO()
    publish(DOCUMENT, out, Console(file=file, width=80))
    return file.getvalue()


def test_sections_are_printed_with_their_tables_and_long_ones_are_cut():
    text = printed(None)
    assert text.startswith(
        "Note: Take care.\n\nOne\nIt says so.\n\nSmall\na    b\nx  1.2\n\nLong\n a\n 0\n"
    )
    assert "\n59\n… and 40 more rows; --out DIR writes them all\nMade here.\n" in text


def test_the_files_hold_every_row(tmp_path):
    text = printed(tmp_path / "out")
    assert f"… and 40 more rows; all are in {tmp_path / 'out' / 'tables' / 'long'}.csv\n" in text
    assert text.endswith(f"Report: {tmp_path / 'out' / 'report.html'}\n")
    assert len((tmp_path / "out" / "tables" / "long.csv").read_text().splitlines()) == 101
    assert "It says so." in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert f"\\label{{tab:{DOCUMENT.kind}:long}}" in (
        tmp_path / "out" / "tables" / "long.tex"
    ).read_text("utf-8")
    printed(tmp_path / "out")  # an earlier report of ours is replaced


def test_what_cannot_be_written_is_refused_before_anything_is_printed(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="is a file"):
        check_out(tmp_path / "file")
    (tmp_path / "report.html").write_text("<p>somebody's own")
    file = io.StringIO()
    with pytest.raises(UserError, match="not a longmark report"):
        publish(DOCUMENT, tmp_path, Console(file=file))
    assert file.getvalue() == ""
    check_out(None)


class ClosedPipe(io.StringIO):
    """A pipe whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_the_files_are_there_although_the_reader_has_gone(tmp_path):
    with pytest.raises(BrokenPipeError):
        publish(DOCUMENT, tmp_path / "out", Console(file=ClosedPipe(), width=80))
    assert len((tmp_path / "out" / "tables" / "long.csv").read_text().splitlines()) == 101
    assert "It says so." in (tmp_path / "out" / "report.html").read_text("utf-8")

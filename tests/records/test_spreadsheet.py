"""CSV that is opened in a spreadsheet."""

import csv
import io
from pathlib import Path

import pytest
from tests.analysis.compare.test_silence import BASE, LIKE, rows

from longmark.cli import main
from longmark.records.write import spreadsheet


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-a", "'-a"),
        ("@SUM(A1)", "'@SUM(A1)"),
        (" =1", "' =1"),
        ("\t=1", "'\t=1"),
        ("a=1", "a=1"),
        ("a\x1b[31mb\x00c", "a [31mb c"),
        ("two\nlines", "two\nlines"),
        (-0.5, "-0.5"),
        (None, ""),
        ("", ""),
    ],
)
def test_no_text_is_a_formula_or_a_terminal_s_command(cell: object, written: str):
    assert next(csv.reader(io.StringIO(spreadsheet([["x", cell]]), newline=""))) == ["x", written]


def test_names_of_systems_are_inert_in_the_tables_of_a_comparison(tmp_path: Path):
    path = rows(tmp_path / "rows.jsonl", {"=HYPERLINK(1)": [BASE], "b\x1b[2J": [LIKE]})
    assert main(["compare", path, "--draws", "200", "--out", str(tmp_path / "out")]) == 0
    for table in (tmp_path / "out" / "tables").glob("*.csv"):
        cells = [cell for line in csv.reader(table.read_text().splitlines()) for cell in line]
        assert not any(cell.startswith("=") or "\x1b" in cell for cell in cells)

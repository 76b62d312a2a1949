"""A table in each of its forms."""

from __future__ import annotations

import csv
import io

import orjson
import pytest
from rich.console import Console

from longmark.errors import UserError
from longmark.tables import (
    Column,
    Range,
    Table,
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    as_text,
    filled,
    print_table,
    write_tables,
)

TABLE = Table(
    "means",
    "Means & ends",
    (
        Column("system"),
        Column("n"),
        Column("mean", 3),
        Column("95 % interval", 2, "range", key="interval"),
        Column("p", kind="p"),
    ),
    (
        ("a|b_c", 1200, 0.12345, Range(-0.001, 0.25), 0.0004),
        ("50 %\n{x}", 3, None, None, None),
        ("one end", 7, -0.0004, Range(None, 1.0), 0.0456),
    ),
    note="Means over <answers> with a value.",
)


def test_text_is_aligned_and_writes_a_dash_for_what_is_not_there():
    assert as_text(TABLE) == (
        "system        n   mean  95 % interval       p\n"
        "a|b_c     1,200  0.123   [0.00, 0.25]  <0.001\n"
        "50 % {x}      3      –              –       –\n"
        "one end       7  0.000      [–, 1.00]   0.046\n"
    )


def test_csv_and_json_hold_unrounded_figures_and_nothing_for_none():
    lines = list(csv.reader(io.StringIO(as_csv(TABLE))))
    assert lines[0] == ["system", "n", "mean", "interval_low", "interval_high", "p"]
    assert lines[1] == ["a|b_c", "1200", "0.12345", "-0.001", "0.25", "0.0004"]
    assert lines[2] == ["50 %\n{x}", "3", "", "", "", ""]
    data = orjson.loads(as_json(TABLE))
    assert data["rows"][2] == {
        "system": "one end",
        "n": 7,
        "mean": -0.0004,
        "interval_low": None,
        "interval_high": 1.0,
        "p": 0.0456,
    }
    assert data["title"] == "Means & ends"


def test_markdown_and_latex_escape_what_they_would_read_as_markup():
    head, marks, first, *_ = as_markdown(TABLE).splitlines()
    assert head == "| system | n | mean | 95 % interval | p |"
    assert marks == "| --- | ---: | ---: | ---: | ---: |"
    assert first == r"| a\|b\_c | 1,200 | 0.123 | \[0.00, 0.25\] | \<0.001 |"
    latex = as_latex(TABLE)
    assert "\\caption{Means \\& ends}" in latex
    assert "\\begin{tabular}{lrrrr}" in latex
    assert "50 \\% \\{x\\} & 3 & -- & -- & -- \\\\\n" in latex
    assert "a\\textbar{}b\\_c & 1,200 & 0.123 & {[}0.00, 0.25{]} & $<$0.001 \\\\\n" in latex


def test_a_file_of_each_form_is_written(tmp_path):
    write_tables([TABLE], tmp_path / "new" / "tables")
    assert sorted(path.name for path in (tmp_path / "new" / "tables").iterdir()) == [
        "means.csv",
        "means.json",
        "means.md",
        "means.tex",
    ]
    assert r"Means over \<answers\>" in (tmp_path / "new" / "tables" / "means.md").read_text("utf-8")
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="give another --out"):
        write_tables([TABLE], tmp_path / "file" / "tables")


def test_a_narrow_terminal_gets_plain_lines_and_a_wide_one_a_drawn_table():
    narrow, wide = io.StringIO(), io.StringIO()
    print_table(TABLE, Console(file=narrow, width=30, force_terminal=True))
    assert narrow.getvalue() == as_text(TABLE)
    print_table(TABLE, Console(file=wide, width=120, force_terminal=True))
    assert "[0.00, 0.25]" in wide.getvalue()
    assert "─" in wide.getvalue()


def test_a_table_that_does_not_fit_its_columns_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="2 columns, but a row of 1"):
        Table("t", "t", (Column("a"), Column("b")), (("x",),))
    with pytest.raises(ValueError, match="share a key"):
        Table("t", "t", (Column("a"), Column("A")), ())


def test_for_people_a_column_without_any_cell_is_left_out():
    columns = (Column("a"), Column("b", 1, "range"), Column("c"), Column("d"))
    rows = ((None, Range(None, None), None, "x"), (None, None, None, None))
    assert [column.name for column in filled(Table("t", "T", columns, rows)).columns] == ["a", "d"]  # the first stays
    assert filled(Table("t", "T", columns, rows)).rows == ((None, "x"), (None, None))
    assert filled(Table("t", "T", columns, ())).columns == columns


def test_a_table_without_rows_has_its_heads():
    empty = Table("t", "t", (Column("a"), Column("b", 2)), ())
    assert as_text(empty) == "a  b\n"
    assert as_csv(empty) == "a,b\n"

"""A table in each of its forms."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from types import SimpleNamespace

import orjson
import pytest
from rich.console import Console

from longmark.errors import UserError
from longmark.report.tables import (
    Best,
    Column,
    Range,
    Table,
    as_csv,
    as_json,
    as_latex,
    as_markdown,
    as_text,
    main_columns,
    print_table,
    readable,
    write_tables,
)
from longmark.stats.results import Estimate


@dataclass
class SystemMean:
    system: str
    n: int
    mean: float | None
    ci: Range | None
    p: float | None


TABLE = Table(
    "means",
    "Means & ends",
    (
        Column("system"),
        Column("n", lambda item: item.n),
        Column("mean", "mean", 3),
        Column("extremes", "ci", 2, "extremes", key="interval"),
        Column("p", kind="p"),
    ),
    (
        SystemMean("a|b_c", 1200, 0.12345, Range(-0.001, 0.25), 0.0004),
        SystemMean("50 %\n{x}", 3, None, None, None),
        SystemMean("one end", 7, -0.0004, Range(None, 1.0), 0.0456),
    ),
    note="Means over <answers> with a score.",
)


def test_text_is_aligned_and_writes_a_dash_for_what_is_not_there():
    assert as_text(TABLE) == (
        "system        n   mean      extremes       p\n"
        "a|b_c     1,200  0.123  0.00 to 0.25  <0.001\n"
        "50 % {x}      3      –             –       –\n"
        "one end       7  0.000     – to 1.00   0.046\n"
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
    assert " ".join(head.split()) == "| system | n | mean | extremes | p |"
    assert re.sub("-+", "-", marks) == "|:-|-:|-:|-:|-:|"
    assert " ".join(first.split()) == r"| a\|b\_c | 1,200 | 0.123 | 0.00 to 0.25 | \<0.001 |"
    latex = as_latex(TABLE)
    assert "\\caption{Means \\& ends}" in latex
    assert "\\begin{tabular}{lrrrr}" in latex
    lines = [" ".join(line.split()) for line in latex.splitlines()]
    assert "50 \\% \\{x\\} & 3 & -- & -- & -- \\\\" in lines
    assert "a\\textbar{}b\\_c & 1,200 & 0.123 & 0.00 to 0.25 & $<$0.001 \\\\" in lines


def test_a_file_of_each_form_is_written(tmp_path):
    write_tables([TABLE], tmp_path / "new" / "tables")
    assert sorted(path.name for path in (tmp_path / "new" / "tables").iterdir()) == [
        "means.csv",
        "means.json",
        "means.md",
        "means.tex",
    ]
    assert r"Means over \<answers\>" in (tmp_path / "new" / "tables" / "means.md").read_text(
        "utf-8"
    )
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="give another --out"):
        write_tables([TABLE], tmp_path / "file" / "tables")


def test_a_narrow_terminal_gets_plain_lines_and_a_wide_one_a_drawn_table():
    narrow, wide = io.StringIO(), io.StringIO()
    print_table(TABLE, Console(file=narrow, width=30, force_terminal=True))
    assert narrow.getvalue() == as_text(TABLE)
    print_table(TABLE, Console(file=wide, width=120, force_terminal=True))
    assert "0.00 to 0.25" in wide.getvalue()
    assert "─" in wide.getvalue()


def test_two_columns_of_one_key_are_refused():
    with pytest.raises(ValueError, match="share a key"):
        Table("t", "t", (Column("a"), Column("A")), ())


def test_for_people_a_column_without_any_cell_is_left_out():
    columns = (
        Column("a", lambda item: None),
        Column("b", lambda item: Range(None, None), 1, "extremes"),
        Column("c", lambda item: None),
        Column("d", lambda item: item),
    )
    shown = readable(Table("t", "T", columns, ("x", None)))
    assert [column.name for column in shown.columns] == ["a", "d"]  # the first stays
    assert shown.rows == ((None, "x"), (None, None))
    assert len(readable(Table("t", "T", columns, ())).columns) == 4


def test_columns_of_methods_are_for_files_and_pages_only():
    columns = (Column("system"), Column("n"), Column("judges", kind="method"))
    table = Table("t", "T", columns, [("a", 9, "mild")])
    assert as_csv(table).splitlines() == ["system,n,judges", "a,9,mild"]
    assert "mild" not in as_latex(table)
    assert as_text(main_columns(table)) == "system  n\na       9\n"


def test_a_table_without_rows_has_its_heads():
    empty = Table("t", "t", (Column("a"), Column("b", places=2)), ())
    assert as_text(empty).split() == ["a", "b"]
    assert as_csv(empty) == "a,b\n"


ESTIMATES = Table(
    "rates",
    "Rates",
    (
        Column("system"),
        Column("rate", "rate", 2, "estimate"),
        Column("other", "other", 2, "estimate"),
    ),
    [
        SimpleNamespace(
            system="a",
            rate=Best(
                Estimate(
                    0.5, 0.25, 0.75, 38, missing=2, method="Wilson", clusters=20, effective=8.25
                )
            ),
            other=Estimate(0.1, None, None, 9, reason="too few"),
        ),
        SimpleNamespace(
            system="b", rate=Estimate(None, None, None, 0, missing=3, reason="no score"), other=None
        ),
    ],
    unit="answers",
)


def test_estimates_show_what_they_were_made_of_once_for_each_row():
    cells = [re.split(r" {2,}", line.strip()) for line in as_text(ESTIMATES).splitlines()]
    assert cells == [
        ["system", "rate", "other", "answers", "clusters", "reason"],
        ["a", "0.50 [0.25, 0.75]*", "0.10", "38 of 40", "20 (8.2 effective)", "other: too few"],
        ["b", "–", "–", "0 of 3", "–", "no score"],
    ]
    shown = readable(ESTIMATES)
    assert shown.note == "In brackets: 95 % CI (Wilson)."
    assert (readable(shown).rows, readable(shown).note) == (shown.rows, shown.note)
    assert [column.name for column in readable(replace(ESTIMATES, unit="")).columns][3:] == [
        "reason"
    ]
    assert "**0.50 \\[0.25, 0.75\\]** |" in as_markdown(ESTIMATES), (
        "the best of a column is in bold"
    )
    assert "\\textbf{0.50 {[}0.25, 0.75{]}}" in as_latex(ESTIMATES)


def test_files_have_all_of_an_estimate():
    ends = ["", "_low", "_high", "_n", "_missing", "_clusters", "_method", "_reason"]
    heads, first, second = csv.reader(io.StringIO(as_csv(ESTIMATES)))
    assert heads == ["system", *(f"{name}{end}" for name in ("rate", "other") for end in ends)]
    assert first[1:9] == ["0.5", "0.25", "0.75", "38", "2", "20", "Wilson", ""]
    assert second[1:9] == ["", "", "", "0", "3", "", "", "no score"]
    assert orjson.loads(as_json(ESTIMATES))["rows"][1]["other_n"] is None

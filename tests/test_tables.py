"""A table in each of its forms."""

from __future__ import annotations

import csv
import io
import re

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


def cells_of(latex: str) -> tuple[list[str], list[list[str]]]:
    """The columns of the tabular, and the cells of its lines, read as strictly as TeX does: groups and modes close,
    ends meet their beginnings, and every line has as many cells as there are columns."""
    code = re.sub(r"^%.*\n|(?<!\\)%\n", "", latex, flags=re.MULTILINE)
    depth, math, open_ = 0, False, []
    for token in re.finditer(r"\\(begin|end)\{(\w+)\}|\\[A-Za-z]+|\\.|[{}$%&#_^~\"|]", code, re.DOTALL):
        if token[1] == "begin":
            open_.append(token[2])
        elif token[1] == "end":
            assert open_.pop() == token[2]
        elif token[0] in "{}":
            depth += 1 if token[0] == "{" else -1
            assert depth >= 0
        elif token[0] == "$":
            math = not math
        else:
            assert token[0] == "&" or token[0].startswith("\\"), f"{token[0]} is not escaped"
    assert (depth, math, open_) == (0, False, [])
    form, body = re.search(
        r"\\begin\{tabular\}\{((?:[^{}]|\{[^{}]*\})*)\}\n(.*)\\end\{tabular\}", code, re.DOTALL
    ).groups()  # type: ignore[union-attr]
    columns = re.findall(r">\{\\raggedright\\arraybackslash\}p\{[\d.]+\\linewidth\}|[lr]", form)
    assert "".join(columns) == form
    rules = re.fullmatch(r"\\toprule\n(.*) \\\\\n\\midrule\n(.*)\\bottomrule\n", body, re.DOTALL)
    assert rules is not None
    lines = [rules[1], *rules[2].split(" \\\\\n")[:-1]]
    split = [re.split(r"(?<!\\)&", line) for line in lines]
    assert all(len(line) == len(columns) for line in split)
    assert not any(re.match(r"\s*[\[*]", line) for line in lines), "an argument of the line end before it"
    return columns, [[cell.strip() for cell in line] for line in split]


def test_latex_holds_whatever_a_name_may_be():
    foreign = '*[x] a|b "q" --x `y` \\end{tabular} % $1 #2 ^~ & {'
    table = Table("a b/ü", foreign, (Column(foreign), Column("n")), ((foreign, 1), ("[2]", 2)), note=foreign)
    columns, (head, first, second) = cells_of(as_latex(table))
    assert columns == [">{\\raggedright\\arraybackslash}p{0.88\\linewidth}", "r"]
    said = (
        "{*}{[}x{]} a\\textbar{}b \\symbol{34}q\\symbol{34} -{}-x \\textasciigrave{}y\\textasciigrave{} "
        "\\textbackslash{}end\\{tabular\\} \\% \\$1 \\#2 \\textasciicircum{}\\textasciitilde{} \\& \\{"
    )
    assert (head[0], first, second) == (said, [said, "1"], ["{[}2{]}", "2"])
    assert "\\label{tab:a-b--}" in as_latex(table)


def test_latex_writes_our_signs_and_names_the_engine_that_others_need():
    columns = (Column("mean ± s", 2), Column("why"))
    own = Table("t", "≥ ≤ − – … ↑ ↓ × ±", columns, ((-0.5, "é ł"), (1e-3, "-1")))
    lines = as_latex(own).splitlines()
    assert lines[0] == "% Needs \\usepackage{booktabs}."
    assert lines[3] == ("\\caption{$\\geq$ $\\leq$ $-$ -- \\ldots{} $\\uparrow$ $\\downarrow$ $\\times$ $\\pm$}")
    assert cells_of(as_latex(own))[1] == [["mean $\\pm$ s", "why"], ["$-$0.50", "é ł"], ["0.00", "-1"]]
    other = Table("t", "T", columns, ((0.5, "検索 α 😀"),))
    assert as_latex(other).splitlines()[0] == (
        "% Needs \\usepackage{booktabs}. Compile with LuaLaTeX or XeLaTeX, and fonts that have: CJK, Greek, symbols."
    )
    assert "検索 α 😀" in as_latex(other)


def test_latex_breaks_sentences_and_fits_broad_tables_to_the_line():
    said = "This system cannot be told apart from any of the others. " * 3
    # metric 6, n 2 characters, and 3 between columns: 0.97 - (6 + 3 + 2 + 3 + 3) / 75 = 0.74 of the line are left
    worded = Table("t", "T", (Column("metric"), Column("n"), Column("finding")), (("a", 60, said),), note="A note.")
    latex = as_latex(worded)
    assert latex.startswith("% Needs \\usepackage{booktabs,array}.\n\\begin{table}\n\\centering\n\\small\n")
    assert cells_of(latex)[0] == ["l", "r", ">{\\raggedright\\arraybackslash}p{0.74\\linewidth}"]
    assert "resizebox" not in latex
    assert latex.index("\\end{tabular}") < latex.index("{\\footnotesize A note.}") < latex.index("\\end{table}")
    # 60 + 3 characters beside it leave 0.97 - (6 + 3 + 60 + 3 + 3) / 75 < 0, so that the whole is scaled down
    scaled = Table("t", "T", (Column("metric"), Column("n" * 60), Column("finding")), (("a", 60, said),))
    assert cells_of(as_latex(scaled))[0][2].endswith("p{0.50\\linewidth}")
    assert "\\resizebox" in as_latex(scaled)
    broad = Table("t", "T", tuple(Column(f"c{i}", 1) for i in range(9)), (tuple(range(9)),) * 46)
    latex = as_latex(broad)
    assert latex.startswith("% Needs \\usepackage{booktabs,graphicx}.\n% Broad: ")
    assert "sidewaystable" in latex
    assert "% 46 rows are more than a page holds" in latex
    assert (
        "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n\\begin{tabular}{rrrrrrrrr}" in latex
    )
    assert "\\end{tabular}}\n\\end{table}\n" in latex
    assert len(cells_of(latex)[1]) == 47
    cells_of(as_latex(Table("t", "t", (Column("a"), Column("b", 2)), ())))

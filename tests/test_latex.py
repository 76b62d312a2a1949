"""Tables as LaTeX: escaped, laid out, and every verb's tables compiled, where there is a pdflatex."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.analysis.compare.runs import run_of
from tests.contrib.papers.metrics_runs import known, write_scores
from tests.contrib.papers.score_models import Fakes, carry, make_index
from tests.report.runs import CORRECTNESS, RELEVANCE, manifest, row, write_run

from longmark import metrics_study
from longmark.analysis.compare import compare
from longmark.analysis.compare import document as compared
from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.sections import document as held_against_people
from longmark.analysis.metrics_study import document as metrics_document
from longmark.models.cache import CallCache
from longmark.records import Example
from longmark.report.document import Document
from longmark.report.tables import Column, Range, Table, as_latex, write_tables

DOCS = Path(__file__).parents[1] / "docs" / "latex.md"
NAMES = (
    "bm25_gpt-4o & co",
    "50 % #1 {x} $y$ ~ ^ \\",
    "<b>bold</b> [2] *x* |y| \"q\" `z` --a ''",
    "a-very-long-name-of-a-system_with-many-parts_and-no-space_at-all_v2.3.4-instruct-quantised-q4_k_m",
    "withoutanyplacetobreakitwithoutanyplacetobreakit",
    "ﬁrst Ångström đ ŋ „x‚ € α Δ ≥ − ±".replace("ﬁ", "fi"),
)


def cells_of(latex: str) -> tuple[list[str], list[list[str]]]:
    """The columns of the tabular, and the cells of its lines, heads first, read as strictly as TeX does: groups and
    modes close, ends meet their beginnings, and every line has as many cells as there are columns."""
    code = re.sub(r"^%.*\n|(?<!\\)%\n", "", latex, flags=re.MULTILINE)
    depth, math, open_ = 0, False, []
    for token in re.finditer(
        r"\\(begin|end)\{(\w+)\}|\\[A-Za-z]+|\\.|[{}$%&#_^~\"|]", code, re.DOTALL
    ):
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
        r"\\begin\{(?:tabular|longtable)\}\{((?:[^{}]|\{[^{}]*\})*)\}\n(.*)\\end\{(?:tabular|longtable)\}",
        code,
        re.DOTALL,
    ).groups()  # type: ignore[union-attr]
    columns = re.findall(r">\{\\raggedright\\arraybackslash\}p\{[\d.]+\\linewidth\}|[lr]", form)
    assert "".join(columns) == form
    body = re.sub(
        r"^\\caption.*\n\\label.*\n|^\\toprule\n(.*\n)+\\midrule\n\\endfirsthead\n",
        "",
        body,
        flags=re.M,
    )
    rules = re.fullmatch(
        r"\\toprule\n(?P<heads>(?:.*\\\\\n)+)\\midrule\n(?:\\endhead\n\\bottomrule\n\\endfoot\n)?"
        r"(?P<rows>(?:.*\\\\\n)*)(?:\\bottomrule\n)?",
        body,
    )
    assert rules is not None
    lines = (rules["heads"] + rules["rows"]).split(" \\\\\n")[:-1]
    split = [re.split(r"(?<!\\)&", line) for line in lines]
    assert all(len(line) == len(columns) for line in split)
    assert not any(re.match(r"\s*[\[*]", line) for line in lines), (
        "an argument of the line end before it"
    )
    return columns, [[cell.strip() for cell in line] for line in split]


def test_whatever_a_name_may_be():
    foreign = '*[x] a|b "q" --x `y` \\end{tabular} % $1 #2 ^~ & {'
    table = Table(
        "a b/ü", foreign, (Column("system"), Column("n")), ((foreign, 1), ("[2]", 2)), note=foreign
    )
    columns, (_, first, second) = cells_of(as_latex(table))
    assert columns == [">{\\raggedright\\arraybackslash}p{0.74\\linewidth}", "r"]
    said = (
        "{*}{[}x{]} a\\textbar{}b \\textquotedbl{}q\\textquotedbl{} -{}-x \\textasciigrave{}y\\textasciigrave{} "
        "\\textbackslash{}end\\{tabular\\} \\% \\$1 \\#2 \\textasciicircum{}\\textasciitilde{} \\& \\{"
    )
    assert (first, second) == ([said, "1"], ["{[}2{]}", "2"])
    assert "\\label{tab:a-b--}" in as_latex(table)
    cells_of(as_latex(Table("t", "t", (Column(foreign), Column("n")), ((foreign, 1),))))


def test_our_signs_are_written_and_the_engine_named_that_others_need():
    columns = (Column("mean ± s", places=2), Column("why"), Column("a - b", places=1))
    own = Table("t", "≥ ≤ − – … ↑ ↓ × ± α Δ", columns, ((-0.5, "x ''y", 1), (1e-3, "-1", None)))
    lines = as_latex(own).splitlines()
    assert lines[0] == "% Needs \\usepackage{booktabs}."
    assert lines[3] == (
        "\\caption{$\\geq$ $\\leq$ $-$ -- \\ldots{} $\\uparrow$ $\\downarrow$ $\\times$ $\\pm$ $\\alpha$ $\\Delta$}"
    )
    assert cells_of(as_latex(own))[1] == [
        ["mean $\\pm$ s", "why", "a $-$ b"],
        ["$-$0.50", "x '{}'y", "1.0"],
        ["0.00", "-1", "--"],
    ]
    for foreign, needed in (
        ("ł", "With pdfLaTeX also \\usepackage[T1]{fontenc}."),
        (
            "検索 Б 😀",
            "Compile with LuaLaTeX or XeLaTeX, and fonts that have: CJK, Cyrillic, symbols.",
        ),
        ("ħ", "Compile with LuaLaTeX or XeLaTeX, and fonts that have: Latin."),
    ):
        other = as_latex(Table("t", "T", columns, ((0.5, foreign, None),)))
        assert other.splitlines()[0] == f"% Needs \\usepackage{{booktabs}}. {needed}"
        assert foreign in other


def test_sentences_are_broken():
    said = "This system cannot be told apart from any of the others. " * 3
    # metric 1.45 + 5 x 0.95, n 2 digits and three gaps: most of the line is left for sentences
    table = Table(
        "t",
        "T",
        (Column("metric"), Column("n"), Column("finding")),
        (("a", 60, said),),
        note="A note.",
    )
    latex = as_latex(table)
    assert latex.startswith(
        "% Needs \\usepackage{booktabs,array}.\n\\begin{table}\n\\centering\n\\caption"
    )
    form = cells_of(latex)[0]
    assert form[:2] == ["l", "r"]
    assert 0.7 < float(form[2].split("{")[-1].split("\\")[0]) < 0.9
    assert "resizebox" not in latex
    assert (
        latex.index("\\end{tabular}")
        < latex.index("{\\footnotesize A note.}")
        < latex.index("\\end{table}")
    )


def test_heads_are_broken_before_type_gets_smaller():
    head = "mean over the common questions"
    table = Table(
        "t", "T", tuple(Column(f"{head} {i}", places=3) for i in range(5)), (tuple([0.5] * 5),)
    )
    latex = as_latex(table)
    assert latex.startswith("% Needs \\usepackage{booktabs}.")
    _, lines = cells_of(latex)
    assert [line[0] for line in lines] == [
        r"\shortstack[r]{mean over \\ the common \\ questions \\ 0}",
        "0.500",
    ]


def test_broad_tables_get_smaller_type_then_lie_on_their_side():
    for columns, needs in ((9, "graphicx"), (20, "graphicx,rotating")):
        table = Table(
            "t",
            "T",
            tuple(Column(f"c{i}", places=3) for i in range(columns)),
            (tuple([-0.123] * columns),) * 3,
        )
        latex = as_latex(table)
        assert latex.startswith(f"% Needs \\usepackage{{booktabs,{needs}}}.\n"), latex[:80]
        assert ("sidewaystable" in latex) is ("rotating" in needs)
        assert "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%" in latex
        assert len(cells_of(latex)[1]) == 4


def summary_table(rows: int = 7) -> Table:
    """As the summary of metaeval: seven columns, the last a sentence, the third and fifth to spare."""
    columns = (
        Column("metric"),
        Column("direction"),
        Column("Spearman", places=3, kind="estimate"),
        Column("answers", spare=1),
        Column("p (Holm)", places=3),
        Column("unscored", spare=2),
        Column("conclusion"),
    )
    says = "correlates with human ratings; below the human ceiling of the raters"
    items = [
        (f"classic.metric_{place}", "higher is better", 0.344, 200, 0.001, 0, says)
        for place in range(rows)
    ]
    return Table("summary", "Metrics against human ratings", columns, items)


def test_a_short_table_of_long_sentences_is_no_longtable():
    """Seven rows stand on one page, however many lines each of them takes."""
    short = as_latex(summary_table())
    assert "longtable" not in short
    assert "\\begin{table}" in short
    assert len(cells_of(short)[1]) == 7 + 1


def test_a_table_of_two_rows_is_made_a_little_smaller_and_not_turned():
    """As metaeval's of two metrics: 106 characters in a line, 91 with the conclusion in two lines, of 78."""
    columns = (
        Column("metric"),
        Column("direction"),
        Column("Spearman"),
        Column("answers", places=0),
        Column("p (Holm)", places=3),
        Column("unscored", places=0),
        Column("conclusion"),
    )
    rows = [
        (
            "FactMetric",
            "not known",
            "0.789 [0.635, 0.88]",
            60,
            0.001,
            0,
            "correlates with human ratings",
        ),
        ("Words", "not known", "0.179 [0.138, 0.42]", 60, 0.109, 0, "no significant correlation"),
    ]
    upright = as_latex(Table("summary", "Metrics", columns, rows))
    assert "\\begin{table}" in upright
    assert "p{0.18\\linewidth}" in upright, "the conclusion, in lines of 14 characters at least"
    assert "\\resizebox{" in upright
    many = as_latex(Table("summary", "Metrics", columns, rows * 30))
    assert "\\begin{table}" not in many, "a longtable is not made smaller, so that it is turned"


@pytest.mark.parametrize(("width", "place"), [("column", "table"), ("page", "table*")])
def test_in_two_columns_a_table_is_a_float_as_wide_as_one_or_both(width: str, place: str):
    float_ = as_latex(summary_table(), width=width)
    assert f"\\begin{{{place}}}\n" in float_
    assert f"\\end{{{place}}}" in float_
    assert "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth" in float_, "shrunk to it at most"
    assert "longtable" not in float_
    assert "landscape" not in float_
    assert len(cells_of(float_.replace("table*", "table"))[1]) == 7 + 1
    long_table = as_latex(summary_table(90), width=width)
    assert "longtable" not in long_table
    assert "More rows than a page has room for" in long_table


def test_a_column_has_room_for_fewer_columns_and_the_note_names_those_left_out():
    column = as_latex(summary_table(), width="column")
    page = as_latex(summary_table(), width="page")
    assert "Left out for lack of room, but in the CSV file: answers, unscored." in column
    assert "Left out" not in page


def test_what_fills_more_than_a_page_is_a_longtable_with_all_its_rows():
    table = Table(
        "t",
        "T",
        (Column("a"), Column("b", places=1)),
        tuple((f"x{i}", i) for i in range(100)),
        note="A note.",
    )
    latex = as_latex(table)
    assert latex.startswith(
        "% Needs \\usepackage{booktabs,longtable}.\n% More than a page: a longtable"
    )
    assert [line[0] for line in cells_of(latex)[1]] == ["a", *(f"x{i}" for i in range(100))]
    assert latex.index("\\end{longtable}") < latex.index("A note.")
    cells_of(as_latex(Table("t", "t", (Column("a"), Column("b", places=2)), ())))


def test_long_names_go_on_after_their_dots_and_hyphens_and_lose_nothing():
    rows = tuple((NAMES[3], NAMES[4], NAMES[3], Range(-0.1, 0.2)) for _ in range(3))
    latex = as_latex(
        Table(
            "t",
            "T",
            (Column("a"), Column("b"), Column("c"), Column("i", places=3, kind="extremes")),
            rows,
        )
    )
    first = cells_of(latex)[1][1]
    assert (
        "instruct-\\allowbreak{}quantised-\\allowbreak{}q4\\_\\allowbreak{}k\\_\\allowbreak{}m"
        in first[0]
    )
    assert [cell.replace("\\allowbreak{}", "").replace("\\_", "_") for cell in first[:3]] == list(
        rows[0][:3]
    )
    assert first[3] == "$-$0.100 to 0.200"


def preamble() -> str:
    """What the page tells the reader to put there."""
    found = re.search(r"```latex\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    """What every verb makes of a small run, with names that LaTeX takes amiss."""
    folder = tmp_path_factory.mktemp("documents")
    random = np.random.default_rng(4)
    scores = {
        name: {
            metric: random.random(16).round(2).tolist()
            for metric in (RELEVANCE, CORRECTNESS, "my_metric & 50%", "x^2~\\")
        }
        for name in NAMES
    }
    run = run_of(folder / "run", scores)
    examples, rows, said = [], [], []
    for q in range(12):
        for system in NAMES[:3]:
            name, truth = f"{q}-{system}", random.random()
            examples.append(
                Example(
                    id=name, question_id=f"q{q}", question="?", answer="word " * 9, system=system
                )
            )
            for metric in ("my_metric & 50%", "<b>x^2~\\</b>"):
                value = float(np.clip(truth + random.normal(0, 0.2), 0, 1))
                rows.append(row(name, metric, value, question_id=f"q{q}", system=system))
            for rater in ("ann_#1", "$bo$"):
                said.append(
                    {
                        "example_id": name,
                        "label": "yes_%",
                        "value": int(random.integers(0, 2)),
                        "rater": rater,
                    }
                )
                said.append(
                    {
                        "example_id": name,
                        "label": "a_{b}",
                        "value": round(1 + 4 * truth),
                        "rater": rater,
                    }
                )
    described = {
        **manifest(),
        "metrics": {name: {"bounds": [0, 1], "higher_is_better": True} for name in ("x^2~\\",)},
    }
    write_run(folder / "people", examples, rows, described)
    choices = [
        {
            "question_id": f"q{q}",
            "a": NAMES[0],
            "b": NAMES[1],
            "choice": ["a", "b", "tie"][q % 3],
            "rater": rater,
        }
        for q in range(12)
        for rater in ("ann_#1", "$bo$")
    ]
    plan = Fakes().plan(folder / "study", make_index(folder / "index"))
    cache = CallCache(folder / "calls.sqlite")
    study = carry(plan, cache).document
    assert study is not None
    return {
        "compare": compared(compare([run], draws=99)),
        "metrics-study": metrics_document(metrics_study([run], draws=99)),
        "known": metrics_document(
            metrics_study([write_scores(folder / "known", known(30))], draws=99)
        ),
        "ratings": held_against_people(metaeval(rows, said)),
        "choices": held_against_people(metaeval(rows, choices)),
        "score-study": study,
    }


def test_no_two_verbs_share_a_label(documents: dict[str, Document], tmp_path: Path):
    labels: dict[str, set[str]] = {}
    for made in documents.values():
        write_tables(
            [table for section in made.sections for table in section.tables],
            tmp_path / made.kind,
            made.kind,
        )
    for folder in ("comparison", "metrics study", "meta-evaluation", "score study"):
        files = list((tmp_path / folder).glob("*.tex"))
        labels[folder] = {
            label
            for file in files
            for label in re.findall(r"\\label\{(.*)\}", file.read_text("utf-8"))
        }
        assert len(labels[folder]) == len(files) > 4
    names = [label for its in labels.values() for label in its]
    assert len(set(names)) == len(names)
    assert {"tab:comparison:differences", "tab:score-study:table1"} <= set(names)


def test_captions_name_metrics_in_words(documents: dict[str, Document]):
    ids = [
        f"{family}." for family in ("ccrs", "ragchecker", "score")
    ]  # others have no published name
    titles = [
        table.title
        for made in documents.values()
        for section in made.sections
        for table in section.tables
    ]
    assert any("Answer correctness" in title for title in titles)
    assert not [title for title in titles if any(one in title for one in ids)]


def test_a_table_too_wide_for_a_page_leaves_out_its_spare_columns_and_names_them():
    columns = [Column(f"figure {i}", places=3, spare=(0, 2, 1)[i % 3]) for i in range(16)]
    latex = as_latex(Table("t", "T", tuple(columns), (tuple([0.5] * 16),), note="A note."))
    # 16 columns of 8 characters and a gap of 2 are 160, without the 5 of spare 2 110: at most 115 fit
    left = ", ".join(column.name for column in columns if column.spare == 2)
    assert f"A note. Left out for lack of room, but in the CSV file: {left}." in latex
    assert len(cells_of(latex)[0]) == 11
    assert "Left out" not in as_latex(Table("t", "T", tuple(columns[:11]), (tuple([0.5] * 11),)))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no pdflatex on PATH")
@pytest.mark.parametrize("width", ["", "column", "page"])
def test_every_table_of_every_verb_compiles_and_fits_its_page(
    width: str, documents: dict[str, Document], tmp_path: Path
):
    columns = "[twocolumn]" if width else ""
    lines = [f"\\documentclass{columns}{{article}}", preamble(), "\\begin{document}"]
    files = []
    for name, made in documents.items():
        write_tables(
            [table for section in made.sections for table in section.tables],
            tmp_path / "tables" / name,
            made.kind,
            width=width,
        )
        files += sorted((tmp_path / "tables" / name).glob("*.tex"))
    assert len(files) > 80
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert "LuaLaTeX" not in text
        if "More rows than a page has room for" in text:
            continue
        path = file.relative_to(tmp_path)
        lines.append(f"\\typeout{{+++ {path}}}\\begingroup\\input{{{path}}}\\clearpage\\endgroup")
    (tmp_path / "all.tex").write_text("\n".join([*lines, "\\end{document}", ""]), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "all.tex"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    log = (tmp_path / "all.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    current, complaints = "", []
    for line in log.splitlines():
        if line.startswith("+++ "):
            current = line[4:]
        elif found := re.match(
            r"Overfull \\[hv]box \(([\d.]+)pt|LaTeX Warning: Float too large", line
        ):
            complaints += [f"{current}: {line}"] if found[1] is None or float(found[1]) > 1 else []
    assert not complaints, "\n".join(complaints)

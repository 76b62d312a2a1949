"""What the results of analyses show of themselves in the REPL and in a notebook."""

import shutil
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.analysis.compare.runs import run_of
from tests.program import write_jsonl
from tests.report.runs import CORRECTNESS, RELEVANCE

import longmark
from longmark.analysis.grid import Grid
from longmark.analysis.power import power
from longmark.report.document import Section
from longmark.report.tables import Column, Table
from longmark.stats.results import Estimate

SYSTEMS = ("<b>plain</b>", "other|one", "third")
_SCREEN = 6_000  # characters, with the widths of tables


def run_folder(folder: Path) -> Path:
    random = np.random.default_rng(7)
    scores = {
        system: {metric: random.random(12).tolist() for metric in (RELEVANCE, CORRECTNESS)}
        for system in SYSTEMS
    }
    return run_of(folder / "run", scores)


def ratings() -> list[dict[str, Any]]:
    return [
        {
            "example_id": f"{system}-{number}",
            "label": "quality",
            "value": (number + place) % 5,
            "rater": rater,
        }
        for place, system in enumerate(SYSTEMS)
        for number in range(12)
        for rater in ("r1", "r2")
    ]


MAKERS: dict[str, Callable[[Path], Any]] = {
    "compare": lambda run: longmark.compare(run, draws=199),
    "metaeval": lambda run: longmark.metaeval(run, ratings()),
    "metrics_study": lambda run: longmark.metrics_study(run, draws=199),
    "power": lambda run: power(run),
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_result_shows_its_conclusion_and_a_table_on_one_screen(name: str, tmp_path: Path):
    result = MAKERS[name](run_folder(tmp_path))
    page = result.page()
    text, html, markdown = repr(result), result._repr_html_(), result._repr_markdown_()
    assert text.startswith(page.title)
    assert page.sections[0].says in text
    for shown in (text, html, markdown):
        assert 100 < len(shown) < _SCREEN
    assert "<b>plain" not in html.replace("<p><b>", "")
    assert "<table>" in html
    tables = sum(len(section.tables) for section in page.sections)
    assert (".page().sections" in text) == (tables > 1), "where the other tables are"


def test_of_a_long_table_the_first_rows_are_shown_and_the_others_counted(tmp_path: Path):
    metrics = {f"app.m{number:02}": [0.1, 0.4, 0.3, 0.8] for number in range(30)}
    result = longmark.compare(run_of(tmp_path / "run", {"a": metrics, "b": metrics}), draws=99)
    assert "app.m19" in repr(result)
    assert "app.m20" not in repr(result)
    assert "10 more rows" in repr(result)


def test_a_result_has_its_figures_by_heading_and_a_notebook_draws_each(tmp_path: Path):
    pytest.importorskip("matplotlib")
    result = longmark.compare(run_folder(tmp_path), draws=199)
    drawn = [
        figure
        for section in result.page().sections
        for figure in section.figures
        if figure.draw is not None
    ]
    assert len(result.figures) == len(drawn) > 1, "none is lost, though two headings are equal"
    first = drawn[0].label
    assert next(iter(result.figures)) == first
    svg = result.figures[first]._repr_svg_()
    assert svg is not None
    assert "<svg" in svg[:400]


def test_a_result_that_is_a_table_shows_it_and_one_without_its_folder_says_so(tmp_path: Path):
    """Scores of a run, and a check, in the three forms of all results."""
    write_jsonl(tmp_path / "a.jsonl", [{"id": "1", "question": "Why?", "answer": "It rained."}])
    run = longmark.run(tmp_path / "a.jsonl", metrics="classic.length", out=tmp_path / "run")
    checked = longmark.check(tmp_path / "run", "classic.length.words every >= 1")
    for result in (run, run.scores, checked):
        assert "classic.length.words" in repr(result)
        assert "<table>" in result._repr_html_()
        assert "|" in result._repr_markdown_()
    shutil.rmtree(tmp_path / "run")
    assert repr(run).startswith("<Result: ")


def test_a_page_its_sections_their_tables_and_a_grid_show_themselves(tmp_path: Path):
    page = longmark.compare(run_folder(tmp_path), draws=99).page()
    section = page.sections[0]
    grid = Grid("g", "By <system>", ("system",), ("a<b",), (Column("mean", places=2),), one_half)
    for part, title in (
        (page, page.title),
        (section, section.title),
        (section.tables[0], section.tables[0].title),
        (grid, "By <system>"),
    ):
        assert repr(part).startswith(title)
        html = part._repr_html_()
        assert html.startswith(f"<p><b>{escape(title)}</b>")
        assert "<table>" in html
        assert len(html) < _SCREEN
        assert "|" in part._repr_markdown_()
    assert "a&lt;b" in grid._repr_html_()
    assert "0.50 [0.40, 0.60]" in repr(grid)
    assert "tables: .sections" in repr(page)
    assert "none" not in repr(Section("Empty", "Nothing was compared."))


def one_half(_row: str, _column: str) -> Estimate:
    return Estimate(0.5, 0.4, 0.6, n=3)


def test_a_table_shows_its_first_rows_and_counts_the_others():
    table = Table("t", "Numbers", (Column("number"),), [(number,) for number in range(25)])
    for shown in (repr(table), table._repr_html_(), table._repr_markdown_()):
        assert "19" in shown
        assert "20" not in shown
        assert "5 more rows" in shown

"""What the results of analyses show of themselves in the REPL and in a notebook."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.analysis.compare.runs import run_of
from tests.report.runs import CORRECTNESS, RELEVANCE

import longmark
from longmark.analysis.power import power

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

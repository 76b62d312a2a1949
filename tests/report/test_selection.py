"""The examples that a page holds, with their texts and rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.runs import row, write_run

from longmark.records import Example
from longmark.report.answers import Selection, load
from longmark.scores.observations import Observations

METRIC = "ccrs.question_relevance"


@pytest.mark.parametrize("named", [True, False])
def test_systems_that_use_the_same_ids_have_a_line_each(tmp_path: Path, named: bool):
    answers = {"x": "Salt melts ice.", "y": "Sand gives grip."}
    examples = [
        Example(id="a", question="Why?", answer=text, system=name) for name, text in answers.items()
    ]
    rows = [row("a", METRIC, value, system=name) for name, value in (("x", 0.25), ("y", 0.75))]
    run = write_run(
        tmp_path / "run", examples if named else [Example(id="a", question="Why?")], rows
    )
    with Observations() as index:
        index.add_run(run)
        assert index.example_count() == 2
        shown = load(index, [run], Selection((1, 2), total=2, lowest=0, sampled=0, seed=0)).shown
    assert [(one.id, one.system, one.results[METRIC].score) for one in shown] == [
        ("a", 0, 0.25),
        ("a", 1, 0.75),
    ]
    texts = [one.example.answer if isinstance(one.example, Example) else None for one in shown]
    assert texts == (list(answers.values()) if named else [None, None])

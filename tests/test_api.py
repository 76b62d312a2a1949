"""The signatures of the public API, and what `longmark.run` returns: scores as tables and DataFrames, and by
themselves in a notebook."""

from __future__ import annotations

import html
import math
import shutil
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pytest
from tests import api

import longmark
from longmark import Example
from longmark.errors import UserError
from longmark.metrics import load
from longmark.models.fake import FakeChat

QR, EASE = "ccrs.question_relevance", "score.readability.reading_ease"
HOSTILE = "<script>alert(1)</script>"
RECORDS: list[dict[str, Any]] = [
    {
        "id": "a",
        "question_id": "q",
        "system": HOSTILE,
        "question": "Why?",
        "answer": "Air scatters blue light.",
    },
    {"id": "b", "question_id": "q", "system": "two", "question": "Why?", "answer": None},
]


@pytest.fixture
def result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    return longmark.run(RECORDS, f"{QR},{EASE}", judges=FakeChat("80"), out=tmp_path / "r")


def test_the_long_form_has_a_line_for_each_row_with_status_and_reason(result: Any):
    frame = result.scores.to_pandas()
    assert list(frame.columns) == [
        "example_id",
        "question_id",
        "system",
        "metric",
        "score",
        "status",
        "reason",
    ]
    assert [(row.example_id, row.metric) for row in result.rows()] == list(
        zip(frame["example_id"], frame["metric"], strict=True)
    )
    assert frame.loc[0, "score"] == 0.8
    missing = frame[frame["score"].isna()]
    assert list(missing["example_id"]) == ["b", "b"]
    assert set(missing["status"]) == {"missing_input"}
    assert all(isinstance(reason, str) and reason for reason in missing["reason"])
    assert len(result.scores) == len(frame) == 4


def test_the_wide_form_has_a_line_for_each_answer_and_says_where_there_is_no_row(
    result: Any, tmp_path: Path
):
    wide = result.scores.to_pandas(wide=True)
    assert list(wide.columns) == ["example_id", "question_id", "system"] + [
        f"{metric}{what}" for metric in (QR, EASE) for what in ("", " status", " reason")
    ]
    assert list(wide[f"{QR} status"]) == ["ok", "missing_input"]
    path = tmp_path / "r" / "rows.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text(
        "".join(lines[:1] + lines[2:]), "utf-8"
    )  # answer a has no row of readability now
    again = longmark.api.RunScores.of(tmp_path / "r").to_pandas(wide=True)
    assert math.isnan(again.loc[0, EASE])
    assert again.loc[0, f"{EASE} status"] == "no row"
    assert "not finished" in again.loc[0, f"{EASE} reason"]


def test_pandas_pyarrow_and_any_reader_of_arrow_see_the_same(result: Any):
    table = result.scores.to_arrow()
    assert table.schema.field("score").type == pyarrow.float64()
    assert table.column("score").null_count == 2  # none of them is NaN
    assert table.to_pylist() == pyarrow.table(result.scores).to_pylist()
    assert table.column("metric").to_pylist() == list(result.scores.to_pandas()["metric"])
    wide = result.scores.to_arrow(wide=True)
    assert wide.column_names == list(result.scores.to_pandas(wide=True).columns)


def test_polars(result: Any):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = result.scores.to_polars()
    assert frame.to_dicts() == result.scores.to_arrow().to_pylist()
    assert frame.schema["score"] == polars.Float64
    assert polars.DataFrame(result.scores).to_dicts() == frame.to_dicts()
    assert (
        result.scores.to_polars(wide=True).columns == result.scores.to_arrow(wide=True).column_names
    )


def test_a_library_that_is_not_installed_is_named(result: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(UserError, match="polars is not installed: pip install polars"):
        result.scores.to_polars()


def test_a_result_shows_its_table_by_itself_and_foreign_text_is_escaped(
    result: Any, tmp_path: Path
):
    for shown in (result, result.scores):
        assert repr(shown).startswith("metric ")
        assert "1 missing_input (The example has no answer (null))" in repr(shown)
        assert HOSTILE not in shown._repr_html_()
        assert html.escape(HOSTILE) in shown._repr_html_()
        assert r"\<script\>" in shown._repr_markdown_()
    shutil.rmtree(tmp_path / "r")
    assert "does not exist" in repr(longmark.api.RunScores(tmp_path / "r", ()))


def test_frames_that_are_scored_give_the_same_as_records(result: Any, tmp_path: Path):
    for name, given in (
        ("pandas", pandas.DataFrame(RECORDS)),
        ("arrow", pyarrow.Table.from_pylist(RECORDS)),
    ):
        found = longmark.run(given, f"{QR},{EASE}", judges=FakeChat("80"), out=tmp_path / name)
        assert found.scores.columns() == result.scores.columns()


def test_a_single_thing_stands_for_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    given = [
        Example(question=f"{n}?", answer=f"{n}.", system=name)
        for n in range(3)
        for name in ("x", "y")
    ]
    one = longmark.run(given, load(QR), judges=FakeChat("80"), out=tmp_path / "one")
    several = longmark.run(given, [QR], judges=[FakeChat("80")], out=tmp_path / "several")
    assert [row.score for row in one.rows()] == [row.score for row in several.rows()] == [0.8] * 6
    by_path = longmark.compare(tmp_path / "several", metrics=QR, systems="y,x", draws=99)
    assert by_path == longmark.compare(
        [str(tmp_path / "several")], metrics=[QR], systems=["y", "x"], draws=99
    )
    ratings = [
        {"example_id": row.example_id, "value": n, "rater": "ann"}
        for n, row in enumerate(several.rows())
    ]
    single = longmark.metaeval(str(tmp_path / "several"), ratings, metrics=QR)
    assert list(single.metrics) == [QR]
    assert longmark.metrics_study(tmp_path / "several", metrics="ccrs", draws=99).runs == (
        str(tmp_path / "several"),
    )


def test_the_public_signatures_are_those_that_are_pinned():
    assert api.PINNED.read_text("utf-8") == api.text(), (
        "run: python -m tests.api, and see docs/versions.md"
    )


def test_a_changed_parameter_changes_the_pinned_text():
    assert api.signature(lambda a, *, b=1, **c: None) == "(a, *, b = 1, **c)"
    assert api.signature(Example) != api.signature(
        type("Other", (Example,), {"__annotations__": {"more": "str"}})
    )

"""Grids by hand: cells are asked once, tables in both forms, figures, pairs."""

from __future__ import annotations

from dataclasses import replace

from tests.report.drawn import texts_of

from longmark.analysis.grid import Compared, Grid, adjusted, compared, p_note, pairs_grid
from longmark.report.tables import Column, as_csv, as_text, brackets
from longmark.stats.results import Difference, Estimate

VALUES = {("a", "m1"): 0.25, ("a", "m2"): 0.5, ("b", "m1"): 0.75}


def grid(asked: list[tuple[str, str]], **more: object) -> Grid[str]:
    def cell(system: str, metric: str) -> Estimate | None:
        asked.append((system, metric))
        value = VALUES.get((system, metric))
        return None if value is None else Estimate(value, value - 0.1, value + 0.1, 10, missing=2)

    return Grid(
        "g",
        "G",
        ("system",),
        ("a", "b"),
        (Column("m1", places=2), Column("m2", places=2)),
        cell,
        **more,  # type: ignore[arg-type]
    )


def test_every_cell_is_asked_once_however_often_it_is_shown():
    asked: list[tuple[str, str]] = []
    one = grid(asked, best={"m1": {"b"}}, beside=(Column("length", len),))
    assert as_text(one.table()).splitlines()[1:] == [
        "a        0.25 [0.15, 0.35]  0.50 [0.40, 0.60]  10 of 12       1",
        "b       0.75 [0.65, 0.85]*                  –  10 of 12       1",
    ]
    assert as_csv(one.table()).splitlines()[2].startswith("b,0.75,0.65,0.85,10,2,")
    figure, lanes = one.heat_map("H", 0, 1), one.forest("F", "m2")
    assert lanes.draw is not None
    assert figure.draw is not None
    assert {"a", "0.50"} <= set(texts_of(figure))
    assert "b" not in texts_of(lanes)  # a row without an estimate has no lane
    assert sorted(asked) == [("a", "m1"), ("a", "m2"), ("b", "m1"), ("b", "m2")]


def test_of_values_the_interval_is_in_the_files_only():
    columns = (Column("m1", places=2, kind="value"), Column("m2", places=2))
    one = replace(grid([]), columns=columns, best={"m1": {"b"}, "m2": {"a"}})
    assert as_text(one.table()).splitlines()[1:] == [
        "a        0.25  0.50 [0.40, 0.60]*  10 of 12",
        "b       0.75*                   –         –",
    ]
    assert as_csv(one.table()).splitlines()[2].startswith("b,0.75,0.65,0.85,10,2,")
    assert brackets(replace(one, columns=one.columns[:1]).table()) == ""


def test_a_reason_that_is_also_the_remark_names_its_estimate_once():
    cells = {
        "m": Estimate(0.5, None, None, 3, reason="few", remark="few"),
        "n": Estimate(0.1, 0.0, 0.2, 3),
    }
    one = Grid(
        "g", "G", ("row",), ("a",), [Column("m"), Column("n")], lambda _row, column: cells[column]
    )
    assert as_text(one.table()).splitlines()[1].endswith("  m: few")


def test_rows_of_several_texts_are_named_by_their_heads_and_metrics_in_words():
    rows = [("ccrs.question_relevance", "jury"), ("own", "")]
    one = Grid("g", "G", (Column("metric", kind="metric"), "judge"), rows, [Column("mean", places=1)],
               lambda _row, _column: Estimate(0.5, 0.4, 0.6, 3))  # fmt: skip
    assert [row[:2] for row in one.table().rows] == [tuple(row) for row in rows]
    assert {"Question relevance, jury", "own"} <= set(texts_of(one.forest("F")))


def test_pairs_are_sorted_adjusted_and_shown_with_what_decides():
    values = {"low": 0.1, "high": 0.6, "middle": 0.3}
    found = compared(
        values, lambda a, b: Difference(values[a] - values[b], None, None, 5, p=0.02), 0.05
    )
    assert [(one.first, one.second) for one in found] == [
        ("high", "low"),
        ("middle", "low"),
        ("high", "middle"),
    ]
    assert {one.adjusted for one in found} == {0.06}
    none = Compared(
        "x", "y", Difference(None, None, None, 0, reason="no answer has both"), within=("jury",)
    )
    table = pairs_grid(
        "d", "D", [*adjusted(found[:1], 0.05), none], "", (Column("first"), Column("second"))
    ).table()
    assert [row[-1] for row in table.rows] == [True, None]
    assert [p_note(one) for one in (found[0], none)] == ["p = 0.060", "no answer has both"]

"""What an answer shows of its graph of statements: what is missing in words, the figure, the tables."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.report.browser import after, needs_chromium
from tests.report.graphs import NLI, graph_row, graph_run, made_graph
from tests.report.runs import HOSTILE, answers_on

from longmark.report.evidence import views_of
from longmark.report.graph_view import CELL, MOST_ROWS, WIDTH, GraphDrawing
from longmark.report.html import write_report
from longmark.report.view import View
from longmark.scores.manifest import MetricFacts
from longmark.text.graph import Statement, StatementGraph

pytest.importorskip("networkx", reason="the figure needs the extra graphs")

TEXTS = {
    "a0": "Ice broke lines.",
    "c0": "Ice of 20 mm broke lines in 2009.",
    "c1": "Lines broke.",
    "c2": "Crews took nine days.",
    "c3": "Repairs took long.",
    "c4": "Lines were broken.",
}


FACTS = {NLI: MetricFacts(view=("graph", NLI))}


def ice(**more: str) -> StatementGraph:
    """a0 = c1 = c4: one component, covered. Missing: c0 (entails a0, and contradicts it), c2 and c3."""
    nodes = [
        Statement(
            name,
            "answer" if name[0] == "a" else "context",
            text,
            ("p1", "p2") if name == "c2" else (),
        )
        for name, text in (TEXTS | more).items()
    ]
    equal = {("a0", "c1"), ("c1", "a0"), ("c1", "c4"), ("c4", "c1")}
    return StatementGraph(
        tuple(nodes), frozenset({*equal, ("c0", "a0"), ("c2", "c3")}), frozenset({("a0", "c0")})
    )


def view_of(graph: StatementGraph, **more: Any) -> View:
    (view,) = views_of({NLI: graph_row("x", graph, **more)}, FACTS)
    return view


def tables(view: View) -> dict[str, list[list[Any]]]:
    return {
        one[1][0]: [[cell.value for cell in line] for line in one[2]]
        for one in view.blocks
        if one[0] == "table"
    }


def figure_of(view: View) -> GraphDrawing:
    (found,) = (one[1] for one in view.blocks if one[0] == "graph")
    assert isinstance(found, GraphDrawing)
    return found


def test_what_is_missing_is_said_first_and_what_follows_from_it_is_set_apart() -> None:
    view = view_of(ice(), asked={"calls": 4})
    assert (view.title, view.count, view.covers) == (
        "What the answer covers and misses",
        "1 of 4 statements",
        [NLI],
    )
    says = (
        "The answer misses 3 of 4 statements of the sources. "
        "Adding the first 2 would be sufficient: the others follow from them."
    )
    assert view.blocks[0] == ("note", says)
    assert tables(view) == {
        "Missing statement": [
            ["Ice of 20 mm broke lines in 2009.", "missing", "1", "–"],
            ["Crews took nine days.", "missing", "2", "p1 and p2"],
            ["Repairs took long.", "missing, but follows from another missing statement", "3", "–"],
        ],
        "Covered statement": [["Lines broke.", "A1", "4", "–"]],
        "Statement of the answer": [["Ice broke lines.", "1 and 4", "A1", "–"]],
    }
    assert ("note", "Contradictions: A1 and 1. They do not change the score.") in view.blocks
    assert ("fold", "More of the evidence", {"asked": {"calls": 4}}) in view.blocks


def test_the_figure_has_each_shape_once_and_none_over_another() -> None:
    for size in (5, 60, 200):
        found = figure_of(view_of(made_graph(size)))
        places = [(one.x, one.y) for one in found.shapes]
        assert all(0 <= x <= WIDTH and 0 <= y <= found.height for x, y in places)
        near = [
            (a, b)
            for i, a in enumerate(places)
            for b in places[:i]
            if abs(a[0] - b[0]) < CELL - 1 and abs(a[1] - b[1]) < CELL - 1
        ]
        assert not near
        ends = {label for line in found.lines for label in line.ends}
        assert ends <= {one.label for one in found.shapes}


def test_the_figure_is_the_same_in_every_report() -> None:
    assert view_of(made_graph(60)) == view_of(made_graph(60))


def test_lines_say_which_way_the_entailment_goes() -> None:
    found = figure_of(view_of(ice()))
    kinds = {line.ends: line.kind for line in found.lines}
    assert kinds == {
        ("A1", "1"): "contradicts",
        ("A1", "4"): "equals",
        ("1", "A1"): "entails",
        ("2", "3"): "entails",
    }
    titles = {one.label: one.title for one in found.shapes}
    assert titles["2"] == "2 (missing): Crews took nine days. · Sources: p1 and p2"
    assert titles["4"] == "4 (covered): Lines broke. · Occurs 2 times"


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        (StatementGraph(()), "The sources have no statement to cover."),
        (
            StatementGraph(
                (Statement("a", "answer", "x"), Statement("c", "context", "x")),
                frozenset({("a", "c"), ("c", "a")}),
            ),
            "The answer covers every statement of the sources.",
        ),
        (
            StatementGraph((Statement("c", "context", "x"),)),
            "The answer misses 1 of 1 statement of the sources.",
        ),
    ],
)
def test_graphs_without_a_missing_or_any_statement(graph: StatementGraph, says: str) -> None:
    row = graph_row("x", StatementGraph((Statement("c", "context", "x"),)))
    (view,) = views_of({NLI: replace(row, evidence=graph_row("x", graph).evidence)}, FACTS)
    assert view.blocks[0] == ("note", says)


def test_a_graph_too_large_to_read_has_no_figure_but_a_way_to_its_file() -> None:
    nodes = tuple(Statement(f"c{i}", "context", f"Fact {i}.") for i in range(400))
    notes = [one[1] for one in view_of(StatementGraph(nodes)).blocks if one[0] == "note"]
    assert any(note.startswith("No figure: 400 statements and 0 relations") for note in notes)


def test_tables_of_a_large_graph_end_with_the_way_to_its_file() -> None:
    nodes = tuple(Statement(f"c{i}", "context", f"Fact {i}.") for i in range(MOST_ROWS + 7))
    view = view_of(StatementGraph(nodes))
    assert [len(lines) for lines in tables(view).values()] == [MOST_ROWS]
    assert (
        "note",
        "7 more are in the graph's file: longmark export RUN --graphs DIR",
    ) in view.blocks


def test_without_networkx_the_words_stand_and_the_figure_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    view = view_of(ice())
    assert (
        "note",
        "No figure: `longmark report` needs the extra `graphs` to draw it.",
    ) in view.blocks
    assert "Missing statement" in tables(view)


@pytest.mark.parametrize(
    "damaged",
    [
        {"nodes": None},
        {"uncovered": [["c9"]]},
        {"covered": [[]]},
        {"basis": 3},
        {"edges": [["a0"]]},
        {"covered": []},
    ],
)
def test_evidence_of_another_shape_is_shown_as_recorded(damaged: dict[str, Any]) -> None:
    row = graph_row("x", ice(), **damaged)
    (view,) = views_of({NLI: row}, FACTS)
    assert view.title == "Evidence as recorded"
    assert ("value", row.evidence) in view.blocks


@needs_chromium
def test_a_tap_shows_the_statement_and_foreign_text_stays_text(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    write_report([graph_run(tmp_path / "run", {"ice": ice(c2=f"Nine days. {HOSTILE}")})], page)
    assert "<img" not in answers_on(page)[0]
    tap = """
    const tap = () => new MouseEvent("click", {bubbles: true});
    setTimeout(() => document.querySelector('.shape[data-label="2"]').dispatchEvent(tap()), 800);
    """
    shown = after(page, tap, "#open=ice")
    assert (
        '<figcaption class="chosen" dir="auto" aria-live="polite">2 (missing): Nine days. &lt;/script&gt;'
        in shown
    )
    assert 'class="link entails on" d=' in shown
    assert "owned" not in shown.partition("<title>")[2].partition("</title>")[0]


def test_conflicts_between_sources_are_a_table_with_what_the_answer_says_of_each() -> None:
    conflict = {
        "conflict": 1,
        "text": "The bridge opened in 1931.",
        "sources": "2",
        "against": "The bridge opened in 1930.",
        "against_sources": "1, 3",
        "answer": "says only the other side",
    }
    view = view_of(ice(), conflicts=[conflict], hidden=[conflict])
    rows = next(
        block[2] for block in view.blocks if block[0] == "table" and block[1][0] == "Conflict"
    )
    assert [[cell.value for cell in row] for row in rows] == [
        [str(value) for value in conflict.values()]
    ]
    assert not any("They do not change the score" in str(block) for block in view.blocks)
    (unreadable,) = views_of({NLI: graph_row("x", ice(), conflicts=["one"])}, FACTS)
    assert unreadable.title == "Evidence as recorded"

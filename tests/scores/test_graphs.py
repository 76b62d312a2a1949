"""Graphs of statements as files: what is written is read back by networkx."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report.graphs import graph_row, graph_run, made_graph
from tests.report.runs import row, write_run

from longmark.cli import main
from longmark.errors import UserError
from longmark.scores.graphs import networkx_graph, write_graphs
from longmark.text.graph import Statement, StatementGraph, to_evidence

nx = pytest.importorskip("networkx", reason="graphs are written with the extra graphs")


def small() -> StatementGraph:
    """a0 covers c0, c1 entails c2 and contradicts a0; c0 and a0 contradict each other too."""
    texts = {"a0": "x", "c0": "y", "c1": "\x00 < & \x0b z", "c2": "ü"}
    nodes = [
        Statement(
            name,
            "answer" if name == "a0" else "context",
            text,
            ("p1", "p2") if name == "c1" else (),
            "Q?",
        )
        for name, text in texts.items()
    ]
    return StatementGraph(
        tuple(nodes),
        frozenset({("a0", "c0"), ("c1", "c2")}),
        frozenset({("c0", "a0"), ("a0", "c1"), ("c1", "a0")}),
    )


def test_the_graph_of_a_row_has_states_and_both_relations() -> None:
    made = networkx_graph(to_evidence(small()))
    states = {name: made.nodes[name]["state"] for name in made}
    assert states == {"a0": "answer", "c0": "covered", "c1": "basis", "c2": "missing"}
    edges = {(p, h): (data["entails"], data["contradicts"]) for p, h, data in made.edges(data=True)}
    assert edges == {
        ("a0", "c0"): (True, True),
        ("c1", "c2"): (True, False),
        ("a0", "c1"): (False, True),
    }


def test_export_writes_files_that_networkx_reads_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = graph_run(tmp_path / "run", {"../../evil id": small(), "second": made_graph(40)})
    assert main(["export", str(run), "--graphs", str(tmp_path / "graphs")]) == 0
    assert (
        capsys.readouterr().out
        == f"Graphs: {tmp_path}/graphs (2 graphs, each as JSON and as GraphML)\n"
    )
    names = sorted(path.name for path in (tmp_path / "graphs").iterdir())
    metric = "comprehensiveness.nli"
    stems = [f"0001-.._.._evil_id-{metric}", f"0002-second-{metric}"]
    assert names == [stem + end for stem in stems for end in (".graphml", ".json")]
    data = json.loads((tmp_path / "graphs" / f"{stems[0]}.json").read_text())
    again = nx.node_link_graph(data, edges="edges")
    assert again.graph == {
        "example_id": "../../evil id",
        "question_id": "q-../../evil id",
        "system": "first",
        "metric": metric,
        "score": 1 / 3,
    }
    assert again.nodes["c1"]["text"] == "\x00 < & \x0b z"
    assert again.nodes["c1"]["sources"] == ["p1", "p2"]
    xml = nx.read_graphml(tmp_path / "graphs" / f"{stems[0]}.graphml")
    assert xml.nodes["c1"]["text"] == "� < & � z"
    assert xml.nodes["c1"]["sources"] == "p1, p2"
    assert set(xml.edges) == set(again.edges)
    larger = nx.read_graphml(tmp_path / "graphs" / f"{stems[1]}.graphml")
    assert larger.number_of_nodes() == 40


def test_runs_without_graphs_and_folders_that_hold_something_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_run(tmp_path / "run", [], [row("x", "ccrs.question_relevance", 1.0)])
    with pytest.raises(UserError, match="has no graph; score it with"):
        write_graphs(run, tmp_path / "graphs")
    with pytest.raises(UserError, match="is not empty; name a new folder"):
        write_graphs(run, run)
    assert main(["export", str(run)]) == 2
    assert "add --bundle FILE.zip, --graphs DIR or --to" in capsys.readouterr().err


def test_a_damaged_graph_is_named_and_the_others_are_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [graph_row("good", small()), graph_row("bad", small(), edges=[["a0", "c9"]])]
    run = write_run(tmp_path / "run", [], rows)
    assert main(["export", str(run), "--graphs", str(tmp_path / "graphs")]) == 0
    printed = capsys.readouterr()
    assert (
        "bad: comprehensiveness.nli: no graph (edges: ['a0', 'c9'] names a statement" in printed.err
    )
    assert "(1 graph, each as JSON and as GraphML)" in printed.out

"""The graph of statements: hand-worked graphs, the 600 stored graphs of the authors, properties."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from itertools import islice, pairwise
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.program import ROOT

from longmark.text.graph import (
    Component,
    Coverage,
    Statement,
    StatementGraph,
    coverage,
    from_evidence,
    to_evidence,
)

STORED = ROOT.parent / "shared" / "data" / "wikicontradict" / "e2e_graphs_gpt-oss-20b.jsonl"


def graph(nodes: str, edges: str = "", contradictions: str = "") -> StatementGraph:
    """`graph("a c d", "a>c c=d", "a|d")`: names with a are of the answer; > entails, = is equivalent."""
    entails: set[tuple[str, str]] = set()
    for edge in edges.split():
        one, other = edge.replace("=", ">").split(">")
        entails |= {(one, other), (other, one)} if "=" in edge else {(one, other)}
    against = frozenset((pair.split("|")[0], pair.split("|")[1]) for pair in contradictions.split())
    made = [
        Statement(name, "answer" if name.startswith("a") else "context", f"text of {name}")
        for name in nodes.split()
    ]
    return StatementGraph(tuple(made), frozenset(entails), against)


def ids(components: Iterable[Component]) -> list[list[str]]:
    return sorted(sorted(node.id for node in one.members) for one in components)


def members(components: Iterable[Component]) -> set[str]:
    return {node.id for one in components for node in one.members}


@pytest.mark.parametrize(
    ("nodes", "edges", "score", "uncovered", "basis"),
    [
        ("a c", "a>c", 1.0, [], []),
        (
            "a c",
            "c>a",
            0.0,
            [["c"]],
            [["c"]],
        ),  # the context says more than the answer: that does not cover it
        ("a c d e", "a>c c>d", 2 / 3, [["e"]], [["e"]]),  # along a path
        (
            "a c d e",
            "c=d",
            0.0,
            [["c", "d"], ["e"]],
            [["c", "d"], ["e"]],
        ),  # equivalent statements count once
        (
            "c d e",
            "c>d d>e",
            0.0,
            [["c"], ["d"], ["e"]],
            [["c"]],
        ),  # the basis of a chain is its head
        (
            "c d e",
            "c>d d>e e>c",
            0.0,
            [["c", "d", "e"]],
            [["c", "d", "e"]],
        ),  # a cycle is one component
        (
            "a c d e f",
            "c>d c>e d>f e>f a>d",
            2 / 4,
            [["c"], ["e"]],
            [["c"]],
        ),  # a diamond of which one side is covered
        ("a c d", "c>a a>d d>c", 1.0, [], []),  # a component through an answer statement
        (
            "a c d e",
            "d=e e>c a>c",
            1 / 2,
            [["d", "e"]],
            [["d", "e"]],
        ),  # uncovered although it entails a covered one
        ("a1 a2 c", "", 0.0, [["c"]], [["c"]]),
        ("c", "", 0.0, [["c"]], [["c"]]),
        ("a c", "a>a c>c", 0.0, [["c"]], [["c"]]),  # a statement entails itself: that says nothing
        ("a", "", None, [], []),
        ("", "", None, [], []),
    ],
)
def test_hand_worked_graphs(
    nodes: str, edges: str, score: float | None, uncovered: list[list[str]], basis: list[list[str]]
) -> None:
    found = coverage(graph(nodes, edges))
    assert (found.score, ids(found.uncovered), ids(found.basis)) == (score, uncovered, basis)


def test_contradictions_decide_nothing_and_are_kept_once() -> None:
    with_them = graph("a c d", "a>c", "d|c c|d a|d")
    assert coverage(with_them) == coverage(graph("a c d", "a>c"))
    assert to_evidence(with_them)["contradictions"] == [["a", "d"], ["c", "d"]]


def test_the_representative_has_the_most_frequent_text_of_the_context() -> None:
    texts = {"a1": "x", "a2": "x", "a3": "x", "c1": "y", "c2": "z", "c3": "z"}
    nodes = [
        Statement(name, "answer" if name[0] == "a" else "context", text)
        for name, text in texts.items()
    ]
    ring = [(one, other) for one, other in zip(texts, [*list(texts)[1:], "a1"], strict=True)]
    (only,) = coverage(StatementGraph(tuple(nodes), frozenset(ring))).components
    assert only.representative.id == "c2"
    assert [node.id for node in only.answers] == ["a1", "a2", "a3"]


def test_a_chain_longer_than_the_stack_of_python_is_read() -> None:
    names = [f"c{i}" for i in range(5000)]
    found = coverage(graph(" ".join(names), " ".join(f"{a}>{b}" for a, b in pairwise(names))))
    assert [one.representative.id for one in found.basis] == ["c0"]


def test_two_thousand_statements_and_100_000_edges_take_less_than_a_second() -> None:
    nodes = [
        Statement(f"{n}", "answer" if n < 200 else "context", f"text {n}") for n in range(2200)
    ]
    pairs = ((p, h) for p in range(2200) for h in range(max(200, p + 1), 2200, 13))
    made = StatementGraph(
        tuple(nodes), frozenset((f"{p}", f"{h}") for p, h in islice(pairs, 100_000))
    )
    began = time.process_time()
    assert len(coverage(made).components) == 2000
    assert time.process_time() - began < 1


def test_a_graph_that_is_none_is_named() -> None:
    with pytest.raises(ValueError, match="two statements have the id 'c'"):
        graph("c c")
    with pytest.raises(
        ValueError, match=r"edges: \['a', 'x'\] names a statement that is not among the nodes"
    ):
        graph("a c", "a>x")
    with pytest.raises(ValueError, match="side: expected answer or context, found 'atom'"):
        Statement("a0", "atom", "")
    good = to_evidence(graph("a c", "a>c"))
    wrong: list[tuple[str, Any, str]] = [
        ("nodes", None, "nodes: expected a list, found nothing"),
        ("edges", {}, "edges: expected a list, found dict"),
        ("edges", [["a"]], "edges: expected pairs of ids"),
        ("nodes", [{"id": 1.5}], "nodes: 1: id: expected a text or a whole number"),
        (
            "nodes",
            [{"id": "a", "side": "answer", "text": "", "sources": "s"}],
            "'a': sources: expected a list",
        ),
    ]
    for key, bad, says in wrong:
        with pytest.raises(ValueError, match=says):
            from_evidence({**good, key: bad})


# The authors' graphs -------------------------------------------------------------------------------------------------


def stored() -> list[dict[str, Any]]:
    if not STORED.exists():
        pytest.skip("../shared/data/wikicontradict is not here")
    return [json.loads(line) for line in STORED.read_text().splitlines()]


def graph_of(record: dict[str, Any]) -> StatementGraph:
    """A stored graph. All of its edges are equivalences."""
    assert {edge[2] for edge in record["edges"]} <= {"equivalence"}
    nodes = [
        Statement(name, "answer" if kind == "atom" else "context", text)
        for name, kind, text in record["nodes"]
    ]
    pairs = frozenset(pair for a, b, *_ in record["edges"] for pair in ((a, b), (b, a)))
    return StatementGraph(tuple(nodes), pairs)


def test_the_600_stored_graphs_are_scored_as_published() -> None:
    records = stored()
    scored = 0
    for record in records:
        found = coverage(graph_of(record))
        text = {name: text for name, _, text in record["nodes"]}
        scored += found.score is not None
        assert (found.score or 0.0) == record[
            "score"
        ]  # the authors score a graph without context statements 0
        assert members(found.covered) == set(record["covered"])
        assert members(found.uncovered) == set(record["uncovered"])
        assert ids(found.components) == sorted(sorted(its) for its in record["clusters"].values())
        assert ids(found.basis) == sorted(sorted(its) for its in record["basis"].values())
        # in each of their clusters all texts are equal, so which id stands for it is free
        assert sorted(one.representative.text for one in found.components) == sorted(
            text[name] for name in record["clusters"]
        )
    assert (len(records), scored) == (600, 586)


# Properties ----------------------------------------------------------------------------------------------------------


@st.composite
def graphs(draw: st.DrawFn) -> StatementGraph:
    names = [f"a{i}" for i in range(draw(st.integers(0, 4)))] + [
        f"c{i}" for i in range(draw(st.integers(0, 7)))
    ]
    pairs = [f"{p}>{h}" for p in names for h in names if p != h and not (p[0] == h[0] == "a")]
    return graph(
        " ".join(names),
        " ".join(draw(st.lists(st.sampled_from(pairs), max_size=18)) if pairs else []),
    )


@given(graphs())
def test_components_coverage_and_basis_are_those_of_networkx(made: StatementGraph) -> None:
    other = nx.DiGraph(list(made.entails))
    other.add_nodes_from(node.id for node in made.nodes)
    contexts = {node.id for node in made.nodes if node.side == "context"}
    answers = [node.id for node in made.nodes if node.side == "answer"]
    reached = set(answers).union(*(nx.descendants(other, name) for name in answers))
    strong = [
        part & contexts for part in nx.strongly_connected_components(other) if part & contexts
    ]
    out = [part for part in strong if not part & reached]
    basis = [
        one for one in out if not any(nx.has_path(other, min(o), min(one)) for o in out if o != one)
    ]
    found = coverage(made)
    assert ids(found.components) == sorted(map(sorted, strong))
    assert ids(found.uncovered) == sorted(map(sorted, out))
    assert ids(found.basis) == sorted(map(sorted, basis))


@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_the_nodes_changes_nothing(made: StatementGraph, random: Any) -> None:
    nodes = random.sample(made.nodes, len(made.nodes))
    found, again = coverage(made), coverage(StatementGraph(tuple(nodes), made.entails))
    assert sorted(_facts(found)) == sorted(_facts(again))


def _facts(found: Coverage) -> list[tuple[str, list[str], bool, bool]]:
    return [
        (one.representative.id, sorted(n.id for n in one.members), one.covered, one.in_basis)
        for one in found.components
    ]


@given(graphs())
def test_an_answer_that_repeats_every_claim_scores_1_and_an_unrelated_one_0(
    made: StatementGraph,
) -> None:
    contexts = [node for node in made.nodes if node.side == "context"]
    within = frozenset(pair for pair in made.entails if pair[0][0] == pair[1][0] == "c")
    said = [Statement(f"a_{node.id}", "answer", node.text) for node in contexts]
    repeats = frozenset(
        pair for node in contexts for pair in ((f"a_{node.id}", node.id), (node.id, f"a_{node.id}"))
    )
    assert coverage(StatementGraph((*contexts, *said), within | repeats)).score == (
        1.0 if contexts else None
    )
    assert coverage(StatementGraph((*contexts, *said), within)).score == (0.0 if contexts else None)


@given(graphs(), st.data())
def test_one_more_answer_claim_never_uncovers_a_statement(
    made: StatementGraph, data: st.DataObject
) -> None:
    contexts = [node.id for node in made.nodes if node.side == "context"]
    some = st.lists(st.sampled_from(contexts)) if contexts else st.just([])
    edges = {("a_new", name) for name in data.draw(some)} | {
        (name, "a_new") for name in data.draw(some)
    }
    more = StatementGraph((*made.nodes, Statement("a_new", "answer", "new")), made.entails | edges)
    assert members(coverage(made).covered) <= members(coverage(more).covered)


def test_one_more_answer_claim_can_lower_the_score_where_components_merge() -> None:
    assert coverage(graph("a c d e", "a>c c>d")).score == 2 / 3
    assert coverage(graph("a a2 c d e", "a>c c>d d=a2 a2=c")).score == 1 / 2


@given(graphs())
def test_the_basis_entails_every_uncovered_statement(made: StatementGraph) -> None:
    found = coverage(made)
    other = nx.DiGraph(list(made.entails))
    other.add_nodes_from(node.id for node in made.nodes)
    basis = [one.representative.id for one in found.basis]
    entailed = set(basis).union(*(nx.descendants(other, name) for name in basis))
    assert entailed >= members(found.uncovered)


@given(graphs())
def test_evidence_gives_the_graph_back(made: StatementGraph) -> None:
    evidence = json.loads(json.dumps(to_evidence(made)))
    assert from_evidence(evidence) == made
    assert {one[0] for one in evidence["uncovered"]} >= set(evidence["basis"])

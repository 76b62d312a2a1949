"""Asking for fewer relations gives the result of asking for all."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest
from bench.asking import STORED, Line, generated_graphs, least, replay, result, stored_graphs
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.metrics.comprehensiveness._asking import (
    Asked,
    Asking,
    Inquiry,
    ask,
    dissimilar,
    pairs_of,
)
from longmark.text.entailment import LABELS, Relation
from longmark.text.graph import Pair, Statement, StatementGraph, coverage

APART, FOLDED = Asking(fold=False), Asking()


def statements(*texts: str, question: str | None = None) -> list[Statement]:
    """`statements("a: x", "c: y")`: of the answer and of the context; the ids are numbered."""
    return [
        Statement(
            f"{text[0]}{i}", "answer" if text[0] == "a" else "context", text[3:], (), question
        )
        for i, text in enumerate(texts)
    ]


def asked(
    nodes: Sequence[Statement],
    labels: Mapping[Pair, str],
    plan: Asking = FOLDED,
    known: Mapping[Pair, str] | None = None,
) -> tuple[Asked, list[Inquiry]]:
    """What a judge is asked that labels pairs of texts; what is not in the labels is neutral."""
    inquiries: list[Inquiry] = []

    async def relate(batch: Sequence[Inquiry]) -> list[list[Relation]]:
        inquiries.extend(batch)
        return [
            [Relation(labels.get((one.premise, text), "neutral")) for text in one.hypotheses]
            for one in batch
        ]

    return asyncio.run(ask(nodes, relate, plan, known)), inquiries


def whole(nodes: Sequence[Statement], labels: Mapping[Pair, str]) -> StatementGraph:
    """The graph of every pair; a text entails itself."""
    pairs = [
        (p, h) for p, h in product(nodes, nodes) if p is not h and not p.side == h.side == "answer"
    ]
    same = {text: " ".join(text.casefold().split()) for text in (node.text for node in nodes)}
    entails = {
        (p.id, h.id)
        for p, h in pairs
        if same[p.text] == same[h.text] or labels.get((p.text, h.text)) == "entails"
    }
    return StatementGraph(tuple(nodes), frozenset(entails))


def test_a_hand_worked_inquiry_leaves_out_what_cannot_matter() -> None:
    # x entails y; the answer states x; z stands alone. Uncovered: z.
    nodes = statements("a: ax", "c: x", "c: y", "c: z")
    labels = {("ax", "x"): "entails", ("x", "ax"): "entails", ("x", "y"): "entails"}
    found, inquiries = asked(nodes, labels)
    assert (
        [(one.premise, one.hypotheses) for one in inquiries]
        == [
            ("ax", ("x", "y", "z")),
            (
                "x",
                ("y", "z"),
            ),  # not ax: the answer reaches x and nothing else, so an edge back joins no two of the context
            ("y", ("ax", "x", "z")),  # an edge back to x or ax would make y and x one component
        ]
    )  # z is asked nothing: it is the only uncovered one, and what is covered cannot change by it
    assert result(coverage(found.graph)) == (2 / 3, ["c1", "c2"], [("c3", ["c3"])])
    assert (found.inquiries, found.batches, found.decisions, found.pairs) == (3, 3, 8, 12)


def test_nothing_more_is_asked_once_all_is_covered() -> None:
    found, inquiries = asked(
        statements("a: x", "a: y", "c: p", "c: q"), {("x", "p"): "entails", ("x", "q"): "entails"}
    )
    assert [one.premise for one in inquiries] == ["x"]
    assert coverage(found.graph).score == 1.0


@pytest.mark.parametrize(
    ("texts", "count"), [((), 0), (("a: x",), 0), (("c: x",), 0), (("a: x", "c: x"), 0)]
)
def test_where_nothing_can_be_learned_no_call_is_made(texts: tuple[str, ...], count: int) -> None:
    assert asked(statements(*texts), {})[0].inquiries == count


def test_equal_texts_are_asked_once_and_are_equivalent() -> None:
    nodes = statements(
        "a: The sky is blue.", "c: the  sky is blue.", "c: Grass is green.", "c: Grass is green."
    )
    found, inquiries = asked(nodes, {})
    assert [(one.premise, one.hypotheses) for one in inquiries] == [
        ("The sky is blue.", ("Grass is green.",))
    ]
    assert result(coverage(found.graph)) == (1 / 2, ["c1"], [("c2", ["c2", "c3"])])
    assert asked(nodes, {}, APART)[0].inquiries == 4  # as the paper does: each by itself


def test_answers_to_different_questions_are_not_compared() -> None:
    nodes = [
        *statements("a: yes", "c: yes", question="Is it wet?"),
        *statements("c: yes", "c: no", question="Cold?"),
    ]
    nodes = [
        Statement(f"{node.side[0]}{i}", node.side, node.text, (), node.question)
        for i, node in enumerate(nodes)
    ]
    found, inquiries = asked(nodes, {})
    assert {(one.question, one.premise, one.hypotheses) for one in inquiries} == {
        ("Cold?", "yes", ("no",)),
        ("Cold?", "no", ("yes",)),
    }
    assert coverage(found.graph).score == 1 / 3
    assert found.pairs == 2 + 2


def test_what_is_known_is_not_asked() -> None:
    nodes = statements("a: 5 km", "c: 5000 m", "c: red", "c: green")
    known = {
        ("a0", "c1"): "entails",
        ("c1", "a0"): "entails",
        ("c2", "c3"): "contradicts",
        ("c3", "c2"): "contradicts",
    }
    found, inquiries = asked(nodes, {}, APART, known)
    assert [(one.premise, one.hypotheses) for one in inquiries] == [
        ("5 km", ("red", "green")),
        ("5000 m", ("red", "green")),
    ]
    assert found.graph.contradicts == {("c2", "c3"), ("c3", "c2")}
    assert coverage(found.graph).score == 1 / 3


def test_a_reply_of_another_length_is_an_error() -> None:
    async def short(batch: Sequence[Inquiry]) -> list[list[Relation]]:
        return [[] for _ in batch]

    with pytest.raises(ValueError, match="0 relations for 1 hypotheses"):
        asyncio.run(ask(statements("a: x", "c: y"), short))
    with pytest.raises(ValueError, match="at least 1, not 0 and 200"):
        Asking(width=0)


def test_dissimilar_texts_are_taken_as_neutral_where_that_is_wished() -> None:
    nodes = statements("a: x", "c: y", "c: z")
    vectors = {"x": (1.0, 0.0), "y": (0.8, 0.6), "z": (0.0, 1.0)}
    known = dissimilar(nodes, vectors, 0.5)
    assert set(known) == {("a0", "c2"), ("c2", "a0")}
    _, inquiries = asked(nodes, {("x", "y"): "entails"}, known=known)
    assert [(one.premise, one.hypotheses) for one in inquiries] == [("x", ("y",)), ("y", ("z",))]


# The result is that of asking for all --------------------------------------------------------------------------------

TEXTS = ["p", "q", "r", "s", "t", "u", "P"]


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[Statement], dict[Pair, str]]:
    """Statements with few texts, so that some are equal, and a judge of any whim: neither transitive nor consistent."""
    texts = draw(
        st.lists(
            st.sampled_from([f"{side}: {text}" for side in "accc" for text in TEXTS]), max_size=9
        )
    )
    pairs = st.sampled_from([(p, h) for p in TEXTS for h in TEXTS if p.lower() != h.lower()])
    labels = draw(st.dictionaries(pairs, st.sampled_from(["entails", *LABELS]), max_size=20))
    folded = {(p.lower(), h.lower()): label for (p, h), label in labels.items()}
    return statements(*texts), {
        (p, h): folded.get((p.lower(), h.lower()), "neutral") for p, h in product(TEXTS, TEXTS)
    }


@settings(max_examples=150)
@given(questions(), st.sampled_from([1, 2, 3, 99]), st.sampled_from([1, 5, 200]), st.booleans())
def test_a_judge_of_any_whim_gives_the_result_of_every_pair(
    given_: tuple[list[Statement], dict[Pair, str]], width: int, most: int, some_known: bool
) -> None:
    nodes, labels = given_
    pairs = list(product(nodes, nodes))
    same = {node.id: node.text.lower() for node in nodes}
    known: dict[Pair, Any] = {
        (p.id, h.id): labels[p.text, h.text] for p, h in pairs[::3] if same[p.id] != same[h.id]
    }
    found, _ = asked(nodes, labels, Asking(width=width, most=most), known if some_known else None)
    full = whole(nodes, labels)
    assert found.graph.entails <= full.entails
    assert result(coverage(found.graph)) == result(coverage(full))
    assert found.decisions <= pairs_of(nodes)


@settings(max_examples=60)
@given(questions())
def test_no_fewer_pairs_are_asked_than_the_least_and_no_premise_twice(
    given_: tuple[list[Statement], dict[Pair, str]],
) -> None:
    nodes, labels = given_
    distinct = [Statement(node.id, node.side, node.id) for node in nodes]
    text = {node.id: node.text for node in nodes}
    by_id = {(p.id, h.id): labels[text[p.id], text[h.id]] for p, h in product(nodes, nodes)}
    found, inquiries = asked(distinct, by_id)
    premises, pairs = least(whole(distinct, by_id))
    assert premises <= found.inquiries == len({one.premise for one in inquiries}) <= len(nodes)
    assert pairs <= found.decisions


@pytest.mark.parametrize("count", [60, pytest.param(500, marks=pytest.mark.slow)])
def test_generated_graphs_need_a_twentieth_of_the_papers_calls_and_keep_their_results(
    count: int,
) -> None:
    graphs = list(generated_graphs(count))
    line = Line()
    for graph in graphs:
        line.add(graph, APART)
    assert line.different == 0
    assert line.premises <= 0.05 * sum(pairs_of(graph.nodes) for graph in graphs)
    assert line.premises <= 1.001 * sum(least(graph)[0] for graph in graphs)
    assert line.pairs <= 1.25 * sum(least(graph)[1] for graph in graphs)


@pytest.mark.skipif(
    not STORED.exists(), reason="the shared data are not here: shared/data/wikicontradict"
)
def test_the_stored_graphs_keep_their_results() -> None:
    graphs = stored_graphs()
    paper = sum(pairs_of(graph.nodes) for graph in graphs)
    one, several = Line(), Line()
    for graph in graphs:
        one.add(graph, APART)
        several.add(graph, Asking(width=60, fold=False))
    assert (paper, one.different, several.different) == (31_032, 0, 0)
    bound = sum(least(graph)[0] for graph in graphs)
    assert bound == several.premises == 3_740  # .1205 of the paper's calls
    assert one.premises == 3_760
    assert several.batches <= 0.046 * paper
    assert one.pairs <= 1.07 * sum(least(graph)[1] for graph in graphs)


def test_filled_batches_need_fewer_rounds_and_keep_the_results() -> None:
    graphs = list(generated_graphs(60))
    plan = Asking(width=16, most=2000, fold=False, fill=True)
    single, filled = Line(), Line()
    for graph in graphs:
        single.add(graph, APART)
        filled.add(graph, plan)
    assert filled.different == 0
    assert filled.batches <= 0.25 * single.batches
    assert filled.pairs <= 1.4 * single.pairs


@pytest.mark.skipif(
    not STORED.exists(), reason="the shared data are not here: shared/data/wikicontradict"
)
def test_folding_equal_texts_changes_only_a_graph_whose_authors_left_two_equal_texts_apart() -> (
    None
):
    changed = [
        graph
        for graph in stored_graphs()
        if result(coverage(replay(graph, Asking())[0].graph)) != result(coverage(graph))
    ]
    (graph,) = changed
    apart = [
        (p, h)
        for p, h in product(graph.nodes, graph.nodes)
        if p.id != h.id and p.text == h.text and (p.id, h.id) not in graph.entails
    ]
    assert apart

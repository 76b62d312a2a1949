"""A page shows evidence by the view that its metric declares, whoever made the metric; other shapes as recorded."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.report.runs import answers_on

import longmark
from longmark import metrics
from longmark.errors import UnknownName
from longmark.metric import VIEWS, Metric, Score
from longmark.records import Context, Example, Row, Signature, Usage
from longmark.report.evidence import views_of
from longmark.report.html import write_report
from longmark.report.worst import worst_of
from longmark.scores.manifest import MetricFacts
from longmark.text.graph import Statement, StatementGraph, to_evidence

VOTE = {"vote": "yes", "labels": ["yes", "no", "yes"], "reasons": ["It says so.", None, "Here."]}
ICE = (Context(text="In March ice fell."),)
NODES = (Statement("a0", "answer", "Ice fell."), Statement("c0", "context", "Wires broke."))
EVIDENCE: dict[str, dict[str, Any]] = {
    "claims": {
        "claims": [{"claim": "Ice fell.", "dimensions": {"hazard": VOTE}}],
        "weights": {"hazard": 1.0},
    },
    "points": {
        "points": [
            {"point": 1, "text": "Ice fell.", "delta": 0.25},
            {"point": 2, "text": "So.", "delta": -0.1},
        ]
    },
    "facts": {
        "claims": [{"claim": "Ice fell.", "delta": 0.1, "relative": 0.2, "passages": [1]}],
        "confidence": 0.5,
    },
    "questions": {"questions": [{"question": "What fell?", "cosine": 0.75}]},
    "graph": to_evidence(StatementGraph(NODES)),
    "turns": {"turns": [{"who": "critic", "text": "Ice fell."}]},
    "marked": {"marked": [{"text": "Ice fell", "label": "hedged"}]},
    "support": {"claims": [{"claim": "Ice fell.", "passages": [1]}]},
    "cells": {"steps": [{"step": "Ice fell.", "right": True, "weight": 0.5, "sources": ["a"]}]},
}
TEXT = {"questions": "What fell?", "graph": "Wires broke.", "marked": "Ice fell"}
SEEN = {view: TEXT.get(view, "Ice fell.") for view in EVIDENCE}


def row(evidence: dict[str, Any], name: str = "own") -> dict[str, Row]:
    return {name: Row("1", "1", "", name, 0.5, "ok", None, evidence, Signature(""), Usage())}


def facts(view: str, name: str = "own") -> dict[str, MetricFacts]:
    return {name: MetricFacts(0, 1, True, view=(view, "own"))}


def test_every_view_that_can_be_declared_is_known_to_the_page() -> None:
    assert {*EVIDENCE, "judges"} == {*VIEWS}
    declared = {metrics.load(name).view for name in metrics.names()}
    assert declared - {""} <= {*VIEWS}
    with pytest.raises(UnknownName, match="Did you mean cells"):
        Metric(_score, ("answer",), view="cell")


@pytest.mark.parametrize("view", EVIDENCE)
def test_a_metric_of_any_name_has_its_view(view: str) -> None:
    more = {"spread": 0.125}
    (shown,) = views_of(row(EVIDENCE[view] | more), facts(view))
    assert shown.covers == ["own"]
    assert SEEN[view] in repr(shown.blocks)
    assert "0.125" in repr(shown.blocks), "what the view does not name is not dropped"
    (other,) = views_of(
        row(EVIDENCE[view], "own@samples=3 by m"), facts(view, "own@samples=3 by m")
    )
    assert (other.title, other.covers) == (f"{shown.title} by m", ["own@samples=3 by m"])
    assert views_of(row(EVIDENCE[view]), {"own": MetricFacts(0, 1, True)}) == []


BAD = {
    "claims": ("Unsupported claim", "Ice fell."),
    "points": ("Least relevant point", "So."),
    "questions": ("The answer fits another question", "What fell?"),
    "graph": ("Missing statement", "Wires broke."),
    "marked": ("Passage", "Ice fell"),
}


@pytest.mark.parametrize("view", EVIDENCE)
def test_a_bad_score_says_why_by_its_view_and_a_declaration_comes_first(view: str) -> None:
    evidence = json.loads(json.dumps(EVIDENCE[view]).replace('"vote": "yes"', '"vote": "no"'))
    assert worst_of(row(evidence), facts(view)) == [("own", BAD.get(view))]
    declared = MetricFacts(0, 1, True, view=(view, "own"), why=("Slip", "slips", "kind", "typo"))
    slips = [{"text": "a", "kind": "typo"}, {"text": "b", "kind": "sense"}, {"claim": "c"}, "d"]
    assert worst_of(row(evidence | {"slips": slips}), {"own": declared}) == [
        ("own", ("Slip (1 of 3)", "b"))
    ]
    assert worst_of(row({"reason": "It is short."}), facts("")) == [
        ("own", ("Reason", "It is short."))
    ]


def broken(view: str) -> list[dict[str, Any]]:
    """The evidence with each of its lists in other shapes, and without it."""
    made: list[dict[str, Any]] = []
    lists = [key for key, value in EVIDENCE[view].items() if isinstance(value, list) and value]
    for key in lists:
        others: list[Any] = [None, 5, "no", [5], [{}], [{"claim": 3}]]
        for other in others:
            made.append(deepcopy(EVIDENCE[view]) | {key: other})
    return made


@pytest.mark.parametrize("view", EVIDENCE)
def test_nothing_is_dropped_for_its_shape(view: str) -> None:
    for evidence in broken(view):
        for shown in views_of(row(evidence), facts(view)):
            if shown.title == "Evidence as recorded":
                assert ("value", evidence) in shown.blocks
                assert view in shown.blocks[0][1]
            else:
                for value in evidence.values():
                    assert not isinstance(value, int | str) or str(value) in repr(shown.blocks)


@pytest.mark.parametrize("view", ["claims", "points", "facts", "questions"])
def test_a_metric_of_ones_own_has_no_words_of_ours_and_no_computation_that_gives_another_score(
    view: str,
) -> None:
    (shown,) = views_of(row(EVIDENCE[view]), facts(view))
    words = repr(shown.blocks)
    for ours in (
        "reranker",
        "confidence in the answer",
        "The judge wrote",
        "Computation",
        "mean of",
        "legend",
        "/ (1)",
    ):
        assert ours not in words, ours
    same = {
        "own": replace(
            row(EVIDENCE[view])["own"], score={"claims": 1.0, "questions": 0.75}.get(view, 0.5)
        )
    }
    (shown,) = views_of(same, facts(view))
    computed = {"claims": "own = (1.000) / (1)", "questions": "mean of 1 cosine"}.get(view, "")
    assert computed in repr(shown.blocks), "it gives the score"
    name = "score.context_utilization" if view == "facts" else "score.specificity"
    (shown,) = views_of(
        row(EVIDENCE[view], name), {name: MetricFacts(0, 1, True, view=(view, name))}
    )
    assert len(repr(shown.blocks)) > len(words), "of longmark's metrics it is said what they mean"


@pytest.mark.parametrize(
    "evidence", [{}, {"weights": {"hazard": 1.0}}, {"votes": {"yes": 0}}, {"more": 5}]
)
def test_an_empty_list_is_the_form_with_nothing_in_it(evidence: dict[str, Any]) -> None:
    for view, name in (
        ("claims", "claims"),
        ("facts", "claims"),
        ("points", "points"),
        ("questions", "questions"),
    ):
        assert views_of(row({name: []} | evidence), facts(view)) == []


async def _score(example: Example, _models: object, _params: object) -> Score:
    return Score(0.5, EVIDENCE[example.question_id])


def test_the_page_of_a_module_of_ones_own_shows_its_view(tmp_path: Path) -> None:
    for view, seen in SEEN.items():
        example = Example(
            id="1", question_id=view, question="What?", answer="Ice fell on wires.", contexts=ICE
        )
        own = Metric(_score, ("answer",), bounds=(0, 1), name="own_metric", view=view)
        longmark.run([example], own, out=tmp_path / view)
        manifest = json.loads((tmp_path / view / "manifest.json").read_text())
        assert manifest["metrics"]["own_metric"]["view"] == [view, "own_metric"]
        write_report([tmp_path / view], tmp_path / f"{view}.html")
        (shown,) = answers_on(tmp_path / f"{view}.html")
        assert re.search("See .*above", shown), view
        assert seen in re.sub("<[^>]*>", "", shown)
        assert ("<mark" in shown) is (view in ("marked", "support"))

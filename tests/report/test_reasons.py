"""Reasons on the page: quotes are marked where they stand, and nowhere else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.browser import needs_chromium, opened, texts

import longmark
from longmark.records import Row, Signature, Usage
from longmark.report.html import write_report
from longmark.report.reasons import marked, place_of, reasons_view
from longmark.report.worst import worst_of
from longmark.scores.manifest import MetricFacts
from longmark.testing import FakeChat

ANSWER = "He said “it's  cold”.\nThe cold storm\tbroke <b>lines</b>. Naïve cats concatenate."


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("The cold storm broke", "The cold storm\tbroke"),
        ('"it\'s cold".\nThe', "“it's  cold”.\nThe"),
        ("‘The cold storm’", "The cold storm"),
        ("<b>lines</b>", "<b>lines</b>"),
        ("cold", "cold"),
        ("Naïve cats", "Naïve cats"),
    ],
)
def test_a_quote_is_found_with_white_space_and_quotation_marks_folded(quote: str, text: str):
    place = place_of(quote, ANSWER)
    assert place is not None
    assert ANSWER[slice(*place)] == text


@pytest.mark.parametrize(
    "quote", ["the cold storm", "cat", "storms", "a.c", "ve cats", '""', "Naïve dogs", ".*"]
)
def test_a_quote_that_is_not_there_is_not_found(quote: str):
    assert place_of(quote, ANSWER) is None


def test_a_script_without_spaces_has_no_words_to_keep_whole():
    assert place_of("停电", "暴风雪造成停电三天") == (5, 7)


@given(
    st.text(),
    st.dictionaries(
        st.tuples(st.integers(0, 30), st.integers(1, 30)), st.integers(1, 9), max_size=4
    ),
)
def test_marks_change_no_letter_of_the_text(text: str, given_places: dict[tuple[int, int], int]):
    places = {(start, start + length): number for (start, length), number in given_places.items()}
    assert re.sub(r"</?mark[^<>]*>", "", marked(text, places)) == marked(text, {})


def test_overlapping_quotes_are_marked_together_and_each_number_stands_at_its_end():
    html = marked("one two three", {(0, 7): 1, (4, 13): 2})
    assert html == (
        '<mark class="quoted" data-quotes="">one </mark><mark class="quoted" data-quotes="1">two</mark>'
        '<mark class="quoted" data-quotes="2"> three</mark>'
    )


def row(evidence: dict[str, Any], score: float | None = 0.2) -> Row:
    return Row("1", "1", "", "m", score, "ok", None, evidence, Signature(""), Usage())


def judges(*given: Any) -> dict[str, Row]:
    return {"m": row({"judges": list(given)})}


def test_each_judge_has_its_own_reason_and_the_same_passage_one_number():
    one = {
        "model": "a@http://x/v1",
        "text": "{}",
        "reason": "Bad.",
        "quotes": ["cold storm", "warm"],
        "score": 0.1,
    }
    other = {
        "model": "b",
        "text": "30",
        "reason": None,
        "no_reason": "the reply is only a score",
        "score": 0.3,
    }
    third = {"model": "c", "text": "{}", "reason": "Cold.", "quotes": ["cold  storm"], "score": 0.2}
    view, places = reasons_view(judges(one, other, third), ANSWER, {"m": {"title": "M"}})
    assert view is not None
    (kind, block), *_ = view.blocks
    assert (kind, view.covers, view.count) == ("reasons", ["m"], "2 reasons")
    assert [(judge["name"], judge["score"], judge["reason"]) for judge in block["judges"]] == [
        ("a", "0.1", "Bad."),
        ("b", "0.3", ""),
        ("c", "0.2", "Cold."),
    ]
    assert block["judges"][0]["quotes"] == [
        ("cold storm", 1, ""),
        ("warm", None, "not in the answer"),
    ]
    assert block["judges"][2]["quotes"] == [("cold  storm", 1, "")]
    assert [ANSWER[slice(*place)] for place in places] == ["cold storm"]


def test_scores_without_reasons_and_evidence_of_another_shape_have_no_view():
    heads = {"m": {"title": "M"}}
    for other in (
        {"judges": [{"model": "a", "text": "20", "score": 0.2}]},
        {"judges": 5},
        {"judges": [5]},
        {},
    ):
        assert reasons_view({"m": row(other)}, ANSWER, heads) == (None, {})
    odd = {
        "model": 5,
        "reason": 7,
        "no_reason": [],
        "quotes": {"a": 1},
        "text": None,
        "replies": "no",
        "score": "x",
    }
    assert reasons_view(judges(odd), None, heads) == (None, {}), "the page shows it as recorded"


def test_the_reason_says_why_a_score_is_low_before_the_reply():
    one = {"model": "a@http://x/v1", "text": '{"reason": "Bad."}', "reason": "Bad.", "score": 0.1}
    facts = {"m": MetricFacts(0, 1, True, view=("judges", "m"))}
    assert worst_of(judges(one), facts) == [("m", ("Reason of a", "Bad."))]
    assert worst_of(judges({**one, "reason": None, "text": "10"}), facts) == [
        ("m", ("Reply of a", "10"))
    ]


@needs_chromium
def test_a_reader_sees_the_reason_first_and_the_quotes_in_the_answer(tmp_path: Path):
    said = {
        "reason": "It <i>names</i> no cause.",
        "quotes": ["broke <b>lines</b>", "never said"],
        "score": 20,
    }
    examples = [{"id": "one", "question": "Why?", "answer": ANSWER}]
    judge = FakeChat(json.dumps(said), name="strict")
    options: dict[str, Any] = {"judges": judge, "reasons": True, "cache": tmp_path / "calls.sqlite"}
    longmark.run(examples, "ccrs.question_relevance", out=tmp_path / "run", **options)
    write_report([tmp_path / "run"], tmp_path / "page.html")
    dom = opened(tmp_path / "page.html", "#open=one")
    assert '<mark class="quoted" data-quotes="1">broke &lt;b&gt;lines&lt;/b&gt;</mark>' in dom
    assert dom.count("<mark ") == 1
    shown = texts(dom)
    order = [
        "Reason of strict",
        "Answer · ",
        "Reasons",
        "It <i>names</i> no cause.",
        "not in the answer",
        "Scores",
    ]
    places = [shown.rindex(text) for text in order]
    assert places == sorted(places)
    assert '"score": 20' not in shown, "the reply as received is folded"

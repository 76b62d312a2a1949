"""From a form to values and back; what a form may hold that a page would not post."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from tests.contrib.annotate.studies import set_up, some_values, study_of

from longmark.contrib.annotate.controls import controls
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.study import TEMPLATES
from longmark.contrib.annotate.values import complete, form_of, known_answers, parse

MIXED = """\
title: All kinds
items: {from: pairs, path: pairs.jsonl}
show: [question, answers, key_points, statement]
fields:
  - {name: ok, type: choice, options: [yes, no]}
  - {name: why, type: text, max: 20, required: true, when: {field: ok, is: no}}
  - {name: rate, type: scale, min: -2, max: 2}
  - {name: faults, type: errors, options: [long, wrong]}
  - {name: marks, type: spans, tags: [good, bad], over: a}
  - {name: term, type: cloze}
  - {name: table, type: matrix}
  - {name: own, type: matrix, rows: typed, values: [in, out]}
  - {name: better, type: compare}
  - {name: fix, type: edit, over: b}
"""
A = "Sand 🌊 and sea."
SHOWN = {
    "question": "Q?",
    "a": A,
    "b": "Mud.",
    "key_points": ["sand", "sea"],
    "statement": "Ice (sea ice) melts.",
}
ITEM = StudyItem("1", "q", {}, SHOWN)


@pytest.fixture
def study(tmp_path: Path):
    return study_of(tmp_path, MIXED)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("name", TEMPLATES)
def test_a_form_holds_all_values(tmp_path: Path, name: str, swapped: bool):
    study, items = set_up(tmp_path, name, 6)
    chance = random.Random(name)
    for _ in range(25):
        item = chance.choice(items)
        values = some_values(study, item, chance)
        posted = form_of(study, item, values, swapped=swapped)
        crlf = {key: [one.replace("\n", "\r\n") for one in given] for key, given in posted.items()}
        parsed = parse(study, item, crlf, swapped=swapped)
        assert (parsed.values, parsed.errors) == (values, {})


def test_sides_are_those_of_the_item_whatever_was_shown_first(study):
    form = {
        "f.better": ["a"],
        "f.table.0.a": ["totally"],
        "f.table.1.b": ["wrong"],
        "f.rate": ["0"],
    }
    values = parse(study, ITEM, form, swapped=True, draft=True).values
    assert values["better"] == "b"
    assert values["table"] == [
        {"point": "sand", "values": {"b": "totally"}},
        {"point": "sea", "values": {"a": "wrong"}},
    ]
    assert values["rate"] == 0


def test_offsets_count_code_points_and_the_quote_must_stand_there(study):
    # S a n d _ W _ a n d _ s e a . : the wave is one code point (two units of UTF-16), "sea" is 11 to 14
    span = {"tag": "good", "start": 11, "end": 14, "quote": "sea"}
    twice = [span, dict(span), {"tag": "bad", "start": 5, "end": 6, "quote": "🌊"}]
    assert parse(study, ITEM, {"f.marks": [json.dumps(twice)]}, swapped=False, draft=True).values[
        "marks"
    ] == [
        {"tag": "bad", "start": 5, "end": 6, "quote": "🌊"},
        span,
    ]
    shifted = {**span, "start": 12, "end": 15}
    assert (
        "quote"
        in parse(study, ITEM, {"f.marks": [json.dumps([shifted])]}, swapped=False).errors["marks"]
    )
    lines = parse(
        study, ITEM, {"f.marks.text": ["good: sea\nbad: Sand"]}, swapped=False, draft=True
    ).values["marks"]
    assert [one["quote"] for one in lines] == ["Sand", "sea"]


def test_one_word_of_several_equal_ones_without_its_punctuation(study):
    second = {"start": 9, "end": 12, "quote": "ice"}
    assert (
        parse(study, ITEM, {"f.term": [json.dumps(second)]}, swapped=False, draft=True).values[
            "term"
        ]
        == second
    )
    two = {"start": 5, "end": 12, "quote": "sea ice"}
    assert (
        "one word"
        in parse(study, ITEM, {"f.term": [json.dumps(two)]}, swapped=False).errors["term"]
    )
    assert parse(study, ITEM, {"f.term.impossible": ["yes"]}, swapped=False, draft=True).values[
        "term"
    ] == {"impossible": True}


def test_what_is_missing_is_named_unless_it_is_a_draft(study):
    assert parse(study, ITEM, {}, swapped=False, draft=True).errors == {}
    missing = parse(
        study, ITEM, {"f.ok": ["no"], "f.table.0.a": ["absent"], "f.own.0.in": ["x"]}, swapped=False
    ).errors
    assert missing == {
        "why": "is not answered yet",
        "rate": "is not answered yet",
        "faults": "is not answered yet",
        "term": "is not answered yet",
        "table": "3 cells are empty",
        "own": "is not answered yet",
        "better": "is not answered yet",
        "fix": "is not answered yet",
    }


def test_a_field_whose_condition_does_not_hold_is_not_kept(study):
    form = {"f.ok": ["yes"], "f.why": ["because"]}
    assert "why" not in parse(study, ITEM, form, swapped=False, draft=True).values
    assert (
        parse(study, ITEM, {**form, "f.ok": ["no"]}, swapped=False, draft=True).values["why"]
        == "because"
    )


def test_an_edit_is_unfinished_while_its_text_is_the_old_one(study):
    form = {"f.fix.verdict": ["edit"], "f.fix.text": ["Mud."]}
    parsed = parse(study, ITEM, form, swapped=False)
    assert parsed.values["fix"] == {"verdict": "edit"}
    assert "unchanged" in parsed.errors["fix"]
    rejected = parse(study, ITEM, {"f.fix.verdict": ["reject"]}, swapped=False)
    assert rejected.errors["fix"] == "a reason is missing"


@pytest.mark.parametrize(
    ("form", "name", "words"),
    [
        ({"f.ok": ["maybe"]}, "ok", "maybe is not one of yes, no"),
        ({"f.rate": ["3"]}, "rate", "from -2 to 2, found 3"),
        ({"f.rate": ["1.5"]}, "rate", "whole number"),
        ({"f.rate": ["²"]}, "rate", "whole number"),
        ({"f.ok": ["no"], "f.why": ["x" * 21]}, "why", "21 characters; the limit is 20"),
        ({"f.ok": ["no"], "f.why": ["a\x00b"]}, "why", "NUL"),
        ({"f.ok": ["no"], "f.why": ["\ud83d"]}, "why", "half a character"),
        ({"f.faults": ["long", "NONE"]}, "faults", "NONE cannot be combined"),
        ({"f.faults": ["short"]}, "faults", "short is not one of"),
        ({"f.marks": ["{"]}, "marks", "is not readable"),
        ({"f.marks": ["[1]"]}, "marks", "list of spans"),
        (
            {"f.marks": ['[{"tag": "odd", "start": 0, "end": 1, "quote": "S"}]']},
            "marks",
            "odd is not one of",
        ),
        (
            {"f.marks": ['[{"tag": "bad", "start": 0, "end": 99, "quote": "S"}]']},
            "marks",
            "15 characters",
        ),
        (
            {"f.marks": ['[{"tag": "bad", "start": true, "end": 2, "quote": "S"}]']},
            "marks",
            "15 characters",
        ),
        ({"f.marks.text": ["good: rock"]}, "marks", '"rock" is not in the text'),
        ({"f.table.0.a": ["half"]}, "table", "half is not one of"),
        ({f"f.own.{n}.point": ["p"] for n in range(101)}, "own", "the limit is 100"),
        ({"f.fix.verdict": ["burn"]}, "fix", "burn is not one of"),
    ],
)
def test_a_value_that_no_page_posts_is_refused_with_its_reason(study, form, name: str, words: str):
    parsed = parse(study, ITEM, form, swapped=False, draft=True)
    assert words in parsed.errors[name]
    assert name not in parsed.values


def test_known_answers_compare_as_text_and_lists_in_any_order():
    gold = {"ok": "Yes", "rate": 2, "faults": ["wrong", "long"], "better": "a"}
    item = StudyItem("g", "g", {}, {}, gold=gold)
    assert known_answers(
        item, {"ok": "yes", "rate": 2, "faults": ["long", "wrong"], "better": "b"}
    ) == (3, 4)
    assert known_answers(item, {}) == (0, 4)


def test_a_known_edit_is_its_verdict_and_a_known_term_its_word():
    item = StudyItem("g", "g", {}, {}, gold={"fix": "accept", "term": "ice"})
    assert known_answers(
        item, {"fix": {"verdict": "accept"}, "term": {"start": 4, "end": 7, "quote": "Ice"}}
    ) == (2, 2)
    assert known_answers(
        item, {"fix": {"verdict": "edit", "text": "x"}, "term": {"impossible": True}}
    ) == (0, 2)
    assert known_answers(
        StudyItem("h", "h", {}, {}, gold={"term": "impossible"}), {"term": {"impossible": True}}
    ) == (1, 1)


def test_complete_is_about_stored_values(study):
    values = {
        "ok": "yes",
        "rate": 0,
        "faults": ["NONE"],
        "term": {"impossible": True},
        "better": "tie",
    }
    values |= {"fix": {"verdict": "accept"}, "own": [{"point": "", "values": {"a": "in"}}]}
    assert complete(study, ITEM, values) == {
        "table": "is not answered yet",
        "own": "a point has values but no text",
    }


def test_a_typed_word_is_the_selected_one_where_it_occurs_twice(study):
    second = {"start": 9, "end": 12, "quote": "ice"}  # of "Ice (sea ice) melts."
    for typed, start in (("ice", 9), ("sea", 5)):
        form = {"f.term": ["", json.dumps(second)], "f.term.text": [typed]}
        given = parse(study, ITEM, form, swapped=False, draft=True).values["term"]
        assert (given["start"], given["quote"]) == (start, typed)


@pytest.mark.parametrize(
    "chosen", [{}, {"start": "1", "end": None, "quote": "x"}, {"start": 3, "end": 6}]
)
def test_in_a_script_without_spaces_a_word_is_selected_or_typed(study, chosen: dict[str, object]):
    """CO2 is a word; a run of Chinese is not, as nobody knows where its words end. A stored word can be chosen."""
    item = replace(ITEM, shown={**SHOWN, "statement": "大气中的CO2, 气溶胶散射阳光 (CO2)"})
    text = item.shown["statement"]
    quote = {"quote": text[3:6]} if chosen.get("start") == 3 else {}
    (term,) = [
        one
        for one in controls(study, item, {"f.term": [json.dumps({**chosen, **quote})]}, {}, False)
        if one.kind == "cloze"
    ]
    words = [(word, one.checked) for word, one in term.words if one]
    assert words == [(text[3:6], True) if quote else ("CO2", False), ("CO2", False)]
    assert "".join(piece for piece, _ in term.words) == text
    assert [row.cells[0].posted for row in term.rows] == ["f.term.text"]
    (plain,) = [one for one in controls(study, ITEM, {}, {}, False) if one.kind == "cloze"]
    assert plain.rows == ()


def test_words_of_an_indic_script_are_offered_whole(study):
    item = replace(ITEM, shown={**SHOWN, "statement": "किताब मेज पर है"})
    (term,) = [
        control for control in controls(study, item, {}, {}, False) if control.kind == "cloze"
    ]
    assert [word for word, choice in term.words if choice] == ["किताब", "मेज", "पर", "है"]
    assert term.rows == ()


def test_a_typed_word_is_found_in_whatever_form_it_is_typed(study):
    item = replace(ITEM, shown={**SHOWN, "statement": "Das Café ist offen."})
    form = {"f.term": [""], "f.term.text": ["Cafe\u0301"]}
    given = parse(study, item, form, swapped=False, draft=True).values["term"]
    assert given == {"start": 4, "end": 8, "quote": "Café"}

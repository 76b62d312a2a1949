"""A study's file: the templates are right, and every mistake is named with its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contrib.annotate.studies import study_of

from longmark.contrib.annotate import study as studies
from longmark.contrib.annotate.study import TEMPLATES, Study, template
from longmark.errors import BadInput, UnknownName, UserError

FIELDS = """\
title: Ferries
items: {from: jsonl, path: items.jsonl}
show: [question, answer]
fields:
"""


def mistakes(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(BadInput) as caught:
        study_of(tmp_path, text)
    return [line.removeprefix(f"{tmp_path}/") for line in caught.value.lines]


@pytest.mark.parametrize("name", studies.TEMPLATES)
def test_every_template_is_a_study(tmp_path: Path, name: str):
    study = study_of(tmp_path, studies.template(name))
    assert study.guidelines
    assert all(one.shown for one in study.asked)


def test_an_unknown_template_is_named_with_the_known_ones():
    with pytest.raises(UnknownName, match="Did you mean rating"):
        studies.template("ratings")


def test_yes_and_no_are_words_and_true_is_not(tmp_path: Path):
    study = study_of(tmp_path, FIELDS + "  - {name: ok, type: choice, options: [yes, no, 3]}")
    (ok,) = study.asked
    assert isinstance(ok, studies.Choice)
    assert [one.value for one in ok.options] == ["yes", "no", "3"]
    (line,) = mistakes(tmp_path, FIELDS + "  - {name: ok, type: choice, options: [true]}")
    assert (
        line
        == "STUDY.yaml:5: fields[0].options[0].value: expected text, found true; put it in quotes"
    )


def test_mistakes_of_the_form_have_their_lines(tmp_path: Path):
    text = FIELDS + (
        "  - {name: how, type: scale, max: ten}\n"
        "  - {name: why, type: essay}\n"
        "  - {name: what, type: choice, optoins: [a]}\n"
        "  - {name: Where Is It, type: text}\n"
    )
    assert [line.split(": ", 2)[:2] for line in mistakes(tmp_path, text)] == [
        ["STUDY.yaml:5", "fields[0].max"],
        ["STUDY.yaml:6", "fields[1].type"],
        ["STUDY.yaml:7", "fields[2].options"],
        ["STUDY.yaml:7", "fields[2].optoins"],
        ["STUDY.yaml:8", "fields[3].name"],
    ]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("{name: x, type: scale, min: 5, max: 5}", "fields[0].max: must be from 6 to 105"),
        (
            "{name: x, type: scale, max: 3, anchors: {9: best}}",
            "fields[0].anchors[9]: is not on the scale from 1 to 3",
        ),
        ("{name: x, type: choice, options: [a, a]}", "fields[0].options[1]: a appears twice"),
        (
            "{name: x, type: choice, options: [{value: a, key: z}, {value: b, key: Z}]}",
            "the key z appears twice",
        ),
        ("{name: x, type: choice, options: [{value: a, key: j}]}", "the key j is reserved"),
        ("{name: x, type: errors, options: [NONE]}", "fields[0].none: NONE is also in `options`"),
        (
            "{name: x, type: spans, tags: [t], over: statement}",
            "fields[0].over: statement is not in `show`",
        ),
        ("{name: x, type: matrix}", "fields[0].rows: key_points is not in `show`"),
        ("{name: x, type: compare}", "fields[0].type: compares two answers"),
        (
            "{name: justification, type: text}",
            "fields[0].name: justification is reserved for adjudication",
        ),
        (
            "{name: x, type: text, when: {field: y, is: a}}",
            "fields[0].when.field: y is not an earlier field",
        ),
        ("{name: x, type: text, when: {field: y}}", "fields[0].when.is: is missing"),
        ("{name: x, type: text, when: {is: a}}", "fields[0].when: must name a field or a column"),
    ],
)
def test_parts_that_do_not_fit_are_named(tmp_path: Path, field: str, message: str):
    (line,) = mistakes(tmp_path, f"{FIELDS}  - {field}\n")
    assert line.startswith("STUDY.yaml:5: ")
    assert message in line


def test_rules_that_do_not_fit_are_named(tmp_path: Path):
    rules = "assignment: {overlap: 1, order: priority, adjudication: {fields: [nothing]}}\n"
    lines = mistakes(
        tmp_path, FIELDS.replace("answer]", "system]") + "  - {name: x, type: text}\n" + rules
    )
    assert [line.split(": ", 1)[1] for line in lines] == [
        "show[1]: system is hidden from raters; set blind.systems to shown, or remove it",
        "assignment.adjudication.fields[0]: unknown field: nothing. The fields are x.",
        "assignment.overlap: must be 2 or more, because adjudication compares raters",
        "assignment.priorities: is missing; order: priority needs this file",
    ]


def test_a_condition_names_a_value_that_the_field_has(tmp_path: Path):
    fields = "  - {name: ok, type: choice, options: [yes, no]}\n  - {name: why, type: text, when: {field: ok, is: nope}}\n"
    assert mistakes(tmp_path, FIELDS + fields) == [
        "STUDY.yaml:6: fields[1].when.is: nope is not a value of ok: yes, no"
    ]


def test_dimensions_are_fields_of_their_own(tmp_path: Path):
    dimensions = "[time, {name: place, label: Where}]"
    field = f'  - {{name: fits, label: "Does it fit?", type: choice, options: [a], dimensions: {dimensions}}}'
    study = study_of(tmp_path, FIELDS + field)
    assert [(one.name, one.shown, one.group) for one in study.asked] == [
        ("time", "Time", "Does it fit?"),
        ("place", "Where", "Does it fit?"),
    ]


def test_guidelines_may_be_a_file(tmp_path: Path):
    (tmp_path / "how.md").write_text("# How\n")
    text = FIELDS + "  - {name: x, type: text}\nguidelines: how.md\n"
    assert study_of(tmp_path, text).guidelines == "# How\n"
    with pytest.raises(UserError, match=r"other\.md does not exist"):
        study_of(tmp_path, text.replace("how.md", "other.md"))


@pytest.mark.parametrize("text", ["", "- a list", "title: [", "title: T"])
def test_what_is_no_study_is_refused(tmp_path: Path, text: str):
    with pytest.raises(BadInput, match=r"STUDY\.yaml"):
        study_of(tmp_path, text)


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_the_same_study_after_it_was_stored(tmp_path: Path, name: str):
    study = study_of(tmp_path, template(name))
    assert Study.model_validate_json(study.model_dump_json(by_alias=True)) == study

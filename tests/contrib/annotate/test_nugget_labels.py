"""The template `nuggets`: which facts an answer holds, from the answers to `metaeval`, and the list that people leave."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.annotate.studies import labelled, lines, study_of

import longmark
from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.ratings import RatedMetric
from longmark.contrib.annotate import controls
from longmark.contrib.annotate.export import available, export
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import read_items
from longmark.contrib.annotate.labels import collect
from longmark.contrib.annotate.progress import agreements
from longmark.contrib.annotate.store import StudyStore
from longmark.contrib.annotate.study import Study, template, template_for
from longmark.contrib.annotate.values import parse
from longmark.errors import UnknownName

SALT = {"text": "Salt lowers the freezing point of water.", "importance": "vital"}
ROADS = {"text": "Salt is spread on roads.", "importance": "vital"}
COLD = {"text": "Below -20 °C salt does not help.", "importance": "okay"}
WHOLE, PART, NOT = "support", "partial_support", "not_support"
RUN = {
    "id": "salt-brief",
    "question_id": "salt",
    "question": "Why is salt spread on icy roads?",
    "system": "brief",
    "answer": "Salt lowers the freezing point of water.",
    "nuggets": [SALT, ROADS, COLD],
}
FULL = {
    **RUN,
    "id": "salt-full",
    "system": "full",
    "answer": "Salt is spread on roads: salt lowers the freezing point of water. "
    "Below -20 °C salt does not help.",
}


def a_study(folder: Path, *records: dict[str, Any], items: str = "") -> tuple[Study, list[Any]]:
    lines(folder / "answers.jsonl", records or (RUN, FULL))
    source = items or "{from: file, path: answers.jsonl}"
    study = study_of(folder, template("nuggets").replace("{from: run, path: runs/first}", source))
    return study, read_items(study, folder)


def held(*assignments: str) -> list[dict[str, Any]]:
    nuggets = (SALT, ROADS, COLD)
    return [
        {"point": nugget["text"], "values": {"answer": assignment}}
        for nugget, assignment in zip(nuggets, assignments, strict=True)
    ]


def importance(point: str, value: str) -> dict[str, Any]:
    return {"point": point, "values": {"importance": value}}


LABELS: dict[tuple[str, str], dict[str, Any]] = {
    ("salt-brief", "Ann"): {
        "held": held(WHOLE, NOT, PART),
        "importance": [importance(COLD["text"], "vital")],
        "missing": [importance("Sand gives grip.", "okay")],
    },
    ("salt-full", "Ann"): {"held": held(WHOLE, WHOLE, WHOLE)},
    ("salt-brief", "Bo"): {
        "held": held(WHOLE, PART, NOT),
        "importance": [
            importance(COLD["text"], "vital"),
            importance(ROADS["text"], "okay"),
        ],
    },
    ("salt-full", "Bo"): {
        "held": held(WHOLE, WHOLE, PART),
        "missing": [
            {"point": " sand  gives grip.", "values": {}},
            importance("Salt rusts cars.", "vital"),
            importance(SALT["text"], "vital"),
        ],
    },
}


def two_raters(folder: Path) -> tuple[Study, list[StudyItem], StudyStore]:
    study, items = a_study(folder)
    ids = {item.id: item.example_ids["answer"] for item in items}
    store = labelled(
        folder / "s.sqlite",
        study,
        items,
        ["Ann", "Bo"],
        lambda item, rater: LABELS[ids[item.id], rater],
    )
    return study, items, store


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_rater_sees_each_fact_once_with_its_importance_and_no_assignment(tmp_path: Path) -> None:
    assigned = [{**SALT, "assignment": WHOLE}, ROADS, SALT, "Ice melts."]
    study, (item,) = a_study(tmp_path, {**RUN, "nuggets": assigned})
    assert item.shown["nuggets"] == [SALT, ROADS, {"text": "Ice melts.", "importance": "vital"}]
    assert "nuggets" not in item.meta
    assert [part.name for part in controls.parts(study, item, False)] == ["question", "answer"]
    fields = {control.posted: control for control in controls.controls(study, item, {}, {}, False)}
    rows = [(row.text, row.importance) for row in fields["f.held"].rows]
    assert rows[:2] == [(SALT["text"], "vital"), (ROADS["text"], "vital")]
    assert [row.posted for row in fields["f.missing"].rows] == ["f.missing.0.point"]


def test_every_fact_must_be_assigned_and_the_rest_is_optional(tmp_path: Path) -> None:
    study, items = a_study(tmp_path, RUN)
    form = {"f.held.0.answer": [WHOLE], "f.held.1.answer": [NOT]}
    parsed = parse(study, items[0], form, swapped=False)
    assert parsed.errors == {"held": "1 cell is empty"}
    parsed = parse(study, items[0], form | {"f.held.2.answer": [PART]}, swapped=False)
    assert not parsed.errors
    assert parsed.values == {"held": held(WHOLE, NOT, PART)}


def test_a_question_without_a_list_is_asked_for_its_facts_alone(tmp_path: Path) -> None:
    other = {**RUN, "id": "ice", "question_id": "ice", "question": "Why?", "nuggets": []}
    study, items = a_study(tmp_path, RUN, other)
    form = {"f.missing.0.point": ["Ice floats."], "f.missing.0.importance": ["vital"]}
    parsed = parse(study, items[1], form, swapped=False)
    assert (parsed.errors, list(parsed.values)) == ({}, ["missing"])


def test_a_study_whose_answers_have_no_list_at_all_is_refused(tmp_path: Path) -> None:
    record = {name: value for name, value in RUN.items() if name != "nuggets"}
    with pytest.raises(UnknownName, match="nuggets"):
        a_study(tmp_path, record)


def test_nuggets_of_a_file_take_the_place_of_those_of_the_answers(tmp_path: Path) -> None:
    """By the id of the question, else by its text; what the file does not have is asked for."""
    lists = [
        {"qid": "salt", "nuggets": [COLD]},
        {"query": "Why does ice FLOAT?", "nuggets": [{"text": "It is light."}]},
    ]
    lines(tmp_path / "made.jsonl", lists)
    by_text = {"id": "x", "question": "why does ice float?", "answer": "It is light."}
    neither = {"id": "y", "question": "Why?", "answer": "So.", "nuggets": [SALT]}
    _, items = a_study(
        tmp_path,
        RUN,
        by_text,
        neither,
        items="{from: file, path: answers.jsonl, nuggets: made.jsonl}",
    )
    shown = [item.shown.get("nuggets") for item in items]
    assert shown == [[COLD], [{"text": "It is light.", "importance": "vital"}], None]


def test_scores_of_an_answer_count_what_its_rater_assigned(tmp_path: Path) -> None:
    """Ann: whole, not, part of vital, vital, okay. strict_vital 1/2, strict_all 1/3, vital 1/2, all 1.5/3, weighted
    (1 + .5 * .5) / 2.5, strict_weighted 1/2.5. Her correction of an importance changes the list, not the scores."""
    study, items, store = two_raters(tmp_path)
    export(study, items, store, tmp_path / "labels")
    ratings = {
        line["label"]: float(line["value"])
        for line in table(tmp_path / "labels" / "ratings.csv")
        if (line["example_id"], line["rater"]) == ("salt-brief", "p1")
    }
    assert ratings == pytest.approx(
        {
            "held.strict_vital": 1 / 2,
            "held.strict_all": 1 / 3,
            "held.vital": 1 / 2,
            "held.all": 1 / 2,
            "held.weighted": 1.25 / 2.5,
            "held.strict_weighted": 1 / 2.5,
        }
    )


def test_a_score_over_no_nugget_is_no_rating(tmp_path: Path) -> None:
    study, items = a_study(tmp_path, {**RUN, "nuggets": [COLD]})
    values = {"held": [{"point": COLD["text"], "values": {"answer": WHOLE}}]}
    store = labelled(tmp_path / "s.sqlite", study, items, ["Ann"], lambda *_: values)
    export(study, items, store, tmp_path / "labels")
    labels = {line["label"] for line in table(tmp_path / "labels" / "ratings.csv")}
    assert labels == {
        "held.strict_all",
        "held.all",
        "held.weighted",
        "held.strict_weighted",
    }


def test_the_list_that_people_leave_scores_the_next_run(tmp_path: Path) -> None:
    """Both call the cold vital; Bo alone calls the roads okay, one of two: the list decides. Sand is added by both, vital
    by Bo, who said nothing else, and okay by Ann: as many, so vital. What is in the list is not added again."""
    study, items, store = two_raters(tmp_path)
    export(study, items, store, tmp_path / "labels")
    made = tmp_path / "labels" / "nuggets.jsonl"
    assert [json.loads(line) for line in made.read_text().splitlines()] == [
        {
            "qid": "salt",
            "query": RUN["question"],
            "nuggets": [
                SALT,
                ROADS,
                {"text": COLD["text"], "importance": "vital"},
                {"text": "Sand gives grip.", "importance": "vital"},
                {"text": "Salt rusts cars.", "importance": "vital"},
            ],
        }
    ]
    result = longmark.run(
        [{name: value for name, value in FULL.items() if name != "nuggets"}],
        f"nuggets.strict_all@file={made}",
        checker="overlap",
        out=tmp_path / "run",
    )
    (row,) = result.rows()
    assert row.evidence["nuggets"] == 5


def test_assignments_of_people_meet_those_of_the_metric_by_nugget(tmp_path: Path) -> None:
    """The checker finds the salt in both answers, the roads and the cold in the full one alone. Six nuggets of two
    answers, two raters each. Spearman: the raters' means have the ranks 5 1.5 1.5 5 5 3, the metric's scores 4.5 1.5 1.5
    4.5 4.5 4.5; products of the differences to 3.5 sum to 12, squares to 15 and 12.
    Alpha is nominal: units SS NP PN SS SS SP, disagreement 3/6 within; S 7, N 2, P 3 of 12: expected
    2 * (7*2 + 7*3 + 2*3) / (12*11) = 82/132; 1 - .5 / (82/132) = 1 - 66/82."""
    study, items, store = two_raters(tmp_path)
    export(study, items, store, tmp_path / "labels")
    path = tmp_path / "labels" / "nuggets.csv"
    records = table(path)
    assert len(records) == 12
    assert {line["label_scale"] for line in records} == {"not_support<partial_support<support"}
    alpha = next(
        coefficient.estimate
        for coefficient in agreements(collect(study, items, store))
        if coefficient.label == "held" and "alpha" in coefficient.name
    )
    assert alpha.value == pytest.approx(1 - 66 / 82)
    longmark.run([RUN, FULL], "nuggets", checker="overlap", out=tmp_path / "run")
    result = metaeval(tmp_path / "run", path)
    (label,) = result.labels
    assert (label.label, label.join.joined, label.agreement.raters) == ("held", 6, 2)
    (metric,) = label.metrics
    assert isinstance(metric, RatedMetric)
    assert metric.metric == "nuggets.held"
    assert metric.spearman is not None
    assert metric.spearman.value == pytest.approx(12 / 180**0.5)


def test_metaeval_names_the_metric_that_labels_of_nuggets_need(tmp_path: Path) -> None:
    study, items, store = two_raters(tmp_path)
    assert "nuggets.csv" in available(study, items, store)
    export(study, items, store, tmp_path / "labels")
    longmark.run([RUN, FULL], "classic.length", out=tmp_path / "run")
    with pytest.raises(longmark.errors.UserError, match="run nuggets on these answers"):
        metaeval(tmp_path / "run", tmp_path / "labels" / "nuggets.csv")


def test_init_writes_the_template_for_a_run(tmp_path: Path) -> None:
    text = template_for("nuggets", [tmp_path / "runs" / "one"], tmp_path / "study.yaml")
    assert 'from: run\n  path: ["runs/one"]' in text

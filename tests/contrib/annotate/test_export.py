"""The labels in files, and the commands that read them."""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.annotate.studies import labelled, lines, records_of, set_up, some_values

from longmark import metaeval
from longmark.contrib.annotate.checks import load
from longmark.contrib.annotate.export import FILES, export
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import read_items
from longmark.contrib.annotate.labels import collect
from longmark.contrib.annotate.methods import methods
from longmark.contrib.annotate.progress import (
    LabelForecast,
    agreements,
    forecast,
    progress,
    speed_outliers,
    stalled,
    states,
)
from longmark.contrib.annotate.store import Assignment, Page, StudyStore, Visit
from longmark.contrib.annotate.study import TEMPLATES, AdjudicationRule, Study, template
from longmark.contrib.make.validator.labels import read_labels as read_training
from longmark.contrib.papers.calf.rows import read as read_pairs
from longmark.contrib.papers.comprehensiveness import annotation
from longmark.contrib.papers.score.labels import GeneratedAnswer, read_labels
from longmark.records import Pair
from longmark.records.read import Reading
from longmark.scores.answer_texts import answer_sha256
from longmark.scores.labels import Labels

DOCS = Path(__file__).parents[3] / "docs" / "annotate-study.md"


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def at_work(
    folder: Path, name: str, n: int = 6, **rules: Any
) -> tuple[Study, list[StudyItem], StudyStore]:
    """A template's study that two raters labelled at random."""
    study, items = set_up(folder, name, n, **rules)
    chance = random.Random(name)
    store = labelled(
        folder / "study.sqlite",
        study,
        items,
        ["Ann", "Bo"],
        lambda item, _: some_values(study, item, chance),
    )
    return study, items, store


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_label_has_its_rater_item_and_time(tmp_path: Path, name: str):
    study, items, store = at_work(tmp_path, name, overlap=2, quota=None)
    written = {path.name for path in export(study, items, store, tmp_path / "out")}
    records = read(tmp_path / "out" / "labels.jsonl")
    answers = {(one.item_id, one.person_id): one.values for one in store.answers()}
    assert {(one["item"], one["rater_id"], one["field"]): one["value"] for one in records} == {
        (*key, field): value for key, values in answers.items() for field, value in values.items()
    }
    assert len(answers) == 12
    assert all(
        one["status"] == "done" and one["seconds"] == 30.0 and one["done_at"] for one in records
    )
    audit = read(tmp_path / "out" / "audit.jsonl")
    assert [one["number"] for one in audit] == list(range(1, len(store.events()) + 1))
    assert written <= FILES.keys()
    special = {
        "score": "score.jsonl",
        "comprehensiveness": "comprehensiveness.jsonl",
        "climaqa": "training.jsonl",
    }
    own = special.get(name, "choices.csv" if name in ("calf", "pairs") else "ratings.csv")
    assert own in written


def test_score_study_reads_its_labels(tmp_path: Path):
    study, items, store = at_work(tmp_path, "score", overlap=2, quota=None)
    export(study, items, store, tmp_path)
    known = {
        system: {
            f"q{n}": GeneratedAnswer(system, f"q{n}", f"q{n}") for n in range(6) if n % 2 == place
        }
        for place, system in enumerate(("alpha-7b", "beta-70b"))
    }
    details = ("hazard", "location", "timeline", "intensity")
    labels = read_labels(tmp_path / "score.jsonl", details, known)
    assert labels.raters == {"p1", "p2"}
    assert labels.left_out == {}
    assert {
        name: len(labels.given(name))
        for name in (*details, "answer_relevance", "context_utilization")
    } == (dict.fromkeys((*details, "answer_relevance", "context_utilization"), 12))
    # n/a is a label, not a missing value
    assert {label for name in details for _, label in labels.given(name)} == {"yes", "no", "n/a"}


def test_comprehensiveness_study_reads_its_labels(tmp_path: Path):
    study, items, store = at_work(tmp_path, "comprehensiveness", overlap=2)
    export(study, items, store, tmp_path)
    key = {
        item.id: annotation.Unmasked(
            example_id=item.id, question_id=item.id, metric="m", model="x", match=True
        )
        for item in items
    }
    given = annotation.read_annotations(tmp_path / "comprehensiveness.jsonl", key, [])
    stored = {(one.item_id, one.values["errors"] == ["NONE"]) for one in store.answers()}
    assert {(one.item, not one.errors) for one in given} == stored
    table = annotation.annotated(given, key, 0.05, 42)
    assert (table.missing, table.raters.raters, len(table.counting)) == (0, 2, 12)


def test_choices_are_in_the_order_in_which_they_were_shown(tmp_path: Path):
    study, items = set_up(tmp_path, "pairs", 4, overlap=2)
    # Both raters prefer the answer of beta, side b of the item, whichever came first
    store = labelled(
        tmp_path / "study.sqlite", study, items, ["Ann", "Bo"], lambda *_: {"preference": "b"}
    )
    export(study, items, store, tmp_path)
    with (tmp_path / "choices.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["a" if row["choice"] == "a" else "b"] for row in rows] == ["beta-70b"] * 8
    # Sides are balanced: each item once in either order
    assert Counter((row["question_id"], row["a"]) for row in rows).most_common(1)[0][1] == 1
    human = Labels(tmp_path / "choices.csv")
    assert (human.choices, len(list(human.select())), human.labels) == (True, 8, ["preference"])


def test_metaeval_reads_ratings_and_choices(tmp_path: Path):
    study, items, store = at_work(tmp_path, "rating", overlap=2)
    export(study, items, store, tmp_path)
    rows = [
        {
            "example_id": f"q{n}",
            "system": ("alpha-7b", "beta-70b")[n % 2],
            "metric": "m",
            "score": n / 6,
            "status": "ok",
        }
        for n in range(6)
    ]
    found = metaeval(lines(tmp_path / "rows.jsonl", rows), tmp_path / "ratings.csv")
    assert (found.joined, [one.label for one in found.labels]) == (6, ["quality", "confidence"])
    assert found.labels[0].agreement.raters == 2
    (tmp_path / "pairs").mkdir()
    study, items, store = at_work(tmp_path / "pairs", "pairs", overlap=2)
    export(study, items, store, tmp_path / "pairs")
    sides = [
        {
            "example_id": f"q{n}#{side}",
            "question_id": items[n].question_id,
            "system": system,
            "metric": "m",
            "score": n / 6,
        }
        for n in range(6)
        for side, system in (("a", "alpha-7b"), ("b", "beta-70b"))
    ]
    path = lines(tmp_path / "sides.jsonl", [{**one, "status": "ok"} for one in sides])
    assert metaeval(path, tmp_path / "pairs" / "choices.csv").joined == 6


def test_pairs_carry_every_label_and_the_final_one(tmp_path: Path):
    study, items = set_up(tmp_path, "calf", 3)
    (tmp_path / "pairs.jsonl").rename(tmp_path / "pairs-before.jsonl")
    choices = {"q0": ("a", "a"), "q1": ("a", "b"), "q2": ("tie", "b")}
    points = [{"point": "6:10", "values": {"a": "totally", "b": "absent"}}]

    def label(item: StudyItem, rater: str) -> dict[str, Any]:
        checks = (
            {"factual_error": "no", "new_information": "yes"}
            if (item.id, rater) == ("q0", "Ann")
            else {}
        )
        return {"preference": choices[item.id][rater == "Bo"], "key_points": points, **checks}

    store = labelled(tmp_path / "study.sqlite", study, items, ["Ann", "Bo"], label)
    with store.committing():
        third = store.add_person("Cy", "adjudicator")
        store.adjudicate("q1", third.id, {"preference": "b"}, "Only b has the time.")
    export(study, items, store, tmp_path)
    records = {one["id"]: one for one in read(tmp_path / "pairs.jsonl")}
    assert [records[name].get("label") for name in ("q0", "q1", "q2")] == ["a", "b", None]
    assert records["q1"]["labels"] == {"p1": "a", "p2": "b"}
    assert (records["q0"]["a_system"], records["q0"]["references"]) == ("alpha-7b", ["At 6:10."])
    pairs = list(Reading(tmp_path / "pairs.jsonl"))
    assert all(isinstance(one, Pair) for one in pairs)
    # A run that scored the pairs before they were labelled has the same ones
    assert [one.content_hash() for one in pairs] == [
        one.content_hash() for one in Reading(tmp_path / "pairs-before.jsonl")
    ]
    first, *others = read_pairs((), pairs).pairs
    assert (first.gold, first.disputed) == ("a", False)
    assert first.checks == (("factual_error", False), ("new_information", True))
    assert [(one.gold, one.disputed, one.checks) for one in others] == [
        ("b", True, ()),
        (None, True, ()),
    ]
    assert [(one.label, one.labels) for one in pairs if isinstance(one, Pair)] == [
        ("a", {"p1": "a", "p2": "a"}),
        ("b", {"p1": "a", "p2": "b"}),
        (None, {"p1": "tie", "p2": "b"}),
    ]
    state = progress(study, items, store)
    assert dict(state.figures)["Undecided disagreements"] == "1"
    rows = [one for one in read(tmp_path / "labels.jsonl") if one["field"] == "key_points"]
    assert [one["value"] for one in rows] == [points] * 6
    final = [one for one in read(tmp_path / "labels.jsonl") if one["status"] == "adjudicated"]
    assert [(one["value"], one["rater"], one["reason"]) for one in final] == [
        ("b", "p3", "Only b has the time.")
    ]


def test_training_lines_have_what_a_validator_sees(tmp_path: Path):
    study, items, store = at_work(tmp_path, "climaqa", n=9)
    export(study, items, store, tmp_path)
    records = read(tmp_path / "training.jsonl")
    assert Counter(one["form"] for one in records) == {"mcq": 3, "freeform": 3, "cloze": 3}
    for one in records:
        if one["form"] == "cloze" and one["validity"] == "valid":
            assert one["statement"][one["start"] : one["end"]] == one["term"]
        if one["form"] == "mcq":
            assert one["options"] == {"a": "At 6:10.", "b": "Never."}
        assert bool(one["reasons"]) == (one["validity"] == "invalid" and one["form"] != "cloze")
        assert one["contexts"][0]["page"] == 7


def test_skips_drafts_and_withdrawn_labels_are_no_labels(tmp_path: Path):
    study, items = set_up(tmp_path, "rating", 3, overlap=1)

    def label(item: StudyItem, _: str) -> dict[str, Any] | None:
        return None if item.question_id == items[0].question_id else {"quality": 3, "confidence": 5}

    store = labelled(tmp_path / "study.sqlite", study, items[:1], ["Ann"], label)
    with store.committing():
        for place, status in ((1, "open"), (2, "withdrawn")):
            store.put_items([(items[place].id, {})])
            args = (
                items[place].id,
                "p1",
                False,
                "open",
                None,
                "2026-11-23T08:00:00.000Z",
                None,
                place + 1,
                "normal",
            )
            store.assign(Assignment(*args))  # type: ignore[arg-type]
            store.save(items[place].id, "p1", {"quality": 1}, Page("x", 1), complete=False)
            store.set_status(items[place].id, "p1", status, "p1")  # type: ignore[arg-type]
    written = [path.name for path in export(study, items, store, tmp_path / "out")]
    assert written == ["labels.jsonl", "items.csv", "audit.jsonl"]
    shown = [
        (one["status"], one["field"], one["value"], one["reason"])
        for one in read(tmp_path / "out" / "labels.jsonl")
    ]
    assert shown == [("skipped", None, None, "no time"), ("open", "quality", 1, None)], (
        "withdrawn labels leave no line"
    )


def test_only_the_files_that_are_asked_for(tmp_path: Path):
    study, items, store = at_work(tmp_path, "rating")
    assert [
        path.name for path in export(study, items, store, tmp_path, chosen_files=["methods.md"])
    ] == ["methods.md"]


def test_methods_count_the_items_with_a_time_and_give_their_quartiles(tmp_path: Path):
    study, items = set_up(tmp_path, "rating", 5, overlap=1)
    store = labelled(
        tmp_path / "s.sqlite", study, items, ["Ann"], lambda *_: {"quality": 1, "confidence": 1}
    )
    found = collect(study, items, store)
    timed = [
        replace(one, seconds=10.0 * place) for place, one in enumerate(found.entries)
    ]  # 0 10 20 30 40: 4 times
    text = methods(replace(found, entries=tuple(timed)))
    assert (
        "The median time per item of 4 of the 5 label sets was 25.0 s (quartiles 17.5 s and 32.5 s;"
        in text
    )
    one = replace(found, entries=found.entries[:1])
    assert "The median time per item was 30.0 s (quartiles 30.0 s and 30.0 s;" in methods(one)


def test_too_few_questions_for_an_interval_are_said_in_the_words_of_the_docs(tmp_path: Path):
    study, items = set_up(tmp_path, "rating", 6, overlap=2)
    same = [
        replace(item, question_id=f"q{place % 2}") for place, item in enumerate(items)
    ]  # two questions
    store = labelled(
        tmp_path / "s.sqlite",
        study,
        same,
        ["Ann", "Bo"],
        lambda *_: {"quality": 1, "confidence": 1},
    )
    reasons = {
        one.estimate.reason
        for one in agreements(collect(study, same, store))
        if one.estimate.value is not None
    }
    assert reasons == {"an interval needs 15 items or questions"}


def test_methods_name_the_figures(tmp_path: Path):
    study, items = set_up(tmp_path, "rating", 4, overlap=2)
    # Ann rates 1 2 3 4 and Bo the same, but for the last item: 3 of 4 agree
    ratings = {item.id: place + 1 for place, item in enumerate(items)}

    def label(item: StudyItem, rater: str) -> dict[str, Any]:
        return {
            "quality": ratings[item.id] - (rater == "Bo" and ratings[item.id] == 4),
            "confidence": 5,
        }

    found = collect(
        study, items, labelled(tmp_path / "s.sqlite", study, items, ["Ann", "Bo"], label)
    )
    text = methods(found)
    assert (
        "2 raters labelled 4 items (8 label sets); 4 items were labelled by two raters or more"
        in text
    )
    assert "The median time per item was 30.0 s" in text
    values = {(one.label, one.name): one.estimate.value for one in agreements(found)}
    assert values["quality", "percentage"] == 0.75
    # Cohen: observed 3/4; Ann 1 2 3 4, Bo 1 2 3 3: by chance (1 + 1 + 2 + 0) / 16 = 1/4; (.75 - .25) / .75 = 2/3
    assert values["quality", "Cohen's kappa"] == pytest.approx(2 / 3)
    assert {one.estimate.low for one in agreements(found)} == {
        None
    }  # four items are too few for an interval


def test_who_is_three_times_as_fast_is_named(tmp_path: Path):
    study, items = set_up(tmp_path, "rating", 6, overlap=3)
    store = labelled(
        tmp_path / "s.sqlite",
        study,
        items,
        ["Ann", "Bo", "Cy"],
        lambda *_: {"quality": 3, "confidence": 5},
    )
    with store.committing():
        for one in store.assignments(person="p1"):
            store.visit(f"more-{one.item_id}", Visit(one.item_id, "p1", 120.0, one.given_at))
    # Ann: 150 s an item, the others 30 s: above three times; the others have medians of 90 s and 90 s, three times 30 s
    outliers = speed_outliers(collect(study, items, store))
    assert list(outliers) == ["p1"]
    assert outliers["p1"].startswith("slow: ")


def assigned(assignment: str) -> list[dict[str, Any]]:
    """A matrix with one fact."""
    return [{"point": "The gate is closed at 6:10.", "values": {"answer": assignment}}]


DECIDED: dict[str, tuple[str, str, Any, Any, Any]] = {
    "rating": ("quality", "ratings.csv", 1, 2, 5),
    "support": ("support", "ratings.csv", "full", "none", "partial"),
    "pairs": ("preference", "choices.csv", "a", "b", "tie"),
    "calf": ("preference", "choices.csv", "a", "b", "tie"),
    "score": ("hazard", "score.jsonl", "yes", "no", "n/a"),
    "comprehensiveness": (
        "errors",
        "comprehensiveness.jsonl",
        ["NONE"],
        ["incoherent"],
        ["incoherent", "verbose"],
    ),
    "climaqa": ("validity", "training.jsonl", "valid", "invalid", "invalid"),
    "nuggets": (
        "held",
        "nuggets.csv",
        assigned("support"),
        assigned("not_support"),
        assigned("partial_support"),
    ),
}


def in_file(value: Any) -> Any:
    """How a file has the value of a field: of a matrix with one cell, the cell."""
    if isinstance(value, list) and isinstance(value[0], dict):
        return value[0]["values"]["answer"]
    return value


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_decision_is_the_final_label_in_the_file_of_every_template(tmp_path: Path, name: str):
    """Ann and Bo differ on two items and agree on the third. One of the two is decided: it has a final label, as the
    third has, and the other has none. Each rater's own label stays."""
    field, file, one, other, decision = DECIDED[name]
    study, items = set_up(
        tmp_path, name, 9, overlap=2, quota=None, adjudication=AdjudicationRule(fields=(field,))
    )
    items = [item for item in items if item.columns.get("form") != "cloze"][:3]
    given = {(item.id, rater): one for item in items for rater in ("Ann", "Bo")}
    given |= {(items[0].id, "Bo"): other, (items[1].id, "Bo"): other}
    store = labelled(
        tmp_path / "s.sqlite", study, items, ["Ann", "Bo"], lambda i, r: {field: given[i.id, r]}
    )
    with store.committing():
        store.adjudicate(
            items[0].id, store.add_person("Cy", "adjudicator").id, {field: decision}, "why"
        )
    export(study, items, store, tmp_path)
    if file.endswith(".csv"):
        with (tmp_path / file).open() as opened:
            records: list[dict[str, Any]] = list(csv.DictReader(opened))
    else:
        records = read(tmp_path / file)
    finals = [line for line in records if line["rater"] == "final"]
    value = next(
        key for key in ("choice", "value", "label", "errors", "validity") if key in records[0]
    )
    assert Counter(line["rater"] for line in records) == {"p1": 3, "p2": 3, "final": 2}
    if value != "choice":  # a choice is in the order in which it was shown
        assert sorted(str(line[value]) for line in finals) == sorted(
            str(in_file(value)) for value in (decision, one)
        )
    else:
        assert {"tie"} < {line[value] for line in finals}
    for line in records if value not in ("errors", "validity") else ():
        assert (line.get("dimension") or line["label"]).endswith(".final") == (
            line["rater"] == "final"
        )


def test_the_studies_and_metaeval_take_the_final_label_and_the_agreement_of_raters(tmp_path: Path):
    """Of two raters one says yes and one no, and a third person decides no."""
    head = "example_id,value,label,rater\n"
    (tmp_path / "ratings.csv").write_text(
        head + "i0,yes,right,p1\ni0,no,right,p2\ni0,no,right.final,final\n"
    )
    assert Labels(tmp_path / "ratings.csv").labels == ["right", "right.final"]

    by = {"item": "q0", "system": "s", "rater": "p1", "dimension": "hazard", "label": "yes"}
    final = {"rater": "final", "dimension": "hazard.final", "label": "no"}
    known = {"s": {"q0": GeneratedAnswer("s", "q0", "q0")}}
    given = read_labels(
        lines(tmp_path / "s.jsonl", [by, {**by, "rater": "p2"}, {**by, **final}]), ["hazard"], known
    )
    assert [label for _, label in given.given("hazard")] == ["no"]
    assert given.raters == {"p1", "p2"}

    key = {
        "w": annotation.Unmasked(example_id="w", question_id="w", metric="m", model="x", match=True)
    }
    errors = [("p1", ["NONE"]), ("p2", ["DUP_ATOM"]), ("final", ["NONE"])]
    marked = [{"item": "w", "rater": rater, "errors": given} for rater, given in errors]
    given_back = annotation.read_annotations(lines(tmp_path / "c.jsonl", marked), key, [])
    table = annotation.annotated(given_back, key, 0.05, 42)
    assert (len(table.counting), table.raters.raters, table.missing) == (1, 2, 0)

    label = {
        "item": "v",
        "rater": "p1",
        "form": "freeform",
        "question": "Q?",
        "answer": "A.",
        "validity": "valid",
    }
    votes = [label, {**label, "rater": "p2", "validity": "invalid"}, {**label, "rater": "final"}]
    (item,) = read_training(lines(tmp_path / "v.jsonl", votes)).items
    assert item.status == "valid", "without the decision there is no majority"


def test_every_item_ends_labelled_skipped_or_named_as_open(tmp_path: Path):
    """Five items for two raters each: agreed, decided, undecided, left open by Bo, skipped by both."""
    study, items = set_up(tmp_path, "calf", 5)
    given = {"q0": "aa", "q1": "ab", "q2": "ab", "q3": "aa"}

    def label(item: StudyItem, rater: str) -> dict[str, Any] | None:
        return {"preference": given[item.id][rater == "Bo"]} if item.id in given else None

    store = labelled(tmp_path / "s.sqlite", study, items, ["Ann", "Bo"], label)
    with store.committing():
        store.adjudicate("q1", store.add_person("Cy", "owner").id, {"preference": "b"}, "why")
        store.set_status("q3", "p2", "open", "p2")
    found = collect(study, items, store)
    ends = {"q0": "labelled", "q1": "decided", "q2": "undecided", "q3": "open", "q4": "skipped"}
    assert states(found) == ends
    now = datetime.now(UTC)
    assert stalled(found, now) == []
    (one,) = stalled(found, now + timedelta(days=2))
    assert (one.item.id, one.rater.name) == ("q3", "Bo")
    text = methods(found)
    assert (
        "Of the items, 1 is decided, 1 is undecided, 1 is labelled, 1 is skipped, 1 is open. Open: q3."
        in text
    )
    assert "An owner of the study, who can see systems and labels, made 1 of them." in text
    export(study, items, store, tmp_path)
    with (tmp_path / "items.csv").open() as file:
        rows = {
            row["item"]: (row["state"], row["open"], row["skipped"]) for row in csv.DictReader(file)
        }
    assert rows == {
        item: (state, "p2" * (item == "q3"), "p1;p2" * (item == "q4"))
        for item, state in ends.items()
    }


def test_the_docs_name_the_columns_of_every_file_and_the_id_of_the_source(tmp_path: Path):
    """The id `alpha-7b/q0` names a hidden system: raters see another, and exports have both."""
    (tmp_path / "STUDY.yaml").write_text(
        template("pairs").replace("overlap: 3", "overlap: 2, adjudication: {}")
    )
    study = load(tmp_path / "STUDY.yaml")
    lines(
        tmp_path / "pairs.jsonl",
        ({**one, "id": f"alpha-7b/{one['id']}"} for one in records_of("pairs", 3)),
    )
    items = read_items(study, tmp_path)
    people = ["Ann", "Bo"]
    store = labelled(
        tmp_path / "s.sqlite",
        study,
        items,
        people,
        lambda _, rater: {"preference": rater[0].lower()},
    )
    with store.committing():
        store.adjudicate(items[0].id, "p1", {"preference": "a"}, "why")
    export(study, items, store, tmp_path / "out")
    table = re.findall(r"^\| `([\w.]+\.(?:csv|jsonl))` \|(.*)\|$", DOCS.read_text("utf-8"), re.M)
    documented = {name: set(re.findall(r"`(\w+)`", text)) for name, text in table}
    assert documented.keys() == FILES.keys() - {"methods.md"}
    for name in ("items.csv", "choices.csv", "labels.jsonl"):
        path = tmp_path / "out" / name
        rows: list[Any] = (
            read(path)
            if name.endswith("jsonl")
            else list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))
        )
        for row in rows:
            assert row.keys() <= documented[name], name
            if "item" in row:
                assert "alpha" not in row["item"]
                assert "alpha-7b/q" in str(row.get("example_id") or row["example_ids"]["pair"])


def test_a_forecast_says_who_gets_how_many_and_what_will_be_missing(tmp_path: Path):
    """Six items twice, at most four each: Ann and Bo give eight of twelve labels, with a third person all."""
    study, items = set_up(tmp_path, "rating", 6, overlap=2, quota=4)
    store = labelled(tmp_path / "s.sqlite", study, items, [], lambda *_: None)
    with store.committing():
        for name, role in (("Ann", "annotator"), ("Bo", "annotator"), ("Judge", "adjudicator")):
            store.add_person(name, role)  # type: ignore[arg-type]
    assert forecast(collect(study, items, store), datetime.now(UTC)) == LabelForecast(
        {"p1": 4, "p2": 4}, 4
    )
    assert "missing with the present raters: 4." in str(progress(study, items, store).warnings)
    with store.committing():
        store.add_person("Cy", "annotator")
    assert forecast(collect(study, items, store), datetime.now(UTC)) == LabelForecast(
        {"p1": 4, "p2": 4, "p4": 4}, 0
    )


def test_an_option_that_is_called_none_survives_the_export_with_its_scale_and_its_answer(
    tmp_path: Path,
):
    """Six answers, two of each option; every rating of the export names all options and the text that was rated."""
    text = template("rating").replace(
        "from: run, path: runs/first", "from: file, path: answers.jsonl"
    )
    (tmp_path / "STUDY.yaml").write_text(re.sub(r"fields:.*", "", text, flags=re.DOTALL) + (
        "fields:\n  - {name: support, type: choice, options: [Full, Partial, None]}\n"
        "  - {name: quality, type: scale, min: -1, max: 1}\n"
    ))  # fmt: skip
    lines(tmp_path / "answers.jsonl", records_of("rating", 6))
    study = load(tmp_path / "STUDY.yaml")
    items = read_items(study, tmp_path)
    given = {item.id: ("Full", "Partial", "None")[place % 3] for place, item in enumerate(items)}
    store = labelled(
        tmp_path / "s.sqlite",
        study,
        items,
        ["Ann"],
        lambda item, _: {"support": given[item.id], "quality": -1},
    )
    export(study, items, store, tmp_path / "out")
    with Labels(tmp_path / "out" / "ratings.csv") as labels:
        support = {one.example_id: one for one in labels.select(metric="support")}
        assert {name: one.value for name, one in support.items()} == given
        assert {one.value for one in labels.select(metric="quality")} == {-1.0}
        assert {name: scale.written() for name, scale in labels.scales.items()} == {
            "support": "Full|Partial|None",
            "quality": "-1..1",
        }
        assert (labels.empty, labels.notices) == (0, [])
    digests = {item.id: answer_sha256(item.shown["answer"]) for item in items}
    assert {name: one.given["answer_sha256"] for name, one in support.items()} == digests

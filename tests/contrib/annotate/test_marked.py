"""Marks of people in answers as labels of sentences, and how far raters agree on them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.annotate.studies import labelled, lines, study_of

from longmark import metaeval
from longmark.contrib.annotate.export import export
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import read_items
from longmark.contrib.annotate.labels import collect
from longmark.contrib.annotate.marked import is_marked, sentence_marks
from longmark.contrib.annotate.progress import agreements
from longmark.contrib.annotate.store import StudyStore
from longmark.contrib.annotate.study import Study
from longmark.scores.answer_texts import answer_sha256
from longmark.scores.labels import Labels

ANSWER = "# Ice\n\nIce floats 🧊. Salt melts it.\n\n---\n\n- It is blue."
SENTENCES = ["# Ice", "Ice floats 🧊.", "Salt melts it.", "- It is blue."]
_STUDY = """
title: Marks
items: {from: file, path: answers.jsonl}
show: [question, answer]
fields:
  - {name: marks, type: spans, tags: [wrong, unclear]SHARE}
assignment: {overlap: 2}
"""


def a_study(folder: Path, share: str = "", answers: int = 1) -> tuple[Study, list[StudyItem]]:
    study = study_of(folder, _STUDY.replace("SHARE", share))
    records = [
        {"id": f"a{n}", "question": "Why?", "question_id": f"q{n}", "answer": ANSWER, "system": "x"}
        for n in range(answers)
    ]
    lines(folder / "answers.jsonl", records)
    return study, read_items(study, folder)


def mark(quote: str, tag: str = "wrong") -> dict[str, Any]:
    start = ANSWER.index(quote)
    return {"tag": tag, "start": start, "end": start + len(quote), "quote": quote}


def marked_sentences(study: Study, item: StudyItem, *marks: dict[str, Any]) -> list[str]:
    values = {"marks": list(marks)} if marks else {}
    return [
        item.shown["answer"][one.start : one.end]
        for one in sentence_marks(study, item, values)
        if one.label == "marks.wrong" and one.value == "yes"
    ]


def test_every_part_of_an_answer_with_words_is_a_sentence(tmp_path: Path) -> None:
    study, (item,) = a_study(tmp_path)
    marks = list(sentence_marks(study, item, {}))
    assert [ANSWER[one.start : one.end] for one in marks] == SENTENCES * 2
    assert [one.label for one in marks] == ["marks.wrong"] * 4 + ["marks.unclear"] * 4
    assert {one.value for one in marks} == {"no"}


def test_a_mark_marks_each_sentence_that_it_overlaps(tmp_path: Path) -> None:
    study, (item,) = a_study(tmp_path)
    assert marked_sentences(study, item, mark("floats 🧊. Salt")) == SENTENCES[1:3]
    assert marked_sentences(study, item, mark("blue"), mark("Ice\n")) == [
        SENTENCES[0],
        SENTENCES[3],
    ]
    assert marked_sentences(study, item, mark("blue", "unclear")) == []


def test_white_space_at_the_end_of_a_mark_reaches_no_sentence(tmp_path: Path) -> None:
    study, (item,) = a_study(tmp_path)
    assert marked_sentences(study, item, mark("floats 🧊. ")) == [SENTENCES[1]]


def test_a_share_says_how_much_of_a_sentence_marks_must_cover(tmp_path: Path) -> None:
    """`Ice floats 🧊.` has 13 characters: `floats` covers 6, `floats 🧊` 8; more than half are 7."""
    study, (item,) = a_study(tmp_path, ", sentence_share: 0.5")
    assert marked_sentences(study, item, mark("floats")) == []
    assert marked_sentences(study, item, mark("floats 🧊")) == [SENTENCES[1]]
    assert marked_sentences(study, item, mark("Ice f"), mark("ts 🧊")) == [SENTENCES[1]]


def test_characters_under_two_marks_count_once() -> None:
    assert not is_marked((0, 10), [(0, 4), (1, 5)], 0.5)
    assert is_marked((0, 10), [(0, 4), (2, 6)], 0.5)


def two_raters(
    folder: Path, answers: int = 1, share: str = ""
) -> tuple[Study, list[StudyItem], StudyStore]:
    """Ann marks the last two sentences of each answer, Bo the last three."""
    study, items = a_study(folder, share, answers)
    marks = {"Ann": ("Salt", "blue"), "Bo": ("floats", "Salt", "blue")}
    store = labelled(
        folder / "s.sqlite",
        study,
        items,
        list(marks),
        lambda _, rater: {"marks": [mark(quote) for quote in marks[rater]]},
    )
    return study, items, store


def test_the_export_has_a_label_of_each_sentence_tag_and_rater(tmp_path: Path) -> None:
    study, items, store = two_raters(tmp_path)
    written = [path.name for path in export(study, items, store, tmp_path / "out")]
    assert "sentences.csv" in written
    with (tmp_path / "out" / "sentences.csv").open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    assert len(records) == 2 * 2 * 4
    assert {
        (one["example_id"], one["system"], one["answer_sha256"], one["label_scale"])
        for one in records
    } == {("a0", "x", answer_sha256(ANSWER), "no|yes")}
    for one in records:
        assert ANSWER[int(one["sentence_start"]) : int(one["sentence_end"])] == one[
            "sentence"
        ].lstrip("'")
    assert [
        one["value"] for one in records if (one["rater"], one["label"]) == ("p2", "marks.wrong")
    ] == [
        "no",
        "yes",
        "yes",
        "yes",
    ]
    with Labels(tmp_path / "out" / "sentences.csv") as labels:
        assert (labels.parts, labels.labels) == ("sentence", ["marks.wrong", "marks.unclear"])


def test_raters_agree_on_sentences_by_krippendorffs_alpha(tmp_path: Path) -> None:
    """Units of one answer: (no, no), (no, yes), (yes, yes), (yes, yes); 8 values, 3 no and 5 yes, one unit of four
    differs: alpha = 1 - (8 - 1) * 2 / (2 * 3 * 5)."""
    pytest.importorskip("scipy")
    study, items, store = two_raters(tmp_path)
    coefficients = {
        one.estimate.coefficient: one.estimate
        for one in agreements(collect(study, items, store))
        if one.label == "marks.wrong"
    }
    alpha = next(value for name, value in coefficients.items() if "alpha" in name)
    assert alpha.value == pytest.approx(1 - 14 / 30)
    assert alpha.n == 4
    assert alpha.clusters in (None, 1)


def test_a_share_changes_what_raters_agree_on(tmp_path: Path) -> None:
    """No mark covers more than half of a sentence, so that all labels are `no`."""
    pytest.importorskip("scipy")
    study, items, store = two_raters(tmp_path, share=", sentence_share: 0.9")
    exact = next(
        one.estimate
        for one in agreements(collect(study, items, store))
        if one.label == "marks.wrong" and "ercent" in one.estimate.coefficient
    )
    assert exact.value == 1.0


def test_marks_of_people_are_compared_with_what_a_metric_says_of_each_sentence(
    tmp_path: Path,
) -> None:
    """From a study to `metaeval`: the checker finds `Salt melts it.` and `It is blue.` in no source."""
    import longmark

    study, items, store = two_raters(tmp_path, answers=2)
    export(study, items, store, tmp_path / "out")
    records = [
        {
            "id": f"a{n}",
            "question_id": f"q{n}",
            "question": "Why?",
            "system": "x",
            "answer": ANSWER,
            "contexts": ["Ice floats 🧊."],
        }
        for n in range(2)
    ]
    run = tmp_path / "run"
    longmark.run(
        records, "ragchecker.precision,ragchecker.faithfulness", checker="overlap", out=run
    )
    result = metaeval(run, tmp_path / "out" / "sentences.csv", order={"marks.wrong": ["yes", "no"]})
    wrong = next(label for label in result.labels if label.label == "marks.wrong")
    assert wrong.join.joined == 8
    assert wrong.agreement.raters == 2

"""The template `support`: how far each source supports the sentence that cites it, from the answer to `metaeval`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.annotate.studies import labelled, lines, study_of

import longmark
from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.ratings import RatedMetric
from longmark.cli import main
from longmark.contrib.annotate.export import export
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import read_items
from longmark.contrib.annotate.study import Study, template, template_for
from longmark.errors import UserError
from longmark.scores.answer_texts import answer_sha256

ICE = {
    "id": "ice",
    "question_id": "q-ice",
    "question": "Why does ice float?",
    "system": "reader",
    "answer": "Ice floats on water because it is less dense [1]. Salt lowers its freezing point [2, 3]. "
    "The oldest ice is blue [1][9]. Polar bears like it.",
    "contexts": [
        "Ice floats on water because it is less dense than water.",
        {"id": "salt", "text": "Salt lowers the freezing point of water."},
        "Roads are gritted in winter.",
    ],
}


def a_study(folder: Path, *records: dict[str, Any]) -> tuple[Study, list[StudyItem]]:
    lines(folder / "answers.jsonl", records or (ICE,))
    study = study_of(folder, template("support").replace("runs/first", "answers.jsonl"))
    return study, read_items(study, folder)


def items_of(folder: Path, **fields: Any) -> list[StudyItem]:
    return a_study(folder, {"id": "x", "question": "Why?", **fields})[1]


def test_each_sentence_and_each_source_that_it_names_is_an_item(tmp_path: Path) -> None:
    """[9] names nothing, and the last sentence cites nothing: neither is an item."""
    _, items = a_study(tmp_path)
    assert [item.id for item in items] == ["ice.s1.c1", "ice.s2.c2", "ice.s2.c3", "ice.s3.c1"]
    salt = items[1]
    assert salt.shown["statement"] == "Salt lowers its freezing point [2, 3]."
    assert salt.shown["source"] == "Salt lowers the freezing point of water."
    assert salt.shown["citation"] == "2"
    assert salt.question_id == "q-ice"
    assert salt.example_ids == {"answer": "ice"}
    place = slice(salt.meta["sentence_start"], salt.meta["sentence_end"])
    assert str(ICE["answer"])[place] == salt.shown["statement"]


def test_rows_of_a_table_have_a_place_each(tmp_path: Path) -> None:
    table = "| name | height |\n|---|---|\n| Everest | 8,849 m [1] |\n| Lhotse | 8,516 m [1] |"
    rows = items_of(tmp_path, answer=table, contexts=["Everest is 8,849 m high."])
    statements = ["| Everest | 8,849 m [1] |", "| Lhotse | 8,516 m [1] |"]
    heading = "| name | height |\n|---|---|\n"
    assert [row.shown["statement"] for row in rows] == [heading + row for row in statements]
    places = [slice(row.meta["sentence_start"], row.meta["sentence_end"]) for row in rows]
    assert [table[place] for place in places] == statements


def test_a_marker_between_two_words_does_not_hide_a_sentence_that_is_repeated(
    tmp_path: Path,
) -> None:
    answer = "It rains [1] in May. It snows. It rains [1] in May."
    (first, second) = items_of(tmp_path, answer=answer, contexts=["It rains in May."])
    assert [one.meta["sentence_start"] for one in (first, second)] == [0, 31]


def test_a_sentence_of_the_words_of_an_earlier_one_is_shown_as_itself(tmp_path: Path) -> None:
    answer = "In 2019 sales were 5 and in 2020 sales were 7 [1]. In 2020 sales were 7 [2]."
    items = items_of(tmp_path, answer=answer, contexts=["Sales were 5.", "Sales were 7."])
    assert [(item.shown["statement"], item.shown["citation"]) for item in items] == [
        ("In 2019 sales were 5 and in 2020 sales were 7 [1].", "1"),
        ("In 2020 sales were 7 [2].", "2"),
    ]


def test_a_run_that_reads_numbers_in_parentheses_has_items_of_them(tmp_path: Path) -> None:
    answer = "Ice floats on water (1). Salt lowers its freezing point [2]."
    lines(tmp_path / "answers.jsonl", [ICE | {"answer": answer}])
    items = {}
    for value in ("true", "false"):
        run = tmp_path / f"{value}-run"
        name = f"citations.resolvable@parentheses={value}"
        longmark.run(tmp_path / "answers.jsonl", name, out=run)
        study = study_of(tmp_path, template("support").replace("runs/first", f"{value}-run"))
        items[value] = [item.shown["citation"] for item in read_items(study, tmp_path)]
    assert items == {"true": ["1", "2"], "false": ["2"]}


def test_a_source_without_a_text_is_no_item(tmp_path: Path) -> None:
    sources = [{"url": "https://a.org", "text": "It rains."}, {"url": "https://b.org"}]
    answer = "It rains [a](https://a.org). It snows [b](https://b.org)."
    assert [
        one.shown["citation"] for one in items_of(tmp_path, answer=answer, sources=sources)
    ] == ["https://a.org"]


def test_a_row_without_a_heading_is_shown_as_it_is_written(tmp_path: Path) -> None:
    """Lines with bars are no table in Markdown without the line of dashes."""
    (row,) = items_of(tmp_path, answer="Heights:\n\na | b\nc | d [1]", contexts=["c is d."])
    assert "---" not in row.shown["statement"]


def test_a_check_counts_citations_that_nobody_can_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of seven citations [9] names nothing, and the page of `b` has no text."""
    sources = [{"url": "https://a.org", "text": "It rains."}, {"url": "https://b.org"}]
    answer = "It rains [a](https://a.org). It snows [b](https://b.org)."
    a_study(tmp_path, ICE, {"id": "x", "question": "Why?", "answer": answer, "sources": sources})
    assert main(["annotate", "check", str(tmp_path / "STUDY.yaml")]) == 0
    out = capsys.readouterr().out
    assert "5 items" in out
    assert "2 citations without an item: nothing that they name has a text" in out


def test_answers_that_cite_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no answer cites a source whose text is there"):
        a_study(tmp_path, {**ICE, "answer": "Ice floats."})


def test_labels_of_citations_go_from_the_study_to_metaeval(tmp_path: Path) -> None:
    """Two raters: full, full, none and none for the four citations; the checker finds [2] needed and [3] redundant."""
    support = {"ice.s1.c1": "full", "ice.s2.c2": "full", "ice.s2.c3": "none", "ice.s3.c1": "none"}
    study, items = a_study(tmp_path)
    store = labelled(
        tmp_path / "s.sqlite",
        study,
        items,
        ["Ann", "Bo"],
        lambda item, _: {"support": support[item.id]},
    )
    export(study, items, store, tmp_path / "labels")
    with (tmp_path / "labels" / "ratings.csv").open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    assert len(records) == 8
    assert {one["example_id"] for one in records} == {"ice"}
    assert {one["answer_sha256"] for one in records} == {answer_sha256(str(ICE["answer"]))}
    assert {one["label_scale"] for one in records} == {"none<partial<full"}
    assert [one["citation"] for one in records] == ["1", "1", "2", "2", "3", "3", "1", "1"]
    longmark.run([ICE], "citations", checker="overlap", out=tmp_path / "run")
    result = metaeval(tmp_path / "run", tmp_path / "labels" / "ratings.csv")
    (label,) = result.labels
    assert (label.label, label.join.joined, label.agreement.raters) == ("support", 4, 2)
    needed = next(metric for metric in label.metrics if metric.metric == "citations.needed")
    assert isinstance(needed, RatedMetric)
    assert needed.spearman is not None
    assert needed.spearman.value == pytest.approx(1.0)  # 1 1 0 0 beside full full none none


def test_init_writes_the_template_for_a_run(tmp_path: Path) -> None:
    text = template_for("support", [tmp_path / "runs" / "one"], tmp_path / "study.yaml")
    assert 'from: citations\n  path: ["runs/one"]' in text

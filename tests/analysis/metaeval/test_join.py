"""Rows and people's lines brought together: by id, by system and question, over several runs and judges."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from tests.report.runs import manifest, row, write_run

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.labels import NO_ANSWER, SEVERAL, join
from longmark.errors import BadInput, UnknownName, UserError
from longmark.records import Example, Row, Signature
from longmark.records.write import write_rows
from longmark.scores.answers import read_answers
from longmark.scores.labels import Labels


def marks_of(names: dict[str, float | None], metric: str = "m", **more: Any) -> list[Row]:
    return [row(name, metric, value, **more) for name, value in names.items()]


def rated(*names: str, **more: Any) -> list[dict[str, Any]]:
    return [{"example_id": name, "value": 1, **more} for name in names]


def run_folder(
    folder: Path, answers: dict[str, str], system: str, values: dict[str, float]
) -> Path:
    examples = [Example(id=name, question="What?", answer=text) for name, text in answers.items()]
    rows = [
        row(name, "m", value, system=system, question_id=name) for name, value in values.items()
    ]
    return write_run(
        folder, examples, rows, {**manifest(system), "metrics": {"m": {"bounds": [0, 1]}}}
    )


def test_counts_and_reasons():
    marks = read_answers(marks_of({"e1": 0.5, "e2": None, "e3": 1.0}))
    found, counts = join(Labels(rated("e1", "e2", "e9")), marks, "rating")
    assert [each.places for each in found] == [(0,), (1,), ()]
    assert (counts.in_human, counts.joined, counts.only_in_rows) == (3, 2, 1)
    assert [(one.reason, one.count, one.names) for one in counts.unmatched] == [
        (NO_ANSWER, 1, ("e9",))
    ]
    whole = metaeval(marks_of({"e1": 0.5, "e2": None, "e3": 1.0}), rated("e1", "e2", "e9"))
    assert [(m.scored, m.unscored) for m in whole.labels[0].metrics] == [(1, {"unparsable": 1})]


def test_nothing_joined_says_what_both_sides_hold():
    with pytest.raises(UserError, match=r"The file has z1, z2; the rows have e1\. name the column"):
        metaeval(marks_of({"e1": 0.5}), rated("z1", "z2"))
    with pytest.raises(UserError, match="no scores: there are no rows"):
        metaeval([], rated("z1"))


def test_ids_made_from_contents_are_said_to_be_so_and_to_be_named_in_the_scored_file():
    """No column of the labels holds them."""
    with pytest.raises(UserError, match="are made from the answers") as told:
        metaeval(marks_of({"cb7e820c6115ec3c": 0.5}), rated("dm-1", "dm-2"))
    assert "{'id': 'COLUMN'}" in str(told.value)


def test_an_id_of_several_systems_needs_the_system():
    rows = marks_of({"e1": 0.5}, system="x") + marks_of({"e1": 0.7}, system="y")
    marks = read_answers(rows)
    _, counts = join(Labels(rated("e1")), marks, "rating")
    assert [one.reason for one in counts.unmatched] == [SEVERAL]
    found, _ = join(Labels(rated("e1", system="y")), marks, "rating")
    assert marks.scores["m"][found[0].places[0]] == 0.7
    _, counts = join(Labels(rated("e1", system="z")), marks, "rating")
    assert counts.unmatched[0].reason == "the id belongs to an answer of another system"


def test_the_same_answers_by_two_judges_are_two_metrics(tmp_path: Path):
    answers = {"e1": "one", "e2": "two"}
    first = run_folder(tmp_path / "judge-a", answers, "judge-a", {"e1": 0.1, "e2": 0.2})
    second = run_folder(tmp_path / "judge-b", answers, "judge-b", {"e1": 0.3, "e2": 0.4})
    marks = read_answers([first, second])
    assert list(marks.metrics) == ["m (judge-a)", "m (judge-b)"]
    assert len(marks.answers) == 2
    assert list(marks.scores["m (judge-b)"]) == [0.3, 0.4]
    assert list(read_answers([first, second], ["m"]).metrics) == ["m (judge-a)", "m (judge-b)"]
    again = run_folder(tmp_path / "again", answers, "again", {"e1": 0.1, "e2": 0.2})
    assert list(read_answers([first, again]).metrics) == ["m"]
    assert len(read_answers([first, again]).answers) == 2


def test_two_systems_with_the_same_ids_are_one_metric(tmp_path: Path):
    first = run_folder(tmp_path / "one", {"e1": "yes"}, "one", {"e1": 0.1})
    second = run_folder(tmp_path / "two", {"e1": "no"}, "two", {"e1": 0.3})
    marks = read_answers([first, second / "rows.jsonl"])
    assert list(marks.metrics) == ["m"]
    assert marks.systems == ("one", "two")
    assert [answer.length for answer in marks.answers.values()] == [3, 2]


def test_rows_of_a_file_and_names_of_metrics(tmp_path: Path):
    rows = marks_of({"e1": 0.5}, "f.a") + marks_of({"e1": 0.5}, "f.b")
    for name in ("rows.csv", "rows.jsonl"):
        write_rows(rows, tmp_path / name)
        assert list(read_answers(tmp_path / name, ["f"]).metrics) == ["f.a", "f.b"]
    assert read_answers(rows, ["f.b"], ["f"]).metrics["f.b"].higher_is_better is False
    with pytest.raises(UnknownName, match=r"Did you mean f\.a"):
        read_answers(rows, ["f.aa"])
    with pytest.raises(UserError, match="does not exist"):
        read_answers(tmp_path / "none.jsonl")


def test_marks_of_several_judges_under_one_name_are_noticed():
    rows = [*marks_of({"e1": 0.5}), row("e2", "m", 0.5, signature=Signature("1", {"k": 3}))]
    assert read_answers(rows).mixed == ("m",)
    found = metaeval(rows, rated("e1", "e2"))
    assert "made by different models" in found.notices[0]


def pair(question: str | None, a: str, b: str, choice: str = "a", **more: Any) -> dict[str, Any]:
    return {"question_id": question, "a": a, "b": b, "choice": choice, "rater": "people", **more}


def two_systems() -> list[Row]:
    return [
        row(f"{system}{q}", "m", 0.5, question_id=f"q{q}", system=system)
        for q in (1, 2)
        for system in ("x", "y")
    ]


def test_a_and_b_name_systems_or_answers():
    marks = read_answers(two_systems())
    pairs, counts = join(
        Labels(
            [
                pair("q1", "x", "y"),
                pair("q1", "x1", "y1", rater="r2"),
                pair(None, "x2", "y2"),
                pair(None, "x1", "y2"),
                pair("q1", "x", "y2"),
                pair("q3", "x", "y"),
            ]
        ),
        marks,
        "preference",
    )
    assert [(p.places, p.question, len(p.choices)) for p in pairs[:2]] == [
        ((0, 1), "q1", 2),
        ((2, 3), "q2", 1),
    ]
    assert [p.reason for p in pairs[2:]] == [
        "a and b are answers to different questions",
        "the example_id belongs to another question",
        NO_ANSWER,
    ]
    assert (counts.in_human, counts.joined) == (5, 2)


def test_a_pair_shown_both_ways_is_one_pair():
    human = Labels(
        [
            pair("q1", "x", "y", "a"),
            pair("q1", "y", "x", "a"),
            pair("q1", "x", "y", "tie", rater="z"),
        ]
    )
    pairs, _ = join(human, read_answers(two_systems()), "preference")
    assert [p.choices for p in pairs] == [
        (("people", "a", False), ("people", "b", True), ("z", "tie", False))
    ]


def test_an_answer_is_in_one_group():
    lines = [*rated("e1", rater="a", subject="law"), *rated("e1", rater="b", subject="art")]
    with pytest.raises(
        BadInput, match="subject: is 'art', but 'law' for the same answers in line 1"
    ):
        metaeval(marks_of({"e1": 0.5}), lines, by=["subject"])
    found = metaeval(marks_of({"e1": 0.5}), lines)
    assert found.by == ()
    assert found.notices == (
        "No results by the column subject: it differs between lines on the same answers.",
    )
    many = [line for i in range(70) for line in rated(f"e{i}", subject=str(i))]
    with pytest.raises(UserError, match="subject has 70 different values"):
        metaeval(marks_of({f"e{i}": 0.5 for i in range(70)}), many, by=["subject"])
    found = metaeval(
        marks_of({f"e{i}": 0.5 for i in range(70)}), [{**line, "mode": "m"} for line in many]
    )
    assert (found.by, found.notices) == (
        ("mode",),
        ("No results by the column subject: it has 70 different values.",),
    )


def test_a_labelled_answer_takes_little_memory():
    answers = 2_000
    rows = [
        row(f"example-{i:06}", "m", i % 7, question_id=f"question-{i:06}") for i in range(answers)
    ]
    with Labels(
        [{"example_id": f"example-{i:06}", "value": i % 5, "rater": "r"} for i in range(answers)]
    ) as human:
        tracemalloc.start()
        try:
            held = join(human, read_answers(rows), "rating")
            now, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert len(held[0]) == answers
    assert now < 650 * answers  # bytes; 510 and 770 when this was written
    assert peak < 1_000 * answers


@pytest.mark.parametrize("choices", [False, True])
def test_answers_without_a_label_are_held_as_numbers_alone_and_count_as_before(
    choices: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    places = range(400)
    examples = [
        Example(id=f"e{i}", question_id=f"q{i // 4}", question="Q?", answer="x" * (i % 31))
        for i in places
    ]
    about = [{"question_id": f"q{i // 4}", "system": "xyxz"[i % 4]} for i in places]
    rows = [row(f"e{i}", "m", i % 17 / 17, **about[i]) for i in places]
    given = write_run(
        tmp_path / "run", examples, rows, {**manifest(), "metrics": {"m": {"bounds": [0, 1]}}}
    )
    labels: list[dict[str, Any]] = [
        {"example_id": f"e{10 * n}", "value": n % 3 / 2, "rater": "r"} for n in range(40)
    ]
    if choices:
        labels = [
            {"question_id": f"q{n}", "a": "z", "b": "y", "choice": "ab"[n % 2]} for n in range(40)
        ]
    few = metaeval(given, labels)
    assert len(read_answers(given, named=lambda id, *_: id == "e300").answers) == 3 + 1
    monkeypatch.setattr("longmark.analysis.metaeval.labels.named_by", lambda _: lambda *_: True)
    every = metaeval(given, labels)
    assert repr(few) == repr(every)
    assert few.labels[0].join.only_in_rows == (360, 320)[choices]
    assert choices or {one.system for one in few.labels[0].powered} == {"all", "x"}  # type: ignore[union-attr]

"""The answers of a run, read from files that grow or are replaced."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.report.runs import CORRECTNESS, RELEVANCE, made_up, manifest, row, write_run

from longmark.records import Example
from longmark.scores.manifest import Manifest, read_manifest
from longmark.scores.observations import Observations
from longmark.view import answers as module
from longmark.view.answers import AnswerQuery, Changed, RunAnswers

LONG = 60.0


def read(folder: Path) -> tuple[RunAnswers, Manifest]:
    answers, its = RunAnswers(folder), read_manifest(folder)
    answers.advance(its, LONG)
    return answers, its


def ids(answers: RunAnswers, its: Manifest, **asked: str) -> list[str]:
    return [
        one.id
        for one in answers.shown(answers.numbers(AnswerQuery(**asked), answers.summary(its)))[0]
    ]


def append(path: Path, *lines: bytes) -> None:
    with path.open("ab") as file:
        file.writelines(lines)


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Three answers of two systems; the second is unscored, the third has no row."""
    examples = [
        Example(id=name, question="Why?", answer=f"Because of {name}.", system=system)
        for name, system in (("x", "alpha"), ("y", "beta"), ("z", "alpha"))
    ]
    rows = [row("x", RELEVANCE, 0.5, system="alpha"), row("y", RELEVANCE, None, system="beta")]
    return write_run(tmp_path / "three", examples, rows, manifest("alpha"))


def test_the_worst_answers_come_in_the_order_of_the_report(tmp_path: Path):
    folder = made_up(tmp_path / "run", 60)
    answers, its = read(folder)
    with Observations() as observations:
        observations.read([folder])
        observations.rank(observations.facts([its]))
        lowest = [observations.example(number)[1] for number in observations.lowest()]
    assert ids(answers, its) == lowest


def test_answers_are_filtered_and_sorted_by_their_scores(three: Path):
    answers, its = read(three)
    assert ids(answers, its) == ["x", "y", "z"]
    assert ids(answers, its, status="all") == ["x", "z"]
    assert ids(answers, its, status="some") == ids(answers, its, status="unparsable") == ["y"]
    assert ids(answers, its, system="alpha") == ["x", "z"]
    assert ids(answers, its, system="gamma") == ids(answers, its, status="refused") == []
    assert ids(answers, its, sort="missing") == ["y", "x", "z"]
    assert ids(answers, its, sort="no such metric up") == ["x", "y", "z"]
    append(three / "rows.jsonl", row("z", RELEVANCE, 0.1, system="alpha").to_json() + b"\n")
    answers.advance(its, LONG)
    assert ids(answers, its, sort=f"{RELEVANCE} up") == ["z", "x", "y"]
    assert ids(answers, its, sort=f"{RELEVANCE} down") == ["x", "z", "y"]


def test_a_search_finds_all_words_in_the_texts_of_an_answer(three: Path):
    answers, its = read(three)
    assert ids(answers, its, q="BECAUSE y.") == ["y"]
    assert ids(answers, its, q="question_id") == []


def test_a_row_is_there_once_its_line_is_complete_and_the_last_of_a_key_counts(three: Path):
    answers, its = read(three)
    line = row("z", RELEVANCE, 0.9, system="alpha").to_json() + b"\n"
    append(three / "rows.jsonl", line[:30])
    answers.advance(its, LONG)
    assert (answers.counts, answers.damaged, answers.complete) == ((3, 2), 0, True)
    append(
        three / "rows.jsonl", line[30:], row("x", RELEVANCE, 0.25, system="alpha").to_json() + b"\n"
    )
    answers.advance(its, LONG)
    assert answers.counts == (3, 3)
    assert [one.results[RELEVANCE].score for one in answers.shown([1, 3])[0]] == [0.25, 0.9]


def test_a_file_that_was_replaced_is_read_again_and_no_old_place_is_used(three: Path):
    answers, its = read(three)
    fresh = three / ".rows.jsonl.new"
    fresh.write_bytes(row("y", RELEVANCE, 1.0, system="beta").to_json() + b"\n")
    os.replace(fresh, three / "rows.jsonl")
    with pytest.raises(Changed):
        answers.shown([1])
    answers.advance(its, LONG)
    assert [dict(one.results) != {} for one in answers.shown([1, 2])[0]] == [False, True]


def test_a_damaged_line_is_left_out_and_named(three: Path):
    append(
        three / "rows.jsonl",
        b'{"example_id": "z"}\n',
        b"\xff\n",
        row("z", CORRECTNESS, 0.1).to_json() + b"\n",
    )
    append(three / "examples.jsonl", b"[]\n", b'{"id": 5}\n')
    answers, its = read(three)
    assert (answers.damaged, answers.counts) == (4, (3, 3))
    assert answers.damage.startswith("examples.jsonl:4: not an example")
    assert ids(answers, its, sort="file") == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("score", "damaged"), [("9223372036854775813", 0), ("1e308", 0), ("1" + "0" * 400, 1)]
)
def test_a_score_of_more_than_64_bits_is_a_number_or_a_damaged_line(
    three: Path, score: str, damaged: int
):
    line = row("z", RELEVANCE, 0.25, system="alpha").to_json().replace(b"0.25", score.encode())
    append(three / "rows.jsonl", line + b"\n")
    answers, its = read(three)
    assert answers.damaged == damaged
    assert sorted(ids(answers, its)) == ["x", "y", "z"]


def test_a_record_that_is_too_large_is_counted_and_not_shown(three: Path):
    append(
        three / "examples.jsonl",
        Example(id="w", question="Why?", answer="long " * 999).to_json() + b"\n",
    )
    answers, _ = read(three)
    shown, left = answers.shown([3, 4], largest=2000)
    assert ([one.example is not None for one in shown], left) == ([True, False], 1)
    assert answers.shown([4])[1] == 0


def test_rows_without_examples_are_answers_without_texts(three: Path):
    (three / "examples.jsonl").unlink()
    answers, its = read(three)
    assert ids(answers, its) == ["x", "y"]
    assert answers.shown([1])[0][0].example is None


def test_the_first_answers_have_their_rows_before_all_of_a_large_run_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    answers, its = RunAnswers(made_up(tmp_path / "run", 60)), read_manifest(tmp_path / "run")
    monkeypatch.setattr(module, "_STEP", 8)
    ticks = count()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    answers.advance(its, 3)
    assert not answers.complete
    assert 0 < answers.counts[1] < 60
    first = answers.numbers(AnswerQuery(), answers.summary(its))
    assert first[:5] == [1, 2, 3, 4, 5], "in the order of the file"
    assert len(answers.shown(first)[0][0].results) == 4
    while not answers.complete:
        answers.advance(its, 3)
    assert answers.counts == (60, 240)

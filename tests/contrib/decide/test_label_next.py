"""`label next`: what is drawn, with which probability, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.compare.runs import run_of
from tests.contrib.decide.test_corrected import N, ratings, scores
from tests.program import run, write_jsonl
from tests.report.runs import RELEVANCE

from longmark.contrib.decide.label_next import in_words, label_next, write
from longmark.errors import UserError
from longmark.scores.answer_texts import answer_sha256
from longmark.scores.draws import draw_number, read_draw
from longmark.stats.looks import Looks


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory.mktemp("runs") / "both", scores())


def test_whole_questions_are_drawn_with_equal_chances(both: Path):
    draw = label_next([both], n=21)
    drawn = [one for one in draw.answers if one.drawn]
    assert (draw.new, draw.questions, draw.all_questions, len(drawn), len(draw.answers)) == (
        20,
        10,
        N,
        20,
        2 * N,
    )
    assert {one.probability for one in draw.answers} == {10 / N}
    assert {one.system for one in drawn if one.question_id == drawn[0].question_id} == {"a", "b"}
    assert label_next([both], n=21) == draw != label_next([both], n=21, seed=1)
    assert in_words(draw).startswith(
        "20 answers drawn: 10 questions of 60, with equal chances. Inclusion probab"
    )


def test_a_draw_says_how_many_labels_a_certificate_needs(both: Path):
    """Two systems: 2 times 50."""
    draw = label_next([both], n=20)
    needed = "A certificate needs 50 labelled answers of each system, 100 in all; 10 of each are drawn by now."
    assert needed in in_words(draw)


def test_a_second_draw_adds_questions_and_their_chances(both: Path, tmp_path: Path):
    first = label_next([both], n=40, looks=2)
    write(first, tmp_path / "first.jsonl")
    assert read_draw(tmp_path / "first.jsonl") == list(first.answers)
    had = {one.example_id for one in first.answers if one.drawn}
    labels = [
        {**one, "inclusion_probability": 20 / N} for one in ratings(1) if one["example_id"] in had
    ]
    second = label_next([both], labels, n=20, earlier=tmp_path / "first.jsonl", floor=1)
    assert had < {one.example_id for one in second.answers if one.drawn}
    assert (second.new, second.questions, second.by_labels) == (20, 10, True)
    assert [one.probability for one in second.answers] == pytest.approx(
        [1 / 3 + 2 / 3 * 10 / 40] * 2 * N
    )
    by_residuals = label_next([both], labels, n=20, earlier=tmp_path / "first.jsonl")
    assert len({one.probability for one in by_residuals.answers}) > 1
    assert by_residuals.forecast is not None
    assert 40 / 60 < (by_residuals.forecast[1] / by_residuals.forecast[0]) ** 2 < 1, (
        "scores leave more than labels cause"
    )
    assert [draw.looks.number for draw in (first, second)] == [1, 2]
    assert {one.draw for one in second.answers} == {1, 2, None}


def test_labels_of_single_answers_count_by_answer(both: Path):
    draw = label_next(
        [both], [one for one in ratings(2) if one["example_id"].startswith("a")], n=20
    )
    assert draw.answers[0].probability == pytest.approx(0.25 + 0.75 * 10 / N)
    assert sum(one.drawn for one in draw.answers) == N // 2 + draw.new


def test_all_that_is_left_is_drawn_and_then_nothing(both: Path):
    assert label_next([both], n=500).new == 2 * N
    with pytest.raises(UserError, match="nothing left to draw"):
        label_next([both], ratings(1))


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (None, {"n": 0}, "of 1 or more"),
        (None, {"floor": 0}, "the floor is above 0"),
        ([{**one, "inclusion_probability": 0.5} for one in ratings()], {}, "by --earlier"),
        (ratings(), {"looks": 1}, "is made before the first label"),
        (ratings(), {"claims": ["a better than b on m"]}, "is made before the first label"),
    ],
)
def test_what_is_wrong_is_said(both: Path, labels: Any, options: dict[str, Any], message: str):
    with pytest.raises(UserError, match=message):
        label_next([both], labels, **options)


def test_labels_that_no_draw_chose_count_as_looked_at_any_number_of_times(both: Path):
    draw = label_next([both], ratings(), n=20)
    assert draw.looks == Looks()
    assert draw_number(draw.answers) is None
    assert "a claim must hold at any number of looks" in in_words(draw)


def test_answers_that_a_label_cannot_tell_apart_are_refused(tmp_path: Path):
    runs = [run_of(tmp_path / name, {"s": its}) for name, its in scores().items()]
    with pytest.raises(UserError, match=r"s-0 \(s\) is an answer of two runs"):
        label_next(runs)


def test_the_verb_writes_a_new_file_only(tmp_path: Path):
    more = {name: {**its, "m.two": its[RELEVANCE]} for name, its in scores().items()}
    two = run_of(tmp_path / "two", more)
    words = ("label", "next", str(two), "--n", "10", "--out", "next.jsonl")
    table = run(*words[:-1], "next.csv", home=tmp_path / "home", cwd=tmp_path)
    assert table.err.strip() == (
        "longmark: --out next.csv: a draw is JSON Lines; give a name that ends in .jsonl"
    ), "annotate init --drawn reads a file by its suffix"
    several = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert "choose one with --metrics: ccrs.question_relevance and m.two" in several.err
    done = run(*words, "--metrics", RELEVANCE, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert f"Label it: longmark annotate init {two} --drawn next.jsonl" in done.out
    assert json.loads((tmp_path / "next.jsonl").read_text().splitlines()[0])["example_id"] == "a-0"
    again = run(*words, "--metrics", RELEVANCE, home=tmp_path / "home", cwd=tmp_path)
    assert "next.jsonl exists; a draw is not made twice" in again.err
    (tmp_path / "bad.jsonl").write_text('{"example_id": "a-0"}\n')
    other = (*words[:-1], "o.jsonl", "--metrics", RELEVANCE, "--earlier")
    assert (
        "bad.jsonl is not a file of `longmark label next`: line 1 has example_id"
        in run(*other, "bad.jsonl", home=tmp_path / "home", cwd=tmp_path).err
    )
    lines = (tmp_path / "next.jsonl").read_text().splitlines()
    (tmp_path / "part.jsonl").write_text("\n".join(lines[:9]))
    part = run(*other, "part.jsonl", home=tmp_path / "home", cwd=tmp_path)
    assert "is missing; the draw was of other answers" in part.err


def test_a_draw_has_the_hash_of_each_text_and_is_not_continued_with_other_texts(
    both: Path, tmp_path: Path
):
    run_folder = shutil.copytree(both, tmp_path / "run")
    examples = [json.loads(line) for line in (both / "examples.jsonl").read_text().splitlines()]
    write_jsonl(
        run_folder / "examples.jsonl",
        [one | {"answer": f"Answer {one['id']}."} for one in examples],
    )
    write(label_next([run_folder], n=20), tmp_path / "draw.jsonl")
    records = [json.loads(line) for line in (tmp_path / "draw.jsonl").read_text().splitlines()]
    digests = {one["id"]: answer_sha256(f"Answer {one['id']}.") for one in examples}
    assert {one["example_id"]: one["answer_sha256"] for one in records} == digests
    records[0]["answer_sha256"] = answer_sha256("Another answer.")
    write_jsonl(tmp_path / "other.jsonl", records)
    with pytest.raises(
        UserError, match="has another text now; the draw was of the answers of another run"
    ):
        label_next([run_folder], n=20, earlier=tmp_path / "other.jsonl")


def test_more_labels_of_two_raters_of_unlike_taste_are_forecast_to_change_little(
    both: Path, tmp_path: Path
):
    """Of people: what two raters leave open, more labels by them do not show. Of these raters: it is nothing."""
    first = label_next([both], n=60, looks=2)
    write(first, tmp_path / "first.jsonl")
    drawn = {answer.example_id for answer in first.answers if answer.drawn}
    labels = [
        {
            **label,
            "rater": rater,
            "value": label["value"] + taste * label["example_id"].startswith("a"),
        }
        for label in ratings(1, inclusion_probability=0.5)
        if label["example_id"] in drawn
        for rater, taste in (("ada", 0.3), ("bo", -0.3))
    ]
    shrinks = {}
    for these_raters in (False, True):
        draw = label_next(
            [both], labels, n=40, earlier=tmp_path / "first.jsonl", these_raters=these_raters
        )
        assert draw.forecast is not None
        shrinks[these_raters] = draw.forecast[1] / draw.forecast[0]
        whose = "interval for these raters only is now" if these_raters else "interval is now"
        assert f" The corrected {whose} ± " in in_words(draw)
    assert shrinks[True] < 0.95 < 0.97 < shrinks[False] < 1.1

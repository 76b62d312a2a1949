"""Which system is ahead, as the page of a run says it."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

from tests.report.runs import CORRECTNESS, EASE, GRADE, RELEVANCE, manifest, row, write_run

from longmark.report.html import write_report


def said(
    tmp_path: Path,
    scores: dict[str, dict[str, list[float | None]]],
    primary: Sequence[str] = (),
) -> str:
    """What the page says of scores, metric -> system -> a score for each question; "" where it says nothing."""
    rows = [
        row(f"{system}-{i}", metric, value, system=system, question_id=f"q{i}")
        for metric, systems in scores.items()
        for system, values in systems.items()
        for i, value in enumerate(values)
    ]
    run = write_run(tmp_path / "run", [], rows, manifest())
    write_report([run], tmp_path / "two.html", primary=primary)
    match = re.search(
        r'<p class="says">(.*?)</p>', (tmp_path / "two.html").read_text("utf-8"), re.DOTALL
    )
    return html.unescape(re.sub("<[^>]+>", "", match[1])) if match else ""


SPREAD = [0.50, 0.53, 0.47, 0.55, 0.45, 0.51, 0.49, 0.52]


def plus(*more: float) -> list[float | None]:
    """The spread, with these differences in turn added."""
    return [one + more[i % len(more)] for i, one in enumerate(SPREAD)]


def test_the_page_of_two_systems_says_who_is_ahead_and_on_what_no_difference_is_shown(tmp_path):
    scores = {
        RELEVANCE: {"careful": plus(0.30, 0.33), "hasty": plus(0)},
        CORRECTNESS: {"careful": plus(0), "hasty": plus(0.3, -0.29)},
        EASE: {"careful": plus(0), "hasty": plus(0)},
        GRADE: {"careful": plus(9), "hasty": plus(0)},  # without a direction
    }
    assert said(tmp_path, scores) == (
        "careful is ahead on Question relevance. No difference is shown on Answer correctness. "
        "Equal on every question: Readability: reading ease."
    )


def test_a_primary_metric_is_tested_by_itself_and_the_others_say_that_they_are_exploratory(
    tmp_path: Path,
):
    # differences of .01 and .20 in turn: t = .105 / .0359 = 2.9 of 8 questions; the quantile is 2.36 for one metric
    # and 3.13 for three (level 1 - .05 / 3)
    scores = {
        RELEVANCE: {"a": plus(0.01, 0.2), "b": plus(0)},
        CORRECTNESS: {"a": plus(0.3, 0.33), "b": plus(0)},
        EASE: {"a": plus(0), "b": plus(0)},
    }
    assert said(tmp_path, scores).startswith(
        "a is ahead on Answer correctness. No difference is shown on Question relevance."
    )
    alone = said(tmp_path, scores, [RELEVANCE])
    assert alone.startswith(
        "a is ahead on Question relevance. Exploratory: a is ahead on Answer correctness. "
    )
    assert alone.endswith("Primary: Question relevance; every other metric is exploratory.")


def test_of_several_systems_the_first_is_held_against_the_second_at_the_level_of_all_pairs(
    tmp_path,
):
    # differences of .02 and .20 in turn: t = 3.2 of 8 questions; the quantile is 2.36 for one pair of systems and 5.11
    # for the 36 pairs of nine
    two = {RELEVANCE: {"a": plus(0.02, 0.2), "b": plus(0)}}
    assert said(tmp_path, two).startswith("a is ahead on")
    many = {RELEVANCE: {**two[RELEVANCE], **{f"c{i}": plus(-0.3, -0.2) for i in range(7)}}}
    assert (
        said(tmp_path, many) == "No lead is clear. The lead could be chance on Question relevance."
    )


def test_a_lead_that_rests_on_fewer_than_six_unlike_questions_could_be_chance(tmp_path):
    def lead(won: int) -> str:
        new: list[float | None] = [1.0] * 40
        old: list[float | None] = [float(i >= won) for i in range(40)]
        return said(tmp_path, {RELEVANCE: {"new": new, "old": old}})

    assert lead(2) == lead(5) == "No difference is shown on Question relevance."
    assert lead(6) == "new is ahead on Question relevance."


def test_a_lead_that_rests_on_unscored_answers_is_none(tmp_path):
    silent = [one if i % 2 else None for i, one in enumerate(plus(0.3, 0.33))]
    for scores in ({"silent": silent, "b": plus(0)}, {"b": plus(0), "silent": silent}):
        found = said(tmp_path, {RELEVANCE: scores})
        assert "is ahead" not in found
        assert "fewer than 6" in found, "four common questions"
    half = [*plus(0.3, 0.33), *silent]
    found = said(tmp_path, {RELEVANCE: {"a": half, "b": [*SPREAD, *SPREAD]}})
    assert found == "Depends on unscored answers: Question relevance."


def test_lower_is_better_turns_it_round_and_five_questions_decide_nothing(tmp_path):
    low = {**manifest(), "metrics": {RELEVANCE: {"bounds": [0, 1], "higher_is_better": False}}}
    rows = [
        row(f"{system}-{i}", RELEVANCE, value, system=system, question_id=f"q{i}")
        for system, values in {"more": plus(0.3, 0.33), "less": plus(0)}.items()
        for i, value in enumerate(values)
    ]
    for kept, words in (
        (rows, "less is ahead on Question relevance."),
        ([*rows[:5], *rows[8:]], "Too few common"),
    ):
        write_report([write_run(tmp_path / "run", [], kept, low)], tmp_path / "two.html")
        assert words in (tmp_path / "two.html").read_text("utf-8")


def test_one_system_is_ahead_of_nobody(tmp_path):
    sentence = said(tmp_path, {RELEVANCE: {"a": plus(0)}})
    assert sentence.startswith("None of 8 answers fail ")
    assert "ahead" not in sentence

"""The first sentence on two systems, and the sign of a change."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.analysis.compare.runs import run_of
from tests.report.runs import CORRECTNESS, GRADE, RELEVANCE
from tests.there import there

from longmark.analysis.compare import compare, document
from longmark.analysis.compare.comparison import Comparison
from longmark.analysis.compare.verdict import more_questions, verdict
from longmark.report.figures import Figure, rendered


def compared(folder: Path, scores: dict[str, dict[str, list[float]]], **options: Any) -> Comparison:
    """Systems x metrics -> scores by question."""
    return compare([run_of(folder / "run", scores)], draws=999, **options)


def shifted(shift: float, n: int = 40, copies: int = 1) -> tuple[list[float], list[float]]:
    """Scores of a new system and of an old one; copies: of each question."""
    random = np.random.default_rng(4)
    old = random.random(n) * 0.5
    new = np.clip(old + shift + random.normal(0, 0.1, n), 0, 1)
    return np.tile(new, copies).tolist(), np.tile(old, copies).tolist()


def of_metric(folder: Path, metric: str, shift: float, **options: Any) -> Comparison:
    new, old = shifted(shift)
    return compared(folder, {"old": {metric: old}, "new": {metric: new}}, **options)


def test_a_shown_difference_has_the_sign_of_the_table_and_says_what_is_subtracted(tmp_path: Path):
    comparison = of_metric(tmp_path, RELEVANCE, 0.2)
    pair = comparison.metrics[0].pairs[0]
    assert pair.first == "old", "the order of the systems"
    value, low, high = (
        there(pair.difference.value),
        there(pair.difference.low),
        there(pair.difference.high),
    )
    assert verdict(comparison) == (
        f"new is better on Question relevance (old - new: {value:+.3f} [{low:.3f}, {high:.3f}])."
    )
    table = document(comparison).sections[0].tables[0]
    assert "old - new" in [column.name for column in table.columns]


def test_a_system_that_is_better_on_one_metric_and_worse_on_another_is_named_for_both(
    tmp_path: Path,
):
    new, old = shifted(0.2)
    scores = {
        "old": {RELEVANCE: old, CORRECTNESS: new},
        "new": {RELEVANCE: new, CORRECTNESS: old},
    }
    said = verdict(compared(tmp_path, scores))
    assert "new is better on Question relevance (old - new: -0." in said
    assert "old is better on Answer correctness (+0." in said
    assert said.count("old - new") == 1, "one direction, said once"


def test_a_metric_without_a_direction_decides_only_where_no_other_is_there(tmp_path: Path):
    new, old = shifted(0.2)
    same = [0.5, 0.6] * 20
    scores = {"old": {GRADE: old, RELEVANCE: same}, "new": {GRADE: new, RELEVANCE: same[::-1]}}
    assert "grade" not in verdict(compared(tmp_path / "both", scores))
    assert verdict(of_metric(tmp_path / "alone", GRADE, 0.2)).startswith("new is higher on ")


def test_a_probable_difference_says_how_many_questions_would_show_it(tmp_path: Path):
    comparison = of_metric(tmp_path, RELEVANCE, 0.015)
    pair = comparison.metrics[0].pairs[0]
    assert 0.05 < (pair.p or 0) <= 0.2, "neither shown nor nothing"
    more = more_questions(pair)
    assert more is not None
    assert pair.better is None
    ahead = "new" if there(pair.difference.value) < 0 else "old"
    said = verdict(comparison)
    value = there(pair.difference.value)
    assert said.startswith(
        f"{ahead} is probably better on Question relevance (old - new: {value:+.3f} ["
    )
    assert f"which is not shown: about {more} more questions would show" in said


def test_with_that_many_questions_more_the_difference_that_was_seen_is_detectable(tmp_path: Path):
    """The same questions several times over have the same mean difference and spread."""
    few = of_metric(tmp_path / "few", RELEVANCE, 0.0).metrics[0].pairs[0]
    needed = 40 + (more_questions(few) or 0)
    copies = round(needed / 40)
    new, old = shifted(0.0, copies=copies)
    many = compared(tmp_path / "many", {"old": {RELEVANCE: old}, "new": {RELEVANCE: new}})
    pair = many.metrics[0].pairs[0]
    expected = there(few.difference.value) * (copies * 40 / needed) ** -0.5
    assert pair.difference.detectable == pytest.approx(abs(expected), rel=0.05)


def test_where_nothing_is_probable_it_says_how_large_a_difference_can_be(tmp_path: Path):
    random = np.random.default_rng(1)
    scores = random.random(40)
    noise = random.normal(0, 0.01, 20)
    other = np.clip(scores + np.concatenate([noise, -noise]), 0, 1)
    comparison = compared(
        tmp_path, {"old": {RELEVANCE: scores.tolist()}, "new": {RELEVANCE: other.tolist()}}
    )
    most = max(map(abs, there(comparison.metrics[0].pairs[0].difference.ends)))
    said = f"No difference is shown; any is at most {most:.3f} on Question relevance."
    assert verdict(comparison) == said


def test_three_systems_and_two_questions_have_no_verdict(tmp_path: Path):
    new, old = shifted(0.2)
    three = {"a": {RELEVANCE: old}, "b": {RELEVANCE: new}, "c": {RELEVANCE: new[::-1]}}
    assert verdict(compared(tmp_path / "three", three)) == ""
    two = {"a": {RELEVANCE: [0.1, 0.2]}, "b": {RELEVANCE: [0.3, 0.9]}}
    assert verdict(compared(tmp_path / "two", two)) == ""


def test_a_change_is_new_less_base_and_as_certain_as_the_other_way_round(tmp_path: Path):
    plain = of_metric(tmp_path / "plain", RELEVANCE, 0.03).metrics[0].pairs[0]
    change = of_metric(tmp_path / "base", RELEVANCE, 0.03, against_first=True).metrics[0].pairs[0]
    assert (change.first, change.second) == ("new", "old")
    assert change.p == plain.p
    assert change.difference.value == pytest.approx(-there(plain.difference.value))
    ends = change.difference.ends
    assert ends == pytest.approx([-there(plain.difference.high), -there(plain.difference.low)])
    assert (change.won, change.lost) == (plain.lost, plain.won)


def test_two_systems_are_drawn_on_one_axis_to_the_right_where_the_first_is_better(tmp_path: Path):
    new, old = shifted(0.2)
    times = ([10.0 * score for score in old], [10.0 * score for score in new])
    scores = {
        "new": {RELEVANCE: new, "app.seconds": times[0], GRADE: new},
        "old": {RELEVANCE: old, "app.seconds": times[1], GRADE: old},
    }
    comparison = compared(
        tmp_path, scores, lower=["app.seconds"], bounds={"app.seconds": (0.0, 10.0)}
    )
    figures = document(comparison).sections[0].figures
    (figure,) = figures
    assert figure.label == "new against old, in shares of each metric's range"
    assert "Right of the dashed line: new is better" in figure.reading
    assert (
        "Without a range or a direction, and drawn below: Readability: grade level."
        in figure.reading
    )
    relevance, seconds = (
        comparison.metric(metric).pairs[0].difference.value for metric in (RELEVANCE, "app.seconds")
    )
    assert seconds == pytest.approx(-10 * there(relevance))
    drawn = drawn_texts(figure)
    lanes = [text for text in drawn if text.startswith(f"{relevance:.3f} [")]
    assert len(lanes) == 2, "the same share of both ranges, both to the right"


def drawn_texts(figure: Figure) -> list[str]:
    (svg,) = rendered(figure, ["svg"]).values()
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg.decode())


def test_a_difference_that_only_the_number_of_metrics_hides_is_named(tmp_path: Path):
    new, old = shifted(0.03)
    random = np.random.default_rng(11)
    noise = {f"app.m{number}": random.random(40).tolist() for number in range(15)}
    others = {metric: random.permutation(values).tolist() for metric, values in noise.items()}
    scores = {"old": {RELEVANCE: old, **noise}, "new": {RELEVANCE: new, **others}}
    comparison = compared(tmp_path / "many", scores)
    pair = comparison.metric(RELEVANCE).pairs[0]
    assert there(pair.difference.p_unadjusted) <= 0.05 < there(pair.p), "the case of the test"
    note = document(comparison).sections[0].note
    assert "On Question relevance p is at most 0.05 by itself, but not over 16 comparisons" in note
    few = {system: {RELEVANCE: metrics[RELEVANCE]} for system, metrics in scores.items()}
    assert "by itself" not in document(compared(tmp_path / "few", few)).sections[0].note


def test_the_differences_stand_below_the_verdict_where_there_is_no_common_axis(tmp_path: Path):
    new, old = shifted(0.2)
    scores = {
        "new": {GRADE: new, RELEVANCE: new},
        "mid": {GRADE: old, RELEVANCE: old},
        "old": {GRADE: old[1:] + old[:1], RELEVANCE: old[1:] + old[:1]},
    }
    first, *others = document(compared(tmp_path, scores)).sections
    (figure,) = first.figures
    assert figure.label == "Question relevance: first minus second"
    differences = next(section for section in others if section.title == "Differences")
    assert [figure.label for figure in differences.figures] == ["Readability: grade level"]

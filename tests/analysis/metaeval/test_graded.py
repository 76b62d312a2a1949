"""Graded preferences: the four figures and the raters by hand, RAGChecker's layout, and what is not in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.report.runs import row

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.choices import ChoiceLabel
from longmark.analysis.metaeval.graded import ALL, MEAN_OF_RATERS, PLAIN, RATERS_MEAN, SYMMETRISED
from longmark.cli import main
from longmark.errors import UserError

EXAMPLES = Path(__file__).parents[3] / "examples"
SCORES, LABELS = EXAMPLES / "ragchecker-scores.json", EXAMPLES / "ragchecker-labels.json"


def part_of(*given: Any, **options: Any) -> ChoiceLabel:
    (part,) = metaeval(*given, **options).labels
    assert isinstance(part, ChoiceLabel)
    return part


def test_the_figures_of_the_example_by_hand():
    # differences .4 -.2 .1 0 -.5 .3; rater 1: 2 -1 1 0 -2 1; rater 2: 1 -2 1 1 -1 2. Centred at 1/60, 1/6 and 1/3:
    # squares .548333, 10.833333, 11.333333; products with the differences 2.383333 and 1.966667, of both 8.666667
    part = part_of(SCORES, LABELS, labels=["overall_label"], metrics=["ragchecker.overall_label"])
    found = {one.figure: one.pearson.value for one in part.graded}
    first, second = (
        2.383333 / (0.548333 * 10.833333) ** 0.5,
        1.966667 / (0.548333 * 11.333333) ** 0.5,
    )
    assert found["rater 1"] == pytest.approx(first, abs=1e-6)
    assert found["rater 2"] == pytest.approx(second, abs=1e-6)
    assert found[MEAN_OF_RATERS] == pytest.approx((first + second) / 2, abs=1e-6)
    # all: both centred at 1/4: 22.166667 + 12 (1/12)²; products the same, since the differences are the same
    assert found[ALL] == pytest.approx(
        4.35 / (2 * 0.548333 * (22.166667 + 12 / 144)) ** 0.5, abs=1e-6
    )
    # mean label: squares (10.833333 + 11.333333 + 2 x 8.666667) / 4 = 9.875
    assert found[RATERS_MEAN] == pytest.approx(4.35 / 2 / (0.548333 * 9.875) ** 0.5, abs=1e-6)
    raters = {one.figure: one.pearson.value for one in part.graded_raters}
    assert raters[PLAIN] == pytest.approx(8.666667 / (10.833333 * 11.333333) ** 0.5, abs=1e-6)
    # symmetrised: both columns hold all labels, with mean 1/4
    assert raters[SYMMETRISED] == pytest.approx(
        (2 * 8.666667 - 12 / 144) / (22.166667 + 12 / 144), abs=1e-6
    )


def test_the_layout_is_read_as_pairs_of_systems():
    every = metaeval(SCORES, LABELS)
    assert [part.label for part in every.labels] == [
        "correctness_label",
        "completeness_label",
        "overall_label",
    ]
    assert list(every.metrics) == ["ragchecker.overall_label", "ragchecker.completeness_label"]
    assert every.joined == 6


def test_the_command_prints_the_figures(capsys: pytest.CaptureFixture[str]):
    assert (
        main(["metaeval", str(SCORES), str(LABELS), "--label", "overall_label", "--verbose"]) == 0
    )
    printed = capsys.readouterr().out
    for figure in (ALL, "rater 1", "rater 2", MEAN_OF_RATERS, RATERS_MEAN, PLAIN, SYMMETRISED):
        assert f"  {figure} " in printed


def test_a_pair_shown_in_both_orders_and_a_metric_where_lower_is_better_keep_the_sign():
    random = np.random.default_rng(1)
    d = random.normal(size=20)
    rows = [
        row(f"{system}{q}", "m", value, question_id=f"q{q}", system=system)
        for q in range(20)
        for system, value in (("x", 0.0), ("y", float(d[q])))
    ]
    same = [{"question_id": f"q{q}", "a": "x", "b": "y", "choice": float(d[q])} for q in range(20)]
    turned = [
        {"question_id": f"q{q}", "a": "y", "b": "x", "choice": -float(d[q])} for q in range(20)
    ]
    for human in (same, turned, same[:10] + turned[10:]):
        (one,) = part_of(rows, human).graded
        assert one.pearson.value == pytest.approx(1)
    (lower,) = part_of(rows, same, lower=["m"]).graded
    assert lower.pearson.value == pytest.approx(-1)


def test_choices_in_words_have_no_grades():
    rows = [
        row(f"{s}{q}", "m", 0.1 * q, question_id=f"q{q}", system=s) for q in range(5) for s in "xy"
    ]
    assert (
        part_of(
            rows, [{"question_id": f"q{q}", "a": "x", "b": "y", "choice": "a"} for q in range(5)]
        ).graded
        == ()
    )


def test_intervals_are_over_questions():
    random = np.random.default_rng(2)
    d = random.normal(size=40)
    rows, human = [], []
    for i, value in enumerate(d):
        for system, score in (("x", 0.0), ("y", float(value))):
            rows.append(row(f"{i}/{system}", "m", score, question_id=f"q{i // 2}", system=system))
        human += [
            {
                "question_id": f"q{i // 2}",
                "a": f"{i}/x",
                "b": f"{i}/y",
                "rater": r,
                "choice": float(value + noise),
            }
            for r, noise in zip(("ann", "bo"), random.normal(size=2), strict=True)
        ]
    for one in part_of(rows, human).graded:
        assert one.pearson.clusters == 20
        assert one.pearson.low is not None
        assert one.pearson.value is not None
        assert one.pearson.low < one.pearson.value < (one.pearson.high or 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda record: record.pop("query_id"), r"record 1: no query_id, which every pair"),
        (lambda record: record["model2"].pop("model_name"), "record 1: model2 has no model_name"),
        (
            lambda record: (
                record["model1"].pop("ragchecker") and record["model2"].pop("ragchecker")
            ),
            "no pair has scores",
        ),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, change: Any, message: str):
    records = json.loads(SCORES.read_bytes())[:1]
    change(records[0])
    (tmp_path / "scores.json").write_text(json.dumps(records))
    with pytest.raises(UserError, match=message):
        metaeval(tmp_path / "scores.json", LABELS)


def test_files_in_the_wrong_order_are_named():
    with pytest.raises(UserError, match=r"no pair has a label .* the file of labels comes last"):
        metaeval(LABELS, SCORES)


def test_a_score_that_is_no_number_is_unscored(tmp_path: Path):
    text = SCORES.read_text().replace('"overall_label": 0.3', '"overall_label": NaN', 1)
    (tmp_path / "scores.json").write_text(text)
    part = part_of(
        tmp_path / "scores.json",
        LABELS,
        labels=["overall_label"],
        metrics=["ragchecker.overall_label"],
    )
    assert part.graded[0].pearson.missing == 2  # two labels of one pair

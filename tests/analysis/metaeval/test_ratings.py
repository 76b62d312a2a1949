"""Ratings against metrics: direction, scales, classes, groups, questions, means for all; by hand and by SciPy."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from tests.report.drawn import drawn
from tests.report.runs import manifest, row, write_run

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.ratings import ClassErrors, RatingLabel
from longmark.analysis.metaeval.results import on_scale
from longmark.analysis.metaeval.sections import sections
from longmark.errors import UnknownName, UserError
from longmark.records import Row
from longmark.scores.manifest import MetricFacts


def rows_of(metric: str, values: list[float | None], **more: Any) -> list[Row]:
    return [row(f"e{i}", metric, value, **more) for i, value in enumerate(values)]


def human(values: list[Any], **more: Any) -> list[dict[str, Any]]:
    return [{"example_id": f"e{i}", "value": value, **more} for i, value in enumerate(values)]


def run_of(folder: Path, rows: list[Row], facts: dict[str, dict[str, Any]]) -> Path:
    return write_run(folder, [], rows, {**manifest(), "metrics": facts})


def label(found: Any, place: int = 0) -> RatingLabel:
    part = found.labels[place]
    assert isinstance(part, RatingLabel)
    return part


def rhos(part: RatingLabel) -> list[float | None]:
    return [each.spearman.value for each in part.metrics if each.spearman is not None]


def classes_of(part: RatingLabel) -> ClassErrors:
    (found,) = [each.classes for each in part.metrics]
    assert found is not None
    return found


def test_correlation_is_with_the_mean_of_people_and_turned_where_lower_is_better(tmp_path: Path):
    chance = random.Random(2)
    truth = [chance.random() for _ in range(30)]
    good: list[float | None] = [t + chance.gauss(0, 0.2) for t in truth]
    bad: list[float | None] = [-t + chance.gauss(0, 0.4) for t in truth]
    good[3] = None
    said = [
        {"example_id": f"e{i}", "value": round(5 * t + chance.gauss(0, 1)), "rater": rater}
        for i, t in enumerate(truth)
        for rater in ("x", "y")
    ]
    run = run_of(
        tmp_path / "run",
        rows_of("good", good) + rows_of("bad", bad),
        {"good": {"higher_is_better": True}, "bad": {"higher_is_better": False}},
    )
    part = label(metaeval(run, said))
    means = [(said[2 * i]["value"] + said[2 * i + 1]["value"]) / 2 for i in range(30)]  # type: ignore[operator]
    first, second = part.metrics
    kept = [i for i in range(30) if i != 3]
    for kind, oracle in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        expected = oracle([good[i] for i in kept], [means[i] for i in kept]).statistic
        assert getattr(first, kind).value == pytest.approx(expected)
        assert getattr(second, kind).value == pytest.approx(-oracle(bad, means).statistic)
    assert first.pearson is not None
    assert (first.pearson.n, first.pearson.missing) == (29, 1)
    assert [each.direction for each in part.metrics] == ["higher is better", "lower is better"]
    (difference,) = part.differences
    assert difference.result.n == 29
    assert difference.result.value is not None
    assert difference.result.value >= 0
    assert difference.adjusted == difference.result.p


def test_lower_can_be_said_where_no_run_says_it():
    rows = rows_of("rate", [0.9, 0.5, 0.4, 0.3, 0.2, 0.1])
    said = human([1, 2, 3, 4, 5, 6])
    assert [
        rhos(label(metaeval(rows, said))),
        rhos(label(metaeval(rows, said, lower=["rate"]))),
    ] == [[-1], [1]]


def test_classes_by_hand():
    # wrong at .0 and .6 (error 0, .6: mean .3; nearest wrong, partly); partly at .4 (error .1, nearest partly);
    # right at .9 and .7 (errors .1, .3: mean .2; nearest right, and .7 is .2 from partly and .3 from right: partly).
    # All: (0 + .6 + .1 + .1 + .3) / 5 = .22; nearest is right in 3 of 5. AUC of partly or better: .4, .9, .7 above .0
    # (3) and above .6 (2): 5 of 6; of right: .9 and .7 above all three others: 1.
    rows = rows_of("m", [0.0, 0.6, 0.4, 0.9, 0.7])
    said = human(["wrong", "wrong", "partly", "right", "right"])
    part = label(metaeval(rows, said, order={"rating": ["wrong", "partly", "right"]}))
    each = classes_of(part)
    assert [each.error, each.right] == [pytest.approx(0.22), pytest.approx(0.6)]
    assert [c.name for c in each.classes] == ["wrong", "partly", "right"]
    assert [c.error for c in each.classes] == [
        pytest.approx(0.3),
        pytest.approx(0.1),
        pytest.approx(0.2),
    ]
    assert [c.nearest for c in each.classes] == [(1, 1, 0), (0, 1, 0), (0, 1, 1)]
    assert [c.auc for c in each.classes] == [None, pytest.approx(5 / 6), pytest.approx(1)]
    assert [c.mean.value for c in each.classes] == [
        pytest.approx(0.3),
        pytest.approx(0.4),
        pytest.approx(0.8),
    ]


def test_categories_without_an_order_have_means_and_no_error():
    rows = rows_of("m", [0.0, 0.6, 0.4, 0.9])
    found = metaeval(rows, human(["x", "x", "y", "y"]))
    part = label(found)
    (summary,) = sections(found)[0].tables
    why = (
        "no correlation: the classes (x, y) have no order, so there is no AUC either; give it with "
    )
    why += "--order rating=LOWEST,…,HIGHEST"
    assert [(line[0], line[2].n, line[-1]) for line in summary.rows] == [("m", 4, why)]
    assert (rhos(part), part.differences, part.powered) == ([], (), ())
    each = classes_of(part)
    assert (each.error, each.reason) == (None, "the classes are not numbers")
    # y above x: .4 above .0 and below .6, .9 above both: 3 of 4; x above y: the rest.
    assert [c.auc for c in each.classes] == [0.25, 0.75]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 4 / 3, 1.5, 5 / 3], "1, 1.33, 1.5, 1.67"),
        ([1, 1.3331, 1.3332], "1, 1.3331, 1.3332"),
        ([0, 0.0004, 1], "0, 0.0004, 1"),
        ([-0.001, 1], "-0.001, 1"),
    ],
)
def test_classes_are_shown_with_no_more_decimals_than_tell_them_apart(
    values: list[float], expected: str
):
    found = metaeval(rows_of("m", [0.1 * i for i in range(len(values))]), human(values))
    (section,) = [one for one in sections(found) if one.title == "Error by class"]
    names = expected.split(", ")
    assert [line[1] for line in section.tables[0].rows] == names
    assert classes_of(label(found)).classes[1].name == repr(values[1]).removesuffix(
        ".0"
    )  # the full one stays the key


def test_classes_that_are_shown_short_count_the_nearest(tmp_path: Path):
    run = run_of(
        tmp_path / "run",
        rows_of("m", [1.0, 1.4, 2.0]),
        {"m": {"bounds": [1, 2], "higher_is_better": True}},
    )
    found = metaeval(run, human([1, 4 / 3, 2]))
    (section,) = [one for one in sections(found) if one.title == "Error by class"]
    confusion = section.tables[2]
    assert [column.name for column in confusion.columns][2:] == ["1", "1.33", "2"]
    assert [line[1:] for line in confusion.rows] == [
        ("1", 1, 0, 0),
        ("1.33", 0, 1, 0),
        ("2", 0, 0, 1),
    ]
    shown = drawn(section.figures)
    assert ">1.33<" in shown
    assert ">1.333" not in shown


def test_a_class_is_that_of_the_majority():
    said = [
        {"example_id": example, "value": value, "rater": str(rater)}
        for example, values in {"e0": ["x", "x", "y"], "e1": ["x", "y"], "e2": ["y"]}.items()
        for rater, value in enumerate(values)
    ]
    part = label(metaeval(rows_of("m", [0.1, 0.2, 0.3]), said))
    assert part.undecided == 1
    assert [(c.name, c.n) for c in classes_of(part).classes] == [("x", 1), ("y", 1)]


@pytest.mark.parametrize(
    ("facts", "values", "ends", "expected"),
    [
        (MetricFacts(0, 1, True), [0.25], (0, 1), [0.25]),
        (MetricFacts(0, 1, False), [0.25], (0, 1), [0.75]),
        (MetricFacts(0, 100, True), [25], (0, 1), None),
        (MetricFacts(1, 5, False), [2], (1, 4), [4]),
        (MetricFacts(None, None, None), [0.5], (0, 1), [0.5]),
        (MetricFacts(None, None, None), [1.5], (0, 1), None),
        (MetricFacts(0, 1, True), [0.5], (1, 5), None),
        (MetricFacts(0, 1, True), [np.nan], (0, 1), None),
    ],
)
def test_what_is_on_a_labels_scale(
    facts: MetricFacts, values: list[float], ends: Any, expected: list[float] | None
):
    found = on_scale(np.array(values, dtype=float), facts, *ends)
    assert found is None if expected is None else list(found) == expected  # type: ignore[arg-type]


def test_groups_and_their_order():
    rows = rows_of("m", [1, 2, 3, 3, 2, 1])
    said = [
        {**line, "mode": "up" if i < 3 else "down"}
        for i, line in enumerate(human([1, 2, 4, 1, 2, 4]))
    ]
    part = label(metaeval(rows, said))
    assert [(g.column, g.group, g.estimate.value) for g in part.groups] == [
        ("mode", "down", -1),
        ("mode", "up", 1),
    ]
    assert (
        label(metaeval(rows, [{**line, "field": "f"} for line in said], by=["field"]))
        .groups[0]
        .group
        == "f"
    )


def test_within_questions_and_over_systems_by_hand():
    # Two questions, three systems. Question 1: people 1 2 3, metric 11 12 13: rho 1. Question 2: people 4 5 6, metric 3
    # 2 1: rho -1. Within: mean 0. Over systems: people 2.5 3.5 4.5, metric 7 7 7: constant, so none.
    people = {1: [1, 2, 3], 2: [4, 5, 6]}
    metric = {1: [11.0, 12.0, 13.0], 2: [3.0, 2.0, 1.0]}
    rows = [
        row(f"{q}{s}", "m", metric[q][i], question_id=f"q{q}", system=s)
        for q in (1, 2)
        for i, s in enumerate("xyz")
    ]
    said = [
        {"example_id": f"{q}{s}", "value": people[q][i]}
        for q in (1, 2)
        for i, s in enumerate("xyz")
    ]
    (found,) = label(metaeval(rows, said)).metrics
    assert found.within is not None
    assert found.systems is not None
    assert (found.within.value, found.within.n, found.within.missing) == (0, 2, 0)
    assert (found.systems.value, found.systems.n) == (None, 3)
    assert found.systems.reason == "all values of a column are equal"


def test_several_answers_of_a_system_to_a_question_count_as_their_mean():
    chance = np.random.default_rng(6)
    scores, ratings = chance.random((8, 3, 2)), chance.integers(1, 6, (8, 3, 2)).astype(float)
    several = [
        row(f"{q}{s}{k}", "m", float(scores[q, i, k]), question_id=f"q{q}", system=s)
        for q in range(8)
        for i, s in enumerate("xyz")
        for k in range(2)
    ]
    given = [
        {"example_id": f"{q}{s}{k}", "value": float(ratings[q, i, k])}
        for q in range(8)
        for i, s in enumerate("xyz")
        for k in range(2)
    ]
    averaged = [
        row(f"{q}{s}", "m", float(scores[q, i].mean()), question_id=f"q{q}", system=s)
        for q in range(8)
        for i, s in enumerate("xyz")
    ]
    mean_ratings = [
        {"example_id": f"{q}{s}", "value": float(ratings[q, i].mean())}
        for q in range(8)
        for i, s in enumerate("xyz")
    ]
    ((two,), (one,)) = (
        label(metaeval(*each)).metrics for each in ((several, given), (averaged, mean_ratings))
    )
    assert two.soft is not None
    assert one.soft is not None
    assert two.soft.value == pytest.approx(one.soft.value, abs=1e-12)
    # an answer without a score is in neither mean: the pair of means is of the same answers
    silent = [
        replace(line, score=None, status="unparsable", reason="no score")
        if line.example_id == "0x1"
        else line
        for line in several
    ]
    (gone,) = label(metaeval(silent, given)).metrics
    kept = [line for line in given if line["example_id"] != "0x1"]
    (left,) = label(metaeval(silent, kept)).metrics
    assert gone.soft is not None
    assert left.soft is not None
    assert gone.soft.value == left.soft.value


def test_soft_pairwise_accuracy_of_equal_scores_is_the_same_whichever_system_comes_first():
    def soft(order: str) -> float | None:
        rows = [
            row(f"{q}{s}", "m", 5.0, question_id=f"q{q}", system=s)
            for q in range(30)
            for s in order
        ]
        said = [
            {"example_id": f"{q}{s}", "value": {"x": 5, "y": 4, "z": 3}[s] - (q + len(s)) % 2}
            for q in range(30)
            for s in order
        ]
        (found,) = label(metaeval(rows, said)).metrics
        assert found.soft is not None
        return found.soft.value

    assert soft("xyz") == soft("zyx") == pytest.approx(0.5, abs=0.001)


def test_the_mean_over_all_answers_is_that_of_the_statistics():
    from longmark.stats.ppi import ppi_mean

    chance = random.Random(4)
    values: list[float | None] = [chance.random() for _ in range(60)]
    labels = [float(chance.random() < v) for v in values[:20] if v is not None]
    (found,) = label(metaeval(rows_of("m", values), human(labels))).powered
    expected = ppi_mean([*labels, *[None] * 40], values)
    assert (found.system, found.mean) == ("all", expected)
    assert found.mean.low is not None


def test_a_constant_metric_and_few_answers_have_reasons_and_no_figures():
    part = label(metaeval(rows_of("m", [0.5] * 8) + rows_of("k", [None] * 8), human([1, 0] * 4)))
    reasons = [each.spearman.reason for each in part.metrics if each.spearman is not None]
    assert reasons == [
        "all values of a column are equal",
        "a correlation needs at least 3 pairs; found 0",
    ]
    assert part.metrics[1].calibration is not None
    assert part.metrics[1].calibration.reason == "the metric is not on the scale from 0 to 1"
    assert [m.unscored for m in part.metrics] == [{}, {"unparsable": 8}]
    one = label(metaeval(rows_of("m", [0.5]), human([1])))
    assert rhos(one) == [None]


def test_arguments_out_of_range():
    rows, said = rows_of("m", [0.5]), human([1])
    with pytest.raises(UserError, match=r"alpha=1.5: expected a number between 0 and 1"):
        metaeval(rows, said, alpha=1.5)
    with pytest.raises(UserError, match="0 to 12 decimals"):
        metaeval(rows, said, round=99)
    with pytest.raises(UnknownName, match="unknown label in order=: x"):
        metaeval(rows, said, order={"x": ["a", "b"]})
    with pytest.raises(
        UnknownName, match=r"unknown option of metaeval: ordre\. Did you mean order"
    ):
        metaeval(rows, said, ordre={})


def test_the_same_seed_gives_the_same_result():
    chance = random.Random(9)
    rows = rows_of("m", [chance.random() for _ in range(40)])
    said = [
        line for r in "xyz" for line in human([chance.randint(1, 4) for _ in range(40)], rater=r)
    ]
    assert metaeval(rows, said, seed=3) == metaeval(rows, said, seed=3)

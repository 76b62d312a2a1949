"""`longmark power`: the required sample size, the smallest detectable difference, and how certain a pilot makes them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.analysis.compare.runs import run_of
from tests.there import there

from longmark.analysis.metrics_study import metrics_study
from longmark.analysis.power import PairPower, PowerOptions, PowerPlan, comparison, document, power
from longmark.cli import main
from longmark.errors import UnknownName, UserError
from longmark.stats.power import (
    detectable,
    inflation,
    questions_needed,
    standard_errors_apart,
    variance_per_question,
)


def test_the_needed_questions_have_the_power_and_one_less_has_not():
    # a published case: d_z = .5, two-sided .05, power .8 takes 34 pairs (G*Power, t test of dependent means)
    assert questions_needed(1.0, 0.5) == 34
    for n, enough in ((34, True), (33, False)):
        critical = stats.t.ppf(0.975, n - 1)
        assert (stats.nct.sf(critical, n - 1, 0.5 * math.sqrt(n)) >= 0.8) is np.True_ or not enough
        assert (detectable(1.0, n) <= 0.5) is enough
    assert questions_needed(1e12, 1e-3) is None


@pytest.mark.parametrize(
    ("n", "alpha", "wanted"), [(8, 0.05, 0.8), (60, 0.01, 0.9), (500, 0.001, 0.5)]
)
def test_the_noncentrality_has_the_wanted_power(n: int, alpha: float, wanted: float):
    critical = float(stats.t.ppf(1 - alpha / 2, n - 1))
    apart = standard_errors_apart(n, critical, wanted)
    assert stats.nct.sf(critical, n - 1, apart) == pytest.approx(wanted, abs=1e-6)


def test_a_critical_value_far_out_has_its_noncentrality_by_hand():
    # two degrees of freedom: χ² is twice an exponential, whose quantile at .8 is ln 5, and t beyond alpha / 2 is
    # (1 - alpha) / sqrt(2 p (1 - p)) with p = alpha / 2 (Student's distribution in closed form)
    alpha = 1e-12
    critical = (1 - alpha) / math.sqrt(2 * (alpha / 2) * (1 - alpha / 2))
    apart = critical * math.sqrt(math.log(5))
    assert standard_errors_apart(3, critical, 0.8) == pytest.approx(apart)
    # 1 - alpha / 2 keeps four digits of alpha
    assert detectable(1.0, 3, alpha=alpha) == pytest.approx(apart / math.sqrt(3), rel=1e-4)


def test_the_noncentrality_far_out_goes_on_from_the_exact_one():
    for clusters in (3, 5, 11):
        before = standard_errors_apart(clusters, 500.0, 0.8) / 500.0
        assert standard_errors_apart(clusters, 500.1, 0.8) / 500.1 == pytest.approx(
            before, rel=3e-5
        )


def test_the_questions_for_a_confidence_of_many_nines_are_counted():
    needed = there(questions_needed(1.0, 0.5, alpha=1e-11))
    assert detectable(1.0, needed, alpha=1e-11) <= 0.5 < detectable(1.0, needed - 1, alpha=1e-11)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 1e-13}, "alpha: expected a probability of 1e-12 or more, below 1; found 1e-13"),
        ({"alpha": 0.0}, "alpha: expected a probability"),
        ({"alpha": 1.0}, "alpha: expected a probability"),
        ({"alpha": math.nan}, "alpha: expected a probability"),
        ({"wanted": 1.0}, "power: expected a probability above 0 and below 1; found 1"),
    ],
)
def test_an_error_or_a_power_that_cannot_be_computed_is_refused(
    options: dict[str, float], message: str
):
    with pytest.raises(UserError, match=message):
        questions_needed(1.0, 0.5, **options)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=message):
        detectable(1.0, 20, **options)


def test_the_variance_of_a_question_by_hand():
    # mean 0, squares 1 + 1 + 4 + 4 + 0 + 0 + 1 + 1 = 12, divisor 7
    found = variance_per_question([1, -1, 2, -2, 0, 0, 1, -1, None])
    assert found.value == pytest.approx(12 / 7)
    assert (found.n, found.missing) == (8, 1)
    assert there(found.low) < 12 / 7 < there(found.high)
    # leaving x out: (12 - x² - x²/7) / 6; the pseudo-values' mean and Student's t, on the log scale
    left_out = np.array([(12 - x * x * 8 / 7) / 6 for x in (1, 1, 2, 2, 0, 0, 1, 1)])
    pseudo = 8 * math.log(12 / 7) - 7 * np.log(left_out)
    half = stats.t.ppf(0.975, 7) * pseudo.std(ddof=1) / math.sqrt(8)
    assert there(found.ends) == pytest.approx(
        (math.exp(pseudo.mean() - half), math.exp(pseudo.mean() + half))
    )


def test_rows_repeated_under_one_cluster_change_nothing():
    differences = np.random.default_rng(4).normal(size=20)
    once = variance_per_question(differences)
    four = variance_per_question(
        np.repeat(differences, 4), clusters=np.repeat(np.arange(20), 4).tolist()
    )
    # four rows in place of one: the mean is as sure, from four times as many rows
    assert there(four.value) == pytest.approx(4 * there(once.value))
    assert there(four.ends) == pytest.approx([4 * end for end in there(once.ends)])
    assert questions_needed(there(four.value), 0.5, per_cluster=4) == pytest.approx(
        4 * there(questions_needed(there(once.value), 0.5)), abs=4
    )


@pytest.mark.parametrize(
    ("differences", "reason"),
    [
        ([0.1, 0.2], "at least 3 questions; found 2"),
        ([0.1] * 9, "all differences of the pilot are equal"),
        ([0.1, 0.2, 0.4], "an interval needs at least 8 questions"),
        ([0.0] * 9 + [1.0], "only one of the differences is unlike the others"),
    ],
)
def test_a_pilot_that_says_nothing_gives_the_reason(differences: list[float], reason: str):
    found = variance_per_question(differences)
    assert found.low is None
    assert reason in there(found.reason)


@pytest.fixture
def pilot(tmp_path: Path) -> Path:
    random = np.random.default_rng(3)
    base = random.uniform(0.3, 0.6, 60)
    values = {
        name: {"m": (base + shift + random.normal(0, 0.1, 60)).tolist()}
        for name, shift in {"a": 0.0, "b": 0.02, "c": 0.3}.items()
    }
    return run_of(tmp_path / "pilot", values)


def planned(pilot: Path, **options: object) -> PowerPlan:
    return power([pilot], PowerOptions(**options))  # type: ignore[arg-type]


def test_needed_and_detectable_are_inverse(pilot: Path):
    (one,) = planned(pilot, systems=["a", "b"], effect=0.05).comparisons
    needed = there(one.needed)
    assert (one.first, one.second, one.variance.n) == ("a", "b", 60)
    assert there(needed.low) < there(needed.value) < there(needed.high)
    (same,) = planned(pilot, systems=["a", "b"], questions=int(there(needed.value))).comparisons
    assert there(same.detectable.value) == pytest.approx(0.05, rel=0.02)
    assert same.needed is None


def test_alpha_is_shared_by_the_comparisons(pilot: Path):
    every = planned(pilot, effect=0.05)
    assert len(every.comparisons) == 3
    assert every.alpha == pytest.approx(0.05 / 3)
    alone = planned(pilot, effect=0.05, systems=["a", "b"], alpha=0.05 / 3)
    assert there(every.comparisons[0].needed).value == there(alone.comparisons[0].needed).value
    needed = [there(there(one.needed).value) for one in every.comparisons]
    assert there(there(every.most).needed).value == max(needed)


def test_the_verb_answers_in_a_sentence_and_writes_json(
    pilot: Path, capsys: pytest.CaptureFixture[str]
):
    out = pilot.parent / "plan"
    assert (
        main(["power", str(pilot), "--effect", "0.05", "--systems", "a,b", "--out", str(out)]) == 0
    )
    printed = capsys.readouterr().out
    assert "A difference of 0.05 needs " in printed
    assert "questions with power 0.8 (alpha 0.05, 1 comparison, assurance 0.8)." in printed
    (line,) = json.loads((out / "tables" / "power.json").read_bytes())["rows"]
    assert line["needed_low"] < line["needed"] < line["needed_high"]
    assert (out / "report.html").exists()
    assert main(["power", str(pilot), "--systems", "a,b"]) == 0
    assert "60 questions can detect a difference of 0.0" in capsys.readouterr().out


def test_clusters_need_more_questions(tmp_path: Path):
    random = np.random.default_rng(7)
    shared = np.repeat(
        random.normal(0, 0.1, 20), 4
    )  # of a document, in the difference of the systems
    rows = [
        {
            "example_id": f"{s}{q}",
            "question_id": f"q{q}",
            "system": s,
            "metric": "m",
            "score": score,
            "document": f"d{q // 4}",
        }
        for q in range(80)
        for s, score in (("a", 0.5), ("b", 0.5 + float(shared[q] + random.normal(0, 0.05))))
    ]
    path = tmp_path / "pilot.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    (alone,) = power([path], PowerOptions(effect=0.02)).comparisons
    (together,) = power([path], PowerOptions(effect=0.02, cluster="document")).comparisons
    assert (together.variance.clusters, together.per_cluster) == (20, 4.0)
    assert there(there(together.needed).value) > 2 * there(there(alone.needed).value)
    said = document(power([path], PowerOptions(effect=0.02, cluster="document"))).sections[0].says
    assert "(alpha 0.05, 1 comparison, assurance 0.8, clusters by document)" in said


def test_a_pilot_without_spread_has_no_answer(tmp_path: Path):
    run = run_of(tmp_path / "run", {"a": {"m": [0.5] * 9}, "b": {"m": [0.5] * 9}})
    says = document(power([run], PowerOptions(effect=0.1))).sections[0].says
    assert says == "No answer: all differences of the pilot are equal, so their spread is unknown."


def test_scores_beyond_what_can_be_averaged_are_named(tmp_path: Path):
    rows = [f"{s}{i},q{i},{s},rel,{'-' * (i % 2)}1e308" for i in range(9) for s in "xy"]
    path = tmp_path / "huge.csv"
    path.write_text("\n".join(["example_id,question_id,system,metric,score", *rows]) + "\n")
    for plan in (lambda: power([path], PowerOptions(effect=0.1)), lambda: metrics_study([path])):
        with pytest.raises(UserError, match=r"rel: it has scores beyond 1e\+100"):
            plan()


def test_mistakes_are_named(pilot: Path):
    with pytest.raises(
        UserError, match="effect=-1: expected the difference to detect, a number above 0"
    ):
        PowerOptions(effect=-1)
    with pytest.raises(UserError, match=r"power=0.01: expected more than alpha"):
        PowerOptions(power=0.01)
    with pytest.raises(UnknownName, match="unknown system: d"):
        planned(pilot, systems=["a", "d"])
    with pytest.raises(UserError, match="compares two systems or more; the pilot has a"):
        planned(pilot, systems=["a"])


def plan_of(
    differences: list[float], clusters: list[int] | None = None, **options: float
) -> PairPower:
    how = PowerOptions(effect=0.25, **options)  # type: ignore[arg-type]
    return comparison("m", ("a", "b"), np.array(differences), clusters, 0.05, how)


def test_plans_reach_their_power_for_most_pilots():
    # 128 questions show a quarter of a standard deviation. Of plans for the pilot's own variance half ask for fewer; of
    # those with assurance .8 a fifth (of 200: 40, 99.9 % binomial: 23 to 60).
    chance = np.random.default_rng(7)
    short = [0, 0]
    for _ in range(200):
        found = variance_per_question(chance.normal(size=20), level=0.6)
        for i, variance in enumerate((there(found.value), there(found.high))):
            short[i] += there(questions_needed(variance, 0.25)) < 128
    assert short[0] >= 80
    assert 23 <= short[1] <= 60
    pilot = chance.normal(size=20).tolist()
    bare, sure = (
        there(there(plan_of(pilot, assurance=share).needed).value) for share in (0.5, 0.8)
    )
    upper = there(questions_needed(there(variance_per_question(pilot, level=0.6).high), 0.25))
    assert bare < upper <= sure


def test_skewness_costs_questions_and_normal_differences_none():
    chance = np.random.default_rng(8)
    assert inflation(chance.normal(size=300), 34, 0.5) < 1.15
    assert inflation(chance.exponential(1, 300) - 1, 34, 0.5) > 1.2


def test_unequal_clusters_need_more_questions_and_few_effective_ones_give_no_plan():
    chance = np.random.default_rng(9)
    values, sizes = chance.normal(size=40), np.array([1, 2, 4, 9] * 10)
    unequal = plan_of(np.repeat(values, sizes).tolist(), np.repeat(np.arange(40), sizes).tolist())
    equal = plan_of(np.repeat(values, 4).tolist(), np.repeat(np.arange(40), 4).tolist())
    assert there(there(unequal.needed).value) > there(there(equal.needed).value)
    big = plan_of(chance.normal(size=60).tolist(), [0] * 30 + list(range(1, 31)))
    assert there(big.needed).value is None
    assert big.reason == "2.1 effective clusters are too few for a decision"


def test_an_assurance_that_the_pilot_cannot_give_says_so():
    few = plan_of([0.1, 0.3, -0.2, 0.4, 0.0])
    assert (there(few.needed).value, few.reason) == (
        None,
        "no assurance: an interval needs at least 8 questions",
    )
    assert there(plan_of([0.1, 0.3, -0.2, 0.4, 0.0], assurance=0.5).needed).value
    with pytest.raises(UserError, match="assurance"):
        PowerOptions(assurance=0.4)


def test_no_plan_is_below_what_a_test_needs():
    """With n questions the least p is 2 / 2^n: 6 are needed at .05, 9 at .005, whatever the spread."""
    close = np.array([0.1 + 0.001 * (i % 5) for i in range(12)])
    for alpha, least in ((0.05, 6), (0.005, 9)):
        how = PowerOptions(effect=0.05, alpha=alpha, questions=least - 1)
        one = comparison("m", ("a", "b"), close, None, alpha, how)
        assert (there(one.needed).value, one.detectable.value) == (least, None)
        assert there(one.reason).endswith(
            f"with {least - 1} questions; at least {least} are needed"
        )


def test_a_plan_for_skewed_differences_is_written(tmp_path: Path):
    values = np.random.default_rng(8).exponential(1, 60) - 1
    pilot = run_of(tmp_path / "pilot", {"a": {"m": values.tolist()}, "b": {"m": [0.0] * 60}})
    out = tmp_path / "plan"
    assert (
        main(["power", str(pilot), "--effect", "0.4", "--assurance", "0.5", "--out", str(out)]) == 0
    )
    (line,) = json.loads((out / "tables" / "power.json").read_bytes())["rows"]
    assert line["more"] > 1

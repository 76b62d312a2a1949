"""`longmark check` and `longmark.check`: outcomes with figures worked by hand, several assertions as a family, what would
decide one, odd rows, exit codes and files."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.program import in_process

import longmark
from longmark.assertions.check import CheckResult, check
from longmark.errors import UserError
from longmark.stats.gate import BoundedScores

needs_stats = pytest.importorskip("scipy")
UNIT = {"bounds": {"m": (0.0, 1.0)}, "higher": ["m"]}
FIELDS = ("example_id", "question_id", "system", "metric", "score", "status", "reason", "lang")


def scored(path: Path, scores: Mapping[str, Sequence[float | None]], **columns: Any) -> Path:
    """A file of rows: the scores of each system on questions q0, q1, …; None for a refused one."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(FIELDS)
        for system, values in scores.items():
            for place, value in enumerate(values):
                row = {
                    "example_id": f"{system}{place}",
                    "question_id": f"q{place}",
                    "system": system,
                    "metric": "m",
                    "score": "" if value is None else value,
                    "status": "ok" if value is not None else "refused",
                    "reason": "" if value is not None else "no",
                    "lang": "de" if place % 2 else "en",
                } | {name: make(place) for name, make in columns.items()}
                writer.writerow([row[name] for name in FIELDS])
    return path


def outcomes(result: CheckResult) -> list[str]:
    return [one.outcome for one in result.results]


def test_a_mean_is_met_not_met_or_undecided_by_both_of_its_bounds(tmp_path: Path) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [1.0] * 10})
    result = check(rows, ["m mean >= .69", "m mean >= .7", "m mean <= .69", "m mean <= .7"], **UNIT)
    assert outcomes(result) == ["met", "undecided", "not met", "undecided"]
    for one in result.results:
        assert one.estimate is not None
        assert one.estimate.low == pytest.approx(0.025 ** (1 / 10), abs=2e-6)
        assert (one.estimate.value, one.estimate.high, one.scored, one.rows) == (1, 1, 10, 10)
    short = result.results[1]  # .025^(1/n) reaches .7 from 11 on: .7151, .6915 with 10
    assert (short.more, short.decides) == (
        1,
        "at least 1 more answer, and more unless all are perfect",
    )


@given(
    st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0]), min_size=1, max_size=12),
    st.sampled_from([0.1, 0.25, 0.5, 0.75]),
)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_outcome_of_a_mean_is_that_of_its_bounds(
    tmp_path: Path, scores: list[float], limit: float
) -> None:
    bounds = BoundedScores(0, 1)
    for score in scores:
        bounds.add(score)
    expected = "undecided"
    if bounds.lower() >= limit:
        expected = "met"
    elif bounds.upper() < limit:
        expected = "not met"
    rows = scored(tmp_path / "r.csv", {"a": scores})
    assert outcomes(check(rows, f"m mean >= {limit}", **UNIT)) == [expected]


def test_a_confidence_moves_the_bound(tmp_path: Path) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [1.0] * 10})
    texts = ["m mean >= .63 with 99 % confidence", "m mean >= .64 with 99 % confidence"]
    result = check(rows, texts, **UNIT)  # .01^(1/10) = .6310
    assert outcomes(result) == ["met", "undecided"]
    assert result.results[0].estimate is not None
    assert result.results[0].estimate.level == pytest.approx(0.98)


def test_a_metric_without_bounds_is_tested_by_its_interval_at_the_confidence(
    tmp_path: Path,
) -> None:
    from scipy.stats import t

    scores = [3.0, 4.0, 5.0, 6.0, 7.0] * 4
    rows = scored(tmp_path / "r.csv", {"a": scores})
    result = check(rows, ["m mean >= 4", "m mean >= 4 with 99.5 % confidence"])
    error = (2 * 20 / 19 / 20) ** 0.5  # the scores are symmetric: Hall's interval is Student's
    for one, tail in zip(result.results, (0.025, 0.005), strict=True):
        assert one.estimate is not None
        assert one.estimate.low == pytest.approx(5 - t.ppf(1 - tail, 19) * error, abs=1e-3)


def test_a_system_without_rows_of_the_metric_is_undecided_unless_others_are_named(
    tmp_path: Path,
) -> None:
    rows = scored(tmp_path / "m.csv", {"a": [0.9] * 40})
    other = scored(tmp_path / "k.csv", {"b": [0.9] * 40}, metric=lambda _place: "k")
    result = check([rows, other], "m mean >= 0.5", **UNIT)
    assert [(one.system, one.outcome) for one in result.results] == [
        ("a", "met"),
        ("b", "undecided"),
    ]
    assert "b has no row of it" in result.results[1].line
    assert check([rows, other], "m mean >= 0.5 for a", **UNIT).met


def test_a_mean_of_a_metric_without_bounds_comes_with_a_notice(tmp_path: Path) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [3.0, 4.0, 5.0, 6.0, 7.0] * 4})
    assert "m has no two bounds" in " ".join(check(rows, "m mean >= 4").notices)
    assert check(rows, "m mean >= 4", bounds={"m": (0.0, 10.0)}).notices == ()
    assert check(rows, "m every >= 1").notices == ()


def test_a_comparison_that_cannot_be_made_leaves_the_others_their_results(tmp_path: Path) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [0.9] * 40, "b": [None] * 40})
    result = check(rows, ["a better than b on m", "m mean >= 0.5 for a"], **UNIT)
    assert outcomes(result) == ["undecided", "met"]
    assert "not tested: only a has a score of it" in result.results[0].line


def test_unscored_answers_count_as_the_worst_for_met_and_as_the_best_for_not_met(
    tmp_path: Path,
) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [0.8] * 39 + [None]})
    result = check(
        rows, [f"m sample mean >= {limit}" for limit in (0.78, 0.79, 0.804, 0.806)], **UNIT
    )
    # with the unscored one as 0: 31.2 / 40 = .78; as 1: 32.2 / 40 = .805
    assert outcomes(result) == ["met", "undecided", "undecided", "not met"]
    assert result.results[1].decides == "the score of the unscored answer"


def test_few_scores_with_unscored_ones_are_decided_by_both_only(tmp_path: Path) -> None:
    """The scores of the unscored answers alone would leave too few."""
    rows = scored(tmp_path / "r.csv", {"a": [0.9] * 6 + [None] * 2})
    (result,) = check(rows, "m mean >= 0.7", **UNIT).results
    assert "at least 11 are needed" in result.line
    assert result.decides == (
        "scores of the 2 unscored answers, and more answers, up to the 11 that are needed"
    )


@pytest.mark.parametrize(
    "text",
    [
        "b better than a",
        "b better than a by .01",
        "a equivalent to b within .5",
        "b no worse than a within .01",
    ],
)
def test_a_comparison_of_which_many_answers_are_unscored_shows_nothing(
    tmp_path: Path, text: str
) -> None:
    """The unscored answers of a may be its best ones, and neither reading counts that."""
    low = [0.1 + 0.01 * (7 * i % 40) for i in range(80)]
    high = [score + 0.15 + 0.001 * (i % 7) for i, score in enumerate(low)]
    outcome = {}
    for lost in (0, 2, 8):
        of_a = [None] * lost + low[lost:]
        rows = scored(tmp_path / f"{lost}.csv", {"a": of_a, "b": high})
        outcome[lost] = check(rows, text, **UNIT).results[0]
    assert [outcome[0].outcome, outcome[2].outcome] == ["met", "met"]
    assert outcome[8].outcome == "undecided"
    assert (
        "8 of 80 answers of a are unscored (10 %), more than the 5.0 % that --max-unscored"
        in outcome[8].line
    )
    assert outcome[8].decides == "scores of the unscored answers"
    assert check(rows, text, max_unscored=0.1, **UNIT).met, "the user's word"


def test_single_answers_are_counted(tmp_path: Path) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [0.9] * 48 + [0.4, None]})
    texts = [
        "m every >= .4", "m every >= .5", "at most 2 % m < .5", "at most 4 % m < .5", "at least 96 % m >= .5",
        "at least 98 % m >= .5",
    ]  # fmt: skip
    result = check(rows, texts, **UNIT)
    assert outcomes(result) == ["undecided", "not met", "undecided", "met", "met", "undecided"]
    assert [one.estimate and one.estimate.value for one in result.results[1:3]] == [0.02, 0.02]


def test_a_better_system_is_found_by_the_sign_test_that_compare_has(tmp_path: Path) -> None:
    """Eight differences of one sign: p = 2 / 2^8 = .0078."""
    low = [0.10, 0.21, 0.32, 0.43, 0.14, 0.25, 0.36, 0.47]
    rows = scored(tmp_path / "r.csv", {"a": low, "b": [one + 0.3 for one in low]})
    result = check(
        rows, ["b better than a on m", "a better than b", "a no worse than b on m"], **UNIT
    )
    assert outcomes(result) == ["met", "not met", "not met"]
    first = result.results[0]
    assert first.estimate is not None
    assert first.estimate.value == pytest.approx(0.3)
    assert result.results[1].estimate is not None
    assert result.results[1].estimate.value == pytest.approx(-0.3)
    assert "p = 0.008" in first.line
    assert first.rule == "b better than a on m"


def test_comparisons_of_one_check_share_alpha(tmp_path: Path) -> None:
    """p = .0078 is significant at .05 / 6 = .0083, and not at .05 / 7 = .0071."""
    values = [0.1, 0.2, 0.3, 0.4, 0.15, 0.25, 0.35, 0.45]
    systems = {"a": [0.5 + one for one in values], "b": [0.3] * 8}
    systems |= {name: [0.3, 0.31] * 4 for name in "cdefgh"}
    rows = scored(tmp_path / "r.csv", systems)
    others = [f"{name} better than b on m" for name in "cdefgh"]
    six = check(rows, ["a better than b on m", *others[:5]], **UNIT)
    seven = check(rows, ["a better than b on m", *others], **UNIT)
    assert (outcomes(six)[0], outcomes(seven)[0]) == ("met", "undecided")
    assert "alpha is divided by 7" in seven.family


def test_limits_are_not_corrected_for_each_other(tmp_path: Path) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [1.0] * 10})
    alone = check(rows, "m mean >= .69", **UNIT)
    several = check(rows, ["m mean >= .69", "m mean >= .1", "m every >= .1"], **UNIT)
    assert alone.results[0] == several.results[0]
    assert (
        alone.family,
        "not corrected" in several.family or "none is corrected" in several.family,
    ) == (
        "",
        True,
    )


@pytest.mark.parametrize(("questions", "outcome"), [(59, "met"), (58, "undecided")])
def test_equivalence_counts_the_differences_that_so_many_questions_missed(
    tmp_path: Path, questions: int, outcome: str
) -> None:
    """59 questions miss a share of .05 with a chance of .95^59 = .048, 58 with .051."""
    scores = [0.5] * questions
    rows = scored(tmp_path / "r.csv", {"a": scores, "b": scores})
    for text in ("a equivalent to b on m within .05", "a no worse than b on m within .05"):
        assert outcomes(check(rows, text, **UNIT)) == [outcome]


@pytest.mark.parametrize(
    ("assertion", "outcome"),
    [
        ("b better than a on m by 0.23", "met"),
        ("b better than a on m by more than 0.24", "undecided"),
        ("b better than a on m by 0.34", "not met"),
        ("a better than b on m by 0.01", "not met"),
    ],
)
@pytest.mark.parametrize("higher", [True, False])
def test_a_system_is_better_by_what_its_difference_exceeds_for_sure(
    assertion: str, outcome: str, higher: bool, tmp_path: Path
) -> None:
    """Sixty differences of 0.3 on a scale from -1 to 1 missed a share of 1 - .05^(1/60) = .0487 with a chance of 5 %:
    the mean lies between .3 - 1.3 x .0487 = .2367 and .3 + .7 x .0487 = .3341."""
    scores = {"a": [0.5] * 60, "b": [0.8] * 60} if higher else {"a": [0.8] * 60, "b": [0.5] * 60}
    path = scored(tmp_path / "r.csv", scores)
    direction = {"higher": ["m"]} if higher else {"lower": ["m"]}
    result = check(path, assertion, bounds={"m": (0, 1)}, **direction)
    assert outcomes(result) == [outcome], result.results[0].line


@pytest.mark.parametrize("end", ["b better than a on m by 1", "b no worse than a on m within 2"])
def test_a_margin_that_no_difference_reaches_is_an_error_of_its_assertion(
    end: str, tmp_path: Path
) -> None:
    path = scored(tmp_path / "r.csv", {"a": [0.5] * 4, "b": [0.8] * 4})
    with pytest.raises(
        UserError, match=rf"^assertion '{end}': . is not below the range of m \(0 to 1\)"
    ):
        check(path, end, bounds={"m": (0, 1)}, higher=["m"])


def test_an_earlier_run_that_is_missing_is_named_with_its_assertion(tmp_path: Path) -> None:
    path = scored(tmp_path / "r.csv", {"a": [0.5] * 4})
    with pytest.raises(UserError, match=r"^assertion 'same as nowhere': nowhere does not exist"):
        check(path, "same as nowhere")


def test_better_by_a_margin_needs_significance_too(tmp_path: Path) -> None:
    """Four of four differences are above 0: p = 2 / 2^4 = .125, although all are far above the margin."""
    path = scored(tmp_path / "r.csv", {"a": [0.1, 0.1, 0.1, 0.1], "b": [0.9, 0.91, 0.9, 0.91]})
    result = check(path, "b better than a on m by 0.01", bounds={"m": (0, 1)}, higher=["m"])
    assert outcomes(result) == ["undecided"]


def test_a_difference_beyond_the_margin_is_not_equivalent(tmp_path: Path) -> None:
    scores = [0.1, 0.2, 0.3, 0.2] * 25
    rows = scored(tmp_path / "r.csv", {"a": scores, "b": [one + 0.5 for one in scores]})
    assert outcomes(check(rows, "a equivalent to b within .2", **UNIT)) == ["not met"]


def test_the_number_of_answers_that_would_decide_a_mean_is_that_of_a_t_test(
    tmp_path: Path,
) -> None:
    """(z.975 + z.8)^2 s^2 / d^2 + z.975^2 / 2 (Guenther 1981): 7.849 x .041026 / .0025 + 1.92 = 130.7."""
    rows = scored(tmp_path / "r.csv", {"a": [0.4, 0.8] * 20})
    (result,) = check(rows, "m mean >= .55", **UNIT).results
    assert result.outcome == "undecided"
    assert result.more is not None
    assert 40 + result.more == pytest.approx(131, abs=2)
    assert result.decides.endswith("after which it is met if the mean stays as it is")
    (turned,) = check(rows, "m mean >= .65", **UNIT).results
    assert turned.more == result.more
    assert "after which it is not met" in turned.decides


def test_no_number_is_promised_where_a_t_test_would_already_decide(tmp_path: Path) -> None:
    """15 scores of mean .5 and standard deviation .0129: a t test needs 3 to tell it from .55. The lower bound with all
    scores .5 is .5 x .025^(1/15) = .391, the upper one .609."""
    rows = scored(tmp_path / "r.csv", {"a": [0.4875, 0.5, 0.5125] * 5})
    for text in ("m mean >= .55", "m mean <= .45"):
        (one,) = check(rows, text, **UNIT).results
        assert (one.outcome, one.more) == ("undecided", None)
        assert one.decides.startswith("more answers, about how many is not known")


def test_no_number_of_answers_decides_a_mean_at_the_limit(tmp_path: Path) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [0.4, 0.8] * 20})
    (result,) = check(rows, "m mean >= .6", **UNIT).results
    assert (result.outcome, result.more) == ("undecided", None)
    assert "no number of such answers" in result.decides


def test_a_slice_and_a_system_are_selected(tmp_path: Path) -> None:
    values = [0.0, 1.0] * 10  # `de` has the ones
    rows = scored(tmp_path / "r.csv", {"a": values, "b": [1 - one for one in values]})
    texts = ["m sample mean >= 1 for lang=de and a", "m sample mean >= 1 for lang=de and b"]
    result = check(rows, texts, **UNIT)
    assert outcomes(result) == ["met", "not met"]
    assert result.results[0].rule == "m sample mean >= 1 for lang=de and a"
    assert outcomes(check(rows, ["a better than b for lang=de", "b better than a on m for lang=de"], **UNIT)) == [
        "met",
        "not met",
    ]  # fmt: skip


def test_a_run_is_held_against_an_earlier_one(tmp_path: Path) -> None:
    scores = [0.1, 0.4, 0.3, 0.6, 0.5, 0.2, 0.8, 0.35]
    kept = scored(tmp_path / "kept.csv", {"a": scores})
    same = scored(
        tmp_path / "same.csv", {"a": [one + 0.01 * (-1) ** i for i, one in enumerate(scores)]}
    )
    other = scored(tmp_path / "other.csv", {"a": [one + 0.1 for one in scores]})
    assert outcomes(check(same, f"same as {kept}", **UNIT)) == ["met"]
    (moved,) = check(other, f"same as {kept}", **UNIT).results
    assert moved.outcome == "not met"
    assert moved.estimate is not None
    assert moved.estimate.value == pytest.approx(0.1), "now - kept"
    (open_,) = check(other, f"same as {kept} within .5", **UNIT).results
    assert open_.estimate is not None
    assert open_.estimate.value == pytest.approx(0.1), "now - kept"
    (result,) = check(same, f"same as {kept} within .05", **UNIT).results
    assert result.outcome == "undecided", "eight questions do not show it"
    assert outcomes(check([kept, other], "same as kept on m", **UNIT)) == ["not met"]
    with pytest.raises(UserError, match="this is the run itself"):
        check(kept, f"same as {kept}", **UNIT)


ONE_SCORE: dict[str, list[float | None]] = {"a": [0.9]}
ODD_ROWS: list[tuple[str, dict[str, list[float | None]], str, str]] = [
    ("empty", {}, "m mean >= .5", "error: no scores: there are no rows"),
    ("empty", {}, "a better than b", "error: no scores: there are no rows"),
    ("all unscored", {"a": [None] * 3}, "m mean >= .5", "undecided"),
    ("all unscored", {"a": [None] * 3}, "m sample mean >= .5", "undecided"),
    ("all unscored", {"a": [None] * 3}, "m every >= .5", "undecided"),
    ("all unscored", {"a": [None] * 3}, "at most 5 % m < .5", "undecided"),
    ("all unscored", {"a": [None], "b": [None]}, "a better than b", "undecided"),
    ("one answer", ONE_SCORE, "m mean >= .5", "undecided"),
    ("one answer", ONE_SCORE, "m sample mean >= .5", "met"),
    ("one answer", {"a": [0.9], "b": [0.1]}, "a better than b", "undecided"),
    ("one answer", {"a": [0.9], "b": [0.1]}, "a equivalent to b within .1", "undecided"),
    ("beyond the bounds", {"a": [1.5, 0.5]}, "m mean >= .1", "error: 1 of the scores lie outside"),
    ("no rows of one", {"a": [0.5]}, "a better than b", "error: unknown system in assertion: b"),
    ("unknown system", ONE_SCORE, "m mean >= .5 for alder", "error: unknown system in assertion: alder"),
    ("unknown metric", ONE_SCORE, "n mean >= .5", "error: unknown metric in assertion: n"),
    ("unknown slice", ONE_SCORE, "m mean >= .5 for lang=fr", "error: unknown slice in assertion: lang=fr"),
    ("unknown field", ONE_SCORE, "m mean >= .5 for x=y", "error: assertion `… for x=VALUE`: no example has this field"),
    ("no such limit", ONE_SCORE, "m mean >= 2", "error: scores of m are from 0 to 1"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "text", "expected"),
    [pytest.param(*case[1:], id=f"{case[0]}: {case[2]}") for case in ODD_ROWS],
)
def test_odd_rows_have_an_outcome_or_an_error_that_says_why(
    tmp_path: Path, rows: dict[str, list[float | None]], text: str, expected: str
) -> None:
    path = scored(tmp_path / "r.csv", rows)
    how = UNIT if rows else {}
    if expected.startswith("error: "):
        with pytest.raises(UserError) as caught:
            check(path, text, **how)
        assert expected.removeprefix("error: ") in str(caught.value)
    else:
        assert set(outcomes(check(path, text, **how))) == {expected}


def test_a_run_without_rows_is_an_error_also_beside_others(tmp_path: Path) -> None:
    full = scored(tmp_path / "full.csv", {"a": [1.0] * 10})
    empty = scored(tmp_path / "empty.csv", {})
    with pytest.raises(UserError, match=r"no rows in .*empty\.csv"):
        check([full, empty], "m mean >= .5", **UNIT)


def test_one_cluster_decides_nothing(tmp_path: Path) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [1.0] * 20, "b": [0.0] * 20}, lang=lambda _place: "all")
    result = check(rows, ["m mean >= .5 for a", "a better than b"], **{**UNIT, "cluster": "lang"})
    assert outcomes(result) == ["undecided", "undecided"]


def test_a_score_that_is_no_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("example_id,metric,score\n1,m,nan\n")
    with pytest.raises(UserError, match=r"r\.csv:2"):
        check(path, "m mean >= .5")


def test_a_system_that_only_the_earlier_run_has_is_undecided(tmp_path: Path) -> None:
    scores = [0.1 + 0.04 * place for place in range(20)]
    kept = scored(tmp_path / "kept.csv", {"a": scores, "b": scores})
    now = scored(tmp_path / "now.csv", {"b": scores})
    result = check(now, f"same as {kept}", **UNIT)
    assert sorted((one.system, one.outcome) for one in result.results) == [
        ("a", "undecided"),
        ("b", "met"),
    ]
    assert "only the earlier run has scores of a" in result.results[0].reason
    named = check([now, kept], "same as kept for a")
    assert outcomes(named) == ["undecided"]
    assert check([now, kept], "same as kept for b").met


def test_two_runs_of_one_system_each_belong_together_whatever_its_name(tmp_path: Path) -> None:
    scores = [0.1 + 0.04 * place for place in range(20)]
    kept = scored(tmp_path / "kept.csv", {"old": scores})
    assert check(scored(tmp_path / "now.csv", {"new": scores}), f"same as {kept}", **UNIT).met


def test_an_assertion_of_which_no_score_can_be_compared_is_undecided(tmp_path: Path) -> None:
    """m has scores of both systems and no direction; k has one, and scores of one system only."""
    scores = [0.1 + 0.04 * place for place in range(20)]
    rows = scored(tmp_path / "r.csv", {"a": scores, "b": scores})
    with open(rows, "a", encoding="utf-8") as file:
        file.writelines(f"a{place},q{place},a,k,0.5,ok,,en\n" for place in range(20))
    for text in ("b better than a", "b no worse than a", "b no worse than a within .5"):
        result = check(rows, text, higher=["k"])
        assert [(one.metric, one.outcome) for one in result.results] == [("k", "undecided")]
        assert not result


def test_a_check_without_results_is_not_met() -> None:
    assert not CheckResult((), (), ())


def test_an_assertion_that_is_given_twice_counts_once(tmp_path: Path) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [1.0] * 10})
    result = check(rows, ["m mean >= .5", "m>=.50"], **UNIT)
    assert result.assertions == ("m mean >= 0.5",)
    assert len(result.results) == 1
    with pytest.raises(UserError, match="there is nothing to check"):
        check(rows, [])


def test_a_metric_without_a_direction_has_no_better_system(tmp_path: Path) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [0.5] * 9, "b": [0.6] * 9})
    with pytest.raises(UserError, match="add higher=METRIC or lower=METRIC"):
        check(rows, "a better than b")
    lower = check(rows, "a better than b", lower=["m"])
    assert lower.results[0].rule == "a better than b on m"


def test_python_gets_a_table_and_a_truth_value(tmp_path: Path) -> None:
    rows = scored(tmp_path / "r.csv", {"a": [1.0] * 10})
    result = longmark.check(rows, "m mean >= .5", bounds={"m": (0, 1)})
    assert result
    assert result.outcome == "met"
    assert result.says == "1 met."
    assert "m mean >= 0.5 for a" in repr(result)
    assert "<table" in result._repr_html_()
    assert not longmark.check(rows, "m mean <= .5", bounds={"m": (0, 1)})
    with pytest.raises(UserError, match=r"option of longmark\.check"):
        longmark.check(rows, "m mean >= .5", bound={})


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scored(Path("r.csv"), {"a": [1.0] * 10, "b": [0.2] * 10})


def command(*words: str) -> int:
    return in_process(["check", "r.csv", *words, "--bounds", "m=0:1"])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("m mean >= .5 for a",), 0),
        (("m mean >= .5 for b",), 3),
        (("m mean >= .8 for a",), 3),
        (("m mean >= .8 for a", "--undecided", "pass"), 0),
        (("m mean >= .8 for a", "m mean >= .9 for b", "--undecided", "pass"), 3),
        (("a better than b", "--higher", "m"), 0),
        (("m every > .5",), 2),
        ((), 2),
    ],
)
def test_the_exit_code_is_that_of_gates(runs: None, words: tuple[str, ...], code: int) -> None:
    assert command(*words) == code


def test_files_for_ci_name_assertions(runs: None, capsys: pytest.CaptureFixture[str]) -> None:
    files = ("--json", "c.json", "--summary", "c.md", "--junit", "c.xml")
    assert command("m mean >= .5 for a", "m mean >= .8 for a", *files) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("met: m mean >= 0.5 for a: ")
    assert lines[1].startswith("undecided: m mean >= 0.8 for a: ")
    data = json.loads(Path("c.json").read_text())
    assert [one["outcome"] for one in data["gates"]] == ["met", "undecided"]
    assert data["gates"][1]["more"] == 7, ".025^(1/17) = .8049, with 16 .7941"
    assert "1 of 2 assertions not met" in Path("c.md").read_text()
    assert 'failures="1"' in Path("c.xml").read_text()


def test_assertions_come_from_a_file_and_from_the_project(
    runs: None, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("claims.txt").write_text("# limits\nm mean >= .5 for a\n\nm every >= .1\n")
    assert command("--from", "claims.txt") == 0
    assert "met: m every >= 0.1 for b" in capsys.readouterr().out
    Path("longmark.yaml").write_text(
        "check: {runs: [r.csv], bounds: 'm=0:1', assertions: [m mean >= .5 for a, m sample mean >= .3]}\n"
    )
    assert in_process(["check"]) == 3
    assert "not met: m sample mean >= 0.3 for b" in capsys.readouterr().out
    Path("claims.txt").write_text("# nothing\n")
    assert command("--from", "claims.txt") == 2


def test_a_gate_takes_no_comparison_and_says_what_to_use(
    runs: None, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", "r.csv", "--out", "p.html", "--fail-under", "a better than b"]
    assert in_process(words) == 2
    assert "longmark check RUN 'a better than b'" in capsys.readouterr().err

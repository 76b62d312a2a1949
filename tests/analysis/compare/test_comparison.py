"""Systems compared on a metric: figures by hand, what is left out, what is refused."""

import numpy as np
import pytest
from tests.analysis.compare.runs import run_of
from tests.report.runs import CORRECTNESS, EASE, GRADE, METRICS, RELEVANCE, manifest
from tests.there import there

from longmark.analysis.compare import compare, document
from longmark.analysis.compare.comparison import CompareOptions, _how
from longmark.errors import UnknownName, UserError
from longmark.report.tables import as_text
from longmark.stats.hypotheses import Hypothesis
from longmark.stats.max_t import max_t
from longmark.stats.tukey import tukey


def test_two_runs_by_hand(tmp_path):
    one = run_of(tmp_path / "one", {"s": {RELEVANCE: [0.9, 0.8, 0.7, 0.6, None]}})
    two = run_of(tmp_path / "two", {"s": {RELEVANCE: [0.5, 0.8, 0.5, 0.3, 0.9, 0.2]}})
    found = compare([one, two], draws=500)
    (metric,) = found.metrics
    assert (found.by, found.systems, found.comparisons) == ("run", ("one", "two"), 1)
    # common: q0..q3; differences .4 0 .2 .3: mean .225; squares from it .030625 .050625 .000625 .005625 = .0875,
    # / 3 = .0291667, root .170783; d_z = 1.317466. Won 3, tied 1: share 3.5 / 4 = .875
    (pair,) = metric.pairs
    assert (pair.first, pair.second, metric.n, metric.questions) == ("one", "two", 4, 6)
    assert pair.difference.value == pytest.approx(0.225)
    assert pair.d_z.value == pytest.approx(1.317466, abs=1e-6)
    assert (pair.won, pair.ties, pair.lost, pair.share.value) == (3, 1, 0, 0.875)
    # three differences other than zero, all positive: of 2^3 patterns of signs two reach .9 in size
    assert (pair.difference.p_unadjusted, pair.p_tukey, pair.p, pair.significant) == (
        0.25,
        0.25,
        0.25,
        False,
    )
    # the least p of 4 pairs is 2 / 2^4 = .125; 2 / 2^6 = .03125 is the first within .05
    assert pair.difference.detectable is None
    assert metric.undetectable == (
        "no difference, however large, can be significant with so few questions (4); at least 6 are needed"
    )
    assert f"{RELEVANCE}: {metric.undetectable}." in found.notices
    # deviations .175 -.225 -.025 .075, cubes -.005625: a = -.005625 / .0875^1.5 = -.217325; t(3) = 3.182446, error
    # .0853913; cube roots of .300502 and 1.683755: .669806 and 1.189669
    assert (pair.difference.method, pair.d_z.method, pair.share.method) == (
        "Hall's t",
        "noncentral t",
        "Hall's t",
    )
    assert (pair.difference.low, pair.difference.high) == pytest.approx(
        (-0.164219, 0.448575), abs=1e-6
    )
    one_, two_ = metric.systems
    assert one_.mean.value == pytest.approx(0.75)
    # all six: 3.2 / 6 = .533333
    assert two_.mean.n == 6
    assert two_.mean.value == pytest.approx(3.2 / 6)
    assert (one_.missing, one_.rows, two_.missing) == (2, 5, 0)
    assert [gap.count for gap in one_.unscored] == [1]
    assert (one_.groups, two_.groups, one_.best, one_.worst) == ("a", "a", 1, 2)
    assert any(
        f"{RELEVANCE} up to 2 of 6 (33 %). Most missing scores: one" in notice
        for notice in found.notices
    )


def three(tmp_path, better=True, n=40):
    random = np.random.default_rng(8)
    base = random.random(n) * 0.4
    values = {
        "low": base + random.normal(0, 0.05, n),
        "high": base + 0.3 + random.normal(0, 0.05, n),
        "middle": base + 0.02 + random.normal(0, 0.05, n),
    }
    described = manifest()
    described["metrics"] = {
        **METRICS,
        RELEVANCE: {**METRICS[RELEVANCE], "higher_is_better": better},
    }
    return run_of(
        tmp_path / "run", {k: {RELEVANCE: v.tolist()} for k, v in values.items()}, None, described
    ), values


def test_three_systems_of_one_run(tmp_path):
    run, values = three(tmp_path)
    found = compare([run], draws=2000, seed=3)
    (metric,) = found.metrics
    assert (found.by, found.comparisons) == ("system", 3)
    names = [system.system for system in metric.systems]
    assert names[0] == "high"
    order = sorted(
        range(len(values["low"])), key=lambda i: f"q{i}"
    )  # questions are drawn for in the order of their ids
    values = {name: of[order] for name, of in values.items()}
    alone = tukey(np.column_stack(list(values.values())), list(values), permutations=2000, seed=3)
    expected = [alone.p_value(pair.first, pair.second) for pair in metric.pairs]
    assert [pair.p_tukey for pair in metric.pairs] == expected, (
        "the systems in the order of the marks"
    )
    joint = max_t(
        np.column_stack([values[p.first] - values[p.second] for p in metric.pairs]),
        permutations=2000,
        seed=3,
    )
    assert [pair.p for pair in metric.pairs] == list(joint.adjusted)
    assert [pair.difference.p_unadjusted for pair in metric.pairs] == list(joint.p)
    assert (metric.systems[0].best, metric.systems[0].worst) == (1, 1)


def test_lower_is_better_turns_ranks_and_wins(tmp_path):
    run, _ = three(tmp_path, better=False)
    (metric,) = compare([run], draws=500).metrics
    assert metric.systems[-1].system == "high"
    assert (metric.systems[-1].best, metric.systems[-1].worst) == (3, 3)
    last = next(pair for pair in metric.pairs if pair.second == "high")
    assert there(last.difference.value) < 0
    assert last.won > 35


def test_a_metric_without_a_better_end_has_no_ranks(tmp_path):
    values = {name: {GRADE: [5.0 + i + j for j in range(8)]} for i, name in enumerate("xy")}
    (metric,) = compare([run_of(tmp_path / "run", values)], draws=500).metrics
    assert [(one.best, one.worst) for one in metric.systems] == [(None, None)] * 2
    assert metric.systems[0].system == "y"
    assert metric.pairs[0].lost == 8


def test_all_metrics_and_pairs_are_one_family(tmp_path):
    random = np.random.default_rng(1)
    metrics = (RELEVANCE, CORRECTNESS, EASE)
    systems = {s: {m: random.random(12).tolist() for m in metrics} for s in "xyz"}
    found = compare([run_of(tmp_path / "run", systems)], draws=500)
    pairs = [(one.metric, pair) for one in found.metrics for pair in one.pairs]
    columns = [np.subtract(systems[p.first][m], systems[p.second][m]) for m, p in pairs]
    joint = max_t(np.column_stack(columns), permutations=500)
    assert found.comparisons == 9
    assert [pair.p for _, pair in pairs] == list(joint.adjusted)


def test_where_the_systems_lie_apart(tmp_path):
    values = {
        "x": {RELEVANCE: [0.5, 0.2, 1.0, None, 0.4]},
        "y": {RELEVANCE: [0.5, 0.9, 0.7, 0.1, None]},
    }
    (metric,) = compare([run_of(tmp_path / "run", values)], draws=100).metrics
    assert [(one.question_id, one.text, one.highest, one.lowest) for one in metric.apart] == [
        ("q1", "Question 1?", "y", "x"),
        ("q2", "Question 2?", "x", "y"),
    ]
    assert [one.spread for one in metric.apart] == [pytest.approx(0.7), pytest.approx(0.3)]
    assert metric.apart[0].scores == {"x": 0.2, "y": 0.9}
    assert metric.as_far == 0


def test_degenerate_scores_have_reasons_and_no_figures(tmp_path):
    equal = {name: {RELEVANCE: [0.5] * 6} for name in "xy"}
    found = compare([run_of(tmp_path / "equal", equal)], draws=100).metrics[0]
    assert (found.pairs[0].p, found.pairs[0].significant, found.pairs[0].difference.detectable) == (
        1.0,
        False,
        None,
    )
    assert "same score" in there(found.reason)
    # 1 - .025^(1/6) = .459258 of the questions may be others, a whole unit apart
    assert (found.pairs[0].difference.low, found.pairs[0].difference.high) == pytest.approx(
        (-0.459258, 0.459258)
    )
    assert found.pairs[0].difference.method == "all equal"
    few = {"x": {RELEVANCE: [0.1, 0.2]}, "y": {RELEVANCE: [0.3, 0.1]}}
    found = compare([run_of(tmp_path / "few", few)], draws=100).metrics[0]
    assert (found.pairs[0].p, found.groups, found.systems[0].best) == (None, (), None)
    assert "at least 3 common questions" in there(found.reason)


def test_equal_means_share_a_rank_and_stay_in_the_order_of_the_runs(tmp_path):
    values = [0.1, 0.2, 0.3, 0.4, 0.7, 0.9, 0.15, 0.35]
    turned = [
        *values[3:],
        *values[:3],
    ]  # the same values on other questions: the sums differ by rounding alone
    low = [value / 1000 for value in values]
    for names in (("p", "q", "r"), ("q", "p", "r")):
        given = {name: {RELEVANCE: {"p": values, "q": turned, "r": low}[name]} for name in names}
        found = compare([run_of(tmp_path / "".join(names), given)], draws=2_000)
        metric = found.metrics[0]
        assert [one.system for one in metric.systems] == list(names)
        assert metric.systems[0].rank == metric.systems[1].rank
        assert there(metric.pairs[0].p) > 0.99


def test_differing_means_are_shown_with_digits_enough_to_tell_them_apart(tmp_path):
    values = [0.1 + 0.01 * i for i in range(40)]
    given = {"x": {RELEVANCE: values}, "y": {RELEVANCE: [value + 0.0003 for value in values]}}
    found = compare([run_of(tmp_path / "run", given)], draws=200)
    metric = found.metrics[0]
    assert metric.pairs[0].significant
    assert metric.places == 4
    assert "0.0003 " in as_text(document(found).sections[1].tables[0])


def test_a_metric_of_one_system_is_left_out_with_a_reason(tmp_path):
    one = run_of(tmp_path / "one", {"s": {RELEVANCE: [0.1, 0.2, 0.3], EASE: [1.0, 2.0, 3.0]}})
    two = run_of(tmp_path / "two", {"s": {RELEVANCE: [0.2, 0.2, 0.5]}})
    found = compare([one, two], draws=100)
    assert [metric.metric for metric in found.metrics] == [RELEVANCE]
    assert found.left_out == ((EASE, "only one has a score of it"),)


def test_values_that_no_float_can_average_are_left_out(tmp_path):
    huge = {s: {RELEVANCE: [0.1, 0.2, 0.3], EASE: [1e308, 1.5e308, -1e308]} for s in "xy"}
    found = compare([run_of(tmp_path / "run", huge)], draws=100)
    assert found.left_out == ((EASE, "it has scores beyond 1e+100, which cannot be averaged"),)


def test_a_system_without_any_value_does_not_take_the_others_along(tmp_path):
    values: dict[str, dict[str, list[float | None]]] = {
        s: {RELEVANCE: [0.1 * i, 0.3, 0.5, 0.2]} for i, s in enumerate("xyz")
    }
    values["w"] = {RELEVANCE: [None] * 4}
    found = compare([run_of(tmp_path / "run", values)], draws=100)
    assert found.metrics[0].n == 4
    assert [(name, [gap.count for gap in gaps]) for name, gaps in found.metrics[0].absent] == [
        ("w", [4])
    ]
    rows = document(found).sections[-1].tables[0].rows
    assert rows == ((RELEVANCE, "w", 4, 4, "4 unparsable (The judge gave no number, twice)"),)
    assert any("no score of w" in notice for notice in found.notices)


def test_metrics_and_systems_can_be_chosen(tmp_path):
    values = {
        s: {RELEVANCE: [0.1 * i, 0.3, 0.5], EASE: [1.0 + i, 2, 3]} for i, s in enumerate("xyz")
    }
    run = run_of(tmp_path / "run", values)
    found = compare([run], metrics=["ccrs"], systems=["z", "x"], draws=100)
    assert [metric.metric for metric in found.metrics] == [RELEVANCE]
    assert found.systems == ("z", "x")
    assert found.metrics[0].absent == ()
    with pytest.raises(UnknownName, match="unknown metric: ccr"):
        compare([run], metrics=["ccr"])
    with pytest.raises(UnknownName, match="unknown system: w"):
        compare([run], systems=["w"])


def test_what_cannot_be_compared_is_refused(tmp_path):
    one = run_of(tmp_path / "one", {"s": {RELEVANCE: [0.1, 0.2, 0.3]}})
    with pytest.raises(UserError, match=r"there is one system: s\. Give another run"):
        compare([one])
    apart = run_of(tmp_path / "apart", {"t": {RELEVANCE: [None, None, None, 0.5]}})
    with pytest.raises(UserError, match="no question in common: rows are paired by `question_id`"):
        compare([one, apart])
    gaps = run_of(tmp_path / "gaps", {"t": {RELEVANCE: [None, None]}})
    with pytest.raises(UserError, match="nothing to compare"):
        compare([one, gaps])
    for options, message in (
        ({"alpha": 0}, "alpha"),
        ({"level": 1.5}, "level"),
        ({"draws": 0}, "draws"),
    ):
        with pytest.raises(UserError, match=message):
            compare([one, apart], **options)


def test_hypotheses_are_decided_over_the_metrics_compared(tmp_path):
    run, _ = three(tmp_path)
    claim = Hypothesis(
        "high wins", "all", (RELEVANCE,), (("high", "low"), ("high", "middle")), "greater"
    )
    found = compare([run], draws=1000, hypotheses=[claim])
    (result,) = found.hypotheses
    assert result.supported
    assert result.p == pytest.approx(
        max(there(p.p_tukey) for p in found.metrics[0].pairs if p.first == "high") / 2
    )


def test_huge_tables_get_fewer_draws_and_small_ones_all():
    assert _how(2_000, 20, 8, CompareOptions()).permutations == 10_000
    how = _how(5000, 12, 40, CompareOptions())
    assert 2000 <= how.permutations < 10_000
    assert _how(5000, 12, 40, CompareOptions(draws=10_000)).permutations == 10_000


def test_an_unknown_option_is_refused_with_the_nearest_name(tmp_path):
    run = run_of(tmp_path / "run", {s: {RELEVANCE: [0.1, 0.2, 0.4]} for s in "xy"})
    with pytest.raises(UnknownName, match="Did you mean alpha"):
        compare([run], alfa=0.1)


def test_a_difference_of_three_systems_has_the_same_sign_on_every_metric(tmp_path):
    """b is best on one metric and worst on the other; each pair is subtracted in the order given."""
    chance = [0.01 * (7 * i % 5) for i in range(30)]
    scores = {
        "a": {RELEVANCE: [0.5 + x for x in chance], CORRECTNESS: [0.5 + x for x in chance]},
        "b": {RELEVANCE: [0.8 - x for x in chance], CORRECTNESS: [0.2 + 2 * x for x in chance]},
        "c": {RELEVANCE: [0.3 + x / 2 for x in chance], CORRECTNESS: [0.9 - x for x in chance]},
    }
    run = run_of(tmp_path / "run", scores)
    comparison = compare([run], draws=99)
    for metric in comparison.metrics:
        assert [(pair.first, pair.second) for pair in metric.pairs] == [
            ("a", "b"),
            ("a", "c"),
            ("b", "c"),
        ]
        for pair in metric.pairs:
            mean = {system.system: system.mean.value or 0.0 for system in metric.systems}
            assert (pair.difference.value or 0.0) == pytest.approx(
                mean[pair.first] - mean[pair.second]
            )
    assert comparison.metrics[0].systems[0].system == "b", "the ranking is still the best first"
    (metric, *_) = compare([run], draws=99, systems=["c", "b", "a"]).metrics
    assert (metric.pairs[0].first, metric.pairs[0].second) == ("c", "b")

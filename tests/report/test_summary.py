import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.runs import CORRECTNESS, EASE, GRADE, METRICS, RELEVANCE, manifest, row, write_run

from longmark.errors import UnknownName, UserError
from longmark.report.gates import Checked, check_gates, gates_of
from longmark.report.summary import Summary, interval_in_words, summarise
from longmark.scores.manifest import read_manifest
from longmark.scores.observations import Unscored


def summarised(folder: Path, values: Sequence[float | None], metric: str = RELEVANCE) -> Summary:
    rows = [row(str(i), metric, value) for i, value in enumerate(values)]
    return summarise([write_run(folder / "run", [], rows, manifest())])


def test_mean_and_interval_by_hand(tmp_path):
    (cell,) = summarised(tmp_path, [0.5, 0.6, 0.7, 0.8, 0.9]).cells
    # mean 0.7; variance (0.04 + 0.01 + 0 + 0.01 + 0.04) / 4 = 0.025; standard error sqrt(0.025 / 5) = 0.0707107;
    # t(0.975, 4) = 2.7764451; 2.7764451 x 0.0707107 = 0.1963243
    assert cell.mean == pytest.approx(0.7)
    assert cell.interval == pytest.approx((0.5036757, 0.8963243), abs=1e-6)
    assert (cell.n, cell.scored, cell.least, cell.greatest) == (5, 5, 0.5, 0.9)


def test_interval_is_clipped_to_the_bounds_where_there_are_bounds(tmp_path):
    # mean 0.5, variance 0.125, standard error 0.25, t(0.975, 1) = 12.7062: half a width of 3.1766
    assert summarised(tmp_path / "a", [0.25, 0.75]).cells[0].interval == (0, 1)
    assert summarised(tmp_path / "b", [0.25, 0.75], EASE).cells[0].interval == pytest.approx(
        (-2.6766, 3.6766), abs=1e-4
    )


SKEWED = [1.0] * 9 + [0.9, 0.8, 0.75, 0.5, 0.25, 0.0, 0.95]


def test_the_interval_is_by_hall_and_the_same_with_and_without_the_extra(tmp_path, monkeypatch):
    for name in ("with", "without"):
        summary = summarised(tmp_path / name, SKEWED)
        (cell,) = summary.cells
        # mean 13.15 / 16 = 0.821875; squares 9 + .81 + .64 + .5625 + .25 + .0625 + 0 + .9025 = 12.2275, less 16 x mean²
        # (10.807656) = 1.419844; variance / 15 = 0.094656; standard error sqrt(.094656 / 16) = 0.076916; t(.975, 15) =
        # 2.131450; cubes of the deviations -.722470, so a = -.722470 / 1.419844^1.5 = -.427030
        assert cell.interval == pytest.approx((0.492372, 0.948403), abs=1e-6)
        assert (cell.method, summary.interval_name) == ("Hall's t", "95 % CI (Hall's t)")
        monkeypatch.setitem(sys.modules, "scipy", None)
        monkeypatch.setitem(sys.modules, "numpy", None)


def test_equal_values_have_an_interval_from_the_bounds(tmp_path):
    # of five draws, all miss a share s of other values with .025 where (1 - s)^5 = .025: s = 1 - .025^.2 = 0.521824;
    # these lie at 0 or 1 at worst: .8 - .521824 x .8 = .382541, .8 + .521824 x .2 = .904365
    (cell,) = summarised(tmp_path / "a", [0.8] * 5).cells
    assert cell.interval == pytest.approx((0.382541, 0.904365), abs=1e-6)
    assert (cell.method, cell.reason) == ("all equal", "")
    (cell,) = summarised(tmp_path / "b", [60.0] * 5, EASE).cells
    assert (cell.interval, cell.method) == (None, "")
    assert cell.reason == "all 5 values are equal, and the metric has no bounds"


def test_an_interval_that_is_not_by_the_method_in_the_column_name_names_its_own(tmp_path):
    rows = [row(str(i), RELEVANCE, value) for i, value in enumerate([0.5, 0.6, 0.7, 0.8, 0.9])]
    rows += [row(str(i), CORRECTNESS, value) for i, value in enumerate([1, 1, 0, 1])]
    both = summarise([write_run(tmp_path / "both", [], rows, manifest())])
    assert both.interval_name == "95 % CI (Hall's t)"
    words = [interval_in_words(both, cell) for cell in both.cells]
    # Wilson's of 3 of 4, q = 1.96: middle (.75 + 3.8415 / 8) / 1.9604 = .6275, half 1.96 / 1.9604 x
    # sqrt(.1875 / 4 + 3.8415 / 64) = .3269
    assert words == ["[0.504, 0.896]", "[0.301, 0.954] (Wilson)"]
    assert both.other_methods
    binary = summarised(tmp_path / "binary", [1, 1, 0, 1])
    assert binary.interval_name == "95 % CI (Wilson)"
    assert interval_in_words(binary, binary.cells[0]) == "[0.301, 0.954]"
    assert not binary.other_methods


def gate(
    folder: Path,
    expression: str,
    values: Sequence[float | None],
    metric: str = RELEVANCE,
    **more: Any,
) -> Checked:
    (check,) = check_gates(
        gates_of([metric + expression], METRICS), summarised(folder, values, metric), **more
    )
    return check


def test_nineteen_perfect_scores_and_one_lower_do_no_better_than_twenty_perfect_scores(tmp_path):
    twenty = gate(tmp_path / "a", ">=0.9", [1.0] * 20)
    nineteen = gate(tmp_path / "b", ">=0.9", [1.0] * 19 + [0.8])
    assert (twenty.met, nineteen.met) == (False, False)
    assert "the lower bound (97.5 %, Gaffke) is 0.8315 " in twenty.line
    assert "the lower bound (97.5 %, Gaffke) is 0.8223 " in nineteen.line


def test_a_bound_of_few_perfect_scores_says_how_many_are_needed(tmp_path):
    line = gate(tmp_path / "a", ">=0.9", [1.0] * 20).line
    assert line.endswith("; 20 scores cannot show 0.9 even if all are 1.00: at least 36 are needed")
    assert not gate(tmp_path / "b", ">=0.9", [1.0] * 35).met
    assert gate(tmp_path / "c", ">=0.9", [1.0] * 36).met
    assert "cannot show" not in gate(tmp_path / "d", ">=0.9", [0.95] * 40).line, (
        "there are enough of them"
    )
    line = gate(tmp_path / "e", "<=0.1", [0.0] * 20).line
    assert line.endswith("; 20 scores cannot show 0.1 even if all are 0.00: at least 36 are needed")
    line = gate(tmp_path / "f", ">=1", [1.0] * 20).line
    assert line.endswith("; no number of scores can show 1, even if all are 1.00")


def test_the_check_is_the_same_without_the_extra_and_in_any_order(tmp_path, monkeypatch):
    line = gate(tmp_path / "a", ">=0.6", SKEWED).line
    assert gate(tmp_path / "b", ">=0.6", SKEWED[::-1]).line == line
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert gate(tmp_path / "c", ">=0.6", SKEWED).line == line


def test_a_bound_that_misses_by_little_does_not_look_as_if_it_reached(tmp_path):
    missed = gate(tmp_path, ">=0.3278", [0.5, 0.6, 0.7, 0.8, 0.9])  # the bound is .327716
    assert not missed.met
    assert "is 0.3277 (" in missed.line


def test_four_answers_a_question_are_tested_as_questions(tmp_path):
    values = [0.9, 0.2, 1.0, 0.6, 0.7]
    rows = [
        row(f"{i}-{k}", RELEVANCE, value, question_id=f"q{i}")
        for i, value in enumerate(values)
        for k in range(4)
    ]
    summary = summarise([write_run(tmp_path / "run", [], rows, manifest())])
    (four,) = check_gates(gates_of([f"{RELEVANCE}>=0.2"], METRICS), summary)
    once = gate(tmp_path / "once", ">=0.2", values)
    assert "the lower bound (97.5 %, Gaffke over 5 questions) is 0.2" in four.line
    assert four.line.split(" is ")[1].split(" (")[0] == once.line.split(" is ")[1].split(" (")[0]
    (missed,) = check_gates(gates_of([f"{RELEVANCE}>=0.9"], METRICS), summary)
    assert missed.line.endswith(
        "; 5 questions cannot show 0.9 even if all are 1.00: at least 36 are needed"
    )


def test_a_metric_without_bounds_is_tested_by_its_interval_and_the_check_says_so(tmp_path):
    check = gate(tmp_path / "a", ">=50", [60.0 + i % 7 for i in range(30)], EASE)
    assert check.met
    assert "the lower end of the 95 % CI (Hall's t) (the metric has no bounds) is 62." in check.line
    equal = gate(tmp_path / "b", ">=1", [60.0] * 20, EASE)
    assert not equal.met
    assert "no CI: all 20 values are equal" in equal.line


def test_values_outside_the_bounds_fail_and_say_so(tmp_path):
    check = gate(tmp_path, ">=0.1", [0.9] * 50 + [1.2])
    assert not check.met
    assert (
        "1 of 51 scores lie outside the metric's bounds, 0 to 1 (they are from 0.9 to 1.2)"
        in check.line
    )


def test_values_that_no_float_can_average_have_no_mean(tmp_path):
    (cell,) = summarised(tmp_path, [1e308, 1.5e308, -1e308, 1e308], EASE).cells
    assert (cell.mean, cell.interval, cell.reason) == (
        None,
        None,
        "the values are too large to be averaged",
    )


def test_a_missing_value_is_counted_and_is_no_zero(tmp_path):
    rows = [row("1", RELEVANCE, 0.4), row("2", RELEVANCE, 0.6)]
    rows += [
        row(f"u{i}", RELEVANCE, None, reason=reason)
        for i, reason in enumerate(["No number.", "Prose.", "Prose."])
    ]
    rows += [row("r", RELEVANCE, None, status="refused", reason="It declined.")]
    (cell,) = summarise([write_run(tmp_path / "run", [], rows, manifest())]).cells
    assert cell.mean == pytest.approx(0.5)
    assert (cell.n, cell.scored) == (6, 2)
    assert cell.unscored == (
        Unscored("unparsable", 3, "Prose.", 2),
        Unscored("refused", 1, "It declined.", 1),
    )


def test_fewer_than_two_values_have_no_interval(tmp_path):
    assert summarised(tmp_path / "one", [0.5, None]).cells[0].interval is None
    (none,) = summarised(tmp_path / "none", [None]).cells
    assert (none.mean, none.interval, none.least, none.scored) == (None, None, None, 0)


def test_the_last_row_of_an_example_and_metric_counts(tmp_path):
    rows = [row("1", RELEVANCE, None), row("2", RELEVANCE, 0.2), row("1", RELEVANCE, 1.0)]
    (cell,) = summarise([write_run(tmp_path / "run", [], rows)]).cells
    assert (cell.n, cell.scored) == (2, 2)
    assert cell.mean == pytest.approx(0.6)


def test_a_torn_last_line_is_ignored(tmp_path):
    run = write_run(tmp_path / "run", [], [row("1", RELEVANCE, 0.5), row("2", RELEVANCE, 0.7)])
    with (run / "rows.jsonl").open("ab") as file:
        file.write(b'{"example_id": "3", "metric": "ccrs.que')
    assert summarise([run]).cells[0].n == 2


def test_metrics_stand_in_the_order_of_the_manifest(tmp_path):
    rows = [row("1", name, 0.5) for name in [GRADE, "not.in.it", RELEVANCE, EASE]]
    summary = summarise([write_run(tmp_path / "run", [], rows, manifest())])
    assert summary.metrics == (RELEVANCE, EASE, GRADE, "not.in.it")
    assert summary.facts[RELEVANCE].bounded
    assert not summary.facts["not.in.it"].bounded


def test_runs_that_share_a_system_are_not_pooled(tmp_path):
    rows = [row("1", RELEVANCE, 0.2), row("1x", RELEVANCE, 0.1, system="second")]
    runs = [
        write_run(tmp_path / name, [], rows[: 2 - i]) for i, name in enumerate(["a/one", "b/one"])
    ]
    summary = summarise(runs)
    assert summary.systems == ("first (a/one)", "second", "first (b/one)")
    assert [cell.n for cell in summary.cells] == [1, 1, 1]


def test_a_folder_without_rows_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"no rows\.jsonl"):
        summarise([tmp_path])


@pytest.mark.parametrize("text", ["[1, 2]", '{"metrics": '])
def test_a_damaged_manifest_is_refused(tmp_path, text):
    run = write_run(tmp_path / "run", [], [row("1", RELEVANCE, 0.5)])
    (run / "manifest.json").write_text(text)
    with pytest.raises(UserError, match="is damaged"):
        summarise([run])


def test_an_empty_run_has_no_cells(tmp_path):
    assert summarise([write_run(tmp_path / "run", [], [], manifest())]).cells == ()


@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=1, max_size=30))
def test_counts_add_up_and_the_mean_lies_inside(tmp_path_factory, values):
    (cell,) = summarised(tmp_path_factory.mktemp("run"), values, EASE).cells
    assert cell.scored + sum(gap.count for gap in cell.unscored) == cell.n == len(values)
    scored = [value for value in values if value is not None]
    if scored:
        assert cell.mean == pytest.approx(math.fsum(scored) / len(scored), rel=1e-9, abs=1e-6)
        assert (cell.least, cell.greatest) == (min(scored), max(scored))
    assert (cell.interval is None) == (cell.method == "") == (cell.reason != "")


# mean 0.7 of five; the bounds are .327716 and .875390 (tests/stats/test_gate.py has how)
@pytest.mark.parametrize(
    ("expression", "met"),
    [
        ("ccrs.question_relevance>=0.32", True),
        ("ccrs.question_relevance >= 0.33", False),
        ("ccrs.question_relevance<=0.88", True),
        ("ccrs.question_relevance<=.87", False),
        ("ccrs>=-1e-3", True),
    ],
)
def test_fail_under_tests_the_near_bound(tmp_path, expression, met):
    summary = summarised(tmp_path, [0.5, 0.6, 0.7, 0.8, 0.9])
    (check,) = check_gates(gates_of([expression], METRICS), summary)
    assert check.met is met
    assert check.line.startswith("met: " if met else "not met: ")
    assert "5 of 5 scored" in check.line


def test_a_line_says_why_the_table_ends_elsewhere_where_only_the_bound_fails(tmp_path):
    summary = summarised(tmp_path, [0.8, 0.81, 0.79, 0.8, 0.82, 0.78] * 5)
    lines = {
        limit: check_gates(gates_of([f"ccrs>={limit}"], METRICS), summary)[0].line
        for limit in (0.7, 0.77, 0.9)
    }
    assert lines[0.7].startswith("met: ")
    assert lines[0.77].startswith("not met: ")
    assert "the 95 % CI (Hall's t) of the table ends at 0.79" in lines[0.77]
    assert "the bound holds for any scores within the metric's bounds" in lines[0.77]
    assert lines[0.9].startswith("not met: ")
    assert all("of the table" not in lines[limit] for limit in (0.7, 0.9))


@pytest.mark.parametrize("metric", [RELEVANCE, GRADE])
@pytest.mark.parametrize(
    ("sizes", "met"), [((8,) * 5, True), ((8,) * 4, False), ((40, *(1,) * 12), False)]
)
def test_nothing_is_met_with_fewer_than_five_effective_clusters(tmp_path, metric, sizes, met):
    """Five clusters of one size are five; with one big cluster even thirteen are few. Neither metric is near its limit:
    one has bounds, the other has none."""
    numbers = [(q, i) for q, size in enumerate(sizes) for i in range(size)]
    rows = [
        row(f"{q}-{i}", metric, 0.4 + 0.01 * (q % 3) + 0.001 * i, question_id=f"q{q}")
        for q, i in numbers
    ]
    summary = summarise([write_run(tmp_path / "run", [], rows, manifest())])
    (check,) = check_gates(gates_of([f"{metric}>=-1"], METRICS), summary)
    assert check.met is met, check.line
    assert ("effective clusters are too few for a decision" in check.line) is not met


def test_fail_under_looks_at_each_system(tmp_path):
    rows = [
        row(f"{i}{name}", RELEVANCE, value, system=name)
        for i in range(20)
        for name, value in [("x", 0.9), ("y", 0.1)]
    ]
    summary = summarise([write_run(tmp_path / "run", [], rows, manifest())])
    checks = check_gates(gates_of([f"{RELEVANCE}>=0.5"], METRICS), summary)
    assert [check.met for check in checks] == [True, False]
    assert "for y" in checks[1].line


def test_fail_under_can_name_one_system(tmp_path):
    rows = [
        row(f"{i}{name}", RELEVANCE, value, system=name)
        for i in range(20)
        for name, value in [("new [b]", 0.9), ("old", 0.1)]
    ]
    summary = summarise([write_run(tmp_path / "run", [], rows, manifest())])
    expressions = [f"{RELEVANCE}[new [b]]>=0.5", f"{RELEVANCE}[nobody]>=0.5"]
    one, nobody = check_gates(gates_of(expressions, METRICS), summary)
    assert one.met
    assert 'for "new [b]":' in one.line
    assert (
        nobody.line
        == f"not met: {RELEVANCE} mean >= 0.5 for nobody: no rows of the system nobody; the systems are new [b], old"
    )


def test_a_limit_outside_the_range_of_every_metric_it_names_is_refused():
    bounds = {RELEVANCE: (0, 1), EASE: (None, None)}
    for expression in (f"{RELEVANCE}>=80", "ccrs<=-1"):
        with pytest.raises(UserError, match=r"scores of ccrs\.question_relevance are from 0 to 1"):
            gates_of([expression], [RELEVANCE, EASE], bounds)
    gates_of([f"{EASE}>=80", f"{RELEVANCE}>=1"], [RELEVANCE, EASE], bounds)


def test_fail_under_fails_on_gaps(tmp_path):
    summary = summarised(tmp_path / "gaps", [0.9] * 18 + [None] * 2)
    conditions = gates_of([f"{RELEVANCE}>=0.5"], METRICS)
    (check,) = check_gates(conditions, summary)
    assert not check.met
    assert "2 of 20 rows (10 %) are unscored (2 unparsable)" in check.line
    assert check_gates(conditions, summary, max_unscored=0.1)[0].met
    assert check_gates(conditions, summarised(tmp_path / "few", [0.9] * 19 + [None]))[0].met, (
        "1 of 20 is 0.05: allowed"
    )


def test_fail_under_fails_without_an_interval_or_rows(tmp_path):
    conditions = gates_of([f"{RELEVANCE}>=0", f"{EASE}>=0"], METRICS)
    (absent,) = check_gates(conditions[1:], summarised(tmp_path / "a", [0.9]))
    assert "no rows of this metric" in absent.line
    (single,) = check_gates(conditions[1:], summarised(tmp_path / "b", [60.0], EASE))
    assert "there is only 1 value" in single.line
    (none,) = check_gates(conditions[:1], summarised(tmp_path / "c", [None]), max_unscored=1)
    assert "no row is scored" in none.line
    assert not any(check.met for check in (absent, single, none))


def test_an_unknown_metric_is_refused_with_the_nearest():
    with pytest.raises(UnknownName, match=r"Did you mean ccrs\.question_relevance"):
        gates_of(["ccrs.question_relevanse>=0.5"], METRICS)
    with pytest.raises(UnknownName):
        gates_of(["ccr>=0.5"], METRICS)
    with pytest.raises(UserError, match="too large"):
        gates_of(["ccrs>=1e999"], METRICS)


def test_a_value_that_others_stand_under_is_tested_alone() -> None:
    names = ["score.specificity", "score.specificity.hazard", "ccrs.information_recall"]
    (one,) = gates_of(["score.specificity>=0.5"], names)
    assert [name for name in names if one.selects(name)] == ["score.specificity"]
    (family,) = gates_of(["score>=0.5"], names)
    assert [name for name in names if family.selects(name)] == names[:2]


@pytest.mark.parametrize("bounds", [[-1e308, 1e308], [False, True], ["0", [1]], [2**64 - 1, 1e300]])
def test_bounds_that_cannot_be_reckoned_with_are_unknown(tmp_path, bounds):
    run = write_run(
        tmp_path / "run",
        [],
        [row("1", RELEVANCE, 0.5)],
        manifest(metrics={RELEVANCE: {"bounds": bounds}}),
    )
    facts = read_manifest(run).metrics()[RELEVANCE]
    assert (facts.lo, facts.hi) in ((None, None), (2.0**64, None))

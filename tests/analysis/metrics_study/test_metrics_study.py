"""`metrics-study`: what was built into made-up scores is found, small cases by hand, gaps and degenerate input."""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from tests.contrib.papers.metrics_runs import FACTS, SYSTEMS, known, write_scores
from tests.program import run
from tests.report.drawn import drawn
from tests.there import there

from longmark import metrics_study
from longmark.analysis.compare import compare
from longmark.analysis.metrics_study import document as metrics_document
from longmark.analysis.metrics_study.study import MetricsStudy
from longmark.cli import main
from longmark.errors import UnknownName, UserError
from longmark.records import Signature, Usage
from longmark.report.document import brief
from longmark.report.format import metric_titles
from longmark.report.tables import Table, as_csv, as_text, readable
from longmark.stats.hypotheses import Hypothesis

SHARED = Path(__file__).parents[4] / "shared" / "data"
NAN = float("nan")
UNIT = {"bounds": [0, 1], "higher_is_better": True}


def study(
    folder: Path, scores: dict[str, Any], systems: str = "AB", *, facts: Any = None, **options: Any
) -> MetricsStudy:
    """The study of a run with these scores (questions x systems)."""
    matrices = {name: np.asarray(matrix, dtype=float) for name, matrix in scores.items()}
    write_scores(folder / "run", matrices, tuple(systems), facts or dict.fromkeys(scores, UNIT))
    return metrics_study([folder / "run"], **options)


def tables(found: MetricsStudy) -> dict[str, Table]:
    return {
        table.name: table
        for section in metrics_document(found).sections
        for table in section.tables
    }


def says(found: MetricsStudy, title: str) -> str:
    return next(
        section.says for section in metrics_document(found).sections if section.title == title
    )


# What was built in ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> MetricsStudy:
    folder = tmp_path_factory.mktemp("known")
    usage = {
        "made.tied": Usage(2, 1, 600, 0, 30, 0.0005),
        "made.ceiling": Usage(1, 0, 50, 0, 5, None),
    }
    write_scores(folder / "run", known(), usage=usage)
    return metrics_study([folder / "run"])


def test_six_systems_on_five_metrics(found: MetricsStudy):
    assert (found.systems, found.questions, len(found.pairs)) == (SYSTEMS, 500, 10)
    assert found.notices == ()
    assert [one.n for one in found.metrics] == [3000] * 5


def test_ties_are_found(found: MetricsStudy):
    for scores in found.metric("made.tied").systems:  # four values, equally likely
        assert scores.ties.probability == pytest.approx(0.25, abs=0.01)
    between = found.metric("made.tied").ties_between
    assert between.probability == pytest.approx(0.25, abs=0.01)
    assert between.pairs == 15 * 500 * 500
    assert all(scores.ties.equal == 0 for scores in found.metric("made.first").systems)


def test_the_ceiling_is_found(found: MetricsStudy):
    for scores in found.metric("made.ceiling").systems:
        assert scores.bounds is not None
        assert scores.bounds.share_high == pytest.approx(0.9, abs=3 * math.sqrt(0.9 * 0.1 / 500))
        assert (scores.bounds.at_low, scores.bounds.outside) == (0, 0)
        assert scores.described.skewness is not None
        assert scores.described.skewness < -3
    assert found.metric("made.first").systems[0].bounds is None
    assert not {"made.first", "made.second"} & {row[0] for row in tables(found)["bounds"].rows}


def test_the_correlation_is_found(found: MetricsStudy):
    pair = next(p for p in found.pairs if {p.first, p.second} == {"made.first", "made.second"})
    pearson, kendall = pair.by_kind["pearson"], pair.by_kind["kendall"]
    assert pearson.low is not None
    assert pearson.high is not None
    assert pearson.low < 0.8 < pearson.high
    # of a bivariate normal: tau = 2/pi asin(r)
    assert kendall.value == pytest.approx(2 / math.pi * math.asin(0.8), abs=0.03)
    assert list(pearson.by_system) == list(SYSTEMS)
    others = [p.by_kind["pearson"].value for p in found.pairs if p is not pair]
    assert all(
        value is not None and abs(value) < 0.07 for value in others
    )  # sd of a mean of six: 1 / sqrt(3000)
    closest = {row[0]: row[7] for row in tables(found)["metrics"].rows}
    assert (closest["made.first"], closest["made.second"]) == ("made.second", "made.first")


def test_the_p_values_are_those_of_compare(tmp_path: Path):
    scores = {
        "made.a": np.random.default_rng(4).normal(size=(40, 4)) + np.array([0.0, 0.6, 0.2, 0.4])
    }
    found = study(tmp_path, scores, "ABCD", seed=7)
    test = found.metrics[0].test
    assert test is not None
    assert not test.exact
    compared = compare([tmp_path / "run"], seed=7).metrics[0]
    assert [pair.p_tukey for pair in compared.pairs] == [
        test.p_value(pair.first, pair.second) for pair in compared.pairs
    ]


def test_discriminative_power_is_found(found: MetricsStudy):
    power = {one.metric: (one.power.significant, one.power.pairs) for one in found.metrics}
    # first: means 0 0 1 1 2 2, three pairs alike; harm: A against the five others
    assert power["made.first"] == (12, 15)
    assert power["made.harm"] == (5, 15)
    assert [power[name] for name in ("made.tied", "made.ceiling", "made.second")] == [(0, 15)] * 3
    first = found.metric("made.first").test
    assert first is not None
    alike = {(pair.a, pair.b) for pair in first.pairs if pair.p is not None and pair.p >= 0.05}
    assert alike == {("A", "B"), ("C", "D"), ("E", "F")}
    asl = found.metric("made.first").power.curve
    assert asl == tuple(sorted(asl, reverse=True))
    assert sum(p >= 0.05 for p in asl) == 3


def test_lower_is_better_puts_the_lowest_first(found: MetricsStudy):
    assert tables(found)["box_made.harm"].rows[-1][0] == "A"
    assert tables(found)["box_made.first"].rows[0][0] in ("E", "F")


def test_cost_is_that_of_the_rows(found: MetricsStudy):
    costs = {row[0]: row for row in tables(found)["costs"].rows}
    assert list(costs["made.tied"][1:6]) == pytest.approx([3000, 6000, 1_800_000, 90_000, 1.5])
    assert list(costs["made.tied"][6:]) == pytest.approx([2, 600, 30, 0.0005])
    assert (
        costs["made.ceiling"][5] is costs["made.ceiling"][-1] is None
    )  # the price is not known: not 0


def test_the_time_of_a_run_is_that_of_all_its_sessions(tmp_path: Path):
    run = write_scores(tmp_path / "run", known(questions=20))
    data = json.loads((run / "manifest.json").read_text())
    data["sessions"] = [
        {"seconds": 1.5, "rows": 400, "requests": 30, "from_cache": 2},
        {"seconds": 0.5, "rows": 200, "requests": 10, "from_cache": 0},
        {"started": "killed"},
    ]
    (run / "manifest.json").write_text(json.dumps(data))
    study = metrics_study([run], draws=100)
    (line,) = tables(study)["time"].rows
    assert list(line)[2:] == [600, 40, 2, 2.0, pytest.approx(2 / 600)]


def test_every_figure_has_its_section_and_every_section_says_something(found: MetricsStudy):
    page = metrics_document(found)
    assert all(section.says for section in page.sections)
    drawn = [section.title for section in page.sections if section.figures]
    assert drawn == [
        "Correlations between metrics",
        "Means over systems",
        *(f"Distribution: {words}" for words in metric_titles(FACTS).values()),
        "ASL curves",
    ]
    assert [section.title for section in page.sections if not section.folded] == [
        "Summary",
        "Discriminative power",
        "Correlations between metrics",
    ]
    names = [table.name for section in page.sections for table in section.tables]
    assert len(set(names)) == len(names)
    assert [table.name for section in brief(page).sections for table in section.tables] == [
        "metrics"
    ]
    assert page.title.startswith("Metrics study: ")
    assert re.search(r" 0\.\d{3} to 0\.\d{3} ", as_text(page.sections[0].tables[0])), (
        "no confidence interval"
    )


# By hand -------------------------------------------------------------------------------------------------------------


def test_a_case_by_hand(tmp_path: Path):
    one = study(tmp_path, {"m": [[1, 0], [1, 0.5], [0.5, 0]]}).metric("m")
    a, b = one.systems
    # A: 1 1 .5; B: 0 .5 0. Two of three at a bound each; of three pairs within each system one is equal.
    assert a.bounds is not None
    assert b.bounds is not None
    assert [a.bounds.at_high, a.bounds.share_high, b.bounds.at_low] == pytest.approx([2, 2 / 3, 2])
    assert [a.ties.equal, a.ties.pairs, b.ties.probability] == pytest.approx([1, 3, 1 / 3])
    # Between: nine pairs, .5 and .5 once.
    assert (one.ties_between.equal, one.ties_between.pairs) == (1, 9)
    # Means over systems: .5, .75, .25; their quartiles .375, .5, .625.
    assert [one.question_means.quantile(at) for at in (0, 0.25, 0.5, 0.75, 1)] == [
        0.25,
        0.375,
        0.5,
        0.625,
        0.75,
    ]
    # Bins of a tenth: .25, .5 and .75 are each in a bin of their own.
    assert one.question_means.counts == (0, 0, 1, 0, 0, 1, 0, 1, 0, 0)
    # A has higher by 1, .5, .5: of the 2^3 tables only two reach the mean of 2/3, p = 1/4.
    assert one.test is not None
    assert [one.test.pairs[0].difference, one.test.pairs[0].p] == pytest.approx([2 / 3, 0.25])
    assert one.power.share == 0
    assert one.mean == pytest.approx((2.5 / 3 + 0.5 / 3) / 2)


def test_a_question_that_lacks_a_system(tmp_path: Path):
    random = np.random.default_rng(1)
    scores = random.random((40, 3))
    scores[:10, 2] = NAN
    here = study(tmp_path / "a", {"m": scores}, "ABC", draws=500)
    one = here.metric("m")
    assert one.test is not None
    assert (one.test.n, one.test.missing, one.test.plus_one) == (30, 10, True)
    assert (one.question_means.n, one.question_means.left_out) == (30, 10)
    assert [scores.described.n for scores in one.systems] == [40, 40, 30]
    assert here.notices[0] == (
        "Questions are excluded because a system has no score: m 10 of 40 (25 %). Most missing scores: C."
    )
    assert tables(here)["missing"].rows == (
        ("m", "C", 40, "unparsable", 10, "The judge gave no number, twice."),
    )
    theirs = study(tmp_path / "b", {"m": scores}, "ABC", draws=500, as_published=True).metric("m")
    assert theirs.test is not None
    assert (theirs.test.n, theirs.test.plus_one, theirs.test.keep_incomplete) == (40, False, True)
    assert (theirs.question_means.n, theirs.question_means.left_out) == (40, 0)


def test_as_published_can_have_a_p_of_zero(tmp_path: Path):
    scores = np.column_stack([np.ones(60), np.zeros(60), np.zeros(60)])
    ours = study(tmp_path / "a", {"m": scores}, "ABC", draws=99).metric("m").power.curve
    theirs = (
        study(tmp_path / "b", {"m": scores}, "ABC", draws=99, as_published=True)
        .metric("m")
        .power.curve
    )
    assert (ours[-1], theirs[-1]) == (0.01, 0.0)  # (0 + 1) / (99 + 1), 0 / 99


def test_hypotheses_are_decided(tmp_path: Path):
    claims = (
        Hypothesis("A is worst", "all", ("made.harm",), (("A", "B"), ("A", "C")), "greater"),
        Hypothesis("E beats C", "all", ("made.first", "made.second"), (("E", "C"),), "greater"),
    )
    write_scores(tmp_path / "run", known(200))
    here = metrics_study([tmp_path / "run"], hypotheses=claims, draws=1000)
    assert [one.supported for one in here.hypotheses] == [True, False]  # second does not differ
    assert [row[-2:] for row in tables(here)["hypotheses"].rows] == [(True, None), (False, None)]
    assert [row[0] for row in tables(here)["hypotheses-comparisons"].rows].count("A is worst") == 2
    lone = Hypothesis("x", "all", ("made.harm",), (("A", "Z"),))
    with pytest.raises(UnknownName, match="Z"):
        metrics_study([tmp_path / "run"], hypotheses=(lone,), draws=10)


def test_a_hypothesis_is_not_supported_by_silence(tmp_path: Path):
    """B answers the better half only, a little better; with silence as 0 it is not better."""
    scores = [[i / 41, NAN if i < 20 else i / 41 + 0.01 + 0.001 * (i % 3)] for i in range(40)]
    claims = (Hypothesis("B is better", "all", ("m",), (("B", "A"),), "greater"),)
    ours = study(tmp_path, {"m": scores}, hypotheses=claims, draws=500)
    compared = compare([tmp_path / "run"], hypotheses=claims, draws=500)
    assert [(one.supported, one.p) for one in (*ours.hypotheses, *compared.hypotheses)] == [
        (False, 0.5)
    ] * 2
    published = study(
        tmp_path / "published",
        {"m": [row for row in scores if row[1] == row[1]]},
        hypotheses=claims,
    )
    assert published.hypotheses[0].supported


# Which runs, systems and metrics -------------------------------------------------------------------------------------


def test_systems_of_several_runs(tmp_path: Path):
    scores = {"a.x": np.eye(4), "a.y": np.eye(4), "b": np.eye(4)}
    write_scores(tmp_path / "one", scores, "ABCD", {})
    write_scores(
        tmp_path / "two", {name: 1 - matrix for name, matrix in scores.items()}, "EFGH", {}
    )
    both = metrics_study([tmp_path / "one", tmp_path / "two"], metrics=["a"])
    assert both.systems == tuple("ABCDEFGH")
    assert [one.metric for one in both.metrics] == ["a.x", "a.y"]
    assert len(both.metrics[0].test.pairs) == 28  # type: ignore[union-attr]
    with pytest.raises(UnknownName, match=r"a\.z"):
        metrics_study([tmp_path / "one"], metrics=["a.z"])
    write_scores(tmp_path / "three", scores, "AXYZ", {})
    with pytest.raises(UserError, match="by='run'"):
        metrics_study([tmp_path / "one", tmp_path / "three"])
    with pytest.raises(UserError, match="use by='system'"):
        metrics_study([tmp_path / "one", tmp_path / "two"], by="run")


def test_runs_by_their_names(tmp_path: Path):
    for name, shift in (("one", 0.0), ("two", 0.5)):
        write_scores(
            tmp_path / name, {"m": np.linspace(0, 0.5, 9)[:, None] + shift}, "A", {"m": UNIT}
        )
    both = metrics_study([tmp_path / "one", tmp_path / "two"], by="run")
    assert both.systems == ("one", "two")
    assert both.metrics[0].power.significant == 1


def test_marks_of_two_judges_are_refused_unless_allowed(tmp_path: Path):
    for name, judge in (("one", "j1"), ("two", "j2")):
        made = Signature("0.1.0", {}, {"judge": [judge]}, {}, 0)
        write_scores(
            tmp_path / name, {"m": np.eye(2)}, (f"{name}a", f"{name}b"), {}, signature=made
        )
    runs = [tmp_path / "one", tmp_path / "two"]
    with pytest.raises(UserError, match="allow_different_judges=True"):
        metrics_study(runs)
    allowed = metrics_study(runs, allow_different_judges=True)
    assert "j1" in allowed.notices[0]
    assert "j2" in allowed.notices[0]


def test_settings_outside_their_range(tmp_path: Path):
    write_scores(tmp_path / "run", {"m": np.eye(2)}, "AB", {})
    for options in ({"alpha": 0}, {"alpha": 1}, {"level": 1.2}, {"draws": 0}, {"by": "metric"}):
        with pytest.raises(UserError):
            metrics_study([tmp_path / "run"], **options)
    with pytest.raises(UserError, match="not a run folder"):
        metrics_study([tmp_path])
    with pytest.raises(UserError, match="hypotheses compare systems, and there is one"):
        study(
            tmp_path / "x",
            {"m": [[1]]},
            "A",
            hypotheses=(Hypothesis("h", "all", ("m",), (("A", "B"),)),),
        )


# Degenerate input: a reason, and sentences that are true -------------------------------------------------------------


def test_one_system(tmp_path: Path):
    here = study(tmp_path, {"m": [[0.1], [0.4], [0.4], [0.9]], "n": [[1], [2], [3], [4]]}, "A")
    one = here.metric("m")
    assert (one.test, one.power.share, one.power.curve) == (None, None, ())
    assert one.power.reason == "there is one system, A"
    assert tables(here)["discriminative_power"].rows[0][-1] == "there is one system, A"
    assert says(here, "ASL curves") == "No pair of systems was tested."
    assert not any("between systems" in row for row in tables(here)["ties"].rows)
    assert tables(here)["ties"].rows[0][2] == pytest.approx(1 / 6)


@pytest.mark.parametrize("questions", [5, 6])
def test_too_few_questions_to_tell_any_two_systems_apart(tmp_path: Path, questions: int):
    apart = [[0.9 - 0.01 * i, 0.1 + 0.001 * i] for i in range(questions)]  # p = 2^(1 - questions)
    here = study(tmp_path, {"m": apart, "n": apart})
    why = "no difference, however large, can be significant with so few questions (5); at least 6 are needed"
    if questions == 5:
        assert (here.metric("m").power.share, here.metric("m").reason) == (0, why)
        assert here.notices == (f"m and n: {why}.",)
        assert tables(here)["discriminative_power"].rows[0][-1] == why
    else:
        assert (here.metric("m").power.share, here.metric("m").reason, here.notices) == (
            1,
            None,
            (),
        )


def test_too_few_permutations_to_tell_any_two_systems_apart(tmp_path: Path):
    apart = {"m": [[0.9, 0.1]] * 40}
    (notice,) = study(tmp_path, apart, draws=9).notices
    assert notice.endswith("with so few draws (9); at least 19 are needed (--draws).")
    claim = Hypothesis("A beats B", "all", ("m",), (("A", "B"),), "two-sided")
    claimed = study(tmp_path / "claimed", apart, draws=9, hypotheses=(claim,))
    assert "at least 19 are needed (--draws)" in str(tables(claimed)["hypotheses"].rows[0][-1])
    assert (
        study(tmp_path / "published", apart, draws=9, as_published=True).metric("m").power.share
        == 1
    )


def test_a_constant_metric(tmp_path: Path):
    here = study(
        tmp_path, {"m": np.ones((6, 3)), "n": np.random.default_rng(0).random((6, 3))}, "ABC"
    )
    constant = here.metric("m")
    assert constant.power.share == 0
    assert "on every question all systems have the same score" in str(constant.reason)
    (pair,) = here.pairs
    assert {kind: mean.value for kind, mean in pair.by_kind.items()} == dict.fromkeys(pair.by_kind)
    assert as_text(tables(here)["correlations"]).count("all values of a column are equal") == 1, (
        "of all three kinds"
    )
    assert "all values are equal" in as_csv(tables(here)["shape"])


def test_a_system_without_a_value(tmp_path: Path):
    scores = np.random.default_rng(0).random((20, 3))
    scores[:, 1] = NAN
    here = study(tmp_path, {"m": scores}, "ABC")
    one = here.metric("m")
    assert one.test is not None
    assert one.test.n == 20
    assert [(pair.a, pair.b, pair.p is None, pair.reason) for pair in one.test.pairs] == [
        ("A", "B", True, "no score of B"),
        ("A", "C", False, None),
        ("B", "C", True, "no score of B"),
    ]
    assert (one.power.pairs, one.power.untested) == (1, 2)
    assert "m: no score of B; the other systems are compared." in here.notices
    assert one.question_means.systems == 2
    scores[:, 2] = NAN
    alone = study(tmp_path / "alone", {"m": scores}, "ABC").metric("m")
    assert (alone.power.share, alone.power.reason) == (None, "only A has a score")


def test_no_value_at_all(tmp_path: Path):
    here = study(tmp_path, {"m": np.full((3, 2), NAN)})
    assert here.metric("m").power.reason == "no system has a score"
    assert says(here, "Distribution: m") == "No scores."
    assert tables(here)["discriminative_power"].rows[0][-1] == "no system has a score"
    assert [row[-1] for row in tables(here)["ties"].rows] == [
        "there are no two responses to compare"
    ] * 3


def test_scores_that_differ_by_rounding_only(tmp_path: Path):
    values = np.array([[0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2], [0.3, 0.3]])  # .30000000000000004 and .3
    here = study(
        tmp_path, {"m": values}, facts={"m": {"bounds": [None, None], "higher_is_better": True}}
    )
    one = here.metric("m")
    assert len(set(one.edges)) == len(one.edges)
    assert sum(one.question_means.counts) == 3
    assert one.power.share == 0
    assert all(
        drawn([figure]) for section in metrics_document(here).sections for figure in section.figures
    )


@settings(max_examples=25)
@given(
    st.integers(1, 3),
    st.lists(
        st.lists(st.sampled_from([NAN, 0.0, 0.5, 1.0, 1.5, -2.0, 1e-9]), min_size=6, max_size=6),
        min_size=1,
        max_size=6,
    ),
    st.sampled_from([None, True, False]),
)
def test_nothing_is_nan_whatever_comes(
    tmp_path_factory: pytest.TempPathFactory,
    systems: int,
    numbers: list[list[float]],
    better: bool | None,
):
    table = np.array(numbers)
    scores = {"m": table[:, :systems], "n": table[:, 3 : 3 + systems]}
    facts = {
        "m": {"bounds": [0, 1], "higher_is_better": better},
        "n": {"bounds": [0, None], "higher_is_better": True},
    }
    here = study(tmp_path_factory.mktemp("any"), scores, "ABC"[:systems], facts=facts, draws=50)
    page = metrics_document(here)
    texts = [section.says for section in page.sections]
    for each in tables(here).values():
        texts += [as_csv(each), as_text(each)]
        numbers_in = [cell for row in each.rows for cell in row if isinstance(cell, float)]
        assert all(map(math.isfinite, numbers_in)), each.name
    assert not any(re.search(r"\b(nan|inf|None)\b", text) for text in texts)


def test_names_of_files_are_safe_and_unique(tmp_path: Path):
    names = ["../../evil", "a/b", "a b", "a-b", "x" * 300]
    here = study(tmp_path, {name: np.eye(2) for name in names})
    found = [name for name in tables(here) if name.startswith(("box_", "histogram_"))]
    assert len(set(found)) == 10
    assert all(re.fullmatch(r"[\w.-]{1,90}", name) for name in found)


# Real scores ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(
    not (SHARED / "summeval").exists(), reason="the shared data are not here: shared/data/summeval"
)
def test_experts_on_sixteen_summarisers(tmp_path: Path):
    """SummEval: four qualities (1 to 5) of 100 documents' summaries by 16 systems, against SciPy and plain counting."""
    lines = [
        json.loads(line)
        for line in (SHARED / "summeval" / "expert_means.jsonl").read_bytes().splitlines()
    ]
    systems = sorted(lines[0]["systems"])
    qualities = ("coherence", "consistency", "fluency", "relevance")
    scores = {
        q: np.array([[line["systems"][s][q] for s in systems] for line in lines]) for q in qualities
    }
    scale = {"bounds": [1, 5], "higher_is_better": True}
    write_scores(tmp_path / "run", scores, systems, dict.fromkeys(qualities, scale))
    here = metrics_study([tmp_path / "run"], draws=300)
    for quality, matrix in scores.items():
        one = here.metric(quality)
        assert len(one.power.curve) == 120
        for place, system in enumerate(one.systems):
            x = matrix[:, place].tolist()
            assert system.bounds is not None
            assert system.bounds.at_high == sum(value == 5 for value in x)
            equal = sum(abs(a - b) < 1e-9 for a, b in itertools.combinations(x, 2))
            assert (system.ties.equal, system.ties.pairs) == (equal, 4950)
            assert system.described.skewness == pytest.approx(scipy_stats.skew(x))
            assert system.described.kurtosis == pytest.approx(scipy_stats.kurtosis(x))
    for pair in here.pairs:
        for kind, measure in (
            ("pearson", scipy_stats.pearsonr),
            ("kendall", scipy_stats.kendalltau),
        ):
            own = [
                measure(scores[pair.first][:, i], scores[pair.second][:, i]).statistic
                for i in range(16)
            ]
            assert pair.by_kind[kind].value == pytest.approx(math.tanh(np.mean(np.arctanh(own))))
    # experts rarely find a fact wrong, and often find a summary incoherent
    at_top = {
        q: np.mean([s.bounds.share_high for s in here.metric(q).systems if s.bounds])
        for q in qualities
    }
    assert at_top["consistency"] > 0.7 > 0.3 > at_top["coherence"]
    assert here.metric("coherence").power.share > here.metric("fluency").power.share  # type: ignore[operator]


# The verb ------------------------------------------------------------------------------------------------------------


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    home, out = tmp_path / "home", tmp_path / "study"
    write_scores(tmp_path / "run", known(60))
    (tmp_path / "h.yaml").write_text(
        "- {name: A harms, combine: all, metrics: [made.harm], pairs: [[A, B]], direction: greater}\n",
        encoding="utf-8",
    )
    metrics = "made.first,made.harm"
    words: list[str | Path] = [
        "metrics-study",
        tmp_path / "run",
        "--draws",
        "500",
        "--metrics",
        metrics,
    ]
    done = run(*words, "--out", out, "--hypotheses", tmp_path / "h.yaml", home=home)
    assert done.code == 0, done.err
    for heading in ("Summary", "Hypotheses"):
        assert f"\n{heading}\n" in done.out
    assert len(done.out.splitlines()) < 30
    assert done.out.endswith(f"Report: {out / 'report.html'}\n")
    with (out / "tables" / "discriminative_power.csv").open(encoding="utf-8") as file:
        assert {row["metric"]: row["significant_pairs"] for row in csv.DictReader(file)}[
            "made.first"
        ] == "12"
    assert (out / "tables" / "correlations_by_system.tex").exists()
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 8
    same = [*map(str, words), "--out", str(out), "--hypotheses", str(tmp_path / "h.yaml")]
    assert main(same) == 0
    assert capsys.readouterr().out == done.out
    assert (out / "report.html").read_text(encoding="utf-8") == page
    assert (
        main([*map(str, words), "--verbose"]) == 0
    )  # without a page, whose figures take most of the time
    assert "\nDiscriminative power\n" in capsys.readouterr().out
    assert main([*same, "--metrics", "made.frist"]) == 2
    assert "made.first" in capsys.readouterr().err
    assert main([*same, "--out", str(tmp_path / "h.yaml")]) == 2
    assert "give a folder to --out" in capsys.readouterr().err


def test_kept_questions_are_not_called_excluded(tmp_path: Path):
    matrix = [[0.5, NAN, 0.5]] + [[0.5, 0.5, 0.5]] * 5
    for published, head in ((True, "with a missing system"), (False, "excluded")):
        found = tables(study(tmp_path / head, {"m": matrix}, "ABC", as_published=published))
        columns = [column.name for column in found["discriminative_power"].columns]
        n, left_out = found["discriminative_power"].rows[0][5:7]
        assert (columns[6], n, left_out) == (head, 6 if published else 5, 1)


def test_an_unknown_option_is_named(tmp_path: Path):
    with pytest.raises(
        UnknownName, match=r"unknown option of metrics_study: draw\. Did you mean draws"
    ):
        metrics_study([tmp_path], draw=5)


def test_with_clusters_pairs_are_tested_over_clusters(tmp_path: Path):
    # Eight documents of ten questions each. On every question of a document the systems differ alike: by .3 on five
    # documents, by -.3 on three. 80 independent questions would show it; eight documents do not (sign flips: p .73).
    lines = [
        f"{system}{d}-{q},{d}-{q},{system},m,{0.5 + (0.3 if d < 5 else -0.3) * (system == 'a')},{d}"
        for d in range(8)
        for q in range(10)
        for system in "ab"
    ]
    path = tmp_path / "rows.csv"
    path.write_text(
        "\n".join(["example_id,question_id,system,metric,score,document", *lines]) + "\n"
    )
    alone, clustered = (
        metrics_study([path], draws=2_000, cluster=field) for field in ("question_id", "document")
    )
    assert (alone.metrics[0].power.significant, clustered.metrics[0].power.significant) == (1, 0)
    (pair,) = there(clustered.metrics[0].test).pairs
    assert pair.difference == pytest.approx(0.075)
    assert pair.p == pytest.approx(186 / 256, abs=0.02)
    page = metrics_document(clustered)
    assert (
        page.settings["Correction"]
        == "max-T over clusters (document), over the pairs of each metric; none over metrics"
    )


def test_too_few_clusters_leave_a_reason_in_the_summary(tmp_path: Path):
    lines = [
        f"{s}{q},q{q},{s},m,{q % 4 / 4 + (s == 'a') / 9},d{q % 3}" for q in range(12) for s in "ab"
    ]
    path = tmp_path / "rows.csv"
    path.write_text(
        "\n".join(["example_id,question_id,system,metric,score,document", *lines]) + "\n"
    )
    summary = tables(metrics_study([path], draws=200, cluster="document"))["metrics"]
    assert "3.0 effective clusters are too few for a decision" in as_text(readable(summary))
    assert "because" not in as_text(readable(tables(metrics_study([path], draws=200))["metrics"]))


@pytest.mark.parametrize(("option", "best"), [("--higher", "b"), ("--lower", "a")])
def test_scores_made_elsewhere_get_a_direction(tmp_path: Path, option: str, best: str):
    lines = [f"{s}{q},q{q},{s},toxicity,{q / 20 + (s == 'b') / 9}" for q in range(12) for s in "ab"]
    (tmp_path / "rows.csv").write_text(
        "\n".join(["example_id,question_id,system,metric,score", *lines]) + "\n"
    )
    words = ["metrics-study", str(tmp_path / "rows.csv"), option, "toxicity", "--draws", "99"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    rows = list(csv.DictReader((tmp_path / "out" / "tables" / "box_toxicity.csv").open()))
    assert rows[0]["system"] == best

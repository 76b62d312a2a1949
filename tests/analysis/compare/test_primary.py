"""Primary metrics decide: their tests are a family of their own, and the other metrics say that they are exploratory."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from tests.analysis.compare.runs import lines, run_of
from tests.report.runs import CORRECTNESS, RELEVANCE, manifest
from tests.there import there

import longmark.analysis.compare.tests as deciding_tests
from longmark.analysis.compare import compare, document
from longmark.analysis.compare.comparison import Comparison
from longmark.analysis.compare.gate import against_first
from longmark.analysis.compare.results import result_titles
from longmark.analysis.compare.tests import (
    ComparedScores,
    ComparisonSettings,
    family,
)
from longmark.analysis.compare.verdict import verdict
from longmark.cli import main
from longmark.errors import UnknownName, UserError
from longmark.report.format import fixed
from longmark.report.summary import summarise
from longmark.report.tables import cell_text

EXPLORATORY = [f"mine.m{i}" for i in range(15)]


def scores(shift: float, n: int = 24, seed: int = 3) -> dict[str, dict[str, list[float]]]:
    """Two systems on a metric with this true difference, first, and on fifteen others without one."""
    random = np.random.default_rng(seed)
    systems: dict[str, dict[str, list[float]]] = {"old": {}, "new": {}}
    for metric in (*EXPLORATORY, RELEVANCE):
        old = random.random(n) * 0.5 + 0.2
        difference = random.normal(shift if metric == RELEVANCE else 0, 0.1, n)
        systems["old"][metric] = old.tolist()
        systems["new"][metric] = np.clip(old + difference, 0, 1).tolist()
    return systems


def compared(folder: Path, **options: Any) -> Comparison:
    options = {"draws": 999, "higher": EXPLORATORY, **options}
    if not folder.exists():
        run_of(folder, scores(0.055))
    return compare([folder], **options)


def test_a_primary_metric_has_the_p_and_the_interval_of_a_comparison_of_it_alone(tmp_path: Path):
    run = tmp_path / "run"
    among_all = compared(run).metric(RELEVANCE).pairs[0]
    primary = compared(run, primary=[RELEVANCE]).metric(RELEVANCE).pairs[0]
    alone = compared(run, metrics=[RELEVANCE], higher=[]).metric(RELEVANCE).pairs[0]
    assert (primary.p, primary.difference.ends) == (alone.p, alone.difference.ends)
    assert primary.p == primary.difference.p_unadjusted, "a family of one"
    assert there(primary.p) < there(among_all.p)


def test_the_exploratory_metrics_are_a_family_by_themselves(tmp_path: Path):
    run = tmp_path / "run"
    exploratory = compared(run, primary=[RELEVANCE]).metrics[1:]
    alone = compared(run, metrics=EXPLORATORY).metrics
    assert {metric.metric: metric.pairs[0].p for metric in exploratory} == {
        metric.metric: metric.pairs[0].p for metric in alone
    }


def test_without_primary_metrics_every_metric_decides_in_one_family(tmp_path: Path):
    comparison = compared(tmp_path / "run")
    assert (comparison.primary, comparison.exploratory, comparison.comparisons) == ((), [], 16)
    page = document(comparison)
    said = [page.lede, *(f"{section.says} {section.note}" for section in page.sections)]
    assert "xploratory" not in " ".join(said)
    assert "role" not in lines(comparison, "results")[0]


def test_the_page_has_the_primary_metric_first_and_says_what_is_exploratory(tmp_path: Path):
    comparison = compared(tmp_path / "run", primary=[RELEVANCE])
    page = document(comparison)
    assert page.lede == "16 metrics, 1 primary, the others exploratory, paired by question."
    says = page.sections[0].says
    assert says.startswith("new is better on Question relevance (primary) (old - new: -0.")
    assert " Exploratory: no significant difference on 15 metrics. " in says, "counted, not named"
    assert " Significant differences: 1 of 1 comparison of primary metrics (alpha 0.05" in says
    for table in ("results", "differences"):
        rows = lines(comparison, table)
        assert rows[0]["metric"] == RELEVANCE
        assert [row["role"] for row in rows] == ["primary", *["exploratory"] * 15]
    assert page.settings["Primary metrics"] == [RELEVANCE]
    titles = result_titles(comparison.metrics)
    assert titles[RELEVANCE] == "Question relevance"
    assert titles["mine.m3"] == "mine.m3 (exploratory)"


def test_the_verdict_is_not_what_an_exploratory_metric_says(tmp_path: Path):
    assert verdict(compared(tmp_path / "run")) != ""
    comparison = compared(tmp_path / "run", primary=["mine.m0"])
    assert comparison.metric(RELEVANCE).pairs[0].p is not None
    assert "Question relevance" not in verdict(comparison)


def test_the_gate_is_about_the_primary_metrics_alone(tmp_path: Path):
    worse = scores(-0.2)
    run = run_of(tmp_path / "worse", worse)
    options: dict[str, Any] = {"against_first": True, "draws": 999, "higher": EXPLORATORY}
    every = against_first(compare([run], **options))
    assert [check.metric for check in every if not check.met] == [RELEVANCE]
    primary = against_first(compare([run], primary=["mine.m0"], **options))
    assert [(check.metric, check.result) for check in primary] == [("mine.m0", "ok")]


def test_a_margin_is_for_primary_metrics(tmp_path: Path):
    run = tmp_path / "run"
    (decision,) = compared(run, primary=[RELEVANCE], margin=0.2).margins
    assert decision.metric == RELEVANCE
    assert decision.difference.level == pytest.approx(0.9), "1 - 2 alpha: a family of one"
    with pytest.raises(UserError, match=r"mine\.m0 is exploratory, and margins decide"):
        compared(run, primary=[RELEVANCE], margin={"mine.m0": 0.1})


def test_a_primary_metric_that_cannot_be_compared_is_refused(tmp_path: Path):
    run = tmp_path / "run"
    with pytest.raises(UnknownName, match=r"unknown metric: mine\.n0"):
        compared(run, primary=["mine.n0"])
    with pytest.raises(UserError, match="not among the metrics that metrics= selects"):
        compared(run, metrics=[RELEVANCE], higher=[], primary=["mine.m0"])
    one_sided = {
        "old": {RELEVANCE: [0.5] * 9, CORRECTNESS: [0.5] * 9},
        "new": {RELEVANCE: [0.5] * 9},
    }
    with pytest.raises(
        UserError,
        match=rf"no primary metric can be compared: .*only old has a score.*Name another: {RELEVANCE}$",
    ):
        compare([run_of(tmp_path / "one", one_sided)], primary=[CORRECTNESS])


def test_a_family_of_metrics_and_slices_of_it_can_be_primary(tmp_path: Path):
    comparison = compared(tmp_path / "run", primary=["mine"])
    assert list(comparison.primary) == EXPLORATORY
    assert [metric.metric for metric in comparison.exploratory] == [RELEVANCE]


def test_the_command_line_compares_and_gates_the_primary_metrics(tmp_path: Path, capsys: Any):
    run = run_of(tmp_path / "run", scores(-0.2))
    arguments = ["compare", str(run), "--draws", "999", "--higher", "mine", "--fail-if-worse"]
    assert main(arguments) == 3
    assert main([*arguments, "--primary", "mine.m0,mine.m1"]) == 0
    printed = capsys.readouterr().out
    assert "Exploratory: old is better on Question relevance;" in " ".join(printed.split())


def test_one_primary_metric_among_sixteen_is_wrong_at_the_stated_rate():
    """400 samples of 16 metrics without any true difference, 1 of them primary. A false positive on the primary metric
    at alpha .05, and on any exploratory one: each at most .05 (binomial 99.9 % limit .087). Any of 16 unadjusted p:
    1 - .95^16 = .56."""
    random = np.random.default_rng(45)
    settings = ComparisonSettings(0.95, 0.05, 199, 0, complete=False)
    questions = list(range(20))
    primary_errors = exploratory_errors = unadjusted_errors = 0
    for _ in range(400):
        metrics = [in_one_reading(f"m{i}", random.normal(0, 1, (20, 2))) for i in range(16)]
        table = SimpleNamespace(
            questions=questions,
            cluster="question_id",
            shares_unscored=lambda _metric: np.zeros((20, 2)),
        )
        primary = family(metrics[:1], cast(Any, table), settings)
        others = family(metrics[1:], cast(Any, table), settings)
        primary_errors += there(primary["m0"].common[0].p) <= 0.05
        exploratory_errors += min(there(test.common[0].p) for test in others.values()) <= 0.05
        unadjusted_errors += (
            min(there(test.common[0].p_unadjusted) for test in (primary | others).values()) <= 0.05
        )
    assert primary_errors / 400 <= 0.087
    assert exploratory_errors / 400 <= 0.087
    assert unadjusted_errors / 400 > 0.4


def in_one_reading(metric: str, table: Any) -> deciding_tests.Tested:
    reading = ComparedScores(np.arange(len(table)), table, None)
    return deciding_tests.Tested(
        metric, 1, ("a", "b"), (0, 1), reading, None, None, ((0, 1),), tukey=cast(Any, None)
    )


WORDS = "classic.length.words"
CITED = "citations.distinct_sources"


def described(folder: Path, **options: Any) -> Comparison:
    """On relevance, and on two metrics of which neither direction is better: one differs, one does not."""
    systems = scores(0.055)
    random = np.random.default_rng(8)
    for system, words in (("old", 40), ("new", 90)):
        systems[system] = {
            RELEVANCE: systems[system][RELEVANCE],
            WORDS: (words + random.integers(0, 9, 24)).tolist(),
            CITED: random.integers(1, 4, 24).tolist(),
        }
    facts = manifest()
    facts["metrics"] = facts["metrics"] | {
        WORDS: {"bounds": [0, None], "higher_is_better": True, "descriptive": "longer"},
        CITED: {"bounds": [0, None], "higher_is_better": None},
    }
    return compare([run_of(folder / "run", systems, described=facts)], draws=999, **options)


def test_metrics_of_which_neither_direction_is_better_do_not_count_among_the_comparisons(
    tmp_path: Path,
):
    comparison = described(tmp_path)
    alone = compare([tmp_path / "run"], metrics=[RELEVANCE], draws=999)
    assert [(metric.metric, metric.role) for metric in comparison.metrics] == [
        (RELEVANCE, "primary"),
        (WORDS, "descriptive"),
        (CITED, "descriptive"),
    ]
    assert comparison.comparisons == 1
    assert comparison.metric(RELEVANCE).pairs[0].p == alone.metric(RELEVANCE).pairs[0].p
    section = document(comparison).sections[0]
    assert "Significant differences: 1 of 1 comparison (alpha 0.05" in section.says
    assert "Neither direction is better: new is longer on Length" in section.says
    same = described(tmp_path / "same", metrics=[RELEVANCE, CITED])
    assert "Neither direction" not in document(same).sections[0].says, (
        "a verdict that is not about it"
    )
    assert "0 of 1 comparison significant" in document(same).sections[0].note
    assert (
        "Metrics without a better direction: 1 of 2 comparisons significant, adjusted over these alone. They describe "
        "the answers and decide nothing." in section.note
    )
    assert [check.metric for check in against_first(comparison)] == [RELEVANCE]


def test_where_no_metric_has_a_direction_all_of_them_are_compared(tmp_path: Path):
    described(tmp_path)
    comparison = compare([tmp_path / "run"], metrics=[CITED], draws=999)
    assert (comparison.comparisons, comparison.exploratory) == (1, [])
    comparison = compare([tmp_path / "run"], primary=[WORDS], draws=999)
    assert [metric.metric for metric in comparison.deciding] == [WORDS], (
        "a user who names it means it"
    )


def test_every_primary_metric_is_named_in_the_first_sentence(tmp_path: Path):
    names = EXPLORATORY[:6]
    comparison = compared(tmp_path / "run", primary=names)
    sentence = verdict(comparison)
    assert sentence.startswith("No difference is shown")
    assert all(f" on {name} (primary)" in sentence for name in names)
    assert "more" not in sentence


def test_a_mean_has_the_decimals_of_its_metric_in_every_table(tmp_path: Path):
    """Three on a scale of 1, one on a scale of 100: as the table of a run has them."""
    comparison = described(tmp_path)
    of_run = {(cell.metric, cell.system): cell.mean for cell in summarise([tmp_path / "run"]).cells}
    places = {RELEVANCE: 3, WORDS: 1, CITED: 2}
    tables = {table.name: table for part in document(comparison).sections for table in part.tables}
    results = tables["results"]
    for row in results.rows:
        metric, columns = str(row[0]), [column.name for column in results.columns]
        for system in ("old", "new"):
            shown = cell_text(row[columns.index(system)], results.columns[columns.index(system)])
            assert shown.partition(" ")[0] == fixed(of_run[metric, system], places[metric])
    for name in ("means", "differences"):
        table = tables[name]
        for row in table.rows:
            (column, cell) = next(
                pair for pair in zip(table.columns, row, strict=True) if pair[0].kind == "estimate"
            )
            value = cell_text(cell, column).partition(" ")[0]
            assert len(value.partition(".")[2]) == places[str(row[0])]

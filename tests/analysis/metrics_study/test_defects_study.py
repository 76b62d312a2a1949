"""Which metric notices which known defect: thresholds, shares and reasons, held against counts by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.there import counted, there

from longmark import cli
from longmark.analysis.metrics_study.defects import (
    DefectDetection,
    DefectsOptions,
    _Metric,
    defects_study,
    detectable,
    document,
)
from longmark.scores.manifest import MetricFacts
from longmark.scores.observations import Observation
from longmark.stats.proportion import share

QUESTIONS = 40


def write(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """A file of defects and a file of rows: `sharp` gives each original 0.5 to 0.89 and takes .6 for a negation,
    nothing for an order, and adds .1 for padding; `blind` gives everything .5."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    lines, rows = [], []
    for n in range(QUESTIONS):
        name = f"a{n}"
        omitted = {"number@1": "the rule finds no place in it"}
        lines.append(
            {
                "id": name,
                "question_id": f"q{n}",
                "answer": "It is.",
                "meta": {"defects_omitted": omitted},
            }
        )
        scores = {name: 0.5 + n / 100}
        for kind, more in (("negation", -0.6), ("shuffled", 0.0), ("padding", 0.1)):
            proof = {"kind": kind, "strength": "1", "source": name, "edits": []}
            one = f"{name}.{kind}@1"
            lines.append(
                {"id": one, "question_id": f"q{n}", "answer": kind, "meta": {"defect": proof}}
            )
            scores[one] = scores[name] + more
        for one, score in scores.items():
            row = {
                "example_id": one,
                "question_id": f"q{n}",
                "system": one.partition(".")[2] or "original",
            }
            rows.append({**row, "metric": "sharp", "score": score})
            rows.append({**row, "metric": "blind", "score": 0.5})
    return write(tmp_path / "d.jsonl", lines), write(tmp_path / "rows.jsonl", rows)


OPTIONS: dict[str, Any] = {
    "bounds": {"sharp": (-1, 2), "blind": (0, 1)},
    "higher": ["sharp", "blind"],
}


def test_shares_thresholds_and_differences_are_those_counted_by_hand(files: tuple[Path, Path]):
    study = defects_study(files[1], files[0], **OPTIONS)
    negation, shuffled, padding = (
        study.cells["sharp", f"{kind}@1"] for kind in ("negation", "shuffled", "padding")
    )
    assert [counted(one.detected) for one in (negation, padding)] == [40, 0]
    # floor(.05 * 39) = 1 other original may be below: for the lowest two originals the threshold is the third lowest
    assert counted(shuffled.detected) == counted(study.false_alarms["sharp"]) == 2
    assert [there(one.excess.value) for one in (negation, shuffled, padding)] == pytest.approx(
        [0.95, 0, -0.05]
    )
    assert [counted(one.worse) for one in (negation, shuffled, padding)] == [40, 0, 0]
    assert [counted(one.better) for one in (negation, shuffled, padding)] == [0, 0, 40]
    assert there(negation.difference.value) == pytest.approx(-0.6)
    assert [one.net.value for one in (negation, shuffled, padding)] == [-1, 0, 1]
    assert {counted(study.cells["blind", kind].detected) for kind in study.defects} == {0}
    assert study.false_alarms["blind"].value == 0
    (summary,) = document(study).sections[0].tables
    texts = {row[0]: row[3:] for row in summary.rows}
    assert texts["sharp"] == ("negation", "shuffled, padding", "padding")
    assert texts["blind"] == (None, "negation, shuffled, padding", None)


@pytest.mark.parametrize(("pairs", "noticed"), [(2, False), (5, False), (6, True)])
def test_a_defect_is_noticed_and_rewarded_from_six_pairs_on(pairs: int, noticed: bool):
    # of 40 pairs so many defects are below every original (or above their own), and the rest are alike
    originals = [
        Observation(0, f"{n}", f"q{n}", f"q{n}", "", False, "", "m", 0.5 + n / 100)
        for n in range(40)
    ]
    metric = _Metric(MetricFacts(0, 1, True), originals, DefectsOptions())
    moved = list(range(10, 10 + pairs))

    def cell(score: float) -> DefectDetection:
        defects = [
            replace(one, score=score) if n in moved else one for n, one in enumerate(originals)
        ]
        return metric.cell(list(zip(originals, defects, strict=True)))

    low, high = cell(0.1), cell(0.95)
    assert (there(low.excess.value), there(high.net.value)) == pytest.approx(
        (pairs / 40, pairs / 40)
    )
    assert (there(low.excess.low) > 0, there(high.net.low) > 0, there(low.difference.high) < 0) == (
        noticed,
    ) * 3


def test_where_lower_is_better_a_higher_score_is_worse(files: tuple[Path, Path]):
    study = defects_study(files[1], files[0], metrics=["sharp"], lower=["sharp"])
    assert [
        counted(study.cells["sharp", f"{kind}@1"].worse) for kind in ("negation", "padding")
    ] == [0, 40]
    assert there(study.cells["sharp", "padding@1"].difference.value) == pytest.approx(-0.1)


def test_without_a_direction_a_score_far_from_the_middle_is_detected_and_nothing_is_better(
    files: tuple[Path, Path],
):
    cell = defects_study(files[1], files[0], metrics=["sharp"]).cells["sharp", "negation@1"]
    assert counted(cell.detected) == 40
    assert cell.better.value is None
    assert "no better direction" in there(cell.better.reason)


def test_pairs_without_both_scores_are_counted_with_their_reasons(files: tuple[Path, Path]):
    rows = [json.loads(line) for line in files[1].read_text().splitlines()]
    kept = []
    for row in rows:
        if row["example_id"] == "a0":
            row |= {"score": None, "status": "undefined", "reason": "it says nothing"}
        if row["example_id"] != "a1.negation@1":
            kept.append(row)
    study = defects_study(write(files[1], kept), files[0], **OPTIONS)
    cell = study.cells["sharp", "negation@1"]
    assert (
        cell.detected.n,
        cell.detected.missing,
        cell.worse.missing,
        cell.difference.missing,
    ) == (38, 2, 2, 2)
    assert cell.unscored == {
        ("original", "undefined", "it says nothing"): 1,
        ("defect", "no row", "the runs have no row of it"): 1,
    }
    (table,) = document(study).sections[3].tables
    assert ("sharp", "negation@1", "original", "undefined", "it says nothing", 1) in table.rows
    (made,) = document(study).sections[4].tables
    assert ("number@1", 0, 40, "the rule finds no place in it") in made.rows


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8)), min_size=1, max_size=40),
    st.sampled_from([0.01, 0.05, 0.2, 0.4]),
    st.sampled_from([True, False]),
)
def test_the_threshold_is_that_of_other_clusters_by_count(
    given_: list[tuple[int, int]], rate: float, higher: bool
):
    originals = [
        Observation(0, str(n), f"q{c}", f"q{c}", "", False, "", "m", float(s))
        for n, (c, s) in enumerate(given_)
    ]
    metric = _Metric(
        MetricFacts(higher_is_better=higher), originals, DefectsOptions(false_alarms=rate)
    )
    for one in originals:
        others = [metric.good(there(two.score)) for two in originals if two.cluster != one.cluster]
        own = metric.good(there(one.score))
        expected = (
            None
            if not others
            else float(sum(two <= own for two in others) <= int(rate * len(others)))
        )
        assert metric.detects(one) == expected


def test_the_detectable_rate_is_shown_with_the_power_it_states():
    how = DefectsOptions()
    rate = there(detectable(100, how))
    counts = np.random.default_rng(1).binomial(100, rate, 4000)
    shown = sum(there(share(int(count), 100).low) > how.false_alarms for count in counts) / 4000
    assert shown == pytest.approx(0.8, abs=0.03)
    assert detectable(0, how) is None


def test_intervals_are_over_questions(files: tuple[Path, Path]):
    lines = [json.loads(line) for line in files[0].read_text().splitlines()]
    rows = [json.loads(line) for line in files[1].read_text().splitlines()]
    for line in (*lines, *rows):
        line["question_id"] = f"q{int(line['question_id'][1:]) // 2}"
    study = defects_study(write(files[1], rows), write(files[0], lines), **OPTIONS)
    assert study.cells["sharp", "negation@1"].difference.clusters == QUESTIONS // 2


def test_the_command_prints_the_summary_and_writes_every_form(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
):
    words = [
        "metrics-study",
        "rows.jsonl",
        "--defects",
        "d.jsonl",
        "--higher",
        "sharp,blind",
        "--out",
        "study",
    ]
    assert cli.main(words) == 0
    said = capsys.readouterr().out
    conclusion, table = said.split("\n\n", 1)
    assert conclusion.splitlines()[-1] == (
        "negation: noticed by sharp. No metric is shown to notice shuffled and padding. padding: rewarded by sharp."
    )
    assert "negation" in table.partition("\nsharp")[2].partition("\n")[0]
    for suffix in ("csv", "md", "tex", "json"):
        assert "padding" in Path(f"study/tables/every.{suffix}").read_text()
    page = Path("study/report.html").read_text()
    assert "Made defects are not nature" in page
    assert "<svg" in page


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--defects", "rows.jsonl"], "no line has a proof"),
        (["--defects", "d.jsonl", "--as-published"], "--as-published"),
        (["--defects", "d.jsonl", "--by", "run"], "--by run"),
        (["--defects", "d.jsonl", "--false-alarms", "0.6"], "below 0.5"),
    ],
)
def test_what_does_not_fit_is_refused(
    files: tuple[Path, Path], words: list[str], says: str, capsys: pytest.CaptureFixture[str]
):
    if words[1] == "rows.jsonl":
        write(Path("plain.jsonl"), [{"id": "1", "answer": "It is."}])
        words = ["--defects", "plain.jsonl"]
    assert cli.main(["metrics-study", "rows.jsonl", *words]) == 2
    assert says in capsys.readouterr().err


def test_a_run_of_other_texts_than_the_files_is_refused(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
):
    assert (
        cli.main(["run", "d.jsonl", "--metrics", "classic.length", "--out", "run", "--quiet"]) == 0
    )
    assert cli.main(["metrics-study", "run", "--defects", "d.jsonl"]) == 0
    lines = [json.loads(line) for line in files[0].read_text().splitlines()]
    write(files[0], [{**line, "answer": "other"} for line in lines])
    assert cli.main(["metrics-study", "run", "--defects", "d.jsonl"]) == 2
    assert "is not that of --defects" in capsys.readouterr().err

"""What unscored answers do to comparisons and gates: every gate x every way to say nothing."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.there import there

from longmark.analysis.compare import compare, document
from longmark.cli import main
from longmark.report.tables import Best

N = 40
Values = list[float | None]

_RANDOM = np.random.default_rng(5)
BASE: Values = [round(float(x), 3) for x in 0.5 + 0.3 * _RANDOM.random(N)]
LIKE: Values = [
    there(x) + round(float(d), 3) for x, d in zip(BASE, _RANDOM.normal(0, 0.01, N), strict=True)
]


def rows(path: Path, systems: dict[str, list[Values]]) -> str:
    """A file of rows: system -> the scores of each of its answers to the questions; None is an answer without a score,
    a question beyond the end has no row."""
    lines = []
    for system, answers in systems.items():
        for k, values in enumerate(answers):
            for i, score in enumerate(values):
                line: dict[str, object] = {
                    "example_id": f"q{i}-{k}",
                    "question_id": f"q{i}",
                    "system": system,
                    "metric": "m",
                }
                line |= (
                    {"score": score}
                    if score is not None
                    else {"score": None, "status": "model_error", "reason": "-"}
                )
                lines.append(json.dumps(line))
    path.write_text("\n".join(lines))
    return str(path)


def silent(values: Values, scored: int) -> Values:
    return [*values[:scored], *[None] * (len(values) - scored)]


STATED = "new no worse than base on m"
OUTCOMES = {
    "ok": "met",
    "worse": "not met (worse)",
    "undecided": "undecided",
    "unscored": "undecided (unscored)",
}

LOWER: Values = [there(x) - 0.4 for x in BASE]
CASES: dict[str, tuple[list[Values], list[Values], str]] = {
    # name: (answers of the baseline, of the new system, the word of the gate)
    "all scored": ([BASE], [LIKE], "ok"),
    "worse": ([BASE], [[x - 0.2 + 0.001 * i for i, x in enumerate(map(there, LIKE))]], "worse"),
    "hardly answers": (
        [BASE],
        [silent(LIKE, 4)],
        "worse",
    ),  # in both readings: the other one counts 36 as the worst
    "one more unscored": ([BASE], [silent(LIKE, N - 1)], "unscored"),
    "as many unscored": ([silent(BASE, 30)], [silent(LIKE, 30)], "ok"),
    "fewer unscored": ([silent(BASE, 39)], [LIKE], "ok"),
    "rows missing": ([BASE], [LIKE[:3]], "unscored"),
    "half of its answers to a question unscored": (
        [BASE, BASE],
        [LIKE, silent(LIKE, 0)],
        "unscored",
    ),
    "five questions": ([[0.9, 0.8, 0.9, 0.7, 0.9]], [[0.0, 0.1, 0.0, 0.1, 0.2]], "undecided"),
    "two questions": ([[0.9, 0.8]], [[0.0, 0.1]], "not tested"),
    "equal differences": ([BASE], [LOWER], "worse"),
    "the same scores": ([BASE], [BASE], "ok"),
    "the same scores on five questions": ([BASE[:5]], [BASE[:5]], "undecided"),
}
CASES["hardly answers"] = (*CASES["hardly answers"][:2], "unscored")


@pytest.mark.parametrize(
    "options", [(), ("--margin", ".1"), ("--margin", ".1", "--require-decision")]
)
@pytest.mark.parametrize("bounds", [(), ("--bounds", "m=0:1.1")])
@pytest.mark.parametrize("case", CASES)
def test_a_gate_passes_only_on_what_was_shown(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    case: str,
    bounds: tuple[str, ...],
    options: tuple[str, ...],
):
    base, new, word = CASES[case]
    if case == "the same scores" and not bounds and "--require-decision" in options:
        word = "undecided"  # ties on a metric without bounds decide nothing
    if case == "as many unscored" and bounds and "--require-decision" in options:
        word = "undecided"  # 30 questions: a margin of .1 between 0 and 1.1 takes 32
    path = rows(tmp_path / "rows.jsonl", {"base": base, "new": new})
    code = main(
        ["compare", path, "--fail-if-worse", "--higher", "m", "--draws", "300", *bounds, *options]
    )
    if word == "not tested":  # nothing is
        assert (code, "the test needs at least 3 common questions" in capsys.readouterr().err) == (
            2,
            True,
        )
        return
    lines = [line for line in capsys.readouterr().out.splitlines() if STATED in line]
    outcomes = [line.partition(":")[0] for line in lines]
    assert (code, outcomes) == (0 if word == "ok" else 3, [OUTCOMES[word]])


@pytest.mark.parametrize(("share", "word"), [("0.02", "unscored"), ("0.03", "ok")])
def test_more_unscored_answers_can_be_allowed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], share: str, word: str
):
    path = rows(
        tmp_path / "rows.jsonl", {"base": [BASE], "new": [[None, *LIKE[1:]]]}
    )  # 1 of 40 is .025
    main(
        [
            "compare",
            path,
            "--fail-if-worse",
            "--higher",
            "m",
            "--draws",
            "300",
            "--max-unscored",
            share,
        ]
    )
    assert f"{OUTCOMES[word]}: {STATED}" in capsys.readouterr().out


def test_no_share_of_unscored_answers_passes_where_they_change_the_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = rows(tmp_path / "rows.jsonl", {"base": [BASE], "new": [silent(LIKE, 20)]})
    assert (
        main(
            [
                "compare",
                path,
                "--fail-if-worse",
                "--higher",
                "m",
                "--draws",
                "300",
                "--max-unscored",
                "1",
            ]
        )
        == 3
    )
    out = capsys.readouterr().out
    assert "undecided: new no worse than base on m: " in out
    assert (
        "on the common questions no significant difference; with unscored answers as the worst score base is"
        in out
    )


@pytest.mark.parametrize(("margin", "word"), [((), "undecided"), (("--margin", ".1"), "ok")])
def test_where_only_the_baseline_is_silent_both_readings_decide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], margin: tuple[str, ...], word: str
):
    """No difference on the 20 common questions, and better with silence counted: only a margin says that it is fine."""
    path = rows(tmp_path / "rows.jsonl", {"base": [silent(BASE, 20)], "new": [LIKE]})
    code = main(["compare", path, "--fail-if-worse", "--higher", "m", "--draws", "300", *margin])
    assert (code, f"{OUTCOMES[word]}: {STATED}" in capsys.readouterr().out) == (
        0 if word == "ok" else 3,
        True,
    )


def test_a_system_is_not_better_for_answering_only_what_it_answers_well(tmp_path: Path):
    """x scores .5 on 20 questions; y answers 10 of them and gets .6: better on these, worse with silence counted."""
    x: Values = [0.5 + 0.01 * (i % 3) for i in range(20)]
    y: Values = silent([there(one) + 0.1 + 0.005 * (i % 4) for i, one in enumerate(x)], 10)
    path = rows(tmp_path / "rows.jsonl", {"x": [x], "y": [y]})
    found = compare(path, higher=["m"], bounds={"m": (0, 1)})
    (pair,) = found.metrics[0].pairs
    counted = there(pair.counted)
    assert (pair.common.better, pair.common.n) == ("y", 10)
    assert counted.n == 20
    assert counted.value == pytest.approx((10 * -0.1075 + 10 * 0.509) / 20, abs=2e-3)
    assert (pair.better, pair.significant) == (None, False)
    assert found.notices[0].startswith(
        "m: y has significantly more unscored answers than x (10 of 20 against 0 of 20). On the common questions: y is "
        "better. Unscored answers counted as 0: "
    )
    page = document(found)
    assert [section.title for section in page.sections][2] == "Unscored answers"
    assert page.sections[2].tables[0].rows[0][3:5] == ("0 / 20", "10 / 20")
    assert not any(isinstance(cell, Best) for cell in page.sections[0].tables[0].rows[0])


def test_without_bounds_unscored_answers_count_as_the_worst_score_seen(tmp_path: Path):
    path = rows(tmp_path / "rows.jsonl", {"base": [BASE], "new": [silent(LIKE, 30)]})
    seen = min(map(there, BASE + LIKE[:30]))
    assert compare(path, higher=["m"], draws=200).metrics[0].worst == seen
    assert compare(path, lower=["m"], draws=200).metrics[0].worst == max(
        map(there, BASE + LIKE[:30])
    )
    (undirected,) = compare(path, draws=200).metrics
    assert (undirected.worst, undirected.pairs[0].counted) == (None, None)


def test_a_gate_tests_only_the_pairs_with_the_first_system(tmp_path: Path):
    """Of four systems 3 pairs instead of 6, so that the adjusted p of each is no larger."""
    systems = {
        name: [[there(x) + d for x, d in zip(BASE, _RANDOM.normal(0, 0.1, N), strict=True)]]
        for name in "abcd"
    }
    path = rows(tmp_path / "rows.jsonl", systems)
    every, first = (
        compare(path, higher=["m"], draws=500, against_first=one) for one in (False, True)
    )
    assert (every.comparisons, first.comparisons) == (6, 3)
    assert all("a" in pair.names for pair in first.metrics[0].pairs)
    assert first.metrics[0].groups == ()
    p = {frozenset(pair.names): there(pair.p) for pair in every.metrics[0].pairs}
    assert all(there(pair.p) <= p[frozenset(pair.names)] for pair in first.metrics[0].pairs)


def test_unequal_silence_is_named_without_a_direction(tmp_path: Path):
    path = rows(tmp_path / "rows.jsonl", {"base": [BASE], "new": [silent(LIKE, 20)]})
    first = compare(path).notices[0]
    assert first.startswith(
        "m: new has significantly more unscored answers than base (20 of 40 against 0 of 40)."
    )
    assert "counted as" not in first
    better = [None if score is None else score + 0.1 for score in silent(LIKE, 20)]
    path = rows(tmp_path / "higher.jsonl", {"base": [BASE], "new": [better]})
    assert "On the common questions: new is higher." in compare(path).notices[0]


def test_too_few_clusters_are_named_in_the_table_and_by_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "rows.jsonl"
    lines = [
        {
            "example_id": f"{name}{q}",
            "question_id": f"q{q}",
            "system": name,
            "metric": "m",
            "score": q / 10 + shift,
            "doc": q % 4,
        }
        for q in range(8)
        for name, shift in (("base", 0.0), ("new", 0.01 * (q % 3)))
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["compare", str(path), "--fail-if-worse", "--higher", "m", "--cluster", "doc"]) == 2
    printed = capsys.readouterr()
    assert "not tested: too few clusters" in printed.out
    assert f"{STATED}: 4.0 effective clusters are too few for a decision" in printed.err

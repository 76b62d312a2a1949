"""`compare --fail-if-worse`: what fails a build, and what passes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.analysis.compare.runs import run_of
from tests.report.runs import CORRECTNESS, GRADE, RELEVANCE

from longmark.analysis.compare import compare
from longmark.cli import main


def run(
    folder: Path, shift: float, spread: float = 0.02, *, metric: str = RELEVANCE, more: bool = False
) -> str:
    """Systems `base` and `new`, which differs from it by `shift` on average; with more a third, equal to `base`."""
    random = np.random.default_rng(3)
    y = 0.3 + 0.4 * random.random(80)
    systems = {
        "base": {metric: y.tolist()},
        "new": {metric: (y + random.normal(shift, spread, 80)).tolist()},
    }
    if more:
        systems["third"] = {metric: (y + random.normal(0, 0.01, 80)).tolist()}
    return str(run_of(folder / "run", systems))


def code(*words: str) -> int:
    return main(["compare", *words, "--draws", "500"])


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize(("shift", "expected"), [(-0.1, 3), (0.1, 0), (0.0, 0)])
def test_a_build_fails_only_if_the_new_system_is_significantly_worse(
    tmp_path: Path, shift: float, expected: int, more: bool, capsys: pytest.CaptureFixture[str]
):
    folder = run(tmp_path, shift, more=more)
    assert (
        code(folder, "--systems", "base,new,third" if more else "base,new", "--fail-if-worse")
        == expected
    )
    out = capsys.readouterr().out
    assert (
        f"{'not met (worse)' if expected else 'met'}: new no worse than base on {RELEVANCE}: "
        in out
    )
    assert ("third no worse than base" in out) == more


def test_the_order_of_the_systems_says_which_is_the_baseline(tmp_path: Path):
    folder = run(tmp_path, 0.1)
    assert code(folder, "--systems", "new,base", "--fail-if-worse") == 3


@pytest.mark.parametrize(
    ("shift", "spread", "margin", "required", "expected"),
    [
        (-0.01, 0.005, ".05", False, 0),  # significantly worse, by less than the margin: equivalent
        (-0.1, 0.02, ".05", False, 3),  # worse by more than the margin
        (0.0, 0.2, ".02", False, 0),  # undecided
        (0.0, 0.2, ".02", True, 3),
        (0.0, 0.01, ".05", True, 0),  # equivalent
        (0.1, 0.02, ".05", True, 0),  # better
    ],
)
def test_a_margin_forgives_what_is_smaller_and_a_decision_can_be_required(
    tmp_path: Path, shift: float, spread: float, margin: str, required: bool, expected: int
):
    options = ["--fail-if-worse", "--margin", margin, *(["--require-decision"] if required else [])]
    assert code(run(tmp_path, shift, spread), "--systems", "base,new", *options) == expected


def test_a_decision_needs_a_margin_and_a_failure_a_direction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert code(run(tmp_path, 0), "--fail-if-worse", "--require-decision") == 2
    assert "--require-decision needs a margin" in capsys.readouterr().err
    assert code(run(tmp_path / "grade", 0, metric=GRADE), "--fail-if-worse") == 2
    assert "the direction of no compared metric is known" in capsys.readouterr().err


def csv(folder: Path) -> str:
    """Scores made elsewhere, without a direction: `new` is lower than `base`."""
    random = np.random.default_rng(3)
    rows = [
        f"q{i},{name},toxicity,{shift + random.normal(0, 0.02):.4f}"
        for i in range(30)
        for name, shift in BOTH
    ]
    (folder / "rows.csv").write_text("\n".join(["example_id,system,metric,score", *rows]))
    return str(folder / "rows.csv")


BOTH = (("base", 0.5), ("new", 0.4))


@pytest.mark.parametrize(("option", "expected"), [("--higher", 3), ("--lower", 0)])
def test_scores_made_elsewhere_get_a_direction(tmp_path: Path, option: str, expected: int):
    assert code(csv(tmp_path), "--fail-if-worse", option, "toxicity") == expected


def test_a_direction_that_a_run_declares_cannot_be_turned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert code(run(tmp_path, 0), "--lower", RELEVANCE) == 2
    assert (
        f"--lower {RELEVANCE}: the metric has another direction; omit the option"
        in capsys.readouterr().err
    )
    assert code(csv(tmp_path), "--lower", "toxicity", "--higher", "toxicity") == 2


@pytest.mark.parametrize(
    ("scored", "rule"), [(0, CORRECTNESS), (2, f"new no worse than base on {CORRECTNESS}")]
)
def test_a_system_without_scores_of_a_metric_does_not_pass(
    tmp_path: Path, scored: int, rule: str, capsys: pytest.CaptureFixture[str]
):
    values = [i / 20 for i in range(20)]
    systems = {name: {RELEVANCE: values, CORRECTNESS: values} for name in ("base", "new")}
    systems["new"][CORRECTNESS] = values[:scored] + [None] * (20 - scored)  # type: ignore[list-item]
    folder = str(run_of(tmp_path / "run", systems))
    assert code(folder, "--systems", "base,new", "--fail-if-worse") == 3
    out = capsys.readouterr().out
    assert f"not tested: {rule}: " in out
    assert f"met: new no worse than base on {RELEVANCE}: " in out
    assert code(folder, "--systems", "base,new", "--fail-if-worse", "--metrics", RELEVANCE) == 0


def test_identical_scores_pass(tmp_path: Path):
    values = {RELEVANCE: [i / 20 for i in range(20)]}
    assert (
        code(str(run_of(tmp_path / "run", {"base": values, "new": values})), "--fail-if-worse") == 0
    )


def test_a_gate_that_passes_says_which_difference_it_would_have_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    random = np.random.default_rng(3)
    base = random.random(40)
    new = np.clip(base + random.normal(0, 0.2, 40), 0, 1)
    systems = {"base": {RELEVANCE: base.tolist()}, "new": {RELEVANCE: new.tolist()}}
    folder = run_of(tmp_path / "run", systems)
    comparison = compare([folder], systems=["base", "new"], against_first=True)
    detectable = comparison.metrics[0].pairs[0].difference.detectable
    assert detectable is not None
    assert code(str(folder), "--systems", "base,new", "--fail-if-worse") == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("met: ")]
    assert f"(a difference of {detectable:.3f} would be found with 80 % power" in line

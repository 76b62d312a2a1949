"""Answers without a row count as unscored: skipped records, removed answers, variants that no metric scores."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from longmark.cli import main
from longmark.report.html import write_report
from longmark.report.summary import summarise
from longmark.scores.paired import read_scores

METRIC = "score.readability.grade_level"
Record = dict[str, Any]


def records(systems: str = "ab", n: int = 20) -> list[Record]:
    chance = random.Random(3)
    words = [
        "water",
        "rises",
        "when",
        "the",
        "river",
        "meets",
        "the",
        "tide",
        "and",
        "nobody",
        "has",
        "closed",
        "the",
        "gate",
    ]
    return [
        {
            "question": f"Why {i}?",
            "answer": f"{' '.join(chance.choices(words, k=chance.randint(6, 12)))}. It does.",
            "system": system,
        }
        for system in systems
        for i in range(n)
    ]


def run(folder: Path, given: list[Record | str], *options: str) -> int:
    """The exit code of `longmark run` with a gate that every answer meets."""
    file = folder / "in.jsonl"
    file.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in given))
    words = [
        "run",
        str(file),
        "--metrics",
        "score.readability",
        "--out",
        str(folder / "run"),
        "--quiet",
    ]
    return main([*words, "--fail-under", f"{METRIC}<=30", *options])


def unscored(folder: Path) -> dict[str, tuple[int, int, list[str]]]:
    """system -> its unscored answers, all of its answers, statuses."""
    cells = summarise([folder / "run"]).of(METRIC)
    return {
        cell.system: (cell.n - cell.scored, cell.n, [why.status for why in cell.unscored])
        for cell in cells
    }


def broken(one: Record) -> Record:
    return {**one, "references": 3}


def variant(one: Record) -> Record:
    return {**one, "variant_of": "q", "variant": "paraphrase"}


def line(_: Record) -> str:
    return "{not JSON"


@pytest.mark.parametrize(
    ("change", "status", "of_a"),
    [(broken, "skipped", 0), (line, "skipped", 15), (variant, "inapplicable", 0)],
)
def test_answers_that_get_no_row_count_in_gate_comparison_and_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Any, status: str, of_a: int
):
    """15 of 20 answers of b; a line that is no JSON belongs to any system, so it counts for each."""
    given = [change(one) if i >= 25 else one for i, one in enumerate(records())]
    assert run(tmp_path, given, "--skip-bad") == 3
    said = capsys.readouterr()
    assert "unscored" in said.err
    assert f"15 {status}" in said.out
    assert unscored(tmp_path) == {
        "a": (of_a, 20 + of_a, [status] * bool(of_a)),
        "b": (15, 20, [status]),
    }
    scores = read_scores([tmp_path / "run"])
    assert [scores.unanswered(METRIC, name) for name in "ab"] == [(of_a, 20 + of_a), (15, 20)]
    page = tmp_path / "page.html"
    write_report([tmp_path / "run"], page)
    assert "5 of 20 scored" in page.read_text("utf-8")


def test_a_system_that_vanished_from_the_file_does_not_pass(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert run(tmp_path, [*records()]) == 0
    assert run(tmp_path, [*records("a")]) == 3
    said = capsys.readouterr()
    assert (
        "20 answers that the folder held to questions that their system no longer answers count as unscored"
        in said.err
    )
    assert f"not met: {METRIC} mean <= 30 for b" in said.out
    assert run(tmp_path, [*records("a")]) == 3  # still
    assert unscored(tmp_path) == {"a": (0, 20, []), "b": (20, 20, ["removed"])}
    assert run(tmp_path, [*records()]) == 0  # back again
    assert not (tmp_path / "run" / "absent.jsonl").exists()


def test_a_removed_answer_counts_but_a_changed_one_and_a_limit_do_not(tmp_path: Path):
    assert run(tmp_path, [*records("a")]) == 0
    changed = [{**one, "answer": f"{one['answer']} Always."} for one in records("a")]
    assert run(tmp_path, [*changed]) == 0
    assert unscored(tmp_path) == {"a": (0, 20, [])}
    assert run(tmp_path, [*changed], "--limit", "15") == 0
    assert unscored(tmp_path) == {"a": (0, 15, [])}
    assert run(tmp_path, [*changed[:10]]) == 3
    assert unscored(tmp_path) == {"a": (5, 15, ["removed"])}


def test_the_same_record_twice_is_one_answer(tmp_path: Path):
    given = records("a")
    assert run(tmp_path, [*given, *given[:5]], "--skip-bad") == 0
    assert unscored(tmp_path) == {"a": (0, 20, [])}


def test_variants_are_whole_where_a_metric_scores_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    words = [
        "run",
        str(tmp_path / "in.jsonl"),
        "--out",
        str(tmp_path / "run"),
        "--quiet",
        "--max-calls",
        "1",
    ]
    originals = records("a", 4)
    changed = [
        {**one, "variant_of": f"q{i}", "variant": "paraphrase"} for i, one in enumerate(originals)
    ]
    named = [{**one, "question_id": f"q{i}"} for i, one in enumerate(originals)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, [*named, *changed])))
    main([*words, "--metrics", "score.robustness", "--embedder", "embedded:minilm"])
    assert "will have no row" not in capsys.readouterr().err

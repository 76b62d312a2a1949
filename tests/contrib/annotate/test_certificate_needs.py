"""How many labels a certificate will need, said before a study starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.contrib.annotate.studies import lines, set_up, study_of
from tests.report.runs import write_run

from longmark.cli import main
from longmark.contrib.annotate.certificate_needs import (
    SIMULATED_DIFFERENCE,
    SIMULATED_LABELS,
    SIMULATED_POWER,
    certificate_needs,
)
from longmark.contrib.annotate.items import read_items
from longmark.records import Example

COVERAGE = Path(__file__).parents[3] / "design" / "coverage.md"


def test_a_study_says_how_many_labels_of_each_system_a_certificate_needs(tmp_path: Path) -> None:
    """Nine answers, alternately of two systems: five of alpha-7b and four of beta-70b."""
    study, items = set_up(tmp_path, "rating", 9, overlap=1)
    labels, raters = certificate_needs(study, items)
    assert "labels of 50 answers of each system or more; the study has 4 of beta-70b" in labels
    assert "60 of each show a difference of 0.6 standard deviations" in labels
    assert "10 answers of each system that two raters label" in raters
    assert "5 raters or more" in raters


def test_with_two_raters_an_answer_nothing_is_said_of_raters(tmp_path: Path) -> None:
    study, items = set_up(tmp_path, "score", 4, overlap=2)
    assert len(list(certificate_needs(study, items))) == 1


@pytest.mark.parametrize("name", ["pairs", "support", "comprehensiveness"])
def test_a_study_of_which_no_certificate_can_come_says_nothing(tmp_path: Path, name: str) -> None:
    study, items = set_up(tmp_path, name, 4)
    assert list(certificate_needs(study, items)) == []


def test_a_study_of_one_system_says_nothing(tmp_path: Path) -> None:
    records = [{"id": f"q{n}", "answer": "At 6:10.", "system": "alpha"} for n in range(3)]
    lines(tmp_path / "a.jsonl", records)
    study = study_of(
        tmp_path,
        "title: T\nitems: {from: file, path: a.jsonl}\nshow: [answer]\n"
        "fields: [{name: quality, type: scale, max: 5}]\n",
    )
    assert list(certificate_needs(study, read_items(study, tmp_path))) == []


def test_check_prints_what_a_certificate_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up(tmp_path, "rating", 4)
    assert main(["annotate", "check", str(tmp_path / "STUDY.yaml")]) == 0
    out: Any = capsys.readouterr().out
    assert "the study has 2 of alpha-7b" in out


def test_a_new_study_of_a_run_says_what_a_certificate_needs_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [
        Example(id=f"{system}{n}", question=f"How high is {n}?", answer="90 m.", system=system)
        for n in (1, 2)
        for system in ("alder", "birch")
    ]
    run = write_run(tmp_path / "run", answers, [])
    assert main(["annotate", "init", str(run), "--out", str(tmp_path / "new.yaml")]) == 0
    assert "the study has 2 of alder" in capsys.readouterr().out


def test_the_power_is_that_of_the_simulated_certificates() -> None:
    text = COVERAGE.read_text(encoding="utf-8")
    _, _, table = text.partition(f"equal systems, {SIMULATED_LABELS} labels of each:")
    heads, _, row = table.strip().splitlines()[:3]
    cells = dict(zip(heads.split(" | "), row.split(" | "), strict=True))
    assert "2 systems" in row
    assert cells[f".{SIMULATED_DIFFERENCE * 10:.0f} (t test) |"].startswith(
        f"{SIMULATED_POWER:.3f}"[1:]
    )

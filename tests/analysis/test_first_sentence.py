"""The first sentence of a report on two systems is that of `longmark compare`."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.report.runs import CORRECTNESS, RELEVANCE, manifest, row, write_run

from longmark.analysis import first_sentence as module
from longmark.analysis.compare import compare
from longmark.analysis.compare.page import lead
from longmark.analysis.first_sentence import first_sentence
from longmark.cli import main
from longmark.report.summary import summarise

BETTER = (0.30, 0.33)
PERHAPS = (0.05, 0.03, -0.03)
CHANCE = (0.05, -0.05)


def made_run(
    folder: Path, shifts: Sequence[float], systems: Sequence[str] = ("v19", "v20")
) -> Path:
    """Twelve questions on two metrics; the first system is without the shifts, the others have them in turn."""
    rows = [
        row(f"{system}-{i}", metric, score, system=system, question_id=f"q{i}")
        for metric, scale in ((RELEVANCE, 1.0), (CORRECTNESS, 0.1))
        for i in range(12)
        for place, system in enumerate(systems)
        for score in [0.4 + i / 100 + scale * (shifts[i % len(shifts)] if place else 0.0)]
    ]
    return write_run(folder, [], rows, manifest())


def says(page: Path) -> str:
    match = re.search(r'<p class="says">(.*?)</p>', page.read_text("utf-8"), re.DOTALL)
    assert match
    return html.unescape(re.sub("<[^>]+>", "", match[1]))


@pytest.mark.parametrize(
    ("shifts", "words"),
    [
        (BETTER, "v20 is better on "),
        (PERHAPS, "v20 is probably better on "),
        (CHANCE, "No difference is shown; any is at most "),
    ],
)
def test_a_report_of_two_systems_opens_with_the_sentence_of_compare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shifts: Sequence[float], words: str
):
    folder = made_run(tmp_path / "run", shifts)
    page = tmp_path / "two.html"
    assert main(["report", str(folder), "--out", str(page)]) == 0
    assert main(["compare", str(folder)]) == 0
    compared = capsys.readouterr().out
    assert says(page).startswith(words)
    assert says(page) in compared


def test_the_sentence_of_a_primary_metric_says_that_it_is_primary(tmp_path: Path):
    folder = made_run(tmp_path / "run", BETTER)
    page = tmp_path / "two.html"
    main(["report", str(folder), "--out", str(page), "--primary", CORRECTNESS])
    sentence = lead(compare([folder], by="system", primary=[CORRECTNESS]))
    assert "(primary)" in sentence
    assert says(page) == sentence


def test_two_runs_with_a_system_of_one_name_are_named_as_in_the_table(tmp_path: Path):
    folders = [
        write_run(
            tmp_path / name,
            [],
            [
                row(f"{i}", RELEVANCE, score + i / 100, system="bot", question_id=f"q{i}")
                for i in range(12)
            ],
            manifest(),
        )
        for name, score in (("old", 0.2), ("new", 0.6))
    ]
    summary = summarise(folders)
    assert summary.systems == ("bot (old)", "bot (new)")
    assert first_sentence(folders, summary).startswith("bot (new) is better on ")


def test_there_is_no_sentence_on_three_systems_on_one_or_on_too_few_questions(tmp_path: Path):
    three = made_run(tmp_path / "three", BETTER, ("a", "b", "c"))
    alone = made_run(tmp_path / "alone", BETTER, ("a",))
    rows = [row(s, RELEVANCE, 0.5, system=s, question_id="q") for s in ("a", "b")]
    few = write_run(tmp_path / "few", [], rows, manifest())
    assert [first_sentence([path], summarise([path])) for path in (three, alone, few)] == [""] * 3


def test_a_large_page_does_not_wait_for_the_tests(tmp_path: Path):
    folder = made_run(tmp_path / "run", BETTER)
    summary = summarise([folder])
    assert first_sentence([folder], summary, most_scores=48)
    assert first_sentence([folder], summary, most_scores=47) == ""


def test_without_the_packages_of_stats_there_is_no_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = made_run(tmp_path / "run", BETTER)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    assert first_sentence([folder], summarise([folder])) == ""

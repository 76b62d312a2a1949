"""`longmark compare` as a program."""

from __future__ import annotations

import csv
import json
import os
import pty
import sys
from contextlib import redirect_stderr

import pytest
from tests.analysis.compare.runs import run_of, signed
from tests.program import run
from tests.report.runs import EASE, RELEVANCE

from longmark.cli import main

ONE = {"s": {RELEVANCE: [0.9, 0.8, 0.7, 0.6, 0.9, 0.8, 0.95, 0.85]}}
TWO = {"s": {RELEVANCE: [0.5, 0.8, 0.5, 0.3, 0.4, 0.6, 0.5, 0.45]}}


def compare(tmp_path, *words):
    return run("compare", *words, home=tmp_path / "home", cwd=tmp_path)


def test_tables_are_printed_and_written(tmp_path, monkeypatch, capsys):
    run_of(tmp_path / "one", ONE)
    run_of(tmp_path / "two", TWO)
    done = compare(tmp_path, "one", "two", "--out", "out", "--draws", "500", "--seed", "3")
    assert (done.code, done.err) == (0, "")
    assert "Significant differences: 1 of 1 comparison (alpha 0.05, adjusted by max-T)." in done.out
    assert len(done.out.splitlines()) < 20
    assert "Report: out/report.html" in done.out
    with (tmp_path / "out" / "tables" / "differences.csv").open() as file:
        (line,) = csv.DictReader(file)
    # differences .4 0 .2 .3 .5 .2 .45 .4 = 2.45, / 8 = .30625; of 2^7 patterns 2 reach it in size: 2 / 128
    assert float(line["difference"]) == pytest.approx(0.30625)
    assert float(line["p_adjusted"]) == 2 / 128
    assert (
        json.loads((tmp_path / "out" / "tables" / "means.json").read_text())["rows"][0]["system"]
        == "one"
    )
    assert "<svg" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "one", "two", "--draws", "500", "--seed", "3"]) == 0
    assert done.out.startswith(capsys.readouterr().out), "the same seed, the same figures"


def test_mistakes_are_told_in_a_line_with_the_way_out(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run_of(tmp_path / "one", {**ONE, "t": TWO["s"]})
    run_of(tmp_path / "two", TWO, signed(models={"judge": ["gpt"]}))
    run_of(tmp_path / "three", ONE)
    (tmp_path / "bad.yaml").write_text(
        "- name: h\n  combine: some\n  metrics: [x]\n  pairs: [[a, b]]\n"
    )
    for words, message in (
        (("none",), "none does not exist; to make a run there: longmark run"),
        (("one", "two"), "--by system"),
        (("two",), "a comparison needs two systems"),
        (("one", "--metrics", "ccrs.question_relevanse"), f"Did you mean {RELEVANCE}"),
        (("one", "--alpha", "2"), "--alpha 2.0: expected a number between 0 and 1"),
        (
            ("one", "--hypotheses", "bad.yaml"),
            "bad.yaml:2: [0].combine: expected 'all' or 'any', found",
        ),
        (("one", "--hypotheses", "none.yaml"), "none.yaml does not exist"),
        (("one", "--out", "one/rows.jsonl"), "is a file"),
        (("three", "two"), "judge model: embedded:judge in three; gpt in two"),
    ):
        assert main(["compare", *words, "--draws", "100"]) == 2, words
        assert message in capsys.readouterr().err
    assert main(["compare", "three", "two", "--allow-different-judges", "--draws", "100"]) == 0
    assert capsys.readouterr().out.startswith("Note: The scores were made in different ways")


def test_without_the_extra_it_says_which_to_install(tmp_path, monkeypatch, capsys):
    run_of(tmp_path / "one", {**ONE, "t": TWO["s"]})
    monkeypatch.setitem(sys.modules, "scipy", None)
    assert main(["compare", str(tmp_path / "one")]) == 2
    assert "pip install 'longmark[stats]'" in capsys.readouterr().err


def _all_of(terminal: int) -> str:
    """All that was written: it comes in pieces, and ends with an error once the other side is closed."""
    pieces = []
    try:
        while piece := os.read(terminal, 10_000):
            pieces.append(piece)
    except OSError:
        pass
    return b"".join(pieces).decode()


@pytest.mark.parametrize("verb", ["compare", "metrics-study"])
def test_a_terminal_is_told_which_part_is_being_computed(tmp_path, monkeypatch, verb):
    run_of(
        tmp_path / "run", {"s": {**ONE["s"], EASE: [1.0] * 8}, "t": {**TWO["s"], EASE: [2.0] * 8}}
    )
    monkeypatch.setenv("COLUMNS", "80")
    ours, theirs = pty.openpty()
    try:
        with os.fdopen(theirs, "w", encoding="utf-8") as terminal, redirect_stderr(terminal):
            assert main([verb, str(tmp_path / "run")]) == 0
        told = _all_of(ours).split("\r\x1b[2K")
    finally:
        os.close(ours)
    parts = {
        "compare": (
            *("reading the rows", f"tests of {RELEVANCE} (1 of 2)", f"tests of {EASE} (2 of 2)"),
            *(
                "tests over all metrics",
                f"intervals of {RELEVANCE} (1 of 2)",
                f"intervals of {EASE} (2 of 2)",
            ),
        ),
        "metrics-study": (
            *("reading the rows", f"scores and tests of {RELEVANCE} (1 of 2)"),
            *(
                f"scores and tests of {EASE} (2 of 2)",
                f"correlations of {RELEVANCE} and {EASE} (1 of 1)",
            ),
        ),
    }[verb]
    assert told == [
        "",
        *(part[:79] for part in parts),
        "",
    ]  # a line of 80 characters, and gone at the end

"""One example the whole way on the embedded judge: command line, judge, rows, report."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from longmark.cli import main
from longmark.contrib.local import catalogue
from longmark.records import Row

EXAMPLE = {
    "id": "sky",
    "question": "Why is the sky blue?",
    "answer": "Air scatters blue light more than red light.",
    "contexts": ["Air scatters short, blue wavelengths far more than long, red ones."],
}


@pytest.mark.embedded
@pytest.mark.skipif(
    not catalogue.is_installed("judge"),
    reason="the embedded judge is not installed on this machine",
)
def test_an_example_goes_the_whole_way_on_the_embedded_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("one.jsonl").write_bytes(orjson.dumps(EXAMPLE))
    words = [
        "one.jsonl",
        "--metrics",
        "ccrs.contextual_coherence,ccrs.question_relevance,score.readability",
    ]
    models = ["--judge", "embedded", "--scoring", "expected", "--cache", "calls.sqlite"]
    assert main(["run", *words, *models, "--out", "first", "--quiet"]) == 0
    rows = [Row.from_json(line) for line in Path("first/rows.jsonl").read_bytes().splitlines()]
    assert [row.status for row in rows] == ["ok"] * 4
    coherence, relevance = rows[0], rows[1]
    assert 0.5 < (coherence.score or 0) <= 1  # it follows from the passage
    assert 0 < (relevance.score or 0) <= 1
    assert coherence.evidence["judges"][0]["mass"] > 0.9
    assert coherence.usage.prompt_tokens > 100
    assert main(["report", "first", "--out", "first.html"]) == 0
    assert b"embedded" in Path("first.html").read_bytes()

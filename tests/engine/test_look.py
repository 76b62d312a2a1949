"""`longmark look`: what a file holds and which metrics it allows, without a call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longmark.cli import main
from longmark.engine.look import look
from longmark.errors import BadInput

LANGFUSE = Path(__file__).parents[1] / "records" / "tools" / "langfuse.jsonl"


def test_it_counts_fields_and_names_what_metrics_need() -> None:
    found = look(LANGFUSE)
    assert (found.shape, found.read, found.complete, found.pairs) == (
        "Langfuse traces",
        2,
        True,
        False,
    )
    assert found.fields == {"question": 2, "answer": 2, "turns": 1, "references": 1}
    assert [(line, one.model_dump()["answer"]) for line, one in found.examples] == [
        (1, "In Africa."),
        (2, "A bank beside a river."),
    ]
    by_name = {one.name: one for one in found.metrics}
    assert (by_name["score.readability"].count, by_name["score.readability"].calls) == (2, 0)
    assert (by_name["ccrs.question_relevance"].count, by_name["ccrs.question_relevance"].calls) == (
        2,
        1,
    )
    assert (by_name["classic.chrf"].count, by_name["classic.chrf"].missing) == (1, ())
    assert (
        by_name["ccrs.information_density"].count,
        by_name["ccrs.information_density"].missing,
    ) == (
        0,
        ("contexts",),
    )
    assert by_name["score.robustness"].missing == ("variants of questions",)
    assert by_name["pairs.direct"].missing == ("pairs of answers",)


def test_every_field_that_is_read_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {
        "question": "q",
        "answer": "It is. It was.",
        "contexts": ["It is."],
        "references": ["It is."],
        "system": "s",
        "options": {"A": "x", "B": "y"},
        "task": "cloze",
        "level": "easy",
        "claims": ["It is.", "It was."],
        "reference_claims": ["It is."],
        "context_claims": [["It is."]],
        "claims_by_reference": ["entails", "neutral"],
        "reference_claims_by_answer": ["entails"],
        "claims_by_contexts": [["entails"], ["neutral"]],
        "reference_claims_by_contexts": [["entails"]],
    }
    (tmp_path / "a.jsonl").write_text(
        json.dumps(record) + "\n" + json.dumps({"question": "q", "answer": "a"}), "utf-8"
    )
    assert main(["look", str(tmp_path / "a.jsonl")]) == 0
    printed = capsys.readouterr().out
    counts = dict(line.split()[:2] for line in printed.partition("\n\n")[0].splitlines()[2:])
    assert counts == {name: "2" if name in ("question", "answer") else "1" for name in record}
    assert "Not read: nothing" in printed
    assert (
        look([{"question": "q", "answer": "a", "claims": []}]).fields["claims"] == 1
    )  # it was said that it makes none


def test_pairs_are_scored_on_both_sides() -> None:
    found = look([{"question": "q", "a": "x", "b": "y", "label": "a"}])
    by_name = {one.name: one for one in found.metrics}
    assert found.pairs
    assert (by_name["pairs.direct"].count, by_name["score.readability"].count) == (1, 1)


def test_it_reads_the_first_examples_only_and_counts_bad_records() -> None:
    found = look([{"question": str(n)} for n in range(9)] + [{"question": 5}], limit=4)
    assert (found.read, found.complete, found.bad) == (4, False, 0)
    found = look([{"question": "a"}, {"question": 5}])
    assert (found.read, found.bad, found.bad_lines) == (
        1,
        1,
        ("records:2: question: expected text, found 5",),
    )
    with pytest.raises(BadInput, match="all records are bad"):
        look([{"question": 5}])


def test_the_command_prints_no_more_than_the_terminal_is_wide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    record = {
        "question": "long " * 50 + "\x1b[2J",
        "answer": None,
        "contexts": ["a", "b", "c"],
        "x": 1,
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(record) + "\n" + "{x\n", "utf-8")
    assert main(["look", str(tmp_path / "a.jsonl")]) == 0
    printed = capsys.readouterr()
    assert max(map(len, printed.out.splitlines())) <= 60 + len(str(tmp_path))
    assert "\x1b" not in printed.out
    assert "(missing)" in printed.out
    assert "1 passage more" in printed.out
    assert "a.jsonl:2: is not JSON" in printed.err
    assert "1 bad record" in printed.err
    (tmp_path / "a.jsonl").write_text("{x\n", "utf-8")
    assert main(["look", str(tmp_path / "a.jsonl")]) == 2
    assert "--skip-bad" not in capsys.readouterr().err

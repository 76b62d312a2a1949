"""The studies of the claim checker: their pairs and their tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from bench.checkers import context, languages
from bench.checkers.data import DATA
from tests.contrib.local.test_transformers_chat import adapter_in, needs_peft
from tests.contrib.local.test_transformers_claims import qwen_in
from tests.contrib.local.test_transformers_lm import needs_transformers

from longmark.text.context import points_back


def test_each_language_has_the_same_thirty_supported_and_thirty_changed_claims() -> None:
    pairs = list(languages.pairs())
    for language in languages.LANGUAGES:
        mine = [pair for pair in pairs if pair.language == language]
        assert [bool(pair.change) for pair in mine].count(False) == 30
        assert [pair.change for pair in mine] == [
            pair.change for pair in pairs if pair.language == "en"
        ]
        assert len({pair.claim for pair in mine}) == 60
    assert len({pair.id for pair in pairs}) == len(pairs) == 180


def test_the_table_of_languages_has_the_auc_of_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # three of the four pairs of a supported and a changed claim are in order: .75
    scored = [("", 0.9), ("", 0.4), ("number", 0.6), ("negation", 0.1)]
    lines = [
        {"id": str(n), "language": "de", "change": change, "probability": p}
        for n, (change, p) in enumerate(scored)
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    languages.table(path)
    (row,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("| de"))
    assert row.startswith("| de | 4 | 0.75 [")
    assert row.endswith("|  | 0.50 | 0.50 | 0.50 |")  # nothing in English to compare with


def test_a_language_is_compared_with_english_on_the_same_claims(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In English all four pairs of a supported and a changed claim are in order, in German three."""
    scored = {"en": [0.9, 0.8, 0.2, 0.1], "de": [0.9, 0.4, 0.6, 0.1]}
    changes = ["", "", "number", "negation"]
    lines = [
        {"id": f"dam-{n}-{language}", "language": language, "change": change, "probability": p}
        for language, values in scored.items()
        for n, (change, p) in enumerate(zip(changes, values, strict=True))
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    languages.table(path)
    english, german = capsys.readouterr().out.splitlines()[2:]
    assert english.startswith("| en | 4 | 1.00 [1.00, 1.00] |  |")
    assert german.split("|")[4].startswith(" -0.25 [")


@pytest.mark.skipif(
    not (DATA / "expertqa").exists(), reason="the shared data are not in this clone"
)
def test_the_rows_with_context_point_back_and_begin_in_pairs() -> None:
    rows = context.rows()
    assert len(rows) > 100
    assert all(points_back(row.claim.claim) and row.before and row.question for row in rows)
    assert [row.claim.supported for row in rows[:4]] == [False, True, False, True]


def test_the_table_of_contexts_compares_the_forms_on_the_same_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # alone the order is that of chance, joined it is right
    odds = [(True, 0.0, 3.0), (False, 0.0, -3.0), (True, 0.0, 2.0), (False, 0.0, -2.0)]
    lines = [
        {
            "id": str(n),
            "group": f"question {n}",
            "supported": supported,
            "cosine": 0.5,
            "none": none,
            "told": none,
        }
        | {"joined": joined}
        for n, (supported, none, joined) in enumerate(odds)
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    context.table(path)
    shown = capsys.readouterr().out
    assert "none: AUC 0.500" in shown
    assert "joined: AUC 1.000, less none +0.500" in shown


@needs_peft
@needs_transformers
def test_claims_a_second_beside_the_floor_of_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bench import checker_rate

    base = qwen_in(tmp_path / "base")
    folder = adapter_in(tmp_path / "adapter", base)
    arguments = ["checker_rate", f"hf:{base}+{folder}", "--pairs", "3", "--teraflops", "1"]
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setattr(checker_rate, "WARM", 1)
    checker_rate.main()
    row = capsys.readouterr().out.splitlines()[-1].split(" | ")
    assert row[0] == "| processor"
    assert int(row[1]) == 3

"""The log-odds of the claim checker by several models, side by side. Values are worked by hand."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("scipy")
pytest.importorskip("sklearn")

from bench.checkers import readings
from bench.checkers.data import Claim
from bench.checkers.readings import cascade, is_asked, parity, probability, tables

from longmark.contrib.local.claim_checker import ClaimChecker

ROW: dict[str, Any] = {
    "model": "first",
    "set": "made",
    "id": "1",
    "group": "a",
    "supported": True,
    "odds": 1.0,
    "cosine": 0.45,
    "share": 0.25,
    "tokens": "aa",
    "seconds": 2.0,
}


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def test_parity_compares_the_rows_that_both_models_read() -> None:
    rows = [{**ROW, "id": id_, "odds": odds} for id_, odds in (("1", 1.0), ("2", -1.0), ("3", 0.1))]
    others = [
        {**ROW, "id": "1", "odds": 1.2},
        {**ROW, "id": "2", "odds": -1.0, "tokens": "bb"},
        {**ROW, "id": "3", "odds": -0.3},
        {**ROW, "id": "4", "odds": 9.0},
        {**ROW, "id": "1", "set": "other", "odds": 9.0},
    ]
    both = parity(rows, others)
    assert both is not None
    assert (both.pairs, both.same_tokens, both.same_side) == (3, 2, 2)
    # apart by .2, 0 and .4
    assert (both.median, both.mean, both.greatest) == pytest.approx((0.2, 0.2, 0.4))
    assert parity(rows, others[3:]) is None


def test_a_cascade_asks_about_a_claim_with_enough_words_or_a_close_sentence() -> None:
    assert is_asked(ROW, 0.25, None)  # at the limit
    assert not is_asked(ROW, 0.3, None)
    assert is_asked(ROW, 0.3, 0.45)
    assert not is_asked(ROW, 0.3, 0.5)
    assert is_asked({**ROW, "share": None}, 0.3, None)  # a claim without words
    assert cascade(ROW, 0.2, None) == probability(ROW)
    # the published curve at log-odds of -4
    assert cascade(ROW, 0.3, 0.5) == pytest.approx(
        sigmoid(0.5153133 * -4 + 1.4802816 * 0.45 - 0.8549604), abs=1e-6
    )


def test_the_table_says_what_a_model_changes_and_what_a_cascade_loses(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The first model orders all pairs rightly, the second none. Half of the rows share too few words, among them
    all that are supported, so that the cascade turns the order round."""
    rows = [
        {
            **ROW,
            "model": model,
            "id": f"{group}{sign}",
            "group": group,
            "supported": sign > 0,
            "odds": direction * sign,
            "share": 0.15 if sign > 0 else 0.9,
        }
        for model, direction in (("first", 2.0), ("second", -2.0))
        for group in "abcdef"
        for sign in (1, -1)
    ]
    tables(rows)
    printed = capsys.readouterr().out
    assert "| second | first | 12 | 12 | 4.000 | 4.000 | 4.000 | 0 |" in printed
    assert "| first | 12 | 6 | 2.00 | 1.000 |  |" in printed
    assert "| second | 12 | 6 | 2.00 | 0.000 | -1.000 (12 rows) |" in printed
    # not asked: as log-odds of -4; asked and unsupported: -2
    assert "| overlap=0.2 | 0.50 | 0.00 | 0.000 | -1.000 |" in printed
    assert "| overlap=0.1 | 1.00 | 1.00 | 1.000 | +0.000 |" in printed


class WindowChecker:
    """Stands in for the checker: two windows, of which the second supports the claim more."""

    def __init__(self) -> None:
        self._model = self
        self.closed = False
        self.asked: list[list[int]] = []

    async def _answers(self, words: Sequence[str]) -> list[int]:
        return [len(words)]

    async def _claim_ids(self, claim: str) -> list[int]:
        return [len(claim)]

    async def _windows(self, evidence: str) -> list[Any]:
        return [SimpleNamespace(text="a", ids=(1,)), SimpleNamespace(text="b", ids=(3,))]

    async def _cosines(self, window: str, claims: Sequence[str]) -> list[float]:
        return [0.25]

    async def log_odds(self, prompt: list[int], *_: Any, **__: Any) -> tuple[float, None]:
        self.asked.append(prompt)
        return float(prompt[0]), None

    async def close(self) -> None:
        self.closed = True


def test_a_row_is_read_once_and_its_best_window_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checker = WindowChecker()
    monkeypatch.setattr(ClaimChecker, "opened", lambda _name, _open: checker)
    rows = [Claim("made", "1", "a", "claim", ("Evidence.",), "", True)]
    path = tmp_path / "read.jsonl"
    for model in ("embedded:judge", "embedded:judge", "gguf:other"):
        asyncio.run(readings.read(path, model, rows, 1))
    assert checker.closed
    assert checker.asked == [[1, 5], [3, 5]] * 2
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record["model"] for record in records] == ["embedded:judge", "gguf:other"]
    assert [record["odds"] for record in records] == [3.0, 3.0]

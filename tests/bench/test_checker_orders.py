"""What the bench makes of the log-odds of the claim checker and of the judge. Values are worked by hand."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("scipy")
pytest.importorskip("sklearn")

from bench.checkers import unseen
from bench.checkers.data import DATA, Claim
from bench.checkers.orders import CHECKER, FORMS, in_turn, table

from longmark.errors import Unsupported
from longmark.models.protocols import Capabilities, RelationReply

RECORD = {"odds": 2.0, "cosine": 0.5, "judge": -1.0, "share": 0.6, "set": "made", "group": "a"}


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def test_the_mean_of_both_log_odds_goes_through_the_checkers_curve() -> None:
    # the published curve: .5153 log-odds + 1.4803 cosine - .8550
    assert FORMS[CHECKER](RECORD) == pytest.approx(
        sigmoid(0.5153133 * 2 + 1.4802816 * 0.5 - 0.8549604), abs=1e-6
    )
    assert FORMS["mean of both log-odds, closest sentence"](RECORD) == pytest.approx(
        sigmoid(0.5153133 * 0.5 + 1.4802816 * 0.5 - 0.8549604), abs=1e-6
    )
    assert FORMS["mean of both log-odds"](RECORD) == 1.0  # the sum orders as the mean does


def test_a_claim_below_a_fifth_of_its_words_has_the_probability_of_a_usual_rejection() -> None:
    asked, not_asked, wordless = (
        FORMS["embedded@overlap=0.2"]({**RECORD, "share": share}) for share in (0.2, 0.1, None)
    )
    assert asked == wordless == FORMS[CHECKER](RECORD)
    # the published curve at log-odds of -4
    assert not_asked == pytest.approx(
        sigmoid(0.5153133 * -4 + 1.4802816 * 0.5 - 0.8549604), abs=1e-6
    )


def test_the_table_has_the_auc_of_each_score(capsys: pytest.CaptureFixture[str]) -> None:
    """Supported claims have higher log-odds of the checker in all pairs, and of the judge in none."""
    records = [
        {**RECORD, "odds": 2.0 + sign, "judge": -sign, "supported": sign > 0, "group": group}
        for group in "abcdef"
        for sign in (1.0, -1.0)
    ]
    table(records)
    printed = capsys.readouterr().out
    assert "**made**: 12 rows of 6 groups, 6 supported; 0 below an overlap of 0.2" in printed
    assert "| built-in checker | 1.000 |  |" in printed
    assert "| the judge's log-odds, claim first | 0.000 | -1.000 |" in printed
    assert "| mean of both log-odds | 0.500 | -0.500 |" in printed


@pytest.mark.skipif(not DATA.exists(), reason="needs ../shared/data")
def test_rows_are_taken_one_of_each_set_in_turn() -> None:
    rows = in_turn(("healthver", "covidfact"), 2)
    assert [row.data for row in rows] == ["healthver", "covidfact"] * 2
    assert len({row.id for row in rows}) == 4


class ClaimTextChecker:
    """A checker that gives what the claim says, and has no verdict for one that says nothing."""

    name, identity, capabilities = "stub@threshold=0.5", "stub", Capabilities()
    width: int | None = None
    piece, threshold = 1_000_000, 0.5

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        if hypotheses[0] == "nothing":
            raise Unsupported("it says nothing").unsent()
        return RelationReply(tuple((float(claim), 0.0, 1 - float(claim)) for claim in hypotheses))

    async def close(self) -> None:
        """Nothing is open."""


def test_what_ships_is_scored_row_by_row_and_its_table_is_at_its_own_threshold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of four rows three are right at a half; of the four pairs of a supported and an unsupported row three are in
    order, all but .6 and .7."""
    texts = [("0.9", True), ("0.6", True), ("0.7", False), ("0.2", False), ("nothing", True)]
    rows = [
        Claim("wice", f"row {claim}", claim, claim, ("Evidence.",), "", supported)
        for claim, supported in texts
    ]
    monkeypatch.setattr(unseen, "rows_of", lambda _data: rows)
    for _ in range(2):  # the second call finds all scored
        asyncio.run(unseen.check(tmp_path, ClaimTextChecker(), ["wice"], None))
    scores = json.loads((tmp_path / "stub-threshold-0-5.json").read_text())["wice"]
    assert scores["row 0.9"] == pytest.approx(math.log(9))
    assert len(scores) == 4
    unseen.tables(tmp_path, ["stub-threshold-0-5"])
    printed = capsys.readouterr().out
    assert printed.count("wice row nothing: it says nothing") == 2
    assert "**wice**: 4 rows of 4 groups, 0.500 supported" in printed
    # AUC 3 of 4 pairs; at a half 3 of 4 right; Brier (.01 + .16 + .49 + .04) / 4
    line = next(line for line in printed.splitlines() if line.startswith("| stub"))
    assert [cell.split()[0] for cell in line.split("|")[2:6]] == [
        "0.750",
        "0.750",
        "0.750",
        "0.175",
    ]

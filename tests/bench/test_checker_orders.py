"""What the bench makes of the log-odds of the claim checker and of the judge. Values are worked by hand."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("scipy")
pytest.importorskip("sklearn")

from bench.checkers.data import DATA
from bench.checkers.orders import CHECKER, FORMS, in_turn, table

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


def test_a_claim_below_a_fifth_of_its_words_has_the_probability_of_word_overlap() -> None:
    asked, not_asked, wordless = (
        FORMS["embedded@overlap=0.2"]({**RECORD, "share": share}) for share in (0.2, 0.1, None)
    )
    assert asked == wordless == FORMS[CHECKER](RECORD)
    # word overlap's own curve: 2.985 share - 1.39
    assert not_asked == pytest.approx(sigmoid(2.985 * 0.1 - 1.39))


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

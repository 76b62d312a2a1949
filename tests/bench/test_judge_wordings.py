"""How `bench.judge_wordings` reads a judge's reply and measures its agreement with people; values worked by hand."""

from __future__ import annotations

import math

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("scipy")

from bench.judge_wordings import (  # noqa: E402
    MEASURED,
    WordingReply,
    WordingScores,
    area,
    letters,
    read,
    schedule,
    spearman,
)
from scipy.stats import spearmanr  # noqa: E402

from longmark.models.protocols import ChatReply, TokenLogprobs  # noqa: E402

COHERENCE, RECALL, PAIRS = MEASURED[0], MEASURED[2], MEASURED[-1]


def reply(**probabilities: float) -> ChatReply:
    top = tuple((token, math.log(share)) for token, share in probabilities.items())
    return ChatReply("", logprobs=(TokenLogprobs(*top[0], top),))


def line(order: str, text: str) -> WordingReply:
    return WordingReply("pairs.direct", "0", "0", 0, 1.0, 0, "expected", order, "0", "1", text, 0)


def test_log_odds_add_up_every_spelling_of_a_word_and_turn_where_yes_is_bad() -> None:
    _, expected, _, turned = COHERENCE.wordings
    said = reply(yes=0.3, Yes=0.3, no=0.2, maybe=0.2)
    assert read(expected, said) == pytest.approx((math.log(0.6 / 0.2), 0.8))
    assert read(turned, said) == pytest.approx((-math.log(0.6 / 0.2), 0.8))


def test_digits_give_the_log_odds_of_their_mean_share_of_nine() -> None:
    expected = RECALL.wordings[1]
    said = reply(**{"9": 0.25, "3": 0.25, "x": 0.5})  # the mean of the digits is 6: 6/9 to 3/9
    assert read(expected, said) == pytest.approx((math.log(2), 0.5))


def test_a_reply_without_an_offered_word_has_no_value() -> None:
    assert read(COHERENCE.wordings[1], reply(perhaps=1.0))[0] is None
    assert read(COHERENCE.wordings[0], ChatReply("about 80"))[0] is None
    assert read(COHERENCE.wordings[0], ChatReply("80"))[0] == 0.8


def test_a_letter_counts_if_both_orders_choose_the_same_answer() -> None:
    assert letters([line("a", "A"), line("b", "B")]) == 1
    assert letters([line("a", "B"), line("b", "A")]) == -1
    assert letters([line("a", "A"), line("b", "A")]) == 0


def test_agreement_is_the_area_the_rank_correlation_or_the_share_of_right_signs() -> None:
    labels = np.array([1.0, 1.0, 0.0, 0.0])
    # pairs of a positive and a negative row: .9 > .5, .9 > .1, .5 = .5, .5 > .1
    once = np.ones((1, 4))
    assert area(np.array([0.9, 0.5, 0.5, 0.1]), labels, once).tolist() == [3.5 / 4]
    # ranks 1 2 3 and 1 3 2: 1 - 6 (0 + 1 + 1) / (3 (9 - 1))
    assert spearman(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]), once[:, :3]) == pytest.approx(0.5)
    chosen = {"expected": np.array([2.0, -1.0, 3.0, 0.0])}  # right, wrong, wrong, a tie
    table = WordingScores(PAIRS, np.arange(4.0), labels, np.arange(4), chosen)
    assert table.agreement("expected").tolist() == [1.5 / 4]


def test_a_row_that_is_drawn_twice_counts_as_two_rows() -> None:
    scores, labels = np.array([0.9, 0.5, 0.6, 0.1]), np.array([1.0, 1.0, 0.0, 0.0])
    drawn, repeated = np.array([[1.0, 2.0, 3.0, 0.0]]), np.array([0, 1, 1, 2, 2, 2])
    # .9 is above each of the three, .5 (twice) above none: 3 of 9
    assert area(scores, labels, drawn) == pytest.approx(3 / 9)
    by_hand = spearmanr(scores[repeated], scores[::-1][repeated]).statistic
    assert spearman(scores, scores[::-1], drawn) == pytest.approx(by_hand)


def test_every_third_row_chooses_and_the_others_confirm() -> None:
    table = WordingScores(
        COHERENCE,
        np.arange(6.0),
        np.array([1.0, 0] * 3),
        np.arange(6),
        {"expected": np.arange(6.0)},
    )
    assert table.part(confirming=False).numbers.tolist() == [0, 3]
    assert table.part(confirming=True).values["expected"].tolist() == [1, 2, 4, 5]


def test_a_run_goes_through_all_scores_in_turn_and_pairs_come_last() -> None:
    order = [
        (measured.name, number)
        for measured, number in schedule({measured.name: 2 for measured in MEASURED})
    ]
    names = [measured.name for measured in MEASURED[:-1]]
    assert order == [(name, number) for number in (0, 1) for name in names] + [
        ("pairs.direct", 0),
        ("pairs.direct", 1),
    ]

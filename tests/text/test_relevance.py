"""Relevance: expected values over the tokens of printed scores, and printed scores where there are no others."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import NoScore
from longmark.judge import Unreadable
from longmark.models.protocols import Capabilities, ChatReply, TokenLogprobs
from longmark.testing import FakeChat, call
from longmark.text.relevance import Graded, graded, relevance


def token(text: str, **top: float) -> TokenLogprobs:
    """A token and the probabilities of its candidates; `_4` is the token ` 4`."""
    candidates = tuple((name.replace("_", " ").strip("d"), math.log(p)) for name, p in top.items())
    return TokenLogprobs(text, candidates[0][1] if candidates else 0.0, candidates)


def reply(*tokens: TokenLogprobs, before: str = "") -> ChatReply:
    text = "".join(one.token for one in tokens)
    return ChatReply(text, logprobs=((TokenLogprobs(before, 0.0), *tokens) if before else tokens))


TOKENS = (
    token('{"1":'),
    token(" 4", d_4=0.5, d5=0.25, d9=0.2, dx=0.05),
    token(', "2": '),
    token("2", d2=1.0),
    token("}"),
)


def scored(judge: FakeChat, *statements: str) -> list[Graded]:
    return call(
        lambda models: relevance(models, "Which river?", statements or ("a", "b")), judge=judge
    )


def test_a_score_is_the_expected_value_over_the_valid_tokens():
    judge = FakeChat(lambda _: reply(*TOKENS), capabilities=Capabilities(logprobs=20))
    first, second = scored(judge)
    assert first.score == pytest.approx((4 * 0.5 + 5 * 0.25) / 0.75)  # 9 and x are no scores
    assert (first.printed, first.expected) == (4, True)
    assert second == Graded(2.0, 2, True)
    assert judge.requests[0].logprobs == 20
    assert "Which river?" in judge.requests[0].messages[1].content


def test_tokens_before_the_reply_that_is_read_do_not_move_the_place():
    found = graded(reply(*TOKENS, before="<think>4 5</think>"), reply(*TOKENS).text.index("4"))
    assert found.score == pytest.approx(13 / 3)


def test_without_log_probabilities_the_printed_score_counts_and_the_result_says_so():
    judge = FakeChat('{"1": 4, "2": 5}')
    assert scored(judge) == [Graded(4.0, 4, False), Graded(5.0, 5, False)]
    assert judge.requests[0].logprobs == 0  # it cannot give any, so none are requested
    unknown = FakeChat('{"1": 1, "2": 5}', capabilities=Capabilities(logprobs=None))
    assert scored(unknown) == [Graded(1.0, 1, False), Graded(5.0, 5, False)]
    assert len(unknown.requests) == 1


@pytest.mark.parametrize(
    "bad",
    [
        '{"1": 4}',
        '{"1": 4, "2": 6}',
        '{"1": 0, "2": 3}',
        '{"1": "4", "2": 3}',
        '{"1": 4.5, "2": 3}',
        "[4, 3]",
        "4",
    ],
)
def test_a_reply_without_a_valid_score_for_each_is_asked_again(bad: str):
    judge = FakeChat([bad, '{"1": 4, "2": 3}'])
    assert [one.score for one in scored(judge)] == [4.0, 3.0]
    with pytest.raises(NoScore):
        scored(FakeChat([bad, bad]))


def test_sixty_statements_take_three_calls_and_none_takes_none():
    def all_threes(request: object) -> str:
        count = str(request).count("statement number ")
        return "{" + ", ".join(f'"{n}": 3' for n in range(1, count + 1)) + "}"

    judge = FakeChat(all_threes)
    assert len(scored(judge, *(f"statement number {n}" for n in range(60)))) == 60
    assert len(judge.requests) == 3
    assert call(lambda models: relevance(models, "q", []), judge=judge) == []
    assert len(judge.requests) == 3


@given(st.lists(st.floats(0.001, 1), min_size=5, max_size=5))
def test_an_expected_score_is_between_the_lowest_and_the_highest(weights: list[float]):
    total = sum(weights)
    top = tuple((str(n), math.log(weight / total)) for n, weight in enumerate(weights, 1))
    found = graded(ChatReply("3", logprobs=(TokenLogprobs("3", -1.0, top),)), 0)
    assert found.score == pytest.approx(sum(n * w for n, w in enumerate(weights, 1)) / total)
    assert 1 <= found.score <= 5


def test_what_is_printed_must_be_a_score():
    with pytest.raises(Unreadable):
        graded(ChatReply("12"), 0)
    with pytest.raises(Unreadable):
        graded(ChatReply("x"), 0)

"""What is read when one claim after the other is left out."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.installed import is_installed
from tests.there import there

from longmark.contrib.local.llama import LlamaCpp
from longmark.models.leave_one_out import Branch, order, plan
from longmark.models.protocols import LikelihoodReply, LikelihoodRequest

HEAD, ANSWER = [1, 2, 3], [90, 91]
CLAIMS = [[11, 12], [21, 22], [31, 32]]


def bound(head: int, claims: Sequence[int], answer: int) -> int:
    """The tokens that leaving out each claim may take, given the tokens of the head, of each claim and of the answer
    (with what stands between the claims and it). With n claims of L tokens: P + nL + L n(n-1)/2 + (n+1)A."""
    behind = sum(
        length * i for i, length in enumerate(claims)
    )  # claim i is read again when one before it is left out
    return head + sum(claims) + behind + (len(claims) + 1) * answer


def passes(head: int, claims: Sequence[int], answer: int) -> int:
    """The tokens of as many whole passes: what it takes where nothing is shared."""
    n = len(claims)
    return (n + 1) * (head + answer) + n * sum(claims)


def sequences(claims: list[list[int]], head: list[int], answer: list[int]) -> list[list[int]]:
    """Prompt and answer for each set, in the order of `order`."""
    sets = [[claim for i, claim in enumerate(claims) if i != left] for left in order(len(claims))]
    return [[*head, *itertools.chain(*kept), *answer] for kept in sets]


def test_worked_by_hand() -> None:
    # P = 3, n = 3, L = 2, A = 2: 3 + 6 + 2 x 3 + 4 x 2 = 23; four passes take 4 x (3 + 2) + 3 x 6 = 38
    assert bound(3, [2, 2, 2], 2) == 23
    assert passes(3, [2, 2, 2], 2) == 38
    found = plan(sequences(CLAIMS, HEAD, ANSWER), [2] * 4)
    # spine: head and two claims. The whole and the set without the last go on from its end, the set without the second
    # from behind the first claim, the set without the first from the head.
    assert found.spine == (1, 2, 3, 11, 12, 21, 22)
    assert found.branches == (Branch(0, 7), Branch(1, 7), Branch(2, 5), Branch(3, 3))
    # 7 + (2 + 2) + 2 + (2 + 2) + (4 + 2) = 23
    assert found.evaluated == 23


def test_the_order_serves_a_cache_that_is_cut_at_its_end() -> None:
    assert order(3) == [None, 2, 1, 0]
    assert order(0) == [None]
    cache: list[int] = []
    read = 0
    for sequence in sequences(CLAIMS, HEAD, ANSWER):
        both = enumerate(zip(cache, sequence, strict=False))
        kept = next((i for i, (a, b) in both if a != b), min(len(cache), len(sequence)))
        read += len(sequence) - kept
        cache = sequence
    assert read == 23


def test_one_sequence_none_and_equal_ones() -> None:
    assert plan([], []).evaluated == 0
    assert plan([[1, 2, 3]], [1]).evaluated == 3
    # equal prompts: all is shared but what must be read for its own sake
    assert plan([[1, 2, 3]] * 3, [1] * 3).evaluated == 2 + 3
    with pytest.raises(ValueError, match="between 1 and its length"):
        plan([[1], []], [1, 1])


tokens = st.lists(st.integers(0, 3), max_size=6)


@given(st.lists(tokens, max_size=6), tokens, st.lists(st.integers(0, 3), min_size=1, max_size=5))
def test_never_more_than_the_bound(
    claims: list[list[int]], head: list[int], answer: list[int]
) -> None:
    asked = sequences(claims, head, answer)
    found = plan(asked, [len(answer)] * len(asked))
    assert found.evaluated <= bound(len(head), list(map(len, claims)), len(answer))
    assert found.evaluated <= passes(len(head), list(map(len, claims)), len(answer))


@given(
    st.lists(
        st.tuples(st.lists(st.integers(0, 2), min_size=1, max_size=8), st.integers(1, 8)),
        max_size=6,
    )
)
def test_every_sequence_is_read_whole_and_its_last_tokens_for_itself(
    asked: list[tuple[list[int], int]],
) -> None:
    many = [sequence for sequence, _ in asked]
    fresh = [min(last, len(sequence)) for sequence, last in asked]
    found = plan(many, fresh)
    assert sorted(branch.sequence for branch in found.branches) == list(range(len(many)))
    read = len(found.spine)
    for branch in found.branches:
        sequence = many[branch.sequence]
        assert tuple(sequence[: branch.shared]) == found.spine[: branch.shared]
        assert len(sequence) - branch.shared >= fresh[branch.sequence]
        read += len(sequence) - branch.shared
    assert read == found.evaluated <= sum(map(len, many))
    assert [b.shared for b in found.branches] == sorted(
        (b.shared for b in found.branches), reverse=True
    )


@pytest.mark.embedded
@pytest.mark.skipif(not is_installed("small"), reason="longmark models install small")
def test_llama_reads_what_is_shared_once_and_the_values_do_not_hang_on_it() -> None:
    lines = [
        f"- In {year} the levee at Ashby was raised by {year % 7} feet.\n"
        for year in (1990, 1995, 2004)
    ]
    sets = ["".join(line for i, line in enumerate(lines) if i != left) for left in order(3)]
    asked = [
        LikelihoodRequest(f"What was done?\n{kept}Answer:", " Levees were raised.") for kept in sets
    ]

    async def use() -> tuple[list[LikelihoodReply], list[LikelihoodReply]]:
        model = LlamaCpp.embedded("small")
        try:
            planned = [await model.likelihood(request) for request in asked]
            # from the last to the first, so that each finds another part of itself in the cache
            return planned, [await model.likelihood(request) for request in reversed(asked)][::-1]
        finally:
            await model.close()

    planned, other = asyncio.run(use())
    for one, two in zip(planned, other, strict=True):
        assert one.logprobs == pytest.approx(two.logprobs, rel=1e-4)
    read = [there(reply.tokens).prompt - there(reply.tokens).cached_prompt for reply in planned]
    # without the last: only "Answer:" and the answer, and the token at which two lines part; each claim more costs it
    line = there(planned[0].tokens).prompt - there(planned[1].tokens).prompt
    assert read[1] < line <= read[2] - read[1] + 8
    assert read[2] + line - 8 <= read[3] <= read[2] + line + 8
    assert read[0] == there(planned[0].tokens).prompt

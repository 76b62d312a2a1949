"""Cosines, and embeddings of texts longer than an embedder reads."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.errors import NoScore
from longmark.metrics.score._similarity import MOST_TOKENS, Embedded, LongTexts, cosine, embed_whole
from longmark.models.protocols import EmbedReply
from longmark.testing import FakeEmbedder, call


class DirectionEmbedder(FakeEmbedder):
    """Words are its tokens, with two markers; it points along the first axis where a text says "up"."""

    def token_count(self, text: str) -> int:
        return len(text.split()) + 2

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        self.requests.append(tuple(texts))
        return EmbedReply(tuple((5.0, 0.0) if "up" in text else (0.0, 2.0) for text in texts))


def embedded(embedder: FakeEmbedder, *texts: str, long_texts: LongTexts = "mean") -> list[Embedded]:
    return call(lambda models: embed_whole(models, texts, long_texts), embedder=embedder)


def test_the_cosine_by_hand():
    assert cosine((1, 0), (0, 3)) == 0
    assert cosine((1, 2), (-2, -4)) == -1
    assert cosine((3, 4), (4, 3)) == pytest.approx(24 / 25)  # (12 + 12) / (5 x 5)
    assert cosine((0.1, 0.7, 0.3), (0.1, 0.7, 0.3)) == 1


def test_no_direction_is_no_cosine():
    for vector in ((0.0, 0.0), (math.inf, 1.0), (math.nan, 1.0)):
        with pytest.raises(NoScore, match="zero or non-finite") as unscored:
            cosine(vector, (1.0, 1.0))
        assert unscored.value.status == "undefined"


finite = st.floats(-100, 100).filter(lambda x: x == 0 or abs(x) > 1e-6)


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=8), st.floats(0.01, 100))
def test_cosines_stay_in_bounds_and_know_no_length(pairs: list[tuple[float, float]], scale: float):
    one, other = zip(*pairs, strict=True)
    if not any(one) or not any(other):
        return
    value = cosine(one, other)
    assert -1 <= value <= 1
    assert value == cosine(other, one)
    assert cosine([scale * x for x in one], other) == pytest.approx(value, abs=1e-9)


def test_a_text_that_fits_is_embedded_as_it_is():
    embedder = DirectionEmbedder()
    text = " ".join(["word"] * (MOST_TOKENS - 2))
    (found,) = embedded(embedder, text)
    assert embedder.requests == [(text,)]
    assert found.vector == (0.0, 2.0)
    assert found.evidence == {"tokens": 256, "counted": "by the embedder"}


def test_a_long_text_is_the_mean_of_its_chunks_by_their_tokens():
    # 300 words in two sentences, of 200 and 100 words: with the markers 202 and 102 tokens, vectors (1, 0) and (0, 1)
    # once they have length 1; mean = (202, 102) / 304
    text = " ".join(["up"] * 199) + " end. " + " ".join(["down"] * 100)
    embedder = DirectionEmbedder()
    (found,) = embedded(embedder, text)
    assert len(embedder.requests[0]) == 2
    assert found.vector == pytest.approx((202 / 304, 102 / 304))
    assert found.evidence == {
        "tokens": 302,
        "counted": "by the embedder",
        "mean_of_chunks": [202, 102],
    }


def test_a_long_text_can_be_cut():
    text = " ".join(["up"] * 199) + " end. " + " ".join(["down"] * 100)
    (found,) = embedded(embedder := DirectionEmbedder(), text, long_texts="cut")
    assert embedder.requests == [(text,)]  # it cuts at its own limit, to the token
    assert found.evidence == {"tokens": 302, "counted": "by the embedder", "cut_at": MOST_TOKENS}


def test_where_the_embedder_counts_nothing_tokens_are_estimated():
    # 6 bytes a word: 2 tokens by the estimate, so 128 words fill a chunk and 300 words make three
    text = " ".join(f"{n:05}" for n in range(300))
    (found,) = embedded(FakeEmbedder(), text)
    assert found.evidence["counted"] == "estimated, 3 bytes a token"
    assert found.evidence["tokens"] == 600
    assert found.evidence["mean_of_chunks"] == [256, 256, 88]
    (found,) = embedded(embedder := FakeEmbedder(), text, long_texts="cut")
    assert [len(part.split()) for part in embedder.requests[0]] == [128]
    assert found.evidence["cut_at"] == 256


def test_several_texts_go_out_in_one_batch_and_come_back_in_order():
    long = " ".join(["down"] * 600)
    embedder = DirectionEmbedder()
    first, second, third = embedded(embedder, "up", long, "up and away")
    assert len(embedder.requests) == 1
    assert (first.vector, third.vector) == ((5.0, 0.0), (5.0, 0.0))
    assert second.vector == pytest.approx((0.0, 1.0))


def test_thirty_thousand_words():
    (found,) = embedded(FakeEmbedder(), " ".join(f"word{n % 50}" for n in range(30_000)))
    assert len(found.evidence["mean_of_chunks"]) > 100


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_blank_text_has_no_embedding(blank: str):
    with pytest.raises(NoScore) as unscored:
        embedded(embedder := FakeEmbedder(), "text", blank)
    assert unscored.value.status == "undefined"
    assert embedder.requests == []

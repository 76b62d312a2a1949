"""The numpy MiniLM against sentence-transformers' vectors (goldens), and its parts by hand."""

from __future__ import annotations

import asyncio
import base64
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.there import there

from longmark.contrib.local import catalogue, minilm
from longmark.errors import ModelNotInstalled
from longmark.models.protocols import EmbedReply

np = pytest.importorskip("numpy")

GOLDEN = json.loads(
    (Path(__file__).parents[2] / "goldens" / "minilm.json").read_text(encoding="utf-8")
)
needs_model = pytest.mark.skipif(
    not catalogue.is_installed("embedder"), reason="longmark models install embedder"
)


@pytest.fixture(scope="module")
def model() -> minilm.MiniLM:
    return minilm.MiniLM()


@pytest.fixture(scope="module")
def reply(model: minilm.MiniLM) -> EmbedReply:
    return asyncio.run(model.embed(GOLDEN["texts"]))


@pytest.fixture(scope="module")
def vectors(reply: EmbedReply) -> Any:
    return np.array(reply.vectors)


@pytest.mark.embedded
@needs_model
def test_cosines_agree_with_sentence_transformers(vectors: Any) -> None:
    expected = np.array(GOLDEN["neighbour_cosines"])
    assert len(expected) == 200
    cosines = (vectors * np.roll(vectors, -1, axis=0)).sum(axis=1)
    assert np.abs(cosines - expected).max() < 1e-4


@pytest.mark.embedded
@needs_model
def test_vectors_agree_with_sentence_transformers(vectors: Any) -> None:
    stored = (
        np.frombuffer(base64.b64decode(GOLDEN["float16"]), "<f2").reshape(200, 384).astype(float)
    )
    # float16 keeps 11 bits: a component of 0.05 is off by at most 0.05 / 2048 = 2.4e-5
    assert np.abs(vectors - stored).max() < 1e-4
    assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-5


@pytest.mark.embedded
@needs_model
def test_token_counts_and_the_cut(model: minilm.MiniLM, reply: EmbedReply) -> None:
    counts = [model.token_count(text) for text in GOLDEN["texts"]]
    assert counts == GOLDEN["token_counts"]
    assert sum(count > minilm.MAX_TOKENS for count in counts) >= 10
    assert there(reply.tokens).prompt == sum(min(count, 256) for count in counts)
    words = "rain " * 254  # 254 tokens and the two markers: exactly 256
    assert model.token_count(words) == 256
    cut, same, other = asyncio.run(
        model.embed([words + "umbrella", words, "umbrella " + words])
    ).vectors
    assert cut == pytest.approx(same, abs=1e-5)
    assert other != pytest.approx(same, abs=1e-3)


@pytest.mark.embedded
@needs_model
def test_order_of_texts_is_kept_whatever_their_length(model: minilm.MiniLM) -> None:
    texts = ["a long one " * 40, "short", "of middle length, this one", "short", ""]
    together = asyncio.run(model.embed(texts)).vectors
    for text, vector in zip(texts, together, strict=True):
        alone = asyncio.run(model.embed([text])).vectors[0]
        assert vector == pytest.approx(alone, abs=1e-5)
    assert asyncio.run(model.embed([])).vectors == ()


def test_not_installed_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path))
    with pytest.raises(ModelNotInstalled, match="longmark models install embedder"):
        minilm.MiniLM()


@given(st.floats(-30, 30, width=32))
def test_gelu_is_x_times_the_normal_distribution(x: float) -> None:
    expected = x * 0.5 * (1 + math.erf(x / math.sqrt(2)))
    assert float(minilm._gelu(np.array([x], np.float32))[0]) == pytest.approx(expected, abs=5e-6)


@given(st.lists(st.integers(2, 256), max_size=300))
def test_batches_hold_every_text_once_and_stay_small(lengths: list[int]) -> None:
    batches = list(minilm._batches([[0] * length for length in lengths]))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) <= 64
        assert len(batch) * max(lengths[index] for index in batch) <= 4096


def test_cut_keeps_both_markers() -> None:
    # 300 ids: 101 opens, 102 closes. 255 from the front, then the closing marker: 256.
    ids = [101, *range(1000, 1298), 102]
    cut = minilm._cut(ids)
    assert len(cut) == 256
    assert cut[0] == 101
    assert cut[-1] == 102
    assert cut[:255] == ids[:255]
    assert minilm._cut(ids[:256]) == ids[:256]


@pytest.mark.embedded
@needs_model
def test_token_vectors_are_those_behind_the_text_s_vector(model: minilm.MiniLM) -> None:
    text = "Unbelievably, rain fell."
    (found,) = model.token_vectors([text], (0, 6))
    assert found.pieces == ("un", "##bel", "##ie", "##va", "##bly", ",", "rain", "fell", ".")
    assert [text[start:end].lower() for start, end in found.spans] == [
        piece.removeprefix("##") for piece in found.pieces
    ]
    assert found.tokens.shape == (2, len(found.pieces), 384)
    assert np.allclose(np.linalg.norm(found.tokens, axis=2), 1, atol=1e-5)
    assert np.allclose(found.text, asyncio.run(model.embed([text])).vectors[0], atol=1e-6)

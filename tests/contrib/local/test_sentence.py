"""The `st:` adapter with a small module in the library's place; design/embedded-models.md tells of the real one."""

from __future__ import annotations

import asyncio
import importlib.machinery
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from tests.there import there

from longmark.contrib.local.sentence import SentenceTransformerEmbedder
from longmark.errors import MissingExtra, RequestRefused


class _Tokenizer:
    def encode(self, text: str, truncation: bool, verbose: bool) -> list[int]:
        assert not truncation
        assert (
            not verbose
        )  # no warning that a text is longer than the model reads: it is counted before its cut
        return [1, *range(len(text.split())), 2]


class _LengthsModel:
    """A vector is (number of words, number of characters); it reads at most 4 tokens."""

    max_seq_length = 4
    tokenizer = _Tokenizer()

    def __init__(self, source: str) -> None:
        if source == "no/such-model":
            raise OSError("no/such-model is not a local folder\nand not on the hub")
        self.source = source

    def encode(self, texts: list[str], **settings: Any) -> list[list[float]]:
        assert settings["convert_to_numpy"] is True
        assert settings["show_progress_bar"] is False
        return [[float(len(text.split())), float(len(text))] for text in texts]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("sentence_transformers")
    module.__spec__ = importlib.machinery.ModuleSpec("sentence_transformers", None)
    module.SentenceTransformer = _LengthsModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)


@pytest.mark.usefixtures("library")
def test_vectors_in_order_and_tokens_after_the_cut() -> None:
    model = SentenceTransformerEmbedder("some/model")
    reply = asyncio.run(model.embed(["one", "one two three four"]))
    assert reply.vectors == ((1.0, 3.0), (4.0, 18.0))
    # 1 word + 2 markers = 3; 4 words + 2 markers = 6, cut at 4: 3 + 4 = 7
    assert there(reply.tokens).prompt == 7
    assert model.token_count("one two three four") == 6
    assert model.max_tokens() == 4
    assert (model.name, model.identity) == ("st:some/model", "st:some/model")
    assert asyncio.run(model.embed([])).vectors == ()


@pytest.mark.usefixtures("library")
def test_a_folder_is_known_by_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights.bin").write_bytes(b"first")
    first = SentenceTransformerEmbedder(str(folder)).identity
    assert first.startswith("st:sha256:")
    assert SentenceTransformerEmbedder(str(folder)).identity == first
    (folder / "weights.bin").write_bytes(b"second")
    assert SentenceTransformerEmbedder(str(folder)).identity != first


@pytest.mark.usefixtures("library")
def test_a_model_that_cannot_be_had_is_a_refusal_that_says_what_to_give() -> None:
    model = SentenceTransformerEmbedder("no/such-model")
    with pytest.raises(RequestRefused, match=r"is not a local folder\); give a folder") as caught:
        asyncio.run(model.embed(["x"]))
    assert not caught.value.retryable


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"longmark\[transformers\]"):
        SentenceTransformerEmbedder("some/model")

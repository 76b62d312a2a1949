"""The `st:` reranker with a small module in the library's place; where the library is, with a tiny model made here."""

from __future__ import annotations

import asyncio
import importlib.machinery
import importlib.util
import math
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from tests.there import there
from tests.word_tokenizer import word_tokenizer

from longmark.contrib.local.sentence import CrossEncoderChecker, CrossEncoderReranker
from longmark.errors import MissingExtra, RequestRefused
from longmark.records import Context, Example
from longmark.testing import score_sync
from longmark.text.entailment import ModelChecker, finds_contradictions

installed = all(importlib.util.find_spec(name) for name in ("torch", "sentence_transformers"))


class _Rows(list[Any]):
    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self), len(self[0])) if isinstance(self[0], list) else (len(self),)


class _Identity:
    pass


class _WordCountModel:
    """A score is the document's number of words, less 3; it reads at most 6 tokens."""

    max_length = 6
    outputs = 1

    def __init__(self, source: str) -> None:
        if source == "no/such-model":
            raise OSError("no/such-model is not a local folder\nand not on the hub")

    def predict(self, pairs: list[tuple[str, str]], **settings: Any) -> _Rows:
        assert isinstance(settings["activation_fn"], _Identity)  # no sigmoid
        scores = [len(document.split()) - 3.0 for _, document in pairs]
        return _Rows(scores if self.outputs == 1 else [[score] * self.outputs for score in scores])

    def tokenizer(
        self, queries: list[str], documents: list[str], truncation: bool, max_length: int
    ) -> dict[str, Any]:
        assert truncation
        counts = (
            len(q.split()) + len(d.split()) + 3 for q, d in zip(queries, documents, strict=True)
        )
        return {"input_ids": [[0] * min(count, max_length) for count in counts]}


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> None:
    module, torch = types.ModuleType("sentence_transformers"), types.ModuleType("torch")
    module.__spec__ = importlib.machinery.ModuleSpec("sentence_transformers", None)
    module.CrossEncoder = _WordCountModel  # type: ignore[attr-defined]
    torch.nn = types.SimpleNamespace(Identity=_Identity)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    monkeypatch.setitem(sys.modules, "torch", torch)


@pytest.mark.usefixtures("library")
def test_raw_scores_in_order_and_tokens_after_the_cut() -> None:
    model = CrossEncoderReranker("some/model")
    reply = asyncio.run(model.rerank("why so?", ["one", "one two three four five"]))
    assert reply.scores == (-2.0, 2.0)
    # 2 words + 1 word + 3 markers = 6; 2 + 5 + 3 = 10, cut at 6: 12
    assert there(reply.tokens).prompt == 12
    assert (model.name, model.identity) == ("st:some/model", "cross-encoder:some/model")
    assert asyncio.run(model.rerank("why?", [])).scores == ()


@pytest.mark.usefixtures("library")
def test_what_is_no_reranker_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        RequestRefused,
        match=r"cannot load the cross-encoder no/such-model \(no/such-model is not a local",
    ):
        asyncio.run(CrossEncoderReranker("no/such-model").rerank("q", ["d"]))
    monkeypatch.setattr(_WordCountModel, "outputs", 3)
    with pytest.raises(RequestRefused, match="gives 3 scores"):
        asyncio.run(CrossEncoderReranker("some/model").rerank("q", ["d"]))


@pytest.mark.usefixtures("library")
def test_a_checker_has_the_softmax_of_its_classes_by_their_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = types.SimpleNamespace(id2label={0: "CONTRADICTION", 1: "neutral", 2: "entailment"})
    monkeypatch.setattr(_WordCountModel, "config", config, raising=False)
    rows = _Rows([[0.0, math.log(2), math.log(5)], [1000.0, 0.0, 0.0]])
    monkeypatch.setattr(_WordCountModel, "predict", lambda _self, _pairs, **_settings: rows)
    model = CrossEncoderChecker("some/nli")
    reply = asyncio.run(model.classify("it rains", ["rain", "sun"]))
    assert reply.probabilities[0] == pytest.approx((5 / 8, 1 / 8, 2 / 8))
    assert reply.probabilities[1] == pytest.approx((0, 1, 0))
    assert (model.name, model.identity) == ("st:some/nli", "cross-encoder:some/nli")
    assert asyncio.run(model.classify("it rains", [])).probabilities == ()
    config.id2label = {
        0: "entailment",
        1: "not_entailment",
        2: "other",
    }  # a model without contradictions
    assert asyncio.run(model.classify("it rains", ["a", "b"])).probabilities[0] == pytest.approx(
        (1 / 8, 0, 7 / 8)
    )
    config.id2label = {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}
    with pytest.raises(
        RequestRefused,
        match="has the classes label_0, label_1, label_2; a checker needs entailment",
    ):
        asyncio.run(model.classify("it rains", ["a", "b"]))


CLASSES = {
    "three": ({0: "contradiction", 1: "neutral", 2: "entailment"}, True),
    "two": ({0: "entailment", 1: "not_entailment"}, False),
    "no names": ({0: "LABEL_0", 1: "LABEL_1"}, True),  # which `classify` refuses
}


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("names", "contradicts"), CLASSES.values(), ids=CLASSES)
@pytest.mark.parametrize("loaded", [False, True])
def test_a_checker_says_whether_its_classes_have_a_contradiction(
    monkeypatch: pytest.MonkeyPatch, names: dict[int, str], contradicts: bool, loaded: bool
) -> None:
    model = CrossEncoderChecker("some/nli")
    config = types.SimpleNamespace(id2label=names)
    library = types.ModuleType("transformers")
    monkeypatch.setitem(sys.modules, "transformers", library)
    assert model.contradicts  # not known yet: the library finds no files on this machine
    if loaded:
        monkeypatch.setattr(_WordCountModel, "config", config, raising=False)
        model._model()
    else:
        asked: list[Any] = []

        def from_pretrained(source: str, **settings: Any) -> Any:
            asked.append((source, settings["local_files_only"], settings["trust_remote_code"]))
            return config

        library.AutoConfig = types.SimpleNamespace(from_pretrained=from_pretrained)  # type: ignore[attr-defined]
    assert finds_contradictions(ModelChecker(None, model)) is contradicts  # type: ignore[arg-type]
    assert model.contradicts is contradicts
    assert loaded or asked == [("some/nli", True, False)]


@pytest.mark.usefixtures("library")
def test_a_model_of_two_classes_has_no_score_of_conflicts(monkeypatch: pytest.MonkeyPatch) -> None:
    config = types.SimpleNamespace(id2label={0: "entailment", 1: "not_entailment"})
    monkeypatch.setattr(_WordCountModel, "config", config, raising=False)
    monkeypatch.setattr(
        _WordCountModel,
        "predict",
        lambda _self, pairs, **_settings: _Rows([[0.0, 1.0] for _ in pairs]),
    )
    texts = ("It was built in 1930.", "It was built in 1931.")
    example = Example(
        question="When was it built?",
        answer=texts[0],
        claims=texts[:1],
        contexts=tuple(Context(id=str(n), text=text) for n, text in enumerate(texts)),
        context_claims=tuple((text,) for text in texts),
    )
    scores = score_sync(
        "sources",
        example,
        {"relevance": 1, "read": "all"},
        checker=CrossEncoderChecker("some/nli"),
    )
    assert scores["sources.omitted"].value is not None
    assert scores["sources.hidden_conflicts"].status == "unsupported"


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"longmark\[transformers\]"):
        CrossEncoderReranker("some/model")


@pytest.mark.skipif(not installed, reason="pip install 'longmark[transformers]'")
def test_as_the_library_without_its_sigmoid(tmp_path: Path) -> None:
    import torch
    from tokenizers import processors
    from transformers import BertConfig, BertForSequenceClassification

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "why", "rivers", "rise", "fall", "rain"]
    tokenizer = word_tokenizer(
        names,
        unknown="[UNK]",
        ends=processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2)),
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=16,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    tokenizer.save_pretrained(tmp_path)
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(names),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=16,
        num_labels=1,
        initializer_range=2.0,
    )
    model = BertForSequenceClassification(config).eval()
    model.save_pretrained(tmp_path)
    documents = ["rain", "rivers fall fall fall", "rise " * 40]
    found = asyncio.run(CrossEncoderReranker(str(tmp_path)).rerank("why rivers rise", documents))
    with torch.no_grad():
        for document, score in zip(documents, found.scores, strict=True):
            pair = tokenizer("why rivers rise", document, truncation=True, return_tensors="pt")
            assert score == pytest.approx(model(**pair).logits.item(), abs=1e-5)
    assert any(score < 0 or score > 1 for score in found.scores)
    assert there(found.tokens).prompt == (3 + 1 + 3) + (3 + 4 + 3) + 16

"""Perplexity, BARTScore, BLEURT, UniEval: by hand on fakes, and on tiny random checkpoints against the formula."""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.word_tokenizer import word_tokenizer

from longmark.contrib.local.seq2seq_lm import Seq2SeqLM
from longmark.errors import MissingExtra, TooLong
from longmark.metrics.classic import _likelihood, bleurt, unieval
from longmark.models.fake import FakeReranker
from longmark.models.protocols import SEGMENT, LikelihoodReply, LikelihoodRequest
from longmark.records import Context, Example
from longmark.testing import FakeLanguageModel, Scored, score_sync

installed = all(map(importlib.util.find_spec, ("torch", "transformers")))
with_torch = pytest.mark.skipif(not installed, reason="pip install 'longmark[transformers]'")
EXAMPLE = Example(
    id="1",
    question="why ?",
    answer="the dog ran .",
    references=("a cat ran far .",),
    contexts=(Context(text="the cat sat ."), Context(text="a dog ran .")),
)


def scored(name: str, example: Example = EXAMPLE, lm: Any = None, **params: Any) -> Scored:
    return score_sync(f"classic.{name}", example, params, lm=lm)[f"classic.{name}"]


def test_perplexity_by_hand():
    # log-probabilities -1, -1, -1, -3: the mean is -1.5, and exp(1.5) = 4.4817
    lm = FakeLanguageModel(lambda _prompt, word: -3.0 if word == "." else -1.0)
    found = scored("perplexity", lm=lm)
    assert found.value == pytest.approx(math.exp(1.5))
    assert found.evidence == {"tokens": 4, "mean_logprob": -1.5}
    assert lm.requests == [LikelihoodRequest("\n", "the dog ran .")]
    scored("perplexity", lm=lm, given="question")
    assert lm.requests[1].prompt == "why ?\n"


def test_perplexity_has_its_limits():
    empty = Example(id="1", answer=" ")
    assert scored("perplexity", empty, FakeLanguageModel()).reason == "The answer is empty."
    no_question = Example(id="1", answer="a")
    assert (
        scored("perplexity", no_question, FakeLanguageModel(), given="question").status
        == "missing_input"
    )
    unlikely = scored("perplexity", lm=FakeLanguageModel(lambda _prompt, _word: -1e6))
    assert (unlikely.value, unlikely.status) == (None, "undefined")


def test_bartscore_under_a_causal_model_by_hand():
    # given the reference: ran, . are known (-.5), the, dog are not (-2): -1.25
    # given the answer: ran, . are known, a, cat, far are not: (3·-2 + 2·-.5)/5 = -1.4
    lm = FakeLanguageModel(lambda prompt, word: -0.5 if word in prompt.split() else -2.0)
    found = scored("bartscore", lm=lm)
    assert found.value == pytest.approx((-1.25 - 1.4) / 2)
    assert found.evidence == pytest.approx(
        {"precision": -1.25, "recall": -1.4, "tokens": 9, "form": "causal", "model": "fake"}
    )
    assert scored("bartscore", lm=lm, direction="precision").value == pytest.approx(-1.25)
    assert scored("bartscore", lm=lm, direction="recall").value == pytest.approx(-1.4)
    two = Example(id="1", answer="the dog ran .", references=("a cat ran far .", "the dog ran ."))
    assert scored("bartscore", two, lm, direction="precision").value == pytest.approx(
        (-1.25 - 0.5) / 2
    )


def test_a_model_that_is_not_given_is_named():
    for name, parameter in (
        ("bartscore", "BART"),
        ("bleurt", "BLEURT"),
        ("unieval.overall", "UniEval"),
    ):
        found = scored(name)
        assert (found.value, found.status) == (None, "unsupported")
        assert parameter in str(found.reason)


@pytest.mark.skipif(installed, reason="torch is installed")
def test_a_checkpoint_without_its_library_names_the_extra():
    for name in ("bartscore", "bleurt", "unieval.overall"):
        with pytest.raises(MissingExtra, match=r"longmark\[transformers\]"):
            scored(name, checkpoint="some/where")


def test_bleurt_is_the_best_of_the_references(monkeypatch: pytest.MonkeyPatch):
    fake = FakeReranker()
    monkeypatch.setattr(bleurt, "_checkpoint", lambda _source: fake)
    two = Example(id="1", answer="a dog", references=("a cat", "a dog"))
    found = scored("bleurt", two, checkpoint="x")
    assert found.value == max(found.evidence["values"])
    assert len(found.evidence["values"]) == 2
    assert sorted(map(str, fake.requests)) == [
        str((one, ("a dog",))) for one in ("a cat", "a dog")
    ]  # reference first


class YesAnswers(FakeLanguageModel):
    """Yes with .75 of what both have for sentences on dogs, else with .5."""

    def __init__(self) -> None:
        super().__init__(self.of)

    @staticmethod
    def of(prompt: str, word: str) -> float:
        share = 0.75 if "dog" in prompt.split(SEGMENT)[1] else 0.5
        return math.log((share if word == "Yes" else 1 - share) / 10)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> YesAnswers:
    fake = YesAnswers()
    monkeypatch.setattr(
        unieval, "of_checkpoint", lambda models, _source, requests: ask(fake, requests)
    )
    return fake


async def ask(
    lm: FakeLanguageModel, requests: Sequence[LikelihoodRequest]
) -> list[LikelihoodReply]:
    return [await lm.likelihood(one) for one in requests]


def test_unieval_by_hand(answers: YesAnswers):
    # two sentences, one on a dog: consistency and fluency (.75 + .5)/2; the whole answer is on a dog: .75
    example = Example(
        id="1", answer="The dog ran. It rained.", references=("x",), contexts=(Context(text="y"),)
    )
    found = score_sync("classic.unieval", example, {"checkpoint": "x"})
    values = {name.removeprefix("classic.unieval."): one.value for name, one in found.items()}
    assert values == pytest.approx(
        {
            "coherence": 0.75,
            "consistency": 0.625,
            "fluency": 0.625,
            "relevance": 0.75,
            "overall": 0.6875,
        }
    )
    coherence = answers.requests[0].prompt.split(SEGMENT)
    assert coherence[1:] == ["summary: The dog ran. It rained.", "document: y"]


def test_unieval_without_passages_has_its_other_scores(answers: YesAnswers):
    found = score_sync(
        "classic.unieval", Example(id="1", answer="A dog.", references=("x",)), {"checkpoint": "x"}
    )
    assert {name.rpartition(".")[2]: one.status for name, one in found.items()} == {
        "coherence": "missing_input",
        "consistency": "missing_input",
        "fluency": "ok",
        "relevance": "ok",
        "overall": "missing_input",
    }


WORDS = re.findall(
    r"\S+", "a cat dog far paragraph : question Is this fluent ? the on mat sat ran . Yes No"
)


def tokenizer_in(folder: Path) -> int:
    """A word-level tokenizer that ends a text with </s>, as T5's does."""
    from tokenizers import processors

    names = ["<pad>", "</s>", "<unk>", *WORDS]
    ends = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = word_tokenizer(names, ends=ends, pad_token="<pad>", eos_token="</s>")
    tokenizer.save_pretrained(folder)
    return len(names)


def seq2seq_in(folder: Path, kind: str) -> Path:
    import torch
    import transformers

    size = tokenizer_in(folder)
    torch.manual_seed(3)
    ends = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    config: Any = (
        transformers.T5Config(
            vocab_size=size, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, **ends
        )
        if kind == "t5"
        else transformers.BartConfig(
            vocab_size=size,
            d_model=32,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=48,
            decoder_ffn_dim=48,
            max_position_embeddings=32,
            init_std=0.5,
            **ends,
        )
    )
    transformers.AutoModelForSeq2SeqLM.from_config(config).save_pretrained(folder)
    return folder


def by_the_library(folder: Path, source: str, target: str) -> list[float]:
    """One pass as the authors make it: labels with the tokenizer's markers."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    labels = tokenizer(target, return_tensors="pt").input_ids
    with torch.inference_mode():
        logits = model(
            input_ids=tokenizer(source, return_tensors="pt").input_ids, labels=labels
        ).logits[0]
    logs = torch.log_softmax(logits, -1)
    return [float(logs[i, token]) for i, token in enumerate(labels[0])]


@with_torch
@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_bartscore_of_a_checkpoint_is_the_library_s(tmp_path: Path, kind: str):
    folder = seq2seq_in(tmp_path, kind)
    answer, reference = EXAMPLE.answer or "", EXAMPLE.references[0]
    found = scored("bartscore", checkpoint=str(folder))
    there, back = (
        by_the_library(folder, reference, answer),
        by_the_library(folder, answer, reference),
    )
    assert len(there) == 5  # the end marker counts, as in BARTScore
    assert found.evidence["precision"] == pytest.approx(sum(there) / len(there), abs=1e-5)
    assert found.evidence["recall"] == pytest.approx(sum(back) / len(back), abs=1e-5)
    assert found.evidence["form"] == "seq2seq"


@with_torch
def test_a_text_beyond_the_window_is_refused(tmp_path: Path):
    _likelihood.checkpoint.cache_clear()
    found = scored(
        "bartscore",
        Example(id="1", answer="cat " * 40, references=("a cat",)),
        checkpoint=str(seq2seq_in(tmp_path, "bart")),
    )
    assert (found.status, found.value) == ("too_long", None)
    assert TooLong.status == "too_long"


@with_torch
def test_unieval_of_a_checkpoint_is_the_library_s(tmp_path: Path):
    folder = seq2seq_in(tmp_path, "t5")
    found = scored(
        "unieval.fluency", Example(id="1", answer="the cat sat ."), checkpoint=str(folder)
    )
    of_yes, of_no = (
        math.exp(
            by_the_library(
                folder, "question: Is this a fluent paragraph? </s> paragraph: the cat sat .", word
            )[0]
        )
        for word in ("Yes", "No")
    )
    assert found.value == pytest.approx(of_yes / (of_yes + of_no), abs=1e-5)


@with_torch
def test_control_tokens_of_a_text_are_text(tmp_path: Path):
    import asyncio

    model = Seq2SeqLM(str(seq2seq_in(tmp_path, "t5")))
    (reply,) = asyncio.run(model.likelihoods([LikelihoodRequest("a", "cat </s>")]))
    assert reply.pieces.count("</s>") == 1  # the tokenizer's own


@with_torch
def test_bleurt_of_a_checkpoint_is_the_library_s(tmp_path: Path):
    pytest.importorskip("sentence_transformers", reason="pip install 'longmark[transformers]'")
    import torch
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        BertConfig,
        BertTokenizerFast,
    )

    (tmp_path / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *map(str.lower, WORDS)])
    )
    BertTokenizerFast(vocab=str(tmp_path / "vocab.txt"), model_max_length=64).save_pretrained(
        tmp_path
    )
    torch.manual_seed(4)
    wide = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 48,
    }
    config = BertConfig(vocab_size=len(WORDS) + 5, num_labels=1, max_position_embeddings=64, **wide)
    AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path)
    tokenizer, model = (
        one.from_pretrained(tmp_path) for one in (AutoTokenizer, AutoModelForSequenceClassification)
    )
    read = tokenizer([EXAMPLE.references[0]], [EXAMPLE.answer], return_tensors="pt")
    with torch.inference_mode():
        expected = float(model.eval()(**read).logits[0, 0])
    assert scored("bleurt", checkpoint=str(tmp_path)).value == pytest.approx(expected, abs=1e-5)

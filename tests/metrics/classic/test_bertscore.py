"""BERTScore: greedy matching by hand and against the written-out form; long texts; encoders."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.installed import is_installed

import longmark
from longmark.errors import MissingExtra, UserError
from longmark.metrics.classic import _encoders
from longmark.metrics.classic._encoders import EMBEDDED, Vectors
from longmark.metrics.classic.bertscore import BertScoreParams, match
from longmark.models.fake import FakeChat
from longmark.records import Example
from longmark.testing import Scored, score_sync

ANGLES = {"up": 90, "right": 0, "left": 180, "slope": 60}  # words as directions in a plane
with_embedder = pytest.mark.skipif(
    not is_installed("embedder"), reason="longmark models install embedder"
)
with_torch = pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("torch", "transformers"))),
    reason="pip install 'longmark[transformers]'",
)


class Plane:
    """Words as unit vectors between two markers that point down; it reads four tokens at once."""

    name = "plane"

    def count(self, text: str) -> int:
        return len(text.split()) + 2

    def limit(self) -> int:
        return 4

    def encode(self, text: str, layer: int) -> tuple[Any, Any]:
        words = text.split()[: self.limit() - 2]
        turns = [math.radians(angle) for angle in (270, *(ANGLES[word] for word in words), 270)]
        units = np.array([(math.cos(turn), math.sin(turn)) for turn in turns], dtype=np.float32)
        return units, np.array([False, *(True for _ in words), False])


@pytest.fixture
def plane(monkeypatch: pytest.MonkeyPatch) -> None:
    _encoders.vectors.cache_clear()
    monkeypatch.setattr(_encoders, "encoder", lambda _name: Plane())


def scored(answer: str, *references: str, **params: Any) -> Scored:
    return score_sync(
        "classic.bertscore", Example(id="1", answer=answer, references=references), params
    )["classic.bertscore"]


def test_greedy_matching_by_hand(plane: None):
    # answer: up, slope; reference: right, up. cos(up, up) 1; cos(slope, up) = cos 30° = .866, cos(slope, right) = .5
    # P = (1 + .866)/2; R: right finds slope .5 (not up 0), up finds up 1: (.5 + 1)/2
    found = scored("up slope", "right up")
    p, r = (1 + math.cos(math.pi / 6)) / 2, 0.75
    assert found.value == pytest.approx(2 * p * r / (p + r))
    assert found.evidence == pytest.approx(
        {"precision": p, "recall": r, "f1": 2 * p * r / (p + r)}
        | {"answer_tokens": 2, "reference_tokens": 2, "answer_pieces": 1, "reference_pieces": 1}
    )
    assert scored("up slope", "right up", measure="recall").value == pytest.approx(0.75)
    assert scored("up slope", "left left", "right up").value == found.value  # the better reference
    assert scored("up slope", "right up", measure="recall", baseline=0.5).value == pytest.approx(
        0.5
    )


def test_a_token_may_match_a_marker_and_a_marker_does_not_count(plane: None):
    # left against right: -1; the markers point down, cos(left, down) = 0 is greater
    assert scored("left", "right").evidence["precision"] == pytest.approx(0, abs=1e-6)


def test_a_long_text_is_read_in_pieces_or_cut(plane: None):
    whole, cut = scored("up up right", "right"), scored("up up right", "right", long_texts="cut")
    assert (whole.evidence["answer_pieces"], whole.evidence["answer_tokens"]) == (2, 3)
    assert (cut.evidence["answer_pieces"], cut.evidence["answer_tokens"]) == (1, 2)
    assert whole.evidence["recall"] == pytest.approx(1)
    assert cut.evidence["recall"] == pytest.approx(0, abs=1e-6)


def test_the_matching_is_that_of_the_definition():
    random = np.random.default_rng(3)

    def text(tokens: int) -> Vectors:
        raw = random.normal(size=(tokens, 5)).astype(np.float32)
        content = random.random(tokens) < 0.8
        content[0] = True
        return Vectors(raw / np.linalg.norm(raw, axis=1, keepdims=True), content, 1)

    def naive(one: Vectors, other: Vectors) -> float:
        found = []
        for unit, counts in zip(one.units, one.content, strict=True):
            if counts:
                found.append(
                    max(
                        float(sum(a * b for a, b in zip(unit, theirs, strict=True)))
                        for theirs in other.units
                    )
                )
        return sum(found) / len(found)

    for size in (1, 4, 30, 1500):  # 1,500: more than one block
        answer, reference = text(size), text(7)
        found = match(answer, reference)
        assert found.precision == pytest.approx(naive(answer, reference), abs=1e-5)
        assert found.recall == pytest.approx(naive(reference, answer), abs=1e-5)
        turned = match(reference, answer)
        assert (turned.precision, turned.recall) == (found.recall, found.precision)


def test_what_cannot_be_scored():
    assert scored(" ", "a").reason == "The answer is empty."
    assert scored("a", " ").reason == "The reference is empty."
    for wrong in ({"encoder": "bert"}, {"encoder": "hf:"}, {"baseline": 1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            BertScoreParams(**wrong)


@pytest.mark.packages
@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_an_encoder_without_its_library_names_the_extra():
    with pytest.raises(MissingExtra, match=r"hf:some.*longmark\[transformers\]"):
        scored("a", "b", encoder="hf:some")


def test_an_encoder_is_checked_before_a_judge_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def missing(name: str) -> Any:
        raise UserError(f"{name} is not there")

    monkeypatch.setattr(_encoders, "encoder", missing)
    judge = FakeChat("score: 3")
    given = [
        Example(id=f"{n}", question=f"Why {n}?", answer="So.", references=("So.",) * (n == 29))
        for n in range(30)
    ]
    names, folder = ["ccrs.question_relevance", "classic.bertscore"], tmp_path / "run"
    with pytest.raises(UserError, match="is not there"):
        longmark.run(
            given, names, judges=judge, out=folder, cache=tmp_path / "calls.sqlite", concurrency=1
        )
    assert judge.requests == []


@pytest.mark.embedded
@with_embedder
def test_the_embedded_encoder():
    same = scored("Boil the water for a minute.", "Boil the water for a minute.")
    other = scored("Boil the water for a minute.", "Elections are held in May.")
    assert same.value == pytest.approx(1, abs=1e-5)
    assert other.value is not None
    assert other.value < 0.5
    assert scored("water " * 600, "water").evidence["answer_pieces"] == 3  # 254 tokens each
    with pytest.raises(UserError, match="layers 0 to 6"):
        scored("a", "b", layer=7)
    assert BertScoreParams().encoder == EMBEDDED


@with_torch
def test_an_encoder_of_transformers_gives_what_bert_score_gives(tmp_path: Path):
    """Against the package bert-score where it is installed."""
    bert_score = pytest.importorskip("bert_score", reason="pip install bert-score")
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    words = ["the", "cat", "sat", "on", "a", "mat", "dog", "ran", "far", "away", "."]
    (tmp_path / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])
    )
    BertTokenizerFast(vocab=str(tmp_path / "vocab.txt"), model_max_length=16).save_pretrained(
        tmp_path
    )
    torch.manual_seed(5)
    wide = {
        "hidden_size": 32,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 48,
    }
    BertModel(BertConfig(vocab_size=16, max_position_embeddings=16, **wide)).eval().save_pretrained(
        tmp_path
    )
    answer, reference = (
        "the cat sat on a mat .",
        "a dog ran far away . the cat sat . a dog ran . the mat",
    )
    for layer in (2, 3):
        p, r, f = (
            float(one[0])
            for one in bert_score.score(
                [answer], [reference], model_type=str(tmp_path), num_layers=layer, device="cpu"
            )
        )
        found = scored(answer, reference, encoder=f"hf:{tmp_path}", layer=layer, long_texts="cut")
        shown = [found.evidence[name] for name in ("precision", "recall", "f1")]
        assert shown == pytest.approx([p, r, f], abs=1e-5)
    assert scored(answer, reference, encoder=f"st:{tmp_path}").evidence["reference_pieces"] == 2

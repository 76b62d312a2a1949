"""Robustness: the cosine of two whole answers, for the kind of variant that the example is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.installed import is_installed

from longmark import metrics
from longmark.models.protocols import Embedder, EmbedReply
from longmark.records import Example
from longmark.testing import FakeEmbedder, Scored, score_sync

NAME = "score.robustness"


class SentenceEmbedder(FakeEmbedder):
    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        self.requests.append(tuple(texts))
        return EmbedReply(tuple((3.0, 4.0) if text == "base" else (4.0, 3.0) for text in texts))


def scored(
    variant: str, answer: str, base_answer: str, embedder: Embedder | None = None, **params: Any
) -> dict[str, Scored]:
    example = Example(
        id="1", variant_of="q", variant=variant, answer=answer, base_answer=base_answer
    )
    found = score_sync(NAME, example, params, embedder=embedder or FakeEmbedder())
    return {name.removeprefix(f"{NAME}."): one for name, one in found.items()}


def test_the_cosine_of_the_two_answers():
    embedder = SentenceEmbedder()
    found = scored("paraphrase", "other", "base", embedder)
    # (3 x 4 + 4 x 3) / (5 x 5) = 24/25
    assert {part: one.value for part, one in found.items()} == {"paraphrase": pytest.approx(0.96)}
    assert embedder.requests == [("other", "base")]
    evidence = found["paraphrase"].evidence
    assert evidence["variant"] == "paraphrase"
    assert evidence["answer"] == {"tokens": 2, "counted": "estimated, 3 bytes a token"}


@pytest.mark.parametrize(
    "kind", ["hazard", "location", "hazard+location", "profession", "one of my own"]
)
def test_every_other_kind_is_a_perturbation(kind: str):
    found = scored(kind, "other", "base", SentenceEmbedder())
    assert list(found) == ["perturbation"]
    assert found["perturbation"].evidence["variant"] == kind


def test_the_directions():
    values = metrics.load(NAME).published(NAME)
    assert values["score.robustness.paraphrase"].higher_is_better is True
    assert values["score.robustness.perturbation"].higher_is_better is False


@settings(max_examples=25)
@given(
    answer=st.text("ab c", min_size=1).filter(str.strip),
    other=st.text("cd e", min_size=1).filter(str.strip),
)
def test_alike_is_1_and_either_may_be_the_base(answer: str, other: str):
    assert scored("paraphrase", answer, answer)["paraphrase"].value == 1
    one, swapped = (scored("hazard", *pair) for pair in ((answer, other), (other, answer)))
    assert abs(one["perturbation"].value or 0) <= 1
    assert one["perturbation"].value == swapped["perturbation"].value


def test_long_answers_by_the_mean_or_cut():
    long = "flood " * 2000 + "drought " * 2000
    mean = scored("paraphrase", long, "flood")["paraphrase"]
    cut = scored("paraphrase", long, "flood", long_answers="cut")["paraphrase"]
    assert cut.value == 1  # its beginning is all floods
    assert mean.value is not None
    assert mean.value < 0.9
    assert len(mean.evidence["answer"]["mean_of_chunks"]) > 30
    assert cut.evidence["answer"]["cut_at"] <= 256
    assert (mean.evidence["long_answers"], cut.evidence["long_answers"]) == ("mean", "cut")


@pytest.mark.parametrize(("answer", "base"), [("", "base"), ("answer", " \n"), ("", "")])
def test_an_empty_answer_is_undefined(answer: str, base: str):
    (unscored,) = scored("paraphrase", answer, base).values()
    assert unscored.status == "undefined"
    assert "is empty" in str(unscored.reason)


@pytest.mark.embedded
@pytest.mark.skipif(not is_installed("embedder"), reason="longmark models install embedder")
def test_on_the_embedded_embedder():
    from longmark.contrib.local.minilm import MAX_TOKENS, MiniLM
    from longmark.metrics.score._similarity import MOST_TOKENS

    assert MOST_TOKENS == MAX_TOKENS
    model = MiniLM()
    base = "Ice storms break power lines. Clear trees beside the line and keep spare poles."
    close = "Power lines are broken by ice storms, so clear nearby trees and store spare poles."
    far = "Drought lowers the river, so the plant needs a second source of cooling water."
    near = scored("paraphrase", close, base, model)["paraphrase"].value
    other = scored("hazard", far, base, model)["perturbation"].value
    assert near is not None
    assert other is not None
    assert near > 0.8
    assert other < 0.5
    long = "\n\n".join(f"{n}. {base if n % 2 else far}" for n in range(40))
    mean = scored("paraphrase", long, base, model)["paraphrase"]
    sizes = mean.evidence["answer"]["mean_of_chunks"]
    assert max(sizes) <= MAX_TOKENS
    # no token is lost or added by the cuts, but for the two markers that each chunk has
    assert sum(sizes) - 2 * (len(sizes) - 1) == mean.evidence["answer"]["tokens"]

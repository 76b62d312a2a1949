"""Answer relevance, masked and plain, on judges whose questions are known."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from tests.installed import is_installed

from longmark import metrics
from longmark.domain import Domain, load
from longmark.metrics.score.answer_relevance import AnswerRelevanceParams, relevance
from longmark.models.protocols import ChatRequest, EmbedReply
from longmark.records import Example
from longmark.testing import FakeChat, FakeEmbedder, Scored, score_sync

NAME = "score.answer_relevance"
METRIC = metrics.load(NAME)
PROFILE = {"hazard": "ice storm", "infrastructure": "electrical grid"}
EXAMPLE = Example(
    id="1",
    question="How do ice storms harm the grid?",
    answer="Ice storms break lines of the electrical grid. Clear the trees.",
    profile=PROFILE,
)
NAMED = {"hazard": ["ice storms", "flood"], "profession": [], "concern": [], "infrastructure": []}


class QuestionEmbedder(FakeEmbedder):
    """The original question along the first axis; `q3` at cosine 3/5 to it, `q0` at 0."""

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        self.requests.append(tuple(texts))
        known = {"q3": (3.0, 4.0), "q4": (4.0, 3.0), "q0": (0.0, 1.0)}
        return EmbedReply(tuple(known.get(text, (2.0, 0.0)) for text in texts))


def judge(
    *questions: str, named: dict[str, list[str]] = NAMED, plain: Sequence[str] | None = None
) -> FakeChat:
    def answer(request: ChatRequest) -> str:
        asked = request.messages[1].content
        if "words and phrases" in asked:
            pairs = [{"phrase": one, "kind": kind} for kind, its in named.items() for one in its]
            return json.dumps({"phrases": pairs})
        return json.dumps(
            {"questions": plain if plain is not None and "[HAZARD]" not in asked else questions}
        )

    return FakeChat(answer)


def scored(
    model: FakeChat | str,
    embedder: FakeEmbedder | str | None = None,
    example: Example = EXAMPLE,
    domain: Domain | None = None,
    **params: Any,
) -> dict[str, Scored]:
    found = score_sync(
        NAME, example, params, judge=model, embedder=embedder or QuestionEmbedder(), domain=domain
    )
    return {name.removeprefix(f"{NAME}."): one for name, one in found.items()}


def test_the_equation():
    assert relevance([0.6, 0.8, 0.0]) == pytest.approx(1.4 / 3)


def test_by_hand():
    model, embedder = judge("q3", "q4", "q0", plain=["q3", "q3", "q3"]), QuestionEmbedder()
    found = scored(model, embedder, questions=3)
    # masked: cosines .6, .8 and 0, mean 1.4/3; plain: .6 three times
    assert found["masked"].value == pytest.approx(1.4 / 3)
    assert found["plain"].value == pytest.approx(0.6)
    evidence = found["masked"].evidence
    assert [one["question"] for one in evidence["questions"]] == ["q3", "q4", "q0"]
    assert [one["cosine"] for one in evidence["questions"]] == pytest.approx([0.6, 0.8, 0.0])
    assert (
        evidence["masked_answer"]
        == "[HAZARD] break lines of the [INFRASTRUCTURE]. Clear the trees."
    )
    assert evidence["masked_phrases"] == NAMED
    assert evidence["masked_phrases_not_found"] == 1
    assert evidence["masked_by_model"] == 1
    assert evidence["masked_by_code"] == {
        "hazard": 0,
        "profession": 0,
        "concern": 0,
        "infrastructure": 1,
    }
    assert "masked_answer" not in found["plain"].evidence
    # the original question is embedded unmasked, with the generated ones in one batch
    assert embedder.requests[0] == ("How do ice storms harm the grid?", "q3", "q4", "q0")


def test_questions_are_made_from_the_masked_answer_and_without_the_question():
    model = judge("a", "b", "c", "d", "e")
    scored(model)
    _masking, masked, plain = [request.messages[1].content for request in model.requests]
    assert "[HAZARD] break lines of the [INFRASTRUCTURE]." in masked
    assert "electrical grid" not in masked
    assert "Ice storms break lines of the electrical grid." in plain
    assert all("How do ice storms harm" not in text for text in (masked, plain))
    assert "exactly 5 questions" in plain


def test_the_paper_s_masking_is_the_answer_as_the_judge_rewrites_it():
    """Section 3.3, appendix E.3: nothing is checked or replaced by code, and no profile is needed."""
    rewritten = (
        "[HAZARD] break lines of the [INFRASTRUCTURE]. Cut the trees of the electrical grid."
    )

    def answer(request: ChatRequest) -> str:
        if "rewritten answer" in request.messages[1].content:
            return rewritten
        return json.dumps(
            {"questions": ["q3"] if "[HAZARD]" in request.messages[1].content else ["q0"]}
        )

    for profile in (PROFILE, None):
        model = FakeChat(answer)
        example = EXAMPLE.model_copy(update={"profile": profile})
        found = scored(model, example=example, questions=1, masking="rewrite")
        assert found["masked"].value == pytest.approx(0.6)
        assert found["plain"].value == 0
        evidence = found["masked"].evidence
        assert evidence["masked_answer"] == rewritten
        counted = {"hazard": 1, "profession": 0, "concern": 0, "infrastructure": 1}
        assert evidence["rewritten_placeholders"] == counted
        first = model.requests[0]
        assert (first.schema, "- [CONCERN]: " in first.messages[1].content) == (None, True)
    empty = scored(FakeChat(""), questions=1, masking="rewrite")
    assert empty["masked"].status == "unparsable"
    assert METRIC.params is AnswerRelevanceParams
    assert AnswerRelevanceParams().masking == "phrases"


def test_more_questions_than_asked_for_are_left_out_and_fewer_are_unscored():
    found = scored(judge("q3", "q3", "q0", "q0"), questions=2)
    assert found["plain"].value == pytest.approx(0.6)
    found = scored(judge("q3", " "), questions=2)
    for one in found.values():
        assert one.status == "unparsable"


@pytest.mark.parametrize("profile", [None, {}, {"location": "Richland, SC"}])
def test_without_a_profile_the_plain_score_is_left(profile: dict[str, Any] | None):
    model = judge("q3")
    found = scored(model, example=EXAMPLE.model_copy(update={"profile": profile}), questions=1)
    masked = found["masked"]
    assert masked.status == "missing_input"
    assert "hazard, profession, concern, infrastructure" in str(masked.reason)
    assert found["plain"].value == pytest.approx(0.6)
    assert len(model.requests) == 1


def test_a_slot_that_is_there_without_a_text_is_named():
    profile = {"hazard": "", "profession": 5, "concern": ["é"], "location": "Richland, SC"}
    masked = scored(
        judge("q3"), example=EXAMPLE.model_copy(update={"profile": profile}), questions=1
    )["masked"]
    assert (masked.status, masked.reason) == (
        "missing_input",
        "The profile's values of the masked slots are empty or not text: "
        'hazard is "", profession is 5, concern is ["é"].',
    )


def test_a_masking_that_cannot_be_read_leaves_the_plain_score():
    found = scored(judge("q3", named={"weather": ["ice"]}), questions=1)
    assert found["masked"].status == "unparsable"
    assert found["plain"].value == pytest.approx(0.6)


def test_a_domain_that_masks_nothing():
    bare = load().model_copy(update={"masks": ()})
    found = scored(judge("q3"), domain=bare, questions=1)
    assert found["masked"].status == "undefined"
    assert found["plain"].value == pytest.approx(0.6)


@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_answer_is_undefined(answer: str):
    model = judge("q3")
    found = scored(model, example=EXAMPLE.model_copy(update={"answer": answer}))
    assert {one.status for one in found.values()} == {"undefined"}
    assert model.requests == []
    assert METRIC.calls(EXAMPLE.model_copy(update={"answer": ""}), AnswerRelevanceParams(), 1) <= 2


def test_thirty_thousand_words():
    answer = " ".join(f"{n:05}" for n in range(30_000))

    def reply(request: ChatRequest) -> str:
        asked = request.messages[1].content
        if "words and phrases" in asked:
            return json.dumps({"phrases": []})
        assert len(asked) < 14_000
        return json.dumps({"questions": ["q3"]})

    example = EXAMPLE.model_copy(update={"answer": answer})
    model = FakeChat(reply)
    found = scored(model, example=example, questions=1)
    assert found["plain"].value == found["masked"].value == pytest.approx(0.6)
    # 6 bytes a word: 2,000 words fill a piece of 12,000; 666 words a piece that is looked through for phrases.
    # Nothing was hidden, so the calls for questions are the same ones
    assert (
        len(found["plain"].evidence["questions"])
        == len(found["masked"].evidence["questions"])
        == 15
    )
    assert len(model.requests) == 46 + 15
    assert METRIC.calls(example, AnswerRelevanceParams(), 1) == 46 + 2 * (15 + 1)


@pytest.mark.parametrize("questions", [0, 21])
def test_a_number_of_questions_that_makes_no_sense(questions: int):
    with pytest.raises(ValueError, match="from 1 to 20"):
        AnswerRelevanceParams(questions=questions)


@pytest.mark.embedded
@pytest.mark.slow
@pytest.mark.skipif(
    not is_installed("embedder", "judge"),
    reason="longmark models install",
)
def test_the_whole_way_on_the_embedded_models():
    found = scored("embedded", "embedded", questions=2)
    assert 0.2 < (found["plain"].value or 0) <= 1
    assert 0.1 < (found["masked"].value or 0) <= 1
    assert "electrical grid" not in found["masked"].evidence["masked_answer"]

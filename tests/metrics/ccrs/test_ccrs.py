"""The five CCRS metrics on judges whose verdicts are known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark import metrics
from longmark.judging import Judging
from longmark.metrics.ccrs.answer_correctness import AnswerCorrectnessParams, answer_correctness
from longmark.records import Context, Example
from longmark.testing import FakeChat, Scored, score_sync

EXAMPLE = Example(
    id="1",
    question="What is the capital of France?",
    answer="It is Paris.",
    contexts=(
        Context(text="Paris has been the capital of France since 987."),
        Context(text="Lyon lies on the Rhône."),
    ),
    references=("Paris",),
)
SHOWN = {
    "ccrs.contextual_coherence": ("context", "answer"),
    "ccrs.question_relevance": ("answer", "question"),
    "ccrs.information_density": ("context", "answer", "question"),
    "ccrs.answer_correctness": ("context", "answer", "reference"),
    "ccrs.information_recall": ("context", "answer", "reference"),
}


def scored(
    name: str, example: Example, judge: FakeChat, scoring: str = "text", **params: Any
) -> Scored:
    return score_sync(name, example, params, judge=judge, judging=Judging(scoring))[name]


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("scoring", ["text", "expected"])
def test_the_judge_sees_its_inputs_and_only_them(name: str, scoring: str):
    judge = (
        FakeChat("80", logprobs=None)
        if scoring == "text"
        else FakeChat(logprobs={"yes": -0.1, "8": -2.5})
    )
    if scoring == "expected" and name in ("ccrs.information_density", "ccrs.information_recall"):
        judge = FakeChat(logprobs={"8": -0.1, "2": -2.5})
    scored(name, EXAMPLE, judge, scoring)
    (request,) = judge.requests
    text = request.messages[1].content
    shown = tuple(
        part for part in ("context", "answer", "reference", "question") if f"<{part} " in text
    )
    assert shown == SHOWN[name]
    assert ("Lyon lies" in text) == ("context" in SHOWN[name])
    assert ("What is the capital" in text) == ("question" in SHOWN[name])
    assert set(metrics.load(name).needs) == {
        {"context": "contexts", "reference": "references"}.get(p, p) for p in shown
    }


@pytest.mark.parametrize("name", [name for name in SHOWN if name != "ccrs.answer_correctness"])
def test_a_score_is_a_hundredth_of_the_number(name: str):
    assert scored(name, EXAMPLE, FakeChat("85")).value == pytest.approx(0.85)


def test_the_equation_of_answer_correctness():
    # .7 x 1 + .3 x .5 = .85; (.7 x 1 + .3 x .5) with EM / 100 = .007 + .15 = .157
    assert answer_correctness(1, 0.5, AnswerCorrectnessParams()) == pytest.approx(0.85)
    assert answer_correctness(1, 0.5, AnswerCorrectnessParams(as_published=True)) == pytest.approx(
        0.157
    )


def test_answer_correctness_adds_exact_match():
    name, exact = "ccrs.answer_correctness", EXAMPLE.model_copy(update={"answer": "Paris"})
    # .7 x 0 + .3 x .85 = .255; .7 x 1 + .3 x .85 = .955
    assert scored(name, EXAMPLE, FakeChat("85")).value == pytest.approx(0.255)
    assert scored(name, exact, FakeChat("85")).value == pytest.approx(0.955)
    # raw equality: another case is another string
    folded = EXAMPLE.model_copy(update={"answer": "paris"})
    assert scored(name, folded, FakeChat("85")).evidence["exact_match"] == 0


def test_answer_correctness_as_in_the_published_tables():
    # tables 5 and 6: the greatest value in all six systems is 30.7 % = (.7 x 1 + .3 x 100) / 100
    exact = EXAMPLE.model_copy(update={"answer": "Paris"})
    value = scored("ccrs.answer_correctness", exact, FakeChat("100"), as_published=True).value
    assert value == pytest.approx(0.307)
    assert scored("ccrs.answer_correctness", exact, FakeChat("100")).value == pytest.approx(1.0)


def test_another_weight():
    # .5 x 0 + .5 x .8 = .4
    value = scored("ccrs.answer_correctness", EXAMPLE, FakeChat("80"), weight=0.5).value
    assert value == pytest.approx(0.4)
    with pytest.raises(ValueError, match="from 0 to 1"):
        metrics.load("ccrs.answer_correctness").params(weight=1.5)


@pytest.mark.parametrize("name", ["ccrs.answer_correctness", "ccrs.information_recall"])
def test_the_best_of_several_references_counts(name: str):
    several = EXAMPLE.model_copy(update={"references": ("Lyon", "Paris", "It is Paris.")})
    judge = FakeChat(["10", "90", "60"])
    score = scored(name, several, judge)
    if name == "ccrs.answer_correctness":  # .3 x .1, .3 x .9, .7 + .3 x .6
        assert score.evidence["scores_by_reference"] == pytest.approx([0.03, 0.27, 0.88])
        assert score.evidence["reference"] == "It is Paris."
    else:
        assert score.evidence["scores_by_reference"] == pytest.approx([0.1, 0.9, 0.6])
        assert score.evidence["reference"] == "Paris"
    assert score.value == max(score.evidence["scores_by_reference"])
    assert metrics.load(name).calls(several, None, 1) == 3


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.parametrize("answer", ["", "  \n\t "])
def test_an_empty_answer_is_0_without_a_call(name: str, answer: str):
    judge = FakeChat("85")
    empty = EXAMPLE.model_copy(update={"answer": answer})
    score = scored(name, empty, judge)
    assert score.value == 0
    assert "empty" in score.evidence["rule"]
    assert judge.requests == []
    assert metrics.load(name).calls(empty, None, 1) == 0


@settings(max_examples=30)
@given(name=st.sampled_from(sorted(SHOWN)), number=st.integers(0, 100), exact=st.booleans())
def test_values_keep_their_bounds(name: str, number: int, exact: bool):
    example = EXAMPLE.model_copy(update={"answer": "Paris"}) if exact else EXAMPLE
    value = scored(name, example, FakeChat(str(number))).value
    assert value is not None
    assert 0 <= value <= 1


def test_each_way_to_ask_for_a_score_has_its_prompt():
    for name in SHOWN:
        uses = {prompt.use: prompt.id for prompt in metrics.load(name).prompts}
        assert uses == {
            "text": name,
            "reasons": f"{name}.reasons",
            "expected": f"{name}.expected",
            "reason": "reason",
        }

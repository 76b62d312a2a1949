"""Relevance, deltas and the new order, on a reranker whose scores are known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.installed import is_installed

from longmark import metrics
from longmark.records import Example
from longmark.testing import FakeReranker, Scored, score_sync

NAME = "score.segment_attribution"
# What each point is worth to the reranker, whatever stands beside it
WORTH = {"ash": 0.5, "birch": -1.0, "cedar": 2.0, "dogwood": 0.25}
ANSWER = "Trees:\n1. An ash.\n2. A birch.\n3. A cedar.\n\nConfidence score: 80%"


def by_worth(_query: str, document: str) -> float:
    return 3.0 + sum(worth for word, worth in WORTH.items() if word in document)


def scored(answer: str, reranker: FakeReranker | str, **params: Any) -> dict[str, Scored]:
    found = score_sync(
        NAME, Example(id="1", question="Which trees?", answer=answer), params, reranker=reranker
    )
    return {name.removeprefix(f"{NAME}."): one for name, one in found.items()}


def test_worked_by_hand() -> None:
    reranker = FakeReranker(by_worth)
    found = scored(ANSWER, reranker)
    # R(q, a) = 3 + .5 - 1 + 2 = 4.5; without the ash 4, without the birch 5.5, without the cedar 2.5
    relevance, changed = found["relevance"], found["order_changed"]
    assert relevance.value == pytest.approx(4.5)
    assert [point["delta"] for point in relevance.evidence["points"]] == pytest.approx(
        [0.5, -1.0, 2.0]
    )
    # by delta: cedar 2, ash .5, birch -1
    assert changed.value == 1
    assert changed.evidence["new_order"] == [3, 1, 2]
    assert changed.evidence["rewritten_answer"] == (
        "Trees:\n1. A cedar.\n2. An ash.\n3. A birch.\n\nConfidence score: 80%"
    )
    assert (relevance.evidence["intro"], relevance.evidence["closing"]) == (
        "Trees:",
        "Confidence score: 80%",
    )
    # one call; the closing part is never read, the intro always
    ((query, documents),) = reranker.requests
    assert query == "Which trees?"
    assert documents == (
        "Trees:\n1. An ash.\n2. A birch.\n3. A cedar.",
        "Trees:\n1. An ash.\n2. A birch.",
        "Trees:\n1. An ash.\n3. A cedar.",
        "Trees:\n2. A birch.\n3. A cedar.",
    )


def test_an_answer_in_order_is_unchanged_and_equal_points_keep_their_places() -> None:
    found = scored("- A cedar.\n- A stone.\n- A rock.\n- A birch.", FakeReranker(by_worth))
    assert found["order_changed"].value == 0
    assert found["order_changed"].evidence["without_effect"] == [2, 3]
    noisy = FakeReranker(
        lambda q, d: by_worth(q, d) + (1e-8 if "stone" in d else 0.0), name="noisy"
    )
    other = scored("- A cedar.\n- A rock.\n- A stone.\n- A birch.", noisy)
    assert other["order_changed"].value == 0


@pytest.mark.parametrize(
    "answer", ["One sentence about an ash.", "1. An ash.\n\nConfidence: 80%", "See:\n\n- An ash."]
)
def test_one_point_has_a_relevance_and_no_order(answer: str) -> None:
    reranker = FakeReranker(by_worth)
    found = scored(answer, reranker)
    assert found["relevance"].value == pytest.approx(3.5)
    assert found["order_changed"].status == "undefined"
    assert "one point" in str(found["order_changed"].reason)
    assert len(reranker.requests[0][1]) == 1


@pytest.mark.parametrize("answer", ["", "  \n "])
def test_an_empty_answer_has_neither(answer: str) -> None:
    reranker = FakeReranker(by_worth)
    assert {(one.status, one.reason) for one in scored(answer, reranker).values()} == {
        ("undefined", "The answer is empty.")
    }
    assert reranker.requests == []
    assert metrics.load(NAME).calls(Example(answer=answer), None, 1) == 0


def test_very_long_answers() -> None:
    points = "\n".join(
        f"{i}. {'An ash tree grows slowly here. ' * 50}" for i in range(1, 101)
    )  # 30,000 words
    found = scored(points, FakeReranker(by_worth))
    assert found["order_changed"].value == 0
    many = "\n".join(f"- point {i}" for i in range(101))
    unscored = scored(many, FakeReranker(by_worth))["order_changed"]
    assert "101 points; at most 100" in str(unscored.reason)
    assert unscored.evidence == {"intro": None, "count": 101, "closing": None}
    texts = scored(many, FakeReranker(by_worth))["relevance"].evidence["points"]
    assert [point["point"] for point in texts] == list(range(1, 102))
    assert scored(many, FakeReranker(by_worth), max_points=101)["order_changed"].value == 0
    with pytest.raises(ValueError, match="at least 2"):
        metrics.load(NAME).params(max_points=1)


def test_other_languages() -> None:
    found = scored("樹木:\n\n1. 灰樹。\n2. cedar。", FakeReranker(by_worth))
    assert found["order_changed"].evidence["rewritten_answer"] == "樹木:\n\n1. cedar。\n2. 灰樹。"


@pytest.mark.parametrize(
    ("answer", "rewritten"),
    [
        (
            "１．灰樹。\n２．cedar。\n信頼度スコア: 85%",
            "１．cedar。\n２．灰樹。\n信頼度スコア: 85%",
        ),
        ("1.灰樹。\n2.樹cedar。", "1.樹cedar。\n2.灰樹。"),
        ("・灰樹。\n・cedar。", "・cedar。\n・灰樹。"),
        ("Trees: 1. An ash. 2. A birch. 3. A cedar.", "Trees: 1. A cedar. 2. An ash. 3. A birch."),
    ],
)
def test_points_in_other_forms_have_an_order(answer: str, rewritten: str) -> None:
    changed = scored(answer, FakeReranker(by_worth))["order_changed"]
    assert changed.value == 1
    assert changed.evidence["rewritten_answer"] == rewritten


@settings(max_examples=40)
@given(
    words=st.permutations(sorted(WORTH)),
    form=st.sampled_from(["1. {}", "- {}", "{}\n", "1、{}", "・{}"]),
)
def test_reordering_by_delta_is_idempotent(words: list[str], form: str) -> None:
    lines = [form.format(word).replace("1", str(i)) for i, word in enumerate(words, start=1)]
    first = scored("\n".join(lines), FakeReranker(by_worth))["order_changed"]
    rewritten = first.evidence["rewritten_answer"]
    again = scored(rewritten, FakeReranker(by_worth))["order_changed"]
    assert again.value == 0
    assert again.evidence["rewritten_answer"] == rewritten
    assert first.value == float(words != sorted(WORTH, key=lambda word: -WORTH[word]))


@pytest.mark.embedded
@pytest.mark.slow
@pytest.mark.skipif(not is_installed("judge"), reason="longmark models install judge")
def test_with_the_embedded_judge_the_point_that_answers_is_worth_more_than_one_that_does_not() -> (
    None
):
    answer = "- Football is played by two teams of eleven.\n- Oaks, beeches and maples are trees that lose their leaves."
    found = scored(answer, "embedded")
    off_topic, on_topic = (point["delta"] for point in found["relevance"].evidence["points"])
    assert on_topic > off_topic
    assert found["order_changed"].value == 1

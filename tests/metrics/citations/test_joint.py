"""One call about all sentences of an answer and all sets of their sources (`plan=joint`).

A passage is a list of letters. A sentence is the letters that it states, and a set of passages entails it if they have
them all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.metrics.citations.test_citations import CASES, PUBLISHED, SOURCES

from longmark.metrics.citations import METRIC, CitationsParams
from longmark.metrics.citations._support import WINDOW
from longmark.models.protocols import ChatRequest
from longmark.records import Context, Example
from longmark.testing import FakeChat, Scored, score_sync

_PASSAGE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
_LINE = re.compile(r"^(\d+)\. ((?:\[[a-z]+: [\d, ]*\] )+)(.*)$", re.MULTILINE)
_SET = re.compile(r"\[([a-z]+): ([\d, ]*)\]")
_RELATION = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


def letters(text: str) -> set[str]:
    return set(re.findall(r"\b[a-z]\b", text))


def joint_reply(shown: str) -> dict[str, str]:
    """What a judge replies that compares letters."""
    passages = {number: letters(text) for number, text in _PASSAGE.findall(shown)}
    answers = {}
    for number, sets, sentence in _LINE.findall(shown):
        for letter, cited in _SET.findall(sets):
            having = set().union(*(passages[passage] for passage in cited.split(", ")))
            answers[number + letter] = "yes" if letters(sentence) <= having else "no"
    return answers


def reply(request: ChatRequest) -> str:
    shown = request.messages[1].content
    if _LINE.search(shown):
        return json.dumps(joint_reply(shown))
    premise, _, statements = shown.partition("</premise")
    labels = {
        number: "entails" if letters(sentence) <= letters(premise) else "neutral"
        for number, sentence in _RELATION.findall(statements)
    }
    return json.dumps(labels)


def example(answer: str, texts: Sequence[str] = SOURCES) -> Example:
    return Example(
        answer=answer, contexts=tuple(Context(text=text) for text in texts), question="?"
    )


def scores(
    answer: str,
    texts: Sequence[str] = SOURCES,
    judge: FakeChat | None = None,
    metric: str = "citations",
    **params: Any,
) -> dict[str, Scored]:
    scored = score_sync(metric, example(answer, texts), params, judge=judge or FakeChat(reply))
    if isinstance(scored, Scored):
        return {metric.removeprefix("citations."): scored}
    return {name.removeprefix("citations."): score for name, score in scored.items()}


def both(scored: dict[str, Scored]) -> tuple[Any, ...]:
    return tuple(
        scored[part].status if scored[part].value is None else scored[part].value
        for part in ("recall", "precision")
    )


@pytest.mark.parametrize("name", CASES)
def test_recall_and_precision_are_those_worked_by_hand_in_one_call(name: str) -> None:
    answer, here, published = CASES[name]
    judge = FakeChat(reply)
    assert both(scores(answer, judge=judge)) == pytest.approx(here)
    assert len(judge.requests) <= 1
    assert both(scores(answer, **PUBLISHED)) == pytest.approx(published or here)


def test_ten_sentences_with_a_citation_each_and_five_with_two_take_one_call() -> None:
    for answer in (
        " ".join(
            f"Says {letter} [{number % 5 + 1}]." for number, letter in enumerate("abcdefghij")
        ),
        " ".join(
            f"Says {letter} [{number}][{number % 5 + 1}]."
            for number, letter in zip(range(1, 6), "abcde", strict=True)
        ),
    ):
        judge = FakeChat(reply)
        scores(answer, judge=judge)
        counted = METRIC.calls(example(answer), CitationsParams(), 1)
        assert len(judge.requests) == counted == 1


@pytest.mark.parametrize("size", [3_000, 4_500, 7_000])
def test_both_plans_show_a_judge_two_long_sources_together(size: int) -> None:
    texts = [f"{letter} {'word ' * (size // 5)}" for letter in "ab"]
    jointly = both(scores("Says a b [1][2].", texts))
    assert jointly == both(scores("Says a b [1][2].", texts, plan="each")) == (1, 1)


def test_a_score_alone_asks_what_all_ask_so_that_no_score_depends_on_the_others() -> None:
    requests = []
    for metric in ("citations.recall", "citations.precision", "citations"):
        judge = FakeChat(reply)
        scores("Says a b [1][2]. Says c [4].", judge=judge, metric=metric)
        requests.append(judge.requests)
    assert requests[0] == requests[1] == requests[2]


def test_the_call_shows_each_source_once_and_names_the_sets() -> None:
    judge = FakeChat(reply)
    scores("Says a b [1][2]. Says c [4].", judge=judge)
    (request,) = judge.requests
    shown = request.messages[1].content
    assert _PASSAGE.findall(shown) == [("1", "a"), ("2", "b"), ("3", "c")]
    assert "1. [a: 1, 2] [b: 1] [c: 2] Says a b.\n2. [a: 3] Says c." in shown


def without_key(key: str, times: int) -> Callable[[ChatRequest], str]:
    """A judge whose first so many replies lack the answer to a question."""
    requests: list[ChatRequest] = []

    def incomplete(request: ChatRequest) -> str:
        requests.append(request)
        answers = joint_reply(request.messages[1].content)
        if len(requests) <= times:
            del answers[key]
        return json.dumps(answers)

    return incomplete


def test_a_question_that_the_reply_lacks_is_asked_once_more() -> None:
    judge = FakeChat(without_key("2a", 1))
    assert both(scores("Says a [1]. Says b [2].", judge=judge)) == (1, 1)
    assert len(judge.requests) == 2


def test_a_question_that_two_replies_lack_is_a_reason_and_no_zero() -> None:
    scored = scores("Says a [1]. Says b [2].", judge=FakeChat(without_key("2a", 2)))
    assert both(scored) == ("unparsable", "unparsable")
    assert "one answer for each question; see 2a" in str(scored["recall"].reason)
    assert scored["resolvable"].value == 1


@pytest.mark.parametrize(
    "wrong", ['{"1a": "maybe"}', '{"1a": true}', '{"1a": "yes", "1b": "no"}', "[]"]
)
def test_a_reply_of_another_form_is_refused(wrong: str) -> None:
    assert both(scores("Says a [1].", judge=FakeChat(wrong)))[0] == "unparsable"


def test_sources_longer_than_a_window_are_asked_as_with_plan_each_and_the_evidence_says_so() -> (
    None
):
    long = ("x" * 70 + "\n") * (WINDOW // 71 + 1) + "\na"
    judge = FakeChat(reply)
    answer = "Says a [1]. Says b [2]."
    scored = scores(answer, (long, "b"), judge)
    assert both(scored) == (1, 1)
    assert (
        "1 of 2 questions have sources of more than 16,000 bytes"
        in scored["recall"].evidence["rule"]
    )
    counted = METRIC.calls(example(answer, (long, "b")), CitationsParams(), 1)
    assert 1 < len(judge.requests) <= counted


def test_sources_that_do_not_fit_in_one_window_are_shown_in_several() -> None:
    texts = [f"{letter}\n" + "x" * 7000 for letter in "abcd"]
    judge = FakeChat(reply)
    answer = "Says a [1]. Says b [2]. Says c [3]. Says d [4]."
    assert both(scores(answer, texts, judge)) == (1, 1)
    assert len(judge.requests) == METRIC.calls(example(answer, texts), CitationsParams(), 1) == 2


def test_a_long_report_asks_about_the_sentences_with_the_same_sources_together() -> None:
    texts = [f"{letter} " + "x" * 7000 for letter in "abcd"] * 10
    answer = " ".join(f"Says {number} [{number % 40 + 1}]." for number in range(200))
    joint = METRIC.calls(example(answer, texts), CitationsParams(), 1)
    each = METRIC.calls(example(answer, texts), CitationsParams(plan="each"), 1)
    assert joint == 20  # two sources a call, each with its five sentences
    assert each == 40


def test_a_source_without_words_supports_nothing_and_is_not_asked_about() -> None:
    judge = FakeChat(reply)
    scored = scores("Says b [1].", (" \n ", "b"), judge)
    assert both(scored) == (0, 0)
    assert not judge.requests


def test_a_sentence_that_looks_like_a_question_adds_none() -> None:
    judge = FakeChat(reply)
    scored = scores("Says c [z: 4] and 9. [a: 1] more [1].", judge=judge)
    (request,) = judge.requests
    assert request.schema is not None
    assert list(request.schema["properties"]) == ["1a"]
    assert scored["recall"].value == 0


def test_one_pair_a_call_is_the_plan_of_a_batch_of_one() -> None:
    assert not CitationsParams(batch=1).asks_jointly
    judge = FakeChat("E")
    scores("Says a [1]. Says b [2].", judge=judge, batch=1)
    assert len(judge.requests) == 2


_SENTENCES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "a b", "c d"]), st.lists(st.integers(1, 6), max_size=4)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(_SENTENCES, st.booleans(), st.integers(2, 3), st.sampled_from([1, 6000, 9000]))
def test_both_plans_give_the_same_scores_and_never_more_calls_than_are_counted(
    sentences: list[tuple[str, list[int]]], elsewhere: bool, batch: int, length: int
) -> None:
    answer = " ".join(
        f"Says {text}{''.join(f'[{number}]' for number in numbers)}." for text, numbers in sentences
    )
    texts = [f"{letter} " + "x" * length for letter in SOURCES]
    results = []
    for plan in ("joint", "each"):
        judge = FakeChat(reply)
        params: dict[str, Any] = {"elsewhere": elsewhere, "batch": batch, "plan": plan}
        scored = scores(answer, texts, judge, **params)
        states = [claim["state"] for claim in scored["precision"].evidence.get("claims", ())]
        results.append((both(scored), states))
        assert len(judge.requests) <= METRIC.calls(
            example(answer, texts), CitationsParams(**params), 1
        )
    assert results[0] == results[1]


def test_a_list_of_references_in_a_source_forges_no_source():
    assert both(scores("Says a [1]. Says b [2].", ("a", "b\n[1] c\n\n  [2] d"))) == (1, 1)

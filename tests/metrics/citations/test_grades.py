"""Grades of citations (`support=graded`): TREC's weighted scores worked by hand; what a call shows; bad replies.

A passage is a list of letters. A sentence states letters: a passage with all of them supports it in full, with some in
part, with none not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest

from longmark.metrics import select
from longmark.models.fake import FakeChat
from longmark.models.protocols import ChatRequest
from longmark.records import Context, Example
from longmark.records.cited import CitedSource
from longmark.testing import Scored, score_sync

SOURCES = ("a", "b", "a b", "c", "d")
_LINE = re.compile(r"^(\d+)\. \[([\d, ]+)\] (.*)$", re.MULTILINE)
_PASSAGE = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


def letters(text: str) -> set[str]:
    return set(re.findall(r"\b[a-z]\b", text))


def grades(request: ChatRequest) -> str:
    """What a judge replies that compares letters."""
    shown = "\n".join(message.content for message in request.messages)
    passages = {number: letters(text) for number, text in _PASSAGE.findall(shown)}
    labels = {}
    for number, cited, sentence in _LINE.findall(shown):
        stated = letters(sentence)
        for passage in cited.split(", "):
            common = stated & passages[passage]
            label = "full" if common == stated else "partial" if common else "none"
            labels[f"{number}-{passage}"] = label
    return json.dumps(labels)


def example(answer: str, texts: Sequence[str | None] = SOURCES) -> Example:
    contexts = tuple(Context(text=text) for text in texts if text is not None)
    return Example(answer=answer, contexts=contexts, question="?")


def scores(answer: str, judge: FakeChat | None = None, **params: Any) -> dict[str, Scored]:
    judge = judge or FakeChat(grades)
    params = {"support": "graded", **params}
    scored = score_sync("citations", example(answer), params, judge=judge)
    return {name.removeprefix("citations."): score for name, score in scored.items()}


def values(answer: str, **params: Any) -> list[Any]:
    """Recall, precision and f1; the status of one that is unscored."""
    scored = scores(answer, **params)
    return [
        scored[part].status if scored[part].value is None else scored[part].value
        for part in ("recall", "precision", "f1")
    ]


def test_a_list_of_references_in_a_source_forges_no_source():
    listing = example("Says a [1]. Says b [2].", ("a", "b\n[1] c\n\n  [2] d"))
    scored = score_sync("citations", listing, {"support": "graded"}, judge=FakeChat(grades))
    assert scored["citations.recall"].value == 1


# recall: the mean over sentences of the best weight; precision: the mean weight of the citations
@pytest.mark.parametrize(
    ("answer", "recall", "precision"),
    [
        ("Says a [1].", 1, 1),
        ("Says a b [1].", 0.5, 0.5),
        ("Says a [2].", 0, 0),
        ("Says a.", 0, "undefined"),
        ("Says a [1][2].", 1, 0.5),  # 1 and 0
        ("Says a b [1][3].", 1, 0.75),  # .5 and 1
        ("Says a b [1][2].", 0.5, 0.5),  # no two sources are read together
        ("Says a [1]. Says b.", 0.5, 1),  # a sentence that cites nothing counts for recall
        ("Says a [1]. Says a b [1]. Says c [5]. Says d.", 1.5 / 4, 1.5 / 3),
        ("Says a [9].", 0, 0),  # a number that is out of range
        ("Says a [1][9].", 1, 0.5),
        ("Says a [1]. Says a [1].", 1, 1),  # the same sentence twice
    ],
)
def test_citations_count_by_their_grades(answer: str, recall: float, precision: Any) -> None:
    found_recall, found_precision, f1 = values(answer)
    assert (found_recall, found_precision) == (recall, precision)
    if isinstance(precision, str) or not precision + recall:
        assert f1 == 0
    else:
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall))


def test_with_limit_1_the_first_citation_alone_counts_as_in_open_rag_eval() -> None:
    # open-rag-eval: .5 and 0 of two citations; of three sentences
    assert values("Says a b [1][3]. Says a [2][1]. Says d.", limit=1) == [
        pytest.approx(0.5 / 3),
        pytest.approx(0.5 / 2),
        pytest.approx(2 * (0.5 / 3) * 0.25 / (0.5 / 3 + 0.25)),
    ]


def test_the_evidence_has_the_state_of_sentences_and_the_grade_of_each_citation() -> None:
    claims = scores("Says a b [1][2]. Says a [1][2]. Says c [1]. Says d.")["precision"].evidence
    assert claims["judge"] == "fake"
    assert [claim["state"] for claim in claims["claims"]] == [
        "partly supported",
        "supported",
        "not supported",
        "not cited",
    ]
    assert [
        [citation["fate"] for citation in claim["citations"]] for claim in claims["claims"]
    ] == [
        ["partial support", "partial support"],
        ["full support", "no support"],
        ["no support"],
        [],
    ]
    assert claims["claims"][1]["passages"] == [1]


def test_ten_citations_of_five_sources_take_one_call_for_all_scores() -> None:
    judge = FakeChat(grades)
    answer = " ".join(
        f"Says {letter} [{n}][3]." for letter, n in zip("abcda", range(1, 6), strict=True)
    )
    (chosen,) = select(["citations@support=graded"])
    assert scores(answer, judge)["precision"].status == "ok"
    assert len(judge.requests) == chosen.calls(example(answer), 1) == 1
    assert chosen.checks(example(answer)) == chosen.relations(example(answer)) == 0


def test_sources_that_do_not_fit_into_a_call_are_read_in_parts_of_which_the_best_counts() -> None:
    judge = FakeChat(grades)
    filler = " ".join(["long"] * 3000)  # 15,000 bytes: two parts
    texts = (f"{filler} a b", "a", filler[:7500])
    long = example("Says a b [1][2]. Says c [3].", texts)
    (chosen,) = select(["citations@support=graded"])
    scored = score_sync("citations", long, {"support": "graded"}, judge=judge)
    assert scored["citations.precision"].value == pytest.approx((1 + 0.5 + 0) / 3)
    assert len(judge.requests) == chosen.calls(long, 1) == 2


def test_a_batch_holds_so_many_sentences() -> None:
    judge = FakeChat(grades)
    assert scores("Says a [1]. Says b [2]. Says c [4].", judge, batch=2)["recall"].value == 1
    assert len(judge.requests) == 2


def test_a_source_without_its_text_leaves_only_its_own_citation_open() -> None:
    record = Example(
        answer="Says a [1]. Says a [1][2]. Says b [2].",
        question="?",
        sources=(CitedSource(id="x", text="a"), CitedSource(id="y")),
    )
    for missing, recall, precision in (
        ("unscored", "missing_input", "missing_input"),
        ("left_out", 1, 1),  # of two sentences and of two citations
    ):
        scored = score_sync(
            "citations",
            record,
            {"support": "graded", "missing": missing},
            judge=FakeChat(grades),
        )
        found = [scored["citations.recall"], scored["citations.precision"]]
        assert [score.status if score.value is None else score.value for score in found] == [
            recall,
            precision,
        ]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("{}", "1-1"),
        ('{"1-1": "full", "1-2": "full"}', "1-2"),
        ('{"1-1": "some"}', "'some' is not one of full, partial, none"),
        ('{"1-1": 1}', "JSON"),
        ('{"1-1": "full", "1-1": "none"}', "1-1"),
        ("full", "JSON"),
    ],
)
def test_a_reply_that_cannot_be_read_is_no_score(reply: str, reason: str) -> None:
    recall = scores("Says a [1].", FakeChat(reply))["recall"]
    assert recall.status == "unparsable"
    assert reason in (recall.reason or "")


def test_case_and_spaces_of_a_label_do_not_matter() -> None:
    assert scores("Says a [1].", FakeChat('{"1-1": " Full "}'))["recall"].value == 1


def test_without_a_judge_the_reason_names_what_to_add() -> None:
    scored = score_sync(
        "citations", example("Says a [1]."), {"support": "graded"}, checker="overlap"
    )
    assert scored["citations.recall"].status == "missing_input"
    assert "add --judge" in (scored["citations.recall"].reason or "")
    assert scored["citations.uncited"].value == 0


def test_as_published_reading_counts_no_citation_of_a_rejected_sentence() -> None:
    assert values("Says a [1][9]. Says b [2].", reading="alce")[:2] == [0.5, 1]

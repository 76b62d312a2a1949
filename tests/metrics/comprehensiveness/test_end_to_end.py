"""comprehensiveness.end_to_end: two lists, and what is wrong with some."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longmark.records import Context, Example
from longmark.testing import FakeChat, Scored, score_sync

NAME = "comprehensiveness.end_to_end"
EXAMPLE = Example(
    id="1",
    question="Does it work?",
    answer="Yes.",
    contexts=(Context(text="It works.", id="one"), Context(text="It fails. It works.", id="one")),
)


def lists(covered: list[Any], uncovered: list[Any]) -> str:
    def of(some: list[Any]) -> list[Any]:
        return [{"statement": text, "texts": texts} for text, texts in some]

    return json.dumps({"reasoning": "so", "covered": of(covered), "uncovered": of(uncovered)})


def scored(*replies: str, example: Example = EXAMPLE, **params: Any) -> tuple[Scored, FakeChat]:
    given = iter((*replies, *replies[-1:] * 3))
    chat = FakeChat(lambda _request: next(given), name="judge")
    return score_sync(NAME, example, params, judge=chat)[NAME], chat


def test_a_statement_in_both_lists_is_covered_and_counts_once() -> None:
    found, chat = scored(
        lists([("It works.", [1]), ("it  works", [2])], [("It fails.", [2]), ("It works.", [2])])
    )
    assert found.value == 0.5
    assert len(chat.requests) == 1
    by_text = {node["text"]: node for node in found.evidence["nodes"]}
    assert by_text["It works."]["sources"] == ["one", "one (2)"]
    assert found.evidence["basis"] == [by_text["It fails."]["id"]]


def test_empty_lists_have_no_score_unless_the_option_says_zero() -> None:
    assert scored(lists([], []))[0].status == "undefined"
    assert scored(lists([], []), empty="zero")[0].value == 0.0


def test_a_list_of_references_in_a_passage_forges_no_passage() -> None:
    texts = ("It works [2].\n[2] The report, 2019.", "It fails.")
    example = EXAMPLE.model_copy(update={"contexts": tuple(Context(text=text) for text in texts)})
    _, chat = scored(lists([("It works.", [1])], []), example=example)
    lines = chat.requests[0].messages[1].content.splitlines()
    assert [line for line in lines if line.startswith("[2]")] == ["[2] It fails."]


def test_a_number_of_no_text_is_asked_for_again() -> None:
    found, chat = scored(lists([("It works.", [3])], []), lists([("It works.", [1])], []))
    assert (found.value, len(chat.requests)) == (1.0, 2)


@pytest.mark.parametrize("reply", ["covered: all", '{"covered": {}, "uncovered": []}', ""])
def test_what_cannot_be_read_has_no_score_unless_the_option_says_zero(reply: str) -> None:
    found, _ = scored(reply)
    assert (found.value, found.status) == (None, "unparsable")
    assert scored(reply, unparsable="zero")[0].value == 0.0


def test_a_refusal_and_an_empty_answer_cover_nothing_whatever_the_judge_lists() -> None:
    refusal = "Sorry, I don't have any information relevant to the given query."
    for answer in (refusal, ""):
        found, _ = scored(
            lists([("x", [1])], [("y", [1])]), example=EXAMPLE.model_copy(update={"answer": answer})
        )
        assert (found.value, "refusal" in found.evidence) == (0, bool(answer))
    found, chat = scored(
        "", example=EXAMPLE.model_copy(update={"answer": refusal}), refusal="undefined"
    )
    assert (found.status, chat.requests) == ("undefined", [])


def test_a_passage_without_anything_relevant_is_not_shown() -> None:
    found, chat = scored("None", "None", lists([], [("x", [1])]), summarize=True)
    assert found.status == "undefined"
    assert len(chat.requests) == 2

"""Masking: what the judge names, what code hides of it and of the profile, and which list is no mask."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.domain import load
from longmark.errors import NoScore
from longmark.metrics.score._masking import Masked, masked
from longmark.metrics.score.answer_relevance import MASKED_PIECE, mask
from longmark.models.protocols import ChatRequest
from longmark.testing import FakeChat, call
from longmark.text.pieces import pieces

PROFILE = {
    "hazard": "ice storm",
    "profession": "Electrical Grid Manager",
    "sector": "energy",
    "concern": "recommendation",
    "location": "Richland, SC",
    "infrastructure": "power transmission lines",
}


def by_judge(judge: FakeChat, answer: str) -> Masked:
    return call(lambda models: mask(models, answer, PROFILE), judge=judge)


def hide(text: str, profile: Mapping[str, Any]) -> tuple[str, dict[str, int]]:
    """The profile's values alone."""
    found = masked(text, [], profile, load())
    return found.text, found.by_code


def named(**phrases: list[str]) -> str:
    return json.dumps(
        {"phrases": [{"phrase": one, "kind": kind} for kind, its in phrases.items() for one in its]}
    )


def test_what_code_hides():
    text = (
        "Ice storms and the ice  storm of 2009 broke power transmission lines in Richland, SC. "
        "Transmission lines bend in ice-storm winds; "
        "as an electrical grid manager, a grid\nmanager too, heed this Recommendation. Storms of ice? Icestorm."
    )
    found, counts = hide(text, PROFILE)
    assert found == (
        "[HAZARD] and the [HAZARD] of 2009 broke [INFRASTRUCTURE] in Richland, SC. "
        "[INFRASTRUCTURE] bend in [HAZARD] winds; "
        "as an [PROFESSION], a [PROFESSION] too, heed this [CONCERN]. Storms of ice? Icestorm."
    )
    assert counts == {"hazard": 3, "profession": 2, "concern": 1, "infrastructure": 2}


def test_a_profile_may_have_gaps_and_other_things():
    text = "An ice storm."
    for profile in (
        {},
        {"hazard": None},
        {"hazard": ["ice storm"]},
        {"hazard": " "},
        {"location": "Richland, SC"},
    ):
        assert hide(text, profile) == (text, dict.fromkeys(load().masked, 0))


def test_a_language_without_spaces():
    found, counts = hide("今年的冰暴很严重。", {"hazard": "冰暴"})
    assert found == "今年的[HAZARD]很严重。"
    assert counts["hazard"] == 1


@given(
    st.lists(
        st.sampled_from(
            ["ice storm", "Ice-storms", "grid manager", "the", "lines,", "\n", "[HAZARD]"]
        )
    )
)
def test_nothing_is_left_to_hide(words: list[str]):
    once, _ = hide(" ".join(words), PROFILE)
    again, counts = hide(once, PROFILE)
    assert again == once
    assert not any(counts.values())
    assert "ice" not in once.lower()


@given(
    st.lists(
        st.sampled_from(["infrastructure", "HAZARD", "a", "concern.", "the grid", "[CONCERN]"]),
        max_size=9,
    )
)
def test_nothing_is_replaced_within_a_placeholder(words: list[str]):
    profile = {"hazard": "hazard", "infrastructure": "infrastructure", "concern": "concern"}
    found, _ = hide(" ".join(words), profile)
    assert "[[" not in found
    assert "]]" not in found


def test_what_the_judge_names_is_hidden_wherever_it_stands():
    answer = "1. An ice storm cuts the Grid.\n2. Ice storms bend towers; the grid, old\n towers: gridlock. Managers act."
    judge = FakeChat(
        named(infrastructure=["grid", "old towers", "towers"], profession=["managers"])
    )
    found = by_judge(judge, answer)
    assert found.text == (
        "1. An [HAZARD] cuts the [INFRASTRUCTURE].\n2. [HAZARD] bend [INFRASTRUCTURE]; the [INFRASTRUCTURE], "
        "[INFRASTRUCTURE]: gridlock. [PROFESSION] act."
    )
    assert found.named["infrastructure"] == ["grid", "old towers", "towers"]
    assert found.not_found == 0
    # grid twice, "old towers", the "towers" that stand alone, managers; the ice storms are left to code
    assert found.by_model == 5
    assert found.by_code == {"hazard": 2, "profession": 0, "concern": 0, "infrastructure": 0}
    (request,) = judge.requests
    asked = request.messages[1].content
    assert answer in asked
    assert all(f"- {slot}: " in asked for slot in load().masked)
    assert request.schema is not None
    one = request.schema["properties"]["phrases"]["items"]["properties"]
    assert one["kind"]["enum"] == list(load().masked)
    assert request.schema["properties"]["phrases"]["maxItems"] == 8 + 1  # 107 bytes


def test_what_the_answer_does_not_have_is_counted():
    judge = FakeChat(
        named(hazard=["tornado", "ice", "Ice", " ", "."], infrastructure=["ice", "dam", "towers"])
    )
    found = by_judge(
        judge, "Towers that are covered in ice may bend until they break. So melt it early."
    )
    assert (
        found.text
        == "[INFRASTRUCTURE] that are covered in [HAZARD] may bend until they break. So melt it early."
    )
    assert found.named == {
        "hazard": [
            "tornado",
            "ice",
        ],  # once, and under the first kind; what has no letter is no phrase
        "profession": [],
        "concern": [],
        "infrastructure": ["dam", "towers"],
    }
    assert found.not_found == 2  # tornado, dam


def test_a_longer_value_of_the_profile_goes_before_a_shorter_phrase():
    judge = FakeChat(named(hazard=["ice"]))
    found = by_judge(
        judge, "An ice storm leaves ice on all that stands upright for days, and then it melts."
    )
    assert (
        found.text
        == "An [HAZARD] leaves [HAZARD] on all that stands upright for days, and then it melts."
    )
    assert (found.by_model, found.by_code["hazard"]) == (1, 1)


def test_a_judge_may_name_nothing():
    judge = FakeChat(named())
    found = by_judge(judge, "Ice storms come and go.")
    assert found.text == "[HAZARD] come and go."
    assert found.by_model == 0
    assert len(judge.requests) == 1


def test_a_long_answer_goes_in_pieces():
    def first_word(request: ChatRequest) -> str:
        piece = request.messages[1].content.split(">\n", 1)[1]
        return named(infrastructure=[f"tower {piece.split('.')[0]}"])

    answer = "\n\n".join(
        f"{n}. Ice storm, tower {n}, tower 0{', and more' * 100}." for n in range(12)
    )
    found = by_judge(judge := FakeChat(first_word), answer)
    assert (
        len(judge.requests) == len(pieces(answer, MASKED_PIECE)) == 4
    )  # 1,050 bytes a point: three into 4,000
    assert all(len(request.messages[1].content) < MASKED_PIECE + 1500 for request in judge.requests)
    # what is named for one piece is hidden in all; nothing else changes
    hidden = answer.replace("Ice storm", "[HAZARD]").replace("tower 0", "[INFRASTRUCTURE]")
    assert found.text == hidden.replace("tower 3", "[INFRASTRUCTURE]").replace(
        "tower 6", "[INFRASTRUCTURE]"
    ).replace("tower 9", "[INFRASTRUCTURE]")
    assert found.by_code["hazard"] == 12
    assert found.by_model == 16


ANSWER = (
    "An ice storm can bring down trees and the lines beside them, so clear a strip along the route."
)


@pytest.mark.parametrize(
    "reply",
    [
        "The answer is about an ice storm.",
        "{}",
        json.dumps({"masked": ANSWER}),
        named(hazards=["ice storm"]),
        named(
            concern=["bring down trees and the lines beside them", "clear a strip along the route"]
        ),
        named(hazard=ANSWER.rstrip(".").split()),
    ],
)
def test_what_is_no_list_of_phrases_is_asked_for_again_and_then_no_value(reply: str):
    judge = FakeChat(reply)
    with pytest.raises(NoScore) as unscored:
        by_judge(judge, ANSWER)
    assert unscored.value.status == "unparsable"
    assert len(judge.requests) == 2


@pytest.mark.parametrize("hidden", [["aaa", "bbb"], ["aaa", "bbb", "ccc"]])
def test_half_of_an_answer_may_be_hidden(hidden: list[str]):
    # 12 characters in four words: two of them are 6, which is half, three are 9
    judge = FakeChat(named(hazard=hidden))
    if len(hidden) == 2:
        assert by_judge(judge, "aaa bbb ccc ddd").text == "[HAZARD] [HAZARD] ccc ddd"
    else:
        with pytest.raises(NoScore, match="more than half"):
            by_judge(judge, "aaa bbb ccc ddd")


def test_a_list_that_hides_too_much_may_be_mended():
    replies = iter([named(concern=[ANSWER[:-1]]), named(infrastructure=["lines"])])
    judge = FakeChat(lambda _request: next(replies))
    assert by_judge(judge, ANSWER).text == ANSWER.replace("ice storm", "[HAZARD]").replace(
        "lines", "[INFRASTRUCTURE]"
    )
    assert "more than half of the answer" in judge.requests[1].messages[-1].content

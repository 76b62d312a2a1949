"""Masking: what the judge puts, what code puts after it, and what is no masked copy."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.domain import load
from longmark.errors import NoScore
from longmark.models.cache import CallCache
from longmark.models.door import Door, Ledger
from longmark.models.fake import FakeChat
from longmark.models.handles import Models, Roles
from longmark.models.protocols import ChatRequest
from longmark.prompts import PromptBook
from longmark.text.masks import PIECE, Masked, hide, mask, mask_calls, maskable

PROFILE = {
    "hazard": "ice storm",
    "profession": "Electrical Grid Manager",
    "sector": "energy",
    "concern": "recommendation",
    "location": "Richland, SC",
    "infrastructure": "power transmission lines",
}


def masked(tmp_path: Path, judge: FakeChat, answer: str) -> Masked:
    models = Models(Roles(judges=(judge,)), Door(CallCache(tmp_path / "c.sqlite")), Ledger(), PromptBook())
    return asyncio.run(mask(models, answer, PROFILE))


def copy(text: str) -> str:
    return json.dumps({"masked": text})


def test_what_code_hides():
    text = (
        "Ice storms and the ice  storm of 2009 broke power transmission lines in Richland, SC. "
        "Transmission lines bend in ice-storm winds; "
        "as an electrical grid manager, a grid\nmanager too, heed this Recommendation. Storms of ice? Icestorm."
    )
    found, counts = hide(text, PROFILE, load())
    assert found == (
        "[HAZARD] and the [HAZARD] of 2009 broke [INFRASTRUCTURE] in Richland, SC. "
        "[INFRASTRUCTURE] bend in [HAZARD] winds; "
        "as an [PROFESSION], a [PROFESSION] too, heed this [CONCERN]. Storms of ice? Icestorm."
    )
    assert counts == {"hazard": 3, "profession": 2, "concern": 1, "infrastructure": 2}


def test_a_profile_may_have_gaps_and_other_things():
    text = "An ice storm."
    for profile in ({}, {"hazard": None}, {"hazard": ["ice storm"]}, {"hazard": " "}, {"location": "Richland, SC"}):
        assert hide(text, profile, load()) == (text, dict.fromkeys(load().masked, 0))
        assert maskable(profile, load()) is False
    assert maskable(None, load()) is False
    assert maskable({"hazard": "ice storm"}, load())


def test_a_language_without_spaces():
    found, counts = hide("今年的冰暴很严重。", {"hazard": "冰暴"}, load())
    assert found == "今年的[HAZARD]很严重。"
    assert counts["hazard"] == 1


@given(st.lists(st.sampled_from(["ice storm", "Ice-storms", "grid manager", "the", "lines,", "\n", "[HAZARD]"])))
def test_nothing_is_left_to_hide(words: list[str]):
    once, _ = hide(" ".join(words), PROFILE, load())
    again, counts = hide(once, PROFILE, load())
    assert again == once
    assert not any(counts.values())
    assert "ice" not in once.lower()


def test_what_the_judge_leaves_is_replaced_and_counted(tmp_path: Path):
    answer = "An ice storm cuts the grid. Ice storms bend towers. Managers of the grid should act."
    judge = FakeChat(copy("A [HAZARD] cuts the grid. Ice storms bend towers. [PROFESSION] should act."))
    found = masked(tmp_path, judge, answer)
    assert found.text == "A [HAZARD] cuts the grid. [HAZARD] bend towers. [PROFESSION] should act."
    assert found.by_model == 2
    assert found.by_code == {"hazard": 1, "profession": 0, "concern": 0, "infrastructure": 0}
    (request,) = judge.requests
    asked = request.messages[1].content
    assert answer in asked
    assert all(f"- [{slot.upper()}]: " in asked for slot in load().masked)


def test_a_long_answer_goes_in_pieces(tmp_path: Path):
    def same(request: ChatRequest) -> str:
        return copy(request.messages[1].content.split(">\n", 1)[1].split("\n</answer")[0])

    answer = "\n\n".join(f"{n}. An ice storm breaks what stands in its way{', and more' * 100}." for n in range(12))
    found = masked(tmp_path, judge := FakeChat(same), answer)
    assert len(judge.requests) == mask_calls(answer) == 4  # 1,050 bytes a point: three into 4,000
    assert all(len(request.messages[1].content) < PIECE + 1500 for request in judge.requests)
    assert found.text == answer.replace("An ice storm", "An [HAZARD]")
    assert found.by_code["hazard"] == 12


@pytest.mark.parametrize(
    "reply", ["The answer is about an ice storm.", copy("Short."), copy("far too long " * 100), "{}"]
)
def test_what_is_no_copy_is_asked_for_again_and_then_no_value(tmp_path: Path, reply: str):
    answer = "An ice storm can bring down trees and the lines beside them, so clear a strip along the route."
    judge = FakeChat(reply)
    with pytest.raises(NoScore) as gap:
        masked(tmp_path, judge, answer)
    assert gap.value.status == "unparsable"
    assert len(judge.requests) == 2

"""Details and labels: what is asked, and how replies are read."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from longmark.errors import NoScore
from longmark.judge import Unreadable
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat
from longmark.models.handles import Backends, Models
from longmark.models.protocols import ChatReply
from longmark.prompts import PromptBook
from longmark.text.details import Mark, checked, details, labels, marks, stands

NAMES = ("hazard", "location", "timeline", "intensity")
KNOWN = {"hazard": ["ice storm", "hail"], "location": [], "timeline": ["2009"], "intensity": []}


def models(tmp_path: Path, judge: FakeChat) -> Models:
    return Models(Backends(judges=(judge,)), Client(CallCache(tmp_path / "c.sqlite")), UsageLog(), PromptBook())


def read(reply: Any, in_part: bool = False) -> dict[str, Mark]:
    return marks(NAMES, in_part).read(ChatReply(reply if isinstance(reply, str) else json.dumps(reply)))[0]


def test_details_are_asked_of_the_whole_list(tmp_path: Path):
    judge = FakeChat(json.dumps({**KNOWN, "hazard": ["ice storm", "hail", "ice storm"]}))
    found = asyncio.run(details(models(tmp_path, judge), ["An ice storm came in 2009.", "Hail fell."]))
    assert found == KNOWN
    (request,) = judge.requests
    asked = request.messages[1].content
    assert "- An ice storm came in 2009.\n- Hail fell." in asked
    assert all(f"- {name}: " in asked for name in NAMES)
    assert request.schema is not None
    assert request.schema["required"] == list(NAMES)


def test_details_without_a_dimension_are_no_details(tmp_path: Path):
    judge = FakeChat('{"hazard": ["hail"]}')
    with pytest.raises(NoScore) as gap:
        asyncio.run(details(models(tmp_path, judge), ["Hail fell."]))
    assert gap.value.status == "unparsable"


def test_a_judge_sees_the_claim_the_details_and_the_passages(tmp_path: Path):
    reply = {name: {"reason": "stated", "label": "yes"} for name in NAMES}
    judge = FakeChat(json.dumps(reply))
    bound = models(tmp_path, judge)
    passages = ["It hailed.", "It froze."]
    verdict = asyncio.run(labels(bound, bound.judges[0], "Hail fell.", KNOWN, passages, temperature=0.7, sample=2))
    assert verdict.value == dict.fromkeys(NAMES, Mark("yes", "stated"))
    (request,) = judge.requests
    asked = request.messages[1].content
    assert "[1] It hailed.\n\n[2] It froze." in asked
    # of the answer's details those of the claim: others are an invitation to see them where they are not
    assert "hazard: hail\nlocation: none\ntimeline: none\nintensity: none" in asked
    assert ">\nHail fell.\n</claim" in asked
    # passages and details first: what is the same for every claim need be evaluated only once
    assert asked.index("<context ") < asked.index("<details ") < asked.index("<claim ")
    assert (request.temperature, request.sample) == (0.7, 2)
    assert request.schema is not None
    assert list(request.schema["properties"]) == request.schema["required"] == list(NAMES)


def test_labels_in_the_forms_that_judges_write():
    found = read({"hazard": {"reason": "r", "label": "YES "}, "location": "no", "timeline": {"label": "N/A"}, "x": 1})
    assert found == {
        "hazard": Mark("yes", "r"),
        "location": Mark("no", ""),
        "timeline": Mark("n/a", ""),
        "intensity": Mark(None, ""),  # left out
    }
    assert read({"hazard": {"reason": "r", "label": None}, "timeline": "yes", "location": None})["hazard"] == Mark(
        None, "r"
    )


@pytest.mark.parametrize(
    "reply",
    [
        "yes, no, n/a, n/a",
        {"hazard": "maybe", "location": "yes"},
        {"hazard": True},
        {"hazard": ["yes"]},
        {},
        {"flood": "yes"},
        {name: {"reason": "I cannot say", "label": None} for name in NAMES},
        {"hazard": "none", "location": "yes"},  # none stated? or no?
        {"hazard": "yes.", "location": "yes"},
        {"hazard": "", "location": "yes"},
        '{"hazard": "yes"',
    ],
)
def test_what_is_no_label(reply: Any):
    with pytest.raises(Unreadable):
        read(reply)


@pytest.mark.parametrize("spelt", ["n/a", "N/A", "na", "NA", "n.a.", "Not applicable", " not applicable "])
def test_na_is_known_in_its_spellings(spelt: str):
    assert read({"hazard": spelt, "location": {"label": spelt, "reason": "r"}})["hazard"] == Mark("n/a", "")


def test_a_reason_that_is_no_text_does_not_cost_the_label():
    assert read({"hazard": {"label": "yes", "reason": None}, "location": {"label": "no", "reason": 3}}) == {
        "hazard": Mark("yes", ""),
        "location": Mark("no", ""),
        "timeline": Mark(None, ""),
        "intensity": Mark(None, ""),
    }


def test_in_part_what_is_no_label_is_left_out_with_what_was_said():
    reply = {"hazard": {"label": "maybe", "reason": "r"}, "location": ["yes"], "timeline": True, "intensity": "No"}
    assert read(reply, in_part=True) == {
        "hazard": Mark(None, "r", "maybe"),
        "location": Mark(None, "", '["yes"]'),
        "timeline": Mark(None, "", "true"),
        "intensity": Mark("no", ""),
    }
    for without in ({"hazard": "maybe"}, {}, "yes", '{"hazard": "yes"'):
        with pytest.raises(Unreadable):
            read(without, in_part=True)


CLAIM = "Ice storms broke 30,000 poles in Cook County, IL, in early 2009."


@pytest.mark.parametrize(
    "words",
    [
        *("ice storm", "ICE  STORMS", "30,000 poles", "“Cook County, IL”", "Cook County; Ohio", "hail and ice storms"),
        *("2009.", "in early 2009 … 2010"),
    ],
)
def test_words_that_stand_in_the_claim(words: str):
    assert stands(words, CLAIM)


@pytest.mark.parametrize(
    "words", ["", " ", ",;", "none", "ice storm warning", "3", "000 poles x", "Kentucky", "storming", "s", "es"]
)
def test_words_that_do_not(words: str):
    assert not stands(words, CLAIM)


def test_words_of_a_language_without_spaces():
    assert stands("冰暴", "2009年的冰暴袭击了里奇兰县。")
    assert not stands("飓风", "2009年的冰暴袭击了里奇兰县。")


@pytest.mark.parametrize(
    ("label", "in_claim", "in_context", "then"),
    [
        ("yes", "ice storms", "an ice storm", "yes"),
        ("yes", "ice storms", "hail", "no"),
        ("yes", "hail", "an ice storm", "n/a"),
        ("no", "", "", "n/a"),
        ("no", "2009", "", "no"),
        ("n/a", "2009", "ice", "n/a"),
        (None, "", "", None),
        ("yes", None, None, "yes"),  # a judge that does not say which words
        ("yes", "2009", None, "yes"),
    ],
)
def test_the_label_that_the_words_allow(label: Any, in_claim: str | None, in_context: str | None, then: str | None):
    mark = Mark(label, "r", None, in_claim, in_context)
    found = checked(mark, CLAIM, "[1] In 2010 an ice storm came.")
    assert (found.label, found.given) == (then, None if then == label else label)
    assert found.reason == "r"


def test_the_words_are_the_reason():
    found = read({"hazard": {"in_claim": " hail", "in_context": "", "label": "no"}, "location": "n/a"})["hazard"]
    assert found == Mark("no", "claim: hail · passages: –", None, " hail", "")


ODD = json.dumps({"hazard": "yes", "location": "unclear"})


def asked(tmp_path: Path, *replies: str) -> tuple[dict[str, Mark], int]:
    said = iter(replies)
    judge = FakeChat(lambda _request: next(said))
    bound = models(tmp_path, judge)
    verdict = asyncio.run(labels(bound, bound.judges[0], "Hail fell.", KNOWN, [], temperature=0, sample=0))
    return verdict.value, len(judge.requests)


def test_an_odd_label_is_asked_for_once_more_and_then_left_out(tmp_path: Path):
    left, calls = asked(tmp_path, ODD, ODD)
    assert calls == 2
    assert left == {
        "hazard": Mark("yes", ""),
        "location": Mark(None, "", "unclear"),
        "timeline": Mark(None, ""),
        "intensity": Mark(None, ""),
    }


def test_the_second_reply_decides(tmp_path: Path):
    mended, calls = asked(tmp_path, ODD, json.dumps({"hazard": "no", "location": "n/a"}))
    assert (calls, mended["hazard"], mended["location"]) == (2, Mark("no", ""), Mark("n/a", ""))


@pytest.mark.parametrize("second", ['{"hazard": "unclear"}', "I cannot say."])
def test_a_second_reply_without_a_label_is_no_verdict(tmp_path: Path, second: str):
    with pytest.raises(NoScore) as gap:
        asked(tmp_path, ODD, second)
    assert gap.value.status == "unparsable"
    assert gap.value.evidence["replies"] == [ODD, second]

"""Details and labels of claims: the prompts, and how replies are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longmark.errors import NoScore
from longmark.judge import Sampling, Unreadable, numbered
from longmark.metrics.score._labels import ClaimLabel, checked, label_reader, occurs
from longmark.metrics.score.specificity import Juror, label_claim, list_details
from longmark.models.protocols import ChatReply
from longmark.testing import FakeChat, call

NAMES = ("hazard", "location", "timeline", "intensity")
KNOWN = {"hazard": ["ice storm", "hail"], "location": [], "timeline": ["2009"], "intensity": []}


def labelled(
    judge: FakeChat, passages: str = "", temperature: float = 0, sample: int = 0
) -> dict[str, ClaimLabel]:
    return call(
        lambda models: label_claim(
            models,
            Juror(models.judges[0], Sampling(temperature, sample)),
            "Hail fell.",
            KNOWN,
            passages,
        ),
        judge=judge,
    )


def read(reply: Any, second: bool = False) -> dict[str, ClaimLabel]:
    reader = label_reader(NAMES)
    how = reader.again if second else reader.read
    assert how is not None
    return how(ChatReply(reply if isinstance(reply, str) else json.dumps(reply)))


def test_details_are_asked_of_the_whole_list():
    judge = FakeChat(json.dumps({**KNOWN, "hazard": ["ice storm", "hail", "ice storm"]}))
    found = call(
        lambda models: list_details(models, ["An ice storm came in 2009.", "Hail fell."]),
        judge=judge,
    )
    assert found == KNOWN
    (request,) = judge.requests
    asked = request.messages[1].content
    assert "- An ice storm came in 2009.\n- Hail fell." in asked
    assert all(f"- {name}: " in asked for name in NAMES)
    assert request.schema is not None
    assert request.schema["required"] == list(NAMES)


def test_details_without_a_dimension_are_no_details():
    judge = FakeChat('{"hazard": ["hail"]}')
    with pytest.raises(NoScore) as unscored:
        call(lambda models: list_details(models, ["Hail fell."]), judge=judge)
    assert unscored.value.status == "unparsable"


def test_a_judge_sees_the_claim_the_details_and_the_passages():
    reply = {name: {"reason": "stated", "label": "yes"} for name in NAMES}
    judge = FakeChat(json.dumps(reply))
    found = labelled(judge, numbered(["It hailed.", "It froze."]), temperature=0.7, sample=2)
    assert found == dict.fromkeys(NAMES, ClaimLabel("yes", "stated"))
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
    found = read(
        {
            "hazard": {"reason": "r", "label": "YES "},
            "location": "no",
            "timeline": {"label": "N/A"},
            "x": 1,
        }
    )
    assert found == {
        "hazard": ClaimLabel("yes", "r"),
        "location": ClaimLabel("no", ""),
        "timeline": ClaimLabel("n/a", ""),
        "intensity": ClaimLabel(None, ""),  # left out
    }
    assert read({"hazard": {"reason": "r", "label": None}, "timeline": "yes", "location": None})[
        "hazard"
    ] == ClaimLabel(None, "r")


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


@pytest.mark.parametrize(
    "spelt", ["n/a", "N/A", "na", "NA", "n.a.", "Not applicable", " not applicable "]
)
def test_na_is_known_in_its_spellings(spelt: str):
    assert read({"hazard": spelt, "location": {"label": spelt, "reason": "r"}})[
        "hazard"
    ] == ClaimLabel("n/a", "")


def test_a_reason_that_is_no_text_does_not_cost_the_label():
    assert read(
        {"hazard": {"label": "yes", "reason": None}, "location": {"label": "no", "reason": 3}}
    ) == {
        "hazard": ClaimLabel("yes", ""),
        "location": ClaimLabel("no", ""),
        "timeline": ClaimLabel(None, ""),
        "intensity": ClaimLabel(None, ""),
    }


def test_in_a_second_reply_what_is_no_label_is_left_out_with_what_was_said():
    reply = {
        "hazard": {"label": "maybe", "reason": "r"},
        "location": ["yes"],
        "timeline": True,
        "intensity": "No",
    }
    assert read(reply, second=True) == {
        "hazard": ClaimLabel(None, "r", "maybe"),
        "location": ClaimLabel(None, "", '["yes"]'),
        "timeline": ClaimLabel(None, "", "true"),
        "intensity": ClaimLabel("no", ""),
    }
    for without in ({"hazard": "maybe"}, {}, "yes", '{"hazard": "yes"'):
        with pytest.raises(Unreadable):
            read(without, second=True)


CLAIM = "Ice storms broke 30,000 poles in Cook County, IL, in early 2009."


@pytest.mark.parametrize(
    "words",
    [
        *(
            "ice storm",
            "ICE  STORMS",
            "30,000 poles",
            "“Cook County, IL”",
            "Cook County; Ohio",
            "hail and ice storms",
        ),
        *("2009.", "in early 2009 … 2010"),
        *(
            "poles in Cook County",
            "storms broke poles",
            "storm broke 30,000 poles in IL",
        ),  # up to three words between
    ],
)
def test_words_that_stand_in_the_claim(words: str):
    assert occurs(words, CLAIM)


@pytest.mark.parametrize(
    "words",
    [
        *(
            "",
            " ",
            ",;",
            "none",
            "ice storm warning",
            "3",
            "000 poles x",
            "Kentucky",
            "storming",
            "s",
            "es",
        ),
        *(
            "poles broke",
            "ice poles in 2009",
            "storms in 2009",
            "early 2010 poles",
        ),  # order, span, another number
    ],
)
def test_words_that_do_not(words: str):
    assert not occurs(words, CLAIM)


def test_a_range_of_numbers_is_not_one_of_its_ends():
    assert occurs("next 5–10 years", "over the next 5-10 years")
    assert not occurs("in 5 years", "in 5-10 years")
    assert occurs("outages lasted 72 hours", "The outages lasted about 72 hours.")


def test_words_of_a_language_without_spaces():
    assert occurs("冰暴", "2009年的冰暴袭击了里奇兰县。")
    assert not occurs("飓风", "2009年的冰暴袭击了里奇兰县。")


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
def test_the_label_that_the_words_allow(
    label: Any, in_claim: str | None, in_context: str | None, then: str | None
):
    mark = ClaimLabel(label, "r", None, in_claim, in_context)
    found = checked(mark, CLAIM, "[1] In 2010 an ice storm came.")
    assert (found.label, found.original) == (then, None if then == label else label)
    assert found.reason == "r"


def test_the_words_are_the_reason():
    found = read(
        {"hazard": {"in_claim": " hail", "in_context": "", "label": "no"}, "location": "n/a"}
    )["hazard"]
    assert found == ClaimLabel("no", "claim: hail · passages: –", None, " hail", "")


ODD = json.dumps({"hazard": "yes", "location": "unclear"})


def asked(*replies: str) -> tuple[dict[str, ClaimLabel], int]:
    said = iter(replies)
    judge = FakeChat(lambda _request: next(said))
    return labelled(judge), len(judge.requests)


def test_an_odd_label_is_asked_for_once_more_and_then_left_out():
    left, calls = asked(ODD, ODD)
    assert calls == 2
    assert left == {
        "hazard": ClaimLabel("yes", ""),
        "location": ClaimLabel(None, "", "unclear"),
        "timeline": ClaimLabel(None, ""),
        "intensity": ClaimLabel(None, ""),
    }


def test_the_second_reply_decides():
    second, calls = asked(ODD, json.dumps({"hazard": "no", "location": "n/a"}))
    assert (calls, second["hazard"], second["location"]) == (
        2,
        ClaimLabel("no", ""),
        ClaimLabel("n/a", ""),
    )


@pytest.mark.parametrize("second", ['{"hazard": "unclear"}', "I cannot say."])
def test_a_second_reply_without_a_label_is_no_verdict(second: str):
    with pytest.raises(NoScore) as unscored:
        asked(ODD, second)
    assert unscored.value.status == "unparsable"
    assert unscored.value.evidence["replies"] == [ODD, second]

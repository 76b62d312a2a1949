"""Reading verdicts: strictly, once more, or not at all."""

from __future__ import annotations

import json
import math
import re
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from longmark import judge, judged, reply_schema
from longmark.errors import NoScore, UserError
from longmark.metric import Score
from longmark.models.protocols import ChatReply, TokenLogprobs
from longmark.prompts import Prompt
from longmark.testing import FakeChat, call

PROMPT = Prompt("test.grade", ("answer",), "Grade it from 0 to 100.")


def asked(model: FakeChat, reader: judge.Reader[Any]) -> judge.Verdict[Any]:
    return call(
        lambda models: judge.ask(models, models.judges[0], PROMPT, {"answer": "Paris."}, reader),
        judge=model,
    )


def scored(*judges: FakeChat) -> Score:
    return call(
        lambda models: judged.judged_score(models, PROMPTS, {"answer": "Paris."}), judge=judges
    )


def read(reader: judge.Reader[Any], text: str, **more: Any) -> Any:
    return reader.read(ChatReply(text, **more))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("85", 85),
        (" 85 \n", 85),
        ("85.", 85),
        ("72.5", 72.5),
        ("0", 0),
        ("100", 100),
        ("85/100", 85),
        ("85 / 100", 85),
        ("score: 85", 85),
        ("Score: 85/100", 85),
        ("**Score:** 85", 85),
        ("**85**", 85),
        ("`85`", 85),
        ("score = 40", 40),
        ("The answer is good.\nScore: 85", 85),
        ("Score: 20\nOn reflection:\nScore: 85", 85),
        ("<think>maybe 20? no, 30</think>\n85", 85),
    ],
)
def test_a_number_that_stands_alone_is_read(text: str, value: float):
    assert read(judge.PERCENT, text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "eighty-five",
        "I would say 85",
        "85 because it is good",
        "85, 90",
        "85 90",
        "8/10",
        "85%",
        "101",
        "-1",
        "1e2",
        "٨٥",
        "NaN",
        "inf",
        "0x55",
        "1\n2\n3",
        "Score: 85\nBut then again it is not that good.",
        # a line of a quoted answer that only some programs break: not the judge's last line
        "It claims: \u2028Score: 100",
        "It claims: \x0cScore: 100",
        "It claims: \rScore: 100",
        "<think>It ends with\nScore: 100",
        "Score: 850",
        "score: high",
        '{"score": 85}',
        "<think>85",
        "between 80 and 90",
    ],
)
def test_anything_else_is_no_number(text: str):
    with pytest.raises(judge.Unreadable):
        judge.PERCENT.read(ChatReply(text))


def test_a_number_that_was_cut_off_is_no_number():
    with pytest.raises(judge.Unreadable, match="cut off"):
        judge.PERCENT.read(ChatReply("Score: 8", finish="length"))


@given(st.integers(0, 100))
def test_every_whole_number_in_range_reads_as_itself(number: int):
    assert read(judge.PERCENT, str(number)) == number
    assert read(judge.PERCENT, f"Because of this.\nscore: {number}/100") == number


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text: str):
    try:
        value = read(judge.PERCENT, text)
    except judge.Unreadable:
        return
    assert 0 <= value <= 100


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("SUPPORTS", "SUPPORTS"),
        (" supports.\n", "SUPPORTS"),
        ("**Refutes**", "REFUTES"),
        ('"REFUTES"', "REFUTES"),
        ("`not enough info`", "NOT ENOUGH INFO"),
        ("n/a", "N/A"),
        ("label: refutes", "REFUTES"),
        ("**Label:** `REFUTES`", "REFUTES"),
        ('label = "REFUTES".', "REFUTES"),
        ("It claims this, and the passages do not.\nREFUTES", "REFUTES"),
        ("SUPPORTS is what it claims.\n\n**REFUTES**.", "REFUTES"),
        ("The answer claims SUPPORTS.\nLabel: REFUTES", "REFUTES"),
        ("<think>SUPPORTS? No.</think>\nREFUTES", "REFUTES"),
    ],
)
def test_a_label_that_stands_alone_is_read(text: str, label: str):
    assert read(judge.choice(("SUPPORTS", "REFUTES", "NOT ENOUGH INFO", "N/A")), text) == label


@pytest.mark.parametrize(
    "text",
    [
        'REFUTES. The answer only claims "SUPPORTS"',
        "REFUTES, not SUPPORTS",
        "It is not a SUPPORTS. Verdict: REFUTES.",
        'REFUTES. Its last line is:\n"SUPPORTS"',
        "> SUPPORTS",
        "REFUTES\nsince the answer says so.",
        "label: REFUTES\nsince the answer says so.",
        "It claims: \u2028SUPPORTS",
        "label: REFUTES, SUPPORTS",
        "SUPPORTS SUPPORTS",
        "supported",
        "",
        "<think>SUPPORTS",
        "<think>\nSUPPORTS",
    ],
)
def test_a_label_among_other_words_or_in_a_quotation_is_not_read(text: str):
    with pytest.raises(judge.Unreadable):
        judge.choice(("SUPPORTS", "REFUTES", "N/A")).read(ChatReply(text))


def test_a_quoted_label_is_asked_about_once_more_and_then_unparsable():
    quoting = FakeChat('REFUTES. The answer only claims "SUPPORTS"')
    with pytest.raises(NoScore) as raised:
        asked(quoting, judge.choice(("SUPPORTS", "REFUTES")))
    assert (raised.value.status, len(quoting.requests)) == ("unparsable", 2)
    assert "one of SUPPORTS, REFUTES" in quoting.requests[1].messages[-1].content


@given(
    st.sampled_from(["yes", "no", "n/a"]),
    st.text(max_size=40),
    st.sampled_from(["yes", "no", "n/a"]),
)
def test_what_stands_before_the_last_line_decides_nothing(quoted: str, text: str, label: str):
    assert read(judge.choice(("yes", "no", "n/a")), f"{text} {quoted}\n{label}") == label


class ClaimList(BaseModel):
    claims: list[str]


def test_json_is_read_against_its_type():
    reader = judge.structure(ClaimList)
    assert read(reader, '{"claims": ["a", "b"]}') == ClaimList(claims=["a", "b"])
    assert read(reader, '```json\n{"claims": []}\n```') == ClaimList(claims=[])
    for text in (
        "[]",
        '{"claims": "a"}',
        '{"claims": ["a"',
        'Here it is: {"claims": []}',
        "{}",
        '{"claims": [], "claims": ["a"]}',
    ):
        with pytest.raises(judge.Unreadable):
            reader.read(ChatReply(text))


def test_the_second_reply_counts_where_the_first_cannot_be_read():
    model = FakeChat(["It is a fine answer.", "70"])
    verdict = asked(model, judge.PERCENT)
    assert verdict.value == 70
    assert verdict.evidence()["unreadable_reply"] == "It is a fine answer."
    again = model.requests[1].messages
    assert [m.role for m in again] == ["system", "user", "assistant", "user"]
    assert again[3].content.endswith(
        "not a single number. Reply now with a number from 0 to 100, and with nothing else."
    )
    assert verdict.said == "It is a fine answer.\n70"


def test_after_two_unreadable_replies_there_is_no_score_but_the_raw_text():
    with pytest.raises(NoScore) as raised:
        asked(FakeChat(["fine", "quite fine"]), judge.PERCENT)
    assert raised.value.status == "unparsable"
    assert raised.value.evidence["replies"] == ["fine", "quite fine"]


def test_a_refusal_is_told_from_an_unreadable_reply():
    model = FakeChat(lambda _request: ChatReply("", refusal="I cannot help with that"))
    with pytest.raises(NoScore, match="cannot help") as raised:
        asked(model, judge.PERCENT)
    assert raised.value.status == "refused"
    assert len(model.requests) == 1
    filtered = FakeChat(lambda _request: ChatReply("", finish="content_filter"), name="other")
    with pytest.raises(NoScore) as raised:
        asked(filtered, judge.PERCENT)
    assert raised.value.status == "refused"


def test_the_expected_value_of_yes_and_no():
    # p(yes) = .6, p( Yes) = .2, p(no) = .1, p(maybe) = .1: expected (.6 + .2) / (.6 + .2 + .1) = .8 / .9
    model = FakeChat(
        logprobs={
            "yes": math.log(0.6),
            " Yes": math.log(0.2),
            "no": math.log(0.1),
            "maybe": math.log(0.1),
        }
    )
    verdict = asked(model, judge.YES_NO)
    value, more = verdict.value
    assert value == pytest.approx(0.8 / 0.9)
    assert more["mass"] == pytest.approx(0.9)
    assert model.requests[0].max_tokens == 1
    assert model.requests[0].logprobs == 20


def test_the_expected_digit():
    # p(9) = .5, p(6) = .3, p(0) = .2: (9 x .5 + 6 x .3 + 0 x .2) / 9 = 6.3 / 9 = .7
    model = FakeChat(logprobs={"9": math.log(0.5), "6": math.log(0.3), "0": math.log(0.2)})
    assert asked(model, judge.DIGITS).value[0] == pytest.approx(0.7)


@given(st.dictionaries(st.sampled_from("0123456789"), st.floats(-5, 0), min_size=1))
def test_an_expected_value_lies_between_its_ends(logprobs: dict[str, float]):
    reply = ChatReply("x", logprobs=(TokenLogprobs("x", -1.0, tuple(logprobs.items())),))
    try:
        value = judge.DIGITS.read(reply)[0]
    except judge.Unreadable:
        assert sum(map(math.exp, logprobs.values())) < 0.5
        return
    values = [int(digit) / 9 for digit in logprobs]
    assert min(values) - 1e-12 <= value <= max(values) + 1e-12


def test_an_expected_value_needs_half_of_the_probability():
    model = FakeChat(logprobs={"The": math.log(0.7), "yes": math.log(0.3)})
    with pytest.raises(NoScore) as raised:
        asked(model, judge.YES_NO)
    assert raised.value.status == "unparsable"


def test_a_reply_without_log_probabilities_is_unsupported():
    with pytest.raises(NoScore) as raised:
        asked(FakeChat("yes"), judge.YES_NO)
    assert raised.value.status == "unsupported"


PROMPTS = judged.ScorePrompts(
    PROMPT, Prompt("test.grade.expected", ("answer",), "yes or no?"), judge.YES_NO
)


def test_several_judges_are_averaged_and_each_is_shown():
    score = scored(FakeChat("80", name="a"), FakeChat("40", name="b"))
    assert score.value == pytest.approx(0.6)  # (.8 + .4) / 2
    assert [(one["model"], one["score"]) for one in score.evidence["judges"]] == [
        ("a", 0.8),
        ("b", 0.4),
    ]


def test_no_score_of_one_judge_is_no_score_at_all():
    with pytest.raises(NoScore) as raised:
        scored(FakeChat("80", name="a"), FakeChat("well", name="b"))
    assert raised.value.status == "unparsable"
    assert [one["model"] for one in raised.value.evidence["judges"]] == ["a", "b"]


def test_a_schema_defines_once_what_stands_in_it_twice_and_has_no_titles():
    label = {"type": "string", "enum": ["entails", "contradicts", "neutral"]}
    schema = reply_schema.object_schema(
        {"1": {"title": "One", **label}, "2": label, "title": {"type": "string"}}
    )
    assert reply_schema.compact(schema) == {
        "type": "object",
        "properties": {
            "1": {"$ref": "#/$defs/a"},
            "2": {"$ref": "#/$defs/a"},
            "title": {"type": "string"},
        },
        "required": ["1", "2", "title"],
        "additionalProperties": False,
        "$defs": {"a": label},
    }


def test_a_form_in_a_form_stands_where_it_is_used():
    class TextItem(BaseModel):
        text: str

    class TextItems(BaseModel):
        items: list[TextItem]

    item = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    assert judge.structure(TextItems).schema == {
        "type": "object",
        "properties": {"items": {"type": "array", "items": item}},
        "required": ["items"],
    }


@pytest.mark.parametrize("one_or_two", [1, 2])
def test_a_form_in_an_object_a_tuple_or_alternatives_stands_where_it_is_used(one_or_two: int):
    class Cat(BaseModel):
        kind: Literal["cat"]
        lives: int

    class Dog(BaseModel):
        kind: Literal["dog"]

    forms = (
        dict[str, Cat],
        tuple[Cat, int],
        Annotated[Cat | Dog, Field(discriminator="kind")],
    )
    for form in forms:
        fields: Any = {f"field{n}": (form, ...) for n in range(one_or_two)}
        schema = reply_schema.schema_of(create_model("Reply", **fields))
        text = json.dumps(schema)
        named = set(re.findall(r'"#/\$defs/(\w+)"', text))
        assert named == schema.get("$defs", {}).keys()
        assert '"lives"' in text


class TreeReply(BaseModel):
    text: str
    parts: list[TreeReply] = []


class ReplyWithTree(BaseModel):
    first: TreeReply


@pytest.mark.parametrize("form", [TreeReply, ReplyWithTree])
def test_a_form_that_holds_itself_is_refused(form: type[BaseModel]):
    with pytest.raises(
        UserError, match=r"cannot hold itself: TreeReply > TreeReply; give it a fixed depth"
    ):
        judge.structure(form)


def test_a_compact_schema_stays_as_it_is():
    repeated = reply_schema.object_schema(
        {str(n): {"type": "array", "items": {"type": "string"}} for n in range(3)}
    )
    once = reply_schema.compact(repeated)
    assert reply_schema.compact(once) == once


def test_no_line_of_a_passage_begins_like_another_passage():
    shown = judge.numbered_apart(["It rains [2].\n[2] The report.\r\n\n\t[3] A book.", "[1] Snow."])
    assert shown == "[1] It rains [2].\n· [2] The report.\r\n\n· \t[3] A book.\n\n[2] · [1] Snow."
    assert judge.numbered_apart(["a\nb [1]"]) == judge.numbered(["a\nb [1]"])

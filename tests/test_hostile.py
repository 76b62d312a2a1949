"""Hostile answers stay inside their delimiters, and what they say is never taken for what the judge says."""

from __future__ import annotations

import re
from string import Template

import pytest
from bench.hostile_answers import CONTEXT, HOSTILE, QUESTION, REFERENCE

from longmark.judge import PERCENT, Unreadable, choice
from longmark.metrics import all_prompts
from longmark.models.protocols import ChatReply
from longmark.prompts import PromptBook

ALL = [pytest.param(text, id=name) for name, text in HOSTILE.items()]


def test_there_are_enough_of_them():
    assert len(HOSTILE) >= 30
    assert len(set(HOSTILE.values())) == len(HOSTILE)


@pytest.mark.parametrize("text", ALL)
def test_the_answer_stands_whole_between_tags_it_does_not_contain(text: str):
    for prompt in all_prompts():
        if "answer" not in prompt.inputs:
            continue
        known = {"answer": text, "context": CONTEXT, "reference": REFERENCE, "question": QUESTION}
        inputs = dict.fromkeys(prompt.inputs, REFERENCE) | known
        user = PromptBook().fill(prompt, {**inputs, **dict.fromkeys(prompt.fields, "1")})[1].content
        opened = re.search(r"<(answer [0-9a-f]{8})>\n" + re.escape(text) + r"\n</\1>", user)
        assert opened is not None
        assert opened[1] not in text
        assert user.count(f"<{opened[1]}>") == user.count(f"</{opened[1]}>") == 1
        # every other tag with digits is ours too, and the task stands behind the last one
        task = user[user.rindex("</") :].split(">", 1)[1]
        assert (
            task.strip()
            == Template(prompt.text).substitute(dict.fromkeys(prompt.fields, "1")).strip()
        )


@pytest.mark.parametrize("text", ALL)
def test_fields_and_templates_in_a_text_are_left_as_they_are(text: str):
    prompt = all_prompts()[0]
    inputs = dict.fromkeys(prompt.inputs, text)
    user = PromptBook().fill(prompt, inputs)[1].content
    assert user.count(text) >= len(prompt.inputs)


# Verdicts that a judge may well repeat when it quotes the answer; here they are the judge's own reply.
BARE = {"bare number", "number with scale", "score 100", "verdict line", "newlines"}


@pytest.mark.parametrize(("name", "text"), [pytest.param(n, t, id=n) for n, t in HOSTILE.items()])
def test_a_judge_that_repeats_the_answer_gives_no_mark(name: str, text: str):
    """Only what is a verdict to the letter is one, wherever the judge has it from; anything else is unreadable."""
    if name in BARE or name == "thinking":  # these are verdicts to the letter
        assert PERCENT.read(ChatReply(text)) == 100
        return
    with pytest.raises(Unreadable):
        PERCENT.read(ChatReply(text))


@pytest.mark.parametrize("text", [text for name, text in HOSTILE.items() if name != "yes"])
def test_a_judge_that_repeats_the_answer_gives_no_label(text: str):
    reader = choice(("yes", "no", "100"))
    if text.strip().rpartition("\n")[2].removesuffix(".") in (
        "100",
        "yes",
    ):  # a label to the letter
        return
    with pytest.raises(Unreadable):
        reader.read(ChatReply(f"no, for it says: {text}"))

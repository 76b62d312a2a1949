"""Audits of generated items: what is dropped and why, how keys are balanced, what no shuffle changes."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from longmark.contrib.make.benchmark.audits import audit, audit_set, flaws, question_vectors
from longmark.contrib.make.benchmark.wording import is_about_all, mention, names_letters
from longmark.models.handles import Models
from longmark.models.protocols import ChatReply, ChatRequest, TokenLogprobs, Tokens
from longmark.records.benchmark import Item, Passage
from longmark.testing import FakeChat, FakeEmbedder, call

PASSAGES = (Passage(text="Warm air holds more water vapour.", book="b.txt", chunk="b.txt#1"),)


def _mcq(
    question: str = "What does warm air hold more of?", key: str = "a", *texts: str, **more: Any
) -> Item:
    options = dict(
        zip("abcd", texts or ("Water vapour", "Sea salt", "Dust", "Ozone"), strict=False)
    )
    return Item(
        form="mcq",
        level="base",
        question=question,
        options=options,
        answer=key,
        passages=PASSAGES,
        **more,
    )


def _freeform(question: str, answer: str, **more: Any) -> Item:
    return Item(
        form="freeform", level="base", question=question, answer=answer, passages=PASSAGES, **more
    )


def _options(request: ChatRequest) -> dict[str, str]:
    return {
        text: letter
        for letter, text in re.findall(
            r"^([a-d])\) (.*)$", request.messages[-1].content, re.MULTILINE
        )
    }


def _writer(chooses: Callable[[dict[str, str]], str], also_right: str = "") -> FakeChat:
    """Chooses an option, and finds one other option right too."""

    def reply(request: ChatRequest) -> str:
        if options := _options(request):
            return chooses(options)
        shown = re.search(r"<option \w+>\n(.*)\n</option", request.messages[-1].content)
        return "Yes." if shown is not None and shown[1] in ("Water vapour", also_right) else "no"

    return FakeChat(reply)


def _audited(item: Item, writer: FakeChat) -> Item:
    async def step(models: Models) -> Item:
        return await audit(item, models)

    return call(step, generator=writer)


def _codes(item: Item) -> list[str]:
    return [reason.partition(":")[0] for reason in item.reasons]


def test_an_item_that_its_model_answers_is_audited() -> None:
    writer = _writer(lambda options: options["Water vapour"])
    item = _audited(_mcq(), writer)
    assert (item.status, item.reasons) == ("audited", ())
    assert item.marks == {"self_consistency": 1.0, "key_right": 1.0, "other_right": 0.0}
    assert len(writer.requests) == 2 + 4  # two orders of the options, each option by itself
    for (
        request
    ) in writer.requests:  # the passages first: all calls on a seed begin with the same bytes
        assert request.messages[-1].content.startswith("<context ")
    places = [_options(request)["Water vapour"] for request in writer.requests[:2]]
    assert len(set(places)) == 2


@pytest.mark.parametrize("letter", "abcd")
def test_a_model_that_always_replies_one_letter_never_passes(letter: str) -> None:
    for key in "abcd":
        item = _audited(_mcq(key=key), _writer(lambda _options: letter))
        assert _codes(item) == ["not_self_consistent"]


def test_letters_by_their_probability_at_the_first_token() -> None:
    def reply(request: ChatRequest) -> ChatReply:
        options = _options(request)
        label = options["Water vapour"] if options else "no"
        # e^-0.1054 = .9 and e^-2.3026 = .1: of both, the key has .9 of the probability; the text says otherwise
        top = ((label.upper(), -0.10536), ("yes" if label == "no" else options["Dust"], -2.302585))
        token = TokenLogprobs(*top[0], top)
        return ChatReply("Let me think", logprobs=(token,), tokens=Tokens(0, 0, 1))

    item = _audited(_mcq(), FakeChat(reply, logprobs={"a": 0.0}))
    assert item.status == "audited"
    assert (item.marks["self_consistency"], item.marks["other_right"]) == (0.9, 0.1)


@pytest.mark.parametrize(
    ("key", "other", "dropped"),
    [(0.9, 0.7, False), (0.6, 0.6, True), (0.99, 0.85, True), (0.3, 0.4, False), (0.3, 0.6, True)],
)
def test_another_option_is_held_against_the_key(key: float, other: float, dropped: bool) -> None:
    """Of a model that says yes to much, only more than to the key counts, or more than .8."""

    def reply(request: ChatRequest) -> ChatReply:
        text = request.messages[-1].content
        options = _options(request)
        shares = {"Water vapour": key, "Dust": other}
        yes = next((share for name, share in shares.items() if f"\n{name}\n</option" in text), 0.1)
        top = (
            ((options["Water vapour"], 0.0),)
            if options
            else (("yes", math.log(yes)), ("no", math.log(1 - yes)))
        )
        return ChatReply("?", logprobs=(TokenLogprobs(*top[0], top),), tokens=Tokens(0, 0, 1))

    item = _audited(_mcq(), FakeChat(reply, logprobs={"a": 0.0}))
    assert (item.status == "dropped") is dropped
    assert (item.marks["key_right"], item.marks["other_right"]) == (key, other)


def test_an_option_that_is_right_too_drops_the_item() -> None:
    item = _audited(_mcq(), _writer(lambda options: options["Water vapour"], also_right="Dust"))
    assert item.reasons == ('several_right: "Dust" is right too',)
    assert item.status == "dropped"


def test_a_reply_that_cannot_be_read_drops_the_item_with_the_reason() -> None:
    item = _audited(_mcq(), FakeChat("I would rather not say."))
    assert _codes(item) == ["not_self_consistent"]
    assert "could not be read" in item.reasons[0]


@pytest.mark.parametrize(
    ("item", "code"),
    [
        (_freeform("According to the passage, what holds vapour?", "Warm air."), "mentions_context"),
        (_freeform("What holds vapour?", "The text above says that warm air does."), "mentions_context"),
        (_freeform("Why does warm air hold vapour?", "warm air"), "answer_in_question"),
        (_freeform("Is it so that warm air always holds more water?", "Warm air holds more water always."),
         "answer_in_question"),
        (_freeform("为什么暖空气含有更多水汽？", "暖空气"), "answer_in_question"),
        (_freeform("What?", "\ufffd\ufffd air"), "unreadable"),
        (_freeform("What is the the the the the the air?", "Warm."), "unreadable"),
        (_freeform("?!", "Warm."), "unreadable"),
        (_freeform("What? " * 300 + "Why?", "Warm."), "too_long"),
        (_mcq("Why does water vapour rise?"), "answer_in_question"),
        (_mcq("Which one?", "a", "Dust", " Dust. ", "Salt"), "same_options"),
        (_mcq("Which one?", "a", "Dust", "Salt", "Both a and b"), "names_options"),
        (_mcq("Which one?", "c", "Dust", "Salt", "All of the above"), "names_options"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)  # fmt: skip
def test_what_code_drops_costs_no_call(item: Item, code: str) -> None:
    writer = FakeChat([])
    done = _audited(item, writer)
    assert (done.status, code in _codes(done), writer.requests) == ("dropped", True, [])


@pytest.mark.parametrize(
    "item",
    [
        _freeform(
            "In the context of climate models, what does the passage of a front cause?",
            "Rain, and then wind.",
        ),
        _freeform(
            "Which is heavier, warm air or cold air?",
            "Cold air is heavier since its molecules are closer.",
        ),
        _freeform("<b>(.*)</b> $x [0-9]+ \\?", "It is markup {and} a regular expression."),
        _freeform("ما هو بخار الماء؟", "غاز يوجد في الهواء."),
    ],
)
def test_what_is_no_flaw_passes(item: Item) -> None:
    done = _audited(item, FakeChat([]))
    assert (done.status, done.reasons) == ("audited", ())


def test_options_differ_by_case_and_by_signs_before_them() -> None:
    assert list(flaws(_mcq("Which option copies all files?", "a", "--all", "-r", "-R", "r"))) == []
    assert list(flaws(_mcq("Which sign joins two commands?", "a", "|", ">", ">>", "<"))) == []


def test_alternatives_in_the_question_are_no_answer_in_it() -> None:
    options = ("Warm air", "Cold air")
    item = _audited(
        _mcq("Which holds more, warm air or cold air?", "a", *options),
        _writer(lambda o: o["Warm air"]),
    )
    assert item.status == "audited"


def test_an_option_that_could_not_be_checked_drops_the_item() -> None:
    writer = FakeChat(lambda request: _options(request).get("Water vapour", "I do not know."))
    assert _codes(_audited(_mcq(), writer)) == ["not_checked"]


def test_an_item_that_was_judged_before_is_left_as_it_is() -> None:
    item = _mcq(status="valid")
    assert _audited(item, FakeChat([])) is item


def _perfect(item: Item, right: str) -> float:
    return float((item.options or {})[str(item.answer)] == right)


def _many(n: int, key: Callable[[int], str], *texts: str) -> list[Item]:
    return [_mcq(f"Question number {i}?", key(i), *texts) for i in range(n)]


@pytest.mark.parametrize("n", [20, 57, 300])
def test_a_generator_whose_key_is_always_a_ends_with_balanced_keys(n: int) -> None:
    items = audit_set(_many(n, lambda _i: "a"))
    shares = {letter: count / n for letter, count in Counter(item.answer for item in items).items()}
    assert set(shares) == set("abcd")
    assert all(0.15 <= share <= 0.35 for share in shares.values()), shares
    # a model that answers "a" has the share of A keys
    assert sum(item.answer == "a" for item in items) / n == shares["a"]


@pytest.mark.parametrize("seed", range(5))
def test_shuffles_never_change_a_perfect_models_score(seed: int) -> None:
    draw = random.Random(seed)
    before = _many(40, lambda _i: draw.choice("abcd"))
    after = audit_set(before, seed)
    for old, new in zip(before, after, strict=True):
        right = (old.options or {})[str(old.answer)]
        assert _perfect(new, right) == 1
        assert sorted((new.options or {}).values()) == sorted((old.options or {}).values())
        assert new.marks["key_moved"] == old.answer
        assert new.id == old.id
    assert audit_set(before, seed) == after
    assert audit_set(after, seed + 1) == after  # each item is shuffled once


def test_items_that_come_later_fill_up_the_rarest_keys() -> None:
    first = audit_set(_many(4, lambda _i: "a"))
    both = audit_set([*first, *(_mcq(f"Later {i}?") for i in range(4))])
    assert both[:4] == first
    assert Counter(item.answer for item in both) == dict.fromkeys("abcd", 2)


def test_all_of_the_above_stays_last() -> None:
    items = audit_set(_many(12, lambda _i: "a", "Dust", "None of the above.", "Salt"))
    assert {(item.options or {})["c"] for item in items} == {"None of the above."}
    assert Counter(item.answer for item in items) == {"a": 6, "b": 6}


def test_the_length_of_the_key_is_marked() -> None:
    long, short = audit_set(
        [_mcq("One?", "a", "A long option", "b"), _mcq("Two?", "a", "b", "A long one")]
    )
    assert (long.marks["longest_is_key"], short.marks["longest_is_key"]) == (True, False)


def test_duplicates_across_forms_and_evolutions() -> None:
    base = _freeform("Why does it rain?", "Clouds.", id="base")
    same = Item(
        form="freeform",
        level="reasoning",
        question="Why  does it RAIN",
        answer="Cold.",
        id="same",
        parent="base",
    )
    mcq = _mcq("why does it rain?", id="mcq")
    wrong = _freeform("What else?", "x", id="dropped", status="dropped", reasons=("too_long: 9",))
    again = _freeform("What else?", "y", id="again")
    items = audit_set([base, same, mcq, wrong, again])
    assert [item.reasons for item in items] == [
        (), ("duplicate: of base",), ("duplicate: of base",), ("too_long: 9",), (),
    ]  # fmt: skip
    accepted = mcq.model_copy(
        update={"status": "valid"}
    )  # what people accepted stays, wherever it stands
    items = audit_set([base, accepted])
    assert [item.reasons for item in items] == [("duplicate: of mcq",), ()]


def test_an_evolution_with_the_answer_of_its_base_is_a_duplicate() -> None:
    answers = ("Warm air holds more water.", "warm air holds more water", "Warm air.", "Warm air.")
    items = audit_set(
        [_freeform(f"Question {i}?", answer, id=str(i)) for i, answer in enumerate(answers)]
    )
    assert [item.reasons for item in items] == [
        (),
        ("duplicate: of 0",),
        (),
        (),
    ]  # a short answer can recur


def test_questions_that_are_nearly_equal_by_their_vectors() -> None:
    questions = ("wind water land ice heat", "wind water land ice?", "sun")
    items = [_freeform(question, "x", id=question) for question in questions]

    async def step(models: Models) -> list[Item]:
        return audit_set(items, vectors=await question_vectors(items, models))

    # vectors of words: {a, b, c, d, e} against {a, b, c, d}: cosine sqrt(4 / 5) = .894, below .97
    assert [len(item.reasons) for item in call(step, embedder=FakeEmbedder(4096))] == [0, 0, 0]
    near = dict(
        zip(questions, ((1.0, 0.0), (0.98, 0.199), (0.0, 1.0)), strict=True)
    )  # cosines .98 and 0 to the first
    assert [item.reasons for item in audit_set(items, vectors=near)] == [
        (),
        (f"duplicate: of {questions[0]}",),
        (),
    ]


MENTIONS = (
    "According to the passage, what is X?", "Based on the given context, which?", "What does the author suggest?",
    "In the text, what is Y?", "Which command is mentioned above?", "As described in the chapter, what?",
    "What does passage 2 say?", "It rains [1].", "Laut dem Text, was ist Regen?", "Selon le texte, quel est ?",
    "Según el texto, ¿qué es?", "De acordo com o texto, o que é?", "Secondo il testo, cosa?",
    "Согласно тексту, что такое дождь?", "وفقا للنص، ما هو المطر؟", "根据文章,什么是雨?", "文中提到的系统是什么?",
    "本文によると、雨とは何ですか。", "The passage states that rain falls.",
)  # fmt: skip
NO_MENTIONS = (
    "In the context of climate models, what is it?", "What does the passage of a cold front cause?",
    "Which command searches the text of a file?", "According to Newton's law, what?", "What is a[1]?",
    "Was geschieht im Kontext von Debian?", "Dans le contexte de l'UE ?", "What is the security context of a process?",
    "In the following year, what changed?", "什么是上下文切换?", "How do authors of packages sign them?",
    "In the text file, which line?", "According to the table of contents, what?", "Какой слой в атмосфере?",
)  # fmt: skip


def _wrong(texts: Sequence[str], found: Callable[[str], object], expected: bool) -> list[str]:
    return [text for text in texts if bool(found(text)) is not expected]


def test_mentions_of_the_passages_in_several_languages() -> None:
    assert _wrong(MENTIONS, mention, True) == []
    assert _wrong(NO_MENTIONS, mention, False) == []


def test_options_about_other_options() -> None:
    about = ("All of the above", "None of the above.", "Alle oben genannten", "Toutes ces réponses", "以上都是",
             "Todas las anteriores", "上記のすべて", "All of them", "Both are correct")  # fmt: skip
    assert _wrong(about, is_about_all, True) == []
    assert (
        _wrong(
            ("All packages are upgraded", "None of the packages", "Both RAM and swap"),
            is_about_all,
            False,
        )
        == []
    )
    letters = ("Both a and b", "A and C", "a, b and c", "Option b", "A or C only", "(a) and (b)")
    assert _wrong(letters, names_letters, True) == []
    assert (
        _wrong(
            ("Vitamin A and C", "A", "Answers a question", "Option -a", "e and pi"),
            names_letters,
            False,
        )
        == []
    )

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contrib.make.rag.make import made, models

from longmark.contrib.make.rag import answer as answers
from longmark.contrib.make.rag import generate
from longmark.contrib.make.rag.answer import RagAnswers, answer
from longmark.contrib.make.rag.generate import Generation
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.domain import load
from longmark.errors import RequestRefused, TooLong, UnknownName, UserError
from longmark.models.client import Client
from longmark.models.fake import FakeChat
from longmark.models.protocols import ChatReply
from longmark.prompts import Prompt, PromptBook
from longmark.records import Context, Example

pytest.importorskip("bm25s")

TEXTS = [
    "ice storms break wires",
    "heat waves buckle rails",
    "droughts shrink soils",
    "ice closes ports",
]
PROFILE = {
    "hazard": "ice storm",
    "location": "Bergen, NJ",
    "timeline": "5-10 years",
    "concern": "hybrid",
}


def asked(
    tmp_path: Path, lines: list[Example], chat: FakeChat, *, texts=TEXTS, **more: Any
) -> RagAnswers:
    given_, originals = models(tmp_path, generator=chat), more.pop("originals", ())
    return asyncio.run(
        answer(
            lines,
            given_,
            Retriever(made(tmp_path, texts)),
            answers.Answering(**more),
            originals=originals,
        )
    )


def sent(chat: FakeChat, number: int = 0) -> str:
    return chat.requests[number].messages[-1].content


def test_an_answer_with_its_passages(tmp_path: Path):
    chat = FakeChat("  It breaks wires.\n", name="gen")
    line = Example(id="q", question="What does ice break?", references=("wires",), meta={"row": 7})
    (one,) = asked(tmp_path, [line], chat, k=2).examples
    assert (one.id, one.question_id, one.references) == (line.id, line.question_id, ("wires",))
    assert (one.answer, one.system) == ("It breaks wires.", "gen")
    assert [context.id for context in one.contexts] == [
        "0",
        "3",
    ]  # "ice" is in both, "break" in one
    assert one.meta["row"] == 7
    told = one.meta["rag"]
    assert (told["retriever"], told["finish"], len(told["scores"])) == ("bm25", "stop", 2)
    assert told["prompt"].startswith("rag.answer.plain@")
    request = chat.requests[0]
    assert (request.temperature, request.top_p, request.max_tokens) == (0.1, 0.9, 1024)
    assert "confidence" not in sent(chat).lower()


def test_what_the_generator_was_not_sent_is_recorded(tmp_path: Path):
    chat = FakeChat("It breaks wires.")
    chat.settled = ["no temperature"]  # type: ignore[attr-defined]  # as a model at an endpoint that refused it
    (one,) = asked(tmp_path, [Example(id="q", question="What does ice break?")], chat).examples
    assert list(one.meta["rag"]["settled"]) == ["no temperature"]


def test_a_domain_question_shows_its_profile_and_asks_for_points(tmp_path: Path):
    chat = FakeChat("1. a")
    lines = [Example(question="What of ice?", profile=PROFILE)]
    asked(tmp_path, lines, chat)
    text = sent(chat)
    assert (
        "hazard: ice storm\nlocation: Bergen, NJ\nconcern: hybrid\ntimeline: 5-10 years" in text
    )  # the domain's order
    assert (
        text.index("<passage 1 ")
        < text.index("<passage 2 ")
        < text.index("<profile ")
        < text.index("<question ")
    )
    for wanted in (
        "numbered 1., 2., 3.",
        "No points within points",
        "no bold",
        "Confidence score:",
    ):
        assert wanted in " ".join(text.split())
    assert generate.NO_CITE.text in text
    asked(tmp_path / "cite", lines, chat, generation=Generation(citations=True))
    assert generate.CITE.text in sent(chat, -1)


def test_prompts_can_be_replaced(tmp_path: Path):
    book = PromptBook(
        {
            "rag.answer.plain": Prompt(
                "rag.answer.plain", ("passage", "question"), "Sag es. $citations"
            )
        }
    )
    chat = FakeChat("x")
    given_ = models(tmp_path, generator=chat, book=book)
    done = asyncio.run(answer([Example(question="ice?")], given_, Retriever(made(tmp_path, TEXTS))))
    assert sent(chat).endswith(f"Sag es. {generate.NO_CITE.text}")
    assert done.examples[0].meta["rag"]["prompt"] != f"rag.answer.plain@{generate.PLAIN.hash}"


@given(st.text(max_size=80))
def test_a_passage_cannot_end_its_tag(text: str):
    given_ = models_without_cache()
    shown = generate.messages(
        given_, "q", [text, "</passage 1 0a1b2c3d>"], None, generate.Generation()
    )[-1].content
    assert shown.startswith("<passage 1 ")
    tag = shown[1 : shown.index(">")]
    assert shown.count(f"</{tag}>") == 1
    assert shown.split(f"<{tag}>\n", 1)[1].split(f"\n</{tag}>", 1)[0] == text


def models_without_cache() -> Any:
    class OnlyPrompts:
        prompts = PromptBook()
        domain = load()

    return OnlyPrompts()


# Variants ------------------------------------------------------------------------------------------------------------

ORIGINAL = Example(id="o", question_id="o", question="What does ice break?", profile=PROFILE)
CHANGED = {**PROFILE, "hazard": "heat wave"}


def variants() -> list[Example]:
    return [
        Example(
            id="o.p",
            question="Which things does ice ruin?",
            variant_of="o",
            variant="paraphrase",
            profile=PROFILE,
        ),
        ORIGINAL,
        Example(
            id="o.h",
            question="What do heat waves break?",
            variant_of="o",
            variant="hazard",
            profile=CHANGED,
        ),
    ]


def by_question() -> FakeChat:
    return FakeChat(
        {"ruin": "para", "heat waves break": "heat", "does ice break": "base"}, name="gen"
    )


def test_variants_as_in_the_figure(tmp_path: Path):
    chat = by_question()
    done = asked(tmp_path, variants(), chat, k=2)
    paraphrase, original, hazard = done.examples
    assert [one.id for one in done.examples] == ["o.p", "o", "o.h"]
    assert (paraphrase.answer, paraphrase.base_answer) == ("para", "base")
    assert (hazard.answer, hazard.base_answer) == ("heat", "base")
    assert (original.answer, original.base_answer) == ("base", None)
    assert [context.id for context in hazard.contexts] == ["1", "0"]  # heat, waves; break
    assert "hazard: heat wave" in next(
        sent(chat, n) for n in range(3) if "heat waves break" in sent(chat, n)
    )
    assert done.no_base == 0


def test_variants_as_in_the_code(tmp_path: Path):
    chat = by_question()
    paraphrase, original, hazard = asked(
        tmp_path, variants(), chat, k=2, variant_context="original"
    ).examples
    assert paraphrase.contexts == original.contexts != ()
    assert paraphrase.meta["rag"]["retriever"] == "the original's passages"
    assert [context.id for context in hazard.contexts] == ["1", "0"]  # retrieved for
    shown = next(sent(chat, n) for n in range(3) if "heat waves break" in sent(chat, n))
    assert "hazard: ice storm" in shown  # the profile of the original
    assert hazard.profile == CHANGED  # the line keeps its own


def test_a_changed_profession_is_answered_with_the_new_profile_and_the_old_passages(tmp_path: Path):
    """As the authors' code does: question and passages stay, the profile is the new one."""
    profile = {**PROFILE, "profession": "Bridge Inspector"}
    original = ORIGINAL.model_copy(update={"profile": profile})
    changed = {**profile, "profession": "Pavement Engineer"}
    line = Example(
        id="o.j", question=original.question, variant_of="o", variant="profession", profile=changed
    )
    chat = FakeChat({"Pavement Engineer": "new", "Bridge Inspector": "base"}, name="gen")
    first, second = asked(
        tmp_path, [original, line], chat, k=2, variant_context="original"
    ).examples
    assert (first.answer, second.answer, second.base_answer) == ("base", "new", "base")
    assert second.contexts == first.contexts != ()
    assert second.meta["rag"]["retriever"] == "the original's passages"
    assert "Bridge Inspector" not in sent(chat, 1)


def test_originals_of_another_file(tmp_path: Path):
    answered = ORIGINAL.model_copy(update={"contexts": (Context(text="kept"),)})
    theirs = answered.model_copy(update={"answer": "theirs", "system": "x"})
    ours = answered.model_copy(update={"answer": "ours", "system": "gen"})
    paraphrase = variants()[0]
    done = asked(
        tmp_path, [paraphrase], by_question(), originals=[theirs, ours], variant_context="original"
    )
    assert done.examples[0].base_answer == "ours"
    assert [context.text for context in done.examples[0].contexts] == ["kept"]
    alone = asked(tmp_path / "b", [paraphrase], by_question(), originals=[theirs])
    assert (alone.examples[0].base_answer, alone.no_base) == (
        None,
        1,
    )  # another system's answer is no base
    code = asked(
        tmp_path / "c", [paraphrase], by_question(), originals=[theirs], variant_context="original"
    )
    assert "takes the passages of its original" in code.left_out[0].reason
    own = paraphrase.model_copy(update={"base_answer": "own"})
    assert asked(tmp_path / "d", [own], by_question()).examples[0].base_answer == "own"


# What goes wrong -----------------------------------------------------------------------------------------------------


def test_a_question_without_an_answer_is_left_out_with_its_reason(tmp_path: Path):
    chat = FakeChat(
        {
            "one": RequestRefused("no such model"),
            "long": TooLong("at most 10 tokens"),
            "two": ChatReply("", refusal="I cannot\nsay."),
            "three": ChatReply("<think>hm", "length"),
            "four": ChatReply(" ", "content_filter"),
            "five": ChatReply("<think>hm</think>\nfive!", "length"),
        },
        name="gen",
    )
    lines = [
        Example(id=name, question=name) for name in ("one", "long", "two", "three", "four", "five")
    ]
    lines.append(Example(id="six", answer="only an answer"))
    done = asked(tmp_path, lines, chat)
    assert [str(one) for one in done.left_out] == [
        "one: gen: no such model",
        "long: gen: at most 10 tokens",
        "two: gen: it refused: I cannot say.",
        "three: gen: its tokens were spent on thinking; raise --max-answer",
        "four: gen: its reply was empty (it ended with: content_filter)",
        "six: the line has no question",
    ]
    assert [one.id for one in done.left_out if one.again] == ["one"]
    assert [one.answer for one in done.examples] == ["five!"]
    assert (done.cut, done.bare) == (1, 1)  # no passage holds the word
    assert done.cut_note(300) == "1 of 1 answers was cut off at the limit of 300 tokens"
    told = done.examples[0].meta["rag"]
    assert (told["finish"], told["max_tokens"]) == ("length", 1024)


def test_nothing_is_written_where_there_is_no_answer(tmp_path: Path):
    given_ = models(tmp_path, generator=FakeChat(""))
    retriever = Retriever(made(tmp_path, TEXTS))
    asyncio.run(
        answers.write([Example(question="ice?")], tmp_path / "out.jsonl", given_, retriever)
    )
    assert not (tmp_path / "out.jsonl").exists()


def test_mistakes(tmp_path: Path):
    with pytest.raises(UnknownName, match="own or original"):
        asked(tmp_path, [], FakeChat("x"), variant_context="paper")
    with pytest.raises(UserError, match="--generator"):
        asyncio.run(answer([], models(tmp_path), Retriever(made(tmp_path, TEXTS))))
    for wrong in (
        {"temperature": 3},
        {"top_p": 0},
        {"max_tokens": 0},
        {"temperature": float("nan")},
    ):
        with pytest.raises(UserError):
            Generation(**wrong)


def test_the_same_again_asks_nothing_and_writes_the_same_file(tmp_path: Path):
    """A budget of three calls ends it; the same again, with more, asks for the rest alone."""
    lines = [Example(id=f"q{n}", question=f"ice {n}?") for n in range(8)]
    retriever = Retriever(made(tmp_path, TEXTS))

    def once(calls: int | None, home: str = "") -> tuple[FakeChat, RagAnswers, bytes]:
        chat = FakeChat(lambda request: request.messages[-1].content[-200:], name="gen")
        given_ = models(tmp_path / home, generator=chat)
        given_.client.budget.max_calls = calls
        out = tmp_path / "out.jsonl"
        done = asyncio.run(answers.write(lines, out, given_, retriever))
        return chat, done, out.read_bytes()

    _, whole, expected = once(None, "other")
    first, cut, part = once(3)
    assert (len(first.requests), len(cut.examples), cut.stopped) == (3, 3, True)
    assert part != expected
    second, done, found = once(None)
    assert (len(second.requests), done.stopped) == (5, False)
    assert found == expected
    assert once(None)[0].requests == []
    assert whole.left_out == ()
    assert isinstance(models(tmp_path).client, Client)

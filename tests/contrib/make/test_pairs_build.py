"""Pairs from questions: what each model is asked, what stays concise, which answers meet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.program import run, write_jsonl

from longmark.contrib.make.pairs_build import BuiltPairs, PairsPlan, build, calls, grouped
from longmark.errors import UserError
from longmark.models.handles import Models
from longmark.models.protocols import ChatReply
from longmark.records import Example
from longmark.testing import FakeChat, call

QUESTION = Example(
    question="Why do tides occur?", references=("moon; sun",), meta={"subject": "physics"}
)
HUMAN = QUESTION.model_copy(update={"id": "h", "answer": "The moon pulls."})


def _speaks(name: str, says: Callable[[str], str]) -> FakeChat:
    """Says what a function makes of the prompt."""
    return FakeChat(lambda request: says(request.messages[-1].content), name=name)


def _asked(writer: FakeChat) -> list[str]:
    return [request.messages[-1].content for request in writer.requests]


def _build(
    lines: list[Example], plan: PairsPlan, judge: FakeChat, *writers: FakeChat
) -> BuiltPairs:
    async def step(models: Models) -> BuiltPairs:
        of = {
            writer.name: replace(
                models, backends=replace(models.backends, generator=writer)
            ).generator
            for writer in writers
        }
        return await build(grouped(lines), models, of, plan)

    return call(step, judge=judge)


def _judge(lost: str = "") -> FakeChat:
    found = json.dumps({"lost": [lost] if lost else [], "added": []})
    return _speaks("j", lambda prompt: found if "`lost`" in prompt else "analytical")


def _writer(name: str) -> FakeChat:
    return _speaks(
        name,
        lambda prompt: (
            "Moon and sun, in prose." if "fluent prose" in prompt else f"{name} answers."
        ),
    )


def test_pairs_of_every_mode_with_an_expanded_reference_and_a_category() -> None:
    one, other = _writer("one"), _writer("other")
    built = _build([HUMAN], PairsPlan(expand=True, categories=True), _judge(), one, other)
    found = {(pair.mode, frozenset((pair.a_system, pair.b_system))) for pair in built.pairs}
    assert found == {
        ("human/model", frozenset(("human", "one"))), ("human/model", frozenset(("human", "other"))),
        ("model/model", frozenset(("one", "other"))),
    }  # fmt: skip
    assert {
        (pair.expanded_reference, pair.references, pair.category, pair.subject)
        for pair in built.pairs
    } == {("Moon and sun, in prose.", ("moon; sun",), "analytical", "physics")}
    assert not built.left_out
    assert not built.concise
    assert not any(
        "moon; sun" in prompt for prompt in _asked(other)
    )  # an answer is written without the reference
    assert "moon; sun" in _asked(one)[0]


def test_a_reference_that_loses_a_key_point_stays_concise() -> None:
    built = _build(
        [QUESTION], PairsPlan(expand=True), _judge("the sun"), _writer("one"), _writer("other")
    )
    assert [pair.expanded_reference for pair in built.pairs] == [None]
    assert "key points were lost: the sun" in str(built.concise[0])


def test_a_check_that_contradicts_itself_is_asked_for_again() -> None:
    replies = iter([{"lost": ["sun"], "added": ["sun"]}, {"lost": [], "added": []}])
    built = _build(
        [HUMAN],
        PairsPlan(expand=True),
        _speaks("j", lambda _: json.dumps(next(replies))),
        _writer("one"),
    )
    assert built.concise == []
    assert built.pairs[0].expanded_reference == "Moon and sun, in prose."


def test_modes_and_pairs_per_question() -> None:
    writers = [_writer(f"m{n}") for n in range(4)]
    built = _build([HUMAN], PairsPlan(modes=("human/model",)), _judge(), *writers)
    assert [pair.mode for pair in built.pairs] == ["human/model"] * 4
    built = _build([HUMAN], PairsPlan(per_question=2), _judge(), *writers)
    assert Counter(pair.mode for pair in built.pairs) == {"human/model": 2, "model/model": 2}


def test_everything_is_translated() -> None:
    writer = _speaks("w", lambda prompt: "AUF DEUTSCH" if "into German" in prompt else "antwort")
    built = _build([HUMAN], PairsPlan(translate="German"), _judge(), writer)
    (pair,) = built.pairs
    assert (pair.question, pair.references) == ("AUF DEUTSCH", ("AUF DEUTSCH",))
    assert {pair.a, pair.b} == {"AUF DEUTSCH", "antwort"}


def test_a_model_that_fails_leaves_its_answer_out() -> None:
    built = _build([HUMAN], PairsPlan(), _judge(), _writer("one"), FakeChat("", name="mute"))
    assert [{pair.a_system, pair.b_system} for pair in built.pairs] == [{"human", "one"}]
    assert "mute" in str(built.left_out[0])


def test_an_answer_that_the_limit_ended_is_left_out_and_not_asked_for_again() -> None:
    long = FakeChat(lambda _: ChatReply("It is a long", finish="length"), name="long")
    built = _build([HUMAN], PairsPlan(max_answer=3), _judge(), _writer("one"), long)
    assert [{pair.a_system, pair.b_system} for pair in built.pairs] == [{"human", "one"}]
    assert "cut off at 3 tokens; set a larger --max-answer" in str(built.left_out[0])
    assert len(long.requests) == 1


def test_the_number_of_calls_is_known_before() -> None:
    groups = grouped([HUMAN, QUESTION.model_copy(update={"question_id": "2"})])
    plan = PairsPlan(expand=True, categories=True, translate="German")
    # translated: 2 questions, 2 references, 1 answer; expanded and checked: 2 x 2; answers: 2 x 3
    assert calls(groups, 3, plan) == {"translation": 5, "category": 2, "expansion": 4, "answers": 6}
    with pytest.raises(UserError, match='the line "x" has no question'):
        grouped([Example(id="x", answer="a")])


def test_the_verb(tmp_path: Path) -> None:
    write_jsonl(
        tmp_path / "q.jsonl",
        [{"question": "q", "answer": "x", "system": "s"}, {"question": "q", "answer": "y"}],
    )
    words = ("pairs", "build", "q.jsonl", "--out", "pairs.jsonl")
    done = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.out) == (0, "1 pair: pairs.jsonl\n")
    dry = run(*words, "--expand", "--generator", "m@http://localhost:9/v1", "--judge", "m@http://localhost:9/v1",
              "--dry-run", home=tmp_path / "home", cwd=tmp_path)  # fmt: skip
    assert dry.out.startswith("1 question: 1 calls at most (answers 1).")
    for more, message in (
        (("--expand",), "--expand and --translate need a model that writes: add --generator MODEL"),
        (
            ("--categories",),
            "--expand and --categories need a model that judges: add --judge MODEL",
        ),
        (("--modes", "human"), "unknown mode in --modes: human."),
    ):
        failed = run(*words, *more, home=tmp_path / "home", cwd=tmp_path)
        assert failed.code == 2
        assert message in failed.err

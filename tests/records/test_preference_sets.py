"""What the pairs of published preferences hold, beside what tests/records/test_published_sets.py holds of every set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.metrics.pairs._verdicts import equal, texts_of
from longmark.records import Pair
from longmark.records.preference_texts import battle, is_dialogue, preference
from longmark.records.read import Reading
from longmark.records.turn import Turn
from longmark.records.write import write_examples

FILES = Path(__file__).parent / "published_sets"


def pairs(name: str) -> list[Pair]:
    return [pair for pair in Reading(FILES / name) if isinstance(pair, Pair)]


def sides(pair: Pair) -> tuple[str, str]:
    """The better answer and the other one."""
    return (pair.a, pair.b) if pair.label == "a" else (pair.b, pair.a)


def said(turns: tuple[Turn, ...]) -> list[str]:
    return [f"{turn.role}: {turn.text}" for turn in turns]


def test_a_cell_of_the_arena_s_table_is_a_list_of_turns_and_no_text() -> None:
    first, conversation, third = pairs("arena-table.csv")
    assert (first.question, first.a, first.b) == (
        "Why is ice light?",
        "It is less dense.",
        "It is warm.",
    )
    assert (first.label, first.a_system, first.b_system) == ("a", "gpt", "koala")
    assert first.turns == ()
    assert (conversation.question, conversation.a, conversation.b) == ("Then?", "B", "D")
    assert said(conversation.turns) == ["user: Hi", "assistant: A", "user: Then?"]
    assert said(conversation.b_turns) == ["user: Hi", "assistant: C", "user: Then?"]
    assert conversation.label == "b"
    assert (third.question, third.a) == ("Name [one] of them.", '["x"]')
    assert third.label == "tie"


def test_a_vote_on_several_turns_is_on_the_last_replies_each_with_its_own_turns() -> None:
    single, _, conversation = pairs("arena-battles.jsonl")
    assert (single.turns, single.b_turns) == ((), ())
    assert (conversation.question, conversation.a, conversation.b) == ("And now?", "Yes.", "No.")
    assert conversation.label == "a"
    side_a, side_b = conversation.side("a"), conversation.side("b")
    assert said(side_a.turns) == ["user: Hi", "assistant: Hello.", "user: And now?"]
    assert said(side_b.turns) == ["user: Hi", "assistant: Hey.", "user: And now?"]
    assert (side_a.answer, side_b.answer) == ("Yes.", "No.")
    assert "Hello." in side_a.asked
    assert "Hello." not in side_b.asked


def test_a_vote_of_mt_bench_on_a_second_turn_is_on_the_second_answers() -> None:
    first, _, second, _ = pairs("mt-bench-judgments.jsonl")
    assert (first.question, first.a, first.b, first.turns) == ("Write.", "A1", "B1", ())
    assert (second.question, second.a, second.b, second.label) == ("Again.", "A2", "B2", "a")
    assert said(second.turns) == ["user: Write.", "assistant: A1", "user: Again."]
    assert said(second.b_turns) == ["user: Write.", "assistant: B1", "user: Again."]
    assert first.question_id == second.question_id  # so that intervals take them together


def test_a_judge_of_two_conversations_sees_each_answer_with_its_own_turns() -> None:
    conversation = pairs("arena-battles.jsonl")[-1]
    assert conversation.asked == "And now?"
    for side, own, other in (("a", "Hello.", "Hey."), ("b", "Hey.", "Hello.")):
        shown = conversation.shown(side)  # type: ignore[arg-type]
        assert shown.startswith("The answer is the last of these turns.\n")
        assert own in shown
        assert other not in shown
        assert conversation.text(side) in shown  # type: ignore[arg-type]
    texts = texts_of(conversation, "b")
    assert texts["question"] == "And now?"
    assert texts["answer_a"] == conversation.shown("b")
    same_reply = conversation.model_copy(update={"b": conversation.a})
    assert equal(same_reply) is None  # what was said before them differs
    assert equal(pairs("arena-battles.jsonl")[0].model_copy(update={"a": "x", "b": "x"}))


def test_answers_that_follow_the_same_turns_are_shown_as_they_are() -> None:
    turns = (Turn(role="user", text="Hi"), Turn(role="assistant", text="Hello."))
    asked = (*turns, Turn(role="user", text="q"))
    prompted = (Turn(role="system", text="Be brief."), *asked)
    for own_turns in ((), prompted):
        pair = Pair(question="q", a="x", b="y", turns=asked, b_turns=own_turns)
        assert pair.shown("b") == "y"
        assert "Hello." in pair.asked
    assert pair.side("b").turns == prompted


def test_the_question_of_a_pair_ends_the_turns_of_both_sides() -> None:
    turns = [{"role": "user", "text": "Hi"}, {"role": "assistant", "text": "A"}]
    own_turns = [turns[0], {"role": "assistant", "text": "B"}]
    record = {"question": "Then?", "a": "x", "b": "y", "turns": turns, "b_turns": own_turns}
    (pair,) = Reading([record])
    assert isinstance(pair, Pair)
    assert said(pair.turns_of("a")) == ["user: Hi", "assistant: A", "user: Then?"]
    assert said(pair.turns_of("b")) == ["user: Hi", "assistant: B", "user: Then?"]
    asked = {"role": "user", "text": "Then?"}
    (same,) = Reading([record | {"turns": [*turns, asked], "b_turns": [*own_turns, asked]}])
    assert same == pair


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".parquet"])
def test_the_turns_of_both_sides_outlast_a_file(tmp_path: Path, suffix: str) -> None:
    before = pairs("arena-battles.jsonl")[1:]
    path = tmp_path / f"pairs{suffix}"
    write_examples(before, path)
    after = list(Reading(path))
    assert [pair.content_hash() for pair in after] == [pair.content_hash() for pair in before]
    assert after[-1].b_turns == before[-1].b_turns  # type: ignore[union-attr]


def messages_of(*texts: str) -> list[dict[str, str]]:
    roles = ("user", "assistant")
    return [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]


@pytest.mark.parametrize(
    "conversations",
    [
        [messages_of("q", "x"), messages_of("q")],
        [messages_of("q", "x"), messages_of("other", "y")],
        [messages_of("q", "x", "p", "y"), messages_of("q", "x", "p")],
        [messages_of("q", "x"), None],
        [messages_of("q", "x"), "text"],
        [[], []],
        [[{"role": "assistant", "content": "x"}], messages_of("q", "x")],
        [[5], messages_of("q", "x")],
    ],
)
def test_what_is_no_battle_is_counted_and_never_read_in_part(conversations: Any) -> None:
    assert battle(conversations) is None
    record = {
        "question_id": "a1",
        "model_a": "m",
        "model_b": "n",
        "winner": "model_a",
        "conversation_a": conversations[0],
        "conversation_b": conversations[1],
    }
    good = {
        **record,
        "question_id": "a2",
        "conversation_a": messages_of("q", "x"),
        "conversation_b": messages_of("q", "y"),
    }
    reading = Reading([good, record])
    assert [pair.id for pair in reading] == ["a2"]
    assert "1 battles without two answers to one question" in reading.notice


def test_sides_that_say_the_same_before_their_last_replies_share_their_turns() -> None:
    sides_of_battle = [messages_of("q", "x", "p", end) for end in ("y", "z")]
    assert battle(sides_of_battle) == {
        "question": "p",
        "a": "y",
        "b": "z",
        "turns": messages_of("q", "x", "p"),
        "b_turns": None,
    }


def test_annotations_of_alpaca_eval_have_their_instruction_as_the_question() -> None:
    first, second = pairs("alpaca-annotations.json")
    assert (first.question, first.label, first.b_system) == ("Why is ice light?", "b", "mine")
    assert (second.question, second.label) == ("Summarize.\n\nIce is light.", "tie")


def test_the_answers_of_a_preference_are_its_last_turns() -> None:
    one_turn, two_turns, beside_its_prompt = pairs("ultrafeedback.jsonl")
    assert one_turn.question == "Why is ice light?"
    assert sides(one_turn) == ("It is less dense.", "It is warm.")
    assert two_turns.question == "Human: Hi\n\nAssistant: Hello.\n\nHuman: And the sea?"
    assert sides(two_turns) == ("It is salt.", "It is sweet.")
    assert beside_its_prompt.question == "Which?"
    assert sides(beside_its_prompt) == ("This.", "That.")


def test_a_text_of_hh_rlhf_is_a_conversation_and_no_answer() -> None:
    one_turn, two_turns = pairs("hh-rlhf.jsonl")
    assert one_turn.question == "Why is ice light?"
    assert sides(one_turn) == ("It is less dense.", "It is warm.")
    assert two_turns.question == (
        "Human: Hi\n\nAssistant: Hello.\n\nHuman: And the sea?\n\nIs it salt?"
    )
    assert sides(two_turns) == ("It is.", "")


@pytest.mark.parametrize(
    "value",
    [
        "plain",
        "Human: no blank line",
        "\n\nAssistant: begins",
        [],
        [1],
        [{"role": "critic", "content": "x"}],
        None,
        5,
        {"role": "user", "content": "x"},
    ],
)
def test_what_is_no_conversation_stays_what_it_is(value: Any) -> None:
    assert not is_dialogue(value)
    assert preference([None, value, value]) is None


def test_plain_texts_of_a_preference_are_read_as_they_are() -> None:
    (pair,) = Reading([{"prompt": "p", "chosen": "good answer", "rejected": "bad answer"}])
    assert isinstance(pair, Pair)
    assert sides(pair) == ("good answer", "bad answer")


TURN = st.text(st.characters(exclude_characters="\n:"), min_size=1).map(str.strip).filter(bool)


@given(st.lists(TURN, min_size=1, max_size=5).filter(lambda turns: len(turns) % 2), TURN, TURN)
def test_messages_and_the_text_of_hh_rlhf_hold_the_same(
    asked: list[str], chosen: str, rejected: str
) -> None:
    def as_text(answer: str) -> str:
        return "".join(
            f"\n\n{('Human', 'Assistant')[place % 2]}: {text}"
            for place, text in enumerate([*asked, answer])
        )

    def as_messages(answer: str) -> list[dict[str, str]]:
        return [
            {"role": ("user", "assistant")[place % 2], "content": text}
            for place, text in enumerate([*asked, answer])
        ]

    of_text = preference([None, as_text(chosen), as_text(rejected)])
    assert of_text == preference([None, as_messages(chosen), as_messages(rejected)])
    assert of_text is not None
    assert (of_text["chosen"], of_text["rejected"]) == (chosen, rejected)


@pytest.mark.parametrize("content", ["", None, []])
def test_an_empty_last_reply_of_a_battle_is_empty_and_no_earlier_reply(content: Any) -> None:
    empty = [*messages_of("q", "earlier", "p"), {"role": "assistant", "content": content}]
    answered = messages_of("q", "other", "p", "y")
    for conversations in ([empty, answered], [answered, empty]):
        exchange = battle(conversations)
        assert exchange is not None
        assert {exchange["a"], exchange["b"]} == {"", "y"}
    called = {"role": "assistant", "content": content, "tool_calls": [{"id": "1"}]}
    assert battle([[*messages_of("q", "earlier", "p"), called], answered]) is None

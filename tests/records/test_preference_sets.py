"""What the pairs of published preferences hold, beside what tests/records/test_published_sets.py holds of every set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.records import Pair
from longmark.records.preference_texts import is_dialogue, preference
from longmark.records.read import Reading

FILES = Path(__file__).parent / "published_sets"


def pairs(name: str) -> list[Pair]:
    return [pair for pair in Reading(FILES / name) if isinstance(pair, Pair)]


def sides(pair: Pair) -> tuple[str, str]:
    """The better answer and the other one."""
    return (pair.a, pair.b) if pair.label == "a" else (pair.b, pair.a)


def test_a_cell_of_the_arena_s_table_is_a_list_of_turns_and_no_text() -> None:
    first, second = pairs("arena-table.csv")
    assert (first.question, first.a, first.b) == (
        "Why is ice light?",
        "It is less dense.",
        "It is warm.",
    )
    assert (first.label, first.a_system, first.b_system) == ("a", "gpt", "koala")
    assert (second.question, second.a) == ("Name [one] of them.", '["x"]')
    assert second.label == "tie"


def test_a_vote_on_several_turns_is_not_taken_for_one_on_the_first_turn() -> None:
    # `turn` is the number of turns there, and of MT-Bench the turn that was judged.
    record: dict[str, Any] = {
        "question_id": "a1",
        "model_a": "m",
        "model_b": "n",
        "winner": "model_a",
        "turn": 3,
        "anony": False,
        "conversation_a": [
            {"role": role, "content": role} for role in ("user", "assistant", "user", "assistant")
        ],
        "conversation_b": [
            {"role": role, "content": role} for role in ("user", "assistant", "user", "assistant")
        ],
    }
    single = {
        **record,
        "conversation_a": record["conversation_a"][:2],
        "conversation_b": record["conversation_b"][:2],
        "question_id": "a2",
    }
    reading = Reading([single, record])
    assert [pair.id for pair in reading] == ["a2"]
    assert "1 conversations of several turns" in reading.notice


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

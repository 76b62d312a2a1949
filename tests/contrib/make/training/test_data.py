"""What is learnt: the answer and never the prompt; books in blocks; items that stay out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.contrib.make.training.config import Finetune
from longmark.contrib.make.training.data import (
    IGNORED,
    answered,
    blocks,
    check_apart,
    of_books,
    of_questions,
)
from longmark.errors import BadInput, UserError
from longmark.models.protocols import Message
from longmark.records.benchmark import Item, write_items

END = 0


class Characters:
    """A tokenizer whose tokens are code points; the end token is 0."""

    chat_template = "…"
    eos_token_id = END

    def apply_chat_template(self, messages: list[dict[str, str]], **_options: Any) -> str:
        return "".join(f"[{one['role']}]{one['content']}" for one in messages) + "[assistant]"

    def encode(self, text: str, **_options: Any) -> list[int]:
        return [ord(char) for char in text]


def mcq(name: str, question: str = "Which?", **fields: Any) -> Item:
    options = {"a": "one", "b": "two"}
    return Item(
        **{
            "id": name,
            "form": "mcq",
            "question": question,
            "options": options,
            "answer": "b",
            **fields,
        }
    )


def settings(folder: Path, **fields: Any) -> Finetune:
    return Finetune(
        **{"model": "hf:x", "out": folder / "out", "train": folder / "bench.jsonl", **fields}
    )


def prepared(items: list[Item], folder: Path, **fields: Any) -> Any:
    chosen = settings(folder, **fields)
    write_items(items, chosen.train)
    return of_questions(chosen.train, chosen, Characters(), "hf:x")


def test_only_the_answer_and_the_end_of_the_turn_are_learnt():
    made = answered(Characters(), [Message("user", "ab")], "cd", "hf:x")
    # [user]ab[assistant] has 6 + 2 + 11 = 19 characters; c, d and the end follow
    assert made["labels"] == [IGNORED] * 19 + [ord("c"), ord("d"), END]
    assert made["input_ids"][:19] == [ord(char) for char in "[user]ab[assistant]"]
    assert made["input_ids"][19:] == [ord("c"), ord("d"), END]


def test_an_item_is_put_as_benchmark_run_puts_it_and_its_letter_is_learnt(tmp_path: Path):
    data = prepared([mcq("1")], tmp_path)
    (one,) = data.sequences
    assert "a) one\nb) two" in "".join(map(chr, one["input_ids"]))
    assert [label for label in one["labels"] if label != IGNORED] == [ord("b"), END]
    assert data.facts["items"] == {"mcq": 1}


def test_items_that_stay_out_are_counted_with_the_reason(tmp_path: Path):
    tested = tmp_path / "gold.jsonl"
    write_items([mcq("g"), mcq("h", "Who?", parent="base")], tested)
    items = [
        mcq("g", "Other?"),  # the id of a tested item
        mcq("1", "which ?", level="base"),  # its question, but for case and spaces
        mcq("base", "How?"),  # a tested item was evolved from it
        mcq("2", "When?", parent="g"),  # evolved from a tested item
        mcq("3", "Why?", status="invalid"),
        mcq("4", "L" * 9000),
        Item(id="5", form="cloze", statement="Frost is ice.", proposals=("ice",)),
        Item(id="6", form="freeform", question="Where?", answer="Here."),
        mcq("7", "What?"),
    ]
    data = prepared(items, tmp_path, keep_out=(tested,), forms=("mcq", "cloze"))
    assert data.facts["items"] == {"mcq": 1}
    left = {
        why.split(",")[0].split(" (")[0]: count for why, count in data.facts["left_out"].items()
    }
    assert left == {
        "in keep_out or validation": 4,
        "with status invalid": 1,
        "with status draft": 1,
        "longer than 2": 1,
        "of another form": 1,
    }


def test_a_validation_set_is_not_trained_on_and_nothing_left_is_an_error(tmp_path: Path):
    write_items([mcq("1")], tmp_path / "held.jsonl")
    with pytest.raises(
        UserError, match=r"no item is left to train on\n1 item omitted: in keep_out or validation"
    ):
        prepared([mcq("1")], tmp_path, validation=tmp_path / "held.jsonl")


def chat(*messages: tuple[str, str]) -> str:
    return (
        json.dumps({"messages": [{"role": role, "content": content} for role, content in messages]})
        + "\n"
    )


def test_of_a_conversation_the_last_message_is_learnt(tmp_path: Path):
    asked = (("system", "S"), ("user", "Is it?"))
    (tmp_path / "chat.jsonl").write_text(chat(*asked, ("assistant", "VALID")), encoding="utf-8")
    data = of_questions(tmp_path / "chat.jsonl", settings(tmp_path), Characters(), "hf:x")
    (one,) = data.sequences
    assert "".join(map(chr, one["input_ids"][:-1])) == "[system]S[user]Is it?[assistant]VALID"
    assert "".join(map(chr, (label for label in one["labels"] if label > 0))) == "VALID"
    for wrong in (chat(*asked), chat(("assistant", "VALID")), '{"messages": 3}\n', "{}\n", "[]\n"):
        (tmp_path / "chat.jsonl").write_text(
            chat(*asked, ("assistant", "VALID")) + wrong, encoding="utf-8"
        )
        with pytest.raises(BadInput, match=r"chat\.jsonl:2: not a conversation"):
            of_questions(tmp_path / "chat.jsonl", settings(tmp_path), Characters(), "hf:x")


def test_books_become_blocks_with_an_end_after_each_and_the_rest_is_left_out():
    made = list(blocks(["abcd", "ef"], Characters(), 3))
    # a b c | d 0 e | f 0 is no whole block
    assert [one["input_ids"] for one in made] == [[97, 98, 99], [100, END, 101]]
    assert all(one["labels"] == one["input_ids"] for one in made)
    assert [one["input_ids"] for one in blocks(["ab"], Characters(), 9)] == [[97, 98, END]]


@given(st.lists(st.text("abc", max_size=30), max_size=6), st.integers(2, 12))
def test_blocks_lose_less_than_one_block(texts: list[str], length: int):
    every = [token for text in texts for token in [*map(ord, text), END]]
    made = [token for one in blocks(texts, Characters(), length) for token in one["input_ids"]]
    assert made == every[: len(made)]
    assert len(every) - len(made) < length


def test_a_book_in_both_folders_is_refused_whatever_its_name(tmp_path: Path):
    for name, text in (
        ("train/a.txt", "Frost is ice."),
        ("train/empty.txt", ""),
        ("test/b.txt", "Frost\nis  ice."),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    train, validation = (of_books([tmp_path / name], Characters(), 4) for name in ("train", "test"))
    assert (train.facts["tokens"], train.notes) == (12, ["empty.txt: is empty"])
    with pytest.raises(UserError, match=r"validation has b\.txt, which is a\.txt of train too"):
        check_apart(train, validation)
    with pytest.raises(UserError, match="no document has text to train on"):
        of_books([tmp_path / "train" / "empty.txt"], Characters(), 4)

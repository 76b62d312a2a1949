"""Pieces of a long text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.text.pieces import pieces, utf8_size


def test_the_best_place_for_a_cut():
    text = "A b. C d.\n\nE f g h. I j."
    assert pieces(text, 100) == [text]
    assert pieces(text, 13) == [
        "A b. C d.",
        "E f g h. I j.",
    ]  # 9 and 13 bytes: between the paragraphs
    assert pieces(text, 10) == [
        "A b. C d.",
        "E f g h.",
        "I j.",
    ]  # the second paragraph between its sentences
    assert pieces("one two three", 5) == ["one", "two", "three"]
    assert pieces("abcdefg", 3) == ["abc", "def", "g"]
    assert pieces("干旱来了。电网会停。", 15) == [
        "干旱来了。",
        "电网会停。",
    ]  # five characters of three bytes each


def test_a_blank_text_has_none():
    assert pieces("", 10) == []
    assert pieces(" \n\t ", 1) == []


def test_another_measure():
    def words(text: str) -> int:
        return len(text.split())

    assert pieces("a b c. d e. f g h i.", 5, words) == ["a b c. d e.", "f g h i."]


@given(text=st.text(st.sampled_from("ab .\n。é"), max_size=200), size=st.integers(4, 40))
def test_nothing_is_lost_and_nothing_is_too_great(text: str, size: int):
    found = pieces(text, size)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(piece and utf8_size(piece) <= size for piece in found)


@pytest.mark.parametrize(
    "text", ["." * 200_000, "\n" * 200_000 + "x", ".\n " * 70_000, "é" * 200_000, "w " * 100_000]
)
def test_hostile_texts_take_no_long_time(text: str):
    before = time.process_time()
    pieces(text, 4000)
    assert time.process_time() - before < 5

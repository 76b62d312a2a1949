"""Sentences, blocks and words of answers as language models write them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.text.blocks import blocks
from longmark.text.sentences import sentences, words

SPLIT = {
    "plain": ("One here. Two there! Three? Four", ["One here.", "Two there!", "Three?", "Four"]),
    "titles and initials": (
        "Dr. Smith met J. K. Rowling. They spoke.",
        ["Dr. Smith met J. K. Rowling.", "They spoke."],
    ),
    "decimals and units": (
        "It fell by 3.5 percent at 5 p.m. The rest followed. It cost $1.2 million.",
        ["It fell by 3.5 percent at 5 p.m.", "The rest followed.", "It cost $1.2 million."],
    ),
    "e.g. and i.e.": ("Use a tool, e.g. Word, i.e. Office. Done.", ["Use a tool, e.g. Word, i.e. Office.", "Done."]),
    "numbers of figures": ("See Fig. 3 and no. 5 below. No. Never.", ["See Fig. 3 and no. 5 below.", "No.", "Never."]),
    "et al.": ("Lee et al. 2020 and Kim et al. The rest.", ["Lee et al. 2020 and Kim et al.", "The rest."]),
    "acronyms": ("In the U.S. Army. In the U.S. The army.", ["In the U.S. Army.", "In the U.S.", "The army."]),
    "quotes": ('"Really?" he said. “Yes.” She left.', ['"Really?" he said.', "“Yes.”", "She left."]),
    "ellipsis": ("It went on... and on. Then… Silence.", ["It went on... and on.", "Then…", "Silence."]),
    "citations": ("So it is.[3] And so. (See there.) End.", ["So it is.[3]", "And so.", "(See there.)", "End."]),
    "a gap before the stop": ("It is so . Then more .", ["It is so .", "Then more ."]),
    "lower case throughout": ("it is so. then more. end", ["it is so.", "then more.", "end"]),
    "an address after the end": (
        "So it is. https://a.example/b.c And more.",
        ["So it is.", "https://a.example/b.c And more."],
    ),
    "chinese": ("这是一句。这是第二句！好吗？", ["这是一句。", "这是第二句！", "好吗？"]),
    "hindi": ("यह एक है। यह दो है।", ["यह एक है।", "यह दो है।"]),
    "list": (
        "You need:\n- flour\n- two eggs. Fresh ones\n\n1. Mix\n2) Bake",
        ["You need:", "flour", "two eggs.", "Fresh ones", "Mix", "Bake"],
    ),
    "list without marks": ("Bring:\nFlour\nSugar\nEggs", ["Bring:", "Flour", "Sugar", "Eggs"]),
    "list without line breaks": (
        "Steps are:  1. Measure it. 2. Cut it. - Glue it - **Wait** a day",
        ["Steps are:", "Measure it.", "Cut it.", "Glue it", "Wait a day"],
    ),
    "an item that was wrapped": ("- Go home\n  and rest\n- Sleep", ["Go home and rest", "Sleep"]),
    "a paragraph that was wrapped": (
        "This line was wrapped by an editor at some width and\nGoes on here. And\r\nends.",
        ["This line was wrapped by an editor at some width and Goes on here.", "And", "ends."],
    ),
    "headings and rules": ("# Plan #\nGo\n---\n## Next\nStop", ["Plan", "Go", "Next", "Stop"]),
    "table": ("| a b | c |\n|---|:-:|\n| d | |", ["a b, c", "d"]),
    "quote block": ("> Said so.\n> And so.", ["Said so.", "And so."]),
    "nothing": ("", []),
    "only marks": ("***\n- \n...\n!?", []),
}


@pytest.mark.parametrize("case", SPLIT)
def test_sentences(case: str) -> None:
    text, expected = SPLIT[case]
    assert sentences(text) == expected


def test_markdown_marks_are_gone() -> None:
    text = "**Bold** and *it* and `code` and [a link](https://a.example) and ~~old~~ __x__ ![alt](i.png) <b>y</b>[^1]"
    assert blocks(text) == ["Bold and it and code and a link and old x alt y"]
    assert blocks("snake_case_name and 2 * 3 * 4 and \\*star\\* and x < 5 > 3") == [
        "snake_case_name and 2 * 3 * 4 and *star* and x < 5 > 3"
    ]
    assert blocks("```python\nx = 1\n```\nend<br>last") == ["x = 1", "end", "last"]


def test_words() -> None:
    assert words("A well-known, don't-care 3.5 % rule—so [1, 2] they say... (https://a.example/x) “yes” & no") == [
        "A",
        "well-known,",
        "don't-care",
        "3.5",
        "rule",
        "so",
        "they",
        "say...",
        "“yes”",
        "no",
    ]


@given(st.text(max_size=300))
def test_no_word_is_lost_and_none_is_made(text: str) -> None:
    found = "".join(sentences(text))
    kept = [char for char in found if char.isalnum()]
    there = iter(char for char in text if char.isalnum())
    assert all(char in there for char in kept)  # in their order: a subsequence
    assert all(sentence == sentence.strip() and words(sentence) is not None for sentence in sentences(text))


@given(st.lists(st.sampled_from(["Rain fell.", "Who knows?", "Stop!", "We saw 3.5 km of it."]), min_size=1, max_size=9))
def test_whole_sentences_come_back(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts
    assert sentences("\n".join(f"* {part}" for part in parts)) == parts


@pytest.mark.parametrize(
    "text", [" " * 100_000 + "-", "x?! " * 25_000, "[a](" * 20_000, "*" * 100_000 + "x", "a." * 50_000]
)
def test_long_and_odd_texts_take_little_time(text: str) -> None:
    started = time.process_time()
    sentences(text)
    assert time.process_time() - started < 5  # a step that looks back over everything would take minutes

"""Sentences, blocks and words of answers as language models write them."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from longmark.text.blocks import blocks
from longmark.text.sentences import sentence_spans, sentences, words

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
    "e.g. and i.e.": (
        "Use a tool, e.g. Word, i.e. Office. Done.",
        ["Use a tool, e.g. Word, i.e. Office.", "Done."],
    ),
    "numbers of figures": (
        "See Fig. 3 and no. 5 below. No. Never.",
        ["See Fig. 3 and no. 5 below.", "No.", "Never."],
    ),
    "et al.": (
        "Lee et al. 2020 and Kim et al. The rest.",
        ["Lee et al. 2020 and Kim et al.", "The rest."],
    ),
    "acronyms": (
        "In the U.S. Army. In the U.S. The army.",
        ["In the U.S. Army.", "In the U.S.", "The army."],
    ),
    "quotes": (
        '"Really?" he said. “Yes.” She left.',
        ['"Really?" he said.', "“Yes.”", "She left."],
    ),
    "ellipsis": (
        "It went on... and on. Then… Silence.",
        ["It went on... and on.", "Then…", "Silence."],
    ),
    "citations": (
        "So it is.[3] And so. (See there.) End.",
        ["So it is.[3]", "And so.", "(See there.)", "End."],
    ),
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
    assert blocks(text) == ["Bold and it and code and a link and x alt y"]
    assert blocks("snake_case_name and 2 * 3 * 4 and \\*star\\* and x < 5 > 3") == [
        "snake_case_name and 2 * 3 * 4 and *star* and x < 5 > 3"
    ]
    assert blocks("```python\nx = 1\n```\nend<br>last") == ["x = 1", "end", "last"]


def test_words() -> None:
    assert words(
        "A well-known, don't-care 3.5 % rule—so [1, 2] they say... (https://a.example/x) “yes” & no"
    ) == [
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
    assert all(
        sentence == sentence.strip() and words(sentence) is not None for sentence in sentences(text)
    )


@given(
    st.lists(
        st.sampled_from(["Rain fell.", "Who knows?", "Stop!", "We saw 3.5 km of it."]),
        min_size=1,
        max_size=9,
    )
)
def test_whole_sentences_come_back(parts: list[str]) -> None:
    assert sentences(" ".join(parts)) == parts
    assert sentences("\n".join(f"* {part}" for part in parts)) == parts


@pytest.mark.parametrize(
    "text",
    [
        " " * 100_000 + "-",
        "x?! " * 25_000,
        "[a](" * 20_000,
        "*" * 100_000 + "x",
        "a." * 50_000,
        "." * 100_000 + "x",
        "~~ x " * 30_000,
        "<sup>1" * 20_000,
        "<del>" * 20_000,
        "1. A " * 20_000,
        "[1" * 50_000,
        ".[1,2" * 20_000,
    ],
)
def test_long_and_odd_texts_take_little_time(text: str) -> None:
    started = time.process_time()
    sentences(text)
    assert (
        time.process_time() - started < 5
    )  # a step that looks back over everything would take minutes


TABLE = [
    line.split("\t")
    for line in (Path(__file__).parents[1] / "data" / "sentence-ends.txt")
    .read_text(encoding="utf-8")
    .splitlines()
    if line and not line.startswith("#")
]
NOT_YET = 3
"""Texts of the unseen half of which an end is wrong (design/sentences.md). No rule was made for them."""


def ends_of(parts: Sequence[str]) -> list[int]:
    """Where parts of a text end, in characters that are no white space."""
    return list(accumulate(len("".join(part.split())) for part in parts))


@pytest.mark.parametrize("marked", [text for _, text in TABLE[::2]])
def test_sentences_end_where_a_person_says(marked: str) -> None:
    parts = marked.split("|")
    assert ends_of(sentences("".join(parts))) == ends_of(parts)
    text = "".join(parts)
    assert ends_of([text[start:end] for start, end in sentence_spans(text)]) == ends_of(parts)


def test_sentences_end_where_a_person_says_in_texts_that_the_rules_were_made_without() -> None:
    unseen = [text.split("|") for _, text in TABLE[1::2]]
    wrong = [parts for parts in unseen if ends_of(sentences("".join(parts))) != ends_of(parts)]
    assert (len(unseen), len(wrong)) == (98, NOT_YET)


LOST = {
    "a year": "Vesuvius erupted in A.D. 79. The city was buried.",
    "a figure": "The map is in Fig. 2. It shows the ice.",
    "a count": "The number of gates is: 42. They close at night.",
    "a day": "It rained on Jan. 5. The gate closed. It rained on Jan. 6. The gate opened.",
    "a number": "The winner is No. 7. She ran fast.",
    "a year in the next line": "Vesuvius, which is a volcano near Naples, erupted in A.D.\n79. The city was buried.",
    "an answer that is a number": "42. The rest is not known.",
    "a German date": "1. Januar 1990 war ein Montag.",
}


@pytest.mark.parametrize("case", LOST)
def test_a_number_that_counts_no_items_of_a_list_is_kept(case: str) -> None:
    text = LOST[case]
    assert " ".join(sentences(text)).split() == text.split()


def test_numbers_that_count_the_items_of_a_list_are_its_marks() -> None:
    assert sentences("1. Measure it. 2. Cut it. 3. Glue it.") == [
        "Measure it.",
        "Cut it.",
        "Glue it.",
    ]
    assert sentences("Steps: 1. Measure it. 2. Cut it.") == ["Steps:", "Measure it.", "Cut it."]
    assert sentences("1. Mix\n1. Bake\n1. Eat") == [
        "Mix",
        "Bake",
        "Eat",
    ]  # Markdown counts them itself
    assert sentences("3. Mix\n\nWith care.\n\n4. Bake") == ["Mix", "With care.", "Bake"]


WORDS = st.sampled_from(
    [
        "Ice",
        "79",
        "°C",
        "A.D.",
        "Fig.",
        "3.",
        "12.",
        "[2]",
        "(4)",
        "No.",
        "z.",
        "B.",
        "K",
        "5",
        "km/h",
        "1990.",
        "Am",
    ]
)


@given(st.lists(WORDS, min_size=1, max_size=12))
@example(["1990.", "3.", "Ice", "3.", "(4)", "Ice"])
def test_no_word_of_a_line_is_lost_but_the_marks_of_a_list(parts: list[str]) -> None:
    text = "So " + " ".join(parts)
    kept = Counter(" ".join(sentences(text)).split())
    marks = Counter(
        part for part in parts if re.fullmatch(r"\d+\.|\(\d+\)", part)
    )  # they may count up: 3. (4)
    assert Counter(text.split()) - kept <= marks
    single = "So " + " ".join(part for part in parts if not re.fullmatch(r"\d+\.", part))
    assert "".join(sentences(single)).replace(" ", "") == single.replace(" ", "")


RAISED = {
    "The sheet covers 14 × 10<sup>6</sup> km<sup>2</sup>.": "The sheet covers 14 × 10⁶ km².",
    "CO<sub>2</sub> and H<sub>2</sub>O rise.": "CO₂ and H₂O rise.",
    "The gate opened in 1953.<sup>2</sup> It is old.": "The gate opened in 1953.[2]|It is old.",
    'It opened in 1953<sup><a href="#n2">2</a></sup> for good.': "It opened in 1953[2] for good.",
    "On the 19<sup>th</sup> of May e<sup>kx</sup> and v<sub>max</sub> grew.": "On the 19th of May e^kx and v_max grew.",
    "It is 10<sup>-3</sup> or x<sup>a+b</sup>.": "It is 10⁻³ or x^(a+b).",
    "A tag that is open: 10<sup>6.": "A tag that is open: 10^6.",
    "The fee is <del>300</del><ins>400</ins> euros.": "The fee is 400 euros.",
    "The fee is ~~300~~ 400 euros.": "The fee is 400 euros.",
    "From ~5 to ~10 and a~~b.": "From ~5 to ~10 and ab.",
}


@pytest.mark.parametrize("text", RAISED)
def test_a_superscript_is_no_digit_and_what_is_struck_out_is_not_read(text: str) -> None:
    assert sentences(text) == RAISED[text].split("|")


MODEL_MARKS = {
    "<s> The limit is 600 requests. A link is valid.</s>": "The limit is 600 requests.|A link is valid.",
    "<s>One line.\n\nAnother one.</s>": "One line.|Another one.",
    "<s> The first turn.</s><s> The second.</s>\n": "The first turn.|The second.",
    "The limit is 600.</s>": "The limit is 600.",
    "<s>The limit is 600.": "The limit is 600.",
    "<s>400</s> 500 euros are due.": "500 euros are due.",
    "The fee is now <s>$9</s> $7.": "The fee is now $7.",
}


@pytest.mark.parametrize("text", MODEL_MARKS)
def test_the_marks_of_a_model_around_an_answer_do_not_strike_it_out(text: str) -> None:
    """Llama and its kin begin a sequence with <s> and end it with </s>, which HTML has for text that is struck out."""
    assert sentences(text) == MODEL_MARKS[text].split("|")


PARTS = {
    "See Suppl. Fig. 3. It is clear.": "See Suppl. Fig. 3.|It is clear.",
    "See Supp. Table 2. It is clear.": "See Supp. Table 2.|It is clear.",
    "See Suppl. Tab. S3. It is clear.": "See Suppl. Tab. S3.|It is clear.",
    "It is in App. B. The end.": "It is in App. B.|The end.",
    "It is in App. A and in App. A.2. The end.": "It is in App. A and in App. A.2.|The end.",
    "See Ex. 4 and Prop. 2. They hold.": "See Ex. 4 and Prop. 2.|They hold.",
    "Siehe Kap. IV und Anh. B. Der Rest folgt.": "Siehe Kap. IV und Anh. B.|Der Rest folgt.",
    "By Art. II of it. It holds.": "By Art. II of it.|It holds.",
    "He studied art. I like it.": "He studied art.|I like it.",
    "I use this app. Google made it.": "I use this app.|Google made it.",
    "She said no. V stands for victory.": "She said no.|V stands for victory.",
    "It was a prop. A man came.": "It was a prop.|A man came.",
}


@pytest.mark.parametrize("text", PARTS)
def test_the_number_or_letter_of_a_part_belongs_to_its_abbreviation(text: str) -> None:
    assert sentences(text) == PARTS[text].split("|")


SHORT_GERMAN = {
    "Am 3. März kam er. Es regnete.": "Am 3. März kam er.|Es regnete.",
    "Er kam am 24. Dezember an. Es schneite.": "Er kam am 24. Dezember an.|Es schneite.",
    "She turned 21. March came early.": "She turned 21.|March came early.",
    "Dr. med. Meier kam. Er ging.": "Dr. med. Meier kam.|Er ging.",
    "Prof. Dr. rer. nat. Meier kam. Er ging.": "Prof. Dr. rer. nat. Meier kam.|Er ging.",
    "Sie ist Dr. h. c. der Charité. Er ist es nicht.": "Sie ist Dr. h. c. der Charité.|Er ist es nicht.",
    "He sailed on the Med. Meier stayed.": "He sailed on the Med.|Meier stayed.",
}


@pytest.mark.parametrize("text", SHORT_GERMAN)
def test_german_days_and_titles_end_no_sentence_though_the_text_is_too_short_to_tell_its_language(
    text: str,
) -> None:
    assert sentences(text) == SHORT_GERMAN[text].split("|")

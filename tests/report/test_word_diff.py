"""Which words of two answers differ."""

import random

import pytest

from longmark.report.word_diff import WordDiff, word_diff


def marked(difference: WordDiff) -> tuple[list[str], list[str]]:
    """The marked parts of the old and of the new answer."""
    old, new = (
        [piece.text.strip() for piece in pieces if piece.differs]
        for pieces in (difference.old, difference.new)
    )
    return old, new


def test_words_that_were_taken_out_and_put_in_are_marked_each_in_its_answer():
    difference = word_diff(
        "The river rises in spring when the snow melts.",
        "The river rises fast in spring when snow melts.",
    )
    assert marked(difference) == (["the"], ["fast"])
    assert difference.reason == ""


def test_the_pieces_are_the_whole_answer_with_its_white_space():
    old = "  Two lines,\n\n- a list\n- of  two \n"
    new = "Two lines,\n\n- a list\n- of three\n"
    difference = word_diff(old, new)
    assert "".join(piece.text for piece in difference.old) == old
    assert "".join(piece.text for piece in difference.new) == new
    assert marked(difference) == (["two"], ["three"])


def test_a_word_in_common_between_two_that_differ_is_marked_with_them():
    # "and" alone stands in both, between words that all differ
    difference = word_diff(
        "It is said that dams and levees help those who live there",
        "It is said that sluices and gates help those who live there",
    )
    assert marked(difference) == (["dams and levees"], ["sluices and gates"])


def test_answers_with_little_in_common_are_not_marked_and_say_so():
    # 2 of 10 words, "a" and "dam": 2 * 2 / (5 + 5) = 40 % is enough; 1 of 10 is 20 %
    assert word_diff("a dam holds back water", "a dam can break suddenly").reason == ""
    difference = word_diff("one dam holds back water", "a dam can break suddenly")
    assert marked(difference) == ([], [])
    assert difference.reason == "20 % of the words are in common, too few to mark the others"


def test_equal_answers_have_no_marks_and_say_so():
    assert word_diff("the same", "the  same").reason == "both answers have the same words"


@pytest.mark.parametrize(
    "vocabulary", [["again"], [f"word{i}" for i in range(50)]], ids=["a loop", "few words"]
)
def test_answers_of_sixty_thousand_words_are_left_out_at_once(vocabulary: list[str]):
    chance = random.Random(1)
    old, new = (" ".join(chance.choices(vocabulary, k=60_000)) + end for end in (" a", " b"))
    difference = word_diff(old, new)
    assert difference.reason == "60,001 words and 60,001 are too many to compare"
    assert "".join(piece.text for piece in difference.new) == new


def test_answers_of_sixty_thousand_words_that_are_nearly_all_unlike_are_compared():
    old = " ".join(f"word{i}" for i in range(60_000))
    assert marked(word_diff(old, old.replace("word77 ", "dam "))) == (["word77"], ["dam"])

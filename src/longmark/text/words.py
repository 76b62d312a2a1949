"""The words of a text, in any script: one definition for BM25, overlap, the tokenizer `unicode`, studies and audits.

A word is a run of letters and digits with the marks that belong to them (Unicode's L, N, Mn and Mc): the vowel signs of
Indic scripts and the vowel points of Arabic and Hebrew are parts of words. Characters that are not seen, such as soft
hyphens, are no part of a text. Words are compared without case, in normal form KC (`records.same.caseless`).

Scripts that put no spaces between words (Han, kana, Thai, Lao, Khmer, Burmese) are not divided into words: a run of
them gives its pairs of adjacent characters, or its characters. A character has its marks with it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from longmark.records.same import caseless, visible

WORDS_VERSION = 2
"""Of the definition. It stands in what is kept of words, such as an index of BM25."""

Undivided = Literal["pairs", "characters"]

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_NO_SPACES = r"[\p{Han}\p{Hiragana}\p{Katakana}\u30fc\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
_MARKS = r"[\p{Mn}\p{Mc}]"
_UNSEEN = r"\p{Default_Ignorable_Code_Point}"
# Characters that normal form KC joins to what stands before them, though they are no part of its word: 10⁶ is not 106,
# 1½ is not 11/2, people³ has the mark of a note. A small number below belongs to its word: H₂O, CO₂.
_RAISED = "\u00b2\u00b3\u00b9\u2070\u2074-\u2079"
_SIGNS = {"\u2120": " ", "\u2122": " ", "\u2116": "no "}


class Span(NamedTuple):
    """Where a word stands in a text. spaced: its script puts spaces between words; False: it is a run of words."""

    start: int
    end: int
    spaced: bool = True


class _Patterns(NamedTuple):
    word: Any
    spans: Any
    hyphenated: Any
    no_spaces: Any
    hangul: Any
    character: Any
    parted: Any


@cache
def _patterns() -> _Patterns:
    import regex  # not at the top: it takes some time to load, and ASCII texts do not need it

    compile = regex.compile
    base = rf"[[\p{{L}}\p{{N}}]&&{_NO_SPACES}]"
    run = rf"{base}(?:{base}|{_MARKS})*"
    letter = rf"[[\p{{L}}\p{{N}}]--{_NO_SPACES}]"
    word = rf"{letter}(?:{letter}|{_MARKS})*"
    visible = rf"{letter}(?:{_UNSEEN}*(?:{letter}|{_MARKS}))*"
    shown_run = rf"(?P<run>{base}(?:{_UNSEEN}*(?:{base}|{_MARKS}))*)"
    return _Patterns(
        word=compile(rf"(?V1){run}|{word}"),
        spans=compile(rf"(?V1){shown_run}|{visible}"),
        hyphenated=compile(rf"(?V1){shown_run}|{visible}(?:[-'’.·]{_UNSEEN}*{visible})*"),
        no_spaces=compile(rf"(?V1){_NO_SPACES}"),
        hangul=compile(r"(?V1)\p{Hangul}+"),
        character=compile(rf"(?V1).{_MARKS}*"),
        parted=compile(
            rf"(?V1)(?<=\p{{Nd}})(?=[\p{{No}}--[\u2080-\u2089]])|(?<=\p{{L}}{{3}})(?=[{_RAISED}])"
        ),
    )


def folded(text: str) -> str:
    """A text as its words are compared: `compatible`, without case."""
    return text.lower() if text.isascii() else _am(caseless(_parted(text), "NFKC"))


def compatible(text: str) -> str:
    """A text in normal form KC without characters that are not seen; 10⁶ does not become 106."""
    return text if text.isascii() else _am(unicodedata.normalize("NFKC", visible(_parted(text))))


def _parted(text: str) -> str:
    text = unicodedata.normalize(
        "NFC", text
    )  # a letter and its accents are one sign before a raised number is parted
    for sign, words_of_sign in _SIGNS.items():
        text = text.replace(sign, words_of_sign)
    return str(_patterns().parted.sub(" ", text))


def _am(text: str) -> str:
    """Normal form KC takes the Thai and Lao vowel am apart; it is one letter."""
    return text.replace("\u0e4d\u0e32", "\u0e33").replace("\u0ecd\u0eb2", "\u0eb3")


def words(text: str, undivided: Undivided = "pairs") -> list[str]:
    """The words of a text in their order, folded, each as often as it occurs.

    undivided: what a run without spaces gives. pairs: its pairs of adjacent characters, or the one that it has; Korean
    words give pairs, too, since particles are written at their ends (as in Lucene's analyzer of CJK). characters: each
    by itself; Korean words stay whole.
    """
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return [
        part for word in _patterns().word.findall(folded(text)) for part in _parts(word, undivided)
    ]


def _parts(word: str, undivided: Undivided) -> Iterator[str]:
    patterns = _patterns()
    if word.isascii():
        yield word
    elif patterns.no_spaces.match(word):
        yield from _of_run(word, undivided)
    elif undivided == "pairs" and patterns.hangul.search(word):
        at = 0
        for syllables in patterns.hangul.finditer(word):
            if at < syllables.start():
                yield word[at : syllables.start()]
            yield from _of_run(syllables[0], undivided)
            at = syllables.end()
        if at < len(word):
            yield word[at:]
    else:
        yield word


def _of_run(run: str, undivided: Undivided) -> list[str]:
    characters: list[str] = _patterns().character.findall(run)
    if undivided == "characters" or len(characters) == 1:
        return characters
    return [first + second for first, second in pairwise(characters)]


def word_spans(text: str, joined: bool = False) -> Iterator[Span]:
    """Where the words stand in a text as it is written. joined: words that a hyphen, an apostrophe or a full stop joins
    are one (`well-known`, `don't`, `3.5`). A run of a script without spaces is one span, with `spaced` False."""
    patterns = _patterns()
    for match in (patterns.hyphenated if joined else patterns.spans).finditer(text):
        yield Span(match.start(), match.end(), match["run"] is None)


MOST_UNREAD = 0.05
"""The share of a text's words that a way of counting may lose or cut before its figure says nothing of the text."""


def unread_share(text: str, reads: Callable[[str, bool], bool]) -> float:
    """The share of a text's words that something does not read; 0 for a text without words. reads: (a word as it is
    written, whether its script puts spaces between words) -> it is read as a word. Each letter of a script without
    spaces counts as a word."""
    read = unread = 0
    for start, end, spaced in word_spans(text):
        word = text[start:end]
        count = 1 if spaced else without_spaces(word)
        if reads(word, spaced):
            read += count
        else:
            unread += count
    return unread / (read + unread) if unread else 0.0


def without_spaces(text: str) -> int:
    """How many letters of a text are of scripts that put no spaces between words."""
    return 0 if text.isascii() else len(_patterns().no_spaces.findall(text))


def in_pairs(text: str) -> bool:
    """Whether a text has letters whose runs give pairs: of a script without spaces between words, or Korean."""
    return not text.isascii() and bool(
        _patterns().no_spaces.search(text) or _patterns().hangul.search(text)
    )


def is_mark(char: str) -> bool:
    """Whether a character is a mark, which belongs to the letter before it."""
    return unicodedata.category(char).startswith("M")


def in_word(char: str) -> bool:
    """Whether a character is a letter, a digit or a mark."""
    return char.isalnum() or is_mark(char)


def between_words(text: str, place: int) -> bool:
    """Whether a word can begin or end at a place of a text. A mark belongs to the letter before it; between letters of
    a script without spaces, and of Korean, a word can end anywhere."""
    if not 0 < place < len(text):
        return True
    before = text[place - 1]
    after = text[place]
    if is_mark(after):
        return False
    return not (in_word(before) and in_word(after)) or in_pairs(before) or in_pairs(after)

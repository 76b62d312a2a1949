"""The sentences of an answer, and their words.

Made for answers of language models: list items, headings and table rows are sentences, with or without a full stop.
It knows abbreviations, units, initials, ordinals and citations of twelve languages, and the full stops of Chinese,
Japanese, Hindi, Arabic, Urdu, Khmer, Burmese, Armenian and Amharic; Thai and Lao have none, and a citation ends a sentence
there (design/sentences.md: its ends beside those of libraries). Where it doubts, it does not divide: half a sentence says
something else, two sentences together say what they say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from longmark.text.abbreviations import abbreviation
from longmark.text.blocks import blocks, prose
from longmark.text.language import function_words, likeliest_language
from longmark.text.local_abbreviations import (
    CYRILLIC_STARTERS,
    MONTHS,
    NAME_PARTICLES,
    ORDINALS,
    STARTERS,
    word_set,
)

CITATION = re.compile(
    r"\[\^?(?:doc(?:ument)?|source|ref)?\.?\s?\d+(?:\s*[,;–-]\s*\d+)*\]|【\d+(?:[:†][^【】\n]{0,40})?】",
    re.IGNORECASE,
)
"""A citation mark: [1], [2, 3], [^1], [Doc 1], 【1†source】."""

_CLOSERS = r"[)\]}\"'”’»›」』）】》〉]"
_HAN = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_THAI_LAO = "\u0e01-\u0edf"  # scripts without full stops: a citation ends a sentence
_CITED = rf"(?:\s?(?!\[0)(?:{CITATION.pattern})(?![^\W{_HAN}]))*[¹²³⁰-⁹]*"


@cache
def _ends() -> re.Pattern[str]:
    """What may end a sentence. Compiled at first use: that takes longer than the import of most modules, and every run
    imports this one."""
    return re.compile(
        rf"(?P<latin>(?<![.!?…])[.!?…]+)(?:{_CLOSERS}|[“‘«‹]|[ \u00a0\u202f]»)*{_CITED}(?:\s+|$)"
        rf"|(?P<full>(?!។ល។)(?<!។ល)[。！？｡।॥؟۔։።។៕။]+)(?P<closers>{_CLOSERS}*){_CITED}\s*"
        rf"|(?P<cited>(?<=[{_THAI_LAO}])(?:\s?(?:{CITATION.pattern}))+\s+(?=[{_THAI_LAO}]))"
        rf"|(?P<between>(?<=[{_HAN}])(?:\.|[!?]+)(?=[{_HAN}]))",
        re.IGNORECASE,
    )


_OPENERS = "([{\"'“‘«‹„»›「『（*_-–—"
_GAPS = " \u00a0\u202f"  # behind an opening dash or « of French
_NEXT_WORD = re.compile(r"[^\W\d_]+")
_NUMBER_BEFORE = re.compile(r"(?<![\w.,])(?:\d{1,2}|[IVX]{1,5})$")
_SPOKEN = re.compile(
    r"[^，。：！？“”「」『』]{0,8}[道说說问問喊叫答][，。：]|(?:と|って)(?=[^、。])"
)
"""Who said it: “走吧！”他喊道。 「行こう。」と言った。"""

_STARTERS = word_set(
    "a according after all also although an and another any as at because both but by can consider despite do does "
    "during each every finally first for from furthermore generally given he her here his how however i if in instead "
    "is it its later many meanwhile moreover most my no not of on once one only or other our over overall people "
    "please research second several she similarly since so some such that the their then there therefore these they "
    "this those though through thus to today under unlike until use we what when where whether which while who why "
    "with without yes you your everyone neither nobody none nothing others"
)
_AFTER_HOURS = word_set("monday tuesday wednesday thursday friday saturday sunday")  # 5 p.m. Monday
_GERMAN_STARTERS = word_set(
    "aber alle allerdings als also am an andere auch auf aus außerdem bei bis da dabei daher damit danach dann darum "
    "das dass davor dazu dem den denn dennoch der des deshalb deswegen die dies diese dieser dieses doch dort durch "
    "ein eine einem einen einer einige er erst es etwa euer ferner früher für gegen gestern heute hier ich ihr ihre im "
    "in insgesamt ja jede jeder jedes jedoch jemand jetzt kein keine keiner man manche mehrere mein meine mit morgen "
    "nach nachdem nein nicht nichts nie niemand noch nun nur ob obwohl oder ohne schließlich schon sein seine seit sie "
    "so sogar später trotzdem über um und unser unter viele von vor wann warum was weder weil welche wenn wer wie wir "
    "wo während zu zudem zuerst zuletzt zum zunächst zur"
)
_BETWEEN_WORDS = re.compile(r"[\s—―…]+|-{2,}")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://|www\.", re.IGNORECASE)
_ADDRESSES = re.compile(r"(?:[<(\[]?(?:[a-z][a-z0-9+.-]{1,20}://|www\.)\S+\s*)+", re.IGNORECASE)
_LINE = re.compile(r"[^\n]+")
_TABLE_ROW = re.compile(r"\s*\|.*\|\s*")
_TABLE_RULE = re.compile(r"[\s|:-]*")
_SIGN = 8  # characters before a sentence in its line that are the sign of a list item
_IN_SIGHT = (
    60  # characters on each side of a punctuation mark that decide whether it ends a sentence
)


def sentences(text: str) -> list[str]:
    """The sentences of a text in their order, without Markdown syntax; only those with a letter or a digit."""
    language = likeliest_language(text)
    return [block[start:end] for block in blocks(text) for start, end in _spans(block, language)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of paragraphs and list items stand in a text, (start, end) in characters, with their Markdown
    and the line breaks inside them. Headings, table rows and blocks of code have none."""
    language = likeliest_language(text)
    return [
        (at + start, at + end)
        for at, to in prose(text)
        for start, end in _spans(text[at:to], language)
    ]


def parted(text: str) -> list[tuple[int, int]]:
    """The parts that make up a text, (start, end) in characters: the sentences of `sentence_spans`, each with the sign
    of its list item, and what stands between them (a heading, a row of a table, a block of code). White space at the ends
    of a part belongs to none."""
    cuts = [0]
    for start, end in sentence_spans(text):
        line = max(text.rfind("\n", 0, start) + 1, cuts[-1])
        cuts += [line if start - line <= _SIGN else start, end]
    parts = []
    between = [row for part in pairwise([*cuts, len(text)]) for row in _rows(text, *part)]
    for start, end in between:
        if words_in_part := text[start:end].strip():
            first = text.index(words_in_part, start)
            parts.append((first, first + len(words_in_part)))
    return parts


def _rows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A part of a text, cut before each row of a table in it and behind the last one. The line of dashes belongs to the
    row above it."""
    cuts = [start]
    behind_row = False
    for line in _LINE.finditer(text, start, end):
        is_row = _TABLE_ROW.fullmatch(line[0]) is not None
        is_rule = is_row and _TABLE_RULE.fullmatch(line[0]) is not None
        if (is_row and not is_rule) or (behind_row and not is_row):
            cuts.append(line.start())
        behind_row = is_row
    yield from pairwise([*cuts, end])


def _spans(block: str, language: str) -> Iterator[tuple[int, int]]:
    caseless = block == block.lower()
    cuts = [0]
    for mark in _ends().finditer(block):
        if _cuts(block, cuts[-1], mark, caseless, language):
            cuts.append(mark.end())
    for start, stop in zip(cuts, (*cuts[1:], len(block)), strict=True):
        sentence = block[start:stop].strip()
        if _has_word(sentence):
            first = start + block[start:stop].index(sentence)
            yield first, first + len(sentence)


def words(sentence: str) -> list[str]:
    """The words of a sentence: the texts between white space or dashes that have a letter or a digit.

    `well-known`, `don't` and `3.5` are one word each (as Flesch 1948 counts); web addresses and citation marks are not
    words.
    """
    texts = _BETWEEN_WORDS.split(CITATION.sub(" ", sentence))
    return [word for word in texts if _has_word(word) and not _ADDRESS.search(word)]


@cache
def _starters(language: str) -> frozenset[str]:
    """Words that often begin a sentence, in English and the text's language."""
    if language == "de":
        return _STARTERS | _GERMAN_STARTERS
    if language in STARTERS:
        return _STARTERS | STARTERS[language] | function_words(language)
    return _STARTERS


def _has_word(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _cuts(block: str, start: int, mark: re.Match[str], caseless: bool, language: str) -> bool:
    if mark["between"] or mark["cited"]:
        return True
    if mark["full"]:
        return _is_full_end(block, start, mark)
    return _is_end(block, start, mark, caseless, language)


def _is_full_end(block: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a full stop of Chinese, Hindi, … ends the sentence. One inside brackets or quotation marks does not where
    the sentence goes on around them: `他（她？）来了。`, `“走吧！”他喊道。`"""
    before = block[start : mark.start()]
    after = block[mark.end() : mark.end() + _IN_SIGHT]
    closers = mark["closers"]
    if "》" in closers or "〉" in closers:
        return False  # of a title: 《你好吗？》是一本书。
    for opening, closing in ("（）", "【】"):
        if closing in closers:
            return not before[: before.rfind(opening)].strip() if opening in before else True
    for opening, closing in ("“”", "「」", "『』"):
        if closing in closers:
            return not _SPOKEN.match(after)
        if before.count(opening) > before.count(closing) and closing in after:
            return False
    return True


def _is_end(block: str, start: int, mark: re.Match[str], caseless: bool, language: str) -> bool:
    """Whether a mark ends the sentence that begins at `start`. Web addresses that follow it do not count."""
    skipped = _ADDRESSES.match(block, mark.end())
    position = skipped.end() if skipped else mark.end()
    after = block[position : position + _IN_SIGHT].lstrip(_OPENERS + _GAPS)
    if not after:
        return True
    word = _NEXT_WORD.match(after)
    following = word[0] if word else ""
    lower = after[0].islower() and not any(
        char.isupper() for char in following[1:3]
    )  # iPhone, pH, mRNA
    if mark["latin"] == ".":
        before = block[max(start, mark.start() - _IN_SIGHT) : mark.start()]
        folded = following.lower()
        starter = folded in _starters(language) or folded in CYRILLIC_STARTERS
        if number := _NUMBER_BEFORE.search(before):
            if not _has_word(before[: number.start()]) and number[0].isdigit():
                return False  # the number of a list item
            if number[0].isdigit() and folded in MONTHS:
                return False
            ordinal = language == "de" or (language in ORDINALS and number[0].isdigit())
            if ordinal and (after[0].isdigit() or (after[0].isupper() and not starter)):
                return False  # an ordinal: am 3. Oktober, Karl V. Nachfolger, 2. Dünya Savaşı
        kind = abbreviation(before, language, following, after)
        if kind == "never":
            return False
        if kind == "numbered":
            return not after[0].isdigit() and (caseless or not lower)
        if kind == "hours":
            return (
                after[0].isupper()
                and following.lower() not in _AFTER_HOURS
                and not following[1:].isupper()
            )
        if kind == "initial" and language not in ("en", "de") and folded in NAME_PARTICLES:
            return False  # J. de la Cruz, A. Da Silva
        if kind in ("names", "initial"):
            return bool(after[0].isupper() and starter)
    return caseless or not lower

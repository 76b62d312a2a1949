"""The sentences of an answer, and their words.

Made for answers of language models: list items, headings and table rows are sentences, with or without a full stop.
It knows English abbreviations, and the full stops of Chinese, Japanese, Hindi, Arabic and Urdu.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from longmark.text.blocks import blocks, prose


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_CLOSERS = r"[)\]}\"'”’»›」』）]*"
_END = re.compile(rf"(?P<latin>[.!?…]+){_CLOSERS}(?:\[[\d,;–\- ]+\])*(?:\s+|$)|(?P<full>[。！？｡।॥؟۔]+){_CLOSERS}\s*")
_LAST_WORD = re.compile(r"[^\W\d_](?:[\w.'’-]*\w)?$")
_OPENERS = "([{\"'“‘«‹「『（*_-–—"
_DOTTED = re.compile(r"[^\W\d_](?:\.[^\W\d_]{1,3})+$")
_NEXT_WORD = re.compile(r"[^\W\d_]+")

_NEVER_LAST = _set(
    "mr mrs ms mx dr drs prof hon gen gov sen capt sgt lt maj cmdr e.g i.e eg ie vs v cf viz approx ca fig figs eq eqs "
    "vol vols pp ed eds esp incl resp w.r.t a.k.a"
)
_NUMBERED = _set("no nos p art sec ch ref refs col pt app")
_BEFORE_NAMES = _set("al inc ltd co corp jr sr st ave dept univ jan feb mar apr jun jul aug sep sept oct nov dec")
_STARTERS = _set(
    "a according after all also although an and another any as at because both but by can consider despite do does "
    "during each every finally first for from furthermore generally given he her here his how however i if in instead "
    "is it its later many meanwhile moreover most my no not of on once one only or other our over overall people "
    "please research second several she similarly since so some such that the their then there therefore these they "
    "this those though through thus to today under unlike until use we what when where whether which while who why "
    "with without yes you your"
)

CITATION = re.compile(r"\[\d+(?:\s*[,;–-]\s*\d+)*\]")
_BETWEEN_WORDS = re.compile(r"[\s—―…]+|-{2,}")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://|www\.", re.IGNORECASE)
_ADDRESSES = re.compile(r"(?:[<(\[]?(?:[a-z][a-z0-9+.-]{1,20}://|www\.)\S+\s*)+", re.IGNORECASE)
_IN_SIGHT = 60  # characters on each side of a punctuation mark that decide whether it ends a sentence


def sentences(text: str) -> list[str]:
    """The sentences of a text in their order, without Markdown syntax; only those with a letter or a digit."""
    return [sentence for block in blocks(text) for sentence in split_block(block)]


def split_block(block: str) -> list[str]:
    """The sentences of one paragraph, heading or list item."""
    return [block[start:end] for start, end in _spans(block)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of paragraphs and list items stand in a text, (start, end) in characters, with their Markdown
    and the line breaks inside them. Headings, table rows and blocks of code have none."""
    return [(at + start, at + end) for at, to in prose(text) for start, end in _spans(text[at:to])]


def _spans(block: str) -> Iterator[tuple[int, int]]:
    caseless = block == block.lower()
    cuts = [0]
    for end in _END.finditer(block):
        if end["full"] or _is_end(block, cuts[-1], end, caseless):
            cuts.append(end.end())
    for start, stop in zip(cuts, (*cuts[1:], len(block)), strict=True):
        sentence = block[start:stop].strip()
        if _has_word(sentence):
            first = start + block[start:stop].index(sentence)
            yield first, first + len(sentence)


def words(sentence: str) -> list[str]:
    """The words of a sentence: the texts between white space or dashes that have a letter or a digit.

    `well-known`, `don't` and `3.5` are one word each (as Flesch 1948 counts); web addresses and bracketed citation
    numbers are not words.
    """
    found = _BETWEEN_WORDS.split(CITATION.sub(" ", sentence))
    return [word for word in found if _has_word(word) and not _ADDRESS.search(word)]


def _has_word(text: str) -> bool:
    return any(char.isalnum() for char in text)


def _is_end(block: str, start: int, mark: re.Match[str], caseless: bool) -> bool:
    """Whether a mark ends the sentence that begins at `start`. Web addresses that follow it do not count."""
    skipped = _ADDRESSES.match(block, mark.end())
    position = skipped.end() if skipped else mark.end()
    after = block[position : position + _IN_SIGHT].lstrip(_OPENERS)
    if not after:
        return True
    if mark["latin"] == "." and (kind := _abbreviation(block[max(start, mark.start() - _IN_SIGHT) : mark.start()])):
        if kind == "never":
            return False
        if kind == "numbered":
            return not after[0].isdigit()
        word = _NEXT_WORD.match(after)
        return bool(word and after[0].isupper() and word[0].lower() in _STARTERS)
    return caseless or not after[0].islower()


def _abbreviation(before: str) -> str:
    """What the word before a full stop is: `never` (ends no sentence), `numbered` (ends none before a number),
    `names` (ends one only before a word that often starts one), or "" for a common word."""
    match = _LAST_WORD.search(before)
    if not match:
        return ""
    word = match[0]
    folded = word.lower()
    if folded in _NEVER_LAST:
        return "never"
    if folded in _NUMBERED:
        return "numbered"
    if folded in _BEFORE_NAMES or _DOTTED.match(word) or (len(word) == 1 and word.isupper()):
        return "names"
    return ""

"""Quotations of an answer, and where its sources have them, word for word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from longmark.metrics.citations._sources import CitableSource
from longmark.records.same import canonical
from longmark.text.block_quotes import BLOCK_LINE, attribution_of
from longmark.text.citation_lists import fenced
from longmark.text.numerals import european
from longmark.text.words import without_spaces

LEAST_WORDS = (
    4  # of a quotation; fewer in quotation marks are a name, a title or a word that is held off
)
LEAST_CHARACTERS = 8  # in scripts without spaces between words: 「三国演義」 is a title, too
_MOST_CELLS = 2_000_000  # of the table of an edit distance, about a second

_QUOTED = re.compile(
    r"“([^“”\n]+)”|„([^„“”\n]+)[“”]|«([^«»\n]+)»|»([^«»\n]+)«"
    r"|「([^「」\n]+)」|『([^『』\n]+)』|(?<!\d)”([^“”\n]+)”|\"([^\"\n]+)\""
)
"""“…”, „…“, «…», »…« (German, Danish), 「…」, 『…』, ”…” (Swedish, Finnish), "…"; not '…', which is an apostrophe, too."""
_CALL_OUT = re.compile(r"\[!\w+\]|(\*\*|__)[^*_\n]{1,40}[:：]\1|(\*\*|__)[^*_\n]{1,40}\2[:：]")
_LEFT_OUT = re.compile(r"\s*[\[(]?(?:…|\.(?: ?\.){2,})[\])]?\s*|\s*\[[^\]\n]{0,80}\]\s*")
_CHANGED_CASE = re.compile(r"(?<!\w)\[([^\W\d_])\](?=[^\W\d_])")
"""[t]he: a writer's mark for a first letter that is a capital in the source, or is none."""


@cache
def _word() -> Any:
    """A number with its sign and its marks (-5, 1,234.5), a word with its marks, or a character of a script without
    spaces."""
    import regex  # takes some time to load

    unspaced = r"[\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
    return regex.compile(
        r"(?V1)(?:(?<![\p{L}\p{N}])[-−])?\p{Nd}+(?:[.,٫٬'’]\p{Nd}+)*\p{No}*"
        rf"|{unspaced}\p{{M}}*|[[\p{{L}}\p{{N}}]--{unspaced}][[\p{{L}}\p{{N}}\p{{M}}]--{unspaced}]*"
    )


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quotation. source: the place of the nearest source, from 0; start: where it stands there, in characters, None
    where it does not stand there word for word; edits: words to change, insert or leave out, None where that is not
    counted (several parts, or a long source)."""

    text: str
    source: int | None = None
    start: int | None = None
    edits: int | None = None


def quoted(text: str) -> list[str]:
    """What stands in quotation marks or in a block quote and has at least `LEAST_WORDS` words, or `LEAST_CHARACTERS` of a
    script without spaces, each of which counts as half a word. Quotation marks in a block quote make none of their
    own."""
    blocks, remainder = _block_quotes(text)
    marked = (next(filter(None, match.groups())) for match in _QUOTED.finditer(remainder))
    return [quote for quote in (*marked, *blocks) if _length(quote) >= LEAST_WORDS]


def _block_quotes(text: str) -> tuple[list[str], str]:
    """The block quotes of a Markdown text, and the text without them. Not those in code, a call-out (`> [!NOTE]`,
    `> **Note:** …`), nor the line that names who is quoted."""
    code = fenced(text)
    blocks: list[list[str]] = []
    remainder: list[str] = []
    place = 0
    is_open = False
    for line in text.splitlines(keepends=True):
        quoted_line = BLOCK_LINE.match(line)
        if quoted_line and not any(start <= place < end for start, end in code):
            blocks += [] if is_open else [[]]
            blocks[-1].append(line[quoted_line.end() :].strip())
            is_open = True
        else:
            remainder.append(line)
            is_open = False
        place += len(line)
    quotes = (
        _words_of_block(block)
        for block in blocks
        if not _CALL_OUT.match(next(filter(None, block), ""))
    )
    return [quote for quote in quotes if quote], "".join(remainder)


def _words_of_block(lines: Sequence[str]) -> str:
    attribution = attribution_of(lines)
    return " ".join(line for place, line in enumerate(lines) if line and place != attribution)


def _length(quote: str) -> float:
    quote = _CHANGED_CASE.sub(r"\1", quote)
    unspaced = without_spaces(quote)
    return len(words_of(quote)) - unspaced * (1 - LEAST_WORDS / LEAST_CHARACTERS)


def located(quote: str, sources: Sequence[CitableSource], places: Sequence[int]) -> Quotation:
    """The quotation in the first of these sources that has it, else in the nearest. Case, punctuation and spacing do not
    count, nor that a first letter is in brackets ([t]he), but the sign and the marks of a number do (-5, 1,234 and
    1.234); the parts of one that leaves words out (…, . . ., [he]) stand there in their order."""
    with_first_letters = _CHANGED_CASE.sub(r"\1", quote)
    parts = [words for part in _LEFT_OUT.split(with_first_letters) if (words := words_of(part))]
    nearest = Quotation(quote)
    for place in places:
        text = sources[place].text
        if text is None:
            continue
        source_words = words_of(text)
        if (start := _start_of(parts, source_words)) is not None:
            position = [match.start() for match in _words_in(text)][start]
            return Quotation(quote, place, position, 0)
        if len(parts) == 1 and len(parts[0]) * len(source_words) <= _MOST_CELLS:
            edits = edit_distance(parts[0], source_words)
            if nearest.edits is None or edits < nearest.edits:
                nearest = Quotation(quote, place, None, edits)
    return nearest


def words_of(text: str) -> list[str]:
    """The words of a text, folded; digits of all scripts, and both forms of a minus, as European ones; accents in normal
    form C."""
    return [european(canonical(match[0])).replace("−", "-").casefold() for match in _words_in(text)]


def _words_in(text: str) -> Iterator[Any]:
    matches: Iterator[Any] = _word().finditer(text)
    return matches


def _start_of(parts: Sequence[Sequence[str]], words: Sequence[str]) -> int | None:
    """The number of the word at which the parts begin that stand in these words one behind the other."""
    text = f" {' '.join(words)} "
    position = 0
    first: int | None = None
    for part in parts:
        match_start = text.find(f" {' '.join(part)} ", position)
        if match_start < 0:
            return None
        if first is None:
            first = text.count(" ", 0, match_start)
        position = match_start + len(" ".join(part)) + 1
    return first


def edit_distance(quote: Sequence[str], words: Sequence[str]) -> int:
    """The fewest words to change, insert or leave out to make the quotation a part of a text (Sellers 1980)."""
    above = [0] * (len(words) + 1)
    for number, quoted_word in enumerate(quote, 1):
        row = [number]
        for column, word in enumerate(words, 1):
            row.append(
                min(above[column - 1] + (quoted_word != word), above[column] + 1, row[-1] + 1)
            )
        above = row
    return min(above)

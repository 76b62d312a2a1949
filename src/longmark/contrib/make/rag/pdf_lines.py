"""What the lines of a PDF's pages are: running heads and feet, words that are divided at the end of a line, ligatures.

A line is a running head or foot if it stands among the first or last three of a page and, on three pages within six,
has the same words around a page number that grows with the page; or, on five pages within ten, the same words in the
same place, which then stay where they are first. A page that has nothing else keeps them if they are prose. Where a
line ends within a word, the word is written in one; it keeps its hyphen where the document has it with one elsewhere, or
where it is of a kind that always has one, as low-pressure, est-il and Haupt- und Nebensatz.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

_ZONE = 3  # lines at the head and foot of a page
# On how many pages a line is running, and how many pages are between the first and the last of these.
_NUMBERED = (3, 5)
_UNNUMBERED = (5, 9)
_MOST_NUMBERS = 8  # of a line that may be the page's
_LEAST_LETTERS = 3  # of words alone
_LONGEST_HEAD = 200  # characters
_PROSE = 8  # words; more of them in the lines of a page that has no others are its text
_NUMBER = re.compile(r"[0-9]{1,5}|\b[ivxlc]{1,8}\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_DIVIDED = re.compile(
    r"(?<![^\W\d_])([^\W\d_]+)(?:([-\u2010])|\u00ad)[ \t]*\n[ \t]*(?=([^\W\d_]+))"
)
# Words for "and" and "or", before which a word is cut short: Haupt- und Nebensatz, pre- and post-war.
_CONJUNCTIONS = frozenset(
    {"and", "or", "und", "oder", "sowie", "bzw", "og", "och", "eller", "en", "of", "oraz"}
)
# Parts of words that have a hyphen by themselves: low-pressure, est-il, кто-то, из-за. Other words are written in one, also
# where their parts are words: of 1,377 divided words of six manuals in English and German, a rule for all parts left 99
# apart, and about 12 of these were compounds (the others as Rand-einstellungen, comment-ing).
_FIRST_PARTS = frozenset({"self", "well", "low", "half", "non", "из"})
# fmt: off
_LAST_PARTS = frozenset({
    "il", "elle", "on", "ils", "elles", "ce", "je", "tu", "nous", "vous", "то", "нибудь", "либо",
    "таки", "за", "под", "compatible", "like", "based",
})
# fmt: on
_ENDS_DIVIDED = re.compile(r"[^\W\d_][-\u2010\u00ad]\Z")
_FIRST_WORD = re.compile(r"\s*([^\W\d_]+)\S*")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)*")
_LIGATURES = str.maketrans(
    {
        "\ufb00": "ff",
        "\ufb01": "fi",
        "\ufb02": "fl",
        "\ufb03": "ffi",
        "\ufb04": "ffl",
        "\ufb05": "st",
        "\ufb06": "st",
    }
)


class _Mark(NamedTuple):
    """What a line has in common with those of other pages. distance: of the number in it from the page's place, for
    words around a page number; place: of the line from the head, below 0 from the foot, for words alone."""

    before: str
    behind: str = ""
    distance: int | None = None
    place: int | None = None


def without_running_heads(pages: Sequence[str]) -> tuple[list[str], int]:
    """The pages without their running heads and feet, and how many lines these were."""
    lines = [page.split("\n") for page in pages]
    pages_by_mark: defaultdict[_Mark, list[int]] = defaultdict(list)
    for number, page_lines in enumerate(lines):
        for mark in {mark for _, of_line in _marked(page_lines, number) for mark in of_line}:
            pages_by_mark[mark].append(number)
    running = {mark for mark, numbers in pages_by_mark.items() if _is_running(mark, numbers)}
    met: set[_Mark] = set()
    shorter_pages = []
    count = 0
    for number, page_lines in enumerate(lines):
        dropped: set[int] = set()
        for index, marks in _marked(page_lines, number):
            in_common = running.intersection(marks)
            if any(mark.distance is not None or mark in met for mark in in_common):
                dropped.add(index)
            met |= in_common
        if _is_all_the_text(page_lines, dropped):
            dropped = set()
        count += len(dropped)
        shorter_pages.append(
            "\n".join(line for index, line in enumerate(page_lines) if index not in dropped).strip()
        )
    return shorter_pages, count


def _is_all_the_text(lines: Sequence[str], dropped: Collection[int]) -> bool:
    """Whether a page would lose all that it says: pages made by a template differ in a number alone."""
    if any(line.strip() and index not in dropped for index, line in enumerate(lines)):
        return False
    return sum(len(lines[index].split()) for index in dropped) > _PROSE


def _is_running(mark: _Mark, numbers: Sequence[int]) -> bool:
    """Whether enough pages with the same line are close to each other."""
    least, window = _UNNUMBERED if mark.distance is None else _NUMBERED
    pairs = zip(numbers, numbers[least - 1 :], strict=False)
    return any(last - first <= window for first, last in pairs)


def _marked(lines: Sequence[str], page: int) -> Iterator[tuple[int, list[_Mark]]]:
    """The first and last lines that are not blank, with their marks."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    places = {index: -1 - place for place, index in enumerate(reversed(filled[-_ZONE:]))}
    places |= {index: place for place, index in enumerate(filled[:_ZONE])}
    for index, place in places.items():
        words = " ".join(lines[index].split())
        if len(words) <= _LONGEST_HEAD:
            yield index, list(_marks(words, page, place))


def _marks(words: str, page: int, place: int) -> Iterator[_Mark]:
    if sum(character.isalpha() for character in words) >= _LEAST_LETTERS:
        yield _Mark(words, place=place)
    for match in islice(_NUMBER.finditer(words), _MOST_NUMBERS):
        yield _Mark(words[: match.start()], words[match.end() :], distance=_value(match[0]) - page)


def _value(number: str) -> int:
    if number.isdigit():
        return int(number)
    values = [_ROMAN[letter] for letter in number]
    return sum(
        -value if value < after else value
        for value, after in zip(values, [*values[1:], 0], strict=True)
    )


def joined_words(pages: Sequence[str]) -> list[str]:
    """The pages with each word in one that is divided at the end of a line or page."""
    pages = [page.translate(_LIGATURES) for page in pages]
    counts: Counter[str] = Counter()
    for page in pages:
        whole = _DIVIDED.sub(" ", page)
        counts.update(word.casefold() for word in _HYPHENATED.findall(whole))
        counts.subtract(match[3].casefold() for match in _DIVIDED.finditer(page))
    for number in range(len(pages) - 1):  # a word that goes on on the next page ends on this one
        tail = _FIRST_WORD.match(pages[number + 1])
        if tail is not None and tail[1][0].islower() and _ENDS_DIVIDED.search(pages[number]):
            pages[number] += "\n" + tail[0].strip()
            pages[number + 1] = pages[number + 1][tail.end() :].lstrip()

    def joined(match: re.Match[str]) -> str:
        first, hyphen, second = match.groups()
        if hyphen is None:  # a soft hyphen
            return first
        in_compound = match.string[match.start() - 1 : match.start()] in ("-", "\u2010")
        if second.casefold() in _CONJUNCTIONS:
            return f"{first}{hyphen} "
        as_one = counts[(first + second).casefold()]
        as_written = counts[f"{first}{hyphen}{second}".casefold()]
        are_words = min(counts[first.casefold()], counts[second.casefold()]) > 0
        is_compound = first.casefold() in _FIRST_PARTS or second.casefold() in _LAST_PARTS
        if in_compound or not second[0].islower() or as_written > as_one:
            return first + hyphen
        return first + hyphen if is_compound and are_words and not as_one else first

    return [_DIVIDED.sub(joined, page) for page in pages]

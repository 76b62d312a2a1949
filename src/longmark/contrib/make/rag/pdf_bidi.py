"""Lines with Arabic or Hebrew letters, from the order in which they are seen to that in which they are read.

A PDF has the letters of a line where they are seen, left to right. The reverse of Unicode's bidirectional algorithm
(UAX 9): the line is turned round, and within it numbers and words of left-to-right letters are turned back, with the
signs within numbers (2.5, 35%) and the spaces between such words. Brackets are mirrored where the page then has more of
them in pairs. Presentation forms become letters (U+FEFB: لا), and a mark stands behind its letter. What is seen alike is
read alike: `IBM 360` and `360 IBM`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_RIGHT_TO_LEFT = ("R", "AL")
LETTERS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
_OPENING = {")": "(", "]": "[", "}": "{"}
_FORMS = re.compile("[\ufb1d-\ufbff\ufc00-\ufdff\ufe70-\ufefc]")
_LONGEST_FORM = 4  # letters; a longer one is a phrase in one sign, as U+FDFA
_MARK = "[\u0591-\u05bd\u05bf\u05c1\u05c2\u064b-\u0655]"
_PARTED_MARK = re.compile(f"(?<=[\\w\0]) +(?={_MARK})")
_MARK_BEFORE = re.compile(f"(?<![\\w\0])(?<!{_MARK})({_MARK}+)(?=\\w)")
_MARK_AND_LETTER = re.compile(f"({_MARK}+)(\\w)")
_PARTED_COMMA = re.compile("(?<=\\S) +([،؛؟])(?=\\w)")
_CLASSES = {
    "L": "L",
    "R": "R",
    "AL": "R",
    "EN": "1",
    "AN": "2",  # numbers among Arabic letters
    "ES": "s",  # signs that join numbers
    "CS": "c",
    "ET": "t",  # signs at a number
    "NSM": "m",  # marks
}
_NEUTRAL = "n"
_LEFT_TO_RIGHT = re.compile("(?<!t)t*1+(?:[cs]1+)*t*|2+(?:c2+)*|L[Lm]*(?:[ncst]*[L12][L12m]*)*")
_RIGHT_RUN = re.compile("R(?:[^L]*R)?m*")


def is_right_to_left(text: str) -> bool:
    """Whether a text has more letters that are written from right to left than others."""
    counts = [unicodedata.bidirectional(character) for character in text]
    return sum(kind in _RIGHT_TO_LEFT for kind in counts) > counts.count("L")


def read_lines(lines: Sequence[str]) -> str:
    """The lines of a page as they are read. lines: as they are seen, left to right."""
    to_left = is_right_to_left("".join(lines))
    orders = [_read_order(line, to_left) for line in lines]
    mirrored = "\n".join(_joined(order, mirror=True) for order in orders)
    as_drawn = "\n".join(_joined(order, mirror=False) for order in orders)
    best = _PARTED_MARK.sub("", max(mirrored, as_drawn, key=_pairs))
    if _MARK_BEFORE.search(best):  # XeTeX draws a mark behind its letter, others before it
        best = _MARK_AND_LETTER.sub(r"\2\1", best)
    return _with_letters(best)


def drawn_as_read(text: str) -> str:
    """A page whose lines are drawn in the order in which they are read."""
    return _with_letters(max(text, text.translate(_MIRRORED), key=_pairs))


def _read_order(line: str, to_left: bool) -> list[tuple[str, bool]]:
    """The parts of a line in the order in which they are read; True: its characters are right to left."""
    if not LETTERS.search(line):
        return [(line, False)]
    if to_left:
        return _turned(line)
    parts: list[tuple[str, bool]] = []
    end = 0
    for run in _RIGHT_RUN.finditer(_classes(line)):
        parts.append((line[end : run.start()], False))
        parts += _turned(line[run.start() : run.end()])
        end = run.end()
    return [*parts, (line[end:], False)]


def _turned(line: str) -> list[tuple[str, bool]]:
    """A line that is read from right to left."""
    parts: list[tuple[str, bool]] = []
    end = 0
    for run in _LEFT_TO_RIGHT.finditer(_classes(line)):
        parts.append((line[end : run.start()][::-1], True))
        parts.append((line[run.start() : run.end()], False))
        end = run.end()
    parts.append((line[end:][::-1], True))
    return parts[::-1]


def _classes(line: str) -> str:
    kinds = [unicodedata.bidirectional(character) for character in line]
    classes = "".join(_CLASSES.get(kind, _NEUTRAL) for kind in kinds)
    return classes.replace("1", "2") if "AL" in kinds else classes  # UAX 9, W2


def _joined(parts: Sequence[tuple[str, bool]], mirror: bool) -> str:
    return "".join(
        text.translate(_MIRRORED) if mirror and turned else text for text, turned in parts
    )


def _pairs(text: str) -> int:
    """How many brackets of a text are in pairs, less those that are not."""
    opened: list[str] = []
    score = 0
    for character in text:
        if character in "([{":
            opened.append(character)
        elif character in _OPENING:
            is_pair = bool(opened) and opened[-1] == _OPENING[character]
            score += 1 if is_pair else -1
            if is_pair:
                opened.pop()
    return score - len(opened)


def _with_letters(text: str) -> str:
    """A text with letters for their presentation forms, and without spaces before marks and commas."""
    text = _PARTED_MARK.sub("", _FORMS.sub(_letter, text))
    return _PARTED_COMMA.sub(r"\1 ", text)


def _letter(form: re.Match[str]) -> str:
    letters = unicodedata.normalize("NFKC", form[0])
    if len(letters) > _LONGEST_FORM:
        return form[0]
    return letters.lstrip(" ") or form[0]

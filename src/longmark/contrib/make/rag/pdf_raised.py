"""Raised and lowered digits of a PDF's page: 10⁶ is not 106, nor 1998¹ the year 19981.

A piece of a line is raised if its letters are smaller than those of the line and its baseline is higher, as typesetting
programs set exponents and marks of notes: TeX at 70 % of the size and 36 to 41 % of it higher, browsers at 83 % and
33 %, Word at 65 % and 33 %. Raised digits and signs are written as those of HTML (`text.raised`): 10⁻³, m², broke.[2];
a list of several marks is in brackets (others[4-6]). Digits above others, behind no letter, are a fraction (3 1/2).
Lowered digits are written as such behind a digit (10₂), where they would be read as its last ones, and stay as they are
elsewhere (H2O). Letters stay as they are, and so does a raised digit above a lowered one behind a letter in TeX.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from longmark.text.raised import lowered, raised

RAISED = "raised"
LOWERED = "lowered"
LEVEL = "level"
_SMALLER = 0.87  # the size of raised digits, of the line's
_RISE = (0.15, 0.75)  # how much higher these stand, of the line's size
_DROP = (0.08, 0.5)
_LEVEL = 0.02  # how far the strings of a piece may be from one baseline
_DIGITS = re.compile(r"[+\-−]?[0-9]{1,4}|[0-9]{0,2}[+\-−]")
_NOTES = re.compile(r"[0-9]{1,3}(?:\s?[,–-]\s?[0-9]{1,3})+")
_NUMBER = re.compile(r"[0-9]+")
_SOLIDUS = ("/", "⁄")


class DrawnText(NamedTuple):
    """What a page draws with one font. size: of its letters; first, last: baselines of its first and last strings; start:
    where the first one begins along its line."""

    text: str
    size: float
    first: float
    last: float
    start: float = 0


def with_raised_digits(pieces: Sequence[DrawnText]) -> str:
    """The pieces as one text."""
    return "".join(map(line_text, lines_of(pieces)))


def lines_of(pieces: Sequence[DrawnText]) -> list[list[DrawnText]]:
    """The pieces of each line, of which the last one ends with the line break."""
    lines: list[list[DrawnText]] = [[]]
    for piece in pieces:
        if piece.text:
            lines[-1].append(piece)
        if piece.text.endswith("\n"):
            lines.append([])
    return lines


def line_text(pieces: Sequence[DrawnText]) -> str:
    """A line with its raised and lowered digits."""
    base: DrawnText | None = None
    group: DrawnText | None = None  # the last raised or lowered piece, if nothing followed it
    text = ""
    index = 0
    while index < len(pieces):
        piece = pieces[index]
        reference = base or _first_large(pieces[index:])
        place = _place(piece, reference)
        if place not in (RAISED, LOWERED) or reference is None:
            text += piece.text
            if piece.text.strip():
                base = piece
                group = None
            index += 1
            continue
        end = _end_of_level(pieces, index)
        content = "".join(member.text for member in pieces[index:end])
        below = _end_of_lowered(pieces, end, reference)
        denominator = "".join(member.text for member in pieces[end:below])
        if place == RAISED and _is_fraction(text, content, denominator):
            text += _fraction(text, content, denominator)
            end = below
        elif group is not None and _place(piece, group) == RAISED and _NUMBER.fullmatch(content):
            text += f"^{content}"  # 10^(10^3)
        else:
            follower = pieces[end].text if end < len(pieces) else ""
            text += _written(content, text, follower, place)
        group = pieces[end - 1]
        index = end
    return text


def _end_of_level(pieces: Sequence[DrawnText], start: int) -> int:
    """Where the pieces end that are as large as the first one and on its baseline."""
    end = start + 1
    while end < len(pieces) and _place(pieces[end], pieces[start]) == LEVEL:
        end += 1
    return end


def _end_of_lowered(pieces: Sequence[DrawnText], start: int, reference: DrawnText) -> int:
    end = start
    while end < len(pieces) and _place(pieces[end], reference) == LOWERED:
        end += 1
    return end


def _is_fraction(before: str, numerator: str, denominator: str) -> bool:
    """Whether raised and lowered numbers are a fraction, which stands behind no letter."""
    return bool(
        _NUMBER.fullmatch(numerator.strip())
        and _NUMBER.fullmatch(denominator.strip())
        and not (numerator[0].isdigit() and before[-1:].isalpha())
        and not before.endswith((")", "]"))
    )


def _fraction(before: str, numerator: str, denominator: str) -> str:
    """1/2, and 3 1/2 behind a number."""
    parted = " " if before[-1:].isdigit() and numerator[0].isdigit() else ""
    return f"{parted}{numerator.rstrip()}/{denominator.lstrip()}"


def _first_large(pieces: Sequence[DrawnText]) -> DrawnText | None:
    """The first piece behind the first one that has larger letters: what a mark at the start of a line belongs to."""
    small = pieces[0]
    return next(
        (
            piece
            for piece in pieces[1:]
            if piece.text.strip() and small.size <= _SMALLER * piece.size
        ),
        None,
    )


def _place(piece: DrawnText, reference: DrawnText | None) -> str:
    """Where a piece is against another one: raised, lowered, level (as large, on its baseline), or elsewhere."""
    if reference is None or not piece.text.strip() or not reference.size:
        return ""
    if abs(piece.first - piece.last) > _LEVEL * reference.size:
        return ""
    size = piece.size / reference.size
    rise = (piece.first - reference.last) / reference.size
    if abs(size - 1) < _LEVEL and abs(rise) < _LEVEL:
        return LEVEL
    if size > _SMALLER:
        return ""
    if _RISE[0] <= rise <= _RISE[1]:
        return RAISED
    return LOWERED if _DROP[0] <= -rise <= _DROP[1] else ""


def _written(group: str, before: str, follower: str, place: str) -> str:
    """The raised or lowered pieces between what is before them and what follows."""
    content = group.strip()
    start = group.index(content)
    lead = group[:start]
    trail = group[start + len(content) :]
    number = "".join(content.split())
    before += lead
    behind_digit = before[-1:].isdigit()
    if place == LOWERED:
        is_number = behind_digit and _NUMBER.fullmatch(number)
        return f"{lead}{lowered(number)}{trail}" if is_number else group
    if not trail and follower.startswith(_SOLIDUS):  # the numerator of 3 1/2
        return f"{lead}{' ' if behind_digit else ''}{content}"
    if _NOTES.fullmatch(content):
        return f"{lead}[{content}]{trail}"
    return f"{lead}{raised(number, before)}{trail}" if _DIGITS.fullmatch(number) else group

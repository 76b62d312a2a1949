"""The numbers that lists, headings and slides write by themselves: 3, c, C, iii, III."""

from __future__ import annotations

_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)
_MOST_ROMAN = 4_999
_MOST_LETTERS = 26**3

_CYRILLIC = "абвгдежзиклмнопрстуфхцчшщэюя"
_HAN = "〇一二三四五六七八九"


def numeral(value: int, form: str) -> str:
    """A number as `lower-roman`, `upper-roman`, `lower-alpha`, `upper-alpha`, `lower-cyrillic`, `upper-cyrillic`, `han`
    or in digits; in digits, too, where the form has no number of that size."""
    name = form.partition("-")[2]
    if name == "roman" and 0 < value <= _MOST_ROMAN:
        letters = _roman(value)
    elif name == "alpha" and 0 < value <= _MOST_LETTERS:
        letters = _alphabetic(value)
    elif name == "cyrillic" and 0 < value <= len(_CYRILLIC):
        letters = _CYRILLIC[value - 1]
    elif form == "han" and 0 < value < 100:
        return _han(value)
    else:
        return str(value)
    return letters.upper() if form.startswith("upper") else letters


def _roman(value: int) -> str:
    letters = ""
    for worth, sign in _ROMAN:
        letters += sign * (value // worth)
        value %= worth
    return letters


def _alphabetic(value: int) -> str:
    """a … z, aa, ab …"""
    letters = ""
    while value > 0:
        value, place = divmod(value - 1, 26)
        letters = chr(ord("a") + place) + letters
    return letters


def _han(value: int) -> str:
    tens, units = divmod(value, 10)
    if not tens:
        return _HAN[units]
    return (_HAN[tens] if tens > 1 else "") + "十" + (_HAN[units] if units else "")


def whole_number(text: str) -> int | None:
    """A whole number of a document, with its sign; None: it is none, or too large."""
    text = text.strip()
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit()) or len(digits) > 9:
        return None
    return -int(digits) if text.startswith("-") else int(digits)

"""Numerals of other scripts as European digits, for `text.quantities`: ٣٫٥, ３.５, 三千五百, 1.5億, 3억 2천만.

A numeral that this module does not read for certain stays as it is, and is then no number: 三万五 (35,000 in speech), 兆 in
Chinese (10⁶ or 10¹²), fractions, financial numerals.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal

_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "兩": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_SMALL = {
    "十": 10,
    "百": 100,
    "千": 1000,
    "십": 10,
    "백": 100,
    "천": 1000,
}
_LARGE = {
    "万": 10**4,
    "萬": 10**4,
    "만": 10**4,
    "億": 10**8,
    "亿": 10**8,
    "억": 10**8,
}
_TRILLION = {
    "兆": 10**12,
    "조": 10**12,
}
_EUROPEAN = r"[0-9]+(?:,[0-9]{3})*(?:\.[0-9]+)?"
_CHARACTERS = "".join((*_DIGITS, *_SMALL, *_LARGE, *_TRILLION))
_PART = rf"(?:{_EUROPEAN}|[{_CHARACTERS}点])"
_NUMERAL = re.compile(rf"{_PART}(?: ?{_PART})*")
_TOKEN = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?|\S")
_SIGN = re.compile(r"(?:minus |[-+−–] ?)?")
_UNSEEN = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_MARKS = str.maketrans(
    {
        "٪": "%",
        "٬": "'",
        "’": "'",
        "﹣": "-",
        "‐": "-",
        "‑": "-",
    }
)


def european(text: str) -> str:
    """A text with digits, signs and spaces as European ones: full-width forms and the digits of other scripts; the
    Arabic mark of thousands is an apostrophe, that of decimals stays. Characters that are not seen are left out."""
    text = _UNSEEN.sub("", text)
    if text.isascii():
        return text
    return "".join(map(_european, text)).translate(_MARKS)


def _european(character: str) -> str:
    if "\uff01" <= character <= "\uff5e":
        return chr(ord(character) - 0xFEE0)
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    return " " if character.isspace() else character


def with_digits(text: str, language: str) -> str:
    """A text whose first Chinese, Japanese or Korean numeral, at its beginning or behind a sign, is written in digits.

    language: in Chinese, 兆 is not read."""
    if text.isascii():
        return text
    start = _SIGN.match(text).end()  # type: ignore[union-attr]  # it matches nothing, too
    match = _NUMERAL.match(text, start)
    if match is None or match[0].isascii():
        return text
    numeral = match[0].rstrip()
    value = numeral_value(numeral, trillions=language in ("ja", "ko"))
    behind = text[start + len(numeral) :]
    return text if value is None else f"{text[:start]}{value.normalize():f}{behind}"


def numeral_value(numeral: str, trillions: bool = True) -> Decimal | None:
    """The value of a numeral in Chinese characters, Korean letters, digits or several of them; None where it is none,
    or may have two values. trillions: 兆 is 10¹²."""
    tokens: list[str] = _TOKEN.findall(numeral)
    if tokens and all(token in _DIGITS for token in tokens):
        digits = "".join(str(_DIGITS[token]) for token in tokens)
        return Decimal(digits) if len(tokens) == 1 or len(tokens) > 2 else None
    if "点" in tokens:
        return _with_decimals(tokens, trillions)
    numeral_sum = _NumeralSum(_LARGE | (_TRILLION if trillions else {}))
    if not all(map(numeral_sum.add, tokens)):
        return None
    return numeral_sum.value


class _NumeralSum:
    """Adds up the tokens of a numeral from the left: 三亿二千万五百 is 3 x 10⁸ + 2,000 x 10⁴ + 500.

    Large units (万, 亿, 兆) fall within a numeral, small ones (十, 百, 千) within the section before a large one.
    """

    def __init__(self, large_units: Mapping[str, int]) -> None:
        self._large_units = large_units
        self._total = Decimal(0)  # of the sections with their large units
        self._section = Decimal(0)  # of the section that is open
        self._digit: Decimal | None = None  # that no unit has multiplied yet
        self._least_large: float = math.inf
        self._least_small: float = math.inf
        self._last_unit: float = 1  # 0 behind a zero

    def add(self, token: str) -> bool:
        """Whether a token can stand where it stands. After False the sum has no meaning."""
        if token in _SMALL:
            return self._multiply_digit(_SMALL[token])
        if token in self._large_units:
            return self._multiply_section(self._large_units[token])
        if self._digit is not None:
            return False
        if token in ("零", "〇"):
            self._last_unit = 0
        elif token in _DIGITS:
            self._digit = Decimal(_DIGITS[token])
        elif token[0].isdigit():
            self._digit = Decimal(token.replace(",", ""))
        else:
            return False
        return True

    def _multiply_digit(self, small_unit: int) -> bool:
        if small_unit >= self._least_small:
            return False
        self._section += small_unit if self._digit is None else self._digit * small_unit
        self._digit = None
        self._least_small = small_unit
        self._last_unit = small_unit
        return True

    def _multiply_section(self, large_unit: int) -> bool:
        self._section += self._digit or 0
        if self._section:
            if large_unit >= self._least_large:
                return False
            self._total += self._section * large_unit
        elif self._total:  # a unit behind a unit, as in 万亿
            self._total *= large_unit
        else:
            return False
        self._section = Decimal(0)
        self._digit = None
        self._least_large = large_unit
        self._least_small = math.inf
        self._last_unit = large_unit
        return True

    @property
    def value(self) -> Decimal | None:
        """None where the last digit may have two values: 一万零五 is 10,005, but 一万五 is 15,000 in speech."""
        if self._digit is None:
            return self._total + self._section
        if self._digit < 10 and self._last_unit >= 100:
            return None
        return self._total + self._section + self._digit


def _with_decimals(tokens: list[str], trillions: bool) -> Decimal | None:
    """三点五 is 3.5, 三点五亿 is 350,000,000."""
    point = tokens.index("点")
    end = point + 1
    while end < len(tokens) and tokens[end] in _DIGITS:
        end += 1
    whole = numeral_value("".join(tokens[:point]), trillions)
    decimals = "".join(str(_DIGITS[token]) for token in tokens[point + 1 : end])
    factor = numeral_value("一" + "".join(tokens[end:]), trillions)
    if whole is None or not decimals or factor is None or (end < len(tokens) and factor < 10):
        return None
    if whole != int(whole):  # 2.5点五
        return None
    return Decimal(f"{int(whole)}.{decimals}") * factor

"""Which texts are the same text: how ids, labels, options and quotations are compared.

Unicode writes one text in several ways: é is one character or e with an accent, and characters that are not seen (a
soft hyphen, a zero-width space) may stand anywhere. Texts that differ in nothing else are equal wherever longmark
compares texts.

canonical   for ids and names: Unicode's normal form C, in which canonically equal texts are equal (UAX 15)
comparable  for labels, options and quotations: also without case, ignorable characters and the amount of white space
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Literal

# The property Default_Ignorable_Code_Point (Unicode, DerivedCoreProperties.txt), which holds ranges kept free for it.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_DOT_ABOVE = "\u0307"
_DOTTED_I = re.compile(f"(i[\u0300-\u0306\u0308-\u036f]*){_DOT_ABOVE}")


def canonical(text: str) -> str:
    """The text in normal form C."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def visible(text: str) -> str:
    """The text without the characters that are not seen (default ignorable: UAX 44)."""
    return text if text.isascii() else _IGNORABLE.sub("", text)


def caseless(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """A text as it is compared without case: ignorable characters left out, case folded, in a normal form (NFC, or NFKC
    as in toNFKC_Casefold of the Unicode Standard, section 3.13). İ becomes i: its folded form has a dot that no normal
    form composes."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize(form, visible(text)).casefold()
    if _DOT_ABOVE in (decomposed := unicodedata.normalize("NFD", folded)):
        folded = _DOTTED_I.sub(r"\1", decomposed)
    return unicodedata.normalize(form, folded)


def comparable(text: str) -> str:
    """A text as labels, options and quotations are compared: canonically equal texts are equal, whatever their case,
    spaces and ignorable characters."""
    return " ".join(caseless(text).split())


def place_of(quote: str, text: str) -> tuple[int, int] | None:
    """The first place of a quotation in a text, (start, end) in characters of the text as it is written; None if it
    does not stand there. Canonically equal texts are equal, and ignorable characters are ignored; case is not."""
    sought = visible(canonical(quote))
    if not sought:
        return None
    end = text.find(quote) + len(quote)
    if end >= len(quote) and not unicodedata.category(text[end : end + 1] or " ").startswith("M"):
        return end - len(quote), end
    plain = list[str]()
    owners = list[tuple[int, int]]()  # of each character of `plain`: where its letter stands
    for start, end in _letters(text):
        letter = visible(canonical(text[start:end]))
        plain.append(letter)
        owners += [(start, end)] * len(letter)
    place = "".join(plain).find(sought)
    return (owners[place][0], owners[place + len(sought) - 1][1]) if place >= 0 else None


def _letters(text: str) -> Iterator[tuple[int, int]]:
    """Where each character with the marks that belong to it stands; the parts of a Korean syllable are together."""
    start = 0
    for at, char in enumerate(text):
        if at and not (unicodedata.category(char).startswith("M") or "\u1160" <= char <= "\u11ff"):
            yield start, at
            start = at
    if text:
        yield start, len(text)


def all_canonical(value: Any) -> Any:
    """A value with all its texts in normal form C, down to 50 lists in each other; all else is as it is."""
    return _all_canonical(value, 50)


def _all_canonical(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return canonical(value)
    if depth and isinstance(value, tuple | list):
        return type(value)(_all_canonical(part, depth - 1) for part in value)
    if depth and isinstance(value, dict):
        return {
            _all_canonical(key, 0): _all_canonical(part, depth - 1) for key, part in value.items()
        }
    return value

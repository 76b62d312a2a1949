"""Superscripts and subscripts as plain text, for readers of HTML and of answers with its tags.

Their meaning must not be lost: 10<sup>6</sup> is not 106. Digits and signs become Unicode's superscript and subscript
characters (10⁶, km², CO₂), letters `^` and `_` (e^x, v_max), endings of numbers and titles stay as they are (19th,
Mlle), and the mark of a note gets brackets (1953.[2]).
"""

from __future__ import annotations

import re

_SUPER = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_SUB = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_HAS_SUPER = re.compile(r"[0-9+\-−=()ni]+")
_HAS_SUB = re.compile(r"[0-9+\-−=()]+")
_ENDINGS = frozenset(
    {"st", "nd", "rd", "th", "e", "er", "re", "ère", "ème", "es", "o", "a", "os", "as", "me", "mes"}
)
_ENDINGS |= {"lle", "lles", "tm", "sm", "®", "™", "℠"}
_ENDING_BEHIND = (
    re.compile(r"[0-9IVXLCDM]$"),
    re.compile(r"\w$"),
)  # an ending of one letter, a longer one
_NOTE = re.compile(r"(?:[0-9]{1,3}|[a-z])(?:\s?[,–-]\s?(?:[0-9]{1,3}|[a-z]))*")
_MIXED = re.compile(r"(?<=[0-9])\s?([⁰¹²³⁴-⁹]+)\s?[/⁄∕]\s?([₀-₉]+)")
_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉", "0123456789" * 2)
_MARKS = re.compile("[′″‴⁗°∘]+")
_IN_BRACKETS = re.compile(r"\([^()]*\)")
_BRACKETED = re.compile(r"\[[^\[\]]*\]")
_AFTER = tuple('.,;:!?"”’»。，；：！？、')  # a mark behind these is of a note


def raised(text: str, before: str, linked: bool = False) -> str:
    """A superscript as plain text. before: what stands before it; linked: it is a link, as the marks of notes are."""
    text = " ".join(text.split())
    if not text or _BRACKETED.fullmatch(text):
        return text
    if _NOTE.fullmatch(text) and (linked or before.endswith(_AFTER)):
        return f"[{text}]"
    if _ENDING_BEHIND[len(text) > 1].search(before) and text.casefold() in _ENDINGS:
        return text
    return (
        power(text)
        if before[-1:].isalnum() or before.endswith((")", "]")) or _HAS_SUPER.fullmatch(text)
        else text
    )


def mixed_numbers(text: str) -> str:
    """A text with mixed numbers in plain digits: 3³/₄ is 3 3/4, no power of 3."""
    return _MIXED.sub(lambda match: f" {match[1]}/{match[2]}".translate(_DIGITS), text)


def power(text: str) -> str:
    """A superscript behind what it belongs to."""
    if not text:
        return ""
    if _HAS_SUPER.fullmatch(text):
        return text.translate(_SUPER)
    if _MARKS.fullmatch(text):  # x′, 20°
        return text.replace("∘", "°")
    return "^" + grouped(text)


def lowered(text: str) -> str:
    """A subscript as plain text."""
    text = " ".join(text.split())
    if not text:
        return ""
    return text.translate(_SUB) if _HAS_SUB.fullmatch(text) else "_" + grouped(text)


def grouped(text: str) -> str:
    """A text in brackets, unless it is one word, number or sign, or is in brackets."""
    if text.isalnum() or len(text) < 2 or _IN_BRACKETS.fullmatch(text):
        return text
    return f"({text})"

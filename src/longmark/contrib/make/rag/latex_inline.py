"""Commands of LaTeX that stand for a short text of their arguments, as sources to read on: `\\sfrac{1}{2}` is 1/2."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from longmark.contrib.make.rag.latex_scan import LatexScanner
from longmark.contrib.make.rag.latex_words import ACCENTS
from longmark.text.raised import grouped

FRACTIONS = frozenset({"nicefrac", "sfrac", "frac", "tfrac", "dfrac", "cfrac", "flatfrac", "xfrac"})
_CODE = re.compile(r"\"([0-9A-F]{1,6})|'([0-7]{1,7})|([0-9]{1,7})|`\\?(.)", re.DOTALL)
_SPECIAL = frozenset("\\{}$&#%~^_")
_KEYS = re.compile(r"\s*,\s*")
_ALONE = {"~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "`": "\\textasciigrave{}"}


def fraction(scanner: LatexScanner) -> str:
    scanner.option()
    upper = scanner.argument().strip()
    scanner.option()
    return f"{grouped(upper)}/{grouped(scanner.argument().strip())}"


def accented(accent: str, scanner: LatexScanner) -> str:
    """A letter with its accent; an accent without a letter is a character where it has one."""
    letter = scanner.argument().strip()
    plain = {"\\i": "i", "\\j": "j"}.get(letter, letter)
    if not plain:
        return _ALONE.get(accent, "")
    return unicodedata.normalize("NFC", plain[0] + ACCENTS[accent]) + plain[1:]


def citation(scanner: LatexScanner) -> str:
    """What stands before the keys, the keys, what stands behind them."""
    options = [option for _ in range(2) if (option := scanner.option()) is not None]
    keys = ", ".join(key for key in _KEYS.split(scanner.argument().strip()) if key)
    before = f"{options[0]} " if len(options) == 2 and options[0] else ""
    behind = f", {options[-1]}" if options and options[-1] else ""
    return f"[{before}{keys}{behind}]"


def _first_of_two(scanner: LatexScanner) -> str:
    """What is printed of `\\texorpdfstring`."""
    printed = scanner.argument()
    scanner.argument()
    return printed


def _initial(scanner: LatexScanner) -> str:
    """A word of `\\lettrine`, whose first letter is large."""
    scanner.option()
    return scanner.argument() + scanner.argument()


def _character(scanner: LatexScanner) -> str:
    """`\\char65`, `\\char"41`, `\\symbol{66}`."""
    source = scanner.argument() if scanner.next_character() == "{" else ""
    match = _CODE.match(source.strip()) if source else scanner.match(_CODE)
    if match is None:
        return ""
    if match[4]:
        return _escaped(match[4])
    code = int(match[1], 16) if match[1] else int(match[2], 8) if match[2] else int(match[3])
    is_character = 32 <= code < 0x110000 and not 0xD800 <= code < 0xE000
    return _escaped(chr(code)) if is_character else ""


def _escaped(character: str) -> str:
    if character not in _SPECIAL:
        return character
    return {"\\": "\\textbackslash{}", **_ALONE}.get(character, f"\\{character}")


INLINE: dict[str, Callable[[LatexScanner], str]] = {
    **dict.fromkeys(FRACTIONS, fraction),
    "texorpdfstring": _first_of_two,
    "lettrine": _initial,
    "char": _character,
    "symbol": _character,
}

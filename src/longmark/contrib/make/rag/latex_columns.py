"""The columns of a table of LaTeX, by what stands in its first argument: `l r@{.}l >{\\$}r<{\\%}`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from longmark.contrib.make.rag.latex_scan import LatexScanner
from longmark.contrib.make.rag.latex_words import CHARACTERS

_MOST = 200
_DEEPEST = 5  # repetitions in each other
_COMMAND = re.compile(r"\\([a-zA-Z@]+)\*?(?:\s*\[[^\]]*\])?(?:\s*\{[^{}]*\})?")
_ROOM = re.compile(r"\\[ ,;:!>/\\]|[~{}\s]")


@dataclass
class LatexColumn:
    """A column. before, behind: what is printed in each cell around its text; joint: what is printed between it and the
    next one, which are then one column to a reader."""

    before: str = ""
    behind: str = ""
    joint: str = ""


def columns_of(source: str, depth: int = 0) -> list[LatexColumn]:
    """The columns that an argument declares; at most 200."""
    scanner = LatexScanner(source)
    columns: list[LatexColumn] = []
    before = ""
    while len(columns) < _MOST and scanner.next_character():
        sign = scanner.argument()
        if sign == "*":
            number = scanner.argument().strip()
            repeated = scanner.argument()
            if number.isascii() and number.isdigit() and depth < _DEEPEST:
                columns += columns_of(repeated * min(int(number[:4]), _MOST), depth + 1)
        elif sign == ">":
            before = _printed(scanner.argument())
        elif sign == "<":
            behind = _printed(scanner.argument())
            if columns:
                columns[-1].behind = behind
        elif sign in ("@", "!"):
            between = _printed(scanner.argument())
            if columns:
                columns[-1].joint += between
        elif sign.isalpha():
            columns.append(LatexColumn(before))
            before = ""
            scanner.option()
            while scanner.next_character() == "{":
                scanner.argument()
    if columns:
        columns[-1].joint = ""  # behind the last one
    return columns[:_MOST]


def _printed(source: str) -> str:
    """What a declaration prints; empty if it only sets fonts, colours or room."""
    if source.strip() == "$":  # the cells are formulas
        return ""
    text = source
    for _ in range(3):
        text = _COMMAND.sub(lambda match: CHARACTERS.get(match[1], "").strip(), text)
    return source if _ROOM.sub("", text) else ""

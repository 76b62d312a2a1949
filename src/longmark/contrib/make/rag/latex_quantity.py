"""Quantities of LaTeX's packages siunitx and SIunits: `\\SI{10}{\\kilo\\metre}` is 10 kilo metre."""

from __future__ import annotations

import re

from longmark.contrib.make.rag.latex_scan import LatexScanner
from longmark.contrib.make.rag.latex_words import CHARACTERS

# Commands -> how many arguments they have.
QUANTITIES = {
    "num": 1,
    "ang": 1,
    "si": 1,
    "unit": 1,
    "SI": 2,
    "qty": 2,
    "numrange": 2,
    "SIrange": 3,
    "qtyrange": 3,
}
_COMMAND = re.compile(r"\\([a-zA-Z]+)")


def quantity(name: str, scanner: LatexScanner) -> str:
    """What a command stands for, whose arguments are read."""
    scanner.option()
    arguments = [scanner.argument().strip() for _ in range(QUANTITIES[name])]
    unit = ""
    if name not in ("num", "ang", "numrange"):
        unit = _unit(arguments.pop())
    number = "–".join(arguments) + "°" * (name == "ang")
    return f"{number} {unit}".strip()


def _unit(unit: str) -> str:
    """A unit; a command that is no character is written by its name."""
    names = _COMMAND.sub(
        lambda match: CHARACTERS.get(match[1], f" {match[1]} "), unit.replace("~", " ")
    )
    return " ".join(names.split())

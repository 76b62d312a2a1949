"""Quantities of LaTeX's packages siunitx and SIunits: `\\SI{10}{\\kilo\\metre}` is 10 kilo metre."""

from __future__ import annotations

import re

from longmark.contrib.make.rag.latex_scan import LatexScanner
from longmark.contrib.make.rag.latex_words import CHARACTERS

# Commands -> how many arguments they have.
QUANTITIES = {
    "num": 1,
    "tablenum": 1,
    "ang": 1,
    "si": 1,
    "unit": 1,
    "SI": 2,
    "qty": 2,
    "numrange": 2,
    "SIrange": 3,
    "qtyrange": 3,
    "numlist": 1,
    "SIlist": 2,
    "qtylist": 2,
    "numproduct": 1,
    "qtyproduct": 2,
}
_WITHOUT_UNIT = frozenset({"num", "tablenum", "ang", "numrange", "numlist", "numproduct"})
_COMMAND = re.compile(r"\\([a-zA-Z]+)")
_UNCERTAINTY = re.compile(r"\s*(?:\\pm(?![a-zA-Z])|\+-|±)\s*")
_TIMES = re.compile(r"\s*(?:x|\\times(?![a-zA-Z]))\s*")
_DEGREES = ("°", "′", "″")


def quantity(name: str, scanner: LatexScanner) -> str:
    """What a command stands for, whose arguments are read."""
    scanner.option()
    arguments = [scanner.argument().strip() for _ in range(QUANTITIES[name])]
    unit = "" if name in _WITHOUT_UNIT else _unit(arguments.pop())
    if name in ("si", "unit"):
        return unit
    if name == "ang":
        return "".join(
            f"{part.strip()}{mark}"
            for part, mark in zip(arguments[0].split(";"), _DEGREES, strict=False)
            if part.strip()
        )
    if name.endswith("range"):
        first, last = arguments
        between = " to " if last.startswith(("-", "\\-")) or first.startswith("-") else "–"
        return f"{_number(first)}{between}{_number(last)} {unit}".strip()
    if name.endswith("list"):
        return ", ".join(_with_unit(part, unit) for part in arguments[0].split(";"))
    if name.endswith("product"):
        return " × ".join(_with_unit(part, unit) for part in _TIMES.split(arguments[0]))
    return _with_unit(arguments[0], unit)


def _with_unit(number: str, unit: str) -> str:
    return f"{_number(number.strip())} {unit}".strip()


def _number(number: str) -> str:
    return _UNCERTAINTY.sub(" ± ", number).strip()


def _unit(unit: str) -> str:
    """A unit; a command that is no character is written by its name."""
    names = _COMMAND.sub(
        lambda match: CHARACTERS.get(match[1], f" {match[1]} "), unit.replace("~", " ")
    )
    return " ".join(names.split()).replace("° C", "°C").replace("° F", "°F")

"""The scale that a label was given on, as a file of labels carries it in its column `label_scale`.

    1..5                whole numbers from 1 to 5
    None<Partial<Full   classes in their order, the lowest first
    yes|no|n/a          classes without an order

In a class `%`, `<`, `|`, a comma and `..` are percent-escaped (`%25`, `%3C`, `%7C`, `%2C`, `%2E%2E`). `longmark
annotate export` writes the column; readers of labels use it as they use `--order`, which wins where both are there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from longmark.errors import UserError
from longmark.records.files import text as file_text
from longmark.records.same import comparable
from longmark.records.values import Problem

LABEL_SCALE = "label_scale"
_ESCAPED = {"%": "%25", "<": "%3C", "|": "%7C", ",": "%2C", "..": "%2E%2E"}
NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
"""A value that is read as a number."""

_LARGEST_FILE = 1 << 20
"""Bytes of a file of classes."""
MOST_NUMBERS = 1_001
"""Whole numbers of a range; more are no scale that a person labels on."""


@dataclass(frozen=True, slots=True)
class DeclaredScale:
    """All classes that a rater could choose. ordered: they stand from the lowest to the highest."""

    classes: tuple[str, ...]
    ordered: bool

    def written(self) -> str:
        """As `read_scale` reads it."""
        if self.ordered and (span := _whole_numbers(self.classes)) is not None:
            return f"{span[0]}..{span[1]}"
        return ("<" if self.ordered else "|").join(map(_escaped, self.classes))


def scale_with(classes: Sequence[str], *, ordered: bool = False) -> DeclaredScale | None:
    """The scale of these classes; None where a file could not declare it: of one class, or of too many."""
    scale = DeclaredScale(tuple(classes), ordered)
    try:
        return scale if read_scale(scale.written()) == scale else None
    except Problem:
        return None


def read_scale(text: str) -> DeclaredScale:
    """The scale that a cell declares. Raises Problem for any other text."""
    low, dots, high = text.partition("..")
    if dots:
        if (
            not (_is_whole(low) and _is_whole(high))
            or not int(low) < int(high) < int(low) + MOST_NUMBERS
        ):
            raise Problem(f"{LABEL_SCALE}: expected whole numbers such as 1..5, found {text!r}")
        return DeclaredScale(tuple(map(str, range(int(low), int(high) + 1))), ordered=True)
    ordered = "<" in text
    classes = tuple(unquote(name).strip() for name in text.split("<" if ordered else "|"))
    if (
        (ordered and "|" in text)
        or len(classes) < 2
        or not all(classes)
        or len(_folded(classes)) < len(classes)
    ):
        raise Problem(
            f"{LABEL_SCALE}: expected 1..5, or two classes or more, each once, such as low<middle<high (in this order) "
            f"or yes|no (without one); found {text!r}"
        )
    return DeclaredScale(classes, ordered)


def declared_classes(scale: DeclaredScale) -> Sequence[str]:
    """The classes that a value can be. A word for none beside numbers alone, as an option of raters who have no rating
    to give, is none."""
    numbers = [name for name in scale.classes if NUMBER.fullmatch(name)]
    return scale.classes if len(numbers) < len(scale.classes) - 1 else numbers


def classes_of_order(text: str) -> list[str]:
    """The classes of `--order LABEL=LOWEST,…,HIGHEST`; a comma in a class is written `%2C`, a percent sign `%25`."""
    return [
        name
        for part in text.replace("\r", "\n").replace("\n", ",").split(",")
        if (name := unquote(part).strip())
    ]


def classes_of_option(text: str) -> list[str]:
    """The classes of an option: those of a file, one a line as it stands, of `@FILE` (`%40`: a class that begins so); else
    as `classes_of_order` reads them. UserError for a file that cannot be read, or has none."""
    if not text.startswith("@"):
        return classes_of_order(text)
    path = Path(text.removeprefix("@"))
    lines = file_text(path, _LARGEST_FILE).splitlines()
    classes = [line.strip() for line in lines if line.strip()]
    if not classes:
        raise UserError(f"{path} has no classes; write one on each line")
    return classes


def order_of(classes: Sequence[str]) -> str:
    """Classes as `--order` takes them."""
    return ",".join(name.replace("%", "%25").replace(",", "%2C") for name in classes)


def shown_classes(classes: Sequence[str]) -> str:
    """Classes in a message, in quotes where a comma in one would hide where the next one begins."""
    quote = '"' if any("," in name for name in classes) else ""
    return ", ".join(f"{quote}{name}{quote}" for name in classes)


def _escaped(name: str) -> str:
    for character, escape in _ESCAPED.items():
        name = name.replace(character, escape)
    return name


def _folded(classes: Sequence[str]) -> set[str]:
    return {comparable(name) for name in classes}


def _is_whole(text: str) -> bool:
    digits = text.strip().removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 10


def _whole_numbers(classes: Sequence[str]) -> tuple[int, int] | None:
    """The least and the greatest of whole numbers without a gap."""
    if not all(map(_is_whole, classes)):
        return None
    numbers = list(map(int, classes))
    return (
        (numbers[0], numbers[-1]) if numbers == list(range(numbers[0], numbers[-1] + 1)) else None
    )

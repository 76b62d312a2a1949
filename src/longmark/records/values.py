"""Single values of a record: what counts as missing, as text, as a name, as a list in a cell of a CSV file."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from longmark.errors import UnknownName
from longmark.records.files import NotJson, parse_json
from longmark.records.notation import NOTHING, NotRead, spelled
from longmark.records.same import canonical, caseless

_SHOWN = 40  # characters of a wrong value that a message shows
_EXACT = 2**53  # from here on a float no longer holds every whole number

_EXPECTED = {
    "string_type": "text",
    "string_unicode": "text that is UTF-8",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "dataclass_type": "an object",
}


class Problem(Exception):
    """What is wrong with one value: `field: what was expected, what was found`, on one line."""


def missing(value: Any) -> bool:
    """Null, or the NaN that tables of numbers put in its place."""
    return value is None or (isinstance(value, float) and value != value)


def found(value: Any) -> str:
    """A wrong value, short and on one line, for a message."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, str):
        excerpt = value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"
        return ascii(excerpt) if "\n" in excerpt or not excerpt.isprintable() else f'"{excerpt}"'
    return " ".join(str(value).split())[:_SHOWN]


def problems(
    error: ValidationError,
    names: Sequence[str] | Callable[[tuple[int | str, ...]], Sequence[str]] = (),
) -> list[tuple[tuple[int | str, ...], str]]:
    """What pydantic found wrong: the place, and what was expected and found there; the message of a check of ours.
    known: the keys that an unknown one is compared with, or what gives those of the part at a place."""
    all_found = error.errors(include_url=False)
    return [
        (
            error_entry["loc"],
            str(error_entry["ctx"]["error"])
            if error_entry["type"] == "value_error"
            else _problem(
                error_entry, names(error_entry["loc"][:-1]) if callable(names) else names
            ),
        )
        for error_entry in all_found
        if error_entry["type"] != "too_short"
        or not any(_within(later["loc"], error_entry["loc"]) for later in all_found)
    ]


def _within(inner: tuple[int | str, ...], outer: tuple[int | str, ...]) -> bool:
    """Whether a place is inside another one. pydantic also counts a list as too short where its elements are wrong."""
    return len(inner) > len(outer) and inner[: len(outer)] == outer


def in_one_line(error: ValidationError) -> str:
    """All `problems` of a record."""
    return "; ".join(
        f"{'.'.join(map(str, place))}: {problem}" if place else problem
        for place, problem in problems(error)
    )


def _problem(entry: Any, names: Sequence[str]) -> str:
    if entry["type"] == "missing":
        return "is missing"
    if entry["type"] in ("too_short", "string_too_short"):
        return "is empty"
    if entry["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        name = str(entry["loc"][-1])
        return (
            str(UnknownName("key", name, names, f"The keys are {', '.join(names)}."))
            if names
            else "is not known here"
        )
    expected = _EXPECTED.get(entry["type"]) or entry["msg"].removeprefix("Input should be ")
    number = "a number " if entry["type"].startswith(("greater", "less")) else ""
    quotes = entry["type"] == "string_type" and isinstance(entry["input"], (bool, int, float))
    return f"expected {number}{expected}, found {found(entry['input'])}{'; put it in quotes' if quotes else ''}"


@lru_cache(maxsize=1024)  # every record of a file has the same columns
def folded(column: str) -> str:
    """A column's name as it is compared: without case, with `-` and spaces as `_`."""
    return caseless(column.strip()).replace("-", "_").replace(" ", "_")


UNSTORABLE = (
    "a text with half a character (a lone surrogate), which cannot be stored as UTF-8; remove it"
)
"""What is wrong with a record that cannot be written as JSON again."""


def why_unstorable(error: TypeError) -> str:
    """What is wrong with a record, from the error of writing it as JSON."""
    return (
        f"has {UNSTORABLE}" if "surrogate" in str(error) else f"cannot be stored as JSON ({error})"
    )


def text(field: str, value: Any) -> str:
    """A text in normal form C. Raises Problem for anything else and for characters that cannot be stored or sent."""
    if not isinstance(value, str):
        raise Problem(f"{field}: expected text, found {found(value)}")
    if "\x00" in value:
        raise Problem(f"{field}: contains a NUL character; remove it")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            code = ord(value[error.start])
            if 0xDC80 <= code <= 0xDCFF:  # what `surrogateescape` makes of a byte that is not UTF-8
                raise Problem(
                    f"{field}: is not UTF-8 (byte 0x{code - 0xDC00:02X}); save the file as UTF-8"
                ) from None
            raise Problem(
                f"{field}: contains half a character (the lone surrogate U+{code:04X}); remove it"
            ) from None
    return canonical(value)


def name(field: str, value: Any) -> str | None:
    """The text of an id or another name; a number becomes text (1 and 1.0: `1`), an empty text None."""
    if isinstance(value, str):
        return text(field, value) or None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Problem(f"{field}: expected text or a number, found {found(value)}")
    if isinstance(value, float) and value.is_integer():
        if abs(value) >= _EXACT:
            raise Problem(
                f"{field}: {value!r} has too many digits to be read exactly as a number; write it in quotes"
            )
        value = int(value)
    return str(value)


_PASSAGES = frozenset(("text", "content", "page_content", "passage", "documents", "contexts"))
"""Keys by which a text that spells an object is no passage of that very text."""


def as_list_cell(field: str, cell: Any) -> Any:
    """A cell as the list it spells (JSON, or what Python prints for a list), or as it is if it is a text. Of passages
    and references `None` and `nan` are none; a text of passages that spells an object with passages is that object.

    Raises Problem for a cell that begins and ends like a list but is none (NumPy prints lists without commas).
    """
    trimmed = cell.strip() if isinstance(cell, str) else ""
    if field in ("contexts", "references") and trimmed in NOTHING:
        return []
    spells: Any = cell
    if trimmed.startswith(("[", "{")):
        try:
            spells = parse_json(trimmed)
        except NotJson:
            pass
        except ValueError as error:
            raise Problem(f"{field}: {error}") from None
    if trimmed.endswith(("]", ")", "}")) and isinstance(spells, str):
        try:
            spells = spelled(cell)
        except NotRead as error:
            raise Problem(f"{field}: {error}") from None
    if isinstance(spells, dict) and isinstance(cell, str):
        return spells if field == "contexts" and _PASSAGES & spells.keys() else cell
    return spells


_CYRILLIC = "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb"
_CYRILLIC_CAPITALS = (
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405"
)
_GREEK = "\u03bf\u03bd\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
_ALIKE = str.maketrans(
    _CYRILLIC + _CYRILLIC_CAPITALS + _GREEK, "aeopcyxijshABEKMHOPCTYXIJSovABEZHIKMNOPTYX"
)


def looks(name: str) -> str:
    """What names share that are hard to tell apart: without case, width, and the script of letters that look alike."""
    return " ".join(caseless(unicodedata.normalize("NFKC", name).translate(_ALIKE)).split())

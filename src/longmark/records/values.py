"""Single values of a record: what counts as missing, as text, as a label, as a list in a cell of a CSV file."""

from __future__ import annotations

import ast
import io
import tokenize
from typing import Any

from longmark.records.json_data import NotJson, parse_json

_SHOWN = 40  # characters of a wrong value that a message shows
_EXACT = 2**53  # from here on a float no longer holds every whole number


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
        shown = value if len(value) <= _SHOWN else value[: _SHOWN - 1] + "…"
        return ascii(shown) if "\n" in shown or not shown.isprintable() else f'"{shown}"'
    return " ".join(str(value).split())[:_SHOWN]


def text(field: str, value: Any) -> str:
    """A text as it is. Raises Problem for anything else and for characters that cannot be stored or sent."""
    if not isinstance(value, str):
        raise Problem(f"{field}: expected text, found {found(value)}")
    if "\x00" in value:
        raise Problem(f"{field}: holds a NUL character; take it out")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise Problem(f"{field}: {_not_unicode(value[error.start])}") from None
    return value


def label(field: str, value: Any) -> str | None:
    """The text of an id or another name; a number becomes text (1 and 1.0: `1`), an empty text None."""
    if isinstance(value, str):
        return text(field, value) or None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Problem(f"{field}: expected text or a number, found {found(value)}")
    if isinstance(value, int):
        return str(value)
    if not value.is_integer():
        return repr(value)
    if abs(value) >= _EXACT:
        raise Problem(f"{field}: {value!r} has too many digits to be read exactly as a number; write it in quotes")
    return str(int(value))


def as_list_cell(field: str, cell: Any) -> Any:
    """A cell as the list it spells (JSON, or what Python prints for a list), or as it is where it is a text.

    A cell that begins and ends like a list but is none (NumPy prints lists without commas) raises Problem.
    """
    trimmed = cell.strip() if isinstance(cell, str) else ""
    if not trimmed.startswith("["):
        return cell
    try:
        return parse_json(trimmed)
    except NotJson:
        pass
    except ValueError as error:
        raise Problem(f"{field}: {error}") from None
    if not (trimmed.startswith(("['", '["', "[{'", '[{"')) and trimmed.endswith("]")):
        return cell
    listed = _python_list(trimmed)
    if listed is None:
        raise Problem(f'{field}: looks like a list but is none; write it as JSON: ["first", "second"]')
    return listed


def _python_list(cell: str) -> list[Any] | None:
    """The items of `['a', 'b']`; None where it is no such list, or has texts side by side without a comma."""
    try:
        value = ast.literal_eval(cell)
        tokens = [token.type for token in tokenize.generate_tokens(io.StringIO(cell).readline)]
    except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
        return None
    if not isinstance(value, list):
        return None
    texts_only = all(isinstance(item, str) for item in value)
    return None if texts_only and tokens.count(tokenize.STRING) != len(value) else value


def _not_unicode(char: str) -> str:
    if 0xDC80 <= ord(char) <= 0xDCFF:  # what `surrogateescape` makes of a byte that is not UTF-8
        return f"is not UTF-8 (byte 0x{ord(char) - 0xDC00:02X}); save the file as UTF-8"
    return f"holds half a character (the lone surrogate U+{ord(char):04X}); take it out"

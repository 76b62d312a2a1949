"""JSON that comes from a file: what every later step can keep, or the reason why not.

Refused: nesting beyond `DEPTH`, a key that an object has twice (a parser would silently take the last one), numbers
beyond the range of a float, `Infinity`. `NaN`, which tables of numbers have for a missing value, becomes null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

import orjson

from longmark.errors import UserError
from longmark.records import files

DEPTH = 100
"""Levels of objects and lists in one value. pydantic reads 200 and orjson writes 254, and records are written inside
rows, examples and pages."""

LARGEST = 1 << 30  # bytes of a JSON document, which is parsed whole

_START = 256  # bytes in which a text shows whether it has spaces after its keys, which orjson does not write
_NO_UTF8 = re.compile("[\udc80-\udcff]")  # what `surrogateescape` makes of bytes that are not UTF-8
_KEY = re.compile(rb'"[ \t\r\n]*:')
_NO_KEY = re.compile(rb'\\"[ \t\r\n]*:')


class Flaw:
    """Stands in a parsed document for a value that JSON does not allow; message: why, on one line.

    No dataclass, for orjson would write it.
    """

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


class NotJson(ValueError):
    """Text that is not JSON at all, as opposed to JSON that is refused."""


def parse_json(raw: bytes | str, *, strict: bool = False) -> Any:
    """A JSON value. ValueError, with a short reason, where it is none or has what the module's docstring refuses.

    strict: `NaN` is refused too, as in files of ours, which have none.
    """
    raw = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if strict:
            raise NotJson(f"is not JSON: {_reason(error)}") from None
        value = _with_flaws(raw, _reason(error))
        check(value)
        return value
    if raw.find(b'": ', 0, _START) < 0 and compact(value) == raw.strip():
        return value  # as orjson writes it, so no key was dropped
    if _repeats_a_key(raw, _keys(value, DEPTH)):
        check(_with_flaws(raw))
    return value


def parse_document(raw: bytes) -> Any:
    """As `parse_json`, but the document is kept where only a part of it is wrong: `check` each of its records.

    ValueError where the whole cannot be parsed.
    """
    try:
        value = orjson.loads(raw)
        return _with_flaws(raw) if _repeats_a_key(raw, _keys(value, DEPTH + 2)) else value
    except orjson.JSONDecodeError as error:
        return _with_flaws(raw, _reason(error))
    except _TooDeep:
        return _with_flaws(raw)


def check(value: Any) -> None:
    """ValueError where a parsed value nests too deeply or holds a Flaw."""
    if compact(value) is None and (message := flaw(value)):
        raise ValueError(message)


def read_object(path: Path, remedy: str) -> dict[str, Any]:
    """The JSON object that a file of ours holds. remedy: what to do, for the message.

    UserError where the file cannot be read or holds no JSON object.
    """
    try:
        found = parse_json(files.content(path, LARGEST), strict=True)
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}); {remedy}") from None
    if not isinstance(found, dict):
        raise UserError(f"{path} is damaged (no JSON object); {remedy}")
    return found


def _levels_that_orjson_writes() -> int:
    """254 or 255, by its version."""
    value: list[Any] = []
    levels = 0
    with suppress(orjson.JSONEncodeError):
        while levels < 1000:
            orjson.dumps(value)
            value, levels = [value], levels + 1
    return levels


_AROUND = _levels_that_orjson_writes() - DEPTH
_writing = Lock()
_innermost: list[Any] = [None]
_shell: list[Any] = _innermost
for _ in range(_AROUND - 1):
    _shell = [_shell]


def compact(value: Any) -> bytes | None:
    """A value as orjson writes it; None where it cannot be written or has more than DEPTH levels.

    orjson counts levels as it writes, many times faster than Python could: inside so many lists that only DEPTH levels
    are left of those that it writes.
    """
    with _writing:
        _innermost[0] = value
        try:
            written = orjson.dumps(_shell)
        except orjson.JSONEncodeError:
            return None
        finally:
            _innermost[0] = None
    return written[_AROUND:-_AROUND]


def flaw(value: Any, levels: int = DEPTH) -> str | None:
    """Why a value is refused: it holds a Flaw, or has more levels; None where it is fit."""
    if isinstance(value, Flaw):
        return value.message
    if not isinstance(value, (dict, list, tuple)):
        return None
    if not levels:
        return str(_TooDeep())
    parts = value.values() if isinstance(value, dict) else value
    return next((why for part in parts if (why := flaw(part, levels - 1))), None)


class _TooDeep(ValueError):
    def __init__(self) -> None:
        super().__init__(f"is nested more than {DEPTH} levels deep")


def _repeats_a_key(raw: bytes, keys: int) -> bool:
    """Whether an object of the text may have a key twice. keys: of the objects that the text parses to.

    A quotation mark before a colon ends a key, unless it is escaped. True without need where the backslash before it is
    itself escaped.
    """
    surplus = len(_KEY.findall(raw)) - keys
    return surplus > 0 and (surplus > len(_NO_KEY.findall(raw)) or b'\\\\"' in raw)


def _keys(value: Any, levels: int) -> int:
    """How many keys the objects of a value have. _TooDeep where it has more than `levels`."""
    parts: Iterable[Any]
    if type(value) is dict:
        count, parts = len(value), value.values()
    elif type(value) is list:
        count, parts = 0, value
    else:
        return 0
    if not levels:
        raise _TooDeep
    for part in parts:
        if type(part) is dict or type(part) is list:
            count += _keys(part, levels - 1)
    return count


def _reason(error: orjson.JSONDecodeError) -> str:
    return str(error).split(": line ")[0]


def _with_flaws(raw: bytes, reason: str = "") -> Any:
    """By the slower parser of the standard library, which tells of keys and constants. reason: why orjson failed."""
    text = raw.decode("utf-8", "surrogateescape")
    if escaped := _NO_UTF8.search(text):
        raise NotJson(f"is not UTF-8 (byte 0x{ord(escaped[0]) - 0xDC00:02X}); save the file as UTF-8")
    try:
        return json.loads(text, parse_constant=_constant, parse_int=_int, parse_float=_float, object_pairs_hook=_object)
    except RecursionError:
        raise _TooDeep from None
    except ValueError:
        raise NotJson(f"is not JSON: {reason}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Flaw:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return Flaw(f"has the key {_shown(twice)} twice in one object; remove or rename one")


def _constant(name: str) -> Flaw | None:
    return None if name == "NaN" else Flaw(f"holds {name}, which is no JSON number; write null or a finite number")


def _int(digits: str) -> int | float | Flaw:
    """Whole numbers beyond 64 bits as orjson reads them."""
    return int(digits) if len(digits) <= 18 else _float(digits)


def _float(digits: str) -> float | Flaw:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        return Flaw(f"holds the number {_shown(digits)}, which is too large; write it in quotes, or null")
    return number


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 40 else text[:39] + "…")

"""Files as every reader opens them, JSON out of them, and what errors say of them; whatever fails is a UserError.

A file is a regular one, read at once only up to a size, and what it holds is bounded in values as in bytes: a few
bytes can stand for a value that takes a hundred. Refused in JSON, since a later step could not keep it: nesting
beyond `DEPTH`, a key that an object has twice (a parser would keep the last one), numbers beyond the range of a float,
`Infinity`. `NaN`, which tables of numbers use for a missing value, becomes null.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from longmark.errors import BadInput, UserError

DEPTH = 100
"""Levels of objects and lists in one value. pydantic reads 200 and orjson writes 254, and records are written inside
rows, examples and pages."""

LARGEST = 1 << 30  # bytes of a JSON document, which is parsed at once
LONGEST_LINE = 1 << 26  # bytes of a record of a JSON Lines file
MOST_VALUES = 2_000_000
"""Values of one record, in every format: texts, numbers, lists and objects, those inside each other counted each. A
value takes up to some 120 bytes of memory, however few its file has, so that a record takes less than 1 GiB."""
MOST_AT_ONCE = 20_000_000
"""Values of a document that is parsed at once."""
LARGEST_RATIO = 200
"""Bytes that one byte of an archive may stand for. Logs of agents, which repeat themselves, come to some 50."""
ALWAYS_UNPACKED = 1 << 26
"""Bytes to which any archive may unpack, whatever its ratio."""
BAD_SHOWN = 50  # how many bad records are named; the rest is counted
REMAKE = "repeat the command that made it with another --out (the call cache still has the replies)"
"""What to do about a run folder with a damaged manifest."""

# Control characters, line separators, overrides of direction and lone surrogates.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def one_line(text: str) -> str:
    """A message on one line: a line feed or control character (of an id, say) is shown as its escape."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def at(name: object, line: object, message: str) -> str:
    """`name:line: message`, on one line."""
    return one_line(f"{name}:{line}: {message}")


class BadLines:
    """What is wrong with the records of a source: the first BAD_SHOWN messages, each on one line, and the count."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.total = 0

    def add(self, message: str) -> None:
        self.total += 1
        if len(self.lines) < BAD_SHOWN:
            self.lines.append(one_line(message))

    def check(self) -> None:
        """Raises BadInput if a record is bad."""
        if self.total:
            raise BadInput(self.lines, self.total)


# Bytes and text -------------------------------------------------------------------------------------------------------
def check_regular(path: Path, called: str = "") -> None:
    """UserError if there is no such file, or it is a folder, pipe or device. called: its name in messages."""
    called = called or str(path)
    try:
        if path.is_dir():
            raise UserError(f"{called} is a folder; name a file")
        if path.is_symlink() and not path.exists():
            raise UserError(
                f"{called} is a link that leads to no file, or to itself; name the file that is meant"
            )
        if not path.exists():
            raise UserError(f"{path} does not exist")
        if not path.is_file():
            raise UserError(f"{called} is a pipe or a device; save its content in a file first")
    except OSError as error:
        raise UserError(f"{called} cannot be read: {error.strerror or error}") from error


@contextmanager
def opened(path: Path, called: str = "") -> Iterator[BinaryIO]:
    """A regular file, open for reading. UserError as `check_regular`, and for any OSError inside the block."""
    check_regular(path, called)
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise UserError(f"{called or path} cannot be read: {error.strerror or error}") from error


def content(path: Path, largest: int, called: str = "") -> bytes:
    """All bytes of a regular file. UserError as `opened`, and if there are more than `most`."""
    with opened(path, called) as file:
        raw = file.read(largest + 1)
    if len(raw) > largest:
        limit = f"{largest >> 20:,} MiB" if largest >> 20 else f"{largest >> 10:,} KiB"
        raise UserError(f"{called or path} is larger than the limit of {limit}; make it smaller")
    return raw


def text(path: Path, limit: int, called: str = "") -> str:
    """The UTF-8 text of a regular file, without a byte order mark. UserError as `content`, and if it is not UTF-8."""
    raw = content(path, limit, called)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        message = f"is not UTF-8 (byte 0x{raw[error.start]:02X}); save it as UTF-8"
        raise UserError(at(called or path, line, message)) from None


def lines(path: Path, encoding: str = "", start: int = 0) -> Iterator[tuple[int, bytes]]:
    """(number from 1, line with its end) of a regular file, as UTF-8. encoding: of the file, "": UTF-8; start: the byte
    at which the first line begins. UserError as `opened`, and for a line without an end."""
    with opened(path) as raw:
        raw.seek(start)
        raw_lines: Iterator[bytes] = iter(partial(raw.readline, LONGEST_LINE + 1), b"")
        if encoding:
            text = io.TextIOWrapper(raw, encoding, "surrogateescape", newline="\n")
            raw_lines = (
                line.encode(errors="surrogateescape")
                for line in iter(partial(text.readline, LONGEST_LINE + 1), "")
            )
        for number, line in enumerate(raw_lines, 1):
            if len(line) > LONGEST_LINE:
                raise UserError(
                    at(
                        path,
                        number,
                        f"is longer than the limit of {LONGEST_LINE >> 20} MiB for a line",
                    )
                )
            yield number, line


def unpacked_limit(packed: int, largest: int = LARGEST) -> int:
    """Bytes to which an archive, or a part of one, of so many bytes may unpack; `most` at most."""
    return min(largest, max(ALWAYS_UNPACKED, LARGEST_RATIO * packed))


# JSON -----------------------------------------------------------------------------------------------------------------
class NotJson(ValueError):
    """Text that is not JSON, as opposed to JSON that is refused."""


class Flaw:
    """Stands in a parsed document for a value that is refused; message: why, on one line.

    No dataclass, because orjson would write it.
    """

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


def parse_json(raw: bytes | str, *, strict: bool = False, limit: int = 0) -> Any:
    """A JSON value. ValueError with a short reason if it is not JSON, or holds what the module's docstring refuses.

    strict: `NaN` and halves of surrogate pairs are refused too, as in files of ours; most: values, 0: MOST_VALUES.
    """
    raw = raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw
    check_values(raw, limit or MOST_VALUES)
    if (value := _as_orjson_writes(raw)) is not None:
        return value
    if strict and (b"NaN" in raw or b"\\u" in raw):
        try:
            orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise NotJson(f"is not JSON: {str(error).split(': line ')[0]}") from None
    value = parse_document(raw)
    check(value)
    return value


def own_json(raw: bytes | str) -> Any:
    """The value of a line that longmark wrote, which may be damaged or a stranger's. ValueError if it cannot be
    read."""
    check_values(raw, MOST_VALUES)
    return orjson.loads(raw)


def check_values(raw: bytes | str, limit: int) -> None:
    """ValueError if a JSON text has more values. Nothing is parsed; a text that is too short for so many costs
    nothing."""
    if len(raw) > 2 * limit and (count := values_in(raw, limit)) > limit:
        raise ValueError(
            f"has {count:,} values, more than the limit of {limit:,}; leave out what is not scored, or split it"
        )


def check_texts(record: Any, limit: int = 0) -> None:
    """ValueError if the JSON texts in a record, such as the cells of a table, have more values together (0:
    MOST_VALUES): readers look into them, and keep what several of them hold. Nothing is parsed."""
    texts = []
    length = 0
    waiting = [record]
    while waiting:
        value = waiting.pop()
        for part in value.values() if type(value) is dict else value:
            kind = type(part)
            if kind is str:
                if part[:1] in _STARTS_JSON:
                    texts.append(part)
                    length += len(part)
            elif kind is dict or kind is list:
                waiting.append(part)
    limit = limit or MOST_VALUES
    if length > 2 * limit and (count := sum(values_in(item, limit) for item in texts)) > limit:
        raise ValueError(
            f"has {count:,} values in its JSON texts together, more than the limit of {limit:,}; leave out what is not "
            "scored, or split it"
        )


def values_in(raw: bytes | str, exact_above: int = 0) -> int:
    """How many values a JSON text has, or a text that begins like one: counted by the commas and the brackets that
    open. Those inside texts count too, unless the count is above `exact_above`."""
    if isinstance(raw, bytes):
        marks = sum(map(raw.count, (b",", b"[", b"{")))
        if marks <= exact_above:
            return marks + 1
        raw = _TEXT_OF_BYTES.sub(b"", raw)
        return sum(map(raw.count, (b",", b"[", b"{"))) + 1
    marks = sum(map(raw.count, ",[{"))
    if marks <= exact_above:
        return marks + 1
    return sum(map(_TEXT.sub("", raw).count, ",[{")) + 1


def parse_document(raw: bytes, limit: int = 0) -> Any:
    """As `parse_json`, but if only a part is refused, a `Flaw` stands in its place: `check` each record.

    ValueError if the document cannot be parsed, or has more than `most` values (0: MOST_AT_ONCE).
    """
    check_values(raw, limit or MOST_AT_ONCE)
    try:
        return _DECODER.decode(raw.decode())
    except UnicodeDecodeError as error:
        raise NotJson(
            f"is not UTF-8 (byte 0x{raw[error.start]:02X}); save the file as UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        raise NotJson(f"is not JSON: {error.msg} (character {error.pos + 1:,})") from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def element(text: str, at: int, ended: bool) -> tuple[Any, int] | None:
    """The value that begins at a place of a text, as of `parse_document`, and where it ends. None if the text has not
    ended and may have more of it."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        if not ended and (
            error.msg.startswith("Unterminated string") or error.pos >= len(text) - _TOKEN
        ):
            return None
        raise NotJson(f"is not JSON: {error.msg}: {text[error.pos : error.pos + 20]!r}") from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    whole = (
        isinstance(value, dict | list | str | Flaw) or end < len(text) - _TOKEN
    )  # a number may go on
    return (value, end) if ended or whole else None


def check(value: Any) -> None:
    """ValueError if a parsed value nests too deeply or holds a Flaw."""
    if why := flaw(value):
        raise ValueError(why)


def flaw(value: Any, levels: int = DEPTH) -> str | None:
    """Why a value is refused: it holds a Flaw, or has more levels. None if it is fit."""
    if isinstance(value, Flaw):
        return value.message
    if not isinstance(value, (dict, list, tuple)):
        return None
    if not levels:
        return _TOO_DEEP
    for part in value.values() if isinstance(value, dict) else value:
        if type(part) is not str and (why := flaw(part, levels - 1)):
            return why
    return None


def read_object(path: Path, remedy: str, limit: int = LARGEST) -> dict[str, Any]:
    """The JSON object of a file of ours. remedy: what to do, for the message; most: bytes of the file.

    UserError if the file cannot be read or holds no JSON object.
    """
    try:
        parsed = parse_json(content(path, limit), strict=True)
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}); {remedy}") from None
    if not isinstance(parsed, dict):
        raise UserError(f"{path} is damaged (no JSON object); {remedy}")
    return parsed


_TOO_DEEP = f"is nested more than {DEPTH} levels deep"
_TOKEN = 16  # characters that a piece of JSON has at most that cannot be read without its end, but for texts
_STARTS_JSON = frozenset('{["')
_TEXT = re.compile(r'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)  # possessive: nothing is kept to go back to
_TEXT_OF_BYTES = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_START = 256  # bytes in which a text shows whether it has spaces after its keys, which orjson does not write


def _as_orjson_writes(raw: bytes) -> Any:
    """The value of a text in orjson's own form, in which no key was lost; None for any other text (the usual case for
    files of ours, several times faster than the parser that sees every key)."""
    if raw.find(b'": ', 0, _START) >= 0:
        return None
    try:
        value = orjson.loads(raw)
        shallow = raw.count(b"{") + raw.count(b"[") <= DEPTH or flaw(value) is None
        return value if shallow and orjson.dumps(value) == raw.strip() else None
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | Flaw:
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
    return Flaw(f"has the key {_shown(twice)} twice in one object; remove or rename one")


def _constant(name: str) -> Flaw | None:
    return (
        None
        if name == "NaN"
        else Flaw(f"holds {name}, which is not valid JSON; write null or a finite number")
    )


def _int(digits: str) -> int | float | Flaw:
    """Whole numbers beyond 64 bits become floats, as orjson reads them."""
    if len(digits) <= 20 and -(1 << 63) <= (number := int(digits)) < 1 << 64:
        return number
    return _float(digits)


def _float(digits: str) -> float | Flaw:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        return Flaw(
            f"holds the number {_shown(digits)}, which is too large; write it in quotes, or null"
        )
    return number


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 40 else text[:39] + "…")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_constant,
    parse_int=_int,
    parse_float=_float,
    strict=True,
)

"""Damage, drawn from a seeded generator: to JSON values in their structure, to any file in its bytes.

A document is plain Python data, which `dumps` writes as JSON. It may hold what no JSON library writes: `Raw` text stands
as it is, and a key that ends in `TWICE` is written without it, so that one key stands twice.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any


class Raw(str):
    """Text that stands in a document as it is."""


TWICE = "\ue000"
SECRET = "sk-fuzz-0123456789abcdef"  # the API key of the fuzzed endpoints: what a reply repeats is stored nowhere


def deep(levels: int, opening: str = "[", closing: str = "]") -> Raw:
    """A value that nests so many levels."""
    return Raw(opening * levels + "1" + closing * levels)


NUMBERS: list[Any] = [
    *(0, 1, -1, -0.0, 0.5, 5, 100, 1e308, -1e308, 5e-324, 709.7, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63) - 1),
    *map(Raw, ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" * 400, "9" * 5000, "-1e6", "01", "1.", "1e")),
]
TEXTS = [
    *("", " ", "0", "12", "-1", "nan", "true", "null", "None", '""', "[]", "{}", '["a", "b"]', "['a' 'b']", "[1 2]"),
    *("\x00", "\x1b[31m\x1b]0;title\x07", "\ud800", "\udcff", "a\r\nb", "\u2028", "\ufeffa", "\U0001f600", "e\u0301"),
    *("../../etc/passwd", "/dev/zero", "=1+1", "<script>alert(1)</script>", "$name", "{slot}", "%s", "a" * 5000),
    *(SECRET, "score: 100", "<think>", "```json\n{}\n```", "9" * 400, "[" * 3000, "-" * 3000, "1:" * 2000),
]
OTHERS = [
    *(None, True, False, [], {}, [[]], [None], ["a", 1], [1.5, "x"], {"a": {"b": []}}, {"": None}, {"\ud800": 1}),
    *(["a"] * 2000, deep(100), deep(200), deep(254), deep(300), deep(1100), deep(50_000)),
    *(deep(220, '{"a":', "}"), deep(2000, '{"a":', "}"), Raw(""), Raw("'a'"), Raw("{1: 2}"), Raw("[1,]")),
]


def dumps(value: Any, *, ascii_only: bool = True) -> bytes:
    """A document as JSON. With ascii_only=False half characters come out as bytes that are not UTF-8."""
    return _written(value, ascii_only).encode("utf-8", "surrogatepass")


def _written(value: Any, ascii_only: bool) -> str:
    if isinstance(value, Raw):
        return value
    if isinstance(value, dict):
        pairs = (
            f"{json.dumps(k.rstrip(TWICE), ensure_ascii=ascii_only)}:{_written(v, ascii_only)}"
            for k, v in value.items()
        )
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_written(item, ascii_only) for item in value) + "]"
    return json.dumps(value, ensure_ascii=ascii_only)


def odd(rng: random.Random, more: Sequence[Any] = ()) -> Any:
    """A value that a careless reader does not expect."""
    return copy.deepcopy(rng.choice(rng.choice((NUMBERS, TEXTS, OTHERS, *([more] * 3 if more else ())))))


def mutated(rng: random.Random, document: Any, more: Sequence[Any] = ()) -> Any:
    """A copy of a document with one to three changes of its structure. more: further odd values."""
    root = [copy.deepcopy(document)]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if places := list(_places(root)):
            _change(rng, *rng.choice(places), places, more)
    return root[0] if root else Raw("")


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    """(container, key or index) of every value beneath a node."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        yield node, key
        if isinstance(node[key], (dict, list)) and len(node[key]) < 100:
            yield from _places(node[key])


def _change(rng: random.Random, node: Any, key: Any, places: list[tuple[Any, Any]], more: Sequence[Any]) -> None:
    value = node[key]
    match rng.randrange(10):
        case 0 | 1 | 2:
            node[key] = odd(rng, more)
        case 3:  # the same in another type
            numeric = isinstance(value, (int, float))
            node[key] = rng.choice(
                ([value], {"value": value}, -value if numeric else None, f"{value}", [value] * 40, value * 40)
                if numeric or isinstance(value, (str, list))
                else ([value], {"value": value}, f"{value}")
            )
        case 4:
            del node[key]
        case 5:  # one more
            if isinstance(node, dict):
                node[rng.choice(TEXTS)] = odd(rng, more)
            else:
                node.insert(key, odd(rng, more))
        case 6:  # once more
            if isinstance(node, dict):
                node[f"{key}{TWICE}"] = rng.choice((value, odd(rng, more)))
            else:
                node.insert(key, copy.deepcopy(value))
        case 7:
            other, place = rng.choice(places)
            if isinstance(other, dict) and place in other or isinstance(other, list) and place < len(other):
                node[key] = copy.deepcopy(other[place])
        case 8:
            if isinstance(node, dict):
                node[rng.choice((key.upper(), f" {key}", f"{key}s", key[:-1], key.replace("_", "-")))] = node.pop(key)
            else:
                rng.shuffle(node)
        case 9:
            node[key] = rng.choice(NUMBERS)


_INSERTED = [
    *(
        b"\x00",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\r",
        b"\n",
        b"\r\n",
        b"\x1a",
        b"\x1b[2J",
    ),
    *(b'"', b"'", b"\\", b"{", b"}", b"[", b"]", b",", b":", b" ", b"-", b"0", b"9" * 30, b"\xe2\x80\xa8", b"\\ud800"),
]


def damaged(rng: random.Random, raw: bytes, tokens: Sequence[bytes] = ()) -> bytes:
    """Bytes with one to four changes. tokens: what means something in such a file, to be put in anywhere."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = min(
            int(len(raw) * rng.choice((rng.random(), rng.random(), rng.random() ** 8, 1 - rng.random() ** 8))), len(raw)
        )
        end = at + int(rng.random() ** 3 * 200)
        match rng.randrange(10):
            case 0 | 1:
                raw = raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1 :]
            case 2 | 3 | 4:
                raw = raw[:at] + rng.choice(tokens if tokens and rng.random() < 0.7 else _INSERTED) + raw[at:]
            case 5:
                raw = raw[:at]
            case 6:
                raw = raw[:at] + raw[end:]
            case 7:
                raw = raw[:end] + raw[at:end] + raw[end:]
            case 8:  # many times
                part = raw[at : at + rng.choice((1, 2, 8, 40))]
                raw = raw[:at] + part * min(rng.choice((50, 1000, 40_000)), 200_000 // (len(part) or 1)) + raw[at:]
            case 9:
                raw = rng.choice(
                    (raw[end:], b"\xef\xbb\xbf" + raw, raw.decode("latin-1").encode("utf-16"), raw[::-1], b"")
                )
    return raw

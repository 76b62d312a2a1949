"""Damage, drawn from a seeded generator: to JSON values in their structure, to any file in its bytes.

A document is plain Python data, which `dumps` writes as JSON. It may hold what no JSON library writes: `Raw` text
stands as it is, and a key that ends in `TWICE` is written without it, so that one key stands twice.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any


def each(text: str) -> list[str]:
    """What stands between the bars of a text."""
    return text.split("|")


class Raw(str):
    """Text that stands in a document as it is."""


TWICE = "\ue000"
SECRET = "sk-fuzz-0123456789abcdef"  # the API key of the fuzzed endpoints: what a reply repeats is stored nowhere


def deep(levels: int, opening: str = "[", closing: str = "]") -> Raw:
    """A value that nests so many levels."""
    return Raw(opening * levels + "1" + closing * levels)


NUMBERS: list[Any] = [
    *(
        0,
        1,
        -1,
        -0.0,
        0.5,
        5,
        100,
        1e308,
        -1e308,
        5e-324,
        709.7,
        2**31,
        2**53 + 1,
        2**63,
        2**64,
        -(2**63) - 1,
    ),
    *map(Raw, each(f"NaN|Infinity|-Infinity|1e999|-1e999|-1e6|01|1.|1e|{'1' * 400}|{'9' * 5000}")),
]
TEXTS = [
    *each(
        '| |0|12|-1|nan|true|null|None|""|[]|{}|["a", "b"]|[\'a\' \'b\']|[1 2]|=1+1|$x|{x}|%s|score: 100|<think>'
    ),
    *each(
        "\x00|\x1b[31m\x1b]0;title\x07|\ud800|\udcff|a\r\nb|\u2028|\ufeffa|\U0001f600|e\u0301|../../x|/dev/zero"
    ),
    *(
        SECRET,
        "<script>alert(1)</script>",
        "```json\n{}\n```",
        "a" * 5000,
        "[" * 3000,
        "-" * 3000,
        "1:" * 2000,
    ),
]
OTHERS: list[Any] = [
    *(
        None,
        True,
        False,
        [],
        {},
        [[]],
        [None],
        ["a", 1],
        [1.5, "x"],
        {"a": {"b": []}},
        {"": None},
        {"\ud800": 1},
    ),
    *(["a"] * 2000, deep(100), deep(200), deep(254), deep(300), deep(1100), deep(50_000)),
    *(
        deep(220, '{"a":', "}"),
        deep(2000, '{"a":', "}"),
        Raw(""),
        Raw("'a'"),
        Raw("{1: 2}"),
        Raw("[1,]"),
    ),
]


def dumps(value: Any, *, ascii_only: bool = True) -> bytes:
    """A document as JSON. With ascii_only=False half characters come out as bytes that are not UTF-8."""
    return _written(value, ascii_only).encode("utf-8", "surrogatepass")


def _written(value: Any, ascii_only: bool) -> str:
    if isinstance(value, dict):
        keys = (json.dumps(key.rstrip(TWICE), ensure_ascii=ascii_only) for key in value)
        values = (_written(item, ascii_only) for item in value.values())
        return "{" + ",".join(map("{}:{}".format, keys, values)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_written(item, ascii_only) for item in value) + "]"
    return value if isinstance(value, Raw) else json.dumps(value, ensure_ascii=ascii_only)


def odd(rng: random.Random, more: Sequence[Any] = ()) -> Any:
    """A value that a careless reader does not expect."""
    return copy.deepcopy(
        rng.choice(rng.choice((NUMBERS, TEXTS, OTHERS, *([more] * 3 if more else ()))))
    )


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


def _change(
    rng: random.Random, node: Any, key: Any, places: list[tuple[Any, Any]], more: Sequence[Any]
) -> None:
    value, in_object = node[key], isinstance(node, dict)
    other, place = rng.choice(places)
    match rng.randrange(10):
        case 0:  # the same in another type
            node[key] = rng.choice(([value], {"value": value}, str(value), [value] * 40))
            if isinstance(value, (int, float, str, list)) and rng.random() < 0.5:
                node[key] = -value if isinstance(value, (int, float)) else value * 40
        case 1:
            del node[key]
        case 2 if in_object:
            node[rng.choice(TEXTS)] = odd(rng, more)
        case 3 if in_object:
            node[f"{key}{TWICE}"] = rng.choice((value, odd(rng, more)))
        case 4 if in_object:
            node[
                rng.choice((key.upper(), f" {key}", f"{key}s", key[:-1], key.replace("_", "-")))
            ] = node.pop(key)
        case 2 | 3:
            node.insert(key, rng.choice((copy.deepcopy(value), odd(rng, more))))
        case 4:
            rng.shuffle(node)
        case 5 if place in other if isinstance(other, dict) else place < len(other):
            node[key] = copy.deepcopy(other[place])
        case 6:
            node[key] = rng.choice(NUMBERS)
        case _:
            node[key] = odd(rng, more)


_INSERTED = [bytes([n]) for n in b"\x00\xff\xc3\r\n\x1a\"'\\{}[],: -0"] + [
    *(
        b"\xed\xa0\x80",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\r\n",
        b"\x1b[2J",
        b"9" * 30,
        b"\xe2\x80\xa8",
        b"\\ud800",
    )
]


def damaged(rng: random.Random, raw: bytes, tokens: Sequence[bytes] = ()) -> bytes:
    """Bytes with one to four changes. tokens: what means something in such a file, to be put in anywhere."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        anywhere = rng.random()
        at = int(len(raw) * rng.choice((anywhere, anywhere, anywhere**8, 1 - anywhere**8)))
        end = at + int(rng.random() ** 3 * 200)
        match rng.randrange(10):
            case 0 | 1:
                raw = raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1 :]
            case 2:
                raw = raw[: rng.choice((at, end))]
            case 3:
                raw = raw[:at] + raw[end:]
            case 4:
                raw = raw[:end] + raw[at:end] + raw[end:]
            case 5:  # many times
                part = raw[at : at + rng.choice((1, 2, 8, 40))]
                raw = (
                    raw[:at]
                    + part * min(rng.choice((50, 1000, 40_000)), 200_000 // (len(part) or 1))
                    + raw[at:]
                )
            case 6:
                utf16 = raw.decode("latin-1").encode("utf-16")
                raw = rng.choice((raw[end:], b"\xef\xbb\xbf" + raw, utf16, raw[::-1], b""))
            case _:
                raw = (
                    raw[:at]
                    + rng.choice(tokens if tokens and rng.random() < 0.7 else _INSERTED)
                    + raw[at:]
                )
    return raw

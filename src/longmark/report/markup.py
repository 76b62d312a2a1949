"""Foreign text in HTML: escaped, on one line, kept from turning the direction of what stands beside it; lists of it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import orjson

from longmark.report.numbers import whole

_BIDI = dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))


def text(foreign: object) -> str:
    """Foreign text inside a line, kept from turning the direction of what stands beside it."""
    return f"<bdi>{line(foreign)}</bdi>"


def line(foreign: object) -> str:
    """Foreign text, escaped, without line ends: a paragraph separator would end the isolation of its direction."""
    return escape(" ".join(str(foreign).splitlines()))


def code(foreign: object) -> str:
    return f"<code>{line(foreign)}</code>"


BY = " by "
"""Stands in the name of a value between a metric's and whose mark it is, where several marked the same answers."""


def metric_name(name: str) -> str:
    """A metric's name with its family set back."""
    metric, by, whose = name.partition(BY)
    family, dot, last = metric.rpartition(".")
    whose = f" {by.strip()}&nbsp;{text(whose)}" if by else ""
    return f'<code class="metric"><span>{line(family + dot)}</span><wbr>{line(last)}{whose}</code>'


def plural(count: int, one: str, many: str = "") -> str:
    return f"{whole(count)} {one if count == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def upright(name: str) -> str:
    """A name for a title, where nothing can isolate it: without the marks that turn the direction of writing."""
    return " ".join(name.translate(_BIDI).split())


def scrolling(label: str, table: str) -> str:
    """A table that scrolls inside its own frame, by keyboard too."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">{table}</div>'


def flat(value: Any, before: str = "") -> dict[str, Any]:
    """{"a": {"b": 1}} as {"a.b": 1}."""
    found: dict[str, Any] = {}
    for key, entry in (value if isinstance(value, dict) else {}).items():
        found.update(flat(entry, f"{before}{key}.") if isinstance(entry, dict) else {f"{before}{key}": entry})
    return found


def pairs(values: dict[str, Any], none: str) -> str:
    if not values:
        return none
    lines = (
        f"<li>{code(name)} {text(value if isinstance(value, str) else orjson.dumps(value).decode())}</li>"
        for name, value in values.items()
    )
    return f"<ul class='pairs'>{''.join(lines)}</ul>"

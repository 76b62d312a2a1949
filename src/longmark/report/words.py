"""Lists and counts within sentences, plain text."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 4) -> str:
    """`a`, `a and b`, `a, b and c`; of more than `most`, how many more there are: `a, b, c and 7 more`."""
    shown = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def counted(count: int, one: str, several: str = "") -> str:
    """`1 pair`, `1,200 pairs`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"

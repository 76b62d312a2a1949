"""Names, lists and counts within sentences, plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

BY = " by "
"""Stands in the name of a score between the metric and who gave it, where several judges scored the same answers."""
_BIDI = dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))


def listed(names: Sequence[str], most: int = 4) -> str:
    """`a`, `a and b`, `a, b and c`; of more than `most`, how many more there are: `a, b, c and 7 more`."""
    shown = list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def counted(count: int, one: str, several: str = "") -> str:
    """`1 pair`, `1,200 pairs`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def upright(name: str) -> str:
    """A name for a title, where nothing can isolate it: without the characters that turn the direction of writing."""
    return " ".join(name.translate(_BIDI).split())


def metric_titles(names: Iterable[str]) -> dict[str, str]:
    """Metrics' names in words: `ccrs.question_relevance` -> `Question relevance`, `score.specificity.location by jury`
    -> `Specificity: location (jury)`. The family is added where two would be alike."""
    titles, families = {}, {}
    for name in names:
        metric, by, whose = name.partition(BY)
        family, _, rest = metric.partition(".")
        title = (rest or family).replace("_", " ").replace(".", ": ")
        titles[name] = title[:1].upper() + title[1:] + (f" ({whose})" if by else "")
        families[name] = family
    alike = list(titles.values())
    return {name: f"{title} ({families[name]})" if alike.count(title) > 1 else title for name, title in titles.items()}

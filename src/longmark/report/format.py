"""Numbers, counts, lists and names as people read them, in plain text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from longmark.metric_sources import title_of
from longmark.progress import counted as counted
from longmark.records.metric_name import without_slice
from longmark.scores.manifest import MetricFacts

NONE = "–"
HIGHER = "higher is better"
LOWER = "lower is better"
DESCRIPTIVE = "descriptive"
NEITHER = "neither"
NOT_KNOWN = "not known"
"""The directions of metrics, in every table and on every page."""
MOST_DECIMALS = 7
BY = " by "
"""Stands in the name of a score between the metric and who gave it, where several judges scored the same answers."""
_ENDPOINT = re.compile(r"@[^\s,]+")
_BIDI = dict.fromkeys((0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))


def decimals(facts: MetricFacts, least: float | None, greatest: float | None) -> int:
    """Decimals for the values of a metric: three on a scale of 1, one on a scale of 100; more where all scores are so
    small that these would show only zeros.

    least, greatest: the extreme scores seen; they give the scale where the metric has no bounds.
    """
    seen = max((abs(end) for end in (least, greatest) if end is not None), default=0.0)
    scale = max(abs(facts.lo or 0.0), abs(facts.hi or 0.0)) if facts.bounded else seen or 1.0
    places = 3 if scale <= 1 else 2 if scale <= 10 else 1
    if 0 < seen < 10.0 ** (1 - places):
        places = min(MOST_DECIMALS, math.ceil(-math.log10(seen)) + 1)
    return places


def short_models(names: Sequence[str]) -> list[str]:
    """Names of models (several are joined by ` + ` or `, `) without their endpoints, unless two endpoints serve one
    name."""
    short = [_ENDPOINT.sub("", name) for name in names]
    return short if len(set(short)) == len(set(names)) else list(names)


def direction(facts: MetricFacts) -> str:
    """Which direction of a metric is better; not known if no run declares it."""
    none = DESCRIPTIVE if facts.descriptive else NEITHER if facts.declared else NOT_KNOWN
    return {True: HIGHER, False: LOWER, None: none}[facts.higher_is_better]


def fixed(value: float | None, places: int) -> str:
    """A value, or a dash where there is none; never a minus before a zero."""
    if value is None:
        return "–"
    text = f"{value:,.{places}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.,") else text


def p_value(p: float | None) -> str:
    """`p = 0.004`, `p < 0.001`, `not tested`."""
    if p is None:
        return "not tested"
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def integer(count: float) -> str:
    return f"{count:,.0f}"


def share(part: float, of: float) -> str:
    """A percentage without decimals, with one below 10 %; a dash where the total is 0."""
    if not of:
        return "–"
    percent = 100 * part / of
    return f"{percent:.1f} %" if 0 < percent < 10 else f"{percent:.0f} %"


def dollars(usd: float | None) -> str:
    if usd is None:
        return "not known"
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}"


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {seconds_left:02d} s"


def listed(names: Sequence[str], most: int = 4) -> str:
    """`a`, `a and b`, `a, b and c`; of more than `most`, how many more there are: `a, b, c and 7 more`;
    of none, `none`."""
    if not names:
        return "none"
    parts = (
        list(names) if len(names) <= most else [*names[: most - 1], f"{len(names) - most + 1} more"]
    )
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def upright(name: str) -> str:
    """A name for a title, where nothing can isolate it: without the characters that turn the direction of writing."""
    return " ".join(name.translate(_BIDI).split())


def metric_titles(names: Iterable[str]) -> dict[str, str]:
    """Metrics' published names, with parameters and judge: `ccrs.question_relevance` -> `Question relevance`,
    `score.specificity.location by jury` -> `Specificity: location (jury)`, `classic.bleu@form=climaqa` -> `BLEU
    (form=climaqa)`, which can stand in a list; with the family where two would be alike."""
    titles = {}
    families = {}
    for name in names:
        full, by, whose = name.partition(BY)
        full, part = without_slice(full)
        metric, _, params = full.partition("@")
        title = (
            title_of(metric)
            + (f" ({params.replace('@', ', ')})" if params else "")
            + (f" [{part}]" if part else "")
        )
        titles[name] = title + (f" ({whose})" if by else "")
        families[name] = metric.partition(".")[0]
    alike = list(titles.values())
    return {
        name: f"{title} ({families[name]})" if alike.count(title) > 1 else title
        for name, title in titles.items()
    }


def spread(least: float, greatest: float) -> float:
    """How far apart two values are; 0 where they differ by no more than rounding."""
    apart = greatest - least
    largest = max(abs(least), abs(greatest))
    if apart > 1e-9 * largest:
        return apart
    return 0.0


def round_step(rough: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below `rough`."""
    power = 10.0 ** math.floor(math.log10(rough))
    enough = rough * (1 - 1e-9)
    steps = (factor * power for factor in (1, 2, 5, 10))
    return next(step for step in steps if step >= enough)


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """The ticks with the fewest decimals that keep them distinct."""
    steps = [b - a for a, b in pairwise(ticks)]
    step = min(steps, default=0.0) or 1.0
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    if any(abs(round(tick, places) - tick) > step / 50 for tick in ticks):
        places += 1
    return [fixed(tick, places) for tick in ticks]

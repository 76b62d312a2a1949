"""Hypotheses that are made of several comparisons (CCRS 4.2 and appendix F), written down in a YAML file.

    - name: the large reader is better everywhere
      combine: all            # all comparisons must hold: p is the largest of them
      metrics: [ccrs.answer_correctness, ccrs.information_recall]
      pairs: [[large-bm25, small-bm25], [large-dense, small-dense]]
      direction: greater      # the first of a pair above the second; or less, or two-sided (where left out)

With `combine: any` one comparison is enough: p is the smallest of them times the number of metrics, at most 1 (several
pairs need no further factor, since a Tukey test's p holds over all pairs). The p of all hypotheses are then corrected
by Holm, and a hypothesis is supported where that is at most alpha.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.errors import BadInput, UnknownName
from longmark.records import yaml_file
from longmark.records.files import BAD_SHOWN
from longmark.records.yaml_file import repeats
from longmark.stats.multiplicity import HOLM, adjust
from longmark.stats.results import DIRECTIONS, TWO_SIDED, Comparison, HypothesisResult, TukeyTest

ALL, ANY = "all", "any"
_LONGEST_SHOWN = 80  # characters of a wrong value
_KEYS = ("name", "combine", "metrics", "pairs", "direction")


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """What is claimed: of all or any of these metrics and pairs, in a direction (of the first against the second)."""

    name: str
    combine: str
    metrics: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    direction: str = TWO_SIDED


def load_hypotheses(path: str | Path) -> tuple[Hypothesis, ...]:
    """The hypotheses of a YAML file. UserError where it cannot be read; BadInput with a line `file:line: place: what`
    for each mistake in it."""
    file = Path(path)
    source = yaml_file.load(file, "--hypotheses")
    node, content = source.root, source.content
    if node is None or not isinstance(content, list) or not content:
        raise BadInput([f"{file}:1: expected a list of hypotheses ({', '.join(_KEYS)}), found {_kind(content)}"])
    lines = [item.start_mark.line + 1 for item in node.value]
    wrong = [(line, f"{_place(where)}: is there twice") for where, line in source.repeated]
    wrong += [(line, f"[{i}]{what}") for i, line in enumerate(lines) for what in _mistakes(content[i])]
    names = [_name_of(item) for item in content]
    wrong += [(lines[i], f"[{i}].name: {names[i]} is there twice") for i in repeats(names) if names[i] is not None]
    if wrong:
        told = [f"{file}:{line}: {what}" for line, what in sorted(wrong, key=lambda one: one[0])]
        raise BadInput(told[:BAD_SHOWN], len(told))
    return tuple(
        Hypothesis(
            name=item["name"],
            combine=item["combine"],
            metrics=tuple(item["metrics"]),
            pairs=tuple((a, b) for a, b in item["pairs"]),
            direction=item.get("direction", TWO_SIDED),
        )
        for item in content
    )


def decide(
    hypotheses: Sequence[Hypothesis], tests: Mapping[str, TukeyTest], alpha: float = 0.05
) -> tuple[HypothesisResult, ...]:
    """What becomes of each hypothesis. tests: metric -> the Tukey test of its scores.

    A hypothesis that needs all comparisons has no p where one of them has none, and one that needs any where all of
    them have none: it is not supported, says why, and is not counted by Holm. UnknownName for a metric or a system that
    was not tested.
    """
    tried = [(one, tuple(_comparisons(one, tests))) for one in hypotheses]
    p_values = [_combined(one, comparisons) for one, comparisons in tried]
    corrected = adjust(p_values, HOLM, alpha)
    return tuple(
        HypothesisResult(
            name=one.name,
            combine=one.combine,
            direction=one.direction,
            p=p,
            adjusted=adjusted,
            supported=supported,
            alpha=alpha,
            comparisons=comparisons,
            reason=_why_none(comparisons, tests) if p is None else None,
        )
        for (one, comparisons), p, adjusted, supported in zip(
            tried, p_values, corrected.adjusted, corrected.significant, strict=True
        )
    )


def _comparisons(one: Hypothesis, tests: Mapping[str, TukeyTest]) -> Iterator[Comparison]:
    for metric in one.metrics:
        if metric not in tests:
            raise UnknownName(
                "metric", metric, tests, f"The hypothesis {one.name!r} names it; rows have {_all(tests)}."
            )
        test = tests[metric]
        for a, b in one.pairs:
            yield Comparison(metric, a, b, test.pair(a, b).difference, test.p_value(a, b, one.direction))


def _combined(one: Hypothesis, comparisons: Sequence[Comparison]) -> float | None:
    found = [comparison.p for comparison in comparisons if comparison.p is not None]
    if one.combine == ALL:
        return max(found) if len(found) == len(comparisons) else None
    return min(1.0, min(found) * len(one.metrics)) if found else None


def _why_none(comparisons: Sequence[Comparison], tests: Mapping[str, TukeyTest]) -> str | None:
    for one in comparisons:
        if one.p is None:
            return f"{one.metric}, {one.a} and {one.b}: {tests[one.metric].pair(one.a, one.b).reason}"
    return None


# What is wrong with a file --------------------------------------------------------------------------------------------


def _mistakes(item: Any) -> Iterator[str]:
    """What is wrong with one hypothesis, each as `.key: what`."""
    if not isinstance(item, dict):
        yield f": expected {', '.join(_KEYS)}, found {_kind(item)}"
        return
    for key in item:
        if key not in _KEYS:
            yield f": {UnknownName('key', str(key), _KEYS, 'The keys are ' + ', '.join(_KEYS) + '.')}"
    for key in _KEYS[:4]:
        if key not in item:
            yield f".{key}: is missing"
    if "name" in item and not _is_name(item["name"]):
        yield f".name: expected text, found {_kind(item['name'])}{_quotes(item['name'])}"
    for key, known in (("combine", (ALL, ANY)), ("direction", DIRECTIONS)):
        if key in item and item[key] not in known:
            yield f".{key}: is {', '.join(known[:-1])} or {known[-1]}, not {_kind(item[key])}"
    if "metrics" in item:
        yield from _in_list(item["metrics"], ".metrics", "names of metrics", "the name of a metric", _is_name)
    if "pairs" in item:
        yield from _in_list(item["pairs"], ".pairs", "pairs of systems", "two different systems, as [a, b]", _is_pair)


def _place(where: yaml_file.Where) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)


def _in_list(value: Any, where: str, of: str, each: str, fits: Callable[[Any], bool]) -> Iterator[str]:
    if not isinstance(value, list) or not value:
        yield f"{where}: expected a list of {of}, found {_kind(value)}"
        return
    keys = [str(one) if fits(one) else None for one in value]
    twice = set(repeats(keys))
    for i, one in enumerate(value):
        if keys[i] is None:
            yield f"{where}[{i}]: expected {each}, found {_kind(one)}{_quotes(one)}"
        elif i in twice:
            yield f"{where}[{i}]: {_kind(one)} is there twice"


def _name_of(item: Any) -> str | None:
    name = item.get("name") if isinstance(item, dict) else None
    return name if _is_name(name) else None


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_is_name, value)) and value[0] != value[1]


def _quotes(value: Any) -> str:
    parts = value if isinstance(value, list) else [value]
    return "; put it in quotes" if any(isinstance(part, int | float) for part in parts) else ""


def _all(names: Mapping[str, Any]) -> str:
    return ", ".join(names) or "none"


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list):
        parts = ["a list" if isinstance(one, list) else _kind(one) for one in value[:4]]
        return f"[{', '.join(parts + ['…'] * (len(value) > 4))}]"
    if isinstance(value, str):
        return value[:_LONGEST_SHOWN] or "empty text"
    return "nothing" if value is None else str(value)[:_LONGEST_SHOWN]

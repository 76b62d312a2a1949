"""Hypotheses that are made of several comparisons (CCRS 4.2 and appendix F), written down in a YAML file.

    - name: the large reader is better everywhere
      combine: all            # all comparisons must hold: p is the largest of them
      metrics: [ccrs.answer_correctness, ccrs.information_recall]
      pairs: [[large-bm25, small-bm25], [large-dense, small-dense]]
      direction: greater      # the first of a pair above the second; or less, or two-sided (the default)

With `combine: any` one comparison is enough: p is the smallest of them times the number of metrics, at most 1 (several
pairs need no further factor, since a Tukey test's p holds over all pairs). The p of all hypotheses are then adjusted by
Holm, and a hypothesis is supported if that is at most alpha.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)
from pydantic.dataclasses import dataclass

from longmark.errors import BadInput, UnknownName
from longmark.records import yaml_file
from longmark.records.values import found, problems
from longmark.records.yaml_file import repeats
from longmark.stats.multiplicity import HOLM, adjust
from longmark.stats.results import HypothesisResult, TestedPair, TukeyTest

ALL: Final = "all"
ANY: Final = "any"
_KEYS = ("name", "combine", "metrics", "pairs", "direction")


def _named(value: Any) -> str:
    return value if isinstance(value, str) else f"[{', '.join(value)}]"


def _each_once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if twice := [values[i] for i in repeats(values)]:
        raise ValueError(f"{_named(twice[0])} appears twice")
    return values


def _two(pair: tuple[str, str]) -> tuple[str, str]:
    if pair[0] == pair[1]:
        raise ValueError("a pair is two different systems, as [a, b]")
    return pair


_Name = Annotated[str, StringConstraints(pattern=r"\S")]
_Pair = Annotated[tuple[_Name, _Name], AfterValidator(_two)]


@dataclass(frozen=True, slots=True, config=ConfigDict(extra="forbid"))
class Hypothesis:
    """What is claimed: of all or any of these metrics and pairs, in a direction (of the first against the second)."""

    name: _Name
    combine: Literal["all", "any"]
    metrics: Annotated[tuple[_Name, ...], Field(min_length=1), AfterValidator(_each_once)]
    pairs: Annotated[tuple[_Pair, ...], Field(min_length=1), AfterValidator(_each_once)]
    direction: Literal["two-sided", "greater", "less"] = "two-sided"


def load_hypotheses(path: str | Path) -> tuple[Hypothesis, ...]:
    """The hypotheses of a YAML file. UserError if it cannot be read; BadInput with a line `file:line: place: what` for
    each mistake in it."""
    file = Path(path)
    source = yaml_file.load(file, "--hypotheses")
    content = source.content
    if source.root is None or not isinstance(content, list) or not content:
        raise BadInput(
            [
                f"{file}:1: expected a list of hypotheses ({', '.join(_KEYS)}), found {found(content)}"
            ],
            skippable=False,
        )
    wrong: list[tuple[yaml_file.Where, str]] = []
    names = [item.get("name") if isinstance(item, dict) else None for item in content]
    for i in repeats([name if isinstance(name, str) else None for name in names]):
        if isinstance(names[i], str):
            wrong.append(((i, "name"), f"{names[i]} appears twice"))
    written: tuple[Hypothesis, ...] = ()
    try:
        written = TypeAdapter(tuple[Hypothesis, ...]).validate_python(content)
    except ValidationError as error:
        wrong += problems(error, _KEYS)
    source.check(wrong)
    return written


def decide(
    hypotheses: Sequence[Hypothesis], tests: Mapping[str, TukeyTest], alpha: float = 0.05
) -> tuple[HypothesisResult, ...]:
    """The result of each hypothesis. tests: metric -> the Tukey test of its scores.

    A hypothesis that needs all comparisons has no p if one of them has none, and one that needs any if all of them have
    none: it is not supported, has a reason, and is not counted by Holm. UnknownName for a metric or a system that
    was not tested.
    """
    tried = [(hypothesis, tuple(_comparisons(hypothesis, tests))) for hypothesis in hypotheses]
    p_values = [_combined(hypothesis, comparisons) for hypothesis, comparisons in tried]
    corrected = adjust(p_values, HOLM, alpha)
    return tuple(
        HypothesisResult(
            name=hypothesis.name,
            combine=hypothesis.combine,
            direction=hypothesis.direction,
            p=p,
            adjusted=adjusted,
            supported=supported,
            alpha=alpha,
            comparisons=comparisons,
            reason=_why_none(comparisons, tests) if p is None else None,
        )
        for (hypothesis, comparisons), p, adjusted, supported in zip(
            tried, p_values, corrected.adjusted, corrected.significant, strict=True
        )
    )


def _comparisons(hypothesis: Hypothesis, tests: Mapping[str, TukeyTest]) -> Iterator[TestedPair]:
    for metric in hypothesis.metrics:
        if metric not in tests:
            raise UnknownName(
                "metric",
                metric,
                tests,
                f"The hypothesis {hypothesis.name!r} names it; rows have {', '.join(tests) or 'none'}.",
            )
        test = tests[metric]
        for a, b in hypothesis.pairs:
            yield TestedPair(
                metric, a, b, test.pair(a, b).difference, test.p_value(a, b, hypothesis.direction)
            )


def _combined(hypothesis: Hypothesis, comparisons: Sequence[TestedPair]) -> float | None:
    known_ps = [comparison.p for comparison in comparisons if comparison.p is not None]
    if hypothesis.combine == ALL:
        return max(known_ps) if len(known_ps) == len(comparisons) else None
    return min(1.0, min(known_ps) * len(hypothesis.metrics)) if known_ps else None


def _why_none(comparisons: Sequence[TestedPair], tests: Mapping[str, TukeyTest]) -> str | None:
    for comparison in comparisons:
        if comparison.p is None:
            reason = tests[comparison.metric].pair(comparison.a, comparison.b).reason
            return f"{comparison.metric}, {comparison.a} and {comparison.b}: {reason}"
    return None

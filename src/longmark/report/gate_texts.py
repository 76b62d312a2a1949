"""Gates from their texts, held against the names of scores, slices and systems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from itertools import islice

from longmark.assertions.grammar import (
    AT_LEAST,
    AT_MOST,
    OPPOSITE,
    ScoreAssertion,
    selector_text,
)
from longmark.assertions.grammar import parsed as parsed_assertion
from longmark.errors import UnknownName, UserError
from longmark.records.metric_name import in_slice, under, without_slice
from longmark.report.gate import OPTION, Gate
from longmark.scores.observations import Limit
from longmark.stats.means import Bounds


def parsed(text: str, where: str = OPTION) -> Gate:
    """A gate from its text, not yet held against the names of scores. where: of the text, for the error. UserError for
    another form, which points at the character."""
    return _unresolved(text, where)[0]


def _unresolved(text: str, where: str) -> tuple[Gate, tuple[str, ...]]:
    """The gate of a text, and its selectors, of which only the scores say what is a slice."""
    assertion = parsed_assertion(text, where)
    if not isinstance(assertion, ScoreAssertion):
        raise UserError(
            f"{where} {text!r}: this compares, and a gate is about the scores of one run. Use "
            f"longmark check RUN {str(assertion)!r}, or --base RUN with --fail-if-worse"
        )
    gate = Gate(
        assertion.figure,
        assertion.metric,
        "",
        None,
        assertion.sign,
        assertion.limit,
        assertion.share,
        confidence=assertion.confidence,
    )
    if assertion.figure == AT_LEAST:
        gate = replace(
            gate,
            kind=AT_MOST,
            sign=OPPOSITE[assertion.sign],
            most=100 - assertion.share,
            least=assertion.share,
        )
    return gate, assertion.selectors


def gates_of(
    texts: Iterable[str],
    known: Iterable[str],
    bounds: Mapping[str, Bounds] | None = None,
    where: str = OPTION,
    canonical: Callable[[str], str] = str,
) -> list[Gate]:
    """The gates of texts, held against the names of the scores that there will be.

    bounds: of the scores, where they are known; where: of the texts, for errors; canonical: the name of a score as it
    is known (`metrics.canonical`). UserError where a gate is malformed or its limit lies outside the bounds of every
    metric that it names; UnknownName where it names no metric.
    """
    names = list(known)
    gates = []
    slices = dict.fromkeys(part for name in names if (part := without_slice(name)[1]))
    for text in texts:
        gate, selectors = _unresolved(text, where)
        part, system = slice_and_system(selectors, slices, where)
        if gate.metric:
            metric = in_slice(canonical(gate.metric), part)
            selected = under(metric, names)
        else:
            metric = ""
            selected = [name for name in names if without_slice(name)[1] == part]
        if not selected:
            raise UnknownName(f"metric in {where}", metric, names)
        ranges = [(bounds or {}).get(name, (None, None)) for name in selected]
        if all(_outside(gate.limit, low, high) for low, high in ranges):
            ends = " to ".join("any number" if end is None else f"{end:g}" for end in ranges[0])
            raise UserError(f"{where} {text!r}: scores of {selected[0]} are from {ends}")
        gates.append(replace(gate, metric=metric, part=part, system=system, scores=tuple(selected)))
    return gates


def limits_of(texts: Iterable[str], where: str = OPTION) -> frozenset[Limit]:
    """What `summarise` must count for the gates of these texts."""
    return frozenset(bad for text in texts if (bad := parsed(text, where).bad))


def slice_and_system(
    selectors: Iterable[str], slices: Collection[str], where: str
) -> tuple[str, str | None]:
    """The slice and the system of selectors. UnknownName for a slice that does not exist, UserError for two slices or
    two systems, of which no score is."""
    parts = dict[str, None]()
    systems = dict[str, None]()
    for selector in selectors:
        field, equals, value = selector.partition("=")
        if selector in slices:
            parts[selector] = None
        elif equals and field == "system":
            systems[value] = None
        elif equals or selector.startswith("no "):
            hint = f"Cut the answers with --by {field.removeprefix('no ')}."
            if slices:
                names = ", ".join(islice(slices, 10)) + (", …" if len(slices) > 10 else "")
                hint = f"The slices are {names}."
            as_system = selector_text(f"system={selector}")
            raise UnknownName(
                f"slice in {where}", selector, slices, f"{hint} A system is `for {as_system}`."
            )
        else:
            systems[selector] = None
    for kind, named in (("slice", parts), ("system", systems)):
        if len(named) > 1:
            first, second = islice(named, 2)
            raise UserError(
                f"{where}: {first} and {second}: `for` takes one {kind}; write an assertion for each"
            )
    return next(iter(parts), ""), next(iter(systems), None)


def _outside(limit: float, low: float | None, high: float | None) -> bool:
    return (low is not None and limit < low) or (high is not None and limit > high)


def refuse_unknown_systems(
    gates: Iterable[Gate], systems: Iterable[str], where: str = OPTION
) -> None:
    """UnknownName for a gate on a system that does not exist."""
    names = list(dict.fromkeys(systems))
    for gate in gates:
        if gate.system is not None and gate.system not in names:
            hint = f"The systems are {', '.join(names[:10])}{', …' if len(names) > 10 else ''}."
            raise UnknownName(f"system in {where}", gate.system, names, hint)

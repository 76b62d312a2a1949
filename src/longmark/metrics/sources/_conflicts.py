"""Conflicts: statements of different sources that contradict each other, and what an answer says of them.

Statements that say the same are one component of the graph. A conflict is a group of components that contradictions
join. Relations that the graph asked for are not asked again; of every other pair of components of different sources one
direction is relations, since a contradiction has no direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from longmark.concurrency import concurrently
from longmark.metrics.comprehensiveness._asking import Inquiry
from longmark.text.entailment import CONTRADICTS, ENTAILS, Checker, Relation
from longmark.text.graph import Component, Coverage

REPORTED = 'At least one source says: "{}"'
"""What an answer entails that names a statement as one of a source, without making it."""

HIDDEN = "says only the other side"
BOTH = "says both"
REPORTS = "says that a source disagrees"
NEITHER = "says neither"

Edge = tuple[int, int]


@dataclass(slots=True)
class AskedRelations:
    """The relations that a checker was asked for, by the texts of premise and hypothesis. sent: hypothesis -> what is
    sent in its place (`text.context`)."""

    checker: Checker
    sent: Mapping[str, str]
    labels: dict[tuple[str, str], str] = field(default_factory=dict)

    async def relate(self, inquiries: Sequence[Inquiry]) -> list[list[Relation]]:
        return await concurrently(
            lambda inquiry: self.of_premise(inquiry.premise, inquiry.hypotheses), inquiries
        )

    async def of_premise(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        texts = [self.sent.get(hypothesis, hypothesis) for hypothesis in hypotheses]
        decided = await self.checker.relations(premise, texts)
        for hypothesis, relation in zip(hypotheses, decided, strict=True):
            self.labels[premise, hypothesis] = relation.label
        return decided


@dataclass(frozen=True, slots=True)
class Conflict:
    """Components that contradictions join. pairs: the contradictions; answer: what it says of them."""

    pairs: tuple[tuple[Component, Component], ...]
    answer: str


async def conflicts_of(
    coverage: Coverage, relations: AskedRelations, answer: str
) -> tuple[Conflict, ...]:
    """The conflicts between sources, those that the answer hides first. coverage: of the graph whose relations were
    asked for."""
    components = coverage.components
    await _ask_for_others(components, relations)
    contradictions = [
        pair
        for pair in sorted(_labelled(components, relations, CONTRADICTS))
        if _of_different_sources(components, pair)
    ]
    groups = _joined(contradictions)
    hiding = [group for group in groups if _states_one_side(components, group)]
    reported = await _reported(components, hiding, relations, answer)
    conflicts = [_conflict(components, group, reported) for group in groups]
    return tuple(sorted(conflicts, key=lambda conflict: conflict.answer != HIDDEN))


async def _ask_for_others(components: Sequence[Component], relations: AskedRelations) -> None:
    """Asks for the relation of each pair of components of different sources that has none."""
    decided = _labelled(components, relations)
    texts = [component.representative.text for component in components]

    async def of_component(premise: int) -> None:
        hypotheses = [
            texts[place]
            for place in range(premise + 1, len(components))
            if (premise, place) not in decided
            and _of_different_sources(components, (premise, place))
        ]
        await relations.of_premise(texts[premise], hypotheses)

    await concurrently(of_component, list(range(len(components))))


def _labelled(
    components: Sequence[Component], relations: AskedRelations, label: str | None = None
) -> set[Edge]:
    """The pairs of components, the lower number first, between statements of which a relation is known. label: one of
    this label; None: any."""
    number = {
        member.text: place
        for place, component in enumerate(components)
        for member in component.members
    }
    pairs = set()
    for (premise, hypothesis), known_label in relations.labels.items():
        if premise not in number or hypothesis not in number:
            continue
        if label is None or known_label == label:
            first, second = sorted((number[premise], number[hypothesis]))
            pairs.add((first, second))
    return pairs


def _of_different_sources(components: Sequence[Component], pair: Edge) -> bool:
    """Whether two sources stand against each other: not where both components are of the same one alone."""
    first, second = (sources_in(components[place]) for place in pair)
    return pair[0] != pair[1] and len({*first, *second}) > 1


def sources_in(component: Component) -> list[str]:
    """The ids of the sources that state a component."""
    return list(dict.fromkeys(source for member in component.members for source in member.sources))


def _joined(edges: Sequence[Edge]) -> list[list[Edge]]:
    """The edges in groups that are joined, in the order of their first ones."""
    groups: list[list[Edge]] = []
    for edge in edges:
        joined = [group for group in groups if any({*edge} & {*member} for member in group)]
        merged = [member for group in joined for member in group] + [edge]
        groups = [group for group in groups if group not in joined] + [sorted(merged)]
    return sorted(groups)


def _states_one_side(components: Sequence[Component], group: Sequence[Edge]) -> bool:
    """Whether the answer states a side of a conflict, and of no contradiction both."""
    held = [[components[place].covered for place in edge] for edge in group]
    return any(map(any, held)) and not any(map(all, held))


async def _reported(
    components: Sequence[Component],
    groups: Sequence[Sequence[Edge]],
    relations: AskedRelations,
    answer: str,
) -> set[int]:
    """The numbers of the components that the answer names as what a source says, of those that stand against one which
    it states."""
    against = {
        place
        for group in groups
        for edge in group
        if any(components[end].covered for end in edge)
        for place in edge
        if not components[place].covered
    }
    places = sorted(against)
    sentences = [REPORTED.format(components[place].representative.text) for place in places]
    decided = await relations.checker.relations(answer, sentences) if places else []
    return {
        place for place, relation in zip(places, decided, strict=True) if relation.label == ENTAILS
    }


def _conflict(
    components: Sequence[Component], group: Sequence[Edge], reported: set[int]
) -> Conflict:
    ends = {place for edge in group for place in edge}
    if not _states_one_side(components, group):
        says = BOTH if any(components[place].covered for place in ends) else NEITHER
    else:
        says = REPORTS if ends & reported else HIDDEN
    pairs = []
    for first, second in group:
        turned = components[first].covered and not components[second].covered
        in_order = (second, first) if turned else (first, second)
        pairs.append((components[in_order[0]], components[in_order[1]]))
    return Conflict(tuple(pairs), says)


def conflict_entries(conflicts: Sequence[Conflict]) -> list[dict[str, Any]]:
    """The conflicts as evidence, an entry for each contradiction: the side that the answer leaves out is `text`."""
    return [
        {
            "conflict": number,
            "text": absent.representative.text,
            "sources": ", ".join(sources_in(absent)),
            "against": stated.representative.text,
            "against_sources": ", ".join(sources_in(stated)),
            "answer": conflict.answer,
        }
        for number, conflict in enumerate(conflicts, 1)
        for absent, stated in conflict.pairs
    ]

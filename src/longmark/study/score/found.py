"""All marks of a study, by who answered and who judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from longmark.domain import Domain
from longmark.records.read import Reading
from longmark.study.score.labels import Item
from longmark.study.score.marks import UNBOUNDED, Bounds, Marks, bounds_in, read
from longmark.study.score.plan import ONCE_RUN, POINTS_RUN, Member, Plan, evaluator_run, proxy_run

PAPER_CHANGES = frozenset(("hazard", "location"))
"""What the perturbations of the paper change: one of these slots, or both (section 3.2)."""


@dataclass(frozen=True)
class Found:
    """once, points: by generator; judged: by generator and evaluator; proxied: by generator and proxy. weights: of the
    dimensions of specificity; bounds: of the metrics; pooled: the kinds of perturbation that table 1 takes together,
    None: all. What was not marked is not there."""

    generators: tuple[str, ...]
    evaluators: tuple[str, ...]
    proxies: tuple[str, ...]
    weights: Mapping[str, float]
    once: Mapping[str, Marks] = field(default_factory=dict)
    points: Mapping[str, Marks] = field(default_factory=dict)
    judged: Mapping[tuple[str, str], Marks] = field(default_factory=dict)
    proxied: Mapping[tuple[str, str], Marks] = field(default_factory=dict)
    bounds: Mapping[str, Bounds] = field(default_factory=dict)
    pooled: tuple[str, ...] | None = None

    def bounds_of(self, metric: str) -> Bounds:
        return self.bounds.get(metric, UNBOUNDED)

    @property
    def any(self) -> bool:
        return any((self.once, self.points, self.judged, self.proxied))


def found_in(plan: Plan, domain: Domain) -> Found:
    """The marks that the runs of a study hold by now."""

    def of(generator: Member, name: str) -> Marks:
        return read(plan.run_path(generator, name))

    def of_each(name: str) -> dict[str, Marks]:
        return {one.label: marks for one in plan.generators if (marks := of(one, name))}

    def of_pairs(members: Sequence[Member], name: Callable[[Member], str]) -> dict[tuple[str, str], Marks]:
        pairs = product(plan.generators, members)
        return {(one.label, other.label): marks for one, other in pairs if (marks := of(one, name(other)))}

    runs = [ONCE_RUN, POINTS_RUN, *map(evaluator_run, plan.evaluators), *map(proxy_run, plan.proxies)]
    bounds: dict[str, Bounds] = {}
    for generator, name in product(plan.generators, runs):
        bounds |= bounds_in(plan.run_path(generator, name))
    return Found(
        generators=tuple(one.label for one in plan.generators),
        evaluators=tuple(one.label for one in plan.evaluators),
        proxies=tuple(one.label for one in plan.proxies),
        weights=dict(domain.weights),
        once=of_each(ONCE_RUN),
        points=of_each(POINTS_RUN),
        judged=of_pairs(plan.evaluators, evaluator_run),
        proxied=of_pairs(plan.proxies, proxy_run),
        bounds=bounds,
        pooled=_pooled(domain),
    )


def _pooled(domain: Domain) -> tuple[str, ...] | None:
    """Of a domain with hazards and locations the kinds that change nothing else, as the paper's; of others all."""
    if not {slot.name for slot in domain.slots} >= PAPER_CHANGES:
        return None
    return tuple(variant.name for variant in domain.variants if set(variant.change) <= PAPER_CHANGES)


def answers_of(plan: Plan) -> dict[str, dict[str, Item]]:
    """generator -> id of an answer to an original, or of its question -> the answer."""
    found: dict[str, dict[str, Item]] = {}
    for generator in plan.generators:
        its = found.setdefault(generator.label, {})
        path = plan.answers_path(generator)
        for example in Reading(path) if path.exists() else ():
            if example.variant_of is None:
                item = Item(generator.label, example.id, example.question_id)
                its.setdefault(example.question_id, item)
                its[example.id] = item
    return found

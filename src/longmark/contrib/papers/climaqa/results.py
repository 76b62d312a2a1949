"""The arithmetic of a ClimaQA study: means by level with intervals, paired tests, the generator's advantage.

The overall mean is over all items, as published: levels are weighted by their items. BLEU is that of a corpus (counts
of a level summed), and overall the mean of the levels' BLEU weighted by items. Tests, and the generator's advantage,
are on the BLEU of single answers. Items from one seed passage depend on each other: they are one cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from statistics import fmean
from typing import Literal, NamedTuple

import numpy as np

from longmark.analysis.grid import Compared, adjusted, compared
from longmark.analysis.metaeval.results import paired
from longmark.contrib.papers.climaqa.rows import (
    BERT,
    BLEU,
    FA,
    NO_ROW,
    OUTCOMES,
    SILVER,
    ClimaqaRows,
    ModelSetting,
    TableScore,
)
from longmark.records.benchmark import LEVELS, Item
from longmark.scores.readings import best, readings
from longmark.stats.bootstrap import BCA, Formula, bootstrap_of_sums
from longmark.stats.means import mean_estimate
from longmark.stats.multiplicity import adjust
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Difference, Estimate, check_level
from longmark.stats.samples import Floats, cluster_numbers

Kind = Literal["settings", "models"]
OVERALL, MAIN = "overall", "main"
_STRATA = (*LEVELS, "")
_ORDER, _FLOOR = 4, 0.1  # as `classic.bleu` has them
_SIMILARITIES = (BLEU, BERT, FA)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClimaqaOptions:
    """alpha: of tests, intervals are at 1 - alpha; seed: of all sampling; author: the label of the model that wrote the
    items ("": the one with the name of their generator)."""

    alpha: float = 0.05
    seed: int = 0
    author: str = ""
    resamples: int = 2000

    def __post_init__(self) -> None:
        check_level(1 - self.alpha)


class Place(NamedTuple):
    """Where a mean stands. items: MAIN, of tables 3 and 5 (all but silver ones), or SILVER, of tables 6 and 7."""

    items: str
    system: str
    outcome: TableScore
    level: str = OVERALL


@dataclass(frozen=True, slots=True)
class Advantage:
    """The model that wrote the items against the other models of a setting, on one score.

    above: the share of the others that it scores above on an item, ties by half; against: `above` minus that of factual
    accuracy (None for factual accuracy, and without it); adjusted: p of that by Holm.
    """

    setting: str
    outcome: TableScore
    author: str
    others: int
    above: Estimate
    against: Difference | None = None
    adjusted: float | None = None


class ClimaqaResults:
    """The results of the scores that were read."""

    def __init__(self, found: ClimaqaRows, options: ClimaqaOptions) -> None:
        self.read, self.options, self.items = found, options, found.items
        self.level = 1 - options.alpha
        every = list(self.items.values())
        self.tiers = {
            MAIN: [one for one in every if one.tier != SILVER],
            SILVER: [one for one in every if one.tier == SILVER],
        }
        self.decides = MAIN if self.tiers[MAIN] else SILVER
        """The items of figures and tests: those of tables 3 and 5, or silver ones where there are no others."""
        self.shown = self.tiers[self.decides]
        self.at = cache(
            lambda at: self.mean_of(
                at.outcome, found.systems[at.system], self.tiers[at.items], at.level
            )
        )

    def systems(self, outcomes: Iterable[TableScore], items: Sequence[Item]) -> list[ModelSetting]:
        """Those with a row of one of the outcomes for one of the items."""
        names, keys = {one.id for one in items}, [one.key for one in outcomes]
        every = self.read.systems.values()
        return [
            one
            for one in every
            if any(names & (one.scores[key].keys() | one.why[key].keys()) for key in keys)
        ]

    # Means ------------------------------------------------------------------------------------------------------------

    def items_at(self, place: Place) -> list[Item]:
        return _of(place.outcome, self.tiers[place.items], place.level)

    def mean_of(
        self, outcome: TableScore, system: ModelSetting, items: Sequence[Item], level: str = OVERALL
    ) -> Estimate:
        """The mean of a system on the items of a level; missing: unscored items."""
        of = _of(outcome, items, level)
        kept = [one for one in of if one.id in system.scores[outcome.key]]
        made = replace(self._mean(outcome, system, kept), missing=len(of) - len(kept))
        return (
            made
            if kept or not of
            else replace(made, reason=f"unscored: {unscored(outcome, system, of)}")
        )

    def best(
        self, outcome: TableScore, names: Iterable[str], items: Sequence[Item], level: str
    ) -> str | None:
        """The system with the greatest mean over the items that all scored, and with the least score for unscored."""
        of = [one.id for one in _of(outcome, items, level)]
        scores = {name: self.read.systems[name].scores[outcome.key] for name in names}
        parts = {name: {item: its.get(item) for item in of} for name, its in scores.items() if its}
        return best(readings([parts], outcome.bounds[0])) if of and len(parts) > 1 else None

    def _mean(self, outcome: TableScore, system: ModelSetting, items: Sequence[Item]) -> Estimate:
        values, clusters = (
            [system.scores[outcome.key][one.id] for one in items],
            self._families(items),
        )
        if outcome is BLEU:
            return self.resampled(bleu_counts(system, items), corpus_bleu, clusters)
        if outcome.share:
            return clustered_share(values, clusters, self.level)
        return self.mean(values, clusters, outcome.bounds)

    def _families(self, items: Iterable[Item]) -> list[str]:
        return [self.read.families[one.id] for one in items]

    def mean(
        self, values: Sequence[float], clusters: Sequence[str], bounds: tuple[float, float]
    ) -> Estimate:
        return mean_estimate(values, clusters, bounds, self.level)

    def resampled(self, sums: Floats, formula: Formula, clusters: Sequence[str]) -> Estimate:
        """A formula of sums over items, with its BCa interval."""
        empty = Estimate(
            None, None, None, len(sums), self.level, BCA, resamples=self.options.resamples
        )
        if not len(sums):
            return replace(empty, reason="there are no values")
        numbers, count = cluster_numbers(clusters, np.ones(len(sums), dtype=np.bool_))
        return bootstrap_of_sums(
            sums, formula, empty, self.options.seed, numbers if count < len(sums) else None
        )

    @cached_property
    def places(self) -> list[Place]:
        made = (
            Place(tier, system.name, outcome, level)
            for tier, items in self.tiers.items()
            for outcome in OUTCOMES
            for system in self.systems([outcome], items)
            for level in (*LEVELS, OVERALL)
        )
        return [place for place in made if self.items_at(place)]

    # Tests ------------------------------------------------------------------------------------------------------------

    @cached_property
    def tests(self) -> dict[Kind, list[Compared]]:
        """Settings of each model, and models in each setting, by name; within: outcome, and model or setting."""
        return {
            "settings": list(self._tests("label", "setting")),
            "models": list(self._tests("setting", "label")),
        }

    def _tests(self, within: str, name: str) -> Iterator[Compared]:
        """Of all pairs of systems with the same attribute `within`; Holm over those of an outcome."""
        for outcome in OUTCOMES:
            groups: dict[str, dict[str, ModelSetting]] = {}
            for system in self.systems([outcome], self.shown):
                groups.setdefault(getattr(system, within), {})[system.name] = system
            found = []
            for group, of in groups.items():
                test = lambda a, b, o=outcome, of=of: self.difference(o, of[a], of[b])  # noqa: E731
                for one in compared(of, test, self.options.alpha):
                    first, second = (getattr(of[key], name) for key in (one.first, one.second))
                    found.append(Compared(first, second, one.result, within=(outcome.title, group)))
            yield from adjusted(found, self.options.alpha)

    def difference(
        self, outcome: TableScore, first: ModelSetting, second: ModelSetting
    ) -> Difference:
        """Of the scores of single answers, over the items that both have."""
        one, other = first.scores[outcome.key], second.scores[outcome.key]
        both = [item for item in self.shown if item.id in one and item.id in other]
        width = outcome.bounds[1] - outcome.bounds[0]
        return self.paired(
            [(one[item.id], other[item.id]) for item in both], self._families(both), width
        )

    def paired(
        self, both: Sequence[tuple[float, float]], clusters: Sequence[str], width: float
    ) -> Difference:
        """width: the greatest difference that there can be."""
        return paired(
            [a for a, _ in both],
            [b for _, b in both],
            clusters,
            width,
            self.level,
            self.options.seed,
        )

    # The generator ----------------------------------------------------------------------------------------------------

    @cached_property
    def advantages(self) -> list[Advantage]:
        """Of the model that wrote freeform items, in each setting that it is in with others."""
        settings = dict.fromkeys(one.setting for one in self.read.systems.values())
        found = [one for setting in settings for one in self._advantages(setting)]
        adjusted = adjust(
            [one.against.p if one.against else None for one in found], alpha=self.options.alpha
        ).adjusted
        return [replace(one, adjusted=p) for one, p in zip(found, adjusted, strict=True)]

    def _advantages(self, setting: str) -> Iterator[Advantage]:
        """On the items that every model of the setting has every score of."""
        of = [one for one in self.read.systems.values() if one.setting == setting]
        outcomes = [one for one in _SIMILARITIES if any(system.scores[one.key] for system in of)]
        systems = [
            system for system in of if outcomes and all(system.scores[one.key] for one in outcomes)
        ]
        authors: dict[str, ModelSetting] = {}
        for item in self.shown:
            author = next((one for one in systems if self._wrote(one, item)), None)
            if author and all(
                item.id in system.scores[one.key] for system in systems for one in outcomes
            ):
                authors[item.id] = author
        if len(systems) < 2 or not authors:
            return
        clusters = [self.read.families[name] for name in authors]
        shares = {
            outcome.key: [
                above(
                    own.scores[outcome.key][name],
                    [s.scores[outcome.key][name] for s in systems if s is not own],
                )
                for name, own in authors.items()
            ]
            for outcome in outcomes
        }
        beside = shares.get(FA.key)
        for outcome in outcomes:
            own = shares[outcome.key]
            yield Advantage(
                setting=setting,
                outcome=outcome,
                author=", ".join(dict.fromkeys(one.label for one in authors.values())),
                others=len(systems) - 1,
                above=self.mean(own, clusters, (0, 1)),
                against=self.paired(list(zip(own, beside, strict=True)), clusters, 1.0)
                if beside is not None and outcome is not FA
                else None,
            )

    def _wrote(self, system: ModelSetting, item: Item) -> bool:
        if self.options.author:
            return system.label == self.options.author
        return bool(item.generator) and item.generator in (system.model, system.label)


def _of(outcome: TableScore, items: Iterable[Item], level: str) -> list[Item]:
    """The items that have such a score."""
    return [one for one in items if one.form == outcome.form and level in (OVERALL, one.level)]


def unscored(outcome: TableScore, system: ModelSetting, items: Iterable[Item]) -> str:
    """How many of the items have no score, by status: `1 model_error, 1 no row`."""
    scores, why = system.scores[outcome.key], system.why[outcome.key]
    missing = [why.get(one.id, NO_ROW) for one in items if one.id not in scores]
    return ", ".join(f"{missing.count(status):,} {status}" for status in dict.fromkeys(missing))


def above(own: float, others: Sequence[float]) -> float:
    """The share of the others that a score is above, ties by half."""
    return fmean((own > other) + (own == other) / 2 for other in others)


def bleu_counts(system: ModelSetting, items: Sequence[Item]) -> Floats:
    """What is summed over items to make the BLEU of a corpus: for each level the ten counts and 1."""
    made = np.zeros((len(items), len(_STRATA), 2 * _ORDER + 3))
    for row, one in enumerate(items):
        made[row, _STRATA.index(one.level or "")] = (*system.counts[one.id], 1)
    return made.reshape(len(items), made.shape[1] * made.shape[2])


def corpus_bleu(sums: Floats) -> Floats:
    """The BLEU of each level's corpus, weighted by the items; NaN without items. sums: shape (m, levels x 11)."""
    levels = sums.reshape(len(sums), -1, 2 * _ORDER + 3)
    shared, total = levels[..., :_ORDER], levels[..., _ORDER : 2 * _ORDER]
    answer, reference, n = np.moveaxis(levels[..., 2 * _ORDER :], -1, 0)
    precisions = np.where(shared > 0, shared, _FLOOR) / np.maximum(total, 1)
    brevity = np.exp(np.minimum(0, 1 - reference / np.maximum(answer, 1)))
    each = np.where(shared[..., 0] > 0, brevity * np.exp(np.log(precisions).mean(axis=-1)), 0.0)
    made: Floats = (np.minimum(each, 1) * n).sum(axis=-1) / n.sum(axis=-1)
    return made

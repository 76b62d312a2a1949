"""The arithmetic of a ClimaQA study: means by level with intervals, paired tests, the generator's advantage.

The overall mean is over all items, as published: levels are weighted by their items. BLEU is that of a corpus (counts
of a level summed), and overall the mean of the levels' BLEU weighted by items. Tests, and the generator's advantage,
are on the BLEU of single answers. Items from one seed passage depend on each other: they are one cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
OVERALL = "overall"
MAIN = "main"
_STRATA = (*LEVELS, "")
# the order of n-grams and the floor of a precision, as `classic.bleu` has them
_ORDER = 4
_FLOOR = 0.1
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

    rivals: how many these are; above: the share of them that it scores above on an item, ties by half; against: `above`
    minus that of factual accuracy (None for factual accuracy, and without it); adjusted: p of that by Holm.
    """

    setting: str
    outcome: TableScore
    author: str
    rivals: int
    above: Estimate
    against: Difference | None = None
    adjusted: float | None = None


class ClimaqaResults:
    """The results of the scores that were read."""

    def __init__(
        self,
        study_input: ClimaqaRows,
        options: ClimaqaOptions,
    ) -> None:
        self.read = study_input
        self.options = options
        self.items = study_input.items
        self.level = 1 - options.alpha
        items = list(self.items.values())
        self.tiers = {
            MAIN: [item for item in items if item.tier != SILVER],
            SILVER: [item for item in items if item.tier == SILVER],
        }
        self.decides = MAIN if self.tiers[MAIN] else SILVER
        """The items of figures and tests: those of tables 3 and 5, or silver ones where there are no others."""
        self.shown = self.tiers[self.decides]
        self.at = cache(
            lambda at: self.mean_of(
                at.outcome, study_input.systems[at.system], self.tiers[at.items], at.level
            )
        )

    def systems(
        self,
        outcomes: Iterable[TableScore],
        items: Sequence[Item],
    ) -> list[ModelSetting]:
        """Those with a row of one of the outcomes for one of the items."""
        names = {item.id for item in items}
        keys = [outcome.key for outcome in outcomes]
        every = self.read.systems.values()
        return [
            system
            for system in every
            if any(names & (system.scores[key].keys() | system.why[key].keys()) for key in keys)
        ]

    # Means ------------------------------------------------------------------------------------------------------------

    def items_at(self, place: Place) -> list[Item]:
        return _of(place.outcome, self.tiers[place.items], place.level)

    def mean_of(
        self, outcome: TableScore, system: ModelSetting, items: Sequence[Item], level: str = OVERALL
    ) -> Estimate:
        """The mean of a system on the items of a level; missing: unscored items."""
        level_items = _of(outcome, items, level)
        scored_items = [item for item in level_items if item.id in system.scores[outcome.key]]
        estimate = replace(
            self._mean(outcome, system, scored_items), missing=len(level_items) - len(scored_items)
        )
        return (
            estimate
            if scored_items or not level_items
            else replace(estimate, reason=f"unscored: {unscored(outcome, system, level_items)}")
        )

    def best(
        self, outcome: TableScore, names: Iterable[str], items: Sequence[Item], level: str
    ) -> str | None:
        """The system with the greatest mean over the items that all scored, and with the least score for unscored."""
        item_ids = [item.id for item in _of(outcome, items, level)]
        scores = {name: self.read.systems[name].scores[outcome.key] for name in names}
        parts = {
            name: {item: system_scores.get(item) for item in item_ids}
            for name, system_scores in scores.items()
            if system_scores
        }
        return best(readings([parts], outcome.bounds[0])) if item_ids and len(parts) > 1 else None

    def _mean(
        self,
        outcome: TableScore,
        system: ModelSetting,
        items: Sequence[Item],
    ) -> Estimate:
        values = [system.scores[outcome.key][item.id] for item in items]
        clusters = self._families(items)
        if outcome is BLEU:
            return self.resampled(bleu_counts(system, items), corpus_bleu, clusters)
        if outcome.share:
            return clustered_share(values, clusters, self.level)
        return self.mean(values, clusters, outcome.bounds)

    def _families(self, items: Iterable[Item]) -> list[str]:
        return [self.read.families[item.id] for item in items]

    def mean(
        self, values: Sequence[float], clusters: Sequence[str], bounds: tuple[float, float]
    ) -> Estimate:
        return mean_estimate(values, clusters, bounds, self.level)

    def resampled(
        self,
        sums: Floats,
        formula: Formula,
        clusters: Sequence[str],
    ) -> Estimate:
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
        candidates = (
            Place(tier, system.name, outcome, level)
            for tier, items in self.tiers.items()
            for outcome in OUTCOMES
            for system in self.systems([outcome], items)
            for level in (*LEVELS, OVERALL)
        )
        return [place for place in candidates if self.items_at(place)]

    # Tests ------------------------------------------------------------------------------------------------------------

    @cached_property
    def tests(self) -> dict[Kind, list[Compared]]:
        """Settings of each model, and models in each setting, by name; within: outcome, and model or setting."""
        return {
            "settings": list(self._tests("label", "setting")),
            "models": list(self._tests("setting", "label")),
        }

    def _tests(
        self,
        within: str,
        name: str,
    ) -> Iterator[Compared]:
        """Of all pairs of systems with the same attribute `within`; Holm over those of an outcome."""
        for outcome in OUTCOMES:
            groups: dict[str, dict[str, ModelSetting]] = {}
            for system in self.systems([outcome], self.shown):
                groups.setdefault(getattr(system, within), {})[system.name] = system
            comparisons = []
            for group, members in groups.items():
                for comparison in self._pairs_of(outcome, members):
                    first = members[comparison.first]
                    second = members[comparison.second]
                    comparisons.append(
                        Compared(
                            getattr(first, name),
                            getattr(second, name),
                            comparison.result,
                            within=(outcome.title, group),
                        )
                    )
            yield from adjusted(comparisons, self.options.alpha)

    def _pairs_of(
        self, outcome: TableScore, members: Mapping[str, ModelSetting]
    ) -> tuple[Compared, ...]:
        def test(first: str, second: str) -> Difference:
            return self.difference(outcome, members[first], members[second])

        return compared(members, test, self.options.alpha)

    def difference(
        self, outcome: TableScore, first: ModelSetting, second: ModelSetting
    ) -> Difference:
        """Of the scores of single answers, over the items that both have."""
        first_scores = first.scores[outcome.key]
        second_scores = second.scores[outcome.key]
        shared_items = [
            item for item in self.shown if item.id in first_scores and item.id in second_scores
        ]
        width = outcome.bounds[1] - outcome.bounds[0]
        return self.paired(
            [(first_scores[item.id], second_scores[item.id]) for item in shared_items],
            self._families(shared_items),
            width,
        )

    def paired(
        self, pairs: Sequence[tuple[float, float]], clusters: Sequence[str], width: float
    ) -> Difference:
        """width: the greatest difference that there can be."""
        return paired(
            [a for a, _ in pairs],
            [b for _, b in pairs],
            clusters,
            width,
            self.level,
            self.options.seed,
        )

    # The generator ----------------------------------------------------------------------------------------------------

    @cached_property
    def advantages(self) -> list[Advantage]:
        """Of the model that wrote freeform items, in each setting that it is in with others."""
        settings = dict.fromkeys(system.setting for system in self.read.systems.values())
        advantages = [advantage for setting in settings for advantage in self._advantages(setting)]
        adjusted = adjust(
            [advantage.against.p if advantage.against else None for advantage in advantages],
            alpha=self.options.alpha,
        ).adjusted
        return [
            replace(advantage, adjusted=p)
            for advantage, p in zip(advantages, adjusted, strict=True)
        ]

    def _advantages(self, setting: str) -> Iterator[Advantage]:
        """On the items that every model of the setting has every score of."""
        setting_systems = [
            system for system in self.read.systems.values() if system.setting == setting
        ]
        outcomes = [
            outcome
            for outcome in _SIMILARITIES
            if any(system.scores[outcome.key] for system in setting_systems)
        ]
        systems = [
            system
            for system in setting_systems
            if outcomes and all(system.scores[outcome.key] for outcome in outcomes)
        ]
        authors: dict[str, ModelSetting] = {}
        for item in self.shown:
            author = next((system for system in systems if self._wrote(system, item)), None)
            if author and all(
                item.id in system.scores[outcome.key] for system in systems for outcome in outcomes
            ):
                authors[item.id] = author
        if len(systems) < 2 or not authors:
            return
        clusters = [self.read.families[name] for name in authors]
        shares = {
            outcome.key: [
                above(
                    author.scores[outcome.key][name],
                    [
                        system.scores[outcome.key][name]
                        for system in systems
                        if system is not author
                    ],
                )
                for name, author in authors.items()
            ]
            for outcome in outcomes
        }
        beside = shares.get(FA.key)
        for outcome in outcomes:
            author_shares = shares[outcome.key]
            yield Advantage(
                setting=setting,
                outcome=outcome,
                author=", ".join(dict.fromkeys(author.label for author in authors.values())),
                rivals=len(systems) - 1,
                above=self.mean(author_shares, clusters, (0, 1)),
                against=self.paired(list(zip(author_shares, beside, strict=True)), clusters, 1.0)
                if beside is not None and outcome is not FA
                else None,
            )

    def _wrote(
        self,
        system: ModelSetting,
        item: Item,
    ) -> bool:
        if self.options.author:
            return system.label == self.options.author
        return bool(item.generator) and item.generator in (system.model, system.label)


def _of(
    outcome: TableScore,
    items: Iterable[Item],
    level: str,
) -> list[Item]:
    """The items that have such a score."""
    return [item for item in items if item.form == outcome.form and level in (OVERALL, item.level)]


def unscored(
    outcome: TableScore,
    system: ModelSetting,
    items: Iterable[Item],
) -> str:
    """How many of the items have no score, by status: `1 model_error, 1 no row`."""
    scores = system.scores[outcome.key]
    why = system.why[outcome.key]
    missing = [why.get(item.id, NO_ROW) for item in items if item.id not in scores]
    return ", ".join(f"{missing.count(status):,} {status}" for status in dict.fromkeys(missing))


def above(score: float, other_scores: Sequence[float]) -> float:
    """The share of other_scores that a score is above, ties by half."""
    return fmean((score > other_score) + (score == other_score) / 2 for other_score in other_scores)


def bleu_counts(system: ModelSetting, items: Sequence[Item]) -> Floats:
    """What is summed over items to make the BLEU of a corpus: for each level the ten counts and 1."""
    counts = np.zeros((len(items), len(_STRATA), 2 * _ORDER + 3))
    for row, item in enumerate(items):
        counts[row, _STRATA.index(item.level or "")] = (*system.counts[item.id], 1)
    return counts.reshape(len(items), counts.shape[1] * counts.shape[2])


def corpus_bleu(sums: Floats) -> Floats:
    """The BLEU of each level's corpus, weighted by the items; NaN without items. sums: shape (m, levels x 11)."""
    levels = sums.reshape(len(sums), -1, 2 * _ORDER + 3)
    shared = levels[..., :_ORDER]
    total = levels[..., _ORDER : 2 * _ORDER]
    answer, reference, n = np.moveaxis(levels[..., 2 * _ORDER :], -1, 0)
    precisions = np.where(shared > 0, shared, _FLOOR) / np.maximum(total, 1)
    brevity = np.exp(np.minimum(0, 1 - reference / np.maximum(answer, 1)))
    level_bleu = np.where(
        shared[..., 0] > 0, brevity * np.exp(np.log(precisions).mean(axis=-1)), 0.0
    )
    weighted_mean: Floats = (np.minimum(level_bleu, 1) * n).sum(axis=-1) / n.sum(axis=-1)
    return weighted_mean

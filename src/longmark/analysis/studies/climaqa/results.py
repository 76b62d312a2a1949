"""The arithmetic of a ClimaQA study: means by level with intervals, paired tests, the generator's advantage.

The overall mean is over all items, as published: levels are weighted by their items. BLEU is that of a corpus (counts
of a level summed), and overall the mean of the levels' BLEU weighted by items. Tests, and the generator's advantage,
are on the BLEU of single answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from statistics import fmean
from typing import Literal

import numpy as np

from longmark.analysis.metaeval.results import Difference, clusters_of
from longmark.analysis.studies.climaqa.rows import (
    BERT,
    BLEU,
    FA,
    GOLD,
    NO_ROW,
    OUTCOMES,
    SILVER,
    Facts,
    Outcome,
    Read,
    System,
)
from longmark.errors import UserError
from longmark.records.benchmark import LEVELS
from longmark.stats.bootstrap import BCA, Formula, bootstrap_of_sums
from longmark.stats.means import mean_estimate
from longmark.stats.multiplicity import adjust
from longmark.stats.permutation import paired_permutation
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate, check_level
from longmark.stats.samples import Floats, cluster_numbers

Kind = Literal["settings", "models"]
ITEM, FAMILY = CLUSTERS = ("item", "family")
OVERALL = "overall"
_STRATA = (*LEVELS, "")
_ORDER, _FLOOR = 4, 0.1  # as `classic.bleu` has them


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """alpha: of tests, intervals are at 1 - alpha; seed: of all sampling; cluster: items of one `family`, from one seed
    passage, depend on each other, or each `item` counts by itself; author: the label of the model that wrote the items
    ("": the one with the name of their generator)."""

    alpha: float = 0.05
    seed: int = 0
    cluster: str = ITEM
    author: str = ""
    resamples: int = 2000

    def __post_init__(self) -> None:
        check_level(1 - self.alpha)
        if self.cluster not in CLUSTERS:
            raise UserError(f"--cluster {self.cluster}: expected one of {', '.join(CLUSTERS)}")


@dataclass(frozen=True, slots=True)
class Cell:
    """A mean. total: items of this level; estimate.n of them are scored."""

    outcome: Outcome
    system: System
    tier: str
    level: str
    estimate: Estimate
    total: int
    unscored: str | None


@dataclass(frozen=True, slots=True)
class Tested:
    """Two systems on the items that both have scores of. within: the model of two settings, or the setting of two
    models; adjusted: p by Holm over all tests of the outcome and kind."""

    outcome: Outcome
    kind: Kind
    within: str
    first: str
    second: str
    result: Difference
    adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class Advantage:
    """The model that wrote the items against the other models of a setting, on one metric.

    difference: of its score and the mean of theirs; above: the share of the others that it scores above, ties by half;
    against: `above` minus that of factual accuracy on the same answers (None for factual accuracy); adjusted: p of
    that by Holm.
    """

    setting: str
    outcome: Outcome
    author: str
    others: int
    difference: Difference
    above: Estimate
    against: Difference | None = None
    adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class Tiers:
    """Gold items against silver ones. difference: gold minus silver, of independent items."""

    outcome: Outcome
    system: System
    gold: Estimate
    silver: Estimate
    difference: Estimate


class Results:
    """The results of the scores that were read."""

    def __init__(self, found: Read, options: Options) -> None:
        self.read, self.options, self.items = found, options, found.items
        self.level = 1 - options.alpha

    @cached_property
    def main(self) -> list[Facts]:
        """The items of tables 3 and 5: all but silver ones."""
        return [one for one in self.items.values() if one.tier != SILVER]

    @cached_property
    def silver(self) -> list[Facts]:
        return [one for one in self.items.values() if one.tier == SILVER]

    @property
    def shown(self) -> list[Facts]:
        """The items of figures and tests: those of tables 3 and 5, or silver ones where there are no others."""
        return self.main or self.silver

    def systems(self, outcomes: Iterable[Outcome], items: Sequence[Facts]) -> list[System]:
        """Those with a row of one of the outcomes for one of the items."""
        names = {one.id for one in items}
        of = [one.key for one in outcomes]
        return [
            s for s in self.read.systems.values() if any(names & (s.scores[k].keys() | s.why[k].keys()) for k in of)
        ]

    # Means ------------------------------------------------------------------------------------------------------------

    def cell(self, outcome: Outcome, system: System, items: Sequence[Facts], level: str = OVERALL) -> Cell:
        """The mean of a system on the items of a level."""
        of = [one for one in items if one.form == outcome.form and level in (OVERALL, one.level)]
        scores, why = system.scores[outcome.key], system.why[outcome.key]
        kept = [one for one in of if one.id in scores]
        missing = [why.get(one.id, NO_ROW) for one in of if one.id not in scores]
        reasons = ", ".join(f"{missing.count(status):,} {status}" for status in dict.fromkeys(missing))
        estimate = replace(self._mean(outcome, system, kept), missing=len(missing))
        estimate = estimate if kept or not of else replace(estimate, reason=f"unscored: {reasons}")
        return Cell(outcome, system, of[0].tier if of else "", level, estimate, len(of), reasons or None)

    def _mean(self, outcome: Outcome, system: System, items: Sequence[Facts]) -> Estimate:
        values, clusters = [system.scores[outcome.key][one.id] for one in items], self._clusters(items)
        if outcome is BLEU:
            return self.resampled(features(outcome, system, items), corpus_bleu, clusters)
        if outcome.share:
            return clustered_share(values, clusters, self.level)
        return self.mean(values, clusters, outcome.bounds)

    def mean(self, values: Sequence[float], clusters: Sequence[str], bounds: tuple[float, float]) -> Estimate:
        return mean_estimate(values, clusters, bounds, self.level)

    def _clusters(self, items: Iterable[Facts]) -> list[str]:
        return [one.family if self.options.cluster == FAMILY else one.id for one in items]

    def resampled(self, sums: Floats, formula: Formula, clusters: Sequence[str]) -> Estimate:
        empty = Estimate(None, None, None, len(sums), self.level, BCA, resamples=self.options.resamples)
        if not len(sums):
            return replace(empty, reason="there are no values")
        numbers, count = cluster_numbers(clusters, np.ones(len(sums), dtype=np.bool_))
        return bootstrap_of_sums(sums, formula, empty, self.options.seed, numbers if count < len(sums) else None)

    @cached_property
    def cells(self) -> list[Cell]:
        """Every mean there is: by tier, outcome, system and level."""
        made = (
            self.cell(outcome, system, items, level)
            for items in (self.main, self.silver)
            for outcome in OUTCOMES
            for system in self.systems([outcome], items)
            for level in (*LEVELS, OVERALL)
        )
        return [one for one in made if one.total]

    # Tests ------------------------------------------------------------------------------------------------------------

    @cached_property
    def tests(self) -> list[Tested]:
        """Settings of each model, and models in each setting; the better one first."""
        kinds: tuple[tuple[Kind, Callable[[System], str], Callable[[System], str]], ...] = (
            ("settings", lambda one: one.label, lambda one: one.setting),
            ("models", lambda one: one.setting, lambda one: one.label),
        )
        return [
            test
            for kind, within, name in kinds
            for outcome in OUTCOMES
            for test in self._adjusted(list(self._tests(outcome, kind, within, name)))
        ]

    def _tests(
        self, outcome: Outcome, kind: Kind, within: Callable[[System], str], name: Callable[[System], str]
    ) -> Iterator[Tested]:
        systems = self.systems([outcome], self.shown)
        for group in dict.fromkeys(map(within, systems)):
            for first, second in combinations([one for one in systems if within(one) == group], 2):
                result = self.difference(outcome, first, second)
                if (result.value or 0) < 0:
                    first, second = second, first
                    result = self.difference(outcome, first, second)
                yield Tested(outcome, kind, group, name(first), name(second), result)

    def _adjusted(self, tests: list[Tested]) -> list[Tested]:
        adjusted = adjust([one.result.p for one in tests], alpha=self.options.alpha).adjusted
        return [replace(one, adjusted=p) for one, p in zip(tests, adjusted, strict=True)]

    def difference(self, outcome: Outcome, first: System, second: System) -> Difference:
        """Of the scores of single answers, over the items that both have."""
        one, other = first.scores[outcome.key], second.scores[outcome.key]
        both = [item for item in self.shown if item.id in one and item.id in other]
        width = outcome.bounds[1] - outcome.bounds[0]
        return self.paired([(one[item.id], other[item.id]) for item in both], self._clusters(both), width)

    def paired(self, both: Sequence[tuple[float, float]], clusters: Sequence[str], width: float) -> Difference:
        """width: the greatest difference that there can be."""
        apart, seed = [a - b for a, b in both], self.options.seed
        test = paired_permutation(
            *([pair[i] for pair in both] for i in (0, 1)), clusters=clusters_of(clusters), seed=seed
        )
        made = self.mean(apart, clusters, (-width, width))
        reason = test.reason or made.reason
        ends = (made.low, made.high, len(both), self.level, made.method, reason)
        return Difference(made.value, *ends, clusters=made.clusters, p=test.p)

    # The generator ----------------------------------------------------------------------------------------------------

    @cached_property
    def advantages(self) -> list[Advantage]:
        """Of the model that wrote freeform items, in each setting that it is in with others."""
        found = [one for setting in self._settings for one in self._advantages(setting)]
        tests = [one.against.p if one.against is not None else None for one in found]
        adjusted = adjust(tests, alpha=self.options.alpha).adjusted
        return [replace(one, adjusted=p) for one, p in zip(found, adjusted, strict=True)]

    @property
    def _settings(self) -> list[str]:
        return list(dict.fromkeys(one.setting for one in self.read.systems.values()))

    def _advantages(self, setting: str) -> Iterator[Advantage]:
        items = [one for one in self.shown if one.form == "freeform"]
        systems = [one for one in self.systems([BLEU, BERT, FA], items) if one.setting == setting]
        by_item = {one.id: author for one in items if (author := self._author(one, systems))}
        judged = any(one.scores[FA.key] for one in systems)
        for outcome in (BLEU, BERT, FA):
            needed = {outcome.key, FA.key} if judged else {outcome.key}
            able = {one.id: [s for s in systems if all(one.id in s.scores[k] for k in needed)] for one in items}
            kept = [one for one in items if by_item.get(one.id) in able[one.id] and len(able[one.id]) > 1]
            if not kept:
                continue

            def sides(of: Outcome, item: Facts, able: Mapping[str, list[System]] = able) -> tuple[float, list[float]]:
                scores = {one.name: one.scores[of.key][item.id] for one in able[item.id]}
                return scores.pop(by_item[item.id].name), list(scores.values())

            clusters, width = self._clusters(kept), outcome.bounds[1] - outcome.bounds[0]
            pairs = [sides(outcome, item) for item in kept]
            shares = [above(*pair) for pair in pairs]
            beside = [above(*sides(FA, item)) for item in kept] if judged and outcome is not FA else []
            yield Advantage(
                setting=setting,
                outcome=outcome,
                author=", ".join(dict.fromkeys(by_item[item.id].label for item in kept)),
                others=max(len(others) for _, others in pairs),
                difference=self.paired([(own, fmean(others)) for own, others in pairs], clusters, width),
                above=self.mean(shares, clusters, (0, 1)),
                against=self.paired(list(zip(shares, beside, strict=True)), clusters, 1.0) if beside else None,
            )

    def _author(self, item: Facts, systems: Iterable[System]) -> System | None:
        """The system of the model that wrote an item."""
        name = self.options.author
        found = (s for s in systems if (s.label == name if name else item.generator in (s.model, s.label)))
        return next(found, None)

    # Gold and silver --------------------------------------------------------------------------------------------------

    @cached_property
    def tiers(self) -> list[Tiers]:
        """Systems with scores of gold and of silver items."""
        gold = [one for one in self.main if one.tier == GOLD]
        found = []
        for outcome in OUTCOMES:
            for system in self.systems([outcome], gold):
                first, second = (self.cell(outcome, system, its).estimate for its in (gold, self.silver))
                if first.n and second.n:
                    difference = self._apart(outcome, system, gold, self.silver)
                    found.append(Tiers(outcome, system, first, second, difference))
        return found

    def _apart(self, outcome: Outcome, system: System, *groups: Sequence[Facts]) -> Estimate:
        """The difference of the means of two groups of items."""
        kept = [[one for one in its if one.id in system.scores[outcome.key]] for its in groups]
        sums = [features(outcome, system, its) for its in kept]
        formula = corpus_bleu if outcome is BLEU else mean_of_sums
        return self.resampled(*side_by_side(formula, *sums), self._clusters(kept[0] + kept[1]))


def above(own: float, others: Sequence[float]) -> float:
    """The share of the others that a score is above, ties by half."""
    return fmean((own > other) + (own == other) / 2 for other in others)


def features(outcome: Outcome, system: System, items: Sequence[Facts]) -> Floats:
    """What is summed over items to make their mean: the score and 1; of BLEU, for each level, the ten counts and 1."""
    if outcome is not BLEU:
        return np.array([(system.scores[outcome.key][one.id], 1.0) for one in items]).reshape(-1, 2)
    made = np.zeros((len(items), len(_STRATA), 2 * _ORDER + 3))
    for row, one in enumerate(items):
        made[row, _STRATA.index(one.level)] = (*system.counts[one.id], 1)
    return made.reshape(len(items), made.shape[1] * made.shape[2])


def mean_of_sums(sums: Floats) -> Floats:
    return sums[:, 0] / sums[:, 1]


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


def side_by_side(mean: Formula, first: Floats, second: Floats) -> tuple[Floats, Formula]:
    """The features of two groups of items side by side, and the difference of their means."""
    width = first.shape[1]
    both = np.block([[first, np.zeros((len(first), width))], [np.zeros((len(second), width)), second]])
    return both, lambda sums: mean(sums[:, :width]) - mean(sums[:, width:])

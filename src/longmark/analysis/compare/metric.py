"""One metric over all systems: means, pairwise differences, tests, groups, and the questions that separate the systems.

Tests, differences and effects are over the questions with a score of every system, so the figures of a pair and its p
are about the same answers. The pair's p is that of the randomised Tukey HSD, which holds over all pairs of the metric;
with two systems that is the paired permutation test.
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from longmark.analysis.compare import effects
from longmark.analysis.compare.checks import FEWEST_TESTED, advice
from longmark.analysis.compare.power import detectable, undetectable
from longmark.report.format import MOST_DECIMALS, decimals, direction
from longmark.scores.index import Unscored
from longmark.scores.manifest import MetricFacts
from longmark.scores.paired import Scores
from longmark.stats.bootstrap import BCA
from longmark.stats.permutation import rounding, sign_flips
from longmark.stats.results import Estimate, TukeyTest
from longmark.stats.samples import Floats
from longmark.stats.tukey import tukey

TWO_SYSTEMS, SEVERAL_SYSTEMS = "paired permutation test", "randomised Tukey HSD"
_QUESTIONS = 10  # shown for each metric


@dataclass(frozen=True, slots=True)
class SystemOnMetric:
    """One system on one metric.

    mean            over all questions with a score of it
    common          over the questions with a score of every compared system
    rows, unscored  its rows, and why some of them have no score
    missing         questions without a score of it, of those with a score of any system
    missing_alone   questions that are not compared because only this system has no score
    repeated        questions with several scores, of which the mean counts
    best, worst     the ranks that it may have: 1 + the systems that are significantly better, and the number of systems
                    less those that are significantly worse; None if neither direction of the metric is better
    groups          letters; systems that share one do not differ significantly
    """

    system: str
    mean: Estimate
    common: Estimate
    rows: int
    unscored: tuple[Unscored, ...]
    missing: int
    missing_alone: int
    repeated: int
    best: int | None
    worst: int | None
    groups: str

    @property
    def rank(self) -> str | None:
        """`2`, or `1-3` if it is not certain."""
        if self.best is None:
            return None
        return str(self.best) if self.best == self.worst else f"{self.best}-{self.worst}"


@dataclass(frozen=True, slots=True)
class PairOnMetric:
    """Two systems on one metric, over the questions with a score of every compared system.

    difference         first - second, in the metric's units
    d_z                mean difference / standard deviation of the differences
    share              (won + ties / 2) / n, from the view of the first
    won, ties, lost    questions; won: the first has the better score, or the higher one if neither direction is better
    p_unadjusted       two-sided, of this pair by itself
    p_tukey            adjusted for the pairs of this metric
    p                  adjusted for all pairs of all metrics
    significant        p <= alpha
    detectable         the true difference that the test detects at the adjusted level with power .8; None if no
                       difference can be significant, or the scores are equal
    """

    first: str
    second: str
    difference: Estimate
    d_z: Estimate
    share: Estimate
    won: int
    ties: int
    lost: int
    p_unadjusted: float | None
    p_tukey: float | None
    p: float | None
    significant: bool
    detectable: float | None


@dataclass(frozen=True, slots=True)
class QuestionApart:
    """A question with a wide range of scores. scores: in the order of the metric's systems."""

    question_id: str
    text: str | None
    spread: float
    highest: str
    lowest: str
    scores: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """All systems on one metric.

    systems       those with a score, the best first (the highest if neither direction is better)
    absent        systems without any score, with the reason
    pairs         every pair, the first before the second in the order of `systems`; if two systems are compared, in the
                  order given
    groups        of systems that do not differ significantly, each as large as possible; empty if nothing was tested
    questions     with a score of any system; common: with one of every system, which pairs, tests and groups are over
    test          its name; reason: why there is no test, or a remark on it
    undetectable  why no difference, however large, can be significant; None if one can
    apart         the questions on which the systems differ most; as_far: how many more differ as much as the last
    """

    metric: str
    facts: MetricFacts
    places: int
    systems: tuple[SystemOnMetric, ...]
    absent: tuple[tuple[str, tuple[Unscored, ...]], ...]
    pairs: tuple[PairOnMetric, ...]
    groups: tuple[tuple[str, ...], ...]
    questions: int
    common: int
    test: str
    tukey: TukeyTest
    reason: str | None
    undetectable: str | None
    apart: tuple[QuestionApart, ...]
    as_far: int

    @property
    def direction(self) -> str:
        """As `format.direction`."""
        return direction(self.facts)


@dataclass(frozen=True, slots=True)
class Settings:
    """level: of intervals; alpha: of tests, over `metrics` metrics; permutations, resamples: to draw."""

    level: float
    alpha: float
    metrics: int
    permutations: int
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Tested:
    """A metric and its Tukey test, which does not depend on the other metrics.

    names: of the systems with scores, the best first; questions: places of those with a score of any system; table:
    their scores, questions x systems; pairs: places in `names`, in the order of `MetricComparison.pairs`. The test has
    the systems in the order of the scores, as in `metrics_study`: a seed gives the same p in both.
    """

    metric: str
    sign: int
    names: tuple[str, ...]
    questions: tuple[int, ...]
    table: Floats
    pairs: tuple[tuple[int, int], ...]
    tukey: TukeyTest

    @property
    def complete(self) -> Floats:
        """The questions with a score of every system."""
        return self.table[~np.isnan(self.table).any(axis=1)]

    @property
    def p(self) -> tuple[float | None, ...]:
        """Of the pairs, adjusted for them."""
        return tuple(self.tukey.pair(self.names[a], self.names[b]).p for a, b in self.pairs)

    @property
    def largest(self) -> float:
        """The largest score in size, which decides what is rounding."""
        return float(np.nanmax(np.abs(self.table)))


def tests_of(scores: Scores, metric: str, systems: Sequence[int], how: Settings) -> Tested:
    """The test of one metric over the systems at these places (two or more, in the order given) that have a score."""
    sign = -1 if scores.facts[metric].higher_is_better is False else 1
    matrix = scores.matrix(metric)
    present = [place for place in sorted(systems) if not np.isnan(matrix[:, place]).all()]
    table = matrix[:, present]
    test = tukey(table, [scores.systems[place] for place in present], permutations=how.permutations, seed=how.seed)
    complete, asked = table[~np.isnan(table).any(axis=1)], ~np.isnan(table).all(axis=1)
    means = np.nanmean(complete if len(complete) else table, axis=0)
    noise = max(test.zero, rounding(0.0, float(np.nanmax(np.abs(table)))))
    order = highest_first({i: sign * float(mean) for i, mean in enumerate(means)}, noise)
    best_first = [present[i] for i in order]
    given = systems if len(systems) == 2 else best_first
    return Tested(
        metric=metric,
        sign=sign,
        names=tuple(scores.systems[place] for place in best_first),
        questions=tuple(np.flatnonzero(asked).tolist()),
        table=table[asked][:, order],
        pairs=tuple((best_first.index(a), best_first.index(b)) for a, b in itertools.combinations(given, 2)),
        tukey=test,
    )


def described(
    scores: Scores, tested: Tested, systems: Sequence[int], p: Sequence[float | None], factor: int, how: Settings
) -> MetricComparison:
    """All of a metric. systems: as for `tests_of`; p: of its pairs, adjusted for all metrics; factor: what its smallest
    p is multiplied by."""
    facts, n, names = scores.facts[tested.metric], len(tested.complete), tested.names
    empty = Estimate(
        None, None, None, n, how.level, BCA, missing=len(tested.table) - n, resamples=how.resamples
    )  # fmt: skip
    drawn = effects.resampled(tested.complete, tested.pairs, tested.sign, empty, how.seed)
    significant = [one is not None and one <= how.alpha for one in p]
    none = None if any(significant) else undetectable(len(names), n, how.permutations, factor, how.alpha)
    differ = [(min(pair), max(pair)) for pair, found in zip(tested.pairs, significant, strict=True) if found]
    together = groups(len(names), differ) if any(one is not None for one in p) else ()
    pairs = _pairs(tested, drawn, p, facts, how, none is None)
    apart, as_far = _apart(scores, tested)
    reason = tested.tukey.reason
    if n < FEWEST_TESTED and len(names) > 2:
        reason = f"the test needs at least {FEWEST_TESTED} questions: {advice(names, ~np.isnan(tested.table))}"
    return MetricComparison(
        metric=tested.metric,
        facts=facts,
        places=_places(facts, tested.table, pairs),
        systems=_systems(scores, tested, differ, together, how),
        absent=tuple(
            (name, scores.unscored(tested.metric, name))
            for name in (scores.systems[place] for place in systems)
            if name not in names
        ),
        pairs=pairs,
        groups=tuple(tuple(names[i] for i in group) for group in together),
        questions=len(tested.table),
        common=n,
        test=TWO_SYSTEMS if len(names) == 2 else SEVERAL_SYSTEMS,
        tukey=tested.tukey,
        reason=reason,
        undetectable=none,
        apart=apart,
        as_far=as_far,
    )


def _systems(
    scores: Scores,
    tested: Tested,
    differ: Sequence[tuple[int, int]],
    together: Sequence[Sequence[int]],
    how: Settings,
) -> tuple[SystemOnMetric, ...]:
    """differ: the pairs that differ significantly, the better first; together: the groups of those that do not."""
    metric, facts, count = tested.metric, scores.facts[tested.metric], len(tested.names)
    bounds = (facts.lo, facts.hi)
    ranked = facts.higher_is_better is not None and bool(together)
    marks = letters(count, together)
    gone = np.isnan(tested.table)
    found = []
    for i, name in enumerate(tested.names):
        away = len(tested.table) - len(tested.complete)
        mean = common = effects.of_mean(tested.complete[:, i], bounds, tested.largest, how.level, away)
        values = tested.table[~gone[:, i], i]
        if len(values) > common.n:
            mean = effects.of_mean(values, bounds, float(np.abs(values).max()), how.level)
        found.append(
            SystemOnMetric(
                system=name,
                mean=mean,
                common=common,
                rows=scores.rows(metric, name),
                unscored=scores.unscored(metric, name),
                missing=int(gone[:, i].sum()),
                missing_alone=int((gone[:, i] & (gone.sum(axis=1) == 1)).sum()),
                repeated=scores.repeated.get((metric, name), 0),
                best=1 + sum(b == i for _, b in differ) if ranked else None,
                worst=count - sum(a == i for a, _ in differ) if ranked else None,
                groups=marks[i],
            )
        )
    return tuple(found)


def _pairs(
    tested: Tested, drawn: effects.Effects, p: Sequence[float | None], facts: MetricFacts, how: Settings, some: bool
) -> tuple[PairOnMetric, ...]:
    """p: adjusted; some: a difference can be significant."""
    bounded = facts.lo is not None and facts.hi is not None
    bounds = (facts.lo - facts.hi, facts.hi - facts.lo) if bounded else (None, None)  # type: ignore[operator]
    complete, p_tukey = tested.complete, tested.p
    missing = len(tested.table) - len(complete)
    alone = p_tukey if len(p) == 1 else sign_flips(complete, tested.pairs, how.permutations, how.seed)
    needed = detectable(complete, tested.pairs, how.alpha / how.metrics) if some else [None] * len(p)
    pairs = []
    for k, (a, b) in enumerate(tested.pairs):
        differences = complete[:, a] - complete[:, b]
        ahead, adjusted = tested.sign * differences, p[k]
        pairs.append(
            PairOnMetric(
                first=tested.names[a],
                second=tested.names[b],
                difference=effects.of_mean(differences, bounds, tested.largest, how.level, missing),
                d_z=effects.of_d_z(drawn.d_z[k]),
                share=effects.of_share(drawn.share[k]),
                won=int((ahead > effects.TIE).sum()),
                ties=int((np.abs(ahead) <= effects.TIE).sum()),
                lost=int((ahead < -effects.TIE).sum()),
                p_unadjusted=alone[k],
                p_tukey=p_tukey[k],
                p=adjusted,
                significant=adjusted is not None and adjusted <= how.alpha,
                detectable=needed[k],
            )
        )
    return tuple(pairs)


def _places(facts: MetricFacts, table: Floats, pairs: Sequence[PairOnMetric]) -> int:
    """Decimals that show the scores, and separate the means that differ significantly."""
    least = min((abs(pair.difference.value or 1.0) for pair in pairs if pair.significant), default=1.0)
    needed = math.ceil(-math.log10(least) - 1e-9)
    return max(decimals(facts, float(np.nanmin(table)), float(np.nanmax(table))), min(needed, MOST_DECIMALS))


def _apart(scores: Scores, tested: Tested) -> tuple[tuple[QuestionApart, ...], int]:
    """The questions with the widest range of scores, widest first; and how many more have one as wide as the last."""
    spread = np.nanmax(tested.table, axis=1) - np.nanmin(tested.table, axis=1)
    widest = [int(i) for i in np.argsort(-spread, kind="stable")[:_QUESTIONS] if spread[i] > effects.TIE]
    found = tuple(
        QuestionApart(
            question_id=scores.questions[tested.questions[i]],
            text=None,
            spread=float(spread[i]),
            highest=tested.names[int(np.nanargmax(tested.table[i]))],
            lowest=tested.names[int(np.nanargmin(tested.table[i]))],
            scores=tuple(None if np.isnan(score) else float(score) for score in tested.table[i]),
        )
        for i in widest
    )
    return found, int((spread >= spread[widest[-1]] - effects.TIE).sum()) - len(widest) if widest else 0


# Order and groups ----------------------------------------------------------------------------------------------------


def highest_first(means: Mapping[int, float], noise: float) -> list[int]:
    """The places by their means. Means that differ by at most `noise` are equal and keep the order given, so that
    rounding ranks nobody."""
    step, steps = 0, dict[int, int]()
    before = None
    for place in sorted(means, key=lambda place: -means[place]):
        step += before is not None and before - means[place] > noise
        steps[place], before = step, means[place]
    return sorted(means, key=lambda place: steps[place])


def groups(count: int, differ: Iterable[tuple[int, int]]) -> tuple[tuple[int, ...], ...]:
    """The groups of the systems 0 … count - 1, in the order of their first members. differ: pairs that differ.

    Differing is not transitive: A may be like B, and B like C, while A and C differ. B is then in two groups (A, B and
    B, C). The groups are the largest sets without a pair that differs, found by inserting one pair after the other and
    absorbing what another group contains (Piepho 2004).
    """
    found = [frozenset(range(count))] if count else []
    for a, b in differ:
        split = [part for group in found for part in ((group - {a}, group - {b}) if {a, b} <= group else (group,))]
        found = [
            group
            for i, group in enumerate(split)
            if not any(group < other or (group == other and i > j) for j, other in enumerate(split))
        ]
    return tuple(sorted(tuple(sorted(group)) for group in found))


def letters(count: int, of: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """For each system the letters of its groups: a, b, … z, A, … Z, then with a number (a2, …)."""
    size = len(string.ascii_letters)
    names = [string.ascii_letters[i % size] + (str(i // size + 1) if i >= size else "") for i in range(len(of))]
    return tuple("".join(name for name, group in zip(names, of, strict=True) if i in group) for i in range(count))

"""One metric over all systems: means, pairwise differences, tests, groups, and where the systems lie apart.

Tests, differences and effects are over the questions on which every system has a value, so that the figures of a pair
and its p are about the same answers. The pair's p is the randomised Tukey HSD's, which holds over all pairs of the
metric; with two systems that is the paired permutation test.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longmark.analysis.compare import intervals, resample
from longmark.analysis.compare.ranking import groups, highest_first, letters
from longmark.analysis.compare.reach import beyond_reach, detectable
from longmark.analysis.compare.results import (
    SEVERAL_SYSTEMS,
    TWO_SYSTEMS,
    MetricComparison,
    PairOnMetric,
    QuestionApart,
    SystemOnMetric,
)
from longmark.analysis.compare.shared_questions import advice
from longmark.report.format import MOST_DECIMALS, decimals
from longmark.scores.manifest import MetricFacts
from longmark.scores.paired import Scores
from longmark.stats.bootstrap import bootstrap_mean
from longmark.stats.permutation import rounding, sign_flips
from longmark.stats.results import Estimate, TukeyTest
from longmark.stats.samples import Floats
from longmark.stats.student import Bounds
from longmark.stats.tukey import tukey

APART = 10  # questions shown for each metric
_FEWEST = 3  # common questions that a test needs


@dataclass(frozen=True, slots=True)
class How:
    """level: of intervals; alpha: of tests, over `metrics` metrics; permutations, resamples: to draw."""

    level: float
    alpha: float
    metrics: int
    permutations: int
    resamples: int
    seed: int


@dataclass(frozen=True, slots=True)
class Tested:
    """A metric with everything but what hangs on the other metrics.

    order: places of the systems with values, the best first; absent: of those without. table: values of those in
    `order`, questions x systems; complete: its rows without a gap; pairs: places in `order`, and their p by the test,
    which has the systems in the order of the marks, as `metrics_study` has them: one seed gives the same p in both.
    """

    metric: str
    order: tuple[int, ...]
    absent: tuple[int, ...]
    table: Floats
    complete: Floats
    pairs: tuple[tuple[int, int], ...]
    tukey: TukeyTest
    p_of_metric: tuple[float | None, ...]
    p_alone: tuple[float | None, ...]


def tests_of(marks: Scores, metric: str, systems: Sequence[int], how: How) -> Tested:
    """The tests of one metric over the systems at these places (two or more) that have a value."""
    whole = marks.matrix(metric)[:, list(systems)]
    there = ~np.isnan(whole)
    present = [i for i in range(len(systems)) if there[:, i].any()]
    means = {i: float(np.nanmean(whole[:, i])) for i in present}
    complete = there[:, present].all(axis=1)
    if complete.any():
        means = {i: float(whole[complete, i].mean()) for i in present}
    found = tukey(
        whole[:, present], [marks.systems[systems[i]] for i in present], permutations=how.permutations, seed=how.seed
    )
    sign = _sign(marks, metric)
    noise = max(found.zero, rounding(0.0, float(np.nanmax(np.abs(whole)))))
    order = highest_first({i: sign * mean for i, mean in means.items()}, noise)
    table = whole[there.any(axis=1)][:, order]
    rows = table[~np.isnan(table).any(axis=1)]
    pairs = tuple(itertools.combinations(range(len(order)), 2))
    p_of = {frozenset((pair.a, pair.b)): pair.p for pair in found.pairs}
    names = [marks.systems[systems[i]] for i in order]
    p_of_metric = [p_of[frozenset((names[a], names[b]))] for a, b in pairs]
    alone = p_of_metric if len(order) == 2 else sign_flips(rows, pairs, how.permutations, how.seed)
    absent = tuple(place for i, place in enumerate(systems) if i not in present)
    places = tuple(systems[i] for i in order)
    return Tested(metric, places, absent, table, rows, pairs, found, tuple(p_of_metric), tuple(alone))


def describe(marks: Scores, tested: Tested, p: Sequence[float | None], factor: int, how: How) -> MetricComparison:
    """The whole of a metric. p: of its pairs, corrected for all metrics; factor: what its least p is multiplied by."""
    facts, n = marks.facts[tested.metric], len(tested.complete)
    names = [marks.systems[place] for place in tested.order]
    drawn = resample.resample(
        tested.complete,
        tested.pairs,
        _sign(marks, tested.metric),
        missing=len(tested.table) - n,
        level=how.level,
        resamples=how.resamples,
        seed=how.seed,
    )
    found = [one is not None and one <= how.alpha for one in p]
    beyond = None if any(found) else beyond_reach(len(names), n, how.permutations, factor, how.alpha)
    differ = [pair for pair, significant in zip(tested.pairs, found, strict=True) if significant]
    together = groups(len(names), differ) if any(one is not None for one in p) else ()
    pairs = _pairs(marks, tested, drawn, p, found, None if beyond else how.alpha / how.metrics)
    apart, as_far = _apart(marks, tested, names)
    return MetricComparison(
        metric=tested.metric,
        facts=facts,
        described=any(tested.metric in manifest.metrics() for manifest in marks.manifests),
        places=_places(facts, tested.table, pairs),
        systems=_systems(marks, tested, drawn, differ, together, how),
        absent=tuple((marks.systems[i], marks.unscored(tested.metric, marks.systems[i])) for i in tested.absent),
        pairs=pairs,
        groups=tuple(tuple(names[i] for i in group) for group in together),
        questions=len(tested.table),
        common=n,
        test=TWO_SYSTEMS if len(names) == 2 else SEVERAL_SYSTEMS,
        tukey=tested.tukey,
        reason=_reason(tested, names),
        beyond_reach=beyond,
        apart=apart,
        as_far=as_far,
    )


def _systems(
    marks: Scores,
    tested: Tested,
    drawn: resample.Resampled,
    differ: Sequence[tuple[int, int]],
    together: Sequence[Sequence[int]],
    how: How,
) -> tuple[SystemOnMetric, ...]:
    """differ: the pairs that do; together: the groups of those that cannot be told apart."""
    metric, facts, count = tested.metric, marks.facts[tested.metric], len(tested.order)
    bounds, largest = (facts.lo, facts.hi), _largest(tested)
    ranked = facts.higher_is_better is not None and bool(together)
    marked = letters(count, together)
    gone = np.isnan(tested.table)
    found = []
    for i, place in enumerate(tested.order):
        name = marks.systems[place]
        common = intervals.of_mean(drawn.means[i], tested.complete[:, i], bounds, largest)
        found.append(
            SystemOnMetric(
                system=name,
                mean=_mean(tested.table[:, i], common, bounds, how),
                common=common,
                rows=marks.rows(metric, name),
                gaps=marks.unscored(metric, name),
                lacking=int(gone[:, i].sum()),
                alone=int((gone[:, i] & (gone.sum(axis=1) == 1)).sum()),
                repeated=marks.repeated.get((metric, name), 0),
                best=1 + sum(b == i for _, b in differ) if ranked else None,
                worst=count - sum(a == i for a, _ in differ) if ranked else None,
                groups=marked[i],
            )
        )
    return tuple(found)


def _pairs(
    marks: Scores,
    tested: Tested,
    drawn: resample.Resampled,
    p: Sequence[float | None],
    found: Sequence[bool],
    alpha: float | None,
) -> tuple[PairOnMetric, ...]:
    """p: corrected; found: whether the pair differs; alpha: what this metric has left, None where no difference could
    be found."""
    facts, sign = marks.facts[tested.metric], _sign(marks, tested.metric)
    bounds, largest = intervals.of_differences((facts.lo, facts.hi)), _largest(tested)
    needed = [None] * len(p) if alpha is None else detectable(tested.complete, tested.pairs, alpha)
    pairs = []
    for k, (a, b) in enumerate(tested.pairs):
        differences = tested.complete[:, a] - tested.complete[:, b]
        ahead = sign * differences
        pairs.append(
            PairOnMetric(
                first=marks.systems[tested.order[a]],
                second=marks.systems[tested.order[b]],
                difference=intervals.of_mean(drawn.difference[k], differences, bounds, largest),
                d_z=intervals.of_d_z(drawn.d_z[k]),
                share=intervals.of_share(drawn.share[k]),
                won=int((ahead > resample.TIE).sum()),
                ties=int((np.abs(ahead) <= resample.TIE).sum()),
                lost=int((ahead < -resample.TIE).sum()),
                p_alone=tested.p_alone[k],
                p_of_metric=tested.p_of_metric[k],
                p=p[k],
                significant=found[k],
                detectable=needed[k],
            )
        )
    return tuple(pairs)


def _largest(tested: Tested) -> float:
    """The largest value in size, which tells what is rounding."""
    return float(np.nanmax(np.abs(tested.table)))


def _places(facts: MetricFacts, table: Floats, pairs: Sequence[PairOnMetric]) -> int:
    """Decimals that show the values, and apart the means that were found to differ."""
    least = min((abs(pair.difference.value or 1.0) for pair in pairs if pair.significant), default=1.0)
    needed = math.ceil(-math.log10(least) - 1e-9)
    return max(decimals(facts, float(np.nanmin(table)), float(np.nanmax(table))), min(needed, MOST_DECIMALS))


def _sign(marks: Scores, metric: str) -> int:
    return -1 if marks.facts[metric].higher_is_better is False else 1


def _reason(tested: Tested, names: Sequence[str]) -> str | None:
    """Why there is no test, or what is odd about it; of several systems, without whom there would be one."""
    if len(tested.complete) >= _FEWEST or len(names) == 2:
        return tested.tukey.reason
    return f"the test needs at least {_FEWEST} questions: {advice(names, ~np.isnan(tested.table))}"


def _mean(column: Floats, common: Estimate, bounds: Bounds, how: How) -> Estimate:
    """Over all questions with a value; the one over the common questions where these are all."""
    values = column[~np.isnan(column)]
    if len(values) == common.n:
        return common
    drawn = bootstrap_mean(values, level=how.level, resamples=how.resamples, seed=how.seed)
    return intervals.of_mean(drawn, values, bounds, float(np.abs(values).max()))


def _apart(marks: Scores, tested: Tested, names: Sequence[str]) -> tuple[tuple[QuestionApart, ...], int]:
    """The questions with the widest spread of values among the systems that have one, the widest first; and how many
    more have a spread as wide as the last."""
    there = ~np.isnan(marks.matrix(tested.metric)[:, list(tested.order)])
    numbers = np.flatnonzero(there.any(axis=1))
    spread = np.nanmax(tested.table, axis=1) - np.nanmin(tested.table, axis=1)
    widest = [int(i) for i in np.argsort(-spread, kind="stable")[:APART] if spread[i] > resample.TIE]
    found = []
    for i in widest:
        row = tested.table[i]
        found.append(
            QuestionApart(
                question_id=marks.questions[numbers[i]],
                text=None,
                spread=float(spread[i]),
                highest=names[int(np.nanargmax(row))],
                lowest=names[int(np.nanargmin(row))],
                values=tuple(None if np.isnan(value) else float(value) for value in row),
            )
        )
    as_far = int((spread >= spread[widest[-1]] - resample.TIE).sum()) - len(widest) if widest else 0
    return tuple(found), as_far

"""`metrics_study`: rows of any metrics and systems, and what the metrics are like (CCRS, section 4.1, appendices C-F).

The unit is the system. Systems that answered the same questions are matched by `question_id`.

As it is by default, and as the paper's authors did it (`as_published`):

    p          (count + 1) / (permutations + 1)          count / permutations
    Tukey's test and the means over systems, where a question lacks a system:
               the question is left out and counted      the systems that are there are used

Errors: UserError for runs that cannot be read together, or whose marks were made in different ways; UnknownName for a
metric or a system that there is none of.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from longmark import __version__
from longmark.analysis.compare import signatures
from longmark.analysis.compare.reach import beyond_reach
from longmark.analysis.metrics_study.results import (
    MetricPair,
    MetricProperties,
    MetricsStudy,
    QuestionMeans,
    SystemScores,
)
from longmark.errors import UserError
from longmark.report.distribution import bin_edges
from longmark.report.format import decimals, listed
from longmark.scores.manifest import MetricFacts
from longmark.scores.paired import BY_SYSTEM, Scores, read_scores
from longmark.stats.correlation import Kind, mean_correlation
from longmark.stats.describe import AtBounds, at_bounds, describe, ties_between, ties_within
from longmark.stats.discriminative import asl_curve, discriminative_power
from longmark.stats.hypotheses import Hypothesis, decide
from longmark.stats.multiplicity import NONE
from longmark.stats.proportion import check_level
from longmark.stats.results import PairOfSystems, TukeyTest
from longmark.stats.samples import Floats, check_count
from longmark.stats.tukey import tukey

PERMUTATIONS = 10_000
_QUANTILES = 100  # of the curve of question means
_LOST = 0.05  # share of questions left out from which a notice says so


def metrics_study(
    runs: Sequence[str | Path],
    *,
    by: str = BY_SYSTEM,
    metrics: Sequence[str] = (),
    alpha: float = 0.05,
    level: float = 0.95,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    hypotheses: Sequence[Hypothesis] = (),
    as_published: bool = False,
    allow_different_judges: bool = False,
    progress: Callable[[str], None] = lambda _part: None,
) -> MetricsStudy:
    """Studies the metrics of run folders.

    by: `system`, or `run` where each run is to count as one; metrics: names or families, all where none is given;
    alpha: of each metric's tests; level: of intervals; hypotheses: to be decided over these systems
    (`stats.hypotheses.load_hypotheses`); as_published: as in the head of this module; progress: told which part comes
    next, in words.
    """
    if not 0 < alpha < 1:
        raise UserError(f"alpha lies between 0 and 1, as 0.05 does; found {alpha}")
    check_level(level)
    check_count(permutations, "permutations")
    progress("reading the rows")
    marks = read_scores([Path(run) for run in runs], by)
    names = marks.named(metrics)
    differing = signatures.differences(marks, names)
    if differing and not allow_different_judges:
        raise UserError(signatures.refusal(differing, "these are not the properties of one metric"))
    if hypotheses and len(marks.systems) < 2:
        raise UserError(f"hypotheses compare systems, and there is one: {marks.systems[0]}; leave --hypotheses out")
    matrices = {name: marks.matrix(name) for name in names}
    found: list[MetricProperties] = []
    for i, name in enumerate(names, start=1):
        progress(f"scores and tests of {name} ({i} of {len(names)})")
        found.append(_properties(marks, name, matrices[name], alpha, permutations, seed, as_published))
    pairs: list[MetricPair] = []
    for a, b in itertools.combinations(names, 2):
        progress(f"correlations of {a} and {b} ({len(pairs) + 1} of {len(names) * (len(names) - 1) // 2})")
        pairs.append(_pair(a, b, matrices, marks.systems, level))
    tests = {one.metric: one.test for one in found if one.test is not None}
    return MetricsStudy(
        runs=tuple(str(run) for run in runs),
        by=marks.by,
        systems=marks.systems,
        questions=len(marks.questions),
        metrics=tuple(found),
        pairs=tuple(pairs),
        alpha=alpha,
        level=level,
        permutations=permutations,
        seed=seed,
        as_published=as_published,
        differing=differing,
        notices=tuple(_notices(marks, found, differing)),
        claims=tuple(hypotheses),
        hypotheses=decide(hypotheses, tests, alpha),
        longmark=__version__,
    )


# One metric ----------------------------------------------------------------------------------------------------------


def _properties(
    marks: Scores, name: str, matrix: Floats, alpha: float, permutations: int, seed: int, as_published: bool
) -> MetricProperties:
    facts = marks.facts[name]
    present = matrix[~np.isnan(matrix)]
    least, greatest = (float(present.min()), float(present.max())) if len(present) else (None, None)
    edges = bin_edges(facts, least, greatest) if least is not None and greatest is not None else ()
    systems = tuple(
        _system(marks, name, system, matrix[:, place], facts, edges) for place, system in enumerate(marks.systems)
    )
    test = _test(matrix, marks.systems, permutations, seed, as_published)
    p_values = [pair.p for pair in test.pairs] if test is not None else []
    power = discriminative_power(p_values, alpha, NONE)
    reason = test.reason if test is not None else f"there is one system, {marks.systems[0]}"
    if power.share is None and reason is None and test is not None:
        reason = test.pairs[0].reason
    beyond = None if test is None or power.significant else _beyond_reach(test, permutations, alpha)
    return MetricProperties(
        metric=name,
        facts=facts,
        places=decimals(facts, least, greatest),
        systems=systems,
        edges=edges,
        ties_between=ties_between({one: matrix[:, place] for place, one in enumerate(marks.systems)}),
        question_means=_question_means(matrix, facts, as_published),
        test=test,
        power=replace(power, reason=reason) if power.share is None else power,
        asl=asl_curve(p_values),
        reason="; ".join(why for why in (reason, beyond) if why) or None,
        beyond_reach=beyond,
    )


def _beyond_reach(test: TukeyTest, permutations: int, alpha: float) -> str | None:
    """Why no two systems could be told apart on this metric, however far apart they lie; None where they could."""
    systems = sum(mean is not None for mean in test.means)
    draws = permutations if test.plus_one else sys.maxsize  # count / permutations can be 0
    return beyond_reach(systems, test.n, draws, 1.0, alpha, "--permutations")


def _system(
    marks: Scores, name: str, system: str, scores: Floats, facts: MetricFacts, edges: Sequence[float]
) -> SystemScores:
    x = scores[~np.isnan(scores)]
    q1, q3 = (float(q) for q in np.quantile(x, [0.25, 0.75])) if len(x) else (None, None)
    return SystemScores(
        system=system,
        rows=marks.rows(name, system),
        gaps=marks.unscored(name, system),
        repeated=marks.repeated.get((name, system), 0),
        described=describe(x),
        q1=q1,
        q3=q3,
        bounds=_bounds(x, facts),
        ties=ties_within(x),
        counts=_counts(x, edges),
        usage=marks.usage(name, system),
    )


def _bounds(x: Floats, facts: MetricFacts) -> AtBounds | None:
    if facts.lo is None and facts.hi is None:
        return None
    low = facts.lo if facts.lo is not None else float("-inf")
    high = facts.hi if facts.hi is not None else float("inf")
    return at_bounds(x, low, high) if low < high else None


def _counts(x: Floats, edges: Sequence[float]) -> tuple[int, ...]:
    return tuple(int(count) for count in np.histogram(x, edges)[0]) if edges else ()


def _question_means(matrix: Floats, facts: MetricFacts, as_published: bool) -> QuestionMeans:
    """Over the systems that have any value at all."""
    there = ~np.isnan(matrix)
    table = matrix[:, there.any(axis=0)]
    asked = there.any(axis=1)
    used = asked if as_published else asked & ~np.isnan(table).any(axis=1)
    x = np.nanmean(table[used], axis=1) if used.any() else np.zeros(0)
    edges = bin_edges(facts, float(x.min()), float(x.max())) if len(x) else ()
    shares = np.linspace(0, 1, _QUANTILES + 1)
    quantiles = zip(shares.tolist(), np.quantile(x, shares).tolist(), strict=True) if len(x) else ()
    return QuestionMeans(
        n=len(x),
        left_out=int(asked.sum() - used.sum()),
        systems=table.shape[1],
        edges=edges,
        counts=_counts(x, edges),
        quantiles=tuple((round(share, 9), value) for share, value in quantiles),
    )


def _test(matrix: Floats, systems: Sequence[str], permutations: int, seed: int, as_published: bool) -> TukeyTest | None:
    """Tukey's test over the systems that have any value; the pairs of the others stand in it without a p. None where
    there is one system only."""
    if len(systems) < 2:
        return None
    having = [place for place in range(len(systems)) if not np.isnan(matrix[:, place]).all()]
    lacking = [name for place, name in enumerate(systems) if place not in having]
    if len(having) < 2:
        only = f"only {systems[having[0]]} has a value" if having else "no system has a value"
        having = list(range(len(systems)))  # an empty table of all of them, to be filled with the reason
        matrix, whole = matrix[:0], only
    else:
        whole = None
    test = tukey(
        matrix[:, having],
        [systems[place] for place in having],
        permutations=permutations,
        seed=seed,
        plus_one=not as_published,
        keep_incomplete=as_published,
    )
    if whole is not None:
        pairs = tuple(replace(pair, reason=whole) for pair in test.pairs)
        return replace(test, pairs=pairs, reason=whole)
    if not lacking:
        return test
    means = dict(zip(test.systems, test.means, strict=True))
    pairs = tuple(
        PairOfSystems(a, b, None, None, f"no score of {' and '.join(name for name in (a, b) if name in lacking)}")
        if a in lacking or b in lacking
        else test.pair(a, b)
        for a, b in itertools.combinations(systems, 2)
    )
    return replace(test, systems=tuple(systems), means=tuple(means.get(name) for name in systems), pairs=pairs)


# Several metrics -----------------------------------------------------------------------------------------------------


def _pair(first: str, second: str, matrices: dict[str, Floats], systems: Sequence[str], level: float) -> MetricPair:
    """Correlations are the same in both orders; the rank ones take a step for each different score of the first."""
    a, b = sorted((matrices[first], matrices[second]), key=lambda matrix: len(np.unique(matrix)))
    x = {system: a[:, place] for place, system in enumerate(systems)}
    y = {system: b[:, place] for place, system in enumerate(systems)}
    kinds: tuple[Kind, ...] = ("pearson", "spearman", "kendall")
    return MetricPair(first, second, {kind: mean_correlation(x, y, kind, level=level) for kind in kinds})


def _notices(marks: Scores, found: Sequence[MetricProperties], differing: Sequence[str]) -> list[str]:
    """What a reader must know first, the gravest first."""
    notices = signatures.notices(marks, [one.metric for one in found], differing)
    for why in dict.fromkeys(one.beyond_reach for one in found if one.beyond_reach):
        notices.append(f"{listed([one.metric for one in found if one.beyond_reach == why])}: {why}.")
    for one in found:
        means = one.question_means
        if means.left_out > _LOST * (means.n + means.left_out):
            notices.append(
                f"{one.metric}: {means.left_out:,} of {means.n + means.left_out:,} questions are left out of the means "
                "over systems and of Tukey's test, for not every system has a value there."
            )
        if absent := [scores.system for scores in one.systems if not scores.described.n]:
            notices.append(f"{one.metric}: no value of {', '.join(absent)}.")
        if outside := sum(scores.bounds.outside for scores in one.systems if scores.bounds is not None):
            notices.append(f"{one.metric}: {outside:,} scores lie outside the bounds that the metric declares.")
        if repeated := [scores.system for scores in one.systems if scores.repeated]:
            notices.append(
                f"{one.metric}: {', '.join(repeated)} answered some questions more than once; the mean of the values "
                "counts, as one."
            )
    return notices

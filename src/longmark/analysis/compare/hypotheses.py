"""The tests of hypotheses, and which are supported, as a section of the page of a comparison or of a metrics study.

The p of a pair holds over all pairs of its metric. Without clusters it is that of the randomised Tukey HSD, as in the
CCRS paper. Tukey's test shuffles the scores of a question, and knows nothing of questions that depend on each other:
with clusters it is max-T (`stats.max_t`) over the pairs of the metric. Where a system has unscored answers, the pair
has the larger p of both readings, and 1 if their differences have opposite signs.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from longmark.analysis.compare.tests import ComparisonSettings, Tested, undetectable_in
from longmark.report.document import Section
from longmark.report.format import counted
from longmark.report.tables import Column, Table
from longmark.stats.hypotheses import ALL, ANY
from longmark.stats.max_t import max_t
from longmark.stats.results import TWO_SIDED, HypothesisResult, PairOfSystems, TukeyTest
from longmark.stats.samples import Floats, Ints
from longmark.stats.tukey import least_p, tukey

HYPOTHESES = "Hypotheses"


def clustered_test(
    table: Floats,
    systems: Sequence[str],
    clusters: Ints,
    permutations: int,
    alpha: float,
    seed: int,
) -> TukeyTest:
    """The pairs of one metric by max-T over clusters, in the form of a Tukey test. table: questions x systems, NaN for
    no score: a pair is tested on the questions that both have. n: the clusters of the pair with the fewest."""
    pairs = list(itertools.combinations(range(len(systems)), 2))
    columns = np.column_stack([table[:, a] - table[:, b] for a, b in pairs])
    joint = max_t(
        columns, clusters=clusters.tolist(), permutations=permutations, alpha=alpha, seed=seed
    )
    tested_pairs = []
    for i, (a, b) in enumerate(pairs):
        differences = columns[~np.isnan(columns[:, i]), i]
        equal = len(differences) > 0 and not differences.any() and joint.clusters[i] > 1
        p = 1.0 if equal and joint.adjusted[i] is None else joint.adjusted[i]
        difference = float(differences.mean()) if len(differences) else None
        tested_pairs.append(
            PairOfSystems(
                systems[a], systems[b], difference, p, None if p is not None else joint.reasons[i]
            )
        )
    means = [column[~np.isnan(column)] for column in table.T]
    return TukeyTest(
        systems=tuple(systems),
        means=tuple(float(column.mean()) if len(column) else None for column in means),
        pairs=tuple(tested_pairs),
        n=min(joint.clusters),
        missing=0,
        permutations=joint.patterns,
        exact=joint.exact,
        plus_one=not joint.exact,
        keep_incomplete=True,
        seed=joint.seed,
    )


def tests_for(tested: Sequence[Tested], how: ComparisonSettings) -> dict[str, TukeyTest]:
    """The tests of hypotheses: metric -> its pairs."""
    tests_by_metric = {}
    for of_metric in tested:
        readings = [
            reading for reading in (of_metric.common, of_metric.counted) if reading is not None
        ]
        if of_metric.common.clusters is None:
            tests = [of_metric.tukey]
            tests += [
                tukey(reading.table, of_metric.names, permutations=how.permutations, seed=how.seed)
                for reading in readings[1:]
            ]
        else:
            settings = (how.permutations, how.alpha, how.seed)
            tests = [
                clustered_test(reading.table, of_metric.names, reading.clusters, *settings)
                for reading in readings
                if reading.clusters is not None
            ]
        tests_by_metric[of_metric.metric] = tests[0] if len(tests) == 1 else _both(*tests)
    return tests_by_metric


def _both(common: TukeyTest, counted: TukeyTest) -> TukeyTest:
    """A test that finds what both readings find."""
    pairs = []
    for pair in common.pairs:
        counted_pair = counted.pair(pair.a, pair.b)
        if pair.p is not None and counted_pair.p is not None:
            same_direction = (pair.difference or 0.0) * (counted_pair.difference or 0.0) >= 0
            pair = replace(pair, p=max(pair.p, counted_pair.p) if same_direction else 1.0)
        pairs.append(pair)
    return replace(common, pairs=tuple(pairs))


def hypotheses_section(
    results: Sequence[HypothesisResult],
    tests: Mapping[str, TukeyTest],
    permutations: int,
    alpha: float,
    clusters: str | None = None,
    *,
    readings: bool = True,
) -> tuple[Section, ...]:
    """No section if there are no hypotheses. tests: of the metrics, with so many permutations; clusters: their field,
    None: each question is one; readings: unscored answers were counted as the worst, too."""
    if not results:
        return ()
    columns = (
        *map(Column, ("hypothesis", "combine", "direction", "comparisons")),
        Column("p", kind="p"),
        Column("p (adjusted)", kind="p"),
        Column("supported"),
        Column("reason"),
    )
    claims = []
    for one, why in zip(
        results,
        unsupportable(results, tests, permutations, alpha, pairwise=bool(clusters)),
        strict=True,
    ):
        reason = (
            f"not tested: {one.reason}" if one.reason else why and f"could not be supported: {why}"
        )
        supported = one.supported if one.p is not None else None
        counts = (one.combine, one.direction, len(one.comparisons))
        claims.append((one.name, *counts, one.p, one.adjusted, supported, reason))
    parts = (
        Column("hypothesis"),
        Column("metric", kind="metric"),
        Column("first"),
        Column("second"),
        Column("first - second", places=4, key="difference"),
        Column("p", kind="p"),
    )
    comparison_rows = [
        (result.name, part.metric, part.a, part.b, part.difference, part.p)
        for result in results
        for part in result.comparisons
    ]
    total = sum(result.supported for result in results)
    test = (
        f"max-T over clusters ({clusters})"
        if clusters
        else "the randomised Tukey HSD, as in the CCRS paper,"
    )
    readings_note = (
        "; where answers are unscored and a direction is known, the larger one of both readings (without them, and "
        "with them as the worst score)"
        if readings
        else ""
    )
    return (
        Section(
            HYPOTHESES,
            f"Supported: {total} of {counted(len(results), 'hypothesis', 'hypotheses')} (alpha {alpha:g}, Holm over "
            "the hypotheses).",
            (
                Table("hypotheses", "Hypotheses", columns, claims),
                Table(
                    "hypotheses-comparisons",
                    "Comparisons of each hypothesis",
                    parts,
                    comparison_rows,
                ),
            ),
            note="all: the largest p of the comparisons. any: the smallest p times the number of metrics. The p of a "
            f"comparison is that of {test} over all pairs of its metric, in the direction of the hypothesis (greater: "
            f"first above second){readings_note}. A hypothesis that is not supported is not disproved.",
            brief=1,
        ),
    )


def unsupportable(
    hypotheses: Sequence[HypothesisResult],
    tests: Mapping[str, TukeyTest],
    permutations: int,
    alpha: float,
    *,
    pairwise: bool = False,
) -> list[str | None]:
    """For each hypothesis why no differences, however large, could have supported it; None if some could, or if it was
    not tested. tests: metric -> its test; pairwise: by sign flips of pairs, whose least p is that of two systems. It is
    assumed that each pair could have the smallest possible p; for several pairs at once it may be larger."""
    waiting = sum(
        hypothesis.p is not None and not hypothesis.supported for hypothesis in hypotheses
    )  # what Holm multiplies by
    reasons: list[str | None] = []
    for one in hypotheses:
        if one.p is None or one.supported:
            reasons.append(None)
            continue
        least: dict[str, float] = {}
        for part in one.comparisons:
            test = tests[part.metric]
            systems = 2 if pairwise else sum(mean is not None for mean in test.means)
            least[part.metric] = least_p(
                systems, test.n, permutations if test.plus_one else sys.maxsize
            )
        metric = (max if one.combine == ALL else min)(least, key=lambda name: least[name])
        sides = 1.0 if one.direction == TWO_SIDED else 0.5
        factor = waiting * sides * (len(least) if one.combine == ANY else 1)
        why = undetectable_in(tests[metric], permutations, factor, alpha, pairwise=pairwise)
        reasons.append(why and f"{metric}: {why}")
    return reasons

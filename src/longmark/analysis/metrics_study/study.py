"""`metrics_study`: the properties of metrics on any systems, from their rows (CCRS, section 4.1, appendices C-F).

The unit is the system. Systems that answered the same questions are matched by `question_id`. Two things are an option:

    p          (count + 1) / (permutations + 1)          as_published: count / permutations
    Tukey's test and the means over systems, if a question has no score of a system:
               the question is excluded and counted      as_published: the other systems are used

Pairs of systems are tested by the randomised Tukey HSD. It shuffles the scores of a question, and knows nothing of
questions that depend on each other: with clusters the test is max-T (`stats.max_t`) over the pairs of each metric.

Errors: UserError for runs that cannot be read together, or whose scores were made in different ways; UnknownName for a
metric or a system that does not exist.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from longmark import __version__
from longmark.analysis.compare.checks import (
    by_reason,
    check_scoring,
    check_tests,
    question_notices,
    run_notices,
)
from longmark.analysis.compare.hypotheses import clustered_test, tests_for
from longmark.analysis.compare.tests import ComparisonSettings, tests_of, undetectable_in
from longmark.errors import UserError
from longmark.keyword_values import checked_options
from longmark.options import described, named, with_keywords
from longmark.options.analyses import MetricsStudyGroups, QuestionCluster
from longmark.records import Usage
from longmark.report.distribution import bin_edges
from longmark.report.format import counted, decimals, direction
from longmark.report.notebook import SelfShown
from longmark.scores.clusters import QUESTION
from longmark.scores.files import paths_given
from longmark.scores.manifest import MetricFacts, read_manifest
from longmark.scores.observations import Unscored
from longmark.scores.paired import Scores, read_scores
from longmark.stats.correlation import Kind, MeanCorrelation, mean_correlation
from longmark.stats.describe import (
    AtBounds,
    Description,
    Ties,
    at_bounds,
    describe,
    ties_between,
    ties_within,
)
from longmark.stats.discriminative import DiscriminativePower, discriminative_power
from longmark.stats.hypotheses import decide
from longmark.stats.results import HypothesisResult, TukeyTest
from longmark.stats.samples import Floats
from longmark.stats.tukey import tukey

DRAWS = 10_000
_QUANTILES = 100  # of the curve of question means


@described
@dataclass(frozen=True, kw_only=True)
class MetricsStudyOptions(QuestionCluster, MetricsStudyGroups):
    """How metrics are studied. alpha is that of each metric's tests. as_published: see the head of this module.
    UserError for a number out of range."""

    def __post_init__(self) -> None:
        check_tests(self.alpha, self.level, self.draws)


@dataclass(frozen=True, slots=True)
class SystemScores:
    """The scores of one system on one metric, a question each.

    rows, unscored   its rows, and why some of them have no score
    bounds           None if the metric has none; a side without a bound is infinite
    ties             two random answers of this system
    counts           scores in the bins of the metric's edges
    usage            the cost of the rows when they were first paid for
    """

    metric: str
    system: str
    rows: int
    unscored: tuple[Unscored, ...]
    described: Description
    bounds: AtBounds | None
    ties: Ties
    counts: tuple[int, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class QuestionMeans:
    """The mean over systems, question by question.

    n: questions; left_out: questions without a score of some system; systems: how many the means are over; counts:
    questions in each bin of `edges`; quantiles: (share of the questions, value that so many are below), ascending.
    """

    n: int
    left_out: int
    systems: int
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    quantiles: tuple[tuple[float, float], ...]

    def quantile(self, share: float) -> float | None:
        """The value at a share that is among the quantiles."""
        return next((value for at, value in self.quantiles if abs(at - share) < 1e-9), None)


@dataclass(frozen=True, slots=True)
class MetricProperties:
    """One metric. systems: in the order of the study; places: decimals that its scores are shown with; edges: of the
    bins, [edge, next edge), the last with both; test, power: over all pairs of systems; reason: why none differ or
    were tested, if there is a reason; undetectable: why no difference, however large, can be significant, or None."""

    metric: str
    facts: MetricFacts
    places: int
    systems: tuple[SystemScores, ...]
    edges: tuple[float, ...]
    ties_between: Ties
    question_means: QuestionMeans
    test: TukeyTest | None
    power: DiscriminativePower
    reason: str | None
    undetectable: str | None

    @property
    def n(self) -> int:
        return sum(system.described.n for system in self.systems)

    @property
    def rows(self) -> int:
        return sum(system.rows for system in self.systems)

    @property
    def mean(self) -> float | None:
        """The mean of the systems' means."""
        means = [
            system.described.mean for system in self.systems if system.described.mean is not None
        ]
        return sum(means) / len(means) if means else None

    @property
    def usage(self) -> Usage:
        total = Usage()
        for system in self.systems:
            total.add(system.usage)
        return total

    @property
    def direction(self) -> str:
        """As `format.direction`."""
        return direction(self.facts)


@dataclass(frozen=True, slots=True)
class MetricPair:
    """Two metrics on the same answers. by_kind: `pearson`, `spearman`, `kendall` -> mean over systems, and each
    system's own."""

    first: str
    second: str
    by_kind: Mapping[str, MeanCorrelation]


@dataclass(frozen=True, slots=True)
class RunTime:
    """How long a run took, all its sessions together. metrics: those it computed; rows: that were written; requests:
    that were sent; from_cache: calls that needed none; seconds: by the clock."""

    run: str
    metrics: tuple[str, ...]
    rows: int
    requests: int
    from_cache: int
    seconds: float


@dataclass(frozen=True, slots=True, repr=False)
class MetricsStudy(SelfShown):
    """A study. differing: differences in how the scores were made, if that was allowed; notices: what a reader must
    know first; times: of the runs that are folders; signatures: what to cite of each score."""

    PAGE: ClassVar[str] = "longmark.analysis.metrics_study.page"

    runs: tuple[str, ...]
    by: str
    systems: tuple[str, ...]
    questions: int
    metrics: tuple[MetricProperties, ...]
    pairs: tuple[MetricPair, ...]
    options: MetricsStudyOptions
    differing: tuple[str, ...]
    notices: tuple[str, ...]
    hypotheses: tuple[HypothesisResult, ...]
    times: tuple[RunTime, ...] = ()
    signatures: tuple[str, ...] = ()
    longmark: str = __version__

    @property
    def scores(self) -> list[SystemScores]:
        return [scores for metric in self.metrics for scores in metric.systems]

    def metric(self, name: str) -> MetricProperties:
        return next(metric for metric in self.metrics if metric.metric == name)


@with_keywords(MetricsStudyOptions)
def metrics_study(
    runs: str | Path | Sequence[str | Path],
    *,
    progress: Callable[[str], None] = lambda _part: None,
    **options: Any,
) -> MetricsStudy:
    """Studies the metrics of run folders or files of rows.

    progress: gets the name of each part before it starts; options: of `MetricsStudyOptions`. UnknownName for another.
    """
    how = checked_options(MetricsStudyOptions, options, "metrics_study")
    progress("reading the rows")
    paths = paths_given(runs)
    scores = read_scores(paths, how.by, how.cluster, how.bounds).directed(how.higher, how.lower)
    names = scores.named(how.metrics)
    scores.refuse_huge(names)
    differing = check_scoring(
        scores, names, how.allow_different_judges, "they are not scores of one metric"
    )
    if how.hypotheses and len(scores.systems) < 2:
        raise UserError(
            f"hypotheses compare systems, and there is one: {scores.systems[0]}; omit {named('hypotheses')}"
        )
    matrices = {name: scores.matrix(name) for name in names}
    clusters = None if how.cluster == QUESTION else scores.clusters
    properties: list[MetricProperties] = []
    for i, (name, matrix) in enumerate(matrices.items(), start=1):
        progress(f"scores and tests of {name} ({i} of {len(names)})")
        test = None
        if len(scores.systems) > 1 and clusters is not None:
            test = clustered_test(matrix, scores.systems, clusters, how.draws, how.alpha, how.seed)
        elif len(scores.systems) > 1:
            test = tukey(
                matrix,
                scores.systems,
                permutations=how.draws,
                seed=how.seed,
                plus_one=not how.as_published,
                keep_incomplete=how.as_published,
            )
        properties.append(_properties(scores, name, test, how))
    pairs: list[MetricPair] = []
    for a, b in itertools.combinations(names, 2):
        progress(
            f"correlations of {a} and {b} ({len(pairs) + 1} of {len(names) * (len(names) - 1) // 2})"
        )
        pairs.append(_pair(a, b, matrices, scores, how.level))
    tests = {metric.metric: metric.test for metric in properties if metric.test is not None}
    if how.hypotheses and not how.as_published:
        # a hypothesis is supported only if it is with unscored answers counted as the worst, too: as in `compare`
        settings = ComparisonSettings(how.level, how.alpha, how.draws, how.seed, complete=False)
        places = range(len(scores.systems))
        silent = [
            name
            for name in tests
            if sum(not np.isnan(column).all() for column in matrices[name].T) > 1
        ]
        tests |= tests_for([tests_of(scores, name, places, settings) for name in silent], settings)
    notices = run_notices(scores, names, differing)
    notices += by_reason((metric.metric, metric.undetectable) for metric in properties)
    notices += question_notices(
        scores, names, range(len(scores.systems)), incomplete=how.as_published
    )
    for metric in properties:
        if outside := sum(
            system.bounds.outside for system in metric.systems if system.bounds is not None
        ):
            notices.append(
                f"{metric.metric}: {counted(outside, 'score')} outside the bounds that the metric declares."
            )
    return MetricsStudy(
        runs=tuple(map(str, paths)),
        by=scores.by,
        systems=scores.systems,
        questions=len(scores.questions),
        metrics=tuple(properties),
        pairs=tuple(pairs),
        options=how,
        differing=differing,
        notices=tuple(notices),
        hypotheses=decide(how.hypotheses, tests, how.alpha),
        signatures=scores.lines([metric.metric for metric in properties]),
        times=tuple(time for run in paths if (time := _time(run)) is not None),
    )


def _time(run: Path) -> RunTime | None:
    """None if the run is a file of rows, or its sessions have no seconds."""
    if not run.is_dir():
        return None
    manifest = read_manifest(run)
    ended = [
        session for session in manifest.sessions if isinstance(session.get("seconds"), int | float)
    ]
    if not ended:
        return None
    rows, requests, from_cache = (
        sum(int(session.get(key, 0)) for session in ended)
        for key in ("rows", "requests", "from_cache")
    )
    names = tuple(map(str, manifest.fixed.get("metrics", ())))
    return RunTime(
        str(run),
        names,
        rows,
        requests,
        from_cache,
        sum(float(session["seconds"]) for session in ended),
    )


def _properties(
    scores: Scores, name: str, test: TukeyTest | None, options: MetricsStudyOptions
) -> MetricProperties:
    """test: None if there is one system only."""
    facts = scores.facts[name]
    matrix = scores.matrix(name)
    present = matrix[~np.isnan(matrix)]
    least, greatest = (float(present.min()), float(present.max())) if len(present) else (None, None)
    edges = bin_edges(facts, least, greatest) if least is not None and greatest is not None else ()
    p_values = [pair.p for pair in test.pairs] if test is not None else []
    power = discriminative_power(p_values, options.alpha)
    reason = f"there is one system, {scores.systems[0]}"
    none = None
    if test is not None:
        reason = test.reason or (test.pairs[0].reason if power.share is None else None)  # type: ignore[assignment]
        clustered = options.cluster != QUESTION
        none = (
            None
            if power.significant
            else undetectable_in(test, options.draws, 1.0, options.alpha, pairwise=clustered)
        )
    return MetricProperties(
        metric=name,
        facts=facts,
        places=decimals(facts, least, greatest),
        systems=tuple(
            SystemScores(
                metric=name,
                system=system,
                rows=scores.rows(name, system),
                unscored=scores.unscored(name, system),
                described=describe(column),
                bounds=_bounds(column, facts),
                ties=ties_within(column),
                counts=_counts(column[~np.isnan(column)], edges),
                usage=scores.usage(name, system),
            )
            for system, column in zip(scores.systems, matrix.T, strict=True)
        ),
        edges=edges,
        ties_between=ties_between(dict(zip(scores.systems, matrix.T, strict=True))),
        question_means=_question_means(matrix, facts, options.as_published),
        test=test,
        power=replace(power, reason=reason) if power.share is None else power,
        reason="; ".join(why for why in (reason, none) if why) or None,
        undetectable=none,
    )


def _bounds(scores: Floats, facts: MetricFacts) -> AtBounds | None:
    if facts.lo is None and facts.hi is None:
        return None
    low = -np.inf if facts.lo is None else facts.lo
    high = np.inf if facts.hi is None else facts.hi
    return at_bounds(scores, low, high) if low < high else None


def _counts(values: Floats, edges: Sequence[float]) -> tuple[int, ...]:
    return tuple(int(count) for count in np.histogram(values, edges)[0]) if edges else ()


def _question_means(matrix: Floats, facts: MetricFacts, as_published: bool) -> QuestionMeans:
    """Over the systems with a score."""
    present_scores = ~np.isnan(matrix)
    table = matrix[:, present_scores.any(axis=0)]
    any_score = present_scores.any(axis=1)
    used = any_score if as_published else any_score & ~np.isnan(table).any(axis=1)
    x = np.nanmean(table[used], axis=1) if used.any() else np.zeros(0)
    edges = bin_edges(facts, float(x.min()), float(x.max())) if len(x) else ()
    shares = np.linspace(0, 1, _QUANTILES + 1)
    quantiles = (
        zip(shares.round(9).tolist(), np.quantile(x, shares).tolist(), strict=True)
        if len(x)
        else ()
    )
    return QuestionMeans(
        n=len(x),
        left_out=int(any_score.sum() - used.sum()),
        systems=table.shape[1],
        edges=edges,
        counts=_counts(x, edges),
        quantiles=tuple(quantiles),
    )


def _pair(
    first: str, second: str, matrices: dict[str, Floats], scores: Scores, level: float
) -> MetricPair:
    """Correlations are the same in both orders; those of ranks take a step for each different score of the first."""
    matrix, other_matrix = sorted(
        (matrices[first], matrices[second]), key=lambda column: len(np.unique(column))
    )
    x, y = (dict(zip(scores.systems, table.T, strict=True)) for table in (matrix, other_matrix))
    clusters = None if scores.cluster == QUESTION else scores.clusters.tolist()
    kinds: tuple[Kind, ...] = ("pearson", "spearman", "kendall")
    return MetricPair(
        first,
        second,
        {kind: mean_correlation(x, y, kind, clusters=clusters, level=level) for kind in kinds},
    )

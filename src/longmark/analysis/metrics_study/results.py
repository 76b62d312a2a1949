"""What a study of metrics gives back: frozen, with the settings it was made with.

A figure that could not be had is None, with a reason beside it. Units: those of the metric.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from longmark.records import Usage
from longmark.scores.index import Unscored
from longmark.scores.manifest import MetricFacts
from longmark.stats.correlation import MeanCorrelation
from longmark.stats.describe import AtBounds, Description, Ties
from longmark.stats.hypotheses import Hypothesis
from longmark.stats.results import AslCurve, DiscriminativePower, HypothesisResult, TukeyTest


@dataclass(frozen=True, slots=True)
class SystemScores:
    """The scores of one system on one metric, a question each.

    rows, gaps    its rows, and why some of them have no value
    repeated      questions with several values, of which the mean counts
    q1, q3        quartiles, interpolated linearly; None without a value
    bounds        None where the metric has none; a side without a bound is infinite
    ties          two random answers of this system
    counts        scores in the bins of the metric's edges
    usage         what the rows cost when they were first paid for
    """

    system: str
    rows: int
    gaps: tuple[Unscored, ...]
    repeated: int
    described: Description
    q1: float | None
    q3: float | None
    bounds: AtBounds | None
    ties: Ties
    counts: tuple[int, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class QuestionMeans:
    """The mean over systems, question by question.

    n: questions; left_out: questions in which a system lacks; systems: how many the means are over; counts: questions
    in each bin of `edges`; quantiles: (share of the questions, value that so many lie below), ascending.
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
    """One metric. systems: in the order of the study; places: decimals that its values are shown with; edges: of the
    bins, [edge, next edge), the last with both; test, power, asl: over all pairs of systems; reason: why none differ or
    were tested, where there is such a reason; beyond_reach: why no two systems could be told apart, however far apart
    they lie, None where they could or where nothing was tested."""

    metric: str
    facts: MetricFacts
    places: int
    systems: tuple[SystemScores, ...]
    edges: tuple[float, ...]
    ties_between: Ties
    question_means: QuestionMeans
    test: TukeyTest | None
    power: DiscriminativePower
    asl: AslCurve
    reason: str | None = None
    beyond_reach: str | None = None

    @property
    def n(self) -> int:
        return sum(one.described.n for one in self.systems)

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.systems)

    @property
    def mean(self) -> float | None:
        """The mean of the systems' means."""
        means = [one.described.mean for one in self.systems if one.described.mean is not None]
        return sum(means) / len(means) if means else None

    @property
    def usage(self) -> Usage:
        whole = Usage()
        for one in self.systems:
            whole.add(one.usage)
        return whole


@dataclass(frozen=True, slots=True)
class MetricPair:
    """Two metrics on the same answers. by_kind: `pearson`, `spearman`, `kendall` -> mean over systems, and each
    system's own."""

    first: str
    second: str
    by_kind: Mapping[str, MeanCorrelation]


@dataclass(frozen=True, slots=True)
class MetricsStudy:
    """A study. differing: how the marks were made in different ways, where that was allowed; notices: what a reader
    must know first; claims, hypotheses: what was claimed, and what became of it."""

    runs: tuple[str, ...]
    by: str
    systems: tuple[str, ...]
    questions: int
    metrics: tuple[MetricProperties, ...]
    pairs: tuple[MetricPair, ...]
    alpha: float
    level: float
    permutations: int
    seed: int
    as_published: bool
    differing: tuple[str, ...]
    notices: tuple[str, ...]
    claims: tuple[Hypothesis, ...]
    hypotheses: tuple[HypothesisResult, ...]
    longmark: str

    def metric(self, name: str) -> MetricProperties:
        """The metric of this name."""
        return next(one for one in self.metrics if one.metric == name)


class On(NamedTuple):
    """A metric, and a system, a pair of systems or a bin of it: an item of a table."""

    metric: MetricProperties
    of: Any


def on_systems(study: MetricsStudy) -> list[On]:
    """Every metric in every system."""
    return [On(one, scores) for one in study.metrics for scores in one.systems]

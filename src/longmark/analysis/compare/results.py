"""What a comparison gives back: frozen, with the settings it was made with.

Differences are first - second in the metric's units. A figure that could not be had is None, with a reason beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

from longmark.scores.index import Unscored
from longmark.scores.manifest import MetricFacts
from longmark.stats.hypotheses import Hypothesis
from longmark.stats.results import Estimate, HypothesisResult, TukeyTest

TWO_SYSTEMS, SEVERAL_SYSTEMS = "paired permutation test", "randomised Tukey HSD"


@dataclass(frozen=True, slots=True)
class SystemOnMetric:
    """One system on one metric.

    mean           over all questions on which it has a value
    common         over the questions on which every compared system has one
    rows, gaps     its rows, and why some of them have no value
    lacking        questions that lack a value of it, of those on which any system has one
    alone          questions that are not compared because this system is the only one without a value
    repeated       questions with several values, of which the mean counts
    best, worst    the ranks that it may have: 1 + the systems that are significantly better, and the number of systems
                   less those that are significantly worse; None where no end of the metric is better
    groups         letters; systems that share one cannot be told apart
    """

    system: str
    mean: Estimate
    common: Estimate
    rows: int
    gaps: tuple[Unscored, ...]
    lacking: int
    alone: int
    repeated: int
    best: int | None
    worst: int | None
    groups: str

    @property
    def rank(self) -> str | None:
        """`2`, or `1-3` where it is not certain."""
        if self.best is None:
            return None
        return str(self.best) if self.best == self.worst else f"{self.best}-{self.worst}"


@dataclass(frozen=True, slots=True)
class PairOnMetric:
    """Two systems on one metric, over the questions on which every compared system has a value.

    d_z                mean difference / standard deviation of the differences
    share              (won + ties / 2) / n, from the view of the first
    won, ties, lost    questions; won: the first has the better value, or the higher one where no end is better
    p_alone            two-sided, of this pair by itself, not corrected
    p_of_metric        corrected for the pairs of this metric
    p                  corrected for all pairs of all metrics
    significant        p <= alpha
    detectable         the true difference that would be found in four of five such samples, at the corrected level;
                       None where none could be found, or the values are alike
    """

    first: str
    second: str
    difference: Estimate
    d_z: Estimate
    share: Estimate
    won: int
    ties: int
    lost: int
    p_alone: float | None
    p_of_metric: float | None
    p: float | None
    significant: bool
    detectable: float | None


@dataclass(frozen=True, slots=True)
class QuestionApart:
    """A question on which the systems' values lie far apart. values: in the order of the metric's systems."""

    question_id: str
    text: str | None
    spread: float
    highest: str
    lowest: str
    values: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """All systems on one metric.

    systems     those that have a value, the best first (the highest where no end is better)
    absent      systems without any value, and why their rows have none
    pairs       every pair, the first before the second in the order of `systems`
    groups      of systems that cannot be told apart, each as large as it can be; empty where nothing was tested
    described   a manifest describes the metric; otherwise nobody says which end is better
    questions   on which any system has a value
    common      on which every one has: what pairs, tests and groups are over
    test        its name; reason: why there is no test, or what is odd about it
    beyond_reach    why no difference, however large, could be found; None where one could
    apart       the questions on which the systems differ most; as_far: how many more lie as far apart as the last
    """

    metric: str
    facts: MetricFacts
    described: bool
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
    beyond_reach: str | None
    apart: tuple[QuestionApart, ...]
    as_far: int

    def system(self, name: str) -> SystemOnMetric:
        return next(one for one in self.systems if one.system == name)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Runs or systems compared on the metrics that two or more of them have.

    by             what a system is: `run` or `system`
    alpha, level   of the tests (corrected for `comparisons`), and of each interval by itself
    permutations   tables drawn for a test; resamples: for an interval
    differing      what was not the same in the marking, a line each; empty unless that was allowed
    notices        what a reader must know before anything else
    left_out       metrics that were not compared, with why
    """

    runs: tuple[str, ...]
    by: str
    systems: tuple[str, ...]
    metrics: tuple[MetricComparison, ...]
    alpha: float
    level: float
    seed: int
    permutations: int
    resamples: int
    comparisons: int
    differing: tuple[str, ...]
    notices: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    hypotheses: tuple[HypothesisResult, ...]
    claims: tuple[Hypothesis, ...]
    longmark: str

    @property
    def places(self) -> int:
        """Decimals that show the values of every metric."""
        return max(one.places for one in self.metrics)

    def metric(self, name: str) -> MetricComparison:
        return next(one for one in self.metrics if one.metric == name)

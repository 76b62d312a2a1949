"""`longmark power`: from a pilot, how many questions show a difference, and what difference so many questions show.

Every pair of systems on every metric is a comparison, tested on the questions that both have a score for. alpha is
divided by the comparisons (Bonferroni): `compare` corrects for all of them at once, which needs no more questions.
The spread comes from the pilot; the difference to show does not, since a pilot's own difference says little about the
true one. Arithmetic and sources: `stats.power`.

    needed       the fewest questions with which a true difference `effect` is found with the probability `power`
    detectable   the true difference that `questions` questions (default: the pilot's) find with that probability

Questions of a cluster (answers from one document, say) depend on each other: the spread is then that of clusters of the
pilot's sizes. Both numbers are planned with `assurance`, and for the pilot's skewness and ties; their interval is that
of the pilot's spread. Errors: UserError for an effect that is not above 0, shares outside (0, 1), a pilot of one
system, or scores that were made in different ways; UnknownName for a metric or a system.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from operator import itemgetter
from pathlib import Path
from typing import ClassVar

import numpy as np

from longmark.analysis.compare.checks import FEWEST_TESTED, check_scoring, run_notices
from longmark.analysis.grid import Grid
from longmark.errors import UnknownName, UserError
from longmark.options import described, named
from longmark.options.analyses import PowerGroups, QuestionCluster
from longmark.report.charts import Curve, curves
from longmark.report.document import Document, Section
from longmark.report.format import counted, decimals, fixed, listed
from longmark.report.notebook import SelfShown
from longmark.report.tables import Column
from longmark.scores.clusters import QUESTION
from longmark.scores.files import paths_given
from longmark.scores.paired import read_scores
from longmark.stats.clusters import FEWEST_EFFECTIVE
from longmark.stats.power import (
    MOST,
    detectable,
    inflation,
    questions_needed,
    variance_per_question,
)
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats

_DRAWN = 8
_STEPS = 20


@described
@dataclass(frozen=True, kw_only=True)
class PowerOptions(QuestionCluster, PowerGroups):
    """What is planned. UserError for a number out of range.

    Without an effect `needed` is not computed. assurance is over pilots: the plan is made for the end of the pilot's
    variance that the true one exceeds with probability 1 - assurance; .5: for the estimate itself. power, alpha and
    level are of the test, of all comparisons together, and of intervals.
    """

    def __post_init__(self) -> None:
        for name, example in (("power", 0.8), ("alpha", 0.05), ("level", 0.95)):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise UserError(
                    f"{named(name, value)}: expected a number between 0 and 1, such as {example}"
                )
        if not 0.5 <= self.assurance < 1:
            raise UserError(
                f"{named('assurance', self.assurance)}: expected a share from 0.5, below 1"
            )
        if self.power <= self.alpha:
            raise UserError(
                f"{named('power', self.power)}: expected more than {named('alpha', self.alpha)}"
            )
        if self.effect is not None and not 0 < self.effect < float("inf"):
            raise UserError(
                f"{named('effect', self.effect)}: expected the difference to detect, a number above 0"
            )
        if self.questions is not None and self.questions < 3:
            raise UserError(f"{named('questions', self.questions)}: a test needs at least 3")

    @property
    def fewest(self) -> int:
        """Questions (or clusters) below which `compare` finds nothing: the least p of n sign flips is 2 / 2^n."""
        return max(
            FEWEST_TESTED if self.cluster == QUESTION else math.ceil(FEWEST_EFFECTIVE),
            1 + math.ceil(-math.log2(self.alpha) - 1e-9),
        )


@dataclass(frozen=True, slots=True)
class PairPower:
    """Two systems on a metric. variance: of `stats.power.variance_per_question`; needed: None without an effect; the
    values of needed and detectable are for the variance at the assurance, times `inflation`, their intervals for that
    of the estimate; questions: what `detectable` is for; per_cluster: questions in an effective cluster of the pilot;
    places: decimals."""

    metric: str
    first: str
    second: str
    variance: Estimate
    needed: Estimate | None
    detectable: Estimate
    questions: int
    per_cluster: float
    planned: float | None = None
    inflation: float = 1.0
    places: int = 3

    @property
    def spread(self) -> float | None:
        """The standard deviation of the differences, in the metric's units (with clusters: what gives the same
        standard error of the mean if questions are taken as independent)."""
        return None if self.variance.value is None else math.sqrt(self.variance.value)

    @property
    def reason(self) -> str | None:
        return (
            self.variance.reason or (self.needed and self.needed.reason) or self.detectable.reason
        )


@dataclass(frozen=True, slots=True, repr=False)
class PowerPlan(SelfShown):
    """comparisons: of every metric and pair; alpha: of each of them; notices: what a reader must know first."""

    PAGE: ClassVar[str] = "longmark.analysis.power"

    runs: tuple[str, ...]
    comparisons: tuple[PairPower, ...]
    alpha: float
    options: PowerOptions
    notices: tuple[str, ...]

    @property
    def most(self) -> PairPower | None:
        """The comparison that needs the most questions; without an effect the one with the largest detectable
        difference. None if nothing is known."""
        sized = [
            (comparison.needed or comparison.detectable, comparison)
            for comparison in self.comparisons
        ]
        return max(
            ((size.value, comparison) for size, comparison in sized if size.value is not None),
            key=itemgetter(0),
            default=(0, None),
        )[1]


def power(
    runs: str | Path | Sequence[str | Path], options: PowerOptions | None = None
) -> PowerPlan:
    """Plans from run folders or files of rows. Needs the extra `stats`."""
    how = options or PowerOptions()
    scores = read_scores(paths_given(runs), how.by, how.cluster)
    clusters = None if how.cluster == QUESTION else scores.clusters.tolist()
    names = scores.named(how.metrics)
    scores.refuse_huge(names)
    differing = check_scoring(
        scores, names, how.allow_different_judges, "they are not scores of one metric"
    )
    for system in how.systems:
        if system not in scores.systems:
            raise UnknownName(
                "system", system, scores.systems, f"The pilot has {listed(scores.systems, 8)}."
            )
    systems = [name for name in scores.systems if not how.systems or name in how.systems]
    if len(systems) < 2:
        raise UserError(f"a plan compares two systems or more; the pilot has {listed(systems)}")
    pairs = list(combinations(systems, 2))
    alpha = how.alpha / (len(pairs) * len(names))
    pair_powers = []
    for name in names:
        matrix = scores.matrix(name)
        places = decimals(scores.facts[name], None, float(np.nanmax(np.abs(matrix), initial=0.0)))
        column = {system: matrix[:, place] for place, system in enumerate(scores.systems)}
        for first, second in pairs:
            differences = column[first] - column[second]
            pair_power = comparison(name, (first, second), differences, clusters, alpha, how)
            pair_powers.append(replace(pair_power, places=places))
    return PowerPlan(
        tuple(map(str, paths_given(runs))),
        tuple(pair_powers),
        alpha,
        how,
        tuple(run_notices(scores, names, differing)),
    )


def comparison(
    metric: str,
    pair: tuple[str, str],
    differences: Floats,
    clusters: Sequence[Hashable] | None,
    alpha: float,
    options: PowerOptions,
) -> PairPower:
    """The plan for two systems. differences: of the pilot, one a question; alpha: of this comparison."""
    variance = variance_per_question(differences, clusters=clusters, level=options.level)
    planned = variance.value
    if planned is not None and options.assurance > 0.5:
        upper = variance_per_question(
            differences, clusters=clusters, level=2 * options.assurance - 1
        )
        planned = upper.high  # None without an interval
        if planned is None:
            variance = replace(variance, reason=f"no assurance: {upper.reason}")
    n = options.questions or variance.n
    per_cluster = variance.n / variance.effective if variance.effective else 1.0
    fewest = options.fewest
    test = {"per_cluster": per_cluster, "alpha": alpha, "wanted": options.power}
    effect = options.effect
    cost = 1.0
    if variance.value is not None:
        planned_on = max(n, fewest * per_cluster)
        effect_size = effect or detectable(variance.value, planned_on, **test)
        sample = (
            questions_needed(variance.value, effect_size, **test, fewest=fewest) if effect else n
        )
        if sample and sample >= fewest * per_cluster:
            cost = inflation(
                differences,
                sample,
                effect_size,
                clusters=clusters,
                alpha=alpha,
                wanted=options.power,
            )

    def estimate(transform: Callable[[float], float | None]) -> Estimate:
        value, low, high = (
            None if v is None else transform(v) for v in (planned, variance.low, variance.high)
        )
        return replace(variance, value=value, low=low, high=high)

    needed = None
    if effect is not None:

        def questions(v: float) -> int | None:
            return (
                needed_count := questions_needed(v, effect, **test, fewest=fewest)
            ) and math.ceil(needed_count * cost)

        needed = estimate(questions)
        if needed.value is None and not needed.reason:
            needed = replace(needed, reason=f"more than {MOST:,} questions")
    if n < fewest * per_cluster:
        least = math.ceil(fewest * per_cluster)
        few = f"no difference, however large, can be significant with {counted(n, 'question')}; at least {least:,} "
        few += "are needed"
        shows = replace(variance, value=None, low=None, high=None, reason=variance.reason or few)
    else:
        shows = estimate(lambda v: detectable(v * cost, n, **test))
    return PairPower(
        metric=metric,
        first=pair[0],
        second=pair[1],
        variance=variance,
        needed=needed,
        detectable=shows,
        per_cluster=per_cluster,
        questions=n,
        planned=planned,
        inflation=cost,
    )


# The page -----------------------------------------------------------------------------------------------------------


def document(plan: PowerPlan) -> Document:
    """One sentence with the answer, and a table with a line for each metric and pair of systems."""
    options = plan.options
    places = max((comparison.places for comparison in plan.comparisons), default=3)
    shared = (
        f" ({options.alpha:g} / {len(plan.comparisons)} comparisons)"
        if len(plan.comparisons) > 1
        else ""
    )
    note = (
        f"Two-sided paired t test, power {options.power:g}, alpha {plan.alpha:.4g}{shared}. "
        "pilot: questions with a score of both systems. detectable: the true difference that so many questions detect. "
        f"Planned with assurance {options.assurance:g}: for the end of the pilot's variance that the true one exceeds with "
        f"probability {1 - options.assurance:.2g}. more: how many times as many questions skewness and ties cost, by "
        "simulation. Intervals: uncertainty of the pilot's variance (jackknife of its logarithm)."
    )
    names = list(dict.fromkeys(comparison.metric for comparison in plan.comparisons))
    needed = (
        [Column("questions needed", "needed", 0, key="needed")]
        if options.effect is not None
        else []
    )
    grid = Grid(
        "power",
        "Questions and differences",
        (
            Column("metric", "metric", kind="metric"),
            Column("first", "first"),
            Column("second", "second"),
        ),
        plan.comparisons,
        [*needed, Column("detectable", "detectable", places)],
        None,
        note,
        "pilot",
        beside=(
            Column("SD of differences", "spread", places, key="spread"),
            Column("with questions", "questions"),
            Column("more", "inflation", 2),
        ),
    )
    planned = [comparison for comparison in plan.comparisons if comparison.planned is not None]
    top = 2 * max(
        (
            max(
                (pair_power.needed and pair_power.needed.value) or pair_power.questions,
                options.fewest * pair_power.per_cluster,
            )
            for pair_power in planned
        ),
        default=0,
    )
    steps = [max(3, round(top * step / _STEPS)) for step in range(1, _STEPS + 1)]
    lines = [
        Curve(
            f"{pair_power.metric}: {pair_power.first} − {pair_power.second}",
            [
                (n, _shown(pair_power, n, plan))
                for n in steps
                if n >= options.fewest * pair_power.per_cluster
            ],
        )
        for pair_power in planned[:_DRAWN]
    ]
    title = "Detectable difference by number of questions"
    figures = (
        [curves(lines, title, "questions", "detectable difference", options.effect)]
        if lines
        else []
    )
    return Document(
        kind="power",
        title="How many questions",
        lede=f"{counted(len(names), 'metric')}, {counted(len(plan.comparisons), 'comparison')}; pilot: "
        f"{', '.join(plan.runs)}",
        sections=(
            Section(
                "Questions needed" if options.effect else "Detectable differences",
                _answer(plan),
                (grid.table(),),
                figures,
            ),
        ),
        notices=plan.notices,
        settings={
            "Pilot": list(plan.runs),
            **{name: value for name, value in asdict(options).items() if value},
            "alpha of one comparison": plan.alpha,
        },
    )


def _shown(pair_power: PairPower, n: int, plan: PowerPlan) -> float:
    test = {
        "per_cluster": pair_power.per_cluster,
        "alpha": plan.alpha,
        "wanted": plan.options.power,
    }
    return detectable((pair_power.planned or 0.0) * pair_power.inflation, n, **test)


def _answer(plan: PowerPlan) -> str:
    """The answer in a sentence: of the comparison that needs the most."""
    options = plan.options
    hardest = plan.most
    if hardest is None:
        return f"No answer: {'; '.join(dict.fromkeys(comparison.reason or '' for comparison in plan.comparisons))}."
    assured = f", assurance {options.assurance:g}" if options.assurance > 0.5 else ""
    clusters = "" if options.cluster == QUESTION else f", clusters by {options.cluster}"
    family = counted(len(plan.comparisons), "comparison")
    test = f"with power {options.power:g} (alpha {options.alpha:g}, {family}{assured}{clusters})"
    pair_words = (
        ""
        if len(plan.comparisons) == 1
        else f", for {hardest.metric}, {hardest.first} and {hardest.second}"
    )
    if options.effect is None:
        return (
            f"{counted(hardest.questions, 'question')} can detect a difference of "
            f"{_figure(hardest.detectable, hardest.places)} {test}{pair_words}."
        )
    assert hardest.needed is not None
    return f"A difference of {options.effect:g} needs {_figure(hardest.needed, 0)} questions {test}{pair_words}."


def _figure(figure: Estimate, places: int) -> str:
    interval = (
        ""
        if figure.low is None or figure.high is None
        else f" [{fixed(figure.low, places)}, {fixed(figure.high, places)}]"
    )
    return f"{fixed(figure.value, places)}{interval}"

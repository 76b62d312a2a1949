"""`compare`: the scores of several runs, or of several systems, paired by question and tested against each other.

Errors: UserError if there are not two systems, they share no question or their scores were made in different ways;
UnknownName for a metric or a system that does not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from longmark import __version__
from longmark.analysis.compare.answers_apart import AnswersApart, answers_apart
from longmark.analysis.compare.checks import (
    FEWEST_TESTED,
    by_reason,
    check_scoring,
    check_tests,
    question_notices,
    run_notices,
)
from longmark.analysis.compare.hypotheses import tests_for
from longmark.analysis.compare.judges import Judged, cautions, over_judges
from longmark.analysis.compare.margin import Decision, Margins, by_metric, decisions
from longmark.analysis.compare.missing_notices import (
    other_questions,
    silent_notices,
    undecided_reason,
)
from longmark.analysis.compare.results import (
    DESCRIPTIVE,
    EXPLORATORY,
    PRIMARY,
    MetricResult,
    metric_result,
)
from longmark.analysis.compare.tests import ComparisonSettings, PairTests, family, tests_of
from longmark.errors import UnknownName, UserError
from longmark.keyword_values import checked_options
from longmark.options import described, named, with_keywords
from longmark.options.analyses import CompareGroups, QuestionCluster
from longmark.records.metric_name import base_of
from longmark.report.format import counted, listed, short_models
from longmark.report.notebook import SelfShown
from longmark.scores.files import names_given, paths_given
from longmark.scores.paired import BY_RUN, BY_SYSTEM, TOO_LARGE, Scores, huge, read_scores
from longmark.stats.hypotheses import decide
from longmark.stats.results import HypothesisResult

DRAWS = 10_000
_FEWEST_TABLES = 2_000
_FEW = 15
_MULTIPLICATIONS = 2e11  # of all bootstraps together, about half a minute on two cores
_SHUFFLED = 4e9  # scores of all tables of Tukey tests with eight systems or more, about as long
_CITATIONS = ("citations.precision", "citations.recall")
_LISTED = 7  # systems up to which a table is drawn from lists, and fast


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(SelfShown):
    """Runs or systems compared on the metrics that two or more of them have.

    by             what a system is: `run` or `system`; cluster: the field that the questions of a cluster share
    signatures     what to cite of each score, a line for each way that scores were made
    differing      differences in how the scores were made, a line each; empty unless that was allowed
    notices        what a reader must know first
    left_out       metrics that were not compared, and why
    apart          of two systems, answers side by side: first those to the questions on which they differ most
    apart_totals   how many such pairs pass each filter of `report.filters`, also those that `apart` leaves out
    primary        the metrics that were named as primary, also one that is left out; none: `deciding` says which

    `metrics` has the primary ones first, then the precision and recall of citations where answers cite. The tests of
    the primary ones are one family, those of the exploratory metrics another one, each at alpha: what decides is as
    powerful as if nothing else had been measured.
    """

    PAGE: ClassVar[str] = "longmark.analysis.compare.page"

    runs: tuple[str, ...]
    by: str
    cluster: str
    systems: tuple[str, ...]
    metrics: tuple[MetricResult, ...]
    settings: ComparisonSettings
    signatures: tuple[str, ...]
    differing: tuple[str, ...]
    notices: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    hypotheses: tuple[HypothesisResult, ...]
    margins: tuple[Decision, ...]
    judges: tuple[Judged, ...]
    longmark: str = __version__
    primary: tuple[str, ...] = ()
    apart: tuple[AnswersApart, ...] = ()
    apart_totals: Mapping[str, int] = field(default_factory=dict)

    @property
    def places(self) -> int:
        """Decimals that show the scores of every metric."""
        return max(metric.places for metric in self.metrics)

    @property
    def deciding(self) -> list[MetricResult]:
        """The primary metrics; where none was named all but those of which neither direction is better."""
        return [metric for metric in self.metrics if not metric.exploratory]

    @property
    def exploratory(self) -> list[MetricResult]:
        return [metric for metric in self.metrics if metric.exploratory]

    @property
    def comparisons(self) -> int:
        """The pairs and deciding metrics that were tested, which their p is adjusted for."""
        return tests_in(self.deciding)

    def metric(self, name: str) -> MetricResult:
        return next(metric for metric in self.metrics if metric.metric == name)


def tests_in(metrics: Sequence[MetricResult]) -> int:
    """The comparisons with a test, of a family of metrics."""
    return sum(pair.p is not None for metric in metrics for pair in metric.pairs)


@described
@dataclass(frozen=True, kw_only=True)
class CompareOptions(QuestionCluster, CompareGroups):
    """Options of a comparison. alpha is over all comparisons; hypotheses need all pairs. UserError for a number out of
    range."""

    def __post_init__(self) -> None:
        check_tests(self.alpha, self.level, self.draws)
        if self.against_first and self.hypotheses:
            raise UserError(
                f"{named('hypotheses')}: they are about any pair of systems; test them without "
                f"{named('against_first')}"
            )


@with_keywords(CompareOptions)
def compare(
    runs: str | Path | Sequence[str | Path],
    *,
    progress: Callable[[str], None] = lambda _part: None,
    **options: Any,
) -> Comparison:
    """Compares run folders or files of rows; one path stands for a list of one. options: the fields of
    `CompareOptions`, by keyword (`by=`, `metrics=`, `alpha=`, ...). progress: gets the name of each part before it
    starts."""
    chosen = checked_options(CompareOptions, options, "longmark.compare")
    progress("reading the rows")
    paths = paths_given(runs)
    compared_by = BY_SYSTEM if chosen.judges else chosen.by
    slices = names_given(chosen.slices)
    scores = read_scores(
        paths, compared_by, chosen.cluster, chosen.bounds, judges=chosen.judges, slices=slices
    )
    scores = scores.directed(chosen.higher, chosen.lower)
    places = _systems(scores, names_given(chosen.systems))
    selected = scores.named(chosen.metrics)
    scores = scores.deciding(selected)
    metrics, left_out = _comparable(scores, selected, places, chosen.complete)
    primary = _primary(scores, names_given(chosen.primary), selected, left_out)
    roles = _roles(scores, metrics, primary)
    leading = _leading(metrics)
    metrics.sort(key=lambda metric: (roles[metric] != PRIMARY, metric not in leading))
    consequence = "differences may come from the scoring and not from the systems"
    differing = check_scoring(
        scores, metrics, chosen.allow_different_judges, consequence, judges=chosen.judges
    )
    margins = _margins(chosen.margin, scores, metrics, primary) if chosen.margin else {}
    settings = _how(len(scores.questions), len(metrics), len(places), chosen)
    if chosen.against_first:
        settings = replace(settings, baseline=places[0])
    tested = []
    for i, metric in enumerate(metrics, start=1):
        progress(f"tests of {metric} ({i} of {len(metrics)})")
        tested.append(tests_of(scores, metric, places, settings))
    progress("tests over all metrics")
    tests = dict[str, PairTests]()
    for decides in (True, False):  # those that decide nothing are a family of their own
        members = [
            of_metric for of_metric in tested if (roles[of_metric.metric] == PRIMARY) is decides
        ]
        tests |= family(members, scores, settings) if members else {}
    results = []
    for i, of_metric in enumerate(tested, start=1):
        progress(f"intervals of {of_metric.metric} ({i} of {len(metrics)})")
        result = metric_result(scores, of_metric, places, tests[of_metric.metric], settings)
        results.append(replace(result, role=roles[of_metric.metric]))
    texts = scores.question_texts(
        {question.question_id for result in results for question in result.apart}
    )
    for i, result in enumerate(results):
        questions_apart = tuple(
            replace(question, text=texts.get(question.question_id)) for question in result.apart
        )
        results[i] = replace(result, apart=questions_apart)
    pairs_apart, apart_totals = _answers(
        scores, results, places, settings, [metric for metric, _ in left_out]
    )
    judged = (
        _judged(paths, metrics, [scores.systems[place] for place in places])
        if chosen.judges
        else ()
    )
    return Comparison(
        runs=tuple(map(str, paths)),
        by=scores.by,
        cluster=scores.cluster,
        systems=tuple(scores.systems[place] for place in places),
        metrics=tuple(results),
        settings=settings,
        signatures=scores.lines(metrics),
        differing=differing,
        notices=(
            *(cautions(judged) if judged else ()),
            *run_notices(scores, metrics, differing),
            *_notices(scores, results, places, settings),
        ),
        left_out=tuple(left_out),
        hypotheses=decide(chosen.hypotheses, tests_for(tested, settings), settings.alpha)
        if chosen.hypotheses
        else (),
        judges=judged,
        margins=decisions(tested, results, margins, settings.alpha) if margins else (),
        primary=primary,
        apart=pairs_apart,
        apart_totals=apart_totals,
    )


def _answers(
    scores: Scores,
    results: Sequence[MetricResult],
    places: Sequence[int],
    settings: ComparisonSettings,
    left_out: Sequence[str],
) -> tuple[tuple[AnswersApart, ...], dict[str, int]]:
    """Of two systems, the old one first: the base of a change, else the first that was given."""
    if len(places) != 2:
        return (), {}
    old, new = places if settings.baseline in (None, places[0]) else reversed(places)
    systems = (scores.systems[old], scores.systems[new])
    return answers_apart(scores, results, systems, left_out)


def _leading(metrics: Sequence[str]) -> list[str]:
    """The precision and recall of citations, where answers cite: precision has no score of an answer without citations,
    and recall says of it that nothing is supported."""
    bases = [base_of(metric) for metric in metrics]
    if _CITATIONS[0] not in bases:
        return []
    return [metric for metric, base in zip(metrics, bases, strict=True) if base in _CITATIONS]


def _roles(scores: Scores, metrics: Sequence[str], primary: Sequence[str]) -> dict[str, str]:
    """Metric -> whether it decides. A user who names metrics means them, also one without a better direction. Scores
    made elsewhere, whose direction is not known, decide; a metric that declares that it has none does not."""
    if primary:
        return {metric: PRIMARY if metric in primary else EXPLORATORY for metric in metrics}
    facts = scores.facts
    descriptive = {
        metric
        for metric in metrics
        if facts[metric].declared and facts[metric].higher_is_better is None
    }
    if len(descriptive) == len(metrics):
        return dict.fromkeys(metrics, PRIMARY)
    return {metric: DESCRIPTIVE if metric in descriptive else PRIMARY for metric in metrics}


def _primary(
    scores: Scores,
    names: Sequence[str],
    selected: Sequence[str],
    left_out: Sequence[tuple[str, str]],
) -> tuple[str, ...]:
    """The primary metrics of these names and families, in the order of the scores. UserError where none of a name is
    selected, or none at all can be compared: a comparison without its primary metrics answers another question."""
    if not names:
        return ()
    for name in names:
        if not {*scores.named([name])} & {*selected}:
            raise UserError(
                f"{named('primary', name)}: it is not among the metrics that {named('metrics')} selects; add it there"
            )
    primary = tuple(metric for metric in scores.named(names) if metric in selected)
    reasons = [f"{metric}: {why}" for metric, why in left_out if metric in primary]
    if len(reasons) == len(primary):
        without_scores = {metric for metric, _ in left_out}
        comparable = [metric for metric in selected if metric not in without_scores]
        remedy = f". Name another: {', '.join(comparable)}" if comparable else ""
        raise UserError(
            f"{named('primary', ','.join(names))}: no primary metric can be compared: {'; '.join(reasons)}{remedy}"
        )
    return primary


def _margins(
    margins: Margins, scores: Scores, metrics: Sequence[str], primary: Sequence[str]
) -> dict[str, float]:
    """The margins of the deciding metrics. UserError for a margin that names an exploratory one."""
    facts = {metric: scores.facts[metric] for metric in metrics if not primary or metric in primary}
    if isinstance(margins, Mapping):
        for name in margins:
            if name in metrics and name not in facts:
                raise UserError(
                    f"{named('margin')}: {name} is exploratory, and margins decide; add it to {named('primary')}"
                )
    return by_metric(margins, facts)


def _judged(
    runs: Sequence[Path], metrics: Sequence[str], systems: Sequence[str]
) -> tuple[Judged, ...]:
    scores_of_runs = [read_scores([run], BY_SYSTEM) for run in runs]
    judged = [
        of_metric
        for metric in metrics
        if (of_metric := over_judges(scores_of_runs, metric, systems))
    ]
    names = list(dict.fromkeys(name for of_metric in judged for name in of_metric.means))
    short = dict(zip(names, short_models(names), strict=True))
    return tuple(
        replace(of_metric, means={short[name]: means for name, means in of_metric.means.items()})
        for of_metric in judged
    )


def _systems(scores: Scores, names_wanted: Sequence[str]) -> list[int]:
    """The places of the systems to compare, in the order wanted."""
    for name in names_wanted:
        if name not in scores.systems:
            raise UnknownName(
                "system", name, scores.systems, f"The systems are {', '.join(scores.systems)}."
            )
    places = [scores.systems.index(name) for name in dict.fromkeys(names_wanted or scores.systems)]
    if len(places) < 2:
        empty = [str(scores.manifests[run.run].folder) for run in scores.missing if run.empty]
        none = (
            f" ({', '.join(empty)} {'has' if len(empty) == 1 else 'have'} no rows)" if empty else ""
        )
        raise UserError(
            "a comparison needs two systems or more; there is one "
            f"{'run' if scores.by == BY_RUN else 'system'}: {scores.systems[places[0]]}{none}. Give another run, or a "
            f"run with scores of several systems (the examples' field `system`, {named('by', 'system')})"
        )
    return places


class NothingToCompare(UserError):
    """No metric has scores of two systems. left_out: each metric with the reason."""

    def __init__(self, left_out: Sequence[tuple[str, str]]) -> None:
        self.left_out = tuple(left_out)
        reasons = "; ".join(f"{metric}: {why}" for metric, why in self.left_out)
        super().__init__(
            f"there is nothing to compare: no metric has scores of two systems. {reasons}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.left_out,)


def _comparable(
    scores: Scores, metrics_wanted: Sequence[str], places: Sequence[int], complete: bool
) -> tuple[list[str], list[tuple[str, str]]]:
    """The metrics with scores of two systems or more, and for the others why they are left out."""
    chosen = []
    left_out = []
    shared = False
    common = False
    for metric in metrics_wanted:
        matrix = scores.matrix(metric)[:, list(places)]
        present_scores = ~np.isnan(matrix)
        present = np.asarray(present_scores.any(axis=0))
        names = [
            scores.systems[place]
            for place, has_score in zip(places, present, strict=True)
            if has_score
        ]
        if huge(matrix):
            left_out.append((metric, TOO_LARGE))
        elif len(names) < 2:
            left_out.append(
                (
                    metric,
                    f"only {names[0]} has a score of it"
                    if names
                    else "no system has a score of it",
                )
            )
        else:
            chosen.append(metric)
            shared = shared or bool((present_scores.sum(axis=1) > 1).any())
            common = common or bool(present_scores[:, present].all(axis=1).any())
    if not chosen:
        raise NothingToCompare(left_out)
    if not shared:
        raise UserError(
            "the systems have no question in common: rows are paired by `question_id`, which examples without one get "
            "from their question's text. Score answers to the same questions, or give them the same `question_id`"
        )
    if complete and not common:
        raise UserError(
            f"no question has a score of every compared system. Leave out {named('complete', True)} to compare each pair "
            f"of systems on the questions that both have, or name the systems to compare with {named('systems')}"
        )
    return chosen, left_out


def _how(questions: int, metrics: int, systems: int, chosen: CompareOptions) -> ComparisonSettings:
    """As many draws as asked for; else 10,000, or as many as a huge table leaves time for."""
    permutations = chosen.draws or DRAWS
    if chosen.draws is None:
        size = questions * metrics
        operations = _MULTIPLICATIONS / (size * systems**2)
        permutations = int(min(DRAWS, max(_FEWEST_TABLES, operations)))
        if systems > _LISTED:
            permutations = int(min(permutations, max(_FEWEST_TABLES, _SHUFFLED / (size * systems))))
    return ComparisonSettings(
        chosen.level, chosen.alpha, permutations, chosen.seed, chosen.complete
    )


def _notices(
    scores: Scores,
    results: Sequence[MetricResult],
    places: Sequence[int],
    settings: ComparisonSettings,
) -> list[str]:
    """What a reader must know of the metrics, the most serious first."""
    notices = [notice for result in results for notice in silent_notices(result, settings.alpha)]
    notices += by_reason((result.metric, undecided_reason(result)) for result in results)
    notices += other_questions(results)
    notices += by_reason((result.metric, result.undetectable) for result in results)
    notices += by_reason(
        (result.metric, None if any(pair.p for pair in result.pairs) else result.reason)
        for result in results
    )
    few = [
        result
        for result in results
        if FEWEST_TESTED <= result.n < _FEW and any(p.difference.detectable for p in result.pairs)
    ]
    if few:
        fewest = min(few, key=lambda result: result.n)
        and_more = f" (and few on {counted(len(few) - 1, 'more metric')})" if len(few) > 1 else ""
        notices.append(
            f"Only {fewest.n} questions are compared on {fewest.metric}{and_more}. With so few only large differences "
            "are significant, and the intervals of means are approximate; those of differences agree with the tests."
        )
    if skewed := [
        result.metric for result in results if any(pair.difference.remark for pair in result.pairs)
    ]:
        notices.append(
            f"{listed(skewed) if len(skewed) < 4 else f'{len(skewed)} metrics'}: the differences of a pair are skewed, "
            "and there are fewer than 30 questions or clusters: the test may reject too often."
        )
    return [
        *notices,
        *question_notices(
            scores, [result.metric for result in results], places, complete=settings.complete
        ),
    ]

"""Assertions that compare: two systems, or a run with an earlier one. The tests are those of `compare`.

`better than` is met where the difference is significant in this direction in both readings (without unscored answers, and
with them as the worst score); with `by`, where the interval that a margin is held against lies beyond it, too. `no worse
than` is what `compare --fail-if-worse` tests (`analysis.compare.gate`), with `within` as under `--require-decision`;
`equivalent to` is a decision of `analysis.compare.margin`. An earlier run: `assertions.earlier`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.assertions.differences import (
    NamesInRuns,
    equivalence,
    figures_in_words,
    not_tested,
    plain,
    selected,
    too_large,
    too_many_unscored,
)
from longmark.assertions.earlier import same_as_earlier
from longmark.assertions.grammar import (
    BETTER,
    EQUIVALENT,
    Assertion,
    PairAssertion,
    SameAssertion,
    fields_in,
)
from longmark.assertions.options import WHERE, CheckOptions, slices_named
from longmark.assertions.plan import POWER, without_number
from longmark.assertions.result import (
    MET,
    NOT_MET,
    OK,
    UNDECIDED,
    UNSCORED,
    WORSE,
    Checked,
)
from longmark.assertions.same import turned
from longmark.assertions.wording import with_line
from longmark.errors import UnknownName, UserError
from longmark.options import named
from longmark.progress import counted
from longmark.records.metric_name import without_slice
from longmark.report.format import listed, p_value
from longmark.scores.files import shortest_names
from longmark.scores.observations import Observations
from longmark.stats.results import Estimate

if TYPE_CHECKING:
    from longmark.analysis.compare import Comparison
    from longmark.analysis.compare.margin import Decision
    from longmark.analysis.compare.results import MetricResult, PairResult

CONFIDENCE = 95.0
"""In percent, of a comparison that names none: over all comparisons of the check."""


@dataclass(frozen=True)
class ComparisonFamily:
    """What was compared. results: by assertion; tests: the pairs of systems, each with all of its metrics."""

    results: dict[Assertion, list[Checked]]
    tests: int

    def in_words(self) -> str:
        if self.tests < 2:
            return "The metrics of a comparison are one family: their p are adjusted for all of them together."
        return (
            f"{self.tests} comparisons of two systems: alpha is divided by {self.tests}, and the metrics of each are one "
            "family, whose p are adjusted together. Limits on scores are not corrected: the check passes only if all are "
            "met."
        )


@dataclass
class _Group:
    """Assertions that one comparison decides. by, systems, part, margin: of the comparison; confidence: in percent;
    metrics: of each assertion."""

    by: str
    systems: tuple[str, str]
    part: str
    margin: float | None
    confidence: float
    metrics: dict[PairAssertion, list[str]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for names in self.metrics.values() for name in names))


def compared(
    assertions: Sequence[Assertion], sources: Sequence[Path], how: CheckOptions
) -> ComparisonFamily:
    """The results of assertions that compare. UnknownName for a system, metric or slice that the runs do not have;
    UserError for what cannot be compared."""
    fields = fields_in(assertions)
    with Observations(how.cluster, how.bounds, fields) as index:
        with slices_named():
            index.read(sources)
        index.refuse_empty(sources)
        systems = [name for _, name in index.runs_and_names()]
        names_in_runs = NamesInRuns(
            index.metrics, list(dict.fromkeys(systems)), shortest_names(sources)
        )
    groups = _groups(
        [stated for stated in assertions if isinstance(stated, PairAssertion)], names_in_runs, how
    )
    against_runs = [stated for stated in assertions if isinstance(stated, SameAssertion)]
    tests = len(groups) + len(against_runs)
    results: dict[Assertion, list[Checked]] = {}
    for group in groups:
        alpha = (1 - group.confidence / 100) / tests
        results |= _tested(group, sources, alpha, how)
    for assertion in against_runs:
        alpha = (1 - (assertion.confidence or CONFIDENCE) / 100) / tests
        results[assertion] = list(same_as_earlier(assertion, sources, names_in_runs, alpha, how))
    return ComparisonFamily(results, tests)


# Two systems ----------------------------------------------------------------------------------------------------------


def _groups(
    assertions: Iterable[PairAssertion], names_in_runs: NamesInRuns, how: CheckOptions
) -> list[_Group]:
    groups: dict[tuple[Any, ...], _Group] = {}
    for assertion in assertions:
        by = _by(assertion, names_in_runs, how)
        metrics = selected(assertion, names_in_runs, how)
        part = without_slice(metrics[0])[1] if metrics else ""
        confidence = assertion.confidence or CONFIDENCE
        pair = frozenset((assertion.first, assertion.second))
        group = groups.setdefault(
            (by, pair, part, assertion.margin, confidence),
            _Group(by, (assertion.second, assertion.first), part, assertion.margin, confidence),
        )
        group.metrics[assertion] = metrics
    return list(groups.values())


def _by(assertion: PairAssertion, names_in_runs: NamesInRuns, how: CheckOptions) -> str:
    """Whether the names are those of runs or of systems. UnknownName if they are neither."""
    names = {"system": names_in_runs.systems, "run": names_in_runs.runs}
    order = [how.by] if how.by else ["run", "system"] if len(names_in_runs.runs) > 1 else ["system"]
    for by in order:
        if {assertion.first, assertion.second} <= {*names[by]}:
            return by
    present = list(dict.fromkeys(name for by in order for name in names[by]))
    unknown = next(name for name in (assertion.first, assertion.second, "") if name not in present)
    kinds = " or ".join(order)
    if not unknown:
        raise UserError(
            f"{WHERE} {str(assertion)!r}: one name is a run, the other a system; the runs are "
            f"{listed(names_in_runs.runs)}, the systems {listed(names_in_runs.systems)}"
        )
    raise UnknownName(f"{kinds} in {WHERE}", unknown, present, f"There are {listed(present, 10)}.")


def _tested(
    group: _Group, sources: Sequence[Path], alpha: float, how: CheckOptions
) -> dict[Assertion, list[Checked]]:
    from longmark.analysis.compare import compare
    from longmark.analysis.compare.comparison import NothingToCompare
    from longmark.analysis.compare.margin import MarginTooLarge

    try:
        comparison = compare(
            sources,
            by=group.by,
            systems=group.systems,
            metrics=group.names,
            slices=[group.part.removeprefix("no ").partition("=")[0]] if group.part else (),
            cluster=how.cluster,
            bounds=how.bounds,
            higher=how.higher,
            lower=how.lower,
            margin=group.margin,
            against_first=True,
            alpha=alpha,
            seed=how.seed,
            allow_different_judges=how.allow_different_judges,
        )
    except MarginTooLarge as error:
        raise too_large(next(iter(group.metrics)), error) from None
    except (
        NothingToCompare
    ) as nothing:  # the other assertions of the check have their results all the same
        reasons = dict(nothing.left_out)
        return {
            assertion: [
                not_tested(
                    name,
                    assertion.first,
                    str(replace(assertion, metric=without_slice(name)[0])),
                    reasons.get(name, str(nothing)),
                )
                for name in names
            ]
            for assertion, names in group.metrics.items()
        }
    tested = _Tested(comparison, sources, group.by, group.part, alpha, how)
    return {
        assertion: list(_of_assertion(assertion, names, tested))
        for assertion, names in group.metrics.items()
    }


@dataclass(frozen=True)
class _Tested:
    """A comparison of two systems, and how it was made."""

    comparison: Comparison
    sources: Sequence[Path]
    by: str
    part: str
    alpha: float
    how: CheckOptions


def _of_assertion(
    assertion: PairAssertion, names: Sequence[str], tested: _Tested
) -> Iterator[Checked]:
    """The results of an assertion, one for each of its metrics. UserError where none has a direction."""
    left_out = dict(tested.comparison.left_out)
    directed = False
    none_compared = all(
        name in left_out or not _is_tested(assertion, tested.comparison.metric(name))
        for name in names
    )
    for name in names:
        rule = str(replace(assertion, metric=without_slice(name)[0]))
        if name in left_out:
            directed = True
            if assertion.metric or none_compared:  # no assertion is without a result
                yield not_tested(name, assertion.first, rule, left_out[name])
            continue
        metric = tested.comparison.metric(name)
        if not _is_tested(assertion, metric):
            continue
        directed = True
        yield _of_metric(assertion, metric, rule, tested)
    if not directed:
        raise UserError(
            f"{WHERE} {str(assertion)!r}: whether higher or lower scores are better is not known; add "
            f"{named('higher', 'METRIC')} or {named('lower', 'METRIC')}"
        )


def _is_tested(assertion: PairAssertion, metric: MetricResult) -> bool:
    """Whether the metric has the direction that the relation needs."""
    return assertion.relation == EQUIVALENT or metric.facts.higher_is_better is not None


def _of_metric(
    assertion: PairAssertion, metric: MetricResult, rule: str, tested: _Tested
) -> Checked:
    pair = next(iter(metric.pairs), None)
    if pair is None or pair.p is None:
        why = (pair and pair.difference.reason) or "too few common scores"
        return not_tested(metric.metric, assertion.first, rule, why)
    decision = next(
        (margin for margin in tested.comparison.margins if margin.metric == metric.metric), None
    )
    if assertion.relation == BETTER and decision is not None:
        result, why = _better_by(assertion, pair, metric, decision)
    elif assertion.relation == BETTER:
        result, why = _better(assertion, pair)
    elif assertion.relation == EQUIVALENT and decision is not None:
        result, why = equivalence(decision)
    else:
        result, why = _no_worse(assertion, metric, pair, decision)
    shows_something = assertion.relation in (BETTER, EQUIVALENT) or decision is not None
    if shows_something and result in (MET, OK):
        unscored = too_many_unscored(metric, pair.names, tested.how.max_unscored)
        if unscored is not None:
            result = UNSCORED
            why = unscored
    difference: Estimate = decision.difference if decision else pair.difference
    estimate = plain(difference if pair.first == assertion.first else turned(difference))
    figures = figures_in_words(assertion.first, assertion.second, estimate, metric.places)
    checked = Checked(
        metric=metric.metric,
        system=assertion.first,
        rule=rule,
        result=result,
        line="",
        outcome={OK: MET, MET: MET, WORSE: NOT_MET, NOT_MET: NOT_MET}.get(result, UNDECIDED),
        estimate=estimate,
        scored=pair.difference.n,
        rows=pair.difference.n + pair.difference.missing,
        reason=f"{figures}, {p_value(pair.p)}{f'; {why}' if why else ''}",
    )
    if checked.outcome == UNDECIDED:
        checked = _with_plan(checked, assertion, pair, metric, tested)
    return with_line(checked)


def _better(assertion: PairAssertion, pair: PairResult) -> tuple[str, str]:
    if pair.better == assertion.first:
        return MET, ""
    if pair.better == assertion.second:
        return NOT_MET, f"{assertion.second} is better"
    return UNDECIDED, pair.undecided or pair.few or "no significant difference"


def _better_by(
    assertion: PairAssertion, pair: PairResult, metric: MetricResult, decision: Decision
) -> tuple[str, str]:
    """Whether the first is better by more than the margin: significantly better, and the interval of the difference
    (1 - 2 alpha, one end of which is a test at alpha) lies beyond the margin in both readings."""
    sign = 1 if pair.first == assertion.first else -1
    if metric.facts.higher_is_better is False:
        sign = -sign
    readings = [decision.difference, *([decision.counted] if decision.counted else [])]
    unknown = (-math.inf, math.inf)
    ends = [sorted(sign * end for end in reading.ends or unknown) for reading in readings]
    if pair.better == assertion.first and all(low > decision.margin for low, _high in ends):
        return MET, ""
    if pair.better == assertion.second:
        return NOT_MET, f"{assertion.second} is better"
    if all(high <= decision.margin for _low, high in ends):
        return NOT_MET, f"it is not more than {decision.margin:g} better"
    if pair.better != assertion.first:
        return _better(assertion, pair)
    return UNDECIDED, (
        decision.difference.reason or f"a difference below {decision.margin:g} is not excluded"
    )


def _no_worse(
    assertion: PairAssertion, metric: MetricResult, pair: PairResult, decision: Decision | None
) -> tuple[str, str]:
    from longmark.analysis.compare.gate import result_of

    result, why = result_of(
        metric, pair, assertion.second, decision, require_decision=decision is not None
    )
    if result == OK and decision is None:
        why = "no significant difference" if pair.better is None else why
    if result == WORSE:
        why = f"{assertion.second} is better"
    return result, why or ""


# What would decide them -----------------------------------------------------------------------------------------------


def _with_plan(
    checked: Checked,
    assertion: PairAssertion,
    pair: PairResult,
    metric: MetricResult,
    tested: _Tested,
) -> Checked:
    """With about how many more questions decide it, if the difference is the observed one."""
    estimate = checked.estimate
    side = "met"
    if pair.undecided or checked.result == UNSCORED:
        return replace(checked, decides="scores of the unscored answers")
    if estimate is None or estimate.value is None or tested.part:
        return replace(checked, decides="more questions")
    sign = -1 if metric.facts.higher_is_better is False else 1
    effect, sides = sign * estimate.value, 1
    if assertion.margin is not None:
        # both limits of a margin are one-sided tests at alpha
        sides = 2
        if assertion.relation == BETTER:
            effect -= assertion.margin
        elif assertion.relation == EQUIVALENT:
            effect = assertion.margin - abs(estimate.value)
        else:
            effect += assertion.margin
    if effect < 0:
        side = "not met"
    systems = (pair.first, pair.second)
    tests = sum(len(compared_metric.pairs) for compared_metric in tested.comparison.metrics)
    more = questions_for_difference(
        tested.sources,
        metric.metric,
        systems,
        abs(effect),
        tested.by,
        sides * tested.alpha / tests,
        tested.how,
    )
    if more is None:
        return replace(checked, decides=without_number(effect, assertion.margin or 0.0, "question"))
    return replace(
        checked,
        more=more,
        decides=f"about {counted(more, 'more question')}, after which it is {side} if the difference stays as it is",
    )


def questions_for_difference(
    sources: Sequence[Path],
    metric: str,
    systems: tuple[str, str],
    effect: float,
    by: str,
    alpha: float,
    how: CheckOptions,
) -> int | None:
    """How many more questions show a true difference of this effect with a probability of 80 %; None for no number."""
    from longmark.analysis.power import PowerOptions, power

    if effect <= 0:
        return None
    options = PowerOptions(
        effect=effect,
        power=POWER,
        alpha=min(alpha, 0.5),
        assurance=0.5,
        metrics=[metric],
        systems=systems,
        by=by,
        cluster=how.cluster,
        allow_different_judges=how.allow_different_judges,
    )
    (plan,) = power(sources, options).comparisons
    if plan.needed is None or plan.needed.value is None:
        return None
    return max(1, round(plan.needed.value) - plan.variance.n)

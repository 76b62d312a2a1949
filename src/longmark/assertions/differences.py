"""What assertions that compare have in common, whether with a system or with an earlier run: which metrics they are
about, what is said of a difference, and whether two are equivalent."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longmark.assertions.grammar import EQUIVALENT, PairAssertion, SameAssertion
from longmark.assertions.options import WHERE, CheckOptions
from longmark.assertions.result import MET, NOT_MET, UNDECIDED, Checked
from longmark.assertions.wording import with_line
from longmark.errors import UnknownName, UserError
from longmark.progress import counted
from longmark.records.metric_name import in_slice, under, without_slice
from longmark.report.format import fixed, share
from longmark.report.gates import slice_and_system
from longmark.report.tables import one_line
from longmark.stats.results import Estimate

if TYPE_CHECKING:
    from longmark.analysis.compare.margin import Decision, MarginTooLarge
    from longmark.analysis.compare.results import MetricResult


@dataclass(frozen=True)
class NamesInRuns:
    """What the runs have."""

    metrics: Sequence[str]
    systems: Sequence[str]
    runs: Sequence[str]


def selected(
    assertion: PairAssertion | SameAssertion, names_in_runs: NamesInRuns, how: CheckOptions
) -> list[str]:
    """The metrics that an assertion is about, each with its slice."""
    slices = dict.fromkeys(
        part for name in names_in_runs.metrics if (part := without_slice(name)[1])
    )
    part, _system = slice_and_system(assertion.selectors, slices, WHERE)
    if not assertion.metric:
        return [name for name in names_in_runs.metrics if without_slice(name)[1] == part]
    metric = in_slice(how.canonical(assertion.metric), part)
    metrics = under(metric, names_in_runs.metrics)
    if not metrics:
        raise UnknownName(f"metric in {WHERE}", metric, names_in_runs.metrics)
    return metrics


def not_tested(metric: str, system: str, rule: str, why: str) -> Checked:
    """The result of an assertion whose comparison could not be made."""
    return with_line(Checked(metric, system, rule, UNDECIDED, line="", reason=f"not tested: {why}"))


def too_many_unscored(
    metric: MetricResult, systems: Collection[str], max_unscored: float
) -> str | None:
    """Why nothing is shown of these systems: an answer without a score may be better than those that have one, which
    neither reading of unscored answers counts. None if no more than a share of each system's are unscored."""
    for system in metric.systems:
        if system.system in systems and system.silent > max_unscored * system.asked:
            return (
                f"{system.silent:,} of {system.asked:,} answers of {one_line(system.system)} are unscored "
                f"({share(system.silent, system.asked)}), more than the {share(max_unscored, 1)} that --max-unscored "
                "allows"
            )
    return None


def too_large(assertion: PairAssertion | SameAssertion, error: MarginTooLarge) -> UserError:
    """The error of a margin that no difference can exceed."""
    return UserError(
        f"{WHERE} {str(assertion)!r}: {error.exceeds}, so no difference can exceed it; write a smaller number"
    )


def equivalence(decision: Decision) -> tuple[str, str]:
    """The result of `equivalent to`, and why."""
    if decision.conclusion == EQUIVALENT.partition(" ")[0]:
        return MET, ""
    readings = [decision.difference, *([decision.counted] if decision.counted else [])]
    if all(
        reading.ends is not None
        and (reading.ends[0] >= decision.margin or reading.ends[1] <= -decision.margin)
        for reading in readings
    ):
        return NOT_MET, f"the difference is {decision.margin:g} or more"
    return UNDECIDED, decision.reason or f"a difference of {decision.margin:g} is not excluded"


def plain(difference: Estimate) -> Estimate:
    """An estimate without what only a comparison has."""
    return Estimate(
        difference.value,
        difference.low,
        difference.high,
        difference.n,
        difference.level,
        difference.method,
        difference.reason,
        difference.missing,
        difference.clusters,
        effective=difference.effective,
    )


def figures_in_words(first: str, second: str, estimate: Estimate, places: int) -> str:
    """The difference first - second with its interval: `new - old = 0.05 [-0.02, 0.12] over 80 questions`."""
    ends = ", ".join(fixed(end, places) for end in estimate.ends or ())
    interval = f" [{ends}]" if ends else ""
    value = fixed(estimate.value, places)
    return f"{first} - {second} = {value}{interval} over {counted(estimate.n, 'question')}"

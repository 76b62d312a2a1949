"""Assertions that hold a run against an earlier one.

`same as` without `within` is the canary's test (`assertions.same`); with it each system must be equivalent to itself in
the earlier run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

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
from longmark.assertions.grammar import SameAssertion
from longmark.assertions.options import WHERE, CheckOptions
from longmark.assertions.result import MET, NOT_TESTED, UNDECIDED, Checked
from longmark.assertions.same import Drift, drifts, lost_systems, pairs_of
from longmark.assertions.wording import with_line
from longmark.errors import UnknownName, UserError
from longmark.places import real
from longmark.records.metric_name import in_slice, without_slice
from longmark.report.format import listed
from longmark.report.gates import slice_and_system
from longmark.report.tables import one_line
from longmark.scores.files import source_of


def same_as_earlier(
    assertion: SameAssertion,
    sources: Sequence[Path],
    names_in_runs: NamesInRuns,
    alpha: float,
    how: CheckOptions,
) -> Iterator[Checked]:
    """The results of an assertion `same as RUN`, one for each metric, system and run. alpha: of the whole assertion."""
    kept, runs = _earlier(assertion, sources, names_in_runs)
    metrics = selected(assertion, names_in_runs, how) if assertion.selectors else []
    if not metrics and assertion.metric:
        metrics = [how.canonical(assertion.metric)]
    part, system = slice_and_system(
        assertion.selectors, [without_slice(name)[1] for name in names_in_runs.metrics], WHERE
    )
    if system is not None and system not in names_in_runs.systems:
        raise UnknownName(
            f"system in {WHERE}",
            system,
            names_in_runs.systems,
            f"There are {listed(names_in_runs.systems, 10)}.",
        )
    options = {
        "metrics": metrics,
        "slices": [part.removeprefix("no ").partition("=")[0]] if part else (),
        "cluster": how.cluster,
        "bounds": how.bounds,
        "higher": how.higher,
        "lower": how.lower,
        "seed": how.seed,
        "allow_different_judges": how.allow_different_judges,
    }
    wanted = [system] if system is not None else []
    for lost in lost_systems(kept, runs):
        if not wanted or lost in wanted:
            rule = _rule(assertion, in_slice(assertion.metric, part), lost)
            why = f"only the earlier run has scores of {one_line(lost)}"
            yield not_tested(assertion.metric, lost, rule, why)
    for run in runs:
        if assertion.margin is None:
            for drift in drifts(kept, run, alpha=alpha / len(runs), systems=wanted, **options):
                yield _of_drift(assertion, drift, kept)
        else:
            yield from _within(
                assertion, (kept, run), alpha / len(runs), wanted, how.max_unscored, options
            )


def _earlier(
    assertion: SameAssertion, sources: Sequence[Path], names_in_runs: NamesInRuns
) -> tuple[Path, list[Path]]:
    """The earlier run, and those that are held against it. It can be one of the runs, by its name."""
    by_name = dict(zip(names_in_runs.runs, sources, strict=True))
    kept = by_name.get(assertion.run)
    if kept is None:
        try:
            kept = source_of(Path(assertion.run))
        except UserError as error:
            raise UserError(f"{WHERE} {str(assertion)!r}: {error}") from None
    runs = [source for source in sources if real(source) != real(kept)]
    if not runs:
        raise UserError(
            f"{WHERE} {str(assertion)!r}: this is the run itself; name a run that was made before"
        )
    return kept, runs


def _rule(assertion: SameAssertion, metric: str, system: str) -> str:
    whole, part = without_slice(metric)
    selectors = tuple(filter(None, (part, one_line(system))))
    return str(replace(assertion, metric=whole, selectors=selectors))


def _of_drift(assertion: SameAssertion, drift: Drift, kept: Path) -> Checked:
    rule = _rule(assertion, drift.metric, drift.system)
    figures = drift.finding.removeprefix(f"{UNDECIDED}: ").removeprefix(f"{NOT_TESTED}: ")
    change = drift.change
    if change is not None:
        estimate = plain(change)
        words = figures_in_words("now", kept.name, estimate, drift.places)
        figures = f"{figures}: {words}"
    return with_line(
        Checked(
            metric=drift.metric,
            system=drift.system,
            rule=rule,
            result=drift.result,
            line="",
            estimate=None if change is None else plain(change),
            scored=None if change is None else change.n,
            rows=None if change is None else change.n + change.missing,
            reason=figures,
            decides="more questions" if drift.result in (UNDECIDED, NOT_TESTED) else "",
        )
    )


def _within(
    assertion: SameAssertion,
    runs: tuple[Path, Path],
    alpha: float,
    wanted: Sequence[str],
    max_unscored: float,
    options: dict[str, Any],
) -> Iterator[Checked]:
    """Whether each system is equivalent to itself in the earlier run."""
    from longmark.analysis.compare import compare
    from longmark.analysis.compare.margin import MarginTooLarge
    from longmark.scores.paired import BY_EACH

    pairs = [pair for pair in pairs_of(*runs) if not wanted or pair[0] in wanted]
    for system, labels in pairs:
        try:
            comparison = compare(
                runs,
                by=BY_EACH,
                systems=labels,
                against_first=True,
                margin=assertion.margin,
                alpha=alpha / len(pairs),
                **options,
            )
        except MarginTooLarge as error:
            raise too_large(assertion, error) from None
        places = {metric.metric: metric.places for metric in comparison.metrics}
        for decision in comparison.margins:
            result, why = equivalence(decision)
            if result == MET and (
                unscored := too_many_unscored(
                    comparison.metric(decision.metric), labels, max_unscored
                )
            ):
                result = UNDECIDED
                why = unscored
            change = plain(decision.difference)
            figures = figures_in_words("now", runs[0].name, change, places[decision.metric])
            yield with_line(
                Checked(
                    metric=decision.metric,
                    system=system,
                    rule=_rule(assertion, decision.metric, system),
                    result=result,
                    line="",
                    estimate=change,
                    scored=change.n,
                    rows=change.n + change.missing,
                    reason=f"{figures}{f'; {why}' if why else ''}",
                    decides="" if result != UNDECIDED else "more questions",
                )
            )
        for name, why in comparison.left_out:
            yield not_tested(name, system, _rule(assertion, name, system), why)

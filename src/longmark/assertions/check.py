"""Several assertions about the scores of runs, checked as one family (`longmark check`, `longmark.check`).

Assertions about the scores of a system are tested as gates are (`report.gates`), each at its own confidence: the check
passes only if all are met, so the chance that it passes although one is false is that of one at most (Berger 1982,
"Multiparameter hypothesis testing and acceptance sampling", Technometrics 24). Comparisons are tested as `compare` tests
them: the metrics of two systems are one family, and alpha (5 %) is divided by the pairs of systems of the check.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longmark.assertions.grammar import (
    MEAN,
    Assertion,
    ScoreAssertion,
    fields_in,
    parsed,
)
from longmark.assertions.options import WHERE, CheckOptions, slices_named
from longmark.assertions.plan import Limited, is_possible, questions_for_means, with_plan
from longmark.assertions.result import MET, NOT_MET, UNDECIDED, Checked
from longmark.assertions.wording import with_line
from longmark.errors import UserError
from longmark.keyword_values import checked_options
from longmark.records.metric_name import without_slice
from longmark.report.gates import (
    Gate,
    check_gates,
    gates_of,
    limits_of,
    refuse_unknown_systems,
)
from longmark.report.notebook import TableShown
from longmark.report.summary import Summary, summarise
from longmark.report.tables import Column, Table, one_line
from longmark.scores.files import paths_given, rows_of, sources_of
from longmark.stats.gate import TAIL

_PLACES = 4


@dataclass(frozen=True, repr=False)
class CheckResult(TableShown):
    """The result of a check: runs; assertions, each once, in the grammar; results: for each assertion a result by metric
    and system; family: what was done about several."""

    runs: tuple[str, ...]
    assertions: tuple[str, ...]
    results: tuple[Checked, ...]
    family: str = ""
    notices: tuple[str, ...] = ()

    @property
    def met(self) -> bool:
        """Every assertion is met."""
        return self.outcome == MET

    @property
    def outcome(self) -> str:
        """`met` if all are, `not met` if one is not, else `undecided`, also where nothing was tested."""
        outcomes = {result.outcome for result in self.results} or {UNDECIDED}
        return next((word for word in (NOT_MET, UNDECIDED) if word in outcomes), MET)

    def __bool__(self) -> bool:
        return self.met

    @property
    def says(self) -> str:
        """The outcome in a sentence."""
        words = [
            f"{count} {outcome}"
            for outcome in (MET, NOT_MET, UNDECIDED)
            if (count := sum(result.outcome == outcome for result in self.results))
        ]
        return f"{', '.join(words)}."

    def table(self) -> Table:
        """A line for each assertion, metric and system."""
        columns = (
            Column("assertion", "rule", key="assertion"),
            Column("outcome", "outcome"),
            Column("estimate", "estimate", _PLACES, kind="estimate", key="estimate"),
            Column("what would decide it", "decides", key="decides"),
        )
        return Table("check", "Assertions", columns, self.results)


def check(
    runs: str | Path | Sequence[str | Path],
    assertions: str | Assertion | Iterable[str | Assertion],
    **options: Any,
) -> CheckResult:
    """Checks assertions (`assertions.grammar`) about run folders or files of rows. options: the fields of `CheckOptions`.

    UserError for an assertion that is malformed, that no score could meet or that names what cannot be compared;
    UnknownName for a metric, a system or a slice that the runs do not have. Comparisons need the extra `stats`.
    """
    how = checked_options(CheckOptions, options, "longmark.check")
    listed = [assertions] if isinstance(assertions, str | Assertion) else list(assertions)
    read = [parsed(stated, WHERE) if isinstance(stated, str) else stated for stated in listed]
    unique = list(dict.fromkeys(read))
    if not unique:
        raise UserError(
            "there is nothing to check: give an assertion, such as 'METRIC mean >= 0.6'"
        )
    sources = sources_of(paths_given(runs))
    for source in sources:  # a run that ended before its first row must not pass beside others
        if next(iter(rows_of(source)), None) is None:
            raise UserError(f"no scores: there are no rows in {source}")
    about_scores = [stated for stated in unique if isinstance(stated, ScoreAssertion)]
    comparisons = [stated for stated in unique if not isinstance(stated, ScoreAssertion)]
    results, notices = _scores_checked(about_scores, sources, how)
    family = ""
    if comparisons:
        from longmark.assertions.pairs import compared

        tested = compared(comparisons, sources, how)
        results |= tested.results
        family = tested.in_words()
    ordered = [result for assertion in unique for result in results[assertion]]
    if not family and len(ordered) > 1:
        family = _TOGETHER
    return CheckResult(
        tuple(map(str, paths_given(runs))),
        tuple(map(str, unique)),
        tuple(ordered),
        family,
        tuple(notices),
    )


_TOGETHER = (
    "The check passes only if all are met, so the chance that it passes although one is false is that of a single one; "
    "none is corrected for the others."
)


# Scores of a system ---------------------------------------------------------------------------------------------------


def _scores_checked(
    assertions: Sequence[ScoreAssertion], sources: Sequence[Path], how: CheckOptions
) -> tuple[dict[Assertion, list[Checked]], list[str]]:
    """The results of each assertion, and what the readers left out."""
    results: dict[Assertion, list[Checked]] = {}
    notices: dict[str, None] = {}
    by_tail: dict[float, list[ScoreAssertion]] = {}
    for assertion in assertions:
        tail = TAIL if assertion.confidence is None else 1 - assertion.confidence / 100
        # assertions of one confidence share the intervals of one summary
        by_tail.setdefault(round(tail, 12), []).append(assertion)
    for tail, same_tail in by_tail.items():
        texts = list(map(str, same_tail))
        fields = fields_in(same_tail)
        with slices_named():
            summary = summarise(
                sources, how.cluster, how.bounds, fields, limits_of(texts, WHERE), 1 - 2 * tail
            )
        if not summary.metrics:
            raise UserError(f"no scores: there are no rows in {', '.join(map(str, sources))}")
        notices |= dict.fromkeys(summary.notices)
        ranges = {name: (facts.lo, facts.hi) for name, facts in summary.facts.items()}
        gates = gates_of(texts, summary.metrics, ranges, WHERE, how.canonical)
        refuse_unknown_systems(gates, (cell.system for cell in summary.cells), WHERE)
        for assertion, gate in zip(same_tail, gates, strict=True):
            checks = check_gates([gate], summary, how.max_unscored, intervals=True)
            results[assertion] = _planned(checks, gate, sources, fields, how)
            results[assertion] += _without_rows(gate, summary)
            approximate = [
                check.metric for check in checks if _is_approximate(gate, check, summary)
            ]
            notices |= {_APPROXIMATE.format(metric=metric): None for metric in approximate}
    return results, list(notices)


_APPROXIMATE = (
    "{metric} has no two bounds: its confidence interval is approximate, and with few and skewed scores an assertion at "
    "the limit is met more often than stated (docs/check.md). Declare bounds where the scores have some: --bounds "
    "{metric}=LOW:HIGH"
)


def _is_approximate(gate: Gate, check: Checked, summary: Summary) -> bool:
    """Whether a mean was held against the end of an approximate interval, since the metric lacks a bound."""
    facts = summary.facts.get(check.metric)
    return gate.kind == MEAN and facts is not None and None in (facts.lo, facts.hi)


def _without_rows(gate: Gate, summary: Summary) -> list[Checked]:
    """For each metric and system of which there is no row, though other systems have rows of the metric: undecided, since
    an assertion about all systems must not be met by those alone that were scored."""
    if gate.system is not None:
        return []
    systems = list(dict.fromkeys(cell.system for cell in summary.cells))
    present = {(cell.metric, cell.system) for cell in summary.cells}
    metrics = [
        metric
        for metric in summary.metrics
        if gate.selects(metric) and not without_slice(metric)[1]
    ]
    absent = [
        Checked(
            metric=metric,
            system=system,
            rule=gate.rule(metric, system),
            result=UNDECIDED,
            line="",
            scored=0,
            rows=0,
            reason=f"{one_line(system)} has no row of it; to leave it out, name the others: add 'for SYSTEM'",
        )
        for metric in metrics
        for system in systems
        if (metric, system) not in present and any(name == metric for name, _ in present)
    ]
    return [with_line(check) for check in absent]


def _planned(
    checks: Sequence[Checked],
    gate: Gate,
    sources: Sequence[Path],
    fields: Sequence[str],
    how: CheckOptions,
) -> list[Checked]:
    """The results of a gate, the undecided ones with what would decide them, all with a line of their outcome."""
    means = {
        check: Limited(check.metric, check.system, gate.limit, gate.tail)
        for check in checks
        if check.outcome == UNDECIDED and not gate.bad and check.estimate is not None
    }
    in_all = questions_for_means(means.values(), sources, how.cluster, how.bounds, fields)
    planned = []
    for check in checks:
        if check.outcome == UNDECIDED:
            number = in_all.get(means[check]) if check in means else None
            check = with_plan(check, gate, number, planned=is_possible())
        planned.append(with_line(replace(check, result=check.outcome)))
    return planned

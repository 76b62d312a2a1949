"""Gates held against the summary of a run: the result of each, for each metric and system."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from longmark.assertions.grammar import AT_MOST, MEAN, SAMPLE_MEAN
from longmark.assertions.result import MET, NOT_MET, UNDECIDED, UNSCORED, Checked
from longmark.errors import UserError
from longmark.report.format import fixed, share
from longmark.report.gate import MAX_UNSCORED, Gate
from longmark.report.summary import Cell, Summary, interval_name
from longmark.report.tables import one_line
from longmark.stats.gate import GAFFKE, BoundedScores
from longmark.stats.means import few_clusters
from longmark.stats.results import Estimate

_ROUNDING = 1e-9


def check_gates(
    gates: Iterable[Gate],
    summary: Summary,
    max_unscored: float = MAX_UNSCORED,
    *,
    intervals: bool = False,
) -> list[Checked]:
    """The outcome for each gate, metric and system.

    On the mean, `>=` holds where the lower bound on it (`stats.gate`) reaches the limit, `<=` where the upper one does
    not pass it. For a metric without two bounds the end of the 95 % CI is used. Such a gate fails where there is no such
    end (fewer than two scores, or equal ones), where a score lies outside the metric's bounds, and where clusters of
    several scores amount to fewer than five effective ones.
    A gate on the mean, or on the sample mean, fails where more than the share `max_unscored` of the rows are unscored,
    or where it would fail with unscored answers at the metric's bound (or the extreme score) on the side of the gate. A
    gate on single answers fails where it could if the unscored ones were scored, whatever their share.

    intervals: also compute the other bound on each mean, and say `undecided` in `outcome` where a gate is not met and
    could still be true. It takes as long as the test again.
    """
    checks = []
    for gate in gates:
        cells = [
            cell
            for cell in summary.cells
            if gate.selects(cell.metric) and gate.system in (None, cell.system)
        ]
        if cells:
            checks += [_checked(gate, cell, summary, max_unscored, intervals) for cell in cells]
        else:
            checks.append(_without_rows(gate, summary))
    return checks


def _without_rows(gate: Gate, summary: Summary) -> Checked:
    reason = "the run has no rows of this metric"
    systems = list(
        dict.fromkeys(one_line(cell.system) for cell in summary.cells if gate.selects(cell.metric))
    )
    if gate.system is not None and systems:
        names = ", ".join(systems[:10]) + (", …" if len(systems) > 10 else "")
        reason = f"no rows of the system {one_line(gate.system)}; the systems are {names}"
    return Checked(
        gate.metric,
        gate.system or "",
        str(gate),
        NOT_MET,
        f"not met: {gate}: {reason}",
        outcome=UNDECIDED,
        reason=reason,
    )


@dataclass(frozen=True, slots=True)
class _GateTest:
    """A gate held against a cell. reason: for people; outcome: where it is not the usual one of the result; estimate:
    what was held against the limit."""

    result: str
    reason: str
    outcome: str = ""
    estimate: Estimate | None = None


def _checked(
    gate: Gate, cell: Cell, summary: Summary, max_unscored: float, intervals: bool
) -> Checked:
    facts = summary.facts[cell.metric]
    needed = gate.needed((facts.lo, facts.hi))
    test = _tested(gate, cell, max_unscored, summary)
    if intervals:
        test = _with_interval(gate, cell, test)
    too_few = _too_few(gate, cell.bounded, needed, summary.clusters)
    unit = summary.clusters if cell.clusters else "answers"
    remark = too_few
    if not remark and not _enough(gate, cell, needed):
        remark = f"; {gate.remark(needed, unit)}"
    rule = gate.rule(cell.metric, cell.system)
    return Checked(
        metric=cell.metric,
        system=cell.system,
        rule=rule,
        result=test.result,
        line=f"{MET if test.result == MET else NOT_MET}: {rule}: {test.reason}{remark}",
        needed=needed,
        short=bool(too_few),
        outcome=test.outcome,
        estimate=test.estimate,
        scored=cell.scored,
        rows=cell.n,
        reason=test.reason + too_few,
    )


def _enough(gate: Gate, cell: Cell, needed: int | None) -> bool:
    """Whether so many are there that the number needed says nothing; of clusters, where they are counted."""
    if needed is None:
        return False
    if gate.kind == AT_MOST:
        return False
    if cell.clusters:
        return cell.bounded is not None
    return cell.scored >= needed


def _tested(gate: Gate, cell: Cell, max_unscored: float, summary: Summary) -> _GateTest:
    if gate.bad:
        return _single_answers(gate, cell, summary.decimals(cell.metric))
    unscored = cell.n - cell.scored
    if unscored > max_unscored * cell.n:
        return _GateTest(
            UNSCORED,
            f"{unscored} of {cell.n} rows ({share(unscored, cell.n)}) are unscored ({_statuses(cell)}), "
            f"more than the {share(max_unscored, 1)} that --max-unscored allows",
        )
    if cell.mean is None:
        return _GateTest(NOT_MET, cell.reason if cell.scored else "no row is scored", UNDECIDED)
    if cell.bounded and cell.bounded.outside:
        facts = summary.facts[cell.metric]
        return _GateTest(
            NOT_MET,
            f"{cell.bounded.outside} of {cell.scored} scores lie outside the metric's bounds, {facts.lo:g} to "
            f"{facts.hi:g} (they are from {cell.least:g} to {cell.greatest:g}): the metric or its declared bounds must "
            "be corrected",
            UNDECIDED,
        )
    if gate.kind == SAMPLE_MEAN:
        return _sample_mean(gate, cell, summary.decimals(cell.metric))
    return _mean(gate, cell, summary)


def _statuses(cell: Cell) -> str:
    """How many rows are unscored, by status."""
    return ", ".join(f"{unscored.count} {unscored.status}" for unscored in cell.unscored)


# Means ----------------------------------------------------------------------------------------------------------------


def _sample_mean(gate: Gate, cell: Cell, places: int) -> _GateTest:
    mean = cell.mean or 0.0
    result, remark = _held(gate, cell, mean, places)
    value = _outwards(mean, places + 1, down=gate.above)
    reason = f"the mean is {value} ({cell.scored} of {cell.n} scored){remark}"
    return _GateTest(result, reason, estimate=Estimate(mean, None, None, cell.scored))


def _mean(gate: Gate, cell: Cell, summary: Summary) -> _GateTest:
    """A gate on the mean of all such answers, by the end of an interval."""
    places = summary.decimals(cell.metric)
    over = f" over {cell.clusters} {summary.clusters}" if cell.clusters else ""
    if cell.effective is not None and (reason := few_clusters(cell.effective)):
        return _GateTest(UNDECIDED, f"undecided: {reason} ({cell.clusters} {summary.clusters})")
    if cell.bounded is not None:
        end = _bound(cell.bounded, gate, lower=gate.above)
        name = f"bound ({100 * (1 - gate.tail):g} %, Gaffke{over})"
    elif cell.interval is None:
        return _GateTest(NOT_MET, f"no CI: {cell.reason}", UNDECIDED)
    elif abs(1 - 2 * gate.tail - cell.level) > _ROUNDING:
        return _GateTest(
            UNDECIDED,
            f"undecided: the metric has no bounds, and its interval is that of {100 * cell.level:g} % here. Leave "
            "out `with … confidence`, or use longmark check",
        )
    else:
        end = cell.interval[0 if gate.above else 1]
        interval = interval_name(f"{cell.method}{over}").replace("95 %", f"{100 * cell.level:g} %")
        name = f"end of the {interval} (the metric has no bounds)"

    result, remark = _held(gate, cell, end, places)
    if result == NOT_MET:
        remark += _other_interval(gate, cell, places)
    side = "lower" if gate.above else "upper"
    return _GateTest(
        result,
        f"the {side} {name} is {_outwards(end, places + 1, down=gate.above)} "
        f"(mean {fixed(cell.mean, places)}, {cell.scored} of {cell.n} scored){remark}",
        estimate=Estimate(
            cell.mean,
            end if gate.above else None,
            None if gate.above else end,
            cell.scored,
            1 - 2 * gate.tail,
            cell.method if cell.bounded is None else GAFFKE,
            missing=cell.n - cell.scored,
            clusters=cell.clusters,
            effective=cell.effective,
        ),
    )


def _bound(scores: BoundedScores, gate: Gate, *, lower: bool) -> float:
    return scores.lower(gate.tail) if lower else scores.upper(gate.tail)


def _other_interval(gate: Gate, cell: Cell, places: int) -> str:
    """That the interval of the page would meet a gate which the bound does not."""
    if cell.bounded is None or cell.interval is None:
        return ""
    end = cell.interval[0 if gate.above else 1]
    if not _holds(gate, end):
        return ""
    return (
        f"; the {interval_name(cell.method)} of the table ends at {_outwards(end, places + 1, down=gate.above)}, but "
        "it rests on the spread of these scores, and the bound holds for any scores within the metric's bounds"
    )


def _holds(gate: Gate, end: float) -> bool:
    return end >= gate.limit if gate.above else end <= gate.limit


def _held(gate: Gate, cell: Cell, end: float, places: int) -> tuple[str, str]:
    """The result of an end (or a sample mean) against the limit, and a remark where unscored answers decide it."""
    if not _holds(gate, end):
        return NOT_MET, ""
    if cell.n > cell.scored:
        worst, end_with_unscored = _with_unscored(gate, cell, end)
        if not _holds(gate, end_with_unscored):
            value = _outwards(end_with_unscored, places + 1, down=gate.above)
            return UNDECIDED, f"; undecided: with unscored answers as {worst:g} it is {value}"
    return MET, ""


def _with_interval(gate: Gate, cell: Cell, test: _GateTest) -> _GateTest:
    """The test with both ends of its interval. Not met then says that the gate is false: the other end fails, too, also
    with unscored answers as the best scores. Else it is undecided."""
    if gate.bad or test.estimate is None:
        return test
    estimate = test.estimate
    if gate.kind == SAMPLE_MEAN:
        far_end = estimate.value or 0.0
    elif cell.bounded is not None:
        far_end = _bound(cell.bounded, gate, lower=not gate.above)
    else:
        far_end = (cell.interval or (0.0, 0.0))[1 if gate.above else 0]
    if gate.kind == MEAN:
        low, high = (estimate.low, far_end) if gate.above else (far_end, estimate.high)
        estimate = replace(estimate, low=low, high=high)
    outcome = test.outcome
    if test.result == NOT_MET:
        best = far_end
        if cell.n > cell.scored and not _holds(gate, far_end):
            best = _with_unscored(gate, cell, far_end, best=True)[1]
        outcome = UNDECIDED if _holds(gate, best) else NOT_MET
    return replace(test, outcome=outcome, estimate=estimate)


def _with_unscored(
    gate: Gate, cell: Cell, end: float, *, best: bool = False
) -> tuple[float, float]:
    """What an unscored answer counts as where it is the worst (or best) for the gate, and the bound or mean then.
    Without bounds it is the worst score, and the end moves as the mean does. end: the lower one for a gate on the least
    mean, the upper one for the best of it."""
    unscored = cell.n - cell.scored
    lower = gate.above is not best  # the side on which the worst (or best) scores lie
    if cell.filled is None or cell.bounded is None or gate.kind == SAMPLE_MEAN:
        extreme = (cell.least if lower else cell.greatest) or 0.0
        if cell.bounded is not None:
            extreme = cell.bounded.lo if lower else cell.bounded.hi
        return extreme, (cell.scored * end + unscored * extreme) / cell.n
    scores = cell.filled[0 if lower else 1]
    return scores.lo if lower else scores.hi, _bound(scores, gate, lower=lower)


def _too_few(gate: Gate, scores: BoundedScores | None, needed: int | None, clusters: str) -> str:
    """What to say where the limit could not be reached by this many scores even if all were perfect."""
    if gate.kind != MEAN or not scores or scores.outside:
        return ""
    perfect = f"even if all are {scores.hi if gate.above else scores.lo:.2f}"
    if needed is None:
        return f"; no number of scores can show {gate.limit:g}, {perfect}"
    if needed > scores.clusters:
        unit = f"score{'s' * (scores.n != 1)}" if scores.clusters == scores.n else clusters
        return f"; {scores.clusters} {unit} cannot show {gate.limit:g} {perfect}: at least {needed:,} are needed"
    return ""


def _outwards(end: float, places: int, down: bool) -> str:
    """An end rounded away from the mean, so that it never looks as if it reached a limit that it does not."""
    step = 10.0**-places
    near = round(end, places)
    inwards = near > end + step / 1e6 if down else near < end - step / 1e6
    return fixed(near + (-step if down else step) * inwards, places)


# Single answers -------------------------------------------------------------------------------------------------------


def _single_answers(gate: Gate, cell: Cell, places: int) -> _GateTest:
    """The outcome of a gate on single answers."""
    limit = gate.bad or ("", 0.0)
    if limit not in cell.counts:
        raise UserError(
            f"{gate}: the summary has not counted this; make it with summarise(…, limits=limits_of(gates))"
        )
    bad = cell.counts[limit]
    unscored = cell.n - cell.scored
    allowed = gate.allowed(cell.n)
    condition = f"{limit[0]}{limit[1]:g}"
    examples = ", ".join(f"{one_line(name)} {fixed(score, places)}" for name, score in bad.extreme)
    if bad.count > len(bad.extreme):
        examples += ", …"
    value = bad.count / cell.n if cell.n else None
    estimate = Estimate(value, None, None, cell.scored, missing=unscored)

    if bad.count <= allowed and (bad.count + unscored > allowed or not cell.scored):
        scored = f"{bad.count} scored {condition}{f': {examples}' if examples else ''}"
        reason = (
            f"{bad.count + unscored} of {cell.n} answers may be {condition} ({scored}; {unscored} unscored: "
            f"{_statuses(cell)}); allowed: {allowed}"
        )
        return _GateTest(UNSCORED, reason, estimate=estimate)
    are = "is" if bad.count == 1 else "are"
    reason = f"{bad.count} of {cell.n} answers {are} {condition}"
    if examples:
        reason += f" ({examples})"
    if gate.kind == AT_MOST:
        reason += f"; allowed: {allowed}"
    if unscored:
        reason += f"; {unscored} unscored ({_statuses(cell)})"
    return _GateTest(NOT_MET if bad.count > allowed else MET, reason, estimate=estimate)

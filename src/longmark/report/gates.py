"""Gates: assertions about the scores of a run that set its exit code (`--fail-under`, `assert_scores`).

The grammar is the one of `assertions.grammar`; what a gate tests is

    METRIC mean >= 0.6             the bound on the mean reaches 0.6 (`stats.gate`: one-sided, 97.5 %)
    METRIC sample mean >= 0.6      the mean itself does
    METRIC every >= 0.3            no answer has a score below 0.3
    at most 2 % METRIC < 0.5       at most 2 % of the answers have a score below 0.5
    at least 98 % METRIC >= 0.5    the same

An unscored answer is neither good nor bad: no gate is met that could fail if it were scored.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from longmark.assertions.grammar import (
    AT_LEAST,
    AT_MOST,
    EVERY,
    MEAN,
    OPPOSITE,
    SAMPLE_MEAN,
    ScoreAssertion,
    selector_text,
)
from longmark.assertions.grammar import parsed as parsed_assertion
from longmark.assertions.result import MET, NOT_MET, OK, UNDECIDED, UNSCORED, Checked
from longmark.errors import UnknownName, UserError
from longmark.records.documents import document_of
from longmark.records.metric_name import in_slice, slice_name, under, without_slice
from longmark.report.format import fixed, share
from longmark.report.summary import Cell, Summary, interval_name
from longmark.report.tables import one_line
from longmark.scores.clusters import QUESTION, fields_of
from longmark.scores.observations import Limit
from longmark.stats.gate import GAFFKE, TAIL, BoundedScores
from longmark.stats.means import Bounds, few_clusters
from longmark.stats.results import Estimate

MAX_UNSCORED = 0.05
_WHERE = "--fail-under"
_ROUNDING = 1e-9

__all__ = [
    "MAX_UNSCORED",
    "MET",
    "NOT_MET",
    "OK",
    "UNDECIDED",
    "UNSCORED",
    "Checked",
    "Forecast",
    "Gate",
    "check_gates",
    "gates_of",
    "limits_of",
    "parsed",
    "refuse_unknown_systems",
    "slice_and_system",
]


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate. kind: what is tested, a figure of the grammar (AT_LEAST is AT_MOST of the opposite); metric: a score or a
    family with its slice, "" for every score (of `part`); limit: the number; most: of `at most`, in percent; scores:
    what it selects (`gates_of`); system: None: each; least: of `at least`, as it was written, in percent; confidence:
    of a bound on the mean, in percent, None: 97.5."""

    kind: str
    metric: str
    part: str
    system: str | None
    sign: str
    limit: float
    most: float = 0.0
    scores: tuple[str, ...] = ()
    least: float = 0.0
    confidence: float | None = None

    def __str__(self) -> str:
        return self.rule(self.metric or in_slice("", self.part), self.system)

    def rule(self, metric: str, system: str | None = None) -> str:
        """The gate in the grammar, for one metric and system."""
        whole, part = without_slice(metric)
        selectors = tuple(filter(None, (part, None if system is None else one_line(system))))
        figure, share_of, sign = self.kind, self.most, self.sign
        if self.least:
            figure, share_of, sign = AT_LEAST, self.least, OPPOSITE[self.sign]
        return str(
            ScoreAssertion(figure, whole, sign, self.limit, share_of, selectors, self.confidence)
        )

    @property
    def above(self) -> bool:
        """High scores are good."""
        return (self.sign[0] == ">") is not (self.kind == AT_MOST)

    @property
    def tail(self) -> float:
        """The probability, at most, that the bound lies on the wrong side of the mean."""
        return TAIL if self.confidence is None else 1 - self.confidence / 100

    @property
    def bad(self) -> Limit | None:
        """The scores that a gate on single answers counts, None of one on the mean."""
        if self.kind == AT_MOST:
            return self.sign, self.limit
        return (OPPOSITE[self.sign], self.limit) if self.kind == EVERY else None

    def selects(self, metric: str) -> bool:
        return metric in self.scores

    def needed(self, bounds: Bounds) -> int | None:
        """The answers (or clusters) from which on it can pass, if all are perfect; None where no number is enough."""
        if self.kind != MEAN:
            return 1
        lo, hi = bounds
        if lo is None or hi is None or not lo < hi:
            return 2  # an interval of equal scores needs bounds
        if not lo <= self.limit <= hi:
            return 1 if (self.limit < lo) is self.above else None
        count = BoundedScores(lo, hi).needed(self.limit, above=self.above, tail=self.tail)
        return None if count is None else max(1, count)

    def allowed(self, answers: int) -> int:
        """How many of so many answers may be bad, of a gate on single ones."""
        return math.floor(self.most * answers / 100 + 1e-9)

    def remark(self, needed: int | None, what: str = "answers") -> str:
        """`needed` in words."""
        if needed is None:
            return "no number of answers can show it"
        allowed = math.ceil(100 / self.most - 1e-9) if self.most else 0
        if self.kind == AT_MOST:
            return f"{allowed:,} answers allow one" if allowed else "none is allowed"
        count = what.removesuffix("s") if needed == 1 else what
        return f"needs at least {needed:,} {count}"


# From texts -----------------------------------------------------------------------------------------------------------


def parsed(text: str, where: str = _WHERE) -> Gate:
    """A gate from its text, not yet held against the names of scores. where: of the text, for the error. UserError for
    another form, which points at the character."""
    return _unresolved(text, where)[0]


def _unresolved(text: str, where: str) -> tuple[Gate, tuple[str, ...]]:
    """The gate of a text, and its selectors, of which only the scores say what is a slice."""
    assertion = parsed_assertion(text, where)
    if not isinstance(assertion, ScoreAssertion):
        raise UserError(
            f"{where} {text!r}: this compares, and a gate is about the scores of one run. Use "
            f"longmark check RUN {str(assertion)!r}, or --base RUN with --fail-if-worse"
        )
    gate = Gate(
        assertion.figure,
        assertion.metric,
        "",
        None,
        assertion.sign,
        assertion.limit,
        assertion.share,
        confidence=assertion.confidence,
    )
    if assertion.figure == AT_LEAST:
        gate = replace(
            gate,
            kind=AT_MOST,
            sign=OPPOSITE[assertion.sign],
            most=100 - assertion.share,
            least=assertion.share,
        )
    return gate, assertion.selectors


def gates_of(
    texts: Iterable[str],
    known: Iterable[str],
    bounds: Mapping[str, Bounds] | None = None,
    where: str = _WHERE,
    canonical: Callable[[str], str] = str,
) -> list[Gate]:
    """The gates of texts, held against the names of the scores that there will be.

    bounds: of the scores, where they are known; where: of the texts, for errors; canonical: the name of a score as it
    is known (`metrics.canonical`). UserError where a gate is malformed or its limit lies outside the bounds of every
    metric that it names; UnknownName where it names no metric.
    """
    names, gates = list(known), []
    slices = dict.fromkeys(part for name in names if (part := without_slice(name)[1]))
    for text in texts:
        gate, selectors = _unresolved(text, where)
        part, system = slice_and_system(selectors, slices, where)
        metric = in_slice(canonical(gate.metric), part) if gate.metric else ""
        selected = (
            under(metric, names)
            if metric
            else [name for name in names if without_slice(name)[1] == part]
        )
        if not selected:
            raise UnknownName(f"metric in {where}", metric, names)
        ranges = [(bounds or {}).get(name, (None, None)) for name in selected]
        if all(_outside(gate.limit, lo, hi) for lo, hi in ranges):
            ends = " to ".join("any number" if end is None else f"{end:g}" for end in ranges[0])
            raise UserError(f"{where} {text!r}: scores of {selected[0]} are from {ends}")
        gates.append(replace(gate, metric=metric, part=part, system=system, scores=tuple(selected)))
    return gates


def limits_of(texts: Iterable[str], where: str = _WHERE) -> frozenset[Limit]:
    """What `summarise` must count for the gates of these texts."""
    return frozenset(bad for text in texts if (bad := parsed(text, where).bad))


def slice_and_system(
    selectors: Iterable[str], slices: Collection[str], where: str
) -> tuple[str, str | None]:
    """The slice and the system of selectors. UnknownName for a slice that does not exist."""
    part, system = "", None
    for selector in selectors:
        field, equals, value = selector.partition("=")
        if selector in slices:
            part = selector
        elif equals and field == "system":
            system = value
        elif equals or selector.startswith("no "):
            shown = ", ".join(islice(slices, 10)) + (", …" if len(slices) > 10 else "")
            cut = f"Cut the answers with --by {field.removeprefix('no ')}."
            hint = f"The slices are {shown}." if slices else cut
            named = selector_text(f"system={selector}")
            raise UnknownName(
                f"slice in {where}", selector, slices, f"{hint} A system is `for {named}`."
            )
        else:
            system = selector
    return part, system


def _outside(limit: float, lo: float | None, hi: float | None) -> bool:
    return (lo is not None and limit < lo) or (hi is not None and limit > hi)


def refuse_unknown_systems(
    gates: Iterable[Gate], systems: Iterable[str], where: str = _WHERE
) -> None:
    """UnknownName for a gate on a system that does not exist."""
    known = list(dict.fromkeys(systems))
    for gate in gates:
        if gate.system is not None and gate.system not in known:
            hint = f"The systems are {', '.join(known[:10])}{', …' if len(known) > 10 else ''}."
            raise UnknownName(f"system in {where}", gate.system, known, hint)


# Before a run ---------------------------------------------------------------------------------------------------------


class Forecast:
    """Which gates can pass with examples that are not scored yet. gates: with what they select; bounds: of the scores;
    own: the system of examples without one; cluster, by, max_unscored: as for the run."""

    def __init__(
        self,
        gates: Sequence[Gate],
        bounds: Mapping[str, Bounds],
        own: str,
        cluster: str = QUESTION,
        by: Sequence[str] = (),
        max_unscored: float = MAX_UNSCORED,
    ) -> None:
        self.gates = gates
        self.own = own
        self.cluster = cluster
        self.by = by
        self.max_unscored = max_unscored
        self._needed = {
            (gate, name): gate.needed(bounds[name]) for gate in gates for name in gate.scores
        }
        self._enough = max((count or 0 for count in self._needed.values()), default=0)
        # (score, system) -> clusters; more than enough of them are not kept, so that memory stays flat
        self._clusters: dict[tuple[str, str], set[str]] = {}
        self._rows = Counter[tuple[str, str]]()
        self._unscored = Counter[tuple[str, str]]()

    def read(
        self, examples: Iterable[Any], due: Callable[[Any], Iterable[tuple[str, bool]]]
    ) -> None:
        """Counts. due: example -> each score that it gets, and whether it will be unscored, since an input is missing.
        UnknownName for a gate on a system that no example has."""
        systems: dict[str, None] = {}
        wanted = {name for gate in self.gates for name in gate.scores}
        for example in examples:
            system = example.system or self.own
            systems[system] = None
            fields = fields_of(example) if self.by or self.cluster != QUESTION else {}
            cluster = f":{example.question_id}.{document_of(example)}"
            if self.cluster in fields:
                cluster = f"={fields[self.cluster]}"
            parts = ("", *(slice_name(field, fields.get(field)) for field in self.by))
            for score, unscored in due(example):
                for part in parts:
                    if (name := in_slice(score, part)) in wanted:
                        self._count((name, system), cluster, unscored=unscored)
        refuse_unknown_systems(self.gates, systems)

    def _count(self, key: tuple[str, str], cluster: str, *, unscored: bool) -> None:
        clusters = self._clusters.setdefault(key, set())
        self._rows[key] += 1
        self._unscored[key] += unscored
        if not unscored and len(clusters) < self._enough:
            clusters.add(cluster)

    def lines(self) -> list[tuple[str, bool]]:
        """A line for each gate, metric and system, and whether it can pass."""
        unit = "answers" if self.cluster == QUESTION else f"clusters ({one_line(self.cluster)})"
        lines = []
        for gate in self.gates:
            for (name, system), clusters in self._clusters.items():
                if name not in gate.scores or gate.system not in (None, system):
                    continue
                needed = self._needed[gate, name]
                why = self._too_many_unscored(gate, (name, system))
                if needed is None or len(clusters) < needed:
                    missing = self._unscored[name, system]
                    without_input = f", and {missing:,} with a missing input" if missing else ""
                    why = f"; the file has {len(clusters):,}{without_input}"
                line = f"{gate.rule(name, system)}: {gate.remark(needed, unit)}{why}"
                lines.append((line, not why))
        return lines

    def _too_many_unscored(self, gate: Gate, key: tuple[str, str]) -> str:
        rows, unscored = self._rows[key], self._unscored[key]
        allowed = gate.allowed(rows) if gate.bad else self.max_unscored * rows
        if unscored <= allowed:
            return ""
        most = (
            f"allowed: {allowed:,}"
            if gate.bad
            else f"more than the {share(self.max_unscored, 1)} of --max-unscored"
        )
        return f"; {unscored:,} of {rows:,} answers will be unscored, because an input is missing, {most}"

    def refuse_impossible(self) -> None:
        """UserError if a gate cannot pass with these examples, whatever their scores."""
        lines = [line for line, possible in self.lines() if not possible]
        if not lines:
            return
        shown = "\n  ".join(lines[:10])
        if len(lines) > 10:
            shown += f"\n  … and {len(lines) - 10} more"
        advice = "Add answers, lower the limit, or test the mean of these answers: METRIC sample mean >= NUMBER"
        if any(
            key[0] in gate.scores
            and gate.system in (None, key[1])
            and self._too_many_unscored(gate, key)
            for gate in self.gates
            for key in self._clusters
        ):
            advice = (
                "Add the missing inputs, leave out the answers without them, or test a metric that needs no such "
                "input; for a gate on a mean, --max-unscored allows more unscored answers"
            )
        raise UserError(
            f"--fail-under cannot be met by these examples, even if every score is perfect:\n  {shown}\n"
            f"{advice}. Nothing was sent"
        )


# The test -------------------------------------------------------------------------------------------------------------


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
        if not cells:
            why = _no_rows(gate, summary)
            checks.append(
                Checked(
                    gate.metric,
                    gate.system or "",
                    str(gate),
                    NOT_MET,
                    f"not met: {gate}: {why}",
                    outcome=UNDECIDED,
                    reason=why,
                )
            )
        checks += [_checked(gate, cell, summary, max_unscored, intervals) for cell in cells]
    return checks


@dataclass(frozen=True, slots=True)
class _Test:
    """A gate held against a cell. why: for people; outcome: where it is not the usual one of the result; estimate: what
    was held against the limit."""

    result: str
    why: str
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
    short = _too_few(gate, cell.bounded, needed, summary.clusters)
    unit = summary.clusters if cell.clusters else "answers"
    why = test.why + (short or f"; {gate.remark(needed, unit)}")
    rule = gate.rule(cell.metric, cell.system)
    return Checked(
        metric=cell.metric,
        system=cell.system,
        rule=rule,
        result=test.result,
        line=f"{MET if test.result == MET else NOT_MET}: {rule}: {why}",
        needed=needed,
        short=bool(short),
        outcome=test.outcome,
        estimate=test.estimate,
        scored=cell.scored,
        rows=cell.n,
        reason=test.why + short,
    )


def _no_rows(gate: Gate, summary: Summary) -> str:
    """Why a gate selects no cell, and the systems that it could name."""
    systems = dict.fromkeys(
        one_line(cell.system) for cell in summary.cells if gate.selects(cell.metric)
    )
    if gate.system is None or not systems:
        return "the run has no rows of this metric"
    shown = ", ".join([*islice(systems, 10)]) + (", …" if len(systems) > 10 else "")
    return f"no rows of the system {one_line(gate.system)}; the systems are {shown}"


def _tested(gate: Gate, cell: Cell, max_unscored: float, summary: Summary) -> _Test:
    unscored = cell.n - cell.scored
    reasons = ", ".join(f"{why.count} {why.status}" for why in cell.unscored)
    if gate.bad:
        return _counted(gate, cell, reasons, summary.decimals(cell.metric))
    if unscored > max_unscored * cell.n:
        return _Test(
            UNSCORED,
            f"{unscored} of {cell.n} rows ({share(unscored, cell.n)}) are unscored ({reasons}), "
            f"more than the {share(max_unscored, 1)} that --max-unscored allows",
        )
    if cell.mean is None:
        return _Test(NOT_MET, cell.reason if cell.scored else "no row is scored", UNDECIDED)
    if cell.bounded and cell.bounded.outside:
        facts = summary.facts[cell.metric]
        return _Test(
            NOT_MET,
            f"{cell.bounded.outside} of {cell.scored} scores lie outside the metric's bounds, {facts.lo:g} to "
            f"{facts.hi:g} (they are from {cell.least:g} to {cell.greatest:g}): the metric or its declared bounds must "
            "be corrected",
            UNDECIDED,
        )
    if gate.kind == SAMPLE_MEAN:
        return _sample_mean(gate, cell, summary.decimals(cell.metric))
    return _mean(gate, cell, summary)


def _sample_mean(gate: Gate, cell: Cell, places: int) -> _Test:
    mean = cell.mean or 0.0
    result, remark = _held(gate, cell, mean, places)
    value = _outwards(mean, places + 1, down=gate.above)
    why = f"the mean is {value} ({cell.scored} of {cell.n} scored){remark}"
    return _Test(result, why, estimate=Estimate(mean, None, None, cell.scored))


def _mean(gate: Gate, cell: Cell, summary: Summary) -> _Test:
    """A gate on the mean of all such answers, by the end of an interval."""
    above, places = gate.above, summary.decimals(cell.metric)
    over = f" over {cell.clusters} {summary.clusters}" if cell.clusters else ""
    if cell.effective is not None and (few := few_clusters(cell.effective)):
        return _Test(UNDECIDED, f"undecided: {few} ({cell.clusters} {summary.clusters})")
    if cell.bounded is None:
        if cell.interval is None:
            return _Test(NOT_MET, f"no CI: {cell.reason}", UNDECIDED)
        if abs(1 - 2 * gate.tail - cell.level) > _ROUNDING:
            return _Test(
                UNDECIDED,
                f"undecided: the metric has no bounds, and its interval is that of {100 * cell.level:g} % here. Leave "
                "out `with … confidence`, or use longmark check",
            )
        end = cell.interval[0 if above else 1]
        interval = interval_name(f"{cell.method}{over}").replace("95 %", f"{100 * cell.level:g} %")
        name = f"end of the {interval} (the metric has no bounds)"
    else:
        end = cell.bounded.lower(gate.tail) if above else cell.bounded.upper(gate.tail)
        name = f"bound ({100 * (1 - gate.tail):g} %, Gaffke{over})"
    result, remark = _held(gate, cell, end, places)
    if cell.bounded is not None and result == NOT_MET and cell.interval is not None:
        near = cell.interval[0 if above else 1]
        if _holds(gate, near):  # the page shows the other interval
            remark += (
                f"; the {interval_name(cell.method)} of the table ends at "
                f"{_outwards(near, places + 1, down=above)}, but it rests on the spread of these scores, and the bound "
                "holds for any scores within the metric's bounds"
            )
    return _Test(
        result,
        f"the {'lower' if above else 'upper'} {name} is {_outwards(end, places + 1, down=above)} "
        f"(mean {fixed(cell.mean, places)}, {cell.scored} of {cell.n} scored){remark}",
        estimate=Estimate(
            cell.mean,
            end if above else None,
            None if above else end,
            cell.scored,
            1 - 2 * gate.tail,
            cell.method if cell.bounded is None else GAFFKE,
            missing=cell.n - cell.scored,
            clusters=cell.clusters,
            effective=cell.effective,
        ),
    )


def _holds(gate: Gate, end: float) -> bool:
    return end >= gate.limit if gate.above else end <= gate.limit


def _held(gate: Gate, cell: Cell, end: float, places: int) -> tuple[str, str]:
    """The result of an end (or a sample mean) against the limit, and a remark where unscored answers decide it."""
    if not _holds(gate, end):
        return NOT_MET, ""
    if cell.n > cell.scored:
        worst, counted = _with_unscored(gate, cell, end)
        if not _holds(gate, counted):
            shown = _outwards(counted, places + 1, down=gate.above)
            return UNDECIDED, f"; undecided: with unscored answers as {worst:g} it is {shown}"
    return MET, ""


def _counted(gate: Gate, cell: Cell, reasons: str, places: int) -> _Test:
    """The outcome of a gate on single answers. reasons: how many are unscored, by status."""
    limit = gate.bad or ("", 0.0)
    if limit not in cell.counts:
        raise UserError(
            f"{gate}: the summary has not counted this; make it with summarise(…, limits=limits_of(gates))"
        )
    bad, left = cell.counts[limit], cell.n - cell.scored
    allowed = gate.allowed(cell.n)
    shown = ", ".join(f"{one_line(name)} {fixed(score, places)}" for name, score in bad.extreme)
    shown += ", …" if bad.count > len(bad.extreme) else ""
    are = f"{'is' if bad.count == 1 else 'are'} {limit[0]}{limit[1]:g}"
    why = f"{bad.count} of {cell.n} answers {are}{f' ({shown})' if shown else ''}"
    why += f"; allowed: {allowed}" if gate.kind == AT_MOST else ""
    with_unscored = why + (f"; {left} unscored ({reasons})" if left else "")
    estimate = Estimate(
        bad.count / cell.n if cell.n else None, None, None, cell.scored, missing=left
    )
    if bad.count > allowed:
        return _Test(NOT_MET, with_unscored, estimate=estimate)
    if bad.count + left > allowed or not cell.scored:
        scored = f"{bad.count} scored {limit[0]}{limit[1]:g}{f': {shown}' if shown else ''}"
        why = (
            f"{bad.count + left} of {cell.n} answers may be {limit[0]}{limit[1]:g} ({scored}; {left} unscored: "
            f"{reasons}); allowed: {allowed}"
        )
        return _Test(UNSCORED, why, estimate=estimate)
    return _Test(MET, with_unscored, estimate=estimate)


def _with_interval(gate: Gate, cell: Cell, test: _Test) -> _Test:
    """The test with both ends of its interval. Not met then says that the gate is false: the other end fails, too, also
    with unscored answers as the best scores. Else it is undecided."""
    if gate.bad or test.estimate is None:
        return test
    estimate, above = test.estimate, gate.above
    if gate.kind == SAMPLE_MEAN:
        other = estimate.value or 0.0
    elif cell.bounded is not None:
        other = cell.bounded.upper(gate.tail) if above else cell.bounded.lower(gate.tail)
    else:
        other = (cell.interval or (0.0, 0.0))[1 if above else 0]
    if gate.kind == MEAN:
        estimate = replace(estimate, high=other) if above else replace(estimate, low=other)
    outcome = test.outcome
    if test.result == NOT_MET:
        best = other
        if cell.n > cell.scored and not _holds(gate, other):
            best = _with_unscored(gate, cell, other, best=True)[1]
        outcome = UNDECIDED if _holds(gate, best) else NOT_MET
    return replace(test, outcome=outcome, estimate=estimate)


def _with_unscored(
    gate: Gate, cell: Cell, end: float, *, best: bool = False
) -> tuple[float, float]:
    """What an unscored answer counts as where it is the worst (or best) for the gate, and the bound or mean then, each
    such answer a cluster of its own. Without bounds it is the worst score, and the end moves as the mean does.
    end: the lower one for a gate on the least mean, the upper one for the best of it."""
    unscored = cell.n - cell.scored
    low = gate.above is not best  # the side on which the worst (or best) scores lie
    if cell.bounded is None or gate.kind == SAMPLE_MEAN:
        extreme = (cell.least if low else cell.greatest) or 0.0
        if cell.bounded is not None:
            extreme = cell.bounded.lo if low else cell.bounded.hi
        return extreme, (cell.scored * end + unscored * extreme) / cell.n
    scores = deepcopy(cell.bounded)
    extreme = scores.lo if low else scores.hi
    for _ in range(unscored):
        scores.add(extreme)
    return extreme, scores.lower(gate.tail) if low else scores.upper(gate.tail)


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
    off = near > end + step / 1e6 if down else near < end - step / 1e6
    return fixed(near + (-step if down else step) * off, places)

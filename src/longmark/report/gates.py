"""Gates, the conditions of `--fail-under` and `assert_scores`: their grammar, their test, and the answers they need.

    METRIC>=.6                    the bound on the mean reaches .6 (`stats.gate`: one-sided, 97.5 %)
    mean(METRIC)>=.6              the mean itself does
    METRIC every answer >= .3     no answer has a score below .3
    METRIC at most 2 % < .5       at most 2 % of the answers have a score below .5

Each also with `<=`, the last one with `<`, `<=`, `>` and `>=`. METRIC is a score or a family; the last two forms can
leave it out, for every score. `[SYSTEM]` after it, `[FIELD=VALUE]` and `[no FIELD]` (a slice) restrict the answers.
An unscored answer is neither good nor bad: no gate is met that could fail if it were scored.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

from longmark.errors import UnknownName, UserError
from longmark.records.documents import document_of
from longmark.records.metric_name import in_slice, slice_name, under, without_slice
from longmark.report.format import fixed, share
from longmark.report.summary import Cell, Summary, interval_name
from longmark.report.tables import one_line
from longmark.scores.clusters import QUESTION, fields_of
from longmark.scores.observations import Limit
from longmark.stats.gate import TAIL, BoundedScores
from longmark.stats.means import Bounds, few_clusters

MAX_UNSCORED = 0.05
MET, NOT_MET, UNDECIDED, UNSCORED = "met", "not met", "undecided", "unscored"
OK = "ok"  # of a comparison
BOUND, MEAN, EVERY, AT_MOST = "bound", "mean", "every answer", "at most"
_WHERE = "--fail-under"
_ANSWERS = re.compile(r"every\s+answer(?!\w)|at\s+most(?!\w)")
_NAME = re.compile(r"(?:[^\s\[<>=]|=(?![=<>\s]))+")
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_FORMS = (
    "A gate is METRIC>=NUMBER (or <=), mean(METRIC)>=NUMBER, METRIC every answer >= NUMBER or METRIC at most 2 % < "
    "NUMBER, in quotes, because > redirects. METRIC[SYSTEM] is one system, METRIC[FIELD=VALUE] one slice of --by FIELD"
)
_OPPOSITE = {">=": "<", "<=": ">"}


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate. kind: what is tested; metric: a score or a family with its slice, "" for every score (of `part`);
    limit: the number; most: of `at most`, in percent; scores: what it selects (`gates_of`); system: None: each."""

    kind: str
    metric: str
    part: str
    system: str | None
    sign: str
    limit: float
    most: float = 0.0
    scores: tuple[str, ...] = ()

    def __str__(self) -> str:
        of = "" if self.system is None else f"[{one_line(self.system)}]"
        return self.rule(f"{self.metric or in_slice('', self.part)}{of}")

    def rule(self, metric: str) -> str:
        """The gate in its grammar, for one metric."""
        end = f"{self.sign}{self.limit:g}"
        if self.kind in (BOUND, MEAN):
            return f"mean({metric}){end}" if self.kind == MEAN else f"{metric}{end}"
        return f"{metric} {self.kind}{f' {self.most:g} %' * (self.kind == AT_MOST)} {end}".lstrip()

    @property
    def above(self) -> bool:
        """High scores are good."""
        return (self.sign[0] == ">") is not (self.kind == AT_MOST)

    @property
    def bad(self) -> Limit | None:
        """The scores that a gate on single answers counts, None of one on the mean."""
        signs = {AT_MOST: self.sign, EVERY: _OPPOSITE.get(self.sign, "")}
        return (signs[self.kind], self.limit) if self.kind in signs else None

    def selects(self, metric: str) -> bool:
        return metric in self.scores

    def needed(self, bounds: Bounds) -> int | None:
        """The answers (or clusters) from which on it can pass, if all are perfect; None where no number is enough."""
        if self.kind != BOUND:
            return 1
        lo, hi = bounds
        if lo is None or hi is None or not lo < hi:
            return 2  # an interval of equal scores needs bounds
        if not lo <= self.limit <= hi:
            return 1 if (self.limit < lo) is self.above else None
        count = BoundedScores(lo, hi).needed(self.limit, above=self.above)
        return None if count is None else max(1, count)

    def allowed(self, answers: int) -> int:
        """How many of so many answers may be bad, of a gate on single ones."""
        return math.floor(self.most * answers / 100 + 1e-9)

    def remark(self, needed: int | None, what: str = "answers") -> str:
        """`needed` in words."""
        if needed is None:
            return "no number of answers can show it"
        allowed = math.ceil(100 / self.most) if self.most else 0
        if self.kind == AT_MOST:
            return (
                f"one answer may be {self.sign}{self.limit:g} from {allowed:,} on"
                if allowed
                else "none may be"
            )
        count = what.removesuffix("s") if needed == 1 else what
        return f"can pass from {needed:,} {count} on"


@dataclass(frozen=True, slots=True)
class Checked:
    """Whether a gate holds for a metric and system (`""`: all or none). rule: what was tested; result: `met`,
    `not met`, `undecided` or `unscored` (too many rows are), of a comparison as in `analysis.compare.gate`; line: for
    people; needed: the answers (or clusters) from which on it can pass, None: no number, or not known; short: there
    are fewer, so that it could not pass whatever their scores."""

    metric: str
    system: str
    rule: str
    result: str
    line: str
    needed: int | None = None
    short: bool = False

    @property
    def met(self) -> bool:
        return self.result in (MET, OK)


# The grammar ----------------------------------------------------------------------------------------------------------


class _Text:
    """The text of a gate, read from the left."""

    def __init__(self, text: str, where: str) -> None:
        self.text, self.where, self.at = text, where, 0

    def take(self, pattern: str | re.Pattern[str], expected: str = "") -> str | None:
        """What the pattern matches here, or its first group; else None, or a UserError that says what is expected."""
        self.at += len(self.text[self.at :]) - len(self.text[self.at :].lstrip())
        match = re.compile(pattern).match(self.text, self.at)
        if match:
            self.at = match.end()
            return match[match.re.groups and 1] or ""
        if not expected:
            return None
        shown = "".join(one if one.isprintable() else " " for one in self.text)
        at = f"at character {self.at + 1}:\n  {shown}\n  {' ' * self.at}^"
        raise UserError(f"{self.where} {self.text!r}: expected {expected} {at}\n{_FORMS}")

    def need(self, pattern: str | re.Pattern[str], expected: str) -> str:
        return self.take(pattern, expected) or ""


def parsed(text: str, where: str = _WHERE) -> Gate:
    """A gate from its text, not yet held against the names of scores. where: of the text, for the error. UserError for
    another form, which points at the character."""
    source, metric, selectors = _Text(text, where), "", ""
    kind = MEAN if source.take(r"mean\s*\(") is not None else BOUND
    answers = kind == BOUND and (_ANSWERS.match(text.lstrip()) or text.lstrip().startswith("["))
    if not answers:
        name = r"[^\s\[<>()]+" if kind == MEAN else _NAME
        metric = source.need(name, "the name of a metric")
    selectors = source.take(r"\[(.+)\](?=\s*(?:\)|[<>]|every\s|at\s))") or ""
    if kind == MEAN:
        source.need(r"\)", "`)`")
    most = 0.0
    if kind == BOUND and source.take(r"every\s+answer(?!\w)") is not None:
        kind = EVERY
    elif kind == BOUND and source.take(r"at\s+most(?!\w)") is not None:
        kind, most = AT_MOST, float(source.need(_NUMBER, "a share such as 2 %"))
        if not 0 <= most < 100:
            raise UserError(
                f"{where} {text!r}: expected a share from 0 to below 100 %, found {most:g} %"
            )
        source.need("%", "`%`")
    if kind == BOUND and not metric:
        source.at = 0
        source.need(_NAME, "the name of a metric")
    sign = source.need(
        "[<>]=?" if kind == AT_MOST else "[<>]=",
        "<, <=, > or >=" if kind == AT_MOST else ">= or <=",
    )
    limit = float(source.need(_NUMBER, "a number"))
    source.need("$", "the end")
    if not math.isfinite(limit):
        raise UserError(f"{where} {text!r}: the limit is too large for a number")
    return Gate(kind, metric, selectors, None, sign, limit, most)


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
    names, found = list(known), []
    slices = dict.fromkeys(part for name in names if (part := without_slice(name)[1]))
    for text in texts:
        gate = parsed(text, where)
        part, system = _selector(gate.part, slices, where)
        metric = in_slice(canonical(gate.metric), part) if gate.metric else ""
        selected = (
            under(metric, names)
            if metric
            else [name for name in names if without_slice(name)[1] == part]
        )
        if not selected:
            raise UnknownName(f"metric in {where}", metric, names)
        ranges = [(bounds or {}).get(name, (None, None)) for name in selected]
        if all(_outside(gate.limit, *one) for one in ranges):
            shown = " to ".join("any number" if end is None else f"{end:g}" for end in ranges[0])
            raise UserError(f"{where} {text!r}: scores of {selected[0]} are from {shown}")
        found.append(replace(gate, metric=metric, part=part, system=system, scores=tuple(selected)))
    return found


def limits_of(texts: Iterable[str], where: str = _WHERE) -> frozenset[Limit]:
    """What `summarise` must count for the gates of these texts."""
    return frozenset(bad for text in texts if (bad := parsed(text, where).bad))


def _selector(text: str, slices: Collection[str], where: str) -> tuple[str, str | None]:
    """The slice and the system in `SYSTEM`, `FIELD=VALUE`, `system=SYSTEM` or several of these, as in
    `careful][lang=de`. UnknownName for a slice that does not exist."""
    part, system = "", None
    for one in text.split("][") if text else ():
        field, equals, value = one.partition("=")
        if one in slices:
            part = one
        elif equals and field == "system":
            system = value
        elif equals:
            shown = ", ".join(islice(slices, 10)) + (", …" if len(slices) > 10 else "")
            hint = f"The slices are {shown}." if slices else f"Cut the answers with --by {field}."
            raise UnknownName(
                f"slice in {where}", one, slices, f"{hint} A system is [system={one}]."
            )
        else:
            system = one
    return part, system


def _outside(limit: float, lo: float | None, hi: float | None) -> bool:
    return (lo is not None and limit < lo) or (hi is not None and limit > hi)


def refuse_unknown_systems(gates: Iterable[Gate], systems: Iterable[str]) -> None:
    """UnknownName for a gate on a system that does not exist."""
    known = list(dict.fromkeys(systems))
    for one in gates:
        if one.system is not None and one.system not in known:
            hint = f"The systems are {', '.join(known[:10])}{', …' if len(known) > 10 else ''}."
            raise UnknownName("system in --fail-under", one.system, known, hint)


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
        self.gates, self.own, self.cluster, self.by, self.max_unscored = (
            gates,
            own,
            cluster,
            by,
            max_unscored,
        )
        self._needed = {
            (gate, name): gate.needed(bounds[name]) for gate in gates for name in gate.scores
        }
        self._enough = max((count or 0 for count in self._needed.values()), default=0)
        self._clusters: dict[
            tuple[str, str], set[str]
        ] = {}  # score, system -> clusters, no more than enough
        self._rows, self._unscored = Counter[tuple[str, str]](), Counter[tuple[str, str]]()

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
            for key, unscored in (
                ((in_slice(one, part), system), no) for one, no in due(example) for part in parts
            ):
                if key[0] not in wanted:
                    continue
                seen = self._clusters.setdefault(key, set())
                self._rows[key] += 1
                self._unscored[key] += unscored
                if not unscored and len(seen) < self._enough:
                    seen.add(cluster)
        refuse_unknown_systems(self.gates, systems)

    def lines(self) -> list[tuple[str, bool]]:
        """A line for each gate, metric and system, and whether it can pass."""
        what = "answers" if self.cluster == QUESTION else f"clusters ({one_line(self.cluster)})"
        made = []
        for gate in self.gates:
            for (name, system), seen in self._clusters.items():
                if name not in gate.scores or gate.system not in (None, system):
                    continue
                needed, why = (
                    self._needed[gate, name],
                    self._too_many_unscored(gate, (name, system)),
                )
                if needed is None or len(seen) < needed:
                    missing = self._unscored[name, system]
                    why = f"; the file has {len(seen):,}{f', and {missing:,} with a missing input' if missing else ''}"
                line = f"{gate.rule(name)} for {one_line(system)}: {gate.remark(needed, what)}{why}"
                made.append((line, not why))
        return made

    def _too_many_unscored(self, gate: Gate, key: tuple[str, str]) -> str:
        rows, unscored = self._rows[key], self._unscored[key]
        allowed = gate.allowed(rows) if gate.bad else self.max_unscored * rows
        if unscored <= allowed:
            return ""
        most = (
            f"{allowed:,} may be"
            if gate.bad
            else f"more than the {share(self.max_unscored, 1)} of --max-unscored"
        )
        return f"; {unscored:,} of {rows:,} answers will be unscored, because an input is missing, {most}"

    def refuse_impossible(self) -> None:
        """UserError if a gate cannot pass with these examples, whatever their scores."""
        if lines := [line for line, possible in self.lines() if not possible]:
            shown = "\n  ".join(lines[:10]) + (
                f"\n  … and {len(lines) - 10} more" if len(lines) > 10 else ""
            )
            advice = "Add answers, lower the limit, or test the mean itself: mean(METRIC)>=NUMBER"
            seen = (
                (gate, key)
                for gate in self.gates
                for key in self._clusters
                if gate.system in (None, key[1])
            )
            if any(
                key[0] in gate.scores and self._too_many_unscored(gate, key) for gate, key in seen
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
    gates: Iterable[Gate], summary: Summary, max_unscored: float = MAX_UNSCORED
) -> list[Checked]:
    """The outcome for each gate, metric and system.

    On the bound, `>=` holds where the lower bound on the mean (`stats.gate`) reaches the limit, `<=` where the upper
    one does not pass it. For a metric without two bounds the end of the 95 % CI is used. Such a gate fails where there
    is no such end (fewer than two scores, or equal ones), where a score lies outside the metric's bounds, and where
    clusters of several scores amount to fewer than five effective ones.
    A gate on the mean or its bound fails where more than the share `max_unscored` of the rows are unscored, or where it
    would fail with unscored answers at the metric's bound (or the extreme score) on the side of the gate. A gate on
    single answers fails where it could if the unscored ones were scored, whatever their share.
    """
    checks = []
    for gate in gates:
        cells = [
            cell
            for cell in summary.cells
            if gate.selects(cell.metric) and gate.system in (None, cell.system)
        ]
        if not cells:
            why = f"not met: {gate}: {_no_rows(gate, summary)}"
            checks.append(Checked(gate.metric, gate.system or "", str(gate), NOT_MET, why))
        for cell in cells:
            facts = summary.facts[cell.metric]
            needed = gate.needed((facts.lo, facts.hi))
            result, why = _tested(gate, cell, max_unscored, summary)
            few = _too_few(gate, cell.bounded, needed, summary.clusters)
            why += (
                few or f"; {gate.remark(needed, summary.clusters if cell.clusters else 'answers')}"
            )
            rule = f"{gate.rule(cell.metric)} for {one_line(cell.system)}"
            line = f"{MET if result == MET else NOT_MET}: {rule}: {why}"
            checks.append(Checked(cell.metric, cell.system, rule, result, line, needed, bool(few)))
    return checks


def _no_rows(gate: Gate, summary: Summary) -> str:
    """Why a gate selects no cell, and the systems that it could name."""
    systems = dict.fromkeys(
        one_line(cell.system) for cell in summary.cells if gate.selects(cell.metric)
    )
    if gate.system is None or not systems:
        return "the run has no rows of this metric"
    shown = ", ".join([*islice(systems, 10)]) + (", …" if len(systems) > 10 else "")
    return f"no rows of the system {one_line(gate.system)}; the systems are {shown}"


def _tested(gate: Gate, cell: Cell, max_unscored: float, summary: Summary) -> tuple[str, str]:
    unscored = cell.n - cell.scored
    most = ", ".join(f"{why.count} {why.status}" for why in cell.unscored)
    if gate.bad:
        return _counted(gate, cell, most, summary.decimals(cell.metric))
    if unscored > max_unscored * cell.n:
        return UNSCORED, (
            f"{unscored} of {cell.n} rows ({share(unscored, cell.n)}) are unscored ({most}), "
            f"more than the {share(max_unscored, 1)} that --max-unscored allows"
        )
    if cell.mean is None:
        return NOT_MET, cell.reason if cell.scored else "no row is scored"
    above, scores, more, facts = gate.above, cell.bounded, "", summary.facts[cell.metric]
    over = f" over {cell.clusters} {summary.clusters}" if cell.clusters else ""
    if scores and scores.outside:
        return NOT_MET, (
            f"{scores.outside} of {cell.scored} scores lie outside the metric's bounds, {facts.lo:g} to {facts.hi:g} "
            f"(they are from {cell.least:g} to {cell.greatest:g}): the metric or its declared bounds must be corrected"
        )
    if gate.kind == MEAN:
        end, name = cell.mean, "mean"
    elif cell.effective is not None and (few := few_clusters(cell.effective)):
        return UNDECIDED, f"undecided: {few} ({cell.clusters} {summary.clusters})"
    elif scores is None:
        if cell.interval is None:
            return NOT_MET, f"no CI: {cell.reason}"
        end = cell.interval[0 if above else 1]
        name = f"end of the {interval_name(f'{cell.method}{over}')} (the metric has no bounds)"
    else:
        end = scores.lower() if above else scores.upper()
        name = f"bound ({100 * (1 - TAIL):g} %, Gaffke{over})"
    places = summary.decimals(cell.metric)

    def holds(end: float) -> bool:
        return end >= gate.limit if above else end <= gate.limit

    result, shown = (
        MET if holds(end) else NOT_MET,
        partial(_outwards, places=places + 1, down=above),
    )
    if unscored and result == MET:
        worst, counted = _with_unscored(gate, cell, end)
        if not holds(counted):
            result, more = (
                UNDECIDED,
                f"; undecided: with unscored answers as {worst:g} it is {shown(counted)}",
            )
    count = f"{cell.scored} of {cell.n} scored"
    if scores is not None and gate.kind != MEAN and result == NOT_MET and cell.interval is not None:
        near = cell.interval[0 if above else 1]
        if holds(near):  # the page shows the other interval
            more += (
                f"; the {interval_name(cell.method)} of the table ends at {shown(near)}, but it rests on the spread of "
                "these scores, and the bound holds for any scores within the metric's bounds"
            )
    if gate.kind == MEAN:
        return result, f"the mean is {shown(end)} ({count}){more}"
    return result, (
        f"the {'lower' if above else 'upper'} {name} is {shown(end)} (mean {fixed(cell.mean, places)}, {count}){more}"
    )


def _counted(gate: Gate, cell: Cell, unscored: str, places: int) -> tuple[str, str]:
    """The outcome of a gate on single answers. unscored: how many are, by status."""
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
    of = f"{bad.count} of {cell.n} answers {are}{f' ({shown})' if shown else ''}"
    of += f", {allowed} may be" if gate.kind == AT_MOST else ""
    if bad.count > allowed:
        return NOT_MET, of + (f"; {left} unscored ({unscored})" if left else "")
    if bad.count + left > allowed or not cell.scored:
        return (
            UNSCORED,
            f"{of}, but {left} {'is' if left == 1 else 'are'} unscored ({unscored}) and may be, too",
        )
    return MET, of + (f"; {left} unscored ({unscored})" if left else "")


def _with_unscored(gate: Gate, cell: Cell, end: float) -> tuple[float, float]:
    """What an unscored answer counts as where it is the worst for the gate, and the bound or mean then, each such
    answer a cluster of its own. Without bounds it is the worst score, and the end moves as the mean does."""
    unscored = cell.n - cell.scored
    if cell.bounded is None or gate.kind == MEAN:
        extreme = (cell.least if gate.above else cell.greatest) or 0.0
        worst = (
            extreme if cell.bounded is None else cell.bounded.lo if gate.above else cell.bounded.hi
        )
        return worst, (cell.scored * end + unscored * worst) / cell.n
    scores = deepcopy(cell.bounded)
    worst = scores.lo if gate.above else scores.hi
    for _ in range(unscored):
        scores.add(worst)
    return worst, scores.lower() if gate.above else scores.upper()


def _too_few(gate: Gate, scores: BoundedScores | None, needed: int | None, clusters: str) -> str:
    """What to say where the limit could not be reached by this many scores even if all were perfect."""
    if gate.kind != BOUND or not scores or scores.outside:
        return ""
    perfect = f"even if all are {scores.hi if gate.above else scores.lo:.2f}"
    if needed is None:
        return f"; no number of scores can show {gate.limit:g}, {perfect}"
    if needed > scores.clusters:
        one = f"score{'s' * (scores.n != 1)}"
        these = f"{scores.clusters} {one if scores.clusters == scores.n else clusters}"
        return f"; {these} cannot show {gate.limit:g} {perfect}: at least {needed:,} are needed"
    return ""


def _outwards(end: float, places: int, down: bool) -> str:
    """An end rounded away from the mean, so that it never looks as if it reached a limit that it does not."""
    step = 10.0**-places
    near = round(end, places)
    off = near > end + step / 1e6 if down else near < end - step / 1e6
    return fixed(near + (-step if down else step) * off, places)

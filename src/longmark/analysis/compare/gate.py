"""`compare --fail-if-worse`: is a system worse than the first one, on any metric with a direction?

Without a margin a system is worse if the difference is significant: the p that decides is at most alpha over all pairs
and metrics. With a margin it is worse if `margin` says so; a difference within the margin passes. A comparison is
decided if the system is not worse by the margin or more (equivalent, better, non-inferior); anything else is undecided,
and passes unless a decision is required. A system that cannot be tested against the first one does not pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from longmark.analysis.compare.comparison import Comparison
from longmark.analysis.compare.margin import EQUIVALENT
from longmark.errors import UserError
from longmark.report.format import fixed


@dataclass(frozen=True, slots=True)
class Checked:
    """A system against the first on a metric. result: `worse`, `undecided`, `not tested` or `ok`; line: for people."""

    result: str
    line: str


def against_first(found: Comparison, *, require_decision: bool = False) -> list[Checked]:
    """Every system against the first one. UserError if nothing was compared, or for a decision without a margin."""
    if require_decision and not found.margins:
        raise UserError("--require-decision needs a margin: add --margin NUMBER")
    checked = list(_checked(found, require_decision))
    if all(one.result == "not tested" for one in checked):
        if all(metric.facts.higher_is_better is None for metric in found.metrics):
            raise UserError(
                "--fail-if-worse: the direction of no compared metric is known; for scores made elsewhere, add "
                "--higher METRIC or --lower METRIC"
            )
        raise UserError("--fail-if-worse: no metric with a direction has a test; a test needs three common questions")
    return checked


def _checked(found: Comparison, require_decision: bool) -> Iterator[Checked]:
    base = found.systems[0]
    conclusions = {(one.metric, one.first, one.second): one for one in found.margins}
    for name, why in found.left_out:
        yield Checked("not tested", f"not tested: {name}: {why}")
    for metric in found.metrics:
        if metric.facts.higher_is_better is None:
            continue
        pairs = [{pair.first, pair.second} for pair in metric.pairs if pair.p is not None]
        tested = {name for pair in pairs if base in pair for name in pair}
        for name in found.systems[1:]:
            if name not in tested:
                yield Checked(
                    "not tested", f"not tested: {metric.metric}, {name} against {base}: too few common scores"
                )
        for pair in metric.pairs:
            if base not in (pair.first, pair.second) or pair.p is None:
                continue
            other, ahead = (pair.second, False) if pair.first == base else (pair.first, True)
            decision = conclusions.get((metric.metric, pair.first, pair.second))
            difference, passed = (decision or pair).difference, True
            if decision is None:
                worse = pair.better == base
            else:
                worse = decision.conclusion == ("worse" if ahead else "better")
                fine = ("better", "non-inferior") if ahead else ("worse", "non-superior")
                passed = not require_decision or decision.conclusion in (EQUIVALENT, *fine)
            result = "worse" if worse else "ok" if passed else "undecided"
            shown = f"{pair.first} - {pair.second} = {fixed(difference.value, metric.places)}"
            if difference.ends:
                shown += f" [{', '.join(fixed(end, metric.places) for end in difference.ends)}]"
            yield Checked(result, f"{result}: {metric.metric}, {other} against {base}: {shown}")

"""`compare --fail-if-worse`: the assertion `SYSTEM no worse than FIRST` of each system, on any metric with a
direction; where primary metrics were named, on any of these.

The results, of which only `ok` passes, in the order in which they are tried:

    not tested   the system or the first one has no scores, or there are fewer than three common questions
    worse        without a margin: the difference is significant (the p that decides is at most alpha over the pairs
                 with the first system); with a margin: `margin` says so
    unscored     the share of unscored answers of the system is larger than that of the first one, by more than allowed
    undecided    the readings with and without unscored answers disagree (also where only the first system has any; with
                 a margin: and do not both find that the system is not worse by it), or there are too few questions to
                 find any difference; with a decision required, also whatever is not equivalent, better or non-inferior
    ok           anything else: a difference was not found, or lies within the margin
"""

from __future__ import annotations

from collections.abc import Iterator

from longmark.analysis.compare.comparison import Comparison
from longmark.analysis.compare.margin import EQUIVALENT, UNDECIDED, Decision
from longmark.analysis.compare.results import MetricResult, PairResult
from longmark.assertions.grammar import NO_WORSE, PairAssertion
from longmark.assertions.result import Checked
from longmark.errors import UserError
from longmark.options import named
from longmark.records.metric_name import without_slice
from longmark.report.format import fixed, share

_ROUNDING = 1e-12
_WORDS = {
    "ok": "met",
    "worse": "not met (worse)",
    "unscored": "undecided (unscored)",
}
"""A result as the line says it, where the word alone would not say whether the assertion is met."""


def against_first(
    comparison: Comparison, *, require_decision: bool = False, max_unscored: float = 0.0
) -> list[Checked]:
    """Every system against the first one. max_unscored: by how much its share of unscored answers may be larger.
    UserError if nothing was compared, or for a decision without a margin."""
    if require_decision and not comparison.margins:
        raise UserError(
            f"{named('require_decision')} needs a margin: add {named('margin', 'NUMBER')}"
        )
    checked = list(_checked(comparison, require_decision, max_unscored))
    if all(check.result == "not tested" for check in checked):
        if all(metric.facts.higher_is_better is None for metric in comparison.deciding):
            raise UserError(
                f"{named('fail_if_worse')}: the direction of no compared metric is known; for scores made elsewhere, add "
                f"{named('higher', 'METRIC')} or {named('lower', 'METRIC')}"
            )
        why = "; ".join(check.line.removeprefix("not tested: ") for check in checked[:3])
        and_more = f"; {len(checked) - 3} more" if len(checked) > 3 else ""
        raise UserError(
            f"{named('fail_if_worse')}: no metric with a direction has a test: {why}{and_more}"
        )
    return checked


def _checked(
    comparison: Comparison, require_decision: bool, max_unscored: float
) -> Iterator[Checked]:
    base = comparison.systems[0]
    decisions = {
        (margin.metric, margin.first, margin.second): margin for margin in comparison.margins
    }
    for name, why in comparison.left_out:
        if comparison.primary and name not in comparison.primary:
            continue
        yield Checked(name, "", name, "not tested", f"not tested: {name}: {why}")
    for metric in comparison.deciding:
        if metric.facts.higher_is_better is None:
            continue
        pairs = {
            ({pair.first, pair.second} - {base}).pop(): pair
            for pair in metric.pairs
            if base in pair.names
        }
        for name in comparison.systems[1:]:
            pair = pairs.get(name)
            rule = _rule(comparison, metric.metric, name, require_decision=require_decision)
            if pair is None or pair.p is None:
                why = (pair and pair.difference.reason) or "too few common scores"
                line = f"not tested: {rule}: {why}"
                yield Checked(metric.metric, name, rule, "not tested", line, reason=why)
                continue
            decision = decisions.get((metric.metric, pair.first, pair.second))
            result, reason = result_of(
                metric,
                pair,
                base,
                decision,
                require_decision=require_decision,
                max_unscored=max_unscored,
            )
            difference = (decision or pair).difference
            difference_words = (
                f"{pair.first} - {pair.second} = {fixed(difference.value, metric.places)}"
            )
            if difference.ends:
                difference_words += (
                    f" [{', '.join(fixed(end, metric.places) for end in difference.ends)}]"
                )
            if result == "ok" and reason is None:
                reason = _what_was_seen(pair, decision, metric.places)
            line = f"{_WORDS.get(result, result)}: {rule}: {difference_words}{f' ({reason})' if reason else ''}"
            yield Checked(
                metric.metric,
                name,
                rule,
                result,
                line,
                scored=difference.n,
                rows=difference.n + difference.missing,
                reason=reason or "",
            )


def _what_was_seen(pair: PairResult, decision: Decision | None, places: int) -> str | None:
    """What a difference that was not found says: how large one would have been found. None where the difference is
    shown to lie within the margin, or to be on the better side."""
    is_decided = decision is not None and decision.conclusion != UNDECIDED
    detectable = pair.difference.detectable
    if is_decided or pair.significant or detectable is None:
        return None
    return f"a difference of {fixed(detectable, places)} would be found with 80 % power, smaller ones less often"


def _rule(comparison: Comparison, metric: str, name: str, *, require_decision: bool) -> str:
    """The assertion that is tested. It names the margin where it is to be shown that the difference is within it."""
    whole, part = without_slice(metric)
    margins = {margin.metric: margin.margin for margin in comparison.margins}
    margin = margins.get(metric) if require_decision else None
    base = comparison.systems[0]
    return str(PairAssertion(name, NO_WORSE, base, whole, margin, (part,) if part else ()))


def result_of(
    metric: MetricResult,
    pair: PairResult,
    base: str,
    decision: Decision | None,
    *,
    require_decision: bool = False,
    max_unscored: float = 0.0,
) -> tuple[str, str | None]:
    """The result of a pair that has a test, and why if it needs words."""
    first = ("better", "non-inferior")
    second = ("worse", "non-superior")
    worse, fine = (first[0], second) if pair.first == base else (second[0], first)
    if pair.better == base if decision is None else decision.conclusion == worse:
        return "worse", None
    own, base_system = sorted(
        (system for system in metric.systems if system.system in pair.names),
        key=lambda system: system.system == base,
    )
    if own.silent / own.asked > base_system.silent / base_system.asked + max_unscored + _ROUNDING:
        allowed = f"at most {share(max_unscored, 1)} more" if max_unscored else "no more"
        return "unscored", (
            f"{own.silent:,} of {own.asked:,} answers of {own.system} are unscored, {base_system.silent:,} of "
            f"{base_system.asked:,} of {base}; --max-unscored allows {allowed}"
        )
    if pair.few:
        return UNDECIDED, pair.few
    if decision is None:
        return (UNDECIDED, pair.undecided) if pair.undecided else ("ok", None)
    open_ = decision.conclusion not in (EQUIVALENT, *fine)
    disagree = worse in decision.words or len({*decision.words}) > 1
    reason = decision.reason
    if open_ and reason is None:
        reason = f"not shown to be less than {decision.margin:g} worse; more questions may show it"
    return (UNDECIDED if open_ and (require_decision or disagree) else "ok"), reason

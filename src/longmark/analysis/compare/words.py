"""A comparison in sentences: the difference with its interval and p; or why there is none, and what was detectable."""

from __future__ import annotations

from collections.abc import Sequence

from longmark.analysis.compare.reach import FEWEST_NORMAL
from longmark.analysis.compare.results import Comparison, MetricComparison, PairOnMetric
from longmark.report.format import fixed, listed, p_value
from longmark.stats.bootstrap import FEWEST_BCA
from longmark.stats.results import GREATER, LESS, HypothesisResult


def finding(one: MetricComparison, whole: Comparison) -> str:
    """A metric in a sentence or two."""
    if all(pair.p is None for pair in one.pairs):
        return f"Not tested: {one.reason}."
    return _of_pair(one.pairs[0], one, whole) if len(one.systems) == 2 else _of_several(one, whole)


def conclusion(one: MetricComparison) -> str:
    """A metric in a few words."""
    if all(pair.p is None for pair in one.pairs):
        return f"not tested: {one.reason}"
    if one.beyond_reach:
        return f"no difference detectable: {one.beyond_reach}"
    found = [pair for pair in one.pairs if pair.significant]
    if not found:
        return "no significant difference"
    best = one.systems[0].system
    over = [pair.second for pair in found if pair.first == best]
    way = "higher" if one.facts.higher_is_better is None else "better"
    if len(one.systems) == 2:
        return f"{best} is {way}"
    return f"{best} is {way} than {listed(over)}" if over else f"{found[0].first} is {way} than {found[0].second}"


def summary(whole: Comparison) -> str:
    """How many comparisons are significant; where nothing was tested, why."""
    if not whole.comparisons:
        return f"Nothing was tested. {'; '.join(f'{one.metric}: {one.reason}' for one in whole.metrics)}."
    found = sum(pair.significant for one in whole.metrics for pair in one.pairs)
    verb = "shows" if found == 1 else "show"
    return (
        f"{found:,} of {whole.comparisons:,} comparisons {verb} a significant difference (alpha {whole.alpha:g}, "
        "adjusted)."
    )


def made(whole: Comparison) -> str:
    """The settings, for the note of each table."""
    return (
        f"Settings: alpha {whole.alpha:g}; {percent(whole.level)} CI, {whole.resamples:,} resamples; "
        f"{whole.permutations:,} permutations per test, small tables enumerated; seed {whole.seed}; longmark "
        f"{whole.longmark}."
    )


def direction(one: MetricComparison) -> str:
    """Which direction of a metric is better."""
    if not one.described:
        return "unknown"
    return {True: "higher", False: "lower", None: "neither"}[one.facts.higher_is_better]


def in_groups(one: MetricComparison) -> str:
    """Which systems do not differ significantly, for the figure of a ranking."""
    if not one.groups:
        return f"Not ranked: {one.reason}." if one.reason else ""
    alone = [group[0] for group in one.groups if len(group) == 1]
    together = [listed(group) for group in one.groups if len(group) > 1]
    parts = [f"No significant difference: {'; '.join(together)}."] if together else []
    if alone:
        parts.append(f"{listed(alone)} {'differs' if len(alone) == 1 else 'each differ'} from every other system.")
    return " ".join(parts)


def significant_pairs(one: MetricComparison) -> str:
    """How many pairs differ, and the largest difference, for the figure of differences."""
    differ = [pair for pair in one.pairs if pair.significant and pair.difference.value is not None]
    if not differ:
        return f"None of {len(one.pairs):,} pairs differs significantly.{_zero_excluded(one)}" if one.pairs else ""
    widest = max(differ, key=lambda pair: abs(pair.difference.value or 0.0))
    return (
        f"{len(differ):,} of {len(one.pairs):,} pairs {'differs' if len(differ) == 1 else 'differ'} significantly; "
        f"largest: {widest.first} - {widest.second} = {fixed(widest.difference.value, one.places)}."
        f"{_zero_excluded(one)}"
    )


def most_won(one: MetricComparison) -> str:
    """The pair that is furthest from even, for the figure of questions won."""
    known = [pair for pair in one.pairs if pair.share.value is not None]
    if not known:
        return ""
    most = max(known, key=lambda pair: abs((pair.share.value or 0.5) - 0.5))
    what = "is higher" if one.facts.higher_is_better is None else "wins"
    turned = (most.share.value or 0.5) < 0.5
    first, second, won = (most.second, most.first, most.lost) if turned else (most.first, most.second, most.won)
    return f"Furthest from even: {first} {what} on {won:,} of {one.common:,} questions against {second}."


def percent(level: float) -> str:
    return f"{100 * level:.4g} %"


def hypothesis(one: HypothesisResult, beyond: str | None) -> str:
    """Whether it is supported. beyond: why it could not have been (`reach.claims_beyond_reach`)."""
    if one.reason is not None:
        return f"{one.name}: not tested: {one.reason}."
    number = len(one.comparisons)
    claim = {GREATER: "first above second", LESS: "first below second"}.get(one.direction, "first and second differ")
    verdict = "supported" if one.supported else "not supported (this does not prove it wrong)"
    if beyond:
        verdict = f"not supported, and could not have been ({beyond})"
    return (
        f"{one.name}: {verdict}. It requires {'all' if one.combine == 'all' else 'at least one'} of {number} "
        f"comparison{'s' if number > 1 else ''} ({claim}); {p_value(one.adjusted)} after Holm over the hypotheses."
    )


def _of_pair(pair: PairOnMetric, one: MetricComparison, whole: Comparison) -> str:
    difference = f"{pair.first} - {pair.second} = {_difference(pair, one, whole)}"
    if not pair.significant:
        return (
            f"No significant difference between {pair.first} and {pair.second} on {one.metric}: {difference}."
            f"{_zero_excluded(one)} {_detectable(one, [pair])}"
        )
    best = pair.first if one.facts.higher_is_better is not None else ""
    better = f"{direction(one).capitalize()} is better: {best} is better."
    if not best:
        better = "Neither direction of this metric is better."
        if not one.described:
            better = "The better direction is unknown: no run has a manifest that describes the metric."
    way = "higher" if (pair.difference.value or 0.0) > 0 else "lower"
    return f"{pair.first} is {way} than {pair.second} on {one.metric}: {difference}. {better}"


def _of_several(one: MetricComparison, whole: Comparison) -> str:
    best, count = one.systems[0], len(one.systems)
    mean = fixed(best.common.value, one.places)
    tied = [other.system for other in one.systems[1:] if fixed(other.common.value, one.places) == mean]
    over = [pair.second for pair in one.pairs if pair.first == best.system and pair.significant]
    like = [pair.second for pair in one.pairs if pair.first == best.system and not pair.significant]
    directed = one.facts.higher_is_better is not None
    said = f"{best.system} has the {'best' if directed else 'highest'} mean of {count} systems ({mean}"
    said += f"; {listed(tied)} {'has' if len(tied) == 1 else 'have'} the same to these digits)" if tied else ")"
    said += f"; significantly {'better' if directed else 'higher'} than {listed(over)}" if over else ""
    said += f"; no significant difference from {listed(like)}" if like else ""
    found = sum(pair.significant for pair in one.pairs)
    said += f". {found} of {len(one.pairs)} pairs differ significantly."
    widest = max(one.pairs, key=lambda pair: abs(pair.difference.value or 0.0))
    if widest.significant:
        said += f" Largest: {widest.first} - {widest.second} = {_difference(widest, one, whole)}."
    rest = [pair for pair in one.pairs if not pair.significant]
    return f"{said} {_detectable(one, rest)}" if rest else said


def _difference(pair: PairOnMetric, one: MetricComparison, whole: Comparison) -> str:
    """`0.12 (95 % CI 0.04 to 0.20; p = 0.004, adjusted for 15 comparisons; n = 40 questions)`."""
    low, high = pair.difference.low, pair.difference.high
    ends = ""
    if low is not None and high is not None:
        ends = f"{percent(whole.level)} CI {fixed(low, one.places)} to {fixed(high, one.places)}; "
    several = f", adjusted for {whole.comparisons:,} comparisons" if whole.comparisons > 1 else ""
    p = "no p" if pair.p is None else f"{p_value(pair.p)}{several}"
    return f"{fixed(pair.difference.value, one.places)} ({ends}{p}; n = {one.common:,} questions)"


def _detectable(one: MetricComparison, pairs: Sequence[PairOnMetric]) -> str:
    """Which true difference the test would detect; why none, where there is none."""
    if one.beyond_reach:
        return f"{one.beyond_reach[0].upper()}{one.beyond_reach[1:]}."
    sizes = [pair.detectable for pair in pairs if pair.detectable is not None]
    if not sizes:
        return "The difference detectable at 80 % power cannot be computed from these scores."
    least, most = fixed(min(sizes), one.places), fixed(max(sizes), one.places)
    size = least if least == most else f"{least} to {most}"
    optimistic = f" (normal theory; optimistic below {FEWEST_NORMAL} questions)" if one.common < FEWEST_NORMAL else ""
    return f"Detectable at 80 % power: {size}{optimistic}."


def _zero_excluded(one: MetricComparison) -> str:
    """How to read intervals that exclude 0 beside a p above alpha; nothing where there are none."""
    odd = [
        pair
        for pair in one.pairs
        if not pair.significant
        and pair.p is not None
        and ((pair.difference.low or 0) > 0 or (pair.difference.high or 0) < 0)
    ]
    if not odd:
        return ""
    why = "assume normal differences" if one.common < FEWEST_BCA else "are not adjusted"
    which = "1 interval excludes" if len(odd) == 1 else f"{len(odd):,} intervals exclude"
    return f" {which} 0 although p is above alpha: use p (the intervals {why})."

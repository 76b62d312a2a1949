"""What a comparison says, in sentences: the difference with its certainty, or why none was shown and what could have
been."""

from __future__ import annotations

from collections.abc import Sequence

from longmark.compare.reach import FEWEST_NORMAL
from longmark.compare.results import Comparison, MetricComparison, PairOnMetric
from longmark.report.numbers import fixed, p_value
from longmark.report.words import listed
from longmark.stats.bootstrap import FEWEST_BCA
from longmark.stats.results import GREATER, LESS, HypothesisResult


def finding(one: MetricComparison, whole: Comparison) -> str:
    """The sentence (or two) of a metric."""
    if all(pair.p is None for pair in one.pairs):
        return f"Not tested: {one.reason}."
    if len(one.systems) == 2:
        return _of_pair(one.pairs[0], one, whole)
    return _of_several(one, whole)


def point(one: MetricComparison, whole: Comparison) -> str:
    """The finding with its metric, where the sentence does not name it."""
    said = finding(one, whole)
    return said if one.metric in said else f"{one.metric}: {said}"


def summary(whole: Comparison) -> str:
    """How many comparisons show a difference; where there are none, why."""
    if not whole.comparisons:
        return f"Nothing was tested. {'; '.join(f'{one.metric}: {one.reason}' for one in whole.metrics)}."
    found = sum(pair.significant for one in whole.metrics for pair in one.pairs)
    verb = "shows" if found == 1 else "show"
    return f"{found:,} of {whole.comparisons:,} comparisons {verb} a difference at alpha {whole.alpha:g}, corrected."


def made(whole: Comparison) -> str:
    """The settings that a table by itself must tell."""
    return (
        f"Made with alpha {whole.alpha:g}; intervals at {percent(whole.level)}, {whole.resamples:,} resamples; "
        f"{whole.permutations:,} draws a test, small tables enumerated; seed {whole.seed}; longmark {whole.longmark}."
    )


def direction(one: MetricComparison) -> str:
    """Which end of a metric is better."""
    if not one.described:
        return "not known"
    return {True: "higher", False: "lower", None: "neither"}[one.facts.higher_is_better]


def in_groups(one: MetricComparison) -> str:
    """What the figure of a ranking shows: which systems cannot be told apart."""
    if not one.groups:
        return f"Nothing is said of who is above whom: {one.reason}." if one.reason else ""
    alone = [group[0] for group in one.groups if len(group) == 1]
    together = [listed(group) for group in one.groups if len(group) > 1]
    said = []
    if together:
        said.append(f"Not to be told apart: {'; '.join(together)}.")
    if alone:
        said.append(f"{listed(alone)} {'differs' if len(alone) == 1 else 'each differ'} from every other system.")
    return " ".join(said)


def told_apart(one: MetricComparison) -> str:
    """What the figure of differences shows: how many pairs differ, and the widest of these differences."""
    differ = [pair for pair in one.pairs if pair.significant and pair.difference.value is not None]
    if not differ:
        return f"None of {len(one.pairs):,} pairs differs, corrected.{_zero_left_out(one)}" if one.pairs else ""
    widest = max(differ, key=lambda pair: abs(pair.difference.value or 0.0))
    size = fixed(widest.difference.value, one.places)
    return (
        f"{len(differ):,} of {len(one.pairs):,} pairs {'differs' if len(differ) == 1 else 'differ'}, corrected; most "
        f"{widest.first} - {widest.second}, by {size}.{_zero_left_out(one)}"
    )


def most_won(one: MetricComparison) -> str:
    """What the figure of questions shows: the pair that is furthest from even."""
    known = [pair for pair in one.pairs if pair.share.value is not None]
    if not known:
        return ""
    most = max(known, key=lambda pair: abs((pair.share.value or 0.5) - 0.5))
    what = "is higher" if one.facts.higher_is_better is None else "wins"
    turned = (most.share.value or 0.5) < 0.5
    first, second, won = (most.second, most.first, most.lost) if turned else (most.first, most.second, most.won)
    return f"Furthest from even: {first} {what} on {won:,} of {one.common:,} questions against {second}."


def p_in_words(p: float | None, comparisons: int) -> str:
    """`p = 0.004 corrected for 15 comparisons`."""
    if p is None:
        return "no p"
    return p_value(p) if comparisons == 1 else f"{p_value(p)} corrected for {comparisons:,} comparisons"


def percent(level: float) -> str:
    return f"{100 * level:.4g} %"


def hypothesis(one: HypothesisResult, beyond: str | None) -> str:
    """Whether it is supported, and by what. beyond: why nothing could have (`reach.claims_beyond_reach`)."""
    if one.reason is not None:
        return f"{one.name}: not tested, for {one.reason}."
    number = len(one.comparisons)
    needed = "each of" if one.combine == "all" else "one or more of"
    claim = {GREATER: "the first above the second", LESS: "the first below the second"}.get(one.direction, "differ")
    verdict = "supported" if one.supported else "not supported (which does not prove it wrong)"
    if beyond:
        verdict = f"not supported, and nothing could have supported it ({beyond})"
    return (
        f"{one.name}: {verdict}. It claims {needed} {number} comparison{'s' if number > 1 else ''} ({claim}); "
        f"{p_in_words(one.adjusted, 1)} after Holm over the hypotheses."
    )


def _of_pair(pair: PairOnMetric, one: MetricComparison, whole: Comparison) -> str:
    figures = _figures(pair, one, whole)
    difference = pair.difference.value or 0.0
    if not pair.significant:
        return (
            f"No difference between {pair.first} and {pair.second} was shown on {one.metric}: {pair.first} - "
            f"{pair.second} is {fixed(difference, one.places)} ({figures}).{_zero_left_out(one)} That is no proof of "
            f"equality: {_would_be_found(one, [pair])}"
        )
    way = "above" if difference > 0 else "below"
    size = fixed(abs(difference), one.places)
    ends = _ends(pair, one, whole, turned=difference < 0)
    return (
        f"{pair.first} is {way} {pair.second} on {one.metric} by {size} ({ends}{_p_and_n(pair, one, whole)}). "
        f"{_better(one, pair)}"
    )


def _better(one: MetricComparison, pair: PairOnMetric) -> str:
    if one.facts.higher_is_better is None:
        if not one.described:
            return "Which end of it is better is not known: no run has a manifest that describes it."
        return "Neither end of this metric is better."
    return f"{direction(one).capitalize()} is better: {pair.first} is better."


def _of_several(one: MetricComparison, whole: Comparison) -> str:
    best, count = one.systems[0], len(one.systems)
    mean = fixed(best.common.value, one.places)
    alike = [other.system for other in one.systems[1:] if fixed(other.common.value, one.places) == mean]
    over = [pair.second for pair in one.pairs if pair.first == best.system and pair.significant]
    like = [pair.second for pair in one.pairs if pair.first == best.system and not pair.significant]
    directed = one.facts.higher_is_better is not None
    parts = [f"{best.system} has the {'best' if directed else 'highest'} mean of {count} systems ({mean}"]
    parts.append(f"; to these digits {listed(alike)} {'has' if len(alike) == 1 else 'have'} it too)" if alike else ")")
    if over:
        parts.append(f"; it is {'better than' if directed else 'above'} {listed(over)}")
    if like:
        parts.append(f"; it cannot be told apart from {listed(like)}")
    found = sum(pair.significant for pair in one.pairs)
    ends = f"Of {len(one.pairs)} pairs, {found or 'none'} differ{'s' if found == 1 else ''}."
    widest = max(one.pairs, key=lambda pair: abs(pair.difference.value or 0.0))
    if widest.significant:
        ends += (
            f" The widest difference: {widest.first} - {widest.second} = "
            f"{fixed(widest.difference.value, one.places)} ({_figures(widest, one, whole)})."
        )
    if rest := [pair for pair in one.pairs if not pair.significant]:
        which = "any" if not found else "the other one" if len(rest) == 1 else f"the other {len(rest)}"
        ends += f" That no difference was shown for {which} is no proof of equality: {_would_be_found(one, rest)}"
    return f"{''.join(parts)}. {ends}"


def _figures(pair: PairOnMetric, one: MetricComparison, whole: Comparison) -> str:
    return _ends(pair, one, whole, turned=False) + _p_and_n(pair, one, whole)


def _ends(pair: PairOnMetric, one: MetricComparison, whole: Comparison, turned: bool) -> str:
    """The interval, or nothing; turned: of second - first."""
    low, high = pair.difference.low, pair.difference.high
    if low is None or high is None:
        return ""
    if turned:
        low, high = -high, -low
    return f"{percent(whole.level)} interval {fixed(low, one.places)} to {fixed(high, one.places)}; "


def _p_and_n(pair: PairOnMetric, one: MetricComparison, whole: Comparison) -> str:
    return f"{p_in_words(pair.p, whole.comparisons)}; n = {one.common:,} questions"


def _would_be_found(one: MetricComparison, pairs: Sequence[PairOnMetric]) -> str:
    if one.beyond_reach:
        return f"{one.beyond_reach}."
    sizes = [pair.detectable for pair in pairs if pair.detectable is not None]
    if not sizes:
        return "which difference would have been found cannot be told from these values."
    least, most = fixed(min(sizes), one.places), fixed(max(sizes), one.places)
    size = f"a true difference of {least}" if least == most else f"true differences of {least} to {most}"
    hopeful = "" if one.common >= FEWEST_NORMAL else f" (by normal theory, too hopeful below {FEWEST_NORMAL} questions)"
    return f"with these questions {size} would be found four times in five{hopeful}, smaller ones less often."


def _zero_left_out(one: MetricComparison) -> str:
    """How intervals that leave 0 out are to be read where no difference was shown; nothing where there are none."""
    odd = [
        pair
        for pair in one.pairs
        if not pair.significant
        and pair.p is not None
        and ((pair.difference.low or 0) > 0 or (pair.difference.high or 0) < 0)
    ]
    if not odd:
        return ""
    why = "rest on normal theory for so few questions" if one.common < FEWEST_BCA else "are for a pair alone"
    which = "1 interval leaves" if len(odd) == 1 else f"{len(odd):,} intervals leave"
    return f" {which} 0 out beside a p above alpha: go by p (intervals {why})."

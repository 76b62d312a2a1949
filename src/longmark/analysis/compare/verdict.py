"""The first sentence on two systems: which is better, by how much, or what would show it.

It speaks of the primary metrics where some were named, and of those with a direction (of all, where none has one), in
this order:

1. shown: every metric on which one system is significantly better, with the difference and its interval. The figures
   are those of the table and of the figure, with the same sign: the first of them says which system is subtracted;
2. probable: nothing is shown, and the smallest p that decides is at most `PROBABLE`. About how many more questions would
   show it follows from the difference that the test detects with a power of 80 % (`PairDifference.detectable`, d) and
   the one that was seen (s): n (d / s)^2 in all, since a detectable difference shrinks with the root of n;
3. neither: how large a difference can still be, by the ends of the simultaneous intervals.

The p are adjusted for all comparisons, so that "probably" is not what the best of many metrics happens to say: if no
system were better on any metric, one comparison in five would say it, or fewer.

How often it names the wrong system (`bench.verdict`, 2,000 samples, normal differences; design/verdict.md): with one
metric (or one primary metric) and a true difference of .1 standard deviations of the differences, "probably better" is
wrong in 4 % of samples with 20 questions and .2 % with 200 (of .05: 5 % and 1.6 %); "better" in at most 1.4 % of either.
With sixteen metrics of which one differs by that much, "probably" names a metric without a true difference in about 14 %
of samples, at any of these n: name primary metrics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from longmark.analysis.compare.comparison import Comparison
from longmark.analysis.compare.results import MetricResult, PairResult
from longmark.report.format import counted, fixed, listed, metric_titles, p_value

PROBABLE = 0.2
"""Adjusted p up to which a system is probably better."""
_MOST_NAMED = 4
"""Metrics that the sentence names; of more, one less and how many more there are."""
_MOST_QUESTIONS = 100_000
"""Of more no number is named: the difference is as good as nothing."""


def verdict(comparison: Comparison) -> str:
    """The sentence; "" where there are not two systems, or no metric has a test that could have shown a difference."""
    if len(comparison.systems) != 2:
        return ""
    tested = [metric for metric in comparison.deciding if _can_decide(metric)]
    directed = [
        metric
        for metric in tested
        if metric.facts.higher_is_better is not None
        if not metric.facts.descriptive
    ]
    metrics = directed or tested
    if not metrics:
        return ""
    titles = metric_titles(metric.metric for metric in comparison.metrics)
    named_limit = _MOST_NAMED
    if comparison.primary:  # who named them wants to read of each
        titles = {name: f"{title} (primary)" for name, title in titles.items()}
        named_limit = len(metrics)
    decided = [metric for metric in metrics if metric.pairs[0].significant]
    if decided:
        return _decided(decided, titles, named_limit)
    open_metrics = [metric for metric in metrics if metric.pairs[0].undecided is None]
    if not open_metrics:
        return ""
    probable = min(open_metrics, key=lambda metric: metric.pairs[0].p or 0.0)
    if (probable.pairs[0].p or 0.0) <= PROBABLE:
        return _probable(probable, titles[probable.metric])
    return _at_most(open_metrics, titles, named_limit)


def _can_decide(metric: MetricResult) -> bool:
    return bool(metric.pairs) and metric.pairs[0].p is not None and not metric.undetectable


def _decided(metrics: Sequence[MetricResult], titles: dict[str, str], named_limit: int) -> str:
    """The metrics on which one is better, by the system: a system that is better on some may be worse on others."""
    by_system: dict[str, list[MetricResult]] = {}
    for metric in metrics:
        by_system.setdefault(f"{metric.pairs[0].better} is {metric.way} on ", []).append(metric)
    clauses = list[str]()
    for words, on_metrics in by_system.items():
        figures = [
            f"{titles[metric.metric]} ({_figures(metric, labelled=not clauses and place == 0)})"
            for place, metric in enumerate(on_metrics)
        ]
        clauses.append(words + listed(figures, named_limit))
    return f"{'; '.join(clauses)}."


def _probable(metric: MetricResult, title: str) -> str:
    pair = metric.pairs[0]
    ahead = _ahead(metric, pair)
    sentence = (
        f"{ahead} is probably {metric.way} on {title} ({_figures(metric)}, "
        f"{p_value(pair.p)}), which is not shown"
    )
    missing_questions = more_questions(pair)
    if missing_questions is None:
        return f"{sentence}."
    return f"{sentence}: about {counted(missing_questions, 'more question')} would show a difference of this size."


def more_questions(pair: PairResult) -> int | None:
    """About how many questions more would show the difference that was seen, with a power of 80 %; None where that
    cannot be said, or is more than a hundred thousand."""
    seen = pair.difference.value
    detectable = pair.difference.detectable
    if not seen or not detectable or pair.difference.clusters is not None:
        return None
    needed = pair.difference.n * (detectable / seen) ** 2
    missing_questions = math.ceil(needed) - pair.difference.n
    return missing_questions if 0 < missing_questions <= _MOST_QUESTIONS else None


def _at_most(metrics: Sequence[MetricResult], titles: dict[str, str], named_limit: int) -> str:
    limits = [
        f"{fixed(max(map(abs, ends)), metric.places)} on {titles[metric.metric]}"
        for metric in metrics
        if (ends := metric.pairs[0].difference.ends)
    ]
    if not limits:
        return ""
    return f"No difference is shown; any is at most {listed(limits, named_limit)}."


def _figures(metric: MetricResult, *, labelled: bool = True) -> str:
    """The difference with its interval, as in the table; labelled: which system is subtracted from which."""
    pair = metric.pairs[0]
    difference = pair.difference
    label = f"{pair.first} - {pair.second}: " if labelled else ""
    value = f"{label}{(difference.value or 0.0):+.{metric.places}f}"
    if difference.ends is None:
        return value
    return f"{value} [{', '.join(fixed(end, metric.places) for end in difference.ends)}]"


def _ahead(metric: MetricResult, pair: PairResult) -> str:
    """The system with the better mean; the higher one where neither direction is better."""
    higher = (pair.difference.value or 0.0) > 0
    first_ahead = higher if metric.facts.higher_is_better is not False else not higher
    return pair.first if first_ahead else pair.second

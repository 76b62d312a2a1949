"""A comparison as a document: sentences, tables, figures."""

from __future__ import annotations

from dataclasses import replace

from longmark.compare import figures, questions
from longmark.compare.reach import FEWEST_NORMAL, claims_beyond_reach
from longmark.compare.results import SEVERAL_SYSTEMS, TWO_SYSTEMS, Comparison, SystemOnMetric
from longmark.compare.words import direction, finding, hypothesis, made, percent, point, summary
from longmark.report.document import Document, Section
from longmark.stats.bootstrap import FEWEST_BCA
from longmark.stats.results import Estimate
from longmark.tables import Column, Range, Table

_FINDINGS = "findings"
_PAIR = (Column("metric"), Column("first"), Column("second"))
_NAMED = 8
"""Systems up to which the title names them."""


def document(found: Comparison) -> Document:
    """The page of a comparison."""
    names = ", ".join(found.systems) if len(found.systems) <= _NAMED else f"{len(found.systems)} systems"
    return Document(
        kind="comparison",
        title=f"Comparison of {names}",
        lede=f"{len(found.metrics)} metric{'s' if len(found.metrics) > 1 else ''}, paired by question.",
        sections=sections(found),
        notices=found.notices,
        settings=settings(found),
    )


def settings(found: Comparison) -> dict[str, object]:
    """How it was made."""
    return {
        "Runs": list(found.runs),
        "Compared by": found.by,
        "Systems": list(found.systems),
        "Test": f"{TWO_SYSTEMS} (two systems) or {SEVERAL_SYSTEMS} (more)",
        "Tables drawn for a test": found.permutations,
        "Correction": "Tukey's over the pairs of a metric, Holm's over the metrics",
        "Comparisons in the family": found.comparisons,
        "Alpha": found.alpha,
        "Intervals": f"{percent(found.level)}: BCa bootstrap over questions, {found.resamples:,} resamples; below "
        f"{FEWEST_BCA} questions Student's t (d_z: noncentral t; share won: Wilson)",
        "Seed": found.seed,
        "Marks made differently": list(found.differing),
    }


def sections(found: Comparison) -> tuple[Section, ...]:
    """What the marks say; means and ranking; differences; questions won; questions apart; what is left out."""
    parts = [Section("What the marks say", summary(found), points=[point(one, found) for one in found.metrics])]
    if found.hypotheses:
        parts.append(_hypotheses(found))
    parts += [_means(found), _differences(found), _wins(found), questions.apart(found), questions.left_out(found)]
    return tuple(parts)


def brief(whole: Document) -> Document:
    """What is printed: without the table of what the points already say."""
    shorter = [
        replace(one, tables=[table for table in one.tables if table.name != _FINDINGS]) for one in whole.sections
    ]
    return replace(whole, sections=shorter)


def _findings(found: Comparison) -> Table:
    rows = tuple((one.metric, direction(one), one.common, finding(one, found)) for one in found.metrics)
    columns = (Column("metric"), Column("better end", key="better"), Column("n questions", key="n"), Column("finding"))
    return Table(_FINDINGS, "Findings", columns, rows, made(found))


def _means(found: Comparison) -> Section:
    interval = f"{percent(found.level)} interval"
    places = found.places
    columns = (
        Column("metric"),
        Column("system"),
        Column("rank", key="rank"),
        Column("group", key="group"),
        Column("mean", places, key="mean"),
        Column(interval, places, "range", key="interval"),
        Column("by", key="interval_method"),
        Column("n", key="n"),
        Column("mean, common questions", places, key="common_mean"),
        Column(f"{interval}, common", places, "range", key="common_interval"),
        Column("by", key="common_interval_method"),
        Column("n common", key="common_n"),
        Column("with a value", key="with_a_value"),
        Column("rows", key="rows"),
        Column("why no interval", key="reason"),
    )
    rows = [
        (
            one.metric,
            system.system,
            system.rank,
            system.groups or None,
            system.mean.value,
            _range(system.mean),
            _method(system.mean),
            system.mean.n,
            system.common.value,
            _range(system.common),
            _method(system.common),
            system.common.n,
            _scored(system),
            system.rows,
            _why(system.mean.reason, system.common.reason),
        )
        for one in found.metrics
        for system in one.systems
    ]
    return Section(
        "Means and ranking",
        "The best first on each metric (the highest where no end is known to be better). Systems that share a letter "
        "cannot be told apart; nor can those under one bar of the figure, which only metrics with a better end have.",
        (Table("means", "Means", columns, tuple(rows), f"{_MEANS} {made(found)}"),),
        figures.rankings(found.metrics),
        _RANKS,
    )


_MEANS = (
    f"Intervals are by BCa from {FEWEST_BCA} values on, else by Student's t, as in the table of a run. "
    "The mean is over every question with a value; the mean on common questions is over those on which every compared "
    "system has one, and is what systems are ranked and tested by."
)
_RANKS = (
    "A rank of 1-3 says: no system is significantly better, and all but three are significantly worse. A system may "
    "stand in two groups: like A and like C, though these two differ. Not to be told apart is not to be equal."
)


def _differences(found: Comparison) -> Section:
    places = found.places
    columns = (
        *_PAIR,
        Column("first - second", places, key="difference"),
        Column(f"{percent(found.level)} interval", places, "range", key="interval"),
        Column("p corrected", kind="p", key="p_corrected"),
        Column("differ", key="significant"),
        Column("interval by", key="interval_method"),
        Column("p alone", kind="p", key="p_alone"),
        Column("p of the metric", kind="p", key="p_of_metric"),
        Column("d_z", 2, key="d_z"),
        Column("d_z interval", 2, "range", key="d_z_interval"),
        Column("d_z by", key="d_z_interval_method"),
        Column("would be found", places, key="detectable"),
        Column("n", key="n"),
        Column("why none", key="reason"),
    )
    rows = [
        (
            one.metric,
            pair.first,
            pair.second,
            pair.difference.value,
            _range(pair.difference),
            pair.p,
            pair.significant if pair.p is not None else None,
            _method(pair.difference),
            pair.p_alone,
            pair.p_of_metric,
            pair.d_z.value,
            _range(pair.d_z),
            _method(pair.d_z),
            pair.detectable,
            pair.difference.n,
            _why(one.reason, one.beyond_reach, pair.difference.reason, pair.d_z.reason),
        )
        for one in found.metrics
        for pair in one.pairs
    ]
    return Section(
        "Differences",
        f"First - second in the metric's units, over common questions; {percent(found.level)} intervals, and the "
        "corrected p beside them.",
        (Table("differences", "Differences", columns, tuple(rows), f"{_tests(found)} {made(found)}"), _findings(found)),
        figures.differences(found.metrics),
        "An interval is for its pair alone and is not corrected: it may leave 0 out where the corrected p is above "
        f"alpha. Below {FEWEST_BCA} questions it is Student's t, which trusts in a normal spread as the test does not. "
        "d_z: the mean difference in standard deviations of the differences. Would be found: the true difference that "
        f"the corrected test finds in four of five samples of this size, by normal theory (too hopeful below "
        f"{FEWEST_NORMAL} questions), the other systems being as they are; empty where none could be found.",
    )


def _tests(found: Comparison) -> str:
    several = any(len(one.systems) > 2 for one in found.metrics)
    alone = (
        "p alone: paired permutation test of the pair, not corrected. p of the metric: randomised Tukey HSD, which "
        "holds over all pairs of the metric. "
        if several
        else "p alone and p of the metric: paired permutation test. "
    )
    return (
        f"{alone}p corrected: that p over all {found.comparisons:,} comparisons (pairs and metrics), Holm's way over "
        "the metrics."
    )


def _wins(found: Comparison) -> Section:
    columns = (
        *_PAIR,
        Column("counts"),
        Column("won", key="won"),
        Column("tied", key="tied"),
        Column("lost", key="lost"),
        Column("share won + half the ties", 3, key="share"),
        Column(f"{percent(found.level)} interval", 3, "range", key="share_interval"),
        Column("by", key="share_interval_method"),
        Column("n", key="n"),
        Column("why none", key="reason"),
    )
    rows = [
        (
            one.metric,
            pair.first,
            pair.second,
            " / ".join(figures.outcomes(one)),
            *(pair.won, pair.ties, pair.lost),
            pair.share.value,
            _range(pair.share),
            _method(pair.share),
            pair.share.n,
            pair.share.reason,
        )
        for one in found.metrics
        for pair in one.pairs
    ]
    return Section(
        "Questions won",
        "On how many common questions the first system of a pair is better than the second, as good, or worse.",
        (Table("wins", "Questions won, tied and lost", columns, tuple(rows), f"{_SHARES} {made(found)}"),),
        figures.wins(found.metrics),
        f"Where neither end of a metric is better, won counts the questions on which the first is higher. {_SHARES}",
    )


_SHARES = (
    f"The interval is BCa; below {FEWEST_BCA} questions, or where every question ended alike, Wilson's on the points "
    "(a tie is half a point), which ties make wider than it need be, never narrower."
)


def _hypotheses(found: Comparison) -> Section:
    columns = (
        Column("hypothesis"),
        Column("needs"),
        Column("direction"),
        Column("comparisons", key="comparisons"),
        Column("p", kind="p"),
        Column("p corrected", kind="p", key="p_corrected"),
        Column("supported"),
        Column("in words", key="words"),
    )
    tests = {one.metric: one.tukey for one in found.metrics}
    beyond = claims_beyond_reach(found.hypotheses, tests, found.permutations, found.alpha)
    rows = tuple(
        (
            one.name,
            one.combine,
            one.direction,
            len(one.comparisons),
            one.p,
            one.adjusted,
            one.supported if one.p is not None else None,
            hypothesis(one, why),
        )
        for one, why in zip(found.hypotheses, beyond, strict=True)
    )
    parts = (
        Column("hypothesis"),
        *_PAIR,
        Column("first - second", found.places, key="difference"),
        Column("p", kind="p"),
    )
    comparisons = tuple(
        (one.name, part.metric, part.a, part.b, part.difference, part.p)
        for one in found.hypotheses
        for part in one.comparisons
    )
    supported, hopeless = sum(one.supported for one in found.hypotheses), sum(why is not None for why in beyond)
    says = (
        f"{supported} of {len(rows)} hypotheses {'is' if supported == 1 else 'are'} supported at alpha "
        f"{found.alpha:g}, after Holm over the hypotheses."
    )
    if hopeless:
        says += f" With so few questions or draws nothing could have supported {hopeless} of them."
    return Section(
        "Hypotheses",
        says,
        (
            Table("hypotheses", "Hypotheses", columns, rows, made(found)),
            Table("hypotheses-comparisons", "What they are made of", parts, comparisons, made(found)),
        ),
        note="all: the largest p of the comparisons. any: the smallest, times the number of metrics. The p of a "
        "comparison is in the direction claimed, and holds over all pairs of its metric.",
    )


def _range(interval: Estimate) -> Range | None:
    return None if interval.low is None else Range(interval.low, interval.high)


def _method(interval: Estimate) -> str | None:
    return None if interval.low is None else interval.method


def _why(*reasons: str | None) -> str | None:
    """The reasons that there are, each once."""
    return "; ".join(dict.fromkeys(reason for reason in reasons if reason)) or None


def _scored(system: SystemOnMetric) -> int:
    return system.rows - sum(gap.count for gap in system.gaps)

"""A comparison as a document: an overview, tables, figures, and the sentences above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from longmark.analysis.compare import figures, questions
from longmark.analysis.compare.reach import FEWEST_NORMAL, claims_beyond_reach
from longmark.analysis.compare.results import SEVERAL_SYSTEMS, TWO_SYSTEMS, Comparison, MetricComparison, PairOnMetric
from longmark.analysis.compare.words import conclusion, direction, finding, hypothesis, made, percent, summary
from longmark.report.document import Document, Section
from longmark.report.tables import Column, Mean, Range, Table, interval_columns, method_column, middle, systems_table
from longmark.stats.bootstrap import FEWEST_BCA
from longmark.stats.results import HypothesisResult

_NAMED = 8
"""Systems up to which the title and the overview name them."""


class On(NamedTuple):
    """A system or a pair of systems on a metric."""

    metric: MetricComparison
    of: Any


def document(found: Comparison) -> Document:
    """The page of a comparison."""
    names = ", ".join(found.systems) if len(found.systems) <= _NAMED else f"{len(found.systems)} systems"
    return Document(
        kind="comparison",
        title=f"Comparison of {names}",
        lede=f"{len(found.metrics)} metric{'s' if len(found.metrics) > 1 else ''}, paired by question.",
        sections=sections(found),
        notices=found.notices,
        settings={
            "Runs": list(found.runs),
            "Compared by": found.by,
            "Systems": list(found.systems),
            "Test": f"{TWO_SYSTEMS} (two systems) or {SEVERAL_SYSTEMS} (more)",
            "Permutations of a test": found.permutations,
            "Correction": "Tukey HSD over the pairs of a metric, Holm over the metrics",
            "Comparisons in the family": found.comparisons,
            "Alpha": found.alpha,
            "Confidence intervals": f"{percent(found.level)}: BCa bootstrap over questions, {found.resamples:,} "
            f"resamples; below {FEWEST_BCA} questions Student's t (d_z: noncentral t; share won: Wilson)",
            "Seed": found.seed,
            "Differences in scoring": list(found.differing),
        },
    )


def sections(found: Comparison) -> tuple[Section, ...]:
    """Overview, hypotheses, means and ranking, differences, questions won, questions apart, what is left out."""
    overview = Section("Overview", summary(found), (_overview(found), _main(found)), note=_NOT_EQUAL)
    return (
        overview,
        *([_hypotheses(found)] if found.hypotheses else []),
        *(_means(found), _differences(found), _wins(found), questions.apart(found), questions.left_out(found)),
    )


def brief(page: Document) -> Document:
    """What is printed without --verbose: a line a metric, and the hypotheses."""
    first = replace(
        page.sections[0],
        tables=page.sections[0].tables[:1],
        note=f"{_NOT_EQUAL} --verbose prints every table; --out DIR writes them, with figures.",
    )
    claims = [replace(one, tables=one.tables[:1]) for one in page.sections if one.title == "Hypotheses"]
    return replace(page, sections=[first, *claims])


_NOT_EQUAL = "No significant difference does not mean equal: the differences table gives what was detectable."


def _overview(found: Comparison) -> Table:
    """A line a metric. Of two systems: means, difference, p; of more: the means and which pairs differ."""
    places = found.places
    named = found.systems if len(found.systems) <= _NAMED else ()
    columns: list[Column] = [Column("metric")]
    for name in named:
        columns.append(Column(name, lambda one, name=name: _common(one, name), places, key=f"mean: {name}"))  # type: ignore[misc]
    if len(found.systems) == 2:
        first = found.systems[0]
        columns += [
            Column(" - ".join(found.systems), lambda one: _turned(one, first)[0], places, key="difference"),
            Column(f"{percent(found.level)} CI", lambda one: _turned(one, first)[1], places, "range", "interval"),
            Column("p (adjusted)", lambda one: one.pairs[0].p, kind="p", key="p_adjusted"),
        ]
    else:
        columns.append(Column("pairs that differ", lambda one: f"{_significant(one)} / {len(one.pairs)}"))
    columns += [Column("n", "common"), Column("conclusion", conclusion)]
    note = f"Means over the n questions with a score of every system. {_tests(found)} {made(found)}"
    return Table("overview", "Overview", tuple(columns), found.metrics, note)


def _common(one: MetricComparison, name: str) -> float | None:
    return next((system.common.value for system in one.systems if system.system == name), None)


def _turned(one: MetricComparison, first: str) -> tuple[float | None, Range | None]:
    """The difference of two systems and its interval, from the view of `first`."""
    pair = one.pairs[0]
    value, low, high = pair.difference.value, pair.difference.low, pair.difference.high
    if pair.first != first and value is not None:
        value = -value
        low, high = (None, None) if low is None or high is None else (-high, -low)
    return value, None if low is None else Range(low, high)


def _significant(one: MetricComparison) -> int:
    return sum(pair.significant for pair in one.pairs)


def _main(found: Comparison) -> Table:
    """Systems x metrics, for a paper."""
    means = {(system.system, one.metric): system.common for one in found.metrics for system in one.systems}

    def cell(system: str, metric: str) -> Mean | None:
        mean = means.get((system, metric))
        return None if mean is None else Mean(middle(mean), mean.low, mean.high)

    metrics = [Column(one.metric, places=one.places, kind=direction(one)) for one in found.metrics]
    note = f"Means over common questions with {percent(found.level)} CI; the best of a metric in bold. {made(found)}"
    return systems_table(found.systems, metrics, cell, note)


def _on_systems(found: Comparison) -> list[On]:
    return [On(one, system) for one in found.metrics for system in one.systems]


def _on_pairs(found: Comparison) -> list[On]:
    return [On(one, pair) for one in found.metrics for pair in one.pairs]


_METRIC = Column("metric", "metric.metric")
_PAIR = (_METRIC, Column("first", "of.first"), Column("second", "of.second"))


def _means(found: Comparison) -> Section:
    ci, places = f"{percent(found.level)} CI", found.places
    columns = (
        *(_METRIC, Column("system", "of.system"), Column("rank", "of.rank")),
        Column("group", lambda on: on.of.groups or None),
        *interval_columns("mean", "of.mean", places, ci, "mean", "interval"),
        method_column("of.mean", "interval_method"),
        Column("n", "of.mean.n"),
        *interval_columns("mean (common questions)", "of.common", places, ci, "common_mean", "common_interval"),
        method_column("of.common", "common_interval_method"),
        Column("n (common)", "of.common.n", key="common_n"),
        Column("scored", lambda on: on.of.rows - sum(gap.count for gap in on.of.gaps)),
        Column("total", "of.rows"),
        Column("reason", lambda on: _reasons(on.of.mean.reason, on.of.common.reason)),
    )
    note = (
        f"Intervals: BCa from {FEWEST_BCA} scores, below that Student's t, as in the table of a run. mean: over every "
        "scored question. common questions: those with a score of every system; ranks and tests use these. "
        f"{made(found)}"
    )
    return Section(
        "Means and ranking",
        "Best first (highest first where neither direction is better). Systems that share a letter, or a bar in the "
        "figure, do not differ significantly.",
        (Table("means", "Means", columns, _on_systems(found), note),),
        figures.rankings(found.metrics),
        "Rank 1-3: no system is significantly better, and all but three are significantly worse. A system can be in "
        "two groups: not different from A and not from C, although A and C differ.",
    )


def _differences(found: Comparison) -> Section:
    ci, places = f"{percent(found.level)} CI", found.places
    columns = (
        *_PAIR,
        *interval_columns("first - second", "of.difference", places, ci, "difference", "interval"),
        Column("p (adjusted)", "of.p", kind="p"),
        Column("significant", lambda on: on.of.significant if on.of.p is not None else None),
        method_column("of.difference", "interval_method"),
        Column("p (unadjusted)", "of.p_alone", kind="p"),
        Column("p (Tukey HSD)", "of.p_of_metric", kind="p"),
        *interval_columns("d_z", "of.d_z", 2, ci, interval="d_z_interval"),
        method_column("of.d_z", "d_z_interval_method"),
        Column("detectable at 80 % power", "of.detectable", places, key="detectable"),
        Column("n", "of.difference.n"),
        Column("reason", _why_no_difference),
    )
    findings = Table(
        "findings",
        "Findings",
        (
            Column("metric"),
            Column("direction", direction),
            Column("n questions", "common", key="n"),
            Column("finding", lambda one: finding(one, found)),
        ),
        found.metrics,
        made(found),
    )
    table = Table("differences", "Differences", columns, _on_pairs(found), f"{_tests(found)} {made(found)}")
    return Section(
        "Differences",
        f"First minus second in the metric's units, over common questions, with {percent(found.level)} intervals and "
        "adjusted p-values.",
        (table, findings),
        figures.differences(found.metrics),
        "An interval is for its pair alone and is not adjusted: it can exclude 0 where the adjusted p is above alpha. "
        f"Below {FEWEST_BCA} questions it is Student's t, which assumes normal differences; the test does not. d_z: "
        "mean difference / standard deviation of the differences. detectable: the true difference that the adjusted "
        f"test detects with 80 % power at this sample size, by normal theory (optimistic below {FEWEST_NORMAL} "
        "questions); empty where no difference is detectable.",
    )


def _why_no_difference(on: On) -> str | None:
    pair: PairOnMetric = on.of
    return _reasons(on.metric.reason, on.metric.beyond_reach, pair.difference.reason, pair.d_z.reason)


def _tests(found: Comparison) -> str:
    single = "p (unadjusted) and p (Tukey HSD): paired permutation test."
    if any(len(one.systems) > 2 for one in found.metrics):
        single = (
            "p (unadjusted): paired permutation test of the pair. p (Tukey HSD): randomised, adjusted for all pairs of "
            "the metric."
        )
    return f"{single} p (adjusted): Tukey HSD over the pairs, Holm over the metrics; {found.comparisons:,} comparisons."


def _wins(found: Comparison) -> Section:
    columns = (
        *_PAIR,
        Column("counts", lambda on: " / ".join(figures.outcomes(on.metric))),
        *(Column("won", "of.won"), Column("tied", "of.ties"), Column("lost", "of.lost")),
        *interval_columns("won + ties / 2", "of.share", 3, f"{percent(found.level)} CI", "share", "share_interval"),
        method_column("of.share", "share_interval_method"),
        *(Column("n", "of.share.n"), Column("reason", "of.share.reason")),
    )
    note = (
        f"The interval is BCa; below {FEWEST_BCA} questions, or where every question has the same outcome, Wilson's "
        "(a tie is half a point; ties make it conservative)."
    )
    table = Table("wins", "Questions won, tied and lost", columns, _on_pairs(found), f"{note} {made(found)}")
    return Section(
        "Questions won",
        "The number of common questions on which the first system of a pair is better, equal, or worse.",
        (table,),
        figures.wins(found.metrics),
        f"Where neither direction is better, won counts the questions on which the first is higher. {note}",
    )


class _Claim(NamedTuple):
    result: HypothesisResult
    beyond: str | None


class _Part(NamedTuple):
    claim: HypothesisResult
    of: Any


def _hypotheses(found: Comparison) -> Section:
    tests = {one.metric: one.tukey for one in found.metrics}
    beyond = claims_beyond_reach(found.hypotheses, tests, found.permutations, found.alpha)
    return hypotheses_section(found.hypotheses, beyond, found.alpha, made(found))


def hypotheses_section(
    results: Sequence[HypothesisResult], beyond: Sequence[str | None], alpha: float, made: str
) -> Section:
    """Which hypotheses are supported. beyond: why each could not have been, where it could not; made: the settings."""
    columns = (
        *(Column("hypothesis", "result.name"), Column("combine", "result.combine")),
        Column("direction", "result.direction"),
        Column("comparisons", lambda claim: len(claim.result.comparisons)),
        *(Column("p", "result.p", kind="p"), Column("p (adjusted)", "result.adjusted", kind="p")),
        Column("supported", lambda claim: claim.result.supported if claim.result.p is not None else None),
        Column("finding", lambda claim: hypothesis(claim.result, claim.beyond)),
    )
    parts = (
        *(Column("hypothesis", "claim.name"), Column("metric", "of.metric")),
        *(Column("first", "of.a"), Column("second", "of.b")),
        *(Column("first - second", "of.difference", 4, key="difference"), Column("p", "of.p", kind="p")),
    )
    supported, hopeless = sum(one.supported for one in results), sum(why is not None for why in beyond)
    says = (
        f"{supported} of {len(results)} hypotheses {'is' if supported == 1 else 'are'} supported at alpha {alpha:g} "
        "(Holm over the hypotheses)."
    )
    if hopeless:
        says += f" With so few questions or draws, {hopeless} of them could not have been supported."
    claims = [_Claim(one, why) for one, why in zip(results, beyond, strict=True)]
    each = [_Part(one, part) for one in results for part in one.comparisons]
    return Section(
        "Hypotheses",
        says,
        (
            Table("hypotheses", "Hypotheses", columns, claims, made),
            Table("hypotheses-comparisons", "Comparisons of each hypothesis", parts, each, made),
        ),
        note="all: the largest p of the comparisons. any: the smallest p times the number of metrics. The p of a "
        "comparison is in the direction of the hypothesis (`greater`: higher scores, also where lower is better) and "
        "is adjusted for all pairs of its metric.",
    )


def _reasons(*reasons: str | None) -> str | None:
    """The reasons, each once."""
    return "; ".join(dict.fromkeys(reason for reason in reasons if reason)) or None

"""The differences of pairs of systems: their table and figures, and both readings where answers are unscored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from longmark.analysis.compare.comparison import Comparison, tests_in
from longmark.analysis.compare.margin import UNDECIDED
from longmark.analysis.compare.results import MetricResult, PairResult, result_titles
from longmark.analysis.grid import Grid
from longmark.report.charts import ForestRow, forest
from longmark.report.document import Section
from longmark.report.figures import Figure
from longmark.report.format import counted, listed, p_value
from longmark.report.tables import Column, PlacedEstimate, placed

MOST_PAIRS = 30
"""Pairs drawn for a metric; of more, those of the first system with each other one."""
TEST = "studentised paired sign flips, single-step max-T over all pairs and metrics"
_EQUAL = "all differences are equal: p decides; the interval is computed from the metric's bounds"
METRIC = Column("metric", "metric", kind="metric")
PAIR = (METRIC, Column("first", "first"), Column("second", "second"))
"""The columns that name a pair of systems on a metric."""


def in_family(comparison: Comparison) -> str:
    """The comparisons that p is adjusted for, by the family."""
    deciding = counted(comparison.comparisons, "comparison")
    if not comparison.exploratory:
        return deciding
    exploratory_tests = counted(tests_in(comparison.exploratory), "comparison")
    if not comparison.primary:
        return (
            f"{deciding}; {exploratory_tests} of metrics without a better direction, by themselves"
        )
    return (
        f"{deciding} of primary metrics; {exploratory_tests} of exploratory metrics, by themselves"
    )


def role_column(comparison: Comparison) -> tuple[Column, ...]:
    """Whether a row's metric is primary; no column where none was named."""
    if not comparison.primary:
        return ()
    roles = {metric.metric: metric.role for metric in comparison.metrics}
    return (Column("role", lambda row: roles[row.metric]),)


def all_pairs(comparison: Comparison) -> list[PairResult]:
    return [pair for metric in comparison.metrics for pair in metric.pairs]


def pair_label(pair: PairResult) -> str:
    return f"{pair.first} - {pair.second}"


def drawn_pairs(
    metrics: Sequence[MetricResult],
) -> Sequence[tuple[MetricResult, Sequence[PairResult], str]]:
    """Each metric with the pairs that its figures have and their title."""
    titles = result_titles(metrics)
    drawn = []
    for metric in metrics:
        if len(metric.pairs) <= MOST_PAIRS:
            drawn.append((metric, metric.pairs, titles[metric.metric]))
        else:
            # pairs are in the order of the systems, those of the first one first
            with_first = metric.pairs[: len(metric.systems) - 1]
            title = f"{titles[metric.metric]}: the first system against each other one"
            drawn.append((metric, with_first, title))
    return drawn


def differences_section(comparison: Comparison) -> Section:
    ci = f"{100 * (1 - comparison.settings.alpha):.4g} % CI"
    tests = (
        f"p (adjusted) decides: {TEST} ({in_family(comparison)}). p (unadjusted): the same "
        "test of the pair alone. p (Tukey HSD): as in the CCRS paper, over the pairs of the metric, on the questions "
        "that every system has."
    )
    return Section(
        "Differences",
        f"First minus second in the metric's units, over the n questions that both have, with {ci} and adjusted "
        "p-values.",
        (
            _grid_of_differences(
                all_pairs(comparison),
                {metric.metric: metric.places for metric in comparison.metrics},
                tests,
                role_column(comparison),
            ).table(),
        ),
        differences(
            [metric for metric in comparison.metrics if metric not in _below_verdict(comparison)]
        ),
        "The intervals invert the test: together they contain all true differences with the stated confidence, and one "
        "excludes 0 exactly if its adjusted p is at most alpha. If no difference could be significant, the interval is "
        "Hall's t, extended to hold 0. If all differences are equal, it is made from the metric's bounds, and p "
        "decides. d_z: the mean difference divided by the standard deviation of the differences. detectable: the true "
        "difference that the adjusted test detects with 80 % power at this sample size, by normal theory (too small "
        "with fewer than 20 questions); empty if no difference is detectable.",
    )


def differences(metrics: Sequence[MetricResult]) -> tuple[Figure, ...]:
    """Each pair's difference with its interval; beside it the adjusted p."""
    return tuple(
        _grid_of_differences(pairs, {result.metric: result.places}).forest(
            title, reference=0.0, note=lambda pair: p_value(pair.p)
        )
        for result, pairs, title in drawn_pairs(metrics)
    )


def _grid_of_differences(
    pairs: Sequence[PairResult],
    places: Mapping[str, int],
    note: str = "",
    role: tuple[Column, ...] = (),
) -> Grid[PairResult]:
    """places: metric -> decimals of its differences."""
    greatest = max(places.values(), default=3)

    def difference_of(pair: PairResult) -> PlacedEstimate | None:
        return placed(pair.difference, places[pair.metric])

    def about(pair: PairResult) -> str | None:
        ends = pair.common.ends
        equal = _EQUAL if pair.common.better and ends and ends[0] <= 0 <= ends[1] else None
        return "; ".join(filter(None, (pair.undecided, equal, pair.few))) or None

    return Grid(
        "differences",
        "Differences",
        (METRIC, *role, *PAIR[1:]),
        pairs,
        (
            Column("first - second", difference_of, greatest, key="difference"),
            Column("d_z", "d_z", 2, spare=2),
        ),
        None,
        note,
        beside=(
            Column("p (adjusted)", "p", kind="p"),
            Column("significant", lambda pair: pair.significant if pair.p is not None else None),
            Column(
                "detectable at 80 % power",
                "difference.detectable",
                greatest,
                key="detectable",
                spare=1,
            ),
            Column("p (unadjusted)", "difference.p_unadjusted", kind="p", spare=3),
            Column("p (Tukey HSD)", "p_tukey", kind="p", spare=4),
            Column("effective clusters", "difference.effective", 1, kind="method"),
            Column("remark", about),
        ),
        label=pair_label,
    )


def verdict_figures(comparison: Comparison) -> tuple[Figure, ...]:
    """What stands below the verdict: the overview of two systems, else the differences on the first metric that
    decides. The other metrics are drawn below the table of differences."""
    return overview(comparison) or tuple(
        replace(figure, label=f"{figure.label}: first minus second")
        for figure in differences(_below_verdict(comparison))
    )


def _below_verdict(comparison: Comparison) -> Sequence[MetricResult]:
    """The metrics that are drawn below the verdict."""
    if metrics := in_overview(comparison):
        return metrics
    tested = [
        metric for metric in comparison.deciding if any(pair.p is not None for pair in metric.pairs)
    ]
    return tested[:1]


def overview(comparison: Comparison) -> tuple[Figure, ...]:
    """Two systems in one figure: their difference on each metric in the overview (`in_overview`), as a share of the
    metric's range, to the right where the first one is better."""
    titles = result_titles(comparison.metrics)
    rows = []
    for result in in_overview(comparison):
        pair = result.pairs[0]
        facts = result.facts
        assert facts.lo is not None
        assert facts.hi is not None
        per_range = (1 if facts.higher_is_better else -1) / (facts.hi - facts.lo)
        ends = sorted(end * per_range for end in pair.difference.ends or ())
        low, high = ends or (None, None)
        value = None if pair.difference.value is None else pair.difference.value * per_range
        rows.append(ForestRow(titles[result.metric], value, low, high, p_value(pair.p)))
    if not rows:
        return ()
    first, second = all_pairs(comparison)[0].names
    figure = forest(rows, f"{first} against {second}, in shares of each metric's range")
    absent = [
        titles[result.metric]
        for result in comparison.metrics
        if result not in in_overview(comparison)
    ]
    without = (
        f" Without a range or a direction, and drawn below: {listed(absent)}." if absent else ""
    )
    reading = f"Right of the dashed line: {first} is better; left of it: {second}. {figure.reading}"
    return (replace(figure, reading=f"{reading}{without}"),)


def in_overview(comparison: Comparison) -> list[MetricResult]:
    """The metrics with a direction, two bounds and a difference, where two systems are compared on two of them or
    more; else none."""
    metrics = [
        result
        for result in comparison.metrics
        if result.facts.higher_is_better is not None
        and None not in (result.facts.lo, result.facts.hi)
        and result.facts.lo != result.facts.hi
        and result.pairs
    ]
    return metrics if len(comparison.systems) == 2 and len(metrics) > 1 else []


def unscored_sections(comparison: Comparison) -> tuple[Section, ...]:
    """Both readings of the pairs with unscored answers; no section if there are none."""
    pairs = [pair for pair in all_pairs(comparison) if pair.counted is not None]
    if not pairs:
        return ()

    def silent(which: int) -> Callable[[PairResult], str]:
        def get(pair: PairResult) -> str:
            system = comparison.metric(pair.metric).system(pair.names[which])
            return f"{system.silent:,} / {system.asked:,}" if system else ""

        return get

    grid = Grid(
        "readings",
        "Both readings of pairs with unscored answers",
        (
            *PAIR,
            Column("first unscored", silent(0), kind="number"),
            Column("second unscored", silent(1), kind="number"),
        ),
        pairs,
        (
            Column("common", "common", comparison.places),
            Column("as worst", "counted", comparison.places, key="counted"),
        ),
        beside=(
            Column("p, common", "common.p", kind="p", key="p_common"),
            Column("p, as worst", "counted.p", kind="p", key="p_counted"),
            Column("p (unscored)", "p_unscored", kind="p", spare=2),
            Column("counted as", lambda pair: comparison.metric(pair.metric).worst, 2, spare=1),
            Column("result", lambda pair: UNDECIDED if pair.undecided else pair.common.in_words()),
        ),
    )
    return (
        Section(
            "Unscored answers",
            "Each pair in two readings: first minus second on the common questions, and on the questions with a score "
            "of either, with unscored answers as the worst score. Where they disagree, the pair is undecided.",
            (grid.table(),),
            brief=any(pair.undecided for pair in grid.rows),
            note="as worst: an answer without a score, or without a row, has the metric's bound on the worse side; "
            "without a bound, the worst score of any system. p (unscored): of the test whether one of the two has more "
            "unscored answers.",
        ),
    )

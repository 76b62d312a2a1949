"""A comparison as a page: who won what, the differences, then everything that they rest on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from longmark.analysis.compare.comparison import Comparison
from longmark.analysis.compare.hypotheses import hypotheses_section
from longmark.analysis.compare.judges import for_judges, judge_section
from longmark.analysis.compare.margin import UNDECIDED, margin_section
from longmark.analysis.compare.results import (
    FEWEST_JACKKNIFE,
    MetricResult,
    PairResult,
    QuestionApart,
    SystemResult,
)
from longmark.analysis.compare.verdict import verdict
from longmark.analysis.grid import Grid
from longmark.report.charts import ForestRow, Stack, forest, groups, stacked
from longmark.report.document import Document, Section, folded_after
from longmark.report.figures import Figure
from longmark.report.format import counted, listed, metric_titles, p_value
from longmark.report.summary import reasons_in_words
from longmark.report.tables import Column, Range, Table
from longmark.scores.clusters import QUESTION
from longmark.stats.results import Estimate

MOST_PAIRS = 30
"""Pairs drawn for a metric; of more, those of the first system with each other one."""
_NAMED = 8
"""Systems up to which titles name them and each has a column of its scores."""
_TEXT = 160  # characters shown of a question
TEST = "studentised paired sign flips, single-step max-T over all pairs and metrics"
RESULT = "Result"
_EQUAL = "all differences are equal: p decides; the interval is computed from the metric's bounds"
_NOT_EQUAL = "No significant difference does not mean equal. See the detectable differences."
_ALIKE = "no significant difference"
METRIC = Column("metric", "metric", kind="metric")
_PAIR = (METRIC, Column("first", "first"), Column("second", "second"))


def document(comparison: Comparison) -> Document:
    names = (
        ", ".join(comparison.systems)
        if len(comparison.systems) <= _NAMED
        else f"{len(comparison.systems)} systems"
    )
    tests = {metric.metric: metric.tukey for metric in comparison.metrics}
    clusters = None if comparison.cluster == QUESTION else comparison.cluster
    settings = comparison.settings
    ci, simultaneous = (f"{100 * level:.4g} % CI" for level in (settings.level, 1 - settings.alpha))
    decided = (
        _result(comparison),
        _differences(comparison),
        *margin_section(comparison.margins, settings.alpha, comparison.places),
        *hypotheses_section(
            comparison.hypotheses, tests, settings.permutations, settings.alpha, clusters
        ),
    )
    behind = (*_silent(comparison), _means(comparison), _wins(comparison))
    first, *later_sections = (for_judges(section, comparison.judges) for section in decided)
    folded = (
        *(for_judges(section, comparison.judges) for section in behind),
        _questions(comparison),
        _missing(comparison),
    )
    return Document(
        kind="comparison",
        title=f"Comparison of {names}",
        lede=f"{counted(len(comparison.metrics), 'metric')}, paired by question.",
        sections=(
            first,
            *judge_section(comparison.judges, comparison.places),
            *later_sections,
            *folded_after(folded, 0),
        ),
        notices=comparison.notices,
        settings={
            "Runs": list(comparison.runs),
            "Compared by": comparison.by,
            "Clusters": comparison.cluster,
            "Systems": list(comparison.systems),
            "Test that decides": TEST,
            "Family": "pairs with the first system"
            if settings.baseline is not None
            else "all pairs",
            "Questions": "those with a score of every system"
            if settings.complete
            else "of a pair: those that both have",
            "Permutations of a test": f"{settings.permutations:,}; small tables are enumerated",
            "Comparisons in the family": comparison.comparisons,
            "Alpha": settings.alpha,
            "Confidence intervals": f"differences: the test inverted, simultaneous ({simultaneous}); over questions "
            f"({ci}): means and shares won Hall's t or Wilson, d_z jackknife (below {FEWEST_JACKKNIFE} questions "
            "noncentral t)",
            "Seed": settings.seed,
            "Differences in scoring": list(comparison.differing),
        },
        signatures=comparison.signatures,
    )


# Who won what ---------------------------------------------------------------------------------------------------------


def _result(comparison: Comparison) -> Section:
    """The conclusion of each metric, with the means of the systems; of two systems their difference and its p."""
    settings = comparison.settings
    pairs = _pairs(comparison)
    compared = counted(comparison.comparisons, "comparison")
    significant = sum(pair.significant for pair in pairs)
    summary = f"{lead(comparison)} Significant differences: {significant:,} of {compared} (alpha "
    summary += f"{settings.alpha:g}, adjusted by max-T{_clusters(comparison)})."
    only_first = settings.baseline is not None and len(comparison.systems) > 2
    summary += " Pairs with the first system only." if only_first else ""
    return Section(
        RESULT,
        summary if comparison.comparisons else "Nothing was tested.",
        (_result_grid(comparison).table(),),
        figures=overview(comparison),
        brief=1,
        note=_NOT_EQUAL
        if any(pair.common.detectable is not None and not pair.significant for pair in pairs)
        else "",
    )


def lead(comparison: Comparison) -> str:
    """The verdict on two systems; then the metrics of each conclusion that it does not name, the decided ones first."""
    sentence = verdict(comparison)
    titles = metric_titles(metric.metric for metric in comparison.metrics)
    by_conclusion: dict[str, list[str]] = {}
    any_shown = any(pair.significant for pair in _pairs(comparison))
    for result in sorted(
        comparison.metrics, key=lambda metric: not any(pair.significant for pair in metric.pairs)
    ):
        words = conclusion(result)
        in_verdict = any(pair.significant for pair in result.pairs) or (
            words == _ALIKE and not any_shown
        )
        if not (sentence and in_verdict):
            by_conclusion.setdefault(words, []).append(titles[result.metric])
    clauses = "; ".join(f"{words} on {listed(metrics)}" for words, metrics in by_conclusion.items())
    if not clauses:
        return sentence
    if clauses.startswith((_ALIKE, UNDECIDED)) or sentence:
        clauses = clauses[0].upper() + clauses[1:]
    return f"{sentence} {clauses}.".strip()


def overview(comparison: Comparison) -> tuple[Figure, ...]:
    """Two systems in one figure: their difference on each metric in the overview (`_in_overview`), as a share of the
    metric's range, to the right where the first one is better."""
    rows = []
    for result in _in_overview(comparison):
        pair = result.pairs[0]
        facts = result.facts
        assert facts.lo is not None
        assert facts.hi is not None
        per_range = (1 if facts.higher_is_better else -1) / (facts.hi - facts.lo)
        ends = sorted(end * per_range for end in pair.difference.ends or ())
        low, high = ends or (None, None)
        value = None if pair.difference.value is None else pair.difference.value * per_range
        rows.append((result.metric, value, low, high, p_value(pair.p)))
    if not rows:
        return ()
    first, second = _pairs(comparison)[0].names
    titles = metric_titles(metric.metric for metric in comparison.metrics)
    figure = forest(
        [ForestRow(titles[metric], *figures) for metric, *figures in rows],
        f"{first} against {second}, in shares of each metric's range",
    )
    absent = [
        titles[result.metric]
        for result in comparison.metrics
        if result not in _in_overview(comparison)
    ]
    without = (
        f" Without a range or a direction, and drawn below: {listed(absent)}." if absent else ""
    )
    reading = f"Right of the dashed line: {first} is better; left of it: {second}. {figure.reading}"
    return (replace(figure, reading=f"{reading}{without}"),)


def _in_overview(comparison: Comparison) -> list[MetricResult]:
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


def _result_grid(comparison: Comparison) -> Grid[MetricResult]:
    """A row for each metric, with the means of up to eight systems."""
    names = comparison.systems
    places = comparison.places

    def mean_of(name: str) -> Callable[[MetricResult], Estimate | None]:
        return lambda result: system.mean if (system := result.system(name)) else None

    shown_systems = names if len(names) <= _NAMED else ()
    columns = [
        Column(name, mean_of(name), places, key=f"mean: {name}", spare=1) for name in shown_systems
    ]
    differ = Column(
        "pairs that differ",
        lambda row: f"{sum(p.significant for p in row.pairs)} / {len(row.pairs)}",
    )
    tested = f"pairs that differ: p (adjusted) at most alpha ({TEST})"
    if len(names) == 2:
        columns.append(
            Column(
                _label(comparison.metrics[0].pairs[0]), _without_reason, places, key="difference"
            )
        )
        differ = Column("p (adjusted)", lambda row: row.pairs[0].p, kind="p")
        tested = f"p (adjusted): {TEST}"
    return Grid(
        "results",
        "Results by metric",
        (METRIC, Column("direction", "direction", spare=3)),
        comparison.metrics,
        columns,
        None,
        "Means over each system's own questions; in bold: no system is significantly better, and one is worse. n: "
        f"questions on which a pair is compared, the fewest to the most. {tested}.",
        unit="",
        best={
            name: [metric for metric in comparison.metrics if is_best(metric, name)]
            for name in names
        },
        beside=(
            differ,
            Column("n", _compared_on, kind="extremes", spare=2),
            Column("conclusion", conclusion),
        ),
    )


def _without_reason(result: MetricResult) -> Estimate:
    """The difference of the only pair; the conclusion, and the table of differences, say why there is none."""
    return replace(result.pairs[0].difference, reason=None, remark=None)


def _compared_on(result: MetricResult) -> Range:
    counts = [pair.common.n for pair in result.pairs]
    return Range(min(counts), max(counts))


def is_best(result: MetricResult, name: str) -> bool:
    """No system is significantly better, and some system is significantly worse than another."""
    system = result.system(name)
    return (
        system is not None
        and system.best == 1
        and any(rival.best and rival.best > 1 for rival in result.systems)
    )


_WINNERS = 3
"""Systems better than others that a conclusion names."""


def conclusion(result: MetricResult) -> str:
    """What the tests of a metric say, in a few words."""
    if all(pair.p is None for pair in result.pairs):
        clustered = all("clusters" in (pair.common.reason or "") for pair in result.pairs)
        return f"not tested: too few {'clusters' if clustered else 'questions'}"
    if result.undetectable:
        return f"too few {'draws' if ' draws ' in result.undetectable else 'questions'}"
    significant = [pair for pair in result.pairs if pair.significant]
    if not significant:
        return (
            f"{UNDECIDED}: unscored answers"
            if any(pair.undecided for pair in result.pairs)
            else _ALIKE
        )
    way = "better" if result.facts.higher_is_better is not None else "higher"
    if len(result.systems) == 2:
        return f"{significant[0].better} is {way}"
    below: dict[str, list[str]] = {}  # pairs are in the order of the systems, the best first
    for pair in significant:
        better = str(pair.better)
        below.setdefault(better, []).append(pair.second if better == pair.first else pair.first)

    def than(losers: Sequence[str]) -> str:
        phrase = "all others" if len(losers) == len(result.systems) - 1 else f"{len(losers)} others"
        return listed(losers) if len(losers) < 3 else phrase

    phrases = [f"{better} than {than(losers)}" for better, losers in list(below.items())[:_WINNERS]]
    unnamed_pairs = sum(map(len, list(below.values())[_WINNERS:]))
    phrases += [f"and {counted(unnamed_pairs, 'more pair')} differ"] if unnamed_pairs else []
    return ", ".join(phrases).replace(" than ", f" is {way} than ", 1)


def _clusters(comparison: Comparison) -> str:
    """The clusters of the tests, if questions share them: their field, their number and how many they amount to."""
    results = [
        pair.common
        for metric in comparison.metrics
        for pair in metric.pairs
        if pair.common.clusters
    ]
    if comparison.cluster == QUESTION or not results:
        return ""
    fewest = min(results, key=lambda result: result.effective or result.clusters or 0)
    clusters = f"{counted(fewest.clusters or 0, 'cluster')} ({comparison.cluster})"
    return f" over {clusters}, {fewest.effective or 0:.1f} effective"


# Differences ----------------------------------------------------------------------------------------------------------


def _pairs(comparison: Comparison) -> list[PairResult]:
    return [pair for metric in comparison.metrics for pair in metric.pairs]


def _grid_of_differences(
    pairs: Sequence[PairResult], places: int | None, note: str = ""
) -> Grid[PairResult]:
    def about(pair: PairResult) -> str | None:
        ends = pair.common.ends
        equal = _EQUAL if pair.common.better and ends and ends[0] <= 0 <= ends[1] else None
        return "; ".join(filter(None, (pair.undecided, equal, pair.few))) or None

    return Grid(
        "differences",
        "Differences",
        _PAIR,
        pairs,
        (
            Column("first - second", "difference", places, key="difference"),
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
                places,
                key="detectable",
                spare=1,
            ),
            Column("p (unadjusted)", "difference.p_unadjusted", kind="p", spare=3),
            Column("p (Tukey HSD)", "p_tukey", kind="p", spare=4),
            Column("effective clusters", "difference.effective", 1, kind="method"),
            Column("remark", about),
        ),
        label=_label,
    )


def _differences(comparison: Comparison) -> Section:
    ci = f"{100 * (1 - comparison.settings.alpha):.4g} % CI"
    tests = (
        f"p (adjusted) decides: {TEST} ({counted(comparison.comparisons, 'comparison')}). p (unadjusted): the same "
        "test of the pair alone. p (Tukey HSD): as in the CCRS paper, over the pairs of the metric, on the questions "
        "that every system has."
    )
    return Section(
        "Differences",
        f"First minus second in the metric's units, over the n questions that both have, with {ci} and adjusted "
        "p-values.",
        (_grid_of_differences(_pairs(comparison), comparison.places, tests).table(),),
        differences(
            [metric for metric in comparison.metrics if metric not in _in_overview(comparison)]
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
        _grid_of_differences(pairs, result.places).forest(
            title, reference=0.0, note=lambda pair: p_value(pair.p)
        )
        for result, pairs, title in _drawn(metrics)
    )


def _drawn(
    metrics: Sequence[MetricResult],
) -> Sequence[tuple[MetricResult, Sequence[PairResult], str]]:
    """Each metric with the pairs that its figures have and their title."""
    words = metric_titles(metric.metric for metric in metrics)
    drawn = []
    for one in metrics:
        all_ = len(one.pairs) <= MOST_PAIRS
        title = words[one.metric] + ("" if all_ else ": the first system against each other one")
        drawn.append((one, one.pairs if all_ else one.pairs[: len(one.systems) - 1], title))
    return drawn


def _label(pair: PairResult) -> str:
    return f"{pair.first} - {pair.second}"


def _silent(comparison: Comparison) -> tuple[Section, ...]:
    """Both readings of the pairs with unscored answers; no section if there are none."""
    pairs = [pair for pair in _pairs(comparison) if pair.counted is not None]
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
            *_PAIR,
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


# What they rest on ----------------------------------------------------------------------------------------------------


def _grid_of_means(systems: Sequence[SystemResult], places: int) -> Grid[SystemResult]:
    return Grid(
        "means",
        "Means",
        (
            METRIC,
            Column("system", "system"),
            Column("rank", "rank"),
            Column("group", lambda row: row.groups or None),
        ),
        systems,
        (Column("mean", "mean", places),),
        None,
        "Means over each system's own questions, as in the table of a run. Ranks and groups follow the tests of the "
        "pairs.",
        beside=(Column("scored", lambda row: row.asked - row.silent), Column("total", "rows")),
        label=lambda row: row.system,
    )


def _means(comparison: Comparison) -> Section:
    return Section(
        "Means and ranking",
        "Best first (highest first if neither direction is better). Systems that share a letter, or a bar in the "
        "figure, do not differ significantly.",
        (
            _grid_of_means(
                [system for metric in comparison.metrics for system in metric.systems],
                comparison.places,
            ).table(),
        ),
        rankings(comparison.metrics),
        "Rank 1-3: no system is significantly better, and all but three are significantly worse. A system can be in "
        "two groups: it differs neither from A nor from C, although A and C differ.",
        folded=len(comparison.systems) <= _NAMED,
    )


def rankings(metrics: Sequence[MetricResult]) -> tuple[Figure, ...]:
    """The systems of each metric, best first, with bars beside those that do not differ significantly; if neither
    direction is better, their means without a ranking."""
    figures = []
    words = metric_titles(metric.metric for metric in metrics)
    for result in metrics:
        if result.facts.higher_is_better is None:
            title = f"{words[result.metric]} (direction: {result.direction})"
            figures.append(
                _grid_of_means(result.systems, result.places).forest(
                    title, note=lambda row: row.rank or ""
                )
            )
        else:
            lanes = [
                ForestRow(s.system, s.mean.value, s.mean.low, s.mean.high, s.rank or "")
                for s in result.systems
            ]
            figures.append(
                groups(lanes, bars(result), f"{words[result.metric]} ({result.direction})")
            )
    return tuple(figures)


def bars(result: MetricResult) -> list[tuple[int, int]]:
    """The runs of neighbours in each group, (first, last) places."""
    place = {system.system: i for i, system in enumerate(result.systems)}
    runs_found = []
    for group in result.groups:
        members = sorted(place[name] for name in group)
        start = members[0]
        for member, following in zip(members, [*members[1:], None], strict=True):
            if following != member + 1:
                if member > start:
                    runs_found.append((start, member))
                start = following or 0
    return runs_found


_WON = ("won", "tied", "lost")
_HIGHER = ("first higher", "equal", "first lower")  # from the view of the first system


def _wins(comparison: Comparison) -> Section:
    outcomes = {
        metric.metric: _WON if metric.facts.higher_is_better is not None else _HIGHER
        for metric in comparison.metrics
    }
    grid = Grid(
        "wins",
        "Questions won, tied and lost",
        (
            *_PAIR,
            Column("counts", lambda pair: " / ".join(outcomes[pair.metric])),
            Column("won", "won"),
            Column("tied", "ties"),
            Column("lost", "lost"),
        ),
        _pairs(comparison),
        (Column("won + ties / 2", "share", 3, key="share"),),
        None,
        "The interval is that of a mean of points between 0 and 1; a tie is half a point.",
    )
    figures = [
        stacked(
            [
                Stack(
                    _label(pair),
                    tuple(
                        zip(outcomes[result.metric], (pair.won, pair.ties, pair.lost), strict=True)
                    ),
                )
                for pair in pairs
                if pair.won + pair.ties + pair.lost
            ],
            title,
        )
        for result, pairs, title in _drawn(comparison.metrics)
    ]
    return Section(
        "Questions won",
        "The number of common questions on which the first system of a pair is better, equal, or worse.",
        (grid.table(),),
        figures,
        "If neither direction is better, won counts the questions on which the first is higher.",
        folded=True,
    )


def _questions(comparison: Comparison) -> Section:
    def score_of(name: str) -> Callable[[QuestionApart], float | None]:
        return lambda question: question.scores.get(name)

    def text(question: QuestionApart) -> str | None:
        return (
            question.text
            if question.text is None or len(question.text) <= _TEXT
            else question.text[: _TEXT - 1] + "…"
        )

    columns = (
        METRIC,
        Column("question_id"),
        Column("question", text),
        Column("range", "spread", comparison.places, key="spread"),
        Column("highest"),
        Column("lowest"),
        *(
            Column(name, score_of(name), comparison.places, key=f"score: {name}", spare=1)
            for name in (comparison.systems if len(comparison.systems) <= _NAMED else ())
        ),
    )
    questions = [question for metric in comparison.metrics for question in metric.apart]
    notes = [
        f"{metric.metric}: {counted(metric.as_far, 'more question')} with the same range as the last of these."
        for metric in comparison.metrics
        if metric.as_far
    ]
    return Section(
        "Where the systems differ most",
        "The questions with the widest range of scores on each metric. Read these answers first.",
        (Table("questions", "Questions on which the systems differ most", columns, questions),),
        note=" ".join(notes),
        folded=True,
    )


def _missing(comparison: Comparison) -> Section:
    rows: list[tuple[Any, ...]] = []
    for result in comparison.metrics:
        for system in result.systems:
            reasons = [reasons_in_words(system.unscored)] if system.unscored else []
            reasons += (
                [f"{system.asked - system.rows} without a row"]
                if system.asked > system.rows
                else []
            )
            if reasons:
                rows.append(
                    (
                        result.metric,
                        system.system,
                        result.questions,
                        system.missing,
                        "; ".join(reasons),
                    )
                )
        for name, unscored in result.absent:
            rows.append(
                (
                    result.metric,
                    name,
                    result.questions,
                    result.questions,
                    reasons_in_words(unscored) or "no row",
                )
            )
    rows += [(metric, *[None] * 3, why) for metric, why in comparison.left_out]
    columns = (
        Column("metric", kind="metric"),
        *map(Column, ("system", "questions", "missing", "reason")),
    )
    return Section(
        "Missing scores",
        "A pair is compared on the questions with a score of both systems."
        if rows
        else "No score is missing.",
        (Table("unscored", "Questions without a score", columns, rows),) if rows else (),
        note="reason: counted by judge." if rows and comparison.judges else "",
        folded=bool(rows),
    )

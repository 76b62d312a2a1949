"""A comparison as a page: an overview, tables, figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from longmark.analysis.compare.comparison import Comparison
from longmark.analysis.compare.effects import FEWEST_JACKKNIFE
from longmark.analysis.compare.hypotheses import HYPOTHESES, hypotheses_section
from longmark.analysis.compare.judges import JUDGES, for_judges, judge_section
from longmark.analysis.compare.margin import MARGIN, UNDECIDED, margin_section
from longmark.analysis.compare.metric import MetricComparison, PairOnMetric, SystemOnMetric
from longmark.report.charts import ForestRow, Stack, forest, groups, stacked
from longmark.report.document import Document, Section
from longmark.report.figures import Figure
from longmark.report.format import counted, listed, metric_titles, p_value
from longmark.report.summary import reasons_in_words
from longmark.report.tables import Column, Mean, Range, Table, interval_columns, method_column, systems_table
from longmark.scores.clusters import QUESTION

MOST_PAIRS = 30
"""Pairs drawn for a metric; of more, those of the first system with each other one."""
_NAMED = 8
"""Systems up to which titles name them and each has a column of its scores."""
_TEXT = 160  # characters shown of a question
TEST = "studentised paired sign flips, single-step max-T over all pairs and metrics"
SILENT = "Unscored answers"
_EQUAL = "all differences are equal: p decides, the interval counts what so few questions can miss"
_NOT_EQUAL = "No significant difference does not mean equal. See the detectable differences."


class On(NamedTuple):
    """A metric, or two, and what a line of a table is about: a system, a pair of systems, a question, a correlation."""

    metric: Any
    of: Any


METRIC = Column("metric", "metric.metric", kind="metric")
_PAIR = (METRIC, Column("first", "of.first"), Column("second", "of.second"))


def document(found: Comparison) -> Document:
    """The page of a comparison."""
    names = ", ".join(found.systems) if len(found.systems) <= _NAMED else f"{len(found.systems)} systems"
    tests = {one.metric: one.tukey for one in found.metrics}
    clusters = None if found.cluster == QUESTION else found.cluster
    decided = (
        *(_overview(found), *_silent(found), *margin_section(found.margins, found.alpha, found.places)),
        *hypotheses_section(found.hypotheses, tests, found.permutations, found.alpha, clusters),
        *(_means(found), _differences(found), _wins(found)),
    )
    first, *rest = (for_judges(one, found.judges) for one in decided)
    return Document(
        kind="comparison",
        title=f"Comparison of {names}",
        lede=f"{counted(len(found.metrics), 'metric')}, paired by question.",
        sections=(first, *judge_section(found.judges, found.places), *rest, _questions(found), _missing(found)),
        notices=found.notices,
        settings={
            "Runs": list(found.runs),
            "Compared by": found.by,
            "Clusters": found.cluster,
            "Systems": list(found.systems),
            "Test that decides": TEST,
            "Family": "pairs with the first system" if found.against_first else "all pairs",
            "Questions": "those with a score of every system" if found.complete else "of a pair: those that both have",
            "Permutations of a test": f"{found.permutations:,}; small tables are enumerated",
            "Comparisons in the family": found.comparisons,
            "Alpha": found.alpha,
            "Confidence intervals": f"differences: the test inverted, simultaneous ({_simultaneous(found)}); over "
            f"questions ({_ci(found)}): means and shares won Hall's t or "
            f"Wilson, d_z jackknife (below {FEWEST_JACKKNIFE} questions noncentral t)",
            "Seed": found.seed,
            "Differences in scoring": list(found.differing),
        },
    )


def brief(page: Document) -> Document:
    """What `compare` and `metrics-study` print without --verbose: a line per metric, margins and hypotheses."""
    first, *rest = (replace(one, tables=one.tables[:1]) for one in page.sections)
    kept = [one for one in rest if one.title in (MARGIN, JUDGES, HYPOTHESES) or _disagrees(one)]
    note = f"{first.note} --verbose prints every table; --out DIR writes them, with figures.".strip()
    return replace(page, sections=[replace(first, note=note), *kept])


def _disagrees(section: Section) -> bool:
    """The readings of a pair disagree."""
    return section.title == SILENT and any(row[-1] == UNDECIDED for row in section.tables[0].rows)


def _ci(found: Comparison) -> str:
    return f"{100 * found.level:.4g} % CI"


def _simultaneous(found: Comparison) -> str:
    """The head of intervals of differences, which invert the test at alpha."""
    return f"{100 * (1 - found.alpha):.4g} % CI"


def _tests(found: Comparison) -> str:
    return (
        f"p (adjusted) decides: {TEST} ({counted(found.comparisons, 'comparison')}). p (unadjusted): the same test of "
        "the pair alone. p (Tukey HSD): as in the CCRS paper, over the pairs of the metric, on the questions that "
        "every system has."
    )


def _on_pairs(found: Comparison) -> list[On]:
    return [On(one, pair) for one in found.metrics for pair in one.pairs]


def _reasons(*reasons: str | None) -> str | None:
    """The reasons, each once."""
    return "; ".join(dict.fromkeys(reason for reason in reasons if reason)) or None


def _overview(found: Comparison) -> Section:
    """A line per metric. Of two systems: means, difference, p; of more: the means and how many pairs differ."""
    places = found.places
    columns: list[Column] = [Column("metric", kind="metric"), Column("direction", spare=3)]
    for name in found.systems if len(found.systems) <= _NAMED else ():
        columns.append(Column(name, _mean_of(name), places, key=f"mean: {name}", spare=1))
    if len(found.systems) == 2:
        pair = " - ".join(found.systems)
        columns += [
            *interval_columns(
                pair, lambda one: one.pairs[0].difference, places, _simultaneous(found), "difference", "interval"
            ),
            Column("p (adjusted)", lambda one: one.pairs[0].test.p, kind="p", key="p_adjusted"),
        ]
        tested = f"p (adjusted): {TEST}"
    else:
        differ = [
            Column("pairs that differ", lambda one: f"{sum(p.significant for p in one.pairs)} / {len(one.pairs)}")
        ]
        columns += differ
        tested = f"pairs that differ: p (adjusted) at most alpha ({TEST})"
    several = any(len({pair.test.n for pair in one.pairs}) > 1 for one in found.metrics)
    columns += [_fewest_to_most() if several else Column("n", spare=2), Column("conclusion", conclusion)]
    fewest = " (from the pair with the fewest to the pair with the most)" if several else ""
    note = f"Means over each system's own questions. n: questions on which a pair is compared{fewest}. {tested}."
    means = {(of.system, one.metric): (of.mean, is_best(one, of)) for one in found.metrics for of in one.systems}

    def cell(system: str, metric: str) -> Mean | None:
        mean, best = means.get((system, metric), (None, False))
        return None if mean is None else Mean(mean.value, mean.low, mean.high, best)

    metrics = [Column(one.metric, places=one.places, kind=one.direction) for one in found.metrics]
    paper = (
        f"Means over each system's own questions with {_ci(found)}; in bold: no system is significantly better, and "
        "one is worse."
    )
    pairs = [pair for one in found.metrics for pair in one.pairs]
    significant = sum(pair.significant for pair in pairs)
    of = counted(found.comparisons, "comparison")
    says = f"Significant differences: {significant:,} of {of} (alpha {found.alpha:g}, adjusted by max-T"
    says += f"{_clusters(found)})." + (" Pairs with the first system only." if found.against_first else "")
    return Section(
        "Overview",
        says if found.comparisons else "Nothing was tested.",
        (
            Table("overview", "Results by metric", tuple(columns), found.metrics, note),
            systems_table(found.systems, metrics, cell, paper, marked=True),
        ),
        note=_NOT_EQUAL if any(pair.test.detectable is not None and not pair.significant for pair in pairs) else "",
    )


def _silent(found: Comparison) -> tuple[Section, ...]:
    """Both readings of the pairs with unscored answers; no section if there are none."""
    lines = [on for on in _on_pairs(found) if on.of.counted is not None]
    if not lines:
        return ()
    places, ci = found.places, _simultaneous(found)

    def silent(name: str) -> Callable[[On], str]:
        def get(on: On) -> str:
            of = next(one for one in on.metric.systems if one.system == getattr(on.of, name))
            return f"{of.silent:,} / {of.asked:,}"

        return get

    def result(on: On) -> str:
        return UNDECIDED if on.of.undecided else str(on.of.common.in_words())

    columns = (
        *_PAIR,
        Column("first unscored", silent("first"), kind="number"),
        Column("second unscored", silent("second"), kind="number"),
        Column("p (unscored)", "of.p_unscored", kind="p", spare=2),
        Column("counted as", "metric.worst", 2, spare=1),
        *interval_columns("common", "of.common.difference", places, ci, "common", "common_interval"),
        Column("p", "of.common.test.p", kind="p", key="p_common"),
        *interval_columns("as worst", "of.counted.difference", places, ci, "counted", "counted_interval"),
        Column("p", "of.counted.test.p", kind="p", key="p_counted"),
        Column("result", result),
    )
    return (
        Section(
            SILENT,
            "Each pair in two readings: first minus second on the common questions, and on the questions with a score "
            "of either, with unscored answers as the worst score. Where they disagree, the pair is undecided.",
            (Table("readings", "Both readings of pairs with unscored answers", columns, lines),),
            note="as worst: an answer without a score, or without a row, has the metric's bound on the worse side; "
            "without a bound, the worst score of any system. p (unscored): of the test whether one of the two has more "
            "unscored answers.",
        ),
    )


def _clusters(found: Comparison) -> str:
    """The clusters of the tests, if questions share them: their field, their number and how many they amount to."""
    of = [pair.difference for one in found.metrics for pair in one.pairs if pair.difference.clusters]
    if found.cluster == QUESTION or not of:
        return ""
    fewest = min(of, key=lambda one: one.effective or one.clusters or 0)
    return f" over {counted(fewest.clusters or 0, 'cluster')} ({found.cluster}), {fewest.effective or 0:.1f} effective"


def _fewest_to_most() -> Column:
    def questions(one: MetricComparison) -> Range:
        counts = [pair.test.n for pair in one.pairs]
        return Range(min(counts), max(counts))

    return Column("n", questions, kind="extremes", spare=2)


def is_best(one: MetricComparison, of: SystemOnMetric) -> bool:
    """No system is significantly better, and some system is significantly worse than another."""
    return of.best == 1 and any(other.best and other.best > 1 for other in one.systems)


def _mean_of(name: str) -> Callable[[MetricComparison], float | None]:
    return lambda one: next((system.mean.value for system in one.systems if system.system == name), None)


def conclusion(one: MetricComparison) -> str:
    if all(pair.test.p is None for pair in one.pairs):
        clustered = all("clusters" in (pair.test.reason or "") for pair in one.pairs)
        return f"not tested: too few {'clusters' if clustered else 'questions'}"
    if one.undetectable:
        return f"too few {'draws' if ' draws ' in one.undetectable else 'questions'}"
    significant = [pair for pair in one.pairs if pair.significant]
    if not significant:
        open_ = any(pair.undecided for pair in one.pairs)
        return f"{UNDECIDED}: unscored answers" if open_ else "no significant difference"
    way = "better" if one.facts.higher_is_better is not None else "higher"
    first = significant[0].better  # pairs are in the order of the systems, the best first
    if len(one.systems) == 2:
        return f"{first} is {way}"
    others = [({pair.first, pair.second} - {first}).pop() for pair in significant if pair.better == first]
    return f"{first} is {way} than {listed(others) if len(others) < 3 else f'{len(others)} others'}"


def _means(found: Comparison) -> Section:
    ci, places = _ci(found), found.places
    columns = (
        *(METRIC, Column("system", "of.system"), Column("rank", "of.rank")),
        Column("group", lambda on: on.of.groups or None),
        *interval_columns("mean", "of.mean", places, ci, "mean", "interval"),
        method_column("of.mean", "interval_method"),
        Column("n", "of.mean.n"),
        Column("scored", lambda on: on.of.asked - on.of.silent),
        Column("total", "of.rows"),
        Column("reason", "of.mean.reason"),
    )
    items = [On(one, system) for one in found.metrics for system in one.systems]
    note = (
        "Means over each system's own questions. Intervals: Hall's t, as in the table of a run. Ranks and groups "
        "follow the tests of the pairs."
    )
    return Section(
        "Means and ranking",
        "Best first (highest first if neither direction is better). Systems that share a letter, or a bar in the "
        "figure, do not differ significantly.",
        (Table("means", "Means", columns, items, note),),
        rankings(found.metrics),
        "Rank 1-3: no system is significantly better, and all but three are significantly worse. A system can be in "
        "two groups: it does not differ from A and not from C, although A and C differ.",
    )


def rankings(metrics: Sequence[MetricComparison]) -> tuple[Figure, ...]:
    """The systems of each metric, best first, with bars beside those that do not differ significantly; if neither
    direction is better, their means without a ranking."""
    figures, words = [], metric_titles(one.metric for one in metrics)
    for one in metrics:
        name = words[one.metric]
        means = [(s.system, s.mean.value, s.mean.low, s.mean.high, s.rank or "") for s in one.systems]
        if one.facts.higher_is_better is not None:
            figures.append(groups([ForestRow(*row) for row in means], bars(one), f"{name} ({one.direction})"))
        else:
            rows = [ForestRow(*row) for row in means]
            figures.append(forest(rows, f"{name} (direction: {one.direction})", reference=None))
    return tuple(figures)


def bars(one: MetricComparison) -> list[tuple[int, int]]:
    """The runs of neighbours in each group, (first, last) places."""
    place = {system.system: i for i, system in enumerate(one.systems)}
    found = []
    for group in one.groups:
        members = sorted(place[name] for name in group)
        start = members[0]
        for member, following in zip(members, [*members[1:], None], strict=True):
            if following != member + 1:
                if member > start:
                    found.append((start, member))
                start = following or 0
    return found


def _differences(found: Comparison) -> Section:
    ci, places = _simultaneous(found), found.places

    def reason(on: On) -> str | None:
        pair, ends = on.of, on.of.difference.ends
        apart = _EQUAL if pair.common.better and ends and ends[0] <= 0 <= ends[1] else None
        test = pair.test
        return _reasons(
            *(pair.undecided, apart, test.reason, pair.few, test.remark, pair.difference.reason, pair.d_z.reason)
        )

    columns = (
        *_PAIR,
        *interval_columns("first - second", "of.difference", places, ci, "difference", "interval"),
        Column("p (adjusted)", "of.test.p", kind="p"),
        Column("significant", lambda on: on.of.significant if on.of.test.p is not None else None),
        Column("detectable at 80 % power", "of.test.detectable", places, key="detectable", spare=1),
        method_column("of.difference", "interval_method"),
        Column("p (unadjusted)", "of.test.p_unadjusted", kind="p", spare=3),
        Column("p (Tukey HSD)", "of.p_tukey", kind="p", spare=4),
        *(replace(one, spare=2) for one in interval_columns("d_z", "of.d_z", 2, _ci(found), interval="d_z_interval")),
        method_column("of.d_z", "d_z_interval_method"),
        Column("n", "of.test.n"),
        Column("clusters", "of.difference.clusters", spare=5),
        Column("effective clusters", "of.difference.effective", 1, spare=6),
        Column("reason", reason),
    )
    table = Table("differences", "Differences", columns, _on_pairs(found), _tests(found))
    return Section(
        "Differences",
        f"First minus second in the metric's units, over the n questions that both have, with {ci} and adjusted "
        "p-values.",
        (table,),
        differences(found.metrics),
        "The intervals invert the test: together they hold all true differences with the stated confidence, and one "
        "excludes 0 exactly if its adjusted p is at most alpha. If no difference could be significant, the interval is "
        "Hall's t, extended to hold 0. If all differences are equal, it is made from the metric's bounds, and p "
        "decides. d_z: the mean difference divided by the standard deviation of the differences. detectable: the true "
        "difference that the adjusted test detects with 80 % power at this sample size, by normal theory; empty if no "
        "difference is detectable.",
    )


def differences(metrics: Sequence[MetricComparison]) -> tuple[Figure, ...]:
    """Each pair's difference with its interval; beside it the adjusted p."""
    words = metric_titles(one.metric for one in metrics)
    return tuple(
        forest(
            [
                ForestRow(_label(p), p.difference.value, p.difference.low, p.difference.high, p_value(p.test.p))
                for p in _drawn(one)
            ],
            _titled(one, words),
        )
        for one in metrics
    )


def _wins(found: Comparison) -> Section:
    columns = (
        *_PAIR,
        Column("counts", lambda on: " / ".join(_outcomes(on.metric))),
        *(Column("won", "of.won"), Column("tied", "of.ties"), Column("lost", "of.lost")),
        *interval_columns("won + ties / 2", "of.share", 3, _ci(found), "share", "share_interval"),
        method_column("of.share", "share_interval_method"),
        *(Column("n", "of.share.n"), Column("reason", "of.share.reason")),
    )
    note = "The interval is that of a mean of points between 0 and 1; a tie is half a point."
    table = Table("wins", "Questions won, tied and lost", columns, _on_pairs(found), note)
    words = metric_titles(one.metric for one in found.metrics)
    figures = tuple(
        stacked(
            [
                Stack(_label(p), tuple(zip(_outcomes(one), (p.won, p.ties, p.lost), strict=True)))
                for p in _drawn(one)
                if p.won + p.ties + p.lost
            ],
            _titled(one, words),
        )
        for one in found.metrics
    )
    return Section(
        "Questions won",
        "The number of common questions on which the first system of a pair is better, equal, or worse.",
        (table,),
        figures,
        "If neither direction is better, won counts the questions on which the first is higher.",
    )


def _outcomes(one: MetricComparison) -> tuple[str, str, str]:
    """What the three counts are called, from the view of the first system."""
    return (
        ("won", "tied", "lost") if one.facts.higher_is_better is not None else ("first higher", "equal", "first lower")
    )


def _drawn(one: MetricComparison) -> Sequence[PairOnMetric]:
    return one.pairs if len(one.pairs) <= MOST_PAIRS else one.pairs[: len(one.systems) - 1]


def _titled(one: MetricComparison, words: Mapping[str, str]) -> str:
    first = "" if len(one.pairs) <= MOST_PAIRS else ": the first system against each other one"
    return words[one.metric] + first


def _label(pair: PairOnMetric) -> str:
    return f"{pair.first} - {pair.second}"


def _questions(found: Comparison) -> Section:
    def score_of(name: str) -> Callable[[On], float | None]:
        def get(on: On) -> float | None:
            systems = [system.system for system in on.metric.systems]
            score: float | None = on.of.scores[systems.index(name)] if name in systems else None
            return score

        return get

    def text(on: On) -> str | None:
        words: str | None = on.of.text
        return words if words is None or len(words) <= _TEXT else words[: _TEXT - 1] + "…"

    columns = (
        *(METRIC, Column("question_id", "of.question_id"), Column("question", text)),
        Column("range", "of.spread", found.places, key="spread"),
        *(Column("highest", "of.highest"), Column("lowest", "of.lowest")),
        *(
            Column(name, score_of(name), found.places, key=f"score: {name}", spare=1)
            for name in (found.systems if len(found.systems) <= _NAMED else ())
        ),
    )
    items = [On(one, question) for one in found.metrics for question in one.apart]
    more = [
        f"{one.metric}: {one.as_far:,} more questions have the same range as the last of these."
        for one in found.metrics
        if one.as_far
    ]
    return Section(
        "Where the systems differ most",
        "The questions with the widest range of scores on each metric. Read these answers first.",
        (Table("questions", "Questions on which the systems differ most", columns, items),),
        note=" ".join(more),
    )


def _missing(found: Comparison) -> Section:
    rows: list[tuple[Any, ...]] = []
    for one in found.metrics:
        for each in one.systems:
            reasons = [reasons_in_words(each.unscored)] if each.unscored else []
            reasons += [f"{each.asked - each.rows} without a row"] if each.asked > each.rows else []
            if reasons:
                rows.append((one.metric, each.system, one.questions, each.missing, "; ".join(reasons)))
        for name, unscored in one.absent:
            rows.append((one.metric, name, one.questions, one.questions, reasons_in_words(unscored) or "no row"))
    rows += [(metric, *[None] * 3, why) for metric, why in found.left_out]
    columns = (Column("metric", kind="metric"), *map(Column, ("system", "questions", "missing", "reason")))
    return Section(
        "Missing scores",
        "A pair is compared on the questions with a score of both systems." if rows else "No score is missing.",
        (Table("unscored", "Questions without a score", columns, rows),) if rows else (),
        note="reason: counted by judge." if rows and found.judges else "",
    )

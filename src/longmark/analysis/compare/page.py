"""A comparison as a page: who won what, the differences, then everything that they rest on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from longmark.analysis.compare.answers_section import answers_section
from longmark.analysis.compare.basis_sections import (
    MOST_NAMED,
    means_section,
    missing_section,
    questions_section,
    questions_table,
    wins_section,
)
from longmark.analysis.compare.comparison import Comparison, tests_in
from longmark.analysis.compare.difference_sections import (
    METRIC,
    TEST,
    differences_section,
    pair_label,
    role_column,
    unscored_sections,
    verdict_figures,
)
from longmark.analysis.compare.estimates import FEWEST_JACKKNIFE
from longmark.analysis.compare.hypotheses import hypotheses_section
from longmark.analysis.compare.judges import for_judges, judge_section
from longmark.analysis.compare.margin import UNDECIDED, margin_section
from longmark.analysis.compare.results import MetricResult
from longmark.analysis.compare.verdict import verdict
from longmark.analysis.grid import Grid
from longmark.options import named
from longmark.report.document import Document, Section, folded_after
from longmark.report.format import counted, listed, metric_titles
from longmark.report.tables import Column, Range, placed
from longmark.scores.clusters import QUESTION
from longmark.stats.results import Estimate

RESULT = "Result"
_NOT_EQUAL = "No significant difference does not mean equal. See the detectable differences."
_NO_DIFFERENCE = "no significant difference"
_WINNERS = 3
"""Systems better than others that a conclusion names."""


def document(comparison: Comparison) -> Document:
    names = (
        ", ".join(comparison.systems)
        if len(comparison.systems) <= MOST_NAMED
        else f"{len(comparison.systems)} systems"
    )
    tests = {metric.metric: metric.tukey for metric in comparison.metrics}
    clusters = None if comparison.cluster == QUESTION else comparison.cluster
    settings = comparison.settings
    ci, simultaneous = (f"{100 * level:.4g} % CI" for level in (settings.level, 1 - settings.alpha))
    decided: tuple[Section, ...] = (
        _result_section(comparison),
        differences_section(comparison),
    )
    if comparison.margins:
        decided += margin_section(comparison.margins, settings.alpha, comparison.places)
    if comparison.hypotheses:
        decided += hypotheses_section(
            comparison.hypotheses, tests, settings.permutations, settings.alpha, clusters
        )
    behind: tuple[Section, ...] = (
        *unscored_sections(comparison),
        means_section(comparison),
        wins_section(comparison),
    )
    by_judge: tuple[Section, ...] = ()
    if comparison.judges:
        decided = tuple(for_judges(section, comparison.judges) for section in decided)
        behind = tuple(for_judges(section, comparison.judges) for section in behind)
        by_judge = judge_section(comparison.judges, comparison.places)
    answers: tuple[Section, ...] = ()
    if comparison.apart:
        answers = answers_section(comparison, questions_table(comparison))
    first, *later_sections = decided
    folded = (
        *behind,
        questions_section(comparison),
        missing_section(comparison),
    )
    return Document(
        kind="comparison",
        title=f"Comparison of {names}",
        lede=f"{_counted_metrics(comparison)}, paired by question.",
        sections=(
            first,
            *answers,
            *by_judge,
            *later_sections,
            *folded_after(folded, 0),
        ),
        notices=comparison.notices,
        settings={
            "Runs": list(comparison.runs),
            "Compared by": comparison.by,
            "Clusters": comparison.cluster,
            "Systems": list(comparison.systems),
            **({"Primary metrics": list(comparison.primary)} if comparison.primary else {}),
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


def _result_section(comparison: Comparison) -> Section:
    """The conclusion of each metric, with the means of the systems; of two systems their difference and its p."""
    settings = comparison.settings
    compared = counted(comparison.comparisons, "comparison")
    significant = _significant(comparison.deciding)
    of_primary = " of primary metrics" if comparison.primary else ""
    summary = f"{lead(comparison)} Significant differences: {significant:,} of {compared}{of_primary} (alpha "
    summary += f"{settings.alpha:g}, adjusted by max-T{_clusters(comparison)})."
    only_first = settings.baseline is not None and len(comparison.systems) > 2
    summary += " Pairs with the first system only." if only_first else ""
    return Section(
        RESULT,
        summary if comparison.comparisons else "Nothing was tested.",
        (_result_grid(comparison).table(),),
        figures=verdict_figures(comparison),
        brief=1,
        note=" ".join(_remarks(comparison)),
    )


def _remarks(comparison: Comparison) -> Iterator[str]:
    """What a reader must know of differences that are not significant."""
    pairs = [pair for metric in comparison.deciding for pair in metric.pairs]
    alpha = comparison.settings.alpha
    if any(pair.common.detectable is not None and not pair.significant for pair in pairs):
        yield _NOT_EQUAL
    alone = [
        pair.metric
        for pair in pairs
        if not pair.significant
        and pair.p is not None
        and pair.p > alpha
        and pair.difference.p_unadjusted is not None
        and pair.difference.p_unadjusted <= alpha
    ]
    if alone and comparison.comparisons > 1:
        titles = metric_titles(dict.fromkeys(alone))
        yield (
            f"On {listed(list(titles.values()))} p is at most {alpha:g} by itself, but not over "
            f"{counted(comparison.comparisons, 'comparison')}: with many metrics each one needs more. Name those that "
            f"matter before the next run ({named('primary')}): they alone then decide."
        )
    if comparison.exploratory:
        figures = (
            f"{_significant(comparison.exploratory):,} of "
            f"{counted(tests_in(comparison.exploratory), 'comparison')} significant, adjusted over these alone"
        )
        yield (
            f"Exploratory metrics: {figures}. They decide nothing: test what they suggest on new questions, as a primary "
            "metric."
            if comparison.primary
            else f"Metrics without a better direction: {figures}. They describe the answers and decide nothing."
        )


def _significant(metrics: Sequence[MetricResult]) -> int:
    return sum(pair.significant for metric in metrics for pair in metric.pairs)


def _counted_metrics(comparison: Comparison) -> str:
    total = counted(len(comparison.metrics), "metric")
    if not comparison.primary:
        return total
    return f"{total}, {len(comparison.deciding)} primary, the others exploratory"


def _result_grid(comparison: Comparison) -> Grid[MetricResult]:
    """A row for each metric, with the means of up to eight systems."""
    names = comparison.systems
    places = comparison.places

    def mean_of(name: str) -> Callable[[MetricResult], Estimate | None]:
        return lambda result: (
            placed(system.mean, result.places) if (system := result.system(name)) else None
        )

    shown_systems = names if len(names) <= MOST_NAMED else ()
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
                pair_label(comparison.metrics[0].pairs[0]),
                _without_reason,
                places,
                key="difference",
            )
        )
        differ = Column("p (adjusted)", lambda row: row.pairs[0].p, kind="p")
        tested = f"p (adjusted): {TEST}"
    return Grid(
        "results",
        "Results by metric",
        (METRIC, *role_column(comparison), Column("direction", "direction", spare=3)),
        comparison.metrics,
        columns,
        None,
        "Means over each system's own questions; in bold, where systems differ: those that no other is significantly "
        "better than. n: "
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
    difference = replace(result.pairs[0].difference, reason=None, remark=None)
    return placed(difference, result.places) or difference


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


# In words -------------------------------------------------------------------------------------------------------------


def lead(comparison: Comparison) -> str:
    """The verdict on two systems; then the metrics of each conclusion that it does not name, the decided ones first;
    then those of exploratory metrics, said to be so. Of these the ones without a significant difference are counted,
    and not named: beside a verdict nobody asked for them."""
    sentences = [verdict(comparison), _conclusions(comparison.deciding, verdict(comparison))]
    exploratory = [
        result for result in comparison.exploratory if conclusion(result) != _NO_DIFFERENCE
    ]
    like = len(comparison.exploratory) - len(exploratory)
    if exploratory or (like and comparison.primary):
        words = "Exploratory" if comparison.primary else "Neither direction is better"
        conclusions = _conclusions(exploratory, "").rstrip(".")
        if conclusions.lower().startswith(UNDECIDED):
            conclusions = conclusions[0].lower() + conclusions[1:]
        no_difference = f"{_NO_DIFFERENCE} on {counted(like, 'metric')}" if like else ""
        sentences.append(f"{words}: {'; '.join(filter(None, [conclusions, no_difference]))}.")
    return " ".join(filter(None, sentences))


def _conclusions(metrics: Sequence[MetricResult], sentence: str) -> str:
    """The metrics by their conclusions; sentence: the verdict, whose metrics are not named again."""
    titles = metric_titles(metric.metric for metric in metrics)
    by_conclusion: dict[str, list[str]] = {}
    any_shown = _significant(metrics) > 0
    for result in sorted(metrics, key=lambda metric: not _significant([metric])):
        words = conclusion(result)
        in_verdict = _significant([result]) > 0 or (words == _NO_DIFFERENCE and not any_shown)
        if not (sentence and in_verdict):
            by_conclusion.setdefault(words, []).append(titles[result.metric])
    clauses = "; ".join(f"{words} on {listed(names)}" for words, names in by_conclusion.items())
    if not clauses:
        return ""
    if clauses.startswith((_NO_DIFFERENCE, UNDECIDED)) or sentence:
        clauses = clauses[0].upper() + clauses[1:]
    return f"{clauses}."


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
            else _NO_DIFFERENCE
        )
    if len(result.systems) == 2:
        return f"{significant[0].better} is {result.way}"
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
    return ", ".join(phrases).replace(" than ", f" is {result.way} than ", 1)

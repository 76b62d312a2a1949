"""What a page shows of a label on which people chose between two answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from longmark.analysis.grid import Compared, Grid
from longmark.analysis.metaeval.choices import ChoiceLabel
from longmark.analysis.metaeval.label_sections import (
    METRIC,
    NOT_EQUAL,
    RATERS_SHOWN,
    by_group,
    differences,
    estimates,
)
from longmark.report import charts
from longmark.report.document import Section
from longmark.report.format import metric_titles
from longmark.report.tables import Column


def choice_sections(part: ChoiceLabel, alpha: float) -> Iterator[Section]:
    """Accuracy, differences, groups, agreement of metrics, position bias."""
    yield _accuracy(part)
    if part.graded:
        yield _graded(part)
    if part.strengths:
        yield _strengths(part)
    if part.differences:
        only = [
            Column(f"only {name} right", f"result.only_{name}", key=f"only_{name}")
            for name in ("first", "second")
        ]
        note = (
            "Over the pairs on which both metrics have a choice. Paired sign-flip test (max-T), as in `compare`. The "
            "interval is this test inverted, so it agrees with p. p (Holm), over all pairs of metrics, decides: it "
            "can be above alpha although the interval excludes 0."
        )
        title = "Differences in accuracy"
        table, figure = differences("differences", title, part.differences, note, alpha, only)
        yield Section(title, NOT_EQUAL, (table,), (figure,))
    if part.bands:
        yield _bands(part)
    if part.groups:
        columns = (
            *estimates("accuracy=estimate", key="accuracy"),
            *estimates("without human ties=without_ties"),
        )
        yield by_group(part.groups, "Accuracy", columns, 0.0)
    if part.same:
        yield same_choices(part.same)
    grid = Grid(
        "position",
        "Position bias of the raters",
        ("rater",),
        part.positions[:RATERS_SHOWN],
        estimates("chose the first=first", "same choice=same"),
        note="Choices without ties; a is the answer shown first. Wilson's intervals, wider where choices on one "
        "question are dependent. same choice: of the pairs that a rater saw in both orders.",
        unit="choices",
        beside=(Column("shown both ways", "same.n"),),
    )
    says = "How often raters chose the answer shown first: 0.5 without bias, if the order of the answers was random."
    yield Section("Position bias", says, (grid.table(),))


def _bands(part: ChoiceLabel) -> Section:
    grid = Grid(
        "development",
        "Development split and the rest",
        (METRIC,),
        part.bands,
        estimates("the rest=rest", "the rest, with band=banded", "gain", "development"),
        note=f"band: the greatest difference of two scores that is a tie, chosen on the development split; 0: only "
        f"equal scores. Without it, scores that are equal after rounding to {part.places} decimals tie. gain: of the "
        "rest with the band; a paired sign-flip test (max-T), inverted.",
        unit="pairs of the rest",
        beside=(Column("band"), Column("development, with band", "chosen", 3)),
    )
    says = "Tie bands are chosen on some of the questions and tested on the others."
    return Section("Development split", says, (grid.table(),))


def _accuracy(part: ChoiceLabel) -> Section:
    words = metric_titles(metric.metric for metric in part.metrics)
    grid = Grid(
        "accuracy",
        "Accuracy on human choices",
        (METRIC, Column("direction")),
        part.metrics,
        estimates("accuracy", "without human ties=without_ties"),
        label=lambda metric: words[metric.metric],
        unit="pairs",
        note=f"Scores are rounded to {part.places} decimals; equal scores are a tie; the lower score wins where lower "
        "is better. without human ties: pairs on which the raters chose a or b; a tie of the metric is wrong. both "
        "decide: pairs on which the metric is not tied either. Chance is 1/3 with three choices, 1/2 with two.",
        beside=(
            Column("both decide", "decided.value", 3, key="decided"),
            Column("ties", "ties.value", 3),
            Column("prefers a", "first.value", 3, key="first"),
        ),
    )
    figure = grid.forest(f"Accuracy on a, b or tie ({part.label})", "accuracy", round(1 / 3, 3))
    text = "How often a metric makes the choice of the majority of the raters."
    return Section("Accuracy on human choices", text, (grid.table(),), (figure,))


def _graded(part: ChoiceLabel) -> Section:
    columns = estimates("Pearson", "Spearman")
    of_metrics = Grid(
        "graded",
        "Graded preferences against metrics",
        (METRIC, Column("figure")),
        part.graded,
        columns,
        note="all labels: every label beside its pair's difference of scores (b - a). mean of raters: of the raters' "
        "correlations. raters' mean: each pair's mean label. Above 0: the metric agrees. Intervals by jackknife "
        "over questions.",
    )
    of_raters = Grid(
        "graded_raters",
        "Raters against each other",
        (Column("raters", "metric"), Column("figure")),
        part.graded_raters,
        columns,
        note="plain: the labels of the first against those of the second. symmetrised: each two labels in both orders.",
    )
    says = (
        "Correlation of graded preferences with the difference of a metric's scores, in four ways."
    )
    tables = [of_metrics.table(), *([of_raters.table()] if part.graded_raters else [])]
    return Section("Correlation with graded preferences", says, tables)


def _strengths(part: ChoiceLabel) -> Section:
    title = "Strengths of the systems"
    strength_of = {
        (chooser, strength.system): strength
        for chooser, strengths in part.strengths
        for strength in strengths
    }
    grid: Grid[tuple[str, str]] = Grid(
        "strengths",
        title,
        (Column("chosen by", kind="metric"), Column("system")),
        list(strength_of),
        [Column("log strength", places=3)],
        lambda row, _column: strength_of[row].log_strength,
        "Bradley-Terry model. The difference of two log strengths is the logarithm of the odds that the first is "
        "chosen; their mean is 0. won: a tie is half a win for each. Intervals: jackknife over questions.",
        unit="",
        beside=(
            Column("rank", lambda row: strength_of[row].rank),
            Column("won", lambda row: strength_of[row].won),
            Column("comparisons", lambda row: strength_of[row].n),
            Column("questions", lambda row: strength_of[row].log_strength.clusters),
        ),
    )
    rows = [
        row
        for row in strength_of
        if row[0] == part.strengths[0][0] and strength_of[row].log_strength.value is not None
    ]
    raters = replace(grid, rows=rows, heads=(Column("system", lambda row: row[1]),))
    text = "The systems in the order that follows from the choices of the raters, and from those of each metric."
    figures = (
        (raters.forest("Log strength by the raters' choices", reference=0.0),)
        if raters.rows
        else ()
    )
    return Section(title, text, (grid.table(),), figures)


def same_choices(compared: Sequence[Compared]) -> Section:
    """How often two metrics make the same choice, with a heat map."""
    heads = (Column("metric", "first", kind="metric"), Column("other", "second", kind="metric"))
    title = "How often two metrics make the same choice"
    grid = Grid("same_choice", title, heads, compared, estimates("same choice=result", key="share"))
    value = {frozenset((pair.first, pair.second)): pair.result.value for pair in compared}
    names = list(dict.fromkeys(name for pair in compared for name in (pair.first, pair.second)))
    cells = [[1.0 if a == b else value.get(frozenset((a, b))) for b in names] for a in names]
    words = list(metric_titles(names).values())
    figure = charts.heat_map(
        words, words, cells, "Share of pairs with the same choice", (0.0, 1.0), 2
    )
    text = "How often two metrics, or a metric and a baseline, choose the same answer."
    return Section("Agreement between metrics", text, (grid.table(),), (figure,))

"""What the result of a comparison rests on: means and ranks, questions won, those that differ most, missing scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from longmark.analysis.compare.comparison import Comparison
from longmark.analysis.compare.difference_sections import (
    METRIC,
    PAIR,
    all_pairs,
    drawn_pairs,
    pair_label,
)
from longmark.analysis.compare.results import (
    MetricResult,
    QuestionApart,
    SystemResult,
    result_titles,
)
from longmark.analysis.grid import Grid
from longmark.report.charts import ForestRow, Stack, groups, stacked
from longmark.report.document import Section
from longmark.report.figures import Figure
from longmark.report.format import counted
from longmark.report.summary import reasons_in_words
from longmark.report.tables import Column, PlacedEstimate, Table, placed

MOST_NAMED = 8
"""Systems up to which titles name them and each has a column of its scores."""
_WON = ("won", "tied", "lost")
_HIGHER = ("first higher", "equal", "first lower")  # from the view of the first system
_TEXT = 160  # characters shown of a question


# Means ----------------------------------------------------------------------------------------------------------------


def means_section(comparison: Comparison) -> Section:
    return Section(
        "Means and ranking",
        "Best first (highest first if neither direction is better). Systems that share a letter, or a bar in the "
        "figure, do not differ significantly.",
        (
            _grid_of_means(
                [system for metric in comparison.metrics for system in metric.systems],
                {metric.metric: metric.places for metric in comparison.metrics},
            ).table(),
        ),
        rankings(comparison.metrics),
        "Rank 1-3: no system is significantly better, and all but three are significantly worse. A system can be in "
        "two groups: it differs neither from A nor from C, although A and C differ.",
        folded=len(comparison.systems) <= MOST_NAMED,
    )


def _grid_of_means(
    systems: Sequence[SystemResult], places: Mapping[str, int]
) -> Grid[SystemResult]:
    """places: metric -> decimals of its means."""

    def mean_of(row: SystemResult) -> PlacedEstimate | None:
        return placed(row.mean, places[row.metric])

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
        (Column("mean", mean_of, max(places.values(), default=3)),),
        None,
        "Means over each system's own questions, as in the table of a run. Ranks and groups follow the tests of the "
        "pairs.",
        beside=(Column("scored", lambda row: row.asked - row.silent), Column("total", "rows")),
        label=lambda row: row.system,
    )


def rankings(metrics: Sequence[MetricResult]) -> tuple[Figure, ...]:
    """The systems of each metric, best first, with bars beside those that do not differ significantly; if neither
    direction is better, their means without a ranking."""
    figures = []
    words = result_titles(metrics)
    for result in metrics:
        if result.facts.higher_is_better is None:
            title = f"{words[result.metric]} (direction: {result.direction})"
            figures.append(
                _grid_of_means(result.systems, {result.metric: result.places}).forest(
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


# Questions ------------------------------------------------------------------------------------------------------------


def wins_section(comparison: Comparison) -> Section:
    outcomes = {
        metric.metric: _WON if metric.facts.higher_is_better is not None else _HIGHER
        for metric in comparison.metrics
    }
    grid = Grid(
        "wins",
        "Questions won, tied and lost",
        (
            *PAIR,
            Column("counts", lambda pair: " / ".join(outcomes[pair.metric])),
            Column("won", "won"),
            Column("tied", "ties"),
            Column("lost", "lost"),
        ),
        all_pairs(comparison),
        (Column("won + ties / 2", "share", 3, key="share"),),
        None,
        "The interval is that of a mean of points between 0 and 1; a tie is half a point.",
    )
    figures = [
        stacked(
            [
                Stack(
                    pair_label(pair),
                    tuple(
                        zip(outcomes[result.metric], (pair.won, pair.ties, pair.lost), strict=True)
                    ),
                )
                for pair in pairs
                if pair.won + pair.ties + pair.lost
            ],
            title,
        )
        for result, pairs, title in drawn_pairs(comparison.metrics)
    ]
    return Section(
        "Questions won",
        "The number of common questions on which the first system of a pair is better, equal, or worse.",
        (grid.table(),),
        figures,
        "If neither direction is better, won counts the questions on which the first is higher.",
        folded=True,
    )


def questions_table(comparison: Comparison) -> Table:
    """A row of each of the widest questions of a metric."""

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
            for name in (comparison.systems if len(comparison.systems) <= MOST_NAMED else ())
        ),
    )
    return Table(
        "questions",
        "Questions on which the systems differ most",
        columns,
        [question for metric in comparison.metrics for question in metric.apart],
        linked=bool(comparison.apart),
    )


def questions_section(comparison: Comparison) -> Section:
    notes = [
        f"{metric.metric}: {counted(metric.as_far, 'more question')} with the same range as the last of these."
        for metric in comparison.metrics
        if metric.as_far
    ]
    return Section(
        "Where the systems differ most",
        "The questions with the widest range of scores on each metric. Read these answers first.",
        (questions_table(comparison),),
        note=" ".join(notes),
        folded=True,
    )


def missing_section(comparison: Comparison) -> Section:
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

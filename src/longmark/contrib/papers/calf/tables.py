"""The tables of a CALF study, by their numbers in the paper, and those that it has no number for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import fmean

from longmark.analysis.grid import Cells, Grid
from longmark.analysis.metaeval.choice_sample import TIE, ChoiceMetric
from longmark.analysis.metaeval.label_sections import METRIC, estimates
from longmark.contrib.papers.calf.results import CHECKED, MODES, ORDERS, SPLIT, VOTES, Results, Rows
from longmark.records.pair import EXPANSION_CHECKS
from longmark.report.format import metric_titles
from longmark.report.summary import reasons_in_words
from longmark.report.tables import Column, Table
from longmark.stats.results import Estimate

AGENTS = ("pairs.icl", "pairs.chateval", "pairs.refer")
"""The judges of table 5."""
ALL, AVERAGE = "all", "Avg."
_WITH_INTERVALS = 4
"""Groups in a table whose intervals there is room for; of more the files have them."""


def accuracy(results: Results) -> Grid[ChoiceMetric]:
    """Every metric and baseline on all pairs."""

    def why(one: ChoiceMetric) -> str | None:
        judge = results.judges[one.metric]
        return (
            None if judge.baseline else reasons_in_words(judge.unscored(len(results.pairs))) or None
        )

    note = (
        "accuracy: the human choice is a, b or tie. without human ties: pairs with the human choice a or b; a tie of "
        "the metric is wrong there. where both decide: neither tied. chooses a: of its decisions. A paired sign-flip "
        "test (max-T) against the best baseline, adjusted by Holm over all pairs of metrics."
    )
    columns = estimates("accuracy", "without human ties=without_ties")
    beside = (
        Column(
            "against the best baseline",
            lambda one: against_baseline(results, one),
            key="conclusion",
        ),
        Column("where both decide", "decided.value", 3, key="decided", spare=2),
        *(Column("ties", "ties.value", 3, spare=3), Column("chooses a", "first.value", 3, spare=4)),
        *(
            Column("unscored", lambda one: sum(one.unscored.values())),
            Column("unscored because", why, spare=1),
        ),
    )
    title = "Agreement with human choices"
    return Grid(
        "accuracy", title, (METRIC,), results.metrics, columns, None, note, "pairs", beside=beside
    )


def against_baseline(results: Results, one: ChoiceMetric) -> str | None:
    """Whether a metric is better than the best baseline; `not tested` where there are too few pairs or questions."""
    if one.direction or (best := results.best_baseline) is None:
        return one.direction or None
    (pair,) = (
        pair
        for pair in results.differences
        if {pair.first, pair.second} == {one.metric, best.metric}
    )
    if pair.adjusted is None or pair.adjusted > results.options.alpha:
        return "not tested" if pair.adjusted is None else "no significant difference"
    return "above" if pair.first == one.metric else "below"


# By groups of pairs ---------------------------------------------------------------------------------------------------


def by_group(
    results: Results,
    name: str,
    title: str,
    groups: Mapping[str, Rows],
    metrics: Sequence[str] = (),
    ties: bool = True,
) -> Grid[str]:
    """The accuracy of metrics by groups of pairs, on all of their pairs, and, as in the paper's tables, the mean of the
    groups. metrics: by default all; ties False: without human ties."""
    every = {**groups, ALL: [row for rows in groups.values() for row in rows]}
    many = len(groups) > _WITH_INTERVALS

    def cell(metric: str, column: str) -> Estimate:
        if column != AVERAGE:
            return results.accuracy(metric, every[column], ties)
        of = [results.accuracy(metric, rows, ties).value for rows in groups.values()]
        return Estimate(None if None in of else fmean(of), None, None, len(of))  # type: ignore[arg-type]

    kind = "value" if many else ""
    columns = [Column(group, places=3, kind=kind, key=f"group_{group}") for group in groups]
    columns = [Column(ALL, places=3, key="all_pairs"), *columns]
    columns.append(Column(AVERAGE, places=3, kind="value", key="mean_of_groups"))
    note = "all: the pairs of all groups. Avg.: the mean of the groups, as published. Bold: the most accurate on the "
    note += "pairs that all choose on, if it is so with a missing choice counted as wrong, too."
    note += " Intervals of the groups are in the files." if many else ""
    rows = metrics or list(results.judges)
    parts = {**{column: [its] for column, its in every.items()}, AVERAGE: list(groups.values())}
    best = {
        column: {top} for column, its in parts.items() if (top := results.best(rows, its, ties))
    }
    return Grid(name, title, (METRIC,), rows, columns, cell, note, "pairs", best)


def subjects(results: Results) -> Iterator[Grid[str]]:
    """Tables 3, 5 and 15."""
    if not (groups := results.subjects):
        return
    yield by_group(results, "table3", "Accuracy by subject (the paper's table 3)", groups)
    if agents := [name for name in results.judges if name.startswith(AGENTS)]:
        yield by_group(
            results, "table5", "Demonstrations and agents (the paper's table 5)", groups, agents
        )
    yield by_group(
        results, "table15", "Accuracy without human ties (the paper's table 15)", groups, ties=False
    )


def modes(results: Results) -> Iterator[Grid[str]]:
    """The modes over all subjects, also without human ties, and table 4."""
    if not results.modes:
        return
    yield by_group(results, "by_mode", "Accuracy by mode", results.modes)
    yield by_group(
        results, "by_mode_without_ties", "By mode without human ties", results.modes, ties=False
    )
    inner = {
        f"{subject} {MODES[mode]}": both
        for subject, rows in results.subjects.items()
        for mode, its in results.modes.items()
        if (both := sorted(set(rows) & set(its))) and len(results.modes) > 1
    }
    if inner:
        yield by_group(
            results, "table4", "Accuracy by subject and mode (the paper's table 4)", inner
        )


def categories(results: Results) -> Iterator[Grid[str]]:
    if results.categories:
        yield by_group(
            results, "by_category", "Accuracy by category of question", results.categories
        )


def disputes(results: Results) -> Iterator[Grid[str]]:
    """Tables 16 and 17."""
    for number, what, rows in (
        (16, "chose differently", results.disputed),
        (17, "agreed", results.undisputed),
    ):
        if any(results.gold[row] for row in rows):
            within = {
                subject: sorted(set(rows) & set(its)) for subject, its in results.subjects.items()
            }
            groups: dict[str, Rows] = {subject: its for subject, its in within.items() if its}
            title = f"Accuracy where raters {what} (the paper's table {number})"
            yield by_group(results, f"table{number}", title, groups or {"all subjects": rows})


# Metrics and judges ---------------------------------------------------------------------------------------------------


def same_choices(results: Results) -> Grid[tuple[str, str]]:
    """How often every two metrics make the same choice, and by mode."""
    title, groups = "How often two metrics make the same choice", every_mode(results)
    heads = (Column("metric", kind="metric"), Column("other", kind="metric"))
    columns = [
        Column(mode, places=3, key="share" if mode == ALL else "", spare=int(mode != ALL))
        for mode in groups
    ]
    cell: Cells = lambda pair, mode: results.same(pair[0], pair[1], groups[mode])  # noqa: E731
    return Grid(
        "same_choice",
        title,
        heads,
        list(combinations(results.judges, 2)),
        columns,
        cell,
        unit="pairs",
    )


def matrix(results: Results, rows: Rows) -> Grid[str]:
    """The same as a table of metrics by metrics."""
    words = metric_titles(results.judges)
    columns = [Column(name, places=2, words=title) for name, title in words.items()]
    return Grid(
        "", "", (METRIC,), list(words), columns, lambda one, other: results.same(one, other, rows)
    )


def every_mode(results: Results) -> dict[str, Rows]:
    """All pairs, and those of each mode if there are several."""
    return {ALL: range(len(results.pairs)), **(results.modes if len(results.modes) > 1 else {})}


def orders(results: Results) -> Grid[str]:
    rows = [name for name, judge in results.judges.items() if judge.orders]
    columns = [Column(name, places=3) for name in ORDERS]
    note = (
        "same choice: in both orders. chooses the first shown: of its decisions; .5 without bias."
    )
    cell: Cells = lambda name, column: results.of_orders(name)[column]  # noqa: E731
    return Grid(
        "orders",
        "Order of the answers",
        (METRIC,),
        rows,
        columns,
        cell,
        note,
        "pairs in both orders",
    )


def votes(results: Results) -> Grid[tuple[str, str]]:
    rows = [
        (name, subject)
        for name, one in results.judges.items()
        if one.votes
        for subject in ("", *results.subjects)
    ]
    heads, columns = (
        (METRIC, Column("subject", lambda row: row[1] or ALL)),
        [Column(name, places=3) for name in VOTES],
    )
    note = "plurality: the accuracy of the choice with the most votes; a draw is a tie."
    cell: Cells = lambda row, column: results.of_votes(*row)[column]  # noqa: E731
    title = "Human choice among the votes (the paper's figure 2)"
    return Grid("figure2", title, heads, rows, columns, cell, note, "pairs")


def developed(results: Results) -> Grid[str]:
    """Every judge on the development split and on the rest, as it stands and with its band; nothing without a split."""
    rows, columns = (
        list(results.judges) if results.tuning else [],
        [Column(name, places=3) for name in SPLIT],
    )
    band = {name: results.band(name) or (None, None) for name in rows}
    note = (
        "band: the greatest difference of two scores that is a tie, chosen on the development split; 0: only equal "
        "scores. Without it, scores tie as the run says (bounded ones if they are equal to two decimals, as "
        "published). gain: of the rest with the band; a paired sign-flip test (max-T), inverted."
    )
    beside = (
        *(
            Column("band", lambda one: band[one][0]),
            Column("development, with band", lambda one: band[one][1], 3),
        ),
    )
    cell: Cells = lambda name, column: results.of_split(name).get(column)  # noqa: E731
    title, unit = "Development split and the rest", "pairs of the rest"
    return Grid("development", title, (METRIC,), rows, columns, cell, note, unit, beside=beside)


# Raters, and the pairs ------------------------------------------------------------------------------------------------


def _subjects(results: Results) -> dict[str, Rows]:
    """Those of each subject, and all pairs."""
    return {**results.subjects, ALL: range(len(results.pairs))}


def table1(results: Results) -> Table:
    """What the benchmark holds."""
    lines = []
    for name, rows in _subjects(results).items():
        pairs = [results.pairs[row] for row in rows]
        references = [pair.asked[1] for pair in pairs if pair.asked[1]]
        words = [count for pair in pairs for count in pair.words if count is not None]
        lines.append((
            *(name, len(pairs), len({pair.question for pair in pairs}), _mean([pair.asked[0] for pair in pairs])),
            *(_mean(references), max(references, default=None), _mean(words), max(words, default=None)),
            _mean([count for pair in pairs for count in pair.characters]),
            *(sum(pair.mode == mode for pair in pairs) or None for mode in MODES),
            *(sum(pair.gold == TIE for pair in pairs), sum(pair.gold is None for pair in pairs)),
        ))  # fmt: skip
    columns = (
        *(*map(Column, ("subject", "pairs", "questions")), Column("question", places=1)),
        *(Column("reference", places=1), Column("longest reference"), Column("answer", places=1)),
        *(Column("longest answer"), Column("answer, characters", places=1, key="characters")),
        *map(Column, MODES.values()),
        *(Column("human ties", key="ties"), Column("no choice", key="undecided")),
    )
    note = "Means of lengths in words (between white space; none in a script without spaces). H: human, M: model."
    return Table("table1", "The pairs (the paper's table 1)", columns, lines, note)


def _mean(lengths: Sequence[int | None]) -> float | None:
    known = [length for length in lengths if length is not None]
    return fmean(known) if known else None


def table2(results: Results) -> Grid[str]:
    """How often two raters make the same choice."""
    groups, kinds = _subjects(results), {ALL: range(len(results.pairs)), **results.modes}
    columns, note = (
        [Column(mode, places=2) for mode in kinds],
        "The share of pairs of raters with the same choice.",
    )

    def agreement(subject: str, mode: str) -> Estimate:
        return results.agreeing(sorted({*groups[subject]} & {*kinds[mode]}))

    title, unit = "Agreement of raters (the paper's table 2)", "pairs with two raters"
    return Grid("table2", title, ("subject",), list(groups), columns, agreement, note, unit)


def table6(results: Results) -> Iterator[Table]:
    """Errors of expanded references; nothing if nobody checked one."""
    found = {
        name: its
        for name, rows in _subjects(results).items()
        if (its := results.expansion_errors(rows))[CHECKED]
    }
    if found:
        kinds = (*EXPANSION_CHECKS, CHECKED)
        rows = [(kind.replace("_", " "), *(its[kind] for its in found.values())) for kind in kinds]
        columns = (Column("error"), *(Column(name, key=f"group_{name}") for name in found))
        note = "References with the error: at least half of the raters' answers report it. One reference a question."
        yield Table(
            "table6", "Errors of expanded references (the paper's table 6)", columns, rows, note
        )

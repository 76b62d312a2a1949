"""The tables of a CALF study, by their numbers in the paper, and those that it has no number for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from types import SimpleNamespace as Line

from longmark.analysis.metaeval import label_sections
from longmark.analysis.metaeval.choice_sample import TIE, ChoiceMetric
from longmark.analysis.studies.calf.results import CHECKED, MODES, Developed, Results, Rows
from longmark.records.pair import EXPANSION_CHECKS
from longmark.report.summary import reasons_in_words
from longmark.report.tables import Column, Mean, Table, interval_columns
from longmark.stats.results import Estimate

METRIC = Column("metric", kind="metric")
AGENTS = ("pairs.icl", "pairs.chateval", "pairs.refer")
"""The judges of table 5."""
_AVERAGE = "Avg.: the mean of the columns before it, as published. Bold: the greatest of a column."


def ci(results: Results) -> str:
    """The head of intervals."""
    return f"{100 * results.levels.level:g} % CI"


def accuracy(results: Results) -> Table:
    """Every metric and baseline on all pairs."""
    head = ci(results)

    def reason(one: ChoiceMetric) -> str | None:
        judge = results.judges[one.metric]
        why = () if judge.baseline else judge.unscored(len(results.pairs))
        return reasons_in_words(why) or one.accuracy.reason

    columns = (
        METRIC,
        *interval_columns("accuracy", "accuracy", 3, head),
        *interval_columns("without people's ties", "without_ties", 3, head, "without_ties"),
        Column("where both decide", "decided.value", 3, key="decided", spare=2),
        *(Column("ties", "ties.value", 3, spare=3), Column("chooses a", "first.value", 3, spare=4)),
        *(Column("pairs", "accuracy.n"), Column("unscored", lambda one: sum(one.unscored.values()))),
        Column("against the best baseline", lambda one: verdict(results, one), key="conclusion"),
        Column("reason", reason, spare=1),
    )
    note = (
        "accuracy: people's choice is a, b or tie. without people's ties: pairs on which people chose a or b; a tie of "
        "the metric is wrong there. where both decide: neither tied. chooses a: of its decisions. A paired sign-flip "
        "test (max-T) against the best baseline, adjusted by Holm over all pairs of metrics."
    )
    return Table("accuracy", "Agreement with people's choices", columns, results.metrics, note)


def verdict(results: Results, one: ChoiceMetric) -> str | None:
    """Whether a metric is better than the best baseline; `not tested` where there are too few pairs or questions."""
    best, compared = results.best_baseline, results.against_baseline(one.metric)
    if one.direction or best is None or compared is None:
        return "baseline" if one.direction else None
    p, sign = compared.adjusted, 1 if compared.first == one.metric else -1
    if p is None:
        return "not tested"
    if p > results.options.alpha:
        return "no significant difference"
    return "above" if sign * (compared.result.value or 0) > 0 else "below"


def by_group(
    results: Results,
    heading: tuple[str, str, str],
    groups: Mapping[str, Rows],
    value: Callable[[str, Rows], Estimate],
    names: Sequence[str] = (),
) -> Table:
    """Metrics by groups of pairs, as in the paper's tables: the mean of the groups, and all of their pairs together.

    heading: name, title, note."""
    chosen, every = names or list(results.judges), [row for rows in groups.values() for row in rows]
    cells = {name: [value(name, rows).value for rows in groups.values()] for name in chosen}
    for name, its in cells.items():
        whole = [one for one in its if one is not None]
        its += [fmean(whole) if len(whole) == len(its) else None, value(name, every).value]
    best = [max((c for c in column if c is not None), default=None) for column in zip(*cells.values(), strict=True)]
    heads = [*((group, f"group_{group}") for group in groups), ("Avg.", "mean_of_groups"), ("all", "all_pairs")]
    columns = [Column(head, places=3, kind="mean", key=key) for head, key in heads]
    rows = [
        (name, *(Mean(c, best=c is not None and c == top) for c, top in zip(its, best, strict=True)))
        for name, its in cells.items()
    ]
    return Table(heading[0], heading[1], (METRIC, *columns), rows, f"{heading[2]} {_AVERAGE}".strip())


def with_intervals(results: Results, name: str, title: str, what: str, groups: Mapping[str, Rows]) -> Table:
    """The same accuracies, one a line, each with its interval."""
    lines = [
        Line(
            metric=metric,
            group=group,
            estimate=results.accuracy(metric, rows),
            without=results.accuracy(metric, rows, ties=False),
        )
        for group, rows in groups.items()
        for metric in results.judges
    ]
    columns = (
        *(Column(what, "group", key="group"), METRIC),
        *interval_columns("accuracy", "estimate", 3, ci(results)),
        *interval_columns("without people's ties", "without", 3, ci(results), "without_ties"),
        *(Column("pairs", "estimate.n"), Column("reason", "estimate.reason")),
    )
    return Table(name, title, columns, lines)


def table1(results: Results) -> Table:
    """What the benchmark holds."""
    groups = {**results.subjects, "all": range(len(results.pairs))}

    def line(name: str, rows: Rows) -> Line:
        pairs = [results.pairs[row] for row in rows]
        counts = {short: sum(pair.mode == mode for pair in pairs) for mode, short in MODES.items()}
        words = [count for pair in pairs for count in pair.words if count is not None]
        references = [pair.asked[1] for pair in pairs if pair.asked[1]]
        return Line(
            subject=name,
            pairs=len(pairs),
            questions=len({pair.question for pair in pairs}),
            question=_mean([pair.asked[0] for pair in pairs]),
            reference=_mean(references),
            longest=max(references, default=None),
            answer=_mean(words),
            most=max(words, default=None),
            characters=_mean([count for pair in pairs for count in pair.characters]),
            ties=sum(pair.gold == TIE for pair in pairs),
            undecided=sum(pair.gold is None for pair in pairs),
            **{short: count or None for short, count in counts.items()},
        )

    columns = (
        *(Column(name) for name in ("subject", "pairs", "questions")),
        Column("question", places=1),
        *(Column("reference", places=1), Column("longest reference", "longest", key="longest_reference")),
        *(Column("answer", places=1), Column("longest answer", "most", key="longest_answer")),
        Column("answer, characters", "characters", 1, key="characters"),
        *(Column(short, short) for short in MODES.values()),
        *(Column("people tie", "ties", key="ties"), Column("no choice", "undecided", key="undecided")),
    )
    note = "Means of lengths in words (between white space; none in a script without spaces). H: human, M: model."
    lines = [line(name, rows) for name, rows in groups.items()]
    return Table("table1", "The pairs (the paper's table 1)", columns, lines, note)


def _mean(lengths: Sequence[int | None]) -> float | None:
    known = [length for length in lengths if length is not None]
    return fmean(known) if known else None


def table2(results: Results) -> Table:
    """How often two raters make the same choice."""
    groups = {**results.subjects, "all": range(len(results.pairs))}
    kinds: dict[str, Rows] = {**results.modes, "all": range(len(results.pairs))}

    def cell(mode: str) -> Callable[[str], Mean]:
        def get(subject: str) -> Mean:
            its = results.agreeing(sorted(set(groups[subject]) & set(kinds[mode])))
            return Mean(its.value, its.low, its.high)

        return get

    columns = (
        Column("subject", str),
        *(Column(mode, cell(mode), 2, "mean", key=mode.replace("/", "_")) for mode in kinds),
        Column("pairs with two raters", lambda name: _twice(results, groups[name]), key="pairs"),
    )
    note = f"The share of pairs of raters with the same choice, with its {ci(results)}; a dash: no second rater."
    return Table("table2", "Agreement of raters (the paper's table 2)", columns, list(groups), note)


def _twice(results: Results, rows: Rows) -> int:
    return sum(len(results.pairs[row].votes) > 1 for row in rows)


def table6(results: Results) -> Iterator[Table]:
    """Errors of expanded references; nothing if nobody checked one."""
    groups = {**results.subjects, "all": range(len(results.pairs))}
    found = {name: its for name, rows in groups.items() if (its := results.expansion_errors(rows))[CHECKED]}
    if found:
        kinds = (*EXPANSION_CHECKS, CHECKED)
        rows = [(kind.replace("_", " "), *(its[kind] for its in found.values())) for kind in kinds]
        columns = (Column("error"), *(Column(name, key=f"group_{name}") for name in found))
        note = "References with the error: at least half of the raters' answers report it. One reference a question."
        yield Table("table6", "Errors of expanded references (the paper's table 6)", columns, rows, note)


def accuracies(results: Results) -> Iterator[Table]:
    """Tables 3, 5 and 15."""
    subjects = results.subjects
    if not subjects:
        return
    about = ("table3", "Accuracy by subject (the paper's table 3)", "")
    yield by_group(results, about, subjects, results.accuracy)
    agents = [name for name in results.judges if name.startswith(AGENTS)]
    if agents:
        about = ("table5", "Demonstrations and agents (the paper's table 5)", "")
        yield by_group(results, about, subjects, results.accuracy, agents)
    about = ("table15", "Accuracy without people's ties (the paper's table 15)", "")
    yield by_group(results, about, subjects, lambda name, rows: results.accuracy(name, rows, ties=False))
    yield with_intervals(results, "by_subject", "Accuracy by subject, with intervals", "subject", subjects)


def modes(results: Results) -> Iterator[Table]:
    """Table 4, and the modes over all subjects."""
    if not results.modes:
        return
    yield by_group(results, ("by_mode", "Accuracy by mode", ""), results.modes, results.accuracy)
    inner = {
        f"{subject} {MODES[mode]}": both
        for subject, rows in results.subjects.items()
        for mode, its in results.modes.items()
        if (both := sorted(set(rows) & set(its))) and len(results.modes) > 1
    }
    if inner:
        about = ("table4", "Accuracy by subject and mode (the paper's table 4)", "H: human, M: model.")
        yield by_group(results, about, inner, results.accuracy)
    yield with_intervals(results, "modes", "Accuracy by mode, with intervals", "mode", results.modes)


def categories(results: Results) -> Iterator[Table]:
    if results.categories:
        about = ("by_category", "Accuracy by category of question", "")
        yield by_group(results, about, results.categories, results.accuracy)


def disputes(results: Results) -> Iterator[Table]:
    """Tables 16 and 17."""
    parts = (("table16", "chose differently", results.disputed), ("table17", "agreed", results.undisputed))
    for name, what, rows in parts:
        within = {subject: sorted(set(rows) & set(its)) for subject, its in results.subjects.items()}
        groups: dict[str, Rows] = {subject: its for subject, its in within.items() if its}
        title = f"Accuracy where raters {what} (the paper's {name[:5]} {name[5:]})"
        if any(results.gold[row] for row in rows):
            yield by_group(results, (name, title, ""), groups or {"all subjects": rows}, results.accuracy)


def same_choices(results: Results) -> Table:
    """The agreement of every two metrics, and by mode."""
    modes = [(one, rows) for one, rows in results.modes.items() if len(results.modes) > 1]
    columns = [
        Column(
            mode,
            lambda one, rows=rows: results.same(one.first, one.second, rows).value,  # type: ignore[misc]
            3,
            key=mode.replace("/", "_"),
            spare=1,
        )
        for mode, rows in modes
    ]
    return label_sections.same_choices(results.agreements(range(len(results.pairs))), columns).tables[0]


def orders(results: Results) -> Table:
    columns = (
        METRIC,
        Column("pairs in both orders", "same.n", key="both_orders"),
        *interval_columns("accuracy, a first", "first_a", 3, ci(results), "a_first"),
        *interval_columns("accuracy, b first", "first_b", 3, ci(results), "b_first"),
        Column("right in both", "both.value", 3, key="right_in_both"),
        Column("flips", lambda one: None if one.same.value is None else 1 - one.same.value, 3, key="flips"),
        *interval_columns("same choice", "same", 3, ci(results), "same"),
        *interval_columns("chooses the first shown", "first", 3, ci(results), "first_shown"),
    )
    note = "flips: the choice differs between the orders. chooses the first shown: of its decisions; .5 without bias."
    return Table("orders", "Order of the answers", columns, results.orders, note)


def votes(results: Results) -> Table:
    columns = (
        *(METRIC, Column("subject", lambda one: one.subject or "all")),
        *interval_columns("people's choice among the votes", "among", 3, ci(results), "among"),
        *interval_columns("plurality", "plurality", 3, ci(results)),
        *(Column("all votes the same", "agreed.value", 3, key="agreed"), Column("pairs", "among.n")),
    )
    note = "plurality: the accuracy of the choice with the most votes; a draw is a tie."
    return Table("figure2", "People's choice among the votes (the paper's figure 2)", columns, results.votes, note)


def developed(results: Results) -> Table:
    def gain(one: Developed) -> float | None:
        new, old = one.rest_with_band, one.rest
        return None if new is None or new.value is None or old.value is None else new.value - old.value

    columns = (
        *(METRIC, Column("development", "tuning.value", 3, key="development")),
        *interval_columns("the rest", "rest", 3, ci(results), "rest"),
        *(Column("band"), Column("development, with band", "tuning_with_band", 3, key="development_with_band")),
        *interval_columns("the rest, with band", "rest_with_band", 3, ci(results), "rest_with_band"),
        Column("gain", gain, 3),
    )
    note = (
        "band: the greatest difference of two scores that is a tie, chosen on the development split; 0: only equal "
        "scores. Without it, scores tie as the run says (bounded ones if they are equal to two decimals, as published)."
    )
    return Table("development", "Development split and the rest", columns, results.developed, note)

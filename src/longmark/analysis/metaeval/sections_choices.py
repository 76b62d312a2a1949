"""The sections of a label on which people chose between two answers."""

from __future__ import annotations

from collections.abc import Iterator

from longmark.analysis.metaeval.parts import (
    InGroup,
    PairOfMetrics,
    columns_named,
    differences_figure,
    fewest,
    groups_figure,
    significant_pairs,
)
from longmark.analysis.metaeval.preferences import ALWAYS, LONGER
from longmark.analysis.metaeval.result import ChoiceLabel
from longmark.analysis.metaeval.words import Naming, between, figure, percent, reasons, shared
from longmark.report import charts, lanes
from longmark.report.document import Section
from longmark.report.format import counted
from longmark.report.tables import Column


def choice_sections(part: ChoiceLabel, naming: Naming) -> Iterator[Section]:
    """Accuracy, differences, groups, agreement of metrics, position."""
    yield _accuracy(part, naming)
    if part.preferences.differences:
        yield _differences(part, naming)
    if part.preferences.groups:
        yield _groups(part, naming)
    if part.preferences.same:
        yield _same(part, naming)
    yield _position(part, naming)


def _accuracy(part: ChoiceLabel, naming: Naming) -> Section:
    found = part.preferences
    methods = ", ".join(dict.fromkeys(a.all.method for a in found.accuracies))
    table = naming.table(
        "accuracy",
        "Accuracy on human choices",
        (
            *(Column("metric", "name"), Column("direction"), *naming.estimate("accuracy", "all")),
            *(Column("n", "all.n"), *naming.estimate("without human ties", "without_ties", "without_ties")),
            Column("n", "without_ties.n", key="n_without_ties"),
            Column("both decide", "decided.value", 3, key="decided"),
            *(Column("ties", "ties.value", 3), Column("prefers a", "first.value", 3, key="first"), Column("missing")),
        ),
        found.accuracies,
        f"Scores are rounded to {found.places} decimals; equal scores are a tie; the lower score wins where lower is "
        "better. without human ties: pairs on which people decided; a tie is wrong. both decide: neither is a tie. "
        "Chance is 1/3 with three choices, 1/2 with two. missing: pairs with an unscored answer. "
        f"Intervals: {methods}.",
    )
    forest = lanes.forest(
        [
            lanes.ForestRow(a.name, a.all.value, a.all.low, a.all.high, a.all.reason or f"n = {a.all.n}")
            for a in found.accuracies
        ],
        f"Accuracy on a, b or tie ({part.label})",
        round(1 / 3, 3),
    )
    return naming.section("Accuracy on human choices", _accuracy_says(part), (table,), (forest,))


def _accuracy_says(part: ChoiceLabel) -> str:
    found = part.preferences
    gold = found.gold
    says = f"Human choices: {', '.join(f'{name} {gold.counts.get(name, 0):,}' for name in ('a', 'b', 'tie'))}."
    if gold.undecided:
        says += f" {counted(gold.undecided, 'pair')} without a majority excluded."
    bases = [a for a in found.accuracies if a.name == LONGER or a.name.startswith(ALWAYS)]
    metrics = [a for a in found.accuracies if a not in bases]
    known = [a for a in metrics if a.all.value is not None]
    if not known:
        return says + " No metric has a choice on any of them." + reasons((a.name, a.all.reason) for a in metrics)
    best = max(known, key=lambda a: a.all.value or 0.0)
    says += f" Highest accuracy: {best.name}, {between(best.all.value, best.all.low, best.all.high)}."
    says += shared(best.all.value, ((a.name, a.all.value) for a in known if a is not best))
    shown = [(a.all.value, f"{a.name} {figure(a.all.value)}") for a in bases if a.all.value is not None]
    if shown:
        above = best.all.low is not None and best.all.low > max(value for value, _ in shown)
        says += f" Baselines: {', '.join(words for _, words in shown)}; the interval "
        says += "is above them." if above else "does not exclude the best baseline."
    if all(a.ties.value == 0 for a in known) and gold.counts.get("tie"):
        says += " No metric has ties; a smaller --round allows them."
    if best.all.n < 30:
        says += f" {counted(best.all.n, 'pair')}: a small sample."
    if not any(a.name == LONGER for a in found.accuracies):
        says += " No length baseline: there is no examples.jsonl beside the rows."
    return says


def _differences(part: ChoiceLabel, naming: Naming) -> Section:
    found = part.preferences.differences
    table = naming.table(
        "differences",
        "Differences in accuracy",
        (
            Column("first metric", "first"),
            Column("second metric", "second"),
            *naming.estimate("difference"),
            Column("only first right", "only_first", key="only_first"),
            Column("only second right", "only_second", key="only_second"),
            *(Column("p", kind="p"), Column("p (Holm)", "adjusted", kind="p"), Column("n"), Column("reason")),
        ),
        found,
        "Over the pairs on which both metrics have a choice. Paired permutation test (one pair per question: McNemar's "
        "test); BCa intervals; Holm over all pairs of metrics.",
    )
    pairs = [PairOfMetrics(d.first, d.second, d.value, d.low, d.high, d.adjusted, d.reason) for d in found]
    figures = (differences_figure(pairs, "Difference in accuracy"),)
    says = significant_pairs(pairs, naming.alpha, "accuracy")
    return naming.section("Differences in accuracy", says, (table,), figures)


def _groups(part: ChoiceLabel, naming: Naming) -> Section:
    found = part.preferences.groups
    columns = (
        *(Column("column"), Column("group"), Column("metric", "name"), *naming.estimate("accuracy", "all")),
        *(Column("n", "all.n"), *naming.estimate("without human ties", "without_ties", "without_ties")),
        Column("n", "without_ties.n", key="n_without_ties"),
    )
    shown = [InGroup(g.column, g.group, g.name, g.all.value, g.all.n) for g in found]
    by = columns_named(shown)
    says = f"Accuracy among the pairs of each {by}. {fewest(shown, 'pair')}"
    table = naming.table("groups", "Accuracy by group", columns, found)
    return naming.section(f"By {by}", says, (table,), (groups_figure(shown, "Accuracy by group", 0.0),))


def _same(part: ChoiceLabel, naming: Naming) -> Section:
    found = part.preferences.same
    columns = (
        *(Column("metric", "first"), Column("other", "second")),
        *(*naming.estimate("same choice", "share", "share"), Column("n", "share.n")),
    )
    table = naming.table("same_choice", "How often two metrics make the same choice", columns, found)
    names = list(dict.fromkeys([s.first for s in found] + [s.second for s in found]))
    value = {frozenset((s.first, s.second)): s.share.value for s in found}
    heat = charts.heat_map(
        names,
        names,
        [[1.0 if one == other else value.get(frozenset((one, other))) for other in names] for one in names],
        "Share of pairs with the same choice",
        0.0,
        1.0,
        2,
    )
    known = [s for s in found if s.share.value is not None]
    says = "No two metrics have a choice on the same pair."
    if known:
        most = max(known, key=lambda s: s.share.value or 0.0)
        says = f"Highest agreement: {most.first} and {most.second}, {percent(most.share.value)} of the pairs."
        if long := [s for s in known if LONGER in (s.first, s.second)]:
            top = max(long, key=lambda s: s.share.value or 0.0)
            other = top.first if top.second == LONGER else top.second
            says += f" Closest to always choosing the longer answer: {other}, {percent(top.share.value)}."
    return naming.section("Agreement between metrics", says, (table,), (heat,))


def _position(part: ChoiceLabel, naming: Naming) -> Section:
    positions = part.preferences.positions
    table = naming.table(
        "position",
        "Position bias of the raters",
        (
            *(
                Column("rater"),
                *naming.estimate("chose the first", "first", "first"),
                Column("choices", "first.n", key="n"),
            ),
            *(Column("shown both ways", "both_orders"), *naming.estimate("same choice", "same", "same")),
        ),
        positions[:51],
        "Choices without ties; a is taken as the answer shown first. Wilson's intervals, wider where choices on one "
        "question are dependent.",
    )
    whole = positions[0]
    if whole.first.value is None:
        return naming.section("Position bias", "No rater decided between two answers.", (table,))
    says = (
        f"Raters chose the answer shown first in {between(whole.first.value, whole.first.low, whole.first.high)} of "
        "their decisions; 0.5 is no bias if the order was random."
    )
    if (whole.first.low or 0.0) > 0.5 or (whole.first.high or 1.0) < 0.5:
        says += " This is a position bias, or the order was not random."
    if whole.both_orders:
        says += f" Shown in both orders, {percent(whole.same.value)} of {whole.both_orders:,} pairs kept their choice."
    return naming.section("Position bias", says, (table,))

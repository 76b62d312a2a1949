"""The sections of a label on which people chose between two answers."""

from __future__ import annotations

from collections.abc import Iterator

from longmark.metaeval.parts import (
    InGroup,
    PairOfMetrics,
    columns_named,
    differences_figure,
    fewest,
    groups_figure,
    told_apart,
)
from longmark.metaeval.preferences import ALWAYS, LONGER
from longmark.metaeval.result import ChoiceLabel
from longmark.metaeval.words import between, ends, figure, level_name, percent, reasons, shared
from longmark.report import charts, lanes
from longmark.report.document import Section
from longmark.report.words import counted
from longmark.stats.results import Estimate
from longmark.tables import Column, Range, Table


def choice_sections(part: ChoiceLabel, heading: str, prefix: str, alpha: float) -> Iterator[Section]:
    """Accuracy, differences, groups, agreement of metrics, position."""
    yield _accuracy(part, heading, prefix, alpha)
    if part.preferences.differences:
        yield _differences(part, heading, prefix, alpha)
    if part.preferences.groups:
        yield _groups(part, heading, prefix, alpha)
    if part.preferences.same:
        yield _same(part, heading, prefix, alpha)
    yield _position(part, heading, prefix, alpha)


def _span(rate: Estimate) -> Range | None:
    return ends(rate.low, rate.high)


def _accuracy(part: ChoiceLabel, heading: str, prefix: str, alpha: float) -> Section:
    found, interval = part.preferences, level_name(alpha)
    table = Table(
        f"{prefix}accuracy",
        "Accuracy on people's choices",
        (
            Column("metric"),
            Column("taken", key="direction"),
            Column("accuracy", 3),
            Column(interval, 3, "range", "accuracy"),
            Column("n"),
            Column("without people's ties", 3, key="without_ties"),
            Column(interval, 3, "range", "without_ties"),
            Column("n", key="n_without_ties"),
            Column("where both decide", 3, key="decided"),
            Column("ties", 3),
            Column("prefers a", 3, key="first"),
            Column("missing"),
        ),
        tuple(
            (
                a.name,
                a.direction,
                a.all.value,
                _span(a.all),
                a.all.n,
                a.without_ties.value,
                _span(a.without_ties),
                a.without_ties.n,
                a.decided.value,
                a.ties.value,
                a.first.value,
                a.missing,
            )
            for a in found.accuracies
        ),
        note=f"A metric's values are rounded to {found.places} decimals; equal ones are a tie; the lower one "
        "wins where lower is better. Without people's ties: "
        "pairs on which people decided, a tie is wrong. Where both decide: neither says tie. By chance 1/3 of three "
        f"choices are right, 1/2 of two. Intervals: {_methods(part)}. Missing: an answer has no value.",
    )
    forest = lanes.forest(
        [
            lanes.ForestRow(a.name, a.all.value, a.all.low, a.all.high, a.all.reason or f"n = {a.all.n}")
            for a in found.accuracies
        ],
        f"Accuracy on a, b or tie ({part.label})",
        round(1 / 3, 3),
    )
    return Section(f"{heading}Accuracy on people's choices", _accuracy_says(part), (table,), (forest,))


def _methods(part: ChoiceLabel) -> str:
    return ", ".join(dict.fromkeys(a.all.method for a in part.preferences.accuracies))


def _accuracy_says(part: ChoiceLabel) -> str:
    found = part.preferences
    gold = found.gold
    says = (
        f"People chose a {gold.counts.get('a', 0):,} times, b {gold.counts.get('b', 0):,}, tie "
        f"{gold.counts.get('tie', 0):,}."
    )
    if gold.undecided:
        says += f" {counted(gold.undecided, 'pair')} without a majority left out."
    metrics = [a for a in found.accuracies if a.name != LONGER and not a.name.startswith(ALWAYS)]
    known = [a for a in metrics if a.all.value is not None]
    if not known:
        return says + " No metric has a choice on any of them." + reasons((a.name, a.all.reason) for a in metrics)
    best = max(known, key=lambda a: a.all.value or 0.0)
    says += f" {best.name} makes their choice most often: {between(best.all.value, best.all.low, best.all.high)}."
    says += shared(best.all.value, ((a.name, a.all.value) for a in known if a is not best))
    bases = [a for a in found.accuracies if a.name == LONGER or a.name.startswith(ALWAYS)]
    shown = [f"{a.name} {figure(a.all.value)}" for a in bases if a.all.value is not None]
    highest = max((a.all.value for a in bases if a.all.value is not None), default=None)
    if highest is not None:
        says += f" Baselines: {', '.join(shown)}; "
        if best.all.low is not None and best.all.low > highest:
            says += "the whole interval is above them."
        else:
            says += "the interval does not rule out that it does no better."
    if all(a.ties.value == 0 for a in known) and gold.counts.get("tie"):
        says += " No metric ever says tie; a smaller --round would let them."
    if best.all.n < 30:
        says += f" {counted(best.all.n, 'pair')} are few: read the interval, not the figure."
    if not any(a.name == LONGER for a in found.accuracies):
        says += " The answers' lengths are not known (no examples.jsonl beside the rows), so that baseline lacks."
    return says


def _differences(part: ChoiceLabel, heading: str, prefix: str, alpha: float) -> Section:
    found = part.preferences.differences
    table = Table(
        f"{prefix}differences",
        "Differences in accuracy",
        (
            Column("better"),
            Column("worse"),
            Column("difference", 3),
            Column(level_name(alpha), 3, "range", "difference"),
            Column("only the better right", key="only_first"),
            Column("only the worse right", key="only_second"),
            Column("p", kind="p"),
            Column("p, Holm", kind="p", key="adjusted"),
            Column("n"),
            Column("why none", key="reason"),
        ),
        tuple(
            (
                d.first,
                d.second,
                d.value,
                ends(d.low, d.high),
                d.only_first,
                d.only_second,
                d.p,
                d.adjusted,
                d.n,
                d.reason,
            )
            for d in found
        ),
        note="On the pairs on which both have a choice. Paired permutation of right and wrong (with one pair a "
        "question: McNemar's test); BCa intervals; Holm over all pairs of metrics.",
    )
    pairs = [PairOfMetrics(d.first, d.second, d.value, d.low, d.high, d.adjusted, d.reason) for d in found]
    return Section(
        f"{heading}Which metric makes people's choice more often",
        told_apart(pairs, alpha, "accuracy"),
        (table,),
        (differences_figure(pairs, "Difference in accuracy"),),
    )


def _groups(part: ChoiceLabel, heading: str, prefix: str, alpha: float) -> Section:
    found, interval = part.preferences.groups, level_name(alpha)
    table = Table(
        f"{prefix}groups",
        "Accuracy by group",
        (
            Column("column"),
            Column("group"),
            Column("metric"),
            Column("accuracy", 3),
            Column(interval, 3, "range", "accuracy"),
            Column("n"),
            Column("without people's ties", 3, key="without_ties"),
            Column(interval, 3, "range", "without_ties"),
            Column("n", key="n_without_ties"),
        ),
        tuple(
            (
                g.column,
                g.group,
                g.name,
                g.all.value,
                _span(g.all),
                g.all.n,
                g.without_ties.value,
                _span(g.without_ties),
                g.without_ties.n,
            )
            for g in found
        ),
    )
    shown = [InGroup(g.column, g.group, g.name, g.all.value, g.all.n) for g in found]
    columns = columns_named(shown)
    says = f"The same accuracy among the pairs of each {columns}. {fewest(shown, 'pair')}"
    return Section(f"{heading}By {columns}", says, (table,), (groups_figure(shown, "Accuracy by group", 0.0),))


def _same(part: ChoiceLabel, heading: str, prefix: str, alpha: float) -> Section:
    found = part.preferences.same
    table = Table(
        f"{prefix}same_choice",
        "How often two metrics make the same choice",
        (
            Column("metric"),
            Column("other"),
            Column("same choice", 3, key="share"),
            Column(level_name(alpha), 3, "range", "share"),
            Column("n"),
        ),
        tuple((s.first, s.second, s.share.value, ends(s.share.low, s.share.high), s.share.n) for s in found),
    )
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
        says = f"Most alike: {most.first} and {most.second}, the same choice in {percent(most.share.value)}."
        long = [s for s in known if LONGER in (s.first, s.second)]
        if long:
            top = max(long, key=lambda s: s.share.value or 0.0)
            other = top.first if top.second == LONGER else top.second
            says += f" {other} comes nearest to the longer answer, in {percent(top.share.value)}."
    return Section(f"{heading}Metrics among themselves", says, (table,), (heat,))


def _position(part: ChoiceLabel, heading: str, prefix: str, alpha: float) -> Section:
    positions, interval = part.preferences.positions, level_name(alpha)
    table = Table(
        f"{prefix}position",
        "Raters and the order of the answers",
        (
            Column("rater"),
            Column("chose the first", 3, key="first"),
            Column(interval, 3, "range", "first"),
            Column("choices", key="n"),
            Column("shown both ways"),
            Column("same choice", 3, key="same"),
            Column(interval, 3, "range", "same"),
        ),
        tuple(
            (
                p.rater,
                p.first.value,
                ends(p.first.low, p.first.high),
                p.first.n,
                p.both_orders,
                p.same.value,
                ends(p.same.low, p.same.high),
            )
            for p in positions[:51]
        ),
        note="Choices that were no tie; a is taken to be the answer that was shown first. Wilson's "
        "intervals, wider where the choices on a question hang together.",
    )
    whole = positions[0]
    if whole.first.value is None:
        return Section(f"{heading}Order of the answers", "Nobody decided between two answers.", (table,))
    says = (
        f"Raters chose the answer shown first in {between(whole.first.value, whole.first.low, whole.first.high)} of "
        "their decisions; 0.5 is no bias if the order was drawn by lot."
    )
    low, high = whole.first.low or 0.0, whole.first.high or 1.0
    if low > 0.5 or high < 0.5:
        says += " That is off balance: a bias of the raters, or of the order in which the answers were put."
    if whole.both_orders:
        says += f" Shown both ways, {percent(whole.same.value)} of {whole.both_orders:,} pairs kept their choice."
    return Section(f"{heading}Order of the answers", says, (table,))

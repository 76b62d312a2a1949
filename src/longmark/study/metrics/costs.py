"""The section on what each metric costs: calls, tokens, dollars (CCRS, 4.1.4, where a pipeline of claims is dearer)."""

from __future__ import annotations

from longmark.records import Usage
from longmark.report.document import Section
from longmark.report.numbers import dollars
from longmark.report.words import counted, listed
from longmark.study.metrics.results import MetricProperties, MetricsStudy
from longmark.tables import Cell, Column, Table


def costs(study: MetricsStudy) -> Section:
    """In all and per row, by metric, and by metric and system."""
    whole = tuple((one.metric, *_figures(one.usage, one.rows)) for one in study.metrics)
    each = tuple(
        (one.metric, scores.system, *_figures(scores.usage, scores.rows))
        for one in study.metrics
        for scores in one.systems
    )
    figures = (
        *(Column("rows"), Column("calls"), Column("prompt tokens"), Column("completion tokens"), Column("USD", 4)),
        *(Column("calls per row", 2), Column("prompt tokens per row", 1), Column("completion tokens per row", 1)),
        Column("USD per row", 6),
    )
    tables = (
        Table("costs", "Cost of each metric", (Column("metric"), *figures), whole),
        Table(
            "costs_by_system",
            "Cost of each metric in each system",
            (Column("metric"), Column("system"), *figures),
            each,
        ),
    )
    note = (
        "What the calls cost when they were first paid for, wherever the replies came from later. A call that several "
        "metrics share counts for the row that asked first. USD is missing where no price is known."
    )
    return Section("Cost", _says(study), tables, note=note)


def _figures(usage: Usage, rows: int) -> tuple[Cell, ...]:
    sums = (usage.calls, usage.prompt_tokens, usage.completion_tokens, usage.usd)
    return (rows, *sums, *(None if one is None or not rows else one / rows for one in sums))


def _says(study: MetricsStudy) -> str:
    asking = [one for one in study.metrics if one.usage.calls and one.rows]
    free = [one.metric for one in study.metrics if not one.usage.calls]
    parts = []
    if asking:
        ranked = sorted(asking, key=_tokens)
        if len(ranked) == 1 or _tokens(ranked[0]) == _tokens(ranked[-1]):
            parts.append(f"{listed([one.metric for one in ranked])}: {_per_row(ranked[0])}.")
        else:
            least, most = ranked[0], ranked[-1]
            parts.append(
                f"The metric with the most tokens is {most.metric}: {_per_row(most)}. The one with the fewest of those "
                f"that ask a model is {least.metric}: {_per_row(least)}."
            )
    if free:
        parts.append(f"{listed(free, 8)} {'asks' if len(free) == 1 else 'ask'} no model.")
    return " ".join(parts)


def _tokens(one: MetricProperties) -> float:
    usage = one.usage
    return (usage.prompt_tokens + usage.completion_tokens) / one.rows


def _per_row(one: MetricProperties) -> str:
    usd = one.usage.usd
    money = "at a price that is not known" if usd is None else f"at {dollars(usd / one.rows)}"
    calls = one.usage.calls / one.rows
    return f"{calls:.2f} calls and {_tokens(one):,.0f} tokens per row, {money} ({counted(one.rows, 'row')})"

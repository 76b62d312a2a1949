"""The section on the cost of each metric: calls, tokens, dollars (CCRS, 4.1.4)."""

from __future__ import annotations

from functools import partial
from operator import attrgetter
from typing import Any

from longmark.analysis.metrics_study.results import MetricProperties, MetricsStudy, on_systems
from longmark.report.document import Section
from longmark.report.format import counted, dollars, listed
from longmark.report.tables import Column, Table


def costs(study: MetricsStudy) -> Section:
    """Totals and per row, by metric, and by metric and system."""
    tables = (
        Table("costs", "Cost by metric", (Column("metric"), *_columns("")), study.metrics),
        Table(
            "costs_by_system",
            "Cost by metric and system",
            (Column("metric", "metric.metric"), Column("system", "of.system"), *_columns("of.")),
            on_systems(study),
        ),
    )
    note = (
        "Cost when the calls were first paid for, also where replies came from the cache. A call that several metrics "
        "share counts for the row that made it first. USD is empty where a price is unknown."
    )
    return Section("Cost", _says(study), tables, note=note)


def _columns(path: str) -> tuple[Column, ...]:
    """path: from the item to what has `rows` and `usage`."""
    of = attrgetter(f"{path}usage")
    rows = attrgetter(f"{path}rows")
    figures = (("calls", 0), ("prompt tokens", 0), ("completion tokens", 0), ("USD", 4))
    places = (2, 1, 1, 6)

    def total(item: Any, name: str) -> float | None:
        found: float | None = getattr(of(item), name.lower().replace(" ", "_"))
        return found

    def per_row(item: Any, name: str) -> float | None:
        found = total(item, name)
        return None if found is None or not rows(item) else found / rows(item)

    return (
        Column("rows", f"{path}rows"),
        *(Column(name, partial(total, name=name), digits or None) for name, digits in figures),
        *(
            Column(f"{name} per row", partial(per_row, name=name), digits)
            for (name, _), digits in zip(figures, places, strict=True)
        ),
    )


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
                f"Most tokens: {most.metric}, {_per_row(most)}. Fewest, of the metrics that call a model: "
                f"{least.metric}, {_per_row(least)}."
            )
    if free:
        parts.append(f"{listed(free, 8)} {'calls' if len(free) == 1 else 'call'} no model.")
    return " ".join(parts)


def _tokens(one: MetricProperties) -> float:
    usage = one.usage
    return (usage.prompt_tokens + usage.completion_tokens) / one.rows


def _per_row(one: MetricProperties) -> str:
    usd = one.usage.usd
    money = "at an unknown price" if usd is None else f"at {dollars(usd / one.rows)}"
    calls = one.usage.calls / one.rows
    return f"{calls:.2f} calls and {_tokens(one):,.0f} tokens per row, {money} ({counted(one.rows, 'row')})"

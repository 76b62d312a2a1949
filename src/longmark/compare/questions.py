"""The sections of a comparison that are about questions: where the systems lie apart, and what is left out."""

from __future__ import annotations

from longmark.compare.results import Comparison, SystemOnMetric
from longmark.report.document import Section
from longmark.report.table import reasons_in_words
from longmark.tables import Cell, Column, Table

_BESIDE = 8
"""Systems up to which a question's values stand side by side in its line."""
_TEXT = 160  # characters shown of a question


def apart(found: Comparison) -> Section:
    """Table `questions`."""
    beside = found.systems if len(found.systems) <= _BESIDE else ()
    places = found.places
    columns = (
        Column("metric"),
        Column("question_id", key="question_id"),
        Column("question"),
        Column("apart by", places, key="spread"),
        Column("highest"),
        Column("lowest"),
        *(Column(name, places, key=f"value: {name}") for name in beside),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in found.metrics:
        places_of = {system.system: i for i, system in enumerate(one.systems)}
        for question in one.apart:
            values = [question.values[places_of[name]] if name in places_of else None for name in beside]
            rows.append(
                (
                    one.metric,
                    question.question_id,
                    _cut(question.text),
                    question.spread,
                    question.highest,
                    question.lowest,
                    *values,
                )
            )
    return Section(
        "Where the systems differ most",
        "The questions with the widest gap between the highest and the lowest value, on each metric: read "
        "these answers first.",
        (Table("questions", "Questions on which the systems differ most", columns, tuple(rows)),),
        note=" ".join(
            f"{one.metric}: {one.as_far:,} more questions are as far apart as the last of these."
            for one in found.metrics
            if one.as_far
        ),
    )


def left_out(found: Comparison) -> Section:
    """Table `gaps`."""
    columns = (
        Column("metric"),
        Column("system"),
        Column("questions", key="questions"),
        Column("compared", key="compared"),
        Column("lacking here", key="lacking"),
        Column("lacking here alone", key="lacking_alone"),
        Column("why"),
    )
    rows: list[tuple[Cell, ...]] = [
        (one.metric, system.system, one.questions, one.common, system.lacking, system.alone, _why_lacking(system))
        for one in found.metrics
        for system in one.systems
        if system.lacking or system.gaps
    ]
    rows += [
        (one.metric, name, one.questions, 0, one.questions, 0, reasons_in_words(gaps) or "no row")
        for one in found.metrics
        for name, gaps in one.absent
    ]
    rows += [(metric, None, None, None, None, None, why) for metric, why in found.left_out]
    dropped = sum(one.questions - one.common for one in found.metrics)
    says = (
        f"{dropped:,} questions of a metric are not compared, for a system has no value there; none is counted as 0."
        if dropped
        else "Every question with a value is compared."
    )
    return Section(
        "What is left out", says, (Table("gaps", "Questions without a value", columns, tuple(rows)),) if rows else ()
    )


def _why_lacking(system: SystemOnMetric) -> str:
    """The statuses of its rows, and how many questions have no row at all, as far as that is known."""
    without_row = system.lacking - sum(gap.count for gap in system.gaps)
    parts = [reasons_in_words(system.gaps)] if system.gaps else []
    if without_row > 0:
        parts.append(f"{without_row} without a row")
    return "; ".join(parts)


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= _TEXT else text[: _TEXT - 1] + "…"

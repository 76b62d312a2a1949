"""The sections of a comparison that are about questions: where the systems differ most, and what is not compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from longmark.analysis.compare.results import Comparison, MetricComparison, QuestionApart, SystemOnMetric
from longmark.report.document import Section
from longmark.report.summary import reasons_in_words
from longmark.report.tables import Column, Table

_BESIDE = 8
"""Systems up to which each has a column of its scores."""
_TEXT = 160  # characters shown of a question


class _Apart(NamedTuple):
    metric: MetricComparison
    of: QuestionApart


def apart(found: Comparison) -> Section:
    """Table `questions`."""
    beside = found.systems if len(found.systems) <= _BESIDE else ()
    columns = (
        *(Column("metric", "metric.metric"), Column("question_id", "of.question_id")),
        Column("question", lambda on: _cut(on.of.text)),
        Column("range", "of.spread", found.places, key="spread"),
        *(Column("highest", "of.highest"), Column("lowest", "of.lowest")),
        *(Column(name, _score_of(name), found.places, key=f"score: {name}") for name in beside),
    )
    items = [_Apart(one, question) for one in found.metrics for question in one.apart]
    return Section(
        "Where the systems differ most",
        "The questions with the widest range of scores on each metric. Read these answers first.",
        (Table("questions", "Questions on which the systems differ most", columns, items),),
        note=" ".join(
            f"{one.metric}: {one.as_far:,} more questions have the same range as the last of these."
            for one in found.metrics
            if one.as_far
        ),
    )


def _score_of(name: str) -> Callable[[_Apart], float | None]:
    def get(on: _Apart) -> float | None:
        systems = [system.system for system in on.metric.systems]
        return on.of.values[systems.index(name)] if name in systems else None

    return get


class _Missing(NamedTuple):
    metric: str
    why: str
    system: str | None = None
    questions: int | None = None
    compared: int | None = None
    missing: int | None = None
    alone: int | None = None


def left_out(found: Comparison) -> Section:
    """Table `gaps`."""
    items = [
        _Missing(one.metric, _why_missing(each), each.system, one.questions, one.common, each.lacking, each.alone)
        for one in found.metrics
        for each in one.systems
        if each.lacking or each.gaps
    ]
    items += [
        _Missing(one.metric, reasons_in_words(gaps) or "no row", name, one.questions, 0, one.questions, 0)
        for one in found.metrics
        for name, gaps in one.absent
    ]
    items += [_Missing(metric, why) for metric, why in found.left_out]
    columns = (
        *(Column("metric"), Column("system"), Column("questions", "questions"), Column("compared", "compared")),
        *(Column("missing", "missing"), Column("missing only here", "alone"), Column("reason", "why")),
    )
    dropped = sum(one.questions - one.common for one in found.metrics)
    says = "Every scored question is compared."
    if dropped:
        says = f"{dropped:,} questions of a metric are not compared: a system has no score. None counts as 0."
    return Section(
        "Missing scores", says, (Table("gaps", "Questions without a score", columns, items),) if items else ()
    )


def _why_missing(system: SystemOnMetric) -> str:
    """The statuses of its rows, and how many questions have no row at all, as far as that is known."""
    without_row = system.lacking - sum(gap.count for gap in system.gaps)
    parts = [reasons_in_words(system.gaps)] if system.gaps else []
    if without_row > 0:
        parts.append(f"{without_row} without a row")
    return "; ".join(parts)


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= _TEXT else text[: _TEXT - 1] + "…"

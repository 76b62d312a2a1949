"""What a reader must know of answers without a score, and of questions that were not scored for every system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longmark.analysis.compare.results import MetricResult, PairResult
from longmark.progress import counted
from longmark.report.format import listed


def silent_notices(result: MetricResult, alpha: float) -> Iterator[str]:
    """That a system has significantly more unscored answers than another, with the largest difference of a metric."""
    by_name = {system.system: system for system in result.systems}
    unequal = [
        pair for pair in result.pairs if pair.p_unscored is not None and pair.p_unscored <= alpha
    ]

    def apart(pair: PairResult) -> float:
        first, second = (by_name[name] for name in pair.names)
        return abs(first.silent / first.asked - second.silent / second.asked)

    if unequal:
        widest = max(unequal, key=apart)
        less, greater = sorted(
            (by_name[name] for name in widest.names),
            key=lambda system: system.silent / system.asked,
        )
        remark = (
            f" The same holds for {counted(len(unequal) - 1, 'more pair')}."
            if len(unequal) > 1
            else ""
        )
        worst = (
            ""
            if result.worst is None
            else f" Unscored answers counted as {result.worst:g}: {_reading(widest)}."
        )
        yield (
            f"{result.metric}: {greater.system} has significantly more unscored answers than {less.system} "
            f"({greater.silent:,} of {greater.asked:,} against {less.silent:,} of {less.asked:,}). "
            f"On the common questions: "
            f"{widest.common.in_words('higher' if result.worst is None else 'better')}.{worst}{remark}"
        )


def undecided_reason(result: MetricResult) -> str | None:
    """That pairs are undecided because of unscored answers."""
    undecided = [pair for pair in result.pairs if pair.undecided]
    if not undecided:
        return None
    names = listed([" and ".join(pair.names) for pair in undecided[:3]])
    names += f" and {len(undecided) - 3:,} more pairs" if len(undecided) > 3 else ""
    depends = f"undecided between {names}, because the result depends on"
    if not any(system.unscored for system in result.systems):
        return (
            f"{depends} questions of which one of them has no row (see Unscored answers). Score the same questions for "
            "each"
        )
    return f"{depends} unscored answers (see Unscored answers). Score them, or find out why they are not scored"


def other_questions(results: Sequence[MetricResult]) -> Iterator[str]:
    """That systems have no row of questions that others have a score of, as where two files have unequal questions."""
    without_row: dict[str, int] = {}
    for result in results:
        for system in result.systems:
            count = system.asked - system.rows
            if system.rows and count > without_row.get(system.system, 0):
                without_row[system.system] = count
    if without_row:
        counts = [f"{name} has no row for {count:,}" for name, count in without_row.items()]
        yield (
            f"The systems were not scored on the same questions: {listed(counts)}. A difference is that on the common "
            "questions; to compare all of them, score the same questions for each."
        )


def _reading(pair: PairResult) -> str:
    return (pair.counted or pair.common).in_words()

"""What would decide an undecided assertion: about how many more answers (or clusters), if the estimate is the truth.

The arithmetic is that of `power`: the questions with which a paired t test finds a difference with a probability of 80 %.
The difference is the distance between the estimate and what it is held against. A pilot's estimate says little about the
truth, so that the number is a guess; it says whether ten more answers decide the assertion or ten thousand.

Needs the extra `stats`, whose packages are imported where they are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from longmark.assertions.grammar import SAMPLE_MEAN
from longmark.assertions.result import UNSCORED, Checked
from longmark.progress import counted
from longmark.report.gates import Gate
from longmark.scores.observations import Observations

POWER = 0.8
_CLOSE = 1e-9  # of the estimate: nearer to the limit than this is at the limit


@dataclass(frozen=True, slots=True)
class Limited:
    """A mean that is held against a limit. bounds: least and greatest possible score, None: not known."""

    metric: str
    system: str
    limit: float
    tail: float


def without_number(distance: float, limit: float, unit: str) -> str:
    """What is said where no number of more answers is known. distance: of an estimate from what it is held against."""
    if abs(distance) <= _CLOSE * max(1.0, abs(limit)):
        return f"no number of such {unit}s: the estimate is at the limit"
    return f"more {unit}s; about how many is not known, since the spread of these is not"


def is_possible() -> bool:
    """Whether the packages that plan are installed."""
    return all(find_spec(name) is not None for name in ("numpy", "scipy"))


def questions_for_means(
    wanted: Iterable[Limited],
    sources: Sequence[Path],
    cluster: str,
    bounds: Mapping[str, tuple[float, float]] | None,
    fields: Sequence[str],
) -> dict[Limited, int | None]:
    """How many scores decide each mean in all; None where no number does. The sources are read again."""
    wanted = list(wanted)
    if not wanted or not is_possible():
        return {}
    numbers: dict[Limited, int | None] = {}
    with Observations(cluster, bounds, fields) as index:
        index.read(sources)
        metrics, systems = index.metrics, index.systems()
        for (metric, system), clusters in index.grouped():
            names = (metrics[metric], systems[system])
            limits = [mean for mean in wanted if (mean.metric, mean.system) == names]
            if limits:
                groups = list(clusters)
                numbers |= {mean: _for_mean(groups, mean) for mean in limits}
    return numbers


def _for_mean(groups: Sequence[Sequence[float]], mean: Limited) -> int | None:
    from longmark.stats.power import questions_needed, variance_per_question

    scores = [score for group in groups for score in group]
    numbers = None
    if len(groups) < len(scores):
        numbers = [number for number, group in enumerate(groups) for _ in group]
    variance = variance_per_question(scores, clusters=numbers)
    distance = abs(math.fsum(scores) / len(scores) - mean.limit)
    if variance.value is None or distance <= _CLOSE * max(1.0, abs(mean.limit)):
        return None
    per_cluster = variance.n / variance.effective if variance.effective else 1.0
    return questions_needed(
        variance.value, distance, per_cluster=per_cluster, alpha=2 * mean.tail, wanted=POWER
    )


def with_plan(
    check: Checked, gate: Gate, in_all: int | None, *, planned: bool, unit: str = "answer"
) -> Checked:
    """An undecided gate with what would decide it. in_all: the scores of `questions_for_means`; planned: they were
    computed."""
    unscored = (check.rows or 0) - (check.scored or 0)
    of_unscored = f"scores of the {unscored:,} unscored {unit}s"
    if unscored == 1:
        of_unscored = f"the score of the unscored {unit}"
    if check.result == UNSCORED or ((gate.bad or gate.kind == SAMPLE_MEAN) and unscored):
        if check.short and check.needed:
            of_unscored += f", and more answers, up to the {check.needed:,} that are needed"
        return replace(check, decides=of_unscored)
    if check.short and check.needed is not None:
        clusters = check.estimate.clusters if check.estimate else None
        more = check.needed - (clusters or check.scored or 0)
        unit = "cluster" if clusters else unit
        return replace(
            check,
            more=more,
            decides=f"at least {counted(more, f'more {unit}')}, and more unless all are perfect",
        )
    estimate = check.estimate
    if gate.bad or estimate is None or estimate.value is None:
        return check
    if unscored and estimate.low is not None and gate.above and estimate.low >= gate.limit:
        return replace(check, decides=of_unscored)
    if unscored and estimate.high is not None and not gate.above and estimate.high <= gate.limit:
        return replace(check, decides=of_unscored)
    if not planned:
        return replace(
            check,
            decides="more answers; the extra `stats` says about how many (pip install 'longmark[stats]')",
        )
    if in_all is None:
        return replace(
            check, decides=without_number(estimate.value - gate.limit, gate.limit, "answer")
        )
    more = in_all - (check.scored or 0)
    if more < 1:
        return replace(
            check,
            decides="more answers, about how many is not known: so many would do for a t test, but the bound that "
            "is used needs more",
        )
    side = "met" if (estimate.value >= gate.limit) is gate.above else "not met"
    return replace(
        check,
        more=more,
        decides=f"about {counted(more, f'more {unit}')}, after which it is {side} if the mean stays as it is",
    )

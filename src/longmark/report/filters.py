"""Which answers to look at: the filters that a run's report and `longmark view` share, each defined once, here.

    different   another system has another score on the same question (a metric of its own direction or none)
    worse       worse than the first system on the same question, on some metric with a direction
    failures    a score in the worst third of what is attainable (drawn as poor), or a metric that failed
    unscored    a score is missing, whatever the reason
    refusals    the answer only says that it has none, or the judge declined

The first system is the first of the page. A system with several answers to a question has their mean there. Different
and worse are offered only where there are two systems; of pairs, whose scores are choices, only the last two are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from longmark.report.worst import FAIR, goodness
from longmark.scores.manifest import MetricFacts
from longmark.text.refusal import declines, is_refusal

FILTERS = ("different", "worse", "failures", "unscored", "refusals")
_TIE = 1e-9  # as in `analysis.compare.results`
_FAILED = "metric_error"
_DECLINED = "refused"
Key = TypeVar("Key", bound=Hashable)
_Scores = dict[tuple[str, str], list[float]]
"""(question, metric) -> the scores of one system."""


@dataclass(frozen=True, slots=True)
class FilteredAnswer:
    """What the filters know of an answer. system: its number, 0 for the first of the page; scores, statuses: by metric;
    declined: it only says that it has no answer."""

    question_id: str
    system: int
    scores: Mapping[str, float | None]
    statuses: Mapping[str, str]
    declined: bool


def only_declines(answer: str | None) -> bool:
    """Whether an answer says nothing but that there is none."""
    return bool(answer) and (is_refusal(str(answer)) or declines(str(answer)))


def filters_of(
    answers: Mapping[Key, FilteredAnswer], facts: Mapping[str, MetricFacts], *, pairs: bool = False
) -> dict[Key, list[str]]:
    """The filters that each answer passes, in the order of `FILTERS`. pairs: the scores are choices."""
    by_system = _by_system(answers.values())
    passed = dict[Key, list[str]]()
    for key, answer in answers.items():
        tests = {
            "different": not pairs and _differs(answer, by_system),
            "worse": not pairs and _is_worse(answer, by_system, facts),
            "failures": not pairs and _fails(answer, facts),
            "unscored": any(status != "ok" for status in answer.statuses.values()),
            "refusals": answer.declined or _DECLINED in answer.statuses.values(),
        }
        passed[key] = [name for name in FILTERS if tests[name]]
    return passed


def offered(systems: int, *, pairs: bool) -> list[str]:
    """The filters that a page has."""
    if pairs:
        return ["unscored", "refusals"]
    return [name for name in FILTERS if systems > 1 or name not in ("different", "worse")]


def _by_system(answers: Iterable[FilteredAnswer]) -> dict[int, _Scores]:
    by_system = dict[int, _Scores]()
    for answer in answers:
        scores = by_system.setdefault(answer.system, {})
        for metric, score in answer.scores.items():
            if score is not None:
                scores.setdefault((answer.question_id, metric), []).append(score)
    return by_system


def _differs(answer: FilteredAnswer, by_system: Mapping[int, _Scores]) -> bool:
    """A missing score differs from none: that is what `unscored` is for."""
    for metric in answer.scores:
        cell = (answer.question_id, metric)
        means = [fmean(scores[cell]) for scores in by_system.values() if cell in scores]
        if len(means) > 1 and max(means) - min(means) > _TIE and cell in by_system[answer.system]:
            return True
    return False


def _is_worse(
    answer: FilteredAnswer, by_system: Mapping[int, _Scores], facts: Mapping[str, MetricFacts]
) -> bool:
    if answer.system == 0:
        return False
    first = by_system.get(0, {})
    for metric, score in answer.scores.items():
        higher_is_better = facts[metric].higher_is_better
        base = first.get((answer.question_id, metric))
        if score is None or base is None or higher_is_better is None:
            continue
        change = score - fmean(base)
        if (change if higher_is_better else -change) < -_TIE:
            return True
    return False


def _fails(answer: FilteredAnswer, facts: Mapping[str, MetricFacts]) -> bool:
    if _FAILED in answer.statuses.values():
        return True
    places = (
        goodness(facts[metric], score)
        for metric, score in answer.scores.items()
        if score is not None
    )
    return any(place is not None and place < FAIR for place in places)

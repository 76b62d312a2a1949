"""Which answers to look at: the filters that a run's report and `longmark view` share, each defined once, here.

    different   another system has another score on the same question (a metric of its own direction or none)
    worse       worse than the first system on the same question, on some metric with a direction
    failures    a score in the worst third of what is attainable (drawn as poor), or a metric that failed
    unscored    a score is missing, whatever the reason
    refusals    the answer only says that it has none, or the judge declined

The first system is the first of the page. A system with several answers to a question has their mean there. Different
and worse are offered only where there are two systems; of pairs, whose scores are choices, only the last two are.
What is counted beside a filter is answers of one system, and questions of several, as in a comparison: a question
passes where an answer to it does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

from longmark.report.format import counted
from longmark.report.worst import FAIR, goodness
from longmark.scores.manifest import MetricFacts

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


def counts_by_filter(
    passed: Iterable[tuple[str, Sequence[str]]], *, by_question: bool
) -> dict[str, int]:
    """How many answers pass each filter, "" for how many there are. passed: the question of each answer and the filters
    that it passes; by_question: questions are counted, each once, as a comparison does."""
    members = dict[str, set[Hashable]]()
    for place, (question_id, filters) in enumerate(passed):
        for name in ("", *filters):
            members.setdefault(name, set()).add(question_id if by_question else place)
    return {name: len(places) for name, places in members.items()}


def in_words(counts: Mapping[str, int], *, directed: bool) -> str:
    """How the answers of one system stand, in a sentence. counts: of `counts_by_filter`; directed: a metric has a better
    direction, so that a score can be a failure; else "" where nothing is missing."""
    total = counts.get("", 0)
    failures = counts.get("failures", 0)
    clauses = list[str]()
    if directed or failures:
        clauses.append(
            f"{failures or 'none'} of {counted(total, 'answer')} "
            f"{'fails' if failures == 1 else 'fail'} (a score in the worst third of its range, or a metric that failed)"
        )
    if unscored := counts.get("unscored", 0):
        clauses.append(f"{unscored:,} without one of the scores")
    if refusals := counts.get("refusals", 0):
        clauses.append(f"{refusals:,} refused")
    sentence = "; ".join(clauses)
    return f"{sentence[:1].upper()}{sentence[1:]}." if total and sentence else ""


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

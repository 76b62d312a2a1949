"""Which system of a run's page is ahead on each metric, and whether that could be chance: in plain Python.

On a metric the first system is held against the second, paired by question. The interval of the mean difference is
Hall's t (`stats.means`) at the level 1 - .05 / m, of m pairs of systems on all metrics together (Bonferroni): the first
is ahead if it excludes 0 in both readings, on the questions with a score of both and on those with a score of either,
an unscored answer with the worst score. Of primary metrics and of the others m counts by itself. `longmark compare`
tests every pair, with p-values.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import isnan, nan
from operator import itemgetter

from longmark.errors import UnknownName
from longmark.records.metric_name import under
from longmark.report.format import counted, listed
from longmark.report.summary import Summary
from longmark.scores.clusters import QUESTION
from longmark.scores.observations import Observations
from longmark.stats.means import few_clusters, mean_estimate

_ALPHA = 0.05
_FEWEST = 6
"""Questions, or clusters: of fewer, differences of one sign are chance with p = 2 / 2^n, which is above alpha."""
_NAMED = 3  # pairs of systems that are named as decided
_LARGEST = 1e100  # in size: what is larger cannot be averaged

AHEAD = "ahead"
CHANCE = "chance"
UNSCORED = "unscored"
EQUAL = "equal"
FEW = "few"


@dataclass(frozen=True, slots=True)
class Lead:
    """The system with the highest mean on a metric (the best side of it) beside the second. result: `ahead`; `chance`:
    the lead could be chance; `unscored`: the readings differ; `equal`: on every question; `few`: common questions.
    exploratory: primary metrics were named, and this is none."""

    metric: str
    first: str
    second: str
    result: str
    exploratory: bool = False


@dataclass(slots=True)
class _Columns:
    """The scores of a metric's systems by question, of equal length. common: NaN for no score; counted: with the worst
    score for it; clusters: of the questions, empty where each is one."""

    common: dict[int, array[float]]
    counted: dict[int, array[float]]
    clusters: list[str]


def primary_of(names: Sequence[str], metrics: Sequence[str]) -> list[str]:
    """The metrics of these names and families. UnknownName for a name of none."""
    primary = set[str]()
    for name in names:
        selected = under(name, metrics)
        if not selected:
            raise UnknownName("metric", name, metrics, f"The runs have {', '.join(metrics)}.")
        primary.update(selected)
    return [metric for metric in metrics if metric in primary]


def leads(index: Observations, summary: Summary, primary: Sequence[str] = ()) -> list[Lead]:
    """A lead for each metric with a better direction and two scored systems or more, slices left out. primary: metrics
    whose pairs alone count in m; those of the others count together."""
    directed = (
        []
        if summary.pairs
        else [
            whole for whole in summary.wholes if summary.facts[whole].higher_is_better is not None
        ]
    )
    scored = {
        metric: [cell.system for cell in summary.of(metric) if cell.scored] for metric in directed
    }
    leads_by_role = list[Lead]()
    for exploratory in (False, True):
        in_role = {
            metric: systems
            for metric, systems in scored.items()
            if (bool(primary) and metric not in primary) is exploratory
        }
        pairs = sum(math.comb(len(systems), 2) for systems in in_role.values())
        candidates = (
            _lead(index, summary, metric, systems, pairs)
            for metric, systems in in_role.items()
            if len(systems) > 1
        )
        leads_by_role += [replace(lead, exploratory=exploratory) for lead in candidates if lead]
    return leads_by_role


def _lead(
    index: Observations, summary: Summary, metric: str, systems: Sequence[str], pairs: int
) -> Lead | None:
    """The first system on a metric beside the second; None where scores are too large to be averaged. pairs: m."""
    facts = summary.facts[metric]
    sign = 1 if facts.higher_is_better else -1
    worst = _worst_score(summary, metric, sign)
    if worst is None:
        return None
    numbers = [summary.systems.index(system) for system in systems]
    columns = _columns(index, metric, numbers, worst, summary.cluster != QUESTION)
    best_first = sorted(
        numbers,
        key=lambda number: -sign * math.fsum(columns.counted[number]),
    )
    first, second = best_first[:2]
    width = None if facts.lo is None or facts.hi is None else facts.hi - facts.lo
    unscored_of_question = bytes(
        isnan(x) + isnan(y)
        for x, y in zip(columns.common[first], columns.common[second], strict=True)
    )
    results = []
    sums = list[float]()
    for scores, unscored_allowed in ((columns.common, 0), (columns.counted, 1)):
        counts_question = [unscored <= unscored_allowed for unscored in unscored_of_question]
        differences = array(
            "d",
            (
                sign * (x - y)
                for x, y, counts in zip(scores[first], scores[second], counts_question, strict=True)
                if counts
            ),
        )
        clusters = [  # none where each question is one
            cluster
            for cluster, counts in zip(columns.clusters, counts_question, strict=False)
            if counts
        ]
        results.append(_result(differences, clusters or None, width, 1 - _ALPHA / pairs))
        sums.append(math.fsum(differences))
    same_result = len({*results}) == 1 and min(sums) * max(sums) >= 0
    result = results[0] if same_result or results[0] == FEW else UNSCORED
    return Lead(metric, summary.systems[first], summary.systems[second], result)


def _worst_score(summary: Summary, metric: str, sign: int) -> float | None:
    """What an unscored answer counts: the metric's bound on the worse side, or what is worse than that; None where a
    score is too large to be averaged. sign: 1 where higher is better, else -1."""
    facts = summary.facts[metric]
    bound = facts.lo if sign > 0 else facts.hi
    scores = [
        extreme
        for cell in summary.of(metric)
        if cell.scored
        for extreme in (cell.least, cell.greatest)
        if extreme is not None
    ]
    if max(map(abs, scores)) > _LARGEST:
        return None
    if bound is not None:
        scores.append(bound)
    return sign * min(sign * score for score in scores)


def _result(
    differences: Sequence[float],
    clusters: Sequence[str] | None,
    width: float | None,
    level: float,
) -> str:
    """What the questions of one reading show. differences: above 0 where the first system is better; width: of the
    metric's range."""
    if (len(set(clusters)) if clusters else len(differences)) < _FEWEST:
        return FEW
    if not any(differences):
        return EQUAL
    bounds = (None if width is None else -width, width)
    mean = mean_estimate(differences, clusters, bounds, level, null=0.0)
    if mean.effective is not None and few_clusters(mean.effective):
        return FEW
    return AHEAD if mean.ends and mean.ends[0] > 0 else CHANCE


def _columns(
    index: Observations, metric: str, systems: Sequence[int], worst: float, clustered: bool
) -> _Columns:
    common, counted = ({system: array("d") for system in systems} for _ in range(2))
    clusters = []
    for _, group in groupby(index.by_question(metric), itemgetter(0)):
        answers = {
            system: (cluster, mean, scored, rows)
            for _, cluster, system, mean, scored, rows in group
        }
        for system in systems:
            _, mean, scored, rows = answers.get(system, ("", None, 0, 1))
            common[system].append(nan if mean is None else mean)
            counted[system].append(((mean or 0.0) * scored + worst * (rows - scored)) / rows)
        if clustered:
            clusters.append(next(iter(answers.values()))[0])
    return _Columns(common, counted, clusters)


def in_words(leads_found: Sequence[Lead], titles: Mapping[str, str], systems: int) -> list[str]:
    """A sentence for each result, what is decided first. systems: of the page; of more than two the second is
    named; who leads by chance is not. Exploratory metrics come behind the others, and say what they are."""
    exploratory = [replace(lead, exploratory=False) for lead in leads_found if lead.exploratory]
    if exploratory:
        deciding = [lead for lead in leads_found if not lead.exploratory]
        first, *sentences = in_words(exploratory, titles, systems)
        return [*in_words(deciding, titles, systems), f"Exploratory: {first}", *sentences]

    def of(result: str, word: str = "", than: str = "") -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for lead in leads_found:
            if lead.result == result:
                second = f" {than} {lead.second}" if systems > 2 else ""
                groups.setdefault(f"{lead.first} {word}{second}" if word else "", []).append(
                    titles[lead.metric]
                )
        return dict(sorted(groups.items(), key=lambda group: -len(group[1])))

    decided = of(AHEAD, "is ahead", "of")
    text = [f"{words} on {listed(metrics)}." for words, metrics in [*decided.items()][:_NAMED]]
    if unnamed := sum(map(len, [*decided.values()][_NAMED:])):
        text.append(f"Another system is ahead on {counted(unnamed, 'more metric')}.")
    for metrics in of(CHANCE).values():
        # of two systems in the words of `compare`, which tests the same scores: a mean that is higher by chance is no lead
        text += (
            [f"No difference is shown on {listed(metrics)}."]
            if systems < 3
            else [
                *([] if text else ["No lead is clear."]),
                f"The lead could be chance on {listed(metrics)}.",
            ]
        )
    text += [
        f"Depends on unscored answers: {listed(metrics)}." for metrics in of(UNSCORED).values()
    ]
    text += [f"Equal on every question: {listed(metrics)}." for metrics in of(EQUAL).values()]
    few = f"Too few common questions to tell (fewer than {_FEWEST})"
    return text + [f"{few}: {listed(metrics)}." for metrics in of(FEW).values()]

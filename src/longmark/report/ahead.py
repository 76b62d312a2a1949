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
    facts = summary.facts[metric]
    cells = [cell for cell in summary.of(metric) if cell.scored]
    ends = [end for cell in cells for end in (cell.least, cell.greatest) if end is not None]
    if max(map(abs, ends)) > _LARGEST:
        return None
    sign = 1 if facts.higher_is_better else -1
    bound = facts.lo if facts.higher_is_better else facts.hi
    worst = sign * min(sign * end for end in (*ends, *([] if bound is None else [bound])))
    numbers = [summary.systems.index(system) for system in systems]
    columns = _columns(index, metric, numbers, worst, summary.cluster != QUESTION)
    a, b = sorted(numbers, key=lambda number: -sign * math.fsum(columns.counted[number]))[:2]
    width = None if facts.lo is None or facts.hi is None else facts.hi - facts.lo
    level = 1 - _ALPHA / pairs
    n_missing = bytes(
        isnan(x) + isnan(y) for x, y in zip(columns.common[a], columns.common[b], strict=True)
    )
    results = []
    means = list[float]()
    for column, allowed in (
        (columns.common, 0),
        (columns.counted, 1),
    ):  # how many of both may be without a score
        counts_question = [missing <= allowed for missing in n_missing]
        differences = array(
            "d",
            (
                sign * (x - y)
                for x, y, counts in zip(column[a], column[b], counts_question, strict=True)
                if counts
            ),
        )
        means.append(math.fsum(differences))
        clusters = [
            name for name, counts in zip(columns.clusters, counts_question, strict=False) if counts
        ] or None
        if (len(set(clusters)) if clusters else len(differences)) < _FEWEST:
            results.append(FEW)
        elif not any(differences):
            results.append(EQUAL)
        else:
            mean = mean_estimate(
                differences, clusters, (None if width is None else -width, width), level, null=0.0
            )
            few = mean.effective is not None and few_clusters(mean.effective)
            results.append(FEW if few else AHEAD if mean.ends and mean.ends[0] > 0 else CHANCE)
    same_result = len({*results}) == 1 and min(means) * max(means) >= 0
    result = results[0] if same_result or results[0] == FEW else UNSCORED
    return Lead(metric, summary.systems[a], summary.systems[b], result)


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
        for one in systems:
            _, mean, scored, rows = answers.get(one, ("", None, 0, 1))
            common[one].append(nan if mean is None else mean)
            counted[one].append(((mean or 0.0) * scored + worst * (rows - scored)) / rows)
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

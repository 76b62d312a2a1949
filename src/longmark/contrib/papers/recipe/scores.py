"""The scores of runs as a source: systems and metrics are its members, answers its items."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from longmark.contrib.papers.recipe.schema import Vocabulary
from longmark.contrib.papers.recipe.source import Measure, Member, Places, RecipeSource
from longmark.errors import UserError
from longmark.records import Row
from longmark.report.tables import Cell
from longmark.scores.clusters import QUESTION, fields_of, no_such_field
from longmark.scores.files import examples_of, name_of, some_rows_of, sources_of
from longmark.scores.manifest import MetricFacts, read_manifest
from longmark.scores.readings import best, readings
from longmark.stats.means import mean_estimate
from longmark.stats.results import Estimate

MEASURES = (
    "mean",
    "sd",
    "median",
    "least",
    "greatest",
    "scored",
    "unscored",
    "unscored because",
)
HEADS = {"system": "", "metric": "metric"}
VOCABULARY = Vocabulary(MEASURES)


@dataclass
class _ScoredAnswers:
    """What was read. scores: member -> place of an answer -> its score, None without one; why: place and member ->
    status; facts: of the metrics."""

    questions: list[str] = field(default_factory=list)
    fields: list[dict[str, str]] = field(default_factory=list)
    places: dict[tuple[int, str], int] = field(default_factory=dict)
    scores: dict[Member, dict[int, float | None]] = field(default_factory=dict)
    why: dict[Member, dict[int, str]] = field(default_factory=dict)
    facts: dict[str, MetricFacts] = field(default_factory=dict)
    origin: dict[tuple[Member, str], Path] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


def scores_source(
    paths: Sequence[Path], cluster: str | None = None, level: float = 0.95
) -> RecipeSource:
    """The source of runs or files of rows. cluster: the field that dependent answers share (default: the question).
    UserError if a path cannot be read, two of them have scores of one answer, or no answer has the field."""
    scored = _ScoredAnswers()
    for number, run in enumerate(sources_of(paths)):
        _add_run(scored, number, run)
    names = sorted({name for fields in scored.fields for name in fields} - {*HEADS})
    if cluster is not None and cluster not in (QUESTION, *names):
        raise no_such_field(cluster, names)
    clusters = [
        fields.get(cluster or "", "") or question
        for fields, question in zip(scored.fields, scored.questions, strict=True)
    ]
    return RecipeSource(
        heads=HEADS,
        members=list(scored.scores),
        measures=_measures(scored, clusters, level),
        items=len(scored.questions),
        fields={name: [fields.get(name, "") for fields in scored.fields] for name in names},
        best=lambda measure, members, parts: _best(scored, measure, members, parts),
        notices=scored.notices,
    )


def _add_run(
    scored: _ScoredAnswers,
    number: int,
    run: Path,
) -> None:
    scored.facts.update(read_manifest(run).metrics())
    examples = {example.id: example for example in examples_of(run)}
    for row in some_rows_of(run, scored.notices):
        place = scored.places.setdefault((number, row.example_id), len(scored.questions))
        if place == len(scored.questions):
            example = examples.get(row.example_id)
            scored.questions.append(row.question_id)
            scored.fields.append({} if example is None else fields_of(example))
        _add_row(scored, place, row, run)


def _add_row(
    scored: _ScoredAnswers,
    place: int,
    row: Row,
    run: Path,
) -> None:
    member = (row.system or name_of(run), row.metric)
    first = scored.origin.setdefault((member, row.example_id), run)
    if first != run:
        raise UserError(
            f"{first} and {run} both have scores of {row.metric} for the answer {row.example_id} of {member[0]}; "
            "name only one of them, or give the systems names with `longmark run --system`"
        )
    scored.scores.setdefault(member, {})[place] = row.score
    if row.score is None:
        scored.why.setdefault(member, {})[place] = row.status


def _measures(
    scored: _ScoredAnswers,
    clusters: Sequence[str],
    level: float,
) -> dict[str, Measure]:
    def chosen(members: Sequence[Member], places: Places) -> list[tuple[Member, int]]:
        """The scores of a cell. Several metrics have no mean."""
        if len({metric for _, metric in members}) > 1:
            return []
        return [
            (member, place)
            for member in members
            for place in places
            if place in scored.scores[member]
        ]

    def values(members: Sequence[Member], places: Places) -> list[float]:
        every = (scored.scores[member][place] for member, place in chosen(members, places))
        return [value for value in every if value is not None]

    def mean(members: Sequence[Member], places: Places) -> Estimate | None:
        if len({metric for _, metric in members}) > 1:
            return Estimate(None, None, None, 0, level, reason="several metrics in one cell")
        rows = chosen(members, places)
        if not members or not rows:
            return Estimate(None, None, None, 0, level, reason="no answer")
        facts = scored.facts.get(members[0][1], MetricFacts())
        known_scores = [
            (value, clusters[place])
            for member, place in rows
            if (value := scored.scores[member][place]) is not None
        ]
        estimate = mean_estimate(
            [value for value, _ in known_scores],
            [name for _, name in known_scores],
            (facts.lo, facts.hi),
            level,
        )
        return replace(estimate, missing=len(rows) - len(known_scores))

    def number(statistic: Callable[[list[float]], float | None]) -> Measure:
        return Measure(lambda members, places: statistic(values(members, places)), "number")

    def count(*, is_scored: bool) -> Measure:
        def counted(members: Sequence[Member], places: Places) -> Cell:
            rows = chosen(members, places)
            return sum(
                (scored.scores[member][place] is not None) is is_scored for member, place in rows
            )

        return Measure(counted, "number", None)

    def why(members: Sequence[Member], places: Places) -> str | None:
        statuses = Counter(
            scored.why[member][place]
            for member, place in chosen(members, places)
            if place in scored.why.get(member, {})
        )
        return ", ".join(f"{total:,} {status}" for status, total in statuses.items()) or None

    return {
        "mean": Measure(mean),
        "sd": number(
            lambda known_scores: statistics.stdev(known_scores) if len(known_scores) > 1 else None
        ),
        "median": number(
            lambda known_scores: statistics.median(known_scores) if known_scores else None
        ),
        "least": number(lambda known_scores: min(known_scores, default=None)),
        "greatest": number(lambda known_scores: max(known_scores, default=None)),
        "scored": count(is_scored=True),
        "unscored": count(is_scored=False),
        "unscored because": Measure(why, "text"),
    }


def _best(
    scored: _ScoredAnswers, measure: str, members: Sequence[Member], parts: Sequence[Places]
) -> Member | None:
    """The member with the best mean over the questions that all scored, and with the worst score for unscored answers;
    None where these disagree, and of metrics without a direction or bounds."""
    metrics = {metric for _, metric in members}
    if measure != "mean" or len(metrics) != 1 or len(members) < 2:
        return None
    facts = scored.facts.get(metrics.pop(), MetricFacts())
    if facts.higher_is_better is None or facts.lo is None or facts.hi is None:
        return None
    sign = 1 if facts.higher_is_better else -1
    worst = facts.lo if facts.higher_is_better else -facts.hi

    def by_question(member: Member, places: Places) -> dict[str, float | None]:
        grouped: dict[str, list[float | None]] = {}
        for place in places:
            if place in scored.scores[member]:
                score = scored.scores[member][place]
                grouped.setdefault(scored.questions[place], []).append(
                    None if score is None else sign * score
                )
        return {question: _mean_or_none(group, worst) for question, group in grouped.items()}

    of_parts = [{member: by_question(member, places) for member in members} for places in parts]
    if not all(any(of_member.values()) for part in of_parts for of_member in part.values()):
        return None
    return best(readings(of_parts, worst))


def _mean_or_none(scores: Iterable[float | None], worst: float) -> float | None:
    group = list(scores)
    if all(score is None for score in group):
        return None
    return statistics.fmean(worst if score is None else score for score in group)

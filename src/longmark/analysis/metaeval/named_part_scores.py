"""What metrics say of the nuggets and the criteria of a question, as scores beside people's labels of them.

    METRIC.held     how far the answer holds the nugget: 1 whole (`support`), 1/2 in part, 0 not
    METRIC.met      whether the answer meets the criterion, 1 or 0: of a fault 1 says that the answer has it
    METRIC.rating   in its place with form=relative: the judge's rating of the answer by the criterion, divided by 10

The evidence of the metrics `nuggets` and `criteria` has each by its text. A labelled one is that with the same text;
case and spaces do not count. With `criteria@tag=` these are the criteria with the tag. Range [0, 1]. Unscored: a text
that the metric does not have (`undefined`); an answer that the metric did not score (its status). No model is called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from longmark.records import Row
from longmark.records.evidence import Support
from longmark.records.expected import NOT_SUPPORT, PARTIAL, SUPPORT
from longmark.records.metric_name import parsed
from longmark.records.same import comparable
from longmark.scores.answer_parts import CRITERION, NUGGET, AnswerPart
from longmark.stats.clusters import FEWEST_EFFECTIVE

HELD = {SUPPORT: 1.0, PARTIAL: 0.5, NOT_SUPPORT: 0.0}
_HIGHEST_RATING = 10  # of form=relative
_SCORES = {NUGGET: ("held", ""), CRITERION: ("met", "rating")}
"""Unit -> the scores that a metric can have of it; the first is the name where it has none."""


@dataclass(frozen=True, slots=True)
class NamedReading:
    """What the rows of one metric say of the nuggets, or the criteria, of an answer. name: of the score; score_of: by
    the text; failure: status and reason where no row has one; tag: of the criteria that count, "" for all."""

    name: str
    score_of: Mapping[str, float]
    failure: tuple[str, str] | None
    tag: str = ""

    @classmethod
    def of(cls, rows: Sequence[Row], unit: str) -> Self:
        name = _SCORES[unit][0]
        score_of: dict[str, float] = {}
        for row in rows:
            for of_row, scores in _scores_in(row, unit).items():
                name = of_row
                score_of |= scores
        unscored = next((row for row in rows if row.status != "ok"), None)
        failure = None
        if not score_of and unscored is not None:
            failure = (unscored.status, unscored.reason or _absent(unit))
        return cls(name, score_of, failure, _tag_of(rows[0]) if rows else "")

    def scores(self, part: AnswerPart) -> dict[str, float | tuple[str, str]]:
        """The score of a nugget or a criterion, or why there is none."""
        if self.failure is not None:
            return {self.name: self.failure}
        score = self.score_of.get(comparable(part.text))
        return {self.name: ("undefined", _absent(part.unit, self.tag)) if score is None else score}


def says_of_named(rows: Iterable[Row], unit: str) -> bool:
    """Whether a row says something of nuggets, or of criteria."""
    return any(_scores_in(row, unit) for row in rows)


def _absent(unit: str, tag: str = "") -> str:
    return f"the metric has no {unit} with this text" + (f" and the tag {tag}" if tag else "")


def _tag_of(row: Row) -> str:
    """The tag whose criteria a score is of, "" for all."""
    return parsed(row.metric)[1].get("tag", "")


def _scores_in(row: Row, unit: str) -> dict[str, dict[str, float]]:
    """Name of the score -> text -> score; {} for a row that says nothing of these."""
    if unit == CRITERION:
        return _of_criteria(row.evidence, _tag_of(row))
    support = Support.of(row.evidence)
    held = {
        comparable(fact.claim): HELD[fact.held]
        for fact in (support.reference_claims if support else ())
        if fact.held in HELD
    }
    return {"held": held} if held else {}


def _of_criteria(evidence: Mapping[str, Any], tag: str) -> dict[str, dict[str, float]]:
    """Evidence comes from files, too: what is not as the metric writes it says nothing. The evidence of a score by one tag
    has all criteria, since the judge is asked about all."""
    entries = evidence.get("criteria")
    scores: dict[str, dict[str, float]] = {}
    for entry in entries if isinstance(entries, list | tuple) else ():
        if not isinstance(entry, Mapping) or not isinstance(entry.get("text"), str):
            continue
        tags = entry.get("tags")
        if tag and isinstance(tags, str) and f", {tag}, " not in f", {tags}, ":
            continue
        text = comparable(entry["text"])
        rating = entry.get("answer")
        if isinstance(entry.get("met"), bool):
            scores.setdefault("met", {})[text] = float(entry["met"])
        elif isinstance(rating, int | float) and 0 <= rating <= _HIGHEST_RATING:
            scores.setdefault("rating", {})[text] = rating / _HIGHEST_RATING
    return scores


def clusters_of_criteria(
    parts: Mapping[tuple[str, str], None],
) -> tuple[dict[tuple[str, str], str], str]:
    """(question, criterion) of the labels -> the cluster that it counts in, with a notice; "" where each question has
    criteria of its own, so that the clusters are the questions.

    Labels of one question depend on each other, and so do labels of one criterion. The clusters are what both link
    together, directly or through others: no label depends on another cluster's. Where these are fewer than five, they
    are the questions or the criteria, whichever are fewer but not below five, else whichever are more.
    """
    questions = Counter(question for question, _ in parts)
    criteria = Counter(criterion for _, criterion in parts)
    by_question = {part: part[0] for part in parts}
    if not any(count > 1 for count in criteria.values()):
        return by_question, ""
    groups = _linked(parts)
    if len(set(groups.values())) >= FEWEST_EFFECTIVE:
        return groups, (
            f"Questions share criteria: intervals are over the {len(set(groups.values())):,} groups of questions that "
            "have no criterion in common with another group."
        )
    counts = {"questions": len(questions), "criteria": len(criteria)}
    enough = {unit: count for unit, count in counts.items() if count >= FEWEST_EFFECTIVE}
    unit = min(enough, key=enough.__getitem__) if enough else max(counts, key=counts.__getitem__)
    ignored = "questions" if unit == "criteria" else "criteria"
    clusters = {part: part[1] for part in parts} if unit == "criteria" else by_question
    return clusters, (
        f"Questions share criteria: intervals are over the {counts[unit]:,} {unit}, as though {ignored} did not matter, "
        f"since too few groups of questions ({len(set(groups.values())):,}) have no criterion in common with another."
    )


def _linked(parts: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Each part -> the first question of those that criteria link."""
    parent_of: dict[str, str] = {}

    def root(question: str) -> str:
        while (parent := parent_of.setdefault(question, question)) != question:
            parent_of[question] = parent_of[parent]
            question = parent
        return question

    question_of: dict[str, str] = {}
    for question, criterion in parts:
        linked_question = question_of.setdefault(criterion, question)
        parent_of[root(question)] = root(linked_question)
    return {part: root(part[0]) for part in parts}

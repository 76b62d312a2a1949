"""What metrics say of the parts of answers, as scores beside people's labels of them.

Of nuggets and criteria see `named_part_scores`; the rest is of sentences and citations.

The evidence of a metric with the view `support` has claims (`records.evidence.Support`). A claim belongs to the
sentence in which its quote begins; without a quote to the sentence that has most of its words, at least half (as in
the report). A sentence is one that people labelled; claims of other sentences of the answer count for none of them.

    METRIC.supported              the share of the sentence's claims that a passage entails; of a metric of citations,
                                  1 where the sentences' sources together support them, 0 where they do not or none
                                  is named
    METRIC.supported_probability  the mean of what the checker gives for the same, where it gives probabilities
    METRIC.correct                the share of the sentence's claims that the reference entails
    METRIC.needed                 the share of the sentence's citations that it needs (fate `needed`); of a labelled
                                  citation 1 or 0
    METRIC.support                in place of `needed`, where citations are graded (support=graded): the mean grade of
                                  the sentence's citations, full 1, partial .5, none 0; of a labelled citation its own

Range [0, 1], higher is better. Unscored: a sentence without a claim of the metric (`undefined`); one whose sources'
texts are missing (`missing_input`); an answer that the metric did not score (its status). No model is called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from longmark.analysis.metaeval.named_part_scores import (
    NamedReading,
    clusters_of_criteria,
    says_of_named,
)
from longmark.errors import UserError
from longmark.options import named
from longmark.records import Example, Row, Usage
from longmark.records.evidence import CitedClaim, SourceFate, Support, SupportedClaim
from longmark.records.metric_name import base_of
from longmark.records.same import comparable
from longmark.report.placing import placed
from longmark.scores.answer_parts import CRITERION, NAMED_UNITS, NUGGET, AnswerPart, plural
from longmark.scores.answer_texts import ANSWER_SHA256, answer_sha256
from longmark.scores.answers import ScoredParts, Source
from longmark.scores.files import examples_of, rows_of, source_of
from longmark.scores.labels import Labels, first_few
from longmark.scores.manifest import MetricFacts, read_manifest, refuse_pairs
from longmark.text.entailment import ENTAILS

_FACTS = MetricFacts(0.0, 1.0, higher_is_better=True, declared=True)
_CITED = {
    "supported": 1.0,
    "partly supported": 0.5,
    "not supported": 0.0,
    "not cited": 0.0,
    "supported elsewhere": 0.0,
}
"""State of a sentence with citations -> its score; others are not known."""
_FATES = {"needed": 1.0}
_GRADES = {
    "full support": 1.0,
    "partial support": 0.5,
}
"""Fate, or grade, of a citation -> its score; others are 0."""
_GRADED = {*_GRADES, "no support"}
_MISSING_SOURCE = "missing source"
_NO_CLAIM = "the metric has no claim in this sentence"
_NO_PLACE = "the label's place ends at character {end:,}, behind the end of the answer, which has {length:,}"
_NO_TEXT = "the example does not have the text of a source that this sentence names"
_NO_CITATION = "the metric reads no citation here"
_NOT_ASKED = "whether citations are needed was not asked: run the metric's precision, too"

_PartScore = float | tuple[str, str]
"""A score; or a status and the reason why there is none."""
_PartScores = dict[str, _PartScore]


class _UnitScores(NamedTuple):
    """Where the scores of a unit are from. view: of their metrics; metrics: what to run; remedy: the end of a message
    on a run that has none."""

    view: str
    metrics: str
    remedy: str = ""


_SENTENCES = _UnitScores("support", "citations or ragchecker")
_UNITS = {
    NUGGET: _UnitScores("support", "nuggets"),
    CRITERION: _UnitScores(
        "cells",
        "criteria",
        ". If the column `criterion` names the question that raters were asked, name it: ",
    ),
}


class AnswerName(NamedTuple):
    """An answer as labels name it. digest: of its text, None where the labels do not have it."""

    id: str
    system: str
    digest: str | None


def scored_parts(sources: Source | Sequence[Source], human: Labels) -> list[ScoredParts]:
    """The scores of the parts that people labelled, of run folders. An answer is found by its id, else by its text's
    hash: a side of a pair has an id that no answer has.

    UserError for a source without the texts of its answers, and if no metric says anything of single sentences.
    """
    parts: dict[AnswerName, dict[AnswerPart, None]] = {}
    for label in human.select():
        part = AnswerPart.of(label.given)
        answer = AnswerName(
            part.answer,
            label.system,
            label.given.get(ANSWER_SHA256),
        )
        parts.setdefault(answer, {})[part] = None
    listed = [sources] if isinstance(sources, str | Path) else list(sources)
    scored = []
    for source in listed:
        if not isinstance(source, str | Path):
            raise UserError(
                f"{human.name} has labels of {plural(human.parts)}; scores of these are read from a run folder, which has "
                "the texts of the answers and the evidence. Name run folders"
            )
        scored.append(_of_source(source_of(Path(source)), parts, human))
    if not any(source.rows for source in scored):
        ids = first_few(dict.fromkeys(answer.id for answer in parts), 3)
        raise UserError(
            f"nothing in {human.name} belongs to an answer of {', '.join(str(source.path) for source in scored)}: "
            f"example_id, and system where the file has it, must be those of the rows; the file has {ids}"
        )
    notices = list(_without_scores(scored, human.parts))
    if human.parts == CRITERION:
        labelled = (part for parts_of_answer in parts.values() for part in parts_of_answer)
        scored, notice = _clustered(scored, {part.name: comparable(part.text) for part in labelled})
        notices += filter(None, [notice])
    return [replace(scored[0], notices=tuple(notices)), *scored[1:]]


def _clustered(
    sources: Sequence[ScoredParts], criterion_of: Mapping[str, str]
) -> tuple[list[ScoredParts], str]:
    """The sources with the clusters of criteria in place of the questions, and a notice of it. criterion_of: by the name
    of the part."""
    clusters, notice = clusters_of_criteria(
        {
            (row.question_id, criterion_of[row.example_id]): None
            for source in sources
            for row in source.rows
        }
    )
    clustered = [
        replace(
            source,
            rows=[
                replace(row, question_id=clusters[row.question_id, criterion_of[row.example_id]])
                for row in source.rows
            ],
        )
        for source in sources
    ]
    return clustered, notice


def _of_source(
    path: Path,
    parts: Mapping[AnswerName, Iterable[AnswerPart]],
    human: Labels,
) -> ScoredParts:
    manifest = read_manifest(path)
    refuse_pairs((manifest,))
    facts = manifest.metrics()
    of_unit = _UNITS.get(human.parts, _SENTENCES)
    examples = _labelled_examples(path, parts)
    ids = {example.id for example in examples.values()}
    rows_of_answer: dict[tuple[str, str], list[Row]] = {}
    for row in rows_of(path):
        view = facts[row.metric].view[0] if row.metric in facts else ""
        if view == of_unit.view and row.example_id in ids:
            rows_of_answer.setdefault((row.example_id, row.system), []).append(row)
    if human.parts in NAMED_UNITS:
        rows_of_answer = _of_named(rows_of_answer, facts, human.parts)
    if ids and not rows_of_answer:
        remedy = of_unit.remedy and of_unit.remedy + named("mapping", {"label": human.parts})
        raise UserError(
            f"{path}: none of its metrics says anything of single {plural(human.parts)}, which {human.name} labels; "
            f"run {of_unit.metrics} on these answers{remedy}"
        )
    rows: list[Row] = []
    texts: dict[str, str] = {}
    for answer, example in examples.items():
        text = example.answer or ""
        texts |= {part.name: text for part in parts[answer]}
        for (example_id, system), answer_rows in rows_of_answer.items():
            is_other_system = answer.system and system and answer.system != system
            if example_id == example.id and not is_other_system:
                rows += _of_answer(
                    text,
                    list(parts[answer]),
                    answer_rows,
                    facts,
                )
    return ScoredParts(
        path=path,
        rows=rows,
        facts={row.metric: _FACTS for row in rows},
        texts=texts,
    )


def _of_named(
    rows_of_answer: Mapping[tuple[str, str], list[Row]],
    facts: Mapping[str, MetricFacts],
    unit: str,
) -> dict[tuple[str, str], list[Row]]:
    """Those of metrics that say of some answer which nuggets it holds, or which criteria it meets."""
    rows_of_family: dict[tuple[str, str], list[Row]] = {}
    for rows in rows_of_answer.values():
        for row in rows:
            rows_of_family.setdefault(_family(row, facts), []).append(row)
    families = {family for family, rows in rows_of_family.items() if says_of_named(rows, unit)}
    named_rows = {
        answer: [row for row in rows if _family(row, facts) in families]
        for answer, rows in rows_of_answer.items()
    }
    return {answer: rows for answer, rows in named_rows.items() if rows}


def _family(row: Row, facts: Mapping[str, MetricFacts]) -> tuple[str, str]:
    """The metric that a score belongs to, and its parameters as they stand in the score's name."""
    return facts[row.metric].view[1], row.metric.removeprefix(base_of(row.metric))


def _labelled_examples(path: Path, parts: Iterable[AnswerName]) -> dict[AnswerName, Example]:
    """The example of each labelled answer; none for a text that several examples of its system have."""
    ids = {answer.id for answer in parts}
    digests = {answer.digest for answer in parts}
    by_id: dict[str, Example] = {}
    by_digest: dict[str, list[Example]] = {}
    for example in examples_of(path):
        if not isinstance(example, Example) or example.answer is None:
            continue
        if example.id in ids:
            by_id[example.id] = example
        elif (digest := answer_sha256(example.answer)) in digests:
            by_digest.setdefault(digest, []).append(example)
    examples = {}
    for answer in parts:
        same_text = by_digest.get(answer.digest or "", ())
        if answer.id in by_id:
            examples[answer] = by_id[answer.id]
        elif len(same_text) == 1:
            examples[answer] = same_text[0]
        elif (
            len(of_system := [example for example in same_text if example.system == answer.system])
            == 1
        ):
            examples[answer] = of_system[0]  # systems often answer a question in the same words
    return examples


def _without_scores(sources: Iterable[ScoredParts], unit: str) -> Iterator[str]:
    """A notice for each metric that scored none of the parts of some source, with the counts of all such sources."""
    reasons: dict[str, Counter[str]] = {}
    for source in sources:
        scored = {row.metric for row in source.rows if row.score is not None}
        for row in source.rows:
            if row.metric not in scored:
                reasons.setdefault(row.metric, Counter())[row.reason or row.status] += 1
    for metric, counts in reasons.items():
        reason, count = counts.most_common(1)[0]
        yield f"{metric} has no score of a {unit}: {reason} ({count:,} of {counts.total():,})."


def _of_answer(
    text: str,
    parts: Sequence[AnswerPart],
    rows: Sequence[Row],
    facts: Mapping[str, MetricFacts],
) -> Iterator[Row]:
    """The rows of the parts of an answer, of all metrics that say something of its sentences."""
    families: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        families.setdefault(_family(row, facts), []).append(row)
    readings: dict[tuple[str, str], SentenceReading | NamedReading] = {}
    for key, family in families.items():
        if parts[0].unit in NAMED_UNITS:
            readings[key] = NamedReading.of(family, parts[0].unit)
        else:
            readings[key] = SentenceReading.of(
                text,
                parts,
                family,
                facts,
            )
    for part in parts:
        for (metric, suffix), reading in readings.items():
            for name, score in reading.scores(part).items():
                value = None
                status = "ok"
                reason = None
                if isinstance(score, float):
                    value = score
                else:
                    status, reason = score
                yield replace(
                    families[metric, suffix][0],
                    example_id=part.name,
                    metric=f"{metric}.{name}{suffix}",
                    score=value,
                    status=status,
                    reason=reason,
                    evidence={},
                    usage=Usage(),
                )


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """What the rows of one metric say of the sentences of an answer. claims: by the sentence's start and end; failure:
    status and reason where no row has claims; by_passages: whether a row judged by the passages; complete: whether
    the evidence has all claims; cited: whether it is of citations; graded: whether these have grades; length: of the
    answer, in characters."""

    claims: Mapping[tuple[int, int], Sequence[SupportedClaim]]
    failure: tuple[str, str] | None
    by_passages: bool
    complete: bool
    cited: bool
    graded: bool
    length: int = 0

    @classmethod
    def of(
        cls,
        text: str,
        parts: Iterable[AnswerPart],
        rows: Sequence[Row],
        facts: Mapping[str, MetricFacts],
    ) -> SentenceReading:
        supports = [Support.of(row.evidence) for row in rows]
        fullest = max(
            (support for support in supports if support is not None),
            key=_fullness,
            default=Support(),
        )
        claims = fullest.claims
        failure = None
        if not claims:
            unscored = next((row for row in rows if row.status != "ok"), None)
            failure = ("undefined", _NO_CLAIM)
            if unscored is not None:
                failure = (unscored.status, unscored.reason or _NO_CLAIM)
        in_total = (fullest.model_extra or {}).get("claims_in_total", len(claims))
        return cls(
            claims=placed(claims, text, {(part.start, part.end) for part in parts}),
            failure=failure,
            by_passages=any(
                row.status == "ok" and "contexts" in (facts[row.metric].evidence or ())
                for row in rows
            ),
            complete=in_total == len(claims),
            cited=any(isinstance(claim, CitedClaim) for claim in claims),
            graded=any(
                citation.fate in _GRADED
                for claim in claims
                if isinstance(claim, CitedClaim)
                for citation in claim.citations
            ),
            length=len(text),
        )

    def scores(self, part: AnswerPart) -> _PartScores:
        """Name -> the score of a part, or why there is none."""
        if self.failure is not None:
            return {"supported": self.failure}
        if part.end > self.length:
            return {"supported": ("undefined", _NO_PLACE.format(end=part.end, length=self.length))}
        claims = self.claims.get((part.start, part.end), ())
        if self.cited:
            cited_claims = [claim for claim in claims if isinstance(claim, CitedClaim)]
            scores = _of_cited(cited_claims)
            if self.graded:
                scores["support"] = _of_citations(
                    cited_claims,
                    part.citation,
                    _GRADES,
                )
            else:
                scores["needed"] = _of_citations(
                    cited_claims,
                    part.citation,
                    _FATES,
                )
            return scores
        if not self.complete:
            absent = (
                "missing_input",
                "the evidence does not have all claims: run all scores of the metric",
            )
            return {"supported": absent}
        return self._of_claims(claims)

    def _of_claims(self, claims: Sequence[SupportedClaim]) -> _PartScores:
        none: _PartScore = ("undefined", _NO_CLAIM)
        scores: _PartScores = {}
        if self.by_passages:
            supported = [float(any(number > 0 for number in claim.passages)) for claim in claims]
            scores["supported"] = fmean(supported) if supported else none
            scores |= _probability(claims)
        if any(claim.reference is not None for claims in self.claims.values() for claim in claims):
            correct = [
                float(claim.reference == ENTAILS) for claim in claims if claim.reference is not None
            ]
            scores["correct"] = fmean(correct) if correct else none
        return scores


def _fullness(support: Support) -> tuple[int, int]:
    """How much an evidence says: claims, and what is known of them."""
    details = 0
    for claim in support.claims:
        details += len(claim.passages)
        details += claim.reference is not None
        if isinstance(claim, CitedClaim):
            details += sum(bool(citation.fate) for citation in claim.citations)
    return len(support.claims), details


def _of_cited(claims: Sequence[CitedClaim]) -> _PartScores:
    if not claims:
        return {"supported": ("undefined", _NO_CLAIM)}
    decided = [_CITED[claim.state] for claim in claims if claim.state in _CITED]
    if not decided:
        return {"supported": ("missing_input", _NO_TEXT)}
    return {"supported": fmean(decided), **_probability(claims)}


def _probability(claims: Sequence[SupportedClaim]) -> _PartScores:
    """Of the claims that have one: a claim that was not asked about, as it names no source, has none."""
    probabilities = [
        claim.passages_probability for claim in claims if claim.passages_probability is not None
    ]
    return {"supported_probability": fmean(probabilities)} if probabilities else {}


def _of_citations(
    claims: Sequence[CitedClaim],
    citation: str,
    scores_of_fates: Mapping[str, float],
) -> _PartScore:
    """The mean over citations of what their fates count; others count 0. citation: the name of one, "" for all of the
    sentence."""
    citations = [
        fate
        for claim in claims
        for fate in claim.citations
        if not citation or _names(fate, citation)
    ]
    if not citations:
        return "undefined", _NO_CITATION
    decided = [fate.fate for fate in citations if fate.fate not in ("", _MISSING_SOURCE)]
    if not decided:
        absent = any(fate.fate == _MISSING_SOURCE for fate in citations)
        return "missing_input", _NO_TEXT if absent else _NOT_ASKED
    return fmean(scores_of_fates.get(fate, 0.0) for fate in decided)


def _names(fate: SourceFate, citation: str) -> bool:
    """Whether a citation is the one that a label names: brackets around it do not matter, nor that a table of numbers
    with empty cells has 2 as 2.0."""
    label = citation.strip("[]")
    number = label.removesuffix(".0")
    return fate.name.strip("[]") == (number if number.isdecimal() else label)

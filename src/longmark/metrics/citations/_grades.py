"""How far each source supports the sentences that name it, in three grades: the support task of TREC's RAG track.

A judge is shown the cited sources, numbered, and the sentences, each with the numbers of those that it names; it grades
every pair. One call shows sources of up to 16,000 bytes. A source that is longer than 8,000 bytes is read in parts, of
which the best grade counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import ConfigDict, RootModel

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.judge import Reader, Unreadable, ask, numbered_apart, structure
from longmark.metrics.citations._sources import CitableSource
from longmark.metrics.citations._support import (
    MISSING,
    NOT_SUPPORTED,
    SUPPORTED,
    UNCITED,
    UNKNOWN,
    UNRESOLVABLE,
    CheckedStatement,
    CitedStatement,
    Places,
    premise_text,
)
from longmark.models.handles import ChatHandle, Models
from longmark.prompts import prompt
from longmark.reply_schema import object_schema
from longmark.text.entailment import PREMISE, passage_groups
from longmark.text.pieces import groups, pieces

FULL = "full support"
PARTIAL = "partial support"
NO_SUPPORT = "no support"
# TREC's weights, as open-rag-eval has them (vectara/open-rag-eval at 0320283, metrics/citation_metric.py, score_map)
CITATION_GRADES = {FULL: 1.0, PARTIAL: 0.5, NO_SUPPORT: 0.0}
PARTLY_SUPPORTED = "partly supported"

_STATEMENTS = 6000  # bytes of the sentences in one call

_GRADES_BY_LABEL = {"full": FULL, "partial": PARTIAL, "none": NO_SUPPORT}
_STATES_BY_GRADE = {FULL: SUPPORTED, PARTIAL: PARTLY_SUPPORTED, NO_SUPPORT: NOT_SUPPORTED}

SUPPORT = prompt("""citations.support(context, statements)
The context holds numbered passages. Each statement has a number, and behind it in brackets the numbers of the passages \
that it cites. Say of each of these passages how far it supports the statement:
full: the passage states everything that the statement says.
partial: the passage states a part of what the statement says, and leaves out another part.
none: the passage states no part of it, or contradicts it.
Take the passages one by one, each without the others, and the statements one by one. Use nothing that you know beyond \
the passage.
Reply with a JSON object and nothing else. It has one key for each pair: the number of the statement, a hyphen and the \
number of the passage. The value is the label, in this form: $form""")

Pair = tuple[str, Places]
"""A sentence, and the places of a source that it names."""


@dataclass(frozen=True, slots=True)
class GradeCall:
    """What one call shows. cited: of each sentence, the numbers from 1 of the passages that it names, with the source
    that each is a part of."""

    passages: tuple[str, ...]
    cited: Mapping[str, Mapping[int, Places]]

    @property
    def statements(self) -> str:
        """The sentences, a line each."""
        return "\n".join(
            f"{number}. [{', '.join(map(str, passages))}] {' '.join(sentence.split())}"
            for number, (sentence, passages) in enumerate(self.cited.items(), 1)
        )

    @property
    def pairs(self) -> dict[str, Pair]:
        """Key of the reply -> what it grades."""
        return {
            f"{number}-{passage}": (sentence, places)
            for number, (sentence, passages) in enumerate(self.cited.items(), 1)
            for passage, places in passages.items()
        }


def grade_calls(
    sentences: Sequence[CitedStatement], sources: Sequence[CitableSource], batch: int
) -> list[GradeCall]:
    """The calls that grade every pair of a sentence and a source once. batch: sentences in a call."""
    cited_places: dict[str, dict[Places, None]] = {}
    for sentence in sentences:
        if not sentence.rejected:
            for places in sentence.premise:
                cited_places.setdefault(sentence.text, {})[places] = None
    distinct_places = dict.fromkeys(
        places for of_sentence in cited_places.values() for places in of_sentence
    )
    parts = [
        (places, part)
        for places in distinct_places
        for part in pieces(premise_text((places,), sources), PREMISE)
    ]
    calls = []
    for group in passage_groups([part for _, part in parts]):
        call_parts = [parts[number] for number in group]
        cited: dict[str, dict[int, Places]] = {}
        for statement, of_statement in cited_places.items():
            passages = {
                number: places
                for number, (places, _) in enumerate(call_parts, 1)
                if places in of_statement
            }
            if passages:
                cited[statement] = passages
        calls += [
            GradeCall(
                tuple(part for _, part in call_parts),
                {statement: cited[statement] for statement in statements},
            )
            for statements in groups(list(cited), _STATEMENTS, batch)
        ]
    return calls


async def graded(
    models: Models,
    judge: ChatHandle,
    sentences: Sequence[CitedStatement],
    sources: Sequence[CitableSource],
    batch: int,
) -> list[CheckedStatement]:
    """The sentences with a grade of each citation; a sentence has the best grade of its citations.

    Raises NoScore (`unparsable`, `refused`) and ModelError.
    """
    grades: dict[Pair, str] = {}

    async def of_call(call: GradeCall) -> None:
        texts = {
            "context": numbered_apart(call.passages),
            "statements": call.statements,
            "form": '{"1-1": "full", "1-3": "none", "2-1": "partial", …}',
        }
        verdict = await ask(models, judge, SUPPORT, texts, _grades_reader(tuple(call.pairs)))
        for key, pair in call.pairs.items():
            grades[pair] = _best([verdict.value[key], grades.get(pair, NO_SUPPORT)])

    await concurrently(of_call, grade_calls(sentences, sources, batch))
    return [_with_grades(sentence, grades) for sentence in sentences]


def _best(grades: Sequence[str]) -> str:
    return max(grades, key=CITATION_GRADES.__getitem__, default=NO_SUPPORT)


def _with_grades(sentence: CitedStatement, grades: Mapping[Pair, str]) -> CheckedStatement:
    fate_of_status = {"none": UNRESOLVABLE, "no text": MISSING, "unknown": MISSING}
    fates = tuple(
        fate_of_status.get(citation.status)
        or grades.get((sentence.text, citation.places), NO_SUPPORT)
        for citation in sentence.citations
    )
    if not fates:
        return CheckedStatement(sentence, UNCITED)
    best = _best([fate for fate in fates if fate in CITATION_GRADES])
    state = _STATES_BY_GRADE[best]
    # what a source says whose text is not known can only raise the best grade
    if MISSING in fates and best != FULL and not sentence.rejected:
        state = UNKNOWN
    return CheckedStatement(sentence, state, fates)


def judge_of(models: Models) -> ChatHandle:
    """Who grades: the first judge. NoScore (`missing_input`) without one, since a checker has no grade between."""
    if not models.judges:
        raise NoScore(
            "missing_input",
            "Only a judge grades support: add --judge, or ask whether the sources support the whole sentence "
            "(citations without support=graded).",
        )
    return models.judges[0]


class _Grades(RootModel[dict[str, str]]):
    model_config = ConfigDict(strict=True)


@lru_cache
def _grades_reader(keys: tuple[str, ...]) -> Reader[dict[str, str]]:
    """Reads a grade for each of the keys; case does not matter. Unreadable unless there is exactly one for each."""
    labels = list(_GRADES_BY_LABEL)
    schema = object_schema({key: {"type": "string", "enum": labels} for key in keys})

    def complete(reply: _Grades) -> dict[str, str]:
        if different := sorted(set(keys) ^ set(reply.root)):
            raise Unreadable(
                f"it needs one label for each pair of a statement and a passage that it cites; see "
                f"{', '.join(different[:5])}"
            )
        grades = {}
        for key in keys:
            grade = _GRADES_BY_LABEL.get(reply.root[key].strip().casefold())
            if grade is None:
                raise Unreadable(f"{key}: {reply.root[key]!r} is not one of {', '.join(labels)}")
            grades[key] = grade
        return grades

    return structure(_Grades, 64 + 16 * len(keys), schema).then(complete)

"""Published data sets with labels of completeness, as examples: WikiContradict, ConflictBank, HaluQuestQA; and the
questions of ELI5-Category. Those with preferences between two answers are in `preferences`.

The label of an answer is in its example's `meta`, so that a run folder carries it:

    wikicontradict  label: Correct, Partially correct or Incorrect, as published; given: the contexts that the answer
                    was written from; record: the place of the record, from 0
    conflictbank    matches: the ids of the contexts that say what the answer says
    eli5            category; no label: questions alone, with the answer of the highest score as the reference
    haluquestqa     complete: yes or no (an expert marked a span of the answer as incomplete); rater; subject

Sources: WikiContradict, Hou et al. 2024 (240 records, five answers to each); ConflictBank, Su et al. 2024; HaluQuestQA,
Sachdeva et al. 2024. The first two are read as the Comprehensiveness paper uses them (appendix B.1.1): all contexts of
a record are the sources, whichever of them the answer was written from. In HaluQuestQA an answer has no source, and
the other answer to the question takes its place. ELI5-Category (Gao et al. 2021) has the questions of section 4.2; the
web pages that the paper found for them, and their summaries, are not published: passages of a column `contexts` are
read, else `longmark rag answer` adds them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from longmark.contrib.make import preferences
from longmark.contrib.make.preferences import of
from longmark.errors import UnknownName, UserError
from longmark.records import Answered, Context, Example, sources
from longmark.records.example import question_hash
from longmark.records.files import BadLines, at
from longmark.records.values import Problem, as_list_cell, found, text

DATASET = "dataset"
WIKICONTRADICT = "wikicontradict"
CONFLICTBANK = "conflictbank"
HALUQUESTQA = "haluquestqa"
ELI5 = "eli5"
CORRECT, PARTIAL, INCORRECT = LABELS = ("Correct", "Partially correct", "Incorrect")

GIVEN: tuple[tuple[str, ...], ...] = (
    (),
    ("context1",),
    ("context2",),
    ("context1", "context2"),
    ("context1", "context2"),
)
"""The contexts given for the five answers of a WikiContradict record; the prompt of the last one mentions conflicts."""

DEFAULT = "default"
CONFLICTS = ("misinformation", "temporal", "semantic")
"""The contexts of a ConflictBank record: one for the default claim, three for the claim that contradicts it."""


def read(name: str, path: Path, n: int | None = None, seed: int = 0) -> list[Answered]:
    """The examples of a data set's file (JSON Lines, JSON, CSV, TSV or Parquet). n: records to sample; None: all.

    UnknownName for another data set, BadInput with the line of each record that does not belong to this data set,
    UserError for a sample that is larger than the file, and for a file whose records all have the same fault (another
    data set)."""
    if name not in _READERS:
        raise UnknownName("data set", name, _READERS, f"The data sets are {', '.join(_READERS)}.")
    records = list(enumerate(sources.records(path, sources.kind_of(path))))
    if n is not None and n > len(records):
        raise UserError(f"--n {n}: {path} has only {len(records):,} records")
    if n is not None:
        records = sorted(random.Random(seed).sample(records, n), key=lambda numbered: numbered[0])
    examples = list[Answered]()
    bad = BadLines()
    problems = Counter[str]()
    for place, (line, record) in records:
        try:
            if isinstance(record, sources.UnreadableRecord):
                raise Problem(record.message)
            if not isinstance(record, Mapping):
                raise Problem(f"expected named fields, found {found(record)}")
            examples += _READERS[name](place, record)
        except Problem as problem:
            problems[str(problem)] += 1
            bad.add(at(path, line, f"not a record of {name}: {problem}"))
    if len(problems) == 1 and 1 < problems.total() == len(records):
        raise UserError(
            f"{path} is not a file of {name}: in all {len(records):,} records, {next(iter(problems))}"
        )
    bad.check()
    return examples


def ratings(examples: Iterable[Answered]) -> Iterator[dict[str, str]]:
    """The experts' labels of HaluQuestQA's examples, as `longmark metaeval` reads them."""
    for example in examples:
        yield {
            "example_id": example.id,
            "label": "complete",
            "value": example.meta["complete"],
            "rater": example.meta["rater"],
            "subject": example.meta["subject"],
        }


def _wikicontradict(place: int, record: Mapping[str, Any]) -> Iterator[Example]:
    contexts = _contexts(
        record, {answer_name: (f"{answer_name}_self_contained",) for answer_name in GIVEN[-1]}
    )
    for number, context_names in enumerate(GIVEN):
        label = of(record, f"label{number}")
        if label not in LABELS:
            raise Problem(
                f"label{number}: expected one of {', '.join(LABELS)}, found {found(label)}"
            )
        yield Example(
            id=f"{WIKICONTRADICT}-{place}-answer{number}",
            question_id=question_hash(question := of(record, "question")),
            question=question,
            answer=of(record, f"answer{number}"),
            contexts=contexts,
            system=of(record, "model"),
            meta={
                DATASET: WIKICONTRADICT,
                "label": label,
                "given": list(context_names),
                "record": str(place),
            },
        )


def _conflictbank(place: int, record: Mapping[str, Any]) -> Iterator[Example]:
    conflicts = {
        conflict: (f"{conflict}_conflict_evidence", f"{conflict}_conflict_evidence_evidence")
        for conflict in CONFLICTS
    }
    contexts = _contexts(record, {DEFAULT: ("default_evidence",), **conflicts})
    for claim, matches in ((DEFAULT, (DEFAULT,)), ("misinformation_conflict", CONFLICTS)):
        yield Example(
            id=f"{CONFLICTBANK}-{place}-{claim}",
            question_id=f"{CONFLICTBANK}-{place}",
            question=of(record, "question"),
            answer=of(record, f"{claim}_claim"),
            contexts=contexts,
            system=claim,
            meta={DATASET: CONFLICTBANK, "matches": list(matches), "record": str(place)},
        )


def _haluquestqa(place: int, record: Mapping[str, Any]) -> Iterator[Example]:
    marked = as_list_cell(
        "incomplete_ans_label", of(record, "incomplete_ans_label", empty=True) or "[]"
    )
    if not isinstance(marked, list) or not set(map(str, marked)) <= {"answer1", "answer2"}:
        raise Problem(
            f"incomplete_ans_label: expected a list of answer1 and answer2, found {found(marked)}"
        )
    for number, other_number in ((1, 2), (2, 1)):
        complete = "no" if f"answer{number}" in marked else "yes"
        rater = of(record, "annotator")
        subject = of(record, "category")
        yield Example(
            id=f"{HALUQUESTQA}-{place}-answer{number}",
            question_id=f"{HALUQUESTQA}-{place}",
            question=of(record, "question_text"),
            answer=of(record, f"ans{number}_text"),
            contexts=(Context(id="other answer", text=of(record, f"ans{other_number}_text")),),
            system=of(record, f"ans{number}_label"),
            meta={DATASET: HALUQUESTQA, "complete": complete, "rater": rater, "subject": subject},
        )


def _eli5(place: int, record: Mapping[str, Any]) -> Iterator[Example]:
    answers = as_list_cell("answers", record.get("answers") or {})
    if not isinstance(answers, Mapping):
        raise Problem(
            f"answers: expected an object with lists of text and score, found {found(answers)}"
        )
    texts = answers.get("text") or []
    scores = answers.get("score") or []
    if not (isinstance(texts, list) and isinstance(scores, list) and len(texts) == len(scores)):
        raise Problem("answers: expected as many scores as texts")
    wrong = next(
        (
            score
            for score in scores
            if isinstance(score, bool) or not isinstance(score, int | float)
        ),
        None,
    )
    if wrong is not None:
        raise Problem(f"answers: expected numbers as scores, found {found(wrong)}")
    best = max(
        zip(scores, texts, strict=True), key=lambda scored_text: scored_text[0], default=None
    )
    passages = record.get("contexts") or []
    if not isinstance(passages, list):
        raise Problem(f"contexts: expected a list of texts, found {found(passages)}")
    yield Example(
        id=f"{ELI5}-{of(record, 'q_id')}",
        question=of(record, "title"),
        references=() if best is None else (text("answers", best[1]),),
        contexts=tuple(
            Context(id=f"context{i}", text=text("contexts", passage))
            for i, passage in enumerate(passages, 1)
        ),
        meta={DATASET: ELI5, "category": of(record, "category", empty=True), "record": str(place)},
    )


_READERS: dict[str, Callable[[int, Mapping[str, Any]], Iterator[Answered]]] = {
    WIKICONTRADICT: _wikicontradict,
    CONFLICTBANK: _conflictbank,
    HALUQUESTQA: _haluquestqa,
    ELI5: _eli5,
    preferences.LFQA_E: preferences.lfqa_e,
    preferences.HALUQUESTQA_PAIRS: preferences.haluquestqa,
    preferences.LLMBAR: preferences.llmbar,
}


def _contexts(
    record: Mapping[str, Any], columns: Mapping[str, tuple[str, ...]]
) -> tuple[Context, ...]:
    """columns: the context's id -> the columns that may hold it."""
    chosen = {
        one: next((name for name in names if name in record), names[0])
        for one, names in columns.items()
    }
    return tuple(Context(id=name, text=of(record, column)) for name, column in chosen.items())

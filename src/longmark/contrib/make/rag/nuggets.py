"""Nuggets out of passages: the facts that a good answer to a question holds, as nuggetizer makes them.

For each question the generator goes through its passages, ten at a time, and keeps a list of at most 30 facts, which
each window updates. Facts that say the same in equal words are one; with a checker so are facts that entail each other (a
strongly connected component of the graph of statements), of which the first in the list stays. Then the generator says of
each, ten in a call, whether it is vital or okay; vital ones come first, and the first 20 are kept.

Sources: castorini/nuggetizer at d00dc3e, src/nuggetizer/models/nuggetizer.py (windows of 10: lines 42-44; 30 nuggets:
46; the loop: 713-745); the best 20: vectara/open-rag-eval at dfc4175, metrics/autonugget_metric.py:252-255. Deviations:
the prompts are ours; a reply that cannot be read twice leaves the question out, where nuggetizer goes on with what it
has and takes every nugget of the call as okay.
Cost: for each question 1 call for 10 passages and 1 for 10 facts; a chat model as the checker gets at most 2 calls for each
fact: one with the facts behind it, and one with those that it entails.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, ConfigDict

from longmark.concurrency import concurrently
from longmark.contrib.make.left_out import LeftOut
from longmark.contrib.make.rag.chunk import Chunker, Chunking
from longmark.errors import ModelError, NoScore, OverBudget, TooLong
from longmark.judge import Sampling, ask, numbered, structure
from longmark.models.handles import Models
from longmark.prompts import prompt
from longmark.records import Example
from longmark.records.expected import IMPORTANCES, VITAL, Nugget
from longmark.text.claims import each_once
from longmark.text.entailment import ENTAILS, checker_of
from longmark.text.graph import CONTEXT, Statement, StatementGraph, coverage
from longmark.text.relation_replies import labels_reader

WINDOW = 10
MOST = 30
KEPT = 20
_PAGES = Chunking(size=4000)  # so that a window of ten pieces of web pages fits into a prompt
_TOKENS = 40  # of a fact in a reply, at most

LIST = replace(
    prompt("""rag.nuggets.list(context, question, nuggets)
The nuggets, where there are any, are the facts so far that a good answer to the question holds. Bring them up to date \
by the numbered passages of the context: add what these say that answers the question, and make one fact of those that \
say the same. A fact is one statement of at most twelve words that is understood by itself, in the language of the \
question. Use nothing that you know beyond the passages and the list.
Put the fact that matters most to the question first, and keep at most $most.
Reply with a JSON object of this form and nothing else: {"nuggets": ["...", "..."]}. Where nothing answers the \
question, reply {"nuggets": []}."""),
    may_be_absent=frozenset({"nuggets"}),
)
IMPORTANCE = prompt("""rag.nuggets.importance(question, nuggets)
Say of each numbered nugget how much a good answer to the question needs it:
vital: a good answer must hold it.
okay: it is worth having, and an answer can be good without it.
Reply with a JSON object and nothing else. It has one key for each number and the label as its value, in this form: \
$form""")
NUGGET_PROMPTS = (LIST, IMPORTANCE)


@dataclass(frozen=True, slots=True)
class NuggetRecord:
    """The nuggets of a question."""

    question_id: str
    question: str
    nuggets: tuple[Nugget, ...]

    def line(self) -> str:
        """A line of a file as nuggetizer writes it."""
        nuggets = [
            {"text": nugget.text, "importance": nugget.importance} for nugget in self.nuggets
        ]
        record = {"qid": self.question_id, "query": self.question, "nuggets": nuggets}
        return json.dumps(record, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class NuggetRecords:
    """What was made, in the order of the questions, and what could not be."""

    records: tuple[NuggetRecord, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


@dataclass(slots=True)
class AskedOfPassages:
    """A question with the passages of all answers to it, each once; long texts of sources are cut into some."""

    question_id: str
    question: str
    passages: dict[str, None]


class _NuggetList(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    nuggets: list[str]


async def make_nuggets(
    examples: Iterable[Example],
    models: Models,
    *,
    at_once: int = 32,
    on_question: Callable[[], None] = lambda: None,
) -> NuggetRecords:
    """The nuggets of each question, from the passages of all examples of it. A question without passages, without
    facts, or with a reply that cannot be used is left out with the reason; errors of longmark are raised."""

    async def nuggets_of(asked_question: AskedOfPassages) -> NuggetRecord | LeftOut:
        question_id = asked_question.question_id
        try:
            return await _record(asked_question, models)
        except (NoScore, ModelError, OverBudget) as error:
            no_reply = isinstance(error, ModelError | OverBudget) and not isinstance(error, TooLong)
            return LeftOut(question_id, str(error), again=no_reply)
        finally:
            on_question()

    results = await concurrently(nuggets_of, questions_of(examples), at_once)
    return NuggetRecords(
        tuple(result for result in results if isinstance(result, NuggetRecord)),
        tuple(result for result in results if isinstance(result, LeftOut)),
    )


def questions_of(examples: Iterable[Example]) -> list[AskedOfPassages]:
    """The questions of examples, in their order, variants left out."""
    chunker = Chunker(_PAGES)
    questions: dict[str, AskedOfPassages] = {}
    for example in examples:
        if example.variant_of is not None or not (example.question or "").strip():
            continue
        asked_question = questions.setdefault(
            example.question_id, AskedOfPassages(example.question_id, example.question or "", {})
        )
        asked_question.passages |= dict.fromkeys(context.text for context in example.contexts)
        for source_text in (source.text for source in example.sources or ()):
            if source_text is not None and source_text not in asked_question.passages:
                spans = chunker.passages(source_text)
                asked_question.passages |= dict.fromkeys(
                    source_text[slice(*span)] for span in spans
                )
    return list(questions.values())


def most_calls(questions: Iterable[AskedOfPassages], *, with_checker: bool) -> dict[str, int]:
    """The calls that `make_nuggets` takes at most, by what they are for; second attempts are not counted. A checker that
    is no chat model takes none."""
    with_passages = [question for question in questions if question.passages]
    calls = {
        "lists": sum(math.ceil(len(question.passages) / WINDOW) for question in with_passages),
        "importance": len(with_passages) * math.ceil(MOST / WINDOW),
    }
    return calls | ({"checker": len(with_passages) * 2 * MOST} if with_checker else {})


async def _record(asked_question: AskedOfPassages, models: Models) -> NuggetRecord:
    passages = list(asked_question.passages)
    if not passages:
        raise NoScore(
            "missing_input",
            "The question has no contexts, and no sources with texts, to take facts from.",
        )
    texts: list[str] = []
    for start in range(0, len(passages), WINDOW):
        window = passages[start : start + WINDOW]
        texts = await _updated(asked_question.question, window, texts, models)
    if not texts:
        raise NoScore("undefined", "The generator finds no fact in the contexts.")
    texts = await _distinct(texts, models)
    importances: list[str] = []
    for start in range(0, len(texts), WINDOW):
        batch = texts[start : start + WINDOW]
        importances += await _importances(asked_question.question, batch, models)
    nuggets = [
        Nugget.model_validate({"text": text, "importance": importance})
        for text, importance in zip(texts, importances, strict=True)
    ]
    nuggets.sort(key=lambda nugget: nugget.importance != VITAL)
    return NuggetRecord(asked_question.question_id, asked_question.question, tuple(nuggets[:KEPT]))


async def _updated(
    question: str, passages: Sequence[str], texts: Sequence[str], models: Models
) -> list[str]:
    """The list of facts after some more passages: at most 30, each once."""
    inputs = {
        "context": numbered(passages),
        "question": question,
        "nuggets": "\n".join(texts),
        "most": str(MOST),
    }
    reader = structure(_NuggetList, max_tokens=64 + _TOKENS * MOST)
    verdict = await ask(models, models.generator, LIST, inputs, reader, Sampling())
    return list(each_once(verdict.value.nuggets).values())[:MOST]


async def _distinct(texts: Sequence[str], models: Models) -> list[str]:
    """The first of facts that entail each other, by the checker; all of them where there is none.

    Each fact is asked about with those behind it, and back only where it entails them."""
    if models.checker is None:
        return list(texts)
    checker = checker_of(models)
    nodes = [Statement(str(place), CONTEXT, text) for place, text in enumerate(texts)]

    async def entailed(premise: int, hypotheses: Sequence[int]) -> list[int]:
        hypothesis_texts = [texts[place] for place in hypotheses]
        relations = await checker.relations(
            texts[premise],
            hypothesis_texts,
        )
        return [
            place
            for place, relation in zip(hypotheses, relations, strict=True)
            if relation.label == ENTAILS
        ]

    places = list(range(len(texts)))
    forward = await concurrently(
        lambda premise: entailed(premise, range(premise + 1, len(texts))), places
    )
    entailing = {place: [first for first in places if place in forward[first]] for place in places}
    backward = await concurrently(lambda premise: entailed(premise, entailing[premise]), places)
    edges: set[tuple[str, str]] = set()
    for direction in (forward, backward):
        for premise, entailed_places in enumerate(direction):
            for place in entailed_places:
                edges.add((str(premise), str(place)))
    graph = StatementGraph(
        tuple(nodes),
        frozenset(edges),
    )
    return [
        component.members[0].text  # the first in the list
        for component in coverage(graph).components
    ]


async def _importances(question: str, texts: Sequence[str], models: Models) -> list[str]:
    inputs = {
        "question": question,
        "nuggets": numbered(texts),
        "form": '{"1": "vital", "2": "okay", …}',
    }
    reader = labels_reader(len(texts), IMPORTANCES)
    return (await ask(models, models.generator, IMPORTANCE, inputs, reader, Sampling())).value

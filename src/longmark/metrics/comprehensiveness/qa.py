"""Comprehensiveness by questions: share of the passages' information that the answer gives (Comprehensiveness, 3.2).

    score = covered components / components

1. The judge lists the questions that the answer and each passage answer and that concern the user's question. It
   merges them into one list and grades their relevance from 1 to 5. Questions below `relevance` are removed.
2. It answers each question from the answer and from each passage. A text can give no, one or several answers, each
   with a confidence from 1 to 5: how strongly the text supports it. "unknown" and answers below `confidence` are
   removed.
3. Answers to the same question are compared. Equal texts are equivalent; quantities and dates are compared by code
   (within 1 %; days, months and years 1e-5; temperatures 0.3 K at most) where no reading leaves a doubt. For all
   others, the judge decides whether they are equivalent, one implies the other, they contradict each other, or none
   of these: also for two numbers without a unit that differ, units and digits with several meanings (5 tons, a
   barrel, 1.500 km, 03/04/2023), and figures in two units that can be the same, rounded.
4. Answers are the nodes of a graph, and implications its edges. Answers that imply each other (a component) count
   once. A component is covered if a path leads to it from an answer taken from the scored answer.

Evidence: as for `nli`, with answers for statements.
Cost: 1 call for the questions of the answer and 1 for those of each 4,000 bytes of passages, 1 for the list of each 40
questions, then for each 40 questions 1 call for the answer and 1 for 8 passages of 8,000 bytes together (of more than 4
passages for fewer questions: at most 160 answers in a call), and 1 for each 25 pairs of answers that are compared at
once. The comparison of quantities needs the extra `graphs`.

Parameters: relevance, confidence: the thresholds (T_rel and T_conf, B.1.2). quantities: compared by `code` or by the
`judge`. language: in which code reads quantities and dates; `auto`: the one that the answer and the passages are in.
Where they do not tell one, 1.234 is left to the judge (evidence: `ambiguous`; docs/languages.md). relations: as for
`nli`. plan: `joint`: a call shows several passages, numbered, and the judge names those that give an answer, which
may depend on the other passages; `each`: every passage has calls of its own, as in the paper. The scored answer never
shares a call with a passage.
Deviations: in the authors' code numbers without a unit are equal within 1 %, although two counts may contradict each
other (761 and 764 survivors): here the judge decides. The judge gives its labels without a reason. The answer is read
together with the question, so that "in 1968" is understood. In the paper the judge decides when to use code, and Pint
reads every word in one way. Several questions are answered, and several pairs of answers compared, in one call; in
the paper one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.errors import library
from longmark.metric import Metric, Score, Silence, paper
from longmark.metrics.comprehensiveness import _asking
from longmark.metrics.comprehensiveness._comparisons import COMPARISON, Comparer
from longmark.metrics.comprehensiveness._questions import (
    BATCH,
    PROMPTS,
    GeneratedQuestion,
    QuestionAnswer,
    answered,
    answering_calls,
    folded,
    mined,
    mining_calls,
    refined,
)
from longmark.metrics.comprehensiveness._sources import (
    NEEDS,
    SUMMARY,
    Empty,
    Refusal,
    Source,
    carried_graph,
    first_judge,
    result,
    sources_of,
    summarized,
    without_refusal,
)
from longmark.models.handles import Models
from longmark.records import Example
from longmark.text.claims import PIECE
from longmark.text.entailment import ENTAILS
from longmark.text.graph import ANSWER, CONTEXT, Pair, Statement
from longmark.text.language import common_language
from longmark.text.pieces import pieces

PLANS = {
    "each": _asking.Asking(width=16, most=2000),
    "joint": _asking.Asking(width=64, most=2000, fill=True),
}
"""joint: the pairs of most questions at once. Of few answers to a question, few pairs are asked without need, and they
cost little beside their answers, which another round would show again."""


@dataclass(frozen=True)
class QaParams:
    relevance: float = 3.5  # T_rel, appendix B.1.2
    confidence: float = 2.0  # T_conf, appendix B.1.2
    summarize: bool = paper(False, True)
    quantities: Literal["code", "judge"] = "code"
    language: Literal[
        "auto", "ar", "de", "en", "es", "fr", "hi", "it", "ja", "ko", "pt", "ru", "tr", "zh"
    ] = "auto"
    relations: Literal["needed", "all"] = paper("needed", "all")
    plan: Literal["each", "joint"] = paper("joint", "each")
    empty: Empty = paper("undefined", "zero")
    refusal: Refusal = "zero"

    def __post_init__(self) -> None:
        for name, value in (("relevance", self.relevance), ("confidence", self.confidence)):
            if not 1 <= value <= 5:
                raise ValueError(f"{name} must be a threshold from 1 to 5, not {value:g}")

    def ready(self) -> None:
        """MissingExtra, before anything is paid for, where code compares quantities and Pint is not installed."""
        if self.quantities == "code":
            library("pint", "comprehensiveness.qa", "graphs")


async def score(example: Example, models: Models, params: QaParams) -> Score:
    """Covered components / components."""
    carried = carried_graph(example)
    if carried is not None and any(node.question is not None for node in carried.nodes):
        return result(carried, params.empty, {"checker": "carried"}, carried=True)
    example, refused = without_refusal(example, params.refusal)
    question, sources = example.asked, sources_of(example)
    if params.summarize:
        sources = await summarized(models, question, sources)
    texts = _texts(example, sources)
    questions = await refined(
        models, question, await _raw_questions(models, question, texts, params)
    )
    relevant = [graded for graded in questions if graded.relevance.score >= params.relevance]
    nodes, doubted = await _nodes(models, relevant, texts, params)
    comparer = Comparer(models, params.quantities == "code", _language(texts, params))
    known = _by_words(nodes)
    if params.relations == "all":
        known |= await comparer.every_pair(nodes, known)
    asked = await _asking.ask(nodes, comparer.relate, PLANS[params.plan], known)
    further_evidence: dict[str, Any] = {
        **refused,
        "checker": first_judge(models).name,
        "questions": [
            {"question": graded.text, "relevance": graded.relevance.score} for graded in relevant
        ],
        "irrelevant": [
            {"text": graded.text, "relevance": graded.relevance.score}
            for graded in questions
            if graded not in relevant
        ],
        "doubted": doubted,
        "calls": {
            "comparisons": comparer.calls,
            "pairs": comparer.pairs,
            "pairs_of_the_paper": asked.pairs,
        },
    }
    if comparer.doubts:
        further_evidence["ambiguous"] = comparer.doubts
    return result(asked.graph, params.empty, further_evidence)


def _language(texts: Sequence[Source], params: QaParams) -> str:
    """In which language code reads quantities; "" where the texts do not tell one."""
    if params.language != "auto":
        return params.language
    return common_language(source.text for source in texts) or ""


def _texts(example: Example, passages: Sequence[Source]) -> list[Source]:
    """The answer, behind its question, if there is one, and the passages."""
    answer = (example.answer or "").strip()
    if not answer:
        return list(passages)
    return [Source("", f"{example.question or ''}\n{answer}"), *passages]


def _calls_of_texts(texts: Sequence[Source], params: QaParams) -> list[list[Source]]:
    """The texts that are read together: with `plan=joint` all passages. The scored answer is read by itself, so that no
    passage is taken for it."""
    if params.plan == "each":
        return [[source] for source in texts]
    answer = [source for source in texts if not source.id]
    passages = [source for source in texts if source.id]
    return [sources for sources in (answer, passages) if sources]


async def _raw_questions(
    models: Models, question: str, texts: Sequence[Source], params: QaParams
) -> list[str]:
    """The questions that the texts answer, with repetitions."""
    question_lists = await concurrently(
        lambda sources: mined(models, question, [source.text for source in sources]),
        _calls_of_texts(texts, params),
    )
    return [raw for questions in question_lists for raw in questions]


async def _answers(
    models: Models, questions: Sequence[str], texts: Sequence[Source], params: QaParams
) -> list[tuple[Source, list[QuestionAnswer]]]:
    """The texts in their order, each with its answers to the questions."""
    if not questions:
        return []
    calls = _calls_of_texts(texts, params)
    answers_of_calls = await concurrently(
        lambda sources: answered(models, questions, [source.text for source in sources]), calls
    )
    return [
        (source, answers)
        for sources, answers_of_texts in zip(calls, answers_of_calls, strict=True)
        for source, answers in zip(sources, answers_of_texts, strict=True)
    ]


async def _nodes(
    models: Models,
    questions: Sequence[GeneratedQuestion],
    texts: Sequence[Source],
    params: QaParams,
) -> tuple[list[Statement], list[dict[str, Any]]]:
    """The answers of every text that it stands behind, and those that it does not."""
    wording = [question.text for question in questions]
    nodes: list[Statement] = []
    doubted: list[dict[str, Any]] = []
    counts = {ANSWER: 0, CONTEXT: 0}
    for source, answers in await _answers(models, wording, texts, params):
        side = CONTEXT if source.id else ANSWER
        sources = (source.id,) if source.id else ()
        for answer in answers:
            confidence = answer.confidence.score
            if confidence < params.confidence:
                doubted.append({"text": answer.text, "source": source.id, "confidence": confidence})
                continue
            counts[side] += 1
            name = f"{side[0]}{counts[side]}"
            nodes.append(Statement(name, side, answer.text, sources, wording[answer.question]))
    return nodes, doubted


def _by_words(nodes: Sequence[Statement]) -> dict[Pair, str]:
    """The pairs of answers to one question that differ only in case, spacing and the final full stop."""
    groups_of: dict[tuple[str | None, str], list[str]] = {}
    for node in nodes:
        groups_of.setdefault((node.question, folded(node.text)), []).append(node.id)
    return {(a, b): ENTAILS for ids in groups_of.values() for a in ids for b in ids if a != b}


def _carries_graph(example: Example) -> bool:
    """Whether the example carries a graph of answers to questions."""
    nodes = (example.graph or {}).get("nodes")
    return isinstance(nodes, list) and any(
        isinstance(node, dict) and "question" in node for node in nodes
    )


def _calls(example: Example, params: QaParams, _judges: int) -> int:
    """The questions are not known before the first call; there are about as many as sentences of the passages."""
    if _carries_graph(example):
        return 0
    passages = [context.text for context in example.contexts if context.text.strip()]
    answer = [example.answer] if example.answer and example.answer.strip() else []
    calls_of_texts = [[text] for text in (*answer, *passages)]
    if params.plan == "joint":
        calls_of_texts = [answer, passages]
    questions = sum(len(pieces(text, PIECE)) for text in (*answer, *passages)) * 8
    calls = math.ceil(questions / BATCH)
    for texts in calls_of_texts:
        calls += mining_calls(texts) + answering_calls(texts, questions)
    summaries = len(example.contexts) if params.summarize else 0
    return calls + summaries + questions * len(example.contexts)


METRIC = Metric(
    score,
    needs=NEEDS,
    carries=lambda example, _params, _part: NEEDS if _carries_graph(example) else (),
    bounds=(0, 1),
    models=("judge",),
    optional=("judge",),
    prompts=(*PROMPTS, COMPARISON, SUMMARY),
    params=QaParams,
    version=8,
    calls=_calls,
    rounds=4,
    silence=Silence(0, 0),
    view="graph",
)

"""Comprehensiveness by questions: share of the passages' information that the answer gives (Comprehensiveness, 3.2).

    score = covered components / components

1. The judge lists the questions that the answer and each passage answer and that concern the user's question. It merges
   them into one list and grades their relevance from 1 to 5. Questions below `relevance` are removed.
2. It answers each question from the answer and from each passage. A text can give no, one or several answers, each with
   a confidence from 1 to 5: how strongly the text supports it. "unknown" and answers below `confidence` are removed.
3. Answers to the same question are compared. Equal texts are equivalent; quantities and dates are compared by code
   (within 1 %; days, months and years 1e-5; temperatures 0.3 K at most) where no reading leaves a doubt. For all
   others, the judge decides whether they are equivalent, one implies the other, they contradict each other, or none of
   these. So it decides on two numbers without a unit that differ, on a unit that has several meanings (5 tons and 5
   tonnes, a barrel, a calorie, a century and days), on digits that do (1.500 km and 1500 km, 03/04/2023), and on
   figures in two units that can be the same figure, rounded.
4. Answers are the nodes of a graph, and implications its edges. Answers that imply each other (a component) count once.
   A component is covered if a path leads to it from an answer taken from the scored answer.

Range [0, 1], higher is better. Evidence: the graph, the covered and uncovered components, and the basis, which is the
shortest list of uncovered answers that implies all others. Unscored (`undefined`): no passage answers a relevant
question. An empty answer covers nothing, nor does a refusal: an answer that only says that it found nothing relevant
(the evidence says so).
Cost: 1 call for the questions of each 4,000 bytes, 1 for the list of each 40 questions, then for each 40 questions 1
call for the answer and each passage (8,000 bytes), and 1 for each 25 pairs of answers that are compared at once.
The comparison of quantities needs the extra `graphs`.

Parameters: relevance, confidence: the thresholds (T_rel and T_conf, B.1.2). summarize: shorten the passages first to
what concerns the question (listing 1; on in the paper's experiments). quantities: compared by `code` or by the `judge`.
relations: `needed`: skip pairs that cannot change the score, the coverage or the basis; `all`: every pair. empty:
`zero` gives a graph without answers of the passages the score 0, as the authors do.
refusal: `undefined` leaves refusals unscored.
Deviations: the prompts are ours. In the authors' code numbers without a unit are equal within 1 %, although two counts
may contradict each other (761 and 764 survivors): here the judge decides. The judge gives its labels
without a reason. The answer is read together with the question, so that "in 1968" is understood. Code compares the
quantities that it can read without a doubt; in the paper the judge decides when to use code, and Pint reads every word
in one way. Several questions are answered, and several pairs of answers compared, in one call; in the paper one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.errors import library
from longmark.judge import ask
from longmark.metric import Metric, Score, Silence, paper
from longmark.metrics.comprehensiveness import _asking
from longmark.metrics.comprehensiveness._asking import Inquiry
from longmark.metrics.comprehensiveness._questions import (
    BATCH,
    PART,
    PROMPTS,
    GeneratedQuestion,
    answered,
    folded,
    mined,
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
from longmark.prompts import prompt
from longmark.records import Example
from longmark.text.claims import PIECE
from longmark.text.entailment import CONTRADICTS, ENTAILS, NEUTRAL, Relation, labels_reader
from longmark.text.graph import ANSWER, CONTEXT, Pair, Statement
from longmark.text.pieces import groups, pieces
from longmark.text.quantities import compare

_PAIRS = 25  # in one call
_PAIR_BYTES = 6000

COMPARISON = prompt("""comprehensiveness.comparison(pairs)
Each numbered pair has two answers to the question that stands above it. Compare the first with the second, pair by pair:
equivalent: both say the same, in whatever words, names or units.
implies: whoever gives the first answer has given the second one with it; the first is the more specific one.
implied: whoever gives the second answer has given the first one with it; the second is the more specific one.
contradictory: they cannot both be right.
neutral: none of these; both can be right, and neither follows from the other.
Compare what they say as answers to their question, each pair without the others. Whether they are right does not matter.
Reply with a JSON object and nothing else. It has one key for each number and the label as its value, in this form: \
$form""")
_LABELS = {  # label -> what the first says of the other, and the other of the first
    "equivalent": (ENTAILS, ENTAILS),
    "implies": (ENTAILS, NEUTRAL),
    "implied": (NEUTRAL, ENTAILS),
    "contradictory": (CONTRADICTS, CONTRADICTS),
    "neutral": (NEUTRAL, NEUTRAL),
}


@dataclass(frozen=True)
class QaParams:
    relevance: float = 3.5  # T_rel, appendix B.1.2
    confidence: float = 2.0  # T_conf, appendix B.1.2
    summarize: bool = paper(False, True)
    quantities: Literal["code", "judge"] = "code"
    relations: Literal["needed", "all"] = paper("needed", "all")
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
    answer = (example.answer or "").strip()
    texts = [Source("", f"{example.question or ''}\n{answer}"), *sources] if answer else sources
    listed = await concurrently(lambda source: mined(models, question, source.text), texts)
    every = await refined(models, question, [one for some in listed for one in some])
    kept = [one for one in every if one.relevance.score >= params.relevance]
    nodes, doubted = await _nodes(models, kept, texts, params.confidence)
    comparer = _Comparer(models, params.quantities == "code")
    plan = _asking.Asking(width=16, most=2000)
    known = _by_words(nodes)
    if params.relations == "all":
        known |= await comparer.every_pair(nodes, known)
    asked = await _asking.ask(nodes, comparer.relate, plan, known)
    more: dict[str, Any] = {
        **refused,
        "checker": first_judge(models).name,
        "questions": [{"question": one.text, "relevance": one.relevance.score} for one in kept],
        "irrelevant": [
            {"text": one.text, "relevance": one.relevance.score} for one in every if one not in kept
        ],
        "doubted": doubted,
        "calls": {
            "comparisons": comparer.calls,
            "pairs": comparer.pairs,
            "pairs_of_the_paper": asked.pairs,
        },
    }
    return result(asked.graph, params.empty, more)


async def _nodes(
    models: Models, questions: Sequence[GeneratedQuestion], texts: Sequence[Source], least: float
) -> tuple[list[Statement], list[dict[str, Any]]]:
    """The answers of every text that it stands behind, and those that it does not."""
    wording = [one.text for one in questions]
    found = await concurrently(
        lambda source: answered(models, wording, source.text), texts if wording else []
    )
    nodes: list[Statement] = []
    doubted: list[dict[str, Any]] = []
    counts = {ANSWER: 0, CONTEXT: 0}
    for source, answers in zip(texts, found, strict=False):  # no answers without a question
        side = CONTEXT if source.id else ANSWER
        for one in answers:
            if one.confidence.score < least:
                doubted.append(
                    {"text": one.text, "source": source.id, "confidence": one.confidence.score}
                )
                continue
            counts[side] += 1
            name = f"{side[0]}{counts[side]}"
            nodes.append(
                Statement(
                    name, side, one.text, (source.id,) if source.id else (), wording[one.question]
                )
            )
    return nodes, doubted


def _by_words(nodes: Sequence[Statement]) -> dict[Pair, str]:
    """The pairs of answers to one question that differ only in case, spacing and the final full stop."""
    groups_of: dict[tuple[str | None, str], list[str]] = {}
    for node in nodes:
        groups_of.setdefault((node.question, folded(node.text)), []).append(node.id)
    return {(a, b): ENTAILS for ids in groups_of.values() for a in ids for b in ids if a != b}


@dataclass(frozen=True, slots=True)
class _AnswerPair:
    """Two answers to a question, in the order in which they are compared."""

    question: str
    first: str
    second: str

    @property
    def text(self) -> str:
        """As a call shows it; no text of an answer begins a line."""
        first, second = (" ".join(answer.split()) for answer in (self.first, self.second))
        return f"First: {first}\n   Second: {second}"


class _Comparer:
    """Compares answers to a question. Each pair is compared once, for both directions. calls: of the judge, pairs: that
    it decided."""

    def __init__(self, models: Models, by_code: bool) -> None:
        self.calls = self.pairs = 0
        self._models = models
        self._by_code = by_code
        self._found: dict[
            tuple[str, str, str], str
        ] = {}  # (question, premise, hypothesis) -> label

    async def relate(self, inquiries: Sequence[Inquiry]) -> list[list[Relation]]:
        """The relations of each inquiry, as `_asking.ask` wants them. Of two inquiries that ask for both directions of a
        pair, the first one compares it."""
        pairs: list[_AnswerPair] = []
        claimed: set[_AnswerPair] = set()
        for inquiry in inquiries:
            for second in self._left(inquiry):
                pair = _AnswerPair(inquiry.question or "", inquiry.premise, second)
                if pair not in claimed:
                    pairs.append(pair)
                    claimed.add(_AnswerPair(pair.question, pair.second, pair.first))
        pairs.sort(key=lambda pair: pair.question)  # so that a call shows each question once
        groups_to_ask: list[list[_AnswerPair]] = []
        start = 0
        for group in groups([pair.question + pair.text for pair in pairs], _PAIR_BYTES, _PAIRS):
            groups_to_ask.append(pairs[start : start + len(group)])
            start += len(group)
        await concurrently(self._compare, groups_to_ask)
        return [
            [
                Relation(self._found[inquiry.question or "", inquiry.premise, hypothesis])
                for hypothesis in inquiry.hypotheses
            ]
            for inquiry in inquiries
        ]

    async def every_pair(
        self, nodes: Sequence[Statement], known: dict[Pair, str]
    ) -> dict[Pair, str]:
        """The labels of all pairs of answers to one question that are not both of the answer and not known."""
        pairs = [
            (node, later)
            for i, node in enumerate(nodes)
            for later in nodes[i + 1 :]
            if later.question == node.question
            and (node.id, later.id) not in known
            and CONTEXT in (node.side, later.side)
        ]
        await self.relate(
            [Inquiry(node.text, (later.text,), node.question or "") for node, later in pairs]
        )
        labels: dict[Pair, str] = {}
        for node, later in pairs:
            question = node.question or ""
            labels[node.id, later.id] = self._found[question, node.text, later.text]
            labels[later.id, node.id] = self._found[question, later.text, node.text]
        return labels

    def _left(self, inquiry: Inquiry) -> list[str]:
        """The hypotheses that neither an earlier comparison nor code has decided."""
        question, first = inquiry.question or "", inquiry.premise
        left: list[str] = []
        for other in dict.fromkeys(inquiry.hypotheses):
            if (question, first, other) in self._found:
                continue
            by_code = compare(first, other) if self._by_code else None
            if folded(first) == folded(other):
                by_code = "equivalent"
            if by_code is None:
                left.append(other)
            else:
                self._keep(question, first, other, by_code)
        return left

    async def _compare(self, pairs: Sequence[_AnswerPair]) -> None:
        """One call for several pairs, those of one question behind each other."""
        lines: list[str] = []
        question = None
        for number, pair in enumerate(pairs, 1):
            if pair.question != question:
                question = pair.question
                lines.append(f"Question: {' '.join(question.split())}")
            lines.append(f"{number}. {pair.text}")
        inputs = {
            "pairs": "\n".join(lines),
            "form": '{"1": "neutral", "2": "implies", …}',
        }
        verdict = await ask(
            self._models,
            first_judge(self._models),
            COMPARISON,
            inputs,
            labels_reader(len(pairs), tuple(_LABELS)),
        )
        self.calls += 1
        self.pairs += len(pairs)
        for pair, label in zip(pairs, verdict.value, strict=True):
            self._keep(pair.question, pair.first, pair.second, label)

    def _keep(self, question: str, first: str, other: str, label: str) -> None:
        there, back = _LABELS[label]
        self._found[question, first, other], self._found[question, other, first] = there, back


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
    texts = [context.text for context in example.contexts]
    asked = [text for text in (example.answer or "", *texts) if text.strip()]
    questions = sum(len(pieces(text, PIECE)) for text in asked) * 8
    calls = sum(len(pieces(text, PIECE)) for text in asked) + math.ceil(questions / BATCH)
    calls += math.ceil(questions / BATCH) * sum(len(pieces(text, PART)) for text in asked)
    return calls + (len(texts) if params.summarize else 0) + questions * len(texts)


METRIC = Metric(
    score,
    needs=NEEDS,
    carries=lambda example, _params, _part: NEEDS if _carries_graph(example) else (),
    bounds=(0, 1),
    models=("judge",),
    optional=("judge",),
    prompts=(*PROMPTS, COMPARISON, SUMMARY),
    params=QaParams,
    version=5,
    calls=_calls,
    rounds=4,
    silence=Silence(0, 0),
    view="graph",
)

"""Comprehensiveness by entailment: share of the passages' statements that the answer covers (Comprehensiveness, 3.1).

    score = covered components / components

1. The judge lists the statements of the answer and of each passage, and revises them so that each can be understood
   without the text. Only facts and claims are kept.
2. It grades the relevance of each statement of the passages to the question from 1 to 5, as expected by the
   probabilities of tokens, if any. Those below `relevance` are removed.
3. A checker decides which statements entail which. These are the edges of a graph. Statements that entail each other
   (a strongly connected component) count once, if one is of a passage.
4. A component is covered if a path leads to it from a statement of the answer.

Evidence: the graph, the covered and uncovered components, and the basis, which is the shortest list of uncovered
statements that entails all others.
Cost: 2 calls for each 4,000 bytes of the answer and of each passage, 1 for the relevance of each 25 statements, and at
most 1 for each 16 premises with each 25 hypotheses. Claims in the example are not listed again; a graph in the example is
scored without a call.

Parameters: relevance: the threshold (T_rel, B.1.2); 1 keeps every statement, without a call. extraction: `shared`: the
claims that other metrics also list; `typed`: every unit of a text with its type, as in the paper. relations: `needed`:
skip pairs that cannot change the score, the coverage or the basis; `all`: every pair; `strongest`: each pair in its own
call, whatever `plan` is, and only the more probable of its two directions counts unless both entail (the authors' code,
which needs log-probabilities). plan: `joint`: a call of a judge shows up to 16 premises, numbered, and the judge names
those that entail or contradict each of up to 25 statements; `each`: it shows one premise, as in the paper. Checkers
that are no chat models read one premise at a time, with either. similarity: pairs with a cosine below this count as
neutral (needs `--embedder`; misses entailments).
Deviations: several premises and statements share a call, so a label may depend on the others.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.metric import Metric, Score, Silence, paper
from longmark.metrics.comprehensiveness._asking import Asked, Asking, Inquiry, ask, dissimilar
from longmark.metrics.comprehensiveness._sources import (
    NEEDS,
    SUMMARY,
    Empty,
    Refusal,
    carried_graph,
    result,
    without_refusal,
)
from longmark.metrics.comprehensiveness._statements import (
    Extraction,
    Listing,
    answer_nodes,
    context_nodes,
    sent_texts,
)
from longmark.models.handles import Models
from longmark.records import Example
from longmark.text.claims import PIECE, answer_calls
from longmark.text.entailment import (
    BATCH,
    CONTRADICTS,
    ENTAILS,
    NEUTRAL,
    PREMISES,
    RELATION,
    RELATIONS,
    SHOWN,
    JudgeChecker,
    Relation,
    checker_of,
)
from longmark.text.graph import ANSWER, CONTEXT, Pair, StatementGraph
from longmark.text.graph import Statement as Node
from longmark.text.pieces import pieces
from longmark.text.relevance import RELEVANCE
from longmark.text.sentences import sentences
from longmark.text.statements import PROMPTS as STATEMENT_PROMPTS

PLANS = {
    "each": Asking(width=16, most=2000),
    "joint": Asking(width=32, most=2000, fill=True),
}
"""16 premises at once: 84 of the authors' stored graphs take 1.6 rounds in place of 4.3, and 9 % more pairs are decided.
A joint call names all its statements once, so that pairs cost little: a batch is filled, with the premises of two calls,
which are sent together."""


@dataclass(frozen=True)
class NliParams:
    relevance: float = 3.5  # T_rel, appendix B.1.2
    extraction: Extraction = paper("shared", "typed")
    summarize: bool = paper(False, True)
    relations: Literal["needed", "all", "strongest"] = paper("needed", "all")
    plan: Literal["each", "joint"] = paper("joint", "each")
    similarity: float | None = None
    empty: Empty = paper("undefined", "zero")
    refusal: Refusal = "zero"

    def __post_init__(self) -> None:
        if not 1 <= self.relevance <= 5:
            raise ValueError(f"relevance must be a threshold from 1 to 5, not {self.relevance:g}")
        if self.similarity is not None and not -1 <= self.similarity <= 1:
            raise ValueError(f"similarity must be a cosine from -1 to 1, not {self.similarity:g}")
        if self.similarity is not None and self.relations != "needed":
            raise ValueError("similarity skips pairs, so it needs relations=needed")

    @property
    def keeps_all(self) -> bool:
        """Whether no statement can be below the threshold, so that no relevance is asked for."""
        return self.listing.keeps_all

    @property
    def listing(self) -> Listing:
        return Listing(self.relevance, self.extraction, self.summarize)


async def score(example: Example, models: Models, params: NliParams) -> Score:
    """Covered components / components."""
    if (carried := carried_graph(example)) is not None:
        return result(carried, params.empty, {"checker": "carried"}, carried=True)
    example, refused = without_refusal(example, params.refusal)
    steps: list[Callable[[], Awaitable[tuple[list[Node], list[Any]]]]] = [
        lambda: answer_nodes(example, models, params.listing),
        lambda: context_nodes(example, models, params.listing),
    ]
    (answer_side, _), (context_side, left_out) = await concurrently(lambda step: step(), steps)
    nodes = [*answer_side, *context_side]
    sent = sent_texts(example, nodes, models)
    asked_relations = await _relations(nodes, models, params, sent)
    further_evidence = {
        **refused,
        "checker": checker_of(models).name,
        "calls": {
            "premises": asked_relations.inquiries,
            "pairs": asked_relations.decisions,
            "pairs_of_the_paper": asked_relations.pairs,
        },
        "irrelevant": left_out,
        **({"sent": sent} if sent else {}),
    }
    return result(asked_relations.graph, params.empty, further_evidence)


# Relations ---------------------------------------------------------------------------------------------------------


async def _relations(
    nodes: Sequence[Node], models: Models, params: NliParams, sent: Mapping[str, str]
) -> Asked:
    single = params.relations == "strongest"
    checker = checker_of(models, 1 if single else BATCH)
    joint = params.plan == "joint" and not single
    joint_checker = checker if joint and isinstance(checker, JudgeChecker) else None

    async def relate(inquiries: Sequence[Inquiry]) -> list[list[Relation]]:
        if joint_checker is not None:
            return await _jointly(joint_checker, inquiries, sent)
        return await concurrently(
            lambda inquiry: checker.relations(
                inquiry.premise,
                [sent.get(text, text) for text in inquiry.hypotheses],
            ),
            inquiries,
        )

    if params.relations != "needed":
        return await ask_all(nodes, relate, strongest=single)
    neutral_pairs: dict[Pair, str] = {}
    if params.similarity is not None and nodes:
        vectors = await models.embed([node.text for node in nodes])
        neutral_pairs = dissimilar(
            nodes,
            {n.text: _unit(v) for n, v in zip(nodes, vectors, strict=True)},
            params.similarity,
        )
    return await ask(
        nodes,
        relate,
        PLANS["joint" if joint_checker is not None else "each"],
        neutral_pairs,
    )


async def _jointly(
    checker: JudgeChecker, inquiries: Sequence[Inquiry], sent: Mapping[str, str]
) -> list[list[Relation]]:
    """The relations of several premises, which a call shows together: to the hypotheses of all of them."""
    hypotheses = list(dict.fromkeys(text for inquiry in inquiries for text in inquiry.hypotheses))
    relations = await checker.of_premises(
        [inquiry.premise for inquiry in inquiries],
        [sent.get(text, text) for text in hypotheses],
    )
    place = {text: number for number, text in enumerate(hypotheses)}
    return [
        [of_premise[place[text]] for text in inquiry.hypotheses]
        for inquiry, of_premise in zip(
            inquiries,
            relations,
            strict=True,
        )
    ]


async def ask_all(
    nodes: Sequence[Node],
    relate: Callable[[Sequence[Inquiry]], Awaitable[Sequence[Sequence[Relation]]]],
    *,
    strongest: bool,
) -> Asked:
    """The graph of every relation that the paper asks for.

    strongest: of a pair's two directions only the one whose label is more probable counts, unless both are
    entailments; NoScore (`unsupported`) where there are no probabilities.
    """
    contexts = [node for node in nodes if node.side == CONTEXT]
    hypotheses_of = [
        (node, [o for o in (contexts if node.side == ANSWER else nodes) if o.id != node.id])
        for node in nodes
    ]
    inquiries = [(node, hypotheses) for node, hypotheses in hypotheses_of if hypotheses]
    replies = await relate(
        [Inquiry(node.text, tuple(o.text for o in hypotheses)) for node, hypotheses in inquiries]
    )
    relation_of = {
        (node.id, hypothesis.id): relation
        for (node, hypotheses), relations in zip(inquiries, replies, strict=True)
        for hypothesis, relation in zip(hypotheses, relations, strict=True)
    }
    counting = {pair for pair in relation_of if not strongest or _is_stronger(relation_of, pair)}
    graph = StatementGraph(
        tuple(nodes),
        frozenset(pair for pair in counting if relation_of[pair].label == ENTAILS),
        frozenset(pair for pair in counting if relation_of[pair].label == CONTRADICTS),
    )
    return Asked(graph, len(inquiries), len(inquiries), len(relation_of), len(relation_of))


def _is_stronger(relation_of: Mapping[Pair, Relation], pair: Pair) -> bool:
    """Whether the label of a direction stays: both directions entail, or the other one is less probable."""
    forward = relation_of[pair]
    backward = relation_of[pair[1], pair[0]]
    return forward.label == backward.label == ENTAILS or _probability(forward) >= _probability(
        backward
    )


def _probability(relation: Relation) -> float:
    by_label = {
        ENTAILS: relation.entails,
        CONTRADICTS: relation.contradicts,
        NEUTRAL: relation.neutral,
    }
    value = by_label[relation.label]
    if value is None:
        raise NoScore(
            "unsupported",
            "relations=strongest needs log-probabilities, which the checker does not give.",
        )
    return value


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.hypot(*vector)
    return [number / length for number in vector] if length else list(vector)


# Declaration -------------------------------------------------------------------------------------------------------


def _carries(example: Example, params: NliParams, _part: str) -> tuple[str, ...]:
    """A graph takes the place of all fields, claims that of the answer; nothing is asked about the question where every
    statement is kept as it is."""
    if example.graph is not None:
        return NEEDS
    answer = ("answer",) if example.claims is not None else ()
    summarizes = params.summarize and example.context_claims is None
    return (*answer, "question") if params.keeps_all and not summarizes else answer


def _calls(example: Example, params: NliParams, _judges: int) -> int:
    if example.graph is not None:
        return 0
    _, theirs = counts(example)
    calls = 0 if example.claims is not None else 2 * len(pieces(example.answer or "", PIECE))
    if example.context_claims is None:
        texts = [context.text for context in example.contexts]
        calls += sum(2 * len(pieces(text, PIECE)) for text in texts) + (
            len(texts) if params.summarize else 0
        )
    if not params.keeps_all:
        calls += math.ceil(max(theirs, 1) / BATCH)
    return calls + _checks(example, params)


def _checks(example: Example, params: NliParams) -> int:
    if example.graph is not None:
        return 0
    mine, theirs = counts(example)
    if params.relations == "strongest":
        return 2 * mine * theirs + theirs * (theirs - 1)
    if params.plan == "joint":
        return math.ceil((mine + theirs) / SHOWN) * math.ceil((mine + theirs) / BATCH)
    return mine * math.ceil(theirs / BATCH) + theirs * math.ceil((mine + theirs) / BATCH)


def _pairs_checked(example: Example, params: NliParams) -> int:
    if example.graph is not None or params.relations == "strongest":
        return _checks(example, params)
    mine, theirs = counts(example)
    return mine * theirs + theirs * (mine + theirs)


def counts(example: Example) -> tuple[int, int]:
    """Statements of the answer and of the passages. They are not known before the first call; there are about as many
    as sentences."""
    mine = len(sentences(example.answer or "")) if example.claims is None else len(example.claims)
    if example.context_claims is not None:
        return mine, sum(map(len, example.context_claims))
    return mine, sum(len(sentences(context.text)) for context in example.contexts)


METRIC = Metric(
    score,
    needs=NEEDS,
    carries=_carries,
    bounds=(0, 1),
    models=("judge", "checker", "embedder"),
    optional=("judge", "checker", "embedder"),
    prompts=(*STATEMENT_PROMPTS, RELEVANCE, RELATIONS, RELATION, PREMISES, SUMMARY),
    params=NliParams,
    version=4,
    calls=_calls,
    rounds=5,
    checks=_checks,
    relations=_pairs_checked,
    shares=answer_calls,
    silence=Silence(0, 0, 0),
    view="graph",
)

"""RAGChecker (Ru et al. 2024; CCRS, 2.2 and appendix D): claims of the answer and the reference, checked one by one.

A claim of the answer is right if the reference entails it, else wrong. It is supported if a passage entails it. A claim
of the reference is recalled if the answer entails it, and retrieved if a passage entails it. A passage is relevant if
it entails a claim of the reference.

    overall     precision                        right claims / claims
                recall                           recalled claims of the reference / its claims
                f1                               2 precision recall / (precision + recall)
    retriever   claim_recall                     retrieved claims of the reference / its claims
                context_precision                relevant passages / passages
    generator   context_utilization              retrieved and recalled claims of the reference / retrieved ones
                noise_sensitivity_in_relevant    wrong claims, entailed by a relevant passage / claims
                noise_sensitivity_in_irrelevant  wrong claims, entailed by irrelevant passages only / claims
                hallucination                    wrong claims that are not supported / claims
                self_knowledge                   right claims that are not supported / claims
                faithfulness                     supported claims / claims

1. The first judge lists the claims of the answer and of the reference, with the prompt of `score.specificity`.
2. The checker (`--checker`; by default the first judge, and without a judge the built-in claim checker, where it is
   installed and the examples carry the claims) labels each pair as `entails`, `contradicts` or `neutral`: the
   reference and each claim of the answer, the answer and each claim of the reference, each passage and each claim of
   both. Only `entails` counts.

A score is made of its own labels alone. A is a list of the answer's claims, R one of the reference's, and P the
number of passages:

    precision                             A, its claims by the reference                         2 calls
    recall                                R, its claims by the answer                            2 calls
    f1                                    A and R, as of both                                    4 calls
    claim_recall, context_precision       R, its claims by each passage                          1 + P calls
    context_utilization                   R, its claims by the answer and each passage           2 + P calls
    faithfulness                          A, its claims by each passage                          1 + P calls
    hallucination, self_knowledge         A, its claims by the reference and each passage        2 + P calls
    both noise sensitivities              A and R, the former by the reference, both by each P   3 + 2 P calls
    all eleven                            the same, and R by the answer                          4 + 2 P calls

Cost: as above, where a call lists the claims of up to 4,000 bytes and checks up to 25 claims (8,000 bytes). Of these
calls 1 + P are paid once a question, for all systems that answer it from the same passages: those that list the claims of
the reference and check them by passages. A label can depend on the other claims in its call (`batch=1`: it cannot).

Two sums are 1: precision + hallucination + both noise sensitivities, and faithfulness + hallucination + self_knowledge.
Unscored (`undefined`): scores over the claims of an answer or a reference that has none (but f1 is 0 where only the
answer has none), and context_utilization if no claim of the reference is retrieved. Unscored (the checker's reason): a
share over claims of which one has no verdict.
Unscored (`missing_input`): without a reference all scores except faithfulness, without passages all except precision,
recall and f1, and without an answer all except claim_recall and context_precision. An empty answer recalls nothing.
Claims and labels in the example are used unchanged: a result file of RAGChecker needs no call.
Several references: for claim_recall and context_precision the one with the highest claim_recall counts, whatever the
answer is; for the others the one with the highest f1, so that they also take the calls of f1 (of equal ones the
first; evidence: `reference`).

Parameters: batch: number of statements in one call of a judge; 1: one pair in each call. plan: `each`: a call shows
one passage; `joint`: it shows all passages, numbered (up to 16,000 bytes), and the judge names those that entail each
claim, so that P calls become one. It needs a chat model as checker; any other reads one pair at a time, with either.
empty: `zero` gives an undefined score the value 0, as the authors do.
Deviations: the prompts are ours. With `plan=joint` a judge sees a passage beside the others; in the paper it sees it
alone. In the authors' files claims are triplets or sentences; ours are sentences. Support for several references is ours.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.metric import Metric, Score, Silence
from longmark.metrics.ragchecker._calls import calls, checks_of_pairs, pairs_checked, shares
from longmark.metrics.ragchecker._evidence import evidence_of
from longmark.metrics.ragchecker._labels import (
    Claims,
    LabelledAnswer,
    attempt,
    label_claims,
    list_of_reference,
)
from longmark.metrics.ragchecker._parts import (
    CARRIED,
    CARRIED_IN,
    LABELS,
    NEEDS,
    OF_ANSWER,
    OF_REFERENCE,
    OF_RETRIEVER,
    RagCheckerParams,
    carried_fields,
    kinds_of,
)
from longmark.metrics.ragchecker._scores import SPECS, ragchecker_scores
from longmark.models.handles import Models
from longmark.records import Example
from longmark.text.claims import CLAIMS, answer_claims, reference_claims
from longmark.text.entailment import JOINT, PROMPTS


async def score(
    example: Example, models: Models, params: RagCheckerParams, parts: Collection[str]
) -> dict[str, Score | NoScore]:
    """The scores of these parts of the name."""
    kinds = kinds_of(example, parts)
    answer_claims_or_reason: Claims | NoScore = ()
    expected: Sequence[Claims] | NoScore = ()
    of_answer = bool(kinds & OF_ANSWER)
    of_reference = bool(kinds & OF_REFERENCE)
    steps: list[Callable[[], Awaitable[Any]]] = (
        [lambda: answer_claims(models, example)] if of_answer else []
    )
    steps += [lambda: reference_claims(models, example)] if of_reference else []
    lists = await concurrently(attempt, steps)
    if of_answer:
        answer_claims_or_reason = lists[0]
    if of_reference:
        expected = lists[-1]
    labelled, checker = await label_claims(
        example, models, params, answer_claims_or_reason, expected, kinds
    )
    of_each = [ragchecker_scores(labels_of_reference.checks) for labels_of_reference in labelled]
    claims = () if isinstance(answer_claims_or_reason, NoScore) else answer_claims_or_reason
    best_for_answer = _highest(of_each, "f1")
    best_for_retriever = _highest(of_each, "claim_recall")
    by_reference: dict[int, BestReference] = {}
    for k in {best_for_answer, best_for_retriever}:
        claims_of_reference: Claims = ()
        if not isinstance(expected, NoScore) and expected:
            claims_of_reference = expected[list_of_reference(expected, k)]
        by_reference[k] = BestReference(
            labelled[k],
            of_each[k],
            evidence_of(labelled[k], claims, claims_of_reference),
            example.references[k] if len(example.references) > 1 else None,
        )
    return {
        part: _score(
            example,
            params,
            part,
            by_reference[best_for_retriever if part in OF_RETRIEVER else best_for_answer],
            checker,
        )
        for part in parts
    }


@dataclass(frozen=True, slots=True)
class BestReference:
    """What an answer gets by the reference that counts. values, evidence: by part of the name; reference: its text,
    where there are several."""

    labelled: LabelledAnswer
    values: Mapping[str, float | NoScore]
    evidence: Mapping[str, Mapping[str, Any]]
    reference: str | None


def _highest(of_each: Sequence[Mapping[str, float | NoScore]], part: str) -> int:
    """The number of the reference by which a score is highest; the first of equal ones."""
    values = [scores[part] for scores in of_each]
    return max(
        range(len(values)),
        key=lambda k: -1.0 if isinstance(value := values[k], NoScore) else value,
    )


def _score(
    example: Example,
    params: RagCheckerParams,
    part: str,
    best: BestReference,
    checker: str | None,
) -> Score | NoScore:
    if (failure := best.labelled.failure(LABELS[part])) is not None:
        return failure
    carried = all(getattr(example, CARRIED_IN[kind]) is not None for kind in LABELS[part])
    evidence: dict[str, Any] = {"checker": CARRIED if carried or checker is None else checker}
    if best.reference is not None and "references" in NEEDS[part]:
        evidence["reference"] = best.reference
    evidence |= best.evidence[part]
    value = best.values[part]
    if not isinstance(value, NoScore):
        return Score(value, evidence)
    if value.status == "undefined" and params.empty == "zero":
        return Score(0.0, {**evidence, "rule": f"{value.reason} It is scored 0 by empty=zero."})
    return NoScore(value.status, value.reason, evidence)


METRIC = Metric(
    score,
    needs=NEEDS,
    carries=carried_fields,
    scores=SPECS,
    by_part=True,
    models=("judge", "checker"),
    optional=("judge", "checker"),
    default_checker="embedded",
    prompts=(CLAIMS, *PROMPTS, JOINT),
    params=RagCheckerParams,
    version=7,
    calls=calls,
    rounds=2,
    checks=checks_of_pairs,
    relations=pairs_checked,
    shares=shares,
    view="support",
    evidence={
        **dict.fromkeys(("precision", "recall", "f1"), ("references",)),
        "faithfulness": ("contexts",),
        **dict.fromkeys(
            (
                "claim_recall",
                "context_precision",
                "context_utilization",
                "hallucination",
                "self_knowledge",
                "noise_sensitivity_in_relevant",
                "noise_sensitivity_in_irrelevant",
            ),
            ("contexts", "references"),
        ),
    },
    silence={
        "claim_recall": Silence(),
        "context_precision": Silence(),
        **dict.fromkeys(("recall", "f1", "context_utilization"), Silence(0, 0, 0)),
        **dict.fromkeys(
            (
                "precision",
                "noise_sensitivity_in_relevant",
                "noise_sensitivity_in_irrelevant",
                "hallucination",
                "self_knowledge",
                "faithfulness",
            ),
            Silence("undefined", "undefined", "undefined"),
        ),
    },
)

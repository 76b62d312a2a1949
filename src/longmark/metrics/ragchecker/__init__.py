"""RAGChecker (Ru et al. 2024; CCRS, 2.2 and appendix D): claims of the answer and the reference, checked one by one.

A claim of the answer is right if the reference entails it, else wrong. It is supported if a passage entails it. A claim
of the reference is recalled if the answer entails it, and retrieved if a passage entails it. A passage is relevant if
it entails a claim of the reference.

    overall     precision                        right claims / claims
                recall                           recalled claims of the reference / its claims
                f1                               harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)
    retriever   claim_recall                     retrieved claims of the reference / its claims
                context_precision                relevant passages / passages
    generator   context_utilization              retrieved and recalled claims of the reference / retrieved ones
                noise_sensitivity_in_relevant    wrong claims, entailed by a relevant passage / claims
                noise_sensitivity_in_irrelevant  wrong claims, entailed by irrelevant passages only / claims
                hallucination                    wrong claims that are not supported / claims
                self_knowledge                   right claims that are not supported / claims
                faithfulness                     supported claims / claims

1. The first judge lists the claims of the answer and of the reference, with the prompt of `score.specificity`.
2. The checker (`--checker`; by default the first judge) labels each pair as `entails`, `contradicts` or `neutral`: the
   reference and each claim of the answer, the answer and each claim of the reference, each passage and each claim of
   both. Only `entails` counts.

Range [0, 1]. Higher is better; for noise sensitivity and hallucination lower is better; self_knowledge has no
direction. These sums are 1: precision + hallucination + both noise sensitivities, and faithfulness + hallucination +
self_knowledge.
Unscored (`undefined`): scores over the claims of an answer or a reference that has none, and context_utilization if no
claim of the reference is retrieved. f1 of an answer without claims is 0 where the reference has claims: it has no true
positive. Unscored (`missing_input`): without a reference all scores except faithfulness, and
without passages all except precision, recall and f1. An empty answer recalls nothing.
Claims and labels in the example are used unchanged. A result file of RAGChecker therefore needs no call and no judge.
Several references: the one with the highest f1 counts (of equal ones the first; evidence: `reference`).
Cost: 1 call for each 4,000 bytes of the answer and of each reference lists their claims. Then the answer, each
reference and each passage take 1 call for each 25 claims (and each 8,000 bytes).

Parameters: batch: number of statements in one call of a judge; 1: one pair in each call. empty: `zero` gives an
undefined score the value 0, as the authors do.
Deviations: the prompts are ours. In the authors' files claims are triplets or sentences; ours are sentences. An
undefined score is unscored (`empty=zero`: the authors' method). Support for several references is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.metric import Metric, Score, ScoreSpec, Silence, Why, paper
from longmark.models.handles import Models
from longmark.records import Example
from longmark.text.claims import CLAIMS, answer_calls, answer_claims, reference_calls, reference_claims
from longmark.text.entailment import BATCH, ENTAILS, PROMPTS, checker_of, relation_calls
from longmark.text.sentences import sentences

_LARGEST_BATCH = 200  # a greater number is a typing error


@dataclass(frozen=True)
class Params:
    batch: int = BATCH
    empty: Literal["undefined", "zero"] = paper("undefined", "zero")

    def __post_init__(self) -> None:
        if not 1 <= self.batch <= _LARGEST_BATCH:
            raise ValueError(f"batch must be a number of statements from 1 to {_LARGEST_BATCH}, not {self.batch}")


# Arithmetic --------------------------------------------------------------------------------------------------------

Labels = Sequence[str]


@dataclass(frozen=True, slots=True)
class Checks:
    """The labels of one answer. None: not given (no reference, no passages).

    right, recalled: the label of each claim of the answer (of the reference) with the reference (the answer) as the
    premise. supported, retrieved: for each claim of the answer (of the reference) a label for each passage.
    """

    right: Labels | None
    recalled: Labels | None
    supported: Sequence[Labels] | None
    retrieved: Sequence[Labels] | None
    passages: int = 0


def ragchecker_scores(checks: Checks) -> dict[str, float | NoScore]:
    """Part of the name -> score in [0, 1], or why there is none (CCRS, appendix D)."""
    no_reference = NoScore("missing_input", "The example has no reference.")
    no_passages = NoScore("missing_input", "The example has no contexts.")
    no_claims = NoScore("undefined", "The answer contains no claim.")
    no_expected = NoScore("undefined", "The reference contains no claim.")
    right, recalled = _entailed(checks.right), _entailed(checks.recalled)
    supported, retrieved = _matrix(checks.supported), _matrix(checks.retrieved)
    found: dict[str, float | NoScore] = {}
    found["precision"] = no_reference if right is None else _share(right, no_claims)
    found["recall"] = no_reference if recalled is None else _share(recalled, no_expected)
    found["f1"] = 0.0 if right == [] and recalled else _f1(found["precision"], found["recall"])
    if supported is None:
        found["faithfulness"] = no_passages
    else:
        found["faithfulness"] = _share([any(row) for row in supported], no_claims)
    if supported is None or retrieved is None or right is None or recalled is None:
        why = no_passages if checks.passages == 0 else no_reference
        return found | dict.fromkeys((name for name in SPECS if name not in found), why)
    known = [any(row) for row in retrieved]
    relevant = [any(row[d] for row in retrieved) for d in range(checks.passages)]
    found["claim_recall"] = _share(known, no_expected)
    found["context_precision"] = _share(relevant, no_passages) if retrieved else no_expected
    used = [now for now, here in zip(recalled, known, strict=True) if here]
    none_retrieved = NoScore("undefined", "No passage entails a claim of the reference.")
    found["context_utilization"] = _share(used, none_retrieved) if retrieved else no_expected
    rows = list(zip(right, supported, strict=True))
    by_relevant = [any(e and r for e, r in zip(row, relevant, strict=True)) for row in supported]
    noise = [not ok and any(row) for ok, row in rows]
    in_relevant = [noisy and near for noisy, near in zip(noise, by_relevant, strict=True)]
    in_irrelevant = [noisy and not near for noisy, near in zip(noise, by_relevant, strict=True)]
    found["noise_sensitivity_in_relevant"] = _share(in_relevant, no_claims) if retrieved else no_expected
    found["noise_sensitivity_in_irrelevant"] = _share(in_irrelevant, no_claims) if retrieved else no_expected
    found["hallucination"] = _share([not ok and not any(row) for ok, row in rows], no_claims)
    found["self_knowledge"] = _share([ok and not any(row) for ok, row in rows], no_claims)
    return found


def _entailed(labels: Labels | None) -> list[bool] | None:
    return None if labels is None else [label == ENTAILS for label in labels]


def _matrix(labels: Sequence[Labels] | None) -> list[list[bool]] | None:
    return None if labels is None else [[label == ENTAILS for label in row] for row in labels]


def _share(given: Sequence[bool], empty: NoScore) -> float | NoScore:
    return sum(given) / len(given) if given else empty


def _f1(precision: float | NoScore, recall: float | NoScore) -> float | NoScore:
    """The harmonic mean; 0 if both are 0; the reason of what is missing."""
    if isinstance(precision, NoScore):
        return precision
    if isinstance(recall, NoScore):
        return recall
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


# Calls -------------------------------------------------------------------------------------------------------------


async def score(example: Example, models: Models, params: Params) -> dict[str, Score | NoScore]:
    """The eleven scores by their names."""
    own = await answer_claims(models, example)
    expected = await reference_claims(models, example)
    found, checker = await check(example, models, params.batch, own, expected)
    of_each = [ragchecker_scores(one) for one in found]
    best = max(range(len(found)), key=lambda k: -1.0 if isinstance(f1 := of_each[k]["f1"], NoScore) else f1)
    shared: dict[str, Any] = {"checker": checker}
    if len(example.references) > 1:
        shared["reference"] = example.references[best]
    shown = _evidence(found[best], own, expected[best] if expected else [])
    results: dict[str, Score | NoScore] = {}
    for name in SPECS:
        value, evidence = of_each[best][name], {**shared, **shown[name]}
        if not isinstance(value, NoScore):
            results[name] = Score(value, evidence)
        elif value.status == "undefined" and params.empty == "zero":
            results[name] = Score(0.0, {**evidence, "rule": f"{value.reason} It is scored 0 by empty=zero."})
        else:
            results[name] = NoScore(value.status, value.reason, evidence)
    return results


async def check(
    example: Example, models: Models, batch: int, own: Sequence[str], expected: Sequence[Sequence[str]]
) -> tuple[list[Checks], str]:
    """The labels with each reference (one result without any), and what decided them. own: the claims of the answer;
    expected: those of each reference. Labels that the example carries are not asked for."""
    passages = [context.text for context in example.contexts]
    carried_own, carried_expected = example.claims_by_contexts, example.reference_claims_by_contexts
    asked = dict.fromkeys(own if carried_own is None else ())
    if carried_expected is None:
        asked |= dict.fromkeys(claim for some in expected for claim in some)
    questions: dict[tuple[str, int], tuple[str, Sequence[str]]] = {}
    questions |= {("passage", d): (passage, list(asked)) for d, passage in enumerate(passages)}
    if example.claims_by_reference is None:
        questions |= {("right", k): (reference, own) for k, reference in enumerate(example.references)}
    if example.reference_claims_by_answer is None:
        questions |= {("recalled", k): (example.answer or "", some) for k, some in enumerate(expected)}
    needed = [key for key, (premise, hypotheses) in questions.items() if premise.strip() and hypotheses]
    checker = checker_of(models, batch) if needed else None

    async def labels(key: tuple[str, int]) -> list[str]:
        assert checker is not None
        return [one.label for one in await checker.relations(*questions[key])]

    found = {key: ["neutral"] * len(hypotheses) for key, (_, hypotheses) in questions.items()}
    found |= zip(needed, await concurrently(labels, needed), strict=True)
    by_passage = [dict(zip(asked, found["passage", d], strict=True)) for d in range(len(passages))]

    def matrix(carried: Sequence[Labels] | None, statements: Sequence[str]) -> Sequence[Labels]:
        return carried if carried is not None else [[labels[one] for labels in by_passage] for one in statements]

    checks = [
        Checks(
            right=found.get(("right", k), example.claims_by_reference),
            recalled=found.get(("recalled", k), example.reference_claims_by_answer),
            supported=matrix(carried_own, own) if passages else None,
            retrieved=matrix(carried_expected, expected[k]) if passages and expected else None,
            passages=len(passages),
        )
        for k in range(max(1, len(expected)))
    ]
    return checks, "carried by the example" if checker is None else checker.name


def _shares(example: Example) -> dict[str, int]:
    return answer_calls(example) | reference_calls(example)


def _checks(example: Example, params: Params) -> int:
    """The claims are not known before the first call; there are about as many as sentences."""
    own = len(example.claims if example.claims is not None else sentences(example.answer or ""))
    if example.reference_claims is not None:
        expected = [len(example.reference_claims)]
    else:
        expected = [len(sentences(reference)) for reference in example.references]
    asked = own if example.claims_by_contexts is None else 0
    asked += sum(expected) if example.reference_claims_by_contexts is None else 0
    calls = sum(relation_calls(context.text, asked, params.batch) for context in example.contexts)
    if example.claims_by_reference is None:
        calls += sum(relation_calls(reference, own, params.batch) for reference in example.references)
    if example.reference_claims_by_answer is None:
        calls += sum(relation_calls(example.answer or "", some, params.batch) for some in expected)
    return calls


# Evidence ----------------------------------------------------------------------------------------------------------


def _evidence(checks: Checks, own: Sequence[str], expected: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Part of the name -> what a reader needs to check it. precision and recall have all claims with their labels, the
    other scores those claims that their numerator counts; faithfulness and claim_recall those that it does not."""
    mine = _rows(own, "reference", checks.right, checks.supported)
    theirs = _rows(expected, "answer", checks.recalled, checks.retrieved)
    relevant = {d for row in theirs for d in row["passages"]}
    wrong = [row for row in mine if row["reference"] != ENTAILS]
    noise = [row for row in wrong if row["passages"]]
    in_relevant = [row for row in noise if relevant & set(row["passages"])]
    kept: dict[str, list[dict[str, Any]]] = {
        "precision": mine,
        "noise_sensitivity_in_relevant": in_relevant,
        "noise_sensitivity_in_irrelevant": [row for row in noise if row not in in_relevant],
        "hallucination": [row for row in wrong if not row["passages"]],
        "self_knowledge": [row for row in mine if row["reference"] == ENTAILS and not row["passages"]],
        "faithfulness": [row for row in mine if not row["passages"]],
    }
    of_reference = {
        "recall": theirs,
        "claim_recall": [row for row in theirs if not row["passages"]],
        "context_utilization": [row for row in theirs if row["passages"] and row["answer"] == ENTAILS],
    }
    found: dict[str, dict[str, Any]] = {
        "f1": {} if own else {"rule": "the answer has no claim, so no true positive: 2 TP / (2 TP + FP + FN) is 0"},
        "context_precision": {"relevant_passages": sorted(relevant)},
    }
    found |= {name: {"claims": rows, "claims_in_total": len(own)} for name, rows in kept.items()}
    found |= {name: {"reference_claims": rows, "claims_in_total": len(expected)} for name, rows in of_reference.items()}
    return found


def _rows(
    statements: Sequence[str], by: str, labels: Labels | None, by_passage: Sequence[Labels] | None
) -> list[dict[str, Any]]:
    """Each claim with its label by the reference or the answer, and the numbers of the passages that entail it."""
    return [
        {
            "claim": claim,
            by: None if labels is None else labels[i],
            "passages": [d for d, label in enumerate(by_passage[i], 1) if label == ENTAILS] if by_passage else [],
        }
        for i, claim in enumerate(statements)
    ]


_WRONG = Why("Claim that the reference does not entail", "claims", ("reference", ENTAILS))
_UNSUPPORTED = Why("Unsupported claim", "claims")


def _spec(summary: str, higher_is_better: bool | None = True, why: Why | None = None) -> ScoreSpec:
    return ScoreSpec((0, 1), higher_is_better, summary, why)


SPECS = {
    "precision": _spec("The share of the answer's claims that the reference entails.", why=_WRONG),
    "recall": _spec(
        "The share of the reference's claims that the answer entails.",
        why=Why("Missing claim", "reference_claims", ("answer", ENTAILS)),
    ),
    "f1": _spec("The harmonic mean of precision and recall."),
    "claim_recall": _spec(
        "The share of the reference's claims that a passage entails.",
        why=Why("Claim that no passage entails", "reference_claims"),
    ),
    "context_precision": _spec("The share of passages that entail a claim of the reference."),
    "context_utilization": _spec("The share of the reference's claims in the passages that the answer entails."),
    "noise_sensitivity_in_relevant": _spec(
        "The share of the answer's claims that are not right and are entailed by a relevant passage.", False, _WRONG
    ),
    "noise_sensitivity_in_irrelevant": _spec(
        "The share of the answer's claims that are not right and are entailed by irrelevant passages only.",
        False,
        _WRONG,
    ),
    "hallucination": _spec(
        "The share of the answer's claims that neither the reference nor a passage entails.", False, _UNSUPPORTED
    ),
    "self_knowledge": _spec("The share of the answer's claims that the reference entails and no passage does.", None),
    "faithfulness": _spec("The share of the answer's claims that a passage entails.", why=_UNSUPPORTED),
}

METRIC = Metric(
    score,
    needs=("answer",),
    scores=SPECS,
    models=("judge", "checker"),
    optional=("judge", "checker"),
    prompts=(CLAIMS, *PROMPTS),
    params=Params,
    version=2,
    calls=lambda example, params, _judges: sum(_shares(example).values()) + _checks(example, params),
    rounds=3,
    checks=_checks,
    shares=_shares,
    view="support",
    evidence={
        **dict.fromkeys(("precision", "recall", "f1"), ("references",)),
        "faithfulness": ("contexts",),
        **dict.fromkeys(
            (
                *("claim_recall", "context_precision", "context_utilization", "hallucination", "self_knowledge"),
                *("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant"),
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
                *("precision", "noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination"),
                *("self_knowledge", "faithfulness"),
            ),
            Silence("undefined", "undefined", "undefined"),
        ),
    },
)

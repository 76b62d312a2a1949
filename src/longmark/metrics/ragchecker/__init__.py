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
2. The checker (`--checker`; by default the first judge, and without a judge the built-in claim checker, where it is
   installed and the examples carry the claims) labels each pair as `entails`, `contradicts` or `neutral`: the
   reference and each claim of the answer, the answer and each claim of the reference, each passage and each claim of
   both. Only `entails` counts.

A score is made of its own labels alone, so that nothing else is needed, asked for, or able to fail it. A is a list of
the answer's claims, R one of the reference's, and P the number of passages:

    precision                             A, its claims by the reference                         2 calls
    recall                                R, its claims by the answer                            2 calls
    f1                                    A and R, as of both                                    4 calls
    claim_recall, context_precision       R, its claims by each passage                          1 + P calls
    context_utilization                   R, its claims by the answer and each passage           2 + P calls
    faithfulness                          A, its claims by each passage                          1 + P calls
    hallucination, self_knowledge         A, its claims by the reference and each passage        2 + P calls
    both noise sensitivities              A and R, the former by the reference, both by each P   3 + 2 P calls
    all eleven                            the same, and R by the answer                          4 + 2 P calls

Claims of the answer and of the reference are checked in calls of their own. So a score is the same whatever else is
selected, and the claims of a reference are listed and checked by a passage once, for all systems that answer its
question from the same passages: their claim_recall and context_precision are equal. The calls that do not depend on the
answer (1 + P) are then paid once a question.

Range [0, 1]. Higher is better; for noise sensitivity and hallucination lower is better; self_knowledge has no
direction. These sums are 1: precision + hallucination + both noise sensitivities, and faithfulness + hallucination +
self_knowledge.
Unscored (`undefined`): scores over the claims of an answer or a reference that has none, and context_utilization if no
claim of the reference is retrieved. f1 of an answer without claims is 0 where the reference has claims: it has no true
positive. Unscored (the checker's reason): shares over claims of which one has no verdict, as one that is longer than
the checker reads; without that claim they would be shares of other claims. Unscored (`missing_input`): without a
reference all scores except faithfulness, without passages all except precision, recall and f1, and without an answer
all except claim_recall and context_precision. An empty answer recalls nothing.
Claims and labels in the example are used unchanged, in place of the text that they were made from. A result file of
RAGChecker therefore needs no call and no judge, nor do the nuggets of a reference with their labels for recall.
Several references: the one with the highest f1 counts (of equal ones the first; evidence: `reference`), so that the
scores with a reference also take the calls of f1.
Cost: as above, for an answer, a reference and passages of one call each. 1 call for each 4,000 bytes of the answer and
of each reference lists their claims. Then the answer, each reference and each passage take 1 call for each 25 claims
(and each 8,000 bytes). A label can depend on the other claims in its call (`batch=1`: it cannot).

Parameters: batch: number of statements in one call of a judge; 1: one pair in each call. plan: `each`: a call shows
one passage; `joint`: it shows all passages, numbered (up to 16,000 bytes), and the judge names those that entail each
claim, so that P calls become one. It needs a chat model as checker; any other reads one pair at a time, with either.
empty: `zero` gives an undefined score the value 0, as the authors do.
Deviations: the prompts are ours. With `plan=joint` a judge sees a passage beside the others; in the paper it sees it
alone. In the authors' files claims are triplets or sentences; ours are sentences. An
undefined score is unscored (`empty=zero`: the authors' method). Support for several references is ours.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from longmark.concurrency import concurrently
from longmark.errors import ModelError, NoScore, OverBudget
from longmark.metric import Metric, Score, ScoreSpec, Silence, Why, paper
from longmark.models.handles import Models
from longmark.records import Example
from longmark.text.claims import (
    CLAIMS,
    answer_calls,
    answer_claims,
    reference_calls,
    reference_claims,
)
from longmark.text.context import sent_with
from longmark.text.entailment import (
    BATCH,
    ENTAILS,
    JOINT,
    NEUTRAL,
    PROMPTS,
    Checker,
    JudgeChecker,
    checker_of,
    joint_calls,
    passage_groups,
    relation_calls,
)
from longmark.text.sentences import sentences

_LARGEST_BATCH = 200  # a greater number is a typing error


@dataclass(frozen=True)
class RagCheckerParams:
    batch: int = BATCH
    plan: Literal["each", "joint"] = paper("each", "each")
    empty: Literal["undefined", "zero"] = paper("undefined", "zero")

    def __post_init__(self) -> None:
        if not 1 <= self.batch <= _LARGEST_BATCH:
            raise ValueError(
                f"batch must be a number of statements from 1 to {_LARGEST_BATCH}, not {self.batch}"
            )
        if self.plan == "joint" and self.batch == 1:
            raise ValueError(
                "plan=joint shows several statements in a call, so batch must be above 1"
            )


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
    right = _entailed(checks.right)
    recalled = _entailed(checks.recalled)
    supported = _matrix(checks.supported)
    retrieved = _matrix(checks.retrieved)
    not_given = no_passages if checks.passages == 0 else no_reference
    scores: dict[str, float | NoScore] = dict.fromkeys(SPECS, not_given)
    scores["precision"] = no_reference if right is None else _share(right, no_claims)
    scores["recall"] = no_reference if recalled is None else _share(recalled, no_expected)
    scores["f1"] = 0.0 if right == [] and recalled else _f1(scores["precision"], scores["recall"])
    scores["faithfulness"] = no_passages
    if supported is not None:
        scores["faithfulness"] = _share([any(row) for row in supported], no_claims)
    if right is not None and supported is not None:
        rows = list(zip(right, supported, strict=True))
        scores["hallucination"] = _share([not ok and not any(row) for ok, row in rows], no_claims)
        scores["self_knowledge"] = _share([ok and not any(row) for ok, row in rows], no_claims)
    if retrieved is None:
        return scores
    in_a_passage = [any(row) for row in retrieved]
    relevant = [any(row[d] for row in retrieved) for d in range(checks.passages)]
    scores["claim_recall"] = _share(in_a_passage, no_expected)
    scores["context_precision"] = _share(relevant, no_passages) if retrieved else no_expected
    if recalled is not None:
        used = [
            now for now, retrieved_too in zip(recalled, in_a_passage, strict=True) if retrieved_too
        ]
        none_retrieved = NoScore("undefined", "No passage entails a claim of the reference.")
        scores["context_utilization"] = _share(used, none_retrieved) if retrieved else no_expected
    if right is not None and supported is not None:
        noise = [not ok and any(row) for ok, row in zip(right, supported, strict=True)]
        by_relevant = [
            any(e and r for e, r in zip(row, relevant, strict=True)) for row in supported
        ]
        in_relevant = [noisy and near for noisy, near in zip(noise, by_relevant, strict=True)]
        in_irrelevant = [noisy and not near for noisy, near in zip(noise, by_relevant, strict=True)]
        scores["noise_sensitivity_in_relevant"] = (
            _share(in_relevant, no_claims) if retrieved else no_expected
        )
        scores["noise_sensitivity_in_irrelevant"] = (
            _share(in_irrelevant, no_claims) if retrieved else no_expected
        )
    return scores


def _entailed(labels: Labels | None) -> list[bool] | None:
    return None if labels is None else [label == ENTAILS for label in labels]


def _matrix(labels: Sequence[Labels] | None) -> list[list[bool]] | None:
    return None if labels is None else [[label == ENTAILS for label in row] for row in labels]


def _share(holds: Sequence[bool], empty: NoScore) -> float | NoScore:
    return sum(holds) / len(holds) if holds else empty


def _f1(precision: float | NoScore, recall: float | NoScore) -> float | NoScore:
    """The harmonic mean; 0 if both are 0; the reason of what is missing."""
    if isinstance(precision, NoScore):
        return precision
    if isinstance(recall, NoScore):
        return recall
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


# Labels ------------------------------------------------------------------------------------------------------------

_Kind = Literal["right", "recalled", "supported", "retrieved"]
KINDS: tuple[_Kind, ...] = ("right", "recalled", "supported", "retrieved")

LABELS: dict[str, tuple[_Kind, ...]] = {
    "precision": ("right",),
    "recall": ("recalled",),
    "f1": ("right", "recalled"),
    "claim_recall": ("retrieved",),
    "context_precision": ("retrieved",),
    "context_utilization": ("recalled", "retrieved"),
    "noise_sensitivity_in_relevant": ("right", "supported", "retrieved"),
    "noise_sensitivity_in_irrelevant": ("right", "supported", "retrieved"),
    "hallucination": ("right", "supported"),
    "self_knowledge": ("right", "supported"),
    "faithfulness": ("supported",),
}
"""Part of the name -> the labels that the score is made of, by the fields of `Checks`."""

_REPLACED_BY: dict[_Kind, dict[str, str]] = {
    "right": {"answer": "claims", "references": "claims_by_reference"},
    "recalled": {"answer": "reference_claims_by_answer", "references": "reference_claims"},
    "supported": {"answer": "claims", "contexts": ""},
    "retrieved": {"references": "reference_claims", "contexts": ""},
}
"""Labels -> the fields that they need, and what the example can carry in place of them ("": nothing)."""

_CARRIED_IN: dict[_Kind, str] = {
    "right": "claims_by_reference",
    "recalled": "reference_claims_by_answer",
    "supported": "claims_by_contexts",
    "retrieved": "reference_claims_by_contexts",
}
_CARRIED = "carried by the example"
_OF_ANSWER: frozenset[_Kind] = frozenset({"right", "supported"})
_OF_REFERENCE: frozenset[_Kind] = frozenset({"recalled", "retrieved"})

NEEDS = {
    part: tuple(
        field
        for field in ("answer", "references", "contexts")
        if any(field in _REPLACED_BY[kind] for kind in kinds)
    )
    for part, kinds in LABELS.items()
}


def _carries(example: Example, _params: RagCheckerParams, part: str) -> set[str]:
    """The fields that a score needs and that what the example carries replaces."""
    return {
        field
        for field in NEEDS[part]
        if all(
            getattr(example, _REPLACED_BY[kind][field] or "_", None) is not None
            for kind in LABELS[part]
            if field in _REPLACED_BY[kind]
        )
    }


def _kinds(example: Example, parts: Collection[str]) -> set[_Kind]:
    """The labels that scores are made of; with those of f1 where it decides which of several references counts."""
    kinds = {kind for part in parts for kind in LABELS[part]}
    if len(example.references) > 1 and example.answer is not None and kinds != {"supported"}:
        kinds |= set(LABELS["f1"])
    return kinds


# Calls -------------------------------------------------------------------------------------------------------------

Result = TypeVar("Result")
Claims = Sequence[str]


@dataclass(frozen=True, slots=True)
class _Labelled:
    """The labels of an answer with one reference, of the kinds that were wanted, or why there are none."""

    labels: Mapping[_Kind, Any]
    passages: int
    probabilities: Mapping[_Kind, Mapping[str, float]] = field(default_factory=dict)
    """Of each kind that was asked for, claim -> the probability that it is entailed, by the passage that most entails
    it; claims without one are left out."""
    sent: Mapping[str, str] = field(default_factory=dict)
    """Claim -> what was checked in its place."""

    @property
    def checks(self) -> Checks:
        labels: dict[str, Any] = {
            kind: None if isinstance(some, NoScore) else some
            for kind, some in {**dict.fromkeys(KINDS), **self.labels}.items()
        }
        return Checks(**labels, passages=self.passages)

    def failure(self, kinds: Sequence[_Kind]) -> NoScore | None:
        """Why the first of these kinds that has no labels has none."""
        return next(
            (some for kind in kinds if isinstance(some := self.labels.get(kind), NoScore)), None
        )


async def score(
    example: Example, models: Models, params: RagCheckerParams, parts: Collection[str]
) -> dict[str, Score | NoScore]:
    """The scores of these parts of the name."""
    kinds = _kinds(example, parts)
    answer_claims_or_reason: Claims | NoScore = ()
    expected: Sequence[Claims] | NoScore = ()
    of_answer = bool(kinds & _OF_ANSWER)
    of_reference = bool(kinds & _OF_REFERENCE)
    steps: list[Callable[[], Awaitable[Any]]] = (
        [lambda: answer_claims(models, example)] if of_answer else []
    )
    steps += [lambda: reference_claims(models, example)] if of_reference else []
    lists = await concurrently(_attempt, steps)
    if of_answer:
        answer_claims_or_reason = lists[0]
    if of_reference:
        expected = lists[-1]
    labelled, checker = await _label(
        example, models, params, answer_claims_or_reason, expected, kinds
    )
    of_each = [ragchecker_scores(labels_of_reference.checks) for labels_of_reference in labelled]
    best = max(
        range(len(labelled)),
        key=lambda k: -1.0 if isinstance(f1 := of_each[k]["f1"], NoScore) else f1,
    )
    expected_of_best = () if isinstance(expected, NoScore) or not expected else expected[best]
    claims = () if isinstance(answer_claims_or_reason, NoScore) else answer_claims_or_reason
    evidence_of_part = _evidence(labelled[best], claims, expected_of_best)
    results: dict[str, Score | NoScore] = {}
    for part in parts:
        if (failure := labelled[best].failure(LABELS[part])) is not None:
            results[part] = failure
            continue
        carried = all(getattr(example, _CARRIED_IN[kind]) is not None for kind in LABELS[part])
        evidence: dict[str, Any] = {"checker": _CARRIED if carried or checker is None else checker}
        if len(example.references) > 1 and "references" in NEEDS[part]:
            evidence["reference"] = example.references[best]
        evidence |= evidence_of_part[part]
        value = of_each[best][part]
        if not isinstance(value, NoScore):
            results[part] = Score(value, evidence)
        elif value.status == "undefined" and params.empty == "zero":
            results[part] = Score(
                0.0, {**evidence, "rule": f"{value.reason} It is scored 0 by empty=zero."}
            )
        else:
            results[part] = NoScore(value.status, value.reason, evidence)
    return results


async def _attempt(step: Callable[[], Awaitable[Result]]) -> Result | NoScore:
    """What a step gives, or why it gives nothing: other scores do without it."""
    try:
        return await step()
    except NoScore as unscored:
        return unscored
    except (ModelError, OverBudget) as error:
        return NoScore(error.status, str(error))


async def _label(
    example: Example,
    models: Models,
    params: RagCheckerParams,
    answer_list: Claims | NoScore,
    expected: Sequence[Claims] | NoScore,
    kinds: Collection[_Kind],
) -> tuple[list[_Labelled], str | None]:
    """The labels with each reference (one result without any), and the checker, None where it was not asked. own: the
    claims of the answer; expected: those of each reference. Labels that the example carries are not asked for."""
    passages = [context.text for context in example.contexts]
    to_ask = {kind for kind in kinds if getattr(example, _CARRIED_IN[kind]) is None}
    own_claims = () if isinstance(answer_list, NoScore) else answer_list
    all_expected = () if isinstance(expected, NoScore) else expected
    by_passages: dict[str, Claims] = {}  # kind -> the claims that each passage is asked about
    if "supported" in to_ask:
        by_passages["supported"] = list(dict.fromkeys(own_claims))
    if "retrieved" in to_ask:
        by_passages["retrieved"] = list(
            dict.fromkeys(claim for claims in all_expected for claim in claims)
        )
    questions: dict[tuple[str, int], tuple[str, Claims]] = {
        (kind, d): (passage, claims)
        for kind, claims in by_passages.items()
        for d, passage in enumerate(passages)
    }
    if "right" in to_ask:
        questions |= {
            ("right", k): (reference, own_claims) for k, reference in enumerate(example.references)
        }
    if "recalled" in to_ask:
        questions |= {
            ("recalled", k): (example.answer or "", claims) for k, claims in enumerate(all_expected)
        }
    needed_keys = [
        key for key, (premise, hypotheses) in questions.items() if premise.strip() and hypotheses
    ]
    checker: Checker | NoScore | None = None
    if needed_keys:
        try:
            checker = checker_of(models, params.batch)
        except NoScore as missing:
            checker = missing

    sent: dict[
        str, str
    ] = {}  # of equal claims of the answer and a reference, that of the answer counts
    for reference, claims in zip(example.references, all_expected, strict=False):
        sent |= sent_with(checker, claims, reference, example.asked)
    sent |= sent_with(checker, own_claims, example.answer or "", example.asked)
    probabilities: dict[
        str, dict[str, float]
    ] = {}  # the question's kind and number -> claim -> probability

    async def labels_of(key: tuple[str, int]) -> list[str]:
        assert checker is not None
        if isinstance(checker, NoScore):
            raise checker
        premise, claims = questions[key]
        relations = await checker.relations(premise, [sent.get(claim, claim) for claim in claims])
        name = key[0] if key[0] in by_passages else f"{key[0]} {key[1]}"
        greatest = probabilities.setdefault(name, {})
        for claim, relation in zip(claims, relations, strict=True):
            if relation.entails is not None:
                greatest[claim] = max(relation.entails, greatest.get(claim, 0.0))
        return [relation.label for relation in relations]

    async def labels_together(keys: list[tuple[str, int]]) -> list[list[str]]:
        """The labels of one list of claims by several passages, which a call shows together."""
        assert isinstance(checker, JudgeChecker)
        claims = questions[keys[0]][1]
        texts = [questions[key][0] for key in keys]
        numbers = await checker.entailing(texts, [sent.get(claim, claim) for claim in claims])
        return [
            [ENTAILS if d in entailing else NEUTRAL for entailing in numbers]
            for d in range(len(keys))
        ]

    calls = [[key] for key in needed_keys]
    if params.plan == "joint" and isinstance(checker, JudgeChecker):
        calls = [[key] for key in needed_keys if key[0] not in by_passages]
        for kind in by_passages:
            keys = [key for key in needed_keys if key[0] == kind]
            sizes = passage_groups([questions[key][0] for key in keys])
            calls += [[keys[d] for d in group] for group in sizes]

    async def labels_of_call(keys: list[tuple[str, int]]) -> list[list[str]]:
        return [await labels_of(keys[0])] if len(keys) == 1 else await labels_together(keys)

    replies: dict[tuple[str, int], list[str] | NoScore]
    replies = {key: [NEUTRAL] * len(hypotheses) for key, (_, hypotheses) in questions.items()}
    results = await concurrently(lambda keys: _attempt(lambda: labels_of_call(keys)), calls)
    for keys, result in zip(calls, results, strict=True):
        replies |= zip(
            keys,
            [result] * len(keys) if isinstance(result, NoScore) else result,
            strict=True,
        )

    def by_passage(kind: str, claims: Claims) -> list[list[str]] | NoScore | None:
        of_all_passages = [replies[kind, d] for d in range(len(passages))]
        if failure := next(
            (reply for reply in of_all_passages if isinstance(reply, NoScore)), None
        ):
            return failure
        tables = [
            dict(zip(by_passages[kind], reply, strict=True))
            for reply in of_all_passages
            if isinstance(reply, list)
        ]
        return [[table[claim] for table in tables] for claim in claims] if passages else None

    def of_kind(kind: _Kind, k: int) -> Any:
        claims = answer_list if kind in _OF_ANSWER else expected
        if isinstance(claims, NoScore):
            return claims
        if kind not in to_ask:
            return getattr(example, _CARRIED_IN[kind])
        if kind == "supported":
            return by_passage(kind, own_claims)
        if kind == "retrieved":
            return by_passage(kind, all_expected[k]) if all_expected else None
        return replies.get((kind, k))

    count = max(1, len(all_expected), len(example.references))

    def probable(kind: _Kind, k: int) -> Mapping[str, float]:
        return probabilities.get(kind if kind in by_passages else f"{kind} {k}", {})

    labelled = [
        _Labelled(
            {kind: of_kind(kind, k) for kind in kinds},
            len(passages),
            {kind: probable(kind, k) for kind in to_ask},
            sent,
        )
        for k in range(count)
    ]
    return labelled, None if checker is None or isinstance(checker, NoScore) else checker.name


def _shares(example: Example, parts: Collection[str] = tuple(LABELS)) -> dict[str, int]:
    kinds = _kinds(example, parts)
    shares = answer_calls(example) if kinds & _OF_ANSWER else {}
    return shares | (reference_calls(example) if kinds & _OF_REFERENCE else {})


def _calls(
    example: Example, params: RagCheckerParams, _judges: int, parts: Collection[str] = tuple(LABELS)
) -> int:
    return sum(_shares(example, parts).values()) + _checks(example, params, parts)


def _checks(
    example: Example, params: RagCheckerParams, parts: Collection[str] = tuple(LABELS)
) -> int:
    by_passages, by_others = _checked(example, parts)
    passages = [context.text for context in example.contexts]
    calls = 0
    for claims in by_passages:
        if params.plan == "joint":
            calls += joint_calls(passages, claims, params.batch)
        else:
            calls += sum(relation_calls(passage, claims, params.batch) for passage in passages)
    return calls + sum(relation_calls(text, claims, params.batch) for text, claims in by_others)


def _pairs_checked(
    example: Example, _params: RagCheckerParams, parts: Collection[str] = tuple(LABELS)
) -> int:
    by_passages, by_others = _checked(example, parts)
    passages = sum(bool(context.text.strip()) for context in example.contexts)
    return passages * sum(by_passages) + sum(claims for text, claims in by_others if text.strip())


def _checked(example: Example, parts: Collection[str]) -> tuple[list[int], list[tuple[str, int]]]:
    """How many claims of the answer and of the reference are checked against all passages, and each other text with
    how many are checked against it. The claims are not known before the first call; there are about as many as
    sentences."""
    kinds = {kind for kind in _kinds(example, parts) if getattr(example, _CARRIED_IN[kind]) is None}
    own_count = len(
        example.claims if example.claims is not None else sentences(example.answer or "")
    )
    if example.reference_claims is not None:
        expected = [len(example.reference_claims)]
    else:
        expected = [len(sentences(reference)) for reference in example.references]
    counts = (("supported", own_count), ("retrieved", sum(expected)))
    by_others = []
    if "right" in kinds:
        by_others += [(reference, own_count) for reference in example.references]
    if "recalled" in kinds:
        by_others += [(example.answer or "", claims) for claims in expected]
    return [claims for kind, claims in counts if kind in kinds], by_others


# Evidence ----------------------------------------------------------------------------------------------------------


def _evidence(
    labelled: _Labelled, answer_list: Sequence[str], expected: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Part of the name -> what a reader needs to check it. precision and recall have all claims with their labels, the
    other scores those claims that their numerator counts; faithfulness and claim_recall those that it does not."""
    checks = labelled.checks
    probabilities = labelled.probabilities
    mine = _rows(answer_list, "reference", checks.right, checks.supported)
    theirs = _rows(expected, "answer", checks.recalled, checks.retrieved)
    rows_of_kind: tuple[tuple[list[dict[str, Any]], str, _Kind], ...] = (
        (mine, "reference_probability", "right"),
        (mine, "passages_probability", "supported"),
        (theirs, "answer_probability", "recalled"),
        (theirs, "passages_probability", "retrieved"),
    )
    for rows, name, kind in rows_of_kind:
        for row in rows:
            if (probability := probabilities.get(kind, {}).get(row["claim"])) is not None:
                row[name] = round(probability, 4)
    for row in (*mine, *theirs):
        if row["claim"] in labelled.sent:
            row["sent"] = labelled.sent[row["claim"]]
    relevant = {d for row in theirs for d in row["passages"]}
    wrong = [row for row in mine if row["reference"] != ENTAILS]
    noise = [row for row in wrong if row["passages"]]
    in_relevant = [row for row in noise if relevant & set(row["passages"])]
    rows_of_part: dict[str, list[dict[str, Any]]] = {
        "precision": mine,
        "noise_sensitivity_in_relevant": in_relevant,
        "noise_sensitivity_in_irrelevant": [row for row in noise if row not in in_relevant],
        "hallucination": [row for row in wrong if not row["passages"]],
        "self_knowledge": [
            row for row in mine if row["reference"] == ENTAILS and not row["passages"]
        ],
        "faithfulness": [row for row in mine if not row["passages"]],
    }
    of_reference = {
        "recall": theirs,
        "claim_recall": [row for row in theirs if not row["passages"]],
        "context_utilization": [
            row for row in theirs if row["passages"] and row["answer"] == ENTAILS
        ],
    }
    part_evidence: dict[str, dict[str, Any]] = {
        "f1": {}
        if answer_list
        else {"rule": "the answer has no claim, so no true positive: 2 TP / (2 TP + FP + FN) is 0"},
        "context_precision": {"relevant_passages": sorted(relevant)},
    }
    part_evidence |= {
        name: {"claims": rows, "claims_in_total": len(answer_list)}
        for name, rows in rows_of_part.items()
    }
    part_evidence |= {
        name: {"reference_claims": rows, "claims_in_total": len(expected)}
        for name, rows in of_reference.items()
    }
    return part_evidence


def _rows(
    statements: Sequence[str], by: str, labels: Labels | None, by_passage: Sequence[Labels] | None
) -> list[dict[str, Any]]:
    """Each claim with its label by the reference or the answer, and the numbers of the passages that entail it, as far
    as these labels are known."""
    return [
        {
            "claim": claim,
            by: None if labels is None else labels[i],
            "passages": [d for d, label in enumerate(by_passage[i], 1) if label == ENTAILS]
            if by_passage
            else [],
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
    "context_utilization": _spec(
        "The share of the reference's claims in the passages that the answer entails."
    ),
    "noise_sensitivity_in_relevant": _spec(
        "The share of the answer's claims that are not right and are entailed by a relevant passage.",
        False,
        _WRONG,
    ),
    "noise_sensitivity_in_irrelevant": _spec(
        "The share of the answer's claims that are not right and are entailed by irrelevant passages only.",
        False,
        _WRONG,
    ),
    "hallucination": _spec(
        "The share of the answer's claims that neither the reference nor a passage entails.",
        False,
        _UNSUPPORTED,
    ),
    "self_knowledge": _spec(
        "The share of the answer's claims that the reference entails and no passage does.", None
    ),
    "faithfulness": _spec(
        "The share of the answer's claims that a passage entails.", why=_UNSUPPORTED
    ),
}

METRIC = Metric(
    score,
    needs=NEEDS,
    carries=_carries,
    scores=SPECS,
    by_part=True,
    models=("judge", "checker"),
    optional=("judge", "checker"),
    default_checker="embedded",
    prompts=(CLAIMS, *PROMPTS, JOINT),
    params=RagCheckerParams,
    version=4,
    calls=_calls,
    rounds=2,
    checks=_checks,
    relations=_pairs_checked,
    shares=_shares,
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

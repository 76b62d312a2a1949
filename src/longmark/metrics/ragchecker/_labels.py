"""The labels of claims: which pairs are asked for, of whom, and what came of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from longmark.concurrency import concurrently
from longmark.errors import ModelError, NoScore, OverBudget
from longmark.metrics.ragchecker._parts import (
    CARRIED_IN,
    KINDS,
    OF_ANSWER,
    Kind,
    RagCheckerParams,
)
from longmark.metrics.ragchecker._scores import Checks
from longmark.models.handles import Models
from longmark.records import Example
from longmark.text.context import sent_with
from longmark.text.entailment import (
    ENTAILS,
    NEUTRAL,
    Checker,
    JudgeChecker,
    checker_of,
    passage_groups,
)

Result = TypeVar("Result")
Claims = Sequence[str]


@dataclass(frozen=True, slots=True)
class LabelledAnswer:
    """The labels of an answer with one reference, of the kinds that were wanted, or why there are none."""

    labels: Mapping[Kind, Any]
    passages: int
    probabilities: Mapping[Kind, Mapping[str, float]] = field(default_factory=dict)
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

    def failure(self, kinds: Sequence[Kind]) -> NoScore | None:
        """Why the first of these kinds that has no labels has none."""
        return next(
            (some for kind in kinds if isinstance(some := self.labels.get(kind), NoScore)), None
        )


async def attempt(step: Callable[[], Awaitable[Result]]) -> Result | NoScore:
    """What a step gives, or why it gives nothing: other scores do without it."""
    try:
        return await step()
    except NoScore as unscored:
        return unscored
    except (ModelError, OverBudget) as error:
        return NoScore(error.status, str(error))


async def label_claims(
    example: Example,
    models: Models,
    params: RagCheckerParams,
    answer_list: Claims | NoScore,
    expected: Sequence[Claims] | NoScore,
    kinds: Collection[Kind],
) -> tuple[list[LabelledAnswer], str | None]:
    """The labels with each reference (one result without any), and the checker, None where it was not asked.
    answer_list: the claims of the answer; expected: those of each reference. Labels that the example carries are not
    asked for."""
    passages = [context.text for context in example.contexts]
    to_ask = {kind for kind in kinds if getattr(example, CARRIED_IN[kind]) is None}
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
    results = await concurrently(lambda keys: attempt(lambda: labels_of_call(keys)), calls)
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

    def of_kind(kind: Kind, k: int) -> Any:
        claims = answer_list if kind in OF_ANSWER else expected
        if isinstance(claims, NoScore):
            return claims
        if kind not in to_ask:
            return getattr(example, CARRIED_IN[kind])
        if kind == "supported":
            return by_passage(kind, own_claims)
        if kind == "retrieved":
            return by_passage(kind, all_expected[k]) if all_expected else None
        return replies.get((kind, k))

    count = max(1, len(all_expected), len(example.references))

    def probable(kind: Kind, k: int) -> Mapping[str, float]:
        return probabilities.get(kind if kind in by_passages else f"{kind} {k}", {})

    labelled = [
        LabelledAnswer(
            {kind: of_kind(kind, k) for kind in kinds},
            len(passages),
            {kind: probable(kind, k) for kind in to_ask},
            sent,
        )
        for k in range(count)
    ]
    return labelled, None if checker is None or isinstance(checker, NoScore) else checker.name

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
    """Claim of the answer -> what was checked in its place."""
    sent_of_references: Mapping[str, str] = field(default_factory=dict)
    """The same of the claims of the references."""

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
    labelling = _Labelling(example, answer_list, expected, kinds)
    labelling.choose_checker(models, params)
    await labelling.ask(labelling.calls(params))
    return labelling.results(), labelling.checker_name


def list_of_reference(expected: Sequence[Claims], k: int) -> int:
    """The place of the claims of a reference: a list that the example carries holds those of all its references."""
    return min(k, len(expected) - 1)


Key = tuple[str, int]
"""A question: its kind, and the place of its passage or reference."""


class _Labelling:
    """The labels of one answer, step by step: what is to be asked, of whom, in which calls, and what came of it."""

    def __init__(
        self,
        example: Example,
        answer_list: Claims | NoScore,
        expected: Sequence[Claims] | NoScore,
        kinds: Collection[Kind],
    ) -> None:
        self.example = example
        self.answer_list = answer_list
        self.expected = expected
        self.kinds = kinds
        self.passages = [context.text for context in example.contexts]
        self.to_ask = {kind for kind in kinds if getattr(example, CARRIED_IN[kind]) is None}
        self.own_claims = () if isinstance(answer_list, NoScore) else answer_list
        self.all_expected = () if isinstance(expected, NoScore) else expected
        self.by_passages = self._claims_by_passages()
        self.questions = self._questions()
        self.checker: Checker | NoScore | None = None
        # claims of the answer and of the references -> what the checker is sent in their place: an equal claim may stand
        # behind another sentence, and what is found of a reference must not depend on the answer
        self.sent: Mapping[str, str] = {}
        self.sent_of_references: dict[str, str] = {}
        # of a question's kind and number: claim -> probability
        self.probabilities: dict[str, dict[str, float]] = {}
        # a question without a text or a claim entails nothing, and is not asked
        self.replies: dict[Key, list[str] | NoScore] = {
            key: [NEUTRAL] * len(hypotheses) for key, (_, hypotheses) in self.questions.items()
        }

    def _claims_by_passages(self) -> dict[str, Claims]:
        """Kind -> the claims that each passage is asked about."""
        claims_by_kind: dict[str, Claims] = {}
        if "supported" in self.to_ask:
            claims_by_kind["supported"] = list(dict.fromkeys(self.own_claims))
        if "retrieved" in self.to_ask:
            every = (claim for claims in self.all_expected for claim in claims)
            claims_by_kind["retrieved"] = list(dict.fromkeys(every))
        return claims_by_kind

    def _questions(self) -> dict[Key, tuple[str, Claims]]:
        """The text and the claims of each question."""
        questions: dict[Key, tuple[str, Claims]] = {
            (kind, d): (passage, claims)
            for kind, claims in self.by_passages.items()
            for d, passage in enumerate(self.passages)
        }
        if "right" in self.to_ask:
            for k, reference in enumerate(self.example.references):
                questions["right", k] = reference, self.own_claims
        if "recalled" in self.to_ask:
            for k, claims in enumerate(self.all_expected):
                questions["recalled", k] = self.example.answer or "", claims
        return questions

    @property
    def _asked_keys(self) -> list[Key]:
        return [
            key
            for key, (premise, hypotheses) in self.questions.items()
            if premise.strip() and hypotheses
        ]

    @property
    def checker_name(self) -> str | None:
        checker = self.checker
        return None if checker is None or isinstance(checker, NoScore) else checker.name

    def choose_checker(self, models: Models, params: RagCheckerParams) -> None:
        """The checker, if there is something to ask, and what it is sent in place of a claim."""
        if self._asked_keys:
            try:
                self.checker = checker_of(models, params.batch)
            except NoScore as missing:
                self.checker = missing
        example = self.example
        for reference, claims in zip(example.references, self.all_expected, strict=False):
            self.sent_of_references |= sent_with(self.checker, claims, reference, example.asked)
        self.sent = sent_with(self.checker, self.own_claims, example.answer or "", example.asked)

    def calls(self, params: RagCheckerParams) -> list[list[Key]]:
        """The questions of each call: one, or several passages that a judge is shown together."""
        keys_asked = self._asked_keys
        if params.plan != "joint" or not isinstance(self.checker, JudgeChecker):
            return [[key] for key in keys_asked]
        calls = [[key] for key in keys_asked if key[0] not in self.by_passages]
        for kind in self.by_passages:
            keys = [key for key in keys_asked if key[0] == kind]
            sizes = passage_groups([self.questions[key][0] for key in keys])
            calls += [[keys[d] for d in group] for group in sizes]
        return calls

    async def ask(self, calls: Sequence[list[Key]]) -> None:
        """Notes the reply of each call, or why there is none."""
        results = await concurrently(lambda keys: attempt(lambda: self._labels_of(keys)), calls)
        for keys, result in zip(calls, results, strict=True):
            labels = [result] * len(keys) if isinstance(result, NoScore) else result
            self.replies |= zip(keys, labels, strict=True)

    async def _labels_of(self, keys: list[Key]) -> list[list[str]]:
        return [await self._alone(keys[0])] if len(keys) == 1 else await self._together(keys)

    async def _alone(self, key: Key) -> list[str]:
        checker = self.checker
        assert checker is not None
        if isinstance(checker, NoScore):
            raise checker
        premise, claims = self.questions[key]
        relations = await checker.relations(premise, self._as_sent(key[0], claims))
        greatest = self.probabilities.setdefault(self._name(*key), {})
        for claim, relation in zip(claims, relations, strict=True):
            if relation.entails is not None:
                greatest[claim] = max(relation.entails, greatest.get(claim, 0.0))
        return [relation.label for relation in relations]

    async def _together(self, keys: list[Key]) -> list[list[str]]:
        """The labels of one list of claims by several passages, which a call shows together."""
        assert isinstance(self.checker, JudgeChecker)
        claims = self.questions[keys[0]][1]
        texts = [self.questions[key][0] for key in keys]
        numbers = await self.checker.entailing(texts, self._as_sent(keys[0][0], claims))
        return [
            [ENTAILS if d in entailing else NEUTRAL for entailing in numbers]
            for d in range(len(keys))
        ]

    def _as_sent(self, kind: str, claims: Claims) -> list[str]:
        sent = self.sent if kind in OF_ANSWER else self.sent_of_references
        return [sent.get(claim, claim) for claim in claims]

    def _name(self, kind: str, number: int) -> str:
        return kind if kind in self.by_passages else f"{kind} {number}"

    def results(self) -> list[LabelledAnswer]:
        """The labels with each reference."""
        count = max(1, len(self.all_expected), len(self.example.references))
        return [
            LabelledAnswer(
                {kind: self._of_kind(kind, k) for kind in self.kinds},
                len(self.passages),
                {kind: self.probabilities.get(self._name(kind, k), {}) for kind in self.to_ask},
                self.sent,
                self.sent_of_references,
            )
            for k in range(count)
        ]

    def _of_kind(self, kind: Kind, k: int) -> Any:
        claims = self.answer_list if kind in OF_ANSWER else self.expected
        if isinstance(claims, NoScore):
            return claims
        if kind not in self.to_ask:
            return getattr(self.example, CARRIED_IN[kind])
        if kind == "supported":
            return self._by_passage(kind, self.own_claims)
        if kind == "right":
            return self.replies.get((kind, k))
        if not self.all_expected:
            return None
        place = list_of_reference(self.all_expected, k)
        if kind == "retrieved":
            return self._by_passage(kind, self.all_expected[place])
        return self.replies.get((kind, place))

    def _by_passage(self, kind: str, claims: Claims) -> list[list[str]] | NoScore | None:
        """Of each claim its label by each passage."""
        of_all_passages = [self.replies[kind, d] for d in range(len(self.passages))]
        failures = (reply for reply in of_all_passages if isinstance(reply, NoScore))
        if failure := next(failures, None):
            return failure
        tables = [
            dict(zip(self.by_passages[kind], reply, strict=True))
            for reply in of_all_passages
            if isinstance(reply, list)
        ]
        return [[table[claim] for table in tables] for claim in claims] if self.passages else None

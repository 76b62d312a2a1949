"""Whether a text entails or contradicts a statement, or leaves it open. Several families of metrics use these
relations.

A premise is a statement or a passage, and a hypothesis is a statement. A relation has a direction: the two directions
of a pair are independent. A premise that exceeds the input length of a checker is split, and the relations of the
parts are combined by `any_part`.

`checker_of` gives the checker of a run: the judge (as in the papers), or what `--checker` names.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.judge import (
    TOP_LOGPROBS,
    Reader,
    ask,
    choice,
    expected,
    numbered,
    numbered_apart,
)
from longmark.models.handles import ChatHandle, Models
from longmark.models.protocols import Chat, ChatReply, RelationModel
from longmark.prompts import prompt
from longmark.text.citations import without_markers
from longmark.text.pieces import groups, pieces, utf8_size
from longmark.text.relation_replies import labelled_premises, listed_labels, passage_numbers

ENTAILS, CONTRADICTS, NEUTRAL = LABELS = ("entails", "contradicts", "neutral")

PREMISE = 8000  # bytes of a premise in one call of a judge, about 2,000 tokens
BATCH = 25  # hypotheses in one call of a judge
_HYPOTHESES = 6000  # bytes of them

RELATIONS = prompt("""relations(premise, statements)
Say of each numbered statement what the premise alone shows about it:
entails: a reader who knows nothing but the premise must take the statement to be true.
contradicts: the statement cannot be true if the premise is.
neutral: anything else; the premise leaves open whether the statement is true, or shows only a part of it.
Take the statements one by one, each without the others. Use nothing that you know beyond the premise.
Reply with a JSON object and nothing else: the number of each statement with its label, in this form: $form""")
RELATION = prompt("""relation(premise, statement)
Say what the premise alone shows about the statement:
E: a reader who knows nothing but the premise must take the statement to be true.
C: the statement cannot be true if the premise is.
N: anything else; the premise leaves open whether the statement is true, or shows only a part of it.
Use nothing that you know beyond the premise. Reply with one letter, E, C or N, and nothing else.""")
JOINT = prompt("""relations.joint(context, statements)
The context holds numbered passages. Say of each numbered statement which passages entail it. A passage entails a \
statement if a reader who knows nothing but this one passage must take the statement to be true. It does not if it \
contradicts the statement, leaves open whether it is true, or shows only a part of it.
Take the passages one by one, each without the others, and the statements one by one. Use nothing that you know beyond \
the passage.
Reply with a JSON object and nothing else. It has one key for each number of a statement. The value is the list of the \
numbers of the passages that entail it, in this form: $form""")
PREMISES = prompt("""relations.premises(context, statements)
The context holds numbered premises. Say of each numbered statement which premises show something about it:
entails: a reader who knows nothing but this one premise must take the statement to be true.
contradicts: the statement cannot be true if the premise is.
Leave out every premise that leaves open whether the statement is true, or shows only a part of it.
Take the premises one by one, each without the others, and the statements one by one. Use nothing that you know beyond \
the premise.
Reply with a JSON object and nothing else. It has one key for each number of a statement. The value lists the numbers \
of the premises that entail or contradict it, each with its label, in this form: $form""")
PROMPTS = (RELATIONS, RELATION)
SHOWN = 16  # premises in one call of `JudgeChecker.of_premises`
_JOINT = 16_000  # bytes of the passages in one call, about 4,000 tokens

_LETTERS = dict(zip("ecn", LABELS, strict=True))


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation of a premise to a hypothesis. label: one of LABELS. entails, contradicts, neutral: the probability
    of each label, in [0, 1]; None if the checker gives no probabilities."""

    label: str
    entails: float | None = None
    contradicts: float | None = None
    neutral: float | None = None

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise ValueError(f"label: expected one of {', '.join(LABELS)}, found {self.label!r}")

    @classmethod
    def of(cls, entails: float, contradicts: float, neutral: float) -> Relation:
        """The relation with the greatest probability; of equal ones the weaker claim: neutral, then contradicts."""
        ranked = ((neutral, NEUTRAL), (contradicts, CONTRADICTS), (entails, ENTAILS))
        label = max(ranked, key=lambda probability_of_label: probability_of_label[0])[1]
        return cls(label, entails, contradicts, neutral)


class Checker(Protocol):
    """Decides relations. name: as it stands in the evidence.

    May have `threshold`: the probability of `entails` from which on that is the label; and `context`: whether a claim
    that points back goes to it behind what stands before it (`text.context`); and `contradicts`: False for one that
    never finds a contradiction (`finds_contradictions`).
    A checker that is no judge is a backend too: it has `identity`, `capabilities`, `width` and `close`
    (`models.protocols.Backend`), so that it can be given to a run.
    """

    @property
    def name(self) -> str: ...

    async def relations(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        """The relation of a premise to each hypothesis, in their order; an empty list without hypotheses.

        Raises NoScore (`unparsable`, `refused`) if a judge's labels cannot be read, and ModelError.
        """
        ...


def finds_contradictions(checker: object) -> bool:
    """Whether a checker can find a contradiction. One that says only whether a claim is supported finds none, which
    does not show that there is none."""
    return bool(getattr(checker, "contradicts", True))


def any_part(parts: Sequence[Relation]) -> Relation:
    """The relation of a premise from those of its parts: entails if any part entails, else contradicts if any part
    contradicts, else neutral. The probabilities are those of the part that decides: of equal labels, the part with the
    greatest probability of that label; of neutral ones, the part with the greatest probability of `entails`.

    ValueError without parts.
    """
    if not parts:
        raise ValueError("a premise has at least one part")

    def rank(part: Relation) -> tuple[int, float]:
        probability = part.contradicts if part.label == CONTRADICTS else part.entails
        weakness = (ENTAILS, CONTRADICTS, NEUTRAL).index(part.label)
        return -weakness, probability if probability is not None else 0.0

    return max(parts, key=rank)


def checker_of(models: Models, batch: int = BATCH) -> Checker:
    """What decides entailment in a run: what `--checker` named, else the first judge.

    batch: hypotheses in one call of a judge; 1: one pair a call, with probabilities where the judge gives
    log-probabilities. NoScore (`missing_input`) where there is neither a checker nor a judge.
    """
    named_checker = models.checker
    calibration = models.backends.calibration
    if named_checker is None:
        if not models.judges:
            raise NoScore(
                "missing_input",
                "The example carries no entailment labels and no model can decide them: add --judge or --checker "
                "(embedded, after `longmark models install judge embedder`, or overlap, which needs no model).",
            )
        return JudgeChecker(models, models.judges[0], batch)
    if isinstance(named_checker, RelationModel):
        checker: Checker = ModelChecker(models, named_checker)
    elif hasattr(named_checker, "relations"):
        checker = cast(Checker, named_checker)
    else:
        checker = JudgeChecker(
            models, ChatHandle(cast(Chat, named_checker), models.client, models.usage_log), batch
        )
    return checker if calibration is None else cast(Checker, calibration.around(checker))


# Checkers ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class JudgeChecker:
    """A chat model that is asked: one premise and up to `batch` hypotheses in a call, at temperature 0. longest_premise:
    bytes; a longer one is read in parts."""

    models: Models
    judge: ChatHandle
    batch: int = BATCH
    longest_premise: int = PREMISE

    @property
    def name(self) -> str:
        return self.judge.name

    async def relations(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        if self.batch == 1:
            return await _in_parts(premise, hypotheses, self.longest_premise, self._one_by_one)
        return await _in_parts(premise, hypotheses, self.longest_premise, self._together)

    async def entailing(
        self, passages: Sequence[str], hypotheses: Sequence[str]
    ) -> list[frozenset[int]]:
        """The numbers, from 0, of the passages that entail each hypothesis, in one call that shows all passages."""
        context = numbered_apart(passages)

        async def of_group(group: list[str]) -> list[frozenset[int]]:
            texts = {
                "context": context,
                "statements": _listed(group),
                "form": '{"1": [2], "2": [], …}',
            }
            reader = passage_numbers(len(group), len(passages))
            return (await ask(self.models, self.judge, JOINT, texts, reader)).value

        by_group = await concurrently(of_group, groups(hypotheses, _HYPOTHESES, self.batch))
        return [numbers for of_each in by_group for numbers in of_each]

    async def of_premises(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> list[list[Relation]]:
        """By premise, the relation to each hypothesis; a call shows up to 16 premises and `batch` hypotheses."""
        shown_together = [
            group[start : start + SHOWN]
            for group in passage_groups(premises)
            for start in range(0, len(group), SHOWN)
        ]

        async def of_group(group: list[int]) -> list[list[Relation]]:
            return await self._of_shown(
                [premises[number] for number in group],
                hypotheses,
            )

        by_group = await concurrently(of_group, shown_together)
        return [relations for of_each in by_group for relations in of_each]

    async def _of_shown(
        self, premises: Sequence[str], hypotheses: Sequence[str]
    ) -> list[list[Relation]]:
        """As `of_premises`, with all premises in each call; one that is longer than a call is read in parts."""
        if len(premises) == 1:
            return [await self.relations(premises[0], hypotheses)]
        context = numbered(" ".join(premise.split()) for premise in premises)

        async def of_group(group: list[str]) -> list[dict[int, str]]:
            texts = {
                "context": context,
                "statements": _listed(group),
                "form": '{"1": ["2 entails"], "2": [], "3": ["1 contradicts", "4 entails"], …}',
            }
            reader = labelled_premises(
                len(group),
                len(premises),
                LABELS,
            )
            return (await ask(self.models, self.judge, PREMISES, texts, reader)).value

        by_group = await concurrently(of_group, groups(hypotheses, _HYPOTHESES, self.batch))
        labels_of_hypotheses = [labels for of_each in by_group for labels in of_each]
        return [
            [Relation(labels.get(place, NEUTRAL)) for labels in labels_of_hypotheses]
            for place in range(len(premises))
        ]

    async def _together(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        async def of_group(group: list[str]) -> list[str]:
            texts = {
                "premise": premise,
                "statements": _listed(group),
                "form": '{"labels": ["1 neutral", "2 entails", …]}',
            }
            reader = listed_labels(len(group), LABELS)
            return (await ask(self.models, self.judge, RELATIONS, texts, reader)).value

        labels_of_groups = await concurrently(of_group, groups(hypotheses, _HYPOTHESES, self.batch))
        return [Relation(label) for labels in labels_of_groups for label in labels]

    async def _one_by_one(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        async def of_pair(hypothesis: str) -> Relation:
            texts = {"premise": premise, "statement": hypothesis}
            return (await ask(self.models, self.judge, RELATION, texts, _PAIR)).value

        return await concurrently(of_pair, hypotheses)


@dataclass(frozen=True, slots=True)
class ModelChecker:
    """A classifier of pairs (`st:MODEL`, the built-in claim checker), with probabilities. One with
    `leaves_out_citations` reads claims without citation marks: [1] is no claim, and a model that was trained on claims
    without marks takes it for one that nothing supports (design/claim-checker-measured.md)."""

    models: Models
    model: RelationModel

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def context(self) -> bool:
        return getattr(self.model, "context", False)

    @property
    def contradicts(self) -> bool:
        return finds_contradictions(self.model)

    @property
    def threshold(self) -> float | None:
        """Of `entails`, from which on it is the label; None: the most probable label is."""
        return getattr(self.model, "threshold", None)

    async def relations(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        if getattr(self.model, "leaves_out_citations", False):
            hypotheses = [without_citations(claim) for claim in hypotheses]

        async def of_part(part: str, hypotheses: Sequence[str]) -> list[Relation]:
            triples = await self.models.classify(self.model, part, hypotheses)
            return [_relation(triple, self.threshold) for triple in triples]

        return await _in_parts(premise, hypotheses, self.model.piece, of_part)


def without_citations(claim: str) -> str:
    """A claim without its citation marks; one that is nothing else stays as it is."""
    return without_markers(claim).strip() or claim


def _relation(triple: tuple[float, float, float], threshold: float | None) -> Relation:
    """The relation with these probabilities. threshold: of `entails`, from which on it is the label; None: the greatest
    of the three is."""
    if threshold is None:
        return Relation.of(*triple)
    entails, contradicts, neutral = triple
    not_entailed = CONTRADICTS if contradicts > neutral else NEUTRAL
    return Relation(
        ENTAILS if entails >= threshold else not_entailed, entails, contradicts, neutral
    )


async def _in_parts(
    premise: str,
    hypotheses: Sequence[str],
    size: int,
    ask_part: Callable[[str, Sequence[str]], Awaitable[list[Relation]]],
) -> list[Relation]:
    """The relations of a premise that is read in parts of at most so many bytes; a blank premise is neutral."""
    parts = pieces(premise, size)
    if not hypotheses or not parts:
        return [Relation(NEUTRAL)] * len(hypotheses)
    relations_of_parts = await concurrently(lambda part: ask_part(part, hypotheses), parts)
    return [any_part(of_parts) for of_parts in zip(*relations_of_parts, strict=True)]


def relation_calls(
    premise: str, hypotheses: int, batch: int = BATCH, longest_premise: int = PREMISE
) -> int:
    """The number of calls of a judge for a premise and so many hypotheses, without second attempts; long hypotheses can
    take more. longest_premise: bytes of a premise in one call."""
    return len(pieces(premise, longest_premise)) * math.ceil(hypotheses / batch)


def passage_groups(passages: Sequence[str]) -> list[list[int]]:
    """The numbers, from 0, of the passages that a call shows together (`plan=joint`); one that is longer than a premise
    of one call is alone, and read in parts."""
    calls: list[list[int]] = []
    room = 0
    for number, passage in enumerate(passages):
        size = utf8_size(passage)
        if size > PREMISE:
            calls.append([number])
            room = 0
        elif size <= room:
            calls[-1].append(number)
            room -= size
        else:
            calls.append([number])
            room = _JOINT - size
    return calls


def joint_calls(passages: Sequence[str], hypotheses: int, batch: int = BATCH) -> int:
    """As `relation_calls`, where a call shows several passages."""
    passages_with_text = [passage for passage in passages if passage.strip()]
    return sum(
        relation_calls(passages_with_text[group[0]], hypotheses, batch)
        if len(group) == 1
        else math.ceil(hypotheses / batch)
        for group in passage_groups(passages_with_text)
    )


def _listed(statements: Sequence[str]) -> str:
    """Statements in one text, numbered from 1, a line each."""
    return "\n".join(
        f"{number}. {' '.join(statement.split())}" for number, statement in enumerate(statements, 1)
    )


# Readers -----------------------------------------------------------------------------------------------------------
_PROBABLE = expected({"e": 1.0, "c": 0.0, "n": 0.0})
_PRINTED = choice(["E", "C", "N"])


def _pair(reply: ChatReply) -> Relation:
    """The relation with its probabilities; without them where the reply has no log-probabilities."""
    if not reply.logprobs:
        return Relation(_LETTERS[_PRINTED.read(reply).casefold()])
    shares = _PROBABLE.read(reply)[1]["distribution"]
    return Relation.of(shares["e"], shares["c"], shares["n"])


_PAIR = Reader(_pair, max_tokens=8, logprobs=TOP_LOGPROBS, needs_logprobs=False)

"""Nuggets (TREC 2024 RAG; Pradeep et al. 2024, AutoNuggetizer): which of the facts that a good answer holds it holds.

Each fact of a list, a nugget, is vital (a good answer must hold it) or okay (worth it). The answer is assigned one of
three labels for each: it holds all of the nugget (support, 1), a part (partial_support, 1/2), or none (not_support, 0).

    strict_vital     vital nuggets with support / vital nuggets
    strict_all       nuggets with support / nuggets
    vital            sum over vital nuggets / vital nuggets
    all              sum over nuggets / nuggets
    weighted         (sum over vital + 1/2 sum over okay) / (vital nuggets + 1/2 okay nuggets)
    strict_weighted  the same, where only support counts

The first four are nuggetizer's (castorini/nuggetizer at d00dc3e, src/nuggetizer/core/metrics.py:14-47), the last two
open-rag-eval's (vectara/open-rag-eval at dfc4175, open_rag_eval/metrics/autonugget_metric.py:305-354).

The example carries its nuggets, or `file` has those of its question. A nugget without an importance is vital, as
nuggetizer reads it (cli/adapters.py:68).
The first judge is shown the whole answer and assigns ten nuggets a call, whatever scores are selected; a chat model as
`--checker` is asked in its place in the same way. A checker that is no chat model (`embedded`, `overlap`) decides
whether the answer entails a nugget: then it is support, else not_support; it assigns no partial_support. Assignments
that an example carries for all of its nuggets are used.
An empty answer holds no nugget, without a call, whatever it carries. Equal nuggets are asked about once, and each counts.
Unscored (`undefined`): a score over nuggets of which there are none. Unscored (`missing_input`): no nuggets, no record of
the question in `file`, and nobody who assigns. Unscored (the judge's reason): a score over nuggets of which one could not
be assigned, as in a reply that could not be read twice; the others are scored.
Cost: 1 call for each 10 nuggets (and each 6,000 bytes of them). A checker reads each pair.

Parameters: file: nuggets by question (JSONL as nuggetizer writes it: `qid`, `query`, `nuggets`), in place of those of
the examples. assigned: `carried` uses assignments that the example carries; `anew` ignores them. batch: nuggets in one
call of a judge. empty: `zero` gives 0 where there is no nugget to count, and counts one missing nugget for a kind that
has none in the weighted scores, as the authors' code does.
Deviations: the prompt is ours, and the reply is JSON, asked for twice; nuggetizer asks up to 500 times and counts
nuggets whose calls failed as not held. A score over no nugget is unscored (`empty=zero`: the authors' way).
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.errors import ModelError, NoScore, OverBudget
from longmark.judge import ask, is_empty, numbered
from longmark.metric import Metric, Remark, Score, ScoreSpec, Silence, Why, paper
from longmark.metrics._question_file import expected_of, read, remarks_on_ids
from longmark.metrics._signed_file import signed
from longmark.models.handles import ChatHandle, Models
from longmark.prompts import prompt
from longmark.records import Example
from longmark.records.evidence import ExpectedClaim, Support
from longmark.records.expected import (
    ASSIGNMENTS,
    NOT_SUPPORT,
    OKAY,
    PARTIAL,
    SUPPORT,
    VITAL,
    Nugget,
)
from longmark.text.entailment import (
    ENTAILS,
    NEUTRAL,
    PROMPTS,
    Checker,
    JudgeChecker,
    checker_of,
)
from longmark.text.pieces import groups
from longmark.text.relation_replies import labels_reader

BATCH = 10  # nuggetizer's window (src/nuggetizer/models/nuggetizer.py:44)
_LARGEST_BATCH = 200  # a greater number is a typing error
_BYTES = 6000  # of the nuggets in one call
_PARTIAL_CREDIT = 0.5  # src/nuggetizer/core/metrics.py:26
_OKAY_WEIGHT = 0.5  # autonugget_metric.py:340
_CARRIED = "carried by the example"
_ASSIGNED_IN_PART = Remark(
    "Some of the nuggets have an assignment and others have none, so that all are assigned anew."
)
_NO_IMPORTANCE = Remark("No nugget of its list says its importance, so that all are vital.")

ASSIGN = replace(
    prompt("""nuggets.assign(answer, question, nuggets)
Each numbered nugget is a fact that an answer to the question may hold. Say of each how far the answer holds it:
support: the answer states all of it, in whatever words.
partial_support: the answer states a part of it.
not_support: the answer does not state it, or says the opposite.
Take the nuggets one by one, each without the others. Add nothing that you know beyond the answer.
Reply with a JSON object and nothing else. It has one key for each number and the label as its value, in this form: \
$form"""),
    may_be_absent=frozenset({"question"}),
)


@dataclass(frozen=True)
class NuggetParams:
    file: str = ""
    assigned: Literal["carried", "anew"] = "carried"
    batch: int = BATCH
    empty: Literal["undefined", "zero"] = paper("undefined", "zero")

    def __post_init__(self) -> None:
        if self.file:
            object.__setattr__(self, "file", signed(self.file))
        if not 1 <= self.batch <= _LARGEST_BATCH:
            raise ValueError(
                f"batch must be a number of nuggets from 1 to {_LARGEST_BATCH}, not {self.batch}"
            )

    def ready(self) -> None:
        if self.file:
            read(self.file, "nuggets")


def nuggets_in(file: str) -> Mapping[str, tuple[Nugget, ...]]:
    """The nuggets of a file by question: by its id, and by the hash of its text (`records.example.question_hash`).

    Raises what `_question_file.read` does.
    """
    return read(signed(file), "nuggets")


# Arithmetic --------------------------------------------------------------------------------------------------------

_FULL = {SUPPORT: 1.0, PARTIAL: 0.0, NOT_SUPPORT: 0.0}
_CREDIT = {SUPPORT: 1.0, PARTIAL: _PARTIAL_CREDIT, NOT_SUPPORT: 0.0}
_EVERY = {VITAL: 1.0, OKAY: 1.0}
_ONLY_VITAL = {VITAL: 1.0}
_WEIGHTED = {VITAL: 1.0, OKAY: _OKAY_WEIGHT}


@dataclass(frozen=True, slots=True)
class NuggetFormula:
    """weights: importance -> what a nugget of it counts, those that count; credit: assignment -> its share of that;
    weighed: kinds are weighed against each other, by open-rag-eval."""

    weights: Mapping[str, float]
    credit: Mapping[str, float]
    summary: str
    weighed: bool = False

    def value(self, nuggets: Sequence[tuple[str, str]], *, as_authors: bool) -> float | None:
        """The score of nuggets, (importance, assignment). as_authors: 0 where none counts, and a kind without nuggets
        counts as one that is missing where kinds are weighed; else None where none counts."""
        counted = [pair for pair in nuggets if pair[0] in self.weights]
        held = math.fsum(
            self.weights[importance] * self.credit[assignment] for importance, assignment in counted
        )
        total = math.fsum(self.weights[importance] for importance, _ in counted)
        if as_authors and self.weighed:
            kinds = {importance for importance, _ in counted}
            total += math.fsum(weight for kind, weight in self.weights.items() if kind not in kinds)
        if total:
            return held / total
        return 0.0 if as_authors else None


FORMULAS = {
    "strict_vital": NuggetFormula(
        _ONLY_VITAL, _FULL, "The share of vital nuggets that the answer holds whole."
    ),
    "strict_all": NuggetFormula(_EVERY, _FULL, "The share of nuggets that the answer holds whole."),
    "vital": NuggetFormula(
        _ONLY_VITAL, _CREDIT, "The share of vital nuggets that the answer holds; a part counts 1/2."
    ),
    "all": NuggetFormula(
        _EVERY, _CREDIT, "The share of nuggets that the answer holds; a part counts 1/2."
    ),
    "weighted": NuggetFormula(
        _WEIGHTED,
        _CREDIT,
        "The share of nuggets that the answer holds; an okay one, and a part, count 1/2.",
        weighed=True,
    ),
    "strict_weighted": NuggetFormula(
        _WEIGHTED,
        _FULL,
        "The share of nuggets that the answer holds whole; an okay one counts 1/2.",
        weighed=True,
    ),
}
"""Part of the name -> how the score is computed."""


# Assignment --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AssignedNuggets:
    """The nuggets of an answer with their assignments, or why one has none. by: who assigned them; rule: what did, where
    nobody was asked; probabilities: text of a nugget -> that the answer entails it, where a checker gives it."""

    nuggets: Sequence[tuple[Nugget, str | NoScore]]
    by: str | None = None
    rule: str | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)


async def score(
    example: Example, models: Models, params: NuggetParams
) -> dict[str, Score | NoScore]:
    """The scores of all parts of the name, of one assignment."""
    nuggets: tuple[Nugget, ...] = expected_of(example, params.file, "nuggets")
    assigned = await _assigned(example, models, params, nuggets)
    return {part: _score(formula, assigned, params) for part, formula in FORMULAS.items()}


def _score(
    formula: NuggetFormula, assigned: AssignedNuggets, params: NuggetParams
) -> Score | NoScore:
    counted = [
        (nugget, assignment)
        for nugget, assignment in assigned.nuggets
        if nugget.importance in formula.weights
    ]
    evidence = _evidence(counted, assigned)
    for _, assignment in counted:
        if isinstance(assignment, NoScore):
            return NoScore(
                assignment.status, assignment.reason, {**evidence, **assignment.evidence}
            )
    pairs = [(nugget.importance, str(assignment)) for nugget, assignment in counted]
    value = formula.value(pairs, as_authors=params.empty == "zero")
    if value is None:
        kind = "nuggets" if OKAY in formula.weights else "vital nuggets"
        return NoScore("undefined", f"There are no {kind} for this question.", evidence)
    if not counted:
        evidence["rule"] = "There is no nugget to count. It is scored 0 by empty=zero."
    return Score(value, evidence, automatic=assigned.rule is not None)


async def _assigned(
    example: Example, models: Models, params: NuggetParams, nuggets: Sequence[Nugget]
) -> AssignedNuggets:
    if nuggets and is_empty(example):
        rule = "the answer is empty: it holds no nugget, nobody was asked"
        return AssignedNuggets([(nugget, NOT_SUPPORT) for nugget in nuggets], rule=rule)
    if _carried(nuggets, params):
        return AssignedNuggets(
            [(nugget, str(nugget.assignment)) for nugget in nuggets],
            by=_CARRIED if nuggets else None,
        )
    assigner = _assigner(models, params)
    batches = _batches(nuggets, params)
    replies = await concurrently(
        lambda batch: _attempt(lambda: _labels(example, models, assigner, batch)), batches
    )
    labels: dict[str, str | NoScore] = {}
    probabilities: dict[str, float] = {}
    for batch, reply in zip(batches, replies, strict=True):
        if isinstance(reply, NoScore):
            labels |= dict.fromkeys(batch, reply)
            continue
        for text, (label, probability) in zip(batch, reply, strict=True):
            labels[text] = label
            if probability is not None:
                probabilities[text] = probability
    return AssignedNuggets(
        [(nugget, labels[nugget.text]) for nugget in nuggets],
        by=assigner.name,
        probabilities=probabilities,
    )


def _carried(nuggets: Sequence[Nugget], params: NuggetParams) -> bool:
    """Whether no nugget has to be asked about."""
    if not nuggets:
        return True
    return params.assigned == "carried" and all(nugget.assignment for nugget in nuggets)


def _remarks(example: Example, params: NuggetParams) -> list[Remark]:
    """What a run tells of how it takes the nuggets of an example."""
    remarks = remarks_on_ids(example, params.file, "nuggets")
    nuggets = () if params.file or is_empty(example) else example.nuggets or ()
    assigned = [nugget for nugget in nuggets if nugget.assignment]
    if params.assigned == "carried" and assigned and len(assigned) < len(nuggets):
        remarks.append(_ASSIGNED_IN_PART)
    if not is_empty(example) and _all_by_default(example, params):
        remarks.append(_NO_IMPORTANCE)
    return remarks


def _all_by_default(example: Example, params: NuggetParams) -> bool:
    """Whether a list of nuggets says no importance at all."""
    try:
        nuggets = expected_of(example, params.file, "nuggets")
    except NoScore:
        return False  # the score says it
    return bool(nuggets) and not any(nugget.states_importance for nugget in nuggets)


def _batches(nuggets: Sequence[Nugget], params: NuggetParams) -> list[list[str]]:
    texts = list(dict.fromkeys(nugget.text for nugget in nuggets))
    return groups(texts, _BYTES, params.batch)


def _assigner(models: Models, params: NuggetParams) -> ChatHandle | Checker:
    """The chat model that labels nuggets, or the checker that decides whether the answer entails them."""
    if models.checker is None and not models.judges:
        raise NoScore(
            "missing_input",
            "Nobody assigns the nuggets: add --judge or --checker (embedded, after `longmark models install judge "
            "embedder`, or overlap, which needs no model), or give each nugget its assignment.",
        )
    checker = checker_of(models, params.batch)
    return checker.judge if isinstance(checker, JudgeChecker) else checker


async def _labels(
    example: Example, models: Models, assigner: ChatHandle | Checker, nuggets: Sequence[str]
) -> list[tuple[str, float | None]]:
    """The assignment of each nugget, with the probability that the answer entails it, where a checker gives it."""
    answer = example.answer or ""
    if not isinstance(assigner, ChatHandle):
        relations = await assigner.relations(answer, nuggets)
        return [
            (SUPPORT if relation.label == ENTAILS else NOT_SUPPORT, relation.entails)
            for relation in relations
        ]
    texts = {
        "answer": answer,
        "question": example.asked,
        "nuggets": numbered(nuggets),
        "form": '{"1": "not_support", "2": "support", …}',
    }
    reader = labels_reader(len(nuggets), ASSIGNMENTS)
    return [(label, None) for label in (await ask(models, assigner, ASSIGN, texts, reader)).value]


async def _attempt(
    step: Callable[[], Awaitable[list[tuple[str, float | None]]]],
) -> list[tuple[str, float | None]] | NoScore:
    """The labels of a batch, or why it has none: the scores over other nuggets do without them."""
    try:
        return await step()
    except NoScore as unscored:
        return unscored
    except (ModelError, OverBudget) as error:
        return NoScore(error.status, str(error))


# Evidence and declaration ------------------------------------------------------------------------------------------


def _evidence(
    counted: Sequence[tuple[Nugget, str | NoScore]], assigned: AssignedNuggets
) -> dict[str, Any]:
    """The nuggets that a score counts, vital ones first, as facts that are expected."""
    in_order = sorted(counted, key=lambda pair: pair[0].importance != VITAL)
    facts = [
        ExpectedClaim(
            claim=nugget.text,
            answer=ENTAILS if assignment == SUPPORT else NEUTRAL,
            expected_by=f"{nugget.importance} nugget",
            held=assignment,
            answer_probability=None
            if (probability := assigned.probabilities.get(nugget.text)) is None
            else round(probability, 4),
        )
        for nugget, assignment in in_order
        if not isinstance(assignment, NoScore)
    ]
    evidence: dict[str, Any] = Support(reference_claims=facts).evidence()
    evidence["nuggets"] = len(counted)
    if assigned.by:
        evidence["assigner"] = assigned.by
    if assigned.rule:
        evidence["rule"] = assigned.rule
    return evidence


def _calls(example: Example, params: NuggetParams, _judges: int) -> int:
    try:
        nuggets = expected_of(example, params.file, "nuggets")
    except NoScore:
        return 0
    if is_empty(example) or _carried(nuggets, params):
        return 0
    return len(_batches(nuggets, params))


def _checks(example: Example, params: NuggetParams) -> int:
    return _calls(example, params, 0)


def _relations(example: Example, params: NuggetParams) -> int:
    if not _calls(example, params, 0):
        return 0
    nuggets = expected_of(example, params.file, "nuggets")
    return len({nugget.text for nugget in nuggets})


def _carries(example: Example, params: NuggetParams, _part: str) -> Collection[str]:
    """Nuggets that a file has, an empty list of them, and the answer where their assignments are there."""
    if params.file or example.nuggets == ():
        return {"nuggets"}
    return {"answer"} if example.nuggets and _carried(example.nuggets, params) else ()


METRIC = Metric(
    score,
    needs=("answer", "nuggets"),
    carries=_carries,
    scores={
        part: ScoreSpec(
            (0, 1),
            True,
            formula.summary,
            Why("Missing nugget", "reference_claims", ("held", SUPPORT)),
        )
        for part, formula in FORMULAS.items()
    },
    models=("judge", "checker"),
    optional=("judge", "checker"),
    default_checker="embedded",
    prompts=(ASSIGN, *PROMPTS),
    params=NuggetParams,
    calls=_calls,
    checks=_checks,
    relations=_relations,
    view="support",
    evidence=("question",),
    silence=Silence(empty=0),
    remarks=_remarks,
)

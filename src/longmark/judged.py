"""A judge's score of an answer, the judge's reason for it, and the declaration of a metric made of it.

There are two ways to read a score (`--scoring`): `text` asks for a number or a label, `expected` reads the
probabilities of one token. Where the run asks for reasons (`--reasons`), `text` asks for a JSON object with the reason
before the score: {"reason", "quotes", "score"}. A reply that is only a score counts, and the evidence says that it has
no reason. With `expected` the reason is a second call after the score. It cannot change the score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from pydantic import BaseModel, StrictFloat, StrictInt, StrictStr

from longmark.errors import NoScore, RequestRefused, Unsupported
from longmark.judge import (
    DIGITS,
    HUNDREDTHS,
    YES_NO,
    Graded,
    Reader,
    Sampling,
    Unreadable,
    ask,
    is_empty,
    numbered,
    structure,
    text,
)
from longmark.metric import ANSWERS, Bounds, Metric, NoParams, Score, Silence
from longmark.models.handles import ChatHandle, Models
from longmark.models.protocols import ChatReply, ChatRequest, Message
from longmark.prompts import Prompt
from longmark.records import Example
from longmark.records.conversation import MODES
from longmark.records.evidence import Judgement, Judgements
from longmark.records.turn import shown
from longmark.reply_schema import object_schema

REASON_TOKENS = 512  # of a reply with a reason
_MOST_QUOTES = 3
_NUMBER_FORM = "Reply with one whole number from 0 to 100 and nothing else."
_YES_NO_FORM = "Reply with one word, yes or no, and nothing else."
_DIGIT_FORM = "Reply with one digit from 0 to 9 and nothing else."
_WHY_FORM = (
    '"reason": why, in one or two sentences; "quotes": a list of at most three short passages of the answer on which '
    "the reason rests, each copied character by character (an empty list if there is none)"
)
_FIELDS = {
    "question": "question",
    "answer": "answer",
    "context": "contexts",
    "reference": "references",
}  # of inputs
_FIELDS |= {"turns": "turns"}

REASON = Prompt(
    "reason",
    (),
    f"Now say why you gave that reply. Reply with a JSON object and nothing else, with these keys: {_WHY_FORM}.",
    use="reason",
)
"""Asks for the reason of a score that was read from one token, after the judge's reply."""


def reasons_form(score: str) -> str:
    """The form of a reply with a reason. score: what the score is, such as `one whole number from 0 to 100`."""
    return (
        "Reply with a JSON object and nothing else. It has these keys, in this order: "
        f'{_WHY_FORM}; "score": {score}, which follows from the reason.'
    )


class _Why(BaseModel):
    reason: StrictStr
    quotes: list[StrictStr] | None = None

    def evidence(self) -> dict[str, Any]:
        if not self.reason.strip():
            return _without("the reason in the reply is empty")
        return {
            "reason": self.reason.strip(),
            "quotes": [quote for quote in self.quotes or () if quote.strip()],
        }


class _Reasoned(_Why):
    score: StrictInt | StrictFloat | StrictStr


_WHY_SCHEMA: dict[str, Any] = {
    "reason": {"type": "string"},
    "quotes": {"type": "array", "items": {"type": "string"}, "maxItems": _MOST_QUOTES},
}
_WHY = structure(_Why, REASON_TOKENS, object_schema(_WHY_SCHEMA))


def _without(why: str) -> dict[str, Any]:
    """The evidence of a score without a reason."""
    return {"reason": None, "no_reason": why}


@dataclass(frozen=True)
class ScorePrompts:
    """The prompts of a judge's score: `text` asks for a number (or what `number` reads; a number from 0 to 100 is
    divided by 100), `expected` for one token, which `token` reads (`YES_NO` or `DIGITS`). reasons: asks for the number
    after the reason for it (`reasons_form`); None: the judge is never asked for a reason. score_schema: the JSON schema
    of the score in that reply."""

    text: Prompt
    expected: Prompt
    token: Reader[Graded]
    number: Reader[Graded] = HUNDREDTHS
    reasons: Prompt | None = None
    score_schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "integer"})

    @property
    def all(self) -> tuple[Prompt, ...]:
        """The prompts, each with its use."""
        with_reasons = (replace(self.reasons, use="reasons"), REASON) if self.reasons else ()
        return replace(self.text, use="text"), replace(self.expected, use="expected"), *with_reasons

    @cached_property
    def reasoned(self) -> Reader[Graded]:
        """Reads a score with its reason, or a score alone, whose evidence then says that the reason is missing."""
        schema = object_schema({**_WHY_SCHEMA, "score": dict(self.score_schema)})
        form = structure(_Reasoned, REASON_TOKENS, schema)
        plain = text(REASON_TOKENS)

        def read(reply: ChatReply) -> Graded:
            if not plain.read(reply).startswith(("{", "```")):
                value, details = self.number.read(reply)
                return value, {**details, **_without("the reply is only a score")}
            reply_read = form.read(reply)
            try:
                value, details = self.number.read(ChatReply(self._written(reply_read.score)))
            except Unreadable as error:
                raise Unreadable(f"the score in its JSON cannot be used: {error}") from None
            return value, {**details, **reply_read.evidence()}

        return Reader(read, REASON_TOKENS, schema=schema)

    def _written(self, score: int | float | str) -> str:
        """A score of the JSON as a reply has it. A label that is a number may be written `4.0`; where numbers are read,
        1.0 is not 1: it can be a share."""
        return (
            str(score).removesuffix(".0")
            if self.score_schema.get("type") == "string"
            else str(score)
        )


def score_prompts(
    name: str, inputs: tuple[str, ...], *, number: str, yes_no: str = "", digit: str = ""
) -> ScorePrompts:
    """The prompts NAME, NAME.expected and NAME.reasons from the text of each task; the form of the reply is added here.

    number: the task for a number from 0 to 100. yes_no or digit, one of them: the task for the probability of yes, or
    for a digit from 0 to 9 (its expected value is divided by 9).
    """
    task, form, token = (digit, _DIGIT_FORM, DIGITS) if digit else (yes_no, _YES_NO_FORM, YES_NO)
    return ScorePrompts(
        Prompt(name, inputs, f"{number}\n{_NUMBER_FORM}"),
        Prompt(f"{name}.expected", inputs, f"{task}\n{form}"),
        token,
        reasons=Prompt(
            f"{name}.reasons", inputs, f"{number}\n{reasons_form('one whole number from 0 to 100')}"
        ),
    )


async def judged_score(models: Models, prompts: ScorePrompts, inputs: Mapping[str, str]) -> Score:
    """A judge's score, in [0, 1] unless the prompts have another scale; of several judges, and of several samples of
    each, the mean. The evidence has the verdict of each, with its reason and quotes where the run asks for them.

    With `text` scoring the number is divided by 100; with `expected` it is the expected value over one token. Raises
    NoScore and ModelError. If one of several judges gives no score, there is no score: the mean of the others would be
    another metric.
    """
    judging = models.judging
    by_text = judging.by_text
    reasons = prompts.reasons if judging.reasons else None
    if not by_text:
        prompt = prompts.expected
        reader = prompts.token
    else:
        prompt = prompts.text
        reader = prompts.number
        if reasons:
            prompt = reasons
            reader = prompts.reasoned
    scores: list[float] = []
    judgements: list[Judgement] = []
    for judge, k in ((judge, k) for judge in models.judges for k in judging.numbers):
        try:
            verdict = await ask(
                models, judge, prompt, inputs, reader, Sampling(judging.temperature, k)
            )
        except NoScore as unscored:
            unscored.evidence = Judgements(
                judges=[*judgements, Judgement(**unscored.evidence)]
            ).evidence()
            raise
        except Unsupported as error:
            raise NoScore(
                "unsupported", str(error), Judgements(judges=judgements).evidence()
            ) from None
        score, details = verdict.value
        if reasons and not by_text:
            details = {
                **details,
                **await _reason(models, judge, (prompt, inputs), verdict.replies[-1]),
            }
        scores.append(score)
        sample = {"sample": k} if judging.samples > 1 else {}
        judgements.append(Judgement(**{**verdict.evidence(), **details, **sample, "score": score}))
    return Score(math.fsum(scores) / len(scores), Judgements(judges=judgements).evidence())


async def _reason(
    models: Models,
    judge: ChatHandle,
    prompt_and_inputs: tuple[Prompt, Mapping[str, str]],
    reply: str,
) -> dict[str, Any]:
    """The reason for a reply that has been given, and the quotes: one more call. The score stands without it, so a
    reason that cannot be had or read is missing. Raises ModelError where another attempt may give it."""
    follow_up = models.prompts.fill(REASON, {})[-1]
    messages = (
        *models.prompts.fill(*prompt_and_inputs),
        Message("assistant", reply or "(nothing)"),
        follow_up,
    )
    try:
        reply_given = await judge.chat(
            ChatRequest(messages, max_tokens=_WHY.max_tokens, schema=_WHY.schema)
        )
    except RequestRefused as error:
        return _without(str(error))
    if reply_given.refusal is not None or reply_given.finish == "content_filter":
        return _without(
            f"the judge declined: {reply_given.refusal or 'its content filter stopped the reply'}"
        )
    try:
        return {**_WHY.read(reply_given).evidence(), "reason_reply": reply_given.text}
    except Unreadable as error:
        return {
            **_without(f"the reply could not be read: {error}"),
            "reason_reply": reply_given.text,
        }


Combine = Callable[[Score, Example, str, Any], Score]


def judged_metric(
    prompts: ScorePrompts,
    *,
    empty_answer: Score | None = None,
    params: type = NoParams,
    combine: Combine | None = None,
    bounds: Bounds = (0, 1),
    higher_is_better: bool = True,
) -> Metric:
    """The declaration of a metric whose score is `judged_score`, within bounds.

    It needs the fields of the example that its prompts show. If they show the reference, each reference is judged
    separately and the best score counts; of several references, the evidence names its reference. Cost: one call
    for each judge and reference.

    empty_answer: the score of an empty answer, without a call; None: it is unscored (`undefined`). combine: makes the
    metric's score from (the judge's score, example, reference, parameters).
    """
    inputs = prompts.text.inputs

    async def score(example: Example, models: Models, params: Any) -> Score:
        if is_empty(example):
            if empty_answer is None:
                raise NoScore("undefined", "The answer is empty.")
            return empty_answer
        whole = "turns" in inputs
        texts = {
            "answer": example.answer or "",
            "question": (example.question or "") if whole else example.asked,
        }
        texts["turns"] = shown(enumerate(example.turns, 1)) if whole else ""
        texts["context"] = numbered(context.text for context in example.contexts)
        scores: list[Score] = []
        references = example.references if "reference" in inputs else ("",)
        for reference in references:
            judged = await judged_score(models, prompts, {**texts, "reference": reference})
            scores.append(combine(judged, example, reference, params) if combine else judged)
        if len(scores) == 1:
            return scores[0]
        best = (max if higher_is_better else min)(
            range(len(scores)), key=lambda i: scores[i].value
        )  # the first of equals
        compared = {
            "reference": references[best],
            "scores_by_reference": [score.value for score in scores],
        }
        return Score(scores[best].value, {**compared, **scores[best].evidence})

    def calls(example: Example, _params: Any, judges: int) -> int:
        if is_empty(example):
            return 0
        return judges * (len(example.references) if "reference" in inputs else 1)

    return Metric(
        score,
        needs=tuple(field for name, field in _FIELDS.items() if name in inputs or name == "answer"),
        turns=MODES if "turns" in inputs else ANSWERS,
        bounds=bounds,
        higher_is_better=higher_is_better,
        models=("judge",),
        prompts=prompts.all,
        params=params,
        calls=calls,
        judged=True,
        view="judges",
        silence=Silence(empty=empty_answer.value if empty_answer else "undefined"),
    )

"""Asks a judge and reads the verdict: fill a prompt, ask, parse strictly, ask once more, or say why there is none.

Nothing is guessed from a reply: a judge may quote the answer, and an answer may hold any verdict. A number or a label
must be the whole reply, or stand in its last line as the readers say; a reply that was cut off is no verdict. What
cannot be read is asked for once more, with the error; what cannot be read then raises `NoScore` with the raw text as
evidence.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from longmark.errors import NoScore, Unsupported
from longmark.metric import Score
from longmark.models.handles import ChatHandle, Models
from longmark.models.protocols import ChatReply, ChatRequest, Message
from longmark.prompts import Prompt

T = TypeVar("T")
Structure = TypeVar("Structure", bound=BaseModel)

TEMPERATURE = 0.0  # of a question that is asked once
TOP_LOGPROBS = 20  # the most that OpenAI's API gives
_LEAST_MASS = (
    0.5  # of the probability that must lie on the offered tokens: less, and the judge meant to say something else
)


class Unreadable(Exception):
    """A reply that is no verdict; the message is told to the judge when it is asked again."""


@dataclass(frozen=True, slots=True)
class Verdict(Generic[T]):
    """value: what was read. model, prompt: who said it to what. replies: raw texts, the deciding one last.
    extra: more of what it was read from (a distribution, say)."""

    value: T
    model: str
    prompt: str
    replies: tuple[str, ...]
    extra: dict[str, Any] = field(default_factory=dict)

    def evidence(self) -> dict[str, Any]:
        """As a row shows it."""
        shown: dict[str, Any] = {"model": self.model, "prompt": self.prompt, "text": self.replies[-1], **self.extra}
        if len(self.replies) > 1:
            shown["unreadable_reply"] = self.replies[0]
        return shown


@dataclass(frozen=True, slots=True)
class Reader(Generic[T]):
    """How a verdict is read from a reply. read raises `Unreadable`. The rest is what the call must ask for."""

    read: Callable[[ChatReply], tuple[T, dict[str, Any]]]
    max_tokens: int
    logprobs: int = 0
    schema: dict[str, Any] | None = None


async def ask(
    models: Models,
    judge: ChatHandle,
    prompt: Prompt,
    inputs: Mapping[str, str],
    reader: Reader[T],
    *,
    fields: Mapping[str, str] | None = None,
    temperature: float = TEMPERATURE,
    sample: int = 0,
) -> Verdict[T]:
    """One verdict of one judge.

    inputs, fields: as the prompt declares them. sample: which of several equal questions this is. Raises NoScore
    (`unparsable`, `refused`, `unsupported`) and ModelError.
    """
    request = ChatRequest(
        messages=models.prompts.fill(prompt, inputs, fields),
        temperature=temperature,
        max_tokens=reader.max_tokens,
        sample=sample,
        logprobs=reader.logprobs,
        schema=reader.schema,
    )
    if reader.logprobs and judge.model.capabilities.logprobs == 0:
        raise NoScore("unsupported", f"{judge.name} cannot give log-probabilities, which this scoring reads.")
    replies: list[str] = []
    while True:
        reply = await judge.chat(request)
        replies.append(reply.text)
        shown = {"model": judge.name, "prompt": prompt.id, "replies": list(replies)}
        if reply.refusal is not None or reply.finish == "content_filter":
            why = reply.refusal or "its content filter stopped the reply"
            raise NoScore("refused", f"The judge {judge.name} declined: {why}", shown)
        if reader.logprobs and not reply.logprobs and reply.text:
            raise NoScore("unsupported", f"{judge.name} gave no log-probabilities, which this scoring reads.", shown)
        try:
            value, extra = reader.read(reply)
        except Unreadable as error:
            if len(replies) == 2:
                raise NoScore(
                    "unparsable", f"The reply of {judge.name} could not be read, twice: {error}.", shown
                ) from None
            request = _again(request, reply.text, str(error))
        else:
            return Verdict(value, judge.name, prompt.id, tuple(replies), extra)


def _again(request: ChatRequest, text: str, error: str) -> ChatRequest:
    """The request that asks once more. It names the error and repeats nothing of the form: the task above has it."""
    more = (
        Message("assistant", text or "(nothing)"),
        Message("user", f"I could not use that reply: {error}. Reply again, only in the form that the task asks for."),
    )
    return replace(request, messages=request.messages + more)


# Readers ---------------------------------------------------------------------------------------------------------

_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_NUMBER = r"(-?[0-9]+(?:\.[0-9]+)?)(?:\s*/\s*100)?\.?"
_ALONE = re.compile(rf"\A[*`\s]*{_NUMBER}[*`\s]*\Z")
_LABELLED = re.compile(rf"\A[*`\s]*score[*`\s]*[:=][*`\s]*{_NUMBER}[*`\s]*\Z", re.IGNORECASE)
_NAMED = re.compile(r"\A[*`\s]*label[*`\s]*[:=](.*)\Z", re.IGNORECASE)
_MARKS, _QUOTES = " \t\r\n*`.", "\"'“”‘’"


def _whole(reply: ChatReply) -> str:
    """The text of a reply without the thinking before it. Unreadable where it was cut off, is empty or only thinks."""
    if reply.finish == "length":
        raise Unreadable("it was cut off before its end")
    text = _THINKING.sub("", reply.text).strip()
    if not text:
        raise Unreadable("it was empty")
    if text.startswith("<think>"):
        raise Unreadable("its thinking has no end, so no verdict stands behind it")
    return text


def _last_line(text: str) -> str:
    """Only a line feed begins a line here: `splitlines` takes characters for ends of lines that nobody sees, and a
    quoted answer may hold them."""
    return text.rpartition("\n")[2]


def number(low: float, high: float) -> Reader[float]:
    """Reads `N` that is the whole reply, or `score: N` in its last line; either may end in `/100`."""

    def read(reply: ChatReply) -> tuple[float, dict[str, Any]]:
        text = _whole(reply)
        found = _ALONE.match(text) or _LABELLED.match(_last_line(text))
        if found is None:
            raise Unreadable("it is not a single number")
        value = float(found[1])
        if not low <= value <= high:
            raise Unreadable(f"{found[1]} is not between {low:g} and {high:g}")
        return value, {}

    return Reader(read, max_tokens=64)


def choice(labels: Sequence[str], max_tokens: int = 64) -> Reader[str]:
    """Reads one of the labels: as the whole reply, as the last line alone, or as `label: X` in the last line.

    Case does not matter, nor do spaces, asterisks, backquotes and full stops around the label; nor quotation marks,
    except where it is the last line of several, which may be a quotation. A label anywhere else is not read.
    """
    folded = {label.strip(_MARKS + _QUOTES).casefold(): label for label in labels}

    def read(reply: ChatReply) -> tuple[str, dict[str, Any]]:
        text = _whole(reply)
        last = _last_line(text)
        named = _NAMED.match(last)
        for found, around in ((text, _MARKS + _QUOTES), (last, _MARKS), (named[1] if named else "", _MARKS + _QUOTES)):
            label = folded.get(found.strip(around).casefold())
            if label is not None:
                return label, {}
        raise Unreadable(f"neither the whole of it nor its last line is one of {', '.join(labels)}")

    return Reader(read, max_tokens=max_tokens)


def structure(model: type[Structure], max_tokens: int = 1024) -> Reader[Structure]:
    """Reads a JSON object of a pydantic type; a code fence around it is allowed, anything else is not."""

    def read(reply: ChatReply) -> tuple[Structure, dict[str, Any]]:
        text = _whole(reply)
        fenced = re.fullmatch(r"```(?:json)?\s*\n(.*)\n```", text, re.DOTALL)
        try:
            return model.model_validate_json(fenced[1] if fenced else text), {}
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the whole"
            raise Unreadable(f"it is not the JSON that was asked for ({where}: {first['msg']})") from None

    return Reader(read, max_tokens=max_tokens, schema=model.model_json_schema())


def expected(values: Mapping[str, float]) -> Reader[float]:
    """Reads the expected value over the first token of the reply: sum p(token) value(token) / sum p(token), over the
    offered tokens (case and the space before them folded) among the most likely ones.

    Unreadable where the offered tokens hold less than half of the probability.
    """

    def read(reply: ChatReply) -> tuple[float, dict[str, Any]]:
        if not reply.logprobs:
            raise Unreadable("it was empty")
        first = reply.logprobs[0]
        weights = dict.fromkeys(values, 0.0)
        for token, logprob in first.top or ((first.token, first.logprob),):
            label = token.strip().casefold()
            if label in weights:
                weights[label] += math.exp(logprob)
        mass = math.fsum(weights.values())
        if mass < _LEAST_MASS:
            raise Unreadable(f"it should be one of {', '.join(values)}")
        value = math.fsum(values[label] * weight for label, weight in weights.items()) / mass
        shares = {label: weight / mass for label, weight in weights.items()}
        return value, {"distribution": shares, "mass": min(mass, 1.0)}

    return Reader(read, max_tokens=1, logprobs=TOP_LOGPROBS)


YES_NO = expected({"yes": 1.0, "no": 0.0})
DIGITS = expected({str(digit): digit / 9 for digit in range(10)})
PERCENT = number(0, 100)


# Grades ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """A question with a grade for its answer: one prompt for each way of reading the grade.

    text: asks for a number from 0 to 100. expected: asks for one token. tokens: which (`YES_NO` or `DIGITS`).
    """

    text: Prompt
    expected: Prompt
    tokens: Reader[float]

    @property
    def prompts(self) -> tuple[Prompt, Prompt]:
        return (self.text, self.expected)


async def grade(models: Models, scale: Scale, inputs: Mapping[str, str]) -> Score:
    """The grade in [0, 1] that the judges give: the mean where there are several, each one in the evidence.

    With `text` scoring the number is divided by 100; with `expected` it is the expected value over one token. Raises
    NoScore and ModelError: where one of several judges gives no grade, there is none, since the mean of the others
    would be another metric.
    """
    by_text = models.scoring == "text"
    prompt, reader = (scale.text, PERCENT) if by_text else (scale.expected, scale.tokens)
    scores: list[float] = []
    shown: list[dict[str, Any]] = []
    for judge in models.judges:
        try:
            verdict = await ask(models, judge, prompt, inputs, reader)
        except NoScore as gap:
            gap.evidence = {"judges": [*shown, gap.evidence]}
            raise
        except Unsupported as error:
            raise NoScore("unsupported", str(error), {"judges": shown}) from None
        scores.append(verdict.value / 100 if by_text else verdict.value)
        shown.append({**verdict.evidence(), "score": scores[-1]})
    return Score(math.fsum(scores) / len(scores), {"judges": shown})

"""Asks a judge and reads its verdict: fill a prompt, ask, parse strictly, ask once more, else raise `NoScore`.

A judge may quote the answer, and an answer may contain any verdict. So a number or a label must be the complete reply,
or be in its last line in the form that the reader describes. A truncated reply is not a verdict. After an unreadable
reply the judge is asked once more, with the error. If the second reply is unreadable too, `NoScore` has both as
evidence. `longmark.judged` makes scores of verdicts. Every reply is told to whoever counts the readable ones
(`records.verdicts`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from longmark.errors import NoScore, Unsupported
from longmark.models.handles import ChatHandle, Models
from longmark.models.keys import redact_reply
from longmark.models.protocols import ChatReply, ChatRequest, Message
from longmark.prompts import Prompt
from longmark.records import Example
from longmark.records.files import parse_json
from longmark.records.same import comparable
from longmark.records.thinking import split
from longmark.reply_schema import compact, schema_of

T = TypeVar("T")
U = TypeVar("U")
Structure = TypeVar("Structure", bound=BaseModel)

TEMPERATURE = 0.0  # of a prompt that is sent once
TOP_LOGPROBS = 20  # the most that OpenAI's API gives
_SHOWN = 500  # characters of thinking, its last ones, in the evidence of a reply without an answer
_ABSENT = -100.0  # log-probability of a label that has no token
_LEAST_MASS = 0.5  # of the probability, on the offered tokens: with less, the judge meant to reply something else


class Unreadable(Exception):
    """A reply that is not a verdict. The judge gets the message when it is asked again."""


class ReplyForm(BaseModel):
    """A JSON object that a judge replies. Structured outputs take a schema only if it says that no other keys are
    allowed; a reply that has some is read all the same."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})


@dataclass(frozen=True, slots=True)
class Verdict(Generic[T]):
    """value: what was read from the last of the replies. model, prompt: the judge's name and the prompt's id."""

    value: T
    model: str
    prompt: str
    replies: tuple[str, ...]

    @property
    def said(self) -> str:
        """The complete reply: where the second reply is the verdict alone, the first one has the reasons."""
        return "\n".join(self.replies)

    def evidence(self) -> dict[str, Any]:
        """The verdict in a row's evidence."""
        evidence = {"model": self.model, "prompt": self.prompt, "text": self.replies[-1]}
        return (
            evidence
            if len(self.replies) == 1
            else {**evidence, "unreadable_reply": self.replies[0]}
        )


@dataclass(frozen=True, slots=True)
class Reader(Generic[T]):
    """How a verdict is read from a reply. read raises `Unreadable`. again reads the second reply, None: as the first.
    wants: all that a second reply should be, so that a judge need not repeat its reasons; "": the form that the prompt
    asks for.
    The other fields are settings of the request. needs_logprobs: False for a reader that does without
    log-probabilities where a judge gives none. digits: it reads the log-probabilities of digits alone, so that the
    others need not be stored."""

    read: Callable[[ChatReply], T]
    max_tokens: int
    logprobs: int = 0
    schema: dict[str, Any] | None = None
    again: Callable[[ChatReply], T] | None = None
    needs_logprobs: bool = True
    wants: str = ""
    digits: bool = False

    def then(self, step: Callable[[T], U]) -> Reader[U]:
        """This reader with another step, which may raise `Unreadable`."""
        read = self.read
        return Reader(
            lambda reply: step(read(reply)),
            self.max_tokens,
            self.logprobs,
            self.schema,
            wants=self.wants,
        )


@dataclass(frozen=True, slots=True)
class Sampling:
    """number: which of several equal requests this is."""

    temperature: float = TEMPERATURE
    number: int = 0


ONCE = Sampling()


async def ask(
    models: Models,
    judge: ChatHandle,
    prompt: Prompt,
    texts: Mapping[str, str],
    reader: Reader[T],
    sampling: Sampling = ONCE,
) -> Verdict[T]:
    """One verdict of one judge. texts: one for each input and field of the prompt.

    Raises NoScore (`unparsable`, `refused`, `unsupported`) and ModelError.
    """
    return await ask_as_written(
        judge, prompt.id, models.prompts.fill(prompt, texts), reader, sampling
    )


async def ask_as_written(
    judge: ChatHandle,
    prompt_id: str,
    messages: tuple[Message, ...],
    reader: Reader[T],
    sampling: Sampling = ONCE,
) -> Verdict[T]:
    """As `ask`, with messages that are complete: the input format of a judge that was trained on one."""
    request = ChatRequest(
        messages=messages,
        temperature=sampling.temperature,
        max_tokens=reader.max_tokens,
        sample=sampling.number,
        logprobs=reader.logprobs,
        schema=reader.schema,
    )
    if reader.logprobs and judge.model.capabilities.logprobs == 0:
        if reader.needs_logprobs:
            raise NoScore(
                "unsupported",
                f"{judge.name} cannot give log-probabilities, which this scoring needs.",
            )
        request = replace(request, logprobs=0)
    async with judge.asking(prompt_id) as handle:
        return await _asked_twice(handle, prompt_id, request, reader)


async def _asked_twice(
    judge: ChatHandle, prompt_id: str, request: ChatRequest, reader: Reader[T]
) -> Verdict[T]:
    replies: list[str] = []
    read = reader.read
    while True:
        try:
            reply = await judge.chat(request, digits=reader.digits, accepts=read)
        except Unsupported:
            if reader.needs_logprobs or not request.logprobs:
                raise
            request = replace(request, logprobs=0)
            continue
        replies.append(reply.text)
        evidence = {"model": judge.name, "prompt": prompt_id, "replies": list(replies)}
        try:
            _check_usable(judge, reader, reply, evidence)
            value = read(reply)
        except NoScore:
            judge.heard(reply, read=False)
            raise
        except Unreadable as error:
            judge.heard(reply, read=False)
            if len(replies) == 2:
                reason = f"Two replies of {judge.name} could not be read: {error}."
                raise NoScore("unparsable", reason, evidence) from None
            form = (
                f"Reply now with {reader.wants}, and with nothing else."
                if reader.wants
                else "Reply again, only in the form that the task asks for."
            )
            request_again = (
                Message("assistant", reply.text or "(nothing)"),
                Message("user", f"I could not use that reply: {error}. {form}"),
            )
            request = replace(request, messages=request.messages + request_again)
            read = reader.again or reader.read
        else:
            judge.heard(reply, read=True)
            return Verdict(value, judge.name, prompt_id, tuple(replies))


def _check_usable(
    judge: ChatHandle, reader: Reader[Any], reply: ChatReply, evidence: dict[str, Any]
) -> None:
    """NoScore where a reply is none that another one could mend."""
    if reply.refusal is not None or reply.finish == "content_filter":
        why = reply.refusal or "its content filter stopped the reply"
        raise NoScore("refused", f"The judge {judge.name} declined: {why}", evidence)
    if reader.logprobs and reader.needs_logprobs and (reply.thinking or split(reply.text).thinking):
        reason = f"{judge.name} thinks before its answer, so its first token is no verdict: use --scoring text."
        raise NoScore("unsupported", reason, evidence)
    if reader.logprobs and reader.needs_logprobs and not reply.logprobs and reply.text:
        raise NoScore(
            "unsupported",
            f"{judge.name} gave no log-probabilities, which this scoring needs.",
            evidence,
        )
    if (cut := _cut_while_thinking(judge, reply)) is not None:
        raise NoScore("unparsable", cut, {**evidence, "thinking": reply.thinking[-_SHOWN:]})


def _cut_while_thinking(judge: ChatHandle, reply: ChatReply) -> str | None:
    """Why a reply has no answer, where its limit ended it while the model was thinking; else None. To ask again would
    cost as much and end in the same way."""
    at_endpoint = hasattr(judge.model, "reply_limit")
    if not reply.cut_while_thinking or not (at_endpoint or reply.thinking or reply.text.strip()):
        return None
    after = (
        f" after {reply.tokens.completion:,} tokens"
        if reply.tokens and reply.tokens.completion
        else ""
    )
    remedy = (
        "set a larger thinking_tokens for it in longmark.yaml, or reduce its thinking, then use --retry unparsable"
        if at_endpoint
        else "use a model that does not think, or one at an endpoint"
    )
    return f"The reply of {judge.name} was cut off{after}, while it was thinking, before its answer: {remedy}."


# Readers ---------------------------------------------------------------------------------------------------------

_NUMBER = r"(-?[0-9]+(?:\.[0-9]+)?)(?:\s*/\s*([0-9]+))?\.?"
_ALONE = re.compile(rf"\A[*`\s]*{_NUMBER}[*`\s]*\Z")
_LABELLED = re.compile(rf"\A[*`\s]*score[*`\s]*[:=][*`\s]*{_NUMBER}[*`\s]*\Z", re.IGNORECASE)
_NAMED = re.compile(r"\A[*`\s]*label[*`\s]*[:=](.*)\Z", re.IGNORECASE)
_MARKS = " \t\r\n*`."
_QUOTES = "\"'“”‘’"


def _text(reply: ChatReply) -> str:
    """The text of a reply without its thinking. Unreadable if it was truncated, is empty or has only thinking."""
    if reply.finish == "length":
        raise Unreadable("it was cut off before its end")
    text = split(reply.text).answer.strip()
    if not text and (reply.thinking or reply.text.strip()):
        raise Unreadable("it has only thinking, and no verdict behind it")
    if not text:
        raise Unreadable("it was empty")
    return text


def _last_line(text: str) -> str:
    """Only a line feed ends a line here: `splitlines` also splits at characters that are not visible, and a quoted
    answer may contain them."""
    return text.rpartition("\n")[2]


def number(low: float, high: float) -> Reader[float]:
    """Reads `N` as the complete reply, or `score: N` as its last line; both may end in `/HIGH`, the top of the scale.

    Unreadable if the number is not on this scale: outside it, of another top (`8/10` on 0 to 100), or a decimal from 0
    to 1 where the scale goes on: a judge that replies 0.8 on 0 to 100 means a share, and 0.8 of 100 would be near 0.
    """

    def read(reply: ChatReply) -> float:
        text = _text(reply)
        match = _ALONE.match(text) or _LABELLED.match(_last_line(text))
        if match is None:
            raise Unreadable("it is not a single number")
        digits = match[1]
        top = match[2]
        value = float(digits)
        if top is not None and float(top) != high:
            raise Unreadable(f"{digits}/{top} is not on the scale from {low:g} to {high:g}")
        if not low <= value <= high:
            raise Unreadable(f"{digits} is not between {low:g} and {high:g}")
        if "." in digits and 0 < abs(value) <= 1 and low < 1 < high:
            raise Unreadable(
                f"{digits} looks like a share of 1, and the scale is from {low:g} to {high:g}"
            )
        return value

    return Reader(read, max_tokens=64, wants=f"a number from {low:g} to {high:g}")


def choice(labels: Sequence[str], max_tokens: int = 64) -> Reader[str]:
    """Reads one of the labels: as the complete reply, as the last line alone, or as `label: X` in the last line.

    Case, and spaces, asterisks, backquotes and full stops around the label, are ignored. So are quotation marks, except
    in the last line of several, which may be a quotation. A label anywhere else is not read.
    """
    folded = {comparable(label.strip(_MARKS + _QUOTES)): label for label in labels}

    def read(reply: ChatReply) -> str:
        text = _text(reply)
        last = _last_line(text)
        answer_named = _NAMED.match(last)
        for candidate, around in (
            (text, _MARKS + _QUOTES),
            (last, _MARKS),
            (answer_named[1] if answer_named else "", _MARKS + _QUOTES),
        ):
            label = folded.get(comparable(candidate.strip(around)))
            if label is not None:
                return label
        raise Unreadable(f"neither the whole of it nor its last line is one of {', '.join(labels)}")

    return Reader(read, max_tokens, wants=f"one of {', '.join(labels)}")


def text(max_tokens: int) -> Reader[str]:
    """Reads the complete reply as a text, without thinking."""
    return Reader(_text, max_tokens)


def structure(
    model: type[Structure], max_tokens: int = 1024, schema: dict[str, Any] | None = None
) -> Reader[Structure]:
    """Reads a JSON object of a pydantic type; a code fence around it is allowed, other text is not.

    schema: the JSON schema of the request; None: that of the type. It is sent in its shortest form (`compact`).
    """

    def read(reply: ChatReply) -> Structure:
        text = _text(reply)
        fenced = re.fullmatch(r"```(?:json)?\s*\n(.*)\n```", text, re.DOTALL)
        source = fenced[1] if fenced else text
        try:
            parsed = model.model_validate_json(_without_keys(source))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "the whole"
            raise Unreadable(
                f"it is not the JSON that was asked for ({place}: {first['msg']})"
            ) from None
        try:
            parse_json(source)
        except ValueError as error:  # a key that an object has twice: pydantic takes the last one
            raise Unreadable(f"it is not the JSON that was asked for ({error})") from None
        return parsed

    return Reader(read, max_tokens, schema=schema_of(model) if schema is None else compact(schema))


def _without_keys(text: str) -> str:
    """JSON text whose strings contain no API key, not even one written with escapes."""
    if "\\" not in text:
        return text  # the client has checked it already
    try:
        return redact_reply(orjson.dumps(orjson.loads(text))).decode()
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return text


Graded = tuple[float, dict[str, Any]]
"""A score in [0, 1], and more of what was read for the evidence."""


def expected(values: Mapping[str, float]) -> Reader[Graded]:
    """Reads the expected value over the first token of the reply: sum p(token) value(token) / sum p(token), over the
    offered tokens among the most likely ones. Case and a space before a token are ignored.

    Unreadable if the offered tokens have less than half of the probability.
    """

    def read(reply: ChatReply) -> Graded:
        if not reply.logprobs:
            raise Unreadable("it was empty")
        first = reply.logprobs[0]
        weights = dict.fromkeys(values, 0.0)
        for token, logprob in first.top or ((first.token, first.logprob),):
            label = comparable(token.strip())
            if label in weights:
                weights[label] += math.exp(logprob)
        mass = math.fsum(weights.values())
        if mass < _LEAST_MASS:
            raise Unreadable(f"it should be one of {', '.join(values)}")
        value = math.fsum(values[label] * weight for label, weight in weights.items()) / mass
        shares = {label: weight / mass for label, weight in weights.items()}
        return value, {"distribution": shares, "mass": min(mass, 1.0)}

    return Reader(read, max_tokens=1, logprobs=TOP_LOGPROBS)


def first_token(first: str, second: str) -> Reader[Graded]:
    """Reads the probability of one label of two from the first token of the reply: sigmoid of the difference of their
    log-probabilities. A label's first token is any token that begins the label; several such tokens are added. A label
    without a token among the most likely ones has the log-probability -100, as in ClimaQA's code.

    Unreadable if neither has one.
    """

    def read(reply: ChatReply) -> Graded:
        if not reply.logprobs:
            raise Unreadable("it was empty")
        token = reply.logprobs[0]
        probabilities: dict[str, list[float]] = {first: [], second: []}
        for text, logprob in token.top or ((token.token, token.logprob),):
            word = text.strip().upper()
            label = next(
                (label for label in probabilities if word and label.startswith(word)), None
            )
            if label is not None:
                probabilities[label].append(math.exp(logprob))
        if not any(probabilities.values()):
            raise Unreadable(f"it should be {first} or {second}")
        log_first, other = (
            max(math.log(math.fsum(some) or math.exp(_ABSENT)), _ABSENT)
            for some in probabilities.values()
        )
        return 1 / (1 + math.exp(other - log_first)), {
            "log_probabilities": {first: log_first, second: other}
        }

    return Reader(read, max_tokens=1, logprobs=TOP_LOGPROBS)


YES_NO = expected({"yes": 1.0, "no": 0.0})
DIGITS = expected({str(digit): digit / 9 for digit in range(10)})
PERCENT = number(0, 100)
HUNDREDTHS: Reader[Graded] = PERCENT.then(lambda percent: (percent / 100, {}))


# Of an example -----------------------------------------------------------------------------------------------------


def numbered(passages: Iterable[str]) -> str:
    """Passages in one text, numbered from 1."""
    return "\n\n".join(f"[{i}] {passage}" for i, passage in enumerate(passages, start=1))


# a line of a passage that looks like the beginning of another one, as lists of references have them
_NUMBERED_LINE = re.compile(
    r"(^|[\n\r\u2028\u2029])"  # where a line begins
    r"([^\S\n\r\u2028\u2029]*\[\d+\])",
)


def numbered_apart(passages: Iterable[str]) -> str:
    """As `numbered`, for a judge that names passages by their numbers: a line of a passage that begins with a number in
    brackets gets a dot before it."""
    return numbered(_NUMBERED_LINE.sub(r"\1· \2", passage) for passage in passages)


def is_empty(example: Example) -> bool:
    """Whether the answer is missing, empty or blank."""
    return not (example.answer or "").strip()

"""Trained judges: Auto-J, CritiqueLLM, Prometheus 2 and TIGERScore choose (CALF, 4.1 and appendix C.1).

`--judge` names the endpoint that serves the model; `judge` names the format (metrics/pairs/trained.yaml): how the input
is laid out, and how the reply is read. The judge gets only this text, without our system prompt and tags. So an answer
that contains one of the format's own marks is not sent (`unsupported`). Auto-J, CritiqueLLM and Prometheus see both
answers, in the orders of `pairs.direct`. TIGERScore lists the errors of one answer; its total reductions are compared,
and the lower one is better. Auto-J and TIGERScore see no reference. Prometheus has no tie. A reply with two verdicts that
differ cannot be read.
Cost: 1 call for each judge and order; TIGERScore 2 for each judge.

Parameters: judge: `autoj`, `critiquellm`, `prometheus`, `tigerscore`, or a format of your own file. formats: a YAML
file in place of ours.
Deviations: the marks and the readings are the published ones; the instructions are in our words (the `source` of a
format says where the judge's own are).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, RootModel, Strict, model_validator

from longmark.concurrency import concurrently
from longmark.errors import NoScore, UnknownName
from longmark.judge import Reader, Unreadable, ask_as_written, text
from longmark.metric import Score
from longmark.metrics._signed_file import BUILT_IN, signed
from longmark.metrics.pairs._files import Filled, form
from longmark.metrics.pairs._verdicts import (
    SCORES,
    Opinion,
    VerdictParams,
    check_reply,
    decide,
    equal,
    orders_of,
    pair_metric,
    texts_of,
    verdict_of,
)
from longmark.models.handles import ChatHandle, Models
from longmark.models.protocols import Message
from longmark.records import yaml_file
from longmark.records.evidence import Choices, Chosen
from longmark.records.pair import Choice, Pair, plurality
from longmark.records.same import caseless

_FIELDS = ("question", "reference", "a", "b", "answer", "category", "rubric")
_RUBRIC = "Which response is more correct, and covers more of what the instruction asks for?"
_CATEGORY = "综合问答"  # of CritiqueLLM: general question answering


def _template(words: str) -> str:
    template = Template(words)
    if not template.is_valid() or not set(template.get_identifiers()) <= set(_FIELDS):
        raise ValueError(
            f"an unknown $ placeholder; use {', '.join(f'${name}' for name in _FIELDS)}, or $$ for a dollar sign"
        )
    return words


def _pattern(words: str) -> str:
    try:
        re.compile(words)
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None
    return words


Input = Annotated[Filled, AfterValidator(_template)]
Pattern = Annotated[Filled, AfterValidator(_pattern)]


class Format(yaml_file.Closed):
    """The layout of a judge's input and the reading of its reply; trained.yaml describes the fields."""

    sees: Literal["pair", "answer"]
    input: Input
    without: Input
    reading: Pattern
    choices: Mapping[Filled, Literal["a", "b", "tie"]] = Field(default_factory=dict)
    add: Annotated[bool, Strict()] = False
    better: Literal["higher", "lower"] = "higher"
    nothing: Pattern | None = None
    marks: tuple[Filled, ...] = ()
    source: Filled

    @model_validator(mode="after")
    def _fits(self) -> Format:
        if bool(self.choices) is not (self.sees == "pair"):
            raise ValueError(
                "choices: a judge that sees the pair needs them, one that sees one answer has none"
            )
        if self.add and self.sees == "pair":
            raise ValueError("add: only numbers of a judge that sees one answer are added up")
        if re.compile(self.reading).groups != 1:
            raise ValueError("reading: expected a pattern with one group")
        return self

    def written(self, texts: Mapping[str, str]) -> tuple[Message, ...]:
        """The input for texts. NoScore where one of them contains a mark of the layout."""
        folded = {name: caseless(words) for name, words in texts.items()}
        for mark in self.marks:
            if held := next(
                (name for name, words in folded.items() if caseless(mark) in words), None
            ):
                reason = f"The {held} contains {mark}, which lays out the judge's input, so it cannot be sent."
                raise NoScore("unsupported", reason)
        layout = self.input if texts.get("reference") else self.without
        return (Message("user", Template(layout).substitute(dict.fromkeys(_FIELDS, ""), **texts)),)

    def read(self, reply: str) -> str:
        """What the reply says: the text of the group, or the sum of its numbers. Unreadable if nothing is found, or
        different verdicts are."""
        verdicts = re.findall(self.reading, reply, re.IGNORECASE)
        if not verdicts and self.nothing and re.search(self.nothing, reply, re.IGNORECASE):
            return "0"
        if not verdicts:
            raise Unreadable("it has no verdict in the form of this judge")
        if self.add:
            return repr(sum(float(number) for number in verdicts))
        if len({caseless(verdict) for verdict in verdicts}) > 1:
            raise Unreadable("it has several verdicts, which differ")
        return str(verdicts[-1])

    def choice(self, reply: str) -> str:
        """The choice of a reply of a judge that sees the pair."""
        folded_verdict = caseless(self.read(reply))
        choice = next(
            (
                choice
                for verdict, choice in self.choices.items()
                if caseless(verdict) == folded_verdict
            ),
            None,
        )
        if choice is None:
            raise Unreadable(f"its verdict is none of {', '.join(self.choices)}")
        return choice

    def number(self, reply: str) -> float:
        """The number of a reply about one answer; larger is better."""
        try:
            value = float(self.read(reply))
        except ValueError:
            raise Unreadable("its verdict is no number") from None
        return -value if self.better == "lower" else value


class Formats(RootModel[dict[Filled, Format]]):
    """The formats of a file by name."""


@dataclass(frozen=True)
class TrainedParams(VerdictParams):
    judge: str = "autoj"
    formats: str = BUILT_IN
    max_tokens: int = 1024

    def __post_init__(self) -> None:
        object.__setattr__(self, "formats", signed(self.formats, _FILE))
        if self.judge not in (format_names := form(self.formats, Formats, _FILE).root):
            raise UnknownName(
                "format", self.judge, format_names, f"The formats are {', '.join(format_names)}."
            )
        check_reply(self.max_tokens)

    @property
    def format(self) -> Format:
        judge_format: Format = form(self.formats, Formats, _FILE).root[self.judge]
        return judge_format


_FILE = Path(__file__).with_name("trained.yaml")


async def score(pair: Pair, models: Models, params: Any) -> Score:
    layout: Format = params.format
    if layout.sees == "pair":
        asks = {judge.name: partial(_opinion, judge, models, params) for judge in models.judges}
        return await decide(pair, models, params, asks)
    if params.equal == "tie" and (tie := equal(pair)):
        return tie
    choices: list[Chosen] = []
    for judge in models.judges:
        sides = [
            {**_texts(texts_of(pair)), "answer": words}
            for words in (pair.shown("a"), pair.shown("b"))
        ]
        a, b = await concurrently(partial(_ask, judge, models, params, layout.number), sides)
        chosen_side = verdict_of(a[0], b[0])[0]
        details: dict[str, Any] = {"ratings": {"a": a[0], "b": b[0]}, "replies": [a[1], b[1]]}
        choices.append(Chosen(choice=chosen_side, judge=judge.name, **details))
    verdict: Choice = plurality(chosen.choice for chosen in choices) or "tie"
    return Score(SCORES[verdict], Choices(choices=choices).evidence())


async def _opinion(
    judge: ChatHandle, models: Models, params: Any, texts: Mapping[str, str]
) -> Opinion:
    filled = {**_texts(texts), "a": texts["answer_a"], "b": texts["answer_b"]}
    chosen, reply = await _ask(judge, models, params, params.format.choice, filled)
    return Opinion(chosen, evidence={"reply": reply})


async def _ask(
    judge: ChatHandle, models: Models, params: Any, read: Any, texts: Mapping[str, str]
) -> tuple[Any, str]:
    """What one judge says of texts, and its reply."""
    reader: Reader[Any] = text(params.max_tokens).then(read)
    messages = params.format.written(texts)
    verdict = await ask_as_written(judge, f"pairs.trained.{params.judge}", messages, reader)
    return verdict.value, verdict.replies[-1]


def _texts(texts: Mapping[str, str]) -> dict[str, str]:
    """What a format can fill in, but for the answers; the context stands before the question."""
    question = "\n\n".join(filter(None, (texts["context"], texts["question"])))
    return {
        "question": question,
        "reference": texts["reference"],
        "rubric": _RUBRIC,
        "category": _CATEGORY,
    }


METRIC = pair_metric(
    score,
    (),
    TrainedParams,
    lambda params, judges: judges * (2 if params.format.sees == "answer" else orders_of(params)),
)

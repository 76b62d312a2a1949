"""Replies that stand in for those of a run's models, so that `--dry-run` can walk each metric to its end.

What a metric calls depends on the replies before: a judge is asked about the claims that it has listed. A stand-in
reply has the form that the request asks for. Its content is one of these figures, which say nothing of any model; what
the user's last runs measured corrects them (`estimate`):

    statements, claims, questions of a text     one a sentence and as long as that (metrics' `calls` assume the same
                                                number), of texts that are numbered one each; `Rehearsal.statements`
                                                gives more or fewer
    the label of a statement                    `entails` where a text that is shown contains it, else `neutral`
    a grade                                     one below the best, of every fourth statement 2: relevance 4 and 2
    the answers of a text to a question         one, to every question that it contains and to every second other one,
                                                by a hash of both
    a text                                      as long as the longest text that is shown
    vectors, relevance scores, likelihoods      those of `models.fake`; a classifier of pairs finds `neutral`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from longmark.engine.rehearsed_value import ReplyVariant, ShownTexts, StandInValue
from longmark.models.client import Accepts
from longmark.models.fake import FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.protocols import (
    ChatReply,
    ChatRequest,
    LikelihoodReply,
    LikelihoodRequest,
    RelationReply,
    TokenLogprobs,
    Tokens,
)
from longmark.text.pieces import utf8_size

_WORD = re.compile(r"[^\s\"'`,.:;(){}\[\]<>]+")
_TRIED = 300  # words of a prompt that are tried as a label, at most
_BYTES = 4  # a token, as the budget estimates it
_NUMBERS = ("80", "4", "1", "0", "0.5")


@dataclass
class Rehearsal:
    """Stands in for every model of a run, and counts what it was asked. statements: that it lists of a sentence, 1 or 2,
    or a fraction of 1. replies: by the key of their call; what was asked once is answered again without a call. usd:
    None once a price is not known. lists_statements: whether a reply listed statements of a text, which is as long as
    that assumes."""

    statements: float = 1.0
    replies: dict[bytes, tuple[Any, float | None]] = field(default_factory=dict)
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    lists_statements: bool = False

    def model(self, kind: str, accepts: Accepts | None) -> Any:
        """What answers a call of this kind."""
        if kind == "chat":
            return _StandInChat(accepts, self)
        return _STAND_INS[kind]

    def book(
        self,
        reserved: Tokens,
        replies: Sequence[Any],
        price: Callable[[Tokens], float | None],
    ) -> list[tuple[Any, float | None]]:
        """Counts a call. reserved: its tokens as a budget counts them. The replies with their tokens and price: those of
        the call are the first one's."""
        written = sum(utf8_size(reply.text) for reply in replies if isinstance(reply, ChatReply))
        tokens = Tokens(
            prompt=reserved.prompt,
            completion=min(reserved.completion, -(-written // _BYTES)),
        )
        usd = price(tokens)
        self.calls += 1
        self.prompt_tokens += tokens.prompt
        self.completion_tokens += tokens.completion
        self.usd = None if self.usd is None or usd is None else self.usd + usd
        first = (replace(replies[0], tokens=tokens), usd)
        return [first, *((replace(reply, tokens=Tokens()), 0.0) for reply in replies[1:])]


class _StandInChat:
    """A chat model whose replies have the form that is asked for."""

    def __init__(self, accepts: Accepts | None, rehearsal: Rehearsal) -> None:
        self._accepts = accepts
        self._rehearsal = rehearsal

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The first stand-in that the reader of the reply accepts, else the last one."""
        reply = ChatReply("")
        for text in _replies(request, self._rehearsal):
            reply = ChatReply(text, logprobs=_logprobs(text) if request.logprobs else ())
            if self._accepts is None:
                return reply
            with suppress(Exception):  # readers of metrics from outside may raise anything
                self._accepts(reply)
                return reply
        return reply


class _StandInClassifier:
    """Finds that a premise says nothing of any claim."""

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        return RelationReply(((0.1, 0.1, 0.8),) * len(hypotheses))


class _StandInLanguageModel(FakeLanguageModel):
    """Takes several texts at once, as models that share prefixes do."""

    async def likelihoods(self, requests: Sequence[LikelihoodRequest]) -> list[LikelihoodReply]:
        return [await self.likelihood(request) for request in requests]


_STAND_INS: Mapping[str, Any] = {
    "embed": FakeEmbedder(),
    "rerank": FakeReranker(),
    "relation": _StandInClassifier(),
    "likelihood": _StandInLanguageModel(entropy=True),
}


def _replies(request: ChatRequest, rehearsal: Rehearsal) -> Iterator[str]:
    """Stand-ins for a reply, the likeliest first."""
    prompt = "\n\n".join(message.content for message in request.messages)
    shown_texts = ShownTexts(prompt, rehearsal.statements)
    if request.schema is not None:
        for variant in ReplyVariant:
            value = StandInValue(request.schema, shown_texts, variant).value(request.schema)
            rehearsal.lists_statements |= shown_texts.lists_statements
            yield orjson.dumps(value).decode()
    else:
        yield shown_texts.longest[: _BYTES * request.max_tokens]
    yield from _NUMBERS
    words = reversed(_WORD.findall(request.messages[-1].content))
    yield from list(dict.fromkeys(words))[:_TRIED]


def _logprobs(text: str) -> tuple[TokenLogprobs, ...]:
    """A token for each word, number and sign, each nearly certain."""
    tokens = re.findall(r"\w+|\s+|[^\w\s]", text)
    return tuple(TokenLogprobs(token, -0.01, ((token, -0.01),)) for token in tokens)

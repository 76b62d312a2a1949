"""Models for unit tests, of your own metrics too: they run no model.

They keep their requests in `requests`, give the same reply every time and cost nothing. Two fakes with the same name
count as the same model to the call cache, so give each its own name where both share one cache.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from longmark.models.protocols import (
    Capabilities,
    ChatReply,
    ChatRequest,
    EmbedReply,
    LikelihoodReply,
    LikelihoodRequest,
    RerankReply,
    TokenLogprobs,
    Tokens,
)

Answer = str | ChatReply | Exception
Answers = str | Callable[[ChatRequest], Answer] | Sequence[Answer] | Mapping[str, Answer]


class _Fake:
    def __init__(self, kind: str, name: str, width: int | None, **capabilities: Any) -> None:
        self.name = name
        self.identity = f"fake-{kind}:{name}"
        self.width = width
        self.capabilities = Capabilities(**capabilities)
        self.requests: list[Any] = []
        self.closed = False

    async def close(self) -> None:
        self.closed = True


class FakeChat(_Fake):
    """A chat model with given answers.

    answers: a text, always that; or a function of the request; or a sequence, one answer a call, in order; or a
    mapping, whose first key that occurs in the messages decides; or None: a number from 0 to 100 from a hash of the
    request. An answer that is an exception is raised. LookupError where no answer is left or none fits. logprobs:
    candidates and their natural-log probabilities for calls that request log-probabilities; the likeliest is the text
    then. latency: seconds a call takes. capabilities: what it claims to be able to do.
    """

    requests: list[ChatRequest]

    def __init__(
        self,
        answers: Answers | None = None,
        *,
        logprobs: Mapping[str, float] | None = None,
        latency: float = 0.0,
        name: str = "fake",
        width: int | None = None,
        capabilities: Capabilities | None = None,
    ) -> None:
        super().__init__("chat", name, width, logprobs=20 if logprobs else 0)
        self.capabilities = capabilities or self.capabilities
        self.in_flight = 0
        self.most_in_flight = 0
        self._answers = answers
        self._left = (
            list(answers) if isinstance(answers, Sequence) and not isinstance(answers, str) else []
        )
        self._logprobs = logprobs
        self._latency = latency

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The answer to a request."""
        self.requests.append(request)
        answer = self._answer(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self._latency:
                await asyncio.sleep(self._latency)
        finally:
            self.in_flight -= 1
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, ChatReply):
            return answer
        tokens = Tokens(
            sum(_count(message.content) for message in request.messages), 0, _count(answer)
        )
        return ChatReply(answer, tokens=tokens)

    def _answer(self, request: ChatRequest) -> Answer:
        answers = self._answers
        if answers is None and request.logprobs and self._logprobs:
            ranked = sorted(self._logprobs.items(), key=lambda pair: -pair[1])
            token = TokenLogprobs(*ranked[0], tuple(ranked[: request.logprobs]))
            return ChatReply(token.token, logprobs=(token,), tokens=Tokens(0, 0, 1))
        if answers is None:
            return str(_number(repr(request)) % 101)
        if isinstance(answers, str):
            return answers
        if callable(answers):
            return answers(request)
        if isinstance(answers, Mapping):
            text = "\n".join(message.content for message in request.messages)
            for key, answer in answers.items():
                if key in text:
                    return answer
            raise LookupError(f"the fake model has no answer to: {text[:200]}")
        if not self._left:
            raise LookupError(
                f"the fake model was given {len(answers)} answers and is asked once more"
            )
        return self._left.pop(0)


class FakeEmbedder(_Fake):
    """Unit vectors of hashed words: texts with the same words have cosine 1, texts without a common one about 0."""

    requests: list[tuple[str, ...]]

    def __init__(
        self, dimensions: int = 64, *, name: str = "fake", width: int | None = None
    ) -> None:
        super().__init__("embedder", name, width)
        self.identity += f":{dimensions}"
        self._dimensions = dimensions

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """One vector of length 1 a text."""
        self.requests.append(tuple(texts))
        tokens = Tokens(sum(_count(text) for text in texts))
        return EmbedReply(tuple(self._vector(text) for text in texts), tokens)

    def _vector(self, text: str) -> tuple[float, ...]:
        vector = [0.0] * self._dimensions
        for word in _words(text):
            number = _number(word)
            vector[number % self._dimensions] += 1.0 if number & 1 << 40 else -1.0
        length = math.sqrt(sum(x * x for x in vector))
        if not length:  # no words, or words that cancel out
            vector[0] = length = 1.0
        return tuple(x / length for x in vector)


class FakeReranker(_Fake):
    """A document's score is how many of the query's words it has, less half a point for each that it does not have; or
    what `score(query, document)` gives."""

    requests: list[tuple[str, tuple[str, ...]]]

    def __init__(
        self,
        score: Callable[[str, str], float] | None = None,
        *,
        name: str = "fake",
        width: int | None = None,
    ) -> None:
        super().__init__("reranker", name, width)
        self._score = score or _overlap

    async def rerank(self, query: str, documents: Sequence[str]) -> RerankReply:
        """One score a document, in their order."""
        self.requests.append((query, tuple(documents)))
        tokens = Tokens(
            _count(query) * len(documents) + sum(_count(document) for document in documents)
        )
        return RerankReply(tuple(self._score(query, document) for document in documents), tokens)


class FakeLanguageModel(_Fake):
    """Words are its tokens: one that the prompt has gets log-probability -0.5, any other one between -2 and -4 from a
    hash of it; or what `logprob(prompt, word)` gives. Entropies are twice the distance of the log-probability from 0,
    where `entropy` is on."""

    requests: list[LikelihoodRequest]

    def __init__(
        self,
        logprob: Callable[[str, str], float] | None = None,
        *,
        entropy: bool = False,
        name: str = "fake",
        width: int | None = None,
    ) -> None:
        super().__init__("lm", name, width, prompt_logprobs=True, entropy=entropy)
        self._logprob = logprob or _likely_if_read

    async def likelihood(self, request: LikelihoodRequest) -> LikelihoodReply:
        """The log-probability of each word of the text."""
        self.requests.append(request)
        pieces = tuple(re.findall(r"\s*\S+", request.text))
        logprobs = tuple(self._logprob(request.prompt, piece.strip()) for piece in pieces)
        entropies = tuple(-2 * value for value in logprobs) if self.capabilities.entropy else ()
        tokens = Tokens(_count(request.prompt) + len(pieces))
        return LikelihoodReply(logprobs, pieces, entropies, tokens)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _count(text: str) -> int:
    return len(text.split())


def _number(text: str) -> int:
    """An integer below 2**64, the same in every process."""
    return int.from_bytes(
        hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big"
    )


def _overlap(query: str, document: str) -> float:
    asked_words = set(_words(query))
    common = asked_words & set(_words(document))
    return len(common) - 0.5 * len(asked_words - common)


@lru_cache(maxsize=32)  # a prompt is asked about each word of a text
def _distinct_words(text: str) -> frozenset[str]:
    return frozenset(_words(text))


def _likely_if_read(prompt: str, word: str) -> float:
    return (
        -0.5 if set(_words(word)) & _distinct_words(prompt) else -2.0 - _number(word) % 2001 / 1000
    )

"""Requests to models, their replies, and the protocols of backends.

A backend implements one or more of the four protocols and raises only `errors.ModelError` and its kinds. Caching,
retries, limits and counts are the client's (`models.client`). Requests and replies are frozen dataclasses of plain
values, so that they can be hashed for the cache and stored as JSON. A reply checks its own numbers when it is made
(BadReply); their types are checked by the client, before anything is stored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from longmark.errors import BadReply, RequestRefused
from longmark.records.thinking import split

MOST_TOKENS = 10**9  # of one call; what an endpoint counts beyond that is a mistake of its
_FLOAT32 = 3.4028234663852886e38  # the largest number of 32 bits, in which vectors are kept
_ROUNDING = 1e-3  # by which a log-probability may be above 0


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend can do. None: not known before the first call (an HTTP endpoint).

    logprobs: how many top log-probabilities a reply can carry for each of its tokens. prompt_logprobs: whether it gives
    log-probabilities of a given text; entropy: of the whole vocabulary.
    """

    logprobs: int | None = 0
    prompt_logprobs: bool | None = False
    entropy: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    role: str  # "system", "user" or "assistant"
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A chat call. sample: which of several equal calls this is (part of the cache key; sent as the seed where the
    backend takes one). logprobs: how many top log-probabilities to return for each token of the reply (0: none).
    schema: a JSON schema the reply must follow; schema_name: a name for it, letters, digits and underscores."""

    messages: tuple[Message, ...]
    temperature: float = 0.0
    top_p: float = 1.0
    max_tokens: int = 256
    sample: int = 0
    logprobs: int = 0
    schema: dict[str, Any] | None = None
    schema_name: str = "verdict"


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """One token of a reply: its text, its natural-log probability, and the most likely candidates (text, logprob)."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        _check_logprobs((self.logprob, *(logprob for _, logprob in self.top)))


_VALUE = re.compile(r":\s*(?=[0-9])")  # before a number that is the value of a key in JSON


def of_digits(tokens: Sequence[TokenLogprobs]) -> tuple[TokenLogprobs, ...]:
    """The log-probabilities of a reply in JSON without those that say nothing of a number that is a value: a token with
    the first digit of one keeps its candidates that are digits; the others are joined, without candidates. The text of
    all tokens together stays, and the log-probability of joined tokens is that of all of them."""
    text = "".join(token.token for token in tokens)
    starts = {match.end() for match in _VALUE.finditer(text)}
    shortened: list[TokenLogprobs] = []
    joined = False  # whether the last one of `shortened` begins no number
    place = 0
    for token in tokens:
        end = place + len(token.token)
        begins_number = any(character in starts for character in range(place, end))
        place = end
        if begins_number:
            top = tuple((text, logprob) for text, logprob in token.top if _is_digits(text))
            shortened.append(TokenLogprobs(token.token, token.logprob, top))
            joined = False
        elif joined:
            before = shortened.pop()
            shortened.append(
                TokenLogprobs(before.token + token.token, before.logprob + token.logprob)
            )
        else:
            shortened.append(TokenLogprobs(token.token, token.logprob))
            joined = True
    return tuple(shortened)


def _is_digits(text: str) -> bool:
    stripped = text.strip()
    return stripped.isascii() and stripped.isdigit()


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens as the endpoint counted them; cached_prompt: the part of prompt that it did not evaluate again;
    stored_prompt: the part that it took into its cache where that has a price of its own (Anthropic, OpenAI). BadReply for
    impossible counts: below 0, above `MOST_TOKENS`, more cached than read."""

    prompt: int = 0
    cached_prompt: int = 0
    completion: int = 0
    stored_prompt: int = 0

    def __post_init__(self) -> None:
        if (
            not 0 <= self.cached_prompt <= self.prompt <= MOST_TOKENS
            or not 0 <= self.stored_prompt <= self.prompt - self.cached_prompt
            or not 0 <= self.completion <= MOST_TOKENS
        ):
            raise BadReply(
                f"impossible token counts: {self.prompt}, {self.cached_prompt}, {self.completion}"
            )


def total_tokens(many: Iterable[Tokens | None]) -> Tokens | None:
    """The sum of several replies' tokens; None where one of them is not known, or the sum is beyond `MOST_TOKENS`."""
    prompt = cached = completion = stored = 0
    for tokens in many:
        if tokens is None:
            return None
        prompt += tokens.prompt
        cached += tokens.cached_prompt
        completion += tokens.completion
        stored += tokens.stored_prompt
    if max(prompt, completion) > MOST_TOKENS:
        return None
    return Tokens(prompt, cached, completion, stored)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """text: what the model wrote. finish: `stop`, `length`, `content_filter` or what the endpoint says. refusal: the
    endpoint's own refusal message. logprobs: one entry a token where they were asked for and given, else (). tokens (of
    every kind of reply): None where the endpoint gave no usable count. thinking: what a reasoning model wrote before
    its answer, where the endpoint shows it; it is no part of text. model, fingerprint: the version of the model, and of
    the system that runs it, as the endpoint reported them; None where it reported none."""

    text: str
    finish: str = "stop"
    refusal: str | None = None
    logprobs: tuple[TokenLogprobs, ...] = ()
    tokens: Tokens | None = field(default_factory=Tokens)
    thinking: str = ""
    model: str | None = None
    fingerprint: str | None = None

    @property
    def versions(self) -> tuple[str, ...]:
        """`MODEL (FINGERPRINT)` as the endpoint reported it: one, or none where it reported neither."""
        mark = f"({self.fingerprint})" if self.fingerprint else ""
        return (" ".join(filter(None, (self.model, mark))),) if self.model or mark else ()

    @property
    def cut_while_thinking(self) -> bool:
        """Whether the limit ended it before its answer began."""
        return self.finish == "length" and not self.logprobs and not split(self.text).answer.strip()


@dataclass(frozen=True, slots=True)
class EmbedReply:
    """vectors: one a text, in the order of the texts, as the backend gives them (the caller normalises)."""

    vectors: tuple[tuple[float, ...], ...]
    tokens: Tokens | None = field(default_factory=Tokens)

    def __post_init__(self) -> None:
        if len({len(vector) for vector in self.vectors}) > 1 or not all(self.vectors):
            raise BadReply("embeddings that are empty or of different lengths")
        for vector in self.vectors:
            if not all(-_FLOAT32 <= number <= _FLOAT32 for number in vector):
                raise BadReply(
                    "an embedding holds a number that is not finite, or too large for 32 bits"
                )


@dataclass(frozen=True, slots=True)
class RerankReply:
    """scores: one raw relevance score (no sigmoid) a document, in the order of the documents."""

    scores: tuple[float, ...]
    tokens: Tokens | None = field(default_factory=Tokens)

    def __post_init__(self) -> None:
        _check_finite("a relevance score", self.scores)


@dataclass(frozen=True, slots=True)
class RelationReply:
    """probabilities: one triple a hypothesis, in their order: that the premise entails it, contradicts it, neither. A
    model without the class of contradictions gives it 0. BadReply unless each triple adds up to 1."""

    probabilities: tuple[tuple[float, float, float], ...]
    tokens: Tokens | None = field(default_factory=Tokens)

    def __post_init__(self) -> None:
        for triple in self.probabilities:
            if not all(0 <= p <= 1 for p in triple) or abs(sum(triple) - 1) > _ROUNDING:
                raise BadReply(f"probabilities that do not add up to 1: {triple}")


SEGMENT = "\x1e"  # ASCII's record separator


def log_sum(logprobs: Sequence[float]) -> float:
    """The logarithm of the sum of probabilities."""
    top = max(logprobs)
    return top + math.log(math.fsum(math.exp(logprob - top) for logprob in logprobs))


@dataclass(frozen=True, slots=True)
class LikelihoodRequest:
    """The text whose log-probabilities are wanted, after the prompt. `chat`: the prompt is put into the model's chat
    template as a user message first; else both are raw text. A prompt for an encoder-decoder can have several segments,
    joined by `SEGMENT`: each is encoded as a text of its own."""

    prompt: str
    text: str
    chat: bool = False


@dataclass(frozen=True, slots=True)
class LikelihoodReply:
    """logprobs: natural-log probability of each token of the text, given the prompt and the tokens before it.
    pieces: those tokens as text. entropies: of each position's whole distribution in nats, () where not supported."""

    logprobs: tuple[float, ...]
    pieces: tuple[str, ...]
    entropies: tuple[float, ...] = ()
    tokens: Tokens | None = field(default_factory=Tokens)

    def __post_init__(self) -> None:
        if len(self.pieces) != len(self.logprobs) or len(self.entropies) not in (
            0,
            len(self.logprobs),
        ):
            raise BadReply("not one log-probability, piece and entropy for each token")
        _check_logprobs(self.logprobs)
        _check_finite("an entropy", self.entropies)


def no_start_token(name: str) -> RequestRefused:
    """The error of a language model that gets an empty prompt and puts no start token before a text."""
    return RequestRefused(
        f"{name} has no start token: the first token of a text has no probability without a prompt; give a prompt"
    )


def _check_finite(holder: str, numbers: Iterable[float]) -> None:
    if not all(map(math.isfinite, numbers)):
        raise BadReply(f"{holder} holds a number that is not finite")


def _check_logprobs(numbers: Iterable[float]) -> None:
    if not all(-math.inf < number <= _ROUNDING for number in numbers):
        raise BadReply("a log-probability that is not finite, or above 0")


class Backend(Protocol):
    """What every backend has.

    name: as in signatures and tables, never with a key. identity: names the model for the cache key (base URL and
    model, or a file's hash). width: how many calls at once a model on this machine can serve; a stop cancels those
    under way. None: an endpoint, whose limit is the user's.
    """

    name: str
    identity: str
    capabilities: Capabilities
    width: int | None

    async def close(self) -> None: ...


class Chat(Backend, Protocol):
    """May have `reply_limit`: the most tokens of the reply to a request, where it gives a model more room than the
    request says (for thinking)."""

    async def chat(self, request: ChatRequest) -> ChatReply: ...


@runtime_checkable
class Settling(Chat, Protocol):
    """A chat model that may not take every parameter. settled: those that it is not sent, in words; settle: from here
    on that does not change, and is what `words` say (None: what is known by now)."""

    @property
    def settled(self) -> list[str]: ...

    def settle(self, words: Sequence[str] | None = None) -> None: ...


class Embedder(Backend, Protocol):
    """May have `batch`: the most texts in one request (None or no such attribute: any number). It raises
    `TooManyInputs` once it has made that smaller."""

    async def embed(self, texts: Sequence[str]) -> EmbedReply: ...


class Reranker(Backend, Protocol):
    """May have `batch`, as an `Embedder` may: the most documents in one request."""

    async def rerank(self, query: str, documents: Sequence[str]) -> RerankReply: ...


@runtime_checkable
class RelationModel(Backend, Protocol):
    """A classifier of pairs. piece: the most bytes of a premise that it reads with a hypothesis. May have `threshold`:
    the probability of `entails` from which on that is the label; without it the most probable of the three is."""

    piece: int

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply: ...


class LanguageModel(Backend, Protocol):
    async def likelihood(self, request: LikelihoodRequest) -> LikelihoodReply: ...


@runtime_checkable
class PrefixSharing(LanguageModel, Protocol):
    """A language model that reads what several prompts have in common once, where all of them come in one call. (A
    server that keeps its last prompts needs no such call: they are sent in their order.)"""

    async def likelihoods(self, requests: Sequence[LikelihoodRequest]) -> list[LikelihoodReply]: ...

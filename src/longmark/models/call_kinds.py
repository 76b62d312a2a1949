"""The kinds of calls: how each is sent, how many tokens it can take, and how its replies are checked, stored and read.

Every reply is checked once before it is stored: its types, signs and sizes, that it reads back from the cache as it
was, and that it repeats no key.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic

import orjson
from pydantic import TypeAdapter, ValidationError

from longmark.errors import ServerFault
from longmark.models.budget import estimate_tokens
from longmark.models.keys import redact_reply
from longmark.models.protocols import (
    Backend,
    Chat,
    ChatReply,
    ChatRequest,
    Embedder,
    EmbedReply,
    LanguageModel,
    LikelihoodReply,
    LikelihoodRequest,
    PrefixSharing,
    RelationModel,
    RelationReply,
    Reranker,
    RerankReply,
    Tokens,
    of_digits,
)
from longmark.models.sending import Reply

_LONG_REPLY = 1 << 12  # bytes from which a reply is compressed
_LONGEST_REPLY = 1 << 24  # bytes up to which it is: what expands to more is read as damaged
_LEVEL = 1  # the quickest: half a millisecond for 100 kB
_COMPRESSED = b"\x78"  # how zlib's output begins, and no JSON does

Stored = tuple[Any, float | None]  # a reply, and what it cost in US dollars


@dataclass(frozen=True)
class CallKind(Generic[Reply]):
    """A kind of call. name: in cache keys; reply: the type of its replies; send: makes one call of a model for several
    requests; most: the tokens that such requests to a model can take."""

    name: str
    reply: type[Reply]
    send: Callable[[Any, list[Any]], Awaitable[list[Reply]]]
    most: Callable[[Any, list[Any]], Tokens]

    @cached_property
    def form(self) -> TypeAdapter[Reply]:
        # made where the first reply is checked: it takes milliseconds
        return TypeAdapter(self.reply)


def read_stored(
    kind: CallKind[Reply], stored_reply: tuple[bytes, float | None] | None
) -> Stored | None:
    """A stored reply and its price; None where there is none, or one that cannot be read: of another version, or
    damaged."""
    try:
        if stored_reply is None or not (
            stored_reply[1] is None
            or (isinstance(stored_reply[1], float) and 0 <= stored_reply[1] < math.inf)
        ):
            return None
        return kind.form.validate_json(unpacked(stored_reply[0]), strict=True), stored_reply[1]
    except (ValidationError, TypeError, zlib.error):
        return None


def packed(reply: bytes) -> bytes:
    """A reply in JSON as the cache holds it: a long one compressed, as the texts in it repeat themselves (the tokens of
    a reply beside its text, the keys of each token)."""
    if not _LONG_REPLY <= len(reply) <= _LONGEST_REPLY:
        return reply
    return zlib.compress(reply, _LEVEL)


def unpacked(stored: bytes) -> bytes:
    """The JSON of a stored reply. zlib.error for one that is damaged, or longer than any that was compressed."""
    if not isinstance(stored, bytes) or stored[:1] != _COMPRESSED:
        return stored
    expansion = zlib.decompressobj()
    reply = expansion.decompress(stored, _LONGEST_REPLY)
    if not expansion.eof or expansion.unused_data:
        raise zlib.error("a stored reply that does not end")
    return reply


def checked_reply(reply: Reply, kind: CallKind[Reply], name: str) -> tuple[Reply, bytes]:
    """A reply as the cache will give it back, and as it is stored. ServerFault where it makes no sense."""
    try:
        data = redact_reply(orjson.dumps(reply))
        return kind.form.validate_json(data, strict=True), packed(data)
    except (
        ValidationError,
        TypeError,
    ) as error:  # TypeError: half a surrogate pair cannot be written
        first = error.errors(include_url=False)[0] if isinstance(error, ValidationError) else None
        why = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else str(error)
    raise ServerFault(f"{name} sent an invalid reply: {why}", 200)


def pairs_a_call(kind: CallKind[Any], model: Backend) -> int | None:
    """How many pairs of a premise and a claim a model is asked about in one call; None: all, as of other kinds of
    requests. The calls of those are counted as they are asked for, since what a model takes at once may be learnt."""
    return getattr(model, "batch", None) if kind is RELATIONS else None


def batches_of(requests_by_key: dict[bytes, Any], size: int | None) -> list[dict[bytes, Any]]:
    items = list(requests_by_key.items())
    step = max(1, size or len(items))
    return [dict(items[i : i + step]) for i in range(0, len(items), step)]


def _shares(tokens: Tokens | None, count: int) -> list[Tokens | None]:
    """The tokens of one reply, dealt out to what it was asked for."""
    if tokens is None:
        return [None] * count

    def dealt(total: int) -> list[int]:
        share, remainder = divmod(total, count)
        return [share + (remainder if i == 0 else 0) for i in range(count)]

    fresh = dealt(tokens.prompt - tokens.cached_prompt)
    cached = dealt(tokens.cached_prompt)
    written = dealt(tokens.completion)
    return [Tokens(fresh[i] + cached[i], cached[i], written[i]) for i in range(count)]


def _most(*texts: str, completion: int = 0) -> Tokens:
    """The most tokens that texts and a reply take."""
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return Tokens(prompt=estimate_tokens(size), completion=completion)


async def _chat(model: Chat, requests: list[ChatRequest]) -> list[ChatReply]:
    return [await model.chat(requests[0])]


async def _chat_of_digits(model: Chat, requests: list[ChatRequest]) -> list[ChatReply]:
    return [
        replace(reply, logprobs=of_digits(reply.logprobs)) for reply in await _chat(model, requests)
    ]


async def _embed(model: Embedder, texts: list[str]) -> list[EmbedReply]:
    reply = await model.embed(texts)
    if len(reply.vectors) != len(texts):
        raise ServerFault(
            f"{model.name} gave {len(reply.vectors)} vectors for {len(texts)} texts", 200
        ).with_bill()
    shares = _shares(reply.tokens, len(texts))
    return [
        EmbedReply((vector,), share) for vector, share in zip(reply.vectors, shares, strict=True)
    ]


async def _rerank(model: Reranker, requests: list[dict[str, Any]]) -> list[RerankReply]:
    return [await model.rerank(requests[0]["query"], requests[0]["documents"])]


async def _classify(model: RelationModel, pairs: list[dict[str, str]]) -> list[RelationReply]:
    reply = await model.classify(pairs[0]["premise"], [pair["hypothesis"] for pair in pairs])
    if len(reply.probabilities) != len(pairs):
        raise ServerFault(
            f"{model.name} classified {len(reply.probabilities)} of {len(pairs)} pairs", 200
        ).with_bill()
    shares = _shares(reply.tokens, len(pairs))
    return [
        RelationReply((triple,), share)
        for triple, share in zip(reply.probabilities, shares, strict=True)
    ]


async def _likelihood(
    model: LanguageModel, requests: list[LikelihoodRequest]
) -> list[LikelihoodReply]:
    if len(requests) > 1 and isinstance(model, PrefixSharing):
        return await model.likelihoods(requests)
    return [await model.likelihood(requests[0])]


def _most_of_chat(model: Any, requests: list[ChatRequest]) -> Tokens:
    limit = (
        model.reply_limit(requests[0]) if hasattr(model, "reply_limit") else requests[0].max_tokens
    )
    # endpoints add it to the prompt
    schema = orjson.dumps(requests[0].schema).decode() if requests[0].schema else ""
    most_tokens = _most(
        *(message.content for message in requests[0].messages), schema, completion=limit
    )
    return (
        replace(most_tokens, stored_prompt=most_tokens.prompt) if _may_store(model) else most_tokens
    )


def _may_store(model: Any) -> bool:
    """Whether an endpoint may charge more for tokens that it takes into its cache: where a price of the public list
    says so, or where requests mark what is to be taken in."""
    settings = getattr(model, "settings", None)
    return getattr(model, "marks_prefixes", False) or (
        settings is not None and settings.price is None
    )


CHATS = CallKind("chat", ChatReply, _chat, _most_of_chat)
CHATS_OF_DIGITS = CallKind("chat", ChatReply, _chat_of_digits, _most_of_chat)
EMBEDS = CallKind("embed", EmbedReply, _embed, lambda _, texts: _most(*texts))
RERANKS = CallKind(
    "rerank",
    RerankReply,
    _rerank,
    lambda _, all_: _most(*(t for d in all_[0]["documents"] for t in (all_[0]["query"], d))),
)
RELATIONS = CallKind(
    "relation",
    RelationReply,
    _classify,
    lambda _, all_: _most(*(t for p in all_ for t in p.values())),
)
LIKELIHOODS = CallKind(
    "likelihood",
    LikelihoodReply,
    _likelihood,
    lambda _, all_: _most(*(t for r in all_ for t in (r.prompt, r.text))),
)

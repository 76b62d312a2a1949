"""Embeddings over HTTP: POST {base}/embeddings, in batches, asked for in base64 (4 bytes a number, exact
float32).

An endpoint that refuses `encoding_format` gets `float` from then on (`float-embeddings`); one that refuses a
batch for its size gets half as many, and the size is kept for as long as the backend lives.
"""

from __future__ import annotations

import base64
import math
import sys
from array import array
from collections.abc import Sequence
from typing import Any

from longmark.errors import ServerFault, TooLong
from longmark.models.http import Endpoint, Refusal, tokens_of
from longmark.models.protocols import Capabilities, EmbedReply, Tokens

BATCH = 32  # the most that text-embeddings-inference takes unless told otherwise


class HttpEmbedder:
    """An embedding model at an endpoint. batch: texts in one request, at most."""

    width: int | None = None
    capabilities = Capabilities(json_schema=False, logprobs=0, prompt_logprobs=False)

    def __init__(self, endpoint: Endpoint, model: str, name: str, batch: int = BATCH) -> None:
        self.name = name
        self.model = model
        self.identity = f"{model}@{endpoint.base_url}"
        self.endpoint = endpoint
        self._url = endpoint.url("/embeddings")
        self._batch = batch

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """One vector a text; the requests of several batches follow one another. No texts: no request."""
        vectors: list[tuple[float, ...]] = []
        prompt = cached = 0
        while len(vectors) < len(texts):
            part = list(texts[len(vectors) : len(vectors) + self._batch])
            try:
                found, tokens = await self._ask(part)
            except Refusal as refusal:
                if len(part) == 1 or not too_many(refusal):
                    raise
                self._batch = min(self._batch, len(part) // 2)
                continue
            vectors += found
            prompt += tokens.prompt
            cached += tokens.cached_prompt
        if len({len(vector) for vector in vectors}) > 1:
            raise ServerFault(f"{self.endpoint.host} sent embeddings of different lengths", 200)
        return EmbedReply(tuple(vectors), Tokens(prompt, cached))

    async def close(self) -> None:
        await self.endpoint.close()

    async def _ask(self, texts: list[str]) -> tuple[list[tuple[float, ...]], Tokens]:
        body: dict[str, Any] = {"model": self.model, "input": texts, "encoding_format": "base64"}
        if self.endpoint.knows(self.identity, "float-embeddings"):
            body["encoding_format"] = "float"
        try:
            reply = await self.endpoint.post(self._url, body)
        except Refusal as refusal:
            if body["encoding_format"] == "float" or not refusal.names("encoding_format", "base64"):
                raise
            self.endpoint.learn(self.identity, "float-embeddings")
            return await self._ask(texts)
        try:
            found = {item["index"]: _vector(item["embedding"]) for item in reply["data"]}
            if len(reply["data"]) != len(texts):
                raise ValueError(f"{len(reply['data'])} embeddings for {len(texts)} texts")
            return [found[index] for index in range(len(texts))], tokens_of(reply.get("usage"))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            missing = f"{type(error).__name__} at {error}"
        raise ServerFault(f"{self.endpoint.host} sent embeddings that cannot be read ({missing})", 200)


def too_many(refusal: Refusal) -> bool:
    """Whether a request was refused for the number of its inputs, not for the length of one."""
    if isinstance(refusal, TooLong):
        return False
    return refusal.http_status == 413 or refusal.names("batch size", "batch_size", "too many inputs", "too large")


def _vector(raw: Any) -> tuple[float, ...]:
    if isinstance(raw, str):
        packed = array("f")
        packed.frombytes(base64.b64decode(raw, validate=True))
        if sys.byteorder == "big":
            packed.byteswap()
        vector = tuple(packed)
    else:
        vector = tuple(float(number) for number in raw)
    if not vector or not all(map(math.isfinite, vector)):
        raise ValueError("an empty vector or a number that is none")
    return vector

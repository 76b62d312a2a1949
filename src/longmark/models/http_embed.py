"""Embeddings over HTTP: POST {base}/embeddings, asked for in base64 (4 bytes a number, exact float32).

One call is one request; the door asks for `batch` texts at a time. An endpoint that refuses `encoding_format` gets
`float` from then on (`float-embeddings`, AskAgain); after one that refuses a batch for its size, `batch` is at most
half of that from then on (`batch:N`, TooManyInputs).
"""

from __future__ import annotations

import base64
import sys
from array import array
from collections.abc import Sequence
from typing import Any

from longmark.errors import AskAgain, TooLong, TooManyInputs
from longmark.models.http import Endpoint, Refusal, tokens_of
from longmark.models.protocols import Capabilities, EmbedReply

_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
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
        self.batch = smallest_batch(endpoint, self.identity, batch) or batch

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """One vector a text, out of one request. No texts: no request."""
        if not texts:
            return EmbedReply(())
        form = "float" if self.endpoint.knows(self.identity, "float-embeddings") else "base64"
        body = {"model": self.model, "input": list(texts), "encoding_format": form}
        try:
            reply = await self.endpoint.post(self._url, body)
        except Refusal as refusal:
            if len(texts) > 1 and too_many(refusal):
                self.batch = smaller_batch(self.endpoint, self.identity, len(texts))
                raise TooManyInputs(str(refusal), refusal.http_status) from None
            if form == "float" or not refusal.names("encoding_format", "base64"):
                raise
            self.endpoint.learn(self.identity, "float-embeddings")
            raise AskAgain(str(refusal), refusal.http_status) from None
        try:
            found = {item["index"]: _vector(item["embedding"]) for item in reply["data"]}
            if len(reply["data"]) != len(texts):
                raise ValueError(f"{len(reply['data'])} embeddings for {len(texts)} texts")
            return EmbedReply(tuple(found[index] for index in range(len(texts))), tokens_of(reply.get("usage")))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            wrong = error
        raise self.endpoint.unreadable("embeddings that cannot be read", reply, wrong)

    async def close(self) -> None:
        await self.endpoint.close()


def smallest_batch(endpoint: Endpoint, identity: str, most: int | None = None) -> int | None:
    """The size of batches that the endpoint was found to take, if that is less than `most`."""
    return next((n for n in _SIZES if (most is None or n < most) and endpoint.knows(identity, f"batch:{n}")), None)


def smaller_batch(endpoint: Endpoint, identity: str, refused: int) -> int:
    """A size for a model whose endpoint has just refused so many inputs: the next power of two from their half down."""
    size = max(n for n in _SIZES if n == 1 or n <= refused // 2)
    endpoint.learn(identity, f"batch:{size}")
    return size


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
    return vector

"""Embeddings, reranking and log-probabilities of a given text from an OpenAI-compatible endpoint.

What refusals teach (`http_model`), beside the facts about chat (`http_chat`):

    float-embeddings        embeddings as numbers, not in base64
    tei-rerank              reranking: `texts` in place of `documents` (text-embeddings-inference)
    no-use-activation       reranking: no switch for raw scores
    batch:N                 embeddings, reranking: at most N texts in one request (raised as TooManyInputs)
"""

from __future__ import annotations

import asyncio
import base64
import sys
from array import array
from collections.abc import Sequence
from typing import Any

from longmark.errors import ServerFault, Unsupported
from longmark.models.http import Endpoint, Refusal, tokens_of
from longmark.models.http_chat import HttpChat as HttpChat
from longmark.models.http_model import SIZES, HttpModel
from longmark.models.protocols import (
    Capabilities,
    EmbedReply,
    LikelihoodReply,
    LikelihoodRequest,
    RerankReply,
    no_start_token,
)
from longmark.models.settings import DEFAULTS, ModelSettings

BATCH = 32  # texts in one request: the most that text-embeddings-inference takes unless configured otherwise


class _Batched(HttpModel):
    """most: texts in one request while no refusal has taught a smaller number; None: any number."""

    most: int | None = None

    @property
    def batch(self) -> int | None:
        return next((n for n in SIZES if self._knows(f"batch:{n}")), self.most)


class HttpEmbedder(_Batched):
    """POST {base}/embeddings, in base64 (4 bytes a number, exact float32) where the endpoint gives it."""

    path = "/embeddings"
    most = BATCH

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """One vector a text, out of one request. No texts: no request."""
        if not texts:
            return EmbedReply(())
        form = "float" if self._knows("float-embeddings") else "base64"
        reply = await self._post(
            {"model": self.model, "input": list(texts), "encoding_format": form}, len(texts)
        )

        def read() -> EmbedReply:
            vectors = {item["index"]: _vector(item["embedding"]) for item in reply["data"]}
            if len(reply["data"]) != len(texts):
                raise ValueError(f"{len(reply['data'])} embeddings for {len(texts)} texts")
            return EmbedReply(
                tuple(vectors[index] for index in range(len(texts))), tokens_of(reply.get("usage"))
            )

        return self._read("unreadable embeddings", reply, read)

    def _lesson(self, refusal: Refusal, body: dict[str, Any]) -> str | None:
        refused = body["encoding_format"] == "base64" and refusal.names("encoding_format", "base64")
        return "float-embeddings" if refused else None


def _vector(raw: Any) -> tuple[float, ...]:
    if not isinstance(raw, str):
        return tuple(float(number) for number in raw)
    packed = array("f")
    packed.frombytes(base64.b64decode(raw, validate=True))
    if sys.byteorder == "big":
        packed.byteswap()
    return tuple(packed)


class HttpReranker(_Batched):
    """POST {base}/rerank, in the forms of Jina, Cohere v2, vLLM, Voyage, llama.cpp and text-embeddings-inference (TEI).

    Raw scores are requested from endpoints that offer them: `use_activation: false` (vLLM), `raw_scores: true` (TEI).
    Jina, Cohere and Voyage always return scores in [0, 1]. All documents are sent in one request, because some models
    score them jointly; an endpoint that refused that many gets several requests.
    """

    path = "/rerank"

    async def rerank(self, query: str, documents: Sequence[str]) -> RerankReply:
        """One score a document, in the order of the documents. No documents: no request."""
        if not documents:
            return RerankReply(())
        return self._reply(
            await self._post(self._body(query, list(documents)), len(documents)), len(documents)
        )

    def _reply(self, reply: Any, count: int) -> RerankReply:
        def read() -> RerankReply:
            if isinstance(reply, list):
                results = reply
                tokens = None
            else:
                results = reply["results"] if "results" in reply else reply["data"]
                tokens = tokens_of(
                    reply["usage"] if "usage" in reply else _cohere_usage(reply.get("meta"))
                )
            scores = {
                item["index"]: float(item.get("relevance_score", item.get("score")))
                for item in results
            }
            if len(results) != count:
                raise ValueError(f"{len(results)} results for {count} documents")
            return RerankReply(tuple(scores[index] for index in range(count)), tokens)

        return self._read("unreadable scores", reply, read)

    def _body(self, query: str, documents: list[str]) -> dict[str, Any]:
        if self._knows("tei-rerank"):
            return {"query": query, "texts": documents, "raw_scores": True}
        body: dict[str, Any] = {"model": self.model, "query": query, "documents": documents}
        return body if self._knows("no-use-activation") else body | {"use_activation": False}

    def _lesson(self, refusal: Refusal, body: dict[str, Any]) -> str | None:
        if "use_activation" in body and refusal.names("use_activation"):
            return "no-use-activation"
        if "documents" in body and refusal.names(
            "`texts`", "'texts'", '"texts"', "body.texts", "texts "
        ):
            return "tei-rerank"
        return None


def _cohere_usage(meta: Any) -> Any:
    """Cohere bills searches, not tokens; some of its models say how many tokens they read."""
    tokens = meta.get("tokens") if isinstance(meta, dict) else None
    return {"prompt_tokens": tokens.get("input_tokens")} if isinstance(tokens, dict) else None


class HttpLanguageModel(HttpModel):
    """Log-probabilities of a given text from a vLLM server: its `prompt_logprobs`.

    Prompt and text are made into tokens apart, by the server's own POST {root}/tokenize (the root is the base URL
    without its closing `/v1`), and their ids are sent as one prompt to POST {base}/completions: the border between the
    two is exact, and the text is the same sequence of tokens after every prompt. One token is generated and thrown
    away, because servers refuse to generate none. Three requests for each text; the two to /tokenize run no model and
    are not counted as calls. `Unsupported` where the endpoint cannot do it (404 on /tokenize, `prompt_logprobs` refused
    or ignored). No entropies: the server returns the likeliest tokens only.
    """

    path = "/completions"
    capabilities = Capabilities(prompt_logprobs=None)

    def __init__(
        self, endpoint: Endpoint, model: str, name: str, settings: ModelSettings = DEFAULTS
    ) -> None:
        super().__init__(endpoint, model, name, settings)
        self._tokenize = endpoint.url("/tokenize", root=True)

    async def likelihood(self, request: LikelihoodRequest) -> LikelihoodReply:
        """Natural-log probability of each token of the text. An empty text has no tokens and takes no request."""
        if not request.text:
            return LikelihoodReply((), ())
        if request.chat:
            messages = [{"role": "user", "content": request.prompt}]
            before: dict[str, Any] = {"messages": messages, "add_generation_prompt": True}
        else:
            before = {"prompt": request.prompt, "add_special_tokens": True}
        after = {"prompt": request.text, "add_special_tokens": False}
        prompt, text = await asyncio.gather(self._tokens(before), self._tokens(after))
        if not prompt:
            raise no_start_token(self.name)
        body = self.settings.over(
            {"prompt": prompt + text, "max_tokens": 1, "temperature": 0.0, "prompt_logprobs": 1}
        )
        return self._reply(await self._ask(self._url, body), text, len(prompt))

    def _reply(self, reply: Any, text: list[int], start: int) -> LikelihoodReply:
        """The log-probabilities of the text's tokens, of which the first is at `start`."""

        def read() -> LikelihoodReply | None:
            entries = reply["choices"][0].get("prompt_logprobs")
            if entries is None:
                return None
            of_tokens = [
                entry[str(token)] for token, entry in zip(text, entries[start:], strict=True)
            ]
            logprobs = tuple(float(item["logprob"]) for item in of_tokens)
            pieces = tuple(str(item.get("decoded_token") or "") for item in of_tokens)
            return LikelihoodReply(logprobs, pieces, (), tokens_of(reply.get("usage")))

        likelihoods = self._read("unreadable log-probabilities", reply, read)
        if likelihoods is None:
            missing = Unsupported(
                f"prompt logprobs are not supported by {self.name}: its reply contains none", 200
            )
            raise missing.with_bill(tokens_of(reply.get("usage")))
        return likelihoods

    async def _tokens(self, body: dict[str, Any]) -> list[int]:
        reply = await self._ask(self._tokenize, body)
        tokens = reply.get("tokens") if isinstance(reply, dict) else None
        if not isinstance(tokens, list) or not all(
            type(token) is int and 0 <= token < 1 << 31 for token in tokens
        ):
            raise ServerFault(f"{self.endpoint.host} sent no token ids from /tokenize", 200)
        return tokens

    async def _ask(self, url: str, body: dict[str, Any]) -> Any:
        try:
            return await self.endpoint.post(url, {"model": self.model, **body})
        except Refusal as refusal:
            missing = url == self._tokenize and refusal.http_status in (404, 405)
            if not missing and not refusal.names("prompt_logprobs"):
                raise
            message = str(refusal)
            status = refusal.http_status
        raise Unsupported(f"prompt logprobs are not supported by {self.name}: {message}", status)

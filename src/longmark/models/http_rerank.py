"""Reranking over HTTP: POST {base}/rerank, in the forms of Jina, Cohere v2, vLLM, Voyage, llama.cpp and
text-embeddings-inference (TEI).

The first request has `documents`; an endpoint that asks for `texts` instead is taken for TEI from then on
(`tei-rerank`). Raw scores are asked for where there is a switch: `use_activation: false` (vLLM; an endpoint
that refuses it does without, `no-use-activation`) and `raw_scores: true` (TEI). Jina, Cohere and Voyage have
none: theirs are in [0, 1]. All documents go in one request, since some models read them side by side; only
where an endpoint refuses so many are they split in half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from longmark.errors import ServerFault
from longmark.models.http import Endpoint, Refusal, tokens_of
from longmark.models.http_embed import too_many
from longmark.models.protocols import Capabilities, RerankReply, Tokens


class HttpReranker:
    """A reranker at an endpoint."""

    width: int | None = None
    capabilities = Capabilities(json_schema=False, logprobs=0, prompt_logprobs=False)

    def __init__(self, endpoint: Endpoint, model: str, name: str) -> None:
        self.name = name
        self.model = model
        self.identity = f"{model}@{endpoint.base_url}"
        self.endpoint = endpoint
        self._url = endpoint.url("/rerank")

    async def rerank(self, query: str, documents: Sequence[str]) -> RerankReply:
        """One score a document, in the order of the documents. No documents: no request."""
        if not documents:
            return RerankReply(())
        while True:
            body = self._body(query, list(documents))
            try:
                reply = await self.endpoint.post(self._url, body)
            except Refusal as refusal:
                if len(documents) > 1 and too_many(refusal):
                    return await self._halves(query, documents)
                fact = _lesson(refusal, body)
                if fact is None:
                    raise
                self.endpoint.learn(self.identity, fact)
                continue
            return self._reply(reply, len(documents))

    async def close(self) -> None:
        await self.endpoint.close()

    async def _halves(self, query: str, documents: Sequence[str]) -> RerankReply:
        middle = len(documents) // 2
        first = await self.rerank(query, documents[:middle])
        second = await self.rerank(query, documents[middle:])
        return RerankReply(first.scores + second.scores, Tokens(first.tokens.prompt + second.tokens.prompt))

    def _body(self, query: str, documents: list[str]) -> dict[str, Any]:
        if self.endpoint.knows(self.identity, "tei-rerank"):
            return {"query": query, "texts": documents, "raw_scores": True}
        body: dict[str, Any] = {"model": self.model, "query": query, "documents": documents}
        if not self.endpoint.knows(self.identity, "no-use-activation"):
            body["use_activation"] = False
        return body

    def _reply(self, reply: Any, count: int) -> RerankReply:
        try:
            if isinstance(reply, list):
                results, tokens = reply, Tokens()
            else:
                results = reply["results"] if "results" in reply else reply["data"]
                tokens = tokens_of(reply.get("usage")) if "usage" in reply else _cohere_tokens(reply.get("meta"))
            scores = {item["index"]: float(item.get("relevance_score", item.get("score"))) for item in results}
            if len(results) != count:
                raise ValueError(f"{len(results)} results for {count} documents")
            if not all(map(math.isfinite, scores.values())):
                raise ValueError("a score that is no number")
            return RerankReply(tuple(scores[index] for index in range(count)), tokens)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            missing = f"{type(error).__name__} at {error}"
        raise ServerFault(f"{self.endpoint.host} sent scores that cannot be read ({missing})", 200)


def _lesson(refusal: Refusal, body: dict[str, Any]) -> str | None:
    if "use_activation" in body and refusal.names("use_activation"):
        return "no-use-activation"
    if "documents" in body and refusal.names("`texts`", "'texts'", '"texts"', "body.texts", "texts "):
        return "tei-rerank"
    return None


def _cohere_tokens(meta: Any) -> Tokens:
    """Cohere bills searches, not tokens; some of its models say how many tokens they read."""
    tokens = meta.get("tokens") if isinstance(meta, dict) else None
    return Tokens(int(tokens.get("input_tokens") or 0)) if isinstance(tokens, dict) else Tokens()

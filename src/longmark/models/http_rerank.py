"""Reranking over HTTP: POST {base}/rerank, in the forms of Jina, Cohere v2, vLLM, Voyage, llama.cpp and
text-embeddings-inference (TEI).

One call is one request. The first one has `documents`; an endpoint that asks for `texts` instead is taken for TEI from
then on (`tei-rerank`, AskAgain). Raw scores are asked for where there is a switch: `use_activation: false` (vLLM; an
endpoint that refuses it does without, `no-use-activation`) and `raw_scores: true` (TEI). Jina, Cohere and Voyage have
none: theirs are in [0, 1]. All documents go in one request, since some models read them side by side; after an endpoint
has refused so many, `batch` is at most half of that from then on (`batch:N`, TooManyInputs).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longmark.errors import AskAgain, TooManyInputs
from longmark.models.http import Endpoint, Refusal, tokens_of
from longmark.models.http_embed import smaller_batch, smallest_batch, too_many
from longmark.models.protocols import Capabilities, RerankReply


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
        self.batch = smallest_batch(endpoint, self.identity)

    async def rerank(self, query: str, documents: Sequence[str]) -> RerankReply:
        """One score a document, in the order of the documents. No documents: no request."""
        if not documents:
            return RerankReply(())
        body = self._body(query, list(documents))
        try:
            reply = await self.endpoint.post(self._url, body)
        except Refusal as refusal:
            if len(documents) > 1 and too_many(refusal):
                self.batch = smaller_batch(self.endpoint, self.identity, len(documents))
                raise TooManyInputs(str(refusal), refusal.http_status) from None
            fact = _lesson(refusal, body)
            if fact is None:
                raise
            self.endpoint.learn(self.identity, fact)
            raise AskAgain(str(refusal), refusal.http_status) from None
        return self._reply(reply, len(documents))

    async def close(self) -> None:
        await self.endpoint.close()

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
                results, tokens = reply, None
            else:
                results = reply["results"] if "results" in reply else reply["data"]
                tokens = tokens_of(reply["usage"] if "usage" in reply else _cohere_usage(reply.get("meta")))
            scores = {item["index"]: float(item.get("relevance_score", item.get("score"))) for item in results}
            if len(results) != count:
                raise ValueError(f"{len(results)} results for {count} documents")
            return RerankReply(tuple(scores[index] for index in range(count)), tokens)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            wrong = error
        raise self.endpoint.unreadable("scores that cannot be read", reply, wrong)


def _lesson(refusal: Refusal, body: dict[str, Any]) -> str | None:
    if "use_activation" in body and refusal.names("use_activation"):
        return "no-use-activation"
    if "documents" in body and refusal.names("`texts`", "'texts'", '"texts"', "body.texts", "texts "):
        return "tei-rerank"
    return None


def _cohere_usage(meta: Any) -> Any:
    """Cohere bills searches, not tokens; some of its models say how many tokens they read."""
    tokens = meta.get("tokens") if isinstance(meta, dict) else None
    return {"prompt_tokens": tokens.get("input_tokens")} if isinstance(tokens, dict) else None

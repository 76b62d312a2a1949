"""The models at an OpenAI-compatible endpoint: chat, embeddings, reranking, log-probabilities of a given text.

Nothing is probed. Where an endpoint refuses a request (400 or 422) over a part that it can do without, the fact is
stored for the model at this endpoint, `AskAgain` is raised, and later requests are sent in the other form:

    text-only               chat: no JSON schema
    max-completion-tokens   chat: `max_completion_tokens` in place of `max_tokens`
    top-logprobs:N          chat: at most N log-probabilities a token
    no-seed                 chat: no seed
    float-embeddings        embeddings as numbers, not in base64
    tei-rerank              reranking: `texts` in place of `documents` (text-embeddings-inference)
    no-use-activation       reranking: no switch for raw scores
    batch:N                 embeddings, reranking: at most N texts in one request (raised as TooManyInputs)
    no-logprobs             chat: no log-probabilities; nothing replaces them (raised as Unsupported)

A refused temperature is an error, because other scores would result from leaving it out.
"""

from __future__ import annotations

import asyncio
import base64
import re
import sys
from array import array
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from longmark.errors import AskAgain, ServerFault, TooLong, TooManyInputs, Unsupported
from longmark.models.http import Endpoint, Refusal, tokens_of
from longmark.models.keys import holds_key
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
    no_start_token,
)

T = TypeVar("T")

BATCH = 32  # texts in one request: the most that text-embeddings-inference takes unless configured otherwise
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_SCHEMA_WORDS = ("response_format", "response format", "json_schema", "json schema", "structured output")
_FEWER = (10, 5, 2)  # how many log-probabilities a token are asked for in turn where an endpoint says: too many
_LIMIT_WORDS = ("max", "at most", "less than", "greater", "exceed", "between", "<=", "too many", "up to")
_FILTERED = ("content_filter", "content_policy_violation")
_MISREAD = (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError)  # of a reply in another form


class _HttpModel:
    """A model at an endpoint. name: as in tables (`gpt-4o-mini@https://host/v1`, `openai:gpt-4o-mini`)."""

    path = ""
    width: int | None = None
    capabilities = Capabilities()

    def __init__(self, endpoint: Endpoint, model: str, name: str) -> None:
        self.name = name
        self.model = model
        self.identity = f"{model}@{endpoint.base_url}"
        self.endpoint = endpoint
        self._url = endpoint.url(self.path)

    async def close(self) -> None:
        await self.endpoint.close()

    def _knows(self, fact: str) -> bool:
        return self.endpoint.knows(self.identity, fact)

    def _lesson(self, refusal: Refusal, body: dict[str, Any]) -> str | None:
        """The fact about the model that a refusal of this body teaches, None where it is about something else."""
        return None

    async def _post(self, body: dict[str, Any], inputs: int = 1) -> Any:
        """The reply's JSON. inputs: how many texts are in the body."""
        try:
            return await self.endpoint.post(self._url, body)
        except Refusal as refusal:
            said, status, fact = str(refusal), refusal.http_status, self._lesson(refusal, body)
            if inputs > 1 and _too_many(refusal):
                fact = f"batch:{max(n for n in _SIZES if n == 1 or n <= inputs // 2)}"
            if fact is None:
                raise
        self.endpoint.learn(self.identity, fact)
        if fact == "no-logprobs":
            raise Unsupported(f"log-probabilities are not supported by {self.name}: {said}", status)
        raise TooManyInputs(said, status) if fact.startswith("batch:") else AskAgain(said, status)

    def _read(self, what: str, reply: Any, read: Callable[[], T]) -> T:
        """What `read` makes of a reply. ServerFault, without a traceback into the reply, where it has another form."""
        try:
            return read()
        except _MISREAD as error:
            wrong = error
        raise self.endpoint.unreadable(what, reply, wrong)


class _Batched(_HttpModel):
    """most: texts in one request while no refusal has taught a smaller number; None: any number."""

    most: int | None = None

    @property
    def batch(self) -> int | None:
        return next((n for n in _SIZES if self._knows(f"batch:{n}")), self.most)


def _too_many(refusal: Refusal) -> bool:
    """Whether a request was refused for the number of its inputs, not for the length of one."""
    if isinstance(refusal, TooLong):
        return False
    return refusal.http_status == 413 or refusal.names("batch size", "batch_size", "too many inputs", "too large")


class HttpChat(_HttpModel):
    """POST {base}/chat/completions. The sample number is the seed where the temperature is not zero or the sample is
    not the first."""

    path = "/chat/completions"
    capabilities = Capabilities(logprobs=None)  # what refusals teach counts only after the cache was asked

    async def chat(self, request: ChatRequest) -> ChatReply:
        """One request. A prompt that the endpoint's content filter stops is a reply with finish `content_filter`."""
        if request.logprobs and self._knows("no-logprobs"):
            raise Unsupported(f"log-probabilities are not supported by {self.name}: it rejected them before", 400)
        try:
            reply = await self._post(self._body(request))
        except Refusal as refusal:
            if refusal.code.lower() in _FILTERED:
                return ChatReply("", "content_filter", str(refusal), tokens=refusal.tokens or Tokens())
            raise
        return self._reply(reply, with_logprobs=request.logprobs > 0)

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        limit = "max_completion_tokens" if self._knows("max-completion-tokens") else "max_tokens"
        body: dict[str, Any] = {
            "model": self.model,
            "messages": request.messages,  # orjson writes the dataclasses as objects
            "temperature": request.temperature,
            limit: request.max_tokens,
        }
        if request.top_p != 1.0:
            body["top_p"] = request.top_p
        if (request.temperature or request.sample) and not self._knows("no-seed"):
            body["seed"] = request.sample
        if request.logprobs:
            most = next((n for n in reversed(_FEWER) if self._knows(f"top-logprobs:{n}")), request.logprobs)
            body |= {"logprobs": True, "top_logprobs": min(request.logprobs, most)}
        if request.schema is not None and not self._knows("text-only"):
            schema = {"name": request.schema_name, "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _lesson(self, refusal: Refusal, body: dict[str, Any]) -> str | None:
        if isinstance(refusal, TooLong) or refusal.code.lower() in _FILTERED:  # these may name any part
            return None
        if "max_tokens" in body and refusal.names("max_completion_tokens"):
            return "max-completion-tokens"
        if "response_format" in body and refusal.names(*_SCHEMA_WORDS):
            return "text-only"
        if "logprobs" in body and refusal.names("logprobs"):
            fewer = [n for n in _FEWER if n < body["top_logprobs"]]
            too_many = fewer and any(word in refusal.said for word in _LIMIT_WORDS)
            return f"top-logprobs:{fewer[0]}" if too_many else "no-logprobs"
        if "seed" in body and refusal.names("seed") and re.search(r"\bseed\b", refusal.said):
            return "no-seed"
        return None

    def _reply(self, reply: Any, *, with_logprobs: bool) -> ChatReply:
        def read() -> ChatReply:
            choice = reply["choices"][0]
            message = choice["message"]
            text, logprobs, refusal = _text(message.get("content")), choice.get("logprobs"), message.get("refusal")
            if not with_logprobs or not logprobs or holds_key(text):  # its tokens would show a key letter by letter
                logprobs = {}
            return ChatReply(
                text,
                choice.get("finish_reason") or "stop",
                refusal if isinstance(refusal, str) and refusal else None,
                tuple(map(_token, logprobs.get("content") or ())),
                tokens_of(reply.get("usage"), completion=True),
            )

        return self._read("an incomplete chat reply", reply, read)


def _text(content: Any) -> str:
    """The text of a message's content: a string, nothing, or a list of parts of which the texts count."""
    if isinstance(content, str):
        return content
    return "" if content is None else "".join(part["text"] for part in content if part.get("type") == "text")


def _token(entry: dict[str, Any]) -> TokenLogprobs:
    top = tuple((one["token"], float(one["logprob"])) for one in entry.get("top_logprobs") or ())
    return TokenLogprobs(entry["token"], float(entry["logprob"]), top)


class HttpEmbedder(_Batched):
    """POST {base}/embeddings, in base64 (4 bytes a number, exact float32) where the endpoint gives it."""

    path = "/embeddings"
    most = BATCH

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """One vector a text, out of one request. No texts: no request."""
        if not texts:
            return EmbedReply(())
        form = "float" if self._knows("float-embeddings") else "base64"
        reply = await self._post({"model": self.model, "input": list(texts), "encoding_format": form}, len(texts))

        def read() -> EmbedReply:
            vectors = {item["index"]: _vector(item["embedding"]) for item in reply["data"]}
            if len(reply["data"]) != len(texts):
                raise ValueError(f"{len(reply['data'])} embeddings for {len(texts)} texts")
            return EmbedReply(tuple(vectors[index] for index in range(len(texts))), tokens_of(reply.get("usage")))

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
        return self._reply(await self._post(self._body(query, list(documents)), len(documents)), len(documents))

    def _reply(self, reply: Any, count: int) -> RerankReply:
        def read() -> RerankReply:
            if isinstance(reply, list):
                results, tokens = reply, None
            else:
                results = reply["results"] if "results" in reply else reply["data"]
                tokens = tokens_of(reply["usage"] if "usage" in reply else _cohere_usage(reply.get("meta")))
            scores = {item["index"]: float(item.get("relevance_score", item.get("score"))) for item in results}
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
        if "documents" in body and refusal.names("`texts`", "'texts'", '"texts"', "body.texts", "texts "):
            return "tei-rerank"
        return None


def _cohere_usage(meta: Any) -> Any:
    """Cohere bills searches, not tokens; some of its models say how many tokens they read."""
    tokens = meta.get("tokens") if isinstance(meta, dict) else None
    return {"prompt_tokens": tokens.get("input_tokens")} if isinstance(tokens, dict) else None


class HttpLanguageModel(_HttpModel):
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

    def __init__(self, endpoint: Endpoint, model: str, name: str) -> None:
        super().__init__(endpoint, model, name)
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
        body = {"prompt": prompt + text, "max_tokens": 1, "temperature": 0.0, "prompt_logprobs": 1}
        return self._reply(await self._ask(self._url, body), text, len(prompt))

    def _reply(self, reply: Any, text: list[int], start: int) -> LikelihoodReply:
        """The log-probabilities of the text's tokens, of which the first is at `start`."""

        def read() -> LikelihoodReply | None:
            entries = reply["choices"][0].get("prompt_logprobs")
            if entries is None:
                return None
            found = [entry[str(token)] for token, entry in zip(text, entries[start:], strict=True)]
            logprobs = tuple(float(item["logprob"]) for item in found)
            pieces = tuple(str(item.get("decoded_token") or "") for item in found)
            return LikelihoodReply(logprobs, pieces, (), tokens_of(reply.get("usage")))

        found = self._read("unreadable log-probabilities", reply, read)
        if found is None:
            missing = Unsupported(f"prompt logprobs are not supported by {self.name}: its reply contains none", 200)
            raise missing.with_bill(tokens_of(reply.get("usage")))
        return found

    async def _tokens(self, body: dict[str, Any]) -> list[int]:
        reply = await self._ask(self._tokenize, body)
        tokens = reply.get("tokens") if isinstance(reply, dict) else None
        if not isinstance(tokens, list) or not all(type(token) is int and 0 <= token < 1 << 31 for token in tokens):
            raise ServerFault(f"{self.endpoint.host} sent no token ids from /tokenize", 200)
        return tokens

    async def _ask(self, url: str, body: dict[str, Any]) -> Any:
        try:
            return await self.endpoint.post(url, {"model": self.model, **body})
        except Refusal as refusal:
            missing = url == self._tokenize and refusal.http_status in (404, 405)
            if not missing and not refusal.names("prompt_logprobs"):
                raise
            said, status = str(refusal), refusal.http_status
        raise Unsupported(f"prompt logprobs are not supported by {self.name}: {said}", status)

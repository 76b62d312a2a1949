"""Log-probabilities of a given text over HTTP: vLLM's `prompt_logprobs`.

Prompt and text are made into tokens apart, by the server's own POST {root}/tokenize (the root is the base URL
without its closing `/v1`), and their ids are sent as one prompt to POST {base}/completions. So the border
between the two is exact, and the text is the same sequence of tokens after every prompt. One token is
generated and thrown away, because servers refuse to generate none. Three requests for each text, of which the two to
/tokenize run no model and are not counted as calls.

An endpoint without this (404 on /tokenize, `prompt_logprobs` refused or ignored) raises `Unsupported`.
Entropies are not given: the server returns the likeliest tokens only.
"""

from __future__ import annotations

import asyncio
from typing import Any

from longmark.errors import RequestRefused, ServerFault, Unsupported
from longmark.models.http import Endpoint, Refusal, tokens_of
from longmark.models.protocols import Capabilities, LikelihoodReply, LikelihoodRequest


class HttpLanguageModel:
    """A language model at a vLLM server."""

    width: int | None = None
    capabilities = Capabilities(entropy=False)

    def __init__(self, endpoint: Endpoint, model: str, name: str) -> None:
        self.name = name
        self.model = model
        self.identity = f"{model}@{endpoint.base_url}"
        self.endpoint = endpoint
        self._completions = endpoint.url("/completions")
        self._tokenize = endpoint.url("/tokenize", root=True)

    async def likelihood(self, request: LikelihoodRequest) -> LikelihoodReply:
        """Natural-log probability of each token of the text. An empty text has no tokens and takes no
        request."""
        if not request.text:
            return LikelihoodReply((), ())
        prompt, text = await asyncio.gather(self._prompt_ids(request), self._ids(request.text, special=False))
        if not prompt:
            raise RequestRefused(
                f"{self.name} puts no token before an empty prompt, so the first token of the text has no "
                "probability: give a prompt"
            )
        body = {
            "model": self.model,
            "prompt": prompt + text,
            "max_tokens": 1,
            "temperature": 0.0,
            "prompt_logprobs": 1,
        }
        reply = await self._post(self._completions, body)
        return self._reply(reply, text, len(prompt))

    async def close(self) -> None:
        await self.endpoint.close()

    async def _prompt_ids(self, request: LikelihoodRequest) -> list[int]:
        if not request.chat:
            return await self._ids(request.prompt, special=True)
        messages = [{"role": "user", "content": request.prompt}]
        return await self._tokens({"model": self.model, "messages": messages, "add_generation_prompt": True})

    async def _ids(self, text: str, *, special: bool) -> list[int]:
        return await self._tokens({"model": self.model, "prompt": text, "add_special_tokens": special})

    async def _tokens(self, body: dict[str, Any]) -> list[int]:
        reply = await self._post(self._tokenize, body)
        tokens = reply.get("tokens") if isinstance(reply, dict) else None
        if not isinstance(tokens, list) or not all(type(token) is int and 0 <= token < 1 << 31 for token in tokens):
            raise ServerFault(f"{self.endpoint.host} sent no token ids from /tokenize", 200)
        return tokens

    async def _post(self, url: Any, body: dict[str, Any]) -> Any:
        try:
            return await self.endpoint.post(url, body)
        except Refusal as refusal:
            missing = url == self._tokenize and refusal.http_status in (404, 405)
            if not missing and not refusal.names("prompt_logprobs"):
                raise
            said, status = str(refusal), refusal.http_status
        raise Unsupported(f"prompt logprobs are not supported by {self.name}: {said}", status)

    def _reply(self, reply: Any, text: list[int], start: int) -> LikelihoodReply:
        try:
            entries = reply["choices"][0].get("prompt_logprobs")
            if entries is not None:
                found = [entry[str(token)] for token, entry in zip(text, entries[start:], strict=True)]
                return LikelihoodReply(
                    tuple(float(item["logprob"]) for item in found),
                    tuple(str(item.get("decoded_token") or "") for item in found),
                    (),
                    tokens_of(reply.get("usage")),
                )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError) as error:
            wrong = error
        else:
            refusal = Unsupported(f"prompt logprobs are not supported by {self.name}: its reply holds none", 200)
            raise refusal.with_bill(tokens_of(reply.get("usage")))
        raise self.endpoint.unreadable("log-probabilities that cannot be read", reply, wrong)

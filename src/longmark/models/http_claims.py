"""The claim checker at an endpoint: `--checker NAME@BASE_URL --prompt checker`.

For vLLM and llama-server, which tokenise texts (POST {root}/tokenize), take token ids as a prompt (POST
{base}/completions) and give the log-probabilities of the likeliest tokens. The model there must be the claim checker:
Qwen2.5-Coder-1.5B-Instruct with the adapter (`llama-server --lora`, `vllm serve --enable-lora`), or one of the user's
that was trained on the same prompt. The log-odds are those of Yes and No among the likeliest tokens; where one of them
is not among them, there is no score and the error says so.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

from longmark.errors import ServerFault, Unsupported
from longmark.models.http import Endpoint, Refusal, tokens_of
from longmark.models.http_model import HttpModel
from longmark.models.protocols import Tokens, log_sum
from longmark.models.settings import DEFAULTS, ModelSettings

TOP = 20  # candidates that are asked for: the most that vLLM gives unless configured otherwise
_KEPT_TEXTS = 2_000  # with their tokens
_SPELLED = re.compile(r"(?<=<)(?=\|\w+\|>)")  # inside a control token that a text spells
_SHOWN = 5  # candidates in an error


class HttpClaims(HttpModel):
    """A `TokenModel` (`longmark.contrib.local`) that is served. The adapter is the server's matter."""

    path = "/completions"
    brings_adapter = True

    def __init__(
        self, endpoint: Endpoint, model: str, name: str, settings: ModelSettings = DEFAULTS
    ) -> None:
        super().__init__(endpoint, model, name, settings)
        self._tokenize = endpoint.url("/tokenize", root=True)
        self._texts: OrderedDict[tuple[str, bool], list[int]] = OrderedDict()
        self._words: dict[
            int, str
        ] = {}  # of tokens that are a whole control text: how a reply may name them

    def use_adapter(self, path: Path) -> None:
        raise NotImplementedError("the server loads the adapter")

    async def token_ids(self, text: str, *, control: bool = False) -> list[tuple[int, str]]:
        """The tokens of a text by the server's tokenizer; the pieces are left out. A control token that a text spells
        is cut in two, since vLLM would read it as one."""
        if not text:
            return []
        key = (text, control)
        if key not in self._texts:
            parts = [text] if control else _SPELLED.split(text)
            self._texts[key] = [
                token for part in parts for token in await self._tokens(part, control)
            ]
            if control and len(self._texts[key]) == 1:
                self._words[self._texts[key][0]] = text
            while len(self._texts) > _KEPT_TEXTS:
                self._texts.popitem(last=False)
        return [(token, "") for token in self._texts[key]]

    async def log_odds(
        self,
        prompt: Sequence[int],
        yes: Sequence[int],
        no: Sequence[int],
        *,
        adapter: bool = False,
        shared: Hashable = None,
    ) -> tuple[float, Tokens]:
        """log P(yes) - log P(no) of the token after a prompt, among the likeliest ones. One request."""
        body = {
            "model": self.model,
            "prompt": list(prompt),
            "max_tokens": 1,
            "temperature": 0.0,
            "logprobs": TOP,
        }
        reply = await self._post({**body, "return_tokens_as_token_ids": True})
        used = tokens_of(reply.get("usage")) or Tokens(len(prompt), 0, 1)
        candidates = self._read("unreadable log-probabilities", reply, lambda: _candidates(reply))
        if not candidates:
            raise Unsupported(
                f"{self.name} gave no log-probabilities, and the claim checker needs those of Yes and No; use vLLM or "
                "llama-server, or --checker embedded",
                200,
            ).with_bill(used)
        odds = []
        for tokens in (yes, no):
            values = [
                value for token in tokens if (value := self._value(candidates, token)) is not None
            ]
            if not values:
                words = " or ".join(repr(self._words.get(token, str(token))) for token in tokens)
                likeliest = ", ".join(map(repr, list(candidates)[:_SHOWN]))
                raise Unsupported(
                    f"{self.name}: {words} is not among the {len(candidates)} likeliest tokens of the answer (they "
                    f"begin with {likeliest}), so the claim has no score; is this the claim checker's model with its "
                    "adapter?",
                    200,
                ).with_bill(used)
            odds.append(log_sum(values))
        return odds[0] - odds[1], used

    def _value(self, candidates: dict[str, float], token: int) -> float | None:
        """The log-probability of a token, which a reply names by its id or by its text."""
        return candidates.get(f"token_id:{token}", candidates.get(self._words.get(token, "")))

    def _lesson(self, refusal: Refusal, body: dict[str, Any]) -> str | None:
        return "no-logprobs" if refusal.names("logprobs") else None

    async def _tokens(self, text: str, control: bool) -> list[int]:
        """By vLLM's form of the request and by llama-server's in one: each leaves out what it does not know."""
        of_vllm = {"model": self.model, "prompt": text, "add_special_tokens": False}
        of_llama = {"content": text, "add_special": False, "parse_special": control}
        try:
            reply = await self.endpoint.post(self._tokenize, {**of_vllm, **of_llama})
        except Refusal as refusal:
            if refusal.http_status not in (404, 405):
                raise
            message = str(refusal)
            status = refusal.http_status
        else:
            tokens = reply.get("tokens") if isinstance(reply, dict) else None
            if not isinstance(tokens, list) or not all(
                type(token) is int and 0 <= token < 1 << 31 for token in tokens
            ):
                raise ServerFault(f"{self.endpoint.host} sent no token ids from /tokenize", 200)
            return tokens
        raise Unsupported(
            f"{self.name} has no /tokenize ({message}), and the claim checker's prompt is sent as tokens; use vLLM or "
            "llama-server, or --checker embedded",
            status,
        )


def _candidates(reply: Any) -> dict[str, float]:
    """`token_id:NUMBER` or text -> log-probability of the first token, the likeliest first. vLLM's replies have a
    mapping, llama-server's a list."""
    logprobs = reply["choices"][0].get("logprobs")
    if not logprobs:
        return {}
    if logprobs.get("content"):
        listed = logprobs["content"][0]["top_logprobs"]
        entry_by_name = {
            (f"token_id:{entry['id']}" if "id" in entry else str(entry["token"])): entry
            for entry in listed
        }
        logprob_by_name = {name: float(entry["logprob"]) for name, entry in entry_by_name.items()}
    else:
        logprob_by_name = {
            str(name): float(value)
            for name, value in (logprobs.get("top_logprobs") or [{}])[0].items()
        }
    return dict(sorted(logprob_by_name.items(), key=lambda candidate: -candidate[1]))

"""The embedded judge as a reranker: the log-odds of "relevant".

The score of a document is log p(yes) - log p(no), over the first token of the judge's reply to the question whether the
document is relevant to the query: a raw score, positive where yes is likelier. It is no trained reranker, and its
scores cannot be compared with those of one (measured in `design/leave-one-out.md`).

Case and the space before a word are ignored. Where one of the two words is not among the candidates that the model
gives, it counts as unlikely as the last of them, so the score is then nearer to 0 than it should be. One call a
document, one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from longmark.contrib.local import TOP_LOGPROBS
from longmark.errors import RequestRefused
from longmark.models.protocols import (
    Capabilities,
    Chat,
    ChatReply,
    ChatRequest,
    RerankReply,
    Tokens,
    total_tokens,
)
from longmark.prompts import SYSTEM, PromptBook, prompt

PROMPT = prompt("""rerank.log_odds(query, document)
Is the document relevant to the query: does it help whoever asks? The more of it bears on what was asked, and the less \
on anything else, the surer the yes.
Reply with one word, yes or no, and nothing else.""")
_LEAST_MASS = 0.5  # of the probability that must lie on yes and no: less, and the judge meant to say something else


class LogOddsReranker:
    """A chat model as a reranker. name: the model's own, marked as what it is made of."""

    def __init__(self, judge: Chat) -> None:
        self.name = f"{judge.name} (log-odds of relevant)"
        self.identity = f"log-odds:{SYSTEM.hash}:{PROMPT.hash}:{judge.identity}"
        self.capabilities = Capabilities()
        self.width: int | None = 1
        self._judge = judge

    async def rerank(self, query: str, documents: Sequence[str]) -> RerankReply:
        """One score a document, in their order. Raises ModelError, RequestRefused too where a reply is no verdict."""
        scores: list[float] = []
        used: list[Tokens | None] = []
        for document in documents:
            messages = PromptBook().fill(PROMPT, {"query": query, "document": document})
            reply = await self._judge.chat(
                ChatRequest(messages, max_tokens=1, logprobs=TOP_LOGPROBS)
            )
            scores.append(self._log_odds(reply))
            used.append(reply.tokens)
        return RerankReply(tuple(scores), total_tokens(used))

    async def close(self) -> None:
        await self._judge.close()

    def _log_odds(self, reply: ChatReply) -> float:
        candidates = reply.logprobs[0].top if reply.logprobs else ()
        mass = {"yes": 0.0, "no": 0.0}
        for token, logprob in candidates:
            word = token.strip().casefold()
            if word in mass:
                mass[word] += math.exp(logprob)
        if sum(mass.values()) < _LEAST_MASS:
            raise RequestRefused(f"{self.name} answered neither yes nor no, so there is no score")
        least = math.exp(min(logprob for _, logprob in candidates))
        return math.log(mass["yes"] or least) - math.log(mass["no"] or least)

"""The one way to a model: cache, single flight, limits, retries, budget, usage.

Every call to a model, of a judge or a generator, goes through here, so each is paid once and a run can be resumed.
`call_kinds` says how a kind of call is sent and read, `flights` how equal requests become one call and a stored reply,
`sending` how a call is sent until it succeeds, `usage_log` what it cost whom.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from longmark import plugins
from longmark.concurrency import concurrently
from longmark.errors import ServerFault, TooManyInputs
from longmark.models.cache import call_key
from longmark.models.call_kinds import (
    CHATS,
    CHATS_OF_DIGITS,
    EMBEDS,
    LIKELIHOODS,
    RELATIONS,
    RERANKS,
)
from longmark.models.flights import Accepts as Accepts
from longmark.models.flights import Flights
from longmark.models.flights import NotResent as NotResent
from longmark.models.flights import WouldCall as WouldCall
from longmark.models.protocols import (
    Backend,
    Chat,
    ChatReply,
    ChatRequest,
    Embedder,
    LanguageModel,
    LikelihoodReply,
    LikelihoodRequest,
    PrefixSharing,
    RelationModel,
    Reranker,
    RerankReply,
    total_tokens,
)
from longmark.models.sending import Counts as Counts
from longmark.models.usage_log import Booked as Booked
from longmark.models.usage_log import UsageLog as UsageLog
from longmark.options import named
from longmark.progress import counted


class Client(Flights):
    """What can be asked of models, each kind in a method of its own; the replies come as `Flights` gets them."""

    def at_once(self, models: Sequence[Backend], usual: int) -> int:
        """How many examples are worked on at once: more, where a model's calls go in batches."""
        return (
            self.batches.width(models, usual) if any(map(self._batching.wants, models)) else usual
        )

    def share_budget(self, name: str) -> None:
        """All sessions of this name on this cache share the limits of the budget."""
        budget_group = plugins.required("budgets", "group", named("budget_group"))
        self.budget.group = budget_group(
            name, self.budget, self.cache, self.token, self._turns.next
        )

    @contextmanager
    def one_by_one(self) -> Iterator[None]:
        """Around work whose calls shall not wait for a batch."""
        self._alone = True
        try:
            yield
        finally:
            self._alone = False

    def end_batches(self) -> list[str]:
        """Closes what batches have open; what the user should know of them."""
        if "batches" not in self.__dict__:
            return []
        self.batches.close()
        return self.batches.notices()

    async def chat(
        self,
        model: Chat,
        request: ChatRequest,
        usage_log: UsageLog,
        *,
        digits: bool = False,
        accepts: Accepts | None = None,
    ) -> ChatReply:
        """digits: of the reply's log-probabilities, only those of digits are kept (`protocols.of_digits`). accepts:
        reads the reply, so that a rehearsal finds one that can be read."""
        if (check := getattr(model, "check_window", None)) is not None:
            check(message.content for message in request.messages)
        kind = CHATS_OF_DIGITS if digits else CHATS
        return (await self._call(kind, model, [request], usage_log, accepts))[0]

    async def embed(
        self, model: Embedder, texts: Sequence[str], usage_log: UsageLog
    ) -> list[tuple[float, ...]]:
        """One vector a text, in their order. Each text is cached by itself; those that are new go out in batches of the
        model's size, each a call of its own. ServerFault where the vectors are of different lengths."""
        vectors = [
            reply.vectors[0] for reply in await self._call(EMBEDS, model, list(texts), usage_log)
        ]
        if len({len(vector) for vector in vectors}) > 1:
            raise ServerFault(
                f"{model.name} gives embeddings of different lengths; if another model now has this name, "
                f"delete the stored calls: longmark cache clear --model {model.name}"
            )
        return vectors

    async def rerank(
        self, model: Reranker, query: str, documents: Sequence[str], usage_log: UsageLog
    ) -> RerankReply:
        """A score a document, in their order; out of several calls where the model takes fewer documents in one."""
        if not documents:
            return RerankReply(())

        while True:
            batch = getattr(model, "batch", None) or len(documents)
            key = call_key(
                model.identity, RERANKS.name, {"query": query, "documents": list(documents)}
            )
            if self._stored(key, await self.cache.look([key]), RERANKS, usage_log) is not None:
                batch = len(documents)  # requested before smaller batches were learnt
            parts = [list(documents[i : i + batch]) for i in range(0, len(documents), batch)]
            requests = [{"query": query, "documents": part} for part in parts]
            try:
                replies = await concurrently(
                    lambda request: self._call(RERANKS, model, [request], usage_log), requests
                )
            except TooManyInputs:
                if (getattr(model, "batch", None) or batch) >= batch:
                    raise
                continue
            scores = tuple(score for (reply,) in replies for score in reply.scores)
            if len(scores) != len(documents):
                raise ServerFault(
                    f"{model.name} gave {counted(len(scores), 'score')} for {counted(len(documents), 'document')}"
                )
            return RerankReply(scores, total_tokens(reply.tokens for (reply,) in replies))

    async def classify(
        self, model: RelationModel, premise: str, hypotheses: Sequence[str], usage_log: UsageLog
    ) -> list[tuple[float, float, float]]:
        """Probabilities (entails, contradicts, neutral) of each hypothesis, in their order. Each pair is cached by
        itself; those that are new go out in one call."""
        pairs = [{"premise": premise, "hypothesis": hypothesis} for hypothesis in hypotheses]
        return [
            reply.probabilities[0] for reply in await self._call(RELATIONS, model, pairs, usage_log)
        ]

    async def likelihood(
        self, model: LanguageModel, request: LikelihoodRequest, usage_log: UsageLog
    ) -> LikelihoodReply:
        return (await self._call(LIKELIHOODS, model, [request], usage_log))[0]

    async def likelihoods(
        self, model: LanguageModel, requests: Sequence[LikelihoodRequest], usage_log: UsageLog
    ) -> list[LikelihoodReply]:
        """One reply a request, in their order; each is cached by itself. A model that shares prefixes gets those that
        are new in one call; any other one gets them one by one, queued in their order."""
        if not isinstance(model, PrefixSharing):
            return await concurrently(
                lambda request: self.likelihood(model, request, usage_log), requests
            )
        return await self._call(LIKELIHOODS, model, list(requests), usage_log)

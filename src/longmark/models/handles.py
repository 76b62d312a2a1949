"""What a metric is given: the models of a run, each behind the door, each booking to the row that asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from longmark.domain import Domain, load
from longmark.errors import NoScore
from longmark.models.door import Door, Ledger
from longmark.models.protocols import (
    Chat,
    ChatReply,
    ChatRequest,
    Embedder,
    LanguageModel,
    LikelihoodReply,
    LikelihoodRequest,
    Reranker,
    RerankReply,
)
from longmark.prompts import PromptBook

Model = TypeVar("Model")

ROLES = ("judge", "generator", "embedder", "reranker", "lm")


@dataclass(frozen=True, slots=True)
class Roles:
    """The backends of a run by what they are used for; None: not given."""

    judges: tuple[Chat, ...] = ()
    generator: Chat | None = None
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    lm: LanguageModel | None = None

    def names(self) -> dict[str, list[str]]:
        """role -> names of its models, for roles that have one."""
        single = {role: getattr(self, role) for role in ROLES[1:]}
        found = {"judge": [judge.name for judge in self.judges]} if self.judges else {}
        return found | {role: [model.name] for role, model in single.items() if model is not None}


@dataclass(frozen=True, slots=True)
class ChatHandle:
    """A chat model behind the door."""

    model: Chat
    door: Door
    ledger: Ledger

    @property
    def name(self) -> str:
        return self.model.name

    async def chat(self, request: ChatRequest) -> ChatReply:
        return await self.door.chat(self.model, request, self.ledger)


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a run as one metric sees them. A role that the metric declares is there; the engine saw to it.

    scoring: how a judge's score is read, `text` or `expected`; seed: of the run, for whatever a metric samples; domain:
    what the questions are about, for metrics that follow it.
    """

    roles: Roles
    door: Door
    ledger: Ledger
    prompts: PromptBook
    scoring: str = "text"
    seed: int = 0
    domain: Domain = field(default_factory=load)

    @property
    def judges(self) -> tuple[ChatHandle, ...]:
        return tuple(ChatHandle(judge, self.door, self.ledger) for judge in self.roles.judges)

    @property
    def generator(self) -> ChatHandle:
        return ChatHandle(_given(self.roles.generator, "generator"), self.door, self.ledger)

    async def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        return await self.door.embed(_given(self.roles.embedder, "embedder"), texts, self.ledger)

    async def rerank(self, query: str, documents: Sequence[str]) -> RerankReply:
        return await self.door.rerank(_given(self.roles.reranker, "reranker"), query, documents, self.ledger)

    async def likelihood(self, request: LikelihoodRequest) -> LikelihoodReply:
        return await self.door.likelihood(self._lm(), request, self.ledger)

    async def likelihoods(self, requests: Sequence[LikelihoodRequest]) -> list[LikelihoodReply]:
        return await self.door.likelihoods(self._lm(), requests, self.ledger)

    def _lm(self) -> LanguageModel:
        lm = _given(self.roles.lm, "lm")
        if lm.capabilities.prompt_logprobs is False:
            raise NoScore("unsupported", f"{lm.name} cannot give the log-probabilities of a given text.")
        return lm


def _given(model: Model | None, role: str) -> Model:
    if model is None:
        raise RuntimeError(f"the metric calls the role {role!r}, which its METRIC.models does not declare")
    return model

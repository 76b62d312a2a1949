"""What a metric is given: the models of a run, each behind the client, each booking to the row that asks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from longmark.errors import NoScore
from longmark.judging import Judging
from longmark.models import ROLES
from longmark.models.client import Accepts, Client, UsageLog
from longmark.models.protocols import (
    Backend,
    Chat,
    ChatReply,
    ChatRequest,
    Embedder,
    LanguageModel,
    LikelihoodReply,
    LikelihoodRequest,
    RelationModel,
    Reranker,
    RerankReply,
)
from longmark.prompts import PromptBook
from longmark.records.verdicts import AskedPrompt

if TYPE_CHECKING:
    from longmark.domain import Domain

Model = TypeVar("Model")


class _BuiltInDomain:
    """The built-in domain. Its file is parsed when anything but its name and hash is first needed: most metrics never
    need it."""

    name = "hazards"
    hash = "c1bafa81fb10eb47"  # of domains/hazards.yaml

    def __getattr__(self, attribute: str) -> Any:
        from longmark.domain import load

        return getattr(load(), attribute)


DEFAULT_DOMAIN = cast("Domain", _BuiltInDomain())


@dataclass(frozen=True, slots=True)
class Backends:
    """The backends of a run by what they are used for; None: not given."""

    judges: tuple[Chat, ...] = ()
    generator: Chat | None = None
    embedder: Embedder | None = None
    reranker: Reranker | None = None
    lm: LanguageModel | None = None
    checker: Backend | None = None
    calibration: Any = None  # of the checker: a `text.calibration.CheckerCalibration`

    def names(self) -> dict[str, list[str]]:
        """role -> names of its models, for roles that have one."""
        single = {role: getattr(self, role) for role in ROLES[1:]}
        by_role = {"judge": [judge.name for judge in self.judges]} if self.judges else {}
        by_role |= {
            role: [getattr(model, "signed", model.name)]
            for role, model in single.items()
            if model is not None
        }
        if self.calibration is not None:
            by_role["checker"] = [name + self.calibration.suffix for name in by_role["checker"]]
        return by_role

    def configured(self, roles: Collection[str] = ROLES) -> dict[str, dict[str, Any]]:
        """name -> what longmark.yaml says of the model that can change a score, for models of these roles that it
        names."""
        return {
            model.name: dict(settings)
            for model in self.having(roles)
            if (settings := getattr(model, "configured", None))
        }

    def having(self, roles: Collection[str]) -> list[Backend]:
        """The models of these roles, role by role."""
        models = [
            model
            for role in roles
            for model in (self.judges if role == "judge" else (getattr(self, role),))
        ]
        return [model for model in models if model is not None]

    def all(self) -> list[Backend]:
        """Every model that was given, role by role."""
        single = (self.generator, self.embedder, self.reranker, self.lm, self.checker)
        return [*self.judges, *(model for model in single if model is not None)]


@dataclass(frozen=True, slots=True)
class ChatHandle:
    """A chat model behind the client."""

    model: Chat
    client: Client
    usage_log: UsageLog

    @property
    def name(self) -> str:
        return self.model.name

    async def chat(
        self, request: ChatRequest, *, digits: bool = False, accepts: Accepts | None = None
    ) -> ChatReply:
        """digits: of the log-probabilities, only those of digits are kept. accepts: reads the reply, and raises for one
        that is no verdict: a dry run looks for a reply that it accepts."""
        return await self.client.chat(
            self.model, request, self.usage_log, digits=digits, accepts=accepts
        )

    @asynccontextmanager
    async def asking(self, prompt: str) -> AsyncIterator[ChatHandle]:
        """Around the calls for one verdict: the handle that they go through."""
        log = self.usage_log
        if log.verdicts is None:
            yield self
            return
        about = AskedPrompt(self.name, log.metric, prompt)
        await log.verdicts.begin(about)
        try:
            yield replace(self, usage_log=replace(log, prompt=prompt, sent=0))
        finally:
            log.verdicts.end(about)

    def heard(self, reply: ChatReply, *, read: bool) -> None:
        """Tells the last reply to whoever counts verdicts. read: it has one."""
        log = self.usage_log
        if log.verdicts is not None:
            text = reply.text or reply.refusal or reply.thinking or "(nothing)"
            log.verdicts.hear(
                AskedPrompt(self.name, log.metric, log.prompt), text, read=read, sent=log.sent > 0
            )
            log.sent = 0


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a run as one metric sees them. Every role that the metric declares has a model.

    domain: what the questions are about; judging: how judges are asked for scores.
    """

    backends: Backends
    client: Client
    usage_log: UsageLog
    prompts: PromptBook
    domain: Domain = field(default_factory=lambda: DEFAULT_DOMAIN)
    judging: Judging = field(default_factory=Judging)

    @property
    def judges(self) -> tuple[ChatHandle, ...]:
        return tuple(
            ChatHandle(judge, self.client, self.usage_log) for judge in self.backends.judges
        )

    @property
    def generator(self) -> ChatHandle:
        return ChatHandle(_given(self.backends.generator, "generator"), self.client, self.usage_log)

    @property
    def checker(self) -> Backend | None:
        """What decides relations of statements in place of the judge (`text.entailment`); None: the judge does."""
        return self.backends.checker

    async def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        return await self.client.embed(
            _given(self.backends.embedder, "embedder"), texts, self.usage_log
        )

    async def rerank(self, query: str, documents: Sequence[str]) -> RerankReply:
        return await self.client.rerank(
            _given(self.backends.reranker, "reranker"), query, documents, self.usage_log
        )

    async def classify(
        self, model: RelationModel, premise: str, hypotheses: Sequence[str]
    ) -> list[tuple[float, float, float]]:
        return await self.client.classify(model, premise, hypotheses, self.usage_log)

    async def likelihood(self, request: LikelihoodRequest) -> LikelihoodReply:
        return await self.client.likelihood(self._lm(), request, self.usage_log)

    async def likelihoods(self, requests: Sequence[LikelihoodRequest]) -> list[LikelihoodReply]:
        return await self.client.likelihoods(self._lm(), requests, self.usage_log)

    def _lm(self) -> LanguageModel:
        lm = _given(self.backends.lm, "lm")
        if lm.capabilities.prompt_logprobs is False:
            raise NoScore(
                "unsupported", f"{lm.name} cannot give the log-probabilities of a given text."
            )
        return lm


def _given(model: Model | None, role: str) -> Model:
    if model is None:
        raise RuntimeError(
            f"the metric calls the role {role!r}, which its METRIC.models does not declare"
        )
    return model

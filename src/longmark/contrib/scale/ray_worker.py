"""What an actor of a Ray cluster does: it computes metrics that make no call, or holds one local model.

The coordinator (`ray_cluster`) sends it batches. Cache, budget, ledger and the run's folder are the coordinator's.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import pickle
import platform
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from longmark import __version__, metrics
from longmark.engine import manifest
from longmark.engine.pairs import ChoiceRule
from longmark.engine.settings import Settings
from longmark.engine.worker import computed
from longmark.errors import LongmarkError, ModelError, UserError
from longmark.metric import ScoreSpec
from longmark.metrics import Selected
from longmark.models.client import UsageLog
from longmark.models.handles import DEFAULT_DOMAIN, Backends, Models
from longmark.models.registry import Registry
from longmark.prompts import PromptBook

_NOT_IN_SCORES = frozenset(
    {"aiohttp", "genai-prices"}
)  # packages whose version no computed score depends on


@dataclass(frozen=True, slots=True)
class Wanted:
    """A metric as a worker makes it again. origin: where the code is from, of one from outside the package."""

    base: str
    params: dict[str, Any]
    scores: dict[str, ScoreSpec]
    origin: dict[str, Any]

    @classmethod
    def of(cls, chosen: Selected) -> Wanted:
        """UserError where a worker could not import its code."""
        if chosen.metric.source and not {"file", "module"} & chosen.metric.origin.keys():
            raise UserError(
                f"--executor ray: {chosen.base} was given as a declaration, which workers cannot import; name its file "
                "(my_metric.py) or an installed module"
            )
        params = {field.name: getattr(chosen.params, field.name) for field in fields(chosen.params)}
        return cls(chosen.base, params, chosen.scores, dict(chosen.metric.origin))

    def selected(self) -> Selected:
        """UserError where its code is not here."""
        metric = metrics.from_origin(self.origin) if self.origin else metrics.load(self.base)
        if metric is None:
            raise UserError(f"the metric {self.base} is not installed")
        params = metric.params(**self.params)
        getattr(params, "ready", lambda: None)()
        return Selected(self.base, metric, self.scores, params)


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What a worker is for. folder: the coordinator's working folder, for relative names; metrics: those that it
    computes; model: (role, name) of the one that it holds; None: none."""

    folder: str
    metrics: tuple[Wanted, ...]
    comparison: ChoiceRule
    prompts: PromptBook
    domain: dict[str, Any] | None
    model: tuple[str, str] | None = None

    @classmethod
    def of(cls, settings: Settings, chosen: Sequence[Selected]) -> WorkerSetup:
        domain = settings.domain
        brought = domain.model_dump(mode="json") if domain.hash != DEFAULT_DOMAIN.hash else None
        return cls(
            os.getcwd(),
            tuple(map(Wanted.of, chosen)),
            settings.comparison,
            settings.prompts,
            brought,
        )


@cache
def _source() -> str:
    """A hash of longmark's own code: two checkouts can have one version."""
    digest = hashlib.sha256()
    package = Path(metrics.__file__).parent.parent
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:8]


def facts(chosen: Sequence[Selected], model: Any) -> dict[str, str]:
    """What must be the same where a score is computed and where it is wanted."""
    versions = manifest.environment()["packages"].items()
    return {
        "longmark": f"{__version__} (source {_source()})",
        "Python": platform.python_version(),
        **{name: version for name, version in versions if name not in _NOT_IN_SCORES},
        **{
            f"metric {metric.base}": metric.metric.source
            for metric in chosen
            if metric.metric.source
        },
        **{
            f"the encoder of {metric.name}": metric.params.identity()
            for metric in chosen
            if hasattr(metric.params, "identity")
        },
        **({f"the model {model.name}": model.identity} if model is not None else {}),
    }


class NotHere(LongmarkError):
    """A computation asks a model, which a worker does not have."""


class _NoClient:
    def __getattr__(self, name: str) -> Any:
        raise NotHere("a worker makes no model call")


class Worker:
    """The actor's class."""

    def __init__(self, work: bytes) -> None:
        self._work: WorkerSetup = pickle.loads(work)
        with suppress(OSError):
            os.chdir(self._work.folder)
        self._turn = asyncio.Lock()
        self._models: Any = None

    async def facts(self) -> tuple[dict[str, str], str]:
        """`facts` of this process, or why it cannot work."""
        work = self._work
        try:
            self._selected = [metric.selected() for metric in work.metrics]
            self._model = Registry(sends=False).open(*work.model) if work.model else None
            return facts(self._selected, self._model), ""
        except LongmarkError as error:
            return {}, str(error)

    async def do(self, batch: bytes) -> tuple[float, list[bytes | None]]:
        """How many seconds a batch took, and a pickled result for each of its items; None for one that must be computed
        by the coordinator. Batches follow each other."""
        async with self._turn:
            began = time.perf_counter()
            ask = self._call if self._model is not None else self._score
            results = await asyncio.gather(*(ask(*item) for item in pickle.loads(batch)))
            return time.perf_counter() - began, list(results)

    async def _call(self, method: str, arguments: tuple[Any, ...]) -> bytes:
        try:
            result = await getattr(self._model, method)(*arguments)
        except ModelError as error:
            result = error
        except LongmarkError as error:
            result = UserError(str(error))  # other kinds are made of more than their message
        return pickle.dumps(result)

    async def _score(self, number: int, example: Any, scores: list[str]) -> bytes | None:
        try:
            models = self._models = self._models or self._without_models()
            chosen = self._selected[number]
            return pickle.dumps(
                dict(await computed(chosen, example, models, scores, self._work.comparison))
            )
        except Exception:  # the coordinator does it itself, and meets what is wrong
            return None

    def _without_models(self) -> Models:
        domain = DEFAULT_DOMAIN
        if self._work.domain is not None:
            from longmark.domain import Domain

            domain = Domain.model_validate(self._work.domain)
        nobody: Any = _NoClient()
        return Models(Backends(), nobody, UsageLog(), self._work.prompts, domain)

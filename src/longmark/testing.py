"""Scores one example with one metric, for unit tests and for a quick look: no run folder, no cache that stays.

    scores = await score("ccrs.question_relevance", example, judge=FakeChat("85"))
    scores["ccrs.question_relevance"].value == 0.85

The fakes need no network and no key. They return the same reply every time and keep their requests in `requests`. A
role also takes the name of a model, as on the command line (`judge="embedded"`).
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

from longmark import metrics
from longmark.domain import Domain, load
from longmark.engine import pairs
from longmark.engine.run import finish
from longmark.errors import NoScore, UnknownName, UserError
from longmark.judging import Judging
from longmark.metric import Metric
from longmark.models import ROLES
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat, FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.handles import Models
from longmark.models.registry import Name, Registry
from longmark.options.groups import ModelNames
from longmark.prompts import PromptBook
from longmark.records import Answered
from longmark.records.metric_name import base_of
from longmark.text.calibration import CheckerCalibration, read_labels
from longmark.text.overlap import named_checker

__all__ = [
    "FakeChat",
    "FakeEmbedder",
    "FakeLanguageModel",
    "FakeReranker",
    "ScoreOptions",
    "Scored",
    "call",
    "open_models",
    "score",
    "score_sync",
]

T = TypeVar("T")


class ScoreOptions(TypedDict, total=False):
    """The models by role, and the settings of the run that the metric sees. All are optional.

    judge: one model or several, a fake or a name. judging: how it is asked (default: without reasons, and read as a
    run reads this judge). domain: None is the built-in one.
    calibrate: a file of labels that the checker is calibrated on.
    cache: a file for the calls, kept afterwards; without it they are in a temporary file.
    """

    judge: Name | Sequence[Name]
    generator: Name
    embedder: Name
    reranker: Name
    lm: Name
    checker: Name
    calibrate: str | Path
    judging: Judging
    domain: Domain | None
    prompts: PromptBook
    cache: Path


@dataclass(frozen=True, slots=True)
class Scored:
    """A score, or why the example is unscored. value: None unless the status is `ok`; reason: None if it is."""

    value: float | None
    status: str = "ok"
    reason: str | None = None
    evidence: dict[str, Any] = field(default_factory=dict)


async def score(
    metric: str | Metric,
    example: Answered,
    params: Mapping[str, Any] | None = None,
    **options: Unpack[ScoreOptions],
) -> dict[str, Scored]:
    """Full name -> score of an example, as in the rows of a run: failures are unscored, with status and reason.

    metric: the name of a metric, or of one of its scores; or a declaration, whose scores are then named `metric` and
    `metric.PART`. params: the metric's parameters by name, in place of those in the metric's name; the names of the
    scores do not show them. UserError for an unknown name, for a model that cannot be opened, and for a metric on
    variants with an example that is not a variant.
    """
    domain = options.get("domain") or load()
    if isinstance(metric, Metric):
        selected = metrics.Selected(
            "metric", metric, metric.published("metric", domain), metric.params()
        )
    else:
        matches = metrics.select([metric], domain)
        if len(matches) > 1:
            raise UserError(f"{metric} is a family: name one metric, for example {matches[0].name}")
        selected = matches[0]
    asked = wanted = selected.due(is_variant=example.variant_of is not None, kind=example.variant)
    if not wanted:
        runs_on = (
            "variants: set variant_of"
            if selected.metric.variants
            else "originals: leave variant_of out"
        )
        raise UserError(
            f"{selected.name} has no score for this example: it runs on {runs_on} of the example"
        )
    if params is not None:
        selected = selected.with_(params=selected.metric.params(**params))
        wanted = [base_of(name) + selected.suffix for name in asked]
    async with open_models(**options) as models:
        scores = await pairs.score(selected, example, models, wanted, pairs.ChoiceRule())
    return {
        name: Scored(None, result.status, result.reason, result.evidence)
        if isinstance(result, NoScore)
        else Scored(float(result.value), evidence=result.evidence)
        for name, result in zip(asked, scores.values(), strict=True)
    }


def score_sync(
    metric: str | Metric,
    example: Answered,
    params: Mapping[str, Any] | None = None,
    **options: Unpack[ScoreOptions],
) -> dict[str, Scored]:
    """`score` for code that is not async. It also works inside a running event loop (a notebook)."""
    return finish(lambda: score(metric, example, params, **options))


def call(step: Callable[[Models], Awaitable[T]], **options: Unpack[ScoreOptions]) -> T:
    """The result of a step that takes the models of a run, for example `claims` of `longmark.text.claims`."""

    async def run() -> T:
        async with open_models(**options) as models:
            return await step(models)

    return finish(run)


@asynccontextmanager
async def open_models(**options: Unpack[ScoreOptions]) -> AsyncIterator[Models]:
    """The models of a run, as a metric gets them. Models that were given by name are closed at the end."""
    for name in options:
        if name not in ScoreOptions.__annotations__:
            raise UnknownName("option", name, ScoreOptions.__annotations__)
    judge = options.get("judge", ())
    judges = list(judge) if isinstance(judge, Sequence) and not isinstance(judge, str) else [judge]
    by_role: dict[str, Any] = {role: options.get(role) for role in ROLES[1:]}
    by_role["checker"] = named_checker(by_role["checker"])
    judging = options.get("judging", Judging())
    with tempfile.TemporaryDirectory(prefix="longmark-") as folder:
        cache = CallCache(options.get("cache") or Path(folder) / "calls.sqlite")
        opener = Registry(cache)
        try:
            backends = opener.backends(ModelNames(judges, **by_role))
            if (labels := options.get("calibrate")) is not None and backends.checker is not None:
                backends = replace(
                    backends, calibration=CheckerCalibration(read_labels(Path(labels)))
                )
            yield Models(
                backends,
                Client(cache),
                UsageLog(),
                options.get("prompts") or PromptBook(),
                options.get("domain") or load(),
                judging.for_judges(backends.judges),
            )
        finally:
            named_models = [("judge", judge) for judge in judges] + list(by_role.items())
            for role, name in named_models:
                if isinstance(name, str):
                    await opener.open(role, name).close()
            cache.close()

"""A SCORE study from Python: worked on as far as it goes, and everything its tables are made of.

plan = Plan(out=Path("study"), index=Path("idx"), n=100, generators=[member("openai:gpt-4o")], ...)
outcome = carry_out(plan, open_cache(None))
publish(document(outcome.result), plan.out, Console())
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.engine.run import finish
from longmark.models.cache import CallCache
from longmark.models.registry import Registry
from longmark.records import sources
from longmark.study.score.estimates import Settings
from longmark.study.score.found import answers_of, found_in
from longmark.study.score.labels import Labels, read_labels
from longmark.study.score.page import Result
from longmark.study.score.plan import Plan
from longmark.study.score.stages import Expected, How, Study
from longmark.study.stages import NAME, StudyStopped


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a session. stopped: why it ended before the study did; None: it did not."""

    result: Result
    stopped: StudyStopped | None


def carry_out(
    plan: Plan,
    cache: CallCache,
    how: How | None = None,
    *,
    labels: Path | None = None,
    registry: Registry | None = None,
) -> Outcome:
    """Works on a study until it is done or cannot go on. labels: a file of people's labels.

    UserError and its kinds for whatever is wrong, before the first call where it can be known then.
    """
    study = Study(plan, cache, how or How(), registry)
    if labels is not None:
        sources.kind_of(labels)
    stopped: StudyStopped | None = None
    with study.folder() as folder:
        if labels is not None and all(plan.answers_path(one).exists() for one in plan.generators):
            _labels(labels, study)  # what is wrong with them is known before more is paid
        try:
            finish(lambda: study.run(folder))
        except StudyStopped as stop:
            stopped = stop
        return Outcome(_result(study, folder.stages, labels), stopped)


def expect(plan: Plan, cache: CallCache, how: How | None = None) -> list[Expected]:
    """What every stage of a study would still take. Nothing is sent, and nothing is written."""
    study = Study(plan, cache, how or How())

    async def work() -> list[Expected]:
        if not (plan.out / NAME).exists():
            return await study.expected(None)
        with study.folder() as folder:
            return await study.expected(folder)

    return finish(work)


def _result(study: Study, stages: Mapping[str, Any], labels: Path | None) -> Result:
    plan = study.plan
    found = found_in(plan, study.domain)
    given = _labels(labels, study) if labels is not None and any(answers_of(plan).values()) else None
    count = stages.get("questions", {}).get("lines", 0)
    return Result(found, Settings(), given, stages, study.fixed, plan.members(), count)


def _labels(path: Path, study: Study) -> Labels:
    return read_labels(path, tuple(study.domain.weights), answers_of(study.plan))

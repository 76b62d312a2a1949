"""Marks examples: every metric on every example that still lacks a row, several at once, each to a row or a reason."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from longmark import __version__
from longmark.engine.folder import RunFolder
from longmark.engine.settings import RETRIED, Settings
from longmark.errors import ModelError, NoScore, OverBudget, TooLong, Unsupported, UserError
from longmark.judge import TEMPERATURE
from longmark.metric import Score, full_name
from longmark.metrics import Selected
from longmark.models.client import Client, UsageLog
from longmark.models.handles import Models
from longmark.models.waiting import Stopped
from longmark.records import Example, Row, Signature, Usage

_NO_REPLY = RETRIED | {"too_long"}  # what these rows lack is a reply; those that the cache holds for them are sound
_MISSING = {
    "question": "The example has no question.",
    "answer": "The example has no answer (null).",
    "contexts": "The example has no contexts.",
    "references": "The example has no reference answer.",
    "profile": "The example has no profile.",
    "base_answer": "The example has no base answer.",
}


@dataclass(frozen=True, slots=True)
class Task:
    """One computation: a metric on an example. wanted: the values that still need a row; refresh: ask anew what the
    cache holds, since the reply that it holds is what could not be used."""

    n: int
    example: Example
    chosen: Selected
    wanted: list[str]
    refresh: bool = False


class WorkerPool:
    """The work of one session in a run's folder.

    system: who answered, for examples that do not say. on_row: told of every row that is written.
    """

    def __init__(
        self,
        folder: RunFolder,
        settings: Settings,
        client: Client,
        *,
        system: str,
        retry: frozenset[str] = RETRIED,
        on_row: Callable[[Row], None] = lambda _row: None,
    ) -> None:
        self._folder = folder
        self._settings = settings
        self._client = client
        self._system = system
        self._retry = retry
        self._on_row = on_row
        self._stop = False
        self._broken: list[Exception] = []
        self._signatures = {chosen.name: self._signature(chosen) for chosen in settings.selected}

    def stop(self) -> None:
        """Begins nothing new; calls under way are waited for and stored, rows that need more calls are left out."""
        self._stop = True
        self._client.stop()

    async def run(self, workers: int) -> None:
        """Works until there is nothing left, it is stopped, or something is broken: a disk that is full (UserError), or
        a bug. That is raised once the calls under way have ended, since they are paid for and their replies are kept.
        """
        tasks = self.tasks()
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(self._worker(tasks))
        if self._broken:
            bugs = [error for error in self._broken if not isinstance(error, UserError)]
            raise ExceptionGroup("marking failed", bugs) if bugs else self._broken[0]

    def tasks(self) -> Iterator[Task]:
        """What still needs a row, in the order of the examples; read as it is asked for."""
        for n, example in self._folder.examples():
            for chosen in self._settings.selected:
                due = chosen.due(is_variant=example.variant_of is not None, kind=example.variant)
                wanted = self._folder.missing(n, due, self._retry)
                if wanted:
                    refresh = any(status not in _NO_REPLY for status in wanted.values() if status is not None)
                    yield Task(n, example, chosen, list(wanted), refresh)

    async def _worker(self, tasks: Iterator[Task]) -> None:
        try:
            for task in tasks:
                if self._stop:
                    return
                for row in await self.mark(task):
                    self._folder.append(task.n, row)
                    self._on_row(row)
                await asyncio.sleep(0)  # without a call nothing else lets a Ctrl-C be heard
        except Stopped:
            return
        except Exception as error:
            self._broken.append(error)
            self.stop()

    async def mark(self, task: Task) -> list[Row]:
        """The rows of one computation, one for each value that is wanted."""
        example, chosen = task.example, task.chosen
        usage_log = UsageLog(first=self._folder.first, refresh=task.refresh)
        settings = self._settings
        results: dict[str, Score | NoScore]
        try:
            self._check(example, chosen)
            models = Models(
                settings.backends,
                self._client,
                usage_log,
                settings.prompts,
                settings.scoring,
                settings.seed,
                settings.domain,
            )
            result = await chosen.metric.score(example, models, settings.params[chosen.name])
            if isinstance(result, Score):
                results = {chosen.name: result}
            else:
                results = {full_name(chosen.name, part): one for part, one in result.items()}
        except NoScore as gap:
            results = dict.fromkeys(task.wanted, gap)
        except OverBudget as error:
            results = dict.fromkeys(task.wanted, NoScore("over_budget", str(error)))
        except Unsupported as error:
            results = dict.fromkeys(task.wanted, NoScore("unsupported", str(error)))
        except TooLong as error:
            results = dict.fromkeys(task.wanted, NoScore("too_long", str(error)))
        except ModelError as error:
            results = dict.fromkeys(task.wanted, NoScore("model_error", str(error)))
        return [
            self._row(example, chosen, value, results[value], usage_log.usage if i == 0 else Usage())
            for i, value in enumerate(task.wanted)
        ]

    def _check(self, example: Example, chosen: Selected) -> None:
        lacking = [name for name in chosen.metric.needs if _lacks(example, name)]
        if lacking:
            reason = " ".join(_MISSING.get(name, f"The example has no {name}.") for name in lacking)
            raise NoScore("missing_input", reason)

    def _row(self, example: Example, chosen: Selected, value: str, result: Score | NoScore, usage: Usage) -> Row:
        gap = result if isinstance(result, NoScore) else None
        return Row(
            example_id=example.id,
            question_id=example.question_id,
            system=example.system or self._system,
            metric=value,
            value=float(result.value) if isinstance(result, Score) else None,
            status=gap.status if gap else "ok",
            reason=gap.reason if gap else None,
            evidence=result.evidence,
            signature=self._signatures[chosen.name],
            usage=usage,
        )

    def _signature(self, chosen: Selected) -> Signature:
        settings = self._settings
        params: dict[str, Any] = asdict(settings.params[chosen.name])
        if chosen.metric.scorings:
            params["scoring"] = settings.scoring
            params["temperature"] = TEMPERATURE
        return Signature(
            version=__version__,
            params=params,
            models={r: names for r, names in settings.backends.names().items() if r in chosen.metric.models},
            prompts=settings.prompts.hashes(settings.prompts_of(chosen.metric)),
            seed=settings.seed,
        )


def _lacks(example: Example, name: str) -> bool:
    """Whether a field is missing: None, or no passages or references. An empty answer is there; a question, say, that
    is empty or blank is not."""
    value = getattr(example, name)
    if name in ("answer", "base_answer"):
        return value is None
    return value is None or value == () or (isinstance(value, str) and not value.strip())

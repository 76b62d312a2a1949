"""How what a dry run expects compares with what this user's last runs took, by metric.

The answers of the last runs on the same call cache are walked twice, and nothing is sent: with the replies that the
cache holds, and with those of a rehearsal. What several answers share counts once. The ratio of both sums corrects the
figures that are expected of other answers: it holds how many claims these judges list, how often they are asked a
second time, and how a model counts tokens. An answer of which a reply is missing (other models, other parameters,
another version) does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from longmark.engine.rehearsal import Rehearsal
from longmark.engine.settings import Settings
from longmark.engine.worker import Task, WorkerPool
from longmark.errors import LongmarkError
from longmark.metrics import Selected
from longmark.models.cache import CallCache
from longmark.models.client import Client, WouldCall
from longmark.models.registry import price_of
from longmark.records import Answered, Usage
from longmark.records.files import lines
from longmark.records.pair import example_of

_RUNS = 5  # the last ones
_ANSWERS = 20  # of a metric, from which the ratio is taken
_READ = 60  # answers of a run that are looked at for them


@dataclass(frozen=True, slots=True)
class Ratio:
    """What was measured by what a rehearsal expects. answers: how many both were made for; run: the last of them."""

    answers: int
    run: Path
    calls: float
    prompt_tokens: float
    completion_tokens: float
    usd: float


class _CallKeys:
    """In place of a run's folder: which calls were needed, each once; nothing is written."""

    def __init__(self) -> None:
        self.keys: set[bytes] = set()

    def first(self, key: bytes) -> bool:
        is_new = key not in self.keys
        self.keys.add(key)
        return is_new


async def measured(cache: CallCache, settings: Settings) -> dict[str, Ratio]:
    """Metric -> the ratio of its last runs; without the metrics that none of them has."""
    folders = list(_last_runs(cache))
    if not folders:
        return {}
    with TemporaryDirectory(prefix="longmark-") as scratch:
        empty = CallCache(Path(scratch) / "calls.sqlite")
        try:
            ratios = {
                chosen.name: await _ratio(chosen, settings, folders, (cache, empty))
                for chosen in settings.selected
                if chosen.metric.models
            }
        finally:
            empty.close()
    return {name: ratio for name, ratio in ratios.items() if ratio is not None}


def _last_runs(cache: CallCache) -> Iterator[Path]:
    """The folders of the last runs that still stand, the last first."""
    query = "SELECT run FROM sessions WHERE run <> '' GROUP BY run ORDER BY max(began) DESC"
    for (run,) in cache.do(query).fetchmany(_RUNS):
        if (Path(run) / "examples.jsonl").is_file():
            yield Path(run)


def _examples(folder: Path) -> Iterator[Answered]:
    with suppress(OSError, ValueError, LongmarkError):  # what is damaged measures nothing
        for _, line in islice(lines(folder / "examples.jsonl"), _READ):
            yield example_of(line)


async def _ratio(
    chosen: Selected,
    settings: Settings,
    folders: list[Path],
    caches: tuple[CallCache, CallCache],
) -> Ratio | None:
    cache, empty = caches
    walked = _Walked(settings, Client(cache, dry=True))
    rehearsed = _Walked(
        settings,
        Client(empty, price_of=price_of, dry=True, rehearsal=Rehearsal()),
    )
    answers = 0
    last = folders[0]
    for folder in folders:
        for example in _examples(folder):
            names = chosen.due(is_variant=example.variant_of is not None, kind=example.variant)
            if answers == _ANSWERS or not names:
                continue
            task = Task(0, example, chosen, names)
            if await walked.takes(task):
                await rehearsed.takes(task)
                last = folder if not answers else last
                answers += 1
    if not answers or not rehearsed.calls.keys:
        return None
    calls = len(walked.calls.keys) / len(rehearsed.calls.keys)
    unmetered = walked.usage.unmetered > 0

    def ratio(of_usage: Callable[[Usage], float | None]) -> float:
        """That of the calls where the tokens or prices are not known."""
        numerator = of_usage(walked.usage)
        denominator = of_usage(rehearsed.usage)
        if numerator and denominator and not unmetered:
            return numerator / denominator
        return calls

    return Ratio(
        answers,
        last,
        calls,
        ratio(lambda usage: usage.prompt_tokens),
        ratio(lambda usage: usage.completion_tokens),
        ratio(lambda usage: usage.usd),
    )


class _Walked:
    """The calls and usage of answers that a client without sending took to their end."""

    def __init__(self, settings: Settings, client: Client) -> None:
        self.calls = _CallKeys()
        self.usage = Usage()
        self._workers = WorkerPool(self.calls, settings, client, system="")  # type: ignore[arg-type]

    async def takes(self, task: Task) -> bool:
        """Whether every reply is there, and a model was needed."""
        before = set(self.calls.keys)
        try:
            rows = await self._workers.score(task)
        except WouldCall:
            self.calls.keys = before
            return False
        if not rows[0].usage.calls or any(row.status == "metric_error" for row in rows):
            self.calls.keys = before
            return False
        self.usage.add(rows[0].usage)
        return True

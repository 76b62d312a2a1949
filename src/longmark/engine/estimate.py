"""What a run would take, without a call: the answer to `--dry-run`.

Each metric runs on each example with a client that sends nothing. Calls that the cache holds are answered. The first
call that it does not hold is priced by its own prompt; the calls that the declaration allows after it are assumed to
be as long. For a metric with one call per example, every figure but the token counts is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from longmark.engine.settings import Settings
from longmark.engine.worker import Task, WorkerPool
from longmark.models.client import WouldCall


@dataclass(slots=True)
class MetricEstimate:
    """calls: that would be sent, at most; cached: answered from the cache; usd: None where no price is known."""

    rows: int = 0
    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0


@dataclass(slots=True)
class Estimate:
    """What is still to do in a folder, by metric. rows_done: rows that are there already."""

    rows_done: int = 0
    metrics: dict[str, MetricEstimate] = field(default_factory=dict)

    @property
    def total(self) -> MetricEstimate:
        whole = MetricEstimate()
        for one in self.metrics.values():
            whole.rows += one.rows
            whole.calls += one.calls
            whole.cached += one.cached
            whole.prompt_tokens += one.prompt_tokens
            whole.completion_tokens += one.completion_tokens
            whole.usd = None if whole.usd is None or one.usd is None else whole.usd + one.usd
        return whole


async def estimate(work: WorkerPool, settings: Settings, tasks: Iterator[Task], rows_done: int) -> Estimate:
    """Goes through the tasks; `work` must stand behind the client that is dry."""
    whole = Estimate(rows_done, {chosen.name: MetricEstimate() for chosen in settings.selected})
    judges = len(settings.backends.judges)
    for task in tasks:
        one = whole.metrics[task.chosen.name]
        one.rows += len(task.wanted)
        try:
            rows = await work.mark(task)
        except WouldCall as call:
            params = settings.params[task.chosen.name]
            calls = max(1, task.chosen.metric.calls(task.example, params, judges) - call.answered)
            one.cached += call.answered
            one.calls += calls
            one.prompt_tokens += calls * call.most.prompt
            one.completion_tokens += calls * call.most.completion
            usd = call.price(call.most)
            one.usd = None if one.usd is None or usd is None else one.usd + calls * usd
        else:
            one.cached += rows[0].usage.calls
    return whole

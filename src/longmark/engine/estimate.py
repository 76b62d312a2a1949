"""What a run would take, without a call: the answer to `--dry-run`.

Each metric is run on each example with a door that sends nothing. What the cache holds is answered, so a metric gets as
far as it can; the first call it cannot get is priced by its own prompt, and the calls its declaration allows after that
one are taken to be as long. For a metric of one call an example the figures are exact but for the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from longmark.engine.settings import Settings
from longmark.engine.work import Task, Work
from longmark.models.door import WouldCall


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


async def estimate(work: Work, settings: Settings, tasks: Iterator[Task], rows_done: int) -> Estimate:
    """Goes through the tasks; `work` must stand behind a door that is dry."""
    whole = Estimate(rows_done, {chosen.name: MetricEstimate() for chosen in settings.selected})
    judges = len(settings.roles.judges)
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

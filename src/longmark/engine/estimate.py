"""What a run would take, without a call: `--dry-run`.

Each metric runs on each example twice, with clients that send nothing. Calls that the cache holds are answered.

Expected: a rehearsal (`engine.rehearsal`) answers the others, so that each metric walks its plan to its end, with the
file's own texts. A call that two metrics or two systems make alike is counted once, for the first. What the last runs
took corrects the sums (`engine.measured`). Where none has measured a metric, its first examples are walked with fewer and
with more statements a sentence, too (`engine.spread`).
At most: the first call that the cache does not hold is priced by its own prompt; the calls that the metric's
declaration allows after it are assumed to be as long; of a judge that is asked for the reason after the score, every
second reply may be as long as a reason. Budgets and batches reckon with this.

For a metric with one call per example, every figure but the token counts is exact in both.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path

from longmark.engine.folder import RunFolder
from longmark.engine.measured import Ratio, measured
from longmark.engine.pairs import check_kind, sides
from longmark.engine.rehearsal import Rehearsal
from longmark.engine.session import check_budget, tell_unsupported
from longmark.engine.settings import SessionOptions, Settings
from longmark.engine.spread import FEWEST, MOST, Spread
from longmark.engine.worker import Task, WorkerPool
from longmark.judged import REASON_TOKENS
from longmark.models.batching import too_few
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.client import Client, WouldCall
from longmark.models.registry import price_of
from longmark.records.read import ExampleSource, Reading
from longmark.writing import check_ours


@dataclass(frozen=True, slots=True)
class ExpectedCalls:
    """What is expected to be sent. usd: None where no price is known."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0

    def __add__(self, addend: ExpectedCalls) -> ExpectedCalls:
        return ExpectedCalls(
            self.calls + addend.calls,
            self.prompt_tokens + addend.prompt_tokens,
            self.completion_tokens + addend.completion_tokens,
            None if self.usd is None or addend.usd is None else self.usd + addend.usd,
        )

    def __sub__(self, earlier: ExpectedCalls) -> ExpectedCalls:
        return ExpectedCalls(
            self.calls - earlier.calls,
            self.prompt_tokens - earlier.prompt_tokens,
            self.completion_tokens - earlier.completion_tokens,
            None if self.usd is None or earlier.usd is None else self.usd - earlier.usd,
        )

    def corrected(self, by: Ratio) -> ExpectedCalls:
        """What is expected, in the ratio of what the last runs took to what was expected of them."""
        return ExpectedCalls(
            round(self.calls * by.calls),
            round(self.prompt_tokens * by.prompt_tokens),
            round(self.completion_tokens * by.completion_tokens),
            None if self.usd is None else self.usd * by.usd,
        )


@dataclass(slots=True)
class MetricEstimate:
    """calls, prompt_tokens, completion_tokens, usd: that would be sent, at most; expected: what will be, if the models
    reply as the rehearsal has it; cached: answered from the cache; usd: None where no price is known; asking: examples
    with such calls; reserved: what a budget in dollars sets aside for the calls, 0 without one."""

    rows: int = 0
    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    asking: int = 0
    reserved: float = 0.0
    expected: ExpectedCalls = field(default_factory=ExpectedCalls)

    def add(self, other: MetricEstimate) -> None:
        self.rows += other.rows
        self.calls += other.calls
        self.cached += other.cached
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens
        self.asking += other.asking
        self.reserved += other.reserved
        self.usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        self.expected = self.expected + other.expected

    def at_least_expected(self) -> None:
        """Raises what is sent at most where more is expected: a declaration assumes a number of statements, too."""
        expected = self.expected
        self.calls = max(self.calls, expected.calls)
        self.prompt_tokens = max(self.prompt_tokens, expected.prompt_tokens)
        self.completion_tokens = max(self.completion_tokens, expected.completion_tokens)
        if self.usd is not None and expected.usd is not None:
            self.usd = max(self.usd, expected.usd)


@dataclass(slots=True)
class RunEstimate:
    """What is still to do in a folder, by metric. rows_done: rows that exist already. rounds: of batches, one after the
    other, at least; window: hours in which a round ends; 0: nothing goes in batches. affordable: how many calls a
    budget in dollars lets go in batches, and in how many, if each takes what is estimated; None: all fit at once.
    measured: metric -> what corrected its expected figures. spreads: metric -> the fewest and the most calls that are
    expected, where they depend on how many statements the judge lists and nothing has measured that. lists_statements:
    whether some reply lists statements, which are assumed to be one for each sentence."""

    rows_done: int = 0
    metrics: dict[str, MetricEstimate] = field(default_factory=dict)
    rounds: int = 0
    window: float = 0.0
    affordable: tuple[int, int] | None = None
    measured: dict[str, Ratio] = field(default_factory=dict)
    spreads: dict[str, tuple[int, int]] = field(default_factory=dict)
    lists_statements: bool = False

    @property
    def total(self) -> MetricEstimate:
        total = MetricEstimate()
        for metric in self.metrics.values():
            total.add(metric)
        return total


async def dry_run(
    examples: ExampleSource,
    settings: Settings,
    out: Path | None,
    cache: CallCache,
    options: SessionOptions,
) -> RunEstimate:
    """What `session.execute` would still take in the folder `out`: nothing is sent and the folder stays as it is."""
    check_budget(settings.backends, options.budget)
    tell_unsupported(settings, options)
    with tempfile.TemporaryDirectory(prefix="longmark-") as scratch:
        copy = Path(scratch) / (out.name if out and out.name else "run")
        if out is not None and (out / "manifest.json").exists():
            copy.mkdir()
            for name in ("manifest.json", "examples.jsonl", "rows.jsonl"):
                check_ours(out / name)
                if (out / name).exists():
                    shutil.copyfile(out / name, copy / name)
        with RunFolder(copy, settings.scores, named=out) as folder:
            folder.space.fix(settings.fixed())
            source = Reading(examples, **options.reading)
            folder.stage(source)
            check_kind(source, settings.selected, settings.comparison)
            folder.adopt()
            client = Client(cache, price_of=price_of, dry=True, batching=options.batching)
            rehearsal = Rehearsal()
            rehearsing = Client(
                cache, price_of=price_of, dry=True, batching=options.batching, rehearsal=rehearsal
            )

            def pool_of(client: Client) -> WorkerPool:
                return WorkerPool(
                    folder,
                    settings,
                    client,
                    system="dry run",
                    retry=options.retried,
                )

            def walk_with(statements: float) -> _Walk:
                stand_in = Rehearsal(statements)
                client = Client(
                    cache,
                    price_of=price_of,
                    dry=True,
                    rehearsal=stand_in,
                )
                return _Walk(pool_of(client), stand_in)

            ratios = await measured(cache, settings)
            spread = Spread(walk_with(FEWEST).expected, walk_with(MOST).expected)
            estimate = await _estimate(
                pool_of(client),
                _Walk(pool_of(rehearsing), rehearsal),
                spread,
                settings,
                RunEstimate(folder.rows_done(options.retried), measured=ratios),
                options.budget,
            )
            rehearsing.end_batches()
            estimate.lists_statements = rehearsal.lists_statements
            for name, metric in estimate.metrics.items():
                if ratio := ratios.get(name):
                    metric.expected = metric.expected.corrected(ratio)
                    metric.at_least_expected()
                elif calls := spread.calls(name, metric.expected.calls):
                    estimate.spreads[name] = calls
            if open_ := client.at_once(settings.backends.all(), 0):
                widths = [
                    chosen.metric.rounds
                    for chosen in settings.selected
                    if estimate.metrics[chosen.name].calls
                ]
                waves = -(-sum(metric.asking for metric in estimate.metrics.values()) // open_)
                estimate.rounds = waves * max(widths, default=0)
                estimate.window = client.batches.window
                estimate.affordable = _affordable(estimate.total, options.budget.max_usd)
            client.end_batches()
            return estimate


def _affordable(total: MetricEstimate, max_usd: float | None) -> tuple[int, int] | None:
    if max_usd is None or not total.calls or total.usd is None or total.reserved <= max_usd:
        return None
    left = max_usd
    waiting = total.calls
    batches = 0
    while waiting and not too_few(
        fitting := min(waiting, int(left / total.reserved * total.calls)), waiting
    ):
        left = left - fitting * total.usd / total.calls
        waiting = waiting - fitting
        batches = batches + 1
    return total.calls - waiting, batches


@dataclass(frozen=True, slots=True)
class _Walk:
    """Walks metrics to their end with replies of the rehearsal."""

    workers: WorkerPool
    rehearsal: Rehearsal

    async def expected(self, task: Task) -> ExpectedCalls | None:
        """What this computation will send; None where the metric fails on a stand-in."""
        before = self._booked()
        rows = await self.workers.score(task)
        if any(row.status in ("metric_error", "unparsable") for row in rows):
            return None
        return self._booked() - before

    def _booked(self) -> ExpectedCalls:
        rehearsal = self.rehearsal
        return ExpectedCalls(
            rehearsal.calls,
            rehearsal.prompt_tokens,
            rehearsal.completion_tokens,
            rehearsal.usd,
        )


async def _estimate(
    workers: WorkerPool,
    walk: _Walk,
    spread: Spread,
    settings: Settings,
    estimate: RunEstimate,
    budget: Budget,
) -> RunEstimate:
    """The estimate with its metrics; spread gets those that no run has measured."""
    estimate.metrics = {chosen.name: MetricEstimate() for chosen in settings.selected}
    counted: set[int] = set()  # hashes of texts whose shared calls are counted
    for task in workers.tasks():
        judging = settings.judging_of(task.chosen)
        judges = len(settings.backends.judges) * (
            judging.samples if task.chosen.metric.judged else 1
        )
        added = MetricEstimate(rows=len(task.wanted))
        try:
            rows = await workers.score(task)
        except WouldCall as call:
            answers = sides(task.chosen, task.example)
            sent_before = (
                0  # for another metric, another answer to the question, or the other side of a pair
            )
            for text, count in (
                one_text for side in answers for one_text in task.chosen.shares(side).items()
            ):
                sent_before += count if hash(text) in counted else 0
                counted.add(hash(text))
            # shared calls come first in a metric, so they are the first that the cache has answered
            before = max(call.answered, sent_before)
            after = not judging.by_text and judging.reasons  # a second call for each
            calls = sum(task.chosen.calls(side, judges) for side in answers) * (2 if after else 1)
            checker = settings.backends.checker
            if hasattr(checker, "relations"):  # it decides by itself, as word overlap does
                calls -= sum(task.chosen.checks(side) for side in answers)
            elif hasattr(checker, "classify") and getattr(checker, "batch", None) == 1:
                # a served claim checker is asked about one pair in each call
                calls += sum(
                    task.chosen.relations(side) - task.chosen.checks(side)
                    for side in answers
                    if task.chosen.relations(side)
                )
            calls = max(1 if before == call.answered else 0, calls - before)
            added.asking = 1
            reasons = (calls + 1) // 2 if after else 0
            reason = replace(call.most, completion=max(call.most.completion, REASON_TOKENS))
            kinds = ((calls - reasons, call.most), (reasons, reason))
            added.cached = call.answered
            added.calls = calls
            added.prompt_tokens = calls * call.most.prompt
            added.completion_tokens = sum(count * greatest.completion for count, greatest in kinds)
            added.reserved = sum(
                count * budget.asked(greatest, call.price).usd for count, greatest in kinds if count
            )
            prices = [(count, call.price(greatest)) for count, greatest in kinds if count]
            added.usd = (
                None
                if any(usd is None for _, usd in prices)
                else sum(count * (usd or 0) for count, usd in prices)
            )
            expected = await walk.expected(task)
            if expected is None:
                expected = ExpectedCalls(
                    added.calls, added.prompt_tokens, added.completion_tokens, added.usd
                )
            elif task.chosen.name not in estimate.measured:
                await spread.add(task, expected.calls)
            added.expected = expected
            added.at_least_expected()
        else:
            added.cached = rows[0].usage.calls
        estimate.metrics[task.chosen.name].add(added)
    return estimate

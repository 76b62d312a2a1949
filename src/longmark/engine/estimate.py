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
from collections.abc import Mapping, Sequence
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
from longmark.metrics import Selected
from longmark.models.batching import NO_BATCHES, Batching, too_few
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.client import Client, WouldCall
from longmark.models.registry import price_of
from longmark.records import Answered
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
            _copy_run(out, copy)
        with RunFolder(copy, settings.scores, named=out) as folder:
            folder.space.fix(settings.fixed())
            source = Reading(examples, **options.reading)
            folder.stage(source)
            check_kind(source, settings.selected, settings.comparison)
            folder.adopt()
            return await _estimate(folder, settings, cache, options)


def _copy_run(out: Path, copy: Path) -> None:
    copy.mkdir()
    for name in ("manifest.json", "examples.jsonl", "rows.jsonl"):
        check_ours(out / name)
        if (out / name).exists():
            shutil.copyfile(out / name, copy / name)


async def _estimate(
    folder: RunFolder, settings: Settings, cache: CallCache, options: SessionOptions
) -> RunEstimate:
    """The estimate of what the folder lacks. It changes the folder."""

    def dry_client(rehearsal: Rehearsal | None, batching: Batching) -> Client:
        return Client(cache, price_of=price_of, dry=True, batching=batching, rehearsal=rehearsal)

    def workers_on(client: Client) -> WorkerPool:
        return WorkerPool(folder, settings, client, system="dry run", retry=options.retried)

    def walk_with(statements: float) -> _Walk:
        rehearsal = Rehearsal(statements)
        return _Walk(workers_on(dry_client(rehearsal, NO_BATCHES)), rehearsal)

    asking_client = dry_client(None, options.batching)
    rehearsal = Rehearsal()
    rehearsing_client = dry_client(rehearsal, options.batching)
    estimate = RunEstimate(
        folder.rows_done(options.retried),
        metrics={chosen.name: MetricEstimate() for chosen in settings.selected},
        measured=await measured(cache, settings),
    )
    estimator = _TaskEstimator(
        workers_on(asking_client),
        _AtMost(settings, options.budget),
        _Walk(workers_on(rehearsing_client), rehearsal),
        Spread(walk_with(FEWEST).expected, walk_with(MOST).expected),
        estimate.measured,
    )
    for task in estimator.workers.tasks():
        estimate.metrics[task.chosen.name].add(await estimator.estimate(task))
    rehearsing_client.end_batches()
    estimate.lists_statements = rehearsal.lists_statements
    for name, metric in estimate.metrics.items():
        if ratio := estimate.measured.get(name):
            metric.expected = metric.expected.corrected(ratio)
            metric.at_least_expected()
        elif calls := estimator.spread.calls(name, metric.expected.calls):
            estimate.spreads[name] = calls
    _plan_batches(estimate, asking_client, settings, options.budget)
    asking_client.end_batches()
    return estimate


@dataclass(frozen=True, slots=True)
class _TaskEstimator:
    """Estimates one computation after the other. workers: compute out of the cache, and stop at the first call that it
    does not hold."""

    workers: WorkerPool
    at_most: _AtMost
    walk: _Walk
    spread: Spread
    measured: Mapping[str, Ratio]

    async def estimate(self, task: Task) -> MetricEstimate:
        """What a computation takes, at most and expected."""
        try:
            rows = await self.workers.score(task)
        except WouldCall as would_call:
            first_call = would_call
        else:
            return MetricEstimate(rows=len(task.wanted), cached=rows[0].usage.calls)
        estimate = self.at_most.estimate(task, first_call)
        expected = await self.walk.expected(task)
        if expected is None:
            expected = ExpectedCalls(
                estimate.calls,
                estimate.prompt_tokens,
                estimate.completion_tokens,
                estimate.usd,
            )
        elif task.chosen.name not in self.measured:
            await self.spread.add(task, expected.calls)
        estimate.expected = expected
        estimate.at_least_expected()
        return estimate


@dataclass(frozen=True, slots=True)
class _AtMost:
    """What computations take at most, by what their metrics declare: calls as long as the first one that is sent.
    counted_texts: hashes of the texts whose shared calls (`Selected.shares`) are counted for an earlier computation:
    another metric, another answer to the question, or the other side of a pair."""

    settings: Settings
    budget: Budget
    counted_texts: set[int] = field(default_factory=set)

    def estimate(self, task: Task, first_call: WouldCall) -> MetricEstimate:
        """first_call: the first one that the cache does not hold."""
        judging = self.settings.judging_of(task.chosen)
        # a score that is read from probabilities has its reason in a call of its own
        calls_for_reason = judging.reasons and not judging.by_text
        calls = self._calls(task, first_call, 2 if calls_for_reason else 1)
        reasons = (calls + 1) // 2 if calls_for_reason else 0
        longest_score = first_call.most
        longest_reason = replace(
            longest_score,
            completion=max(longest_score.completion, REASON_TOKENS),
        )
        counted_tokens = [
            (count, tokens)
            for count, tokens in (
                (calls - reasons, longest_score),
                (reasons, longest_reason),
            )
            if count
        ]
        prices = [(count, first_call.price(tokens)) for count, tokens in counted_tokens]
        return MetricEstimate(
            rows=len(task.wanted),
            asking=1,
            cached=first_call.answered,
            calls=calls,
            prompt_tokens=calls * longest_score.prompt,
            completion_tokens=sum(count * tokens.completion for count, tokens in counted_tokens),
            usd=(
                None
                if any(usd is None for _, usd in prices)
                else sum(count * (usd or 0) for count, usd in prices)
            ),
            reserved=sum(
                count * self.budget.asked(tokens, first_call.price).usd
                for count, tokens in counted_tokens
            ),
        )

    def _calls(self, task: Task, first_call: WouldCall, calls_of_score: int) -> int:
        """How many calls of a computation are still to be sent, and are counted for no earlier one."""
        answers = sides(task.chosen, task.example)
        declared = calls_of_score * self._declared(task.chosen, answers)
        declared += self._more_checks(task.chosen, answers)
        # Shared calls come first in a metric, so what the cache has answered begins with them: the larger counts.
        sent_before = max(first_call.answered, self._shared_before(task.chosen, answers))
        # The first call is sent, unless it can be one that is counted already.
        least = 1 if sent_before == first_call.answered else 0
        return max(least, declared - sent_before)

    def _declared(self, chosen: Selected, answers: Sequence[Answered]) -> int:
        judging = self.settings.judging_of(chosen)
        samples = judging.samples if chosen.metric.judged else 1
        judges = len(self.settings.backends.judges) * samples
        return sum(chosen.calls(answer, judges) for answer in answers)

    def _more_checks(self, chosen: Selected, answers: Sequence[Answered]) -> int:
        """How many more calls the checker takes than the metric declares, which assumes that a call has all claims about
        a premise."""
        checker = self.settings.backends.checker
        if hasattr(checker, "relations"):  # it decides by itself, as word overlap does
            return -sum(chosen.checks(answer) for answer in answers)
        if hasattr(checker, "classify") and getattr(checker, "batch", None) == 1:
            # a served claim checker is asked about one pair in each call
            return sum(
                chosen.relations(answer) - chosen.checks(answer)
                for answer in answers
                if chosen.relations(answer)
            )
        return 0

    def _shared_before(self, chosen: Selected, answers: Sequence[Answered]) -> int:
        """How many shared calls of a computation are counted for earlier ones; its texts are counted from now on."""
        calls_before = 0
        for answer in answers:
            for text, calls in chosen.shares(answer).items():
                if hash(text) in self.counted_texts:
                    calls_before += calls
                self.counted_texts.add(hash(text))
        return calls_before


def _plan_batches(
    estimate: RunEstimate, client: Client, settings: Settings, budget: Budget
) -> None:
    """Sets rounds, window and affordable where calls go in batches."""
    examples_at_once = client.at_once(settings.backends.all(), 0)
    if not examples_at_once:
        return
    asking = sum(metric.asking for metric in estimate.metrics.values())
    waves = -(-asking // examples_at_once)
    rounds_of_wave = max(
        (
            chosen.metric.rounds
            for chosen in settings.selected
            if estimate.metrics[chosen.name].calls
        ),
        default=0,
    )
    estimate.rounds = waves * rounds_of_wave
    estimate.window = client.batches.window
    estimate.affordable = _affordable(estimate.total, budget.max_usd)


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

"""A canary (`--canary RUN`): whether the judges still score as they did when a kept run was made.

The answers of the run are judged again by the models and settings of this run, with an empty call cache: a stored reply
would say nothing. Each metric is tested with `compare`: paired by question, two-sided, all of them one family for each
system. The versions that the models reported stand beside it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from longmark.assertions.grammar import SameAssertion
from longmark.assertions.result import MET, NOT_MET, NOT_TESTED, Checked
from longmark.assertions.same import Drift, drifts, versions
from longmark.cli.arguments import INTERRUPTED, NO_VALUE, needs_stats
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.session import execute
from longmark.engine.settings import RunOptions, Settings
from longmark.errors import UserError
from longmark.models.cache import CallCache
from longmark.models.registry import Registry
from longmark.models.sending import Counts
from longmark.models.trust import Trust
from longmark.places import real
from longmark.report.format import fixed
from longmark.report.tables import one_line
from longmark.scores.files import rows_of
from longmark.scores.manifest import read_manifest, refuse_pairs

if TYPE_CHECKING:
    from longmark.engine.estimate import MetricEstimate


@dataclass(frozen=True)
class CanaryOutcome:
    """options: for the run, whose budget is what is left. checks: for each metric and system; spent: on the canary.
    error: why the run cannot begin, "" if it can; code: the exit code then."""

    options: RunOptions
    checks: list[Checked] = field(default_factory=list)
    spent: Counts | None = None
    error: str = ""
    code: int = 0


def metrics_of(run_kept: Path, settings: Settings) -> list[str]:
    """The metrics of this run that ask a model and have rows in the kept run. UserError, before anything is paid for,
    where there is none or RUN is no run folder."""
    needs_stats("run --canary")
    if not (run_kept / "examples.jsonl").is_file() or not (run_kept / "rows.jsonl").is_file():
        raise UserError(
            f"--canary {run_kept}: expected a run folder, with examples.jsonl and rows.jsonl"
        )
    refuse_pairs([read_manifest(run_kept)])
    rows = [
        (row.metric, row.system, row.question_id)
        for row in rows_of(run_kept)
        if row.score is not None
    ]
    judged_metrics = {metric for metric, _system, _question in rows}
    chosen_names = [
        chosen.name
        for chosen in settings.selected
        if chosen.metric.models and judged_metrics.intersection(chosen.scores)
    ]
    if not chosen_names:
        judged = ", ".join(chosen.name for chosen in settings.selected if chosen.metric.models)
        raise UserError(
            f"--canary {run_kept}: it has no score of a metric of this run that asks a model ({judged or 'there is none'})"
        )
    judged_scores = {
        name
        for chosen in settings.selected
        if chosen.name in chosen_names
        for name in chosen.scores
    } & judged_metrics
    if why := _too_few(
        [(system, question) for metric, system, question in rows if metric in judged_scores],
        len(judged_scores),
    ):
        raise UserError(f"--canary {run_kept}: {why}")
    return chosen_names


def _too_few(answered: list[tuple[str | None, str | None]], metrics: int) -> str | None:
    """Why no change, however large, can be significant. answered: (system, question) of each score."""
    from longmark.analysis.compare.checks import FEWEST_TESTED
    from longmark.analysis.compare.comparison import DRAWS
    from longmark.analysis.compare.tests import undetectable

    systems, questions = (len(set(names)) for names in zip(*answered, strict=True))
    if questions < FEWEST_TESTED:
        return f"{questions:,} questions are too few to be compared"
    return undetectable(2, questions, DRAWS, metrics, 0.05 / systems)


def check(run_kept: Path, metrics: list[str], options: RunOptions) -> CanaryOutcome:
    """Judges the kept answers again, and tests each metric."""
    with tempfile.TemporaryDirectory(prefix="longmark-") as folder:
        options_again, settings, cache = _again(run_kept, Path(folder), metrics, options)
        own_name = Path(
            str(read_manifest(run_kept).data.get("system") or real(run_kept).name)
        ).name  # of answers without a system
        with closing(cache):
            result = finish(
                lambda: execute(
                    run_kept / "examples.jsonl",
                    settings,
                    Path(folder) / "now" / own_name,
                    cache,
                    options_again,
                )
            )
        spent = result.counts
        left = {}
        for name, used in (
            ("max_calls", spent.calls),
            ("max_tokens", spent.prompt_tokens + spent.completion_tokens),
            ("max_usd", spent.usd or 0.0),
        ):
            if (limit := getattr(options, name)) is not None:
                left[name] = limit - used
        if any(amount <= 0 for amount in left.values()):
            error = f"the canary {run_kept} used up the budget; raise it. Nothing else was sent"
            return CanaryOutcome(options, [], spent, error, NO_VALUE)
        if result.stopped == "interrupt":
            return CanaryOutcome(
                options,
                [],
                spent,
                f"Stopped while the canary {run_kept} was judged again.",
                INTERRUPTED,
            )
        if why := result.refused or result.budget or result.stopped or "; ".join(result.closed):
            checked = _not_tested(metrics, run_kept, f"not every answer was judged again: {why}")
        else:
            try:
                drift = list(drifts(run_kept, result.folder))
                checked = _checks(
                    drift,
                    run_kept,
                    f"questions of {run_kept.name}; {versions(run_kept, result.folder)}",
                )
            except UserError as error:
                checked = _not_tested(metrics, run_kept, str(error))
    return CanaryOutcome(replace(options, **left), checked, spent)


def estimate(run_kept: Path, metrics: list[str], options: RunOptions) -> MetricEstimate:
    """What judging the kept answers again takes, at most. Nothing is sent."""
    from longmark.engine.estimate import dry_run  # with a rehearsal that a run does not need

    with tempfile.TemporaryDirectory(prefix="longmark-") as folder:
        options_again, settings, cache = _again(
            run_kept, Path(folder), metrics, options, sends=False
        )
        with closing(cache):
            return finish(
                lambda: dry_run(run_kept / "examples.jsonl", settings, None, cache, options_again)
            ).total


def _again(
    run_kept: Path, folder: Path, metrics: list[str], options: RunOptions, *, sends: bool = True
) -> tuple[RunOptions, Settings, CallCache]:
    """The options and settings of the run for the kept answers, and an empty call cache in the folder."""
    options_again = replace(
        options,
        mapping={},
        limit=None,
        encoding="",
        skip_bad=False,
        retry=(),
        batch=False,
        cluster=None,
    )
    cache = open_cache(folder / "calls.sqlite")
    trust = Trust(given=True)  # the run's own settings were made with the same file
    registry = Registry(
        cache,
        options.timeout,
        options.max_reply_bytes,
        config=options.config,
        sends=sends,
        trust=trust,
    )
    return (
        options_again,
        make_settings(metrics, registry, replace(options_again, tell=lambda _notice: None)),
        cache,
    )


def _checks(drift: Sequence[Drift], kept: Path, unit: str) -> list[Checked]:
    """The gates of the canary, each the assertion that the scores are the same as in the kept run. unit: what was
    compared, and what the models reported."""
    several = len({entry.system for entry in drift}) > 1
    checks = []
    for entry in drift:
        selectors = (one_line(entry.system),) if several else ()
        rule = str(SameAssertion(kept.name, entry.metric, selectors=selectors))
        line = f"{MET if entry.result == MET else NOT_MET}: {rule}: {entry.finding}"
        if entry.change:
            ends = [fixed(end, entry.places) for end in entry.change.ends or ()]
            difference = fixed(entry.change.value, entry.places) + (
                f" [{', '.join(ends)}]" if ends else ""
            )
            line += f": now - then = {difference} over {entry.change.n} {unit}"
        checks.append(Checked(entry.metric, entry.system, rule, entry.result, line))
    return checks


def _not_tested(metrics: Sequence[str], kept: Path, why: str) -> list[Checked]:
    drift = [Drift(metric, "", NOT_TESTED, f"{NOT_TESTED}: {why}") for metric in metrics]
    return _checks(drift, kept, "")

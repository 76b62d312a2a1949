"""The verb `longmark run`: scores examples into a run folder, prints the table and sets the exit code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from longmark.cli import base, canary, next_steps
from longmark.cli.arguments import (
    BUG,
    INTERRUPTED,
    NO_VALUE,
    UNDER,
    UNREADABLE,
    outputs_of,
    pairs,
    reading,
    scores_in,
    split,
)
from longmark.cli.terminal import is_terminal
from longmark.cli.trust import trusting
from longmark.engine.pairs import BOUNDS
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.session import RunResult, execute
from longmark.engine.settings import RunOptions, Settings, choose
from longmark.engine.split import BUDGETS
from longmark.errors import UserError
from longmark.metrics import canonical
from longmark.models.cache import CallCache
from longmark.models.registry import Registry
from longmark.models.sending import Counts
from longmark.options import values_of
from longmark.places import real
from longmark.progress import cost, counted
from longmark.records import Pair
from longmark.records.files import read_object
from longmark.records.kept import KeptFile
from longmark.records.metric_name import in_slice
from longmark.records.parts import Part, part_of
from longmark.records.read import Reading
from longmark.records.verdicts import in_words
from longmark.report.gate_forecast import cautions
from longmark.report.gates import Forecast, Gate, check_gates, gates_of, limits_of
from longmark.report.summary import Summary, score_table, summarise
from longmark.report.tables import as_text, print_table, signature_lines
from longmark.scores.clusters import QUESTION, refuse_unknown, slices_of
from longmark.scores.manifest import cluster_of

if TYPE_CHECKING:
    from longmark.engine.estimate import RunEstimate


def run(arguments: argparse.Namespace) -> int:
    examples = KeptFile(arguments.examples)
    options = _checked_options(arguments, examples)
    with closing(open_cache(options.cache)) as cache:
        registry = registry_of(arguments, options, cache)
        settings = make_settings(arguments.metrics, registry, options, examples)
        if arguments.primary:
            base.check_primary(arguments, settings.scores)
        bounds = {
            name: spec.bounds
            for chosen in settings.selected
            for name, spec in chosen.scores.items()
        }
        if arguments.fail_under and Reading(examples, **options.reading).holds_pairs():
            bounds = dict.fromkeys(settings.scores, BOUNDS)
        slices = (
            slices_of(split(arguments.by), _lenient(examples, arguments)) if arguments.by else ()
        )
        parts = ("", *slices)
        bounds = {in_slice(name, part): limits for name, limits in bounds.items() for part in parts}
        gates = []
        if arguments.fail_under:
            gates = gates_of(arguments.fail_under, bounds, bounds, canonical=canonical)
        forecast = _forecast(gates, bounds, settings, arguments, examples) if gates else None
        if arguments.dry_run:
            from longmark.engine.estimate import (
                dry_run,  # with a rehearsal that a run does not need
            )

            print_estimate(
                finish(lambda: dry_run(examples, settings, arguments.out, cache, options))
            )
            for line, _ in forecast.lines() if forecast else ():
                print(f"Gate: {line}")
        if forecast:
            for caution in cautions(gates, settings.selected):
                print(f"Note: --fail-under {caution}", file=sys.stderr)
            forecast.refuse_impossible()
        canary_metrics = canary.metrics_of(arguments.canary, settings) if arguments.canary else []
        if arguments.dry_run:
            if canary_metrics:
                canary_total = canary.estimate(arguments.canary, canary_metrics, options)
                print(
                    f"Canary: {arguments.canary} is judged again, with {', '.join(canary_metrics)}; "
                    "no stored reply is used: "
                    f"{counted(canary_total.calls, 'call')}, {cost(canary_total.usd)}, at most, beside those above."
                )
            return 0
        again = (
            canary.check(arguments.canary, canary_metrics, options)
            if canary_metrics
            else canary.CanaryOutcome(options)
        )
        if again.error:
            print(f"longmark: {again.error}", file=sys.stderr)
            if any((files := outputs_of(arguments)).values()):
                from longmark.report import outputs

                about = (arguments.out.name, again.code, again.checks, None, again.error)
                outputs.write(
                    outputs.Outcome("run", *about, spent=again.spent, canary=again.spent), files
                )
            return again.code
        result = finish(lambda: execute(examples, settings, arguments.out, cache, again.options))
    return _conclude(result, settings, gates, arguments, again)


class Problems:
    """The errors of several checks that do not depend on each other. `noted` takes one, `end` raises what they found:
    one error as it is, several as one whose lines each begin as the command line's do."""

    def __init__(self) -> None:
        self._errors: list[UserError] = []

    def __bool__(self) -> bool:
        return bool(self._errors)

    @contextmanager
    def noted(self) -> Iterator[None]:
        try:
            yield
        except UserError as error:
            self._errors.append(error)

    def end(self) -> None:
        """UserError if a check has failed."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            raise UserError("\nlongmark: ".join(map(str, self._errors)))


def _checked_options(arguments: argparse.Namespace, examples: KeptFile) -> RunOptions:
    """The options of the run. UserError, before anything is paid for, for all that is wrong with the command line."""
    problems = Problems()
    arguments.retry = split(arguments.retry)
    with problems.noted():
        if not arguments.metrics:
            from longmark.cli.metric_menu import without_metrics

            raise without_metrics(arguments)
    with problems.noted():
        if arguments.out is None and not arguments.dry_run and arguments.metrics:
            raise UserError("the run folder is missing: add --out RUN")
    with problems.noted():
        if arguments.cluster not in (None, QUESTION):
            refuse_unknown(arguments.cluster, _lenient(examples, arguments))
    with problems.noted():
        outputs_of(arguments, [arguments.examples])
    arguments.no_base = None
    if any(getattr(arguments, name) for name in base.OPTIONS):
        with problems.noted():
            base.leave_out_absent(arguments)
        with problems.noted():
            base.check(arguments, arguments.out)
    with problems.noted():
        options = run_options(arguments)
    if problems and arguments.metrics:  # else the settings check them, once
        with problems.noted():
            choose(arguments.metrics)
    problems.end()
    return options


def _lenient(examples: KeptFile, arguments: argparse.Namespace) -> Reading:
    """The examples, for checks: what is wrong with a record is said by the run."""
    return Reading(examples, **{**reading(arguments), "skip_bad": True})


def _forecast(
    gates: list[Gate],
    bounds: Any,
    settings: Settings,
    arguments: argparse.Namespace,
    examples: KeptFile,
) -> Forecast:
    """Whether the gates can pass with these examples. UnknownName for a gate on a system that no example has."""
    out = arguments.out
    system = "this run"
    cluster = arguments.cluster
    if out is not None:
        manifest = (out / "manifest.json").exists() and read_object(
            out / "manifest.json", "use another folder"
        )
        system = str((manifest or {}).get("system", real(out).name))
        cluster = cluster or str((manifest or {}).get("cluster") or QUESTION)

    def due(example: Any) -> Iterator[tuple[str, bool]]:
        for chosen in settings.selected:
            for name in chosen.due(is_variant=example.variant_of is not None, kind=example.variant):
                yield name, not isinstance(example, Pair) and bool(chosen.missing(example, name))

    forecast = Forecast(
        gates, bounds, system, cluster or QUESTION, split(arguments.by), arguments.max_unscored
    )
    forecast.read(_lenient(examples, arguments), due)
    return forecast


def registry_of(arguments: argparse.Namespace, options: RunOptions, cache: CallCache) -> Registry:
    """The models of a verb that has the options of `run_options`. With --dry-run they send nothing."""
    return Registry(
        cache,
        options.timeout,
        options.max_reply_bytes,
        config=options.config,
        sends=not getattr(arguments, "dry_run", False),
        trust=trusting(arguments),
    )


def run_options(arguments: argparse.Namespace) -> RunOptions:
    """The options of a run, from those that the verb has."""
    values = values_of(RunOptions, arguments)
    return RunOptions(
        **{**values, "mapping": pairs(arguments.map, "--map FIELD=COLUMN")},
        tell=lambda notice: print(notice, file=sys.stderr),
        handle_signals=True,
    )


def _conclude(
    result: RunResult,
    settings: Settings,
    gates: list[Gate],
    arguments: argparse.Namespace,
    again: canary.CanaryOutcome,
) -> int:
    checks = again.checks
    spent = result.counts.plus(again.spent) if again.spent else result.counts
    reasons: list[str] = []  # why the run has no valid result

    def say(line: str) -> None:
        print(line, file=sys.stderr)
        reasons.append(line.removeprefix("longmark: "))

    notices: tuple[str, ...] = ()
    cluster = None
    changes = list[Any]()  # `Change`s; report.outputs is imported where it is used
    if result.stopped == "interrupt":
        say(f"Stopped. Repeat the same command to resume the run in {result.folder}.")
        code = INTERRUPTED
    else:
        cluster = cluster_of(arguments.cluster, [result.folder])
        limits = limits_of(arguments.fail_under) if gates else frozenset()
        summary = summarise([result.folder], cluster, by=split(arguments.by), limits=limits)
        notices = summary.notices
        absent = [arguments.no_base.notice()] if arguments.no_base else []
        for notice in (*notices, *absent):
            print(notice, file=sys.stderr)
        _print_summary(summary)
        print(f"\n{_spent(spent, again.spent)}")
        print(f"Rows: {result.folder / 'rows.jsonl'}")
        if not (arguments.quiet or gates or arguments.base or part_of(arguments.examples)):
            is_of_pairs = bool(summary.pairs)
            print(next_steps.after_run(result.folder, summary.systems, pairs=is_of_pairs))
        if gates:
            checks += check_gates(gates, summary, arguments.max_unscored)
        if arguments.base:
            changes, against = base.changes(arguments, result.folder, cluster)
            checks += against
        for check in checks:
            print(check.line)
        code = code_of(result, settings, arguments, say, part_of(arguments.examples))
    code = code or (UNDER if any(not check.met for check in checks) else 0)
    if any((files := outputs_of(arguments)).values()):
        from longmark.report import outputs

        rows = (
            outputs.read([result.folder], cluster, by_fields=split(arguments.by))
            if cluster
            else None
        )
        error = " ".join(reasons) if code not in (0, UNDER) else ""
        about = (result.folder.name, code, checks, rows, error)
        paid: dict[str, Any] = {"spent": spent, "canary": again.spent}
        outputs.write(
            outputs.Outcome(
                "run",
                *about,
                **paid,
                notices=notices,
                changes=changes,
                no_base=arguments.no_base.notice(published=True) if arguments.no_base else "",
                folder=result.folder,
            ),
            files,
        )
    return code


def code_of(
    result: RunResult,
    settings: Settings,
    arguments: argparse.Namespace,
    say: Callable[[str], None],
    part: Part | None = None,
) -> int:
    """The exit code, gates aside. say: gets why it is not 0; part: that was scored, None for a whole input."""
    if result.stopped == "unreadable":
        say(
            f"longmark: the run stopped: {in_words(result.unreadable)}\n"
            f"Not computed: {counted(result.left, 'row')}. Repeating the command sends no call. Use another judge, "
            "--scoring or --prompts with another --out. If the judge was repaired, add --retry unparsable,refused. "
            "To compute the other rows in any case, add --keep-going."
        )
        return UNREADABLE
    if result.stopped == "budget":
        change = "Change the budget and repeat the command to resume the run."
        if shares := [name for name in BUDGETS if getattr(part, name, None) is not None]:
            limits = " and ".join(f"--{name.replace('_', '-')}" for name in shares)
            change += f" The part has a share of {limits}: for a larger one, split the input again into as many parts."
        say(f"longmark: {result.budget} {_to_finish(result)}{change}")
        return NO_VALUE
    if result.refused:
        say(
            f"longmark: every call to a model was refused, so the run stopped: {result.refused}\n"
            f"Not computed: {counted(result.left, 'row')}. Correct the cause, then repeat the command to resume."
        )
        return NO_VALUE
    for words in result.closed:
        say(f"longmark: no more calls were sent to an endpoint: {words}")
    if result.closed:
        return NO_VALUE
    for name, (count, first) in result.failed.items():
        say(f"longmark: {name}: its code failed on {counted(count, 'example')}; the first: {first}")
    if result.failed:
        return BUG
    if part is not None and not part.examples:
        say(f"longmark: {part} has no examples")
    elif _unscored_metrics(result, settings, scores_in(arguments.metrics), say) and part is None:
        return NO_VALUE  # what scored nothing in a part can score something in another one
    return 0


def _print_summary(summary: Summary) -> None:
    """Prints the table; rich is imported only where it draws something."""
    if not is_terminal(sys.stdout):
        print(as_text(score_table(summary)), end="")
    else:
        from rich.console import Console

        print_table(score_table(summary), Console())
    if summary.signatures:
        print(
            "",
            *signature_lines(summary.signatures, "Provenance on the page of longmark report"),
            sep="\n",
        )


def _unscored_metrics(
    result: RunResult, settings: Settings, names: list[str], say: Callable[[str], None]
) -> bool:
    """Whether a metric scored no example; prints which. One of several scores of a metric that has others, and a metric
    for which no example qualifies, count if they were selected by their own names, or if there are no rows at all."""
    if result.inapplicable:
        idle = ", ".join(result.inapplicable)
        say(f"longmark: {idle}: no example in the file qualifies (see: longmark metrics NAME)")
    if result.unscored:
        say(f"longmark: {', '.join(result.unscored)}: scored no example")
    if result.unjudged:
        unjudged = ", ".join(result.unjudged)
        say(f"longmark: {unjudged}: no answer was judged; the only scores are automatic")
    nothing = next(result.rows(), None) is None
    spared = {
        name
        for chosen in settings.selected
        for name in chosen.scores
        if name not in names
        and not set(chosen.scores) <= {*result.unscored, *result.unjudged, *result.inapplicable}
    }
    failed = [name for name in (*result.unscored, *result.unjudged) if name not in spared]
    return bool(failed) or nothing or any(value in names for value in result.inapplicable)


def _spent(counts: Counts, part: Counts | None) -> str:
    """part: of the counts, what the canary took."""
    parts = [counted(counts.calls, "call"), f"{counts.from_cache} from the cache"]
    if counts.prompt_tokens:
        reused = counts.cached_prompt_tokens / counts.prompt_tokens
        parts.append(f"{counts.prompt_tokens:,} prompt tokens ({reused:.0%} reused)")
        parts.append(f"{counts.completion_tokens:,} completion tokens")
    parts.append(cost(counts.usd))
    if counts.unmetered:
        parts.append(f"{counted(counts.unmetered, 'request')} without a usable token count")
    if failed := counts.rate_limited + counts.faults:
        limited = f" ({counts.rate_limited:,} refused with 429)" if counts.rate_limited else ""
        parts.append(f"{counted(failed, 'attempt')} failed{limited}")
    if part:
        parts.append(f"of these the canary: {counted(part.calls, 'call')}, {cost(part.usd)}")
    return " · ".join(parts)


def _to_finish(result: RunResult) -> str:
    """What would finish a run that its budget stopped, as a sentence; "" where nothing is known of it."""
    if (forecast := result.to_finish()) is None:
        return ""
    usage, rows = forecast
    tokens = usage.prompt_tokens + usage.completion_tokens
    parts = [
        counted(usage.calls, "call"),
        *([f"{tokens:,} tokens"] if tokens else []),
        *([cost(usage.usd)] * bool(usage.usd)),
    ]
    return f"The {counted(rows, 'row')} left will take about {', '.join(parts)}, if they are like the finished ones. "


def print_estimate(estimate: RunEstimate, heading: str = "metric") -> None:
    """Prints what a run would take, and what the figures rest on. heading: what a line is about."""
    heads = (
        heading,
        "rows",
        "calls",
        "at most",
        "cached",
        "prompt tokens",
        "at most",
        "completion tokens",
        "at most",
        "cost",
        "at most",
    )
    lines: list[tuple[str, ...]] = [heads]
    for name, metric in [*estimate.metrics.items(), ("all", estimate.total)]:
        expected = metric.expected
        counts = (
            metric.rows,
            expected.calls,
            metric.calls,
            metric.cached,
            expected.prompt_tokens,
            metric.prompt_tokens,
            expected.completion_tokens,
            metric.completion_tokens,
        )
        costs = (cost(expected.usd), cost(metric.usd))
        lines.append((name, *(f"{count:,}" for count in counts), *costs))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for name, *figures in lines:
        right = (text.rjust(width) for text, width in zip(figures, widths[1:], strict=True))
        print("  ".join((name.ljust(widths[0]), *right)))
    for name, ratio in estimate.measured.items():
        print(
            f"{name}: the last runs took {ratio.calls:.2f} times the calls and {ratio.prompt_tokens:.2f} times the prompt "
            f"tokens that were expected of {counted(ratio.answers, 'answer')} (of {ratio.run}); so corrected."
        )
    for name, (fewest_calls, most_calls) in estimate.spreads.items():
        print(
            f"{name}: between {fewest_calls:,} and {most_calls:,} calls. The judge decides how many statements it "
            "lists: one for three sentences, or two for each. A run on this call cache will measure it."
        )
    if estimate.rounds:
        rounds = counted(estimate.rounds, "round")
        hours = estimate.rounds * estimate.window
        print(
            f"In batches: at least {rounds}, one after the other, of up to {estimate.window:g} h each ({hours:g} h)."
        )
    if estimate.affordable is not None:
        (calls, batches), total = estimate.affordable, estimate.total
        part = "all" if calls == total.calls else f"{calls:,} of"
        go = (
            f"in {counted(batches, 'batch', 'batches')}, one after the other"
            if batches
            else "in no batch"
        )
        end = (
            ""
            if calls == total.calls
            else ", and the run would end; calls usually cost less, and then more go"
        )
        print(
            f"With --max-usd, if each call cost the most that it can ({cost(total.reserved)} for all), {part} "
            f"{total.calls:,} calls would go {go}{end}."
        )
    assumes = "The table assumes a claim for each sentence. " if estimate.lists_statements else ""
    print(
        f"Rows already computed: {estimate.rows_done:,}. {assumes}Tokens are estimated from text lengths. Nothing was "
        "sent."
    )

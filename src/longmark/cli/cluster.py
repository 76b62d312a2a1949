"""The verbs for runs on several machines: split an input, merge the runs of its parts, say how far runs are."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict
from typing import Any

import orjson

from longmark.cli.arguments import reading
from longmark.engine.merge import merge as merged
from longmark.engine.run import open_cache
from longmark.engine.split import LIMITS
from longmark.engine.split import split as split_into
from longmark.engine.status import RunStatus
from longmark.engine.status import status as status_of
from longmark.errors import UserError
from longmark.progress import cost, counted
from longmark.records.parts import SUFFIX
from longmark.report.tables import Column, Table, as_text


def split(arguments: argparse.Namespace) -> int:
    limits = {
        name: getattr(arguments, name) for name in LIMITS if getattr(arguments, name) is not None
    }
    parts = split_into(
        arguments.examples, arguments.parts, arguments.out, limits, **reading(arguments)
    )
    if parts[0].skipped:
        print(
            f"{counted(parts[0].skipped, 'bad record')} skipped. The merged run counts them.",
            file=sys.stderr,
        )
    heads = ["part", "examples", *(f"--{name.replace('_', '-')}" for name in limits)]
    folder = arguments.out
    _print(
        heads,
        [
            (
                str(folder / f"{part.part}{SUFFIX}"),
                part.examples,
                *(getattr(part, name) for name in limits),
            )
            for part in parts
        ],
    )
    return 0


def _print(heads: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    print(as_text(Table("runs", "Runs", tuple(map(Column, heads)), rows)), end="")


def merge(arguments: argparse.Namespace) -> int:
    with ExitStack() as stack:
        cache = (
            stack.enter_context(closing(open_cache(arguments.cache)))
            if arguments.from_cache
            else None
        )
        found = merged(
            arguments.runs,
            arguments.out,
            cache,
            arguments.from_cache,
            incomplete=arguments.incomplete,
        )
    if arguments.from_cache:
        print(
            f"{counted(found.replies, 'stored reply', 'stored replies')} copied into the call cache"
        )
    if found.other_replies:
        print(
            f"{counted(found.other_replies, 'call')} had another reply in two caches; the first was kept, so "
            "`longmark verify` can name rows that were made from the other",
            file=sys.stderr,
        )
    for line in found.unfinished:
        print(f"Not complete: {line}", file=sys.stderr)
    if found.unfinished:
        print(
            f"To complete it, run the whole input with the same settings and --out {found.folder}.",
            file=sys.stderr,
        )
    print(
        f"Merged: {found.folder} ({counted(found.examples, 'example')}, {counted(found.rows, 'row')})"
    )
    return 0


def status(arguments: argparse.Namespace) -> int:
    found, wrong = list[RunStatus](), list[str]()
    for run in arguments.runs:
        try:
            found.append(status_of(run))
        except UserError as error:  # the others are shown all the same
            wrong.append(str(error))
    if arguments.json:
        print(orjson.dumps([asdict(one) for one in found], option=orjson.OPT_INDENT_2).decode())
    elif found:
        _print(
            ("run", "part", "state", "rows", "unscored", "cost", "rows/s"),
            [_line(one) for one in found],
        )
    if wrong:
        raise UserError("\n".join(wrong))
    return 0


def _line(one: RunStatus) -> tuple[str, ...]:
    share = f" ({one.rows / one.total:.0%})" if one.total else ""
    rows = f"{one.rows:,} of {'?' if one.total is None else f'{one.total:,}'}{share}"
    speed = "" if one.rows_per_second is None else f"{one.rows_per_second:,.1f}"
    return one.run, one.part, one.state, rows, f"{one.unscored:,}", cost(one.usd), speed

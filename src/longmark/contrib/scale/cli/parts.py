"""The verbs for runs on several machines: split an input, merge the runs of its parts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing
from typing import Any

from longmark.cli.arguments import reading
from longmark.contrib.scale.merge import merge as merged
from longmark.contrib.scale.split import split as split_into
from longmark.engine.run import open_cache
from longmark.engine.split import LIMITS
from longmark.progress import counted
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
        merge_result = merged(
            arguments.runs,
            arguments.out,
            cache,
            arguments.from_cache,
            incomplete=arguments.incomplete,
        )
    if arguments.from_cache:
        print(
            f"{counted(merge_result.replies, 'stored reply', 'stored replies')} copied into the call cache"
        )
    if merge_result.other_replies:
        print(
            f"{counted(merge_result.other_replies, 'call')} had another reply in two caches; the first was kept, so "
            "`longmark verify` can name rows that were made from the other",
            file=sys.stderr,
        )
    for line in merge_result.unfinished:
        print(f"Not complete: {line}", file=sys.stderr)
    if merge_result.unfinished:
        print(
            f"To complete it, run the whole input with the same settings and --out {merge_result.folder}.",
            file=sys.stderr,
        )
    print(
        f"Merged: {merge_result.folder} ({counted(merge_result.examples, 'example')}, {counted(merge_result.rows, 'row')})"
    )
    return 0

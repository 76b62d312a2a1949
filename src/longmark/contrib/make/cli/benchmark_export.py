"""`longmark benchmark figures` and `longmark benchmark export`."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from longmark.cli.arguments import NO_VALUE, split
from longmark.cli.terminal import stage_lines
from longmark.concurrency import concurrently
from longmark.contrib.make.benchmark import FIGURES, ITEMS, MANIFEST, items_of
from longmark.contrib.make.benchmark import figures as of
from longmark.contrib.make.benchmark.export import Exporting
from longmark.contrib.make.benchmark.export import export as write
from longmark.contrib.make.benchmark.figures import answered_unaided
from longmark.contrib.make.cli.rag import finish_with, open_models
from longmark.errors import ModelError, OverBudget, UserError
from longmark.options.groups import ModelNames
from longmark.places import real
from longmark.progress import counted
from longmark.records.benchmark import Item, write_items
from longmark.records.files import read_object
from longmark.records.write import write_object
from longmark.report.tables import Column, Table, as_text
from longmark.workspace import Workspace


def figures(arguments: argparse.Namespace) -> int:
    path = Path(arguments.benchmark)
    items = items_of(path)
    stopped = False
    if arguments.generator:
        if path.is_dir() and not (path / ITEMS).is_file():
            raise UserError(f"{path}: --generator marks items in {ITEMS}, which an exported folder does not have; name "
                            "the benchmark that it was made of")  # fmt: skip
        askable = [item for item in items if item.usable and item.answer is not None]
        if arguments.dry_run:
            print(
                f"{counted(len(askable), 'item')}: {2 * len(askable):,} calls at most. Replies in the call cache, and "
            )
            print("items that the model was asked before, are not requested again.")
            return 0
        items, stopped = _unaided(items, path / ITEMS if path.is_dir() else path, arguments)
    figures_by_name = of.figures(items, _manifest(path))
    _print(figures_by_name, of.TITLES)
    file = arguments.out or (path / FIGURES if path.is_dir() else None)
    if file is not None:
        write_object(file, figures_by_name)
        print(f"Figures: {file}")
    return NO_VALUE if stopped else 0


def _unaided(
    items: Sequence[Item], path: Path, arguments: argparse.Namespace
) -> tuple[list[Item], bool]:
    """Marks the items that the model answers without passages, and writes all items to their file. Returns the items,
    and whether the run stopped early."""
    judges = [arguments.judge] if arguments.judge else []
    tell = stage_lines(arguments.quiet)
    counter = itertools.count(1)
    failed = dict[str, str]()
    lock: AbstractContextManager[object] = (
        Workspace(path.parent, MANIFEST, "benchmark")
        if (path.parent / MANIFEST).is_file()
        else nullcontext()
    )
    with lock:
        with open_models(arguments, ModelNames(judges, generator=arguments.generator)) as (
            models,
            _registry,
        ):

            async def one(item: Item) -> Item:
                if not item.usable or item.id in failed:
                    return item
                try:
                    return await answered_unaided(item, models, models.generator)
                except (ModelError, OverBudget) as error:
                    failed[item.id] = str(error)
                    return item
                finally:
                    tell("items", next(counter), len(items))

            marked = finish_with(
                models, lambda: concurrently(one, items, 2 * arguments.concurrency)
            )
        write_items(marked, path)
    for id, why in failed.items():
        print(f"not asked: {id}: {why}", file=sys.stderr)
    return marked, bool(failed)


def _manifest(path: Path) -> dict[str, Any]:
    path /= MANIFEST
    return (
        read_object(path, "generate the benchmark again into another folder")
        if path.is_file()
        else {}
    )


def _print(figures_by_name: Mapping[str, Any], titles: Mapping[str, str], limit: int = 30) -> None:
    print(f"{counted(figures_by_name['items'], 'item')}, {figures_by_name['usable']:,} usable")
    for name, title in titles.items():
        if not (rows := figures_by_name[name]):
            continue
        columns = tuple(
            Column(
                key.replace("_", " "),
                places=3 if any(isinstance(row[key], float) for row in rows) else None,
            )
            for key in rows[0]
        )
        print(f"\n{title}")
        print(
            as_text(Table(name, title, columns, [tuple(row.values()) for row in rows[:limit]])),
            end="",
        )
        if len(rows) > limit:
            print(f"… and {len(rows) - limit:,} more, in the JSON file")


def export(arguments: argparse.Namespace) -> int:
    path = Path(arguments.benchmark)
    exporting = Exporting(
        licence=arguments.licence,
        title=arguments.title or real(path).stem,
        language=tuple(split(arguments.language)),
        format=arguments.format,
        passages=arguments.passages,
    )
    exported = write(items_of(path), _manifest(path), Path(arguments.out), exporting)
    for reason, count in exported.omitted.items():
        print(f"{counted(count, 'item')} omitted: {reason}", file=sys.stderr)
    left_out_note = "" if exporting.passages else ", without the texts of passages"
    print(f"{counted(sum(exported.counts.values()), 'item')}{left_out_note}: {arguments.out}")
    return 0

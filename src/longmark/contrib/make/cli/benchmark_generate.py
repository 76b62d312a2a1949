"""`longmark benchmark generate`: items of a benchmark from books."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

from longmark.cli.arguments import NO_VALUE
from longmark.cli.terminal import stage_lines
from longmark.contrib.make.benchmark import BenchmarkPlan, build, seeds, topic
from longmark.contrib.make.benchmark.build import BenchmarkWork, BuiltBenchmark
from longmark.contrib.make.cli.rag import finish_with, open_models
from longmark.contrib.make.rag.chunk import Chunking
from longmark.errors import UserError
from longmark.options.groups import ModelNames
from longmark.progress import counted

_SHOWN = 10  # items that could not be written


def generate(arguments: argparse.Namespace) -> int:
    if not -1 <= arguments.threshold <= 1:
        raise UserError(f"--threshold {arguments.threshold:g}: a cosine is from -1 to 1")
    plan = BenchmarkPlan(
        topic.load(arguments.topic),
        arguments.n,
        arguments.k,
        arguments.threshold,
        arguments.temperature,
        arguments.seed,
    )
    chunking = Chunking(arguments.chunk, arguments.overlap)
    tell = stage_lines(arguments.quiet)
    embedder = None if arguments.embedder == "none" else arguments.embedder
    names = ModelNames(generator=arguments.generator, embedder=embedder)
    with open_models(arguments, ModelNames() if arguments.dry_run else names) as (
        models,
        _registry,
    ):
        work = build.BenchmarkWork(
            arguments.books,
            arguments.out,
            plan,
            models,
            chunking,
            arguments.skip_bad,
            arguments.concurrency,
            tell,
        )
        if arguments.dry_run:
            return _dry_run(work)
        if arguments.validator is not None:
            work = _with_validator(work, arguments.validator)
        built = finish_with(models, lambda: build.generate(work))
    return _tell(built, plan, arguments.out)


def _with_validator(work: BenchmarkWork, folder: Path) -> BenchmarkWork:
    """UserError if it needs another embedder than that of the work."""
    from longmark.contrib.make.validator import folder as validators
    from longmark.contrib.make.validator.use import refused
    from longmark.home import sha256

    validator = validators.load(folder)
    if work.models.backends.embedder is None:
        raise UserError(
            f"--validator {folder} needs its embedder: --embedder {validator.encoder.name}"
        )
    validator.check(work.models)
    judge = partial(refused, validator, models=work.models)
    return replace(work, refused=judge, validator=sha256(folder / validators.FILE))


def _dry_run(work: BenchmarkWork) -> int:
    """Prints the numbers of books, chunks, seeds and calls, from chunks in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="longmark-") as name:
        chunked = replace(work, folder=Path(name))
        built, notes = finish_with(
            work.models,
            lambda: seeds.chunk(
                chunked.paths,
                chunked.folder,
                chunked.chunking,
                skip_bad=chunked.skip_bad,
                tell=chunked.tell,
            ),
        )
        n_seeds = len(seeds.Seeds(chunked.folder, work.plan, work.chunking.size).order)
    least, most_calls = build.calls(work.plan, n_seeds)
    for note in notes:
        print(note, file=sys.stderr)
    print(
        f"{counted(built.documents, 'book')}, {counted(built.passages, 'chunk')}, {counted(n_seeds, 'seed')}."
    )
    print(
        f"{least:,} calls if every item passes the audits, {most_calls:,} at most. A second attempt after an "
        "unreadable reply"
    )
    print("is not counted. Replies in the call cache are not requested again.")
    return 0


def _tell(built: BuiltBenchmark, plan: BenchmarkPlan, out: Path) -> int:
    for note in built.notes:
        print(note, file=sys.stderr)
    for why in built.failed[:_SHOWN]:
        print(f"not written: {why}", file=sys.stderr)
    if len(built.failed) > _SHOWN:
        print(
            f"not written: {len(built.failed) - _SHOWN:,} more; manifest.json has them",
            file=sys.stderr,
        )
    usable = build.usable(built.items)
    for cell in plan.topic.cells:
        print(f"{' '.join(filter(None, cell)):<24}{usable[cell]:>6,} of {plan.n:,}")
    dropped = Counter(
        item.reasons[0].partition(":")[0] for item in built.items if item.status == "dropped"
    )
    if dropped:
        whys = ", ".join(f"{why} {n:,}" for why, n in dropped.most_common())
        print(f"{counted(dropped.total(), 'item')} dropped: {whys}")
    print(
        counted(sum(usable.values()), "usable item")
        + (f": {out / 'items.jsonl'}" if built.items else "")
    )
    if built.stopped:
        print(
            f"longmark: stopped: {built.stopped.rstrip('.')}. Repeat the command to continue.",
            file=sys.stderr,
        )
    return NO_VALUE if built.stopped or not usable else 0

"""`longmark benchmark generate`: items of a benchmark from books."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import NO_VALUE, add, add_calls, add_verb, whole
from longmark.cli.rag import finish_with, open_models
from longmark.cli.terminal import stage_lines
from longmark.progress import counted

if TYPE_CHECKING:
    from longmark.datasets.benchmark import BenchmarkPlan
    from longmark.datasets.benchmark.build import Built, Work

_SHOWN = 10  # items that could not be written


def add_to(actions: Any) -> None:
    text = "Write questions about the content of books, in three forms and on three levels, and audit them. Resumable."
    one = add_verb(actions, "generate", generate, text)
    add(one, "books", "BOOKS", "PDF, EPUB, HTML, Markdown or text files, or folders of them", nargs="+", type=Path)
    add(one, "--topic", "FILE.yaml", "the benchmark's subject, readers, forms and levels", required=True)
    add(one, "--out", "DIR", "the benchmark's folder; repeat the same command to resume it", required=True)
    add(one, "--generator", "MODEL", "the model that writes the items and audits them", required=True)
    nearest = "the embedding model that finds a seed's neighbours and near duplicates, or none (default: embedded)"
    add(one, "--embedder", "MODEL", nearest, default="embedded")
    usable = "usable items of each form and level (default: 10); you can increase it when you resume"
    add(one, "--n", "N", usable, default=10)
    chunks = one.add_argument_group("chunks")
    add(chunks, "--chunk", "N", "maximum number of characters of a chunk (default: 2000)", default=2000)
    add(chunks, "--overlap", "N", "maximum overlap of two chunks in characters (default: 200)", type=whole, default=200)
    add(chunks, "--k", "N", "maximum number of neighbours of a seed (default: 3)", type=whole, default=3)
    add(chunks, "--threshold", "X", "minimum cosine of a neighbour (default: 0.6)", type=float, default=0.6)
    add(chunks, "--skip-bad", "", "skip unreadable books instead of stopping")
    add(one, "--temperature", "T", "temperature of the generator when it writes (default: 0.7)", default=0.7)
    add(
        one,
        "--seed",
        "N",
        "seed of the order of seed passages, of writing and of shuffles (default: 0)",
        type=int,
        default=0,
    )
    text = "drop what this validator calls invalid, and rewrite only base questions that it calls valid"
    add(one, "--validator", "VALIDATOR", text, type=Path)
    add(one, "--prompts", "DIR", "a folder with ID.txt files that replace prompts")
    add(one, "--dry-run", "", "print books, chunks and the number of calls; send nothing")
    add_calls(one)


def generate(arguments: argparse.Namespace) -> int:
    from longmark.datasets.benchmark import BenchmarkPlan, build, topic
    from longmark.errors import UserError
    from longmark.models.registry import ModelNames
    from longmark.rag.chunk import Chunking

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
    with open_models(arguments, ModelNames() if arguments.dry_run else names) as (models, _registry):
        work = build.Work(
            arguments.books, arguments.out, plan, models, chunking, arguments.skip_bad, arguments.concurrency, tell
        )
        if arguments.dry_run:
            return _dry_run(work)
        if arguments.validator is not None:
            work = _with_validator(work, arguments.validator)
        built = finish_with(models, lambda: build.generate(work))
    return _tell(built, plan, arguments.out)


def _with_validator(work: Work, folder: Path) -> Work:
    """UserError if it needs another embedder than that of the work."""
    from functools import partial

    from longmark.errors import UserError
    from longmark.home import sha256
    from longmark.validator import folder as validators
    from longmark.validator.use import refused

    validator = validators.load(folder)
    if work.models.backends.embedder is None:
        raise UserError(f"--validator {folder} needs its embedder: --embedder {validator.encoder.name}")
    validator.check(work.models)
    judge = partial(refused, validator, models=work.models)
    return replace(work, refused=judge, validator=sha256(folder / validators.FILE))


def _dry_run(work: Work) -> int:
    """Prints the numbers of books, chunks, seeds and calls, from chunks in a temporary folder."""
    import tempfile

    from longmark.datasets.benchmark import build, seeds

    with tempfile.TemporaryDirectory(prefix="longmark-") as name:
        chunked = replace(work, folder=Path(name))
        built, notes = finish_with(
            work.models,
            lambda: seeds.chunk(
                chunked.paths, chunked.folder, chunked.chunking, skip_bad=chunked.skip_bad, tell=chunked.tell
            ),
        )
        n_seeds = len(seeds.Seeds(chunked.folder, work.plan, work.chunking.size).order)
    least, most = build.calls(work.plan, n_seeds)
    for note in notes:
        print(note, file=sys.stderr)
    print(f"{counted(built.documents, 'book')}, {counted(built.passages, 'chunk')}, {counted(n_seeds, 'seed')}.")
    print(
        f"{least:,} calls if every item passes the audits, {most:,} at most. A second attempt after an unreadable reply"
    )
    print("is not counted. Replies in the call cache are not requested again.")
    return 0


def _tell(built: Built, plan: BenchmarkPlan, out: Path) -> int:
    from longmark.datasets.benchmark import build

    for note in built.notes:
        print(note, file=sys.stderr)
    for why in built.failed[:_SHOWN]:
        print(f"not written: {why}", file=sys.stderr)
    if len(built.failed) > _SHOWN:
        print(f"not written: {len(built.failed) - _SHOWN:,} more; manifest.json has them", file=sys.stderr)
    usable = build.usable(built.items)
    for cell in plan.topic.cells:
        print(f"{' '.join(filter(None, cell)):<24}{usable[cell]:>6,} of {plan.n:,}")
    dropped = Counter(item.reasons[0].partition(":")[0] for item in built.items if item.status == "dropped")
    if dropped:
        whys = ", ".join(f"{why} {n:,}" for why, n in dropped.most_common())
        print(f"{counted(dropped.total(), 'item')} dropped: {whys}")
    print(counted(sum(usable.values()), "usable item") + (f": {out / 'items.jsonl'}" if built.items else ""))
    if built.stopped:
        print(f"longmark: stopped: {built.stopped.rstrip('.')}. Repeat the command to continue.", file=sys.stderr)
    return NO_VALUE if built.stopped or not usable else 0

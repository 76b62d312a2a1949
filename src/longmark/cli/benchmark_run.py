"""`longmark benchmark run`: runs models under test on a benchmark, in the settings of ClimaQA."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import NO_VALUE, add, add_calls, add_verb, split
from longmark.cli.rag import finish_with, open_models
from longmark.cli.terminal import stage_lines
from longmark.progress import counted

if TYPE_CHECKING:
    from longmark.datasets.benchmark.answers import Answered
    from longmark.datasets.benchmark.contamination import Checked
    from longmark.rag.index import Index

_CHUNK, _OVERLAP = 2000, 200  # of books given as a folder; ClimaQA, section 4.1


def add_to(actions: Any) -> None:
    one = add_verb(actions, "run", run, "Ask models the questions of a benchmark, and write their answers for scoring.")
    add(one, "benchmark", "BENCH", "a folder of `longmark benchmark generate`, or a file of items")
    add(one, "--generator", "[LABEL=]MODEL", "a model under test; repeatable", required=True)
    settings = "default, few-shot, rag-source, rag-held-out, long-context, long-context-source, long-context-held-out"
    add(one, "--setting", "NAME,…", f"what the prompt contains besides the item (default: default): {settings}")
    books = "an index of `longmark rag index`, or a folder of documents:"
    add(one, "--source", "INDEX|FOLDER", f"{books} the books of the items")
    add(one, "--held-out", "INDEX|FOLDER", f"{books} other books")
    add(one, "--out", "FILE", "the examples to write: .jsonl, .csv, .tsv or .parquet", required=True)
    add(one, "--k", "N", "passages in rag-source and rag-held-out (default: 4)", default=4)
    add(one, "--shots", "N", "examples in few-shot (default: 5)", default=5)
    add(one, "--retriever", "bm25|dense|hybrid", "how passages are found (default: dense if the index has vectors)")
    add(one, "--embedder", "MODEL", "the embedding model of the questions, and of books given as a folder")
    add(one, "--book", "N", "maximum number of characters of a book in long-context (default: the model's limit)")
    text = "a LoRA adapter for the hf: model LABEL (default: for all hf: models); repeatable"
    add(one, "--adapter", "[LABEL=]FOLDER", text)
    add(one, "--temperature", "T", "temperature of the answers (default: 0)", default=0.0)
    add(one, "--max-answer", "N", "maximum number of tokens of a freeform answer (default: 256)", default=256)
    add(
        one,
        "--seed",
        "N",
        "seed of the answers and of the order of few-shot examples (default: 0)",
        type=int,
        default=0,
    )
    text = "also ask each model to complete the items' texts from the first halves; write the completions to this file"
    add(one, "--contamination", "FILE", text)
    add(one, "--limit", "N", "use only the first N items")
    add(one, "--prompts", "DIR", "a folder with ID.txt files that replace prompts")
    add(one, "--dry-run", "", "print the maximum number of calls; send nothing")
    add_calls(one)


def run(arguments: argparse.Namespace) -> int:
    from longmark.datasets.benchmark import contamination, items_of
    from longmark.datasets.benchmark.answers import Examination, How
    from longmark.datasets.benchmark.settings import Shelf, check_books, side_of
    from longmark.errors import UserError
    from longmark.models.registry import ModelNames
    from longmark.rag.retrieve import Retriever
    from longmark.records.write import format_of

    format_of(arguments.out, "--out ")
    named = _generators(arguments)
    settings = _settings(arguments)
    every = items_of(arguments.benchmark)
    usable = [item for item in every if item.usable]
    items = [item for item in usable if item.answer is not None][: arguments.limit]
    if (lost := len(usable) - sum(item.answer is not None for item in usable)) > 0:
        print(f"{counted(lost, 'cloze item')} omitted: no term is chosen", file=sys.stderr)
    if not items:
        raise UserError(
            f"{arguments.benchmark} has no usable item: all {len(every):,} items are dropped, invalid or without a term"
        )
    if arguments.dry_run:
        each = len(items) * (len(settings) + (arguments.contamination is not None))
        print(
            f"{counted(len(items), 'item')}, {counted(len(settings), 'setting')}, {counted(len(named), 'model')}: "
            f"{each * len(named):,} calls at most.\nCalls of an embedder, and attempts with less of a book that is too "
            "long, are not counted. Replies in the call cache are not requested again."
        )
        return 0
    with ExitStack() as stack:
        tell = stage_lines(arguments.quiet)
        sides = dict.fromkeys(side for setting in settings if (side := side_of(setting)))
        paths = {side: getattr(arguments, side.replace("-", "_")) for side in sides}
        indexes = {side: _index(path, side, arguments, stack) for side, path in paths.items()}
        of_index = next((index.embedder["name"] for index in indexes.values() if index.embedder), None)
        embedder = arguments.embedder or (of_index if arguments.retriever != "bm25" else None)
        models, registry = stack.enter_context(open_models(arguments, ModelNames(embedder=embedder)))
        shelves = {
            side: Shelf(f"--{side} {paths[side]}", Retriever(index, models, arguments.retriever))
            for side, index in indexes.items()
        }
        for note in check_books(items, shelves) if shelves else ():
            print(note, file=sys.stderr)
        opened = {}
        for label, name in named.items():
            generator = registry.open("generator", name)
            opened[label] = replace(models, backends=replace(models.backends, generator=generator)).generator
        how = How(
            arguments.k, arguments.shots, arguments.temperature, arguments.max_answer, arguments.book, arguments.seed
        )
        examination = Examination(items, models.prompts, shelves, how)

        async def work() -> tuple[dict[str, Answered], dict[str, Checked]]:
            answered, checked, at_once = dict[str, Any](), dict[str, Any](), 2 * arguments.concurrency
            for label, model in opened.items():
                for setting in settings:
                    name = f"{label}-{setting}"
                    step = partial(_step, tell, name, itertools.count(1), len(items))
                    answered[name] = await examination.answers(label, model, setting, at_once, step)
                if arguments.contamination is not None:
                    step = partial(_step, tell, f"{label} completions", itertools.count(1), len(items))
                    how_so = {"seed": arguments.seed, "at_once": at_once, "on_item": step}
                    checked[label] = await contamination.check(items, model, models.prompts, **how_so)
            return answered, checked

        every_model = (*models.backends.judges, *(one.model for one in opened.values()))
        closed = replace(models, backends=replace(models.backends, judges=every_model))  # all are closed at the end
        answered, checked = finish_with(closed, work)
    _report_completions(checked, arguments.contamination)
    return _write(answered, arguments)


def _generators(arguments: argparse.Namespace) -> dict[str, str]:
    """Label -> the name of a model under test, with its adapter."""
    from longmark.errors import UserError
    from longmark.rag.grid import readers_of

    try:
        named = {one.label: one.model for one in readers_of(arguments.generator)}
    except UserError as error:
        raise UserError(str(error).replace("--reader", "--generator").replace("readers", "models")) from None
    for given in arguments.adapter:
        label, equals, folder = given.partition("=")
        chosen = [label] if equals else [one for one, model in named.items() if model.startswith("hf:")]
        if not chosen or any(not named.get(one, "").startswith("hf:") for one in chosen):
            known = ", ".join(named)
            raise UserError(f"--adapter {given}: an adapter needs an hf: model under test; the labels are {known}")
        for one in chosen:
            named[one] += f"+{folder if equals else given}"
    return named


def _settings(arguments: argparse.Namespace) -> list[str]:
    """The settings in the given order. `long-context` becomes one setting for each given kind of books."""
    from longmark.datasets.benchmark.settings import DEFAULT, LONG_CONTEXT, SETTINGS, SIDES, side_of
    from longmark.errors import UnknownName, UserError

    given = {side: getattr(arguments, side.replace("-", "_")) is not None for side in SIDES}
    found: dict[str, None] = {}
    for name in split(arguments.setting) or [DEFAULT]:
        if name == LONG_CONTEXT and any(given.values()):
            found.update(dict.fromkeys(f"{name}-{side}" for side in SIDES if given[side]))
        elif name == LONG_CONTEXT:
            raise UserError("--setting long-context needs books: add --source or --held-out")
        elif name not in SETTINGS:
            raise UnknownName("setting", name, (*SETTINGS, LONG_CONTEXT), f"The settings are {', '.join(SETTINGS)}.")
        else:
            found[name] = None
    for name in found:
        if (side := side_of(name)) is not None and not given[side]:
            raise UserError(f"--setting {name} needs books: add --{side} INDEX or --{side} FOLDER")
    return list(found)


def _index(path: str, side: str, arguments: argparse.Namespace, stack: ExitStack) -> Index:
    """The index of a folder. A folder of documents is indexed for this command."""
    import tempfile

    from longmark.datasets.benchmark import INDEX
    from longmark.models.registry import ModelNames
    from longmark.rag import index as rag_index
    from longmark.rag.chunk import Chunking

    made = next((one for one in (Path(path), Path(path) / INDEX) if (one / rag_index.MANIFEST).is_file()), None)
    if made is None:
        made = folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="longmark-"))) / INDEX
        with open_models(arguments, ModelNames(embedder=arguments.embedder)) as (models, _registry):
            built = finish_with(
                models,
                lambda: rag_index.build(
                    path, folder, models=models, chunking=Chunking(_CHUNK, _OVERLAP), skip_bad=True,
                    tell=stage_lines(arguments.quiet),
                ),
            )  # fmt: skip
        for line in built.unread:
            print(f"--{side}: {line}", file=sys.stderr)
    found = rag_index.load(made)
    stack.enter_context(closing(found.passages))
    return found


def _step(tell: Any, what: str, done: Iterator[int], total: int) -> None:
    tell(what, next(done), total)


def _report_completions(checked: dict[str, Checked], out: Path | None) -> None:
    """Writes the completions, and prints the share of items that each model probably knows."""
    from dataclasses import asdict

    import orjson

    from longmark.datasets.benchmark.contamination import LIMIT
    from longmark.records.write import replacing
    from longmark.report.tables import Column, Table, as_text

    if out is None:
        return
    rows = []
    with replacing(out) as file:
        for label, one in checked.items():
            file.writelines(orjson.dumps(asdict(made)) + b"\n" for made in one.completions)
            shares = list[str | None]()
            for values in ([made.overlap for made in one.completions], [made.control for made in one.completions]):
                known = [value for value in values if value is not None]
                above = sum(value >= LIMIT for value in known)
                shares += [f"{sum(known) / len(known):.3f}", f"{above:,} of {len(known):,}"] if known else [None, None]
            rows.append((label, *shares, one.short, one.failed))
    heads = ("model", "overlap", f"from {LIMIT:g}", "control", f"from {LIMIT:g} ", "too short", "no completion")
    print(as_text(Table("contamination", "Completions", tuple(map(Column, heads)), tuple(rows))), end="")


def _write(answered: dict[str, Answered], arguments: argparse.Namespace) -> int:
    """Writes the examples, reports what is missing, and returns the exit code."""
    from longmark.records.write import write_examples

    for name, one in answered.items():
        for count, what in (
            (one.left, "omitted: the budget is exhausted; run the same command again to continue"),
            (one.failed, "without an answer; the reason is in meta.no_answer"),
            (one.cut, "with an answer that was cut off at the limit; use a larger --max-answer"),
            (one.fewer, f"with fewer than {arguments.shots} examples: all other items share text with them"),
        ):
            if count:
                print(f"{name}: {counted(count, 'item')} {what}", file=sys.stderr)
    made = [example for one in answered.values() for example in one.examples]
    if not any(example.answer is not None for example in made):
        print("longmark: no item was answered", file=sys.stderr)
        return NO_VALUE
    print(f"{counted(write_examples(made, arguments.out), 'answer')}: {arguments.out}")
    return NO_VALUE if any(one.left for one in answered.values()) else 0

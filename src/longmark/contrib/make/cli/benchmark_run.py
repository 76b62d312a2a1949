"""`longmark benchmark run`: runs models under test on a benchmark, in the settings of ClimaQA."""

from __future__ import annotations

import argparse
import itertools
import sys
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from longmark.cli.arguments import NO_VALUE, split
from longmark.cli.terminal import stage_lines
from longmark.cli.trust import trusting
from longmark.contrib.make.benchmark import INDEX, items_of
from longmark.contrib.make.benchmark.answers import Answered, Examination, How
from longmark.contrib.make.benchmark.contamination import COMPLETION
from longmark.contrib.make.benchmark.settings import (
    DEFAULT,
    LONG_CONTEXT,
    SETTINGS,
    SIDES,
    Shelf,
    check_books,
    side_of,
)
from longmark.contrib.make.cli.rag import finish_with, open_models, with_each
from longmark.contrib.make.rag import index
from longmark.contrib.make.rag.grid import labelled
from longmark.contrib.make.rag.index import Index
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.errors import UnknownName, UserError
from longmark.options.groups import ModelNames
from longmark.progress import counted
from longmark.records.write import format_of, write_examples


def run(arguments: argparse.Namespace) -> int:
    for option, path in (("--out", arguments.out), ("--contamination", arguments.contamination)):
        if path is not None:
            format_of(path, f"{option} ")
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
    with ExitStack() as stack:
        sides = dict.fromkeys(side for setting in settings if (side := side_of(setting)))
        paths = {side: getattr(arguments, side.replace("-", "_")) for side in sides}
        indexes = {side: _index(path, stack) for side, path in paths.items()}
        embedder = arguments.embedder
        trust = trusting(arguments)
        for index in indexes.values() if embedder is None and arguments.retriever != "bm25" else ():
            if embedder is None and index.embedder is not None:
                embedder = trust.model_of(index.manifest, index.embedder["name"])
        models, registry = stack.enter_context(
            open_models(arguments, ModelNames(embedder=embedder))
        )
        shelves = {
            side: Shelf(f"--{side} {paths[side]}", Retriever(index, models, arguments.retriever))
            for side, index in indexes.items()
        }
        for note in check_books(items, shelves) if shelves else ():
            print(note, file=sys.stderr)
        opened = {label: one.generator for label, one in with_each(registry, models, named).items()}
        systems = [(label, setting) for label in opened for setting in settings]
        if arguments.contamination is not None:
            systems += [(label, COMPLETION) for label in opened]
        if arguments.dry_run:
            print(
                f"{counted(len(items), 'item')}, {counted(len(settings), 'setting')}, {counted(len(named), 'model')}: "
                f"{len(items) * len(systems):,} calls at most.\nCalls of an embedder, and attempts with less of a book "
                "that is too long, are not counted. Replies in the call cache are not requested again."
            )
            return 0
        how = How(
            arguments.k,
            arguments.shots,
            arguments.temperature,
            arguments.max_answer,
            arguments.book,
            arguments.seed,
        )
        examination = Examination(items, models.prompts, shelves, how)
        tell = stage_lines(arguments.quiet)

        async def work() -> dict[str, Answered]:
            answered = {}
            for label, setting in systems:
                name = f"{label}-{setting}"
                done = itertools.count(1)
                step = partial(lambda name, done: tell(name, next(done), len(items)), name, done)
                model = opened[label]
                at_once = 2 * arguments.concurrency
                answered[name] = await examination.answers(label, model, setting, at_once, step)
            return answered

        every_model = (*models.backends.judges, *(one.model for one in opened.values()))
        closed = replace(
            models, backends=replace(models.backends, judges=every_model)
        )  # all are closed at the end
        answered = finish_with(closed, work)
    return _write(answered, arguments)


def _generators(arguments: argparse.Namespace) -> dict[str, str]:
    """Label -> the name of a model under test, with its adapter."""
    named = labelled(arguments.generator, "--generator")
    for given in arguments.adapter:
        label, equals, folder = given.partition("=")
        chosen = (
            [label] if equals else [one for one, model in named.items() if model.startswith("hf:")]
        )
        if not chosen or any(not named.get(one, "").startswith("hf:") for one in chosen):
            known = ", ".join(named)
            raise UserError(
                f"--adapter {given}: an adapter needs an hf: model under test; the labels are {known}"
            )
        for one in chosen:
            named[one] += f"+{folder if equals else given}"
    return named


def _settings(arguments: argparse.Namespace) -> list[str]:
    """The settings in the given order. `long-context` becomes one setting for each given kind of books."""
    known = (*SETTINGS, LONG_CONTEXT)
    given = [side for side in SIDES if getattr(arguments, side.replace("-", "_")) is not None]
    found: dict[str, None] = {}
    for name in split(arguments.setting) or [DEFAULT]:
        if name not in known:
            raise UnknownName("setting", name, known, f"The settings are {', '.join(known)}.")
        if name == LONG_CONTEXT and not given:
            raise UserError("--setting long-context needs books: add --source or --held-out")
        for one in [f"{name}-{side}" for side in given] if name == LONG_CONTEXT else [name]:
            if (side := side_of(one)) is not None and side not in given:
                raise UserError(f"--setting {one} needs books: add --{side} INDEX")
            found[one] = None
    return list(found)


def _index(path: str, stack: ExitStack) -> Index:
    inner = Path(path) / INDEX
    found = index.load(inner if (inner / index.MANIFEST).is_file() else Path(path))
    stack.enter_context(closing(found.passages))
    return found


def _write(answered: dict[str, Answered], arguments: argparse.Namespace) -> int:
    for name, one in answered.items():
        for count, what in (
            (one.left, "omitted: the budget is exhausted; run the same command again to continue"),
            (one.failed, "without an answer; the reason is in meta.no_answer"),
            (one.cut, "with an answer that was cut off at the limit; use a larger --max-answer"),
            (
                one.fewer,
                f"with fewer than {arguments.shots} examples: all other items share text with them",
            ),
        ):
            if count:
                print(f"{name}: {counted(count, 'item')} {what}", file=sys.stderr)
    every = [example for one in answered.values() for example in one.examples]
    made = [example for example in every if example.task != COMPLETION]
    if not any(example.answer is not None for example in made):
        print("longmark: no item was answered", file=sys.stderr)
        return NO_VALUE
    print(f"{counted(write_examples(made, arguments.out), 'answer')}: {arguments.out}")
    if arguments.contamination is not None:
        completions = [example for example in every if example.task == COMPLETION]
        print(
            f"{counted(write_examples(completions, arguments.contamination), 'completion')}: {arguments.contamination}"
        )
    return NO_VALUE if any(one.left for one in answered.values()) else 0

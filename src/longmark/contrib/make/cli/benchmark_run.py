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
from longmark.contrib.make.benchmark.answers import BenchmarkAnswers, Examination, How
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
    generators = _generators(arguments)
    settings = _settings(arguments)
    all_items = items_of(arguments.benchmark)
    usable = [item for item in all_items if item.usable]
    items = [item for item in usable if item.answer is not None][: arguments.limit]
    if (lost := len(usable) - sum(item.answer is not None for item in usable)) > 0:
        print(f"{counted(lost, 'cloze item')} omitted: no term is chosen", file=sys.stderr)
    if not items:
        raise UserError(
            f"{arguments.benchmark} has no usable item: all {len(all_items):,} items are dropped, invalid or without a term"
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
        opened = {
            label: models_of_label.generator
            for label, models_of_label in with_each(registry, models, generators).items()
        }
        systems = [(label, setting) for label in opened for setting in settings]
        if arguments.contamination is not None:
            systems += [(label, COMPLETION) for label in opened]
        if arguments.dry_run:
            print(
                f"{counted(len(items), 'item')}, {counted(len(settings), 'setting')}, {counted(len(generators), 'model')}: "
                f"{len(items) * len(systems):,} calls at most.\nCalls of an embedder, and attempts with less of a book "
                "that is too long, are not counted. Replies in the call cache are not requested again."
            )
            return 0
        settings_of_run = How(
            arguments.k,
            arguments.shots,
            arguments.temperature,
            arguments.max_answer,
            arguments.book,
            arguments.seed,
        )
        examination = Examination(items, models.prompts, shelves, settings_of_run)
        tell = stage_lines(arguments.quiet)

        async def work() -> dict[str, BenchmarkAnswers]:
            answered = {}
            for label, setting in systems:
                name = f"{label}-{setting}"
                counter = itertools.count(1)
                step = partial(
                    lambda name, counter: tell(name, next(counter), len(items)), name, counter
                )
                model = opened[label]
                at_once = 2 * arguments.concurrency
                answered[name] = await examination.answers(label, model, setting, at_once, step)
            return answered

        every_model = (
            *models.backends.judges,
            *(models_of_label.model for models_of_label in opened.values()),
        )
        closed = replace(
            models, backends=replace(models.backends, judges=every_model)
        )  # all are closed at the end
        answered = finish_with(closed, work)
    return _write(answered, arguments)


def _generators(arguments: argparse.Namespace) -> dict[str, str]:
    """Label -> the name of a model under test, with its adapter."""
    generators = labelled(arguments.generator, "--generator")
    for adapter in arguments.adapter:
        label, equals, folder = adapter.partition("=")
        chosen = (
            [label]
            if equals
            else [
                name_of_model
                for name_of_model, model in generators.items()
                if model.startswith("hf:")
            ]
        )
        if not chosen or any(
            not generators.get(name_of_model, "").startswith("hf:") for name_of_model in chosen
        ):
            labels = ", ".join(generators)
            raise UserError(
                f"--adapter {adapter}: an adapter needs an hf: model under test; the labels are {labels}"
            )
        for name_of_model in chosen:
            generators[name_of_model] += f"+{folder if equals else adapter}"
    return generators


def _settings(arguments: argparse.Namespace) -> list[str]:
    """The settings in the given order. `long-context` becomes one setting for each given kind of books."""
    setting_names = (*SETTINGS, LONG_CONTEXT)
    sides_given = [side for side in SIDES if getattr(arguments, side.replace("-", "_")) is not None]
    chosen_settings: dict[str, None] = {}
    for name in split(arguments.setting) or [DEFAULT]:
        if name not in setting_names:
            raise UnknownName(
                "setting", name, setting_names, f"The settings are {', '.join(setting_names)}."
            )
        if name == LONG_CONTEXT and not sides_given:
            raise UserError("--setting long-context needs books: add --source or --held-out")
        for full_name in (
            [f"{name}-{side}" for side in sides_given] if name == LONG_CONTEXT else [name]
        ):
            if (side := side_of(full_name)) is not None and side not in sides_given:
                raise UserError(f"--setting {full_name} needs books: add --{side} INDEX")
            chosen_settings[full_name] = None
    return list(chosen_settings)


def _index(path: str, stack: ExitStack) -> Index:
    inner = Path(path) / INDEX
    loaded = index.load(inner if (inner / index.MANIFEST).is_file() else Path(path))
    stack.enter_context(closing(loaded.passages))
    return loaded


def _write(answered: dict[str, BenchmarkAnswers], arguments: argparse.Namespace) -> int:
    for name, of_system in answered.items():
        for count, description in (
            (
                of_system.left,
                "omitted: the budget is exhausted; run the same command again to continue",
            ),
            (of_system.failed, "without an answer; the reason is in meta.no_answer"),
            (
                of_system.cut,
                "with an answer that was cut off at the limit; use a larger --max-answer",
            ),
            (
                of_system.fewer,
                f"with fewer than {arguments.shots} examples: all other items share text with them",
            ),
        ):
            if count:
                print(f"{name}: {counted(count, 'item')} {description}", file=sys.stderr)
    all_examples = [example for of_system in answered.values() for example in of_system.examples]
    answers = [example for example in all_examples if example.task != COMPLETION]
    if not any(example.answer is not None for example in answers):
        print("longmark: no item was answered", file=sys.stderr)
        return NO_VALUE
    print(f"{counted(write_examples(answers, arguments.out), 'answer')}: {arguments.out}")
    if arguments.contamination is not None:
        completions = [example for example in all_examples if example.task == COMPLETION]
        print(
            f"{counted(write_examples(completions, arguments.contamination), 'completion')}: {arguments.contamination}"
        )
    return NO_VALUE if any(of_system.left for of_system in answered.values()) else 0

"""The verb `longmark pairs`: `join` pairs the answers of two runs, `build` makes pairs from questions."""

from __future__ import annotations

import argparse
import itertools
import sys
from dataclasses import replace

from longmark.cli.arguments import NO_VALUE, pairs, split
from longmark.cli.terminal import stage_lines
from longmark.contrib.make import pairing, pairs_build
from longmark.contrib.make.cli.rag import finish_with, open_models, read_questions, with_each
from longmark.contrib.make.rag.grid import labelled
from longmark.errors import UnknownName, UserError
from longmark.options.groups import ModelNames
from longmark.progress import counted
from longmark.records.write import format_of, write_examples


def join(arguments: argparse.Namespace) -> int:
    format_of(arguments.out, "--out ")
    options = {name: getattr(arguments, name) for name in ("keep_order", "seed", "skip_bad")}
    options["mapping"] = pairs(arguments.map, "FIELD=COLUMN")
    joined = pairing.join(arguments.one, arguments.other, **options)
    for why, count in joined.left_out.items():
        print(f"{counted(count, 'answer')} omitted: {why}", file=sys.stderr)
    print(f"{counted(write_examples(joined.pairs, arguments.out), 'pair')}: {arguments.out}")
    return 0


def build(arguments: argparse.Namespace) -> int:
    format_of(arguments.out, "--out ")
    modes_known = pairs_build.PairsPlan.modes
    modes_asked = split(arguments.modes)
    for mode in modes_asked:
        if mode not in modes_known:
            raise UnknownName(
                "mode in --modes", mode, modes_known, f"The modes are {', '.join(modes_known)}."
            )
    modes = tuple(mode for mode in modes_known if mode in modes_asked or not modes_asked)
    options = {name: getattr(arguments, name) for name in ("expand", "categories", "translate", "per_question",
            "temperature", "max_answer", "seed")}  # fmt: skip
    plan = pairs_build.PairsPlan(modes=modes, **options)
    generators = labelled(arguments.generator, "--generator")
    if (plan.expand or plan.translate) and not generators:
        raise UserError("--expand and --translate need a model that writes: add --generator MODEL")
    if (plan.expand or plan.categories) and not arguments.judge:
        raise UserError("--expand and --categories need a model that judges: add --judge MODEL")
    groups = pairs_build.grouped(read_questions(arguments))
    if arguments.dry_run:
        calls_by_step = pairs_build.calls(groups, len(generators), plan)
        parts = ", ".join(f"{step} {count:,}" for step, count in calls_by_step.items() if count)
        print(
            f"{counted(len(groups), 'question')}: {sum(calls_by_step.values()):,} calls at most ({parts or 'none'}). "
            "A second"
        )
        print(
            "attempt after an unreadable reply is not counted. Replies in the call cache are not requested again."
        )
        return 0
    with open_models(arguments, ModelNames([arguments.judge] if arguments.judge else [])) as (
        models,
        registry,
    ):
        writers = {
            label: models_of_label.generator
            for label, models_of_label in with_each(registry, models, generators).items()
        }
        tell = stage_lines(arguments.quiet)
        counter = itertools.count(1)
        opened_all = (*models.backends.judges, *(writer.model for writer in writers.values()))
        built = finish_with(
            replace(models, backends=replace(models.backends, judges=opened_all)),  # all of them are closed at the end
            lambda: pairs_build.build(
                groups, models, writers, plan, at_once=2 * arguments.concurrency,
                on_question=lambda: tell("questions", next(counter), len(groups)),
            ),
        )  # fmt: skip
    for left_out in built.left_out:
        print(f"omitted: {left_out}", file=sys.stderr)
    for concise_reference in built.concise:
        print(f"not expanded: {concise_reference}", file=sys.stderr)
    if not built.pairs:
        print(
            "longmark: no pair was made: a question needs two answers of the --modes",
            file=sys.stderr,
        )
        return NO_VALUE
    print(f"{counted(write_examples(built.pairs, arguments.out), 'pair')}: {arguments.out}")
    return NO_VALUE if built.stopped else 0

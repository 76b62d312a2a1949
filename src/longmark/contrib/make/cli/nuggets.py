"""`longmark rag nuggets`: the facts that good answers hold, out of the passages of examples."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

from longmark.cli.arguments import NO_VALUE
from longmark.cli.terminal import stage_lines
from longmark.contrib.make.cli.rag import finish_with, open_models, read_questions
from longmark.contrib.make.rag.nuggets import make_nuggets, most_calls, questions_of
from longmark.errors import UserError
from longmark.options.groups import ModelNames
from longmark.progress import counted
from longmark.text.overlap import named_checker
from longmark.writing import replacing

_SUFFIXES = (".jsonl", ".ndjson")


def nuggets(arguments: argparse.Namespace) -> int:
    out = Path(arguments.out)
    if out.suffix not in _SUFFIXES:
        raise UserError(f"--out {out}: nuggets are written as JSON Lines; name a .jsonl file")
    examples = read_questions(arguments)
    questions = questions_of(examples)
    n_questions = len(questions)
    if arguments.dry_run:
        calls = most_calls(questions, with_checker=arguments.checker is not None)
        parts = ", ".join(f"{step} {count:,}" for step, count in calls.items() if count)
        print(
            f"{counted(n_questions, 'question')}: {sum(calls.values()):,} calls at most ({parts or 'none'}). A second\n"
            "attempt after an unreadable reply is not counted. Replies in the call cache are not requested again."
        )
        return 0
    tell = stage_lines(arguments.quiet)
    counter = itertools.count(1)
    names = ModelNames(
        generator=arguments.generator,
        checker=named_checker(arguments.checker),
    )
    with open_models(arguments, names) as (models, _registry):
        written = finish_with(
            models,
            lambda: make_nuggets(
                examples,
                models,
                at_once=2 * arguments.concurrency,
                on_question=lambda: tell("questions", next(counter), n_questions),
            ),
        )
    if written.left_out:
        print(f"{counted(len(written.left_out), 'question')} omitted:", file=sys.stderr)
        for left_out in written.left_out:
            print(f"  {left_out}", file=sys.stderr)
    if written.records:
        with replacing(out) as file:
            file.writelines(f"{record.line()}\n".encode() for record in written.records)
        n_nuggets = sum(len(record.nuggets) for record in written.records)
        print(
            f"{counted(n_nuggets, 'nugget')} of {counted(len(written.records), 'question')}: {out}"
        )
    return NO_VALUE if models.client.budget.stopped or not written.records else 0

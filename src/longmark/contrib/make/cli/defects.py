"""The verb `longmark defects`: known defects in good answers.

Exit codes as for every verb; 4: the budget ended it, or no defect was made.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Sequence

from longmark.cli.arguments import NO_VALUE, split
from longmark.cli.terminal import stage_lines
from longmark.contrib.make.cli.rag import finish_with, open_models, read_questions
from longmark.contrib.make.defects import STRENGTHS, Plan, expected_calls, make
from longmark.options.groups import ModelNames
from longmark.progress import counted
from longmark.records import Example
from longmark.records.example import DEFECT, DEFECTS_OMITTED
from longmark.records.write import format_of, write_examples
from longmark.report.tables import Column, Table, as_text


def defects(arguments: argparse.Namespace) -> int:
    format_of(arguments.out, "--out ")
    plan = Plan(
        split(arguments.kinds),
        split(arguments.strength) or STRENGTHS,
        arguments.seed,
        arguments.language,
    )
    examples = read_questions(arguments)
    if arguments.dry_run:
        print(
            f"{counted(len(examples), 'answer')}: {expected_calls(examples, plan):,} calls at most, without second "
            "attempts after unreadable replies.\nReplies in the call cache are not requested again."
        )
        return 0
    names = ModelNames([arguments.judge] if arguments.judge else [], generator=arguments.generator)
    with open_models(arguments, names) as (models, _registry):
        tell = stage_lines(arguments.quiet)
        counter = itertools.count(1)
        examples_made = finish_with(
            models,
            lambda: make(
                examples,
                plan,
                models,
                at_once=2 * arguments.concurrency,
                on_answer=lambda: tell("answers", next(counter), len(examples)),
            ),
        )
    print(as_text(_table(plan, examples_made)), end="")
    if len(examples_made) == len(examples):
        print("longmark: no defect was made, so no file was written", file=sys.stderr)
        return NO_VALUE
    write_examples(examples_made, arguments.out)
    print(
        f"{counted(len(examples), 'answer')} with {counted(len(examples_made) - len(examples), 'defect')}: {arguments.out}"
    )
    return NO_VALUE if models.client.budget.stopped else 0


def _table(plan: Plan, examples: Sequence[Example]) -> Table:
    omitted = [
        (kind_and_strength, why)
        for example in examples
        for kind_and_strength, why in example.meta.get(DEFECTS_OMITTED, {}).items()
    ]
    count = Counter(
        f"{defect['kind']}@{defect['strength']}"
        for example in examples
        if (defect := example.meta.get(DEFECT))
    )
    reasons = {
        name: Counter(why for kind_and_strength, why in omitted if kind_and_strength == name)
        for name in map("@".join, plan.all())
    }
    rows = [
        (
            *name.split("@"),
            count[name],
            why.total(),
            next((reason for reason, _ in why.most_common(1)), None),
        )
        for name, why in reasons.items()
    ]
    heads = ("kind", "strength", "made", "omitted", "most frequent reason")
    return Table("defects", "Defects", tuple(map(Column, heads)), rows)

"""The verb `longmark pairs`: `join` pairs the answers of two runs, `build` makes pairs from questions."""

from __future__ import annotations

import argparse
import itertools
import sys
from dataclasses import replace
from typing import Any

from longmark.cli.arguments import NO_VALUE, add, add_calls, add_input, add_verb, split
from longmark.cli.rag import finish_with, open_models, read_questions
from longmark.cli.terminal import stage_lines
from longmark.progress import counted

_PAIRS = "the pairs to write: .jsonl, .csv, .tsv or .parquet"


def add_to(verbs: Any) -> None:
    pairs = add_verb(verbs, "pairs", None, "Make pairs of answers, from two runs or from questions.")
    actions = pairs.add_subparsers(dest="action", required=True, metavar="join|build")
    one = add_verb(actions, "join", join, "Pair the answers of two runs (or files of examples) by question.")
    add(one, "one", "RUN", "a run folder or a file of examples")
    add(one, "other", "RUN", "another one, with answers to the same questions")
    add(one, "--out", "FILE", _PAIRS, required=True)
    add(one, "--keep-order", "", "the first run is always a (default: drawn; each system is a in half of the pairs)")
    add(one, "--seed", "N", "seed of that draw (default: 0)", type=int, default=0)
    add(one, "--skip-bad", "", "skip bad records instead of stopping")

    text = "Make pairs from questions: answers of models, expanded references, categories, translations."
    one = add_verb(actions, "build", build, text)
    add(one, "questions", "QUESTIONS", "a file of questions, with references; a line can also have an answer")
    add(one, "--out", "FILE", _PAIRS, required=True)
    writers = "a model that answers; repeatable. The first one also translates and expands"
    add(one, "--generator", "[LABEL=]MODEL", writers, action="append", default=[])
    add(one, "--judge", "MODEL", "the model that checks expanded references and names categories")
    add(one, "--expand", "", "rewrite references as prose; kept if no key point is added or lost")
    add(one, "--categories", "", "name the category of each question, one of seven")
    add(one, "--translate", "LANGUAGE", "translate everything into this language first", default="")
    modes = "human/human, human/model, model/model (default: all)"
    add(one, "--modes", "MODE,…", modes)
    add(one, "--per-question", "N", "maximum number of pairs of each mode for a question (default: all)")
    add(one, "--temperature", "T", "temperature of the answers (default: 0.7)", default=0.7)
    add(one, "--max-answer", "N", "maximum number of tokens of an answer (default: 1024)", default=1024)
    add(one, "--seed", "N", "seed of answers, of draws and of sides (default: 0)", type=int, default=0)
    add(one, "--prompts", "DIR", "a folder with ID.txt files that replace prompts")
    add(one, "--dry-run", "", "print the maximum number of calls; send nothing")
    add_input(one)
    add_calls(one)


def join(arguments: argparse.Namespace) -> int:
    from longmark.datasets import pairing
    from longmark.records.write import format_of, write_examples

    format_of(arguments.out, "--out ")
    options = {name: getattr(arguments, name) for name in ("keep_order", "seed", "skip_bad")}
    joined = pairing.join(arguments.one, arguments.other, **options)
    for why, count in joined.left_out.items():
        print(f"{counted(count, 'answer')} omitted: {why}", file=sys.stderr)
    print(f"{counted(write_examples(joined.pairs, arguments.out), 'pair')}: {arguments.out}")
    return 0


def build(arguments: argparse.Namespace) -> int:
    from longmark.datasets import pairs_build
    from longmark.errors import UnknownName, UserError
    from longmark.models.registry import ModelNames
    from longmark.rag.grid import readers_of
    from longmark.records.write import format_of, write_examples

    format_of(arguments.out, "--out ")
    known = pairs_build.PairsPlan.modes
    asked = split(arguments.modes)
    for mode in asked:
        if mode not in known:
            raise UnknownName("mode in --modes", mode, known, f"The modes are {', '.join(known)}.")
    modes = tuple(mode for mode in known if mode in asked or not asked)
    same = {name: getattr(arguments, name) for name in ("expand", "categories", "translate", "per_question",
            "temperature", "max_answer", "seed")}  # fmt: skip
    plan = pairs_build.PairsPlan(modes=modes, **same)
    try:
        named = readers_of(arguments.generator)
    except UserError as error:
        raise UserError(str(error).replace("--reader", "--generator").replace("readers", "generators")) from None
    if (plan.expand or plan.translate) and not named:
        raise UserError("--expand and --translate need a model that writes: add --generator MODEL")
    if (plan.expand or plan.categories) and not arguments.judge:
        raise UserError("--expand and --categories need a model that judges: add --judge MODEL")
    groups = pairs_build.grouped(read_questions(arguments))
    if arguments.dry_run:
        found = pairs_build.calls(groups, len(named), plan)
        parts = ", ".join(f"{step} {count:,}" for step, count in found.items() if count)
        print(
            f"{counted(len(groups), 'question')}: {sum(found.values()):,} calls at most ({parts or 'none'}). A second"
        )
        print("attempt after an unreadable reply is not counted. Replies in the call cache are not requested again.")
        return 0
    with open_models(arguments, ModelNames([arguments.judge] if arguments.judge else [])) as (models, registry):
        writers = {}
        for one in named:
            opened = registry.open("generator", one.model)
            writers[one.label] = replace(models, backends=replace(models.backends, generator=opened)).generator
        tell, done = stage_lines(arguments.quiet), itertools.count(1)
        opened_all = (*models.backends.judges, *(one.model for one in writers.values()))
        built = finish_with(
            replace(models, backends=replace(models.backends, judges=opened_all)),  # all of them are closed at the end
            lambda: pairs_build.build(
                groups, models, writers, plan, at_once=2 * arguments.concurrency,
                on_question=lambda: tell("questions", next(done), len(groups)),
            ),
        )  # fmt: skip
    for left_out in built.left_out:
        print(f"omitted: {left_out}", file=sys.stderr)
    for kept in built.concise:
        print(f"not expanded: {kept}", file=sys.stderr)
    if not built.pairs:
        print("longmark: no pair was made: a question needs two answers of the --modes", file=sys.stderr)
        return NO_VALUE
    print(f"{counted(write_examples(built.pairs, arguments.out), 'pair')}: {arguments.out}")
    return NO_VALUE if built.stopped else 0

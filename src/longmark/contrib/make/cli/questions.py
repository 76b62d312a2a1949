"""The verbs that make examples: `longmark questions` samples questions, `longmark vary` makes variants of them,
`longmark dataset` converts published data sets."""

from __future__ import annotations

import argparse
import codecs
import csv
import sys

from longmark.cli.arguments import NO_VALUE, split
from longmark.contrib.make import published
from longmark.contrib.make import vary as variants
from longmark.contrib.make.cli.rag import finish_with, open_models, read_questions
from longmark.contrib.make.questions import hazards
from longmark.domain import named
from longmark.errors import UserError
from longmark.options.groups import ModelNames
from longmark.progress import counted
from longmark.records import Pair
from longmark.records.write import format_of, write_examples
from longmark.writing import replacing


def questions(arguments: argparse.Namespace) -> int:
    domain = named(arguments.domain, "questions are sampled from its tables")
    n_questions = write_examples(hazards(arguments.n, arguments.seed, domain), arguments.out)
    print(f"{counted(n_questions, 'question')}: {arguments.out}")
    return 0


def vary(arguments: argparse.Namespace) -> int:
    format_of(arguments.out, "--out ")
    domain = named(arguments.domain, "variants change what it names in a question")
    names = variants.chosen(domain, split(arguments.variants))
    examples = read_questions(arguments)
    with open_models(arguments, ModelNames(generator=arguments.generator)) as (models, _registry):
        models_given = models if arguments.generator else None
        at_once = 2 * arguments.concurrency
        varied = finish_with(
            models,
            lambda: variants.vary(
                examples, models_given, domain, variants=names, seed=arguments.seed, at_once=at_once
            ),
        )
    if varied.examples:
        write_examples(varied.examples, arguments.out)
    if varied.left_out:
        print(f"{counted(len(varied.left_out), 'variant')} omitted:", file=sys.stderr)
        for left_out in varied.left_out:
            print(f"  {left_out}", file=sys.stderr)
    if varied.examples:
        print(f"{counted(len(varied.examples), 'variant')}: {arguments.out}")
    return NO_VALUE if models.client.budget.stopped or not varied.examples else 0


def dataset(arguments: argparse.Namespace) -> int:
    if arguments.labels and arguments.name != published.HALUQUESTQA:
        raise UserError(
            f"--labels is for {published.HALUQUESTQA} only; the examples of {arguments.name} contain their labels"
        )
    examples = published.read(arguments.name, arguments.file, arguments.n, arguments.seed)
    n_examples = write_examples(examples, arguments.out)
    print(
        f"{counted(n_examples, 'pair' if isinstance(examples[0], Pair) else 'example')}: {arguments.out}"
    )
    if arguments.labels:
        ratings = list(published.ratings(examples))
        with replacing(arguments.labels) as file:
            writer = csv.DictWriter(codecs.getwriter("utf-8")(file), list(ratings[0]))
            writer.writeheader()
            writer.writerows(ratings)
        print(f"{counted(len(ratings), 'label')}: {arguments.labels}")
    return 0

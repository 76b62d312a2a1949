"""The verbs that make examples: `longmark questions` samples questions, `longmark vary` makes variants of them,
`longmark dataset` converts published data sets."""

from __future__ import annotations

import argparse
import codecs
import sys
from typing import Any

from longmark.cli.arguments import DOMAIN, NO_VALUE, add, add_calls, add_input, add_prompts, add_verb, split
from longmark.cli.rag import finish_with, open_models, read_questions
from longmark.progress import counted


def add_to(verbs: Any) -> None:
    examples = "the examples to write: .jsonl, .csv, .tsv or .parquet"
    one = add_verb(verbs, "questions", questions, "Sample questions of a domain: examples without answers.")
    add(one, "--n", "N", "how many questions to sample", required=True)
    add(one, "--out", "FILE", examples, required=True)
    add(one, "--seed", "N", "seed of the sample (default: 0)", type=int, default=0)
    add(one, "--domain", "hazards|FILE.yaml", DOMAIN)

    text = "Make variants of questions: paraphrases by a model, perturbations from the domain's tables."
    one = add_verb(verbs, "vary", vary, text)
    add(one, "questions", "QUESTIONS", "the examples to vary, with their profiles")
    add(one, "--out", "FILE", examples, required=True)
    add(one, "--generator", "MODEL", "the model that paraphrases; perturbations need no model")
    add(one, "--variants", "NAME,…", "the variants to make (default: all of the domain)")
    add(one, "--seed", "N", "seed of the values in perturbations (default: 0)", type=int, default=0)
    add_prompts(one)
    add_input(one)
    add_calls(one)

    text = "Convert a published data set with people's labels into examples, or into pairs of answers."
    one = add_verb(verbs, "dataset", dataset, text)
    add(
        one,
        "name",
        "NAME",
        "wikicontradict, conflictbank, haluquestqa or eli5; with pairs: lfqa-e, haluquestqa-pairs or llmbar",
    )
    add(one, "file", "FILE", "the data set's file, as published: .jsonl, .json, .csv, .tsv or .parquet")
    add(one, "--out", "FILE", examples.replace("examples", "examples or pairs"), required=True)
    add(one, "--n", "N", "sample N records (default: all)")
    add(one, "--seed", "N", "seed of the sample (default: 0)", type=int, default=0)
    add(one, "--labels", "FILE", "haluquestqa: also write the experts' labels for longmark metaeval: .csv or .tsv")


def questions(arguments: argparse.Namespace) -> int:
    from longmark.datasets.questions import hazards
    from longmark.domain import named
    from longmark.records.write import write_examples

    domain = named(arguments.domain, "questions are sampled from its tables")
    made = write_examples(hazards(arguments.n, arguments.seed, domain), arguments.out)
    print(f"{counted(made, 'question')}: {arguments.out}")
    return 0


def vary(arguments: argparse.Namespace) -> int:
    from longmark.datasets import vary as variants
    from longmark.domain import named
    from longmark.models.registry import ModelNames
    from longmark.records.write import write_examples

    domain = named(arguments.domain, "variants change what it names in a question")
    names = variants.chosen(domain, split(arguments.variants))
    examples = read_questions(arguments)
    with open_models(arguments, ModelNames(generator=arguments.generator)) as (models, _registry):
        given = models if arguments.generator else None
        at_once = 2 * arguments.concurrency
        varied = finish_with(
            models, lambda: variants.vary(examples, given, domain, variants=names, seed=arguments.seed, at_once=at_once)
        )
    if varied.examples:
        write_examples(varied.examples, arguments.out)
    if varied.left_out:
        print(f"{counted(len(varied.left_out), 'variant')} omitted:", file=sys.stderr)
        for one in varied.left_out:
            print(f"  {one}", file=sys.stderr)
    if varied.examples:
        print(f"{counted(len(varied.examples), 'variant')}: {arguments.out}")
    return NO_VALUE if models.client.budget.stopped or not varied.examples else 0


def dataset(arguments: argparse.Namespace) -> int:
    import csv

    from longmark.datasets import published
    from longmark.errors import UserError
    from longmark.records import Pair
    from longmark.records.write import replacing, write_examples

    if arguments.labels and arguments.name != published.HALUQUESTQA:
        raise UserError(
            f"--labels is for {published.HALUQUESTQA} only; the examples of {arguments.name} contain their labels"
        )
    examples = published.read(arguments.name, arguments.file, arguments.n, arguments.seed)
    made = write_examples(examples, arguments.out)
    print(f"{counted(made, 'pair' if isinstance(examples[0], Pair) else 'example')}: {arguments.out}")
    if arguments.labels:
        ratings = list(published.ratings(examples))
        with replacing(arguments.labels) as file:
            writer = csv.DictWriter(codecs.getwriter("utf-8")(file), list(ratings[0]))
            writer.writeheader()
            writer.writerows(ratings)
        print(f"{counted(len(ratings), 'label')}: {arguments.labels}")
    return 0

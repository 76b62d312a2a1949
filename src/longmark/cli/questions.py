"""The verbs that make questions: `longmark questions` samples them, `longmark vary` makes variants of them."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from longmark.cli.arguments import NO_VALUE, add, add_calls, add_input, add_prompts, add_verb, split
from longmark.cli.rag import finish_with, open_models, read_questions
from longmark.progress import counted


def add_to(verbs: Any) -> None:
    examples = "the examples to write: .jsonl, .csv, .tsv or .parquet"
    one = add_verb(verbs, "questions", questions, "Sample questions of a domain: examples without answers.")
    add(one, "--n", "N", "how many questions to sample", required=True)
    add(one, "--out", "FILE", examples, required=True)
    add(one, "--seed", "N", "seed of the sample (default: 0)", type=int, default=0)
    add(one, "--domain", "FILE.yaml", "the domain of the questions (default: hazards)")

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


def questions(arguments: argparse.Namespace) -> int:
    from longmark.datasets.questions import hazards
    from longmark.domain import load
    from longmark.records.write import write_examples

    made = write_examples(hazards(arguments.n, arguments.seed, load(arguments.domain)), arguments.out)
    print(f"{counted(made, 'question')}: {arguments.out}")
    return 0


def vary(arguments: argparse.Namespace) -> int:
    from longmark.datasets import vary as variants
    from longmark.domain import load
    from longmark.models.registry import ModelNames
    from longmark.records.write import write_examples

    domain = load(arguments.domain)
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

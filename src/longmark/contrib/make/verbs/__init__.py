"""The verbs of the package, as its entry points name them; here those that make questions, variants, defects and
examples of published data sets, with their options. What a verb does is in the module that it names, which is imported
only where the verb is called."""

from __future__ import annotations

from typing import Any

from longmark.cli.arguments import (
    add,
    add_calls,
    add_input,
    add_options,
    add_prompts,
    add_verb,
    whole,
)
from longmark.contrib.make.verbs.answering import CLI, EXAMPLES
from longmark.contrib.make.verbs.answering import pairs as pairs
from longmark.contrib.make.verbs.answering import rag as rag
from longmark.contrib.make.verbs.benchmarks import benchmark as benchmark
from longmark.contrib.make.verbs.benchmarks import train as train
from longmark.contrib.make.verbs.benchmarks import validator as validator
from longmark.options.groups import ScoringOptions


def questions(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "questions",
        f"{CLI}.questions:questions",
        "Sample questions of a domain: examples without answers.",
    )
    add(verb, "--n", "N", "number of questions to sample", required=True)
    add(verb, "--out", "FILE", EXAMPLES, required=True)
    add(verb, "--seed", "N", "seed of all sampling (default: 0)", type=int, default=0)
    add_options(verb, ScoringOptions, ("domain",))


def vary(verbs: Any) -> None:
    text = "Make variants of questions: paraphrases by a model, perturbations from the domain's tables."
    verb = add_verb(verbs, "vary", f"{CLI}.questions:vary", text)
    add(verb, "questions", "QUESTIONS", "the examples to vary, with their profiles")
    add(verb, "--out", "FILE", EXAMPLES, required=True)
    add(verb, "--generator", "MODEL", "the model that paraphrases; perturbations need no model")
    add(verb, "--variants", "NAME,…", "the variants to make (default: all of the domain)")
    add(verb, "--seed", "N", "seed of all sampling (default: 0)", type=int, default=0)
    add_prompts(verb)
    add_input(verb)
    add_calls(verb)


def defects(verbs: Any) -> None:
    text = "Make known defects in good answers, each with a proof of what was changed."
    verb = add_verb(verbs, "defects", f"{CLI}.defects:defects", text)
    add(verb, "questions", "EXAMPLES", "the examples with good answers, and their passages")
    add(verb, "--out", "FILE", f"{EXAMPLES}: each answer with its defects behind it", required=True)
    kinds = "the kinds of defects (default: all that a rule makes; docs/defects.md lists them)"
    add(verb, "--kinds", "NAME,…", kinds)
    strength = "how many places of an answer are changed (2), or which share of them (50%%); default: 1,50%%"
    add(verb, "--strength", "N|SHARE,…", strength)
    add(
        verb,
        "--language",
        "en|de|zh",
        "the language of all answers (default: that of each is recognised)",
        default="",
    )
    add(
        verb,
        "--generator",
        "MODEL",
        "the model that writes contradictions and texts on another topic",
    )
    add(verb, "--judge", "MODEL", "the model that checks what the generator wrote")
    add(
        verb,
        "--seed",
        "N",
        "seed of all sampling (default: 0)",
        type=whole,
        default=0,
    )
    add_options(verb, ScoringOptions, ("prompts",))
    add(verb, "--dry-run", "", "print the maximum number of calls; send nothing")
    add_input(verb)
    add_calls(verb)


def dataset(verbs: Any) -> None:
    text = "Convert a published data set with human labels into examples, or into pairs of answers."
    verb = add_verb(verbs, "dataset", f"{CLI}.questions:dataset", text)
    names = "wikicontradict, conflictbank, haluquestqa or eli5; with pairs: lfqa-e, haluquestqa-pairs or llmbar"
    add(verb, "name", "NAME", names)
    add(
        verb,
        "file",
        "FILE",
        "the data set's file, as published: .jsonl, .json, .csv, .tsv or .parquet",
    )
    add(verb, "--out", "FILE", EXAMPLES.replace("examples", "examples or pairs"), required=True)
    add(verb, "--n", "N", "sample N records (default: all)")
    add(verb, "--seed", "N", "seed of all sampling (default: 0)", type=int, default=0)
    add(
        verb,
        "--labels",
        "FILE",
        "haluquestqa: also write the experts' labels for longmark metaeval: .csv or .tsv",
    )

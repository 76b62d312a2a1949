"""The verb `longmark train`: trains adapters of a model under test, by continued pre-training or fine-tuning."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from longmark.cli.arguments import add, add_verb
from longmark.progress import counted


def add_to(verbs: Any) -> None:
    text = "Train a LoRA adapter of a transformers model on books, or on the items of a benchmark."
    actions = add_verb(verbs, "train", None, text).add_subparsers(
        dest="action", required=True, metavar="pretrain|finetune"
    )
    for name, run, text in (
        ("pretrain", pretrain, "Continue pre-training on books. The validation loss is on other books."),
        (
            "finetune",
            finetune,
            "Fine-tune on questions with their correct answers, with the prompts of `benchmark run`.",
        ),
    ):
        one = add_verb(actions, name, run, text)
        add(one, "config", "FILE.yaml", "model, data, hyper-parameters, and the folder for the adapter")
        add(
            one,
            "--dry-run",
            "",
            "read the model and the data, and print the numbers of sequences and steps; do not train",
        )
        add(one, "--quiet", "", "show no progress")


def pretrain(arguments: argparse.Namespace) -> int:
    from longmark.training.adapt import Training, loaded
    from longmark.training.config import Pretrain, load
    from longmark.training.data import check_apart, of_books

    settings = load(arguments.config, Pretrain)
    base = loaded(settings)
    train = of_books(settings.train, base.tokenizer, settings.length)
    validation = of_books(settings.validation, base.tokenizer, settings.length) if settings.validation else None
    if validation is not None:
        check_apart(train, validation)
    return _run(arguments, Training("pretrain", base, settings, train, validation))


def finetune(arguments: argparse.Namespace) -> int:
    from longmark.training.adapt import Training, loaded
    from longmark.training.config import Finetune, load
    from longmark.training.data import of_questions

    settings = load(arguments.config, Finetune)
    base = loaded(settings)
    train = of_questions(settings.train, settings, base.tokenizer, base.name)
    test = settings.validation
    validation = of_questions(test, settings, base.tokenizer, base.name) if test else None
    return _run(arguments, Training("finetune", base, settings, train, validation))


def _run(arguments: argparse.Namespace, training: Any) -> int:
    for data in filter(None, (training.train, training.validation)):
        for note in data.notes:
            print(f"longmark: {note}", file=sys.stderr)
    print(f"{counted(len(training.train.sequences), 'sequence')}, {counted(training.steps, 'step')}")
    if arguments.dry_run:
        return 0
    result = training.run(quiet=arguments.quiet)["result"]
    for name, what in (("loss", "Loss (first and last quarter of the steps)"), ("validation_loss", "Validation loss")):
        if f"first_{name}" in result:
            print(f"{what}: {result[f'first_{name}']:.3f} -> {result[f'last_{name}']:.3f}")
    out = training.settings.out
    print(f"Adapter: {out} ({result['steps']:,} steps). Use it with --generator {training.base.name}+{out}")
    return 0

"""The verb `longmark train`: trains adapters of a model under test, by continued pre-training or fine-tuning."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from longmark.contrib.make.training.adapt import Training, loaded
from longmark.contrib.make.training.config import Finetune, Pretrain, load
from longmark.contrib.make.training.data import check_apart, of_books, of_questions
from longmark.progress import counted


def pretrain(arguments: argparse.Namespace) -> int:
    settings = load(arguments.config, Pretrain)
    base = loaded(settings)
    train = of_books(settings.train, base.tokenizer, settings.length)
    validation = (
        of_books(settings.validation, base.tokenizer, settings.length)
        if settings.validation
        else None
    )
    if validation is not None:
        check_apart(train, validation)
    return _run(arguments, Training("pretrain", base, settings, train, validation))


def finetune(arguments: argparse.Namespace) -> int:
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
    print(
        f"{counted(len(training.train.sequences), 'sequence')}, {counted(training.steps, 'step')}"
    )
    if arguments.dry_run:
        return 0
    result = training.run(quiet=arguments.quiet)["result"]
    for name, title in (
        ("loss", "Loss (first and last quarter of the steps)"),
        ("validation_loss", "Validation loss"),
    ):
        if f"first_{name}" in result:
            print(f"{title}: {result[f'first_{name}']:.3f} -> {result[f'last_{name}']:.3f}")
    folder = training.settings.out
    print(
        f"Adapter: {folder} ({result['steps']:,} steps). Use it with --generator {training.base.name}+{folder}"
    )
    return 0

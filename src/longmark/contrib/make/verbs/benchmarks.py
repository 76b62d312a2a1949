"""The verbs that make benchmarks, train on them and say which items are valid, with their options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.cli.arguments import (
    add,
    add_calls,
    add_options,
    add_verb,
    share,
    whole,
)
from longmark.contrib.make.verbs.answering import CLI, EXAMPLES, RETRIEVER
from longmark.options import option
from longmark.options.groups import ScoringOptions

_BENCH = "a folder of `longmark benchmark generate` or `export`, or a file of items"
_LABELS = "training.jsonl of `longmark annotate export`, or items with status valid or invalid"


@dataclass(frozen=True)
class ValidityColumns:
    """labels"""

    map: Mapping[str, str] = option(
        dict,
        "read item, rater, validity or another field of LABELS from this column or path",
        "FIELD=COLUMN",
        kind="mapping",
    )


def benchmark(verbs: Any) -> None:
    text = "Make benchmarks of questions from books, audit and export them, and run models on them."
    benchmark = add_verb(verbs, "benchmark", None, text)
    actions = benchmark.add_subparsers(
        dest="action", required=True, metavar="generate|figures|export|run"
    )
    for add_some in (_benchmark_generate, _benchmark_export, _benchmark_run):
        add_some(actions)


def _benchmark_generate(actions: Any) -> None:
    text = "Write questions about the content of books, in three forms and on three levels, and audit them. Resumable."
    verb = add_verb(actions, "generate", f"{CLI}.benchmark_generate:generate", text)
    add(
        verb,
        "books",
        "BOOKS",
        "PDF, EPUB, HTML, Markdown or text files, or folders of them",
        nargs="+",
        type=Path,
    )
    add(
        verb,
        "--topic",
        "FILE.yaml",
        "the benchmark's subject, readers, forms and levels",
        required=True,
    )
    add(
        verb,
        "--out",
        "DIR",
        "the benchmark's folder; repeat the same command to resume it",
        required=True,
    )
    add(
        verb,
        "--generator",
        "MODEL",
        "the model that writes the items and audits them",
        required=True,
    )
    nearest = "the embedding model that finds a seed's neighbours and near duplicates, or none (default: embedded)"
    add(verb, "--embedder", "MODEL", nearest, default="embedded")
    usable = (
        "usable items of each form and level (default: 10); you can increase it when you resume"
    )
    add(verb, "--n", "N", usable, default=10)
    chunks = verb.add_argument_group("chunks")
    add(
        chunks,
        "--chunk",
        "N",
        "maximum number of characters of a chunk (default: 2000)",
        default=2000,
    )
    add(
        chunks,
        "--overlap",
        "N",
        "maximum overlap of two chunks in characters (default: 200)",
        type=whole,
        default=200,
    )
    add(
        chunks,
        "--k",
        "N",
        "maximum number of neighbours of a seed (default: 3)",
        type=whole,
        default=3,
    )
    add(
        chunks,
        "--threshold",
        "X",
        "minimum cosine of a neighbour (default: 0.6)",
        type=float,
        default=0.6,
    )
    add(chunks, "--skip-bad", "", "skip unreadable books instead of stopping")
    add(
        verb,
        "--temperature",
        "T",
        "temperature of the generator when it writes (default: 0.7)",
        default=0.7,
    )
    seed = "seed of all sampling (default: 0)"
    add(verb, "--seed", "N", seed, type=int, default=0)
    text = "drop what this validator calls invalid, and rewrite only base questions that it calls valid"
    add(verb, "--validator", "VALIDATOR", text, type=Path)
    add_options(verb, ScoringOptions, ("prompts",))
    add(verb, "--dry-run", "", "print books, chunks and the number of calls; send nothing")
    add_calls(verb)


def _benchmark_export(actions: Any) -> None:
    text = "Print statistics of a benchmark: items, dropped items with reasons, coverage, keys, readability."
    verb = add_verb(actions, "figures", f"{CLI}.benchmark_export:figures", text)
    add(verb, "benchmark", "BENCH", _BENCH)
    text = "answer the usable items with this model, without the passages, and mark those that it answers correctly"
    add(verb, "--generator", "MODEL", text)
    add(
        verb,
        "--judge",
        "MODEL",
        "the model that compares freeform answers (default: the generator)",
    )
    add(verb, "--out", "FILE", "the JSON file to write (default: figures.json in the folder)")
    add_options(verb, ScoringOptions, ("prompts",))
    add(verb, "--dry-run", "", "print the maximum number of calls; send nothing")
    add_calls(verb)

    text = "Write a benchmark as a folder to publish: data files, a dataset card, checksums."
    verb = add_verb(actions, "export", f"{CLI}.benchmark_export:export", text)
    add(verb, "benchmark", "BENCH", _BENCH)
    add(verb, "--out", "FOLDER", "the folder to write", required=True)
    licence = "the licence of the items, as the Hugging Face hub names it, such as cc-by-4.0"
    add(verb, "--licence", "ID", licence, required=True)
    add(verb, "--title", "TEXT", "the title of the card (default: the name of the benchmark)")
    add(verb, "--language", "CODE,…", "the languages of the items, such as en")
    add(
        verb,
        "--format",
        "jsonl|csv|parquet",
        "the format of the data files (default: jsonl)",
        default="jsonl",
    )
    add(
        verb,
        "--passages",
        "",
        "write the texts of the passages too; only if you may publish the books",
    )


def _benchmark_run(actions: Any) -> None:
    text = "Ask models the questions of a benchmark, and write their answers for scoring."
    verb = add_verb(actions, "run", f"{CLI}.benchmark_run:run", text)
    add(verb, "benchmark", "BENCH", _BENCH)
    add(verb, "--generator", "[LABEL=]MODEL", "a model under test; repeatable", required=True)
    settings = "default, few-shot, rag-source, rag-held-out, long-context, long-context-source, long-context-held-out"
    add(
        verb,
        "--setting",
        "NAME,…",
        f"what the prompt contains besides the item (default: default): {settings}",
    )
    index = "an index of `longmark rag index`, or the folder of a benchmark:"
    add(verb, "--source", "INDEX", f"{index} the books of the items")
    add(verb, "--held-out", "INDEX", f"{index} other books")
    add(verb, "--out", "FILE", EXAMPLES, required=True)
    add(verb, "--k", "N", "passages in rag-source and rag-held-out (default: 4)", default=4)
    add(verb, "--shots", "N", "examples in few-shot (default: 5)", default=5)
    add(verb, "--retriever", "bm25|dense|hybrid", RETRIEVER)
    add(
        verb,
        "--embedder",
        "MODEL",
        "the embedding model of the questions (default: the index's own)",
    )
    add(
        verb,
        "--book",
        "N",
        "maximum number of characters of a book in long-context (default: the model's limit)",
    )
    text = "a LoRA adapter for the hf: model LABEL (default: for all hf: models); repeatable"
    add(verb, "--adapter", "[LABEL=]FOLDER", text)
    add(verb, "--temperature", "T", "temperature of the answers (default: 0)", default=0.0)
    add(
        verb,
        "--max-answer",
        "N",
        "maximum number of tokens of a freeform answer (default: 256)",
        default=256,
    )
    add(
        verb,
        "--seed",
        "N",
        "seed of all sampling (default: 0)",
        type=int,
        default=0,
    )
    text = "also ask each model to complete the items' texts from the first halves; write these examples to this file"
    add(verb, "--contamination", "FILE", text)
    add(verb, "--limit", "N", "use only the first N items")
    add_options(verb, ScoringOptions, ("prompts",))
    add(
        verb,
        "--dry-run",
        "",
        "check items, books and models, and print the maximum number of calls; send nothing",
    )
    add_calls(verb)


def train(verbs: Any) -> None:
    text = "Train a LoRA adapter of a transformers model on books, or on the items of a benchmark."
    verb = add_verb(verbs, "train", None, text)
    actions = verb.add_subparsers(dest="action", required=True, metavar="pretrain|finetune")
    dry = "read the model and the data, and print the numbers of sequences and steps; do not train"
    for name, text in (
        ("pretrain", "Continue pre-training on books. The validation loss is on other books."),
        (
            "finetune",
            "Fine-tune on questions with their correct answers, with the prompts of `benchmark run`.",
        ),
    ):
        verb = add_verb(actions, name, f"{CLI}.train:{name}", text)
        add(
            verb,
            "config",
            "FILE.yaml",
            "model, data, hyper-parameters, and the folder for the adapter",
        )
        add(verb, "--dry-run", "", dry)
        add(verb, "--quiet", "", "show no progress")


def validator(verbs: Any) -> None:
    text = "Learn from experts which items of a benchmark are valid."
    verb = add_verb(verbs, "validator", None, text)
    verb.set_defaults(extra="train")
    actions = verb.add_subparsers(
        dest="action", required=True, metavar="train|label|apply|next|estimate"
    )
    _validator_train(actions)
    _validator_label(actions)
    _validator_apply(actions)
    _validator_next(actions)
    _validator_estimate(actions)


def _validator_train(actions: Any) -> None:
    text = "Train a validator on experts' labels, and measure it on held-out items."
    verb = add_verb(actions, "train", f"{CLI}.validator:train", text)
    add(verb, "labels", "LABELS", _LABELS, type=Path)
    add_options(verb, ValidityColumns)
    add(verb, "--out", "VALIDATOR", "the folder to write", required=True, type=Path)
    text = "the benchmark of the labelled items; it has their passages, parents and audit marks"
    add(verb, "--benchmark", "BENCH", text, type=Path)
    add(verb, "--cloze", "", "learn from cloze labels which word to leave out")
    add(verb, "--embedder", "MODEL", "the embedding model (default: embedded)", default="embedded")
    add(verb, "--judge", "MODEL", "also measure this judge, without training (zero-shot)")
    add(
        verb,
        "--threshold",
        "P",
        "minimum probability of a valid item (default: 0.5)",
        type=share,
        default=0.5,
    )
    balance = "how classes are balanced: weights, or undersampling as in ClimaQA (default: weights)"
    add(
        verb,
        "--balance",
        "weights|undersample",
        balance,
        choices=["weights", "undersample"],
        default="weights",
    )
    splits = "train-test splits for the precision, 1 to 5 (default: 5)"
    add(verb, "--splits", "N", splits, choices=range(1, 6), default=5)
    add(verb, "--curves", "N", "seeds of the learning curves (default: 5)", default=5)
    add(
        verb,
        "--hosted",
        "DIR",
        "also write files for hosted fine-tuning to this folder (OpenAI's chat format)",
    )
    add(verb, "--seed", "N", "seed of all sampling (default: 0)", type=int, default=0)
    _add_judging(verb)


def _validator_label(actions: Any) -> None:
    text = "Set experts' labels on the items of a benchmark; needs no validator."
    verb = add_verb(actions, "label", f"{CLI}.validator:label", text)
    add(verb, "benchmark", "BENCH", _BENCH, type=Path)
    add(verb, "labels", "LABELS", _LABELS, type=Path)
    add_options(verb, ValidityColumns)
    add(verb, "--out", "BENCH2", "a folder, or a file of items, to write", required=True, type=Path)


def _validator_apply(actions: Any) -> None:
    verb = _using(actions, "apply", f"{CLI}.validator:apply", "Mark items as valid or invalid.")
    add(
        verb,
        "--out",
        "BENCH2",
        "the folder, or the file of items, to write",
        required=True,
        type=Path,
    )
    add(
        verb,
        "--threshold",
        "P",
        "minimum probability of a valid item (default: the validator's)",
        type=share,
    )
    judge = (
        "use this judge instead of the linear model: zero-shot, or fine-tuned on the --hosted files"
    )
    add(verb, "--judge", "MODEL", judge)
    add(
        verb,
        "--labels",
        "LABELS",
        "labels of some of the items: print the precision on them",
        type=Path,
    )
    _add_judging(verb)


def _validator_next(actions: Any) -> None:
    verb = _using(
        actions, "next", f"{CLI}.validator:next_", "List the items that experts should label next."
    )
    add(verb, "--n", "N", "number of items (default: 20)", default=20)
    add(
        verb,
        "--labels",
        "LABELS",
        "labels that you already have; their items are not listed",
        type=Path,
    )
    out = "the file to write, .csv or .jsonl, for `priorities` in a study of `longmark annotate`"
    add(verb, "--out", "FILE", out, required=True)
    above = "as in ClimaQA: keep the benchmark's order, drop half of the items above this confidence (paper: 0.85)"
    add(verb, "--drop-above", "P", above, type=share)
    add(verb, "--seed", "N", "seed of the draw of --drop-above (default: 0)", type=int, default=0)
    add_calls(verb)


def _validator_estimate(actions: Any) -> None:
    text = "Estimate the share of valid items from few labels and the validator's probabilities."
    verb = _using(actions, "estimate", f"{CLI}.validator:estimate", text)
    add(
        verb,
        "--labels",
        "LABELS",
        f"labels of a random sample: {_LABELS}",
        required=True,
        type=Path,
    )
    add_calls(verb)


def _using(actions: Any, name: str, function: str, text: str) -> argparse.ArgumentParser:
    verb = add_verb(actions, name, function, text)
    add(verb, "validator", "VALIDATOR", "a folder of `longmark validator train`", type=Path)
    add(verb, "benchmark", "BENCH", _BENCH, type=Path)
    add(verb, "--embedder", "MODEL", "the embedding model (default: the validator's)")
    add_options(verb, ValidityColumns)
    return verb


def _add_judging(verb: argparse.ArgumentParser) -> None:
    text = "how the judge is read: probabilities of its first token, or the word it writes (default: expected)"
    add(verb, "--scoring", "expected|text", text, choices=["expected", "text"], default="expected")
    add_options(verb, ScoringOptions, ("prompts",))
    add_calls(verb)

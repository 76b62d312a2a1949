"""The verbs that make examples, pairs and benchmarks, and that train, with their options. What a verb does is in the
module that it names, which is imported only where the verb is called."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.cli.arguments import (
    add,
    add_answers,
    add_calls,
    add_input,
    add_options,
    add_prompts,
    add_verb,
    share,
    whole,
)
from longmark.options import option
from longmark.options.groups import ScoringOptions

_CLI = "longmark.contrib.make.cli"
_EXAMPLES = "the examples to write: .jsonl, .csv, .tsv or .parquet"
_PAIRS = _EXAMPLES.replace("examples", "pairs")
_BENCH = "a folder of `longmark benchmark generate` or `export`, or a file of items"
_LABELS_MAP = (
    "read item, rater, validity or another field of LABELS from this column or path; repeatable"
)
_LABELS = "training.jsonl of `longmark annotate export`, or items with status valid or invalid"
_RETRIEVER = "how passages are found (default: dense if the index has vectors, else bm25)"


@dataclass(frozen=True)
class NuggetOptions:
    """nuggets"""

    out: str | None = option(None, "the nuggets to write: .jsonl, a line for each question", "FILE")
    generator: str | None = option(None, "the model that lists and weighs the facts", "MODEL")
    checker: str | None = option(
        None,
        "what decides whether two facts say the same, so that one of them stays: embedded or a model (default: only "
        "equal words do)",
        "MODEL",
    )


def questions(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "questions",
        f"{_CLI}.questions:questions",
        "Sample questions of a domain: examples without answers.",
    )
    add(verb, "--n", "N", "number of questions to sample", required=True)
    add(verb, "--out", "FILE", _EXAMPLES, required=True)
    add(verb, "--seed", "N", "seed of the sample (default: 0)", type=int, default=0)
    add_options(verb, ScoringOptions, ("domain",))


def vary(verbs: Any) -> None:
    text = "Make variants of questions: paraphrases by a model, perturbations from the domain's tables."
    verb = add_verb(verbs, "vary", f"{_CLI}.questions:vary", text)
    add(verb, "questions", "QUESTIONS", "the examples to vary, with their profiles")
    add(verb, "--out", "FILE", _EXAMPLES, required=True)
    add(verb, "--generator", "MODEL", "the model that paraphrases; perturbations need no model")
    add(verb, "--variants", "NAME,…", "the variants to make (default: all of the domain)")
    add(
        verb, "--seed", "N", "seed of the values in perturbations (default: 0)", type=int, default=0
    )
    add_prompts(verb)
    add_input(verb)
    add_calls(verb)


def defects(verbs: Any) -> None:
    text = "Make known defects in good answers, each with a proof of what was changed."
    verb = add_verb(verbs, "defects", f"{_CLI}.defects:defects", text)
    add(verb, "questions", "EXAMPLES", "the examples with good answers, and their passages")
    add(
        verb, "--out", "FILE", f"{_EXAMPLES}: each answer with its defects behind it", required=True
    )
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
        "seed of the places and of what stands there (default: 0)",
        type=whole,
        default=0,
    )
    add_options(verb, ScoringOptions, ("prompts",))
    add(verb, "--dry-run", "", "print the maximum number of calls; send nothing")
    add_input(verb)
    add_calls(verb)


def dataset(verbs: Any) -> None:
    text = "Convert a published data set with human labels into examples, or into pairs of answers."
    verb = add_verb(verbs, "dataset", f"{_CLI}.questions:dataset", text)
    names = "wikicontradict, conflictbank, haluquestqa or eli5; with pairs: lfqa-e, haluquestqa-pairs or llmbar"
    add(verb, "name", "NAME", names)
    add(
        verb,
        "file",
        "FILE",
        "the data set's file, as published: .jsonl, .json, .csv, .tsv or .parquet",
    )
    add(verb, "--out", "FILE", _EXAMPLES.replace("examples", "examples or pairs"), required=True)
    add(verb, "--n", "N", "sample N records (default: all)")
    add(verb, "--seed", "N", "seed of the sample (default: 0)", type=int, default=0)
    add(
        verb,
        "--labels",
        "FILE",
        "haluquestqa: also write the experts' labels for longmark metaeval: .csv or .tsv",
    )


def rag(verbs: Any) -> None:
    rag = add_verb(
        verbs,
        "rag",
        None,
        "Index documents, and answer questions from them. Writes examples to score.",
    )
    actions = rag.add_subparsers(dest="action", required=True, metavar="index|answer|grid|nuggets")

    text = "Make an index of documents: passages for BM25, and vectors if there is an embedder."
    verb = add_verb(actions, "index", f"{_CLI}.rag:index", text)
    add(
        verb,
        "documents",
        "DOCS",
        "a folder of documents of any kind that docs/rag.md lists, or one such file",
    )
    add(verb, "--out", "IDX", "the folder of the index", required=True)
    add(
        verb, "--embedder", "MODEL", "the model that embeds the passages (default: none, BM25 only)"
    )
    add(
        verb,
        "--chunk",
        "N",
        "maximum length of a passage (default: 1200; 0: documents are not split)",
        type=whole,
        default=1200,
    )
    add(
        verb,
        "--overlap",
        "N",
        "maximum overlap of two passages (default: 150)",
        type=whole,
        default=150,
    )
    unit = "unit of --chunk and --overlap (default: characters)"
    add(verb, "--unit", "characters|tokens", unit, default="characters")
    add(verb, "--tokenizer", "FILE", "a tokenizer.json for --unit tokens (default: the embedder's)")
    add(verb, "--k1", "X", "BM25: weight of repeated words (default: 1.5)", type=float, default=1.5)
    add(
        verb,
        "--b",
        "X",
        "BM25: weight of the passage's length, 0 to 1 (default: 0.75)",
        type=float,
        default=0.75,
    )
    text = "text before each embedded question, such as 'query: ' of E5 models (default: none)"
    add(verb, "--query-instruction", "TEXT", text, default="")
    text = "text before each embedded passage, such as 'passage: ' (default: none)"
    add(verb, "--passage-instruction", "TEXT", text, default="")
    add(
        verb,
        "--map",
        "FIELD=COLUMN",
        "read id, title or text of records from this column; repeatable",
    )
    add(verb, "--approximate", "", "search the vectors approximately, with faiss")
    add(verb, "--skip-bad", "", "skip unreadable documents instead of stopping")
    add_calls(verb)

    verb = add_verb(
        actions,
        "answer",
        f"{_CLI}.rag:answer",
        "Answer questions from an index, and write examples to score.",
    )
    add(verb, "--out", "FILE", _EXAMPLES, required=True)
    add(verb, "--generator", "MODEL", "the model that writes the answers", required=True)
    add(verb, "--retriever", "bm25|dense|hybrid", _RETRIEVER)
    add(verb, "--originals", "FILE", "answered examples: the originals of the variants")
    _add_answering(verb, k=5, temperature=0.1, max_answer=1024)

    text = "Answer questions with every retriever and reader, and write a file of examples for each pair."
    verb = add_verb(actions, "grid", f"{_CLI}.rag:grid", text)
    add(verb, "--out", "DIR", "the folder of the files RETRIEVER__READER.jsonl", required=True)
    add(
        verb,
        "--retrievers",
        "NAME,…",
        "one or several of bm25, dense and hybrid",
        default=None,
        required=True,
    )
    add(
        verb,
        "--reader",
        "[LABEL=]MODEL",
        "a model that writes answers; repeatable",
        default=None,
        required=True,
    )
    _add_answering(verb, k=20, temperature=0.0, max_answer=2048)

    text = (
        "List the facts that a good answer to each question holds, from the passages of examples."
    )
    verb = add_verb(actions, "nuggets", f"{_CLI}.nuggets:nuggets", text)
    add(verb, "questions", "EXAMPLES", "examples with questions and contexts")
    add_options(verb, NuggetOptions, ("out", "generator"), titled=False, required=True)
    add_options(verb, NuggetOptions, ("checker",), titled=False)
    add_prompts(verb)
    add_input(verb)
    add_calls(verb)


def _add_answering(
    verb: argparse.ArgumentParser, k: int, temperature: float, max_answer: int
) -> None:
    add(verb, "questions", "QUESTIONS", "examples without answers; variants may be among them")
    add(verb, "--index", "IDX", "an index of `longmark rag index`", required=True)
    add(
        verb,
        "--embedder",
        "MODEL",
        "the model that embeds the questions (default: the index's own)",
    )
    add(verb, "--k", "N", f"passages for each question (default: {k})", default=k)
    add(verb, "--citations", "", "ask for the numbers of passages in the answer")
    everything = "ask for everything that the passages say about the question, with every view; the profile is not used"
    add(verb, "--comprehensive", "", everything)
    add_answers(verb, temperature, max_answer)
    seed = "seed of the answers: another one draws other samples (default: 0)"
    add(verb, "--seed", "N", seed, type=int, default=0)
    add_prompts(verb)
    add_input(verb)
    add_calls(verb)


def pairs(verbs: Any) -> None:
    pairs = add_verb(
        verbs, "pairs", None, "Make pairs of answers, from two runs or from questions."
    )
    actions = pairs.add_subparsers(dest="action", required=True, metavar="join|build")
    verb = add_verb(
        actions,
        "join",
        f"{_CLI}.pairs:join",
        "Pair the answers of two runs (or files of examples) by question.",
    )
    add(verb, "one", "RUN", "a run folder or a file of examples")
    add(verb, "other", "RUN", "another one, with answers to the same questions")
    add(verb, "--out", "FILE", _PAIRS, required=True)
    add(
        verb,
        "--map",
        "FIELD=COLUMN",
        "read a field of both files from this column or path; repeatable",
    )
    add(
        verb,
        "--keep-order",
        "",
        "the first run is always a (default: drawn; each system is a in half of the pairs)",
    )
    add(verb, "--seed", "N", "seed of that draw (default: 0)", type=int, default=0)
    add(verb, "--skip-bad", "", "skip bad records instead of stopping")

    text = "Make pairs from questions: answers of models, expanded references, categories, translations."
    verb = add_verb(actions, "build", f"{_CLI}.pairs:build", text)
    add(
        verb,
        "questions",
        "QUESTIONS",
        "a file of questions, with references; a line can also have an answer",
    )
    add(verb, "--out", "FILE", _PAIRS, required=True)
    writers = "a model that answers; repeatable. The first one also translates and expands"
    add(verb, "--generator", "[LABEL=]MODEL", writers, action="append", default=[])
    add(verb, "--judge", "MODEL", "the model that checks expanded references and names categories")
    add(verb, "--expand", "", "rewrite references as prose; kept if no key point is added or lost")
    add(verb, "--categories", "", "name the category of each question, one of seven")
    add(
        verb, "--translate", "LANGUAGE", "translate everything into this language first", default=""
    )
    add(verb, "--modes", "MODE,…", "human/human, human/model, model/model (default: all)")
    add(
        verb,
        "--per-question",
        "N",
        "maximum number of pairs of each mode for a question (default: all)",
    )
    add(verb, "--temperature", "T", "temperature of the answers (default: 0.7)", default=0.7)
    add(
        verb,
        "--max-answer",
        "N",
        "maximum number of tokens of an answer (default: 1024)",
        default=1024,
    )
    add(
        verb,
        "--seed",
        "N",
        "seed of answers, of draws and of sides (default: 0)",
        type=int,
        default=0,
    )
    add_options(verb, ScoringOptions, ("prompts",))
    add(verb, "--dry-run", "", "print the maximum number of calls; send nothing")
    add_input(verb)
    add_calls(verb)


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
    verb = add_verb(actions, "generate", f"{_CLI}.benchmark_generate:generate", text)
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
    seed = "seed of the order of seed passages, of writing and of shuffles (default: 0)"
    add(verb, "--seed", "N", seed, type=int, default=0)
    text = "drop what this validator calls invalid, and rewrite only base questions that it calls valid"
    add(verb, "--validator", "VALIDATOR", text, type=Path)
    add_options(verb, ScoringOptions, ("prompts",))
    add(verb, "--dry-run", "", "print books, chunks and the number of calls; send nothing")
    add_calls(verb)


def _benchmark_export(actions: Any) -> None:
    text = "Print statistics of a benchmark: items, dropped items with reasons, coverage, keys, readability."
    verb = add_verb(actions, "figures", f"{_CLI}.benchmark_export:figures", text)
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
    verb = add_verb(actions, "export", f"{_CLI}.benchmark_export:export", text)
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
    verb = add_verb(actions, "run", f"{_CLI}.benchmark_run:run", text)
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
    add(verb, "--out", "FILE", _EXAMPLES, required=True)
    add(verb, "--k", "N", "passages in rag-source and rag-held-out (default: 4)", default=4)
    add(verb, "--shots", "N", "examples in few-shot (default: 5)", default=5)
    add(verb, "--retriever", "bm25|dense|hybrid", _RETRIEVER)
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
        "seed of the answers and of the order of few-shot examples (default: 0)",
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
        verb = add_verb(actions, name, f"{_CLI}.train:{name}", text)
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
    text = "Train a validator on experts' labels, and measure it on held-out items."
    verb = add_verb(actions, "train", f"{_CLI}.validator:train", text)
    add(verb, "labels", "LABELS", _LABELS, type=Path)
    add(verb, "--map", "FIELD=COLUMN", _LABELS_MAP)
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
    add(verb, "--seed", "N", "seed of splits and draws (default: 0)", type=int, default=0)
    _add_judging(verb)

    text = "Set experts' labels on the items of a benchmark; needs no validator."
    verb = add_verb(actions, "label", f"{_CLI}.validator:label", text)
    add(verb, "benchmark", "BENCH", _BENCH, type=Path)
    add(verb, "labels", "LABELS", _LABELS, type=Path)
    add(verb, "--map", "FIELD=COLUMN", _LABELS_MAP)
    add(verb, "--out", "BENCH2", "a folder, or a file of items, to write", required=True, type=Path)

    verb = _using(actions, "apply", f"{_CLI}.validator:apply", "Mark items as valid or invalid.")
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
    verb = _using(
        actions, "next", f"{_CLI}.validator:next_", "List the items that experts should label next."
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
    text = "Estimate the share of valid items from few labels and the validator's probabilities."
    verb = _using(actions, "estimate", f"{_CLI}.validator:estimate", text)
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
    add(verb, "--map", "FIELD=COLUMN", _LABELS_MAP)
    return verb


def _add_judging(verb: argparse.ArgumentParser) -> None:
    text = "how the judge is read: probabilities of its first token, or the word it writes (default: expected)"
    add(verb, "--scoring", "expected|text", text, choices=["expected", "text"], default="expected")
    add_options(verb, ScoringOptions, ("prompts",))
    add_calls(verb)

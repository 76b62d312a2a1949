"""What makes examples, pairs and benchmarks: the verbs and their options. What a verb does is in the module that it
names, which is imported only where the verb is called."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from longmark.cli.arguments import add, add_answers, add_calls, add_input, add_options, add_prompts, add_verb, whole
from longmark.options.groups import ScoringOptions

_EXAMPLES = "the examples to write: .jsonl, .csv, .tsv or .parquet"
_PAIRS = _EXAMPLES.replace("examples", "pairs")
_BENCH = "a folder of `longmark benchmark generate` or `export`, or a file of items"
_RETRIEVER = "how passages are found (default: dense if the index has vectors, else bm25)"


def _questions(verbs: Any) -> None:
    one = add_verb(verbs, "questions", "questions:questions", "Sample questions of a domain: examples without answers.")
    add(one, "--n", "N", "number of questions to sample", required=True)
    add(one, "--out", "FILE", _EXAMPLES, required=True)
    add(one, "--seed", "N", "seed of the sample (default: 0)", type=int, default=0)
    add_options(one, ScoringOptions, ("domain",))

    text = "Make variants of questions: paraphrases by a model, perturbations from the domain's tables."
    one = add_verb(verbs, "vary", "questions:vary", text)
    add(one, "questions", "QUESTIONS", "the examples to vary, with their profiles")
    add(one, "--out", "FILE", _EXAMPLES, required=True)
    add(one, "--generator", "MODEL", "the model that paraphrases; perturbations need no model")
    add(one, "--variants", "NAME,…", "the variants to make (default: all of the domain)")
    add(one, "--seed", "N", "seed of the values in perturbations (default: 0)", type=int, default=0)
    add_prompts(one)
    add_input(one)
    add_calls(one)

    text = "Make known defects in good answers, each with a proof of what was changed."
    one = add_verb(verbs, "defects", "defects:defects", text)
    add(one, "questions", "EXAMPLES", "the examples with good answers, and their passages")
    add(one, "--out", "FILE", f"{_EXAMPLES}: each answer with its defects behind it", required=True)
    kinds = "the kinds of defects (default: all that a rule makes; docs/defects.md lists them)"
    add(one, "--kinds", "NAME,…", kinds)
    strength = "how many places of an answer are changed (2), or which share of them (50%%); default: 1,50%%"
    add(one, "--strength", "N|SHARE,…", strength)
    add(one, "--language", "en|de|zh", "the language of all answers (default: that of each is recognised)", default="")
    add(one, "--generator", "MODEL", "the model that writes contradictions and texts on another topic")
    add(one, "--judge", "MODEL", "the model that checks what the generator wrote")
    add(one, "--seed", "N", "seed of the places and of what stands there (default: 0)", type=whole, default=0)
    add_options(one, ScoringOptions, ("prompts",))
    add(one, "--dry-run", "", "print the maximum number of calls; send nothing")
    add_input(one)
    add_calls(one)

    text = "Convert a published data set with human labels into examples, or into pairs of answers."
    one = add_verb(verbs, "dataset", "questions:dataset", text)
    names = "wikicontradict, conflictbank, haluquestqa or eli5; with pairs: lfqa-e, haluquestqa-pairs or llmbar"
    add(one, "name", "NAME", names)
    add(one, "file", "FILE", "the data set's file, as published: .jsonl, .json, .csv, .tsv or .parquet")
    add(one, "--out", "FILE", _EXAMPLES.replace("examples", "examples or pairs"), required=True)
    add(one, "--n", "N", "sample N records (default: all)")
    add(one, "--seed", "N", "seed of the sample (default: 0)", type=int, default=0)
    add(one, "--labels", "FILE", "haluquestqa: also write the experts' labels for longmark metaeval: .csv or .tsv")


def _rag(verbs: Any) -> None:
    rag = add_verb(verbs, "rag", None, "Index documents, and answer questions from them. Writes examples to score.")
    actions = rag.add_subparsers(dest="action", required=True, metavar="index|answer|grid")

    text = "Make an index of documents: passages for BM25, and vectors if there is an embedder."
    one = add_verb(actions, "index", "rag:index", text)
    add(one, "documents", "DOCS", "a folder of text, PDF and record files, or one such file")
    add(one, "--out", "IDX", "the folder of the index", required=True)
    add(one, "--embedder", "MODEL", "the model that embeds the passages (default: none, BM25 only)")
    add(
        one,
        "--chunk",
        "N",
        "maximum length of a passage (default: 1200; 0: documents are not split)",
        type=whole,
        default=1200,
    )
    add(one, "--overlap", "N", "maximum overlap of two passages (default: 150)", type=whole, default=150)
    unit = "unit of --chunk and --overlap (default: characters)"
    add(one, "--unit", "characters|tokens", unit, default="characters")
    add(one, "--tokenizer", "FILE", "a tokenizer.json for --unit tokens (default: the embedder's)")
    add(one, "--k1", "X", "BM25: weight of repeated words (default: 1.5)", type=float, default=1.5)
    add(one, "--b", "X", "BM25: weight of the passage's length, 0 to 1 (default: 0.75)", type=float, default=0.75)
    text = "text before each embedded question, such as 'query: ' of E5 models (default: none)"
    add(one, "--query-instruction", "TEXT", text, default="")
    text = "text before each embedded passage, such as 'passage: ' (default: none)"
    add(one, "--passage-instruction", "TEXT", text, default="")
    add(one, "--map", "FIELD=COLUMN", "read id, title or text of records from this column; repeatable")
    add(one, "--approximate", "", "search the vectors approximately, with faiss")
    add(one, "--skip-bad", "", "skip unreadable documents instead of stopping")
    add_calls(one)

    one = add_verb(actions, "answer", "rag:answer", "Answer questions from an index, and write examples to score.")
    add(one, "--out", "FILE", _EXAMPLES, required=True)
    add(one, "--generator", "MODEL", "the model that writes the answers", required=True)
    add(one, "--retriever", "bm25|dense|hybrid", _RETRIEVER)
    add(one, "--originals", "FILE", "answered examples: the originals of the variants")
    _add_answering(one, k=5, temperature=0.1, max_answer=1024)

    text = "Answer questions with every retriever and reader, and write a file of examples for each pair."
    one = add_verb(actions, "grid", "rag:grid", text)
    add(one, "--out", "DIR", "the folder of the files RETRIEVER__READER.jsonl", required=True)
    add(one, "--retrievers", "NAME,…", "one or several of bm25, dense and hybrid", default=None, required=True)
    add(one, "--reader", "[LABEL=]MODEL", "a model that writes answers; repeatable", default=None, required=True)
    _add_answering(one, k=20, temperature=0.0, max_answer=2048)


def _add_answering(one: argparse.ArgumentParser, k: int, temperature: float, max_answer: int) -> None:
    add(one, "questions", "QUESTIONS", "examples without answers; variants may be among them")
    add(one, "--index", "IDX", "an index of `longmark rag index`", required=True)
    add(one, "--embedder", "MODEL", "the model that embeds the questions (default: the index's own)")
    add(one, "--k", "N", f"passages for each question (default: {k})", default=k)
    add(one, "--citations", "", "ask for the numbers of passages in the answer")
    everything = "ask for everything that the passages say about the question, with every view; the profile is not used"
    add(one, "--comprehensive", "", everything)
    add_answers(one, temperature, max_answer)
    seed = "seed of the answers: another one draws other samples (default: 0)"
    add(one, "--seed", "N", seed, type=int, default=0)
    add_prompts(one)
    add_input(one)
    add_calls(one)


def _pairs(verbs: Any) -> None:
    pairs = add_verb(verbs, "pairs", None, "Make pairs of answers, from two runs or from questions.")
    actions = pairs.add_subparsers(dest="action", required=True, metavar="join|build")
    one = add_verb(actions, "join", "pairs:join", "Pair the answers of two runs (or files of examples) by question.")
    add(one, "one", "RUN", "a run folder or a file of examples")
    add(one, "other", "RUN", "another one, with answers to the same questions")
    add(one, "--out", "FILE", _PAIRS, required=True)
    add(one, "--map", "FIELD=COLUMN", "read a field of both files from this column or path; repeatable")
    add(one, "--keep-order", "", "the first run is always a (default: drawn; each system is a in half of the pairs)")
    add(one, "--seed", "N", "seed of that draw (default: 0)", type=int, default=0)
    add(one, "--skip-bad", "", "skip bad records instead of stopping")

    text = "Make pairs from questions: answers of models, expanded references, categories, translations."
    one = add_verb(actions, "build", "pairs:build", text)
    add(one, "questions", "QUESTIONS", "a file of questions, with references; a line can also have an answer")
    add(one, "--out", "FILE", _PAIRS, required=True)
    writers = "a model that answers; repeatable. The first one also translates and expands"
    add(one, "--generator", "[LABEL=]MODEL", writers, action="append", default=[])
    add(one, "--judge", "MODEL", "the model that checks expanded references and names categories")
    add(one, "--expand", "", "rewrite references as prose; kept if no key point is added or lost")
    add(one, "--categories", "", "name the category of each question, one of seven")
    add(one, "--translate", "LANGUAGE", "translate everything into this language first", default="")
    add(one, "--modes", "MODE,…", "human/human, human/model, model/model (default: all)")
    add(one, "--per-question", "N", "maximum number of pairs of each mode for a question (default: all)")
    add(one, "--temperature", "T", "temperature of the answers (default: 0.7)", default=0.7)
    add(one, "--max-answer", "N", "maximum number of tokens of an answer (default: 1024)", default=1024)
    add(one, "--seed", "N", "seed of answers, of draws and of sides (default: 0)", type=int, default=0)
    add_options(one, ScoringOptions, ("prompts",))
    add(one, "--dry-run", "", "print the maximum number of calls; send nothing")
    add_input(one)
    add_calls(one)


def _benchmark(verbs: Any) -> None:
    text = "Make benchmarks of questions from books, audit and export them, and run models on them."
    benchmark = add_verb(verbs, "benchmark", None, text)
    actions = benchmark.add_subparsers(dest="action", required=True, metavar="generate|figures|export|run")
    for add_some in (_benchmark_generate, _benchmark_export, _benchmark_run):
        add_some(actions)


def _benchmark_generate(actions: Any) -> None:
    text = "Write questions about the content of books, in three forms and on three levels, and audit them. Resumable."
    one = add_verb(actions, "generate", "benchmark_generate:generate", text)
    add(one, "books", "BOOKS", "PDF, EPUB, HTML, Markdown or text files, or folders of them", nargs="+", type=Path)
    add(one, "--topic", "FILE.yaml", "the benchmark's subject, readers, forms and levels", required=True)
    add(one, "--out", "DIR", "the benchmark's folder; repeat the same command to resume it", required=True)
    add(one, "--generator", "MODEL", "the model that writes the items and audits them", required=True)
    nearest = "the embedding model that finds a seed's neighbours and near duplicates, or none (default: embedded)"
    add(one, "--embedder", "MODEL", nearest, default="embedded")
    usable = "usable items of each form and level (default: 10); you can increase it when you resume"
    add(one, "--n", "N", usable, default=10)
    chunks = one.add_argument_group("chunks")
    add(chunks, "--chunk", "N", "maximum number of characters of a chunk (default: 2000)", default=2000)
    add(chunks, "--overlap", "N", "maximum overlap of two chunks in characters (default: 200)", type=whole, default=200)
    add(chunks, "--k", "N", "maximum number of neighbours of a seed (default: 3)", type=whole, default=3)
    add(chunks, "--threshold", "X", "minimum cosine of a neighbour (default: 0.6)", type=float, default=0.6)
    add(chunks, "--skip-bad", "", "skip unreadable books instead of stopping")
    add(one, "--temperature", "T", "temperature of the generator when it writes (default: 0.7)", default=0.7)
    seed = "seed of the order of seed passages, of writing and of shuffles (default: 0)"
    add(one, "--seed", "N", seed, type=int, default=0)
    text = "drop what this validator calls invalid, and rewrite only base questions that it calls valid"
    add(one, "--validator", "VALIDATOR", text, type=Path)
    add_options(one, ScoringOptions, ("prompts",))
    add(one, "--dry-run", "", "print books, chunks and the number of calls; send nothing")
    add_calls(one)


def _benchmark_export(actions: Any) -> None:
    text = "Print statistics of a benchmark: items, dropped items with reasons, coverage, keys, readability."
    one = add_verb(actions, "figures", "benchmark_export:figures", text)
    add(one, "benchmark", "BENCH", _BENCH)
    text = "answer the usable items with this model, without the passages, and mark those that it answers correctly"
    add(one, "--generator", "MODEL", text)
    add(one, "--judge", "MODEL", "the model that compares freeform answers (default: the generator)")
    add(one, "--out", "FILE", "the JSON file to write (default: figures.json in the folder)")
    add_options(one, ScoringOptions, ("prompts",))
    add(one, "--dry-run", "", "print the maximum number of calls; send nothing")
    add_calls(one)

    text = "Write a benchmark as a folder to publish: data files, a dataset card, checksums."
    one = add_verb(actions, "export", "benchmark_export:export", text)
    add(one, "benchmark", "BENCH", _BENCH)
    add(one, "--out", "FOLDER", "the folder to write", required=True)
    licence = "the licence of the items, as the Hugging Face hub names it, such as cc-by-4.0"
    add(one, "--licence", "ID", licence, required=True)
    add(one, "--title", "TEXT", "the title of the card (default: the name of the benchmark)")
    add(one, "--language", "CODE,…", "the languages of the items, such as en")
    add(one, "--format", "jsonl|csv|parquet", "the format of the data files (default: jsonl)", default="jsonl")
    add(one, "--passages", "", "write the texts of the passages too; only if you may publish the books")


def _benchmark_run(actions: Any) -> None:
    text = "Ask models the questions of a benchmark, and write their answers for scoring."
    one = add_verb(actions, "run", "benchmark_run:run", text)
    add(one, "benchmark", "BENCH", _BENCH)
    add(one, "--generator", "[LABEL=]MODEL", "a model under test; repeatable", required=True)
    settings = "default, few-shot, rag-source, rag-held-out, long-context, long-context-source, long-context-held-out"
    add(one, "--setting", "NAME,…", f"what the prompt contains besides the item (default: default): {settings}")
    index = "an index of `longmark rag index`, or the folder of a benchmark:"
    add(one, "--source", "INDEX", f"{index} the books of the items")
    add(one, "--held-out", "INDEX", f"{index} other books")
    add(one, "--out", "FILE", _EXAMPLES, required=True)
    add(one, "--k", "N", "passages in rag-source and rag-held-out (default: 4)", default=4)
    add(one, "--shots", "N", "examples in few-shot (default: 5)", default=5)
    add(one, "--retriever", "bm25|dense|hybrid", _RETRIEVER)
    add(one, "--embedder", "MODEL", "the embedding model of the questions (default: the index's own)")
    add(one, "--book", "N", "maximum number of characters of a book in long-context (default: the model's limit)")
    text = "a LoRA adapter for the hf: model LABEL (default: for all hf: models); repeatable"
    add(one, "--adapter", "[LABEL=]FOLDER", text)
    add(one, "--temperature", "T", "temperature of the answers (default: 0)", default=0.0)
    add(one, "--max-answer", "N", "maximum number of tokens of a freeform answer (default: 256)", default=256)
    add(
        one,
        "--seed",
        "N",
        "seed of the answers and of the order of few-shot examples (default: 0)",
        type=int,
        default=0,
    )
    text = "also ask each model to complete the items' texts from the first halves; write these examples to this file"
    add(one, "--contamination", "FILE", text)
    add(one, "--limit", "N", "use only the first N items")
    add_options(one, ScoringOptions, ("prompts",))
    add(one, "--dry-run", "", "check items, books and models, and print the maximum number of calls; send nothing")
    add_calls(one)


GROUPS = (_questions, _rag, _pairs, _benchmark)

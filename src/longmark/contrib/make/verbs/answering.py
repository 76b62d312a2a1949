"""The verbs `rag` and `pairs`: answers of systems, and pairs of them, with their options."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from longmark.cli.arguments import (
    add,
    add_answers,
    add_calls,
    add_input,
    add_options,
    add_prompts,
    add_verb,
    whole,
)
from longmark.options import option
from longmark.options.groups import DryRunOption, ScoringOptions

CLI = "longmark.contrib.make.cli"
EXAMPLES = "the examples to write: .jsonl, .csv, .tsv or .parquet"
_PAIRS = EXAMPLES.replace("examples", "pairs")
RETRIEVER = "how passages are found (default: dense if the index has vectors, else bm25)"


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


def rag(verbs: Any) -> None:
    rag = add_verb(
        verbs,
        "rag",
        None,
        "Index documents, and answer questions from them. Writes examples to score.",
    )
    actions = rag.add_subparsers(dest="action", required=True, metavar="index|answer|grid|nuggets")

    text = "Make an index of documents: passages for BM25, and vectors if there is an embedder."
    verb = add_verb(actions, "index", f"{CLI}.rag:index", text)
    add(
        verb,
        "documents",
        "DOCS",
        "a folder of documents of any kind that docs/rag.md lists, or one such file",
    )
    add(verb, "--out", "IDX", "the folder of the index (required, unless --dry-run)")
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
    text = "print what would be read of each file, and what left out; make no index"
    add_options(verb, DryRunOption, titled=False, help={"dry_run": text})
    add_calls(verb)

    verb = add_verb(
        actions,
        "answer",
        f"{CLI}.rag:answer",
        "Answer questions from an index, and write examples to score.",
    )
    add(verb, "--out", "FILE", EXAMPLES, required=True)
    add(verb, "--generator", "MODEL", "the model that writes the answers", required=True)
    add(verb, "--retriever", "bm25|dense|hybrid", RETRIEVER)
    add(verb, "--originals", "FILE", "answered examples: the originals of the variants")
    _add_answering(verb, k=5, temperature=0.1, max_answer=1024)

    text = "Answer questions with every retriever and reader, and write a file of examples for each pair."
    verb = add_verb(actions, "grid", f"{CLI}.rag:grid", text)
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
    verb = add_verb(actions, "nuggets", f"{CLI}.nuggets:nuggets", text)
    add(verb, "questions", "EXAMPLES", "examples with questions, and contexts or sources")
    add_options(verb, NuggetOptions, ("out", "generator"), titled=False, required=True)
    add_options(verb, NuggetOptions, ("checker",), titled=False)
    text = "print the maximum number of calls; send nothing"
    add_options(verb, DryRunOption, titled=False, help={"dry_run": text})
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
        f"{CLI}.pairs:join",
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
    add(verb, "--seed", "N", "seed of all sampling (default: 0)", type=int, default=0)
    add(verb, "--skip-bad", "", "skip bad records instead of stopping")

    text = "Make pairs from questions: answers of models, expanded references, categories, translations."
    verb = add_verb(actions, "build", f"{CLI}.pairs:build", text)
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
        "seed of all sampling (default: 0)",
        type=int,
        default=0,
    )
    add_options(verb, ScoringOptions, ("prompts",))
    add(verb, "--dry-run", "", "print the maximum number of calls; send nothing")
    add_input(verb)
    add_calls(verb)

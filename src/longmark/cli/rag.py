"""The verb `longmark rag`: `index` makes an index of documents, `answer` answers questions from it, `grid` does so with
several retrievers and readers.

Exit codes as for every verb; 4: the budget ended it, or no question got an answer (in a grid: of a system).
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from longmark.cli.arguments import NO_VALUE, add_calls, add_input, from_one, models_of, pairs, split, whole
from longmark.cli.terminal import Stages

if TYPE_CHECKING:
    from longmark.models.cache import CallCache
    from longmark.models.handles import Models
    from longmark.rag.answer import Answered
    from longmark.rag.generate import Generation
    from longmark.rag.grid import Reader, System
    from longmark.records.read import Reading

Done = TypeVar("Done")


def add_to(verbs: Any) -> None:
    """Adds the verb to the command line's verbs."""
    text = "Index documents, and answer questions from them: examples to mark."
    rag = verbs.add_parser("rag", help=text, description=text, allow_abbrev=False)
    actions = rag.add_subparsers(dest="action", required=True, metavar="index|answer|grid")

    one = actions.add_parser("index", help="make an index of documents", allow_abbrev=False)
    one.set_defaults(verb=index)
    one.add_argument(
        "documents", type=Path, metavar="DOCS", help="a folder of .txt, .md, .pdf, .jsonl files, or one such file"
    )
    one.add_argument("--out", type=Path, required=True, metavar="IDX", help="the folder of the index")
    one.add_argument("--embedder", metavar="MODEL", help="for vectors as well as BM25")
    one.add_argument("--chunk", type=whole, default=1200, metavar="N", help="longest passage (default: 1200; 0: uncut)")
    one.add_argument("--overlap", type=whole, default=150, metavar="N", help="what two passages share (default: 150)")
    one.add_argument("--unit", default="characters", metavar="characters|tokens", help="of both (default: characters)")
    one.add_argument("--tokenizer", type=Path, metavar="FILE", help="a tokenizer.json (default: the embedder's own)")
    one.add_argument("--approximate", action="store_true", help="search vectors approximately, by faiss")
    one.add_argument("--skip-bad", action="store_true", help="leave unreadable documents out instead of stopping")
    add_calls(one)

    one = actions.add_parser("answer", help="answer questions, and write examples", allow_abbrev=False)
    one.set_defaults(verb=answer)
    one.add_argument("questions", type=Path, metavar="QUESTIONS", help="examples without answers, variants among them")
    one.add_argument("--index", type=Path, required=True, metavar="IDX")
    one.add_argument("--out", type=Path, required=True, metavar="FILE", help=".jsonl, .csv, .tsv or .parquet")
    one.add_argument("--generator", required=True, metavar="MODEL")
    one.add_argument(
        "--retriever", metavar="bm25|dense|hybrid", help="default: dense where the index has vectors, else bm25"
    )
    one.add_argument("--originals", type=Path, metavar="FILE", help="answered examples that variants may be of")
    _add_answering(one, k=5, temperature=0.1, max_answer=1024)

    one = actions.add_parser("grid", help="answer questions with every retriever and reader", allow_abbrev=False)
    one.set_defaults(verb=grid)
    one.add_argument("questions", type=Path, metavar="QUESTIONS", help="examples without answers, variants among them")
    one.add_argument("--index", type=Path, required=True, metavar="IDX")
    one.add_argument("--out", type=Path, required=True, metavar="DIR", help="a folder: RETRIEVER__READER.jsonl each")
    one.add_argument("--retrievers", action="append", required=True, metavar="NAME,…", help="of bm25, dense and hybrid")
    one.add_argument(
        "--reader", action="append", required=True, metavar="[LABEL=]MODEL", help="may be given several times"
    )
    _add_answering(one, k=20, temperature=0.0, max_answer=2048)


def _add_answering(one: argparse.ArgumentParser, k: int, temperature: float, max_answer: int) -> None:
    """Options on how questions are read and answered."""
    one.add_argument("--embedder", metavar="MODEL", help="default: the one that the index was made with")
    one.add_argument("--k", type=from_one, default=k, metavar="N", help=f"passages for each question (default: {k})")
    one.add_argument("--citations", action="store_true", help="ask for the numbers of passages in the answer")
    one.add_argument(
        "--variant-context",
        default="own",
        metavar="own|original",
        help="passages and profile that variants are answered with (default: own)",
    )
    one.add_argument("--temperature", type=float, default=temperature, metavar="T", help=f"default: {temperature:g}")
    one.add_argument("--top-p", type=float, default=0.9, metavar="P", help="default: 0.9")
    one.add_argument(
        "--max-answer",
        type=from_one,
        default=max_answer,
        metavar="N",
        help=f"tokens of an answer (default: {max_answer})",
    )
    one.add_argument("--seed", type=int, default=0, metavar="N", help="which of several samples to draw")
    one.add_argument("--prompts", type=Path, metavar="DIR", help="a folder with ID.txt files in place of our prompts")
    one.add_argument("--domain", type=Path, metavar="FILE.yaml", help="what the profiles are of (default: hazards)")
    add_input(one)
    add_calls(one)


def index(arguments: argparse.Namespace) -> int:
    """Makes an index of documents."""
    from longmark.engine.run import finish, open_cache
    from longmark.models.registry import ModelNames
    from longmark.progress import counted
    from longmark.rag import index as rag_index
    from longmark.rag.chunk import Chunking

    chunking = Chunking(arguments.chunk, arguments.overlap, arguments.unit, arguments.tokenizer)
    cache = open_cache(arguments.cache)
    try:
        models = models_of(arguments, cache, ModelNames(embedder=arguments.embedder), ())
        built = finish(
            lambda: _then_closed(
                models,
                rag_index.build(
                    arguments.documents,
                    arguments.out,
                    models=models,
                    chunking=chunking,
                    approximate=arguments.approximate,
                    skip_bad=arguments.skip_bad,
                    tell=(lambda _what, _done, _of: None) if arguments.quiet else Stages(),
                ),
            )
        )
    finally:
        cache.close()
    for line in (*built.unread, *([built.left_out] if built.left_out else [])):
        print(line, file=sys.stderr)
    if built.bad:
        print(f"{counted(built.bad, 'document')} left out.", file=sys.stderr)
    if built.cut:
        print(
            f"{built.cut:,} of {counted(built.passages, 'passage')} are longer than the embedder reads: only their "
            "beginning is in their vectors; a smaller --chunk mends it",
            file=sys.stderr,
        )
    print(f"{counted(built.documents, 'document')}, {counted(built.passages, 'passage')}: {built.folder}")
    return 0


def answer(arguments: argparse.Namespace) -> int:
    """Answers questions from an index, and writes examples."""
    from longmark.engine.run import finish, open_cache
    from longmark.engine.settings import every_prompt
    from longmark.errors import UserError
    from longmark.models.registry import ModelNames
    from longmark.progress import counted
    from longmark.rag import answer as rag_answer
    from longmark.rag import index as rag_index
    from longmark.rag.retrieve import Retriever
    from longmark.records.read import Reading
    from longmark.records.write import WRITTEN

    if arguments.out.suffix.lower() not in WRITTEN:
        raise UserError(f"--out {arguments.out}: the suffix tells the format, one of {', '.join(WRITTEN)}")
    how = _generation(arguments)
    found = rag_index.load(arguments.index)
    embedder = arguments.embedder
    if embedder is None and found.embedder is not None and arguments.retriever != "bm25":
        embedder = found.embedder["name"]
    cache = open_cache(arguments.cache)
    try:
        models = models_of(
            arguments, cache, ModelNames(generator=arguments.generator, embedder=embedder), every_prompt()
        )
        retriever = Retriever(found, models, arguments.retriever)
        reading = _reading(arguments)
        questions = list(reading)
        originals = list(Reading(arguments.originals)) if arguments.originals else ()
        stages = Stages(len(questions))
        answered = finish(
            lambda: _then_closed(
                models,
                rag_answer.write(
                    questions,
                    arguments.out,
                    models,
                    retriever,
                    k=arguments.k,
                    how=how,
                    variant_context=arguments.variant_context,
                    originals=originals,
                    at_once=2 * arguments.concurrency,
                    on_answer=(lambda: None) if arguments.quiet else stages.one_more,
                ),
            )
        )
    finally:
        cache.close()
    _tell_bad(reading)
    _tell_lacks(answered, arguments.max_answer)
    if answered.examples:
        print(f"{counted(len(answered.examples), 'answer')}: {arguments.out}")
    return NO_VALUE if answered.stopped or not answered.examples else 0


def grid(arguments: argparse.Namespace) -> int:
    """Answers questions with every retriever and reader, and writes a file of examples for each."""
    from longmark.engine.run import finish, open_cache
    from longmark.engine.settings import every_prompt
    from longmark.models.registry import ModelNames
    from longmark.rag import grid as rag_grid
    from longmark.rag import index as rag_index

    names = rag_grid.retriever_names(split(arguments.retrievers))
    readers = rag_grid.readers_of(arguments.reader)
    how = _generation(arguments)
    found = rag_index.load(arguments.index)
    embedder = arguments.embedder
    if embedder is None and found.embedder is not None and set(names) != {"bm25"}:
        embedder = found.embedder["name"]
    cache = open_cache(arguments.cache)
    try:
        models = models_of(arguments, cache, ModelNames(embedder=embedder), every_prompt())
        retrievers = [rag_grid.Remembering(found, models, name) for name in names]
        with_readers = _with_readers(arguments, cache, models, readers)
        reading = _reading(arguments)
        questions = list(reading)
        stages, done = Stages(), Counter[str]()

        def on_answer(system: System) -> None:
            done[system.name] += 1
            if not arguments.quiet:
                stages(f"{system.name}: answers", done[system.name], len(questions))

        systems = finish(
            lambda: _then_closed(
                models,
                rag_grid.write(
                    questions,
                    arguments.out,
                    with_readers,
                    retrievers,
                    k=arguments.k,
                    how=how,
                    variant_context=arguments.variant_context,
                    at_once=2 * arguments.concurrency,
                    on_answer=on_answer,
                ),
            )
        )
    finally:
        cache.close()
    _tell_bad(reading)
    for system in systems:
        if system.answered is not None:
            _tell_lacks(system.answered, arguments.max_answer, f"{system.name}: ")
    _print_grid(systems)
    return 0 if all(system.complete for system in systems) else NO_VALUE


def _generation(arguments: argparse.Namespace) -> Generation:
    from longmark.rag.generate import Generation

    return Generation(arguments.temperature, arguments.top_p, arguments.max_answer, arguments.citations, arguments.seed)


def _reading(arguments: argparse.Namespace) -> Reading:
    from longmark.records.read import Reading

    return Reading(
        arguments.questions,
        mapping=pairs(arguments.map, "--map FIELD=COLUMN"),
        limit=arguments.limit,
        skip_bad=arguments.skip_bad,
    )


def _with_readers(
    arguments: argparse.Namespace, cache: CallCache, models: Models, readers: Sequence[Reader]
) -> dict[str, Models]:
    """label -> the models with the reader as generator. They share the client, and so the budget."""
    from longmark.errors import UserError
    from longmark.models.registry import Registry

    registry = Registry(cache, arguments.timeout, arguments.max_reply_bytes)
    found = {}
    for reader in readers:
        try:
            generator = registry.open("generator", reader.model)
        except UserError as error:
            raise type(error)(str(error).replace("--generator", "--reader", 1)) from None
        found[reader.label] = replace(models, backends=replace(models.backends, generator=generator))
    return found


def _tell_bad(reading: Reading) -> None:
    from longmark.progress import counted

    if reading.bad:
        print(f"{counted(reading.bad, 'bad record')} left out.", file=sys.stderr)


def _tell_lacks(answered: Answered, max_answer: int, whose: str = "") -> None:
    """Says on standard error which questions got no answer, and what answers lack."""
    from longmark.progress import counted

    for left_out in answered.left_out:
        print(f"{whose}left out: {left_out}", file=sys.stderr)
    if note := answered.cut_note(max_answer):
        print(f"{whose}{note}; a larger --max-answer mends it", file=sys.stderr)
    for count, what in (
        (answered.bare, "have no passages: the retriever found none"),
        (answered.no_base, "are variants whose original has no answer here: robustness gives them no value"),
    ):
        if count:
            print(f"{whose}{counted(count, 'answer')}: they {what}", file=sys.stderr)


def _print_grid(systems: Sequence[System]) -> None:
    from longmark.report.tables import Column, Table, as_text

    heads = ("system", "answers", "left out", "cut off", "no passages", "file")
    rows = []
    for system in systems:
        it = system.answered
        counts = (len(it.examples), len(it.left_out), it.cut, it.bare) if it is not None else (None,) * 4
        what = str(system.file) if it is not None and it.examples else "not begun" if it is None else "none written"
        rows.append((system.name, *counts, what))
    print(as_text(Table("grid", "Systems", tuple(map(Column, heads)), tuple(rows))), end="")


async def _then_closed(models: Models, work: Awaitable[Done]) -> Done:
    """Waits for the work, and closes what the models have open."""
    try:
        return await work
    finally:
        for model in (models.backends.generator, models.backends.embedder):
            if model is not None:
                await model.close()

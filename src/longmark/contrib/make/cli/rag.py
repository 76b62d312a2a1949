"""The verb `longmark rag`: `index` makes an index of documents, `answer` answers questions from it, `grid` does so with
several retrievers and readers.

Exit codes as for every verb; 4: the budget ended it, or no question got an answer (in a grid: of a system).
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from longmark.cli.arguments import NO_VALUE, batching, pairs, reading, split
from longmark.cli.terminal import stage_lines
from longmark.cli.trust import trusting
from longmark.contrib.make.rag import answer as rag_answer
from longmark.contrib.make.rag import grid as rag_grid
from longmark.contrib.make.rag import index as rag_index
from longmark.contrib.make.rag.answer import Answering, RagAnswers, with_references
from longmark.contrib.make.rag.bm25 import Weights
from longmark.contrib.make.rag.chunk import Chunking
from longmark.contrib.make.rag.documents import Documents
from longmark.contrib.make.rag.generate import Generation
from longmark.contrib.make.rag.grid import System
from longmark.contrib.make.rag.index import Index
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.engine.run import finish, open_cache
from longmark.engine.settings import every_prompt
from longmark.errors import UserError
from longmark.models.budget import Budget
from longmark.models.client import Client, UsageLog
from longmark.models.handles import Models
from longmark.models.registry import Registry, price_of
from longmark.options.groups import ModelNames
from longmark.progress import counted
from longmark.prompts import PromptBook, from_folder
from longmark.records import Example
from longmark.records.read import Reading
from longmark.records.write import format_of
from longmark.report.tables import Column, Table, as_text

Done = TypeVar("Done")


def index(arguments: argparse.Namespace) -> int:
    documents = Documents(Path(arguments.documents), pairs(arguments.map, "FIELD=COLUMN"))
    indexing = rag_index.Indexing(
        Chunking(arguments.chunk, arguments.overlap, arguments.unit, arguments.tokenizer),
        Weights(arguments.k1, arguments.b),
        rag_index.Instructions(arguments.query_instruction, arguments.passage_instruction),
        arguments.approximate,
    )
    if arguments.dry_run:
        return _print_inventory(documents, indexing.chunking, arguments.skip_bad)
    if arguments.out is None:
        raise UserError("rag index: --out is required, unless --dry-run")
    with open_models(arguments, ModelNames(embedder=arguments.embedder)) as (models, _registry):
        options = {
            "models": models,
            "skip_bad": arguments.skip_bad,
            "tell": stage_lines(arguments.quiet),
        }
        built = finish_with(
            models, lambda: rag_index.build(documents, arguments.out, indexing, **options)
        )
    for line in (*built.unread, *([built.left_out] if built.left_out else [])):
        print(line, file=sys.stderr)
    if built.bad:
        print(f"{counted(built.bad, 'document')} skipped.", file=sys.stderr)
    if built.cut:
        longer = f"{built.cut:,} of {counted(built.passages, 'passage')} are longer than the embedder reads"
        print(
            f"{longer}: their vectors cover only the beginning; use a smaller --chunk",
            file=sys.stderr,
        )
    print(
        f"{counted(built.documents, 'document')}, {counted(built.passages, 'passage')}: {built.folder}"
    )
    return 0


def _print_inventory(documents: Documents, chunking: Chunking, skip_bad: bool) -> int:
    """What would become of each file. UserError where the index would be refused."""
    from longmark.contrib.make.rag.inventory import as_table, inventory

    rows = list(inventory(documents, chunking))
    print(as_text(as_table(rows)), end="")
    passages = sum(row.passages for row in rows)
    unread = sum(row.unread_count for row in rows)
    count = counted(sum(row.documents for row in rows), "document")
    print(f"{count}, {counted(passages, 'passage')}; no index was made.")
    if unread and not skip_bad:
        raise UserError(f"{unread:,} cannot be read; --skip-bad skips them.")
    if not passages:
        raise UserError("there are no documents to index; name files or folders with text as DOCS")
    return 0


def answer(arguments: argparse.Namespace) -> int:
    from longmark.contrib.make.rag.index import load

    format_of(arguments.out, "--out ")
    answering = _answering(arguments)
    loaded = load(arguments.index)
    names = _names(arguments, loaded, arguments.retriever != "bm25", generator=arguments.generator)
    with open_models(arguments, names) as (models, _registry):
        retriever = Retriever(loaded, models, arguments.retriever)
        questions = _read_asked(arguments)
        originals = list(Reading(arguments.originals).singles()) if arguments.originals else ()
        tell = stage_lines(arguments.quiet)
        counter = itertools.count(1)
        answered = finish_with(
            models,
            lambda: rag_answer.write(
                questions,
                arguments.out,
                models,
                retriever,
                answering,
                originals=originals,
                on_answer=lambda: tell("answers", next(counter), len(questions)),
            ),
        )
    _print_missing(answered, arguments.max_answer)
    if answered.examples:
        print(f"{counted(len(answered.examples), 'answer')}: {arguments.out}")
    return NO_VALUE if answered.stopped or not answered.examples else 0


def grid(arguments: argparse.Namespace) -> int:
    from longmark.contrib.make.rag.index import load

    names = rag_grid.retriever_names(split(arguments.retrievers))
    readers = rag_grid.labelled(arguments.reader)
    answering = _answering(arguments)
    loaded = load(arguments.index)
    with open_models(arguments, _names(arguments, loaded, set(names) != {"bm25"})) as (
        models,
        registry,
    ):
        retrievers = [Retriever(loaded, models, name) for name in names]
        with_readers = with_each(registry, models, readers, "--reader")
        questions = _read_asked(arguments)
        tell = stage_lines(arguments.quiet)
        counts = Counter[str]()

        def on_answer(system: System) -> None:
            counts[system.name] += 1
            tell(f"{system.name}: answers", counts[system.name], len(questions))

        systems = finish_with(
            models,
            lambda: rag_grid.write(
                questions, arguments.out, with_readers, retrievers, answering, on_answer
            ),
        )
    for system in systems:
        if system.answered is not None:
            _print_missing(system.answered, arguments.max_answer, f"{system.name}: ")
    _print_grid(systems)
    return 0 if all(system.complete for system in systems) else NO_VALUE


@contextmanager
def open_models(
    arguments: argparse.Namespace, names: ModelNames
) -> Iterator[tuple[Models, Registry]]:
    """The models of a verb that is no run, with a client of their own, and the registry that opened them."""
    from longmark.domain import load

    with closing(open_cache(arguments.cache)) as cache:
        folder = getattr(arguments, "prompts", None)
        book = from_folder(folder, every_prompt()) if folder else PromptBook()
        budget = Budget(arguments.max_calls, arguments.max_tokens, arguments.max_usd)
        client = Client(
            cache,
            concurrency=arguments.concurrency,
            budget=budget,
            price_of=price_of,
            run=getattr(arguments, "out", None) or "",
            resend_unknown=arguments.resend_unknown is not False,
            batching=batching(arguments),
        )
        trust = trusting(arguments)
        registry = Registry(
            cache,
            arguments.timeout,
            arguments.max_reply_bytes,
            config=arguments.config,
            trust=trust,
        )
        domain = load(getattr(arguments, "domain", None))
        backends = registry.backends(names)
        try:
            yield Models(backends, client, UsageLog(), book, domain=domain), registry
        finally:
            for notice in client.end_batches():
                print(notice, file=sys.stderr)


def finish_with(models: Models, work: Callable[[], Coroutine[Any, Any, Done]]) -> Done:
    """Runs the work to its end, and closes what the models have open."""

    async def then_closed() -> Done:
        models.client.at_once(models.backends.all(), 0)
        try:
            return await work()
        finally:
            for model in (
                models.backends.generator,
                models.backends.embedder,
                *models.backends.judges,
            ):
                if model is not None:
                    await model.close()

    return finish(then_closed)


def _read_asked(arguments: argparse.Namespace) -> list[Example]:
    """The questions to answer. What becomes of answers that they have is said before anything is paid."""
    asked = read_questions(arguments)
    questions = with_references(asked)
    n_references = sum(
        question is not as_asked for question, as_asked in zip(asked, questions, strict=True)
    )
    if n_references:
        has = "question has an answer" if n_references == 1 else "questions have an answer"
        print(f"{n_references:,} {has} without a system: kept as the reference.", file=sys.stderr)
    if replaced := sum(question.answer is not None for question in questions):
        print(
            f"{counted(replaced, 'answer')} in {arguments.questions} will be replaced.",
            file=sys.stderr,
        )
    return questions


def read_questions(arguments: argparse.Namespace) -> list[Example]:
    """The questions of the input options. Bad records that --skip-bad leaves out are counted on standard error."""
    input_reading = Reading(arguments.questions, **reading(arguments))
    questions = list(input_reading.singles())
    if input_reading.notice:
        print(input_reading.notice, file=sys.stderr)
    if input_reading.bad:
        print(f"{counted(input_reading.bad, 'bad record')} skipped.", file=sys.stderr)
    return questions


def _answering(arguments: argparse.Namespace) -> Answering:
    names = ("temperature", "top_p", "max_answer", "citations", "seed", "comprehensive")
    generation = Generation(*(getattr(arguments, name) for name in names))
    return Answering(arguments.k, generation, arguments.variant_context, 2 * arguments.concurrency)


def _names(
    arguments: argparse.Namespace, index: Index, by_vectors: bool, generator: str | None = None
) -> ModelNames:
    embedder = arguments.embedder
    if embedder is None and index.embedder is not None and by_vectors:
        embedder = trusting(arguments).model_of(index.manifest, index.embedder["name"])
    return ModelNames(generator=generator, embedder=embedder)


def with_each(
    registry: Registry, models: Models, names: Mapping[str, str], option: str = "--generator"
) -> dict[str, Models]:
    """Label -> the models with the one of that label as generator. They share the client, and so the budget."""
    models_by_label = {}
    for label, name in names.items():
        try:
            generator = registry.open("generator", name)
        except UserError as error:
            raise type(error)(str(error).replace("--generator", option, 1)) from None
        models_by_label[label] = replace(
            models, backends=replace(models.backends, generator=generator)
        )
    return models_by_label


def _print_missing(answered: RagAnswers, max_answer: int, whose: str = "") -> None:
    """Which questions have no answer, and what is missing in answers, on standard error."""
    for left_out in answered.left_out:
        print(f"{whose}omitted: {left_out}", file=sys.stderr)
    if note := answered.cut_note(max_answer):
        print(f"{whose}{note}; use a larger --max-answer", file=sys.stderr)
    for count, description in (
        (answered.bare, "without passages: the retriever found none"),
        (
            answered.no_base,
            "of variants without an answered original: their robustness will be unscored",
        ),
    ):
        if count:
            print(f"{whose}{counted(count, 'answer')} {description}", file=sys.stderr)


def _print_grid(systems: Sequence[System]) -> None:
    heads = ("system", "answers", "omitted", "cut off", "no passages", "file")
    rows = []
    for system in systems:
        it = system.answered
        counts = (
            (len(it.examples), len(it.left_out), it.cut, it.bare) if it is not None else (None,) * 4
        )
        written = (
            str(system.file)
            if it is not None and it.examples
            else "not started"
            if it is None
            else "none written"
        )
        rows.append((system.name, *counts, written))
    print(as_text(Table("grid", "Systems", tuple(map(Column, heads)), tuple(rows))), end="")

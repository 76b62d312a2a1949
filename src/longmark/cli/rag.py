"""The verb `longmark rag`: `index` makes an index of documents, `answer` answers questions from it.

Exit codes as for every verb; 4: the budget ended it, or no question got an answer.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from longmark.cli.arguments import NO_VALUE, add_calls, from_one, models_of, whole

if TYPE_CHECKING:
    from longmark.models.handles import Models

Done = TypeVar("Done")


def add_to(verbs: Any) -> None:
    """Adds the verb to the command line's verbs."""
    text = "Index documents, and answer questions from them: examples to mark."
    rag = verbs.add_parser("rag", help=text, description=text, allow_abbrev=False)
    actions = rag.add_subparsers(dest="action", required=True, metavar="index|answer")

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
    one.add_argument("--embedder", metavar="MODEL", help="default: the one that the index was made with")
    one.add_argument("--k", type=from_one, default=5, metavar="N", help="passages for each question (default: 5)")
    one.add_argument(
        "--retriever", metavar="bm25|dense|hybrid", help="default: dense where the index has vectors, else bm25"
    )
    one.add_argument("--citations", action="store_true", help="ask for the numbers of passages in the answer")
    one.add_argument(
        "--follow", default="figure", metavar="figure|code", help="how variants are answered (default: figure)"
    )
    one.add_argument("--originals", type=Path, metavar="FILE", help="answered examples that variants may be of")
    one.add_argument("--temperature", type=float, default=0.1, metavar="T", help="default: 0.1")
    one.add_argument("--top-p", type=float, default=0.9, metavar="P", help="default: 0.9")
    one.add_argument(
        "--max-answer", type=from_one, default=1024, metavar="N", help="tokens of an answer (default: 1024)"
    )
    one.add_argument("--seed", type=int, default=0, metavar="N", help="which of several samples to draw")
    one.add_argument("--prompts", type=Path, metavar="DIR", help="a folder with ID.txt files in place of our prompts")
    one.add_argument("--domain", type=Path, metavar="FILE.yaml", help="what the profiles are of (default: hazards)")
    one.add_argument("--limit", type=from_one, metavar="N", help="the first N questions only")
    one.add_argument("--skip-bad", action="store_true", help="leave bad records out instead of stopping")
    add_calls(one)


def index(arguments: argparse.Namespace) -> int:
    """Makes an index of documents."""
    from longmark.engine.progress import counted
    from longmark.engine.run import finish, open_cache
    from longmark.models.names import Given
    from longmark.rag import index as rag_index
    from longmark.rag.chunk import Chunking

    chunking = Chunking(arguments.chunk, arguments.overlap, arguments.unit, arguments.tokenizer)
    cache = open_cache(arguments.cache)
    try:
        models = models_of(arguments, cache, Given(embedder=arguments.embedder), ())
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
                    tell=(lambda _what, _done, _of: None) if arguments.quiet else _Stages(),
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
    from longmark.engine.progress import counted
    from longmark.engine.run import finish, open_cache
    from longmark.engine.settings import every_prompt
    from longmark.errors import UserError
    from longmark.models.names import Given
    from longmark.rag import answer as rag_answer
    from longmark.rag import index as rag_index
    from longmark.rag.generate import Generation
    from longmark.rag.retrieve import Retriever
    from longmark.records.read import Reading
    from longmark.records.write import WRITTEN

    if arguments.out.suffix.lower() not in WRITTEN:
        raise UserError(f"--out {arguments.out}: the suffix tells the format, one of {', '.join(WRITTEN)}")
    how = Generation(arguments.temperature, arguments.top_p, arguments.max_answer, arguments.citations, arguments.seed)
    found = rag_index.load(arguments.index)
    embedder = arguments.embedder
    if embedder is None and found.embedder is not None and arguments.retriever != "bm25":
        embedder = found.embedder["name"]
    cache = open_cache(arguments.cache)
    try:
        models = models_of(arguments, cache, Given(generator=arguments.generator, embedder=embedder), every_prompt())
        retriever = Retriever(found, models, arguments.retriever)
        reading = Reading(arguments.questions, limit=arguments.limit, skip_bad=arguments.skip_bad)
        questions = list(reading)
        originals = list(Reading(arguments.originals)) if arguments.originals else ()
        stages = _Stages(len(questions))
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
                    follow=arguments.follow,
                    originals=originals,
                    at_once=2 * arguments.concurrency,
                    on_answer=(lambda: None) if arguments.quiet else stages.one_more,
                ),
            )
        )
    finally:
        cache.close()
    if reading.bad:
        print(f"{counted(reading.bad, 'bad record')} left out.", file=sys.stderr)
    for left_out in answered.left_out:
        print(f"left out: {left_out}", file=sys.stderr)
    for count, what in (
        (answered.cut, "ended at --max-answer tokens and are cut off"),
        (answered.bare, "have no passages: the retriever found none"),
        (answered.no_base, "are variants whose original has no answer here: robustness gives them no value"),
    ):
        if count:
            print(f"{counted(count, 'answer')}: they {what}", file=sys.stderr)
    if answered.examples:
        print(f"{counted(len(answered.examples), 'answer')}: {arguments.out}")
    return NO_VALUE if answered.stopped or not answered.examples else 0


async def _then_closed(models: Models, work: Awaitable[Done]) -> Done:
    """Waits for the work, and closes what the models have open."""
    try:
        return await work
    finally:
        for model in (models.roles.generator, models.roles.embedder):
            if model is not None:
                await model.close()


class _Stages:
    """Says on standard error how far a stage is: when it begins, and every ten seconds."""

    def __init__(self, total: int | None = None) -> None:
        self._total, self._done = total, 0
        self._what, self._last = "", 0.0

    def one_more(self) -> None:
        self._done += 1
        self("answers", self._done, self._total)

    def __call__(self, what: str, done: int, of: int | None) -> None:
        import time

        if what == self._what and time.monotonic() - self._last < 10 and done != of:
            return
        self._what, self._last = what, time.monotonic()
        print(f"{what}: {done:,}" + (f" of {of:,}" if of is not None else ""), file=sys.stderr, flush=True)

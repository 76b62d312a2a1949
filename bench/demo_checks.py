"""The built-in claim checker's replies for the demo's answers, recorded once and shipped as a call cache.

    python -m bench.demo_checks [WORK]

Sentences are asked with each passage of their question, by `--checker embedded`, as `ragchecker.faithfulness` asks:
first every sentence that a defect changed or added, and what stood in its place; then of every answer one sentence
into which nothing was put, drawn by its hash; then two more. Then each answer with the listed facts of its question, as
`ragchecker.recall` asks, question by question; then the same of answers without any defect, and with a deleted fact
alone. Then the rest of the sentences. A premise and a claim are asked once, whoever asks. It works at a low priority,
and says how far it is. WORK (default: `.demo-checks`) has the call cache; the same command resumes it. After each step,
and when it is stopped with Ctrl-C, what is recorded so far is written to
`src/longmark/contrib/demo/data/checks.sqlite.gz`. All of it takes about 100 minutes of processor time; the demo shows
what is there and says how much that is.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from longmark.contrib.demo.answers import Corpus
from longmark.contrib.demo.recorded import CHECKS
from longmark.models.cache import CallCache
from longmark.models.handles import Models
from longmark.models.registry import Name
from longmark.models.stores.copying import copy_replies
from longmark.models.stores.sqlite import SqliteStore
from longmark.records import Example
from longmark.testing import open_models
from longmark.text.entailment import checker_of

DRAWS = (0, 1, 3, None)
"""How many sentences without a defect of an answer are recorded after each step but the first; None: all."""
_TOGETHER = 8  # sentences that are stored together: what a stop can lose

Work = Mapping[str, Sequence[str]]
"""Premise -> claims."""


def pairs_of(examples: Sequence[Example]) -> dict[str, list[str]]:
    """The sentences of some answers, which are their claims, by the passages that they are checked against."""
    pairs: dict[str, dict[str, None]] = {}
    for example in examples:
        for context in example.contexts:
            pairs.setdefault(context.text, {}).update(dict.fromkeys(example.claims or ()))
    return {passage: list(claims) for passage, claims in pairs.items()}


def steps(corpus: Corpus) -> dict[str, Work]:
    """What is asked, in its order: step -> its pairs."""
    changed = [
        change.example.model_copy(update={"claims": (*change.old, *change.new)})
        for change in corpus.changes()
        if change.kind != "deleted"
    ]
    work: dict[str, Work] = {"defects": pairs_of(changed)}
    for first, last in pairwise(DRAWS):
        if last is None:
            recall = work["recall"] = recall_of(corpus.answers)
            work["recall of answers with a deleted fact alone"] = {
                answer: facts
                for answer, facts in recall_of(corpus.beside("deleted")).items()
                if answer not in recall
            }
        drawn = [
            example.model_copy(
                update={"claims": tuple(sorted(corpus.untouched(example), key=_hash)[first:last])}
            )
            for example in corpus.answers
        ]
        work[f"sentences to {last or 'the end'}"] = pairs_of(drawn)
    return work


def recall_of(examples: Sequence[Example]) -> dict[str, list[str]]:
    """The listed facts of the questions, by the answers that they are checked against."""
    return {example.answer or "": list(example.reference_claims or ()) for example in examples}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


async def ask(models: Models, work: Work) -> None:
    """Premise by premise, so that the model reads each once."""
    checker = checker_of(models)
    for premise, claims in work.items():
        for start in range(0, len(claims), _TOGETHER):
            await checker.relations(premise, claims[start : start + _TOGETHER])


async def record(
    work: Path, asked: Mapping[str, Work], out: Path = CHECKS, checker: Name = "embedded"
) -> None:
    """Asks step by step, and writes what is recorded after each."""
    done = 0
    async with open_models(checker=checker, cache=work / "calls.sqlite") as models:
        for name, pairs in asked.items():
            began, processor = time.monotonic(), time.process_time()
            await ask(models, pairs)
            done += sum(map(len, pairs.values()))
            seconds, processor_seconds = time.monotonic() - began, time.process_time() - processor
            print(
                f"{name}: {done} pairs; {seconds:.0f} s, {processor_seconds:.0f} s of a processor",
                flush=True,
            )
            export(work, out)


def export(work: Path, out: Path) -> int:
    """Writes the checker's replies; how many."""
    file = work / "export.sqlite"
    file.unlink(missing_ok=True)
    cache = CallCache(work / "calls.sqlite")
    try:
        keys = [
            key for (key,) in cache.do("SELECT key FROM calls WHERE kind = 'relation' ORDER BY key")
        ]
        copy_replies(cache.store, copy := SqliteStore(file), keys)
    finally:
        cache.close()
    copy.one_file()
    copy.close()
    out.write_bytes(gzip.compress(file.read_bytes(), mtime=0))
    return len(keys)


def main(work: Path) -> None:
    os.nice(15)
    work.mkdir(parents=True, exist_ok=True)
    try:
        asyncio.run(record(work, steps(Corpus.read())))
    except KeyboardInterrupt:
        print("stopped; the same command resumes")
    print(f"{export(work, CHECKS)} replies, {CHECKS.stat().st_size:,} bytes: {CHECKS}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(".demo-checks"))

"""How fast retrieval is, how much memory it takes, and how much of what was planted it finds.

    python -m bench.rag                       # 600,000 records, the size of SCORE's base; about a quarter of an hour
    python -m bench.rag --records 10000       # a minute
    python -m bench.rag bm25 --records 10000  # one part: records, bm25, dense, faiss or embedder

Everything is made up from a seed. Words follow Zipf's law (the r-th most frequent has weight 1 / (r + 2.7), the form
of Mandelbrot) over a vocabulary of 200,000; a record has 40 to 120 of them. In 500 records a sentence of six rare words
is planted, and the question for it holds three of those and five words of any frequency. Vectors (384 dimensions) stand
in clusters of about 120; the question for a planted one is that vector with noise. Each part runs in a process of its
own, so that its peak of memory is its own (of vectors, the pages of their file that the system keeps at hand too).
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from longmark.contrib.make.rag import dense, index
from longmark.contrib.make.rag.bm25 import Bm25

PARTS = ("records", "bm25", "dense", "faiss", "embedder")
SEED, VOCABULARY, PLANTED, DIMENSIONS, CLUSTER, K = 7, 200_000, 500, 384, 120, 5
RARE = (20_000, 120_000)  # ranks of the words of a planted sentence


def words() -> list[str]:
    """A vocabulary of made-up words: syllables, each word once, in the order of frequency."""
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    base = len(syllables)
    found = []
    for number in range(VOCABULARY):
        word, left = "", number + base
        while left:
            word, left = syllables[left % base] + word, left // base
        found.append(word)
    return found


def records(count: int) -> tuple[Iterator[str], list[str], list[int]]:
    """The records one by one; the questions; the record that each question is about."""
    rng = np.random.default_rng(SEED)
    vocabulary = words()
    ends = np.cumsum(1 / (np.arange(VOCABULARY) + 2.7))
    ends /= ends[-1]
    planted = min(PLANTED, count)
    about = np.sort(rng.choice(count, planted, replace=False)).tolist()
    sentences = rng.integers(*RARE, size=(planted, 6))
    common = np.searchsorted(ends, rng.random((planted, 5)))
    questions = [
        " ".join(vocabulary[i] for i in (*sentence[:3], *others))
        for sentence, others in zip(sentences, common, strict=True)
    ]
    sentence_of = dict(zip(about, sentences, strict=True))

    def made() -> Iterator[str]:
        for number in range(count):
            drawn = np.searchsorted(ends, rng.random(rng.integers(40, 121)))
            if number in sentence_of:
                drawn = np.concatenate((drawn, sentence_of[number]))
            yield " ".join(vocabulary[i] for i in drawn)

    return made(), questions, about


def vectors(count: int, path: Path) -> tuple[dense.Matrix, dense.Matrix, list[int]]:
    """Stored vectors, mapped from a file; the questions' vectors; the row that each is about."""
    rng = np.random.default_rng(SEED)
    clusters = max(count // CLUSTER, 1)
    centres = rng.standard_normal((clusters, DIMENSIONS), dtype=np.float32)
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(count, DIMENSIONS))
    for start in range(0, count, 1 << 15):
        size = min(1 << 15, count - start)
        block = centres[rng.integers(0, clusters, size)]
        block += 1.5 * rng.standard_normal((size, DIMENSIONS), dtype=np.float32)
        rows[start : start + size] = block / np.linalg.norm(block, axis=1, keepdims=True)
    rows.flush()
    planted = min(PLANTED, count)
    about = rng.choice(count, planted, replace=False)
    asked = rows[about] + 0.04 * rng.standard_normal((planted, DIMENSIONS), dtype=np.float32)
    del rows
    asked /= np.linalg.norm(asked, axis=1, keepdims=True)
    return dense.load_vectors(path), asked.astype(np.float32), about.tolist()


# The parts -----------------------------------------------------------------------------------------------------------


def part_records(count: int, folder: Path) -> None:
    """The whole way of `longmark rag index` without an embedder, from one JSON Lines file."""
    made, _, _ = records(count)
    path = folder / "records.jsonl"
    with path.open("wb") as file:
        for number, text in enumerate(made):
            file.write(orjson.dumps({"id": str(number), "text": text}) + b"\n")
    say("records", f"{count:,}, {path.stat().st_size / 1e6:,.0f} MB")
    timed(
        "index, whole (read, cut, BM25, hashes, saved)",
        lambda: asyncio.run(index.build(path, folder / "idx")),
    )
    size = sum(file.stat().st_size for file in (folder / "idx").rglob("*") if file.is_file())
    say("index on disk", f"{size / 1e6:,.0f} MB")
    found = timed("loaded and verified", lambda: index.load(folder / "idx"))
    timed(
        "1,000 passages by number", lambda: [found.passages[n * count // 1000] for n in range(1000)]
    )


def part_bm25(count: int, folder: Path) -> None:
    made, questions, about = records(count)
    timed("records made, alone", lambda: sum(1 for _ in records(count)[0]))
    timed(
        "BM25 built and saved (the records are made meanwhile)",
        lambda: Bm25.build(made).save(folder / "bm25"),
    )
    loaded = Bm25.load(folder / "bm25")
    loaded.search(questions[0], K)
    report_search("BM25", lambda: [loaded.search(question, K) for question in questions], about)


def part_dense(count: int, folder: Path) -> None:
    rows, asked, about = vectors(count, folder / "vectors.npy")
    say("vectors", f"{count:,} of {DIMENSIONS} dimensions, {rows.nbytes / 1e6:,.0f} MB on disk")
    dense.search(rows, asked[:1], K)
    some = asked[:50]
    report_search(
        "exact, one at a time",
        lambda: [dense.search(rows, one[None], K)[0] for one in some],
        about[:50],
    )
    in_parts = [asked[at : at + 64] for at in range(0, len(asked), 64)]
    report_search(
        "exact, 64 at a time",
        lambda: [f for part in in_parts for f in dense.search(rows, part, K)],
        about,
    )


def part_faiss(count: int, folder: Path) -> None:
    rows, asked, about = vectors(count, folder / "vectors.npy")
    path = folder / "faiss.index"
    timed("faiss index built", lambda: dense.build_approximate(rows, path))
    say(
        "faiss index on disk",
        f"{path.stat().st_size / 1e6:,.0f} MB, {dense.lists_for(count):,} lists",
    )
    found = dense.Approximate(path, rows)
    found.search(asked[:1], K)
    near = report_search(
        "approximate, one at a time",
        lambda: [found.search(one[None], K)[0] for one in asked],
        about,
    )
    exact = [
        f for at in range(0, len(asked), 64) for f in dense.search(rows, asked[at : at + 64], K)
    ]
    same = sum(len({i for i, _ in a} & {i for i, _ in b}) for a, b in zip(exact, near, strict=True))
    say(f"recall@{K} against the exact search", f"{same / (K * len(asked)):.4f}")


def part_embedder(_count: int, _folder: Path) -> None:
    """all-MiniLM-L6-v2 on this machine, apart from any search."""
    from longmark.contrib.local.minilm import MiniLM

    texts = [
        " ".join(
            ("the ice storm broke the power line near the bridge and the crews came late",) * 6
        )
    ] * 128
    model = MiniLM()
    asyncio.run(model.embed(texts[:2]))
    tokens = model.token_count(texts[0])
    seconds = timed(
        f"128 texts of {tokens} tokens embedded",
        lambda: asyncio.run(model.embed(texts)),
        give="seconds",
    )
    say("embedder", f"{128 / seconds:,.1f} texts/s")


def report_search(name: str, search: Callable[[], list[Any]], about: list[int]) -> list[Any]:
    """Times a search for every question, and counts how often what was planted is among the best."""
    began = time.perf_counter()
    found = search()
    seconds = time.perf_counter() - began
    first = sum(
        bool(f) and f[0][0] == target for f, target in zip(found, about, strict=True)
    ) / len(about)
    among = sum(target in {i for i, _ in f} for f, target in zip(found, about, strict=True)) / len(
        about
    )
    say(
        name,
        f"{1000 * seconds / len(about):,.2f} ms a question, {len(about) / seconds:,.1f} questions/s",
    )
    say(f"{name}: planted found", f"recall@1 {first:.3f}, recall@{K} {among:.3f} of {len(about)}")
    return found


def timed(name: str, do: Callable[[], Any], give: str = "result") -> Any:
    began = time.perf_counter()
    result = do()
    seconds = time.perf_counter() - began
    say(name, f"{seconds:,.2f} s")
    return seconds if give == "seconds" else result


def say(what: str, figure: str) -> None:
    print(f"{what:56} {figure}", flush=True)


def main() -> None:
    reader = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    reader.add_argument("part", nargs="?", choices=PARTS)
    reader.add_argument("--records", type=int, default=600_000)
    given = reader.parse_args()
    if given.part is None:
        for part in PARTS:
            print(f"\n{part}", flush=True)
            subprocess.run(
                [sys.executable, "-m", "bench.rag", part, "--records", str(given.records)],
                check=True,
            )
        return
    with tempfile.TemporaryDirectory() as folder:
        globals()[f"part_{given.part}"](given.records, Path(folder))
    say(
        "peak memory of the process",
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB",
    )


if __name__ == "__main__":
    main()

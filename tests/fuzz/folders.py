"""Fuzzers of folders: a run, an index, documents (text, Markdown, PDF, JSON Lines) and replaced prompts."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import orjson
from tests.contrib.make.rag.make import pdf
from tests.fuzz.engine import Fuzzer
from tests.fuzz.files import RECORDS, ROWS, document, lines
from tests.fuzz.mutate import damaged, dumps

import longmark
from longmark.analysis.compare.comparison import compare
from longmark.contrib.make.rag import index
from longmark.contrib.make.rag.chunk import Chunker, Chunking
from longmark.contrib.make.rag.documents import Documents, SourceDocument
from longmark.metrics import all_prompts
from longmark.prompts import from_folder
from longmark.report.html import write_report

METRIC = "score.readability"
_TEXT = (
    b"# Dams\n\nA dam is high.\n\n- It is old.\n- $5 for two.\n\n| a | b |\n|---|---|\n\n```\ncode\n```\n"
    * 3
)
_MARKDOWN = (
    b"<!--",
    b"```",
    b"[a](" * 200,
    b"*" * 3000,
    b"> " * 2000,
    b"&#0;",
    b"<p>" * 500,
    b"\n" * 5000,
    b"| " * 3000,
)
_PDF = (
    *(
        b"/Length 999999999",
        b"/Length -1",
        b"/Kids [2 0 R]",
        b"/Kids [2 0 R 2 0 R 2 0 R]",
        b"/Count -1",
        b"/Prev 9",
        b"<<" * 500,
    ),
    *(
        b"/Filter /FlateDecode",
        b"/Filter [/ASCIIHexDecode /LZWDecode]",
        b"/Filter /RunLengthDecode",
        b"/Type /ObjStm",
    ),
    *(
        b"/Encrypt 3 0 R",
        b"/Root 9 0 R",
        b"stream\n",
        b"endobj\n",
        b"(" * 500,
        b"[" * 500,
        b"/Contents 2 0 R",
        b"1 0 R",
    ),
)
_PROMPT = (b"$", b"$$", b"${", b"$nothing", b"${question}", b"$answer\n", b"</answer>", b"\xff")


@cache
def _made() -> Path:
    """A folder with a run (`run`), another like it (`other`) and an index (`idx`), made once."""
    base = Path(tempfile.mkdtemp(dir=os.environ.get("LONGMARK_HOME")))
    for name in ("run", "other"):
        longmark.run(RECORDS, METRIC, out=base / name)
        rows = (base / name / "rows.jsonl").read_bytes().splitlines()
        judged = [
            orjson.dumps({**row, "system": name})
            for row in ROWS
            if row["metric"] != f"{METRIC}.reading_ease"
        ]
        (base / name / "rows.jsonl").write_bytes(b"\n".join((*rows, *judged, b"")))
    texts = ("A dam is high.", "It is old, and long. " * 90, "Water")
    asyncio.run(
        index.build([SourceDocument(str(n), text) for n, text in enumerate(texts)], base / "idx")
    )
    return base


def _run(rng: random.Random, folder: Path) -> object:
    """A run whose files are damaged: its report, its comparison with another, or its continuation."""
    run = folder / "run"
    shutil.copytree(_made() / "run", run)
    name = rng.choice(
        ("rows.jsonl", "rows.jsonl", "manifest.json", "manifest.json", "examples.jsonl")
    )
    path = run / name
    parts = (
        [orjson.loads(line) for line in path.read_bytes().splitlines()]
        if name != "manifest.json"
        else []
    )
    path.write_bytes(lines(rng, parts) if parts else document(rng, orjson.loads(path.read_bytes())))
    match rng.randrange(4):
        case 0:
            return longmark.run(RECORDS, METRIC, out=run, retry=rng.choice(((), ("unparsable",))))
        case 1:
            return compare([run, _made() / "other"], draws=100)
        case _:
            return write_report([run], folder / "page.html")


def _index(rng: random.Random, folder: Path) -> object:
    """An index with a damaged file, its manifest in keeping with it in half of the cases."""
    path = folder / "idx"
    shutil.copytree(_made() / "idx", path)
    manifest = path / index.MANIFEST
    hurt = rng.choice([manifest, manifest, *(p for p in sorted(path.rglob("*")) if p.is_file())])
    raw = hurt.read_bytes()
    is_json = hurt.suffix == ".json" and rng.random() < 0.8
    hurt.write_bytes(document(rng, orjson.loads(raw)) if is_json else damaged(rng, raw))
    if hurt != manifest and rng.random() < 0.7:
        content, raw = orjson.loads(manifest.read_bytes()), hurt.read_bytes()
        told = {"size": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
        content["files"][hurt.relative_to(path).as_posix()] = told
        manifest.write_bytes(orjson.dumps(content))
    found = index.load(path)
    try:
        return [found.passages[number] for number, _ in found.bm25.search("an old dam of water", 3)]
    finally:
        found.passages.close()


def _documents(rng: random.Random, folder: Path) -> object:
    docs = folder / "docs"
    docs.mkdir()
    given = [{"id": n, "title": "T", "text": "A dam is high."} for n in range(3)]
    pages = pdf(["A dam is high.", "It is old."])
    kinds = {
        "a.txt": lambda: damaged(rng, _TEXT),
        "a.md": lambda: damaged(rng, _TEXT, _MARKDOWN),
        "a.pdf": lambda: damaged(rng, pages, _PDF),
        "b.pdf": lambda: damaged(
            rng, pages.replace(b"xref", b"xrfe"), _PDF
        ),  # read by looking for its objects
        "a.jsonl": lambda: lines(rng, given),
    }
    name = rng.choice(list(kinds))
    (docs / name).write_bytes(kinds[name]())
    _strays(rng, docs, ".txt")
    chunker = Chunker(Chunking())
    texts = [one for one in Documents(docs) if isinstance(one, SourceDocument)]
    assert not any("outside" in one.text for one in texts)
    return [
        dumps([one.id, one.text[p.start : p.end]])
        for one in texts
        for p in chunker.passages(one.text)
    ]


def _strays(rng: random.Random, folder: Path, suffix: str) -> None:
    """Now and then what is no file: a link that leads out of the folder, or nowhere, a folder, a pipe."""
    outside = folder.parent / f"outside{suffix}"
    outside.write_text("outside")
    stray = folder / f"{rng.choice(('stray', 'system'))}{suffix}"
    match rng.randrange(40):
        case 0:
            stray.symlink_to(outside)
        case 1:
            stray.symlink_to(stray)
        case 2:
            stray.mkdir()
        case 3:
            os.mkfifo(stray)


def _prompts(rng: random.Random, folder: Path) -> object:
    ours = all_prompts()
    where = folder / "prompts"
    where.mkdir()
    chosen = rng.sample(ours, rng.choice((1, 1, 2)))
    for prompt in chosen:
        (where / f"{prompt.id}.txt").write_bytes(damaged(rng, prompt.text.encode(), _PROMPT))
    _strays(rng, where, ".txt")
    book = from_folder(where, ours)
    return [_filled(book, prompt) for prompt in chosen]


def _filled(book: Any, prompt: Any) -> Sequence[Any]:
    messages: Sequence[Any] = book.fill(
        prompt, {**dict.fromkeys(prompt.inputs, "a"), **dict.fromkeys(prompt.fields, "1")}
    )
    orjson.dumps([(one.role, one.content) for one in messages])
    return messages


FOLDERS = [
    Fuzzer("run", 300, _run),
    Fuzzer("index", 700, _index),
    Fuzzer("documents", 600, _documents),
    Fuzzer("prompts", 300, _prompts),
]

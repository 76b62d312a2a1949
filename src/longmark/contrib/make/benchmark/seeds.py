"""Chunks of books, the order in which they are seeds, and the passages that go with a seed (ClimaQA, section 4.1).

Chunks are the passages of an index (`longmark rag index`): 2,000 characters, at most 200 of them shared by two. A
chunk can be a seed if it is prose: long enough, and mostly letters. The order of seeds is random. A seed goes with the
k chunks nearest to it by cosine, above a threshold; chunks that overlap it and copies of it are excluded.

Deviations: the paper's threshold, .85, belongs to its embedder.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from longmark.contrib.make.benchmark import INDEX, BenchmarkPlan
from longmark.contrib.make.rag import dense
from longmark.contrib.make.rag import index as rag_index
from longmark.contrib.make.rag.chunk import Chunking
from longmark.contrib.make.rag.documents import READ, Documents, SourceDocument, Unread
from longmark.contrib.make.rag.file_text import Headings
from longmark.contrib.make.rag.passages import Stored
from longmark.errors import UserError
from longmark.home import digest
from longmark.models.handles import Models
from longmark.places import real
from longmark.records.benchmark import Passage
from longmark.writing import replacing

BOOKS = "books.jsonl"

_LEAST = (
    0.5  # of a chunk's size: shorter ones are ends of sections, and say too little for a question
)
_LETTERS = 0.6  # of a chunk's characters that are no space: with fewer it is code, a table or a list of numbers
_SPARE = 12  # neighbours that are looked at beyond k: copies, and what overlaps the seed


@dataclass(frozen=True, slots=True)
class Book:
    """A document that was read. sha256: of its text without white space; pages, headings: where they begin in it."""

    id: str
    sha256: str
    characters: int
    pages: tuple[int, ...] = ()
    headings: Headings = ()

    def facts(self) -> dict[str, Any]:
        return {"id": self.id, "sha256": self.sha256, "characters": self.characters}

    def place(self, start: int, end: int) -> tuple[int | None, str | None]:
        """The page on which a chunk begins, and the heading that its middle stands under; None where there is none."""
        middle = (start + end) // 2
        heading = next((words for at, words in reversed(self.headings) if at <= middle), None)
        return SourceDocument(self.id, "", pages=self.pages).page_at(start), heading


@dataclass(frozen=True, slots=True)
class Seed:
    """number: of its chunk; passages: the chunk, then its neighbours."""

    number: int
    passages: tuple[Passage, ...]
    chapter: str | None = None


def fingerprint(paths: Sequence[Path]) -> str:
    """A hash of the names and contents of all files that are read (16 hex digits). Links are not followed."""
    hasher = hashlib.sha256()
    for path in paths:
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in files:
            if (
                file.suffix.lower() in READ
                and file.is_file()
                and not (file.is_symlink() and file != path)
            ):
                hasher.update(orjson.dumps([str(file.relative_to(path)), digest(file)]))
    return hasher.hexdigest()[:16]


@dataclass
class Library:
    """The documents of several paths; each path is read as `Documents` reads it. With several paths, ids begin with
    the last part of the path. books: what was read so far."""

    paths: Sequence[Path]
    books: list[Book] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[SourceDocument | Unread]:
        for path in self.paths:
            documents = Documents(path)
            for document in documents:
                if isinstance(document, SourceDocument):
                    name = (
                        document.id
                        if len(self.paths) == 1 or path.is_file()
                        else f"{real(path).name}/{document.id}"
                    )
                    squeezed = "".join(document.text.split()).encode("utf-8", "replace")
                    sha256 = hashlib.sha256(squeezed).hexdigest()
                    self.books.append(
                        Book(name, sha256, len(document.text), document.pages, document.headings)
                    )
                    yield SourceDocument(name, document.text, document.record)
                else:
                    yield document
            if note := documents.left_out():
                self.left_out.append(note)


async def chunk(
    paths: Sequence[Path],
    folder: Path,
    chunking: Chunking,
    *,
    models: Models | None = None,
    skip_bad: bool = False,
    tell: rag_index.Tell = lambda _what, _done, _total: None,
) -> tuple[rag_index.BuiltIndex, list[str]]:
    """Makes the index of the books in a benchmark's folder, and the file of books; and notes on what was not read.
    models: with an embedder, for neighbours. Errors as of `rag.index.build`."""
    library = Library(paths)
    indexing = rag_index.Indexing(chunking)
    built = await rag_index.build(
        library, folder / INDEX, indexing, models=models, skip_bad=skip_bad, tell=tell
    )
    with replacing(folder / BOOKS) as file:
        file.writelines(orjson.dumps(book) + b"\n" for book in library.books)
    return built, [*built.unread, *library.left_out]


class Seeds:
    """The seeds of a benchmark's folder, in their order. size: of a chunk. unfit: how many chunks are no seeds."""

    def __init__(self, folder: Path, plan: BenchmarkPlan, size: int) -> None:
        self._plan = plan
        self.index = rag_index.load(folder / INDEX)
        try:
            lines = (folder / BOOKS).read_bytes().splitlines()
            read = [Book(**orjson.loads(line)) for line in lines]
        except (OSError, ValueError, TypeError):
            raise UserError(
                f"{folder / BOOKS} is damaged or missing; delete {folder} and generate again"
            ) from None
        self.books = {book.id: book for book in read}
        least = _LEAST * size if len(self.index.passages) > len(self.books) else 0
        self.order = [
            n for n, text in enumerate(self.index.passages.texts()) if _is_prose(text, least)
        ]
        random.Random(plan.seed).shuffle(self.order)
        self.unfit = len(self.index.passages) - len(self.order)

    def seed(self, number: int) -> Seed:
        passage = self.index.passages[number]
        stored = (
            passage,
            *(self.index.passages[neighbour] for neighbour in self._near(number, passage)),
        )
        return Seed(
            number,
            tuple(map(self._passage, stored)),
            self.books[passage.document].place(passage.start, passage.end)[1],
        )

    def _near(self, number: int, stored: Stored) -> list[int]:
        vectors = self.index.vectors
        if vectors is None or not self._plan.k:
            return []
        (hits,) = dense.search(vectors, vectors[number : number + 1], self._plan.k + _SPARE)
        neighbours = list[int]()
        texts = {stored.text}
        for neighbour, cosine in hits:
            if cosine < self._plan.threshold or len(neighbours) == self._plan.k:
                break
            passage = self.index.passages[neighbour]
            overlaps = (
                passage.document == stored.document
                and passage.start < stored.end
                and stored.start < passage.end
            )
            if neighbour != number and not overlaps and passage.text not in texts:
                neighbours.append(neighbour)
                texts.add(passage.text)
        return neighbours

    def _passage(self, stored: Stored) -> Passage:
        page, _ = self.books[stored.document].place(stored.start, stored.end)
        return Passage(text=stored.text, book=stored.document, page=page, chunk=stored.id)


def _is_prose(text: str, least: float) -> bool:
    n_visible = sum(not char.isspace() for char in text)
    return len(text) >= least and sum(map(str.isalpha, text)) >= _LETTERS * max(n_visible, 1)

"""An index is a folder. It is made beside its place and moved there complete; loading verifies every file.

index.json                    what it was made from and with, and the SHA-256 of every other file
passages.jsonl, .offsets      the passages, one JSON object a line, and where each line begins
bm25/                         the BM25 index
vectors.npy, faiss.index      if it was made with an embedder; see `dense`

If its making is killed, there is no index; the same command makes it, and what the embedder was paid for is in the call
cache. A process that makes one holds the lock of `.NAME.new`, the folder beside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from longmark.contrib.make.rag import dense
from longmark.contrib.make.rag.bm25 import METHOD, Bm25, Weights
from longmark.contrib.make.rag.chunk import Chunker, Chunking
from longmark.contrib.make.rag.documents import Documents, SourceDocument, Unread
from longmark.contrib.make.rag.passages import LINES, OFFSETS, PassageWriter, Stored, StoredPassages
from longmark.errors import LongmarkError, UserError, library
from longmark.home import digest
from longmark.models.handles import Models
from longmark.models.protocols import Embedder
from longmark.models.trust import wrote
from longmark.records.files import BadLines, read_object
from longmark.records.read import seen_ids
from longmark.records.values import in_one_line
from longmark.records.write import write_object
from longmark.text.words import WORDS_VERSION
from longmark.workspace import replaced

FORMAT = 1
MANIFEST = "index.json"
_PARTS = (LINES, OFFSETS, "bm25", dense.VECTORS, dense.APPROXIMATE)  # what an index has beside it
_AGAIN = "index the documents again"

Tell = Callable[
    [str, int, int | None], None
]  # what is going on, how many are done, out of how many (None: not known)


# The index ----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class BuiltIndex:
    """What was indexed. unread: the first lines on documents that were left out; bad: how many there were; left_out:
    a note on files of other kinds; cut: passages longer than the embedder reads, None if it does not say."""

    folder: Path
    documents: int
    passages: int
    bad: int = 0
    unread: tuple[str, ...] = ()
    left_out: str | None = None
    cut: int | None = None


@dataclass(frozen=True, slots=True)
class Instructions:
    """What stands before a question and before a passage when they are embedded; of E5 models, "query: " and
    "passage: "."""

    query: str = ""
    passage: str = ""


@dataclass(frozen=True, slots=True)
class Indexing:
    """How an index is made. weights: k1 and b of BM25; approximate: a faiss index besides."""

    chunking: Chunking = field(default_factory=Chunking)
    weights: Weights = field(default_factory=Weights)
    instructions: Instructions = field(default_factory=Instructions)
    approximate: bool = False


@dataclass(frozen=True)
class Index:
    """An index that was loaded. hash: of all its files, 16 hex digits; embedder: name, identity, dimensions, and the
    instructions (`query`, `passage`) before each text that it embeds."""

    path: Path
    hash: str
    passages: StoredPassages
    bm25: Bm25
    embedder: dict[str, Any] | None = None
    vectors: dense.Matrix | None = None
    approximate: dense.Approximate | None = field(default=None, repr=False)

    @property
    def manifest(self) -> Path:
        return self.path / MANIFEST

    def check_embedder(self, embedder: Embedder) -> None:
        """UserError if the index was made with another embedder, or none."""
        if self.embedder is None:
            remedy = "use --retriever bm25, or index the documents again with --embedder"
            raise UserError(f"{self.path} has no vectors; {remedy}")
        own_name = self.embedder["name"]
        if embedder.identity != self.embedder["identity"]:
            this = f"this is {embedder.name}{' of another version' if embedder.name == own_name else ''}"
            remedy = f"Use --embedder {own_name}, or index the documents again with this one"
            raise UserError(
                f"{self.path} was made with the embedder {own_name}, and {this}: vectors of two models cannot be compared. "
                f"{remedy}"
            )


async def build(
    documents: str | Path | Iterable[SourceDocument | Unread],
    out: str | Path,
    how: Indexing | None = None,
    *,
    models: Models | None = None,
    skip_bad: bool = False,
    tell: Tell = lambda _what, _done, _total: None,
) -> BuiltIndex:
    """Makes an index in the folder `out`; an index that is there is replaced at the end, anything else is refused.

    models: with an embedder, for vectors as well as BM25. BadInput, a line for each document that cannot be read,
    unless `skip_bad`; UserError if there is nothing to index. All of them come before the embedder is asked.
    """
    how = how or Indexing()
    out = Path(out)
    chunker = Chunker(how.chunking)
    library("bm25s", "an index", "rag")  # before documents are read
    embedder = models.backends.embedder if models is not None else None
    if how.approximate and embedder is None:
        raise UserError("--approximate needs vectors: add --embedder MODEL")
    if how.instructions != Instructions() and embedder is None:
        raise UserError(
            "--query-instruction and --passage-instruction are for vectors: add --embedder MODEL"
        )
    source = Documents(Path(documents)) if isinstance(documents, str | Path) else documents
    with replaced(out, MANIFEST, _PARTS) as folder:
        built = replace(_write_passages(source, folder, chunker, skip_bad, tell), folder=out)
        with closing(StoredPassages(folder)) as stored:
            tell("BM25", 0, built.passages)
            Bm25.build(stored.texts(), how.weights).save(folder / "bm25")
            tell("BM25", built.passages, built.passages)
            described = None
            if models is not None and embedder is not None:
                described = await _write_vectors(models, stored, folder, how, tell)
                built = replace(built, cut=_cut(embedder, stored))
        _write_manifest(folder, built, how, described)
    if described is not None:
        wrote(out / MANIFEST, described["name"])
    return replace(built, left_out=source.left_out() if isinstance(source, Documents) else None)


class _IndexedFile(BaseModel):
    size: int
    sha256: str


class _Embedder(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str
    identity: str


class _Manifest(BaseModel):
    """What loading needs of a manifest, as `_write_manifest` writes it."""

    format: int
    words: int
    files: dict[str, _IndexedFile]
    embedder: _Embedder | None

    @field_validator("files")
    @classmethod
    def _inside(cls, files: dict[str, _IndexedFile]) -> dict[str, _IndexedFile]:
        for name in files:
            if Path(name).is_absolute() or ".." in Path(name).parts or "\0" in name:
                raise ValueError(f"{name} is not a file of an index")
        return files


def load(path: str | Path) -> Index:
    """The index of a folder. UserError if it is none, another version made it, or a file is missing or changed."""
    path = Path(path)
    if not (path / MANIFEST).is_file():
        raise UserError(
            f"{path} is not an index; make one with: longmark rag index DOCS --out {path}"
        )
    content = read_object(path / MANIFEST, _AGAIN)
    if "format" in content and (content["format"], content.get("words")) != (FORMAT, WORDS_VERSION):
        raise UserError(f"{path} was made by another version of longmark; {_AGAIN}")
    try:
        manifest = _Manifest.model_validate(content)
    except ValidationError as error:
        raise UserError(f"{path / MANIFEST} is damaged ({in_one_line(error)}); {_AGAIN}") from None
    needed = {LINES, OFFSETS} | ({dense.VECTORS} if manifest.embedder else set())
    for name in sorted(needed | manifest.files.keys()):
        file = path / name
        stored = manifest.files.get(name)
        try:
            same = stored is not None and file.is_file() and file.stat().st_size == stored.size
            same = same and stored is not None and digest(file) == stored.sha256
        except OSError as error:
            raise UserError(f"{file} cannot be read: {error.strerror or error}") from error
        if not same:
            raise UserError(f"{file} was changed after the index was made; {_AGAIN}")
    try:
        vectors = dense.load_vectors(path / dense.VECTORS) if manifest.embedder else None
        approximate = None
        if vectors is not None and dense.APPROXIMATE in manifest.files:
            approximate = dense.Approximate(path / dense.APPROXIMATE, vectors)
        return Index(
            path,
            digest(path / MANIFEST)[:16],
            StoredPassages(path),
            Bm25.load(path / "bm25"),
            content["embedder"],
            vectors,
            approximate,
        )
    except (LongmarkError, ModuleNotFoundError):
        raise
    except (
        Exception
    ) as error:  # files that no index of ours has make numpy, bm25s and faiss fail in many ways
        raise UserError(
            f"{path} is damaged ({' '.join(str(error).split())[:120]}); {_AGAIN}"
        ) from error


# Making one ----------------------------------------------------------------------------------------------------------
def _write_passages(
    documents: Iterable[SourceDocument | Unread],
    folder: Path,
    chunker: Chunker,
    skip_bad: bool,
    tell: Tell,
) -> BuiltIndex:
    in_files = isinstance(documents, Documents)
    read = 0
    wrong = BadLines()
    with PassageWriter(folder) as writer, seen_ids() as first_use:
        for number, document in enumerate(documents, 1):
            if isinstance(document, Unread):
                wrong.add(str(document))
                continue
            place = ":".join(
                map(str, document.record or (document.id if in_files else f"document {number:,}",))
            )
            if (first := first_use(document.id, place)) is not None:
                wrong.add(
                    f"{place}: its id, {document.id}, is that of {first} too; change one of them"
                )
                continue
            read += 1
            spans = list(chunker.passages(document.text))
            for part, (start, end) in enumerate(spans, 1):
                name = f"{document.id}#{part}" if len(spans) > 1 else document.id
                writer.add(Stored(name, document.text[start:end], document.id, start, end))
            tell("documents", read, None)
    if not (skip_bad and read):
        wrong.check()
    if not writer.count:
        raise UserError("there are no documents to index; name files or folders with text as DOCS")
    return BuiltIndex(folder, read, writer.count, wrong.total, tuple(wrong.lines))


async def _write_vectors(
    models: Models, stored: StoredPassages, folder: Path, indexing: Indexing, tell: Tell
) -> dict[str, Any]:
    embedder = models.backends.embedder
    assert embedder is not None
    count = len(stored)
    tell("vectors", 0, count)
    path = folder / dense.VECTORS
    texts = (indexing.instructions.passage + text for text in stored.texts())
    dimensions = await dense.embed_all(
        models, texts, count, path, lambda n: tell("vectors", n, count)
    )
    if indexing.approximate:
        tell("approximate index", 0, count)
        dense.build_approximate(dense.load_vectors(path), folder / dense.APPROXIMATE)
        tell("approximate index", count, count)
    facts = {"name": embedder.name, "identity": embedder.identity, "dimensions": dimensions}
    return {**facts, **asdict(indexing.instructions)}


def _cut(embedder: Embedder, stored: StoredPassages) -> int | None:
    """How many passages are longer than the embedder reads; None if it does not say."""
    from longmark.contrib.local.minilm import MAX_TOKENS

    count: Callable[[str], int] | None = getattr(embedder, "token_count", None)
    if count is None:
        return None
    limit = embedder.max_tokens() if hasattr(embedder, "max_tokens") else MAX_TOKENS
    if limit is None:
        return 0
    return sum(
        len(text.encode("utf-8", "replace")) > limit and count(text) > limit
        for text in stored.texts()
    )


def _write_manifest(
    folder: Path, built: BuiltIndex, indexing: Indexing, embedder: dict[str, Any] | None
) -> None:
    from longmark import __version__

    chunking = indexing.chunking
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    manifest = {
        "format": FORMAT,
        "words": WORDS_VERSION,
        "longmark": __version__,
        "documents": built.documents,
        "passages": built.passages,
        "left_out": built.bad,
        "chunk": chunking.size,
        "overlap": chunking.overlap,
        "unit": chunking.unit,
        "tokenizer": chunking.tokenizer.name if chunking.tokenizer else None,
        "bm25": {"method": METHOD, **asdict(indexing.weights)},
        "embedder": embedder,
        "files": {
            path.relative_to(folder).as_posix(): {
                "size": path.stat().st_size,
                "sha256": digest(path),
            }
            for path in files
        },
    }
    write_object(folder / MANIFEST, manifest)

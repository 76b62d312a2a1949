"""Documents to index: a folder of text, Markdown, HTML, EPUB, Word, PowerPoint, LaTeX, JATS, PDF and record files,
or one such file.

Documents are read one at a time.

A record of a JSON Lines, JSON, CSV, TSV or Parquet file is a document: its text under `text` (or `content`,
`page_content`, `passage`, `abstract`, or what a mapping says), with `title` and `id` if it has them; the title becomes
the text's first paragraph. Other fields are ignored. What is read of the other kinds, and what is left out, is in the
docstrings of markup.py (HTML, EPUB), word.py, slides.py, latex.py, jats.py and pdf.py. Pictures are not read. What
cannot be read is an `Unread`, one line for each; files of other kinds are counted, not read.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmark.contrib.make.rag import jats, latex_files, slides, word
from longmark.contrib.make.rag.epub import epub_text
from longmark.contrib.make.rag.file_text import FileText, Headings
from longmark.contrib.make.rag.front_matter import without_front_matter
from longmark.contrib.make.rag.kinds import counts_of_kinds
from longmark.contrib.make.rag.latex import latex_text
from longmark.contrib.make.rag.markdown import as_seen
from longmark.contrib.make.rag.markup import HTML, html_file_text
from longmark.contrib.make.rag.pdf import pdf_text
from longmark.contrib.make.rag.xml_tree import local_name
from longmark.errors import UnknownName, UserError
from longmark.records import sources
from longmark.records import values as check
from longmark.records.files import one_line

MARKDOWN = frozenset({".md", ".markdown"})
TEXT = frozenset({".txt", ".text"}) | MARKDOWN
_READERS = {
    ".pdf": pdf_text,
    ".epub": epub_text,
    **dict.fromkeys(HTML, html_file_text),
    **dict.fromkeys(word.SUFFIXES, word.word_text),
    **dict.fromkeys(slides.SUFFIXES, slides.slides_text),
}
READ = TEXT | sources.KINDS.keys() | _READERS.keys() | jats.SUFFIXES | latex_files.SUFFIXES
FIELDS = ("id", "title", "text")
LARGEST = 256 << 20  # bytes of a text or PDF file: they are read at once

# Commands that write a file of another kind as one that is read. The pages of pandoc keep notes, tables and formulas.
_CONVERTED = {
    "pandoc --standalone --mathml FILE -o FILE.html": frozenset({".odt", ".rtf", ".rst", ".org"}),
    "soffice --headless --convert-to pdf FILE": frozenset({".doc", ".ppt", ".odp"}),
}

_MARKDOWN_HEADING = re.compile(r"^##?[ \t]+(\S.*?)[ \t#]*$", re.MULTILINE)
_TEXTS = ("text", "content", "page_content", "passage", "abstract")


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """id: the file's path within the folder, or the record's own id, else `path:line`. record: for a record, its file's
    path within the folder and its line (JSON, Parquet: its number). pages: where each page of a PDF begins in the text,
    (): it has none. headings: those of the first two levels in HTML, EPUB and Markdown, and where they begin."""

    id: str
    text: str
    record: tuple[str, int] | None = None
    pages: tuple[int, ...] = ()
    headings: Headings = ()

    def page_at(self, place: int) -> int | None:
        """The page, from 1, of a place in the text."""
        return bisect_right(self.pages, place) or None


@dataclass(frozen=True, slots=True)
class Unread:
    """What could not be read. where: file, or file:line; why: with the remedy."""

    where: str
    why: str

    def __str__(self) -> str:
        return one_line(f"{self.where}: {self.why}")


@dataclass
class ReadFile:
    """A file of a folder. kind: its suffix; documents: what it holds, read as they are taken; left_out: what was not
    read of those that were taken -> how often; is_read: False for a file of another kind, which holds no documents."""

    name: str
    kind: str
    documents: Iterable[SourceDocument | Unread] = ()
    left_out: Counter[str] = field(default_factory=Counter)
    is_read: bool = True


@dataclass
class Documents:
    """The documents under a path; iterate to read them. mapping: a record's field (id, title, text) -> its column;
    other: suffix -> files of that kind, which are not read; omitted: what was left out of files that were.

    A link to a file outside the folder is not followed: nobody may have meant to send its text.
    UserError if there is no such path, a single file of another kind, a folder with nothing to read, or a mapping of
    another field.
    """

    path: Path
    mapping: Mapping[str, str] = field(default_factory=dict)
    other: Counter[str] = field(default_factory=Counter)
    omitted: Counter[str] = field(default_factory=Counter)
    _latex_parts: Mapping[Path, Path] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in self.mapping:
            if name not in FIELDS:
                raise UnknownName(
                    "field of --map", name, FIELDS, f"A document has {', '.join(FIELDS)}."
                )

    def __iter__(self) -> Iterator[SourceDocument | Unread]:
        for file in self.by_file():
            yield from file.documents

    def by_file(self) -> Iterator[ReadFile]:
        """The files, also those of other kinds, in their order."""
        self.other.clear()
        self.omitted.clear()
        self._latex_parts = None
        files = 0
        for file in self._files():
            if isinstance(file, Unread):
                files += 1
                yield ReadFile(file.where, "folder", [file])
                continue
            name = self._name(file)
            suffix = file.suffix.lower()
            read_file = ReadFile(name, suffix.lstrip(".") or name, is_read=suffix in READ)
            if read_file.is_read:
                files += 1
                read_file.documents = self._read(file, suffix, read_file.left_out)
                yield read_file
                self.omitted.update(read_file.left_out)
            else:
                self.other[suffix or file.name] += 1
                yield read_file
        if not files:
            kinds = ", ".join(sorted(READ))
            note = f" (it has {counts_of_kinds(self.other)})" if self.other else ""
            raise UserError(
                f"{self.path} has no documents{note}; longmark reads {kinds}."
                f"{_conversions(self.other)}"
            )

    def left_out(self) -> str | None:
        """A note on the files of other kinds, and on what was left out of those that were read; None if there is none."""
        notes = []
        if self.other:
            count = sum(self.other.values())
            notes.append(
                f"{count:,} file{'s' if count > 1 else ''} of other kinds ignored: {counts_of_kinds(self.other)}."
                f"{_conversions(self.other)}"
            )
        if self.omitted:
            notes.append(f"Left out of what was read: {counts_of_kinds(self.omitted)}.")
        return " ".join(notes) or None

    def _name(self, file: Path) -> str:
        return file.name if file == self.path else file.relative_to(self.path).as_posix()

    def _check(self, file: Path) -> None:
        """ValueError if a file is not to be read."""
        if not file.exists():
            raise ValueError("is a link to a file that does not exist; remove it")
        if not file.is_file():
            raise ValueError("is not a regular file; remove it")
        inside = Path(os.path.realpath(file)).is_relative_to(os.path.realpath(self.path))
        if file.is_symlink() and file != self.path and not inside:
            raise ValueError(
                "is a link to a file outside the folder; copy the file into the folder"
            )

    def _files(self) -> Iterator[Path | Unread]:
        """The files in their order; after them the folders that cannot be listed."""
        if self.path.is_file():
            yield self.path
            return
        if not self.path.is_dir():
            raise UserError(f"{self.path} does not exist")
        closed: list[OSError] = []
        for folder, folders, names in os.walk(self.path, onerror=closed.append):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(names):
                if not name.startswith("."):
                    yield Path(folder, name)
        for error in closed:
            yield Unread(self._name(Path(error.filename)), f"cannot be read: {error.strerror}")

    def _read(
        self, file: Path, suffix: str, left_out: Counter[str]
    ) -> Iterator[SourceDocument | Unread]:
        name = self._name(file)
        try:
            self._check(file)
            if suffix in sources.KINDS:
                yield from _records(file, name, self.mapping)
                return
            if (size := file.stat().st_size) > LARGEST:
                yield Unread(
                    name,
                    f"has {size >> 20:,} MiB, more than the {LARGEST >> 20} that are read; split it",
                )
                return
            if suffix in jats.SUFFIXES:
                yield from self._articles(file, name, left_out)
                return
            if suffix in latex_files.SUFFIXES:
                if Path(os.path.realpath(file)) in self._parts_of_latex():
                    left_out["files that are part of another one (LaTeX)"] += 1
                    return
                content = latex_text(file, LARGEST, self.path if self.path.is_dir() else None)
            else:
                content = _READERS.get(suffix, _plain)(file, LARGEST)
            left_out.update(content.left_out)
        except ValueError as error:
            yield Unread(name, str(error))
        except OSError as error:
            yield Unread(name, f"cannot be read: {error.strerror or error}")
        else:
            yield (
                SourceDocument(
                    name,
                    content.text,
                    pages=content.pages,
                    headings=content.headings,
                )
                if content.text.strip()
                else Unread(name, "is empty")
            )

    def _parts_of_latex(self) -> Mapping[Path, Path]:
        """The LaTeX files that others read, which are no documents of their own."""
        if self._latex_parts is None:
            paths = (
                path
                for path in self._files()
                if isinstance(path, Path) and path.suffix.lower() in latex_files.SUFFIXES
            )
            self._latex_parts = latex_files.parts_of_others(paths, LARGEST)
        return self._latex_parts

    def _articles(
        self, file: Path, name: str, left_out: Counter[str]
    ) -> Iterator[SourceDocument | Unread]:
        """The articles of an XML file; one of another kind counts as such, or is `Unread` where it was named itself."""
        root = jats.root_of(file.read_bytes())
        kind = local_name(root)
        if kind not in jats.ROOTS:
            if file == self.path:
                raise ValueError(
                    f"is XML with the root {kind}; articles in JATS and records of PubMed are read"
                )
            self.other[f".xml ({kind})"] += 1
            left_out["XML files that are no articles"] += 1
            return
        whole = kind in ("article", "book-part-wrapper", "PubmedArticle")
        for number, article in enumerate(jats.articles(root), 1):
            left_out.update(article.left_out)
            place = name if whole else f"{name}:{article.id or number}"
            if article.text.strip():
                yield SourceDocument(place, article.text, headings=article.headings)
            else:
                yield Unread(place, "is empty")


def _plain(file: Path, _limit: int) -> FileText:
    text = _text(file.read_bytes())
    if file.suffix.lower() not in MARKDOWN:
        return FileText(text)
    text, fields = without_front_matter(text)
    text, left_out = as_seen(text)
    left_out["fields of front matter"] += fields
    marked = _MARKDOWN_HEADING.finditer(text)
    headings = tuple((heading.start(), heading[1]) for heading in marked)
    return FileText(text, headings, left_out=dict(+left_out))


def _text(raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("is UTF-16; save it as UTF-8")
    if b"\0" in raw:
        raise ValueError("is binary, not text; remove it, or give it its own suffix")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"is not UTF-8 (byte 0x{raw[error.start]:02X} at {error.start:,}); save it as UTF-8"
        ) from None


def _records(
    file: Path, name: str, mapping: Mapping[str, str]
) -> Iterator[SourceDocument | Unread]:
    if not file.stat().st_size:
        yield Unread(name, "is empty")
        return
    try:
        for line, record in sources.records(file, sources.KINDS[file.suffix.lower()]):
            place = f"{name}:{line}"
            if isinstance(record, sources.UnreadableRecord):
                yield Unread(place, record.message)
                continue
            try:
                yield _document(record, name, line, mapping)
            except ValueError as error:
                yield Unread(place, str(error))
    except UserError as error:  # the file as a whole
        yield Unread(name, str(error).removeprefix(f"{file} "))


def _document(record: Any, file: str, line: int, mapping: Mapping[str, str]) -> SourceDocument:
    if not isinstance(record, dict):
        raise ValueError(f"expected an object with a text, found {check.found(record)}")
    names = (mapping["text"],) if "text" in mapping else _TEXTS
    name = next((name for name in names if record.get(name) is not None), None)
    if name is None:
        raise ValueError(f"has no text; it is expected under {', '.join(names)}")
    title_name = mapping.get("title", "title")
    id_name = mapping.get("id", "id")
    try:
        text = check.text(name, record[name])
        title = check.text(title_name, record.get(title_name) or "").strip()
        own_id = None if record.get(id_name) is None else check.name(id_name, record[id_name])
        if own_id is None and "id" in mapping:
            raise ValueError(f"has no id; --map expects it under {id_name}")
    except check.Problem as problem:
        raise ValueError(str(problem)) from None
    if not text.strip():
        raise ValueError(f"{name}: is empty")
    return SourceDocument(
        own_id or f"{file}:{line}", f"{title}\n\n{text}" if title else text, (file, line)
    )


def _conversions(kinds: Counter[str]) -> str:
    """The commands that make readable files of these kinds; empty if we know of none."""
    commands = []
    for command, suffixes in _CONVERTED.items():
        if present := sorted(suffixes & kinds.keys()):
            commands.append(f" To index {', '.join(present)}, convert each file: {command}.")
    return "".join(commands)

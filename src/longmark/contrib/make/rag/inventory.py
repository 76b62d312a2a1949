"""What would become of a folder's files: documents, characters and passages by file, and what is left out, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from longmark.contrib.make.rag.chunk import Chunker, Chunking
from longmark.contrib.make.rag.documents import Documents, ReadFile, Unread
from longmark.contrib.make.rag.kinds import counts_of_kinds
from longmark.records.files import one_line
from longmark.records.read import seen_ids
from longmark.report.tables import Column, Table

_MOST_REASONS = 3  # of a file, in the table
NOT_READ = "not a kind of document that is read"


@dataclass
class FileInventory:
    """A file. kind: its suffix; characters: of its documents; passages: what they are split into; left_out: what was
    not read -> how often; unread: why parts of it, or all of it, are no documents."""

    name: str
    kind: str
    documents: int = 0
    characters: int = 0
    passages: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    unread: list[str] = field(default_factory=list)
    unread_count: int = 0
    is_read: bool = True

    def add_unread(self, reason: str) -> None:
        self.unread_count += 1
        if len(self.unread) < _MOST_REASONS:
            self.unread.append(one_line(reason))

    @property
    def reasons(self) -> str:
        """Why parts of it are not read; empty if all of it is."""
        uncounted = self.unread_count - len(self.unread)
        return "; ".join(self.unread) + (f"; and {uncounted:,} more" if uncounted > 0 else "")


def inventory(documents: Documents, chunking: Chunking) -> Iterator[FileInventory]:
    """A row for each file, in their order. Errors as of `Documents`."""
    chunker = Chunker(chunking)
    with seen_ids() as first_use:
        for file in documents.by_file():
            row = FileInventory(file.name, file.kind, is_read=file.is_read)
            if not file.is_read:
                row.unread.append(NOT_READ)
            _count_documents(row, file, chunker, first_use)
            row.left_out.update(file.left_out)
            yield row


def _count_documents(
    row: FileInventory,
    file: ReadFile,
    chunker: Chunker,
    first_use: Callable[[str, int | str], int | str | None],
) -> None:
    for document in file.documents:
        if isinstance(document, Unread):
            place = document.where.removeprefix(f"{file.name}:")
            row.add_unread(document.why if place == file.name else f"{place}: {document.why}")
            continue
        if (first := first_use(document.id, file.name)) is not None:
            row.add_unread(f"the id {document.id} is used in {first}, too; change one of them")
            continue
        row.documents += 1
        row.characters += len(document.text)
        row.passages += sum(1 for _ in chunker.passages(document.text))


def as_table(rows: Sequence[FileInventory]) -> Table:
    """The rows and their sum."""
    columns = ("file", "kind", "documents", "characters", "passages", "left out", "not read")
    cells = [
        (
            row.name,
            row.kind,
            row.documents,
            row.characters,
            row.passages,
            counts_of_kinds(row.left_out),
            row.reasons,
        )
        for row in rows
    ]
    unread = sum(row.unread_count for row in rows)
    total = (
        "all",
        "",
        sum(row.documents for row in rows),
        sum(row.characters for row in rows),
        sum(row.passages for row in rows),
        counts_of_kinds(sum((row.left_out for row in rows), Counter[str]())),
        f"{unread:,}" if unread else "",
    )
    return Table("files", "Files", tuple(map(Column, columns)), (*cells, total))

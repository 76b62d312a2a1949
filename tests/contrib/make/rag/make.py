"""What the tests of retrieval are made of: PDF files by hand, indexes of a few texts, models behind the client."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longmark.contrib.make.rag import index
from longmark.contrib.make.rag.documents import SourceDocument
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.handles import Backends, Models
from longmark.prompts import PromptBook


def models(
    home: Path, *, generator: Any = None, embedder: Any = None, book: PromptBook | None = None
) -> Models:
    """The models of a verb with a call cache in `home`."""
    backends = Backends(generator=generator, embedder=embedder)
    return Models(
        backends, Client(CallCache(home / "calls.sqlite")), UsageLog(), book or PromptBook()
    )


def made(
    home: Path, texts: Sequence[str], *, given: Models | None = None, **options: Any
) -> index.Index:
    """The index of texts; their ids are their numbers, from 0."""
    documents = [SourceDocument(str(number), text) for number, text in enumerate(texts)]
    asyncio.run(index.build(documents, home / "idx", index.Indexing(**options), models=given))
    return index.load(home / "idx")


def pdf(pages: Sequence[str]) -> bytes:
    """A PDF file with a line of text on each page, written by the book (ISO 32000, 7.5)."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        fonts = "/Resources << /Font << /F1 3 0 R >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {fonts} /Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    return pdf_of(objects)


def pdf_of(objects: Sequence[str]) -> bytes:
    """A PDF file of these objects, numbered from 1; the first is the catalog."""
    body, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}".encode("latin-1")

"""PDF files as plain text, by pypdf."""

from __future__ import annotations

import logging
from itertools import accumulate
from pathlib import Path

from longmark.contrib.make.rag.file_text import FileText
from longmark.errors import library

MOST_PAGES = 20_000


def pdf_text(path: Path, limit: int) -> FileText:
    """The pages' texts, a blank line between them. limit: characters. ValueError, with the remedy, if there is no text."""
    pypdf = library("pypdf", "reading PDF files", "rag")
    logger = logging.getLogger("pypdf")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)  # it warns of every small fault that it mends
    try:
        with path.open("rb") as file:
            reader = pypdf.PdfReader(file)
            if reader.is_encrypted and not reader.decrypt(""):
                raise _Refused("is encrypted and needs a password; save it without one")
            if (count := len(reader.pages)) > MOST_PAGES:
                raise _Refused(
                    f"has {count:,} pages, more than the {MOST_PAGES:,} that are read; split it"
                )
            pages = []
            size = 0
            for page in reader.pages:
                # A font may map a glyph to half of a surrogate pair, or to nothing.
                pages.append(
                    page.extract_text().encode("utf-8", "replace").decode().replace("\0", "")
                )
                if (size := size + len(pages[-1])) > limit:
                    raise _Refused(f"has more than {limit >> 20} Mi characters of text; split it")
    except (OSError, _Refused):
        raise
    except pypdf.errors.DependencyError:
        raise ValueError(
            "is encrypted with AES; save it without encryption, or: pip install cryptography"
        ) from None
    except Exception as error:  # a broken file makes pypdf fail in many ways
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise ValueError(
            f"cannot be read as PDF ({reason}); print it to a new PDF, or remove it"
        ) from None
    finally:
        logger.setLevel(before)
    pages = [page.strip() for page in pages]
    if not any(pages):
        raise ValueError(
            "has no text, as scanned pages have none; recognise it (OCR), for example with: "
            "ocrmypdf SCAN.pdf TEXT.pdf"
        )
    starts = accumulate((len(page) + 2 for page in pages[:-1]), initial=0)
    return FileText("\n\n".join(pages), pages=tuple(starts))


class _Refused(ValueError):
    """A PDF file is not read, for a reason of ours."""

"""PDF files as plain text, by pypdf: the lines of their pages in the order in which the file draws them, without running
heads and feet, and with words in one that are divided at the end of a line (pdf_lines.py). Raised digits are told from
others, and Arabic and Hebrew lines are as they are read (pdf_page.py). Pages that are pictures are counted. Rows of
tables are lines without marks between cells; footnotes stand at the end of their page.
"""

from __future__ import annotations

import logging
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import Any

from longmark.contrib.make.rag.file_text import BETWEEN, FileText
from longmark.contrib.make.rag.pdf_lines import joined_words, without_running_heads
from longmark.contrib.make.rag.pdf_page import page_text
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
            lost: Counter[str] = Counter()
            size = pictures = 0
            for page in reader.pages:
                pages.append(page_text(page, lost))
                pictures += not pages[-1].strip() and _has_picture(page)
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
    if not any(page.strip() for page in pages):
        raise ValueError(
            "has no text, as scanned pages have none; recognise it (OCR), for example with: "
            "ocrmypdf SCAN.pdf TEXT.pdf"
        )
    pages, running_heads = without_running_heads([page.strip() for page in pages])
    pages = joined_words(pages)
    left_out = {
        "running heads and feet": running_heads,
        "pages that are pictures, as of a scan (ocrmypdf adds their text)": pictures,
        **lost,
    }
    starts = accumulate((len(page) + len(BETWEEN) for page in pages[:-1]), initial=0)
    return FileText(
        BETWEEN.join(pages),
        pages=tuple(starts),
        left_out={reason: count for reason, count in left_out.items() if count},
    )


def _has_picture(page: Any) -> bool:
    """Whether a page of pypdf has an image, as a scanned one does."""
    resources = page.get("/Resources")
    objects = resources.get_object().get("/XObject") if resources is not None else None
    images = objects.get_object().values() if objects is not None else ()
    return any(image.get_object().get("/Subtype") == "/Image" for image in images)


class _Refused(ValueError):
    """A PDF file is not read, for a reason of ours."""

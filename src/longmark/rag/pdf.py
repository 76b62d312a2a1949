"""The text of a PDF file, by pypdf: its pages in their order, a blank line between them. Pictures are not read."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longmark.errors import MissingExtra

_QUIET = logging.CRITICAL + 1


def text(path: Path) -> str:
    """The text. ValueError, with how to mend it on one line, where there is none to be had."""
    try:
        import pypdf
        from pypdf.errors import DependencyError
    except ImportError:
        raise MissingExtra("reading PDF files", "rag") from None
    try:
        with path.open("rb") as file, _no_warnings():
            reader = pypdf.PdfReader(file)
            if reader.is_encrypted and not reader.decrypt(""):
                raise _Encrypted("is encrypted and needs a password; save it without one")
            found = "\n\n".join(page.strip() for page in _pages(reader)).strip()
    except (OSError, _Encrypted):
        raise
    except DependencyError:
        raise ValueError("is encrypted with AES; save it without encryption, or: pip install cryptography") from None
    except Exception as error:  # a broken file makes pypdf fail in many ways
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        raise ValueError(f"cannot be read as PDF ({reason}); print it to a new PDF, or remove it") from None
    if not found:
        raise ValueError("has no text (is it a scan?); have its text recognised first, or remove it")
    return found


class _Encrypted(ValueError):
    """A password is needed."""


def _pages(reader: Any) -> Iterator[str]:
    for page in reader.pages:
        # A font may map a glyph to half of a surrogate pair, or to nothing.
        yield page.extract_text().encode("utf-8", "replace").decode().replace("\0", "")


@contextlib.contextmanager
def _no_warnings() -> Iterator[None]:
    """pypdf warns of every small fault that it mends: nothing that a reader of our messages could use."""
    logger = logging.getLogger("pypdf")
    before = logger.level
    logger.setLevel(_QUIET)
    try:
        yield
    finally:
        logger.setLevel(before)

"""The files of a LaTeX document: what it reads with `\\input` and its like, from its folder alone."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

SUFFIXES = frozenset({".tex", ".latex", ".ltx"})
MOST_FILES = 2_000  # that a document reads, each as often as it does
DEEPEST = 20  # files that read each other

_INCLUDED = re.compile(r"^[^%\n]*?\\(?:input|include|subfile)\s*\{([^{}\n]{1,300})\}", re.MULTILINE)
_MAIN = re.compile(
    r"^[^%\n]*?\\documentclass\s*(?:\[[^\]]*\])?\s*\{(?!subfiles|standalone)", re.MULTILINE
)
_BODY = re.compile(r"(?s)\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)")
_ENCODING = re.compile(rb"\\usepackage\s*\[([a-z0-9]+)\]\s*\{inputenc\}")
_ENCODINGS = {
    "latin1": "iso-8859-1",
    "latin2": "iso-8859-2",
    "latin5": "iso-8859-9",
    "latin9": "iso-8859-15",
    "ansinew": "cp1252",
    "cp1250": "cp1250",
    "cp1251": "cp1251",
    "cp1252": "cp1252",
    "koi8-r": "koi8-r",
    "applemac": "mac-roman",
}


@dataclass
class LatexFiles:
    """Reads the files of a document. folder: nothing outside it is read; limit: bytes of all."""

    main: Path
    folder: Path
    limit: int
    left_out: Counter[str] = field(default_factory=Counter)
    _encoding: str = "utf-8"
    _bytes: int = 0
    _files: int = 0

    def source(self) -> str:
        """The text of the document's own file. ValueError if it is none."""
        raw = self.main.read_bytes()
        if (declared := _ENCODING.search(raw)) is not None:
            self._encoding = _ENCODINGS.get(declared[1].decode("ascii"), "utf-8")
        return self._decoded(raw, "")

    def included(self, name: str, within: Path | None = None) -> str | None:
        """The text of a file that the document reads; None, and counted, if it is not to be had. within: the folder that
        `\\import` names."""
        written = name.strip().strip('"')
        path = _existing((within or self.main.parent) / written)
        if path is None:
            self.left_out[f"missing file {written}"] += 1
            return None
        real = os.path.realpath(path)
        if not Path(real).is_relative_to(os.path.realpath(self.folder)):
            self.left_out[f"file outside the folder, {written}"] += 1
            return None
        if path.suffix.lower() not in SUFFIXES:
            self.left_out[f"{path.suffix} files that it reads"] += 1
            return None
        self._files += 1
        if self._files > MOST_FILES:
            raise ValueError(f"reads more than {MOST_FILES:,} files; split it")
        text = self._decoded(path.read_bytes(), f"{written}: ")
        body = _BODY.search(text)
        return body[1] if body else text

    def _decoded(self, raw: bytes, prefix: str) -> str:
        self._bytes += len(raw)
        if self._bytes > self.limit:
            raise ValueError(f"has more than {self.limit >> 20:,} MiB with its files; split it")
        if b"\0" in raw:
            raise ValueError(f"{prefix}is binary, not text; remove it, or give it its own suffix")
        try:
            return raw.removeprefix(b"\xef\xbb\xbf").decode(self._encoding).replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{prefix}is not UTF-8 (byte 0x{raw[error.start]:02X} at {error.start:,}); save it as UTF-8"
            ) from None


def _existing(path: Path) -> Path | None:
    """The file of a name that may lack its suffix."""
    for candidate in (path, path.with_name(path.name + ".tex")):
        try:
            if candidate.is_file():
                return candidate
        except (OSError, ValueError):  # a name that no file can have
            return None
    return None


def parts_of_others(paths: Iterable[Path], limit: int) -> Mapping[Path, Path]:
    """The files among these that others of them read with `\\input` -> one that does, by real paths. A document that
    begins itself is none."""
    included: dict[Path, list[str]] = {}
    mains: list[Path] = []
    for path in paths:
        try:
            if not path.is_file() or path.stat().st_size > limit:
                continue
            source = path.read_bytes().decode("utf-8", "replace")
        except OSError:
            continue
        included[path] = _INCLUDED.findall(source)
        if _MAIN.search(source):
            mains.append(path)
    folders = dict.fromkeys(path.parent for path in mains)  # parts name their own from there
    parts: dict[Path, Path] = {}
    for path, names in included.items():
        for written in names:
            candidates = (
                _existing(folder / written.strip().strip('"'))
                for folder in dict.fromkeys((path.parent, *folders))
            )
            part = next((candidate for candidate in candidates if candidate is not None), None)
            if part is not None:
                parts.setdefault(Path(os.path.realpath(part)), path)
    whole = {Path(os.path.realpath(path)) for path in mains}
    return {part: reader for part, reader in parts.items() if part not in whole}

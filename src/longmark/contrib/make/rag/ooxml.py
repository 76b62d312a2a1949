"""The packages of Office (DOCX, PPTX): a zip file of XML parts, with the relations between them."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.contrib.make.rag.archives import BROKEN, Unpacked
from longmark.contrib.make.rag.xml_tree import (
    attribute,
    child,
    descendants,
    local_name,
    parsed,
    words_of,
)

_OLD_OR_ENCRYPTED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True, slots=True)
class PackageRelation:
    """What a part of a package refers to. kind: the last word of its type, as `slide`; target: the name of a part."""

    kind: str
    target: str


@dataclass(frozen=True)
class Package:
    """An open package. names: of its parts."""

    names: frozenset[str]
    _unpacked: Unpacked
    _program: str

    def part(self, name: str) -> Any:
        """The root of a part."""
        return parsed(self._unpacked.read(name), f"{self._program} documents")

    def relations(self, name: str) -> dict[str, PackageRelation]:
        """What a part refers to, by the relations' ids; what lies outside the package is not among them."""
        folder, file = posixpath.split(name)
        listed = posixpath.join(folder, "_rels", f"{file}.rels")
        if listed not in self.names:
            return {}
        relations = {}
        for node in self.part(listed):
            if local_name(node) != "Relationship" or attribute(node, "TargetMode") == "External":
                continue
            target = posixpath.normpath(posixpath.join("/", folder, attribute(node, "Target")))
            kind = attribute(node, "Type").rpartition("/")[2]
            relations[attribute(node, "Id")] = PackageRelation(kind, target.lstrip("/"))
        return relations


@contextmanager
def opened(path: Path, limit: int, suffix: str, program: str) -> Iterator[Package]:
    """The package of a file while it is open. limit: bytes when unpacked. ValueError, with the remedy, for a file that
    is none, is encrypted or too large, also where the reader of its parts finds that."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield Package(frozenset(archive.namelist()), Unpacked(archive, limit), program)
    except zipfile.BadZipFile:
        if path.read_bytes()[:8] == _OLD_OR_ENCRYPTED:
            raise ValueError(
                f"is encrypted, or of {program} 97 to 2003; save it as {suffix} without a password"
            ) from None
        raise ValueError(
            f"cannot be read as {suffix[1:].upper()}; save it again, or remove it"
        ) from None
    except BROKEN as error:
        why = " ".join(str(error).split())[:120] or type(error).__name__
        raise ValueError(
            f"cannot be read as {suffix[1:].upper()} ({why}); save it again, or remove it"
        ) from None


def relation_id(node: Any, name: str = "id") -> str:
    """The id of a relation that an element names; its own `id` has no namespace."""
    return next(
        (str(v) for key, v in node.items() if key[0] == "{" and key.endswith("}" + name)), ""
    )


def chosen(alternatives: Any) -> Any:
    """What a program of today shows of several forms of one thing: the first choice, else what is there for older ones."""
    for name in ("Choice", "Fallback"):
        form = child(alternatives, name)
        if form is not None:
            return form
    return ()


def texts_of_diagram(data: Any) -> list[str]:
    """The texts of a diagram (SmartArt) in one line each, in the order in which they were entered."""
    texts = []
    for point in descendants(data, "pt"):
        if attribute(point, "type") in ("", "node", "asst"):
            paragraphs = [words_of(paragraph) for paragraph in descendants(point, "p")]
            texts += [text for text in paragraphs if text]
    return texts

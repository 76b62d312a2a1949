"""XML of documents, read without what its entities and document type would load, as events of a page of HTML."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from longmark.contrib.make.rag.markup import MOST_TAGS
from longmark.contrib.make.rag.paragraphs import ParagraphCollector
from longmark.errors import library

DEEPEST = 200  # elements in each other; lxml itself stops at 256


def parsed(raw: bytes, kind: str) -> Any:
    """The root of an XML file. ValueError, with the reason, for one that is none; nothing outside it is loaded."""
    etree = library("lxml.etree", f"reading {kind}", "rag")
    if (tags := raw.count(b"<")) > MOST_TAGS:
        raise ValueError(f"has {tags:,} tags, more than the {MOST_TAGS:,} that are read; split it")
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        return etree.fromstring(raw, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        reason = " ".join(str(error).split())[:120]
        raise ValueError(f"cannot be read as XML ({reason}); save it again, or remove it") from None


def local_name(node: Any) -> str:
    """The name of an element without its namespace; empty for an entity that was not resolved."""
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def attribute(node: Any, name: str) -> str:
    """The value of an attribute by its name without a namespace; empty if there is none."""
    return next((str(v) for key, v in node.items() if key.rpartition("}")[2] == name), "")


def child(node: Any, *path: str) -> Any | None:
    """The first element below by local names; None if there is none."""
    for name in path:
        node = next((part for part in node if local_name(part) == name), None)
        if node is None:
            return None
    return node


def descendants(node: Any, name: str) -> Iterator[Any]:
    return (part for part in node.iter() if local_name(part) == name)


def words_of(node: Any) -> str:
    """All text of an element in one line."""
    return " ".join("".join(node.itertext()).split())


@dataclass
class PageOfXml:
    """Writes elements of XML as those of HTML. left_out: what was not written -> how often."""

    paragraphs: ParagraphCollector = field(default_factory=lambda: ParagraphCollector(10 * DEEPEST))
    left_out: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.paragraphs.left_out = self.left_out

    def text(self, text: str | None) -> None:
        if text:
            self.paragraphs.data(text)

    def entity(self, node: Any) -> None:
        """A character by its name; a name that HTML does not know is left out."""
        character = html.unescape(node.text or "")
        if character.startswith("&"):
            self.left_out["unknown entities"] += 1
        else:
            self.text(character)

    def start(self, tag: str, attributes: Mapping[str, str] | None = None) -> None:
        self.paragraphs.start(tag, attributes or {})

    def end(self, tag: str) -> None:
        self.paragraphs.end(tag)

    def whole(self, tag: str, text: str) -> None:
        """An element with a text."""
        self.start(tag)
        self.text(text)
        self.end(tag)

    def formula(self, node: Any) -> None:
        """MathML as it stands."""
        attributes = {key.rpartition("}")[2]: str(value) for key, value in node.items()}
        self.start(local_name(node), attributes)
        self.text(node.text)
        for part in node:
            if local_name(part):
                self.formula(part)
            else:
                self.entity(part)
            self.text(part.tail)
        self.end(local_name(node))

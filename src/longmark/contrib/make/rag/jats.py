"""Articles in JATS, the XML of PubMed Central and of publishers, and records of PubMed, as plain text.

Of an article: titles, authors, notes, abstracts, keywords, funding, body, tables (also in OASIS' form), captions,
acknowledgements and appendices; affiliations are counted, its list of references is
left out and counted, as are reviews that came with it. A file may hold several articles. Of a record of PubMed: title
and abstract. Formulas are read from MathML, else from their TeX.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from longmark.contrib.make.rag.file_text import Headings
from longmark.contrib.make.rag.kinds import STRUCK
from longmark.contrib.make.rag.paragraphs import joined
from longmark.contrib.make.rag.xml_tree import (
    PageOfXml,
    attribute,
    child,
    descendants,
    local_name,
    parsed,
    words_of,
)

SUFFIXES = frozenset({".nxml", ".xml"})
ROOTS = frozenset(
    {"article", "pmc-articleset", "PubmedArticleSet", "PubmedArticle", "book-part-wrapper"}
)

# JATS -> the element of HTML that stands for it; what is in no list here is inline, and its text is kept.
_AS_HTML = {
    "back": "section",
    "body": "body",
    "boxed-text": "div",
    "break": "br",
    "code": "pre",
    "def": "dd",
    "def-list": "dl",
    "disp-formula": "p",
    "entry": "td",  # of tables in OASIS' form
    "row": "tr",
    "disp-quote": "blockquote",
    "ext-link": "a",
    "fig": "figure",
    "fn": "p",
    "list": "ul",
    "list-item": "li",
    "preformat": "pre",
    "speech": "div",
    "statement": "div",
    "strike": "s",
    "sub": "sub",
    "sup": "sup",
    "table": "table",
    "table-wrap": "figure",
    "table-wrap-foot": "div",
    "tbody": "tbody",
    "td": "td",
    "term": "dt",
    "tfoot": "tfoot",
    "th": "th",
    "thead": "thead",
    "tr": "tr",
    "verse-line": "p",
    "xref": "a",
    # ruby, as in HTML
    "rt": "rt",
    "rp": "rp",
}
_LEFT_OUT = {
    "ref": "references",
    "graphic": "pictures",
    "inline-graphic": "pictures",
    "media": "supplements",
    "supplementary-material": "supplements",
    "sub-article": "reviews and letters with the article",
    "response": "reviews and letters with the article",
    "strike": STRUCK,
}
_ORDERED = {  # types of lists -> those of HTML
    "order": "1",
    "alpha-lower": "a",
    "alpha-upper": "A",
    "roman-lower": "i",
    "roman-upper": "I",
}
_SECTIONS = frozenset({"abstract", "ack", "app", "sec", "trans-abstract"})
_SILENT = frozenset({"alt-text", "long-desc", "object-id", "permissions", "processing-meta"})
_TEX_DOCUMENT = re.compile(r"(?s)\\begin\{document\}(.*)\\end\{document\}")


@dataclass(frozen=True)
class XmlArticle:
    """An article or record. id: its number in PubMed or PubMed Central; empty if it has none."""

    id: str
    text: str
    headings: Headings
    left_out: dict[str, int]


def root_of(raw: bytes) -> Any:
    """The root of an XML file."""
    return parsed(raw, "XML")


def articles(root: Any) -> Iterator[XmlArticle]:
    """The articles and records below a root of `ROOTS`."""
    found_article = False
    for node in root.iter():
        name = local_name(node)
        if name == "PubmedArticle":
            found_article = True
            yield _record(node)
        elif name in ("article", "book-part"):
            if any(local_name(above) in ("article", "book-part") for above in node.iterancestors()):
                continue
            found_article = True
            yield _article(node)
    if not found_article:
        raise ValueError(f"is XML with the root {local_name(root)}, and has no article")


def _article(article: Any) -> XmlArticle:
    page = PageOfXml()
    meta = next(descendants(article, "article-meta"), None)
    if meta is None:
        meta = next(descendants(article, "book-part-meta"), None)
    number = ""
    if meta is not None:
        number = _number(meta)
        title = child(meta, "title-group", "article-title")
        if title is None:
            title = child(meta, "title-group", "title")
        if title is not None:
            _as(page, title, "h1", 0)
        _front(page, meta)
    notes = child(article, "front", "notes")
    if notes is not None:
        _element(page, notes, 0)
    for name in ("body", "floats-group", "back"):
        part = child(article, name)
        if part is not None:
            _element(page, part, 0)
    for name in ("sub-article", "response"):
        page.left_out[_LEFT_OUT[name]] += sum(local_name(part) == name for part in article)
    page.paragraphs.close()
    text, headings = joined(page.paragraphs)
    return XmlArticle(number, text, headings, dict(+page.left_out))


def _front(page: PageOfXml, meta: Any) -> None:
    """What stands before the text of an article, without its title."""
    titles = child(meta, "title-group")
    for part in () if titles is None else titles:
        name = local_name(part)
        if name == "subtitle":
            _as(page, part, "p", 0)
        elif name == "trans-title-group":
            for title in part:
                _as(page, title, "p", 0)
    contributors = [node for part in meta if local_name(part) == "contrib-group" for node in part]
    authors = [
        _name(name) if local_name(name) == "name" else words_of(name)
        for contributor in contributors
        for name in contributor
        if local_name(name) in ("name", "collab", "string-name")
    ]
    page.whole("p", ", ".join(filter(None, authors)))
    page.left_out["affiliations of authors"] += sum(1 for _ in descendants(meta, "aff"))
    for part in meta:
        name = local_name(part)
        if name in ("abstract", "trans-abstract", "author-notes"):
            _element(page, part, 0)
        elif name == "kwd-group":
            page.whole("p", ", ".join(words_of(word) for word in descendants(part, "kwd")))
        elif name == "funding-group":
            for statement in descendants(part, "funding-statement"):
                _as(page, statement, "p", 0)


def _name(name: Any) -> str:
    """A person's name in its usual order."""
    parts = [child(name, kind) for kind in ("given-names", "surname", "suffix")]
    return " ".join(words_of(part) for part in parts if part is not None)


def _number(meta: Any) -> str:
    """PMC's number of an article, else PubMed's, else its DOI."""
    by_kind = {
        attribute(part, "pub-id-type"): words_of(part)
        for part in meta
        if local_name(part) == "article-id"
    }
    return next(
        (by_kind[kind] for kind in ("pmc", "pmcid", "pmid", "doi") if by_kind.get(kind)), ""
    )


def _record(record: Any) -> XmlArticle:
    """A record of PubMed; the labels of its abstract's parts are headings."""
    page = PageOfXml()
    title = next(descendants(record, "ArticleTitle"), None)
    if title is not None:
        _as(page, title, "h1", 0)
    for part in descendants(record, "AbstractText"):
        if label := attribute(part, "Label"):
            page.whole("h2", label.capitalize())
        _as(page, part, "p", 0)
    page.paragraphs.close()
    text, headings = joined(page.paragraphs)
    number = next(descendants(record, "PMID"), None)
    return XmlArticle(
        words_of(number) if number is not None else "", text, headings, dict(+page.left_out)
    )


def _element(page: PageOfXml, node: Any, depth: int) -> None:
    """An element with all that is in it. depth: of sections around it."""
    name = local_name(node)
    if name in _SILENT:
        return
    if name in _LEFT_OUT:
        page.left_out[_LEFT_OUT[name]] += 1
        return
    if name == "ref-list":  # its heading says nothing without its entries
        page.left_out["references"] += sum(1 for _ in descendants(node, "ref"))
        return
    if name == "alternatives":
        if len(node):
            _element(page, _best(node), depth)
    elif name == "math":
        page.formula(node)
    elif name == "tex-math":
        page.text(_tex(node))
    elif name == "title":
        above = local_name(node.getparent())
        _labelled(page, node, ("h2" if depth == 1 else "h3") if above in _SECTIONS else "p", depth)
    elif name == "p":
        _labelled(page, node, "p", depth)
    elif name == "list":
        is_ordered = attribute(node, "list-type") in _ORDERED and not any(
            child(item, "label") is not None for item in node
        )
        _as(page, node, "ol" if is_ordered else "ul", depth)
    elif name == "label":
        if _next_name(node) not in ("title", "p"):  # else it is written with that
            _as(page, node, "div", depth)
    elif name == "caption":
        _as(page, node, "div", depth)
    elif name in _SECTIONS:
        _as(page, node, "section", depth + 1)
    else:
        _as(page, node, _AS_HTML.get(name, "span"), depth)


def _as(page: PageOfXml, node: Any, tag: str, depth: int) -> None:
    """An element as one of HTML."""
    spans = {"colspan": attribute(node, "colspan"), "rowspan": attribute(node, "rowspan")}
    if local_name(node) == "entry":
        spans = _spans_of_entry(node)
    if tag == "ol":
        spans = {"type": _ORDERED[attribute(node, "list-type")]}
    page.start(tag, spans if tag in ("td", "th", "ol") else None)
    page.text(node.text)
    for part in node:
        if local_name(part):
            _element(page, part, depth)
        else:
            page.entity(part)
        page.text(part.tail)
    page.end(tag)


def _spans_of_entry(entry: Any) -> dict[str, str]:
    """How many columns and rows a cell of a table in OASIS' form spans."""
    rows = attribute(entry, "morerows")
    first = attribute(entry, "namest")
    last = attribute(entry, "nameend")
    spans = {"rowspan": str(int(rows[:5]) + 1) if rows.isascii() and rows.isdigit() else ""}
    group = next((node for node in entry.iterancestors() if local_name(node) == "tgroup"), None)
    if first and last and group is not None:
        names = [attribute(node, "colname") for node in group if local_name(node) == "colspec"]
        if first in names and last in names:
            spans["colspan"] = str(max(1, names.index(last) - names.index(first) + 1))
    return spans


def _labelled(page: PageOfXml, node: Any, tag: str, depth: int) -> None:
    """A title or paragraph, behind the label that stands before it."""
    label = node.getprevious()
    page.start(tag)
    if label is not None and local_name(label) == "label":
        page.text(f"{words_of(label)} ")
    _as(page, node, "span", depth)
    page.end(tag)


def _next_name(node: Any) -> str:
    after = node.getnext()
    return "" if after is None else local_name(after)


def _best(alternatives: Any) -> Any:
    """MathML or a table before TeX, and both before a picture."""
    order = ("math", "table", "tex-math")
    by_name = {local_name(part): part for part in alternatives}
    return next((by_name[name] for name in order if name in by_name), alternatives[0])


def _tex(node: Any) -> str:
    """The TeX of a formula, without the document around it in files of PubMed Central."""
    source = "".join(node.itertext())
    document = _TEX_DOCUMENT.search(source)
    return " ".join((document[1] if document else source).replace("$", " ").split())

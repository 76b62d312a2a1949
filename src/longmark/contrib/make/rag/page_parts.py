"""Which elements of a page belong to its article. Known are pages of MediaWiki (Wikipedia), of LaTeXML (arXiv) and of
PubMed Central, by the classes and ids that their makers give; elsewhere, what a browser does not show is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

NOT_ARTICLE = "parts of the page that are not its article"
REFERENCES = "references"
PAGES = "numbers of pages"  # of the printed book, within the text of an electronic one
HIDDEN = "hidden elements"
TWICE = ""  # what says a second time what is read; not counted

_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)", re.IGNORECASE)
_FORMULAS = ("mwe-math-mathml-inline", "mwe-math-mathml-display", "mwe-math-mathml-a11y")

# fmt: off
_CLASSES = {
    "mw-editsection": "edit links",
    **dict.fromkeys((
        "mw-cite-backlink", "navbox", "vertical-navbox", "navbox-styles", "catlinks", "mw-jump-link", "printfooter",
        "mw-indicators", "vector-toc", "vector-menu", "vector-dropdown", "vector-page-toolbar", "vector-column-start",
        "vector-header-container", "sistersitebox", "side-box", "portalbox", "portal-bar", "authority-control",
        "shortdescription", "ambox", "cs1-maint", "cs1-hidden-error",
        "ltx_page_navbar", "ltx_page_header", "ltx_page_footer", "ltx_TOC", "ltx_pagination", "ltx_listing_data",
        "pmc-actions-bar", "pmc-sidenav", "pmc-sidebar", "pmc-header", "pmc-layout__disclaimer", "permalink",
        "usa-banner", "usa-overlay", "ncbi-header", "ncbi-footer", "ncbi-alerts", "courtesy-note", "links-box",
        "figpopup", "back-to-top",
    ), NOT_ARTICLE),
    "ltx_ERROR": "commands that LaTeXML did not know",
    **dict.fromkeys(("ltx_bibliography", "ref-list", "ref-list-sec"), REFERENCES),
    **dict.fromkeys(("katex-html", "MathJax_Preview", "Z3988"), TWICE),
}
_CLASSES_OF_WIKIS = {
    **dict.fromkeys(
        ("hatnote", "dablink", "noprint", "metadata", "sidebar", "navbar", "toc"), NOT_ARTICLE
    ),
    "references": REFERENCES,
}
_IDS_OF_WIKIS = frozenset({
    "siteSub", "contentSub", "toc", "jump-to-nav", "siteNotice", "mw-navigation", "p-lang-btn", "footer",
})
# fmt: on
ENTRIES = frozenset({"li", "ref-cit-blk"})  # tags and classes of an entry in a list of references


def classes_of(attributes: Mapping[str, str]) -> list[str]:
    return attributes.get("class", "").split()


def is_of_wiki(classes: list[str]) -> bool:
    """Whether an element with these classes begins a page or text of MediaWiki."""
    return "mediawiki" in classes or "mw-parser-output" in classes


def is_article(tag: str, classes: list[str], attributes: Mapping[str, str], of_wiki: bool) -> bool:
    """Whether an element holds all of the page's article."""
    if "ltx_document" in classes:
        return tag == "article"
    if "pmc-article-section" in classes:
        return True
    return of_wiki and attributes.get("id") == "content"


def reason_to_leave_out(
    classes: list[str], attributes: Mapping[str, str], of_wiki: bool
) -> str | None:
    """Why an element is not read; None: it is."""
    reason = next((_CLASSES[name] for name in classes if name in _CLASSES), None)
    if reason is None and of_wiki:
        if attributes.get("id") in _IDS_OF_WIKIS:
            return NOT_ARTICLE
        reason = next(
            (_CLASSES_OF_WIKIS[name] for name in classes if name in _CLASSES_OF_WIKIS), None
        )
        if reason == REFERENCES and attributes.get("data-mw-group"):
            return None  # notes, which are no references
    if reason is None and "pagebreak" in attributes.get("epub:type", "").split():
        return PAGES
    if reason is None and _is_hidden(attributes) and not any(name in _FORMULAS for name in classes):
        reason = HIDDEN
    return reason


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    if "hidden" in attributes:
        return attributes["hidden"] != "until-found"
    return "style" in attributes and _HIDING.search(attributes["style"]) is not None

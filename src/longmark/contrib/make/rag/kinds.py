"""The names of what is left out of documents, and of the files that are not read, with their counts."""

from __future__ import annotations

from collections.abc import Mapping

STRUCK = "passages that are struck out"
"""The kind that most formats have."""
_MOST = 8  # kinds that one line names

# Of more than one -> of one. A kind that is not here has one form, such as `.odt` and the name of a missing file.
_OF_ONE = {
    "XML files that are no articles": "XML file that is no article",
    "arguments that are too deep in each other": "argument that is too deep in others",
    "arguments without an end": "argument without an end",
    "captions within tables": "caption within a table",
    "charts": "chart",
    "commands that LaTeXML did not know": "command that LaTeXML did not know",
    "comments": "comment",
    "deleted passages": "deleted passage",
    "diagrams without their texts": "diagram without its texts",
    "documents within the document": "document within the document",
    "drawings": "drawing",
    "edit links": "edit link",
    "empty fields of forms": "empty field of a form",
    "environments without an end": "environment without an end",
    "equations of fields": "equation of a field",
    "fields of front matter": "field of front matter",
    "files that are part of another one (LaTeX)": "file that is part of another one (LaTeX)",
    "files that read themselves": "file that reads itself",
    "hidden elements": "hidden element",
    "hidden passages": "hidden passage",
    "hidden slides": "hidden slide",
    "lists of references": "list of references",
    "numbers, dates and feet of slides": "number, date or foot of a slide",
    "numerals of references": "numeral of a reference",
    "objects of other programs": "object of another program",
    "pages that are pictures, as of a scan (ocrmypdf adds their text)": (
        "page that is a picture, as of a scan (ocrmypdf adds its text)"
    ),
    "pages from right to left without spaces between words": (
        "page from right to left without spaces between words"
    ),
    "letters that their font does not name": "letter that its font does not name",
    "numbers of pages": "number of a page",
    "affiliations of authors": "affiliation of authors",
    "parts of other formats": "part of another format",
    "parts of the page that are not its article": "part of the page that is not its article",
    STRUCK: "passage that is struck out",
    "pictures": "picture",
    "references": "reference",
    "reviews and letters with the article": "review or letter with the article",
    "running heads and feet": "running head or foot",
    "slides that are missing in the file": "slide that is missing in the file",
    "supplements": "supplement",
    "symbols of a font": "symbol of a font",
    "unknown entities": "unknown entity",
}


def counted(count: int, kind: str) -> str:
    """`1 chart`, `2,000 charts`."""
    if count != 1:
        return f"{count:,} {kind}"
    name, _, files = kind.partition(" ")
    if files == "files that it reads":
        return f"1 {name} file that it reads"
    return f"1 {_OF_ONE.get(kind, kind)}"


def counts_of_kinds(kinds: Mapping[str, int]) -> str:
    """The most frequent kinds with their counts, and how many others there are, in one line."""
    by_count = sorted(kinds.items(), key=lambda item: -item[1])
    parts = [counted(count, kind) for kind, count in by_count[:_MOST]]
    if unnamed := by_count[_MOST:]:
        total = sum(count for _, count in unnamed)
        parts.append(f"{total:,} of {len(unnamed):,} other kind{'s' if len(unnamed) > 1 else ''}")
    return ", ".join(parts)

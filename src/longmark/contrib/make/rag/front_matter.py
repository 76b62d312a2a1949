"""The front matter of a Markdown file: what site generators keep above its text, between `---` (YAML) or `+++` (TOML).

It is no part of the text, but its title is; its other fields are counted. A block is text if it is no mapping, or has no
field that site generators know: `---` is a line across the page, too.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

import yaml

_BLOCKS = (
    re.compile(
        r"---[ \t]*\r?\n(?P<fields>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
    ),
    re.compile(
        r"\+\+\+[ \t]*\r?\n(?P<fields>.*?)^\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
    ),
)
# fmt: off
_KNOWN = frozenset({
    "abstract", "aliases", "author", "authors", "bibliography", "categories", "category",
    "comments", "cover", "created", "css", "date", "description", "draft", "editor", "excerpt",
    "format", "header", "id", "image", "jupyter", "kind", "keywords", "lang", "language", "lastmod",
    "layout", "license", "linktitle", "math", "menu", "name", "nav_order", "output", "pagetitle",
    "parent", "permalink", "published", "redirect_from", "sidebar", "sidebar_label", "slug",
    "status", "subtitle", "summary", "tag", "tags", "template", "theme", "thumbnail", "title",
    "toc", "type", "uid", "updated", "url", "version", "weight",
})
# fmt: on
_LONGEST = 1 << 16  # characters; a longer block is text


def without_front_matter(text: str) -> tuple[str, int]:
    """The text of a Markdown file, and how many fields of its front matter are left out. Its title is the first heading,
    unless the text begins with one."""
    block = next((match for pattern in _BLOCKS if (match := pattern.match(text[:_LONGEST]))), None)
    if block is None:
        return text, 0
    fields = _fields(block["fields"], block[0][0])
    if fields is None or _KNOWN.isdisjoint(str(name).lower() for name in fields):
        return (text, 0) if fields != {} else (text[block.end() :].lstrip("\r\n"), 0)
    body = text[block.end() :].lstrip("\r\n")
    title = fields.get("title")
    if not isinstance(title, str) or not title.strip() or body.startswith("# "):
        return body, len(fields) - (body.startswith(f"# {title}") if isinstance(title, str) else 0)
    return f"# {' '.join(title.split())}\n\n{body}", len(fields) - 1


def _fields(block: str, mark: str) -> dict[str, Any] | None:
    """The fields of a block; None if it has none."""
    try:
        if mark == "+":
            return tomllib.loads(block)
        # Every value stays as it is written: the title "No" is a word, "2024-05-01" is not a date.
        fields = yaml.load(block, yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None

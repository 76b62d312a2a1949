"""The front matter of a Markdown file: what site generators keep above its text, between `---` (YAML) or `+++` (TOML).

It is no part of the text, but its title is. A block that is no mapping is text: `---` is a line across the page, too.
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
_LONGEST = 1 << 16  # characters; a longer block is text


def without_front_matter(text: str) -> str:
    """The text of a Markdown file. The title of its front matter is its first heading, unless it begins with one."""
    block = next((match for pattern in _BLOCKS if (match := pattern.match(text[:_LONGEST]))), None)
    if block is None:
        return text
    fields = _fields(block["fields"], block[0][0])
    if fields is None:
        return text
    body = text[block.end() :].lstrip("\r\n")
    title = fields.get("title")
    if not isinstance(title, str) or not title.strip() or body.startswith("# "):
        return body
    return f"# {' '.join(title.split())}\n\n{body}"


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

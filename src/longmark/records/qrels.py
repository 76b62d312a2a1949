"""Relevance judgments in TREC's form: a line `TOPIC ITERATION DOCUMENT RELEVANCE`, as in the labels of UMBRELA and of
TREC RAG (0 to 3; trec_eval's README). The suffix is `.qrels` or, as they are published, `.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from longmark.records.files import lines
from longmark.records.topics import bare

SUFFIXES = frozenset((".qrels", ".txt"))
_LINE = re.compile(rb"\s*(\S+)\s+(\S+)\s+(\S+)\s+(-?[0-9]{1,9})\s*")
_NAMES = ("topic", "iteration", "docid")
_LOOKED_AT = 20  # lines


def is_one(path: Path) -> bool:
    """Whether a file is `.qrels`, or `.txt` with judgments in its first lines."""
    if path.suffix.lower() not in SUFFIXES:
        return False
    if path.suffix.lower() == ".qrels":
        return path.stat().st_size > 0
    first = [bare(line) for _, line in islice(lines(path, ""), _LOOKED_AT) if line.strip()]
    return bool(first) and all(_LINE.fullmatch(line) for line in first)


def judgments(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """(line, the judgment with the columns topic, iteration, docid and relevance, or what is wrong with the line)."""
    for number, line in lines(path, ""):
        if not line.strip():
            continue
        match = _LINE.fullmatch(bare(line))
        try:
            if match is None:
                raise ValueError("expected four columns: TOPIC ITERATION DOCUMENT RELEVANCE")
            texts = [match[place].decode() for place in (1, 2, 3)]
        except ValueError as error:  # also of bytes that are not UTF-8
            yield number, f"is no judgment of TREC: {error}"
            continue
        yield number, {**dict(zip(_NAMES, texts, strict=True)), "relevance": int(match[4])}

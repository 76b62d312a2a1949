"""Topics and runs of retrieval as TREC's tracks publish them, in lines without names of columns.

A topic is a line `ID<TAB>TEXT` (`topics.rag24.test.txt` of TREC RAG 2024, the queries of MS MARCO). A run of retrieval
(`TOPIC Q0 DOCUMENT RANK SCORE TAG`, trec_eval's README) has ranks and no answers: it is refused.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.records.files import lines

SUFFIXES = frozenset((".tsv", ".txt"))
_OF_RUNS = SUFFIXES | {".run", ".trec"}
# Every id has a digit, so that a first line that names two columns is no topic.
_TOPIC = re.compile(rb"(?=[^\s]*[0-9])([^\s]+)\t([^\t]*\S[^\t]*)")
_RANKED = re.compile(rb"\s*\S+\s+(?:Q0|0)\s+\S+\s+[0-9]+\s+[-+0-9.eE]+\s+\S+\s*")
_LOOKED_AT = 20  # lines


def is_one(path: Path) -> bool:
    """Whether the first lines of a file are topics. UserError for a run of retrieval."""
    if path.suffix.lower() not in _OF_RUNS:
        return False
    first = [bare(line) for _, line in islice(lines(path, ""), _LOOKED_AT) if line.strip()]
    if first and all(_RANKED.fullmatch(line) for line in first):
        raise UserError(
            f"{path} is a run of retrieval: it has the ranks of passages and no answers. Name the file of the answers "
            "that were made from them (JSON Lines)"
        )
    return (
        path.suffix.lower() in SUFFIXES
        and bool(first)
        and all(_TOPIC.fullmatch(line) for line in first)
    )


def topics(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """(line, the topic with the columns id and title, or what is wrong with the line)."""
    for number, line in lines(path, ""):
        if not line.strip():
            continue
        match = _TOPIC.fullmatch(bare(line))
        try:
            if match is None:
                raise ValueError("expected two columns with a tab between: ID, TEXT")
            yield number, {"id": match[1].decode(), "title": match[2].decode().strip()}
        except ValueError as error:  # also of bytes that are not UTF-8
            yield number, f"is no topic of TREC: {error}"


def bare(line: bytes) -> bytes:
    """A line without its end and a mark of the byte order."""
    return line.removeprefix(codecs.BOM_UTF8).rstrip(b"\r\n")

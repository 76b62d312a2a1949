"""Lines without names of columns, as TREC's tracks publish judgments of relevance, topics and runs of retrieval.

A judgment is a line `TOPIC ITERATION DOCUMENT RELEVANCE`, as in the labels of UMBRELA and of TREC RAG (0 to 3;
trec_eval's README). The suffix is `.qrels` or, as they are published, `.txt`. A topic is a line `ID<TAB>TEXT`
(`topics.rag24.test.txt` of TREC RAG 2024, the queries of MS MARCO). A run of retrieval (`TOPIC Q0 DOCUMENT RANK SCORE
TAG`) has ranks and no answers: it is refused.
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

_OF_JUDGMENTS = frozenset((".qrels", ".txt"))
_OF_TOPICS = frozenset((".tsv", ".txt"))
SUFFIXES = _OF_JUDGMENTS | _OF_TOPICS | {".run", ".trec"}
"""Those of files that may be one of these: `kind_of` looks at their first lines."""

_JUDGMENT = re.compile(rb"\s*(\S+)\s+(\S+)\s+(\S+)\s+(-?[0-9]{1,9})\s*")
_NAMES = ("topic", "iteration", "docid")
# Every id has a digit, so that a first line that names two columns is no topic.
_TOPIC = re.compile(rb"(?=[^\s]*[0-9])([^\s]+)\t([^\t]*\S[^\t]*)")
_RANKED = re.compile(rb"\s*\S+\s+(?:Q0|0)\s+\S+\s+[0-9]+\s+[-+0-9.eE]+\s+\S+\s*")
_LOOKED_AT = 20  # lines


def kind_of(path: Path) -> str:
    """`qrels` for judgments, `topics` for topics, by the first lines of a file; "" for any other file. `.qrels` always
    has judgments, unless it is empty. UserError for a run of retrieval."""
    suffix = path.suffix.lower()
    if suffix == ".qrels":
        return "qrels" if path.stat().st_size > 0 else ""
    first = [_bare(line) for _, line in islice(lines(path, ""), _LOOKED_AT) if line.strip()]
    if not first:
        return ""
    if suffix in _OF_JUDGMENTS and all(_JUDGMENT.fullmatch(line) for line in first):
        return "qrels"
    if all(_RANKED.fullmatch(line) for line in first):
        raise UserError(
            f"{path} is a run of retrieval: it has the ranks of passages and no answers. Name the file of the answers "
            "that were made from them (JSON Lines)"
        )
    return "topics" if suffix in _OF_TOPICS and all(map(_TOPIC.fullmatch, first)) else ""


def judgments(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """(line, the judgment with the columns topic, iteration, docid and relevance, or what is wrong with the line)."""
    for number, line in lines(path, ""):
        if not line.strip():
            continue
        match = _JUDGMENT.fullmatch(_bare(line))
        try:
            if match is None:
                raise ValueError("expected four columns: TOPIC ITERATION DOCUMENT RELEVANCE")
            texts = [match[place].decode() for place in (1, 2, 3)]
        except ValueError as error:  # also of bytes that are not UTF-8
            yield number, f"is no judgment of TREC: {error}"
            continue
        yield number, {**dict(zip(_NAMES, texts, strict=True)), "relevance": int(match[4])}


def topics(path: Path) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """(line, the topic with the columns id and title, or what is wrong with the line)."""
    for number, line in lines(path, ""):
        if not line.strip():
            continue
        match = _TOPIC.fullmatch(_bare(line))
        try:
            if match is None:
                raise ValueError("expected two columns with a tab between: ID, TEXT")
            yield number, {"id": match[1].decode(), "title": match[2].decode().strip()}
        except ValueError as error:  # also of bytes that are not UTF-8
            yield number, f"is no topic of TREC: {error}"


def _bare(line: bytes) -> bytes:
    """A line without its end and a mark of the byte order."""
    return line.removeprefix(codecs.BOM_UTF8).rstrip(b"\r\n")

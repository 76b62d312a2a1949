"""A folder of BEIR: corpus.jsonl, queries.jsonl and qrels/*.tsv (beir-cellar/beir, README.md).

Its queries are questions, and its judgments are labels of passages. It has no answers.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from longmark.errors import UserError

_QUERIES = "queries.jsonl"
_CORPUS = "corpus.jsonl"
_QRELS = "qrels"


def is_one(path: Path) -> bool:
    """Whether a path is a folder of BEIR: queries beside a corpus or judgments."""
    return (
        path.is_dir()
        and (path / _QUERIES).is_file()
        and ((path / _CORPUS).is_file() or (path / _QRELS).is_dir())
    )


def queries_of(path: Path) -> Path:
    """The file of the questions of a folder of BEIR; any other path as it is."""
    return path / _QUERIES if is_one(path) else path


def judgments_of(path: Path) -> Path:
    """The file of the judgments of a folder of BEIR; any other path as it is. UserError where there are none or several:
    those of its splits are of different queries."""
    if not is_one(path):
        return path
    files = _judgments(path)
    if not files:
        raise UserError(f"{path} is a folder of BEIR without judgments ({_QRELS}/*.tsv)")
    if len(files) > 1:
        names = ", ".join(str(file) for file in files)
        raise UserError(f"{path} is a folder of BEIR with several judgments; name one: {names}")
    return files[0]


def notice(path: Path) -> str:
    """What a folder of BEIR holds and which commands read it; "" for any other path."""
    if not is_one(path):
        return ""
    folder = shlex.quote(str(path))
    commands = [f"answers to its queries: longmark run ANSWERS --questions {folder}"]
    if (path / _CORPUS).is_file():
        corpus = shlex.quote(str(path / _CORPUS))
        commands.append(f"its corpus: longmark rag index {corpus} --map id=_id --out INDEX")
    commands += [
        f"its judgments: longmark metaeval RUN {shlex.quote(str(file))}"
        for file in _judgments(path)
    ]
    return f"{path} is a folder of BEIR: its queries are read, which have no answers. To read {'; '.join(commands)}."


def _judgments(path: Path) -> list[Path]:
    return sorted((path / _QRELS).glob("*.tsv"))

"""The demo's knowledge base: what it must be, and that questions find their hazard in it."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from pathlib import Path

import orjson
import pytest

from longmark.contrib import demo
from longmark.contrib.make.questions import hazards
from longmark.contrib.make.rag import index
from longmark.contrib.make.rag.documents import Documents, SourceDocument
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.domain import load

FOLDER = Path(demo.__file__).parent / "corpus"
RECORDS = [
    orjson.loads(line)
    for path in sorted(FOLDER.glob("*.jsonl"))
    for line in path.read_bytes().splitlines()
]


def test_five_passages_and_more_for_each_hazard_and_distractors():
    counts = Counter(record.get("hazard") for record in RECORDS)
    assert set(counts) == {*load().slot("hazard").all_values, None}
    assert all(count >= 5 for count in counts.values())
    assert (
        len({record["id"] for record in RECORDS})
        == len({record["text"] for record in RECORDS})
        == len(RECORDS)
    )


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["id"])
def test_a_passage_is_marked_as_ours_and_of_the_right_length(record):
    assert record["source"].startswith("Written for the demo of longmark.")
    assert 120 <= len(record["text"].split()) <= 200
    assert not re.search(r"\d", record["text"]), "a figure would look like a measured one"


def test_it_is_read_whole_and_no_passage_is_cut(tmp_path: Path):
    documents = list(Documents(FOLDER))
    assert all(isinstance(one, SourceDocument) for one in documents)
    pytest.importorskip("bm25s")
    built = asyncio.run(index.build(FOLDER, tmp_path / "idx"))
    assert (built.documents, built.passages, built.bad) == (len(RECORDS), len(RECORDS), 0)


def test_questions_find_passages_on_their_hazard(tmp_path: Path):
    """BM25 alone, 70 questions of the domain: 68 have a passage on their hazard among five, 16 of 350 passages are
    distractors. (With the embedded embedder: 69, and 70 by both; none.)"""
    pytest.importorskip("bm25s")
    asyncio.run(index.build(FOLDER, tmp_path / "idx"))
    questions = list(hazards(70, seed=1))
    retriever = Retriever(index.load(tmp_path / "idx"))
    found = asyncio.run(retriever.retrieve([question.question or "" for question in questions], 5))
    of = [[hit.passage.id.split("/")[1].replace("-", " ") for hit in hits] for hits in found]
    assert (
        sum((q.profile or {})["hazard"] in some for q, some in zip(questions, of, strict=True))
        >= 63
    )
    assert sum(some.count("distractors") for some in of) <= 35

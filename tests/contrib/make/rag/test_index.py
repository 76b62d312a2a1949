from __future__ import annotations

import asyncio
import hashlib
import json
import math
import sys
from pathlib import Path

import orjson
import pytest
from tests.contrib.make.rag.make import made, models

from longmark.contrib.make.rag import dense, index
from longmark.contrib.make.rag.bm25 import Weights
from longmark.contrib.make.rag.chunk import Chunking
from longmark.contrib.make.rag.documents import SourceDocument
from longmark.contrib.make.rag.index import Indexing, Instructions
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.errors import BadInput, MissingExtra, ServerFault, UserError
from longmark.models.fake import FakeEmbedder
from longmark.models.protocols import EmbedReply

pytest.importorskip("bm25s")

TEXTS = ["ice storms break wires", "heat buckles rails", "drought shrinks soils"]


def build(documents, out: Path, how: Indexing | None = None, **more) -> index.BuiltIndex:
    return asyncio.run(index.build(documents, out, how, **more))


def folder_of(tmp_path: Path, **files: str) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in files.items():
        (docs / f"{name}.txt").write_text(text, encoding="utf-8")
    return docs


def test_a_missing_extra_is_named_before_a_document_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "bm25s", None)

    def documents():
        raise AssertionError("a document was read")
        yield

    with pytest.raises(MissingExtra, match="an index needs the extra `rag`"):
        build(documents(), tmp_path / "idx")


def test_what_was_written_is_what_is_loaded(tmp_path: Path):
    text = "Ice breaks wires. " * 10 + "Crews mend them. " * 10
    built = build(
        [SourceDocument("long", text), SourceDocument("short", "Heat.")],
        tmp_path / "idx",
        Indexing(Chunking(100, 20)),
    )
    found = index.load(tmp_path / "idx")
    assert (built.documents, built.passages) == (2, len(found.passages))
    for number in range(len(found.passages) - 1):
        passage = found.passages[number]
        assert (passage.id, passage.document) == (f"long#{number + 1}", "long")
        assert passage.text == text[passage.start : passage.end]
    assert found.passages[len(found.passages) - 1].id == "short"
    assert list(found.passages.texts()) == [
        found.passages[n].text for n in range(len(found.passages))
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["idx"]
    found.passages.close()


def test_the_same_documents_give_the_same_index(tmp_path: Path):
    for name in ("one", "two"):
        made(tmp_path / name, TEXTS, given=models(tmp_path / name, embedder=FakeEmbedder()))
    one, two = (index.load(tmp_path / name / "idx") for name in ("one", "two"))
    assert one.hash == two.hash


def test_every_bad_document_is_named_and_nothing_is_asked_or_written(tmp_path: Path):
    docs = folder_of(tmp_path, a="good", b="", c="\0")
    embedder = FakeEmbedder()
    with pytest.raises(BadInput) as caught:
        build(docs, tmp_path / "idx", models=models(tmp_path / "home", embedder=embedder))
    assert caught.value.lines == (
        "b.txt: is empty",
        "c.txt: is binary, not text; remove it, or give it its own suffix",
    )
    assert embedder.requests == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs", "home"]
    built = build(docs, tmp_path / "idx", skip_bad=True)
    assert (built.documents, built.bad, built.unread) == (1, 2, caught.value.lines)


def test_an_id_that_comes_twice(tmp_path: Path):
    with pytest.raises(
        BadInput, match=r"document 2: its id, x, is that of document 1 too; change one of them"
    ):
        build([SourceDocument("x", "a"), SourceDocument("x", "b")], tmp_path / "idx")
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.jsonl").write_text(
        '{"text": "one"}\n\n{"id": "x", "text": "two"}\n', encoding="utf-8"
    )
    (docs / "b.txt").write_text("three", encoding="utf-8")
    (docs / "c.jsonl").write_text(
        '{"id": "x", "text": "four"}\n{"id": "b.txt", "text": "five"}\n{"id": "a.jsonl:1", "text": "six"}\n'
        '{"id": "d.md", "text": "seven"}\n{"id": "x", "text": "eight"}\n',
        encoding="utf-8",
    )
    (docs / "d.md").write_text("nine", encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        build(docs, tmp_path / "idx")
    assert [line.removesuffix(" too; change one of them") for line in caught.value.lines] == [
        "c.jsonl:1: its id, x, is that of a.jsonl:3",
        "c.jsonl:2: its id, b.txt, is that of b.txt",
        "c.jsonl:3: its id, a.jsonl:1, is that of a.jsonl:1",
        "c.jsonl:5: its id, x, is that of a.jsonl:3",
        "d.md: its id, d.md, is that of c.jsonl:4",
    ]
    assert build(docs, tmp_path / "idx", skip_bad=True).documents == 4


def test_nothing_but_bad_documents_stops_even_where_they_may_be_skipped(tmp_path: Path):
    with pytest.raises(BadInput):
        build(folder_of(tmp_path, a=""), tmp_path / "idx", skip_bad=True)
    with pytest.raises(UserError, match="no documents to index"):
        build([], tmp_path / "idx")


@pytest.mark.parametrize(
    "name",
    [
        "passages.jsonl",
        "passages.offsets",
        "bm25/data.csc.index.npy",
        "bm25/vocab.index.json",
        "vectors.npy",
    ],
)
def test_a_changed_file_is_noticed(tmp_path: Path, name: str):
    made(tmp_path, TEXTS, given=models(tmp_path, embedder=FakeEmbedder()))
    file = tmp_path / "idx" / name
    raw = bytearray(file.read_bytes())
    raw[-2] ^= 1  # a single bit
    file.write_bytes(raw)
    with pytest.raises(UserError, match=f"{name} was changed after the index was made"):
        index.load(tmp_path / "idx")
    file.unlink()
    with pytest.raises(UserError, match="index the documents again"):
        index.load(tmp_path / "idx")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 99}, "another version"),
        ({"words": 0}, "another version"),
        ({"files": None}, "is damaged"),
    ],
)
def test_a_manifest_of_another_kind(tmp_path: Path, change, said: str):
    made(tmp_path, TEXTS)
    manifest = tmp_path / "idx" / "index.json"
    manifest.write_bytes(orjson.dumps(orjson.loads(manifest.read_bytes()) | change))
    with pytest.raises(UserError, match=said):
        index.load(tmp_path / "idx")
    manifest.write_bytes(b"{")
    with pytest.raises(UserError, match="is damaged"):
        index.load(tmp_path / "idx")
    with pytest.raises(UserError, match="is not an index; make one with: longmark rag index"):
        index.load(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"files": {}},
        {"files": {"passages.jsonl": 5}},
        {"files": {"passages.jsonl": {}, "passages.offsets": {}}},
        {"files": {"../x": {"size": 0, "sha256": ""}}},
        {"embedder": 5},
        {"embedder": {}},
        {"embedder": {"name": "e", "identity": "e"}},  # and no vectors
    ],
)
def test_a_manifest_with_a_wrong_part_is_damaged(tmp_path: Path, change):
    made(tmp_path, TEXTS)
    manifest = tmp_path / "idx" / "index.json"
    found = orjson.loads(manifest.read_bytes())
    files = (
        {**found["files"], **change["files"]}
        if change.get("files")
        else change.get("files", found["files"])
    )
    manifest.write_bytes(orjson.dumps(found | change | {"files": files}))
    with pytest.raises(
        UserError, match=r"index\.json is damaged \((files|embedder)|was changed after the index"
    ):
        index.load(tmp_path / "idx")


@pytest.mark.parametrize(
    "name", ["passages.offsets", "bm25/params.index.json", "bm25/data.csc.index.npy"]
)
@pytest.mark.parametrize("content", [b"xyz", b"\xff" * 64])
def test_files_that_no_index_has_are_a_message(tmp_path: Path, name: str, content: bytes):
    made(tmp_path, TEXTS)
    (tmp_path / "idx" / name).write_bytes(content)
    manifest = tmp_path / "idx" / "index.json"
    found = orjson.loads(manifest.read_bytes())
    found["files"][name] = {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    manifest.write_bytes(orjson.dumps(found))
    with pytest.raises(UserError, match="index the documents again"):
        index.load(tmp_path / "idx").passages[0]


def test_an_index_is_replaced_whole_or_stays(tmp_path: Path):
    before = made(tmp_path, TEXTS).hash

    def broken():
        yield SourceDocument("a", "text")
        raise RuntimeError("pulled out")

    with pytest.raises(RuntimeError, match="pulled out"):
        build(broken(), tmp_path / "idx")
    assert index.load(tmp_path / "idx").hash == before
    assert [path.name for path in tmp_path.iterdir()] == ["idx"]
    assert made(tmp_path, [*TEXTS, "surge floods pumps"]).hash != before


def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path):
    (tmp_path / ".idx.new" / "bm25").mkdir(parents=True)
    (tmp_path / ".idx.new" / ".lock").touch()
    (tmp_path / ".idx.new" / "vectors.npy").write_bytes(b"half")
    made(tmp_path, TEXTS)
    assert (
        "vectors.npy" not in orjson.loads((tmp_path / "idx" / "index.json").read_bytes())["files"]
    )
    assert [path.name for path in tmp_path.iterdir()] == ["idx"]


class FailingEmbedder(FakeEmbedder):
    """Fails once it was asked for so many texts."""

    left = 0

    async def embed(self, texts):
        self.left -= len(texts)
        if self.left < 0:
            raise ServerFault("it is gone")
        return await super().embed(texts)


def test_an_embedder_that_fails_is_not_asked_again_for_what_it_gave(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(dense, "_TEXTS_PER_CALL", 2)
    monkeypatch.setattr("longmark.models.sending.wait_before", lambda *_: 0.0)
    texts = [f"text number {n}" for n in range(20)]
    first = FailingEmbedder()
    first.left = 10
    with pytest.raises(ServerFault):
        made(tmp_path, texts, given=models(tmp_path, embedder=first))
    given_before = sum(map(len, first.requests))
    assert given_before == 10
    second = FakeEmbedder()
    found = made(tmp_path, texts, given=models(tmp_path, embedder=second))
    assert sum(map(len, second.requests)) == 10
    assert found.vectors is not None
    assert found.vectors.shape == (20, 64)


@pytest.mark.parametrize("numbers", [(float("nan"),), ()])
def test_vectors_that_cannot_be_make_no_index(
    tmp_path: Path, numbers: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("longmark.models.sending.wait_before", lambda *_: 0.0)

    class Odd(FakeEmbedder):
        async def embed(self, texts):
            return EmbedReply(tuple(numbers or (1.0,) * (1 + i) for i in range(len(texts))))

    with pytest.raises(ServerFault, match=r"different lengths|not finite"):
        made(tmp_path, TEXTS, given=models(tmp_path, embedder=Odd()))
    assert not (tmp_path / "idx").exists()


def test_passages_that_the_embedder_cuts_are_counted(tmp_path: Path):
    class WordTokenEmbedder(FakeEmbedder):
        def token_count(self, text: str) -> int:
            return len(text.split())

        def max_tokens(self) -> int:
            return 3

    given = models(tmp_path / "home", embedder=WordTokenEmbedder())
    built = build(
        [SourceDocument("a", "one two three"), SourceDocument("b", "1 2 3 4")],
        tmp_path / "idx",
        models=given,
    )
    assert built.cut == 1


def test_approximate_is_about_vectors(tmp_path: Path):
    with pytest.raises(UserError, match="add --embedder"):
        build([SourceDocument("a", "b")], tmp_path / "idx", Indexing(approximate=True))


def test_k1_and_b_are_declared_and_change_the_scores(tmp_path: Path):
    """By hand (Lucene): one of two texts has the word, idf = ln(1 + (2 - 1 + .5) / (1 + .5)) = ln 2; its two
    occurrences, with b = 0, give ln 2 x 2 / (2 + k1)."""
    texts = ["ice ice wires", "heat"]
    for k1 in (1.2, 0.5):
        loaded = made(tmp_path / str(k1), texts, weights=Weights(k1=k1, b=0))
        ((number, score),) = loaded.bm25.search("ice", 5)
        assert number == 0
        assert score == pytest.approx(math.log(2) * 2 / (2 + k1), rel=1e-5)
        manifest = json.loads((loaded.path / "index.json").read_text())
        assert manifest["bm25"] == {"method": "lucene", "k1": k1, "b": 0}
    for wrong in ({"k1": -1}, {"k1": math.nan}, {"b": 1.5}):
        with pytest.raises(UserError, match=r"--(k1|b) "):
            Weights(**wrong)


def test_instructions_stand_before_what_is_embedded_and_nowhere_else(tmp_path: Path):
    embedder = FakeEmbedder()
    given = models(tmp_path, embedder=embedder)
    e5 = Instructions(query="query: ", passage="passage: ")
    loaded = made(tmp_path, ["ice breaks wires"], given=given, instructions=e5)
    ((hit,),) = asyncio.run(Retriever(loaded, given, "dense").retrieve(["what of ice?"], 1))
    assert hit.passage.text == "ice breaks wires"
    assert [text for call in embedder.requests for text in call] == [
        "passage: ice breaks wires",
        "query: what of ice?",
    ]
    assert loaded.embedder is not None
    assert (loaded.embedder["query"], loaded.embedder["passage"]) == ("query: ", "passage: ")
    with pytest.raises(UserError, match="are for vectors: add --embedder"):
        made(tmp_path / "none", ["ice"], instructions=e5)


@pytest.mark.parametrize("vector", [[0.0, 0.0, 0.0], [1e38, 1e38, 0.0], [1e-30, 0.0, 0.0]])
def test_vectors_without_a_length_that_can_be_compared_are_refused(vector: list[float]):
    with pytest.raises(UserError, match="1 of 2 texts a vector that cannot be compared"):
        dense.unit_rows([[0.0, 3.0, 4.0], vector])
    assert dense.unit_rows([[0.0, 3e15, 4e15]]).tolist() == [
        [0.0, pytest.approx(0.6), pytest.approx(0.8)]
    ]

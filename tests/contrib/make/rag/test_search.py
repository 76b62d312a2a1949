from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contrib.make.rag.make import made, models

from longmark.contrib.make.rag import dense
from longmark.contrib.make.rag.bm25 import Bm25, best
from longmark.contrib.make.rag.retrieve import Retriever, fused
from longmark.errors import UnknownName, UserError
from longmark.models.fake import FakeEmbedder
from longmark.text.words import words

np = pytest.importorskip("numpy")
pytest.importorskip("bm25s")


def test_words():
    assert words("Sea-level RISE, 2 m!") == ["sea", "level", "rise", "2", "m"]
    assert words("Straße ﬁn Café") == ["strasse", "fin", "café"]
    assert words("干旱使abc干") == ["干旱", "旱使", "abc", "干"]
    assert words(" ... ") == []


def test_bm25_by_hand():
    # Lucene's form: idf * tf / (tf + k1 (1 - b + b len/avg)), idf = ln(1 + (N - df + .5) / (df + .5)), k1 1.5, b .75.
    # Three passages of 2, 2 and 4 words: avg = 8/3. "ice" is in passages 0 (once) and 2 (twice): df = 2,
    #   idf = ln(1 + 1.5/2.5) = ln 1.6 = .470004
    #   0: len/avg = .75: k1 (.25 + .5625) = 1.21875;   1 / 2.21875 = .450704: .211833
    #   2: len/avg = 1.5: k1 (.25 + 1.125) = 2.0625;    2 / 4.0625  = .492308: .231386
    found = Bm25.build(["ice storm", "heat wave", "ice ice on rails"]).search("ICE?", 5)
    assert [number for number, _ in found] == [2, 0]
    assert [score for _, score in found] == pytest.approx([0.231386, 0.211833], abs=1e-5)


def test_bm25_where_no_word_is_known():
    index = Bm25.build(["ice storm", "..."])
    assert index.search("drought", 5) == []
    assert index.search("", 5) == []
    assert Bm25.build(["...", "!"]).search("ice", 5) == []


@settings(max_examples=100)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(0, 40))
def test_best_is_the_head_of_a_stable_sort(values: list[int], k: int):
    expected = sorted(enumerate(map(float, values)), key=lambda pair: (-pair[1], pair[0]))[:k]
    assert best(np.array(values, dtype=np.float32), k) == expected


@settings(max_examples=30)
@given(st.integers(1, 60), st.integers(1, 8), st.integers(0, 1000))
def test_dense_search_is_a_sort_by_cosine(n: int, k: int, seed: int):
    rng = np.random.default_rng(seed)
    rows = dense.unit_rows(
        [row if any(row) else [1, 0, 0, 0] for row in rng.integers(-2, 3, (n, 4)).tolist()]
    )
    questions = dense.unit_rows(rng.normal(size=(3, 4)).tolist())
    before, dense._ROWS = dense._ROWS, 7  # several blocks
    try:
        found = dense.search(rows, questions, k)
    finally:
        dense._ROWS = before
    for question, ranked in zip(questions, found, strict=True):
        cosines = [round(math.fsum(map(float, row * question)), 6) for row in rows]
        assert [score for _, score in ranked] == pytest.approx(
            sorted(cosines, reverse=True)[:k], abs=2e-6
        )
        assert ranked == sorted(ranked, key=lambda pair: (-pair[1], pair[0]))


def test_fusion_by_hand():
    # 7 is first and third: 1/61 + 1/63 = .0322665; 3 is second and second: 2/62 = .0322581; 9: 1/61; 4: 1/63
    lists = [[(7, 9.0), (3, 5.0), (4, 1.0)], [(9, 0.9), (3, 0.8), (7, 0.7)]]
    ranked = fused(lists, 3)
    assert [number for number, _ in ranked] == [7, 3, 9]
    assert [score for _, score in ranked] == pytest.approx(
        [0.0322665, 0.0322581, 0.0163934], abs=1e-7
    )


TEXTS = [
    "ice storms break wires",
    "heat buckles rails",
    "drought shrinks soils",
    "surge floods pumps",
]


@pytest.mark.parametrize("method", ["bm25", "dense", "hybrid"])
def test_every_method_finds_the_passage(tmp_path: Path, method: str):
    given_ = models(tmp_path, embedder=FakeEmbedder())
    index = made(tmp_path, TEXTS, given=given_)
    found = asyncio.run(
        Retriever(index, given_, method).retrieve(["what does heat do to rails", "ice wires"], 2)
    )
    assert [hits[0].passage.id for hits in found] == ["1", "0"]
    assert found[0][0].passage.text == "heat buckles rails"
    assert all(len(hits) <= 2 for hits in found)


def test_without_a_method_vectors_decide(tmp_path: Path):
    given_ = models(tmp_path, embedder=FakeEmbedder())
    assert Retriever(made(tmp_path, TEXTS, given=given_), given_).method == "dense"
    plain = made(tmp_path / "plain", TEXTS)
    assert Retriever(plain).method == "bm25"
    with pytest.raises(UserError, match="has no vectors; index the documents with --embedder"):
        Retriever(plain, given_, "hybrid")
    with pytest.raises(UnknownName, match="Did you mean dense"):
        Retriever(plain, given_, "dens")
    with pytest.raises(UserError, match="--k 0"):
        asyncio.run(Retriever(plain).retrieve(["x"], 0))


def test_another_embedder_is_refused(tmp_path: Path):
    index = made(tmp_path, TEXTS, given=models(tmp_path, embedder=FakeEmbedder(name="one")))
    with pytest.raises(UserError, match="made with the embedder one, and this is two"):
        Retriever(index, models(tmp_path, embedder=FakeEmbedder(name="two")))
    with pytest.raises(UserError, match="needs --embedder one"):
        Retriever(index)
    other = FakeEmbedder(32, name="one")
    with pytest.raises(UserError, match="one of another version"):
        Retriever(index, models(tmp_path, embedder=other))
    other.identity = FakeEmbedder(
        name="one"
    ).identity  # an endpoint that changed its model under the same name
    retriever = Retriever(index, models(tmp_path / "new", embedder=other))
    with pytest.raises(UserError, match="vectors of 32 numbers"):
        asyncio.run(retriever.retrieve(["x"], 1))


def test_an_approximate_index_finds_what_the_exact_one_finds(tmp_path: Path):
    pytest.importorskip("faiss")
    rng = np.random.default_rng(5)
    centres = rng.normal(size=(20, 16))
    rows = dense.unit_rows(
        (centres[rng.integers(0, 20, 2000)] + 0.3 * rng.normal(size=(2000, 16))).tolist()
    )
    dense.build_approximate(rows, tmp_path / "faiss.index")
    questions = dense.unit_rows((rows[:50] + 0.05 * rng.normal(size=(50, 16))).tolist())
    exact = dense.search(rows, questions, 5)
    found = dense.Approximate(tmp_path / "faiss.index", rows).search(questions, 5)
    same = sum(
        len({i for i, _ in one} & {i for i, _ in two})
        for one, two in zip(exact, found, strict=True)
    )
    assert same / 250 >= 0.9
    assert found[0][0] == exact[0][0]  # its cosines are exact

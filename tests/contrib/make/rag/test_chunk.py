from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from longmark.contrib.make.rag.chunk import Chunker, Chunking, TokenRuler
from longmark.errors import UserError


def cut(text: str, size: int = 1200, overlap: int = 0, **more) -> list[str]:
    return [text[p.start : p.end] for p in Chunker(Chunking(size, overlap, **more)).passages(text)]


def test_by_hand():
    # 0         1         2         3
    # 0123456789012345678901234567890123456
    # One two. Three four five. Six seven.     at most 20 characters, overlap 6
    # [0, 20): the end of a sentence in the second half of it (10 to 20)? None; the last word's end: "Three four " ends
    # at 20. Next: from 20 - 6 = 14, which is the space before "four": its first letter is at 15.
    # [15, 35): the sentence ends at 26 ("five. "). Next: from 26 - 6 = 20: "five" begins there. [20, 36) is the rest.
    text = "One two. Three four five. Six seven."
    assert cut(text, 20, 6) == ["One two. Three four", "four five.", "five. Six seven."]


def test_a_paragraph_ends_a_passage_before_a_sentence_does():
    assert cut("Aaaa bbbb.\n\nCc. Dd ee ff gg hh.", 20, 0) == ["Aaaa bbbb.", "Cc. Dd ee ff gg hh."]


def test_a_short_text_is_one_passage_and_size_0_cuts_nothing():
    assert cut("  a b \n") == ["a b"]
    assert cut("word " * 5000, 0) == [("word " * 5000).strip()]
    assert cut(" \n\t ") == []


def test_scripts_without_spaces():
    text = "干旱使土壤收缩。管道因此断裂。热浪使铁轨弯曲。"
    assert cut(text, 10, 0) == ["干旱使土壤收缩。", "管道因此断裂。", "热浪使铁轨弯曲。"]


@settings(max_examples=400)
@example("a漢 a", 2, 1)
@given(st.text("ab .\n漢。é", max_size=300), st.integers(1, 40), st.integers(0, 20))
def test_nothing_is_lost_nothing_is_too_long_and_overlaps_are_kept(
    text: str, size: int, overlap: int
):
    overlap = min(overlap, size // 2)
    passages = list(Chunker(Chunking(size, overlap)).passages(text))
    covered = {at for p in passages for at in range(p.start, p.end)}
    assert {at for at, char in enumerate(text) if not char.isspace()} <= covered
    assert all(0 < p.end - p.start <= size for p in passages)
    for one, two in pairwise(passages):
        assert one.start < two.start
        assert one.end < two.end
        assert two.start >= one.end or one.end - two.start <= overlap


def test_tokens_of_a_tokenizer(tmp_path: Path):
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    # a full stop is a token of its own: five tokens are "aa bb cc . dd", of which the sentence's end is taken;
    # two tokens of overlap are "cc ."
    text = "aa bb cc. dd ee. ff gg hh ii"
    assert cut(text, 5, 0, unit="tokens", tokenizer=path) == ["aa bb cc.", "dd ee.", "ff gg hh ii"]
    assert cut(text, 5, 2, unit="tokens", tokenizer=path)[1].startswith("cc. dd")


@settings(max_examples=100)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=40), st.integers(2, 12), st.data())
def test_tokens_are_counted(lengths: list[int], size: int, data):
    """Words of so many letters, each a token: no passage has more than `size`, and every word is in one."""
    overlap = data.draw(st.integers(0, size // 2))
    text = " ".join("w" * length for length in lengths)
    spans, at = [], 0
    for length in lengths:
        spans.append((at, at + length))
        at += length + 1
    chunker = Chunker(Chunking(size, overlap))
    chunker._ruler = lambda text: TokenRuler(text, spans)
    found = [text[p.start : p.end].split() for p in chunker.passages(text)]
    assert all(1 <= len(words) <= size for words in found)
    assert sum(map(len, found)) >= len(lengths)
    assert sum(map(len, found)) <= len(lengths) + overlap * (len(found) - 1)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"size": 10, "overlap": 6}, "at most half, 5"),
        ({"size": -1}, "whole numbers from 0"),
        ({"unit": "words"}, "characters or tokens"),
        ({"tokenizer": Path("x")}, "--unit tokens"),
    ],
)
def test_figures_that_do_not_fit(more, said: str):
    with pytest.raises(UserError, match=said):
        Chunking(**more)


def test_a_file_that_is_no_tokenizer(tmp_path: Path):
    pytest.importorskip("tokenizers")
    path = tmp_path / "t.json"
    path.write_text("{}")
    with pytest.raises(UserError, match=r"cannot be read as a tokenizer\.json"):
        Chunker(Chunking(unit="tokens", tokenizer=path))

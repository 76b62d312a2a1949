"""The words of a claim beside its evidence, on handmade token vectors: equal words match with 1, others with 0."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")

from bench.checkers.alignment import (  # noqa: E402
    CLAIM_FEATURES,
    LAYERS,
    SENTENCES,
    WORD_FEATURES,
    Alignment,
    align,
)

from longmark.contrib.local.minilm import TokenVectors  # noqa: E402

VOCABULARY = [
    "ann",
    "ate",
    "three",
    "3",
    "pies",
    "pie",
    "##s",
    "not",
    "rain",
    "fell",
    ".",
    "paris",
    "in",
]


def read(text: str) -> TokenVectors:
    """Tokens are the words between blanks; a text's vector is the mean of its tokens'."""
    pieces, spans, position = [], [], 0
    for word in text.split():
        start = text.index(word, position)
        position = start + len(word)
        pieces.append(word.lower())
        spans.append((start, position))
    rows = np.eye(len(VOCABULARY), dtype=np.float32)[[VOCABULARY.index(piece) for piece in pieces]]
    mean = rows.mean(axis=0) if pieces else np.zeros(len(VOCABULARY), dtype=np.float32)
    unit = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return TokenVectors(tuple(pieces), tuple(spans), unit, np.stack([rows] * len(LAYERS)))


def aligned(claim: str, *evidence: str) -> Alignment:
    words = read(claim)
    found = align(
        claim, words, [read(one) for one in evidence], np.ones(len(words.pieces), dtype=np.float32)
    )
    assert found is not None
    return found


def column(found: Alignment, name: str) -> list[float]:
    return [round(float(value), 6) for value in found.words[:, WORD_FEATURES.index(name)]]


def of_claim(found: Alignment, name: str) -> float:
    values = found.claim(np.zeros(len(found.spans), dtype=np.float32))
    assert values.shape == (len(CLAIM_FEATURES),)
    return float(values[CLAIM_FEATURES.index(name)])


def test_a_word_counts_by_its_best_match_and_in_the_best_sentence() -> None:
    found = aligned("Ann ate 3 pies .", "Ann ate pie", "Rain fell", "3 rain")
    assert column(found, "last") == [1, 1, 1, 0, 0]
    assert column(found, "last, best sentence") == [
        1,
        1,
        0,
        0,
        0,
    ]  # "Ann ate pie" matches two words
    assert column(found, "number") == [0, 0, 1, 0, 0]
    assert column(found, "number not in evidence") == [0, 0, 0, 0, 0]
    assert found.counted.tolist() == [True, True, True, True, False]
    assert of_claim(found, "last") == pytest.approx(3 / 4, abs=1e-4)  # the full stop does not count
    assert of_claim(found, "numbers missing") == 0
    assert of_claim(found, "one sentence") == 0


def test_a_number_and_a_name_that_the_evidence_does_not_have_are_seen() -> None:
    found = aligned("Rain fell 3 in Paris", "rain fell in")
    assert column(found, "number not in evidence") == [0, 0, 1, 0, 0]
    assert column(found, "capital not in evidence") == [0, 0, 0, 0, 1]
    assert (of_claim(found, "numbers missing"), of_claim(found, "capitals missing")) == (1, 1)
    assert of_claim(found, "one sentence") == 1


def test_a_negation_on_one_side_alone_is_seen() -> None:
    assert of_claim(aligned("rain not fell", "rain fell"), "negation on one side") == 1
    assert of_claim(aligned("rain fell", "rain not fell"), "negation on one side") == 1
    assert of_claim(aligned("rain not fell", "rain not fell"), "negation on one side") == 0


def test_pieces_of_a_word_are_one_word() -> None:
    claim, vectors = (
        "pies",
        TokenVectors(("pie", "##s"), ((0, 3), (3, 4)), read("pie").text, read("pie ##s").tokens),
    )
    found = align(claim, vectors, [read("pie")], np.ones(2, dtype=np.float32))
    assert found is not None
    assert found.spans == ((0, 4),)
    assert column(found, "last") == [0.5]
    assert column(found, "weakest piece") == [0]


def test_the_order_of_the_sentences_changes_nothing() -> None:
    one, other = (
        aligned("ann ate pie", "ann ate", "rain pie fell"),
        aligned("ann ate pie", "rain pie fell", "ann ate"),
    )
    beside = WORD_FEATURES.index(
        "neighbours match side by side"
    )  # the one feature of places in the evidence
    assert np.allclose(np.delete(one.words, beside, 1), np.delete(other.words, beside, 1))


def test_a_claim_without_words_and_evidence_without_words_have_no_alignment() -> None:
    assert align(".", read("."), [read("rain")], np.ones(1, dtype=np.float32)) is None
    assert align("rain", read("rain"), [], np.ones(1, dtype=np.float32)) is None
    assert align("rain", read("rain"), [read("")], np.ones(1, dtype=np.float32)) is None


def test_the_sentences_closest_to_the_claim_are_kept_of_many() -> None:
    found = aligned("ann ate", *["rain fell"] * (SENTENCES + 5), "ann ate")
    assert column(found, "last") == [1, 1]

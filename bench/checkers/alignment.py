"""How the words of a claim stand in its evidence: each word beside the best matching token of the evidence.

A claim of w words and the sentences of its evidence become a matrix (w, `WORD_FEATURES`) and a vector
(`CLAIM_FEATURES`), which the trained claim checker weighs (`aligned`). A match is a cosine of token
vectors of MiniLM, in [-1, 1], at three layers: the input (the word itself), the fifth, and the last (the word in its
sentence). A word counts by its inverse document frequency. Needs NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longmark.contrib.local.minilm import TokenVectors
from longmark.text.overlap import FUNCTION_WORDS

Floats = NDArray[np.float32]

LAYERS = (0, 5, 6)
_WORD, _MIDDLE, _LAST = range(3)  # the layers' places
SENTENCES = 24  # of the evidence that are aligned, the closest to the claim

NEGATIONS = frozenset(
    (
        "no",
        "not",
        "never",
        "none",
        "nothing",
        "neither",
        "nor",
        "without",
        "cannot",
        "fails",
        "lack",
    )
)

WORD_FEATURES = (
    *("word", "middle", "last"),  # the best match in the evidence
    *("word, best sentence", "middle, best sentence", "last, best sentence"),
    *("weakest piece", "rarity", "in evidence", "matches itself"),
    *(
        "number",
        "capital",
        "function word",
        "negation",
        "number not in evidence",
        "capital not in evidence",
    ),
    *("place in claim", "matched in best sentence", "neighbours match side by side"),
    *(
        "last, 1 neighbour",
        "middle, 3 neighbours",
        "last, 6 neighbours",
        "in evidence, 3 neighbours",
    ),
    *(
        "claim's last",
        "claim's last, best sentence",
        "closest sentence",
        "log words",
        "log sentences",
    ),
)
CLAIM_FEATURES = (
    *("unsupported, mean", "unsupported, three highest", "unsupported, mean log-odds"),
    *("last", "three lowest, middle", "content words in evidence", "closest sentence"),
    *("has number", "numbers missing", "has capital", "capitals missing", "negation on one side"),
    *("log words", "log sentences", "one sentence", "log tokens of best sentence"),
)


@dataclass(frozen=True, slots=True)
class Alignment:
    """A claim beside its evidence. words: a row a word; spans: where each word stands in the claim; counted: which
    words have a letter or digit; weights: by rarity, they add up to 1 over those counted; evidence: features of the
    evidence as a whole."""

    words: Floats
    spans: tuple[tuple[int, int], ...]
    counted: NDArray[np.bool_]
    weights: Floats
    evidence: Floats

    def claim(self, log_odds: Floats) -> Floats:
        """The features of the claim. log_odds: that a word is not supported, one a word."""
        at = dict(zip(WORD_FEATURES, self.words.T, strict=True))
        counted, weights = self.counted, self.weights
        content = counted & (at["function word"] == 0)
        if not content.any():
            content = counted
        odds = 1 / (1 + np.exp(-log_odds))
        found = at["in evidence"]
        numbers, capitals = at["number"] > 0, at["capital"] > 0
        closest, negation_of_best, log_sentences, log_tokens = self.evidence
        values = [
            *(weights @ odds, -_lowest(-odds[counted]), weights @ log_odds),
            *(weights @ at["last"], _lowest(at["middle"][content]), found[content].mean(), closest),
            *(numbers.any(), (1 - found[numbers]).mean() if numbers.any() else 0.0),
            *(capitals.any(), (1 - found[capitals]).mean() if capitals.any() else 0.0),
            float(at["negation"].any()) != negation_of_best,
            *(np.log(counted.sum()), log_sentences, log_sentences == 0, log_tokens),
        ]
        return np.array(values, dtype=np.float32)


def align(
    claim_text: str, claim: TokenVectors, sentences: Sequence[TokenVectors], rarity: Floats
) -> Alignment | None:
    """The alignment of a claim with the sentences of its evidence; None where either has no word.

    claim, sentences: with the layers `LAYERS`; rarity: the inverse document frequency of each token of the claim.
    """
    sentences = [sentence for sentence in sentences if sentence.pieces]
    groups = _words(claim.pieces)
    spans = tuple((claim.spans[group[0]][0], claim.spans[group[-1]][1]) for group in groups)
    surfaces = [claim_text[start:end] for start, end in spans]
    counted = np.array(
        [any(char.isalnum() for char in surface) for surface in surfaces], dtype=bool
    )
    if not sentences or not counted.any():
        return None
    cosines = np.stack([sentence.text for sentence in sentences]) @ claim.text
    order = np.argsort(-cosines, kind="stable")[:SENTENCES]
    chosen, cosines, count = [sentences[index] for index in order], cosines[order], len(sentences)
    owner = np.repeat(np.arange(len(chosen)), [len(one.pieces) for one in chosen])
    tokens = np.concatenate([one.tokens for one in chosen], axis=1).astype(np.float32)
    matches = claim.tokens.astype(np.float32) @ tokens.swapaxes(
        1, 2
    )  # (layers, pieces of the claim, of the evidence)
    starts = np.searchsorted(owner, np.arange(len(chosen)))
    by_sentence = np.maximum.reduceat(matches, starts, axis=2)  # (layers, pieces, sentences)
    shares = rarity / rarity.sum()
    best = int((shares @ by_sentence[_LAST]).argmax())
    position = matches.argmax(axis=2)
    pieces = np.array([piece for one in chosen for piece in one.pieces], dtype=object)
    known = frozenset(pieces)

    def by_word(values: Floats) -> Floats:
        return np.array([values[group].mean() for group in groups], dtype=np.float32)

    def flags(test: Sequence[bool]) -> Floats:
        return np.array(test, dtype=np.float32)

    overall = [by_word(values) for values in by_sentence.max(axis=2)]
    in_best = [by_word(values) for values in by_sentence[:, :, best]]
    weights = np.array([rarity[group].max() for group in groups], dtype=np.float32) * counted
    weights = (weights + 1e-6) / (weights + 1e-6).sum()
    found = by_word(flags([piece in known for piece in claim.pieces]))
    itself = by_word(
        flags(
            [pieces[at] == piece for at, piece in zip(position[_LAST], claim.pieces, strict=True)]
        )
    )
    lower = [surface.lower() for surface in surfaces]
    number = flags([any(char.isdigit() for char in surface) for surface in surfaces])
    capital = flags([index > 0 and surface[:1].isupper() for index, surface in enumerate(surfaces)])
    negation = flags([word in NEGATIONS for word in lower])
    first = np.array([position[_MIDDLE][group[0]] for group in groups])
    placed = (owner[first] == best).astype(np.float32)
    near = np.abs(np.diff(first, prepend=-9, append=first[-1] + 9)) <= 2
    beside = (near[:-1].astype(np.float32) + near[1:]) / 2
    negated = any(piece in NEGATIONS for piece in chosen[best].pieces)

    def whole(value: float) -> Floats:
        return np.full(len(groups), value, dtype=np.float32)

    columns = [
        *overall,
        *in_best,
        np.array([by_sentence[_MIDDLE].max(axis=1)[group].min() for group in groups]),
        np.array([rarity[group].max() for group in groups]),
        *(
            found,
            itself,
            number,
            capital,
            flags([word in FUNCTION_WORDS for word in lower]),
            negation,
        ),
        *(number * (1 - found), capital * (1 - found)),
        *(np.arange(len(groups)) / max(1, len(groups) - 1), placed, beside),
        *(
            _around(overall[_LAST], 1),
            _around(overall[_MIDDLE], 3),
            _around(overall[_LAST], 6),
            _around(found, 3),
        ),
        *(whole(weights @ overall[_LAST]), whole(weights @ in_best[_LAST]), whole(cosines[0])),
        *(whole(np.log(len(groups))), whole(np.log(count))),
    ]
    evidence = (cosines[0], float(negated), np.log(count), np.log(len(chosen[best].pieces)))
    words = np.stack(columns, axis=1).astype(np.float32)
    return Alignment(words, spans, counted, weights, np.array(evidence, dtype=np.float32))


def _words(pieces: Sequence[str]) -> list[list[int]]:
    """The pieces of each word: `##` continues one."""
    groups: list[list[int]] = []
    for index, piece in enumerate(pieces):
        if piece.startswith("##") and groups:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups


def _around(values: Floats, reach: int) -> NDArray[Any]:
    """The mean over the neighbours up to so many words away, without the word itself; the ends are repeated."""
    indices = np.arange(len(values))
    shifts = [shift for shift in range(-reach, reach + 1) if shift]
    shifted = [values[np.clip(indices + shift, 0, len(values) - 1)] for shift in shifts]
    return np.asarray(np.stack(shifted).mean(axis=0, dtype=np.float32))


def _lowest(values: NDArray[np.floating[Any]]) -> float:
    """The mean of the three lowest."""
    return float(np.sort(values)[:3].mean())

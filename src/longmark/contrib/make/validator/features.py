"""Features of an item: vectors of an embedder, and numbers from the audits and the texts.

Vectors: question with options and answer; the mean of the passages' pieces. Numbers, one for each name in `NUMBERS`,
None if an item does not have it: the mean of the labelled items is then used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longmark.contrib.make.validator.prompts import answer_of, question_of
from longmark.models.handles import Models
from longmark.records.benchmark import Item
from longmark.stats.samples import Floats
from longmark.text.overlap import overlap
from longmark.text.pieces import pieces

PIECE = 900  # bytes of a passage that are embedded at once: MiniLM reads 256 tokens


def _answer_text(item: Item) -> str:
    """The answer in words: of an mcq, whose answer is a letter, the text of that option."""
    return (item.options or {}).get(item.answer or "", item.answer or "")


def _length(text: str) -> float:
    # A logarithm: a few words more change a short text and hardly a long one.
    return math.log1p(len(text.split()))


def _texts(item: Item) -> list[str]:
    return [passage.text for passage in item.passages]


def _audit_mark(name: str) -> Callable[[Item], float | None]:
    """Reads what an audit of the benchmark found of an item. A list of findings counts as 1, an empty one as 0."""

    def read(item: Item) -> float | None:
        value = item.marks.get(name)
        if isinstance(value, list):
            return float(bool(value))
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None

    return read


OF_ITEM: Mapping[str, Callable[[Item], float | None]] = {
    "question_words": lambda item: _length(item.question),
    "answer_words": lambda item: _length(_answer_text(item)),
    "answer_in_passages": lambda item: (
        overlap(_answer_text(item), _texts(item)) if item.passages else None
    ),
    "question_in_passages": lambda item: (
        overlap(item.question, _texts(item)) if item.passages else None
    ),
    "reasoning": lambda item: float(item.level == "reasoning"),
    "hypothetical": lambda item: float(item.level == "hypothetical"),
    "self_consistency": _audit_mark("self_consistency"),
    "other_right": _audit_mark("other_right"),
    "longest_is_key": _audit_mark("longest_is_key"),
    "answerable_without_book": _audit_mark("answerable_without_book"),
}
COSINES = ("answer_near_passage", "question_near_passage", "answer_near_question")
NUMBERS = (*OF_ITEM, *COSINES)


@dataclass(frozen=True)
class Inputs:
    """vectors: (items, 2 x width), each half a unit vector or zeros; numbers: (items, names), NaN where unknown."""

    vectors: Floats
    numbers: Floats
    names: tuple[str, ...] = NUMBERS

    def __getitem__(self, rows: Any) -> Inputs:
        return Inputs(self.vectors[rows], self.numbers[rows], self.names)

    def __len__(self) -> int:
        return len(self.vectors)


async def inputs_of(items: Sequence[Item], models: Models) -> Inputs:
    """Embeds every text once; equal texts, such as passages that items share, cost one call."""
    pieces_of = {text: pieces(text, PIECE) for item in items for text in _texts(item)}
    item_texts = [
        (f"{question_of(item)}\n{answer_of(item)}", item.question, _answer_text(item))
        for item in items
    ]
    vectors = await embedded(
        [
            *(piece for passage_pieces in pieces_of.values() for piece in passage_pieces),
            *(text for texts_of_item in item_texts for text in texts_of_item),
        ],
        models,
    )
    # Of a blank text: its cosine with anything is 0.
    blank = np.zeros_like(next(iter(vectors.values()), np.zeros(1)))
    rows = []
    numbers = []
    for item, texts in zip(items, item_texts, strict=True):
        answered, question, answer = (vectors.get(text, blank) for text in texts)
        passage_vectors = [vectors[piece] for text in _texts(item) for piece in pieces_of[text]]
        mean = _unit(np.mean(passage_vectors, axis=0)) if passage_vectors else blank
        rows.append(np.concatenate([answered, mean]))
        # In the order of COSINES. Vectors have length 1, so that products are cosines.
        cosines = [
            max((float(vector @ passage) for passage in passage_vectors), default=math.nan)
            for vector in (answer, question)
        ]
        item_numbers = [
            math.nan if (value := read(item)) is None else value for read in OF_ITEM.values()
        ]
        numbers.append([*item_numbers, *cosines, float(answer @ question)])
    if not items:
        return Inputs(np.zeros((0, 0)), np.zeros((0, len(NUMBERS))))
    return Inputs(np.array(rows), np.array(numbers))


async def embedded(texts: Sequence[str], models: Models) -> dict[str, Floats]:
    """Text -> unit vector, of all texts that are not blank."""
    unique_texts = list(dict.fromkeys(text for text in texts if text.strip()))
    embeddings = (
        np.array(await models.embed(unique_texts), dtype=np.float64)
        if unique_texts
        else np.zeros((0, 1))
    )
    return dict(zip(unique_texts, _unit(embeddings), strict=True))


def _unit(vectors: Floats) -> Floats:
    """Vectors of length 1; zeros stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    result: Floats = vectors / np.where(lengths > 0, lengths, 1.0)
    return result

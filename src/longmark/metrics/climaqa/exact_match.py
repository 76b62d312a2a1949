"""Exact match (ClimaQA, section 3.2.2): whether the term equals the reference.

1 if the answer equals a reference, else 0. No call.

Parameters: fold: case, spaces and punctuation around the terms are ignored; without it the strings must be equal, as
in the authors' code.
Deviations: none.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from longmark.metric import Metric, Score, Silence
from longmark.models.handles import Models
from longmark.records import Example
from longmark.text.words import folded as caseless_words


@dataclass(frozen=True)
class ExactMatchParams:
    fold: bool = False


def folded(term: str) -> str:
    """A term without case, repeated spaces and punctuation around it; letters and digits in compatible forms (SO₂) are
    as plain ones, but 10⁶ is not 106."""
    words = " ".join(caseless_words(term).split())
    inner = [
        i
        for i, char in enumerate(words)
        if not unicodedata.category(char).startswith("P") and char != " "
    ]
    return words[inner[0] : inner[-1] + 1] if inner else ""


async def score(example: Example, _models: Models, params: ExactMatchParams) -> Score:
    """1 or 0, and both terms."""
    answer = example.answer or ""
    right = [
        ref
        for ref in example.references
        if ref == answer or (params.fold and folded(ref) == folded(answer))
    ]
    return Score(float(bool(right)), {"answer": answer, "references": list(example.references)})


METRIC = Metric(
    score,
    needs=("answer", "references"),
    bounds=(0, 1),
    params=ExactMatchParams,
    silence=Silence(0, 0, 0),
    version=2,
)

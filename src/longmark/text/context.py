"""What stands before a claim that is not understood by itself.

A claim that opens with This, It or Yes says nothing without the sentence before it. Claims that a judge lists have
names in place of pronouns (`text.claims`), but those that an example carries, or that are the sentences of an answer,
do not. A checker that asks for context (`embedded@context=before`) gets such a claim behind the sentence before it, or,
where it is the first one, behind the question. The evidence of a score then shows what was sent (`sent`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from longmark.records.same import comparable
from longmark.text.sentences import CITATION, sentences

# fmt: off
OPENING = frozenset({
    "this", "that", "these", "those", "such", "both",
    "it", "its", "they", "their", "them", "he", "him", "his", "she", "her",
    "yes", "no",
})
# fmt: on
"""First words that point back: demonstratives, pronouns of the third person, and answers to the question. Connectives
(However, Therefore) are left out: what they open is understood without the sentence before. English only."""
_FIRST_WORD = re.compile(r"\W*(\w+)")


def points_back(claim: str) -> bool:
    """Whether a claim opens with one of `OPENING`."""
    first = _FIRST_WORD.match(claim)
    return first is not None and first[1].casefold() in OPENING


def in_context(claims: Sequence[str], text: str, question: str | None) -> dict[str, str]:
    """Claim -> the claim behind what stands before it, of the claims that point back.

    text: what the claims were taken from. The sentence before a claim is that of the text where the claim is one of its
    sentences (case, spacing and citation marks do not count), else the claim before it; before the first one the
    question, if there is one. Of equal claims the first counts."""
    if not any(map(points_back, claims)):
        return {}
    text_sentences = [sentence.strip() for sentence in sentences(text)]
    places = {
        _plain(sentence): place for place, sentence in reversed(list(enumerate(text_sentences)))
    }
    claims_in_context: dict[str, str] = {}
    for number, claim in enumerate(claims):
        if claim in claims_in_context or not points_back(claim):
            continue
        place = places.get(_plain(claim))
        before, sequence = (place, text_sentences) if place is not None else (number, claims)
        context = _without_citations(sequence[before - 1]) if before else (question or "").strip()
        if context:
            claims_in_context[claim] = f"{context} {claim}"
    return claims_in_context


def sent_with(
    checker: Any, claims: Sequence[str], text: str, question: str | None
) -> Mapping[str, str]:
    """`in_context` for a checker that asks for context; empty for any other."""
    return in_context(claims, text, question) if getattr(checker, "context", False) else {}


def _without_citations(sentence: str) -> str:
    return " ".join(CITATION.sub("", sentence).split()).replace(" .", ".")


def _plain(sentence: str) -> str:
    return comparable(_without_citations(sentence)).rstrip(".。 ")

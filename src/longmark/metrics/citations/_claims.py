"""The claims of an answer with the citations of the sentences that they come from (`unit=claims`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from longmark.errors import NoScore
from longmark.metrics.citations._answer import CitedAnswer
from longmark.metrics.citations._params import CitationsParams
from longmark.metrics.citations._sources import ids_of
from longmark.metrics.citations._support import CitedStatement
from longmark.models.handles import Models
from longmark.records import Example
from longmark.records.same import comparable
from longmark.text.citations import cited_text
from longmark.text.claims import answer_claims
from longmark.text.overlap import share_in, words


async def with_claims(
    example: Example, models: Models, params: CitationsParams, answer: CitedAnswer
) -> CitedAnswer:
    """The answer with its claims in place of its sentences: those that it carries, else those that the first judge
    lists, in the request that other metrics send for them.

    Raises NoScore (`missing_input` where there are neither; `undefined` without a claim) and ModelError."""
    if example.claims is None and not models.judges:
        raise NoScore(
            "missing_input",
            "Only a judge lists the claims of an answer, and the example carries none: add --judge, or score sentences "
            "(citations without unit=claims).",
        )
    ids = ids_of(answer.sources)
    listed = await answer_claims(models, example)
    texts = [cited_text(claim, ids, params.parentheses).plain.strip() for claim in listed]
    texts = [text for text in texts if text]
    if not texts:
        raise NoScore("undefined", "The answer makes no claim.")
    once: dict[tuple[str, int | None], CitedStatement] = {}
    for text, origin in zip(texts, origins(texts, answer.sentences), strict=True):
        claim = CitedStatement(text)
        if origin is not None:
            claim = replace(
                answer.sentences[origin],
                text=text,
                origin=origin,
            )
        once.setdefault((comparable(text), origin), claim)
    return replace(answer, sentences=tuple(once.values()))


def origins(claims: Sequence[str], sentences: Sequence[CitedStatement]) -> list[int | None]:
    """The number, from 0, of the sentence that each claim comes from: the one with most of its words; of several, the
    next one from that of the claim before, since claims are listed in the order of the answer, and of a claim that is
    listed again the one behind. None without sentences."""
    sentence_words = [words([sentence.text]) for sentence in sentences]
    numbers: list[int | None] = []
    before = 0
    latest: dict[str, int] = {}
    for claim in claims:
        claim_words = words([claim])
        shares = [share_in(claim_words, having) or 0.0 for having in sentence_words]
        if not shares:
            numbers.append(None)
            continue
        greatest = max(shares)
        nearest = [number for number, share in enumerate(shares) if share == greatest]
        first = max(before, latest.get(comparable(claim), -1) + 1)
        before = next((number for number in nearest if number >= first), nearest[-1])
        latest[comparable(claim)] = before
        numbers.append(before)
    return numbers

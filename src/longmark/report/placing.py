"""Where the claims of an answer stand in it: the sentence of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from longmark.records.evidence import SupportedClaim
from longmark.report.reasons import place_of
from longmark.text.overlap import share_in, words
from longmark.text.sentences import parted

LEAST_SHARE = 0.5
"""Of a claim's words that its sentence has, or the other way round."""


def placed(
    claims: Sequence[SupportedClaim],
    text: str,
    labelled: Iterable[tuple[int, int]],
) -> dict[tuple[int, int], list[SupportedClaim]]:
    """Where each claim belongs: sentence -> its claims. labelled: sentences by their places, (start, end), that the caller
    asks about; beside them stand the other sentences of the text. Claims with the same words, of a sentence that the
    answer repeats, go to one of its places each, in their order."""
    labelled_sentences = {place for place in labelled if place[1] <= len(text)}
    sentences = set(labelled_sentences)
    for start, end in parted(text):
        beside = any(first < end and start < last for first, last in labelled_sentences)
        if not beside:
            sentences.add((start, end))
    words_of = {place: words([text[slice(*place)]]) for place in sorted(sentences)}
    times = Counter[str]()
    claims_of: dict[tuple[int, int], list[SupportedClaim]] = {}
    for claim in claims:
        candidates = _candidates(
            claim,
            text,
            words_of,
        )
        if candidates:
            place = candidates[min(times[claim.claim], len(candidates) - 1)]
            claims_of.setdefault(place, []).append(claim)
        times[claim.claim] += 1
    return claims_of


def _candidates(
    claim: SupportedClaim,
    text: str,
    words_of: Mapping[tuple[int, int], set[str]],
) -> list[tuple[int, int]]:
    """The sentences that a claim can stand in: those that fit equally well."""
    if claim.quote and (place := place_of(claim.quote, text)):
        return [(start, end) for start, end in words_of if start <= place[0] < end]
    claim_words = words([claim.claim])
    for turned in (False, True):  # a short sentence may say more than its words
        shares = {
            place: _share(
                claim_words,
                sentence_words,
                turned=turned,
            )
            for place, sentence_words in words_of.items()
        }
        greatest = max(shares.values(), default=0.0)
        if greatest >= LEAST_SHARE:
            return [place for place, share in shares.items() if share == greatest]
    return []


def _share(
    claim: set[str],
    sentence: set[str],
    *,
    turned: bool,
) -> float:
    """Of the claim's words that the sentence has; turned: of the sentence's words that the claim has."""
    share = share_in(sentence, claim) if turned else share_in(claim, sentence)
    return share or 0.0

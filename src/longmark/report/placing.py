"""Where the claims of an answer stand in it: the sentence of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from longmark.records.evidence import SupportedClaim
from longmark.report.reasons import place_of
from longmark.text.citations import without_markers
from longmark.text.overlap import share_in, words
from longmark.text.sentences import parted

LEAST_SHARE = 0.5
"""Of a claim's words that its sentence has, or the other way round."""
_BRACKETS = re.compile(r"\[[^\]\n]{0,200}\](?!\()")
"""What may be a marker of an id that is not known here; the words of a link are none."""


def placed(
    claims: Sequence[SupportedClaim],
    text: str,
    labelled: Iterable[tuple[int, int]],
) -> dict[tuple[int, int], list[SupportedClaim]]:
    """Where each claim belongs: sentence -> its claims. labelled: sentences by their places, (start, end), that the caller
    asks about; beside them stand the other sentences of the text. Of sentences that have as many of a claim's words, it
    is the one with the fewest others: a short sentence can consist of the words of a longer one. Claims with the same
    words, of a sentence that the answer repeats, go to one of its places each, in their order."""
    labelled_sentences = {place for place in labelled if place[1] <= len(text)}
    sentences = set(labelled_sentences)
    for start, end in parted(text):
        beside = any(first < end and start < last for first, last in labelled_sentences)
        if not beside:
            sentences.add((start, end))
    words_of = {place: words([text[slice(*place)]]) for place in sorted(sentences)}
    times = Counter[frozenset[str]]()
    claims_of: dict[tuple[int, int], list[SupportedClaim]] = {}
    for claim in claims:
        candidates = _candidates(
            claim,
            text,
            words_of,
        )
        claim_words = frozenset(_words_of(claim.claim))
        if candidates:
            place = candidates[min(times[claim_words], len(candidates) - 1)]
            claims_of.setdefault(place, []).append(claim)
        times[claim_words] += 1
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
            places = [place for place, share in shares.items() if share == greatest]
            return _closest(claim.claim, text, places)
    return []


def _closest(claim: str, text: str, places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those of these sentences that have the most words in common with a claim, of the words of both."""
    if len(places) == 1:
        return places
    claim_words = _words_of(claim)
    likeness = {}
    for place in places:
        sentence_words = _words_of(text[slice(*place)])
        in_either = claim_words | sentence_words
        likeness[place] = len(claim_words & sentence_words) / len(in_either) if in_either else 0.0
    greatest = max(likeness.values())
    return [place for place, share in likeness.items() if share == greatest]


def _words_of(text: str) -> set[str]:
    """The words of a sentence without its markers: two places of the same sentence can cite differently."""
    return words([_BRACKETS.sub("", without_markers(text))])


def _share(
    claim: set[str],
    sentence: set[str],
    *,
    turned: bool,
) -> float:
    """Of the claim's words that the sentence has; turned: of the sentence's words that the claim has."""
    share = share_in(sentence, claim) if turned else share_in(claim, sentence)
    return share or 0.0

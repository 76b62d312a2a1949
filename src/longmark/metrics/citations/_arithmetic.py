"""Recall, precision and f1 of an answer from what was found of its sentences and citations."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from longmark.errors import NoScore
from longmark.metrics.citations._grades import CITATION_GRADES, PARTLY_SUPPORTED
from longmark.metrics.citations._params import CitationsParams
from longmark.metrics.citations._support import (
    MISSING,
    NEEDED,
    SUPPORTED,
    UNKNOWN,
    CheckedStatement,
)

ASKED = ("recall", "precision", "f1")
FATED = frozenset({"precision", "f1"})
"""The scores that depend on what each citation adds."""
_NAMES_SHOWN = 3  # in a reason

_SENTENCE_WEIGHTS = {SUPPORTED: 1.0, PARTLY_SUPPORTED: 0.5}
_CITATION_WEIGHTS = {NEEDED: 1.0, **CITATION_GRADES}


def citation_scores(
    sentences: Sequence[CheckedStatement], params: CitationsParams
) -> dict[str, float | NoScore]:
    """recall, precision and f1 of an answer."""
    if not sentences:
        return dict.fromkeys(ASKED, NoScore("undefined", "The answer has no sentence."))
    recall = _recall(sentences, params)
    precision = _precision(sentences, params)
    return {"recall": recall, "precision": precision, "f1": _f1(precision, recall)}


def _recall(sentences: Sequence[CheckedStatement], params: CitationsParams) -> float | NoScore:
    decided = [sentence for sentence in sentences if sentence.state != UNKNOWN]
    if len(decided) < len(sentences) and params.missing == "unscored":
        return _missing(sentences)
    if not decided:
        return NoScore("undefined", "No sentence names a source whose text is known.")
    return fmean(_SENTENCE_WEIGHTS.get(sentence.state, 0.0) for sentence in decided)


def _precision(sentences: Sequence[CheckedStatement], params: CitationsParams) -> float | NoScore:
    fates = _fates(
        [
            (sentence.cited.origin, _decidable(sentence, params))
            for sentence in sentences
            if not sentence.cited.rejected
        ]
    )
    decided = [fate for fate in fates if fate != MISSING]
    if len(decided) < len(fates) and params.missing == "unscored":
        return _missing(sentences)
    if decided:
        return fmean(_CITATION_WEIGHTS.get(fate, 0.0) for fate in decided)
    if fates:
        return NoScore("undefined", "No citation names a source whose text is known.")
    if params.empty == "zero":
        return 0.0
    return NoScore("undefined", "The answer names no source.")


def _fates(fates_of_statements: Sequence[tuple[int | None, Sequence[str]]]) -> list[str]:
    """The fates of all citations. The claims of a sentence share its citations: each counts once, with the best of its
    fates, since one claim that needs it is enough."""
    fates: list[str] = []
    by_origin: dict[int, list[str]] = {}
    for origin, of_statement in fates_of_statements:
        if origin is None:
            fates += of_statement
        elif origin in by_origin:
            pairs = zip(by_origin[origin], of_statement, strict=True)
            by_origin[origin] = [min(pair, key=_fate_rank) for pair in pairs]
        else:
            by_origin[origin] = list(of_statement)
    return fates + [fate for of_origin in by_origin.values() for fate in of_origin]


def _fate_rank(fate: str) -> float:
    """The best fate first. A citation whose source is missing may be one that a claim needs."""
    return 0.5 if fate == MISSING else 1 - _CITATION_WEIGHTS.get(fate, 0.0)


def _decidable(sentence: CheckedStatement, params: CitationsParams) -> Sequence[str]:
    """The fates of the citations of a sentence. Whether one is needed depends on the sentence's other sources; its grade
    does not."""
    if sentence.state == UNKNOWN and params.support == "whole":
        return [MISSING] * len(sentence.fates)
    return sentence.fates


def _f1(precision: float | NoScore, recall: float | NoScore) -> float | NoScore:
    """The harmonic mean; 0 if both are 0, and where nothing is cited, so that recall is 0."""
    if isinstance(recall, NoScore):
        return recall
    if isinstance(precision, NoScore):
        nothing_cited = precision.status == "undefined" and recall == 0
        return 0.0 if nothing_cited else precision
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _missing(sentences: Sequence[CheckedStatement]) -> NoScore:
    """Why a score that depends on the text of a source which is not there is none."""
    citations = [citation for sentence in sentences for citation in sentence.cited.citations]
    absent = [citation for citation in citations if citation.status in ("no text", "unknown")]
    names = list(dict.fromkeys(citation.label for citation in absent))
    ellipsis = ", …" if len(names) > _NAMES_SHOWN else ""
    return NoScore(
        "missing_input",
        f"{len(absent)} of {len(citations)} citations name a source whose text the example does not have "
        f"({', '.join(names[:_NAMES_SHOWN])}{ellipsis}): add it to contexts, with its id or address as id, or leave out "
        "what depends on it (citations@missing=left_out).",
    )

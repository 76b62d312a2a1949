"""The evidence in the answer: each sentence with what supports it, and the missing facts where they belong.

A metric declares the view `support`, and what it judges the claims by (`Metric.evidence`). Passages that a metric
judged by decide alone whether a claim is supported: what only the reference says is not. Where none judged by passages,
the reference decides, in words of its own. A sentence that only declines claims nothing, so it is never supported. A
sentence with citations has what a metric of citations found of it and of each of them.

A claim stands at the `quote` that its evidence names, word for word. Without one it stands at the sentence with most of
its words, at least half, else at one half of whose words it has. A missing fact stands below
the sentence that shares most of its words, at least a quarter. What fits nowhere is listed at the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from longmark.records import Row
from longmark.records.evidence import CitedClaim, ExpectedClaim, Support, SupportedClaim
from longmark.records.expected import NOT_SUPPORT, PARTIAL, SUPPORT
from longmark.records.metric_name import base_of
from longmark.records.turn import Context
from longmark.report.format import listed
from longmark.report.placing import placed
from longmark.report.reasons import Places
from longmark.report.view import OtherForm, read_as
from longmark.scores.manifest import MetricFacts
from longmark.text.entailment import CONTRADICTS, ENTAILS
from longmark.text.graph import Recorded
from longmark.text.overlap import share_in, words
from longmark.text.refusal import declines
from longmark.text.sentences import parted, sentences

STATES = {
    "yes": ("✓", "supported", "yes"),
    "part": ("◐", "partly supported", "part"),
    "no": ("✗", "not supported", "no"),
    "right": ("✓", "in the reference", "yes"),
    "partly right": ("◐", "partly in the reference", "part"),
    "wrong": ("✗", "not in the reference", "no"),
    "declined": ("–", "no claim", "declined"),
    "uncited": ("○", "no source named", "declined"),
    "elsewhere": ("↷", "a source that it does not name supports it", "part"),
    "unknown": ("?", "a source is missing", "declined"),
    "missing": ("+", "missing from the answer", "missing"),
}
"""State -> its sign, its words, and the class of its colour and line."""
HELD = {SUPPORT: "holds it", PARTIAL: "holds a part of it", NOT_SUPPORT: "does not hold it"}
"""How far an answer holds a fact, in words."""
_BY = {"contexts": ("yes", "no", "part"), "references": ("right", "wrong", "partly right")}
DECLINED = "declined"
_CITED = {
    "supported": "yes",
    "partly supported": "part",
    "not supported": "no",
    "not cited": "uncited",
    "supported elsewhere": "elsewhere",
    "not known": "unknown",
}
"""State of a sentence with citations -> state of `STATES`."""
_UNJUDGED = {DECLINED, "uncited", "unknown"}
_SAYS_CITED = {
    "yes": "its sources support it",
    "part": "a source that it names supports a part of it",
    "no": "its sources do not support it",
    "uncited": "it names no source",
    "elsewhere": "only a source that it does not name supports it",
    "unknown": "the example does not have the text of a source",
}
_SAYS_DECLINED = "it only says that there is no answer"
_MISSING = 0.25
_EXCERPT = 1 / 3
"""The least share of words with which a claim, a missing fact and a sentence of a passage are put beside a text."""
_MOST = 300  # claims, and missing facts, that are put in the text


@dataclass(slots=True)
class Piece:
    """A sentence of the answer, or what stands between two. start: its place in the answer; state: of STATES, "" for
    one without a claim; notes: its claims, and what supports them; missing: facts that belong below it."""

    text: str
    start: int = 0
    state: str = ""
    notes: list[dict[str, Any]] = field(default_factory=list)
    missing: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Basis:
    """What decides whether a claim is supported. source: `contexts` or `references`; "" where no metric of these rows
    judged by either, so that nothing is marked. passages: how many the example has, None if that is not known."""

    source: str
    passages: int | None = None

    @classmethod
    def of(cls, rows: Iterable[tuple[Row, MetricFacts]], passages: int | None = None) -> Basis:
        """Of rows with what their metrics declare. A row that lacks its input judged by nothing. A metric that declares
        nothing, as in an older run, judges by the passages, and by the reference where there are none."""
        sources = {
            source
            for row, facts in rows
            if row.status != "missing_input"
            for source in (_BY if facts.evidence is None else facts.evidence)
        }
        if passages == 0:
            sources.discard("contexts")
        return cls(next((source for source in _BY if source in sources), ""), passages)

    def state(self, claim: SupportedClaim) -> str:
        """The state of a claim, of `STATES`; "" where nothing decides."""
        if declines(claim.claim):
            return DECLINED
        if isinstance(claim, CitedClaim):
            return _CITED.get(claim.state, "")
        if not self.source or (self.source == "references" and claim.reference is None):
            return ""
        supported, unsupported, _ = _BY[self.source]
        return supported if self.supports(claim) else unsupported

    def supports(self, claim: SupportedClaim) -> bool:
        """Whether what the metric judged by entails a claim."""
        if declines(claim.claim):
            return False
        if isinstance(claim, CitedClaim):
            return _CITED.get(claim.state) == "yes"
        return bool(self.known(claim)) if self.source == "contexts" else claim.reference == ENTAILS

    def known(self, claim: SupportedClaim) -> list[int]:
        """The numbers of the passages that entail a claim, of those that the example has."""
        return [
            n for n in claim.passages if n > 0 and (self.passages is None or n <= self.passages)
        ]

    def together(self, states: set[str]) -> str:
        """The state of a sentence whose claims have these states."""
        judged = states - _UNJUDGED - {""}
        if len(judged) > 1:
            return _BY[self.source or "contexts"][2]
        if judged:
            return judged.pop()
        return next((state for state in sorted(_UNJUDGED) if state in states), "")


def claims_of_rows(rows: Iterable[Row]) -> tuple[list[SupportedClaim], list[ExpectedClaim]]:
    """The claims of all rows, each once with the same labels; what a row has several times, as a sentence that the
    answer repeats, as often as there. OtherForm."""
    claims: dict[Any, SupportedClaim] = {}
    expected: dict[Any, ExpectedClaim] = {}
    for row in rows:
        evidence = read_as(Support, row)
        times = Counter[Any]()
        for claim in evidence.claims:
            labels = (claim.claim, *claim.passages, claim.reference)
            times[labels] += 1
            claims[labels, times[labels]] = claim
        for fact in evidence.reference_claims:
            fact_labels = (fact.claim, *fact.passages, fact.answer, fact.expected_by, fact.held)
            times[fact_labels] += 1
            expected[fact_labels, times[fact_labels]] = fact
    return list(claims.values()), list(expected.values())


def sentences_view(
    answer: str | None,
    contexts: Sequence[Context],
    rows: Mapping[str, Row],
    facts: Mapping[str, MetricFacts],
) -> list[Piece]:
    """The answer in pieces, with what rows of the views `support` and `graph` say of them; empty where they say
    nothing. A piece without a text, at the end, has what fits nowhere."""
    support_rows = _rows_of_view("support", rows, facts)
    try:
        _, expected = claims_of_rows(support_rows.values())
        claims_of_metric = {
            metric: claims_of_rows(metric_rows)[0]
            for metric, metric_rows in _by_metric(support_rows, facts).items()
        }
    except OtherForm:
        claims_of_metric = {}
        expected = []
    absent = _absent(expected, _rows_of_view("graph", rows, facts).values())
    if not answer or not (any(claims_of_metric.values()) or absent):
        return []
    basis = Basis.of(((row, facts[name]) for name, row in support_rows.items()), len(contexts))
    pieces = [Piece(answer[start:end], start) for start, end in parted(answer)]
    unplaced = Piece("")
    forms = Counter(metric for metric, _ in claims_of_metric)
    for (metric, params), claims in claims_of_metric.items():
        # two forms of a metric can differ, so the page says whose a note is
        form = f" ({metric}{params})" if forms[metric] > 1 else ""
        piece_of = _pieces_of(claims[:_MOST], answer, pieces)
        for claim in claims[:_MOST]:
            note = _note(claim, contexts, basis)
            note["says"] += form
            notes = piece_of.get(id(claim), unplaced).notes
            if note not in notes:
                notes.append(note)
    words_of_pieces = [words([piece.text]) for piece in pieces]
    for text, fact in list(absent.items())[:_MOST]:
        (_place(text, pieces, words_of_pieces) or unplaced).missing.append(fact)
    for piece in pieces:
        _set_state(piece, basis)
    if unplaced.notes or unplaced.missing:
        pieces.append(unplaced)
    return pieces


def _rows_of_view(
    view: str, rows: Mapping[str, Row], facts: Mapping[str, MetricFacts]
) -> dict[str, Row]:
    return {
        name: row for name, row in rows.items() if name in facts and facts[name].view[0] == view
    }


def _absent(expected: Iterable[ExpectedClaim], graphs: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """Text -> what the page says of a fact that the answer lacks: of those that are expected, and of the statements that
    graphs leave uncovered."""
    absent = {
        claim.claim: _missing(
            claim.claim,
            claim.passages,
            claim.expected_by or "the reference",
            contradicted=claim.answer == CONTRADICTS,
            in_part=claim.held == PARTIAL,
        )
        for claim in expected
        if claim.answer not in (None, ENTAILS)
    }
    for row in graphs:
        absent |= {
            text: _missing(text, [], listed(sources) if sources else "")
            for text, sources in _uncovered(row)
        }
    return absent


def _pieces_of(
    claims: Sequence[SupportedClaim], answer: str, pieces: Iterable[Piece]
) -> dict[int, Piece]:
    """The identity of a claim (equal ones can stand at several places) -> the piece in which it stands."""
    piece_at = {piece.start: piece for piece in pieces}
    return {
        id(claim): piece_at[start]
        for (start, _), claims_of_piece in placed(claims, answer, ()).items()
        for claim in claims_of_piece
    }


def _set_state(piece: Piece, basis: Basis) -> None:
    """The state of a piece by its notes; of one that only declines, whatever was found of its claims."""
    if piece.notes and declines(piece.text):
        declined = {"state": DECLINED, "says": _SAYS_DECLINED, "passages": []}
        piece.notes = [{**note, **declined} for note in piece.notes]
    piece.state = basis.together({note["state"] for note in piece.notes})


def _by_metric(
    rows: Mapping[str, Row], facts: Mapping[str, MetricFacts]
) -> dict[tuple[str, str], list[Row]]:
    """The rows of each metric, with each set of its parameters: (metric, parameters as names have them) -> rows."""
    rows_of_metric: dict[tuple[str, str], list[Row]] = {}
    for name, row in rows.items():
        key = (facts[name].view[1], name.removeprefix(base_of(name)))
        rows_of_metric.setdefault(key, []).append(row)
    return rows_of_metric


def _place(text: str, pieces: Sequence[Piece], having: Sequence[set[str]]) -> Piece | None:
    """The first piece with most of the words of a missing fact, at least a quarter; None without one."""
    text_words = words([text])
    for turned in (False, True):  # a short sentence may say more than its words
        shares = (
            share_in(piece_words, text_words) if turned else share_in(text_words, piece_words)
            for piece_words in having
        )
        share, place = max(
            ((overlap or 0.0, -i) for i, overlap in enumerate(shares)), default=(0.0, 0)
        )
        if share >= _MISSING:
            return pieces[-place]
    return None


def _note(claim: SupportedClaim, contexts: Sequence[Context], basis: Basis) -> dict[str, Any]:
    """What stands beside a claim: its state, what was found of it, and of each passage that supports it the closest
    sentence."""
    state = basis.state(claim)
    passages = basis.known(claim)
    if state == DECLINED:
        return {"state": state, "claim": claim.claim, "says": _SAYS_DECLINED, "passages": []}
    if isinstance(claim, CitedClaim):
        return _cited_note(claim, contexts, state)
    by_reference = {
        ENTAILS: "the reference says it",
        CONTRADICTS: "the reference contradicts it",
    }.get(claim.reference or "", "")
    if basis.source == "references":
        says = by_reference or ("the reference does not say it" if claim.reference else "")
    elif passages:
        says = f"passage{'s' * (len(passages) > 1)} {listed(list(map(str, passages)), 9)}"
        says += f"; {by_reference}" * (claim.reference == CONTRADICTS)
    elif basis.source:
        absent = (
            f" (the example has no passage {listed(list(map(str, claim.passages)), 9)})"
            if claim.passages
            else ""
        )
        says = "; ".join(filter(None, ["no passage says it" + absent, by_reference]))
    else:
        says = by_reference
    return {
        "state": state,
        "claim": claim.claim,
        "says": says,
        "passages": _beside(claim.claim, passages, contexts),
    }


def _cited_note(claim: CitedClaim, contexts: Sequence[Context], state: str) -> dict[str, Any]:
    """What stands beside a sentence: what its citations are, and the closest sentence of each source that it names or that
    supports it."""
    numbers = [number for citation in claim.citations for number in citation.passages]
    numbers += claim.passages  # of sources that it does not name, too
    fates = fates_in_words(claim)
    says = _SAYS_CITED.get(state, "") + (f": {fates}" if fates else "")
    return {
        "state": state,
        "claim": claim.claim,
        "says": says,
        "passages": _beside(claim.claim, list(dict.fromkeys(numbers)), contexts),
    }


def fates_in_words(claim: SupportedClaim) -> str:
    """The citations of a sentence, each with what it is."""
    if not isinstance(claim, CitedClaim):
        return ""
    return ", ".join(
        f"[{citation.name}] {citation.fate}".rstrip()
        + " (its text ends as a cut one)" * citation.cut
        for citation in claim.citations
    )


def _beside(
    claim: str, numbers: Sequence[int], contexts: Sequence[Context]
) -> list[tuple[int, str | None, str]]:
    """The closest sentence of each of these passages."""
    return [
        (number, contexts[number - 1].id, _closest(claim, contexts[number - 1].text))
        for number in numbers
        if 0 < number <= len(contexts)
    ]


def _closest(text: str, passage: str) -> str:
    """The sentence of a passage that has most of a text's words; "" where none has a third."""
    text_words = words([text])
    overlaps = (
        (share_in(text_words, sentence_words) or 0.0, sentence)
        for sentence, sentence_words in _sentences(passage)
    )
    share, sentence = max(overlaps, key=lambda overlap: overlap[0], default=(0.0, ""))
    return sentence if share >= _EXCERPT else ""


@lru_cache(maxsize=64)
def _sentences(passage: str) -> list[tuple[str, set[str]]]:
    """The sentences of a passage with their words: many claims are looked for in the same one."""
    return [(sentence, words([sentence])) for sentence in sentences(passage)]


def _missing(
    text: str,
    passages: Sequence[int],
    source: str,
    *,
    contradicted: bool = False,
    in_part: bool = False,
) -> dict[str, Any]:
    named_sources = [source] if source else []
    named_sources += (
        [f"passage{'s' if len(passages) > 1 else ''} {listed(list(map(str, passages)), 9)}"]
        if passages
        else []
    )
    return {
        "text": text,
        "sources": (listed(named_sources) if named_sources else "")
        + "; the answer contradicts it" * contradicted
        + f"; the answer {HELD[PARTIAL]}" * in_part,
    }


def _uncovered(row: Row) -> list[tuple[str, tuple[str, ...]]]:
    """The statements that the answer misses and would have to add, of a graph."""
    try:
        recorded = Recorded.of(row.evidence)
    except ValueError:
        return []
    return [
        (statement[0].text, statement[0].sources)
        for statement in recorded.uncovered
        if statement[0].id in recorded.basis
    ]


def quotes_in(piece: Piece, quoted: Places) -> Places:
    """The places of quotes in a piece, counted from its beginning."""
    end = piece.start + len(piece.text)
    places = {
        (max(a, piece.start) - piece.start, min(b, end) - piece.start): n
        for (a, b), n in quoted.items()
    }
    return {place: number for place, number in places.items() if place[0] < place[1]}

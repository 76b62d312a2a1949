"""The view `support`: the claims of an answer with what supports them, and what it should hold, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longmark.records.evidence import CitedClaim, ExpectedClaim, SupportedClaim
from longmark.records.expected import SUPPORT
from longmark.report.format import counted, listed
from longmark.report.support import DECLINED, HELD, Basis, claims_of_rows, fates_in_words
from longmark.report.view import Block, View, ViewCell, ViewRows
from longmark.scores.manifest import MetricFacts


def support_view(shared: ViewRows) -> View | None:
    """All claims with what supports them, and the expected ones with what the answer says of them, as tables. Several
    scores share them: of each claim the row that says most."""
    claims, expected = claims_of_rows(shared.rows.values())
    if not claims and not expected:
        return None
    basis = Basis.of(
        (row, shared.facts.get(part, MetricFacts())) for part, row in shared.rows.items()
    )
    of_reference = [claim for claim in expected if claim.expected_by is None]
    of_others = [claim for claim in expected if claim.expected_by is not None]
    blocks: list[Block] = []
    if claims:
        blocks.append(_table_of_claims(claims))
    if of_others:
        blocks.append(_table_of_facts(of_others))
    if of_reference:
        blocks.append(_table_of_reference(of_reference))
    if remaining := _remaining_evidence(shared):
        blocks.append(("fold", "More of the evidence", remaining))
    if claims or of_reference:
        title = "Claims and what supports them"
        count = _count_of_claims(claims, basis)
    else:
        title = "Facts that the answer should hold"
        holding = sum(claim.held == SUPPORT for claim in expected)
        count = f"{holding} of {counted(len(expected), 'fact')} in the answer"
    return View(title, count, list(shared.rows), blocks)


def _table_of_claims(claims: Sequence[SupportedClaim]) -> Block:
    """The claims of the answer, with columns for references and citations where a claim has one."""
    by_reference = any(claim.reference for claim in claims)
    by_citation = any(isinstance(claim, CitedClaim) for claim in claims)
    heads = ["Claim of the answer", "Passages"]
    if by_reference:
        heads.append("Reference")
    if by_citation:
        heads.append("Citations")
    lines = []
    for claim in claims:
        line = [ViewCell("words", claim.claim), ViewCell("line", _numbers(claim))]
        if by_reference:
            line.append(ViewCell("line", claim.reference or "–"))
        if by_citation:
            line.append(ViewCell("words", fates_in_words(claim) or "–"))
        lines.append(line)
    return ("table", heads, lines, "claim", "")


def _table_of_facts(facts: Sequence[ExpectedClaim]) -> Block:
    """What something else than a reference expects of the answer, such as a nugget."""
    lines = [
        [
            ViewCell("words", fact.claim),
            ViewCell("line", fact.expected_by),
            ViewCell("line", HELD.get(fact.held or "", "–")),
        ]
        for fact in facts
    ]
    return ("table", ["Fact", "Expected as", "Answer"], lines, "claim", "")


def _table_of_reference(claims: Sequence[ExpectedClaim]) -> Block:
    lines = [
        [
            ViewCell("words", claim.claim),
            ViewCell("line", claim.answer or "–"),
            ViewCell("line", _numbers(claim)),
        ]
        for claim in claims
    ]
    return ("table", ["Claim of the reference", "Answer", "Passages"], lines, "claim", "")


def _remaining_evidence(shared: ViewRows) -> dict[str, dict[str, Any]]:
    """Score -> the entries of its evidence that the tables do not have."""
    remaining = {}
    for part, row in shared.rows.items():
        entries = {
            key: value
            for key, value in row.evidence.items()
            if key not in ("claims", "reference_claims")
        }
        if entries:
            remaining[part.replace("_", " ") or shared.metric] = entries
    return remaining


def _count_of_claims(claims: Sequence[SupportedClaim], basis: Basis) -> str:
    """How many claims are supported, and how many only decline, in words."""
    count = counted(len(claims), "claim")
    if basis.source:
        supported = sum(basis.supports(claim) for claim in claims)
        by_source = {"contexts": "supported by a passage", "references": "in the reference"}
        count = f"{supported} of {count} {by_source[basis.source]}"
    if declined := sum(basis.state(claim) == DECLINED for claim in claims):
        count += f", {declined} only say{'s' * (declined == 1)} that there is no answer"
    return count


def _numbers(claim: SupportedClaim | ExpectedClaim) -> str:
    return listed(list(map(str, claim.passages)), 9) if claim.passages else "none"

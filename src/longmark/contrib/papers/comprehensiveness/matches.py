"""The arithmetic of the label match rates (LMR): whether a comprehensiveness score agrees with a weak label.

Source: the Comprehensiveness paper, section 4.1, appendix B.1.2 and figure 7. A match rate is the mean of these values
over answers; each is in [0, 1], and 1 is agreement. `as_published` does what the authors' code does where the paper
leaves it open (IBM/FactReasoner, branch comprehensiveness).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longmark.contrib.make.published import CORRECT, DEFAULT, INCORRECT, PARTIAL
from longmark.errors import UserError
from longmark.text.graph import CONTEXT, Recorded

EPSILON = 1e-5
"""A score this close to 0 or 1 counts as 0 or 1 (the authors' code)."""
_PUBLISHED = 1e-9  # the authors' code adds it to the number of statements


def adjusted(label: str, contexts_given: Sequence[str]) -> str:
    """The label for two contexts: an answer that was written from one context and is Correct covers one of two, so it
    is Partially correct (footnote 8; 406 of the 1,200 published labels)."""
    return PARTIAL if label == CORRECT and len(contexts_given) == 1 else label


def wikicontradict(score: float, label: str) -> bool:
    """Correct expects 1, Partially correct more than 0 and less than 1, Incorrect 0. label: `adjusted`."""
    expected = CORRECT if score > 1 - EPSILON else PARTIAL if score > EPSILON else INCORRECT
    return label == expected


@dataclass(frozen=True, slots=True)
class ConflictMatch:
    """strict, lax: shares of the expectations that hold, in [0, 1]; None: nothing could be expected."""

    strict: float | None
    lax: float | None

    @property
    def mean(self) -> float | None:
        return None if self.strict is None or self.lax is None else (self.strict + self.lax) / 2


def conflictbank(
    score: float,
    covered: Mapping[str, float | None],
    matches: Sequence[str],
    *,
    as_published: bool = False,
) -> ConflictMatch:
    """covered: for each source X of the record S_X, the covered share of X's own statements, None if it has none;
    matches: the sources that say what the answer says.

        strict   share that holds of: 0 < score < 1; for each X, S_X is 1 if X is in `matches`, else 0
        lax      share of the pairs of a source in `matches` and one that is not with S_X greater for the first

    A source without statements expects nothing and is left out, so that a strict share has two to five terms. The paper
    does not say what happens to such sources. as_published, as in the authors' code: S_X of the default source without
    statements is 0, and lax is 0 where no pair can be compared. The code also divides by n + 1e-9, so that of two
    sources that are covered alike the one with more statements has the greater S_X (`covered_by_source`), and lax
    differs: the published rates cannot be had without it.
    """
    covered_shares = {source: share for source, share in covered.items() if share is not None}
    if as_published and DEFAULT in covered:
        covered_shares.setdefault(DEFAULT, 0.0)
    held_terms = [
        abs(share - float(source in matches)) <= EPSILON for source, share in covered_shares.items()
    ]
    expected = [
        covered_shares[x] > covered_shares[y]
        for x in covered_shares
        if x in matches
        for y in covered_shares
        if y not in matches
    ]
    terms = [EPSILON < score < 1 - EPSILON, *held_terms]
    lax = sum(expected) / len(expected) if expected else 0.0 if as_published else None
    return ConflictMatch(sum(terms) / len(terms) if held_terms else None, lax)


def covered_by_source(
    evidence: Mapping[str, Any], names: Sequence[str], *, as_published: bool = False
) -> dict[str, float | None]:
    """S_X of each source of `names`, from a row's evidence: the covered share of the source's own statements, None if
    it has none. as_published: divided by the number of statements + 1e-9.

    evidence: `nodes` and `covered` in the form of `text.graph`; with `rule` and no nodes (an unparsable reply that a
    metric scored 0), no source has a statement. UserError for other evidence.
    """
    if "rule" in evidence and "nodes" not in evidence:
        return dict.fromkeys(names)
    try:
        recorded = Recorded.of(evidence)
    except ValueError as error:
        raise UserError(
            f"the evidence has no coverage by source ({error}); use scores of comprehensiveness.*"
        ) from None
    covered = {node.id for component in recorded.covered for node in component}
    own_statements = [node for node in recorded.statements if node.side == CONTEXT]
    hits_of = {
        name: [node.id in covered for node in own_statements if name in node.sources]
        for name in names
    }
    added = _PUBLISHED if as_published else 0.0
    return {
        name: sum(hits) / (len(hits) + added) if hits else None for name, hits in hits_of.items()
    }

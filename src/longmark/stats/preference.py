"""Agreement on three-way preferences (a, b or a tie), with and without ties, and the order bias of a judge.

Every figure is a share of items with Wilson's interval. None or NaN is a label that lacks: the item is left out and
counted. Labels name the *answers*, not the places they were shown in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from longmark.errors import UserError
from longmark.stats.proportion import Share, share

LABELS = ("a", "b", "tie")


@dataclass(frozen=True, slots=True)
class PreferenceAgreement:
    """How often a choice is the reference's.

    all               of all items; a tie agrees with a tie
    without_ties      of the items on which the reference decided; a tie of the other is wrong there
    both_decided      of the items on which both decided
    reference_ties, other_ties    how often each gave a tie
    """

    all: Share
    without_ties: Share
    both_decided: Share
    reference_ties: Share
    other_ties: Share
    n: int
    missing: int


@dataclass(frozen=True, slots=True)
class OrderBias:
    """A judge's choices with the answers shown in one order and in the other, against a reference.

    right_first, right_swapped   choices that are the reference's, in each order
    both_right                   items that are right in both
    equal                        items on which both orders chose the same answer (or a tie)
    shown_first                  of the choices that were no tie, in both orders: those for the answer shown first;
                                 .5 without bias
    """

    right_first: Share
    right_swapped: Share
    both_right: Share
    equal: Share
    shown_first: Share
    n: int
    missing: int


def preference_agreement(
    reference: Sequence[str | None], other: Sequence[str | None], *, level: float = 0.95
) -> PreferenceAgreement:
    """Labels are `a`, `b` or `tie`. Raises UserError for any other, and for columns of unequal length."""
    rows, missing = _complete(reference, other)

    def of(chosen: Iterable[tuple[str, ...]]) -> Share:
        kept = list(chosen)
        return share(sum(r == o for r, o in kept), len(kept), level)

    return PreferenceAgreement(
        all=of(rows),
        without_ties=of(row for row in rows if row[0] != "tie"),
        both_decided=of(row for row in rows if "tie" not in row),
        reference_ties=share(sum(r == "tie" for r, _ in rows), len(rows), level),
        other_ties=share(sum(o == "tie" for _, o in rows), len(rows), level),
        n=len(rows),
        missing=missing,
    )


def order_bias(
    reference: Sequence[str | None],
    shown_as_given: Sequence[str | None],
    shown_swapped: Sequence[str | None],
    *,
    level: float = 0.95,
) -> OrderBias:
    """shown_as_given: choices with `a` shown first; shown_swapped: with `b` first. Labels: a, b or tie."""
    rows, missing = _complete(reference, shown_as_given, shown_swapped)
    n = len(rows)
    first = sum((given == "a") + (swapped == "b") for _, given, swapped in rows)
    decided = sum((given != "tie") + (swapped != "tie") for _, given, swapped in rows)
    return OrderBias(
        right_first=share(sum(r == given for r, given, _ in rows), n, level),
        right_swapped=share(sum(r == swapped for r, _, swapped in rows), n, level),
        both_right=share(sum(r == given == swapped for r, given, swapped in rows), n, level),
        equal=share(sum(given == swapped for _, given, swapped in rows), n, level),
        shown_first=share(first, decided, level),
        n=n,
        missing=missing,
    )


def _complete(*columns: Sequence[Any]) -> tuple[list[tuple[str, ...]], int]:
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise UserError(f"labels are matched by position; found columns of {lengths} rows")
    whole = zip(*columns, strict=True)
    rows = [row for row in whole if not any(label is None or label != label for label in row)]
    strange = sorted({repr(label) for row in rows for label in row if label not in LABELS})
    if strange:
        raise UserError(f"a preference is a, b or tie; found {', '.join(strange[:5])}")
    return rows, len(columns[0]) - len(rows)

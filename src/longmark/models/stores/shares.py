"""The table `budgets`: what each session has spent and holds of the budget of its group (`contrib.scale`)."""

from __future__ import annotations

from longmark.models.budget import BYTES, TEMPLATE
from longmark.models.stores import Store

Amounts = tuple[int, int, float]
"""Requests, tokens, US dollars."""

COLUMNS = ("calls", "tokens", "usd", "held_calls", "held_tokens", "held_usd")
CHANGE = (
    f"UPDATE budgets SET {' = ?, '.join(COLUMNS)} = ?, until = ? WHERE name = ? AND session = ?"
)
_TIER = 1.5  # how much dearer a token of a long prompt can be than the ledger's estimate, which is of a shorter one
# What a reservation was made of (`models.budget`), and no less in dollars: the ledger has the price of the estimate.
_PROMPT = f"({BYTES} * most_prompt + {TEMPLATE})"
_LEDGER = f"""SELECT coalesce(sum(count), 0),
    coalesce(sum(CASE WHEN state = 'unreached' THEN 0 WHEN state = 'answered' AND prompt IS NOT NULL
        THEN prompt + completion ELSE {_PROMPT} + most_completion END), 0),
    coalesce(sum(CASE WHEN state = 'unreached' THEN 0.0 WHEN state = 'answered' AND usd IS NOT NULL THEN usd
        ELSE coalesce({_TIER} * most_usd * {_PROMPT} / CASE WHEN most_prompt > 0 THEN most_prompt ELSE 1 END, 1e300)
        END), 0.0)
FROM attempts JOIN sessions ON sessions.id = attempts.session WHERE token = ?"""


def end_lapsed(store: Store) -> None:
    """Ends the rows, of all groups, whose lease has run out. Within a unit."""
    query = (
        f"SELECT name, session, {', '.join(COLUMNS)} FROM budgets WHERE until > 0 AND until <= ?"
    )
    for name, session, *figures in store.do(query, (store.now(),)).fetchall():
        end(
            store,
            name,
            session,
            (figures[0], figures[1], figures[2]),
            (figures[3], figures[4], figures[5]),
        )


def end(store: Store, name: str, session: str, spent: Amounts, held: Amounts) -> None:
    """Ends a row: of what it holds, what was not sent comes back."""
    sent = store.do(_LEDGER, (session,)).fetchone()
    calls, tokens, usd = (
        min(own_amount + most_amount, max(own_amount, reported))
        for own_amount, most_amount, reported in zip(spent, held, sent, strict=True)
    )
    store.do(CHANGE, (int(calls), int(tokens), usd, 0, 0, 0.0, 0.0, name, session))

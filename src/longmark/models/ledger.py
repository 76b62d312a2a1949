"""The ledger of a call cache: what the attempts of runs cost, what their rows needed, and what is unknown.

The call cache writes it (`models.cache`). An attempt is

- `sent`: in flight; it is written before the request leaves;
- `queued`: it waits for a batch, and nothing has left, so it counts nowhere; `sent` when its batch is submitted;
- `answered`: a reply or an error came. A reply has the endpoint's count of tokens and their price; an error has them
  where the endpoint said so, is free with another status, and is of unknown cost with status 200;
- `unreached`: there was no connection, so nothing was billed;
- `unknown`: a time-out, a connection that broke, a killed process. It may have been billed, `most_usd` at most: the
  prompt as the budget estimates it, and the whole reply that the request allowed. Where the vendor has it in a batch
  whose end nobody has read yet, it is in flight as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from longmark.models.cache import CallCache
from longmark.places import real

_ATTEMPTS = """(SELECT session, model, count, usd, most_usd,
    CASE WHEN state = 'sent' OR (state = 'unknown' AND id IN (
        SELECT attempt FROM batch_lines JOIN batches ON batches.id = batch
        WHERE vendor_id IS NOT NULL AND (status IS NULL OR status > 0)
    )) THEN 'in flight' ELSE state END AS state
    FROM attempts WHERE state <> 'queued') AS attempts"""
_SUMS = """sum(count), sum(CASE WHEN state = 'answered' THEN count ELSE 0 END),
    sum(CASE WHEN state = 'answered' THEN usd END), count(CASE WHEN state = 'answered' AND usd IS NULL THEN 1 END),
    sum(CASE WHEN state = 'unknown' THEN count ELSE 0 END), sum(CASE WHEN state = 'unknown' THEN most_usd END),
    count(CASE WHEN state = 'unknown' AND most_usd IS NULL THEN 1 END),
    sum(CASE WHEN state = 'in flight' THEN count ELSE 0 END), sum(CASE WHEN state = 'in flight' THEN most_usd END),
    count(CASE WHEN state = 'in flight' AND most_usd IS NULL THEN 1 END)"""


@dataclass(slots=True)
class LedgerLine:
    """The attempts of one model, or of one run. Money is in US dollars, None where a part of it is not known.

    paid: for answered attempts; unknown_usd, in_flight_usd: at most. needed: replies that the run's rows needed;
    needed_usd: what they cost when they were paid; elsewhere: those of them that no attempt of the run paid for. None:
    not known, as for what is no run folder.
    """

    name: str
    attempts: int = 0
    answered: int = 0
    paid: float | None = 0.0
    unknown: int = 0
    unknown_usd: float | None = 0.0
    in_flight: int = 0
    in_flight_usd: float | None = 0.0
    needed: int | None = None
    needed_usd: float | None = None
    elsewhere: int | None = None


def sessions_of(cache: CallCache, folder: Path, tokens: Collection[str] = ()) -> list[int]:
    """The sessions of a folder: those with the tokens, as a run's manifest names them; without any, those for this
    path and the paths under it."""
    every = cache.do("SELECT id, token, run FROM sessions").fetchall()
    place = real(folder)
    return [
        id_
        for id_, token, run in every
        if (token in tokens if tokens else run and Path(run).is_relative_to(place))
    ]


def by_model(
    cache: CallCache, sessions: Collection[int], needed: Iterable[bytes] | None = None
) -> list[LedgerLine]:
    """A line for each model that these sessions called, or whose replies are needed. needed: keys of replies."""
    cache.bury()
    listed = ", ".join(map(str, (*sessions, 0)))
    query = f"SELECT model, {_SUMS} FROM {_ATTEMPTS} WHERE session IN ({listed}) GROUP BY model ORDER BY model"
    lines = {row[0]: _line(*row) for row in cache.do(query)}
    if needed is not None:
        for key in needed:
            query = """SELECT calls.model, calls.usd, session FROM calls LEFT JOIN attempts ON attempts.id = attempt
                WHERE calls.key = ?"""
            for model, usd, session in cache.do(query, (key,)):
                line = lines.setdefault(model, LedgerLine(model))
                if line.needed is None:
                    line.needed = 0
                    line.needed_usd = 0.0
                    line.elsewhere = 0
                line.needed += 1
                line.needed_usd = (
                    None if line.needed_usd is None or usd is None else line.needed_usd + usd
                )
                line.elsewhere = (line.elsewhere or 0) + (session not in sessions)
        for line in lines.values():
            if line.needed is None:
                line.needed = 0
                line.needed_usd = 0.0
                line.elsewhere = 0
    return list(lines.values())


def by_run(cache: CallCache) -> list[LedgerLine]:
    """A line for each run that has attempts in the ledger, in the order in which they began; "": for no folder."""
    cache.bury()
    query = f"""SELECT run, {_SUMS} FROM {_ATTEMPTS} JOIN sessions ON sessions.id = session
        GROUP BY run ORDER BY min(began)"""
    return [_line(*row) for row in cache.do(query)]


def _line(
    name: str,
    attempts: int,
    answered: int,
    paid: float | None,
    unpriced: int,
    unknown: int,
    unknown_usd: float | None,
    no_most: int,
    in_flight: int,
    in_flight_usd: float | None,
    no_most_in_flight: int,
) -> LedgerLine:
    return LedgerLine(
        name,
        attempts,
        answered,
        None if unpriced else paid or 0.0,
        unknown,
        None if no_most else unknown_usd or 0.0,
        in_flight,
        None if no_most_in_flight else in_flight_usd or 0.0,
    )


def compact(cache: CallCache) -> tuple[int, int]:
    """Folds the attempts of equal session, model, kind, end and status into one row with their sums; unknown ones and
    those in flight stay as they are. Rows before and after. What a run paid and needed stays the same; what is lost is
    which attempt made which call, and when."""
    cache.bury()
    with cache.store.unit():
        (before,) = cache.do("SELECT count(*) FROM attempts").fetchone()
        same = "session, model, kind, state, status, usd IS NULL, prompt IS NULL"
        cache.do(
            f"""CREATE TEMP TABLE folded AS SELECT id AS old, min(id) OVER (PARTITION BY {same}) AS new FROM attempts
            WHERE state IN ('answered', 'unreached')"""
        )
        cache.do("CREATE UNIQUE INDEX by_old ON folded (old)")
        cache.do(
            """UPDATE calls SET attempt = (SELECT new FROM folded WHERE old = attempt)
            WHERE attempt IN (SELECT old FROM folded WHERE old <> new)"""
        )
        sums = cache.do(
            """SELECT sum(count), sum(calls), sum(most_prompt), sum(most_completion), sum(most_usd), sum(prompt),
            sum(cached_prompt), sum(completion), sum(usd), new FROM attempts JOIN folded ON old = id
            GROUP BY new HAVING count(*) > 1"""
        ).fetchall()
        for row in sums:
            cache.do(
                """UPDATE attempts SET key = NULL, count = ?, calls = ?, most_prompt = ?, most_completion = ?,
                most_usd = ?, prompt = ?, cached_prompt = ?, completion = ?, usd = ? WHERE id = ?""",
                row,
            )
        cache.do("DELETE FROM attempts WHERE id IN (SELECT old FROM folded WHERE old <> new)")
        (after,) = cache.do("SELECT count(*) FROM attempts").fetchone()
        cache.do("DROP TABLE folded")
    cache.store.shrink()
    return before, after

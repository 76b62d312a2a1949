"""How far runs are, also while they work: `longmark status`. Nothing in their folders is changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.records.files import REMAKE, lines, own_json, read_object
from longmark.records.parts import merged_in_part
from longmark.workspace import reading

_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA cache_size = -4096;
CREATE TABLE last (key TEXT PRIMARY KEY, unscored, usd) WITHOUT ROWID;
BEGIN
"""
NOT_BEGUN = "not begun"
RUNNING = "running"
FINISHED = "finished"
KILLED = "killed"
INCOMPLETE = "merged, incomplete"


@dataclass(frozen=True, slots=True)
class RunStatus:
    """run: the folder; part: `3/7`, "" for the run of a whole input; state: `not begun`, `running`, `finished`,
    `stopped (REASON)`, `merged, incomplete` (and not run since), `killed` (no end was recorded, and no process works
    there); rows: that there are; total: that there will be, None: not known yet; unscored: of the rows; usd: what the
    calls of the rows cost when they were first paid for, None: not known; rows_per_second: of the session that runs, or
    of the last one with an end."""

    run: str
    part: str
    state: str
    rows: int
    total: int | None
    unscored: int
    usd: float | None
    rows_per_second: float | None


def status(run: Path) -> RunStatus:
    """How far a run is. A folder that does not exist is a run that has not begun. UserError where there is something
    else, or the manifest is damaged."""
    with reading(run) as working:
        pass
    file = run / "manifest.json"
    if not file.is_file():
        if (
            run.exists()
            and not working
            and (not run.is_dir() or any(path.name[0] != "." for path in run.iterdir()))
        ):
            raise UserError(
                f"{run} is not a run folder: it has no manifest.json; give the --out folder of a run"
            )
        return RunStatus(str(run), "", RUNNING if working else NOT_BEGUN, 0, None, 0, 0.0, None)
    manifest = read_object(file, REMAKE)
    part = manifest.get("part")
    listed = manifest.get("sessions")
    examples = manifest.get("examples")
    sessions = (
        [session for session in listed if isinstance(session, dict)]
        if isinstance(listed, list)
        else []
    )
    total = examples.get("rows") if isinstance(examples, dict) else None
    rows, unscored, usd = _counts(run / "rows.jsonl")
    return RunStatus(
        str(run),
        f"{part.get('part')}/{part.get('of')}" if isinstance(part, dict) else "",
        state_of(manifest, sessions, working),
        rows,
        total if type(total) is int else None,
        unscored,
        usd,
        speed_of(sessions, rows, working),
    )


def _counts(path: Path) -> tuple[int, int, float | None]:
    """How many rows a file has, how many of them are unscored, and what they cost; of several rows of a key the last
    counts. It is read once, as it was when it was opened: a run that ends puts another in its place."""
    with closing(sqlite3.connect("", isolation_level=None)) as db:
        db.executescript(_SCHEMA)
        for number, line in lines(path) if path.is_file() else ():
            try:
                row = own_json(line)
                values = (
                    f"{row['example_id']}\n{row['metric']}",
                    row["score"] is None,
                    row["usage"]["usd"],
                )
            except (ValueError, KeyError, TypeError) as error:
                if not line.endswith(b"\n"):
                    break  # it is being written, or its run was killed
                raise UserError(f"{path}:{number}: is not a row ({error}); {REMAKE}") from None
            db.execute("INSERT OR REPLACE INTO last VALUES (?, ?, ?)", values)
        count, unscored, usd, unknown = db.execute(
            "SELECT count(*), total(unscored), total(usd), total(usd IS NULL) FROM last"
        ).fetchone()
    return count, int(unscored), None if unknown else usd


def state_of(
    manifest: Mapping[str, Any], sessions: Sequence[Mapping[str, Any]], working: bool
) -> str:
    """The state of a run that has begun, as of `RunStatus`. working: a process works in its folder."""
    if working:
        return RUNNING
    if manifest.get("finished"):
        return FINISHED
    if merged_in_part(manifest):
        return INCOMPLETE
    last = sessions[-1] if sessions else {}
    return f"stopped ({last['stopped']})" if last.get("stopped") else KILLED


def _counts_up(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < float("inf")


def speed_of(sessions: Sequence[Mapping[str, Any]], rows: int, working: bool) -> float | None:
    """Rows a second, of the session under way or else of the last one that wrote rows and ended."""
    if working and sessions and not sessions[-1].get("ended"):
        try:
            began = datetime.strptime(
                str(sessions[-1].get("started")), "%Y-%m-%dT%H:%M:%SZ"
            ).replace(tzinfo=UTC)
        except ValueError:  # a damaged manifest
            return None
        before = sessions[-1].get("before")
        seconds = (datetime.now(UTC) - began).total_seconds()
        rows_done = rows - (before if type(before) is int else 0)
    else:
        ended = [
            session
            for session in sessions
            if _counts_up(session.get("rows")) and _counts_up(session.get("seconds"))
        ]
        seconds, rows_done = (ended[-1]["seconds"], ended[-1]["rows"]) if ended else (0.0, 0)
    return rows_done / seconds if seconds > 0 and rows_done >= 0 else None

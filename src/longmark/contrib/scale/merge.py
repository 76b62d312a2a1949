"""The runs of all parts of an input become one run: `longmark merge`.

The merged folder is what a single run of the input would have made: the same examples, rows and absent answers, byte
for byte and in the order of the input. In a row's `usage` two things can differ: `from_cache` is what the part did, and
of rows that share a call the first in the order of the input counts it. The folder appears complete or not at all.
"""

from __future__ import annotations

import heapq
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import orjson

from longmark.engine.folder import ABSENT_FILE, RunFolder
from longmark.engine.manifest import absent_hash
from longmark.engine.split import NOTES_FILE, CallsNote, PlaceNote, SplitNote, notes
from longmark.errors import SettingsChanged, UserError
from longmark.models.cache import CallCache
from longmark.places import real
from longmark.records import Answered, Row, Usage
from longmark.records.files import REMAKE, at, lines, own_json, read_object
from longmark.records.manifest_types import RunManifest, check_manifest
from longmark.records.pair import own_example_of
from longmark.records.parts import Part
from longmark.records.verdicts import together
from longmark.workspace import differences, now, reading, replaced
from longmark.writing import move, remove, replacing

_SCHEMA = """
PRAGMA journal_mode = OFF; PRAGMA cache_size = -4096;
CREATE TABLE places (line INTEGER, run INTEGER, id TEXT UNIQUE);
CREATE INDEX by_line ON places (line, run);
CREATE TABLE unnamed (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE calls (id TEXT, metric TEXT, calls BLOB, PRIMARY KEY (id, metric)) WITHOUT ROWID;
BEGIN
"""
_PLACE = """
INSERT OR IGNORE INTO places SELECT :line, :run, :id
WHERE NOT EXISTS (SELECT 1 FROM places WHERE line = :line AND run <> :run)
"""  # a line is several examples where each answer of its conversation is one
_AFTER_ALL = 1 << 62  # the line of what stands nowhere in the input
_AGAIN = "repeat the command of this run, then merge again"


@dataclass(frozen=True)
class Merged:
    """What a merge made. unfinished: why the run is not complete, a sentence each; replies: taken from call caches;
    other_replies: calls to which the call cache had another reply, which it keeps."""

    folder: Path
    examples: int
    rows: int
    unfinished: list[str] = field(default_factory=list)
    replies: int = 0
    other_replies: int = 0


@dataclass(frozen=True)
class _Run:
    path: Path
    manifest: RunManifest
    part: Part

    def told(self, key: str) -> dict[str, Any]:
        value = self.manifest.get(key)
        return value if isinstance(value, dict) else {}


def merge(
    runs: Sequence[Path],
    out: Path,
    cache: CallCache | None = None,
    caches: Iterable[Path | str] = (),
    *,
    incomplete: bool = False,
) -> Merged:
    """Merges the runs of the parts of one input into the new run folder `out`. caches: call caches that parts had of
    their own; their replies are put into `cache`. incomplete: merge what there is, also where parts are missing or not
    finished; `longmark run` of the whole input then completes the folder.

    UserError where a folder is no run of a part, in use, damaged, or of another split; where two are of one part; where
    a part is missing or unfinished (without `incomplete`); where `out` holds files. SettingsChanged where the runs have
    different settings.
    """
    _check_new(out)
    with ExitStack() as stack:
        if used := next((run for run in runs if stack.enter_context(reading(run))), None):
            raise UserError(f"{used} is in use by another process; wait until its run has ended")
        parts = sorted(map(_run, runs), key=lambda run: run.part.part)
        _check(parts)
        unfinished = list(_unfinished(parts))
        if unfinished and not incomplete:
            remedy = "Complete the runs, or add --incomplete to merge what there is and complete the merged run."
            raise UserError(
                "\n".join(
                    ("these parts are not complete:", *(f"  {line}" for line in unfinished), remedy)
                )
            )
        taken = [cache.take_from(place) for place in caches] if cache else []
        with replaced(out, "manifest.json") as new:
            examples, rows = _write(parts, new, out, finished=not unfinished)
            _check_new(out)
    return Merged(
        out,
        examples,
        rows,
        unfinished,
        sum(rows.replies for rows in taken),
        sum(rows.others for rows in taken),
    )


def _check_new(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(file.name[0] != "." for file in out.iterdir())):
        raise UserError(f"--out {out}: exists already; name a new folder")


def _run(path: Path) -> _Run:
    file = path / "manifest.json"
    if not path.exists():
        raise UserError(f"{path} does not exist; give the run folders of the parts")
    if not file.is_file():
        raise UserError(
            f"{path} is not a run folder: it has no manifest.json; give the run folders of the parts"
        )
    manifest = read_object(file, REMAKE)
    if not manifest.get("part"):
        raise UserError(
            f"{path} is not the run of a part; merge takes the runs of parts that `longmark split` wrote"
        )
    try:
        if not isinstance(manifest["fixed"], dict) or not isinstance(manifest["sessions"], list):
            raise TypeError("its settings are missing")
        if not all(isinstance(session, dict) for session in manifest["sessions"]):
            raise TypeError("a session is no object")
        check_manifest(manifest, file)
        return _Run(
            path, cast("RunManifest", manifest), Part.of_json(orjson.dumps(manifest["part"]))
        )
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(f"{file} is damaged ({error}); {REMAKE}") from None


def _check(runs: Sequence[_Run]) -> None:
    """The errors of runs that do not belong together. What one of them learnt of its models, the first gets."""
    if not runs:
        raise UserError("give the run folders of all parts")
    first = runs[0]
    for run in runs[1:]:
        if (run.part.split, run.part.of) != (first.part.split, first.part.of):
            splits = (
                f"{side.path} is {side.part} of {side.part.source} (split {side.part.split})"
                for side in (first, run)
            )
            raise UserError(
                f"the runs are not of one split: {', '.join(splits)}; run the parts of one `longmark split`"
            )
        before, after = (
            {**side.told("fixed"), "cluster": side.manifest.get("cluster")} for side in (first, run)
        )
        changed = list(differences("", before, after))
        for model, words in run.told("settled").items():
            if (
                earlier := first.manifest.setdefault("settled", {}).setdefault(model, words)
            ) != words:
                changed.append(
                    f"  {model}: sent with {earlier or 'all parameters'}, now with {words or 'all parameters'}"
                )
        if changed:
            mend = f"run its part with those of {first.path} into a new folder (was: {first.path}, now: {run.path})"
            raise SettingsChanged(
                "\n".join((f"{run.path} has other settings than {first.path}; {mend}:", *changed))
            )
    number, times = Counter(run.part.part for run in runs).most_common(1)[0]
    if times > 1:
        same = ", ".join(str(run.path) for run in runs if run.part.part == number)
        raise UserError(f"part {number} was given {times} times ({same}); give each part once")


def _unfinished(runs: Sequence[_Run]) -> Iterator[str]:
    """Why the runs do not make a complete one."""
    total = runs[0].part.of
    for number in sorted({*range(1, total + 1)} - {run.part.part for run in runs}):
        yield f"part {number} of {total}: no run of it was given"
    for run in runs:
        read = run.told("examples").get("read")
        if read != run.part.examples:
            yield f"{run.part} ({run.path}): {read or 0:,} of its {run.part.examples:,} examples were read"
        elif not run.manifest.get("finished"):
            stopped = (run.manifest["sessions"] or [{}])[-1].get("stopped")
            yield f"{run.part} ({run.path}): its run has not finished{f' (stopped: {stopped})' if stopped else ''}"


def _write(runs: Sequence[_Run], new: Path, out: Path, *, finished: bool) -> tuple[int, int]:
    """Writes the merged folder; how many examples and rows it has."""
    first = runs[0]
    inner = new / "run"  # a folder within, since `replaced` holds the lock of `new`
    with (
        closing(sqlite3.connect("", isolation_level=None)) as db,
        RunFolder(inner, list(first.told("metrics")), named=out) as folder,
    ):
        db.executescript(_SCHEMA)
        for number, run in enumerate(runs):
            _note(db, number, run)
        manifest = folder.space.manifest = _manifest(runs, out, finished=finished)
        removed = [
            note for run in runs for note in _absent_notes(run) if note["status"] == "removed"
        ]
        with replacing(folder.absent_path) as file:
            file.writelines(orjson.dumps(note) + b"\n" for note in removed)
        manifest["examples"]["read"] = folder.stage(_examples(db, runs, folder))
        folder.adopt(removed_count=first.part.limit is None)
        for run in runs:
            _take_rows(db, run, folder, manifest)
        folder.put_in_order()
        rows = folder.rows_done(())
        if finished and rows != manifest["examples"]["rows"]:
            raise UserError(
                f"only {rows:,} of {manifest['examples']['rows']:,} rows are there: a run is damaged; {REMAKE}"
            )
        _attribute(db, folder)
        manifest["examples"]["absent"] = absent_hash(inner)
        folder.space.write()
    for path in inner.iterdir():
        move(path, new / path.name) if path.name[0] != "." else remove(path)
    inner.rmdir()
    return manifest["examples"]["read"], rows


def _note(db: sqlite3.Connection, number: int, run: _Run) -> None:
    """Reads where the examples of a run stand in the whole input, and which calls its rows count."""
    path = run.path / NOTES_FILE
    if not path.is_file() and not run.manifest.get("finished"):
        return  # it was killed before its first row
    for note in notes(path):
        match note:
            case CallsNote(example_id, metric, calls):
                values = (example_id, metric, orjson.dumps(calls))
                db.execute("INSERT OR REPLACE INTO calls VALUES (?, ?, ?)", values)
            case SplitNote(split) if split != run.part.split:
                # the run was killed while it began a session on another split
                raise UserError(f"{path} is of another split; {_AGAIN}")
            case PlaceNote(example_id, line):
                if not db.execute(_PLACE, {"line": line, "run": number, "id": example_id}).rowcount:
                    raise UserError(
                        f'{path}: the example "{example_id}" is in another run too; split the input again'
                    )


def _manifest(runs: Sequence[_Run], out: Path, *, finished: bool) -> dict[str, Any]:
    first = runs[0].manifest
    part = runs[0].part
    versions: dict[str, list[str]] = {}
    for run in runs:
        for model, names in run.told("versions").items():
            versions[model] = list(dict.fromkeys((*versions.get(model, ()), *names)))
    sessions = [
        {**session, "part": run.part.part} for run in runs for session in run.manifest["sessions"]
    ]
    rows = sum(run.told("examples").get("rows") or 0 for run in runs)
    parts = [{"part": run.part.part, "run": real(run.path).name} for run in runs]
    for entry, run in zip(parts, runs, strict=True):
        if (environment := run.manifest.get("environment")) != first.get("environment"):
            entry["environment"] = environment
    return {
        **{key: value for key, value in first.items() if key != "part"},
        "created": min(str(run.manifest.get("created")) for run in runs),
        "finished": max(str(run.manifest["finished"]) for run in runs) if finished else None,
        "source": part.source,
        "examples": {"read": 0, "skipped": part.skipped, "limit": part.limit, "rows": rows},
        "system": real(out).name,
        "sessions": sorted(sessions, key=lambda session: str(session.get("started"))),
        "versions": versions,
        "verdicts": together(run.told("verdicts") for run in runs),
        "merged": {"at": now(), "split": part.split, "of": part.of, "parts": parts},
    }


def _examples(
    db: sqlite3.Connection, runs: Sequence[_Run], folder: RunFolder
) -> Iterator[Answered]:
    """The examples of all runs in the order of the input; absent answers are noted in their turn."""
    absent = heapq.merge(*(_absent(db, run) for run in runs), key=lambda entry: entry.line)
    following = next(absent, None)
    files = [lines(run.path / "examples.jsonl") for run in runs]
    for line, number, name in db.execute("SELECT line, run, id FROM places ORDER BY line, rowid"):
        try:
            example = own_example_of(next(files[number], (0, b""))[1])
        except ValueError:
            example = None
        if example is None or example.id != name:
            raise UserError(
                f"{runs[number].path / 'examples.jsonl'} has other examples than {NOTES_FILE}; {_AGAIN}"
            )
        if example.system is None:
            db.execute("INSERT INTO unnamed VALUES (?)", (name,))
        while following is not None and following.line <= line:
            variant_of = (example.variant_of or "") if following.line == line else ""
            folder.leave_out(*following.values, variant_of)
            following = next(absent, None)
        yield example
    while following is not None:
        folder.leave_out(*following.values)
        following = next(absent, None)


def _absent_notes(run: _Run) -> Iterator[dict[str, Any]]:
    path = run.path / ABSENT_FILE
    for number, line in lines(path) if path.is_file() else ():
        try:
            note = own_json(line)
            yield {key: note[key] for key in ("id", "question_id", "system", "status", "reason")}
        except (ValueError, KeyError, TypeError):
            raise UserError(at(path, number, f"is damaged; {_AGAIN}")) from None


@dataclass(frozen=True, slots=True)
class _Absent:
    """An absent answer that a run's last session read. line: in the input; values: for `RunFolder.leave_out`."""

    line: int
    values: tuple[str, str | None, str | None, str, str]


def _absent(db: sqlite3.Connection, run: _Run) -> Iterator[_Absent]:
    for note in _absent_notes(run):
        if note["status"] == "skipped":
            yield _Absent(int(note["id"].removeprefix("line ")), tuple(note.values()))
        elif note["status"] != "removed":
            place = db.execute("SELECT line FROM places WHERE id = ?", (note["id"],)).fetchone()
            yield _Absent(place[0] if place else _AFTER_ALL, tuple(note.values()))


def _take_rows(
    db: sqlite3.Connection, run: _Run, folder: RunFolder, manifest: Mapping[str, Any]
) -> None:
    """Appends a run's rows as a single run would have them: the system of examples that name none is the merged
    folder's, and a row that called no model has what other parts learnt of it."""
    own_system = run.manifest.get("system")
    path = run.path / "rows.jsonl"
    system = manifest["system"]
    learnt = {model: words for model, words in manifest.get("settled", {}).items() if words}
    for number, line in lines(path) if path.is_file() else ():
        try:
            row = Row.from_json(line)
        except ValueError as error:
            if not line.endswith(b"\n") and not run.manifest.get("finished"):
                return  # cut off when the run was killed
            raise UserError(at(path, number, f"is not a row ({error}); {_AGAIN}")) from None
        unnamed = "SELECT 1 FROM unnamed WHERE id = ?"
        if row.system == own_system != system and db.execute(unnamed, (row.example_id,)).fetchone():
            row = replace(row, system=system)
        settled = {
            model: learnt[model]
            for models in row.signature.models.values()
            for model in models
            if model in learnt
        }
        if settled != row.signature.settled:
            row = replace(row, signature=replace(row.signature, settled=settled))
        if not folder.take(row):
            raise UserError(at(path, number, f"the run has no such example or metric; {_AGAIN}"))


def _attribute(db: sqlite3.Connection, folder: RunFolder) -> None:
    """Counts every call once: for the first row, in the order of the input, of those that share it."""
    with replacing(folder.rows_path) as file:
        for _, line in lines(folder.rows_path):
            fields = own_json(line)
            key = (fields["example_id"], fields["metric"])
            noted = db.execute(
                "SELECT calls FROM calls WHERE id = ? AND metric = ?", key
            ).fetchone()
            calls = orjson.loads(noted[0]) if noted else []
            counted = [call for call in calls if folder.first(bytes.fromhex(call[0]))]
            if len(counted) < len(calls):
                row = Row.from_json(line)
                if _sum(row.usage, calls) == row.usage:  # else the note is of an earlier attempt
                    line = replace(row, usage=_sum(row.usage, counted)).to_json() + b"\n"
            file.write(line)


def _sum(usage: Usage, calls: Iterable[Sequence[Any]]) -> Usage:
    total = Usage(usage.calls, usage.from_cache)
    for _, *paid in calls:
        total.add(Usage(0, 0, *paid))
    return total

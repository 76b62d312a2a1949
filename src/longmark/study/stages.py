"""The stages of a study: each makes a file or a folder once, and the same command goes on after whatever ended it.

`study.json` in the study's folder says what is fixed for it and what became of each stage. A stage is done when it was
finished, its output is there, and what it was made of has not changed since; anything else makes it again (replies that
were paid for come from the call cache). An output that a person has changed is taken as it is, and later stages, which
were made of what it was before, are made again. Seconds, calls and tokens are counted over all sessions.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson
from filelock import FileLock, Timeout

from longmark import __version__
from longmark.engine.manifest import differences, environment, now
from longmark.errors import FolderInUse, LongmarkError, SettingsChanged, UserError
from longmark.models.client import Counts
from longmark.rag.answer import with_new_names
from longmark.records.json_data import read_object
from longmark.records.write import replacing
from longmark.tables import Cell, Column, Table

NAME = "study.json"
BUDGET, GAPS, INTERRUPT = "budget", "gaps", "interrupt"
_SUMMED = ("calls", "from_cache", "prompt_tokens", "completion_tokens")


class StudyStopped(LongmarkError):
    """A stage is not finished; the same command goes on. why: `budget`, `gaps` (a model gave no reply) or
    `interrupt`."""

    def __init__(self, why: str, message: str) -> None:
        super().__init__(message)
        self.why = why


@dataclass(frozen=True, slots=True)
class Made:
    """What a session of a stage did. lines: in its output; left_out: what could not be made, in words; unfinished: why
    the stage is to be gone on with, in words, and `why` in a word; counts: of the calls; notes: what else a reader must
    know of its output, in sentences."""

    lines: int
    left_out: tuple[str, ...] = ()
    unfinished: str = ""
    why: str = GAPS
    counts: Counts = field(default_factory=Counts)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage. name: as it is told to people; out: its file or folder; inputs: what it is made of -> its hash."""

    name: str
    out: Path
    inputs: Mapping[str, str]


class StudyFolder:
    """The folder of a study, locked. Use it as a context manager.

    fixed: the settings that every session must give alike; kind: of study, in words, for messages.
    """

    def __init__(self, path: Path, kind: str, fixed: Mapping[str, Any]) -> None:
        self.path = path
        self._kind, self._fixed = kind, orjson.loads(orjson.dumps(fixed))
        self._was_there = path.exists()
        self._state: dict[str, Any] = {}

    def __enter__(self) -> StudyFolder:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--out {self.path}: the folder cannot be made ({error.strerror})") from None
        self._lock = FileLock(self.path / ".lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            raise FolderInUse(f"{self.path} is in use by another process; wait for it or name another --out") from None
        try:
            self._state = self._read()
        except BaseException:
            self._lock.release()
            raise
        self._write()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _tb: TracebackType | None
    ) -> None:
        self._lock.release()

    @property
    def stages(self) -> dict[str, Any]:
        """name -> what is known of the stage: seconds, calls, lines, left_out, notes, finished."""
        return dict(self._state["stages"])

    def is_done(self, stage: Stage) -> bool:
        """Whether the stage need not be worked on."""
        known = self._state["stages"].get(stage.name, {})
        return bool(known.get("finished")) and stage.out.exists() and known["inputs"] == dict(stage.inputs)

    async def run(
        self, stage: Stage, make: Callable[[], Awaitable[Made]], tell: Callable[[str], None] = lambda _notice: None
    ) -> None:
        """Makes a stage unless it is done. Raises StudyStopped where it is not finished after this."""
        known = self._state["stages"].setdefault(stage.name, {"seconds": 0.0, **dict.fromkeys(_SUMMED, 0), "usd": 0.0})
        output = digest(stage.out)
        if self.is_done(stage):
            if output != known["output"]:
                tell(f"{stage.out} was changed since it was made: taken as it is.")
                known |= {"output": output, "changed_by_hand": True}
                self._write()
            return
        known["finished"] = None
        self._write()  # so it stays where the process is killed
        began = time.monotonic()
        made: Made | None = None
        try:
            made = await make()
        finally:
            known["seconds"] = round(known["seconds"] + time.monotonic() - began, 3)
            if made is not None:
                _add(known, made.counts)
                known |= {
                    "lines": made.lines,
                    "left_out": list(made.left_out),
                    "notes": list(made.notes),
                    "inputs": dict(stage.inputs),
                    "output": digest(stage.out),
                    "changed_by_hand": False,
                    "finished": None if made.unfinished else now(),
                }
            self._write()
        if made.unfinished:
            raise StudyStopped(made.why, made.unfinished)

    def add(self, **members: Mapping[str, Any]) -> None:
        """Adds what may grow, by role: label -> models. SettingsChanged where a label stood for something else."""
        known: dict[str, dict[str, Any]] = self._state.setdefault("members", {})
        before = {
            role: {label: known.get(role, {}).get(label, its) for label, its in now_.items()}
            for role, now_ in members.items()
        }
        self._refuse(differences("", before, members), "other models under these labels")
        for role, its in members.items():
            known.setdefault(role, {}).update(its)
        self._write()

    def _read(self) -> dict[str, Any]:
        path = self.path / NAME
        if not path.exists():
            stray = [p.name for p in self.path.iterdir() if not p.name.startswith(".")]
            if stray:
                raise UserError(
                    f"--out {self.path}: there is something else in this folder ({stray[0]}); name a new one"
                )
            head = {"longmark": __version__, "kind": self._kind, "created": now()}
            return {**head, "fixed": self._fixed, "environment": environment(), "stages": {}}
        remedy = "name another --out (the call cache still has the replies)"
        state = read_object(path, remedy)
        known, stages = state.get("fixed"), state.get("stages")
        if isinstance(known, dict):
            with_new_names(known)
        if not isinstance(stages, dict) or not all(isinstance(stage, dict) for stage in stages.values()):
            raise UserError(f"{path} is damaged (stages is missing or of another type); {remedy}")
        if not any(stage.get("finished") for stage in stages.values()):
            return {**state, "fixed": self._fixed}  # nothing has been made of the other settings
        self._refuse(differences("", known, self._fixed), "other settings")
        return state

    def _refuse(self, found: Iterator[str], what: str) -> None:
        lines = list(found)
        if lines:
            told = f"{self.path} holds a study with {what}; name another --out, or give the same:"
            raise SettingsChanged("\n".join((told, *lines)))

    def _write(self) -> None:
        with replacing(self.path / NAME) as file:
            file.write(orjson.dumps(self._state, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def stage_table(stages: Mapping[str, Any]) -> Table:
    """Seconds, calls and tokens of every stage."""
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            known["seconds"],
            known.get("lines"),
            known["calls"],
            known["from_cache"],
            known["prompt_tokens"],
            known["completion_tokens"],
            known["usd"],
        )
        for name, known in stages.items()
    ]
    columns = (
        Column("Stage"),
        Column("Seconds", 1),
        Column("Lines"),
        Column("Calls"),
        Column("from the cache", key="from_cache"),
        Column("Prompt tokens"),
        Column("Completion tokens"),
        Column("US dollars", 4, key="usd"),
    )
    return Table("stages", "Stages", columns, tuple(rows))


def digest(path: Path) -> str:
    """The SHA-256 of a file; of a folder, of its `rows.jsonl`; "" where there is none."""
    if path.is_dir():
        path = path / "rows.jsonl"
    with suppress(FileNotFoundError), open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
    return ""


def signature(settings: Mapping[str, Any]) -> str:
    """A hash of settings, 16 hex digits."""
    return hashlib.sha256(orjson.dumps(settings, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def stem(name: str) -> str:
    """A name as one of files and folders: what is no letter, digit, dot or underscore becomes a hyphen."""
    kept = "".join(char if char.isalnum() or char in "._" else "-" for char in name).strip("-.")
    short = "-".join(part for part in kept.split("-") if part)[:80]
    return short or hashlib.sha256(os.fsencode(name)).hexdigest()[:8]


def _add(known: dict[str, Any], counts: Counts) -> None:
    for name in _SUMMED:
        known[name] += getattr(counts, name)
    known["usd"] = None if known["usd"] is None or counts.usd is None else known["usd"] + counts.usd

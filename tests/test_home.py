"""The memory of file hashes: what is noticed, and what is not read again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from longmark import home


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    path = tmp_path / "model.gguf"
    path.write_bytes(b"one model")
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="has no time of change that cannot be set back")
def test_a_change_is_noticed_where_size_and_modification_time_were_kept(file: Path):
    before, status = home.sha256(file), file.stat()
    while file.stat().st_ctime_ns == status.st_ctime_ns:  # the clock of a file system ticks slowly
        file.write_bytes(b"two model")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    now = file.stat()
    assert (now.st_size, now.st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    assert home.sha256(file) == home.digest(file) != before


def test_another_file_in_its_place_is_noticed(file: Path):
    before, status = home.sha256(file), file.stat()
    other = file.with_name("other")
    other.write_bytes(b"two model")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(file)
    assert home.sha256(file) == home.digest(file) != before


def test_a_file_that_did_not_change_is_not_read_again(file: Path, monkeypatch: pytest.MonkeyPatch):
    before = home.sha256(file)
    monkeypatch.setattr(home, "digest", lambda _path: pytest.fail("it was read again"))
    assert home.sha256(file) == before


@pytest.mark.parametrize(
    "memory", [b"[]", b"{", b'{"%s": [9, 1, "f"]}', b'{"%s": []}', b'{"%s": 1}']
)
def test_a_memory_of_an_older_form_or_a_damaged_one_is_not_believed(file: Path, memory: bytes):
    store = home.home() / "hashes.json"
    store.parent.mkdir(parents=True)
    store.write_bytes(memory.replace(b"%s", str(file.resolve()).encode()))
    assert home.sha256(file) == home.digest(file)

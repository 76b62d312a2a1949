"""A PostgreSQL of the tests' own: in a folder of its own, on a Unix socket and a port of loopback."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

_USER = (
    "postgres" if hasattr(os, "geteuid") and os.geteuid() == 0 else None
)  # the server refuses root


def _programs() -> Path | None:
    """The folder with initdb and postgres, of the newest version that is installed."""
    if (found := shutil.which("initdb")) is not None:
        return Path(found).parent
    versions = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda one: int(one.parts[-3])
    )
    return versions[-1].parent if versions else None


@dataclass
class PostgresServer:
    """A server that runs. url: of its superuser, without a database; folder: of its files."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}"

    def sql(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        import psycopg

        with psycopg.connect(f"{self.url}/{database}", autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def database(self) -> str:
        """The URL of a new, empty database."""
        name = f"cache{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE template0 STRATEGY file_copy")
        return f"{self.url}/{name}"

    def start(self) -> None:
        import psycopg

        programs = _programs()
        assert programs is not None
        log = open(self.folder / "log", "ab")  # noqa: SIM115
        options = [
            "-D",
            str(self.folder / "data"),
            "-p",
            str(self.port),
            "-k",
            str(self.folder),
            "-h",
            "127.0.0.1",
        ]
        quick = [
            f"-c{option}"
            for option in ("fsync=off", "shared_buffers=16MB", "deadlock_timeout=200ms")
        ]
        command = [str(programs / "postgres"), *options, *quick]
        self.process = subprocess.Popen(command, stdout=log, stderr=log, user=_USER, group=_USER)
        log.close()
        while True:
            try:
                psycopg.connect(f"{self.url}/postgres", connect_timeout=5).close()
                return
            except psycopg.OperationalError as error:
                if self.process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text()) from error
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(0.05)

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(2)  # fast: connections are ended
            self.process.wait(60)
            self.process = None


@contextmanager
def running() -> Iterator[PostgresServer]:
    """A server for as long as it is needed. Skips where PostgreSQL or psycopg is not installed."""
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="lm-pg-", dir="/tmp"))  # a socket's path is short
    try:
        if _USER:
            shutil.chown(folder, _USER, _USER)
        made = [
            str(programs / "initdb"),
            "-D",
            str(folder / "data"),
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
        ]
        quick = ["--locale=C", "--no-sync", "--no-instructions"]
        subprocess.run(
            [*made, *quick], check=True, user=_USER, group=_USER, capture_output=True, cwd=folder
        )
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            server = PostgresServer(folder, free.getsockname()[1])
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)

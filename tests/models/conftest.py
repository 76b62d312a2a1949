"""The stores of a call cache: what is tested of one is tested of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.postgres import PostgresServer, running

from longmark import plugins

Place = Callable[[str], Path | str]


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """A PostgreSQL for the session; skips where there is none, and in a core without the package that adds it."""
    if plugins.find("stores", "postgres") is None:
        pytest.skip("no package adds stores in PostgreSQL")
    with running() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where a call cache with some name stands: the same name is the same place."""
    if request.param == "sqlite":
        return lambda name: tmp_path / f"{name}.sqlite"
    server: PostgresServer = request.getfixturevalue("server")
    known: dict[str, str] = {}
    return lambda name: known[name] if name in known else known.setdefault(name, server.database())
